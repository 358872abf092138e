//! The matrix of the tested state: the rows of the tests that ran, and those rows
//! of the baseline that the selection proved to hold.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::BString;
use rustc_hash::FxHashMap;

use super::audit::added_before;
use super::carried::Carried;
use super::chosen::{Chosen, STOPPED, forget_absent};
use super::handed_on::HandedOn;
use super::merge;
use super::own::{Imported, ValuesOf};
use super::project::Project;
use super::record::{header, late_holds, runs_of};
use super::recording::{ALL, NEEDED, Recorded, Recording};
use super::renewed::Renewals;
use super::tested::{Tested, edited_paths};
use crate::count::{counted, verb};
use crate::history::Delta;
use crate::languages::Facts;
use crate::matrix::{
    Fingerprint, GroupRef, Matrix, MatrixBuilder, Outcome, Own, Reads, Row, RowFacts, Run, TestId,
    Unit, UnitRef, What,
};
use crate::observe::{Observations, ObservedRow, OwnUnits};
use crate::select::Mode;

/// Puts the rows of this run and the carried ones together.
pub(super) struct Assembly<'a> {
    pub(super) project: &'a Project,
    pub(super) recording: &'a Recording<'a>,
    pub(super) tested: Tested<'a>,
    pub(super) collected: &'a Observations,
    pub(super) recorded: &'a mut Recorded,
    pub(super) builder: MatrixBuilder,
    pub(super) values: ValuesOf<'a>,
    /// Those of the collected ones.
    pub(super) bases: Vec<SharedUnits>,
    pub(super) imported: Imported,
    /// The runs of the matrices of which rows are carried.
    pub(super) sources: BTreeMap<String, &'a Matrix>,
    runs: Vec<Run>,
    /// By collected unit: its fingerprint at the tested state, and why rows
    /// with it prove nothing, if so.
    observed: Vec<(Fingerprint, Option<String>)>,
    /// By run of a matrix whose rows are carried: what changed since. `None`
    /// if that is not known.
    pub(super) since: FxHashMap<String, Option<Delta>>,
    /// By module: what its effects rely on.
    pub(super) reliance: FxHashMap<BString, Option<Vec<(Unit, Fingerprint)>>>,
    /// By test, what audits add to its row, this run's included.
    audited: BTreeMap<String, BTreeSet<Unit>>,
    /// What is told of the build, part of the collection's row.
    build: Option<GroupRef>,
    /// By collected unit: what the builder knows it as; `None` if it is to be ignored.
    refs: Vec<Option<UnitRef>>,
    pub(super) carried: Carried,
    pub(super) renewals: Renewals,
    pub(super) chosen: Chosen,
}

/// What the rows of tests share.
pub(super) struct SharedUnits {
    pub groups: Vec<GroupRef>,
    /// The group that is the tests' own, if only some are.
    pub own: Option<(GroupRef, Reads)>,
    pub doubt: Option<String>,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(
        project: &'a Project,
        recording: &'a Recording<'a>,
        facts: &'a Facts<'a>,
        (collected, chosen): (&'a Observations, Chosen),
        recorded: &'a mut Recorded,
    ) -> Result<Assembly<'a>> {
        let tested = Tested {
            collected,
            facts,
            edited: edited_paths(recording.before, recording.after)?,
        };
        let observed = collected.units.iter();
        let observed = observed.map(|unit| tested.value(unit)).collect();
        let mut audited = added_before(recording.audited);
        for missed in &recorded.audit.misses {
            let changed = missed.changed.iter().flatten();
            let units = changed.map(|path| Unit::at(path.clone(), What::AuditedFile));
            audited
                .entry(missed.test.clone())
                .or_default()
                .extend(units);
        }
        let runs = runs_of(recording, chosen.counts)?;
        let header = header(project, recording, collected, runs.clone())?;
        Ok(Assembly {
            project,
            recording,
            tested,
            collected,
            recorded,
            builder: MatrixBuilder::new(header),
            values: ValuesOf::of(recording.decision, collected),
            bases: Vec::new(),
            imported: Imported::default(),
            sources: BTreeMap::new(),
            runs,
            observed,
            since: FxHashMap::default(),
            reliance: FxHashMap::default(),
            audited,
            build: None,
            refs: Vec::new(),
            carried: Carried::default(),
            renewals: Renewals::default(),
            chosen,
        })
    }

    pub(super) fn matrix(mut self) -> Result<Matrix> {
        // First everything that this run saw: a carried row that contradicts
        // it does not hold.
        for (unit, (value, _)) in self.collected.units.iter().zip(&self.observed) {
            let known = match self.is_ignored(unit) {
                true => None,
                false => Some(self.builder.unit(unit.clone(), *value)?),
            };
            self.refs.push(known);
        }
        self.add_bases();
        self.add_kept_rows()?;
        self.add_own_rows()?;
        self.add_carried_rows()?;
        self.add_confirmed_rows()?;
        self.add_unchosen_rows()?;
        self.examine_build()?;
        self.add_collection_row()?;
        self.builder.values(self.values.values());
        self.add_ties();
        let mut matrix = self.builder.finish();
        matrix.header.tests = matrix.tests().count() as u32;
        forget_unused_runs(&mut matrix);
        forget_absent(&mut matrix);
        Ok(matrix)
    }

    /// A shared set of collected units.
    fn group(&mut self, units: &[u32]) -> GroupRef {
        let known = units.iter().filter_map(|at| self.refs[*at as usize]);
        self.builder.group(known)
    }

    fn doubt_in(&self, units: &[u32]) -> Option<String> {
        let units = units.iter().map(|unit| *unit as usize);
        units
            .filter(|unit| self.refs[*unit].is_some())
            .find_map(|unit| self.observed[unit].1.clone())
    }

    /// Whether the configuration says that no test depends on it.
    fn is_ignored(&self, unit: &Unit) -> bool {
        let ignored = &self.project.config.env_ignore.value;
        let name = match &unit.what {
            What::Env(name) => &**name,
            What::AllEnv => "*",
            _ => return false,
        };
        ignored.iter().any(|one| one == name)
    }

    fn add_bases(&mut self) {
        for base in &self.collected.bases {
            let of_test = base.by_itself.as_ref();
            let (groups, own) = self.in_two(&base.units, of_test);
            self.bases.push(SharedUnits {
                groups,
                own,
                doubt: self.doubt_in(&base.units),
            });
        }
    }

    /// Groups of some units and, if values stand for the others, of those that are a
    /// test's own; and which group that is.
    pub(super) fn in_two(
        &mut self,
        units: &[u32],
        own: Option<&OwnUnits>,
    ) -> (Vec<GroupRef>, Option<(GroupRef, Reads)>) {
        let Some((own, reads)) = own.filter(|_| self.values.are_of_run()) else {
            return (vec![self.group(units)], None);
        };
        let others = units.iter().filter(|unit| own.binary_search(unit).is_err());
        let others: Vec<u32> = others.copied().collect();
        let (own, others) = (self.group(own), self.group(&others));
        (vec![own, others], Some((own, *reads)))
    }

    /// Of tests that ran for others only, and ended well, the rows that prove that they need
    /// not have run: without the tests before them they are no new proof.
    fn add_kept_rows(&mut self) -> Result<()> {
        let decision = self.recording.decision;
        let ended_well = |row: &&ObservedRow| row.outcome.is_good();
        let rows = self.collected.rows.iter().filter(ended_well);
        let well: BTreeSet<&str> = rows.map(|row| row.test.as_str()).collect();
        // Nor have those that met what others leave anew.
        let is_met = |test: &str| self.collected.refuted.contains_key(test);
        let brought = decision.selection.brought();
        let brought = brought.map(|(test, _, evidence)| (test, evidence));
        let same = &self.collected.same;
        let excluded = decision.selection.excluded();
        // Among all they are, and what a run before this one saw of them is less.
        let is_whole = self.collected.is_whole;
        let kept = brought.filter(|(test, _)| !is_whole && !is_met(test));
        let kept = kept.chain(excluded.filter(|(test, _)| same.contains(*test)));
        for (test, evidence) in kept {
            if well.contains(test)
                && late_holds(evidence, decision, self.collected)
                && let Some(matrix) = decision.proof_of(test)
                && let Some(row) = matrix.row(TestId::Test(test))
            {
                self.carry_row(matrix, row)?;
            }
        }
        self.add_unchanged_rows(|test| well.contains(test))
    }

    fn add_own_rows(&mut self) -> Result<()> {
        let collected = self.collected;
        let failed = self.recording.ran.failed_as_a_whole(collected);
        let handed_on = HandedOn::new(self.recording.decision);
        for row in &collected.rows {
            if self.builder.has_row(&row.test) {
                continue;
            }
            let (groups, own) = self.in_two(&row.own, row.by_itself.as_ref());
            let (added, added_doubt) = self.added(&row.test)?;
            let (handed, handed_doubt) = self.handed(&handed_on, row);
            let base = &self.bases[row.base];
            let incomplete = row
                .incomplete
                .clone()
                .or_else(|| base.doubt.clone())
                .or_else(|| self.doubt_in(&row.own))
                .or(added_doubt)
                .or(handed_doubt)
                .or_else(|| failed.clone());
            // What it leaves may still turn out to be met by nobody: then its row is whole.
            let is_whole = incomplete.is_none();
            let open = self.recorded.anew.why(&row.test);
            let incomplete = match self.recorded.anew.inexact.contains_key(&row.test) {
                // That comes first: it is compared when it runs once more.
                true => open,
                false => incomplete.or(open),
            };
            if let Some(why) = &incomplete {
                *self.recorded.incomplete.entry(why.clone()).or_default() += 1;
            }
            // What an audit adds, and what comes from other tests, no value stands for.
            let others = || added.into_iter().chain(handed);
            let own = base.own.zip(own).filter(|_| is_whole);
            let groups_of_base = base.groups.clone();
            let own = own.map(|((of_base, in_base), (own, reads))| Own {
                sets: [of_base, own].into_iter().chain(others()).collect(),
                reads: in_base | reads,
                inner: self.inner_of(row, &Vec::from_iter(others())),
            });
            let facts = RowFacts {
                test: TestId::Test(row.test.clone()),
                outcome: row.outcome,
                duration_ms: row.duration_ms,
                position: row.position,
                incomplete,
                run: 0,
                selected: true,
                own,
            };
            let groups = groups_of_base.into_iter().chain(groups).chain(others());
            self.builder.row(facts, groups)?;
        }
        Ok(())
    }

    /// What tests that were left out used for what they wrote and this one read, and why
    /// the row proves nothing, if that cannot be told.
    fn handed(
        &mut self,
        handed_on: &HandedOn<'_>,
        row: &ObservedRow,
    ) -> (Option<GroupRef>, Option<String>) {
        if handed_on.is_empty() {
            return (None, None);
        }
        let base = &self.collected.bases[row.base].units;
        let units = base.iter().chain(&row.own);
        let units = units.map(|at| &self.collected.units[*at as usize]);
        let used = handed_on.used_for(units);
        if used.is_empty() {
            return (None, None);
        }
        let group = self.carry_units(used.into_iter());
        let doubt = group.is_none().then(|| {
            let why = "it read what an earlier run wrote, from something else than there is now";
            why.to_owned()
        });
        (group, doubt)
    }

    /// What audits add to the row of `test`, and why that proves nothing, if so.
    pub(super) fn added(&mut self, test: &str) -> Result<(Option<GroupRef>, Option<String>)> {
        let Some(units) = self.audited.get(test) else {
            return Ok((None, None));
        };
        let mut known = Vec::with_capacity(units.len());
        let mut doubt = None;
        for unit in units {
            let (value, why) = self.tested.value(unit);
            known.push(self.builder.unit(unit.clone(), value)?);
            doubt = doubt.or(why);
        }
        Ok((Some(self.builder.group(known)), doubt))
    }

    fn examine_build(&mut self) -> Result<()> {
        let units: Vec<&Unit> = self.builder.units().collect();
        if let Some(unit) = self.build_of(&units) {
            let unit = self.builder.unit(unit, Fingerprint::MISSING)?;
            self.build = Some(self.builder.group([unit]));
        }
        Ok(())
    }

    /// What is told of the build; `None` where no class file is recorded.
    fn build_of(&self, units: &[&Unit]) -> Option<Unit> {
        units.iter().find(|unit| unit.kind().is_compiled())?;
        let words = &self.recording.ran.words;
        let tree = self.project.tree(self.recording.before);
        let runner = self.project.config.driver;
        let made = runner.is_of_sources(&tree, words, &self.tested.edited, units);
        Some(Unit::of(match made {
            Ok(()) => What::OfSources,
            Err(why) => What::NotOfSources(why.into()),
        }))
    }

    /// What finding the tests depends on: what this run collected, or, if no
    /// runner was started because that was proven to be the same, what the
    /// baseline knew.
    fn add_collection_row(&mut self) -> Result<()> {
        let decision = self.recording.decision;
        if self.collected.bases.is_empty()
            && decision.selection.mode() == Mode::None
            && let Some((matrix, row)) = decision.proof_of_collection()
        {
            self.carry_row(matrix, row)?;
            return Ok(());
        }
        if self
            .recording
            .ran
            .left_out_all(self.project, self.collected)
            && let Some((matrix, row)) = decision.proof_of_collection()
        {
            return self.renew_collection_row(matrix, row);
        }
        let incomplete = match &self.collected.items {
            Some(items) => self
                .doubt_in(&self.collected.collection)
                .or_else(|| self.elsewhere(items)),
            None => {
                let unknown = || "the runner did not finish collecting".to_owned();
                Some(self.collected.doubt.clone().unwrap_or_else(unknown))
            }
        };
        let group = self.group(&self.collected.collection);
        let groups = [group].into_iter().chain(self.build);
        Ok(self.builder.row(collection_facts(incomplete), groups)?)
    }

    /// The same units as before, with the values of now.
    fn renew_collection_row(&mut self, matrix: &Matrix, row: &Row) -> Result<()> {
        let mut incomplete = None;
        let mut known = Vec::new();
        for id in row.sets.iter().flat_map(|set| &matrix.sets[*set as usize]) {
            let unit = matrix.units[*id as usize].0.clone();
            if unit.is_of_build() {
                continue;
            }
            let (value, why) = self.tested.value(&unit);
            incomplete = incomplete.or(why);
            known.push(self.builder.unit(unit, value)?);
        }
        let groups = [self.builder.group(known)].into_iter().chain(self.build);
        Ok(self.builder.row(collection_facts(incomplete), groups)?)
    }

    /// Why this matrix does not know every test that there is: tests were left
    /// out, by a selection made elsewhere or for another machine, and no row of
    /// theirs is here. Who believed that it does would never run them again.
    fn elsewhere(&self, items: &[String]) -> Option<String> {
        let exclusions = self.recording.ran.exclusions;
        let lacking = |tests: &[String]| {
            let lacks = |test: &&String| !self.builder.has_row(test);
            tests.iter().filter(lacks).count()
        };
        let unfinished = lacking(&self.collected.kept);
        if unfinished > 0 {
            let were = verb(unfinished, "was", "were");
            let unfinished = counted(unfinished, "test");
            return Some(format!("{unfinished} {were} to run and did not"));
        }
        let left_out = |test: &&String| exclusions.tests.contains(*test);
        let left_out: Vec<String> = items.iter().filter(left_out).cloned().collect();
        let confirmed: Vec<String> = self.collected.confirmed.keys().cloned().collect();
        if lacking(&confirmed) > 0 {
            return Some(without_result(lacking(&confirmed)));
        }
        match &exclusions.shard {
            Some(of) if lacking(items) > 0 => Some(merge::left_to_others(of.shard)),
            None if lacking(&left_out) > 0 => Some(without_result(lacking(&left_out))),
            Some(_) | None => None,
        }
    }

    /// Rows that the selection proved to hold here, of tests that did not run.
    fn add_carried_rows(&mut self) -> Result<()> {
        let decision = self.recording.decision;
        let ran: BTreeSet<&str> = self
            .collected
            .rows
            .iter()
            .map(|row| row.test.as_str())
            .collect();
        let brought = decision.selection.brought();
        let brought = brought.map(|(test, _, evidence)| (test, evidence));
        let brought = brought.filter(|(test, _)| self.collected.unmet.contains(*test));
        let all: Vec<_> = decision.selection.excluded().chain(brought).collect();
        for (test, evidence) in all {
            let holds = late_holds(evidence, decision, self.collected);
            if ran.contains(test) || self.chosen.gone.contains(test) || !holds {
                continue;
            }
            let why = self.collected.refuted.get(test);
            if why.is_some_and(|why| why != NEEDED && why != ALL) {
                // It meets what others leave anew, and the run ended before its turn.
                self.add_open_row(test, STOPPED)?;
                continue;
            }
            if let Some(matrix) = decision.proof_of(test)
                && let Some(row) = matrix.row(TestId::Test(test))
                && self.carry_row(matrix, row)?
            {
                self.recorded.carried += 1;
            }
        }
        self.add_unmet_rows()
    }

    /// Of tests that did not run once more, as nobody meets anything that they leave, the rows of the
    /// run before: whole, if only that was open.
    fn add_unmet_rows(&mut self) -> Result<()> {
        let decision = self.recording.decision;
        let (Some(anew), Some(baseline)) = (&decision.anew, &decision.baseline) else {
            return Ok(());
        };
        if self.collected.unmet.is_empty() {
            return Ok(());
        }
        let matrix = baseline.matrix.whole()?;
        for test in &self.collected.unmet {
            let row = matrix.row(TestId::Test(test));
            let Some(row) = row.filter(|_| !self.builder.has_row(test)) else {
                continue;
            };
            let is_whole = anew.lacks_only_that(row) && !self.recorded.anew.is_narrow;
            let row = Row {
                incomplete: row.incomplete.clone().filter(|_| !is_whole),
                ..row.clone()
            };
            self.carry_row(matrix, &row)?;
        }
        Ok(())
    }

    /// Takes a row over; not if this run saw one of its units to be different.
    fn carry_row(&mut self, from: &'a Matrix, row: &Row) -> Result<bool> {
        let mut groups = Vec::with_capacity(row.sets.len());
        for set in &row.sets {
            match self.carry_set(from, *set)? {
                Some(group) => groups.push(group),
                None => return Ok(false),
            }
        }
        let own = self.own_of_carried(from, row, &groups);
        if row.test != TestId::Collection {
            self.note_source(from);
        }
        if row.test == TestId::Collection {
            groups.extend(self.build);
        }
        let facts = RowFacts {
            test: row.test.clone(),
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            position: row.position,
            incomplete: row.incomplete.clone(),
            run: self.run(&from.header.runs[row.run as usize]),
            selected: false,
            own,
        };
        self.builder.row(facts, groups)?;
        Ok(true)
    }

    pub(super) fn run(&self, run: &Run) -> u32 {
        let run = Run {
            chose: run.chose && !self.among_all(),
            ..run.clone()
        };
        let at = self.runs.iter().position(|known| *known == run);
        at.unwrap_or_default() as u32
    }
}

fn without_result(tests: usize) -> String {
    let were = verb(tests, "was", "were");
    let tests = counted(tests, "test");
    format!("{tests} {were} left out without a result here")
}

/// What is told of the row that stands for collecting.
fn collection_facts(incomplete: Option<String>) -> RowFacts {
    RowFacts {
        own: None,
        test: TestId::Collection,
        outcome: Outcome::Passed,
        duration_ms: 0,
        position: 0,
        incomplete,
        run: 0,
        selected: true,
    }
}

/// Leaves out the runs of which no row was carried, but never this one.
fn forget_unused_runs(matrix: &mut Matrix) {
    let mut is_used = vec![false; matrix.header.runs.len()];
    is_used[..1].fill(true);
    for row in &matrix.rows {
        is_used[row.run as usize] = true;
    }
    let before = |run: u32| is_used[..run as usize].iter().filter(|used| **used).count();
    let numbers: Vec<usize> = (0..is_used.len() as u32).map(before).collect();
    for row in &mut matrix.rows {
        row.run = numbers[row.run as usize] as u32;
    }
    let mut used = is_used.iter();
    matrix.header.runs.retain(|_| used.next() == Some(&true));
}
