//! The modules that a run imported, and what import statements and names in
//! their sources refer to.

use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::dynamic::{Generated, Spelling};
use crate::languages::{Analysis, FUNCTION_ANNOTATIONS, Import, ModuleUnits, name_hash, split};

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

    /// The modules that a name with this hash may be in the source of `from`:
    /// one that an import binds, or a submodule after a dot.
    pub(crate) fn meant(&self, from: ModuleIndex, name: u32) -> Vec<ModuleIndex> {
        let names = &self.all[from as usize].parsed().names;
        let mut found = self.by_last.get(&name).cloned().unwrap_or_default();
        for import in names.imports_of(name) {
            found.extend(self.bound(from, import));
        }
        found.sort_unstable();
        found.dedup();
        found
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
    ) -> Vec<ModuleIndex> {
        let name = name_hash(spelled.name);
        let similar = self.by_last.get(&name).into_iter().flatten().copied();
        let mut found: Vec<ModuleIndex> = match spelled.by {
            Spelling::Asked => return Vec::new(),
            Spelling::Imported => similar.collect(),
            Spelling::Loaded => {
                let of = caller.map(|caller| &self.all[caller as usize]);
                let package = of.and_then(Module::package);
                let is_inside = |one: &ModuleIndex| {
                    package.is_some_and(|dir| self.all[*one as usize].is_inside(dir))
                };
                similar.filter(is_inside).collect()
            }
        };
        for (from, module) in self.all.iter().enumerate() {
            for import in module.parsed().names.imports_of(name) {
                found.extend(self.bound(from as ModuleIndex, import));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
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
