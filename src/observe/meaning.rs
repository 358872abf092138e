//! What each thing that agents saw means in units.

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};

use super::graph::DefinitionId;
use super::rows::Closing;
use super::trace::{Definition, Found};
use super::units::UnitIndex;
use crate::languages::python::modules::ModuleIndex;
use crate::languages::{Analysis, PartAt, Place, UnitAt};
use crate::matrix::{Fingerprint, Unit, UnitKind, What};

/// What a definition stands for: units, and perhaps a module whose import
/// everything that runs its code needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meaning {
    pub units: Vec<UnitIndex>,
    pub module: Option<BString>,
    /// A module that was handed to code which is not followed.
    pub taken: Option<ModuleIndex>,
    /// Whether any name of any module may be reached.
    pub is_wide: bool,
}

impl Closing<'_> {
    pub fn meaning(&mut self, id: DefinitionId) -> Result<Meaning> {
        let definition = self.graph.definitions[id as usize].clone();
        let unit = match definition {
            Definition::Code {
                file,
                first_line,
                name,
            } => return self.code(file, first_line, &name),
            Definition::File { path, fingerprint } => {
                let unit = self.placed(What::File, path.as_bstr())?;
                if let Some(fingerprint) = fingerprint {
                    self.seen.insert(unit.clone(), fingerprint);
                }
                unit
            }
            Definition::Exists { path, found } => {
                let mut unit = self.placed(What::Exists, path.as_bstr())?;
                if found == Found::Missing {
                    unit.what = What::Exists;
                    if self.graph.filled.contains(&path) {
                        // Who looked before the other one wrote saw nothing, whatever is there
                        // by now; in a later run, without a clean build, it is there.
                        self.seen.insert(unit.clone(), Fingerprint::MISSING);
                    }
                }
                unit
            }
            Definition::Lookup { path } => self.placed(What::Lookup, path.as_bstr())?,
            Definition::Module { path } => {
                return Ok(Meaning {
                    taken: self.names.modules.of_file(path.as_bstr()),
                    ..Meaning::default()
                });
            }
            Definition::Names => {
                return Ok(Meaning {
                    is_wide: true,
                    ..Meaning::default()
                });
            }
            Definition::Dir { path } => self.placed(What::Dir, path.as_bstr())?,
            Definition::Env { name, fingerprint } => {
                // A process that a test started may be given another value: then
                // the test's code has made it, from what the test was given.
                let given = self.graph.variables.get(&name).copied();
                self.late_named(UnitKind::Env, &name, given.unwrap_or(fingerprint))
            }
            Definition::Compiled { kind, origin, name } => {
                let (Place::Inside(path) | Place::Outside(path)) =
                    self.facts.place(origin.as_bstr());
                Unit::named(kind, path, &name)
            }
            Definition::Dist { name, fingerprint } => {
                self.late_named(UnitKind::Dist, &name, fingerprint)
            }
            Definition::Runtime { name, fingerprint } => {
                self.late_named(UnitKind::Runtime, &name, fingerprint)
            }
        };
        Ok(Meaning {
            units: vec![self.intern(unit)],
            ..Meaning::default()
        })
    }

    pub(crate) fn late(&mut self, what: What, seen: Option<Fingerprint>) -> Unit {
        let unit = Unit::of(what);
        self.seen
            .insert(unit.clone(), seen.unwrap_or(Fingerprint::MISSING));
        unit
    }

    /// The same by the name that an agent has for it.
    fn late_named(&mut self, kind: UnitKind, name: &str, seen: Option<Fingerprint>) -> Unit {
        self.late(Unit::named(kind, "", name).what, seen)
    }

    /// A unit for an absolute path. Of files that git does not track it says so.
    pub(crate) fn placed(&self, what: What, path: &BStr) -> Result<Unit> {
        let path = match self.facts.place(path) {
            Place::Outside(path) => return Ok(Unit::at(path, what)),
            Place::Inside(path) => path,
        };
        let untracked = match what {
            What::File => Some(What::UntrackedFile),
            What::Exists => Some(What::UntrackedExists),
            _ => None,
        };
        let what = match untracked {
            Some(untracked) if self.facts.is_generated(path.as_bstr())? => untracked,
            _ => what,
        };
        Ok(Unit::at(path, what))
    }

    fn code(&mut self, file: BString, first_line: u32, name: &str) -> Result<Meaning> {
        let (Place::Inside(path) | Place::Outside(path)) = self.facts.place(file.as_bstr());
        let module = self.names.modules.of_file(file.as_bstr());
        let is_imported = self.graph.imports.contains_key(&file);
        let source = self.source(path.as_bstr())?;
        let known = match source.as_deref() {
            Some(Analysis::Parsed(parsed)) => {
                let at = parsed.unit_at(first_line, name);
                let what = at.map(|at| match at {
                    UnitAt::Code(name) => What::Code(name.into()),
                    // Run by other means than an import (`runpy`, `exec`).
                    UnitAt::Skeleton if !is_imported => What::Skeleton,
                    UnitAt::Skeleton => match parsed.names.part_of(first_line, name) {
                        PartAt::Binding(name) => What::Binding(name.into()),
                        PartAt::Effects => What::Effects,
                        PartAt::Unknown => What::Skeleton,
                    },
                });
                what.map(|what| Unit::at(path.clone(), what))
            }
            Some(Analysis::Unparsed(_)) | None => None,
        };
        let mut units = Vec::new();
        match known {
            Some(unit) => units.push(self.intern(unit)),
            None => {
                let unit = self.placed(What::File, file.as_bstr())?;
                let index = self.intern(unit);
                units.push(index);
                // Code that is not that of the source, if there is one, was
                // generated under its name: what it spells is not known.
                let module = module.filter(|_| source.is_none());
                self.names.executed(index, module);
            }
        }
        if !is_imported {
            units.push(self.import_unit(file.as_bstr(), module)?);
            if let Some(module) = module
                && source.is_some()
            {
                let path = self.names.modules.all[module as usize].path.clone();
                units.push(self.intern(Unit::at(path, What::Skeleton)));
            }
        }
        Ok(Meaning {
            units,
            module: Some(file),
            ..Meaning::default()
        })
    }

    /// What the import of `file` does: the effects of its module, or the file
    /// itself where they are not known.
    pub fn import_unit(&mut self, file: &BStr, module: Option<ModuleIndex>) -> Result<UnitIndex> {
        let of = module.map(|module| &self.names.modules.all[module as usize]);
        if let Some(of) = of
            && !of.is_generated
        {
            let unit = Unit::at(of.path.clone(), What::Effects);
            return Ok(self.intern(unit));
        }
        let unit = self.placed(What::File, file)?;
        let index = self.intern(unit);
        self.names.executed(index, module);
        Ok(index)
    }

    /// The analysis of a source file, unless it is generated.
    fn source(&self, path: &BStr) -> Result<Option<std::rc::Rc<Analysis>>> {
        if path.first() != Some(&b'/') && self.facts.is_generated(path)? {
            return Ok(None);
        }
        self.facts.module(path)
    }
}
