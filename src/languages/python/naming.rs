//! Which code can read the state that a trace names.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::BStr;
use rustc_hash::FxHashMap;

use crate::languages::{Analysis, Place, name_hash, simple_name};
use crate::matrix::{UnitKind, What};
use crate::observe::Run;
use crate::observe::units::UnitIndex;

/// Code that ran in a run, by the names that it mentions.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// By the hash of a name.
    mentioned_by: FxHashMap<u32, Vec<UnitIndex>>,
    /// Code that may reach any name.
    dynamic: Vec<UnitIndex>,
}

impl Naming {
    /// # Errors
    /// If a source cannot be read.
    pub(super) fn of(run: &Run<'_>, ran: &BTreeSet<UnitIndex>) -> Result<Naming> {
        let mut naming = Naming::default();
        for at in ran.iter().copied() {
            let unit = run.table.get(at);
            let part = match &unit.what {
                What::Code(name) => Some(&**name),
                What::Skeleton | What::Effects => None,
                // Code that stands outside of functions: a lambda.
                What::Binding(_) => None,
                _ => continue,
            };
            let analysis = run.facts.module(unit.path())?;
            let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
                continue;
            };
            if unit.kind() == UnitKind::Binding {
                if let Some(part) = module.names.part(&unit.what) {
                    let globals = part.uses.loads.iter().chain(&part.uses.unbound);
                    let globals = globals.map(|name| name_hash(name));
                    naming.add(at, part.uses.asks.iter().copied().chain(globals));
                }
                continue;
            }
            match module.mentioned(part) {
                Some(names) => naming.add(at, names.iter().copied()),
                None => naming.dynamic.push(at),
            }
            if part.is_some() && module.is_dynamic(part) {
                naming.dynamic.push(at);
            }
        }
        Ok(naming)
    }

    fn add(&mut self, unit: UnitIndex, names: impl Iterator<Item = u32>) {
        for name in names {
            self.mentioned_by.entry(name).or_default().push(unit);
        }
    }

    /// The code that mentions the last part of `name`, a global (or an attribute of a
    /// class) of the module in `file`; sorted. The module's own skeleton defines it and so
    /// does not count.
    pub(super) fn units(&self, run: &Run<'_>, file: &BStr, name: &str) -> Vec<UnitIndex> {
        let (Place::Inside(owner) | Place::Outside(owner)) = run.facts.place(file);
        let is_other = |at: &UnitIndex| {
            let unit = run.table.get(*at);
            // Whatever of the module is in the row: it ran when the module
            // was imported, be it now.
            !(matches!(unit.what, What::Skeleton | What::Effects) && unit.path == owner)
        };
        let named = self.mentioned_by.get(&name_hash(simple_name(name)));
        let named = named.into_iter().flatten().copied().filter(is_other);
        let mut units: Vec<UnitIndex> = named.chain(self.dynamic.iter().copied()).collect();
        units.sort_unstable();
        units.dedup();
        units
    }
}
