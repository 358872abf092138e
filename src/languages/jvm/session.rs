//! What rows of a JVM's test classes need besides what its agent saw.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use crate::languages::Place;
use crate::languages::jvm::{ALL, ClassAt, classes_in};
use crate::matrix::{Fingerprint, Unit, UnitKind};
use crate::observe::graph::SESSION;
use crate::observe::rows::{Closing, Collected};
use crate::observe::trace::{Definition, ScopeKind, TestBegin, Trace};
use crate::observe::units::UnitIndex;
use crate::runners::maven::Configuration;
use crate::runners::{gradle, junit, jvm, maven};

impl Closing<'_> {
    /// Every test needs the files that configure the build, and what these take from
    /// the machine.
    pub(crate) fn attach_poms(&mut self, project: &BStr, command: &[String]) -> Result<()> {
        let root = self.root();
        let mut folders = vec![root.clone(), root.join(project.to_path_lossy())];
        folders.extend(
            std::env::current_dir()
                .ok()
                .filter(|dir| dir.starts_with(&root)),
        );
        folders.dedup();
        let mut found = jvm::configuration(&root, &folders, command);
        self.settle_variables(&found);
        // What poms tell people has no part, if it is known that nothing refers to it.
        if let Some(kept) = &found.kept {
            for pom in &found.poms {
                let unit = self.placed(UnitKind::File, maven::bytes_of(pom).as_bstr())?;
                if !unit.is_outside() && unit.name.is_empty() {
                    found.files.remove(pom);
                    self.attach(Unit::new(
                        UnitKind::Config,
                        unit.path,
                        maven::unit_name(kept),
                    ));
                }
            }
        }
        let files = found.files.into_iter().map(|file| (UnitKind::File, file));
        let looked_for = found.looked_for.into_iter();
        let looked_for = looked_for.map(|file| (UnitKind::Exists, file));
        let folders = gradle::config_folders(&root).into_iter();
        let folders = folders.map(|folder| (UnitKind::Dir, folder));
        for (kind, file) in files.chain(looked_for).chain(folders) {
            let unit = self.placed(kind, maven::bytes_of(&file).as_bstr())?;
            self.attach(unit);
        }
        for name in found.variables {
            let value = std::env::var_os(&name);
            let value = value.map(|value| Fingerprint::of_value(value.as_bytes()));
            let unit = self.late(UnitKind::Env, name, value);
            self.attach(unit);
        }
        Ok(())
    }

    /// Takes away variables of which the poms alone tell the value, and these count for
    /// every test: where each JVM saw a value that stands in one, and no JVM that of this
    /// process, from which it would have come otherwise.
    fn settle_variables(&mut self, found: &Configuration) {
        let digest = |value: &[u8]| Fingerprint::of_value(value);
        let mut seen: BTreeMap<&str, Vec<Option<Fingerprint>>> = BTreeMap::new();
        for definition in &self.graph.definitions {
            if let Definition::Env { name, fingerprint } = definition {
                seen.entry(name).or_default().push(*fingerprint);
            }
        }
        let is_settled = |name: &str, values: &[Option<Fingerprint>]| {
            let given = found.given.get(name).into_iter().flatten();
            let given: Vec<_> = given.map(|value| Some(digest(value.as_bytes()))).collect();
            let own = std::env::var_os(name).map(|value| digest(value.as_bytes()));
            let is_given = |value| given.contains(value) && *value != own;
            !found.variables.contains(name) && values.iter().all(is_given)
        };
        let settled: Vec<String> = seen
            .iter()
            .filter(|(name, values)| is_settled(name, values))
            .map(|(name, _)| (*name).to_owned())
            .collect();
        for name in settled {
            let index = self.intern(Unit::new(UnitKind::Env, "", name));
            for units in &mut self.node_units {
                units.retain(|unit| *unit != index);
            }
        }
    }

    /// Which tests there are, the compiled tests of all modules tell.
    pub(crate) fn attach_test_outputs(&mut self, class_path: &BTreeSet<PathBuf>) {
        let mut outputs = jvm::test_outputs(&self.root());
        outputs.extend(self.test_origins.iter().chain(class_path).cloned());
        let kits = kits(&outputs);
        let all = outputs.into_iter().map(|output| (output, ALL.to_owned()));
        for (output, class) in all.chain(kits) {
            let (Place::Inside(path) | Place::Outside(path)) =
                self.facts.place(maven::bytes_of(&output).as_bstr());
            self.attach(Unit::new(UnitKind::Class, path, class));
        }
    }

    fn attach(&mut self, unit: Unit) {
        let index = self.intern(unit);
        self.node_units[SESSION as usize].push(index);
    }

    fn root(&self) -> PathBuf {
        OsStr::from_bytes(self.facts.root()).into()
    }

    /// Notes which tests a JVM came to.
    pub(crate) fn note_jvm(&mut self, trace: &Trace, project: &BStr, collected: &mut Collected) {
        if !collected.is_jvm {
            collected.is_jvm = true;
            collected.items = Some(Vec::new());
            collected.started = trace.open.started;
        }
        collected.started = collected.started.min(trace.open.started);
        for definition in trace.definitions.values() {
            if let Definition::Compiled { origin, .. } = definition {
                let (Place::Inside(path) | Place::Outside(path)) =
                    self.facts.place(origin.as_bstr());
                let known = collected.started_with.entry(path).or_insert(u64::MAX);
                *known = (*known).min(trace.open.started);
            }
        }
        if let Some(config) = &trace.config {
            let cwd = config
                .rootdir
                .as_deref()
                .map(|path| Path::new(OsStr::from_bytes(path)));
            let folders = junit::folders(&config.args)
                .map(|folder| cwd.unwrap_or(Path::new("")).join(folder));
            collected.class_path.extend(folders);
        }
        let mut began = Vec::new();
        for begin in &trace.begins {
            began.push(self.class_id(begin, project));
            self.note_origin(begin);
        }
        match (&mut collected.items, trace.closed) {
            (Some(items), Some(_)) => items.extend(began),
            // It was killed, and nobody knows what else it would have run.
            _ => collected.items = None,
        }
        if trace.begins.is_empty() {
            // Its tests are unknown: a proof for all known ones is not enough.
            collected.items = None;
            let why = "a JVM that runs tests did not tell of any";
            collected.doubt = Some(why.to_owned());
        }
    }

    /// The directory that a test class was loaded from.
    fn note_origin(&mut self, begin: &TestBegin) {
        let class = begin.test.split('#').next().unwrap_or(&begin.test);
        let class = format!("/{}.class", class.replace('.', "/"));
        if let Some(origin) = begin.file.strip_suffix(class.as_bytes()) {
            let origin = OsStr::from_bytes(origin);
            self.test_origins.insert(origin.into());
        }
    }

    /// Where in the project a test wrote, or what it shares with others that did. What runs
    /// around several test classes (a suite's own methods, reports of the framework) does so
    /// whenever one of them runs, so it leaves nothing to be found by one that runs alone.
    pub(crate) fn written_units(&mut self, trace: &Trace, test: &TestBegin) -> Vec<UnitIndex> {
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
            if let Place::Inside(path) = self.facts.place(path.as_bstr()) {
                paths.insert(path);
            }
        }
        let units = paths.into_iter().map(Unit::written);
        units.map(|unit| self.intern(unit)).collect()
    }

    pub(crate) fn class_id(&self, begin: &TestBegin, project: &BStr) -> String {
        let Some(module) = jvm::module_of(begin.file.as_bstr()) else {
            return begin.test.clone();
        };
        match self.facts.place(maven::bytes_of(&module).as_bstr()) {
            Place::Inside(module) => maven::test_id(&begin.test, module.as_bstr(), project),
            Place::Outside(module) => format!("{module}/{}", begin.test),
        }
    }
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
