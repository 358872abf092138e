//! One row of the edit table: a project, and for each edit the tests that it must select. Each
//! edit starts from the same recorded base.

use std::borrow::Cow;

use super::change::Change;
use super::expect::{Bounds, Expect, Ids, failures, unsafe_skips};
use super::project::Project;
use super::python::{Python, Wanted};

struct Edit {
    what: &'static str,
    changes: Vec<Change>,
    expect: Expect,
    /// The text in the reason of a selected test: (test id, text).
    because: Vec<(&'static str, &'static str)>,
    /// Whether only the test step can see the change.
    late: bool,
}

/// A project with edits.
pub struct Case {
    files: Cow<'static, str>,
    own_venv: bool,
    plugins: bool,
    cwd: &'static str,
    by_value: bool,
    /// The first minor version of Python 3 for which it holds.
    since: u32,
    setup: Vec<Change>,
    /// Tests that run at every selection, and whether they fail.
    always: Vec<&'static str>,
    edits: Vec<Edit>,
}

impl Case {
    /// A case on the files of `text` (see [`super::text::files`]).
    pub fn new(text: impl Into<Cow<'static, str>>) -> Case {
        Case {
            files: text.into(),
            own_venv: false,
            plugins: false,
            by_value: false,
            cwd: "",
            since: 0,
            setup: Vec::new(),
            always: Vec::new(),
            edits: Vec::new(),
        }
    }

    /// Leaves out interpreters below this minor version of Python 3.
    pub fn since(mut self, minor: u32) -> Case {
        self.since = minor;
        self
    }

    /// Changes before the base is committed.
    pub fn setup(mut self, changes: impl Into<Vec<Change>>) -> Case {
        self.setup.extend(changes.into());
        self
    }

    /// Gives the project a virtual environment of its own.
    pub fn own_venv(mut self) -> Case {
        self.own_venv = true;
        self
    }

    /// The tests use plug-ins of pytest.
    pub fn plugins(mut self) -> Case {
        self.plugins = true;
        self
    }

    /// Tests are left out that only the test step can confirm: `select` has them.
    pub fn by_value(mut self) -> Case {
        self.by_value = true;
        self
    }

    /// Runs the commands in this folder of the project.
    pub fn cwd(mut self, folder: &'static str) -> Case {
        self.cwd = folder;
        self
    }

    /// These tests always run: they fail, or their dependencies cannot be known. They are
    /// added to every edit's expectation.
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

    /// Only the test step can see the last edit (an environment variable, an installed
    /// package).
    pub fn late(mut self) -> Case {
        self.edits.last_mut().unwrap().late = true;
        self
    }

    /// The reason for which the last edit selects `test` contains `text`.
    pub fn because(mut self, test: &'static str, text: &'static str) -> Case {
        self.edits.last_mut().unwrap().because.push((test, text));
        self
    }

    /// Runs the case, and panics with all errors in it.
    pub fn check(&self, python: &Python) {
        if python.minor < self.since {
            return;
        }
        let plugins = self.plugins.then(|| python.with_plugins());
        let Some(python) = plugins.as_ref().map_or(Some(python), Option::as_ref) else {
            return;
        };
        let mut project = Project::new(python, &self.files);
        project.cwd = self.cwd.to_owned();
        // To run them again takes as long as all the rest. `order` has tests of it.
        project.failures_stay = !everything();
        if self.own_venv {
            project.make_own_venv();
        }
        for change in &self.setup {
            change.apply(&mut project);
        }
        project.commit("set up");

        let mut wrong = self.check_base(&mut project);
        let base = project.snapshot();
        let (few, every) = (self.edits.len() <= FEW, everything());
        // Cases that look alike try other ones.
        let first = self.edits.iter().map(|edit| edit.what.len()).sum::<usize>() % SHARE;
        for (at, edit) in self.edits.iter().enumerate() {
            if !few && !every && at % SHARE != first {
                continue;
            }
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

    /// The first run: everything runs, with the outcomes of plain pytest.
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
        if only_plain() {
            let plain = project.plain();
            return Bounds::of(&edit.expect, &self.always, &plain).check_table(&plain);
        }
        let before = project.last.clone();
        let select = project.select();
        let run = project.run();
        let plain = project.plain();
        let bounds = Bounds::of(&edit.expect, &self.always, &plain);
        let mut wrong = unsafe_skips(&before, &run, &plain);
        wrong.extend(bounds.check_table(&plain));
        wrong.extend(bounds.check_run(&run, &plain, self.by_value));
        if !edit.late {
            let bounds = match self.by_value {
                true => bounds.without_upper(&plain),
                false => bounds,
            };
            wrong.extend(bounds.check_select(&select, &plain));
        }
        for (test, text) in &edit.because {
            let reason = run.selection.selected.get(*test).map(ToString::to_string);
            if !reason.as_ref().is_some_and(|reason| reason.contains(text)) {
                wrong.push(format!("{test}: the reason must say {text:?}: {reason:?}"));
            }
        }
        wrong
    }
}

/// Of a case with more edits, one in three is tried where `.ci/all` tries each.
const FEW: usize = 3;
const SHARE: usize = 3;

/// Whether to try all that a test could: `.ci/all` does.
pub fn everything() -> bool {
    std::env::var_os("TAMIS_E2E_ALL").is_some()
}

/// How many of a list there are to one that is tried: `.ci/all` tries each.
pub fn one_in(some: usize) -> usize {
    if everything() { 1 } else { some }
}

/// Whether to check only the table, without tamis: that the projects run, and that the tests
/// fail which must fail after an edit.
fn only_plain() -> bool {
    std::env::var_os("TAMIS_E2E_PLAIN").is_some()
}

/// Runs `check` on each interpreter in `wanted`.
pub fn on_all_interpreters(wanted: Wanted, check: impl Fn(&Python)) {
    for python in Python::find(wanted) {
        check(&python);
    }
}

/// The same with plug-ins of pytest.
pub fn with_plugins(wanted: Wanted, check: impl Fn(&Python)) {
    for python in Python::find(wanted).iter().filter_map(Python::with_plugins) {
        check(&python);
    }
}

/// Makes tests of functions that return a [`Case`]: on the newest interpreter, on 3.11 and on
/// all others. On 3.11 `cargo test` runs only the cases behind `version_sensitive:`. There the
/// collector sees them in another way (a frame evaluation hook instead of `sys.monitoring`),
/// or Python itself differs. `.ci/all` runs all of them.
macro_rules! cases {
    ($($name:ident),* $(,)? $(; version_sensitive: $($sensitive:ident),+ $(,)?)?) => {
        $(crate::harness::case!($name #[ignore = "the second interpreter: `.ci/all` has it"]);)*
        $($(crate::harness::case!($sensitive);)+)?
    };
}
pub(crate) use cases;

macro_rules! case {
    ($name:ident $(#[$second:meta])?) => {
        mod $name {
            use crate::harness::{Wanted, on_all_interpreters};

            #[test]
            fn newest() {
                on_all_interpreters(Wanted::Newest, |python| super::$name().check(python));
            }

            #[test]
            $(#[$second])?
            fn python_3_11() {
                on_all_interpreters(Wanted::Minor(11), |python| super::$name().check(python));
            }

            #[test]
            #[ignore = "all other interpreters: `.ci/all` has them"]
            fn others() {
                on_all_interpreters(Wanted::Others, |python| super::$name().check(python));
            }
        }
    };
}
pub(crate) use case;
