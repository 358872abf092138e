//! What each test file used: what its processes did, the sources that ran for it, and what the
//! main process did for all.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use super::functions::{Functions, Ran, join};
use super::told::{Place, Told};
use crate::tracer::{self, Part, Seen};

/// What all test files used, and each by itself.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub session: Seen,
    pub tests: BTreeMap<String, Seen>,
    /// The functions that ran for a test of sources that do not count as a whole for it.
    pub functions: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

/// Marks of the main process, in their order: before them it reads configuration.
const LISTS: &str = "list";
const FINDS: &str = "find";
const RUNS: &str = "run";
const ENDED: &str = "end";

/// The mark of a process that may run test files.
const OWN: &str = "own";

/// What the names of parts begin with that are of one test file.
const TEST: &str = "test-";

/// Sources that compilers of style sheets read into one another.
const STYLES: [&str; 7] = [".css", ".scss", ".sass", ".less", ".styl", ".pcss", ".sss"];

/// Paths in which the tools keep what they know for the next run: a part of one.
const CACHES: [&[u8]; 7] = [
    b"/haste-map-",
    b"/jest-transform-cache-",
    b"/perf-cache-",
    b"/node_modules/.vite/vitest/",
    b"/node_modules/.vite-temp/",
    b"/node_modules/.vitest/",
    b"/node-compile-cache/",
];

/// Sorts what was seen. `out` and `store` are folders of tamis.
pub(super) fn sort(told: &Told, parts: Vec<Part>, out: &Path, store: &Path) -> Rows {
    let sources = Sources::of(told, &mut Functions::of(told, out));
    let mut rows = Rows::default();
    let mut own: Vec<Own<'_>> = Vec::new();
    let mut while_running = Seen::default();
    for mut part in parts {
        forget_own(&mut part.seen, out, store);
        if let Some(context) = part.name.strip_prefix(TEST) {
            own.push(Own::of_context(part.process, context, part.seen, told));
            continue;
        }
        let tests = tests_of(part.process, told);
        let main = told.mains.get(&part.process);
        if main.is_some() && part.name != OWN && !part.is_of_others {
            forget_emptied(&mut part.seen, told);
        }
        match part.name.as_str() {
            OWN if !tests.is_empty() => own.push(Own {
                tests,
                process: part.process,
                seen: part.seen,
                context: BTreeSet::new(),
            }),
            LISTS if main.is_some_and(|main| main.is_jest) => rows.session.join(mocks(&part.seen)),
            LISTS | ENDED => {}
            FINDS | RUNS => {
                if part.name == RUNS {
                    while_running.join(part.seen.clone());
                }
                if !part.is_of_others {
                    sources.forget_handed(&mut part, told);
                }
                rows.session.join(part.seen);
            }
            _ => rows.session.join(part.seen),
        }
    }
    mark_met(&while_running, &mut own, &sources, told, &mut rows);
    let made = rows.session.clone();
    rows.session.forget_made_by(&made);
    for one in &mut own {
        rows.session.forget_made_by(&one.seen);
        one.seen.forget_made_by(&made);
    }
    mark_shared(&mut own);
    for one in &mut own {
        // jest reads a test file before it makes a context for that.
        if !one.context.is_empty() {
            one.seen.forget_content(|path| sources.known.contains(path));
            one.seen.exist.retain(|path, _| !is_test(path, told));
        }
    }
    rows.take(own, told);
    for (test, files) in sources.by_test {
        for (file, ran) in files {
            match ran {
                Some(ran) => {
                    let functions = rows.functions.entry(test.clone()).or_default();
                    functions.insert(file, ran);
                }
                None => {
                    let files = &mut rows.of(test.clone()).files;
                    files.entry(file.as_str().into()).or_default();
                }
            }
        }
        rows.of(test);
    }
    rows
}

/// What a test wrote, the main process can hand to another one: then both run every time. If
/// nobody can tell to whom, all do.
fn mark_met(running: &Seen, own: &mut [Own<'_>], sources: &Sources, told: &Told, rows: &mut Rows) {
    for one in own {
        for path in running.used_of(&one.seen) {
            let text = path.to_string();
            let readers = sources.by_test.iter();
            let readers = readers.filter(|(_, files)| files.contains_key(&text));
            let readers: Vec<&String> = readers.map(|(test, _)| test).collect();
            if readers.is_empty() {
                rows.session
                    .doubt(format!("tests may use {path}, which one of them wrote"));
            }
            for reader in readers {
                let why = format!("it uses {path}, which a test wrote");
                rows.of(reader.clone()).doubt(why);
            }
            one.seen
                .doubt(format!("another test may use {path}, which it wrote"));
        }
    }
    if let (true, Some(path)) = (told.in_threads, running.reused.first()) {
        let why = format!("test files of one process wrote and used {path}");
        rows.session.doubt(why);
    }
}

/// What one process used, or what it used while one test file ran.
struct Own<'t> {
    tests: BTreeSet<&'t String>,
    process: i32,
    seen: Seen,
    /// The sources that ran in the context of the test file, if it has one.
    context: BTreeSet<BString>,
}

impl<'t> Own<'t> {
    /// A part of a process that runs several test files, each in a context of its own.
    fn of_context(process: i32, context: &str, seen: Seen, told: &'t Told) -> Own<'t> {
        let place = Place {
            process,
            thread: 0,
            context: context.parse().unwrap_or(0),
        };
        let ran = told.places.get(&place);
        let mut tests: BTreeSet<&String> = BTreeSet::new();
        tests.extend(ran.into_iter().flat_map(|files| tests_among(files, told)));
        let is_of_test = !tests.is_empty();
        if !is_of_test {
            // A test made itself a context.
            tests = tests_of(process, told);
        }
        let ran = ran.into_iter().flatten().filter(|_| is_of_test);
        Own {
            tests,
            process,
            seen,
            context: ran.map(|file| file.as_str().into()).collect(),
        }
    }
}

impl Rows {
    fn of(&mut self, test: String) -> &mut Seen {
        self.tests.entry(test).or_default()
    }

    /// Takes in what processes used. If one ran several test files, they share what it used
    /// besides the sources that ran in their contexts: it may know that for the next ones.
    fn take(&mut self, own: Vec<Own<'_>>, told: &Told) {
        let mut shared: BTreeMap<i32, Seen> = BTreeMap::new();
        for mut one in own {
            if let Some(why) = one.seen.incomplete.take() {
                for test in &one.tests {
                    self.of((*test).clone()).doubt(why.clone());
                }
            }
            one.seen.files.retain(|path, _| !one.context.contains(path));
            one.seen.exist.retain(|path, _| !one.context.contains(path));
            shared.entry(one.process).or_default().join(one.seen);
        }
        for (process, seen) in shared {
            for test in tests_of(process, told) {
                self.of(test.clone()).join(seen.clone());
            }
        }
    }
}

/// Where jest looks for mocks that it takes without being told: of what it listed, only the
/// folders for these count.
fn mocks(seen: &Seen) -> Seen {
    const MOCKS: &str = "/__mocks__";
    let mut found = Seen::default();
    for (folder, print) in &seen.listed {
        if folder.contains_str("/node_modules/") {
            continue;
        }
        if folder.contains_str(MOCKS) {
            found.listed.insert(folder.clone(), *print);
            continue;
        }
        let inside = BString::from([folder.as_slice(), MOCKS.as_bytes()].concat());
        if !seen.listed.contains_key(&inside) {
            found.misses(inside);
        }
    }
    found
}

/// The sources that ran for tests, and not because the main process needed them.
struct Sources {
    by_test: BTreeMap<String, BTreeMap<String, Ran>>,
    /// All of them.
    known: BTreeSet<BString>,
}

impl Sources {
    fn of<'t>(told: &'t Told, functions: &mut Functions<'t>) -> Sources {
        let is_main = |place: &Place| {
            let is_first = place.thread == 0 && place.context == 0;
            is_first && told.mains.contains_key(&place.process)
        };
        let mut by_test: BTreeMap<String, BTreeMap<String, Ran>> = BTreeMap::new();
        for (place, files) in told.places.iter().filter(|(place, _)| !is_main(place)) {
            // Around a context is that of its thread.
            let around = Place {
                context: 0,
                ..*place
            };
            let is_known = is_main(&around) || *place == around;
            let files_around = told.places.get(&around).filter(|_| !is_known);
            let here = files.iter().map(|file| (*place, file));
            let there = files_around.into_iter().flatten();
            let there = there.map(|file| (around, file));
            let all: Vec<(Place, &String)> = here.chain(there).collect();
            let needs = all.iter().filter_map(|(_, file)| told.needs.get(*file));
            let needs: BTreeSet<&String> = needs.flatten().collect();
            for test in tests_among(files, told) {
                let of = by_test.entry(test.clone()).or_default();
                for (place, file) in &all {
                    let ran = functions.ran(*place, file);
                    let known = of.entry((*file).clone()).or_insert(Some(BTreeSet::new()));
                    join(known, ran);
                }
                of.extend(needs.iter().map(|file| ((*file).clone(), None)));
            }
        }
        let mut known: BTreeSet<BString> = BTreeSet::new();
        for file in by_test.values().flat_map(BTreeMap::keys) {
            if !may_mean_more(file) {
                known.insert(file.as_str().into());
            }
        }
        for (_, files) in told.places.iter().filter(|(place, _)| is_main(place)) {
            for file in files {
                known.remove(file.as_bytes().as_bstr());
            }
        }
        for file in &told.used {
            known.remove(file.as_bytes().as_bstr());
            if let Ok(real) = fs_err::canonicalize(file) {
                known.remove(real.as_os_str().as_bytes().as_bstr());
            }
        }
        Sources { by_test, known }
    }

    /// What a main process read to hand it to tests is known of each of these. That it is there
    /// counts for all: another path may lead to it. Which test files there are is found anew in
    /// each run.
    fn forget_handed(&self, part: &mut Part, told: &Told) {
        let seen = &mut part.seen;
        if part.name == FINDS {
            let listed = std::mem::take(&mut seen.listed);
            seen.exist.retain(|path, _| !listed.contains_key(path));
        }
        seen.forget_content(|path| {
            let is_found = part.name == FINDS && is_test(path, told);
            is_found || self.known.contains(path)
        });
        seen.exist.retain(|path, _| !is_test(path, told));
    }
}

/// Whether a path is a test file that only the tools looked for.
fn is_test(path: &BString, told: &Told) -> bool {
    let (Some(tests), Ok(text)) = (&told.tests, path.to_str()) else {
        return false;
    };
    tests.contains(text) && !told.used.contains(text)
}

/// Whether the tools themselves may read a source for another purpose than to run it.
fn may_mean_more(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_style = STYLES.iter().any(|style| name.ends_with(style));
    let is_configuration =
        name == "package.json" || name.ends_with(".json") && name.contains("config");
    is_style || is_configuration
}

/// The tests that ran in a process.
fn tests_of(process: i32, told: &Told) -> BTreeSet<&String> {
    let of_process = told.places.iter();
    let of_process = of_process.filter(|(place, _)| place.process == process);
    of_process
        .flat_map(|(_, files)| tests_among(files, told))
        .collect()
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

/// Leaves away which files there were in folders that the main process empties. What it reads of
/// one stays.
fn forget_emptied(seen: &mut Seen, told: &Told) {
    let is_there = |path: &BStr| {
        let mut folders = told.emptied.iter();
        folders.any(|folder| tracer::is_below(path, Path::new(folder)))
    };
    seen.exist.retain(|path, _| !is_there(path.as_bstr()));
    seen.listed.retain(|path, _| !is_there(path.as_bstr()));
}

/// Tests that use what others wrote run every time, and so do these.
fn mark_shared(own: &mut [Own<'_>]) {
    let mut seen: Vec<&Seen> = own.iter().map(|one| &one.seen).collect();
    let mut pairs = tracer::shared(&seen);
    // Next time the reader may come after the writer.
    seen.reverse();
    let last = seen.len().saturating_sub(1);
    let back = tracer::shared(&seen).into_iter();
    pairs.extend(back.map(|(writer, reader, path)| (last - writer, last - reader, path)));
    for (writer, reader, path) in pairs {
        let name = |at: usize| own[at].tests.first().map_or("", |test| test.as_str());
        let wrote = format!("{} uses {path}, which it wrote", name(reader));
        let read = format!("it uses {path}, which {} wrote", name(writer));
        own[writer].seen.doubt(wrote);
        own[reader].seen.doubt(read);
    }
}
