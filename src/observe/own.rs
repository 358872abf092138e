//! The part of a row that is the test's own: what ran or was read while it ran, in its
//! fixtures, and when its file was collected.
//!
//! What modules did when they were imported reaches a test only by the state that they
//! left, and so does what the search for tests in another file did. Values stand for that, if
//! they were taken when all of these had ended. The rest of a row is its own, and so is
//! whatever values cannot stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::NodeId;
use super::run::Run;
use super::trace::{Definition, Role, Scope, ScopeKind, Trace};
use super::units::UnitIndex;
use crate::languages::{
    ASKED_FOR_DOCS, CALLED, Closure, Facts, KEYED, LISTED, Place, SERIAL, TOLD,
};
use crate::matrix::{CellValue, Holder, Reads, Unit, Values, What};

/// Units that are a test's own, sorted, and what their code reads of state beside what the
/// units tell.
pub(crate) type OwnUnits = (Vec<UnitIndex>, Reads);

/// Which nodes of a run values stand for.
#[derive(Debug)]
pub(super) struct Owning {
    /// By node: whether it is an import, or the search for tests in a file, that only left
    /// state behind.
    is_barred: Vec<bool>,
    /// The nodes of such searches. For tests of the file, they count as they are.
    searches: FxHashSet<NodeId>,
    /// By node: the paths of modules whose import-time code ran in it, and that no value
    /// stands for, as it ran later, or in another process. All that a row has of these is
    /// its own.
    elsewhere: FxHashMap<NodeId, BTreeSet<BString>>,
    /// The paths of modules that have values.
    held: FxHashSet<BString>,
}

/// What a part of a row is built on.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    pub units: &'a [UnitIndex],
    /// Those that are the test's own, sorted.
    pub own: &'a [UnitIndex],
    /// The paths of modules that are imported elsewhere.
    pub elsewhere: &'a BTreeSet<BString>,
}

/// The nodes and units of a row, or of what the tests of a file share.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub nodes: &'a [NodeId],
    /// All of its units, what names lead to included.
    pub units: &'a [UnitIndex],
    /// The searches for tests that count as they are.
    pub searches: &'a BTreeSet<NodeId>,
}

impl Owning {
    /// `None` if the run took no values.
    pub(super) fn of_run(run: &Run<'_>) -> Option<Owning> {
        let takers = Takers::of(run.traces)?;
        let mut owning = Owning {
            is_barred: vec![false; run.edges.len()],
            searches: FxHashSet::default(),
            elsewhere: FxHashMap::default(),
            held: takers.held(run),
        };
        // Files have one node for all imports, and for all searches: each must have been told.
        let mut unbarred = Vec::new();
        for (at, trace) in takers.of.iter().chain(&takers.controller) {
            owning.bar(run, *at, trace, &mut unbarred);
        }
        // What hooks of the project read there, no value tells.
        if let Some((at, trace)) = &takers.controller
            && trace.scopes.values().any(|scope| runs_hooks(trace, scope))
        {
            let imports = trace.scopes.iter().filter(|(_, scope)| is_import(scope));
            unbarred.extend(imports.filter_map(|(number, _)| run.graph.node_of(*at, *number)));
        }
        for node in unbarred {
            owning.is_barred[node as usize] = false;
        }
        owning.mark_other_processes(run, &takers);
        owning.mark_other_executions(run);
        Some(owning)
    }

    /// Takes in what a process told of its imports and searches. Those that did more than
    /// leave values are `unbarred`.
    fn bar(&mut self, run: &Run<'_>, at: usize, trace: &Trace, unbarred: &mut Vec<NodeId>) {
        let imported = trace.taking.imported.iter().flatten();
        let imported: FxHashSet<u64> = imported.copied().collect();
        let is_search = |scope: &Scope| scope.kind == ScopeKind::Collect;
        let scopes = trace.scopes.iter();
        for (number, scope) in scopes.filter(|(_, scope)| is_import(scope) || is_search(scope)) {
            let Some(node) = run.graph.node_of(at, *number) else {
                continue;
            };
            if is_search(scope) {
                self.searches.insert(node);
            }
            match imported.contains(number) {
                true => self.is_barred[node as usize] = true,
                false => unbarred.push(node),
            }
            if *number > trace.taking.last_scope && is_import(scope) {
                self.mark(run, node, scope.name.as_bstr());
            }
        }
    }

    /// The searches for tests that `starts` need by other ways than `changes` of state. Imports
    /// lead to none.
    pub(super) fn searches(
        &self,
        run: &Run<'_>,
        starts: &[NodeId],
        changes: &Range<NodeId>,
    ) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut open = starts.to_vec();
        while let Some(node) = open.pop() {
            let is_search = self.searches.contains(&node);
            if changes.contains(&node) || self.is_barred(node) && !is_search || !seen.insert(node) {
                continue;
            }
            if is_search {
                found.insert(node);
            }
            open.extend(&run.edges[node as usize]);
        }
        found
    }

    fn is_barred(&self, node: NodeId) -> bool {
        self.is_barred.get(node as usize) == Some(&true)
    }

    /// A process that a test starts imports modules for itself.
    fn mark_other_processes(&mut self, run: &Run<'_>, takers: &Takers<'_>) {
        let all = run.traces.iter().enumerate();
        let others = all.filter(|(at, _)| !takers.has(*at));
        for (at, trace) in others {
            for (number, scope) in trace.scopes.iter().filter(|(_, scope)| is_import(scope)) {
                if let Some(node) = run.graph.node_of(at, *number) {
                    self.mark(run, node, scope.name.as_bstr());
                }
            }
        }
    }

    /// The top level of a module that is imported, too, can run by hand: `runpy`.
    fn mark_other_executions(&mut self, run: &Run<'_>) {
        for (node, of) in run.graph.nodes.iter().enumerate() {
            for id in &of.definitions {
                if let Definition::Code { file, name, .. } = &run.graph.definitions[*id as usize]
                    && name == TOP_LEVEL
                    && let Some(import) = run.graph.imports.get(file)
                    && *import as usize != node
                    && !Facts::is_third_party(file.as_bstr())
                {
                    self.mark(run, node as NodeId, file.as_bstr());
                }
            }
        }
    }

    fn mark(&mut self, run: &Run<'_>, node: NodeId, file: &BStr) {
        let (Place::Inside(path) | Place::Outside(path)) = run.facts.place(file);
        self.elsewhere.entry(node).or_default().insert(path);
    }

    /// The paths of modules that `nodes` import elsewhere.
    pub(super) fn elsewhere(&self, nodes: &[NodeId]) -> BTreeSet<BString> {
        let marked = nodes.iter().filter_map(|node| self.elsewhere.get(node));
        marked.flatten().cloned().collect()
    }

    /// Whether values stand for what import-time use of a unit comes to. Code may lead by name to
    /// a module that nobody had imported when they were taken.
    pub(super) fn is_by_value(&self, unit: &Unit) -> bool {
        is_by_value(unit) && (!unit.kind().is_source() || self.held.contains(&unit.path))
    }

    /// The own units of a part of a row, without those of what it is built on.
    pub(super) fn part(
        &self,
        run: &Run<'_>,
        languages: &[Box<dyn Closure>],
        part: Part<'_>,
        below: Below<'_>,
    ) -> OwnUnits {
        // What is below may have come to a search by changes of state alone.
        let nodes = part.nodes.iter().filter(|node| !self.is_barred(**node));
        let mut nodes: Vec<NodeId> = nodes.chain(part.searches).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut own = run.units_of(&nodes, below.own);
        let reads = languages.iter().map(|one| one.reads(&nodes, &own));
        let reads = reads.fold(Reads::default(), |all, one| all | one);
        let elsewhere = self.elsewhere(part.nodes);
        let others = part.units.iter().filter(|at| {
            let unit = run.table.get(**at);
            let is_there = |paths: &BTreeSet<BString>| paths.contains(&unit.path);
            !self.is_by_value(unit) || is_there(&elsewhere) || is_there(below.elsewhere)
        });
        own.extend(others);
        if !elsewhere.is_empty() {
            let of_below = below.units.iter();
            own.extend(of_below.filter(|at| elsewhere.contains(&run.table.get(**at).path)));
        }
        own.sort_unstable();
        own.dedup();
        own.retain(|unit| below.own.binary_search(unit).is_err());
        (own, reads)
    }
}

/// What traces call the code of a module.
const TOP_LEVEL: &str = "<module>";

fn is_import(scope: &Scope) -> bool {
    scope.kind == ScopeKind::Import && !Facts::is_third_party(scope.name.as_bstr())
}

/// Whether code of the project ran in a scope otherwise than to import it.
fn runs_hooks(trace: &Trace, scope: &Scope) -> bool {
    let units = scope.units.iter();
    let mut definitions = units.filter_map(|unit| trace.definitions.get(unit));
    scope.kind != ScopeKind::Import
        && definitions.any(|one| match one {
            Definition::Code { file, .. } => !Facts::is_third_party(file.as_bstr()),
            _ => false,
        })
}

/// The processes that took values: one, or the workers of one run of pytest-xdist.
struct Takers<'t> {
    /// Never empty.
    of: Vec<(usize, &'t Trace)>,
    /// The process that spread the tests over the workers.
    controller: Option<(usize, &'t Trace)>,
}

impl<'t> Takers<'t> {
    /// `None` unless all processes that ran tests took values, and agents saw in all processes
    /// what reads of them that no source tells.
    fn of(traces: &'t [Trace]) -> Option<Takers<'t>> {
        let is_blind = |trace: &Trace| trace.open.collector.starts_with("python-");
        if traces.iter().any(is_blind) {
            return None;
        }
        let all = traces.iter().enumerate();
        let of_tests = all.filter(|(_, trace)| trace.open.role == Role::Main);
        let (controllers, of): (Vec<_>, Vec<_>) =
            of_tests.partition(|(_, trace)| trace.taking.is_controller && trace.begins.is_empty());
        let has_taken = |(_, trace): &(usize, &Trace)| {
            let taking = &trace.taking;
            taking.forbidden.is_none() && taking.imported.is_some() && !taking.holders.is_empty()
        };
        let run = &of.first()?.1.taking.worker_of;
        let is_one = of.len() == 1 && controllers.is_empty();
        let are_workers = run.is_some() && controllers.len() == 1;
        let is_of_run = |(_, trace): &(usize, &Trace)| trace.taking.worker_of == *run;
        let is_sound = (is_one || are_workers) && of.iter().all(has_taken);
        (is_sound && of.iter().all(is_of_run)).then(|| Takers {
            of,
            controller: controllers.first().copied(),
        })
    }

    /// The paths of modules that have values.
    fn held(&self, run: &Run<'_>) -> FxHashSet<BString> {
        let holders = self.of.iter().flat_map(|(_, trace)| &trace.taking.holders);
        let modules = holders.filter(|one| !one.path.is_empty() && !one.name.contains(':'));
        let place = |path: &BString| match run.facts.place(path.as_bstr()) {
            Place::Inside(path) | Place::Outside(path) => path,
        };
        modules.map(|one| place(&one.path)).collect()
    }

    fn has(&self, at: usize) -> bool {
        self.of
            .iter()
            .chain(&self.controller)
            .any(|one| one.0 == at)
    }
}

/// Whether import-time use of a unit comes to nothing but values: those of the state that it
/// makes. What decides which modules there are, and the environment, count by themselves.
fn is_by_value(unit: &Unit) -> bool {
    match &unit.what {
        What::Code(_)
        | What::Skeleton
        | What::Binding(_)
        | What::Presence(_)
        | What::Note(..)
        | What::Line(_)
        | What::Effects => true,
        What::File => !holds_code(&unit.path),
        What::Reached(name) => {
            name.starts_with(TOLD)
                || name.starts_with([ASKED_FOR_DOCS, CALLED, KEYED, LISTED, SERIAL])
        }
        _ => false,
    }
}

fn holds_code(path: &[u8]) -> bool {
    const ENDS: [&[u8]; 13] = [
        b".py", b".pyi", b".pyx", b".pxd", b".pyc", b".pyo", b".so", b".pyd", b".dll", b".pth",
        b".zip", b".egg", b".whl",
    ];
    ENDS.iter().any(|end| path.ends_with(end))
}

/// What cells held when a run had found its tests. Paths are those that units have.
pub(super) fn values(run: &Run<'_>) -> Option<Values> {
    let takers = Takers::of(run.traces)?;
    let mut all = takers.of.iter();
    let first = of_process(run, all.next()?.1)?;
    all.try_fold(first, |known, (_, trace)| {
        Some(joined(known, of_process(run, trace)?))
    })
}

/// Why the values of a run excuse no tests later, if a process that ran tests told.
pub(super) fn without_values(traces: &[Trace]) -> Option<String> {
    let ran = traces
        .iter()
        .filter(|trace| trace.open.role == Role::Main && !trace.begins.is_empty());
    let mut why = ran.filter_map(|trace| {
        let taking = &trace.taking;
        taking.forbidden.as_ref().or(taking.gave_up.as_ref())
    });
    why.next().cloned()
}

/// What one process found.
fn of_process(run: &Run<'_>, trace: &Trace) -> Option<Values> {
    let holders = trace.taking.holders.iter().map(|taken| {
        let (Place::Inside(path) | Place::Outside(path)) = match taken.path.is_empty() {
            true => Place::Inside(taken.path.clone()),
            false => run.facts.place(taken.path.as_bstr()),
        };
        Some(Holder {
            name: taken.name.clone(),
            // One that is no text could not be told from others.
            path: path.to_str().ok()?.to_owned(),
            cells: sorted(taken.cells.clone()),
        })
    });
    let holders: Option<Vec<Holder>> = holders.collect();
    Some(Values {
        holders: by_name(holders?),
        ties: None,
    })
}

/// What two workers found. A test may run on any worker, so what differs between them, or only
/// one of them has, is no value.
fn joined(one: Values, other: Values) -> Values {
    let mut others: FxHashMap<String, Holder> = FxHashMap::default();
    others.extend(other.holders.into_iter().map(|one| (one.name.clone(), one)));
    let mut holders: Vec<Holder> = Vec::with_capacity(one.holders.len());
    for mut holder in one.holders {
        let other = others.remove(&holder.name);
        let cells = other.map_or_else(Vec::new, |other| {
            if other.path != holder.path {
                holder.path.clear();
            }
            other.cells
        });
        holder.cells = joined_cells(holder.cells, cells);
        holders.push(holder);
    }
    for mut holder in others.into_values() {
        holder.cells = joined_cells(holder.cells, Vec::new());
        holders.push(holder);
    }
    holders.sort_by(|one, other| one.name.cmp(&other.name));
    Values {
        holders,
        ties: None,
    }
}

fn joined_cells(
    one: Vec<(String, CellValue)>,
    other: Vec<(String, CellValue)>,
) -> Vec<(String, CellValue)> {
    let mut all: BTreeMap<String, Vec<CellValue>> = BTreeMap::new();
    for (key, value) in one.into_iter().chain(other) {
        all.entry(key).or_default().push(value);
    }
    let value = |values: Vec<CellValue>| match &values[..] {
        [one, other] if one == other => one.clone(),
        _ => CellValue::Opaque("it differs between workers".to_owned()),
    };
    all.into_iter()
        .map(|(key, values)| (key, value(values)))
        .collect()
}

/// Holders that cannot be told apart are one, which counts wherever one of them does.
fn by_name(holders: Vec<Holder>) -> Vec<Holder> {
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let mut all: Vec<Holder> = Vec::with_capacity(holders.len());
    for holder in holders {
        let Some(at) = known.get(&holder.name) else {
            known.insert(holder.name.clone(), all.len());
            all.push(holder);
            continue;
        };
        let one = &mut all[*at];
        if one.path != holder.path {
            one.path.clear();
        }
        let mut cells = std::mem::take(&mut one.cells);
        cells.extend(holder.cells);
        one.cells = sorted(cells);
    }
    all
}

/// What was told twice has no value that could be relied on.
fn sorted(mut cells: Vec<(String, CellValue)>) -> Vec<(String, CellValue)> {
    cells.sort_by(|one, other| one.0.cmp(&other.0));
    cells.dedup_by(|later, kept| {
        let is_twice = later.0 == kept.0;
        if is_twice {
            kept.1 = CellValue::Opaque("it was told twice".to_owned());
        }
        is_twice
    });
    cells
}
