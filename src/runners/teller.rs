//! What the runner tells `observe` of the processes that it started.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use crate::languages::{Facts, Place};
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::{Configuration, Given, LookedIn, Observations, Teller, TestBegin};
use crate::runners::{gradle, junit, jvm, maven, pytest};

/// A command that ran tests.
pub struct Started<'a> {
    pub facts: &'a Facts<'a>,
    /// The folder that test ids are relative to, relative to the top of the work tree.
    pub project: &'a BStr,
    pub command: &'a [String],
    /// Where it ran, if that is known.
    pub folder: Option<PathBuf>,
    /// The variables that it was started with.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Teller for Started<'_> {
    fn folder_units(&self, folder: &BStr) -> Vec<Unit> {
        pytest::directory_units(folder)
    }

    fn id_prefix(&self, folder: &BStr) -> String {
        pytest::id_prefix(folder, self.project)
    }

    fn class_id(&self, test: &TestBegin) -> String {
        let Some(module) = jvm::module_of(test.file.as_bstr()) else {
            return test.test.clone();
        };
        match self.facts.place(maven::bytes_of(&module).as_bstr()) {
            Place::Inside(module) => maven::test_id(&test.test, module.as_bstr(), self.project),
            Place::Outside(module) => format!("{module}/{}", test.test),
        }
    }

    fn configuration(&self) -> Result<Configuration> {
        let root = self.root();
        let mut folders = vec![root.clone(), root.join(self.project.to_path_lossy())];
        let inside = self.folder.iter().filter(|dir| dir.starts_with(&root));
        folders.extend(inside.cloned());
        folders.dedup();
        let mut found = jvm::configuration(&root, &folders, self.command);
        let own = |name: &str| {
            let value = (self.variable)(name);
            value.map(|value| Fingerprint::of_value(value.as_bytes()))
        };
        let mut parts = Vec::new();
        // What poms tell people has no part, if it is known that nothing refers to it.
        if let Some(kept) = &found.kept {
            for pom in &found.poms {
                found.files.remove(pom);
                let kept = kept.iter().cloned().collect();
                parts.push((pom.clone(), What::KeptConfig(kept)));
            }
        }
        let given = found.given.into_iter().map(|(name, values)| {
            let values = values.iter();
            let given = Given {
                values: values
                    .map(|value| Fingerprint::of_value(value.as_bytes()))
                    .collect(),
                own: own(&name),
            };
            (name, given)
        });
        let given = given.collect();
        let variables = found.variables.into_iter().map(|name| {
            let value = own(&name);
            (name, value)
        });
        Ok(Configuration {
            parts,
            files: found.files.into_iter().collect(),
            looked_for: found.looked_for.into_iter().collect(),
            folders: gradle::config_folders(&root),
            variables: variables.collect(),
            given,
        })
    }

    fn test_outputs(&self) -> Vec<PathBuf> {
        jvm::test_outputs(&self.root())
    }

    fn class_path(&self, args: &[String]) -> Vec<PathBuf> {
        junit::folders(args).map(PathBuf::from).collect()
    }
}

impl Started<'_> {
    fn root(&self) -> PathBuf {
        OsString::from_vec(self.facts.root().to_vec()).into()
    }

    /// Says in which files the run looked for tests: a unit for each process that did;
    /// none if that is not known of all, or if more than the runner decides what it is
    /// told.
    pub fn attach_finds(&self, observed: &mut Observations) {
        let finds = observed.looked_in.iter().map(|looked_in| {
            let looked_in = looked_in.as_ref()?;
            let is_direct = pytest::is_direct(self.command, &looked_in.args);
            (is_direct && !self.is_own(looked_in)).then(|| pytest::Finds {
                names: looked_in.names.clone(),
                places: looked_in.places.clone(),
                others: looked_in.others.clone(),
            })
        });
        let finds: Option<Vec<pytest::Finds>> = finds.collect();
        for finds in finds.into_iter().flatten() {
            observed.found_by(Unit::of(What::Finds(Box::new(finds))));
        }
    }

    /// Whether the program of the command is a file of the repository.
    fn is_own(&self, looked_in: &LookedIn) -> bool {
        let Some(program) = self.command.first().filter(|one| one.contains('/')) else {
            return false;
        };
        let folder = looked_in.cwd.as_deref().unwrap_or_default();
        let path = Path::new(folder).join(program);
        match self.facts.place(path.as_os_str().as_bytes().as_bstr()) {
            Place::Inside(path) => {
                let is_tracked = self.facts.view().is_tracked(path.as_bstr());
                is_tracked.unwrap_or(true)
            }
            Place::Outside(_) => false,
        }
    }
}
