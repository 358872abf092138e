//! Where import statements lead to, as far as the files of a project tell.

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};

use super::facts::is_candidate;
use super::names::model::{Import, Names};
use crate::languages::{Analysis, python};
use crate::languages::{Facts, Value, split};
use crate::matrix::{Fingerprint, Unit, What};

impl Facts<'_> {
    /// The units, beyond those of the file itself, that what was made of the
    /// effects of the module at `path` relies on: that no file hides what it
    /// imports of the standard library. `None` if one is not known.
    ///
    /// # Errors
    /// If git cannot be read.
    pub fn relied_on(&self, path: &BStr) -> Result<Option<Vec<(Unit, Fingerprint)>>> {
        let analysis = self.module(path)?;
        let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
            return Ok(Some(Vec::new()));
        };
        let mut units: Vec<Unit> = standard_lookups(path, &module.names)
            .map(|(dir, root)| Unit::at(join(dir.as_bstr(), root), What::Lookup))
            .collect();
        units.sort();
        units.dedup();
        let value = |unit: Unit| match self.value(&unit) {
            Value::Known(value) => Some((unit, value)),
            Value::Late | Value::Unknown(_) => None,
        };
        Ok(units.into_iter().map(value).collect())
    }

    /// What an import of the standard library may mean instead: files of the
    /// project that have such a name.
    pub(in crate::languages) fn hidden(&self, path: &BStr, names: &Names) -> Result<Vec<u8>> {
        let mut hidden = Vec::new();
        if path.first() == Some(&b'/') {
            return Ok(hidden);
        }
        for (dir, root) in standard_lookups(path, names) {
            if self.may_be_imported_from(dir.as_bstr(), root)? {
                hidden.extend_from_slice(&dir);
                hidden.push(b'/');
                hidden.extend_from_slice(root.as_bytes());
                hidden.push(0);
            }
        }
        Ok(hidden)
    }

    /// Whether a module of this name lies in `dir`, and `dir` is no package, so
    /// that it may be on the search path.
    fn may_be_imported_from(&self, dir: &BStr, name: &str) -> Result<bool> {
        let names = self.names(dir)?.unwrap_or_default();
        let is_there = names
            .iter()
            .any(|(entry, is_dir)| is_candidate(entry.as_bstr(), *is_dir, name.into()));
        Ok(is_there && !self.holds(dir, b"__init__.py")?)
    }

    /// The one file that an import statement in the package of `from` leads to.
    pub(in crate::languages) fn source_of(
        &self,
        from: &BStr,
        import: &Import,
    ) -> Result<Option<BString>> {
        if from.first() == Some(&b'/') {
            return Ok(None);
        }
        let mut dir = split(from).0.to_owned();
        let mut parts = import.module.split('.').filter(|part| !part.is_empty());
        if import.level > 0 {
            for _ in 1..import.level {
                if dir.is_empty() {
                    return Ok(None);
                }
                dir = split(dir.as_bstr()).0.to_owned();
            }
            // Without `__init__.py` a package may have parts elsewhere.
            if !self.holds(dir.as_bstr(), b"__init__.py")? {
                return Ok(None);
            }
        } else {
            let Some(top) = self.top_package(dir.as_bstr())? else {
                return Ok(None);
            };
            if parts.next().map(str::as_bytes) != Some(split(top.as_bstr()).1.as_bytes()) {
                return Ok(None);
            }
            dir = top;
        }
        let stem = parts.fold(dir, |stem, part| join(stem.as_bstr(), part));
        self.only_source(stem.as_bstr())
    }

    /// The outermost folder with `__init__.py` around `dir`, itself counted.
    fn top_package(&self, dir: &BStr) -> Result<Option<BString>> {
        let mut top = None;
        let mut dir = dir.to_owned();
        while !dir.is_empty() && self.holds(dir.as_bstr(), b"__init__.py")? {
            top = Some(dir.clone());
            dir = split(dir.as_bstr()).0.to_owned();
        }
        Ok(top)
    }

    fn holds(&self, dir: &BStr, file: &[u8]) -> Result<bool> {
        let names = self.names(dir)?.unwrap_or_default();
        Ok(names
            .binary_search_by(|(name, _)| name.as_slice().cmp(file))
            .is_ok_and(|at| !names[at].1))
    }

    /// `stem.py` or `stem/__init__.py`, if nothing else could be meant.
    fn only_source(&self, stem: &BStr) -> Result<Option<BString>> {
        let (dir, name) = split(stem);
        let names = self.names(dir)?.unwrap_or_default();
        let mut found = names
            .iter()
            .filter(|(entry, is_dir)| is_candidate(entry.as_bstr(), *is_dir, name));
        let (Some((entry, is_dir)), None) = (found.next(), found.next()) else {
            return Ok(None);
        };
        let mut path = stem.to_owned();
        if *is_dir {
            path.extend_from_slice(b"/__init__.py");
            return Ok(self.holds(stem, b"__init__.py")?.then_some(path));
        }
        path.extend_from_slice(b".py");
        Ok(path.ends_with(entry.as_slice()).then_some(path))
    }
}

/// Where files could hide what the module at `path` imports of the standard
/// library while it is imported itself: folders above it, with the module's name.
fn standard_lookups<'n>(path: &BStr, names: &'n Names) -> impl Iterator<Item = (BString, &'n str)> {
    let dirs = dirs_above(path);
    names
        .imports
        .iter()
        .filter(|import| import.at_import && import.level == 0)
        .map(|import| import.module.split('.').next().unwrap_or_default())
        .filter(|root| python::is_standard(root))
        .flat_map(move |root| dirs.clone().into_iter().map(move |dir| (dir, root)))
}

fn join(dir: &BStr, name: &str) -> BString {
    match dir.is_empty() {
        true => BString::from(name),
        false => BString::from([dir.as_bytes(), b"/", name.as_bytes()].concat()),
    }
}

/// The folders above a file, the innermost first.
fn dirs_above(path: &BStr) -> Vec<BString> {
    let mut dirs = vec![split(path).0.to_owned()];
    while let Some(dir) = dirs.last().filter(|dir| !dir.is_empty()) {
        dirs.push(split(dir.as_bstr()).0.to_owned());
    }
    dirs
}
