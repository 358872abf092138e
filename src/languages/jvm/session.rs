//! What the JVM adds to the rows of one run: what configures its build, the closure
//! over class files, and which tests a process came to.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use super::closure::ClassFiles;
use super::{ClassAt, classes_in};
use crate::languages::{Closure, Language, Meaning, Place};
use crate::matrix::{Classes as AllClasses, Fingerprint, Unit, What};
use crate::observe::units::UnitIndex;
use crate::observe::{
    Compiled, Configuration, Definition, Observations, Run, ScopeKind, TestBegin, Trace,
};

/// The classes of a run.
#[derive(Default)]
pub(super) struct Classes {
    files: Option<ClassFiles>,
    /// Directories that test classes were loaded from.
    test_origins: BTreeSet<PathBuf>,
}

impl Closure for Classes {
    fn meaning(&mut self, run: &mut Run<'_>, what: &Definition) -> Result<Option<Meaning>> {
        let Definition::Compiled { kind, origin, name } = what else {
            return Ok(None);
        };
        let (Place::Inside(path) | Place::Outside(path)) = run.facts.place(origin.as_bstr());
        Ok(Some(Meaning {
            units: vec![run.intern(Unit::named(*kind, path, name))],
            ..Meaning::default()
        }))
    }

    /// Every test needs the files that configure the build, and what these take from
    /// the machine.
    fn attach(&mut self, run: &mut Run<'_>) -> Result<()> {
        let mut collectors = run.traces.iter().map(|trace| &trace.open.collector);
        if !collectors.any(|collector| super::Jvm.wrote(collector)) {
            return Ok(());
        }
        let found = run.launch.configuration()?;
        settle_variables(run, &found);
        let mut files = found.files;
        for (file, part) in found.parts {
            let unit = run.placed(What::File, bytes_of(&file))?;
            match unit.is_outside() || unit.what != What::File {
                true => files.push(file),
                false => run.attach_to_all(Unit::at(unit.path, part)),
            }
        }
        let files = files.into_iter().map(|file| (What::File, file));
        let looked_for = found.looked_for.into_iter();
        let looked_for = looked_for.map(|file| (What::Exists, file));
        let folders = found.folders.into_iter();
        let folders = folders.map(|folder| (What::Dir, folder));
        for (what, file) in files.chain(looked_for).chain(folders) {
            let unit = run.placed(what, bytes_of(&file))?;
            run.attach_to_all(unit);
        }
        for (name, value) in found.variables {
            let unit = run.late(What::Env(name.into()), value);
            run.attach_to_all(unit);
        }
        Ok(())
    }

    /// Notes which tests a JVM came to.
    fn note(&mut self, run: &Run<'_>, trace: &Trace, observed: &mut Observations) {
        if observed.compiled.is_none() {
            observed.items = Some(Vec::new());
        }
        let compiled = observed.compiled.get_or_insert_with(|| Compiled {
            started: trace.open.started,
            ..Compiled::default()
        });
        compiled.started = compiled.started.min(trace.open.started);
        for definition in trace.definitions.values() {
            if let Definition::Compiled { origin, .. } = definition {
                let (Place::Inside(path) | Place::Outside(path)) =
                    run.facts.place(origin.as_bstr());
                let known = compiled.started_with.entry(path).or_insert(u64::MAX);
                *known = (*known).min(trace.open.started);
            }
        }
        if let Some(config) = &trace.config {
            let cwd = config.rootdir.as_deref();
            let cwd = cwd.map_or(Path::new(""), |path| Path::new(OsStr::from_bytes(path)));
            let folders = run.launch.class_path(&config.args).into_iter();
            let folders = folders.map(|folder| cwd.join(folder));
            compiled.class_path.extend(folders);
        }
        let mut began = Vec::new();
        for begin in &trace.begins {
            began.push(run.launch.class_id(begin));
            self.note_origin(begin);
        }
        match (&mut observed.items, trace.closed) {
            (Some(items), Some(_)) => items.extend(began),
            // It was killed, and nobody knows what else it would have run.
            _ => observed.items = None,
        }
        if trace.begins.is_empty() {
            // Its tests are unknown: a proof for all known ones is not enough.
            observed.items = None;
            let why = "a JVM that runs tests did not tell of any";
            observed.doubt = Some(why.to_owned());
        }
    }

    fn test_id(&self, run: &Run<'_>, test: &TestBegin, _prefix: &str) -> String {
        run.launch.class_id(test)
    }

    fn complete(
        &mut self,
        run: &mut Run<'_>,
        at: usize,
        test: &TestBegin,
        own: Vec<UnitIndex>,
        base: &[UnitIndex],
    ) -> Result<Vec<UnitIndex>> {
        let files = match &mut self.files {
            Some(files) => files,
            None => {
                let files = ClassFiles::of_run(run.facts, run.traces, &mut run.table)?;
                self.files.insert(files)
            }
        };
        let mut units = own;
        units.extend(base);
        let mut units = files.close(&mut run.table, &units);
        units.retain(|unit| base.binary_search(unit).is_err());
        units.extend(written_units(run, at, test));
        units.sort_unstable();
        units.dedup();
        Ok(units)
    }

    /// The compiled tests of all modules tell which tests there are.
    fn attach_collection(&mut self, run: &mut Run<'_>, observed: &Observations) {
        let Some(compiled) = &observed.compiled else {
            return;
        };
        let mut outputs = run.launch.test_outputs();
        outputs.extend(
            self.test_origins
                .iter()
                .chain(&compiled.class_path)
                .cloned(),
        );
        let kits = kits(&outputs);
        let all = outputs.into_iter();
        let all = all.map(|output| (output, What::Classes(AllClasses::All)));
        let kits = kits.into_iter();
        let kits = kits.map(|(output, class)| (output, What::Class(class.into())));
        for (output, what) in all.chain(kits) {
            let (Place::Inside(path) | Place::Outside(path)) = run.facts.place(bytes_of(&output));
            run.attach_to_all(Unit::at(path, what));
        }
    }
}

impl Classes {
    /// The directory that a test class was loaded from.
    fn note_origin(&mut self, begin: &TestBegin) {
        let class = begin.test.split('#').next().unwrap_or(&begin.test);
        let class = format!("/{}.class", class.replace('.', "/"));
        if let Some(origin) = begin.file.strip_suffix(class.as_bytes()) {
            let origin = OsStr::from_bytes(origin);
            self.test_origins.insert(origin.into());
        }
    }
}

/// Takes away variables of which the configuration alone tells the value, and that counts
/// for every test: where each JVM saw a value that stands there, and no JVM that of the
/// command, from which it would have come otherwise.
fn settle_variables(run: &mut Run<'_>, found: &Configuration) {
    let mut seen: BTreeMap<&str, Vec<Option<Fingerprint>>> = BTreeMap::new();
    for definition in &run.graph.definitions {
        if let Definition::Env { name, fingerprint } = definition {
            seen.entry(name).or_default().push(*fingerprint);
        }
    }
    let is_settled = |name: &str, values: &[Option<Fingerprint>]| {
        let Some(given) = found.given.get(name) else {
            return false;
        };
        let is_given = |value: &Option<Fingerprint>| {
            value.is_some_and(|value| given.values.contains(&value)) && *value != given.own
        };
        !found.variables.contains_key(name) && values.iter().all(is_given)
    };
    let settled: Vec<String> = seen
        .iter()
        .filter(|(name, values)| is_settled(name, values))
        .map(|(name, _)| (*name).to_owned())
        .collect();
    for name in settled {
        let index = run.intern(Unit::of(What::Env(name.into())));
        for units in &mut run.node_units {
            units.retain(|unit| *unit != index);
        }
    }
}

/// Where in the project a test wrote, or what it shares with others that did. What runs
/// around several test classes (a suite's own methods, reports of the framework) does so
/// whenever one of them runs, so it leaves nothing to be found by one that runs alone.
fn written_units(run: &mut Run<'_>, at: usize, test: &TestBegin) -> Vec<UnitIndex> {
    let trace = &run.traces[at];
    let shared = trace.scopes.get(&test.scope).map(|scope| &scope.edges);
    let class = test.test.split('#').next().unwrap_or(&test.test);
    let is_of_test = |by: u64| {
        let is_shared = || match trace.scopes.get(&by) {
            Some(scope) if scope.kind == ScopeKind::Fixture => scope.name == class,
            Some(scope) => scope.kind != ScopeKind::Test,
            None => true,
        };
        by == test.scope || shared.is_some_and(|all| all.contains(&by)) && is_shared()
    };
    let mut paths = BTreeSet::new();
    for (_, path) in trace.writes.iter().filter(|(by, _)| is_of_test(*by)) {
        if let Place::Inside(path) = run.facts.place(path.as_bstr()) {
            paths.insert(path);
        }
    }
    let units = paths.into_iter().map(|path| Unit::at(path, What::Written));
    units.map(|unit| run.intern(unit)).collect()
}

fn bytes_of(path: &Path) -> &BStr {
    path.as_os_str().as_bytes().as_bstr()
}

/// Classes beside compiled tests that some of these inherit from, by folder and name:
/// with one of its methods a class can become a test.
fn kits(tests: &[PathBuf]) -> BTreeSet<(PathBuf, String)> {
    let mains: BTreeSet<PathBuf> = tests.iter().filter_map(|output| main_of(output)).collect();
    let mut open = Vec::new();
    for output in tests {
        for class in classes_in(output).unwrap_or_default() {
            if let Ok(ClassAt::Read(units)) = ClassAt::read(output, &class) {
                open.extend(units.supers.iter().cloned());
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    while let Some(class) = open.pop() {
        if !seen.insert(class.clone()) {
            continue;
        }
        for main in &mains {
            let units = match ClassAt::read(main, &class) {
                Ok(ClassAt::Missing) | Err(_) => continue,
                Ok(ClassAt::Unread(_)) => None,
                Ok(ClassAt::Read(units)) => Some(units),
            };
            open.extend(units.iter().flat_map(|units| units.supers.iter().cloned()));
            found.insert((main.clone(), class.clone()));
        }
    }
    found
}

/// Where the classes lie that those of a folder test.
fn main_of(tests: &Path) -> Option<PathBuf> {
    let name = tests.file_name()?.to_str()?;
    let main = match name {
        "test-classes" => "classes",
        "test" => "main",
        _ => return None,
    };
    Some(tests.with_file_name(main))
}
