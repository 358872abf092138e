//! What rows of a JVM's test classes need besides what its agent saw.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};

use super::graph::SESSION;
use super::rows::{Closing, Collected};
use super::trace::{Definition, TestBegin, Trace};
use crate::fingerprint::Place;
use crate::fingerprint::jvm::ALL;
use crate::matrix::{Unit, UnitKind};
use crate::runners::{console, gradle, jvm, maven};

impl Closing<'_> {
    /// Every test needs the files that configure the build.
    pub(super) fn attach_poms(&mut self) {
        let root = self.root();
        let files = jvm::config_files(&root).into_iter();
        let folders = gradle::config_folders(&root).into_iter();
        let files = files.map(|file| (UnitKind::File, file));
        for (kind, file) in files.chain(folders.map(|folder| (UnitKind::Dir, folder))) {
            let (Place::Inside(path) | Place::Outside(path)) =
                self.facts.place(maven::bytes_of(&file).as_bstr());
            self.attach(Unit::new(kind, path, ""));
        }
    }

    /// Which tests there are, the compiled tests of all modules tell.
    pub(super) fn attach_test_outputs(&mut self, class_path: &BTreeSet<PathBuf>) {
        let mut outputs = jvm::test_outputs(&self.root());
        outputs.extend(self.test_origins.iter().chain(class_path).cloned());
        for output in outputs {
            let (Place::Inside(path) | Place::Outside(path)) =
                self.facts.place(maven::bytes_of(&output).as_bstr());
            self.attach(Unit::new(UnitKind::Class, path, ALL));
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
    pub(super) fn note_jvm(&mut self, trace: &Trace, project: &BStr, collected: &mut Collected) {
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
            let folders = console::folders(&config.args)
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
            let why = "a JVM that runs tests did not tell of any (TestNG's are not known)";
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

    pub(super) fn class_id(&self, begin: &TestBegin, project: &BStr) -> String {
        let Some(module) = jvm::module_of(begin.file.as_bstr()) else {
            return begin.test.clone();
        };
        match self.facts.place(maven::bytes_of(&module).as_bstr()) {
            Place::Inside(module) => maven::test_id(&begin.test, module.as_bstr(), project),
            Place::Outside(module) => format!("{module}/{}", begin.test),
        }
    }
}
