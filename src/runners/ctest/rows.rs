//! What each test used: what its processes did, and what `ctest` itself did for all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BString, ByteSlice};

use super::around::{LOGS, TESTS};
use super::listed::Listed;
use crate::tracer::{self, Part, Seen};

/// What all tests used, and each by itself.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub session: Seen,
    /// By name; those that ran.
    pub tests: BTreeMap<String, Seen>,
    /// All of these, as one came after the other.
    together: Seen,
}

/// Marks: of `ctest` itself, and of a test, with the number of its name.
pub(super) const MAIN: &str = "main";
pub(super) const OWN: &str = "own";
pub(super) const TEST: &str = "test-";

/// What the names of files end with in which programs count what of them runs: each adds to what
/// is there.
const COUNTS: &[u8] = b".gcda";

/// Folders of which nothing counts, or only some.
pub(super) struct Folders<'a> {
    /// That of this run.
    pub out: &'a Path,
    /// The folder of results.
    pub store: &'a Path,
    /// The one that CMake builds in.
    pub build: &'a Path,
}

impl Rows {
    /// Takes in what was seen of one start of `ctest`.
    pub(super) fn take(&mut self, parts: Vec<Part>, listed: &Listed, folders: &Folders<'_>) {
        let names: Vec<&String> = listed.tests.keys().collect();
        let own_program = std::env::current_exe().unwrap_or_default();
        let logs = folders.build.join(LOGS);
        for mut part in parts {
            let is_ctest = part.name == MAIN && !part.is_of_others;
            part.seen.forget(|path| {
                let of_run = [folders.out, folders.store, &own_program];
                let mut tops = of_run.into_iter().chain(is_ctest.then_some(logs.as_path()));
                tops.any(|top| tracer::is_below(path.as_bstr(), top))
            });
            let counts = part.seen.written_among(|path| path.ends_with(COUNTS));
            part.seen.forget(|path| counts.contains(path));
            let number = part.name.strip_prefix(TEST);
            let name = number.and_then(|number| names.get(number.parse::<usize>().ok()?));
            match name {
                Some(name) => {
                    self.together.join(part.seen.clone());
                    let known = self.tests.entry((*name).clone()).or_default();
                    known.join(part.seen);
                }
                None => {
                    if is_ctest {
                        forget_lists(&mut part.seen, listed, folders.build);
                    }
                    self.session.join(part.seen);
                }
            }
        }
    }

    /// Whether the work tree is another one than before. `root` is the top of it.
    pub(super) fn leaves(&self, root: &Path, build: &Path) -> Option<String> {
        let left = self.together.changes_below(&[root, build])?;
        Some(format!("tests left {left}"))
    }

    /// Gives the tests of a group what all of it used, and doubts those that find what tests
    /// outside of their group leave.
    pub(super) fn settle(&mut self, listed: &Listed) {
        let groups = listed.groups();
        let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
        let mut told: BTreeMap<usize, String> = BTreeMap::new();
        for (test, own) in &self.tests {
            let group = groups[test.as_str()];
            seen.entry(group).or_default().join(own.clone());
            told.entry(group).or_insert_with(|| test.clone());
        }
        let written: BTreeSet<BString> = seen
            .values()
            .flat_map(|one| one.written.iter().cloned())
            .collect();
        for one in seen.values_mut() {
            one.keep_prints_of(&written);
        }
        let numbers: Vec<usize> = seen.keys().copied().collect();
        let all: Vec<&Seen> = seen.values().collect();
        for (writer, reader, path) in tracer::shared_in_any_order(&all) {
            let (writer, reader) = (numbers[writer], numbers[reader]);
            let wrote = format!("{} uses {path}, which it left", told[&reader]);
            let read = format!("it uses {path}, which {} left", told[&writer]);
            for (at, why) in [(writer, wrote), (reader, read)] {
                if let Some(one) = seen.get_mut(&at) {
                    one.doubt(why);
                }
            }
        }
        for (test, own) in &mut self.tests {
            if let Some(all) = seen.get(&groups[test.as_str()]) {
                *own = all.clone();
            }
        }
    }
}

/// Leaves away the files that tell `ctest` which tests there are: what each is counts. Of programs
/// and of other files that a build makes, it asks only whether they are there.
fn forget_lists(seen: &mut Seen, listed: &Listed, build: &Path) {
    let is_made = |path: &BString| tracer::is_below(path.as_bstr(), build);
    seen.forget(|path| is_made(path) && is_list(path));
    let programs: BTreeSet<&[u8]> = listed.programs().map(str::as_bytes).collect();
    seen.forget_content(|path| {
        let is_script = path.ends_with(b".cmake") || path.ends_with(b".ctest");
        is_made(path) && !is_script || programs.contains(path.as_slice())
    });
}

/// Whether a file does nothing but name tests, as CMake and the modules that discover tests of a
/// program write it.
fn is_list(path: &BString) -> bool {
    let name = path.rsplit_str("/").next().unwrap_or_default();
    let is_discovered = name.ends_with(b"_tests.cmake")
        || name.ends_with(b".cmake")
            && (name.contains_str("_include.") || name.contains_str("_include-"));
    let text = || crate::disk::read(OsStr::from_bytes(path)).unwrap_or_default();
    let does_more = |text: &[u8]| text.contains_str("ENV{") || text.contains_str("execute_process");
    (name == TESTS.as_bytes() || is_discovered) && !does_more(&text())
}
