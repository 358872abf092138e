//! The value of what is in a Python source, and of what an import finds.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::names::model::Known;
use super::{analyse_python_knowing, names_docstrings_in, names_readers_in};
use crate::history::Entry;
use crate::languages::facts::is_outside;
use crate::languages::{Analysis, Facts, Value, split};
use crate::matrix::{Fingerprint, Unit, What};

/// Never equal to a fingerprint of source that parses.
const UNPARSED: Fingerprint = Fingerprint(*b"tamis: no syntax");

/// What code may read of whatever it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    pub annotations: bool,
    pub docstrings: bool,
}

/// The sources that were analysed, by path.
#[derive(Default)]
struct Analysed {
    modules: RefCell<FxHashMap<BString, Option<Rc<Analysis>>>>,
    /// The same, each file by itself.
    alone: RefCell<FxHashMap<BString, Option<Rc<Analysis>>>>,
}

/// The value of a unit of a source; `None` if it is none.
pub(super) fn value(facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>> {
    match &unit.what {
        What::Lookup => facts.lookup(unit.path()).map(Some),
        What::Code(_)
        | What::Skeleton
        | What::Binding(_)
        | What::Presence(_)
        | What::Note(..)
        | What::Effects => facts.source_unit(unit).map(Some),
        _ => Ok(None),
    }
}

impl Facts<'_> {
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
        let analysed = self.memory::<Analysed>();
        if let Some(known) = analysed.modules.borrow().get(path) {
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
        analysed
            .modules
            .borrow_mut()
            .insert(path.into(), analysis.clone());
        Ok(analysis)
    }

    /// The analysis of a source by itself, without what other sources tell of
    /// the names that it imports.
    pub(super) fn module_alone(&self, path: &BStr) -> Result<Option<Rc<Analysis>>> {
        let analysed = self.memory::<Analysed>();
        if let Some(known) = analysed.alone.borrow().get(path) {
            return Ok(known.clone());
        }
        let analysis = self.analyse(path, &Known::default())?.map(Rc::new);
        analysed
            .alone
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
            None => match self.view().entry(path)? {
                Entry::File { blob, .. } => blob,
                Entry::TooLarge { .. } | Entry::Missing | Entry::Dir | Entry::Unknown => {
                    return Ok(None);
                }
            },
        };
        let key = cache_key(blob, known);
        if let Some(units) = self.cache().and_then(|cache| cache.get(&key)) {
            return Ok(Some(Analysis::Parsed(Box::new(units))));
        }
        let source = match outside {
            Some(source) => source,
            None => match self.view().read(path)? {
                Some(source) => source,
                None => return Ok(None),
            },
        };
        let analysis = analyse_python_knowing(&source, known);
        if let (Some(cache), Analysis::Parsed(units)) = (self.cache(), &analysis) {
            // The cache only saves time.
            let _ = cache.put(&key, units);
        }
        Ok(Some(analysis))
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

    fn source_unit(&self, unit: &Unit) -> Result<Value> {
        let analysis = self.module(unit.path())?;
        Ok(Value::Known(match analysis.as_deref() {
            None => Fingerprint::MISSING,
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
    match crate::disk::read_named(Path::new(OsStr::from_bytes(path))) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
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
}
