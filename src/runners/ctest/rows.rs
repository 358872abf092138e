//! What each test used: what its processes did, and what `ctest` itself did for all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bstr::{BString, ByteSlice};

use super::around::{CUSTOM, LOGS};
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
        for mut part in parts {
            let logs = folders.build.join(LOGS);
            part.seen.forget(|path| {
                let of_run: [&Path; 4] = [folders.out, folders.store, &logs, &own_program];
                let path = path.as_bstr();
                let mut tops = of_run.into_iter();
                // Above the folder of a run there is nothing that a test looks for.
                tops.any(|top| tracer::is_below(path, top))
            });
            let number = part.name.strip_prefix(TEST);
            let name = number.and_then(|number| names.get(number.parse::<usize>().ok()?));
            match name {
                Some(name) => {
                    self.together.join(part.seen.clone());
                    let known = self.tests.entry((*name).clone()).or_default();
                    known.join(part.seen);
                }
                None => {
                    if part.name == MAIN && !part.is_of_others {
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
    let custom = build.join(CUSTOM);
    let is_made = |path: &BString| {
        let path = path.as_bstr();
        tracer::is_below(path, build) && !tracer::is_below(path, &custom)
    };
    seen.forget(|path| is_made(path) && path.ends_with(b".cmake"));
    let programs: BTreeSet<&[u8]> = listed.programs().map(str::as_bytes).collect();
    seen.forget_content(|path| is_made(path) || programs.contains(path.as_slice()));
}
