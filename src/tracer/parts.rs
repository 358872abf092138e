//! Takes apart what the processes of one command use, where one of them says so: by looking for
//! a path in a folder for marks, which is seen at once and in order.
//!
//! | looks for | means |
//! |---|---|
//! | `own` | what this process uses from now on, and those that it starts, is told apart |
//! | `main` | the same, and what it uses apart from what those use that it starts |
//! | a name with `test-` | the same for its group, under this name: what it wrote before is not its own |
//! | any other name | what its group uses from now on is told apart, under this name |

use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use bstr::{BStr, BString};
use rustc_hash::FxHashMap;

use crate::disk;
use crate::tracer::{Part, Seen};

/// What a process looks for that is to have a group of its own.
const OWN: &[u8] = b"own";
const MAIN: &[u8] = b"main";

/// What the names of parts begin with that are of one test.
const TEST: &[u8] = b"test-";

/// How long it is taken for granted which process a thread belongs to: the numbers of threads
/// that have ended are given again.
const SURE: Duration = Duration::from_secs(1);

/// A process, with the time at which it began: numbers are given again.
type Process = (i32, u64);

/// What was told apart so far.
#[derive(Debug)]
pub(super) struct Parts {
    /// The folder for marks, with a slash behind.
    marks: BString,
    parts: Vec<Part>,
    /// The part that is being added to; its place in `parts` is empty.
    current: usize,
    /// The first one has all that belongs to no other.
    groups: Vec<Group>,
    /// The groups of processes that began one.
    begun: FxHashMap<Process, usize>,
    /// The groups of threads, and whether they are of the process that began it.
    threads: FxHashMap<i32, (usize, bool)>,
    since: Instant,
}

/// The newest parts of a group: of the process that began it, and of those that it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    first: usize,
    others: usize,
}

impl Parts {
    pub(super) fn new(marks: &Path) -> Parts {
        let mut marks = BString::from(marks.as_os_str().as_bytes());
        marks.push(b'/');
        Parts {
            marks,
            parts: vec![Part::default()],
            current: 0,
            groups: vec![Group {
                first: 0,
                others: 0,
            }],
            begun: FxHashMap::default(),
            threads: FxHashMap::default(),
            since: Instant::now(),
        }
    }

    /// Puts into `seen` what belongs to the part of a thread, and away what was there.
    pub(super) fn turn_to(&mut self, thread: i32, seen: &mut Seen) {
        if self.since.elapsed() > SURE {
            self.threads.clear();
            self.since = Instant::now();
        }
        let (group, is_first) = match self.threads.get(&thread) {
            Some(known) => *known,
            None => {
                let found = self.group_of(thread);
                self.threads.insert(thread, found);
                found
            }
        };
        let group = self.groups[group];
        let part = if is_first { group.first } else { group.others };
        self.go_to(part, seen);
    }

    fn go_to(&mut self, part: usize, seen: &mut Seen) {
        if part == self.current {
            return;
        }
        mem::swap(seen, &mut self.parts[self.current].seen);
        mem::swap(seen, &mut self.parts[part].seen);
        self.current = part;
    }

    /// The group of the nearest process above that began one, and whether it is that one.
    fn group_of(&self, thread: i32) -> (usize, bool) {
        let mut here = Standing::of(thread);
        let mut is_first = true;
        while let Some(standing) = here {
            if let Some(group) = self.begun.get(&standing.process) {
                return (*group, is_first);
            }
            is_first = false;
            here = Standing::of(standing.parent);
        }
        (0, false)
    }

    /// Takes in that a thread looked for a path, if that is a mark.
    pub(super) fn marked(&mut self, thread: i32, path: &BStr, seen: &Seen) {
        let Some(name) = path.strip_prefix(self.marks.as_slice()) else {
            return;
        };
        let Some(standing) = Standing::of(thread) else {
            return;
        };
        let begins = name == OWN || name == MAIN;
        let group = match begins {
            true => {
                let group = Group {
                    first: 0,
                    others: 0,
                };
                self.groups.push(group);
                let number = self.groups.len() - 1;
                self.begun.insert(standing.process, number);
                self.threads.clear();
                number
            }
            false => self.group_of(thread).0,
        };
        let is_new = begins || name.starts_with(TEST);
        let Group { first, others } = self.groups[group];
        let is_split = name == MAIN || first != others;
        let mut add = |before: usize, of_others: bool| {
            let begun = match is_new {
                true => Seen::default(),
                // The part that is being added to is not in its place.
                false if before == self.current => seen.begun_anew(),
                false => self.parts[before].seen.begun_anew(),
            };
            self.parts.push(Part {
                process: standing.process.0,
                name: BStr::new(name).to_string(),
                is_of_others: of_others,
                seen: begun,
            });
            self.parts.len() - 1
        };
        let first = add(first, false);
        let others = if is_split { add(others, true) } else { first };
        self.groups[group] = Group { first, others };
    }

    /// All parts, the one of the command first.
    pub(super) fn end(mut self, seen: &mut Seen) -> Vec<Part> {
        mem::swap(seen, &mut self.parts[self.current].seen);
        self.parts
    }
}

/// The process of a thread, and the one that started it.
struct Standing {
    process: Process,
    parent: i32,
}

impl Standing {
    /// `None` if it has ended.
    fn of(thread: i32) -> Option<Standing> {
        let status = disk::read_to_string(format!("/proc/{thread}/status")).ok()?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse::<i32>().ok()
        };
        let (process, parent) = (number("Tgid:")?, number("PPid:")?);
        let stat = disk::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the name, which may hold anything, the 20th field is the start.
        let (_, fields) = stat.rsplit_once(')')?;
        let start = fields.split_whitespace().nth(19)?.parse().ok()?;
        Some(Standing {
            process: (process, start),
            parent,
        })
    }
}
