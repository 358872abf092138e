//! What each thing that agents saw means in units.

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};

use super::graph::DefinitionId;
use super::rows::Closing;
use super::trace::{Definition, Found};
use super::units::UnitIndex;
use crate::languages::python::modules::ModuleIndex;
use crate::languages::{Analysis, PartAt, Place, UNTRACKED, UnitAt};
use crate::matrix::{Fingerprint, Unit, UnitKind};

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
                let unit = self.placed(UnitKind::File, path.as_bstr())?;
                if let Some(fingerprint) = fingerprint {
                    self.seen.insert(unit.clone(), fingerprint);
                }
                unit
            }
            Definition::Exists { path, found } => {
                let mut unit = self.placed(UnitKind::Exists, path.as_bstr())?;
                if found == Found::Missing {
                    unit.name.clear();
                    if self.graph.filled.contains(&path) {
                        // Who looked before the other one wrote saw nothing, whatever is there
                        // by now; in a later run, without a clean build, it is there.
                        self.seen.insert(unit.clone(), Fingerprint::MISSING);
                    }
                }
                unit
            }
            Definition::Lookup { path } => self.placed(UnitKind::Lookup, path.as_bstr())?,
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
            Definition::Dir { path } => self.placed(UnitKind::Dir, path.as_bstr())?,
            Definition::Env { name, fingerprint } => {
                // A process that a test started may be given another value: then
                // the test's code has made it, from what the test was given.
                let given = self.graph.variables.get(&name).copied();
                self.late(UnitKind::Env, name, given.unwrap_or(fingerprint))
            }
            Definition::Compiled { kind, origin, name } => {
                let (Place::Inside(path) | Place::Outside(path)) =
                    self.facts.place(origin.as_bstr());
                Unit::new(kind, path, name)
            }
            Definition::Dist { name, fingerprint } => self.late(UnitKind::Dist, name, fingerprint),
            Definition::Runtime { name, fingerprint } => {
                self.late(UnitKind::Runtime, name, fingerprint)
            }
        };
        Ok(Meaning {
            units: vec![self.intern(unit)],
            ..Meaning::default()
        })
    }

    pub(crate) fn late(&mut self, kind: UnitKind, name: String, seen: Option<Fingerprint>) -> Unit {
        let unit = Unit::new(kind, "", name);
        self.seen
            .insert(unit.clone(), seen.unwrap_or(Fingerprint::MISSING));
        unit
    }

    /// A unit for an absolute path; files that git does not track are marked.
    pub(crate) fn placed(&self, kind: UnitKind, path: &BStr) -> Result<Unit> {
        Ok(match self.facts.place(path) {
            Place::Outside(path) => Unit::new(kind, path, ""),
            Place::Inside(path) => {
                let can_be_generated = matches!(kind, UnitKind::File | UnitKind::Exists);
                let name = if can_be_generated && self.facts.is_generated(path.as_bstr())? {
                    UNTRACKED
                } else {
                    ""
                };
                Unit::new(kind, path, name)
            }
        })
    }

    fn code(&mut self, file: BString, first_line: u32, name: &str) -> Result<Meaning> {
        let (Place::Inside(path) | Place::Outside(path)) = self.facts.place(file.as_bstr());
        let module = self.names.modules.of_file(file.as_bstr());
        let is_imported = self.graph.imports.contains_key(&file);
        let source = self.source(path.as_bstr())?;
        let known = match source.as_deref() {
            Some(Analysis::Parsed(parsed)) => {
                let unit = |kind, name: &str| Unit::new(kind, path.clone(), name);
                parsed.unit_at(first_line, name).map(|at| match at {
                    UnitAt::Code(name) => unit(UnitKind::Code, name),
                    // Run by other means than an import (`runpy`, `exec`).
                    UnitAt::Skeleton if !is_imported => unit(UnitKind::Skeleton, ""),
                    UnitAt::Skeleton => match parsed.names.part_of(first_line, name) {
                        PartAt::Binding(name) => unit(UnitKind::Binding, name),
                        PartAt::Effects => unit(UnitKind::Effects, ""),
                        PartAt::Unknown => unit(UnitKind::Skeleton, ""),
                    },
                })
            }
            Some(Analysis::Unparsed(_)) | None => None,
        };
        let mut units = Vec::new();
        match known {
            Some(unit) => units.push(self.intern(unit)),
            None => {
                let unit = self.placed(UnitKind::File, file.as_bstr())?;
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
                units.push(self.intern(Unit::new(UnitKind::Skeleton, path, "")));
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
            let unit = Unit::new(UnitKind::Effects, of.path.clone(), "");
            return Ok(self.intern(unit));
        }
        let unit = self.placed(UnitKind::File, file)?;
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
