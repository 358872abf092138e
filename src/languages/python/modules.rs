//! The modules that a run imported, and what import statements and names in
//! their sources refer to.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dynamic::{Generated, Spelling};
use crate::languages::{
    Analysis, FUNCTION_ANNOTATIONS, Import, ModuleUnits, Names, Uses, name_hash, split,
};

/// Index into [`Modules::all`].
pub(crate) type ModuleIndex = u32;

/// A module whose skeleton is split by name.
#[derive(Debug)]
pub(crate) struct Module {
    /// The absolute path that it was imported from.
    pub file: BString,
    /// The path that its units have.
    pub path: BString,
    pub analysis: Rc<Analysis>,
    /// Whether the file itself is the unit, as it is generated.
    pub is_generated: bool,
}

impl Module {
    pub(crate) fn parsed(&self) -> &ModuleUnits {
        match &*self.analysis {
            Analysis::Parsed(module) => module,
            Analysis::Unparsed(why) => unreachable!("only parsed modules are here: {why}"),
        }
    }

    /// Whether annotations of it are text, and so units of their own.
    pub(crate) fn has_annotations(&self) -> bool {
        let names = &self.parsed().names;
        names.bindings.contains_key(FUNCTION_ANNOTATIONS)
    }

    /// `a/b.py` and `a/b/__init__.py` → `a/b`.
    fn stem(&self) -> &BStr {
        let file = self.file.as_bstr();
        let stem = file.strip_suffix(b".py").unwrap_or(file);
        stem.strip_suffix(b"/__init__").unwrap_or(stem).as_bstr()
    }

    /// Whether it is directly in the package in the folder `dir`.
    fn is_inside(&self, dir: &BStr) -> bool {
        let rest = self.stem().strip_prefix(dir.as_bytes());
        rest.is_some_and(|rest| rest.first() == Some(&b'/') && !rest[1..].contains(&b'/'))
    }

    /// The folder that a package's modules are in.
    pub(crate) fn package(&self) -> Option<&BStr> {
        let (dir, name) = split(self.file.as_bstr());
        (name == "__init__.py").then_some(dir)
    }
}

/// What imports bind to a name.
#[derive(Clone, Debug, Default)]
struct Brought {
    modules: BTreeSet<ModuleIndex>,
    /// Whether it can be one of these modules or no module, and no other one.
    is_all: bool,
}

/// All modules of the run.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    pub all: Vec<Module>,
    by_file: FxHashMap<BString, ModuleIndex>,
    /// By path without suffix (`a/b` for `a/b.py` and `a/b/__init__.py`).
    by_stem: FxHashMap<BString, Vec<ModuleIndex>>,
    /// By the hash of the last part of that path.
    by_last: FxHashMap<u32, Vec<ModuleIndex>>,
    /// By dotted name, as the interpreter knew them.
    by_name: FxHashMap<String, Vec<ModuleIndex>>,
    /// By the hash of a name, `*` too: those with an import that binds it.
    importers: FxHashMap<u32, Vec<ModuleIndex>>,
    /// What was found out already: most names are asked for again and again.
    brought: RefCell<FxHashMap<(ModuleIndex, u32), Rc<Brought>>>,
}

impl Modules {
    pub(crate) fn add(&mut self, module: Module, names: &[String]) -> ModuleIndex {
        let index = self.all.len() as ModuleIndex;
        let stem = module.stem().to_owned();
        let last = split(stem.as_bstr()).1.to_str_lossy().into_owned();
        self.by_file.insert(module.file.clone(), index);
        self.by_stem.entry(stem).or_default().push(index);
        self.by_last
            .entry(name_hash(&last))
            .or_default()
            .push(index);
        for name in names {
            self.by_name.entry(name.clone()).or_default().push(index);
        }
        for import in &module.parsed().names.imports {
            let importers = self.importers.entry(name_hash(&import.bound)).or_default();
            if importers.last() != Some(&index) {
                importers.push(index);
            }
        }
        self.brought.take();
        self.all.push(module);
        index
    }

    pub(crate) fn of_file(&self, file: &BStr) -> Option<ModuleIndex> {
        self.by_file.get(file).copied()
    }

    /// The modules whose name may be the dotted `name`, seen from `from`:
    /// rather one too many than one too few.
    fn named(&self, from: ModuleIndex, level: u32, name: &str) -> Vec<ModuleIndex> {
        let parts: Vec<&str> = name.split('.').filter(|part| !part.is_empty()).collect();
        if level > 0 {
            let mut dir = split(self.all[from as usize].file.as_bstr()).0.to_owned();
            for _ in 1..level {
                dir = split(dir.as_bstr()).0.to_owned();
            }
            for part in parts {
                dir.push(b'/');
                dir.extend_from_slice(part.as_bytes());
            }
            return self.by_stem.get(&dir).cloned().unwrap_or_default();
        }
        let mut found = self.by_name.get(name).cloned().unwrap_or_default();
        let Some(last) = parts.last() else {
            return found;
        };
        let ends_so = |index: &&ModuleIndex| {
            let stem = self.all[**index as usize].stem();
            let mut ends = stem.rsplit_str("/");
            parts
                .iter()
                .rev()
                .all(|part| ends.next() == Some(part.as_bytes()))
        };
        let similar = self.by_last.get(&name_hash(last)).into_iter().flatten();
        found.extend(similar.filter(ends_so));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The modules that an import statement takes its names from.
    pub(crate) fn sources(&self, from: ModuleIndex, import: &Import) -> Vec<ModuleIndex> {
        self.named(from, import.level, &import.module)
    }

    /// The modules that the name bound by an import may be.
    pub(crate) fn bound(&self, from: ModuleIndex, import: &Import) -> Vec<ModuleIndex> {
        let name = match &import.item {
            Some(item) if import.module.is_empty() => item.clone(),
            Some(item) => format!("{}.{item}", import.module),
            // `import a.b` binds `a`; `import a.b as c` binds `a.b` to `c`.
            None if import.module.split('.').next() == Some(&import.bound) => import.bound.clone(),
            None => import.module.clone(),
        };
        self.named(from, import.level, &name)
    }

    /// The modules that code in the source of `from` passes on; `meets_lent`: also those
    /// that it lends.
    pub(crate) fn handed_on(
        &self,
        from: ModuleIndex,
        uses: &Uses,
        meets_lent: bool,
    ) -> BTreeSet<ModuleIndex> {
        let mut found = BTreeSet::new();
        for value in &uses.values {
            found.extend(self.meant(from, *value));
        }
        for path in &uses.parts {
            found.extend(self.part(from, path));
        }
        for name in uses.lent.iter().filter(|_| meets_lent) {
            found.extend(self.called(from, *name));
        }
        found
    }

    /// The modules that a name with this hash may be in the source of `from`, where an import
    /// binds it.
    fn meant(&self, from: ModuleIndex, name: u32) -> BTreeSet<ModuleIndex> {
        let brought = self.brought(from, name);
        let mut found = brought.modules.clone();
        if !brought.is_all {
            found.extend(self.similar(name));
        }
        found
    }

    /// The modules that an attribute may be, as in [`Uses::parts`].
    ///
    /// A module has its submodules, and what it imports. Whatever else has a module as an
    /// attribute got it from code that passed it on, and counts there.
    fn part(&self, from: ModuleIndex, path: &[u32]) -> BTreeSet<ModuleIndex> {
        let (Some((base, rest)), Some(last)) = (path.split_first(), path.last()) else {
            return BTreeSet::new();
        };
        let mut found = Brought::clone(&self.brought(from, *base));
        for name in rest {
            if !found.is_all {
                break;
            }
            let holders = std::mem::take(&mut found.modules);
            for holder in holders {
                found.modules.extend(self.inside(holder, *name));
                let brought = self.brought(holder, *name);
                found.modules.extend(&brought.modules);
                let imports = self.names(holder).imports_of(*name).next().is_some();
                found.is_all &= brought.is_all || !imports;
            }
        }
        match found.is_all {
            true => found.modules,
            false => self.anywhere(*last),
        }
    }

    /// The modules that have this name, or get it from imports in the source of `from`.
    pub(crate) fn called(&self, from: ModuleIndex, name: u32) -> BTreeSet<ModuleIndex> {
        let mut found = self.brought(from, name).modules.clone();
        found.extend(self.similar(name));
        found
    }

    /// The modules that have this name, or get it from imports anywhere.
    fn anywhere(&self, name: u32) -> BTreeSet<ModuleIndex> {
        let mut found = self.brought_anywhere(name);
        found.extend(self.similar(name));
        found
    }

    /// The modules with this name.
    fn similar(&self, name: u32) -> impl Iterator<Item = ModuleIndex> {
        self.by_last.get(&name).into_iter().flatten().copied()
    }

    /// The same of those that are directly in a package.
    fn inside(&self, package: ModuleIndex, name: u32) -> impl Iterator<Item = ModuleIndex> {
        let dir = self.all[package as usize].package();
        let is_inside =
            move |one: &ModuleIndex| dir.is_some_and(|dir| self.all[*one as usize].is_inside(dir));
        self.similar(name).filter(is_inside)
    }

    fn brought_anywhere(&self, name: u32) -> BTreeSet<ModuleIndex> {
        let importers = |name: u32| self.importers.get(&name).into_iter().flatten();
        let mut found = BTreeSet::new();
        for from in importers(name).chain(importers(name_hash("*"))) {
            found.extend(&self.brought(*from, name).modules);
        }
        found
    }

    /// What the imports in the source of `from` bind to a name. What they take it from may
    /// have imported it, too, by another name.
    fn brought(&self, from: ModuleIndex, name: u32) -> Rc<Brought> {
        if let Some(known) = self.brought.borrow().get(&(from, name)) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.look_up(from, name));
        let mut brought = self.brought.borrow_mut();
        brought.insert((from, name), Rc::clone(&found));
        found
    }

    fn look_up(&self, from: ModuleIndex, name: u32) -> Brought {
        let mut brought = Brought {
            is_all: self.names(from).imports_of(name).next().is_some(),
            ..Brought::default()
        };
        let mut seen = FxHashSet::default();
        // The last: whether nothing else has the name so far.
        let mut open = vec![(from, name, false)];
        while let Some((at, name, must)) = open.pop() {
            if !seen.insert((at, name, must)) {
                continue;
            }
            let names = self.names(at);
            let mut is_bound = !must;
            for import in names.imports_of(name) {
                is_bound = true;
                let modules = self.bound(at, import);
                let is_none = modules.is_empty();
                brought.modules.extend(modules);
                let sources = match &import.item {
                    Some(item) => self.each(at, import, name_hash(item)),
                    None => Vec::new(),
                };
                // Of what is not the project's nobody knows what it is.
                brought.is_all &= !is_none || !sources.is_empty();
                open.extend(sources.into_iter().map(|(at, name)| (at, name, is_none)));
            }
            is_bound = is_bound || names.binds_hash(name);
            for import in names.imports_of(name_hash("*")) {
                let sources = self.each(at, import, name);
                for (source, _) in &sources {
                    brought.modules.extend(self.inside(*source, name));
                }
                let must = !is_bound;
                is_bound |= !sources.is_empty();
                open.extend(sources.into_iter().map(|(at, name)| (at, name, must)));
            }
            brought.is_all &= is_bound;
        }
        brought
    }

    /// A name in each of the modules that an import takes something from.
    fn each(&self, from: ModuleIndex, import: &Import, name: u32) -> Vec<(ModuleIndex, u32)> {
        let sources = self.sources(from, import).into_iter();
        sources.map(|source| (source, name)).collect()
    }

    fn names(&self, of: ModuleIndex) -> &Names {
        &self.all[of as usize].parsed().names
    }

    /// The modules that generated code may get by a name that it spells; `caller` made the code
    /// run, or it imports from there.
    ///
    /// What such code imports can be any module of that name. A global name is looked up among
    /// those of a module, which import statements have bound, and the import system if it is a
    /// submodule. If it is looked up among others, someone has put the module there, and counts.
    pub(super) fn generated(
        &self,
        spelled: Generated<'_>,
        caller: Option<ModuleIndex>,
    ) -> BTreeSet<ModuleIndex> {
        let name = name_hash(spelled.name);
        match spelled.by {
            Spelling::Asked | Spelling::Told | Spelling::Met => BTreeSet::new(),
            Spelling::Imported => self.anywhere(name),
            Spelling::Loaded => {
                let mut found = self.brought_anywhere(name);
                let inside = caller.map(|caller| self.inside(caller, name));
                found.extend(inside.into_iter().flatten());
                found
            }
        }
    }

    /// The modules that can be reached from a module by asking it, and what it
    /// answers, for attributes: those that it imports, those in its package.
    pub(crate) fn held(&self, by: ModuleIndex) -> Vec<ModuleIndex> {
        let module = &self.all[by as usize];
        let imports = &module.parsed().names.imports;
        let mut found: Vec<ModuleIndex> = imports
            .iter()
            .flat_map(|import| self.bound(by, import))
            .collect();
        if let Some(dir) = module.package() {
            let inside = self.all.iter().enumerate();
            found.extend(
                inside
                    .filter(|(_, other)| other.is_inside(dir))
                    .map(|(at, _)| at as ModuleIndex),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
