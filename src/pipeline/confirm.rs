//! What the test process needs to know to leave out tests that only values can excuse.

mod candidates;
mod functions;
mod handed;
mod keyed;
mod listed;
mod meeting;
mod recorded;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use self::candidates::{Candidate, by_baseline, is_met};
use self::functions::Functions;
use self::recorded::{of_others, recorded, ties_of};
use super::compare::delta_to;
use super::decide::Decision;
use super::project::Project;
use crate::history::View;
use crate::languages::{Environment, Facts, Needed, UnitReads, Words, read_by};
use crate::matrix::{Matrix, Reads, Row, SetId, TestId, Unit, UnitId, Values};
use crate::pattern::Pattern;
use crate::runners::{Confirm, Flags, OpenPart, OpenTest, OwnUnit, Recorded, configured};
use crate::select::By;

/// The plan by which the collector confirms tests of `decision` at `view`; `None` if there
/// is none to confirm.
///
/// # Errors
/// If a source cannot be read.
pub(crate) fn confirming<'d>(
    project: &'d Project,
    view: &View,
    decision: &'d Decision,
) -> Result<Option<Confirm<'d>>> {
    if !project.config.driver.confirms() {
        return Ok(None);
    }
    let is_met = is_met(decision);
    let open = by_baseline(decision, is_met);
    if open.is_empty() {
        return Ok(None);
    }
    let mut planning = Planning {
        benign: &project.config.benign_state.value,
        has_lost_serials: { decision.anew.as_ref() }.is_some_and(|anew| anew.has_lost_serials),
        ..Planning::default()
    };
    for baseline in decision.baseline.iter().chain(&decision.others) {
        if let Some(tests) = open.get(baseline.name.to_string().as_str())
            && let Ok(matrix) = baseline.matrix.whole()
            && let Some(values) = &matrix.values
        {
            let of_others = of_others(decision, baseline, matrix);
            let all = decision.baseline.iter().chain(&decision.others);
            let others = all.filter(|other| other.name != baseline.name);
            let others = others.filter_map(|other| other.matrix.whole().ok());
            planning.add((matrix, values), others, tests, of_others);
        }
    }
    if planning.open.iter().all(|open| open.runs) && is_met {
        planning.add_meeting(decision);
    }
    if planning.matrices.is_empty() {
        return Ok(None);
    }
    let root = project.repository.root();
    let environment = Environment::Elsewhere;
    let facts = Facts::new(view, root, environment, project.cache(), configured);
    let functions = match planning.matrices.iter().any(|one| one.ties.is_some()) {
        true => {
            let headers = planning.records.iter().map(|matrix| &matrix.header);
            let deltas = headers.filter_map(|header| delta_to(project, header, view));
            planning.functions(&facts, deltas)?
        }
        false => Functions::default(),
    };
    planning
        .finish(&functions, |modules, units| {
            let read = read_by(&facts, modules, units)?;
            Ok((read.of, read.words))
        })
        .map(Some)
}

/// A plan on its way.
#[derive(Default)]
struct Planning<'d> {
    matrices: Vec<Recorded<'d>>,
    open: Vec<Open<'d>>,
    paths: Numbers<&'d BStr>,
    modules: Numbers<Vec<usize>>,
    units: Numbers<&'d Unit>,
    /// Of `units`.
    sets: Numbers<Vec<usize>>,
    /// Lists of `sets`.
    others: Numbers<Vec<usize>>,
    /// By path: the dotted names of the module.
    names: BTreeMap<&'d str, BTreeSet<&'d str>>,
    records: Vec<&'d Matrix>,
    /// State that leads from no test to another.
    benign: &'d [Pattern],
    /// In the run before numbers that count objects turned out to be more than that.
    has_lost_serials: bool,
}

/// A test that values can excuse.
struct Open<'d> {
    test: &'d str,
    matrix: usize,
    /// As a whole, and without earlier tests.
    own: Option<Part>,
    tied: Option<Part>,
    /// Whether what was imported is proven to be the same.
    is_import_same: bool,
    runs: bool,
    /// Whether nothing that its row names is different.
    is_same: bool,
    /// The run of its row, if tests were not there in that.
    absent: Option<&'d str>,
}

/// What counts of it.
struct Part {
    of: OpenPart,
    /// The sets that are not its own: code that ran at import.
    others: usize,
}

impl Open<'_> {
    fn parts(&mut self) -> impl Iterator<Item = &mut Part> {
        self.own.iter_mut().chain(&mut self.tied)
    }
}

/// Equal things have one number.
struct Numbers<K> {
    known: FxHashMap<K, usize>,
    all: Vec<K>,
}

impl<K> Default for Numbers<K> {
    fn default() -> Numbers<K> {
        Numbers {
            known: FxHashMap::default(),
            all: Vec::new(),
        }
    }
}

impl<K: Clone + Eq + std::hash::Hash> Numbers<K> {
    fn of(&mut self, one: K) -> usize {
        if let Some(known) = self.known.get(&one) {
            return *known;
        }
        let number = self.all.len();
        self.all.push(one.clone());
        self.known.insert(one, number);
        number
    }
}

/// What is known of one matrix.
struct Source<'d> {
    matrix: &'d Matrix,
    /// Modules of which it has values.
    held: BTreeSet<&'d str>,
    /// By set: the modules of its units, as numbers of paths.
    modules_of: FxHashMap<SetId, Vec<usize>>,
    /// By the sets of a row and of its own part: its modules, if it has values of all that
    /// values stand for.
    modules: FxHashMap<(&'d [SetId], &'d [SetId]), Option<usize>>,
    /// By set: which of the plan it is; and the same of units.
    sets: FxHashMap<SetId, usize>,
    units: FxHashMap<UnitId, usize>,
}

/// What units read, and what runners ask test files for.
type Answer = (Vec<Option<UnitReads>>, Words);

impl<'d> Planning<'d> {
    /// `of_others`: tests that are left out by another matrix, and leave something else by that. What
    /// tests read that run `others` may tell, too.
    fn add(
        &mut self,
        (matrix, values): (&'d Matrix, &'d Values),
        mut others: impl Iterator<Item = &'d Matrix>,
        tests: &[Candidate<'d>],
        of_others: Vec<&'d str>,
    ) {
        let mut source = self.source(matrix, values);
        let (number, before) = (self.matrices.len(), self.open.len());
        let mut untold = Vec::new();
        for candidate in tests {
            let Some(row) = matrix.row(TestId::Test(candidate.test)) else {
                continue;
            };
            match self.test(row, *candidate, number, &mut source) {
                Some(open) => self.open.push(open),
                // What it runs is looked at when it has run.
                None => {
                    self.paths_of(&row.sets, &mut source);
                    untold.extend(candidate.runs.then_some(*candidate));
                }
            }
        }
        while !untold.is_empty()
            && let Some(other) = others.next()
        {
            if let Some(values) = &other.values {
                let mut source = self.source(other, values);
                untold.retain(|candidate| {
                    let row = other.row(TestId::Test(candidate.test));
                    let open = row.and_then(|row| self.test(row, *candidate, number, &mut source));
                    let is_untold = open.is_none();
                    self.open.extend(open);
                    is_untold
                });
            }
        }
        if self.open.len() > before {
            self.records.push(matrix);
            // Some wait for their turn, or run beside those that are left out.
            let ties = values.ties.as_ref();
            let ties = ties.map(|ties| ties_of(matrix, ties, of_others, self.benign));
            self.matrices.push(recorded(matrix, values, ties));
        }
    }

    fn source(&mut self, matrix: &'d Matrix, values: &'d Values) -> Source<'d> {
        let mut held = BTreeSet::new();
        for holder in &values.holders {
            if !holder.path.is_empty() && !holder.name.contains(':') {
                held.insert(&*holder.path);
                let names = self.names.entry(&holder.path).or_default();
                names.insert(&holder.name);
            }
        }
        Source {
            matrix,
            held,
            modules_of: FxHashMap::default(),
            modules: FxHashMap::default(),
            sets: FxHashMap::default(),
            units: FxHashMap::default(),
        }
    }

    /// `None` if the matrix lacks what would confirm it.
    fn test(
        &mut self,
        row: &'d Row,
        candidate: Candidate<'d>,
        matrix: usize,
        source: &mut Source<'d>,
    ) -> Option<Open<'d>> {
        let by = candidate.by;
        let own = row.own.as_ref()?;
        let inner = own.inner.as_ref();
        let tied = inner.and_then(|one| self.part(&one.sets, &one.others, one.reads, source));
        let mut whole = || self.part(&own.sets, &row.sets, own.reads, source);
        let (whole, tied) = match by {
            Some(By::Tests | By::Both) => (None, tied),
            Some(By::Imports) => (whole(), tied),
            // Its row meets what is left anew, or what others leave, or the part of it that earlier
            // tests are none of.
            Some(By::Others) | None => (None, tied.or_else(whole)),
        };
        if whole.is_none() && tied.is_none() {
            return None;
        }
        let run = &source.matrix.header.runs[row.run as usize];
        Some(Open {
            test: row.test.test()?,
            matrix,
            own: whole,
            tied,
            is_import_same: matches!(by, Some(By::Tests | By::Others) | None),
            runs: candidate.runs,
            is_same: by == Some(By::Others),
            absent: run.chose.then_some(&*run.id),
        })
    }

    /// `None` if the matrix lacks what would confirm it. `all`: own sets may be among these.
    fn part(
        &mut self,
        own: &'d [SetId],
        all: &'d [SetId],
        reads: Reads,
        source: &mut Source<'d>,
    ) -> Option<Part> {
        let key = (all, own);
        let modules = match source.modules.get(&key) {
            Some(known) => *known,
            None => {
                let modules = self.modules_of(all, own, source);
                source.modules.insert(key, modules);
                modules
            }
        }?;
        let late_modules = self.late_modules(own, source);
        let mut number = |set: &SetId| self.set(*set, source);
        let sets = own.iter().map(&mut number).collect();
        let others = all.iter().filter(|set| !own.contains(set));
        let others = others.map(&mut number).collect();
        Some(Part {
            of: OpenPart {
                sets,
                modules,
                late_modules,
                flags: Flags {
                    anything: reads.anything,
                    // Of the names in these the test process tells: a library may evaluate them.
                    annotations: reads.annotations,
                    docstrings: reads.docstrings,
                },
                past: reads.past,
            },
            others: self.others.of(others),
        })
    }

    /// The list of the modules that a row needs. Of a module without values nobody could
    /// see a difference, unless all of its units are the test's own: one that it imports
    /// itself.
    fn modules_of(
        &mut self,
        sets: &[SetId],
        own: &[SetId],
        source: &mut Source<'d>,
    ) -> Option<usize> {
        let others: Vec<SetId> = { sets.iter() }
            .filter(|set| own.binary_search(set).is_err())
            .copied()
            .collect();
        let mut all = self.paths_of(own, source);
        let by_value = self.paths_of(&others, source);
        if !by_value.iter().all(|path| self.is_held(*path, source)) {
            return None;
        }
        all.retain(|path| self.is_held(*path, source));
        all.extend(by_value);
        Some(self.modules.of(all.into_iter().collect()))
    }

    /// The list of the modules that a test imports itself.
    fn late_modules(&mut self, own: &[SetId], source: &mut Source<'d>) -> usize {
        let mut paths = self.paths_of(own, source);
        paths.retain(|path| !self.is_held(*path, source));
        self.modules.of(paths.into_iter().collect())
    }

    fn is_held(&self, path: usize, source: &Source<'d>) -> bool {
        let path = self.paths.all[path].to_str();
        path.is_ok_and(|path| source.held.contains(path))
    }

    /// The modules of the units of some sets.
    fn paths_of(&mut self, sets: &[SetId], source: &mut Source<'d>) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        for set in sets {
            let known = source.modules_of.entry(*set).or_insert_with(|| {
                let units = source.matrix.sets[*set as usize].iter();
                let units = units.map(|id| &source.matrix.units[*id as usize].0);
                let sources = units.filter(|unit| unit.kind().is_source());
                let mut paths: Vec<usize> =
                    sources.map(|unit| self.paths.of(unit.path())).collect();
                paths.sort_unstable();
                paths.dedup();
                paths
            });
            all.extend(known.iter());
        }
        all
    }

    fn set(&mut self, set: SetId, source: &mut Source<'d>) -> usize {
        if let Some(known) = source.sets.get(&set) {
            return *known;
        }
        let matrix = source.matrix;
        let number = |id: &UnitId| {
            let known = source.units.entry(*id);
            *known.or_insert_with(|| self.units.of(&matrix.units[*id as usize].0))
        };
        let units = matrix.sets[set as usize].iter().map(number);
        let number = self.sets.of(units.collect());
        source.sets.insert(set, number);
        number
    }

    /// Puts in what the units read, which `read` tells, and `functions`, too.
    fn finish(
        mut self,
        functions: &Functions,
        read: impl FnOnce(&Needed, &[&Unit]) -> Result<Answer>,
    ) -> Result<Confirm<'d>> {
        let needed = self.paths.all.iter().map(|path| {
            let names = path.to_str().ok().and_then(|path| self.names.get(path));
            let names = names.into_iter().flatten();
            let names = names.map(|name| (*name).to_owned()).collect();
            (BString::from(*path), names)
        });
        let new = functions.new.iter().map(|path| (path.clone(), Vec::new()));
        let mut units: Vec<&Unit> = self.units.all.to_vec();
        units.extend(functions.all.iter().map(|(_, function)| &function.unit));
        let (mut reads, words) = read(&needed.chain(new).collect(), &units)?;
        self.name_docs(&mut reads);
        let tells_serials = self.tells_serials();
        let of_functions = reads.split_off(self.units.all.len());
        self.leave_out_keyed(&mut reads);
        self.list_members(&mut reads);
        let (tells_calls, tells_docs) = (self.tells_calls(), self.tells_docs());
        self.drop_beyond_values(&reads);
        self.hand_on(&mut reads);
        let mut used: BTreeSet<usize> = BTreeSet::new();
        let parts = self.open.iter_mut().flat_map(Open::parts);
        used.extend(parts.flat_map(|part| part.of.sets.iter().copied()));
        let used: Vec<usize> = used.into_iter().collect();
        let single: Vec<Vec<usize>> = (reads.len()..)
            .take(of_functions.len())
            .map(|one| vec![one])
            .collect();
        reads.extend(of_functions);
        let sets = used.iter().map(|set| &self.sets.all[*set]);
        let (units, mut sets) = merge(&reads, sets.chain(&single));
        let of_functions = sets.split_off(used.len());
        let mut by_path: BTreeMap<usize, Vec<(u32, u32, usize)>> = BTreeMap::new();
        for ((path, function), unit) in functions.all.iter().zip(of_functions) {
            if let [unit] = unit[..] {
                let of_path = by_path.entry(*path).or_default();
                of_path.push((function.lines.0, function.lines.1, unit));
            }
        }
        for part in self.open.iter_mut().flat_map(Open::parts) {
            for set in &mut part.of.sets {
                *set = used.partition_point(|used| used < set);
            }
        }
        let paths = &self.paths;
        let own = |unit: &&UnitReads| own_unit(unit, &paths.known);
        Ok(Confirm {
            matrices: self.matrices,
            units: units.iter().map(own).collect(),
            sets,
            paths: { paths.all.iter().map(ToString::to_string) }
                .chain(functions.new.iter().map(ToString::to_string))
                .collect(),
            modules: self.modules.all,
            asked: words.asked,
            leading: words.leading,
            tells_calls,
            tells_docs,
            tells_serials,
            functions: by_path,
            tests: self
                .open
                .into_iter()
                .map(|open| {
                    let of = OpenTest {
                        matrix: open.matrix,
                        own: open.own.map(|part| part.of),
                        tied: open.tied.map(|part| part.of),
                        is_import_same: open.is_import_same,
                        runs: open.runs,
                        is_same: open.is_same,
                        absent: open.absent,
                    };
                    (open.test, of)
                })
                .collect(),
        })
    }

    /// Leaves out tests whose code may read what no value tells: these run.
    fn drop_beyond_values(&mut self, reads: &[Option<UnitReads>]) {
        let reads_beyond = |unit: &usize| {
            let reads = reads[*unit].as_ref();
            reads.is_some_and(|reads| reads.beyond_values)
        };
        let sets = self.sets.all.iter();
        let beyond: Vec<bool> = sets.map(|set| set.iter().any(reads_beyond)).collect();
        let is_within = |part: &Part| !part.of.sets.iter().any(|set| beyond[*set]);
        for open in &mut self.open {
            open.own = open.own.take().filter(|part| is_within(part));
            open.tied = open.tied.take().filter(|part| is_within(part));
        }
        self.open
            .retain(|open| open.own.is_some() || open.tied.is_some());
    }
}

/// Makes one unit of all that read the same, and sets of these. Those that stand in the
/// most sets come first: their numbers are the shortest.
fn merge<'r, 's>(
    reads: &'r [Option<UnitReads>],
    sets: impl Iterator<Item = &'s Vec<usize>>,
) -> (Vec<&'r UnitReads>, Vec<Vec<usize>>) {
    let mut different: Numbers<&UnitReads> = Numbers::default();
    let mut of_units: FxHashMap<usize, Option<usize>> = FxHashMap::default();
    let mut uses = Vec::new();
    let mut merged: Vec<Vec<usize>> = Vec::new();
    for set in sets {
        let mut numbers: Vec<usize> = Vec::new();
        for unit in set {
            let number = of_units
                .entry(*unit)
                .or_insert_with(|| reads[*unit].as_ref().map(|reads| different.of(reads)));
            numbers.extend(*number);
        }
        numbers.sort_unstable();
        numbers.dedup();
        uses.resize(different.all.len(), 0);
        for number in &numbers {
            uses[*number] += 1;
        }
        merged.push(numbers);
    }
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by_key(|unit| std::cmp::Reverse(uses[*unit]));
    let mut place = vec![0; order.len()];
    for (at, unit) in order.iter().enumerate() {
        place[*unit] = at;
    }
    for set in &mut merged {
        for unit in &mut *set {
            *unit = place[*unit];
        }
        set.sort_unstable();
    }
    let units = order.iter().map(|unit| different.all[*unit]);
    (units.collect(), merged)
}

fn own_unit(reads: &UnitReads, paths: &FxHashMap<&BStr, usize>) -> OwnUnit {
    let number = |path: &BString| paths.get(path.as_bstr()).copied();
    let holds = reads.holds.iter().chain(&reads.globals);
    let holds: BTreeSet<usize> = holds.filter_map(number).collect();
    let loose: BTreeSet<usize> = reads.loose.iter().filter_map(number).collect();
    OwnUnit {
        names: reads.names.clone(),
        loads: reads.loads.clone(),
        file: number(&reads.file),
        holds: holds.into_iter().collect(),
        asks_runner: reads.asks_runner && !loose.is_empty(),
        loose: loose.into_iter().collect(),
        members: reads.members,
        flags: Flags {
            anything: reads.anything,
            annotations: reads.annotations,
            docstrings: reads.docstrings,
        },
    }
}

#[cfg(test)]
mod tests;
