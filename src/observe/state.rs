//! State that outlives a test (DESIGN: first-toucher attribution).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::{BString, ByteSlice};

use super::graph::NodeId;
use super::observations::{Cell, CellIndex};
use super::rows::Closing;
use super::units::UnitIndex;
use crate::languages::Place;
use crate::pattern::Pattern;

/// The changes of one cell in order. A node stands for each: it leads to that
/// change and to those before.
#[derive(Debug, Default)]
pub(super) struct Changes {
    chain: Vec<Change>,
    /// Each changer, with the number of its change in the chain.
    pub by: Vec<(u32, NodeId)>,
}

#[derive(Debug)]
struct Change {
    /// When who changed it began; `None` if that is not known.
    since: Option<u64>,
    node: NodeId,
}

impl Closing<'_> {
    /// State that outlives a test: whoever runs code that names a global, or
    /// may reach it without naming it, needs what those did that changed it before.
    /// What `benign` names (`path#name`) is left out.
    pub(super) fn attach_state(&mut self, benign: &[Pattern]) -> Result<()> {
        if self.languages.iter().any(|one| one.reorders(&self.run)) {
            self.run.graph.times.clear();
        }
        let mut changes = std::mem::take(&mut self.run.graph.state);
        changes.sort();
        changes.dedup();
        let mut by_name: BTreeMap<(BString, String), Vec<NodeId>> = BTreeMap::new();
        for change in changes {
            by_name
                .entry((change.file, change.name))
                .or_default()
                .push(change.by);
        }
        let ran: BTreeSet<UnitIndex> = self.run.node_units.iter().flatten().copied().collect();
        for ((file, name), changers) in by_name {
            let (Place::Inside(path) | Place::Outside(path)) = self.run.facts.place(file.as_bstr());
            let full_name = format!("{path}#{name}");
            if benign.iter().any(|one| one.matches(full_name.as_bytes())) {
                continue;
            }
            let mut naming = None;
            for language in &self.languages {
                naming = language.naming(&self.run, &ran, file.as_bstr(), &name)?;
                if naming.is_some() {
                    break;
                }
            }
            let Some(naming) = naming else {
                continue;
            };
            let known = self.run.edges.len();
            let count = changers.len();
            let changes = self.in_order(changers);
            let is_reader = |at: &usize| {
                let units = &self.run.node_units[*at];
                units.iter().any(|unit| naming.contains(unit))
            };
            let readers: Vec<usize> = (0..known).filter(is_reader).collect();
            self.lead_to_changes(
                &readers,
                &changes,
                self.run.graph.imports.get(&file).copied(),
            );
            let cell = self.observed.cells.len() as CellIndex;
            for (number, change) in changes.chain.iter().enumerate() {
                self.changes.insert(change.node, (cell, number as u32 + 1));
            }
            self.changed_by.push(changes);
            self.observed.cells.push(Cell {
                name: full_name,
                changers: count,
                readers: readers.len(),
                changes: Vec::new(),
            });
        }
        Ok(())
    }

    /// Leads from those who read some state to the changes that they can have met.
    /// Where a module holds the state, only who has the module can reach it.
    fn lead_to_changes(&mut self, readers: &[usize], changes: &Changes, module: Option<NodeId>) {
        for at in readers {
            let Some(node) = self.changes_before(*at as NodeId, changes) else {
                continue;
            };
            match module {
                None => self.run.edges[*at].push(node),
                Some(module) => {
                    let conditional = self.run.conditional.entry(*at as NodeId);
                    conditional.or_default().push((module, node));
                }
            }
        }
    }

    /// The changes of some state, the first one first. Who has no known time may
    /// have changed it at any time, and so comes before all.
    fn in_order(&mut self, changers: Vec<NodeId>) -> Changes {
        let time = |by: &NodeId| self.run.graph.times.get(by).map(|span| span.first);
        let (timed, always): (Vec<NodeId>, Vec<NodeId>) =
            changers.into_iter().partition(|by| time(by).is_some());
        let mut timed: Vec<(Option<u64>, NodeId)> =
            timed.into_iter().map(|by| (time(&by), by)).collect();
        timed.sort_unstable();
        let mut changes = Changes::default();
        if !always.is_empty() {
            self.add_change(&mut changes, None, always);
        }
        for (since, by) in timed {
            self.add_change(&mut changes, since, vec![by]);
        }
        changes
    }

    fn add_change(&mut self, changes: &mut Changes, since: Option<u64>, by: Vec<NodeId>) {
        let node = self.run.fresh();
        self.run.of_others[node as usize] = true;
        let number = changes.chain.len() as u32;
        changes.by.extend(by.iter().map(|by| (number, *by)));
        let edges = &mut self.run.edges[node as usize];
        edges.extend(changes.chain.last().map(|earlier| earlier.node));
        edges.extend(by);
        changes.chain.push(Change { since, node });
    }

    /// The changes that `reader` can have met: those of who began before it; all
    /// if it is not known when it read.
    fn changes_before(&self, reader: NodeId, changes: &Changes) -> Option<NodeId> {
        let chain = &changes.chain;
        let met = match self.run.graph.times.get(&reader) {
            None => chain.len(),
            Some(span) => chain.partition_point(|one| one.since.is_none_or(|at| at < span.last)),
        };
        Some(chain[..met].last()?.node)
    }
}
