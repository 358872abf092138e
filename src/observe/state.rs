//! State that outlives a test (DESIGN: first-toucher attribution).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashSet;

use super::graph::NodeId;
use super::rows::{Closing, SharedState};
use super::units::UnitIndex;
use crate::languages::{Analysis, Place, simple_name};
use crate::matrix::UnitKind;
use crate::pattern::Pattern;

/// Plug-ins that run tests in another order each time: that of one run says nothing
/// of the next.
const REORDERING: [&str; 2] = ["pytest-randomly", "pytest-random-order"];

/// A change of some state, and all changes before it.
struct Changes {
    /// When who changed it began; `None` if that is not known.
    since: Option<u64>,
    node: NodeId,
}

impl Closing<'_> {
    /// State that outlives a test: whoever runs code that names a global, or
    /// may reach it without naming it, needs what those did that changed it before.
    /// What `benign` names (`path#name`) is left out.
    pub fn attach_state(&mut self, benign: &[Pattern]) -> Result<Vec<SharedState>> {
        let units = self.table.units().iter();
        let mut dists = units.filter(|unit| unit.kind == UnitKind::Dist);
        if dists.any(|dist| REORDERING.contains(&dist.name.as_str())) {
            self.graph.times.clear();
        }
        let mut changes = std::mem::take(&mut self.graph.state);
        changes.sort();
        changes.dedup();
        let mut by_name: BTreeMap<(BString, String), Vec<NodeId>> = BTreeMap::new();
        for change in changes {
            by_name
                .entry((change.file, change.name))
                .or_default()
                .push(change.by);
        }
        let mut shared = Vec::new();
        let ran: BTreeSet<UnitIndex> = self.node_units.iter().flatten().copied().collect();
        for ((file, name), changers) in by_name {
            let (Place::Inside(path) | Place::Outside(path)) = self.facts.place(file.as_bstr());
            let full_name = format!("{path}#{name}");
            let is_benign = |pattern: &Pattern| pattern.matches(full_name.as_bytes());
            if is_derived(&name) || benign.iter().any(is_benign) {
                continue;
            }
            let known = self.edges.len();
            let count = changers.len();
            let changes = self.changes_in_order(changers);
            let mut readers = 0;
            let naming = match variable(&name) {
                Some(variable) => self.units_reading(variable),
                None => self.units_naming(&ran, file.as_bstr(), &name)?,
            };
            // Only who has the module can reach what it holds.
            let module = self.graph.imports.get(&file).copied();
            for at in 0..known {
                if self.node_units[at].iter().any(|unit| naming.contains(unit)) {
                    readers += 1;
                    let Some(node) = self.changes_before(at as NodeId, &changes) else {
                        continue;
                    };
                    match module {
                        None => self.edges[at].push(node),
                        Some(module) => {
                            self.conditional
                                .entry(at as NodeId)
                                .or_default()
                                .push((module, node));
                        }
                    }
                }
            }
            shared.push(SharedState {
                name: full_name,
                changers: count,
                readers,
            });
        }
        Ok(shared)
    }

    /// A node for each changer of some state, the first to change it first: it
    /// leads to that change and to those before. Who has no known time may have
    /// changed it at any time, and so comes first.
    fn changes_in_order(&mut self, changers: Vec<NodeId>) -> Vec<Changes> {
        let time = |by: &NodeId| self.graph.times.get(by).map(|span| span.first);
        let (timed, always): (Vec<NodeId>, Vec<NodeId>) =
            changers.into_iter().partition(|by| time(by).is_some());
        let mut timed: Vec<(Option<u64>, NodeId)> =
            timed.into_iter().map(|by| (time(&by), by)).collect();
        timed.sort_unstable();
        let mut all = Vec::new();
        if !always.is_empty() {
            let node = self.fresh();
            self.edges[node as usize] = always;
            all.push(Changes { since: None, node });
        }
        for (since, by) in timed {
            let node = self.fresh();
            let before = all.last().map(|earlier: &Changes| earlier.node);
            self.edges[node as usize].extend(before.into_iter().chain([by]));
            all.push(Changes { since, node });
        }
        all
    }

    /// The changes that `reader` can have met: those of who began before it; all
    /// if it is not known when it read.
    fn changes_before(&self, reader: NodeId, changes: &[Changes]) -> Option<NodeId> {
        let met = match self.graph.times.get(&reader) {
            None => changes.len(),
            Some(span) => changes.partition_point(|one| one.since.is_none_or(|at| at < span.last)),
        };
        Some(changes[..met].last()?.node)
    }

    /// The reads of an environment variable, alone or with all others.
    fn units_reading(&self, variable: &str) -> FxHashSet<UnitIndex> {
        let units = self.table.units().iter().enumerate();
        units
            .filter(|(_, unit)| unit.kind == UnitKind::Env)
            .filter(|(_, unit)| unit.name == variable || unit.name == "*")
            .map(|(at, _)| at as UnitIndex)
            .collect()
    }

    /// Of what `ran`, the code that mentions the last part of `name`, a global (or an
    /// attribute of a class) of the module in `file`. The module's own
    /// skeleton defines it and so does not count.
    fn units_naming(
        &self,
        ran: &BTreeSet<UnitIndex>,
        file: &BStr,
        name: &str,
    ) -> Result<FxHashSet<UnitIndex>> {
        let identifier = simple_name(name);
        let owner = match self.facts.place(file) {
            Place::Inside(path) | Place::Outside(path) => path,
        };
        let mut found = FxHashSet::default();
        for at in ran.iter().copied() {
            let unit = self.table.get(at);
            if unit.kind == UnitKind::Binding {
                // Code that stands outside of functions: a lambda.
                if let Some(analysis) = self.facts.module(unit.path())?
                    && let Analysis::Parsed(module) = &*analysis
                    && let Some(part) = module.names.bindings.get(&unit.name)
                    && part.uses.spells(identifier)
                {
                    found.insert(at);
                }
                continue;
            }
            let part = match unit.kind {
                UnitKind::Code => Some(unit.name.as_str()),
                // Whatever of the module is in the row: it ran when the module
                // was imported, be it now.
                UnitKind::Skeleton | UnitKind::Effects if unit.path != owner => None,
                _ => continue,
            };
            if let Some(analysis) = self.facts.module(unit.path())?
                && let Analysis::Parsed(module) = &*analysis
                && (module.mentions(part, identifier)
                    || (part.is_some() && module.is_dynamic(part)))
            {
                found.insert(at);
            }
        }
        Ok(found)
    }
}

/// Whether the interpreter's library works it out from a class, whoever asks
/// first: what `copyreg` notes of its slots.
fn is_derived(name: &str) -> bool {
    name.ends_with(".__slotnames__")
}

/// The variable of a state change called `environ[NAME]`.
fn variable(name: &str) -> Option<&str> {
    name.strip_prefix("environ[")?.strip_suffix(']')
}
