//! What the agents inside Node's processes told: which sources ran where, which test files there
//! are, and how they ended.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::script::Range;
use crate::matrix::Outcome;

/// Where agents write what ran: a file for each thread, named by process and thread.
pub(super) const RAN: &str = "ran";

/// What the names of files begin with in which vitest and jest tell which test files there are,
/// and how they ended.
const TOLD: &str = "told-";

/// What was told of one run.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The programs that ran tests, by the numbers of their processes.
    pub mains: BTreeMap<i32, Main>,
    /// All test files, absolute; `None` if nobody knows.
    pub tests: Option<BTreeSet<String>>,
    /// How those ended that were not left out, and after how many seconds.
    pub ended: BTreeMap<String, (Outcome, f64)>,
    /// What ran where.
    pub places: BTreeMap<Place, BTreeSet<String>>,
    /// Whether test files ran in threads of the main process.
    pub in_threads: bool,
    /// Why nobody can tell what single test files used, if so.
    pub doubt: Option<String>,
    /// What processes and threads used by themselves, of which others could not tell.
    pub used: BTreeSet<String>,
    /// For sources, what was read to make them.
    pub needs: BTreeMap<String, BTreeSet<String>>,
    /// For each source that ran somewhere, the names of texts of scripts, and which functions of these
    /// ran, as far as V8 told.
    pub codes: BTreeMap<(Place, String), Vec<Code>>,
    /// Sources that count as a whole there, whatever V8 told.
    pub whole: BTreeSet<(Place, String)>,
    /// Where somebody else took answers of V8 away.
    pub lost: BTreeSet<Place>,
    /// Sources that a plug-in of the project changed.
    pub made: BTreeSet<String>,
    /// Folders that the main process empties before it runs tests.
    pub emptied: BTreeSet<String>,
    /// How processes of single test files ended.
    processes: BTreeMap<i32, (Outcome, f64)>,
}

/// The name of a script's text, and which of its functions ran.
pub(super) type Code = (String, Vec<Range>);

/// The main process of the program that runs the tests.
#[derive(Debug)]
pub(super) struct Main {
    pub is_jest: bool,
    /// Why it is left alone, if so: a word of its command.
    pub alone: Option<String>,
}

/// Where sources run: 0 is the context of the process, or the thread that it begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub process: i32,
    pub thread: u32,
    pub context: u32,
}

/// A line of an agent.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Main(TagMain, String, Option<String>),
    Tests(TagTests, Option<Vec<String>>),
    Ran(TagRan, u32, String),
    Uses(TagUses, String),
    Thread([TagThread; 1]),
    Ended(TagEnded, i32, i32, f64),
    Threads([TagThreads; 1]),
    Code(TagCode, u32, String, String, Vec<Range>),
    Whole(TagWhole, u32, String),
    Lost(TagLost, u32),
}

/// The first word of each kind of line.
macro_rules! tags {
    ($($name:ident = $word:literal),*) => {
        $(#[derive(Deserialize)]
        enum $name {
            #[serde(rename = $word)]
            It,
        })*
    };
}

tags!(
    TagMain = "main",
    TagTests = "tests",
    TagRan = "ran",
    TagUses = "uses",
    TagThread = "thread",
    TagThreads = "threads",
    TagEnded = "ended",
    TagCode = "code",
    TagWhole = "whole",
    TagLost = "lost"
);

/// What vitest and jest tell.
#[derive(Deserialize)]
struct Reported {
    tests: Option<Vec<String>>,
    ended: Vec<EndedFile>,
    /// The test files in which errors came up that no test caught, as far as that is known.
    unhandled: Vec<Option<String>>,
    edges: Vec<(String, Vec<String>)>,
    /// The sources that plug-ins of the project changed.
    #[serde(default)]
    made: Vec<String>,
    #[serde(default)]
    emptied: Vec<String>,
}

#[derive(Deserialize)]
struct EndedFile {
    file: String,
    state: String,
    seconds: f64,
    ran: usize,
    skipped: usize,
}

impl Told {
    /// Reads what agents and the reporter wrote into `out`.
    ///
    /// # Errors
    /// If it cannot be read, or is not what they write.
    pub(super) fn read(out: &Path) -> Result<Told> {
        let mut told = Told::default();
        for file in fs_err::read_dir(out.join(RAN))? {
            let file = file?.path();
            let name = file.file_name().and_then(|name| name.to_str());
            let (process, thread) = name
                .and_then(|name| name.split_once('-'))
                .with_context(|| format!("{} was not written by tamis", file.display()))?;
            let place = Place {
                process: process.parse()?,
                thread: thread.parse()?,
                context: 0,
            };
            let text = crate::disk::read_to_string(&file)?;
            // A process that was killed may have written half a line.
            for line in text.lines() {
                if let Ok(line) = serde_json::from_str(line) {
                    told.take(place, line);
                }
            }
        }
        told.follow_links();
        told.end_processes();
        for file in fs_err::read_dir(out)? {
            let file = file?;
            if file.file_name().to_string_lossy().starts_with(TOLD) {
                told.take_reported(serde_json::from_slice(&crate::disk::read(file.path())?)?);
            }
        }
        Ok(told)
    }

    fn take(&mut self, place: Place, line: Line) {
        match line {
            Line::Main(_, tool, alone) => {
                let main = Main {
                    is_jest: tool == "jest",
                    alone,
                };
                self.mains.insert(place.process, main);
            }
            Line::Tests(_, tests) => self.add_tests(tests),
            Line::Ran(_, context, file) => {
                let place = Place { context, ..place };
                self.places.entry(place).or_default().insert(file);
            }
            Line::Thread(_) => {
                self.doubt = Some("jest runs test files in threads".to_owned());
            }
            Line::Uses(_, file) => {
                self.used.insert(file);
            }
            Line::Threads(_) => self.in_threads = true,
            Line::Code(_, context, file, code, ran) => {
                let place = Place { context, ..place };
                let codes = self.codes.entry((place, file)).or_default();
                codes.push((code, ran));
            }
            Line::Whole(_, context, file) => {
                self.whole.insert((Place { context, ..place }, file));
            }
            Line::Lost(_, context) => {
                self.lost.insert(Place { context, ..place });
            }
            Line::Ended(_, process, status, seconds) => {
                let outcome = match status {
                    0 => Outcome::Passed,
                    _ => Outcome::Failed,
                };
                self.processes.insert(process, (outcome, seconds));
            }
        }
    }

    /// A source can run under the name of a link to it: then both count.
    fn follow_links(&mut self) {
        let files: BTreeSet<&String> = self.places.values().flatten().collect();
        let real = files.into_iter().filter_map(|file| {
            let real = fs_err::canonicalize(file).ok()?;
            let real = real.to_str().filter(|real| real != file)?.to_owned();
            Some((file.clone(), real))
        });
        let real: BTreeMap<String, String> = real.collect();
        for files in self.places.values_mut() {
            let more: Vec<String> = files
                .iter()
                .filter_map(|file| real.get(file).cloned())
                .collect();
            files.extend(more);
        }
    }

    fn add_tests(&mut self, tests: Option<Vec<String>>) {
        if let Some(tests) = tests {
            self.tests.get_or_insert_default().extend(tests);
        }
    }

    /// The first source of a process of a single test file is that file.
    fn end_processes(&mut self) {
        let Some(tests) = &self.tests else {
            return;
        };
        for (place, files) in &self.places {
            for file in files.intersection(tests) {
                let ended = self.processes.get(&place.process);
                let ended = ended.copied().unwrap_or((Outcome::Crashed, 0.0));
                self.ended.insert(file.clone(), ended);
            }
        }
    }

    fn take_reported(&mut self, told: Reported) {
        for ended in told.ended {
            let outcome = outcome(&ended);
            // A file can run in several projects.
            let all = self.ended.entry(ended.file).or_insert((outcome, 0.0));
            all.1 += ended.seconds;
            if all.0 == Outcome::Passed || all.0 == Outcome::Skipped && outcome != Outcome::Passed {
                all.0 = outcome;
            }
        }
        for file in &told.unhandled {
            let is_meant = |one: &String| file.as_ref().is_none_or(|file| file == one);
            let meant = self.ended.iter_mut().filter(|(one, _)| is_meant(one));
            for (_, ended) in meant {
                ended.0 = Outcome::Failed;
            }
        }
        self.add_tests(told.tests);
        self.made.extend(told.made);
        self.emptied.extend(told.emptied);
        for (file, needs) in told.edges {
            self.needs.entry(file).or_default().extend(needs);
        }
    }
}

fn outcome(ended: &EndedFile) -> Outcome {
    match ended.state.as_str() {
        "pass" if ended.ran > 0 && ended.ran == ended.skipped => Outcome::Skipped,
        "pass" => Outcome::Passed,
        "fail" if ended.ran == 0 => Outcome::Error,
        "fail" => Outcome::Failed,
        "skip" | "todo" => Outcome::Skipped,
        _ => Outcome::Error,
    }
}
