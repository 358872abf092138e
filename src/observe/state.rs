//! State that outlives a test (DESIGN: first-toucher attribution).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::{BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::accesses::Touched;
use super::graph::{NodeId, SESSION};
use super::rows::{Changed, Closing};
use super::run::Run;
use super::units::UnitIndex;
use crate::languages::{Place, StateReaders, shown_cell};
use crate::pattern::Pattern;

/// Index into [`Ties::chains`].
type ChainIndex = u32;
/// Index into [`Ties::ties`].
type TieIndex = u32;
/// Index into [`Ties::cells`].
type CellIndex = u32;

/// One of the changes of a cell. A node stands for it, which leads to whoever made it, and
/// to the change before.
#[derive(Debug)]
pub(super) struct Change {
    /// When who changed it began; `None` if that is not known.
    since: Option<u64>,
    pub node: NodeId,
}

/// Which code reads which cells, and what changed them.
#[derive(Default)]
struct Ties {
    /// The changes of cells, in order.
    chains: Vec<Vec<Change>>,
    /// Cells that the same scopes changed have one chain: in large suites thousands have.
    by_changers: FxHashMap<Vec<NodeId>, ChainIndex>,
    /// A chain, and the node without which nobody gets at its cells.
    ties: Vec<(ChainIndex, Option<NodeId>)>,
    numbers: FxHashMap<(ChainIndex, Option<NodeId>), TieIndex>,
    /// A cell in one of the ways to it: its tie, and its number among those observed.
    cells: Vec<(TieIndex, usize)>,
    /// By unit, the cells that its code can read.
    read_by: FxHashMap<UnitIndex, Vec<CellIndex>>,
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
        if changes.is_empty() && self.run.graph.lasting.is_empty() {
            return Ok(());
        }
        let mut by_name: BTreeMap<(BString, String), Vec<NodeId>> = BTreeMap::new();
        for change in changes {
            let changers = by_name.entry((change.file, change.name)).or_default();
            changers.push(change.by);
        }
        let ran: BTreeSet<UnitIndex> = self.run.node_units.iter().flatten().copied().collect();
        for language in &mut self.languages {
            language.index_names(&self.run, &ran)?;
        }
        // Every row has the session, and so what that needs.
        let always = self.run.paths().reach(&[SESSION], None);
        let always = self.run.paths().known(&always, None);
        let graph = &self.run.graph;
        let first = graph.imports.values().chain(graph.collects.values());
        let first: FxHashSet<NodeId> = first.copied().collect();
        let mut ties = Ties::default();
        self.changes.start = self.run.edges.len() as NodeId;
        self.attach_processes(benign);
        let facts = self.run.facts;
        let is_by_code = |cell: &(BString, String)| match &self.left {
            Some(left) => {
                let (Place::Inside(path) | Place::Outside(path)) = facts.place(cell.0.as_bstr());
                left.is_by_code(cell, &path)
            }
            None => true,
        };
        let by_name: Vec<_> = by_name
            .into_iter()
            .map(|(cell, changers)| (is_by_code(&cell), cell, changers))
            .collect();
        // What tests did by value, of which the nodes shall stand in a row.
        let mut by_value = Vec::new();
        for (is_by_code, (file, name), changers) in by_name {
            let (Place::Inside(path) | Place::Outside(path)) = self.run.facts.place(file.as_bstr());
            let name_of_cell = format!("{path}#{}", shown_cell(&name));
            if benign
                .iter()
                .any(|one| one.matches(name_of_cell.as_bytes()))
            {
                continue;
            }
            let languages = self.languages.iter();
            let Some(naming) = languages
                .filter_map(|one| one.naming(&self.run, file.as_bstr(), &name))
                .next()
            else {
                continue;
            };
            // Where a module holds the state, only who has the module can reach it.
            let module = self.run.graph.imports.get(&file).copied();
            let condition = module.filter(|module| !always.has(*module));
            let number = self.changed.len();
            let before_tests = changers.iter().filter(|by| first.contains(by));
            self.changed.push(Changed {
                path,
                name: name_of_cell,
                by: before_tests.copied().collect(),
            });
            if let Some(touched) = &mut self.touched {
                touched.changed(&changers, condition);
            }
            // Imports are known by their code, and so are tests whose values nobody knows.
            let (by_tests, others): (Vec<_>, Vec<_>) =
                (changers.into_iter()).partition(|by| !is_by_code && !first.contains(by));
            if !others.is_empty() {
                ties.add(&mut self.run, number, others, condition, &naming);
            }
            if !by_tests.is_empty() {
                by_value.push((number, by_tests, condition, naming));
            }
        }
        self.by_value.start = self.run.edges.len() as NodeId;
        ties.by_changers.clear();
        for (number, changers, condition, naming) in by_value {
            ties.add(&mut self.run, number, changers, condition, &naming);
        }
        self.changes.end = self.run.edges.len() as NodeId;
        self.by_value.end = self.changes.end;
        let count = self.changed.len();
        ties.attach(&mut self.run, self.touched.as_mut(), count);
        Ok(())
    }
}

impl Ties {
    /// Adds the cell `number` that `changers` changed, and units of which the code can read it.
    fn add(
        &mut self,
        run: &mut Run<'_>,
        number: usize,
        changers: Vec<NodeId>,
        condition: Option<NodeId>,
        readers: &StateReaders,
    ) {
        let chain = match self.by_changers.get(&changers) {
            Some(known) => *known,
            None => {
                let new = self.chains.len() as ChainIndex;
                self.chains.push(in_order(run, &changers));
                self.by_changers.insert(changers, new);
                new
            }
        };
        self.add_way(number, chain, condition, &readers.units);
        // Who has one of these has the module that the condition stands for.
        for holder in &readers.holders {
            self.add_way(number, chain, Some(*holder), &readers.looking);
        }
    }

    fn add_way(
        &mut self,
        number: usize,
        chain: ChainIndex,
        condition: Option<NodeId>,
        units: &[UnitIndex],
    ) {
        let next = self.ties.len() as TieIndex;
        let tie = *self.numbers.entry((chain, condition)).or_insert(next);
        if tie == next {
            self.ties.push((chain, condition));
        }
        let cell = self.cells.len() as CellIndex;
        self.cells.push((tie, number));
        for unit in units {
            self.read_by.entry(*unit).or_default().push(cell);
        }
    }

    /// Leads from those who read some state to the changes that they can have met.
    fn attach(self, run: &mut Run<'_>, mut touched: Option<&mut Touched>, count: usize) {
        // Code that may reach any name, and there is much, reads the same cells.
        let mut lists: Vec<&[CellIndex]> = Vec::new();
        let mut numbers: FxHashMap<&[CellIndex], usize> = FxHashMap::default();
        let mut list_of = vec![None; run.table.units().len()];
        for (unit, cells) in &self.read_by {
            let number = *numbers.entry(cells).or_insert_with(|| {
                lists.push(cells);
                lists.len() - 1
            });
            list_of[*unit as usize] = Some(number);
        }
        let mut met_lists = Once::new(lists.len());
        let mut met_ways = Once::new(self.cells.len());
        let mut met_cells = Once::new(count);
        let mut met_ties = Once::new(self.ties.len());
        let mut ties = Vec::new();
        for node in 0..run.edges.len() as NodeId {
            ties.clear();
            let running = running_with(run, node);
            let units = running.iter().map(|node| &run.node_units[*node as usize]);
            for unit in units.flatten() {
                let Some(list) = list_of[*unit as usize] else {
                    continue;
                };
                if !met_lists.is_first(list, node) {
                    continue;
                }
                for cell in lists[list] {
                    let way = *cell as usize;
                    if !met_ways.is_first(way, node) {
                        continue;
                    }
                    let (tie, cell) = self.cells[way];
                    if met_cells.is_first(cell, node)
                        && let Some(touched) = &mut touched
                    {
                        touched.read(node, cell);
                    }
                    if met_ties.is_first(tie as usize, node) {
                        ties.push(tie);
                    }
                }
            }
            self.lead(run, node, &ties);
        }
    }

    fn lead(&self, run: &mut Run<'_>, reader: NodeId, ties: &[TieIndex]) {
        let mut edges = Vec::new();
        let mut conditional = Vec::new();
        for tie in ties {
            let (chain, condition) = self.ties[*tie as usize];
            let Some(node) = changes_before(run, reader, &self.chains[chain as usize]) else {
                continue;
            };
            match condition {
                None => edges.push(node),
                Some(condition) => conditional.push((condition, node)),
            }
        }
        run.edges[reader as usize].reserve_exact(edges.len());
        run.edges[reader as usize].extend(edges);
        if !conditional.is_empty() {
            run.conditional
                .entry(reader)
                .or_default()
                .extend(conditional);
        }
    }
}

/// A node, and those whose code runs when it does.
fn running_with(run: &Run<'_>, node: NodeId) -> Vec<NodeId> {
    let with_callers = &run.graph.with_callers;
    if with_callers.contains(&node) {
        return Vec::new();
    }
    let mut running = vec![node];
    let mut at = 0;
    while let Some(next) = running.get(at) {
        let more = run.edges[*next as usize].iter();
        let more: Vec<NodeId> = more
            .filter(|to| with_callers.contains(to))
            .copied()
            .collect();
        for node in more {
            if !running.contains(&node) {
                running.push(node);
            }
        }
        at += 1;
    }
    running
}

/// The changes of some state, the first one first. Who has no known time may
/// have changed it at any time, and so comes before all.
pub(super) fn in_order(run: &mut Run<'_>, changers: &[NodeId]) -> Vec<Change> {
    let time = |by: NodeId| run.graph.times.get(&by).map(|span| span.first);
    let (timed, always): (Vec<NodeId>, Vec<NodeId>) =
        changers.iter().partition(|by| time(**by).is_some());
    let mut timed: Vec<(Option<u64>, NodeId)> =
        timed.into_iter().map(|by| (time(by), by)).collect();
    timed.sort_unstable();
    let mut chain = Vec::new();
    if !always.is_empty() {
        add_change(run, &mut chain, None, always);
    }
    for (since, by) in timed {
        add_change(run, &mut chain, since, vec![by]);
    }
    chain
}

fn add_change(run: &mut Run<'_>, chain: &mut Vec<Change>, since: Option<u64>, by: Vec<NodeId>) {
    let node = run.fresh();
    let edges = &mut run.edges[node as usize];
    edges.extend(chain.last().map(|earlier| earlier.node));
    edges.extend(by);
    chain.push(Change { since, node });
}

/// The changes that `reader` can have met: those of who began before it; all
/// if it is not known when it read.
pub(super) fn changes_before(run: &Run<'_>, reader: NodeId, chain: &[Change]) -> Option<NodeId> {
    let met = match run.graph.times.get(&reader) {
        None => chain.len(),
        Some(span) => chain.partition_point(|one| one.since.is_none_or(|at| at < span.last)),
    };
    Some(chain[..met].last()?.node)
}

/// What was met while it was one node's turn.
struct Once(Vec<Option<NodeId>>);

impl Once {
    fn new(count: usize) -> Once {
        Once(vec![None; count])
    }

    fn is_first(&mut self, at: usize, node: NodeId) -> bool {
        self.0[at].replace(node) != Some(node)
    }
}
