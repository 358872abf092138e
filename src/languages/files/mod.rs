//! What is of no language: files, folders, variables, packages, interpreters.

mod values;

pub(crate) use values::DIR;

use anyhow::Result;
use bstr::ByteSlice;

use super::{Closure, Facts, Language, Meaning, Value};
use crate::matrix::{Fingerprint, Unit, UnitKind, What};
use crate::observe::{Definition, Found, Run};

/// What any program can read.
pub(super) struct Files;

/// Who writes traces of programs in any language.
pub(crate) const COLLECTOR: &str = "process";

impl Language for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn wrote(&self, collector: &str) -> bool {
        collector == COLLECTOR
    }

    fn joins_files(&self) -> bool {
        true
    }

    fn tells_what_was_there_first(&self) -> bool {
        true
    }

    fn value(&self, facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>> {
        values::value(facts, unit)
    }

    fn closure(&self, _run: &mut Run<'_>) -> Result<Box<dyn Closure>> {
        Ok(Box::new(Files))
    }
}

impl Closure for Files {
    fn meaning(&mut self, run: &mut Run<'_>, what: &Definition) -> Result<Option<Meaning>> {
        let unit = match what {
            Definition::File { path, fingerprint } => {
                let unit = run.placed(What::File, path.as_bstr())?;
                if let Some(fingerprint) = fingerprint {
                    run.seen.insert(unit.clone(), *fingerprint);
                }
                unit
            }
            Definition::Line { path, number } => {
                let mut unit = run.placed(What::File, path.as_bstr())?;
                // Of what git does not track the whole file counts.
                if unit.what == What::File && !unit.is_outside() {
                    unit.what = What::Line(number.as_str().into());
                }
                unit
            }
            Definition::Exists { path, found } => {
                let mut unit = run.placed(What::Exists, path.as_bstr())?;
                if *found == Found::Missing {
                    unit.what = What::Exists;
                    if run.graph.filled.contains(path) {
                        // Who looked before the other one wrote saw nothing, whatever is there
                        // by now; in a later run, without a clean build, it is there.
                        run.seen.insert(unit.clone(), Fingerprint::MISSING);
                    }
                }
                unit
            }
            Definition::Lookup { path } => run.placed(What::Lookup, path.as_bstr())?,
            Definition::Dir { path, fingerprint } => {
                let mut unit = run.placed(What::Dir, path.as_bstr())?;
                if let Some(fingerprint) = fingerprint
                    && !unit.is_outside()
                {
                    unit.what = What::Listing;
                    run.seen.insert(unit.clone(), *fingerprint);
                }
                unit
            }
            Definition::Env { name, fingerprint } => {
                // A process that a test started may be given another value: then
                // the test's code has made it, from what the test was given.
                let given = run.graph.variables.get(name).copied();
                run.late_named(UnitKind::Env, name, given.unwrap_or(*fingerprint))
            }
            Definition::Dist { name, fingerprint } => {
                run.late_named(UnitKind::Dist, name, *fingerprint)
            }
            Definition::Runtime { name, fingerprint } => {
                run.late_named(UnitKind::Runtime, name, *fingerprint)
            }
            Definition::Code { .. }
            | Definition::Module { .. }
            | Definition::Names
            | Definition::Annotations { .. }
            | Definition::Reached { .. }
            | Definition::Docstring { .. }
            | Definition::Compiled { .. } => return Ok(None),
        };
        Ok(Some(Meaning {
            units: vec![run.intern(unit)],
            ..Meaning::default()
        }))
    }
}
