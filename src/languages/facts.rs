//! What holds at one state of the project: the value of any unit.
//!
//! The same code answers when rows are recorded and when they are checked, so
//! that a unit's fingerprint means the same in both.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::jvm::ClassAt;
use super::jvm::left_over::Build;
use super::python::cache::Cache;
use super::python::names::model::Known;
use super::python::{names_docstrings_in, names_readers_in};
use super::{Analysis, analyse_python_knowing};
use crate::history::{Entry, View};
use crate::matrix::{Fingerprint, Unit, What};
use crate::runners::{maven, pytest};

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

/// What code may read of whatever it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    pub annotations: bool,
    pub docstrings: bool,
}

/// The value of units at one [`View`].
pub struct Facts<'a> {
    view: &'a View,
    /// Top of the work tree, without a slash at its end.
    root: BString,
    environment: Environment,
    cache: Option<&'a Cache>,
    modules: RefCell<FxHashMap<BString, Option<Rc<Analysis>>>>,
    /// The same, each file by itself.
    pub(super) alone: RefCell<FxHashMap<BString, Option<Rc<Analysis>>>>,
    listings: RefCell<FxHashMap<BString, Option<Names>>>,
    /// By directory and name.
    classes: RefCell<FxHashMap<(BString, String), ClassAt>>,
    real_dirs: RefCell<FxHashMap<BString, Place>>,
    build: Option<Build>,
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
    pub fn new(
        view: &'a View,
        root: &Path,
        environment: Environment,
        cache: Option<&'a Cache>,
    ) -> Facts<'a> {
        use std::os::unix::ffi::OsStrExt;
        Facts {
            view,
            root: root.as_os_str().as_bytes().into(),
            environment,
            cache,
            modules: RefCell::default(),
            alone: RefCell::default(),
            listings: RefCell::default(),
            classes: RefCell::default(),
            real_dirs: RefCell::default(),
            build: None,
        }
    }

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
        self.build = Some(Build::new(since, folders));
        self
    }

    /// Whether the build may make this file anew before the tests run.
    fn is_left_over(&self, path: &BStr) -> bool {
        let root = Path::new(std::ffi::OsStr::from_bytes(&self.root));
        let build = self.build.as_ref();
        build.is_some_and(|build| build.may_make(root, path))
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
        use std::os::unix::ffi::OsStrExt;
        if let Some(known) = self.real_dirs.borrow().get(dir) {
            return known.clone();
        }
        let here = [self.root.as_slice(), b"/", dir].concat();
        let real = std::fs::canonicalize(std::ffi::OsStr::from_bytes(&here));
        let place = match real {
            Err(_) => Place::Inside(dir.into()),
            Ok(real) => self.beneath_root(real.as_os_str().as_bytes().as_bstr()),
        };
        self.real_dirs
            .borrow_mut()
            .insert(dir.into(), place.clone());
        place
    }

    /// Whether `file` belongs to an installed package, whose `dist` unit then
    /// stands for it.
    pub fn is_third_party(file: &BStr) -> bool {
        file.split_str("/")
            .any(|part| part == b"site-packages" || part == b"dist-packages")
    }

    /// Whether the code of an installed package in `file` names what reads
    /// annotations, or docstrings; if it cannot be read, it may.
    pub fn may_read(file: &BStr) -> Reads {
        // The first two are for the test runner: one reads annotations of functions
        // of its own, one colours text. The last is like the standard library's:
        // who makes it read has to name it.
        let is_known = |part: &[u8]| {
            matches!(
                part,
                b"exceptiongroup" | b"pygments" | b"typing_extensions.py"
            )
        };
        if file.split_str("/").any(is_known) {
            return Reads::default();
        }
        let code = file
            .to_path()
            .ok()
            .and_then(|path| crate::disk::read(path).ok());
        Reads {
            annotations: code.as_deref().is_none_or(names_readers_in),
            docstrings: code.as_deref().is_none_or(names_docstrings_in),
        }
    }

    /// The analysed source at `path` (relative, or absolute outside the work
    /// tree); `None` if there is no such file.
    pub fn module(&self, path: &BStr) -> Result<Option<Rc<Analysis>>> {
        if let Some(known) = self.modules.borrow().get(path) {
            return Ok(known.clone());
        }
        let analysis = match self.module_alone(path)? {
            Some(alone) => match &*alone {
                Analysis::Parsed(module) => match self.known(path, &module.names)? {
                    known if known.is_empty() => Some(alone),
                    known => self.analyse(path, &known)?.map(Rc::new),
                },
                Analysis::Unparsed(_) => Some(alone),
            },
            None => None,
        };
        self.modules
            .borrow_mut()
            .insert(path.into(), analysis.clone());
        Ok(analysis)
    }

    /// The analysis of a source by itself, without what other sources tell of
    /// the names that it imports.
    pub(super) fn module_alone(&self, path: &BStr) -> Result<Option<Rc<Analysis>>> {
        if let Some(known) = self.alone.borrow().get(path) {
            return Ok(known.clone());
        }
        let analysis = self.analyse(path, &Known::default())?.map(Rc::new);
        self.alone
            .borrow_mut()
            .insert(path.into(), analysis.clone());
        Ok(analysis)
    }

    fn analyse(&self, path: &BStr, known: &Known) -> Result<Option<Analysis>> {
        let outside = match is_outside(path) {
            true => match read_outside(path)? {
                Some(source) => Some(source),
                None => return Ok(None),
            },
            false => None,
        };
        let blob = match &outside {
            Some(source) => crate::history::blob_id(source),
            None => match self.view.entry(path)? {
                Entry::File { blob, .. } => blob,
                Entry::TooLarge { .. } | Entry::Missing | Entry::Dir | Entry::Unknown => {
                    return Ok(None);
                }
            },
        };
        let key = cache_key(blob, known);
        if let Some(units) = self.cache.and_then(|cache| cache.get(&key)) {
            return Ok(Some(Analysis::Parsed(Box::new(units))));
        }
        let source = match outside {
            Some(source) => source,
            None => match self.view.read(path)? {
                Some(source) => source,
                None => return Ok(None),
            },
        };
        let analysis = analyse_python_knowing(&source, known);
        if let (Some(cache), Analysis::Parsed(units)) = (self.cache, &analysis) {
            // The cache only saves time.
            let _ = cache.put(&key, units);
        }
        Ok(Some(analysis))
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
        self.try_value(unit)
            .unwrap_or_else(|error| Value::Unknown(format!("{unit} cannot be read: {error:#}")))
    }

    fn try_value(&self, unit: &Unit) -> Result<Value> {
        let is_late = || self.is_late(unit);
        let read = |path: &BStr| self.view.read(path);
        match &unit.what {
            What::Written => Ok(Value::Known(FILE)),
            What::File | What::UntrackedFile | What::AuditedFile if is_late() => Ok(Value::Late),
            What::Exists | What::UntrackedExists | What::Dir if is_late() => Ok(Value::Late),
            What::File | What::UntrackedFile | What::AuditedFile => {
                match self.is_left_over(unit.path()) {
                    true => Ok(Value::Unknown(format!(
                        "{} is of an earlier build",
                        unit.path
                    ))),
                    false => self.file(unit.path()),
                }
            }
            What::Exists | What::UntrackedExists => self.exists(unit.path()),
            What::Lookup => self.lookup(unit.path()),
            What::Dir => self.listing(unit.path()),
            What::Code(_)
            | What::Skeleton
            | What::Binding(_)
            | What::Presence(_)
            | What::Note(..)
            | What::Effects => self.source_unit(unit),
            What::Dist(_)
            | What::Plugins
            | What::Runtime(_)
            | What::StartUp
            | What::Env(_)
            | What::AllEnv
            | What::Options => Ok(self.probed(unit)),
            What::Finds(_) => Ok(Value::Known(Fingerprint::MISSING)),
            What::KeptConfig(kept) => {
                let print = maven::pom_fingerprint(read(unit.path())?, kept);
                Ok(Value::Known(print))
            }
            What::RunnerConfig(_) => {
                let print = pytest::config_fingerprint(unit.path(), read)?;
                Ok(Value::Known(print))
            }
            What::Class(_)
            | What::Classes(_)
            | What::OfSources
            | What::NotOfSources(_)
            | What::Method(_)
            | What::Shape(_)
            | What::Member(_)
            | What::Overrides(_)
            | What::Nest(_) => self.compiled(unit),
            What::Other(_) => Ok(Value::Unknown(format!("{unit} means nothing here"))),
        }
    }

    /// Generated files, and files outside the work tree, exist where the
    /// tests run, and perhaps not here.
    fn is_late(&self, unit: &Unit) -> bool {
        let elsewhere = matches!(self.environment, Environment::Elsewhere);
        let is_untracked = matches!(unit.what, What::UntrackedFile | What::UntrackedExists);
        elsewhere && (is_untracked || unit.is_outside())
    }

    fn probed(&self, unit: &Unit) -> Value {
        match &self.environment {
            Environment::Elsewhere => Value::Late,
            Environment::Here(probe) => {
                match probe.values.get(unit) {
                    Some(fingerprint) => Value::Known(*fingerprint),
                    // Only the runner knows what its options come to, and those
                    // of its interpreter.
                    None if matches!(unit.what, What::Options | What::StartUp) => Value::Late,
                    None => Value::Unknown(format!("the interpreter did not say what {unit} is")),
                }
            }
        }
    }

    /// Whether the file of `unit`, a class file if it is of one, was written after this
    /// time, in milliseconds since the epoch.
    pub fn is_newer(&self, unit: &Unit, time: u64) -> bool {
        use std::time::{Duration, UNIX_EPOCH};
        let mut file = self.directory(unit.path());
        if let Some(class) = unit.class() {
            file.push(format!("{class}.class"));
        }
        // A folder changes with what comes into it.
        let found = std::fs::metadata(file).ok().filter(|found| found.is_file());
        let written = found.and_then(|found| found.modified().ok());
        written.is_some_and(|written| written > UNIX_EPOCH + Duration::from_millis(time))
    }

    fn directory(&self, path: &BStr) -> std::path::PathBuf {
        use std::os::unix::ffi::OsStrExt;
        let root = Path::new(std::ffi::OsStr::from_bytes(&self.root));
        // Joining an absolute path leaves that.
        root.join(std::ffi::OsStr::from_bytes(path))
    }

    /// A class, or a part of it, as the last build left it, which is that of
    /// this state only where the project was built for this run.
    fn compiled(&self, unit: &Unit) -> Result<Value> {
        // Nothing looks at classes once more when the tests start, so they are
        // not late.
        if !self.view.is_work() || matches!(self.environment, Environment::Elsewhere) {
            return Ok(Value::Unknown(format!(
                "{unit} is compiled, and only `tamis run` compiles before it selects"
            )));
        }
        let folder = || self.directory(unit.path());
        Ok(Value::Known(match (&unit.what, unit.class()) {
            (What::Classes(classes), _) => super::jvm::classes_in_all(&folder(), *classes)?,
            (What::Class(class), _) => super::jvm::class_in(&folder(), class)?,
            (what, Some(class)) => self.class_at(unit.path(), class)?.value(what),
            (_, None) => Fingerprint::MISSING,
        }))
    }

    /// The class file of a class as it lies in a directory now.
    pub fn class_at(&self, directory: &BStr, class: &str) -> Result<ClassAt> {
        let key = (BString::from(directory), class.to_owned());
        if let Some(known) = self.classes.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = ClassAt::read(&self.directory(directory), class)?;
        self.classes.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn file(&self, path: &BStr) -> Result<Value> {
        if is_outside(path) {
            return outside_fingerprint(path).map(Value::Known);
        }
        Ok(match self.view.entry(path)? {
            Entry::Missing => Value::Known(Fingerprint::MISSING),
            Entry::Dir => Value::Known(DIR),
            Entry::File { fingerprint, .. } => Value::Known(fingerprint),
            Entry::TooLarge { bytes, .. } => {
                Value::Unknown(format!("{path} {}", crate::history::too_large(bytes)))
            }
            Entry::Unknown => unknown(path),
        })
    }

    fn exists(&self, path: &BStr) -> Result<Value> {
        if is_outside(path) {
            use std::os::unix::ffi::OsStrExt;
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            return Ok(Value::Known(match std::fs::metadata(path) {
                Ok(found) if found.is_dir() => DIR,
                Ok(_) => FILE,
                Err(_) => Fingerprint::MISSING,
            }));
        }
        Ok(match self.view.entry(path)? {
            Entry::Missing => Value::Known(Fingerprint::MISSING),
            Entry::Dir => Value::Known(DIR),
            Entry::File { .. } | Entry::TooLarge { .. } => Value::Known(FILE),
            Entry::Unknown => unknown(path),
        })
    }

    /// Which importable candidates of the stem a directory holds.
    fn lookup(&self, path: &BStr) -> Result<Value> {
        let (dir, stem) = split(path);
        let names = self.names(dir)?;
        let Some(names) = names else {
            return Ok(Value::Known(Fingerprint::MISSING));
        };
        let found: Vec<&(BString, bool)> = beginning_with(&names, stem)
            .filter(|(name, is_dir)| is_candidate(name.as_bstr(), *is_dir, stem))
            .collect();
        if found.is_empty() {
            return Ok(Value::Known(Fingerprint::MISSING));
        }
        let mut text = Vec::new();
        for (name, is_dir) in found {
            text.push(match is_dir {
                false => b'f',
                // With `__init__.py` it is a package, without a namespace.
                true if self.is_package(path)? => b'p',
                true => b'd',
            });
            text.extend_from_slice(name);
            text.push(0);
        }
        let value = Fingerprint::of_digest("tamis lookup 1", &text);
        Ok(Value::Known(value))
    }

    fn is_package(&self, dir: &BStr) -> Result<bool> {
        let names = self.names(dir)?.unwrap_or_default();
        let init = BStr::new("__init__");
        Ok(beginning_with(&names, init)
            .any(|(name, is_dir)| is_candidate(name.as_bstr(), *is_dir, init)))
    }

    /// The sorted lines `f name` and `d name`, as agents compute it too.
    fn listing(&self, dir: &BStr) -> Result<Value> {
        let Some(names) = self.names(dir)? else {
            return Ok(Value::Known(Fingerprint::MISSING));
        };
        let mut lines: Vec<Vec<u8>> = names
            .iter()
            .map(|(name, is_dir)| {
                let kind: &[u8] = if *is_dir { b"d " } else { b"f " };
                [kind, name.as_slice(), b"\n"].concat()
            })
            .collect();
        lines.sort();
        Ok(Value::Known(Fingerprint::of_value(&lines.concat())))
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
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let Ok(entries) = std::fs::read_dir(std::ffi::OsStr::from_bytes(dir)) else {
            return Ok(None);
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let is_dir = entry.file_type()?.is_dir();
            names.push((BString::from(entry.file_name().into_vec()), is_dir));
        }
        names.sort();
        Ok(Some(names))
    }

    fn source_unit(&self, unit: &Unit) -> Result<Value> {
        let analysis = self.module(unit.path())?;
        Ok(Value::Known(match analysis.as_deref() {
            None => Fingerprint::MISSING,
            // Never equal to a fingerprint of source that parses.
            Some(Analysis::Unparsed(_)) => UNPARSED,
            Some(Analysis::Parsed(module)) => match &unit.what {
                What::Skeleton => module.skeleton,
                What::Effects => self.effects(unit.path(), &module.names)?,
                What::Presence(name) => module.names.presence(name),
                What::Code(name) => {
                    let known = module.code.get(&**name).copied();
                    known.unwrap_or(Fingerprint::MISSING)
                }
                _ => module.names.binding(&unit.name()),
            },
        }))
    }
}

/// The blob's own id, or where more than the blob decides the analysis, a
/// digest of both.
fn cache_key(blob: [u8; 20], known: &Known) -> [u8; 20] {
    if known.is_empty() {
        return blob;
    }
    let mut hasher = blake3::Hasher::new_derive_key("tamis 2026 analysis of a blob");
    hasher.update(&blob);
    for name in &known.classes {
        hasher.update(format!("class {name}\0").as_bytes());
    }
    let mut key = [0; 20];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..20]);
    key
}

/// The value of a path that is a directory.
pub const DIR: Fingerprint = Fingerprint(*b"tamis: directory");
/// The value of a path that exists and is no directory.
pub const FILE: Fingerprint = Fingerprint(*b"tamis: some file");
const UNPARSED: Fingerprint = Fingerprint(*b"tamis: no syntax");

fn unknown(path: &BStr) -> Value {
    Value::Unknown(format!("git cannot tell what {path} holds"))
}

fn is_outside(path: &BStr) -> bool {
    path.first() == Some(&b'/')
}

/// `a/b` → (`a`, `b`); `b` → (``, `b`).
pub fn split(path: &BStr) -> (&BStr, &BStr) {
    match path.rfind_byte(b'/') {
        Some(0) => (path[..1].as_bstr(), path[1..].as_bstr()),
        Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
        None => (BStr::new(b""), path),
    }
}

/// The entries of a sorted listing whose names begin with `stem`.
fn beginning_with<'n>(
    names: &'n [(BString, bool)],
    stem: &BStr,
) -> impl Iterator<Item = &'n (BString, bool)> {
    let first = names.partition_point(|(name, _)| name.as_bstr() < stem);
    let stem = stem.to_owned();
    names[first..]
        .iter()
        .take_while(move |(name, _)| name.starts_with(&stem))
}

/// Whether a directory entry can be what `import stem` finds: a package or
/// namespace directory, a source, byte-code or extension module.
pub(super) fn is_candidate(name: &BStr, is_dir: bool, stem: &BStr) -> bool {
    let Some(rest) = name.strip_prefix(stem.as_bytes()) else {
        return false;
    };
    match rest {
        // A link to a package is no directory to git.
        b"" => true,
        b".py" | b".pyc" | b".so" | b".pyd" => !is_dir,
        _ => !is_dir && rest[0] == b'.' && (rest.ends_with(b".so") || rest.ends_with(b".pyd")),
    }
}

fn read_outside(path: &BStr) -> Result<Option<Vec<u8>>> {
    use std::os::unix::ffi::OsStrExt;
    match crate::disk::read_named(Path::new(std::ffi::OsStr::from_bytes(path))) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The fingerprint of a file outside the work tree: as if git stored it.
fn outside_fingerprint(path: &BStr) -> Result<Fingerprint> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    use crate::matrix::Mode;
    let file = Path::new(std::ffi::OsStr::from_bytes(path));
    let found = match fs_err::symlink_metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Fingerprint::MISSING);
        }
        Err(error) => return Err(error.into()),
    };
    let blob = |content: &[u8], mode| Fingerprint::of_blob(&crate::history::blob_id(content), mode);
    if found.is_symlink() {
        let target = fs_err::read_link(file)?;
        return Ok(blob(target.as_os_str().as_bytes(), Mode::Symlink));
    }
    if found.is_dir() {
        return Ok(DIR);
    }
    let mode = match found.permissions().mode() & 0o100 {
        0 => Mode::Regular,
        _ => Mode::Executable,
    };
    let read = crate::disk::open(file)
        .and_then(|file| crate::history::fingerprint_of(&file, mode))
        .with_context(|| format!("cannot read {}", file.display()))?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_of_an_import() {
        let is = |name: &str, is_dir| is_candidate(name.into(), is_dir, "json".into());
        assert!(is("json.py", false));
        assert!(is("json", true));
        assert!(is("json.cpython-311-x86_64-linux-gnu.so", false));
        assert!(is("json", false));
        assert!(!is("json.py", true));
        assert!(!is("jsonx.py", false));
        assert!(!is("json.txt", false));
    }

    #[test]
    fn paths_split_at_the_last_slash() {
        assert_eq!(split("a/b/c".into()), ("a/b".into(), "c".into()));
        assert_eq!(split("c".into()), ("".into(), "c".into()));
        assert_eq!(split("/c".into()), ("/".into(), "c".into()));
    }
}
