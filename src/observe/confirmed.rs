//! Tests that the test process left out because the values that they read are those of the
//! record: what their results depend on now.
//!
//! Their own units are those of the record. Beside them, everything counts that makes the
//! state which they can read: modules that were imported, and those that changed state of
//! these. Of all of them whatever they do at import counts, as nobody saw the test run here.

use std::collections::BTreeSet;
use std::rc::Rc;

use bstr::{BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::graph::{NodeId, SESSION};
use super::observations::{Base, Confirmed};
use super::own::Part;
use super::rows::Closing;
use super::trace::Trace;
use super::walk::Known;
use crate::languages::{Place, language_of};
use crate::matrix::{Fingerprint, LeftIn, Unit};

/// What is known of a test by the row that it was confirmed by.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastRow {
    /// The paths of sources that it has units of, by set; rows share their sets.
    pub modules: Vec<Rc<BTreeSet<BString>>>,
    /// Whether docstrings are among these.
    pub docstrings: bool,
}

/// The rows of tests that were left out.
pub(crate) trait LastRows {
    /// That by which a test was left out; at its turn, if it `is_tied`.
    fn of(&self, test: &str, is_tied: bool) -> Option<LastRow>;

    /// The own units of a test that was left out, whyever that was, with those of earlier ones.
    fn own(&self, test: &str) -> Option<Vec<(Unit, Fingerprint)>>;

    /// The paths of sources that it has units of.
    fn modules(&self, test: &str) -> BTreeSet<BString>;

    /// Whether a test that ran proves nothing in the record `run` either, and leaves no more than it
    /// left there: then the rows there tell who meets what it leaves.
    fn was_doubtful(&self, run: &str, test: &str, left: &[LeftIn]) -> bool;
}

/// A run in which no test was left out.
pub(super) struct NoRows;

impl LastRows for NoRows {
    fn of(&self, _: &str, _: bool) -> Option<LastRow> {
        None
    }

    fn own(&self, _: &str) -> Option<Vec<(Unit, Fingerprint)>> {
        None
    }

    fn modules(&self, _: &str) -> BTreeSet<BString> {
        BTreeSet::new()
    }

    fn was_doubtful(&self, _: &str, _: &str, _: &[LeftIn]) -> bool {
        false
    }
}

/// A test that was left out.
pub(super) struct LeftOut {
    pub test: String,
    pub file: BString,
    /// Whether that was at its turn, for what earlier tests leave.
    pub is_settled: bool,
    /// Whether it ran all the same, for what it leaves.
    pub has_run: bool,
}

/// By what two tests depend on the same: nodes to start from, whether docstrings count, and whether
/// what earlier tests left does, of which the values are known.
type Like = (Vec<NodeId>, bool, bool);

/// What is found out of one test and holds for others.
struct Alike {
    /// By path as units have it, the import of each module.
    imports: FxHashMap<BString, NodeId>,
    /// By the address of a set of paths, which is kept: the imports of these.
    starts: FxHashMap<usize, (Rc<BTreeSet<BString>>, Vec<NodeId>)>,
    known: FxHashMap<Like, Confirmed>,
}

impl Alike {
    fn starts(&mut self, paths: &Rc<BTreeSet<BString>>) -> &[NodeId] {
        let key = Rc::as_ptr(paths) as usize;
        let found = || {
            paths
                .iter()
                .filter_map(|path| self.imports.get(path))
                .copied()
        };
        let known = self.starts.entry(key);
        &known
            .or_insert_with(|| (Rc::clone(paths), found().collect()))
            .1
    }
}

impl Closing<'_> {
    /// Notes which tests a process left out, or could have left out.
    pub(super) fn note_taking(&mut self, trace: &Trace, prefix: &str) {
        let taking = &trace.taking;
        let rootdir = trace.config.as_ref().and_then(|one| one.rootdir.as_ref());
        let all = [
            (&taking.confirmed, false, false),
            (&taking.settled, true, false),
            (&taking.same_confirmed, false, true),
            (&taking.same_settled, true, true),
        ];
        let all = all.into_iter().flat_map(|(tests, is_settled, has_run)| {
            tests.iter().map(move |test| (test, is_settled, has_run))
        });
        for (test, is_settled, has_run) in all {
            let mut file = rootdir.cloned().unwrap_or_default();
            file.push(b'/');
            let path = test.split("::").next().unwrap_or_default();
            file.extend_from_slice(path.as_bytes());
            let test = format!("{prefix}{test}");
            self.left_out.push(LeftOut {
                test,
                file,
                is_settled,
                has_run,
            });
        }
        self.observed.is_not_compared |= taking.is_not_compared;
        let unmet = taking.unmet.iter();
        let unmet = unmet.map(|test| format!("{prefix}{test}"));
        self.observed.unmet.extend(unmet);
        let refuted = taking.refuted.iter();
        let refuted = refuted.map(|(test, why)| (format!("{prefix}{test}"), why.clone()));
        self.observed.refuted.extend(refuted);
    }

    /// Says of each test that was left out what it depends on. `last` tells of the row that
    /// it was confirmed by.
    pub(super) fn confirmed(&mut self, last: &dyn LastRows) {
        let left_out = std::mem::take(&mut self.left_out);
        let (settled, others): (Vec<_>, Vec<_>) =
            left_out.into_iter().partition(|one| one.is_settled);
        self.describe(others, None, last);
        if settled.is_empty() {
            return;
        }
        let known = self.take_known_doubts(last);
        let ties = self.all_who_left();
        self.describe(settled, Some(&ties), last);
        for (node, why) in known {
            self.run.graph.nodes[node as usize].incomplete = Some(why);
        }
    }

    /// Takes the doubts about tests away that were doubtful in the record by which tests were settled,
    /// too: the rows of those that met what such a test left prove nothing there, so that others did
    /// not meet it.
    fn take_known_doubts(&mut self, last: &dyn LastRows) -> Vec<(NodeId, String)> {
        let mut found = Vec::new();
        let Some(settled_by) = self.observed.settled_by.clone() else {
            return found;
        };
        for (at, trace) in self.run.traces.iter().enumerate() {
            let language = &self.languages[language_of(&trace.open.collector)];
            let prefix = language.id_prefix(&self.run, trace);
            for begin in &trace.begins {
                let Some(node) = self.run.graph.node_of(at, begin.scope) else {
                    continue;
                };
                let test = format!("{prefix}{}", begin.test);
                let left = self.observed.left.get(&test).map_or(&[][..], Vec::as_slice);
                let doubt = &mut self.run.graph.nodes[node as usize].incomplete;
                if doubt.is_some() && last.was_doubtful(&settled_by, &test, left) {
                    found.extend(doubt.take().map(|why| (node, why)));
                }
            }
        }
        found
    }

    /// Says of tests that were left out what they depend on; `ties`: of those that were left out at their
    /// turn, what all that left something need, and why that may lack some.
    fn describe(
        &mut self,
        left_out: Vec<LeftOut>,
        ties: Option<&(usize, Option<String>)>,
        last: &dyn LastRows,
    ) {
        if left_out.is_empty() {
            return;
        }
        let mut alike = Alike {
            imports: self.imports_by_path(),
            starts: FxHashMap::default(),
            known: FxHashMap::default(),
        };
        for LeftOut {
            test,
            file,
            is_settled,
            has_run,
        } in left_out
        {
            let mut on_row = |row, is_tied| self.on_row(&file, row, is_tied, &mut alike);
            // Earlier tests were left out, too, so nobody saw what they need.
            let mut confirmed = on_row(last.of(&test, false), true);
            confirmed.inner_base = match is_settled {
                // Earlier tests did not run here, and their modules have nothing to do with it.
                true => on_row(last.of(&test, true), false).base,
                false => confirmed.base,
            };
            if let Some((base, doubt)) = ties {
                confirmed.ties = Some(*base);
                confirmed.incomplete = confirmed.incomplete.or_else(|| doubt.clone());
            }
            match has_run {
                true => self.observed.unchanged.insert(test, confirmed),
                false => self.observed.confirmed.insert(test, confirmed),
            };
        }
    }

    /// What a test of `file` depends on by the row that it was confirmed by.
    fn on_row(
        &mut self,
        file: &BString,
        row: Option<LastRow>,
        is_tied: bool,
        alike: &mut Alike,
    ) -> Confirmed {
        let (Some(collect), Some(row)) = (self.run.graph.collects.get(file), row) else {
            return Confirmed {
                base: None,
                inner_base: None,
                ties: None,
                incomplete: Some("it was left out, and nothing tells by what".to_owned()),
            };
        };
        let mut starts = vec![SESSION, *collect];
        for language in &self.languages {
            starts.extend(language.around(&self.run, file.as_bstr()));
        }
        for paths in &row.modules {
            starts.extend(alike.starts(paths));
        }
        starts.sort_unstable();
        starts.dedup();
        let like = (starts, row.docstrings, is_tied);
        if let Some(confirmed) = alike.known.get(&like) {
            return confirmed.clone();
        }
        let confirmed = self.grounds(&like, &alike.imports);
        alike.known.insert(like, confirmed.clone());
        confirmed
    }

    /// By path as units have it, the import of each module.
    pub(super) fn imports_by_path(&self) -> FxHashMap<BString, NodeId> {
        let imports = self.run.graph.imports.iter();
        let placed = imports.map(|(file, node)| {
            let (Place::Inside(path) | Place::Outside(path)) = self.run.facts.place(file.as_bstr());
            (path, *node)
        });
        placed.collect()
    }

    /// A base for tests that were left out.
    fn grounds(&mut self, like: &Like, imports: &FxHashMap<BString, NodeId>) -> Confirmed {
        let mut starts = like.0.clone();
        let session = self.of_session();
        let searches = self.searches(&starts);
        let (reached, known) = loop {
            let mut paths = self.run.paths();
            if !like.2 {
                paths.closed = self.by_value.clone();
            }
            let reached = paths.reach(&starts, Some(&session.known));
            let known = paths.known(&reached, Some(session.known.clone()));
            let more = self.changers(&known, imports);
            if more.is_empty() {
                break (reached, known);
            }
            starts.extend(more);
        };
        let mut units = self.on_session(&reached);
        let part = Part {
            nodes: &reached,
            units: &units,
            searches: &searches,
        };
        let mut by_itself = self.own_on_session(part);
        let imported: Vec<NodeId> = imports
            .values()
            .filter(|node| known.has(**node))
            .copied()
            .collect();
        for language in &mut self.languages {
            units.extend(language.left_by(&mut self.run, &imported, like.1));
        }
        units.sort_unstable();
        units.dedup();
        if let (Some((own, _)), Some(owning)) = (&mut by_itself, &self.owning) {
            let is_by_value = |unit: &u32| owning.is_by_value(self.run.table.get(*unit));
            own.extend(units.iter().filter(|unit| !is_by_value(unit)));
            own.sort_unstable();
            own.dedup();
        }
        self.observed.bases.push(Base { units, by_itself });
        let doubt = self.run.doubt_in(&reached);
        Confirmed {
            base: Some(self.observed.bases.len() - 1),
            inner_base: None,
            ties: None,
            incomplete: doubt.or(session.incomplete),
        }
    }

    /// What stands for the tests that left something.
    fn who_left(&self) -> Vec<NodeId> {
        if self.observed.is_whole {
            return self.by_value.clone().collect();
        }
        let traces = self.run.traces.iter().enumerate();
        let of_trace = traces.flat_map(|(at, trace)| {
            let scopes = trace.taking.left.iter().map(|(scope, _)| *scope);
            scopes.filter_map(move |scope| self.run.graph.node_of(at, scope))
        });
        let found: BTreeSet<NodeId> = of_trace.collect();
        found.into_iter().collect()
    }

    /// A base with all tests that left something, and why it may lack some of that.
    fn all_who_left(&mut self) -> (usize, Option<String>) {
        let starts = self.who_left();
        let session = self.of_session();
        let reached = self.run.paths().reach(&starts, Some(&session.known));
        let units = self.on_session(&reached);
        let searches = self.searches(&starts);
        let part = Part {
            nodes: &reached,
            units: &units,
            searches: &searches,
        };
        let by_itself = self.own_on_session(part);
        self.observed.bases.push(Base { units, by_itself });
        (self.observed.bases.len() - 1, self.run.doubt_in(&reached))
    }

    /// Imports and searches for tests that changed state of modules that are `known`, or
    /// state that is no module's, and are not known.
    fn changers(&self, known: &Known, imports: &FxHashMap<BString, NodeId>) -> Vec<NodeId> {
        let of_known = self.changed.iter().filter(|cell| {
            let module = imports.get(cell.path.as_bstr());
            module.is_none_or(|module| known.has(*module))
        });
        let changers = of_known.flat_map(|cell| &cell.by);
        let new: BTreeSet<NodeId> = changers.filter(|by| !known.has(**by)).copied().collect();
        new.into_iter().collect()
    }
}
