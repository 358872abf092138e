//! Several runs one after the other: what was confirmed stays right, whatever comes next.

use std::collections::BTreeSet;

use crate::harness::*;

const FILES: &str = r#"
-- lib.py --
def build(n):
    return [n, 2 * n]


TABLE = build(1)


def first():
    return TABLE[0]


def apart():
    return 5
-- test_first.py --
import lib


def test_first():
    assert lib.first() == 1


def test_table():
    assert lib.TABLE[1] == 2
-- test_other.py --
import lib


def test_apart():
    assert lib.apart() == 5


def test_again():
    assert lib.apart() + 1 == 6
"#;

const TABLE: [&str; 2] = ["test_first.py::test_first", "test_first.py::test_table"];
const APART: [&str; 2] = ["test_other.py::test_again", "test_other.py::test_apart"];

/// A project of which the first revision is recorded.
fn recorded(python: &Python, files: &str) -> Project {
    let mut project = Project::new(python, files);
    let plain = project.plain();
    assert_eq!(project.run().outcomes, plain);
    project
}

/// Commits `changes`, runs with `arguments`, and checks that exactly these tests ran.
fn step(project: &mut Project, arguments: &[&str], changes: &[Change], ran: &[&str]) -> Run {
    let run = any_step(project, arguments, changes);
    let got = those_that_ran(&run);
    let wanted: BTreeSet<&str> = ran.iter().copied().collect();
    assert_eq!(
        got, wanted,
        "{changes:?}: {:?}\n{}",
        run.selection.selected, run.stderr
    );
    run
}

fn those_that_ran(run: &Run) -> BTreeSet<&str> {
    run.outcomes.keys().map(String::as_str).collect()
}

/// Commits and runs, and checks that nothing is missed: what runs ends as in a run of
/// everything, in which what is left out passes.
fn any_step(project: &mut Project, arguments: &[&str], changes: &[Change]) -> Run {
    for change in changes {
        change.apply(project);
    }
    project.commit("step");
    let run = project.run_with(arguments);
    for (test, outcome) in project.plain() {
        let known = run.outcomes.get(&test).map_or("passed", String::as_str);
        assert_eq!(known, outcome, "{test} {changes:?}\n{}", run.stderr);
    }
    run
}

fn body(text: &str) -> [Change; 1] {
    [Change::Python(format!(
        "import re, pathlib\n\
         path = pathlib.Path('lib.py')\n\
         text = re.sub(r'(def build.n.:\\n    return ).*', r'\\1' + {text:?}, path.read_text())\n\
         path.write_text(text)\n"
    ))]
}

/// Ten commits in a row that change nothing relevant: none of them runs a test.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn irrelevant_commits() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES);
        let changes: [Change; 10] = [
            append("lib.py", "\n\ndef second():\n    return 2\n"),
            replace("lib.py", "[n, 2 * n]", "[n, n + n]"),
            append("lib.py", "\n\nclass Thing:\n    pass\n"),
            replace(
                "lib.py",
                "def first():",
                "def first():\n    \"\"\"The first.\"\"\"",
            ),
            replace("lib.py", "[n, n + n]", "[n] + [n * 2]"),
            append("test_first.py", "\n\nWORD = 'a'\n"),
            append("lib.py", "\nimport fractions\n"),
            write("more.py", "import lib\n\nMORE = lib.build(3)\n"),
            replace(
                "lib.py",
                "class Thing:",
                "class Thing:\n    size_of_it = 1\n",
            ),
            replace("lib.py", "[n] + [n * 2]", "[n, 2 * n]"),
        ];
        for change in changes {
            step(&mut project, &[], &[change], &[]);
        }
        // Nothing of it may have been lost on the way.
        let other = replace("lib.py", "[n, 2 * n]", "[n, 3 * n]");
        step(&mut project, &[], &[other], &TABLE);
        any_step(&mut project, &[], &body("[n, 2 * n]"));
        let own = replace("lib.py", "return 5", "return 6");
        step(&mut project, &[], &[own], &APART);
    });
}

/// What was confirmed once is compared again at the next edit, and never taken for proven.
#[test]
fn confirmed_then_changed() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES);
        let more = append(
            "lib.py",
            "\n\ndef more():\n    return 1\n\n\nMORE = more()\n",
        );
        step(&mut project, &[], &[more], &[]);
        // A statement that the recorded rows did not have.
        let patched = replace(
            "lib.py",
            "def more():\n    return 1",
            "def more():\n    TABLE[0] = 9",
        );
        step(&mut project, &[], &[patched], &TABLE);
        let back = replace("lib.py", "TABLE[0] = 9", "return 2");
        any_step(&mut project, &[], &[back]);
        step(
            &mut project,
            &[],
            &[replace("lib.py", "return 5", "return 7")],
            &APART,
        );
    });
}

/// A partial run confirms and runs only its tests; the next run has the others.
#[test]
fn partial_runs() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES);
        for change in body("[n, 3 * n]") {
            change.apply(&mut project);
        }
        project.commit("partial");
        project.run_with(&["--", "python", "-m", "pytest", "-k", "apart"]);
        project.run_with(&["--", "python", "-m", "pytest", "test_other.py"]);
        let run = any_step(&mut project, &[], &[]);
        for test in TABLE {
            assert!(run.outcomes.contains_key(test), "{test}: {}", run.stderr);
        }
        step(&mut project, &[], &[], &["test_first.py::test_table"]);
        step(&mut project, &[], &body("[n] + [2 * n]"), &TABLE);
        step(&mut project, &[], &body("[n, n * 2]"), &[]);
    });
}

/// A file that cannot be collected at the head: nothing is confirmed.
#[test]
fn failing_collection() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES);
        let broken = replace("test_other.py", "import lib", "import lib, nothing");
        let args = [
            "--",
            "python",
            "-m",
            "pytest",
            "--continue-on-collection-errors",
        ];
        let mut changes = body("[n, 3 * n]").to_vec();
        changes.push(broken);
        for change in &changes {
            change.apply(&mut project);
        }
        project.commit("broken");
        let run = project.run_with(&args);
        for test in TABLE {
            assert!(run.outcomes.contains_key(test), "{test}: {}", run.stderr);
        }
        let mended = replace("test_other.py", "import lib, nothing", "import lib");
        let mut changes = body("[n, 2 * n]").to_vec();
        changes.push(mended);
        any_step(&mut project, &[], &changes);
        step(&mut project, &[], &body("[n, n + n]"), &[]);
    });
}

/// The process dies in the middle of a run that confirmed some tests.
#[test]
fn crash() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES);
        let dies = write(
            "test_crash.py",
            "import os\n\n\ndef test_crash():\n    os._exit(3)\n\n\ndef test_after():\n    pass\n",
        );
        let mut changes = body("[n, n + n]").to_vec();
        changes.push(dies);
        for change in &changes {
            change.apply(&mut project);
        }
        project.commit("crash");
        assert_ne!(project.tamis(&["run"]).code(), 0);
        let mended = replace("test_crash.py", "os._exit(3)", "pass");
        let run = any_step(&mut project, &[], &[mended]);
        for test in ["test_crash.py::test_crash", "test_crash.py::test_after"] {
            assert!(run.outcomes.contains_key(test), "{test}: {}", run.stderr);
        }
        step(&mut project, &[], &body("[n, 3 * n]"), &TABLE);
    });
}

/// With workers of `pytest-xdist`, a doubtful test runs; without the plug-in for random
/// order nothing is different.
#[test]
#[ignore = "slow: `.ci/all` has it"]
fn workers_and_options() {
    with_plugins(Wanted::Newest, |python| {
        let mut project = recorded(python, FILES);
        let workers = ["--", "python", "-m", "pytest", "-n", "2"];
        let run = any_step(&mut project, &workers, &body("[n, 3 * n]"));
        for test in TABLE {
            assert!(run.outcomes.contains_key(test), "{test}: {}", run.stderr);
        }
        any_step(&mut project, &workers, &body("[n, 2 * n]"));
        let ordered = ["--", "python", "-m", "pytest", "-p", "no:randomly"];
        any_step(&mut project, &ordered, &body("[n, n + n]"));
        let run = any_step(&mut project, &ordered, &body("[n, 4 * n]"));
        for test in TABLE {
            assert!(run.outcomes.contains_key(test), "{test}: {}", run.stderr);
        }
    });
}

/// Two differences that cancel out: the test that sets `a` is left out, and the result of
/// `f` is what `a` would have added.
#[test]
fn differences_that_cancel_out() {
    let files = r#"
-- state.py --
a = 0
c = 0


def set_a():
    global a
    a = 1


def f():
    return 1


def compute():
    global c
    c = a + f()
-- test_state.py --
import state


def test_1_set():
    state.set_a()


def test_2_compute():
    state.compute()


def test_3_read():
    assert state.c == 2
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, files);
        let two = replace(
            "state.py",
            "def f():\n    return 1",
            "def f():\n    return 2",
        );
        two.apply(&mut project);
        project.commit("two");
        let run = project.run();
        assert_eq!(project.plain()["test_state.py::test_3_read"], "failed");
        let ran = run.outcomes.contains_key("test_state.py::test_3_read");
        assert!(ran, "{:?}\n{}", run.outcomes, run.stderr);
    });
}

/// Modules that tests import again run import-time code in the test's own time.
#[test]
fn imported_again() {
    let files = r#"
-- lib.py --
def value():
    return 1


VALUE = value()
-- held.py --
from lib import VALUE as FIRST
-- test_again.py --
import importlib
import sys

import held
import lib


def test_reload():
    lib.VALUE = 0
    importlib.reload(lib)
    assert lib.VALUE == 1


def test_forget():
    del sys.modules["lib"]
    import lib as new

    sys.modules["lib"] = lib
    assert new.VALUE == 1


def test_held():
    assert held.FIRST == 1
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, files);
        let reloaded = append(
            "lib.py",
            "\nif 'test_again' in __import__('sys').modules:\n    pass\n",
        );
        any_step(&mut project, &[], &[reloaded]);
        // Only when it runs for a second time does the value differ.
        let second = append(
            "lib.py",
            "\nimport sys\nif hasattr(sys, 'lib_ran'):\n    VALUE = 7\nsys.lib_ran = True\n",
        );
        let run = any_step(&mut project, &[], &[second]);
        assert_eq!(run.outcomes["test_again.py::test_reload"], "failed");
        assert_eq!(run.outcomes["test_again.py::test_forget"], "failed");
    });
}

/// Import-time code that begins to write a file or to start a thread at the head.
#[test]
fn doubtful_at_the_head() {
    let files = r#"
-- lib.py --
def prepare():
    pass


prepare()


def apart():
    return 5
-- test_lib.py --
import os
import threading

import lib


def test_apart():
    assert lib.apart() == 5


def test_file():
    assert not os.path.exists(os.path.join(os.path.dirname(__file__), "made.tmp"))


def test_threads():
    assert threading.active_count() < 50
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, files);
        project.write(
            ".gitignore",
            "*.tmp\n__pycache__/\n.pytest_cache/\n.tamis/\n",
        );
        let threads = "import threading, time\n    \
             [threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in range(60)]";
        let made = "open(__file__.replace('lib.py', 'made.tmp'), 'w').close()";
        for (statement, test) in [(threads, "test_threads"), (made, "test_file")] {
            let old = project.read("lib.py");
            let change = replace("lib.py", "    pass", &format!("    {statement}"));
            let run = any_step(&mut project, &[], &[change]);
            let id = format!("test_lib.py::{test}");
            assert_eq!(run.outcomes[&id], "failed", "{statement}");
            any_step(&mut project, &[], &[write("lib.py", &old)]);
        }
    });
}

/// Values that hold the folder of the project, in a checkout elsewhere.
#[test]
fn places_in_the_project_are_the_same_in_each_checkout() {
    let files = r#"
-- lib.py --
import os
import pathlib
import sys


def folders():
    return ["data"]


BASE = os.path.dirname(os.path.abspath(__file__))
DATA = [os.path.join(BASE, name) for name in folders()]
AT = {BASE: 1}
if sys.version_info >= (3, 12):
    PATH = pathlib.Path(__file__).parent / "data"
BESIDE = BASE + "-beside"


def beside():
    return BESIDE
-- test_lib.py --
import lib


def test_base():
    assert lib.BASE and lib.AT


def test_data():
    assert lib.DATA[0] == lib.BASE + "/data"


def test_path():
    assert str(getattr(lib, "PATH", lib.DATA[0])) == lib.DATA[0]
-- test_beside.py --
import lib


def test_beside():
    assert lib.beside()
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python, files);
        let elsewhere = project.world().join("else where");
        let elsewhere = elsewhere.to_str().unwrap().to_owned();
        let from = project.root();
        let copy = ["-a", from.to_str().unwrap(), &elsewhere];
        assert_eq!(project.command("cp", &copy, &from).code(), 0);
        project.cwd = elsewhere.clone();
        let edit = |from: &str, to: &str| {
            let file = format!("{elsewhere}/lib.py");
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(from), "{text}");
            std::fs::write(&file, text.replace(from, to)).unwrap();
        };
        // The list of names is made otherwise, and is the same. `-beside` is no place in the project.
        edit("return [\"data\"]", "return list((\"data\",))");
        let run = project.run();
        let wanted = ["test_beside.py::test_beside"].into();
        assert_eq!(those_that_ran(&run), wanted, "{}", run.stderr);
        edit("list((\"data\",))", "[\"date\"]");
        let run = project.run();
        let wanted = ["test_lib.py::test_data", "test_lib.py::test_path"].into();
        assert_eq!(those_that_ran(&run), wanted, "{}", run.stderr);
        assert_eq!(run.outcomes["test_lib.py::test_data"], "failed");
    });
}
