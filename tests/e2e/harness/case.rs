//! One row of the edit table: a project, and for each edit the tests that it
//! must select. Each edit starts from the same recorded base.

use std::collections::BTreeSet;

use super::change::Change;
use super::project::{Outcomes, Project, Run, Selection};
use super::python::{Python, Wanted};

type Ids = BTreeSet<String>;

/// Which tests an edit must select. An id that begins with `! ` is of a test
/// that fails after the edit: skipping it would be a wrong verdict.
#[derive(Clone, Debug)]
pub enum Expect {
    All,
    Exactly(Vec<&'static str>),
    /// At least the first, and at most the second besides: where state that
    /// outlives a test may be attributed to more tests than read it.
    Between(Vec<&'static str>, Vec<&'static str>),
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

impl Expect {
    /// Allows these tests besides.
    pub fn or_also<const N: usize>(self, besides: [&'static str; N]) -> Expect {
        match self {
            Expect::All => Expect::All,
            Expect::Exactly(lower) => Expect::Between(lower, besides.to_vec()),
            Expect::Between(lower, more) => {
                Expect::Between(lower, [more, besides.to_vec()].concat())
            }
        }
    }
}

/// At least `lower`; the tests of `besides` are allowed.
pub fn between<const N: usize, const M: usize>(
    lower: [&'static str; N],
    besides: [&'static str; M],
) -> Expect {
    Expect::from(lower).or_also(besides)
}

struct Edit {
    what: &'static str,
    changes: Vec<Change>,
    expect: Expect,
    /// What the reason of a selected test must say: (test id, text).
    because: Vec<(&'static str, &'static str)>,
    /// Only the test step can see the change.
    late: bool,
}

/// A project with edits.
pub struct Case {
    files: &'static str,
    own_venv: bool,
    cwd: &'static str,
    setup: Vec<Change>,
    /// Tests that run at every selection, and whether they fail.
    always: Vec<&'static str>,
    edits: Vec<Edit>,
}

impl Case {
    /// A case on the files of `text` (see [`super::text::files`]).
    pub fn new(text: &'static str) -> Case {
        Case {
            files: text,
            own_venv: false,
            cwd: "",
            setup: Vec::new(),
            always: Vec::new(),
            edits: Vec::new(),
        }
    }

    /// Changes to make before the base is committed.
    pub fn setup(mut self, changes: impl Into<Vec<Change>>) -> Case {
        self.setup.extend(changes.into());
        self
    }

    /// Gives the project a virtual environment of its own.
    pub fn own_venv(mut self) -> Case {
        self.own_venv = true;
        self
    }

    /// Runs the commands in this folder of the project.
    pub fn cwd(mut self, folder: &'static str) -> Case {
        self.cwd = folder;
        self
    }

    /// These tests run whatever was edited: they fail, or what they used
    /// cannot be known. They are added to every edit's expectation.
    pub fn always<const N: usize>(mut self, tests: [&'static str; N]) -> Case {
        self.always = tests.to_vec();
        self
    }

    pub fn edit(
        mut self,
        what: &'static str,
        changes: impl Into<Vec<Change>>,
        expect: impl Into<Expect>,
    ) -> Case {
        self.edits.push(Edit {
            what,
            changes: changes.into(),
            expect: expect.into(),
            because: Vec::new(),
            late: false,
        });
        self
    }

    /// The last edit is one that only the test step can see (an environment
    /// variable, an installed package).
    pub fn late(mut self) -> Case {
        self.edits.last_mut().unwrap().late = true;
        self
    }

    /// The reason for which the last edit selects `test` contains `text`.
    pub fn because(mut self, test: &'static str, text: &'static str) -> Case {
        self.edits.last_mut().unwrap().because.push((test, text));
        self
    }

    /// Runs the case; panics with all that is wrong in it.
    pub fn check(&self, python: &Python) {
        let mut project = Project::new(python, self.files);
        project.cwd = self.cwd.to_owned();
        if self.own_venv {
            project.make_own_venv();
        }
        for change in &self.setup {
            change.apply(&mut project);
        }
        project.commit("set up");

        let mut wrong = self.check_base(&mut project);
        let base = project.snapshot();
        for edit in &self.edits {
            project.restore(&base);
            for change in &edit.changes {
                change.apply(&mut project);
            }
            let found = self.check_edit(&mut project, edit);
            wrong.extend(
                found
                    .into_iter()
                    .map(|what| format!("{}: {what}", edit.what)),
            );
        }
        assert!(wrong.is_empty(), "{python}\n{}", wrong.join("\n"));
    }

    /// The first run: everything runs, with plain pytest's outcomes.
    fn check_base(&self, project: &mut Project) -> Vec<String> {
        let plain = project.plain();
        let mut wrong = Vec::new();
        let failing: Ids = failures(&plain);
        let declared: Ids = self
            .always
            .iter()
            .filter_map(|id| id.strip_prefix("! "))
            .map(Into::into)
            .collect();
        if failing != declared {
            wrong.push(format!("base: {failing:?} fail and {declared:?} should"));
        }
        if !only_plain() {
            let run = project.run();
            if run.outcomes != plain {
                wrong.push(format!(
                    "base: {:?} and not {plain:?}\n{}",
                    run.outcomes, run.stderr
                ));
            }
        }
        wrong
    }

    fn check_edit(&self, project: &mut Project, edit: &Edit) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut bounds = Bounds::of(&edit.expect);
        bounds.add(&self.always);
        let before = project.last.clone();
        if only_plain() {
            wrong.extend(bounds.check_outcomes(&project.plain()));
            return wrong;
        }
        let select = project.select();
        let run = project.run();
        let plain = project.plain();
        wrong.extend(bounds.check_outcomes(&plain));
        wrong.extend(bounds.check_run(&run, &plain, &before));
        if !edit.late {
            wrong.extend(bounds.check_select(&select, &plain));
        }
        for (test, text) in &edit.because {
            let reason = run.selection.selected.get(*test).map(ToString::to_string);
            if !reason.as_ref().is_some_and(|reason| reason.contains(text)) {
                wrong.push(format!(
                    "{test} should be selected because of {text:?}, not {reason:?}"
                ));
            }
        }
        wrong.extend(unsafe_skips(&before, &run, &plain));
        wrong
    }
}

/// Checks the table itself, without tamis: that the projects run, and that
/// the tests which are said to fail after an edit do.
fn only_plain() -> bool {
    std::env::var_os("TAMIS_E2E_PLAIN").is_some()
}

/// An [`Expect`] resolved: `None` means every test.
struct Bounds {
    lower: Option<Ids>,
    upper: Option<Ids>,
    failing: Option<Ids>,
}

impl Bounds {
    fn of(expect: &Expect) -> Bounds {
        let ids = |marked: &[&str]| -> Ids {
            marked
                .iter()
                .map(|id| id.trim_start_matches("! ").to_owned())
                .collect()
        };
        let (lower, besides): (&[&str], &[&str]) = match expect {
            Expect::All => {
                return Bounds {
                    lower: None,
                    upper: None,
                    failing: None,
                };
            }
            Expect::Exactly(tests) => (tests, &[]),
            Expect::Between(tests, besides) => (tests, besides),
        };
        let failing = lower.iter().filter_map(|id| id.strip_prefix("! "));
        Bounds {
            lower: Some(ids(lower)),
            upper: Some(&ids(lower) | &ids(besides)),
            failing: Some(failing.map(Into::into).collect()),
        }
    }

    /// Adds tests to both bounds.
    fn add(&mut self, tests: &[&str]) {
        for test in tests {
            let id = test.trim_start_matches("! ");
            for set in [&mut self.lower, &mut self.upper].into_iter().flatten() {
                set.insert(id.to_owned());
            }
            if let (Some(failing), true) = (&mut self.failing, test.starts_with("! ")) {
                failing.insert(id.to_owned());
            }
        }
    }

    /// The table must be right about the project before tamis is judged.
    fn check_outcomes(&self, plain: &Outcomes) -> Vec<String> {
        let mut wrong = Vec::new();
        for id in self.upper.iter().flatten() {
            if !plain.contains_key(id) {
                wrong.push(format!(
                    "the table names {id}, pytest has {:?}",
                    plain.keys()
                ));
            }
        }
        let failing = failures(plain);
        if let Some(expected) = &self.failing
            && *expected != failing
        {
            wrong.push(format!(
                "the table says that {expected:?} fail, but {failing:?} do"
            ));
        }
        wrong
    }

    /// Compares the tests that ran.
    fn check_run(&self, run: &Run, plain: &Outcomes, before: &Outcomes) -> Vec<String> {
        let ran: Ids = run.outcomes.keys().cloned().collect();
        let mut wrong = self.compare("ran", &ran, plain, |id| {
            match run.selection.selected.get(id) {
                Some(reason) => reason.to_string(),
                None => match run.selection.excluded.get(id) {
                    Some(evidence) => format!("excluded: {evidence}"),
                    None => "neither selected nor excluded".to_owned(),
                },
            }
        });
        for id in run.selection.selected.keys() {
            if !ran.contains(id) && plain.contains_key(id) {
                wrong.push(format!("{id} was selected, but did not run"));
            }
        }
        let failed = ran.iter().any(|id| is_failure(&run.outcomes[id]));
        if run.code != i32::from(failed) {
            wrong.push(format!("exit status {}", run.code));
        }
        if !wrong.is_empty() {
            let known = before.len();
            wrong.push(format!(
                "mode {}, {known} tests known\n{}",
                run.selection.mode, run.stderr
            ));
        }
        wrong
    }

    /// `select` must allow the same tests as `run`: those that it does not
    /// exclude.
    fn check_select(&self, select: &Selection, plain: &Outcomes) -> Vec<String> {
        let would_run: Ids = plain
            .keys()
            .filter(|&id| !select.excluded.contains_key(id))
            .cloned()
            .collect();
        self.compare("select leaves in", &would_run, plain, |id| {
            format!(
                "{:?} {:?}",
                select.selected.get(id),
                select.excluded.get(id)
            )
        })
    }

    fn compare(
        &self,
        what: &str,
        got: &Ids,
        plain: &Outcomes,
        why: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let all: Ids = plain.keys().cloned().collect();
        let lower = self.lower.as_ref().unwrap_or(&all);
        let upper = self.upper.as_ref().unwrap_or(&all);
        let missed = lower
            .difference(got)
            .map(|id| format!("{what}: MISSED {id}: {}", why(id)));
        let needless = got
            .difference(upper)
            .map(|id| format!("{what}: needless {id}: {}", why(id)));
        missed.chain(needless).collect()
    }
}

/// The safety check, which needs no expectation: after the run, the latest
/// outcome known of each test is the one that running everything gives.
fn unsafe_skips(before: &Outcomes, run: &Run, plain: &Outcomes) -> Vec<String> {
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

fn failures(outcomes: &Outcomes) -> Ids {
    let failing = outcomes.iter().filter(|(_, outcome)| is_failure(outcome));
    failing.map(|(id, _)| id.clone()).collect()
}

/// Runs `check` on each interpreter of the table that `wanted` names.
pub fn on_all_interpreters(wanted: Wanted, check: impl Fn(&Python)) {
    for python in Python::find(wanted) {
        check(&python);
    }
}

/// Makes the tests of functions that return a [`Case`]: each on the newest
/// interpreter, on 3.11, and by `TAMIS_E2E_ALL=1` on the others.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        $(mod $name {
            use crate::harness::{Wanted, on_all_interpreters};

            #[test]
            fn newest() {
                on_all_interpreters(Wanted::Newest, |python| super::$name().check(python));
            }

            #[test]
            fn python_3_11() {
                on_all_interpreters(Wanted::Minor(11), |python| super::$name().check(python));
            }

            #[test]
            fn others() {
                on_all_interpreters(Wanted::Others, |python| super::$name().check(python));
            }
        })*
    };
}
pub(crate) use cases;
