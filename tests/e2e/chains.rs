//! Tests that meet what others leave anew, and leave something else for that: those after them run
//! if that has another value, and only then.

use crate::harness::*;
use crate::ties::{readers, step};

/// `test_p` starts to leave something; each of the others reads what the one before it leaves.
const CHAIN: &str = r#"
-- lib.py --
LIMIT = 3
A = B = C = D = E = 0
def limit():
    return LIMIT
-- test_a.py --
def test_p():
    assert True
-- test_b.py --
import pytest
import lib
def test_a():
    lib.A = lib.limit()
def test_b():
    lib.B = lib.A
def test_c():
    lib.C = lib.B
def test_d():
    lib.D = lib.C
def test_e():
    lib.E = lib.D
def test_f():
    assert lib.E == 3
@pytest.mark.parametrize("n", range(30))
def test_other(n):
    assert True
"#;

const LEAVES: (&str, &str, &str) = (
    "test_a.py",
    "    assert True",
    "    import lib\n    lib.LIMIT = 4",
);

/// Longer than there are runs.
#[test]
fn a_chain_is_followed_to_its_end() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, CHAIN);
        project.run();
        let run = step(&mut project, &[LEAVES]);
        let (ran, failed) = readers(&run);
        assert_eq!(failed, ["test_f"].into(), "{}", run.stderr);
        assert!(!ran.contains("test_other"), "{}", run.stderr);
        assert_eq!(run.code, 1);
        assert!(project.is_as_plain());
    });
}

#[test]
fn a_chain_ends_where_values_are_the_same() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = CHAIN.replace("lib.B = lib.A", "lib.B = min(lib.A, 3)");
        let mut project = Project::new(python, &files);
        project.run();
        let run = step(&mut project, &[LEAVES]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let (ran, _) = readers(&run);
        assert_eq!(ran, ["test_a", "test_b"].into(), "{}", run.stderr);
        assert!(project.is_as_plain());
    });
}

/// What others need runs before it, and meets the same: it leaves something else, too.
#[test]
fn a_test_that_runs_for_others_meets_it() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- lib.py --
LIMIT = 3
A = B = 0
def limit():
    return LIMIT
-- test_a.py --
def test_p():
    assert True
-- test_b.py --
import lib
def test_sets():
    lib.A = lib.limit()
    lib.B = 1
def test_needs():
    assert lib.B == 1
def test_v():
    assert lib.A == 3
"#;
        let needs = [
            ("test_b.py", "lib.B == 1 and True", "lib.B != 0"),
            // It runs once more, as it leaves something itself, and so does who runs for it.
            ("lib.py", "A = B = 0", "A = B = C = 0"),
            (
                "test_b.py",
                "assert lib.B == 1 and True",
                "assert lib.B != 0\n    lib.C = 5",
            ),
        ];
        for needs in [&needs[..1], &needs[1..]] {
            let mut project = Project::new(python, files);
            project.run();
            // It is found out that one needs the other.
            let edit = ("test_b.py", "lib.B == 1", "lib.B == 1 and True");
            let run = step(&mut project, &[edit]);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let edits: Vec<_> = needs.iter().copied().chain([LEAVES]).collect();
            let run = step(&mut project, &edits);
            assert_eq!(readers(&run).1, ["test_v"].into(), "{}", run.stderr);
            assert_eq!(run.code, 1);
        }
    });
}

/// It leaves something else, or nothing, where others wait for their turn: then the next record
/// knows that, and who was left out by the one before must run all the same.
#[test]
fn a_test_that_runs_for_others_meets_it_while_others_wait() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = 3
A = B = 0
D = 0
def d():
    return 3
def limit():
    return LIMIT
-- test_a.py --
def test_p():
    assert True
def test_d():
    import lib
    lib.D = lib.d()
-- test_b.py --
import pytest
import lib
def test_sets():
    lib.A = lib.limit()
    lib.B = 1
def test_needs():
    assert lib.B == 1
def test_v():
    assert lib.A == 3
@pytest.mark.parametrize("n", range(8))
def test_w(n):
    assert lib.D == 3
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        for sets in ["lib.A = lib.limit()", "if lib.limit() == 3: lib.A = 3"] {
            let files = FILES.replace("lib.A = lib.limit()", sets);
            let mut project = Project::new(python, &files);
            project.run();
            let run = step(&mut project, &[("test_b.py", "B == 1", "B == 1 and True")]);
            assert_eq!(run.code, 0, "{}", run.stderr);
            let edits = [
                ("test_b.py", "B == 1 and True", "B != 0\n    lib.C = 5"),
                ("lib.py", "A = B = 0", "A = B = C = 0"),
                ("lib.py", "return 3", "return 1 + 2"),
                LEAVES,
            ];
            let run = step(&mut project, &edits);
            assert_eq!(readers(&run).1, ["test_v"].into(), "{sets}\n{}", run.stderr);
            assert_eq!(run.code, 1);
        }
    });
}

/// Each of these ends in a test that fails: `test_p` starts to leave `LIMIT`.
const ENDS: &str = r#"
-- lib.py --
import os
LIMIT = 3
A = B = C = D = E = F = G = H = I = 0
X = {}
def limit():
    return LIMIT
def put(key, value):
    X[key] = value
def get(key):
    return X.get(key)
class Plug:
    pass
-- test_a.py --
def test_p():
    assert True
-- test_digits.py --
import os
import pytest
import lib
@pytest.mark.parametrize("n", [1, 2])
def test_entries(n):
    lib.put("n%d" % n, lib.limit() + n)
def test_names():
    lib.state1 = lib.limit()
def test_entry():
    assert lib.get("n1") == 4
def test_name():
    assert lib.state1 == 3
-- test_known.py --
import lib
def test_y():
    lib.A = lib.limit()
def test_x():
    lib.B = lib.A
def test_met_before():
    lib.C = lib.limit()
    if lib.B == 4:
        lib.D = 1
def test_v():
    assert lib.D == 0
-- test_part.py --
import lib
def test_same():
    lib.E = min(lib.limit(), 3)
def test_left_out():
    lib.F = lib.E
def test_both():
    if lib.limit() == 4 and lib.F == 3:
        lib.G = 1
def test_v():
    assert lib.G == 0
-- test_fails.py --
import lib
def test_sets():
    lib.H = 1
def test_needs():
    lib.I = lib.limit()
    assert lib.H == 1
def test_v():
    assert lib.I in (0, 3)
"#;

#[test]
fn chains_that_end_in_a_failure() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, ENDS);
        project.run();
        let run = step(&mut project, &[LEAVES]);
        let plain = project.plain();
        let failed = plain.values().filter(|end| *end == "failed").count();
        assert_eq!((run.code, failed), (1, 5), "{}", run.stderr);
        for (test, end) in &plain {
            assert_eq!(project.last.get(test), Some(end), "{test} {}", run.stderr);
        }
    });
}

/// Following a chain takes runs, and so does running a test again after those that it needs.
#[test]
fn a_chain_that_ends_in_a_test_that_needs_another() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- lib.py --
import gc
LIMIT = 3
A = B = C = E = 0
def limit():
    return LIMIT
class Plug:
    pass
def plugs():
    return [one for one in gc.get_referrers(Plug) if isinstance(one, type)]
-- test_a.py --
def test_p():
    assert True
-- test_b.py --
import lib
def test_sets():
    lib.E = 1
def test_a():
    lib.A = lib.limit()
def test_b():
    lib.B = lib.A
def test_c():
    lib.C = lib.B
def test_v():
    assert lib.C in (0, 3, 4) and lib.E == 1
def test_plugs():
    assert not lib.plugs()
"#;
        let mut project = Project::new(python, files);
        project.run();
        let run = step(&mut project, &[LEAVES]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        // Nobody spells how it is found.
        let keeps = "    class Kept(lib.Plug): pass\n    test_p.kept = Kept\n    lib.LIMIT = 4";
        let run = step(&mut project, &[("test_a.py", "    lib.LIMIT = 4", keeps)]);
        assert_eq!(readers(&run).1, ["test_plugs"].into(), "{}", run.stderr);
    });
}

/// Modules that tests make are new at each run, and nobody else's.
#[test]
fn modules_with_made_up_names_are_nothing_new() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- lib.py --
import sys
import types
LIMIT = 3
def limit():
    return LIMIT
def load(text, path):
    name = "made_%x" % id(text)
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, path, "exec"), vars(module))
    return module
-- test_a.py --
import importlib.util
import lib
def test_p(tmp_path):
    path = tmp_path / "made.py"
    path.write_text("environment = 1")
    spec = importlib.util.spec_from_file_location("made", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.environment = 2
    text = "".join(["value", " = 1"])
    assert lib.load(text, str(path)).value == 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_exec(n):
    exec("assert lib.limit() == 3")
"#;
        let mut project = Project::new(python, files);
        project.run();
        let edit = ("test_a.py", ".value == 1", ".value != 2");
        let run = step(&mut project, &[edit]);
        let ran: Vec<&String> = run.outcomes.keys().collect();
        assert_eq!(ran, ["test_a.py::test_p"], "{}", run.stderr);
        assert!(!run.stderr.contains("did not before"), "{}", run.stderr);
    });
}

/// Functions name a module that some tests import themselves: it counts as it is for those that
/// do not call these, and values excuse them all the same.
#[test]
fn a_module_that_tests_import_themselves() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = r#"
-- late.py --
def fix():
    return 1
-- lib.py --
STATE = []
def risky():
    from late import fix
    STATE.append(2)
    return fix()
def work(n):
    return n if n >= len(STATE) - 9 else risky()
-- test_a.py --
import lib
def test_first():
    lib.STATE.append(1)
def test_risky():
    assert lib.risky() == 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_work(n):
    assert lib.work(n) == n
"#;
        let mut project = Project::new(python, files);
        project.run();
        // Values excuse readers, while a new test imports the module; then these have rows anew.
        let new = "import lib\ndef test_new():\n    assert lib.risky() == 1\n";
        project.write("test_c.py", new);
        let edits = [
            ("lib.py", "STATE = []", "STATE = list()"),
            ("test_a.py", "STATE.append(1)", "STATE.append(len('a'))"),
        ];
        for edit in edits {
            let run = step(&mut project, &[edit]);
            assert_eq!(run.code, 0, "{edit:?} {}", run.stderr);
            assert!(readers(&run).0.is_empty(), "{edit:?} {}", run.stderr);
        }
        let edit = ("late.py", "return 1", "return 1 + 1");
        let run = step(&mut project, &[edit]);
        assert_eq!(run.outcomes["test_a.py::test_risky"], "failed");
        assert!(project.is_as_plain());
    });
}

/// In the record the second test leaves nothing, as it finds the value that it sets.
const ALIKE: &str = r#"
-- lib.py --
HELD = 0
LIMIT = 0
class Shape:
    sides = 0
-- test_a.py --
def test_p():
    assert True
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert True
def test_sets():
    lib.LIMIT = 1
    lib.Shape.sides = 4
def test_again():
    lib.LIMIT = 2 if lib.HELD else 1
    lib.Shape.sides = 4
def test_limit():
    assert lib.LIMIT == 1
def test_sides():
    assert lib.Shape.sides == 4
"#;

#[test]
fn who_meets_it_leaves_another_value_where_others_leave_something() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, ALIKE);
        project.run();
        let holds = (
            "test_a.py",
            "    assert True",
            "    import lib\n    lib.HELD = 3",
        );
        let run = step(&mut project, &[holds]);
        let (ran, failed) = readers(&run);
        assert_eq!(failed, ["test_limit"].into(), "{}", run.stderr);
        assert!(!ran.contains("test_sides"), "{}", run.stderr);
        assert_eq!(run.code, 1);
        assert!(project.is_as_plain());
    });
}

/// How many tests ran in each of the runs of one `tamis run`.
pub fn sizes(run: &Run) -> Vec<u64> {
    let lines = run.stderr.lines();
    let events = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let ran = events.filter(|event| event["event"] == "ran");
    ran.filter_map(|event| event["ran"].as_u64()).collect()
}

/// What a test leaves anew is looked for among all tests. If nobody reads it, neither that test nor
/// those beside it run once more, and later it runs for who reads it.
#[test]
fn where_nobody_meets_it_nobody_runs_again() {
    const FILES: &str = r#"
-- lib.py --
A = 1
def f():
    return A
-- test_a.py --
import lib
def test_leaves():
    assert lib.f() == 1
def test_beside():
    assert lib.f() == 1
-- test_b.py --
import lib
def test_other():
    assert lib.A == 1
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        let body = "    global MARK\n    MARK = A\n    return A";
        let run = step(&mut project, &[("lib.py", "    return A", body)]);
        assert_eq!(sizes(&run), [2, 0], "{}", run.stderr);
        project.commit("again");
        assert_eq!(project.run().outcomes.len(), 0);
        let reads = ("test_b.py", "lib.A == 1", "lib.MARK == 1");
        let run = step(&mut project, &[reads]);
        assert_eq!(readers(&run).0, ["test_other"].into());
        assert!(project.is_as_plain(), "{}", run.stderr);
    });
}

/// If nearly all would run once more, all do, and that is the end.
#[test]
fn where_nearly_all_meet_it_all_run() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = 3
def limit():
    return LIMIT
-- test_a.py --
def test_p():
    assert True
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(8))
def test_read(n):
    assert lib.limit() == 3
def test_other():
    assert True
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        let run = step(&mut project, &[LEAVES]);
        assert_eq!(sizes(&run), [1, 10], "{}", run.stderr);
        assert_eq!(readers(&run).1, ["test_read"].into());
        assert!(project.is_as_plain());
        let run = step(&mut project, &[("test_a.py", "= 4", "= 3")]);
        assert!(project.is_as_plain(), "{}", run.stderr);
    });
}

/// The record of a pass before the last one proves nothing about those who met what another test
/// newly leaves, though that one runs now, and leaves nothing where it lacks something.
#[test]
fn an_earlier_pass_is_no_proof_beside_the_last_one() {
    const HEAD: &str = r#"
-- lib.py --
LIMIT = HELD = None
def f():
    return 1
-- test_a.py --
import lib
def test_starts():
    lib.f()
def test_meets():
    if lib.LIMIT:
        lib.HELD = 1
"#;
    let reads = (0..9).map(|at| {
        format!("def test_read_{at}():\n    lib.f()\n    assert lib.HELD in (None, 1)\n")
    });
    let files = format!("{HEAD}{}", reads.collect::<String>());
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, &files);
        project.run();
        let starts = ("lib.py", "    return 1", "    global LIMIT\n    LIMIT = 1");
        assert_eq!(step(&mut project, &[starts]).code, 0);
        let run = step(&mut project, &[("test_a.py", "HELD = 1", "HELD = 2")]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(project.is_as_plain());
    });
}

/// Where all run in the end, those that ran for others are known by that run: here what `test_meets`
/// leaves, which nobody else sees.
#[test]
fn what_tests_leave_when_all_run_is_known_by_that_run() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = HELD = None
-- test_a.py --
import lib
def test_starts():
    pass
def test_meets():
    if lib.LIMIT:
        lib.HELD = 1
def test_read():
    pass
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.run();
        let edits = [
            (
                "test_a.py",
                "starts():\n    pass",
                "starts():\n    lib.LIMIT = 1",
            ),
            (
                "test_a.py",
                "read():\n    pass",
                "read():\n    assert lib.HELD in (None, 1)",
            ),
        ];
        assert_eq!(step(&mut project, &edits).code, 0);
        let run = step(&mut project, &[("test_a.py", "HELD = 1", "HELD = 2")]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(project.is_as_plain());
    });
}
