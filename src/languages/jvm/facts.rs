//! The value of class files as they lie on disk.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::left_over::Build;
use super::{ClassAt, class_in};
use crate::languages::{Environment, Facts, Place, Value};
use crate::matrix::{Fingerprint, Unit, What};

/// The class files that were read, by directory and name.
#[derive(Default)]
struct Read {
    classes: RefCell<FxHashMap<(BString, String), ClassAt>>,
}

/// The value of a unit that is about class files; `None` if it is not.
pub(super) fn value(facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>> {
    match unit.kind().is_compiled() {
        true => facts.compiled(unit).map(Some),
        false => Ok(None),
    }
}

impl<'a> Facts<'a> {
    /// Where a build that began at `since` has compiled and will go on: in `folders`
    /// (absolute), what it has not made may be made yet, but for classes and resources.
    pub fn with_build(mut self, since: SystemTime, folders: Vec<PathBuf>) -> Facts<'a> {
        let folders = folders.into_iter().filter_map(|folder| {
            match self.place(folder.into_os_string().into_encoded_bytes().as_bstr()) {
                Place::Inside(folder) => Some(folder),
                Place::Outside(_) => None,
            }
        });
        let folders = folders.collect();
        let build = Build::new(since, folders);
        self.may_make = Some(Box::new(move |root, path| build.may_make(root, path)));
        self
    }

    /// Whether the file of `unit`, a class file if it is of one, was written after this
    /// time, in milliseconds since the epoch.
    pub fn is_newer(&self, unit: &Unit, time: u64) -> bool {
        let mut file = self.directory(unit.path());
        if let Some(class) = unit.class() {
            file.push(format!("{class}.class"));
        }
        // A folder changes with what comes into it.
        let found = std::fs::metadata(file).ok().filter(|found| found.is_file());
        let written = found.and_then(|found| found.modified().ok());
        written.is_some_and(|written| written > UNIX_EPOCH + Duration::from_millis(time))
    }

    /// A class, or a part of it, as the last build left it, which is that of
    /// this state only where the project was built for this run.
    fn compiled(&self, unit: &Unit) -> Result<Value> {
        // Nothing looks at classes once more when the tests start, so they are
        // not late.
        if !self.view().is_work() || matches!(self.environment(), Environment::Elsewhere) {
            return Ok(Value::Unknown(format!(
                "{unit} is compiled, and only `tamis run` compiles before it selects"
            )));
        }
        let folder = || self.directory(unit.path());
        Ok(Value::Known(match (&unit.what, unit.class()) {
            (What::Classes(classes), _) => super::classes_in_all(&folder(), *classes)?,
            (What::Class(class), _) => class_in(&folder(), class)?,
            (what, Some(class)) => self.class_at(unit.path(), class)?.value(what),
            (_, None) => Fingerprint::MISSING,
        }))
    }

    /// The class file of a class as it lies in a directory now.
    pub fn class_at(&self, directory: &BStr, class: &str) -> Result<ClassAt> {
        let key = (BString::from(directory), class.to_owned());
        let read = self.memory::<Read>();
        if let Some(known) = read.classes.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = ClassAt::read(&self.directory(directory), class)?;
        read.classes.borrow_mut().insert(key, found.clone());
        Ok(found)
    }
}
