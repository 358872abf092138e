//! What each test file used: what its processes did, the sources that ran for it, and what the
//! main process did for all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use super::told::{Place, Told};
use crate::tracer::{self, Part, Seen};

/// What all test files used, and each by itself.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub session: Seen,
    pub tests: BTreeMap<String, Seen>,
}

/// Marks of the main process, in their order: before them it reads configuration.
const LISTS: &str = "list";
const FINDS: &str = "find";
const RUNS: &str = "run";
const ENDED: &str = "end";

/// Sources that compilers of style sheets read into one another.
const STYLES: [&str; 7] = [".css", ".scss", ".sass", ".less", ".styl", ".pcss", ".sss"];

/// Paths in which the tools keep what they know for the next run: a part of one.
const CACHES: [&[u8]; 4] = [
    b"/node_modules/.vite/vitest/",
    b"/node_modules/.vite-temp/",
    b"/node_modules/.vitest/",
    b"/node-compile-cache/",
];

/// Sorts what was seen. `out` and `store` are folders of tamis.
pub(super) fn sort(told: &Told, parts: Vec<Part>, out: &Path, store: &Path) -> Rows {
    let sources = Sources::of(told);
    let mut rows = Rows::default();
    let mut own: Vec<(BTreeSet<&String>, Seen)> = Vec::new();
    for part in parts {
        let mut seen = part.seen;
        forget_own(&mut seen, out, store);
        let tests = sources.tests_of(part.process, &seen, told);
        match part.name.as_str() {
            FINDS => {
                // Which test files there are is found anew in each run.
                let listed = std::mem::take(&mut seen.listed);
                seen.exist.retain(|path, _| !listed.contains_key(path));
                sources.forget(&mut seen, told.tests.as_ref());
                rows.session.join(seen);
            }
            RUNS => {
                sources.forget(&mut seen, None);
                rows.session.join(seen);
            }
            LISTS | ENDED => {}
            "own" if !tests.is_empty() => own.push((tests, seen)),
            _ => rows.session.join(seen),
        }
    }
    for (_, seen) in &mut own {
        rows.session.forget_made_by(seen);
        seen.forget_made_by(&rows.session);
    }
    mark_shared(&mut own);
    for (tests, seen) in own {
        let (last, others) = tests.iter().collect::<Vec<_>>().split_last().map_or_else(
            || (None, Vec::new()),
            |(last, others)| (Some((*last).to_string()), others.to_vec()),
        );
        for test in others {
            rows.of((*test).clone()).join(seen.clone());
        }
        if let Some(last) = last {
            rows.of(last).join(seen);
        }
    }
    for (test, files) in sources.by_test {
        let seen = rows.of(test);
        for file in files {
            seen.files.entry(file.as_str().into()).or_default();
        }
    }
    rows
}

impl Rows {
    fn of(&mut self, test: String) -> &mut Seen {
        self.tests.entry(test).or_default()
    }
}

/// The sources that ran for tests, and not because the main process needed them.
struct Sources {
    by_test: BTreeMap<String, BTreeSet<String>>,
    /// All of them.
    known: BTreeSet<BString>,
}

impl Sources {
    fn of(told: &Told) -> Sources {
        let main = told.main.as_ref().map(|main| main.process);
        let is_main =
            |place: &Place| Some(place.process) == main && place.thread == 0 && place.context == 0;
        let none = BTreeSet::new();
        let mut by_test: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (place, files) in told.places.iter().filter(|(place, _)| !is_main(place)) {
            // Around a context is that of its thread.
            let around = Place {
                context: 0,
                ..*place
            };
            let around = match is_main(&around) {
                true => &none,
                false => told.places.get(&around).unwrap_or(&none),
            };
            let all: BTreeSet<&String> = files.iter().chain(around).collect();
            let needs = all
                .iter()
                .filter_map(|file| told.needs.get(*file))
                .flatten();
            let all: BTreeSet<&String> = all.iter().copied().chain(needs).collect();
            for test in tests_among(files, told) {
                let of = by_test.entry(test.clone()).or_default();
                of.extend(all.iter().map(|file| (*file).clone()));
            }
        }
        let mut known: BTreeSet<BString> = BTreeSet::new();
        for file in by_test.values().flatten() {
            if !STYLES.iter().any(|style| file.ends_with(style)) {
                known.insert(file.as_str().into());
            }
        }
        for (_, files) in told.places.iter().filter(|(place, _)| is_main(place)) {
            for file in files {
                known.remove(file.as_bytes().as_bstr());
            }
        }
        Sources { by_test, known }
    }

    /// The tests that a process ran.
    fn tests_of<'t>(&self, process: i32, seen: &Seen, told: &'t Told) -> BTreeSet<&'t String> {
        let of_process = told
            .places
            .iter()
            .filter(|(place, _)| place.process == process);
        let ran: BTreeSet<&String> = of_process
            .flat_map(|(_, files)| tests_among(files, told))
            .collect();
        if !ran.is_empty() {
            return ran;
        }
        let tests = told.tests.iter().flatten();
        let is_used = |test: &&String| seen.files.contains_key(test.as_bytes().as_bstr());
        tests.filter(is_used).collect()
    }

    /// What the main process read to hand it to tests is known of each of these.
    fn forget(&self, seen: &mut Seen, others: Option<&BTreeSet<String>>) {
        let is_known = |path: &BString| {
            let text = path.to_str().ok();
            let is_other =
                |others: &BTreeSet<String>| text.is_some_and(|text| others.contains(text));
            self.known.contains(path) || others.is_some_and(is_other)
        };
        seen.files.retain(|path, _| !is_known(path));
        seen.exist.retain(|path, _| !is_known(path));
    }
}

fn tests_among<'t>(
    files: &'t BTreeSet<String>,
    told: &'t Told,
) -> impl Iterator<Item = &'t String> + use<'t> {
    let tests = told.tests.as_ref();
    files
        .iter()
        .filter(move |file| tests.is_some_and(|tests| tests.contains(*file)))
}

/// Leaves away what belongs to this run, and what tools keep for the next one.
fn forget_own(seen: &mut Seen, out: &Path, store: &Path) {
    let is_above = |path: &BStr| out.starts_with(Path::new(OsStr::from_bytes(path)));
    let is_own = |path: &BStr| {
        let is_of_tamis = [out, store].iter().any(|top| tracer::is_below(path, top));
        let whole = [path.as_bytes(), b"/"].concat();
        is_of_tamis || is_above(path) || CACHES.iter().any(|cache| whole.contains_str(cache))
    };
    seen.files.retain(|path, _| !is_own(path.as_bstr()));
    seen.exist.retain(|path, _| !is_own(path.as_bstr()));
    seen.listed.retain(|path, _| !is_own(path.as_bstr()));
    seen.written.retain(|path| !is_own(path.as_bstr()));
}

/// Tests that use what others left run every time, and so do these.
fn mark_shared(own: &mut [(BTreeSet<&String>, Seen)]) {
    let mut seen: Vec<&Seen> = own.iter().map(|(_, seen)| seen).collect();
    let mut pairs = tracer::shared(&seen);
    // Next time the reader may come after the writer.
    seen.reverse();
    let last = seen.len().saturating_sub(1);
    let back = tracer::shared(&seen).into_iter();
    pairs.extend(back.map(|(writer, reader, path)| (last - writer, last - reader, path)));
    for (writer, reader, path) in pairs {
        let name = |at: usize| {
            own[at]
                .0
                .first()
                .map_or_else(String::new, |test| (*test).clone())
        };
        let wrote = format!("{} uses {path}, which it wrote", name(reader));
        let read = format!("it uses {path}, which {} wrote", name(writer));
        own[writer].1.doubt(wrote);
        own[reader].1.doubt(read);
    }
}
