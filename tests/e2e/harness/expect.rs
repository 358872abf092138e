//! The tests that an edit must select, and the consequences for one run.

use std::collections::BTreeSet;

use super::project::{Outcomes, Run, Selection};

pub type Ids = BTreeSet<String>;

/// The tests that an edit must select. A test with `! ` in front of its id fails after the
/// edit: skipping it would give a wrong verdict.
#[derive(Clone, Debug)]
pub enum Expect {
    All,
    Exactly(Vec<&'static str>),
    /// All but the first; the second fail.
    AllBut(Vec<&'static str>, Vec<&'static str>),
    /// At least the first, at most also the second: state that outlives a test may be
    /// attributed to more tests than read it.
    Between(Vec<&'static str>, Vec<&'static str>),
    /// At least these, and any others.
    AtLeast(Vec<&'static str>),
}

/// Every test of the project.
pub const ALL: Expect = Expect::All;
/// No test at all.
pub const NONE: [&str; 0] = [];

impl<const N: usize> From<[&'static str; N]> for Expect {
    fn from(ids: [&'static str; N]) -> Expect {
        Expect::Exactly(ids.to_vec())
    }
}

/// All tests but the first; those of `failing` (without a mark) fail.
pub fn all_but<const N: usize, const M: usize>(
    these: [&'static str; N],
    failing: [&'static str; M],
) -> Expect {
    Expect::AllBut(these.to_vec(), failing.to_vec())
}

/// At least `lower`; the tests of `besides` are allowed.
pub fn between<const N: usize, const M: usize>(
    lower: [&'static str; N],
    besides: [&'static str; M],
) -> Expect {
    Expect::Between(lower.to_vec(), besides.to_vec())
}

/// At least these, and any others.
pub fn at_least<const N: usize>(these: [&'static str; N]) -> Expect {
    Expect::AtLeast(these.to_vec())
}

/// An [`Expect`] resolved for a project.
pub struct Bounds {
    lower: Ids,
    upper: Ids,
    /// The failing tests, if the table names them.
    failing: Option<Ids>,
    /// Tests of the table that pytest does not know.
    unknown: Ids,
}

/// An id without its mark.
fn id(marked: &str) -> &str {
    marked.strip_prefix("! ").unwrap_or(marked)
}

fn ids(marked: &[&str]) -> Ids {
    marked.iter().map(|test| id(test).to_owned()).collect()
}

fn marked(tests: &[&str]) -> Ids {
    let failing = tests.iter().filter_map(|test| test.strip_prefix("! "));
    failing.map(str::to_owned).collect()
}

impl Bounds {
    /// `always` are tests that also run; `plain` has all tests.
    pub fn of(expect: &Expect, always: &[&str], plain: &Outcomes) -> Bounds {
        let all: Ids = plain.keys().cloned().collect();
        let (lower, upper, failing, named) = match expect {
            Expect::All => (all.clone(), all.clone(), None, Ids::new()),
            Expect::Exactly(tests) => {
                let tests_ids = ids(tests);
                (
                    tests_ids.clone(),
                    tests_ids.clone(),
                    Some(marked(tests)),
                    tests_ids,
                )
            }
            Expect::AllBut(these, failing) => {
                let rest = &all - &ids(these);
                let named = &ids(these) | &ids(failing);
                (rest.clone(), rest, Some(ids(failing)), named)
            }
            Expect::Between(tests, besides) => {
                let (lower, besides) = (ids(tests), ids(besides));
                let upper = &lower | &besides;
                (lower, upper.clone(), Some(marked(tests)), upper)
            }
            Expect::AtLeast(tests) => (ids(tests), all.clone(), Some(marked(tests)), ids(tests)),
        };
        Bounds {
            lower: &lower | &ids(always),
            upper: &upper | &ids(always),
            failing: failing.map(|failing| &failing | &marked(always)),
            unknown: &(&named | &ids(always)) - &all,
        }
    }

    /// The same for who may select any others, too.
    pub fn without_upper(mut self, plain: &Outcomes) -> Bounds {
        self.upper = plain.keys().cloned().collect();
        self
    }

    /// The table must be correct about the project before tamis is judged.
    pub fn check_table(&self, plain: &Outcomes) -> Vec<String> {
        let mut wrong = Vec::new();
        if !self.unknown.is_empty() {
            let known = plain.keys();
            wrong.push(format!("pytest has no {:?}, but {known:?}", self.unknown));
        }
        let failing = failures(plain);
        if let Some(expected) = &self.failing
            && *expected != failing
        {
            wrong.push(format!("{expected:?} should fail, and {failing:?} do"));
        }
        wrong
    }

    /// Compares the tests that ran; with those that values excused, where the table says
    /// what is to be selected.
    pub fn check_run(&self, run: &Run, plain: &Outcomes, by_value: bool) -> Vec<String> {
        let ran: Ids = run.outcomes.keys().cloned().collect();
        let excused = run.selection.confirmed.iter().filter(|_| !by_value);
        let compared: Ids = ran.iter().chain(excused).cloned().collect();
        let mut wrong = self.compare("ran", &compared, &run.selection);
        for id in run.selection.selected.keys() {
            let is_excused = ran.contains(id) || run.selection.confirmed.contains(id);
            if !is_excused && plain.contains_key(id) {
                wrong.push(format!("{id} was selected, but did not run"));
            }
        }
        let failed = run.outcomes.values().any(|outcome| is_failure(outcome));
        if run.code != i32::from(failed) {
            wrong.push(format!("exit status {}", run.code));
        }
        if !wrong.is_empty() {
            wrong.push(format!("mode {}\n{}", run.selection.mode, run.told()));
        }
        wrong
    }

    /// `select` must leave in the same tests as `run`: all that it does not exclude.
    pub fn check_select(&self, select: &Selection, plain: &Outcomes) -> Vec<String> {
        let left_in: Ids = plain
            .keys()
            .filter(|&id| !select.excluded.contains_key(id))
            .cloned()
            .collect();
        self.compare("select leaves in", &left_in, select)
    }

    fn compare(&self, what: &str, got: &Ids, selection: &Selection) -> Vec<String> {
        let why = |id: &String| match (selection.selected.get(id), selection.excluded.get(id)) {
            (Some(_), _) if selection.confirmed.contains(id) => "confirmed".to_owned(),
            (Some(reason), _) => match selection.refuted.get(id) {
                Some(refuted) => format!("refuted: {refuted}"),
                None => format!("selected: {reason}"),
            },
            (None, Some(evidence)) => format!("excluded: {evidence}"),
            (None, None) => "neither selected nor excluded".to_owned(),
        };
        let missed = self.lower.difference(got);
        let needless = got.difference(&self.upper);
        missed
            .map(|id| format!("{what}: MISSED {id}: {}", why(id)))
            .chain(needless.map(|id| format!("{what}: needless {id}: {}", why(id))))
            .collect()
    }
}

/// The safety check, which needs no expectation: after the run, the latest known outcome of
/// each test is that of running everything.
pub fn unsafe_skips(before: &Outcomes, run: &Run, plain: &Outcomes) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, now) in plain {
        match (run.outcomes.get(id), before.get(id)) {
            (Some(ran), _) if ran == now => {}
            (Some(ran), _) => wrong.push(format!("{id}: {ran} under tamis, {now} in plain pytest")),
            (None, Some(last)) if last == now => {}
            (None, last) => wrong.push(format!("UNSAFE {id}: skipped at {last:?}, but {now}")),
        }
    }
    wrong
}

fn is_failure(outcome: &str) -> bool {
    matches!(outcome, "failed" | "error")
}

/// The tests that failed.
pub fn failures(outcomes: &Outcomes) -> Ids {
    let failing = outcomes.iter().filter(|(_, outcome)| is_failure(outcome));
    failing.map(|(id, _)| id.clone()).collect()
}
