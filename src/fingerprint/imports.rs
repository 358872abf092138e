//! Which imports within a package surely find what they ask for, and which of
//! them do nothing at all.
//!
//! An import statement fails if the name that it asks for is not bound when it
//! runs. A module that binds the name by a statement of its top level has bound
//! it once it was executed; it may still be underway if it, in turn, led to the
//! import of the module that asks. So two modules that can lead to each other
//! promise each other nothing. Imports in functions count as leading on, too:
//! who calls them is not known.
//!
//! As with [`classes`](super::classes), an answer is not asked for again if the
//! importing file has not changed: [`Facts::relied_on`] says in units what it
//! relies on.

use std::cell::RefCell;
use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::facts::{Facts, Value, is_candidate, split};
use super::names::{Import, Known, Names};
use super::{Analysis, name_hash, python};
use crate::matrix::{Fingerprint, Unit, UnitKind};

/// Stack for one module on the way from import to import.
const RED_ZONE: usize = 256 << 10;
const STACK: usize = 4 << 20;

/// Modules that lead to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Component {
    number: u32,
    /// Whether it is known where all of its imports lead.
    is_certain: bool,
}

/// The components that were looked for so far.
#[derive(Debug, Default)]
pub(super) struct ImportGraph {
    components: RefCell<FxHashMap<BString, Component>>,
}

/// One search for strongly connected components (Tarjan, 1972).
#[derive(Default)]
struct Search {
    /// By path: in which order it was met, and the first that it leads to.
    met: FxHashMap<BString, (u32, u32)>,
    open: Vec<BString>,
    /// Of those that are open: where an import leads is not known.
    uncertain: BTreeSet<BString>,
}

impl Facts<'_> {
    /// What other sources tell of the names that the source at `path` imports.
    pub(super) fn known(&self, path: &BStr, names: &Names) -> Result<Known> {
        let mut known = Known {
            classes: self.plain_classes(path, names)?,
            ..Known::default()
        };
        for import in &names.imports {
            let Some(item) = &import.item else {
                continue;
            };
            let Some(source) = self.sure_source(path, import)? else {
                continue;
            };
            let module = (import.level, import.module.clone());
            if self.is_inert(path, import)? {
                known.inert.insert(module.clone());
            }
            if let Some(Analysis::Parsed(of)) = self.module_alone(source.as_bstr())?.as_deref()
                && of.names.surely_binds(item)
            {
                known.bound.insert((module.0, module.1, item.clone()));
            }
        }
        Ok(known)
    }

    /// The units, beyond those of the file itself, that what was made of the
    /// effects of the module at `path` relies on; `None` if one is not known.
    ///
    /// # Errors
    /// If git cannot be read.
    pub fn relied_on(&self, path: &BStr) -> Result<Option<Vec<(Unit, Fingerprint)>>> {
        let mut units = BTreeSet::new();
        self.add_relied_on(path, &mut units)?;
        let value = |unit: Unit| match self.value(&unit) {
            Value::Known(value) => Some((unit, value)),
            Value::Late | Value::Unknown(_) => None,
        };
        Ok(units.into_iter().map(value).collect())
    }

    fn add_relied_on(&self, path: &BStr, units: &mut BTreeSet<Unit>) -> Result<()> {
        let analysis = self.module(path)?;
        let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
            return Ok(());
        };
        for import in module
            .names
            .imports
            .iter()
            .filter(|import| import.at_import)
        {
            let root = import.module.split('.').next().unwrap_or_default();
            if import.level == 0 && python::is_standard(root) {
                for dir in dirs_above(path) {
                    let stem = match dir.is_empty() {
                        true => BString::from(root),
                        false => BString::from([dir.as_slice(), b"/", root.as_bytes()].concat()),
                    };
                    units.insert(Unit::new(UnitKind::Lookup, stem, ""));
                }
                continue;
            }
            let Some(source) = self.source_of(path, import)? else {
                continue;
            };
            if let Some(item) = &import.item {
                units.insert(Unit::presence(source.clone(), item));
            }
            for executed in self.executed_by(path, import)?.unwrap_or_default() {
                let unit = Unit::new(UnitKind::Effects, executed.clone(), "");
                if units.insert(unit) {
                    stacker::maybe_grow(RED_ZONE, STACK, || {
                        self.add_relied_on(executed.as_bstr(), units)
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Where an import within the package leads, if all that it executes has
    /// come to its end when the statement has.
    fn sure_source(&self, path: &BStr, import: &Import) -> Result<Option<BString>> {
        let Some(source) = self.source_of(path, import)? else {
            return Ok(None);
        };
        if import.item.as_deref() == Some("*") || is_package_around(source.as_bstr(), path) {
            return Ok(None);
        }
        let (own, its) = (self.component(path)?, self.component(source.as_bstr())?);
        Ok((own.number != its.number && its.is_certain).then_some(source))
    }

    /// Whether executing what the import needs does nothing besides binding.
    fn is_inert(&self, path: &BStr, import: &Import) -> Result<bool> {
        let Some(executed) = self.executed_by(path, import)? else {
            return Ok(false);
        };
        let own = self.component(path)?;
        for module in executed {
            let its = self.component(module.as_bstr())?;
            if own.number == its.number || !its.is_certain {
                return Ok(false);
            }
            let analysis = stacker::maybe_grow(RED_ZONE, STACK, || self.module(module.as_bstr()))?;
            let is_inert = match analysis.as_deref() {
                Some(Analysis::Parsed(of)) => {
                    of.names.effects.effects_before == 0
                        && self.hidden(module.as_bstr(), &of.names)?.is_empty()
                }
                _ => false,
            };
            if !is_inert {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn component(&self, path: &BStr) -> Result<Component> {
        if let Some(known) = self.imports.components.borrow().get(path) {
            return Ok(*known);
        }
        self.search(path, &mut Search::default())?;
        let components = self.imports.components.borrow();
        Ok(components.get(path).copied().unwrap_or(Component {
            number: u32::MAX,
            is_certain: false,
        }))
    }

    fn search(&self, path: &BStr, search: &mut Search) -> Result<()> {
        let number = search.met.len() as u32;
        search.met.insert(path.into(), (number, number));
        search.open.push(path.into());
        let mut first = number;
        let next = self.leads_to(path)?;
        let mut is_certain = next.is_some();
        for other in next.into_iter().flatten() {
            if let Some(done) = self.imports.components.borrow().get(&other) {
                is_certain &= done.is_certain;
                continue;
            }
            if !search.met.contains_key(&other) {
                stacker::maybe_grow(RED_ZONE, STACK, || self.search(other.as_bstr(), search))?;
            }
            match self.imports.components.borrow().get(&other) {
                Some(done) => is_certain &= done.is_certain,
                None => first = first.min(search.met[&other].1),
            }
        }
        if !is_certain {
            search.uncertain.insert(path.into());
        }
        search.met.insert(path.into(), (number, first));
        if first == number {
            let at = search.open.iter().rposition(|open| open == path);
            let members = search.open.split_off(at.unwrap_or_default());
            let is_certain = !members.iter().any(|one| search.uncertain.contains(one));
            let mut components = self.imports.components.borrow_mut();
            let number = components.len() as u32;
            for member in members {
                components.insert(member, Component { number, is_certain });
            }
        }
        Ok(())
    }

    /// The modules of the package that the module at `path` can lead to the
    /// import of; `None` if that is not known.
    fn leads_to(&self, path: &BStr) -> Result<Option<Vec<BString>>> {
        let analysis = self.module_alone(path)?;
        let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
            return Ok(None);
        };
        let names = &module.names;
        let import_module = name_hash("import_module");
        let is_dynamic = |uses: &super::Uses| {
            uses.is_wide || uses.holds_own || uses.asks.binary_search(&import_module).is_ok()
        };
        let is_dynamic = is_dynamic(&names.effects.uses)
            || names.code.values().any(is_dynamic)
            || names.bindings.values().any(|part| is_dynamic(&part.uses));
        if is_dynamic || !self.hidden(path, names)?.is_empty() {
            return Ok(None);
        }
        let mut found = BTreeSet::new();
        for import in &names.imports {
            let root = import.module.split('.').next().unwrap_or_default();
            if import.level == 0 && python::is_standard(root) {
                continue;
            }
            if !self.is_within_package(path, import)? {
                for dir in dirs_above(path) {
                    if self.may_be_imported_from(dir.as_bstr(), root)? {
                        return Ok(None);
                    }
                }
                continue;
            }
            match self.executed_by(path, import)? {
                Some(executed) => found.extend(executed),
                None => return Ok(None),
            }
        }
        found.remove(path);
        Ok(Some(found.into_iter().collect()))
    }

    /// The modules that an import statement within a package executes, those
    /// aside that were begun before the importing one; `None` if that is not
    /// known.
    fn executed_by(&self, path: &BStr, import: &Import) -> Result<Option<Vec<BString>>> {
        let Some((mut stem, parts)) = self.base_of(path, import)? else {
            return Ok(None);
        };
        let mut found = Vec::new();
        for part in parts {
            stem = join(stem.as_bstr(), part);
            match self.only_source(stem.as_bstr())? {
                Some(source) => found.push(source),
                None => return Ok(None),
            }
        }
        // What is asked of a package may be a module in it.
        if let Some(item) = import.item.as_deref().filter(|item| *item != "*") {
            found.extend(self.only_source(join(stem.as_bstr(), item).as_bstr())?);
        }
        found.retain(|source| !is_package_around(source.as_bstr(), path));
        Ok(Some(found))
    }

    fn is_within_package(&self, path: &BStr, import: &Import) -> Result<bool> {
        Ok(import.level > 0 || self.base_of(path, import)?.is_some())
    }

    /// What an import of the standard library may mean instead: files of the
    /// project that have such a name.
    pub(super) fn hidden(&self, path: &BStr, names: &Names) -> Result<Vec<u8>> {
        let mut hidden = Vec::new();
        if path.first() == Some(&b'/') {
            return Ok(hidden);
        }
        for import in &names.imports {
            let root = import.module.split('.').next().unwrap_or_default();
            if !import.at_import || import.level > 0 || !python::is_standard(root) {
                continue;
            }
            for dir in dirs_above(path) {
                if self.may_be_imported_from(dir.as_bstr(), root)? {
                    hidden.extend_from_slice(&dir);
                    hidden.push(b'/');
                    hidden.extend_from_slice(root.as_bytes());
                    hidden.push(0);
                }
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
    pub(super) fn source_of(&self, from: &BStr, import: &Import) -> Result<Option<BString>> {
        match self.base_of(from, import)? {
            Some((dir, parts)) => {
                let stem = parts
                    .into_iter()
                    .fold(dir, |stem, part| join(stem.as_bstr(), part));
                self.only_source(stem.as_bstr())
            }
            None => Ok(None),
        }
    }

    /// The folder that an import statement in the package of `from` starts at,
    /// and the names that lead on from there.
    fn base_of<'i>(
        &self,
        from: &BStr,
        import: &'i Import,
    ) -> Result<Option<(BString, Vec<&'i str>)>> {
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
        Ok(Some((dir, parts.collect())))
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

fn join(dir: &BStr, name: &str) -> BString {
    match dir.is_empty() {
        true => BString::from(name),
        false => BString::from([dir.as_bytes(), b"/", name.as_bytes()].concat()),
    }
}

/// Whether `init` is that of a package that `path` lies in.
fn is_package_around(init: &BStr, path: &BStr) -> bool {
    init.strip_suffix(b"__init__.py")
        .is_some_and(|dir| path.starts_with(dir))
}

/// The folders above a file, the innermost first.
fn dirs_above(path: &BStr) -> Vec<BString> {
    let mut dirs = vec![split(path).0.to_owned()];
    while let Some(dir) = dirs.last().filter(|dir| !dir.is_empty()) {
        dirs.push(split(dir.as_bstr()).0.to_owned());
    }
    dirs
}
