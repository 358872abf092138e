//! Which imported names are classes, and what deriving from them does: looked
//! up in the sources that they are imported from.
//!
//! Only within the package of the importing file, where an import statement
//! leads to one file whatever the interpreter's search path is.
//!
//! An answer is not asked for again at selection, if the importing file has not
//! changed. If a class stops being one that can be derived from without further
//! ado, that changes the effects of its module, or the presence of its name:
//! whoever imports the importing module has both in its row.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};

use super::facts::{Facts, is_candidate, split};
use super::names::{Import, Names};
use super::{Analysis, python};
use crate::matrix::Fingerprint;

/// Imports that are followed one after the other.
const MAX_DEPTH: u32 = 12;

impl Facts<'_> {
    /// Of the names that the source at `path` asks about, those that are
    /// classes whose derivation does nothing of its own.
    pub(super) fn plain_classes(&self, path: &BStr, names: &Names) -> Result<BTreeSet<String>> {
        let mut plain = BTreeSet::new();
        for name in &names.asked {
            let mut imports = names.imports.iter().filter(|import| &import.bound == name);
            if let (Some(import), None) = (imports.next(), imports.next())
                && self.is_plain(path, import, 0)?
            {
                plain.insert(name.clone());
            }
        }
        Ok(plain)
    }

    fn is_plain(&self, from: &BStr, import: &Import, depth: u32) -> Result<bool> {
        let Some(item) = &import.item else {
            return Ok(false);
        };
        let Some(source) = self.source_of(from, import)? else {
            return Ok(false);
        };
        let analysis = self.module_alone(source.as_bstr())?;
        let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
            return Ok(false);
        };
        if depth > MAX_DEPTH {
            return Ok(false);
        }
        if let Some(needed) = module.names.classes.get(item) {
            for import in needed {
                if !self.is_plain(source.as_bstr(), import, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        // Passed on from where it was imported.
        let names = &module.names;
        let part = names.bindings.get(item);
        let is_passed_on = part.is_some_and(|part| part.is_import && part.is_single);
        let mut imports = names.imports.iter().filter(|import| &import.bound == item);
        match (imports.next(), imports.next()) {
            (Some(import), None) if is_passed_on && import.at_import => {
                self.is_plain(source.as_bstr(), import, depth + 1)
            }
            _ => Ok(false),
        }
    }

    /// The value of a module's effects. An import of the standard library does
    /// nothing, unless a file of the project may be meant.
    pub(super) fn effects(&self, path: &BStr, names: &Names) -> Result<Fingerprint> {
        let value = names.effects.value;
        let mut hidden = Vec::new();
        if path.first() != Some(&b'/') {
            let mut dirs = vec![split(path).0.to_owned()];
            while let Some(dir) = dirs.last().filter(|dir| !dir.is_empty()) {
                dirs.push(split(dir.as_bstr()).0.to_owned());
            }
            for import in &names.imports {
                let root = import.module.split('.').next().unwrap_or_default();
                if import.at_import && import.level == 0 && python::is_standard(root) {
                    for dir in &dirs {
                        if self.may_be_imported_from(dir.as_bstr(), root)? {
                            hidden.extend_from_slice(dir);
                            hidden.push(b'/');
                            hidden.extend_from_slice(root.as_bytes());
                            hidden.push(0);
                        }
                    }
                }
            }
        }
        if hidden.is_empty() {
            return Ok(value);
        }
        hidden.extend_from_slice(&value.0);
        Ok(Fingerprint::of_digest(
            "tamis effects of hidden modules 1",
            &hidden,
        ))
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
    fn source_of(&self, from: &BStr, import: &Import) -> Result<Option<BString>> {
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
        } else {
            let Some(top) = self.top_package(dir.as_bstr())? else {
                return Ok(None);
            };
            if parts.next().map(str::as_bytes) != Some(split(top.as_bstr()).1.as_bytes()) {
                return Ok(None);
            }
            dir = top;
        }
        let mut stem = dir;
        for part in parts {
            if !stem.is_empty() {
                stem.push(b'/');
            }
            stem.extend_from_slice(part.as_bytes());
        }
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
        Ok(names.iter().any(|(name, is_dir)| !is_dir && name == file))
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
