//! What holds at one state of the project: the value of any unit.
//!
//! The same code answers when rows are recorded and when they are checked, so
//! that a unit's fingerprint means the same in both.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::LANGUAGES;
use super::python::cache::Cache;
use crate::disk;
use crate::history::{Entry, View};
use crate::matrix::{Fingerprint, Unit};

/// What a unit is worth at this state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Known(Fingerprint),
    /// Only the environment of the tests can tell (an environment variable,
    /// an installed package): to be settled when they start.
    Late,
    /// It cannot be told, for this reason: the tests that use it run.
    Unknown(String),
}

/// What an interpreter of the test environment said of late units.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    pub values: BTreeMap<Unit, Fingerprint>,
}

/// Where late units get their value from.
#[derive(Clone, Debug)]
pub enum Environment {
    /// The tests run elsewhere or later.
    Elsewhere,
    /// They run on this machine, in the environment that was probed.
    Here(Probe),
}

/// Reads a file of the project by its path; `None` if there is none.
pub(crate) type Read<'r> = &'r dyn Fn(&BStr) -> Result<Option<Vec<u8>>>;

/// The value of a unit that is a runner's configuration; `None` if it is none.
pub(crate) type Configured = fn(&Unit, Read<'_>) -> Result<Option<Fingerprint>>;

/// Whether a build may still make the file at a path, beneath the top of a work tree.
pub(super) type MayMake = Box<dyn Fn(&Path, &BStr) -> bool>;

/// The value of units at one [`View`].
pub struct Facts<'a> {
    view: &'a View,
    /// Top of the work tree, without a slash at its end.
    root: BString,
    environment: Environment,
    cache: Option<&'a Cache>,
    configured: Configured,
    listings: RefCell<FxHashMap<BString, Option<Names>>>,
    real_dirs: RefCell<FxHashMap<BString, Place>>,
    pub(super) may_make: Option<MayMake>,
    /// What each language has read.
    memory: RefCell<FxHashMap<TypeId, Rc<dyn Any>>>,
}

/// What a directory holds, sorted: names, and whether each is a directory.
type Names = Rc<Vec<(BString, bool)>>;

/// Where a path of a trace lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Relative to the top of the work tree.
    Inside(BString),
    Outside(BString),
}

impl<'a> Facts<'a> {
    /// `configured` asks the runners. Without a `cache` every source is read again.
    pub fn new(
        view: &'a View,
        root: &Path,
        environment: Environment,
        cache: Option<&'a Cache>,
        configured: Configured,
    ) -> Facts<'a> {
        Facts {
            view,
            root: root.as_os_str().as_bytes().into(),
            environment,
            cache,
            configured,
            listings: RefCell::default(),
            real_dirs: RefCell::default(),
            may_make: None,
            memory: RefCell::default(),
        }
    }

    /// What a language keeps of what it has read.
    pub(super) fn memory<T: Any + Default>(&self) -> Rc<T> {
        let mut memory = self.memory.borrow_mut();
        let known = memory.entry(TypeId::of::<T>());
        let known = known.or_insert_with(|| Rc::new(T::default())).clone();
        known.downcast().expect("memory is kept by its type")
    }

    pub(super) fn cache(&self) -> Option<&'a Cache> {
        self.cache
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The value of a unit that a runner knows.
    pub(super) fn configured(&self, unit: &Unit) -> Result<Option<Fingerprint>> {
        (self.configured)(unit, &|path| Ok(self.view.read(path)?))
    }

    /// Top of the work tree, without a slash at its end.
    pub fn root(&self) -> &BStr {
        self.root.as_bstr()
    }

    pub fn view(&self) -> &'a View {
        self.view
    }

    /// Where the absolute `path` of a run on this machine lies, symbolic links
    /// above it resolved: git knows files by their real paths only.
    pub fn place(&self, path: &BStr) -> Place {
        let relative = match self.beneath_root(path) {
            Place::Inside(relative) => relative,
            outside => return outside,
        };
        let (dir, name) = split(relative.as_bstr());
        if dir.is_empty() {
            return Place::Inside(relative);
        }
        let join = |dir: &BString| match dir.is_empty() {
            true => name.into(),
            false => BString::from([dir.as_slice(), b"/", name].concat()),
        };
        match self.real_dir(dir) {
            Place::Inside(dir) => Place::Inside(join(&dir)),
            Place::Outside(dir) => Place::Outside(join(&dir)),
        }
    }

    /// Where the absolute `path` lies by its text alone.
    fn beneath_root(&self, path: &BStr) -> Place {
        match path.strip_prefix(self.root.as_slice()) {
            Some(b"") => Place::Inside(BString::default()),
            Some(rest) if rest[0] == b'/' => Place::Inside(rest[1..].into()),
            _ => Place::Outside(path.into()),
        }
    }

    /// Where a directory (relative) leads to by symbolic links; itself if it
    /// is gone.
    fn real_dir(&self, dir: &BStr) -> Place {
        if let Some(known) = self.real_dirs.borrow().get(dir) {
            return known.clone();
        }
        let here = [self.root.as_slice(), b"/", dir].concat();
        let real = std::fs::canonicalize(OsStr::from_bytes(&here));
        let place = match real {
            Err(_) => Place::Inside(dir.into()),
            Ok(real) => self.beneath_root(real.as_os_str().as_bytes().as_bstr()),
        };
        self.real_dirs
            .borrow_mut()
            .insert(dir.into(), place.clone());
        place
    }

    /// Whether `path` (relative) is a file that git neither tracks nor would
    /// show as new: it is ignored, and so most likely generated.
    pub fn is_generated(&self, path: &BStr) -> Result<bool> {
        let is_file = matches!(
            self.view.entry(path)?,
            Entry::File { .. } | Entry::TooLarge { .. }
        );
        if !is_file || self.view.is_tracked(path)? {
            return Ok(false);
        }
        let dirty = self.view.dirty()?;
        Ok(dirty
            .binary_search_by(|(known, _)| known.as_bstr().cmp(path))
            .is_err())
    }

    /// The value of `unit` at this state.
    pub fn value(&self, unit: &Unit) -> Value {
        let mut told = LANGUAGES.iter().map(|one| one.value(self, unit));
        match told.find_map(Result::transpose) {
            Some(Ok(value)) => value,
            Some(Err(error)) => Value::Unknown(format!("{unit} cannot be read: {error:#}")),
            None => Value::Unknown(format!("{unit} means nothing here")),
        }
    }

    /// Whether a build may make this file anew before the tests run.
    pub(super) fn is_left_over(&self, path: &BStr) -> bool {
        let root = Path::new(OsStr::from_bytes(&self.root));
        let may_make = self.may_make.as_ref();
        may_make.is_some_and(|may_make| may_make(root, path))
    }

    /// The absolute path of one that a unit has.
    pub(super) fn directory(&self, path: &BStr) -> PathBuf {
        // Joining an absolute path leaves that.
        Path::new(OsStr::from_bytes(&self.root)).join(OsStr::from_bytes(path))
    }

    /// The listing of a directory, read once; `None` if there is none.
    pub(super) fn names(&self, dir: &BStr) -> Result<Option<Names>> {
        if let Some(known) = self.listings.borrow().get(dir) {
            return Ok(known.clone());
        }
        let names = self.list(dir)?.map(Rc::new);
        self.listings.borrow_mut().insert(dir.into(), names.clone());
        Ok(names)
    }

    fn list(&self, dir: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        if !is_outside(dir) {
            let names = self.view.list(dir)?;
            return Ok(names.map(|mut names| {
                names.sort();
                names
            }));
        }
        Ok(disk::names(Path::new(OsStr::from_bytes(dir)))?)
    }

    /// The names in a folder of the work tree, tracked or not.
    pub(super) fn names_on_disk(&self, dir: &BStr) -> Result<Option<Vec<(BString, bool)>>> {
        let dir = Path::new(OsStr::from_bytes(&self.root)).join(OsStr::from_bytes(dir));
        let mut names = disk::names(&dir)?;
        if let Some(names) = &mut names {
            names.retain(|(name, _)| !disk::is_of_tools(name));
        }
        Ok(names)
    }
}

pub(super) fn is_outside(path: &BStr) -> bool {
    path.first() == Some(&b'/')
}

/// `a/b` → (`a`, `b`); `b` → (``, `b`).
pub(crate) fn split(path: &BStr) -> (&BStr, &BStr) {
    match path.rfind_byte(b'/') {
        Some(0) => (path[..1].as_bstr(), path[1..].as_bstr()),
        Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
        None => (BStr::new(b""), path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_the_last_slash() {
        assert_eq!(split("a/b/c".into()), ("a/b".into(), "c".into()));
        assert_eq!(split("c".into()), ("".into(), "c".into()));
        assert_eq!(split("/c".into()), ("/".into(), "c".into()));
    }
}
