//! What is made once and lasts counts by the turns in which it was made or changed: these have to
//! be known, and each turn in which that happens now and did not then.

use crate::harness::*;
use crate::moments::{Moment, nothing_is_missed};
use crate::ties::{readers, step};

const TURNS: [Moment; 7] = [
    (
        "an edited test starts to change what a fixture holds",
        r#"
-- lib.py --
STATE = {"v": 1}
def made():
    return 2
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return []
-- test_a.py --
import lib
def test_set():
    lib.STATE["v"] = lib.made()
def test_use(box):
    len(box)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_box(n, box):
    assert box == [] and lib.STATE["v"] == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[
            ("lib.py", "return 2", "return 1 + 1"),
            ("test_a.py", "len(box)", "box.append(1)"),
        ],
    ),
    (
        "in the turn of a new test something is set up from what it sets for a moment",
        r#"
-- lib.py --
STATE = {"v": 1}
OTHER = {}
def made():
    return 2
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def kept():
    return lib.STATE["v"]
-- test_a.py --
import lib
def test_set():
    lib.OTHER["v"] = lib.made()
def test_use(request):
    lib.STATE["v"] = 1
    request.getfixturevalue("kept")
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_kept(n, kept):
    assert kept == 1 and lib.OTHER["v"] == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[
            ("lib.py", "return 2", "return 1 + 1"),
            (
                "test_a.py",
                "[\"v\"] = 1\n    request.getfixturevalue(\"kept\")",
                "[\"v\"] = 3\n    request.getfixturevalue(\"kept\")\n    lib.STATE[\"v\"] = 1",
            ),
        ],
    ),
    (
        "a test that set up a fixture does so no longer, and leaves nothing",
        r#"
-- lib.py --
STATE = {"v": 1}
OTHER = {"v": 1}
def made():
    return 2
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def kept():
    return lib.STATE["v"]
-- test_0.py --
import lib
def test_set():
    lib.OTHER["v"] = lib.made()
-- test_a.py --
import lib
def test_use(kept):
    pass
def test_mid():
    lib.STATE["v"] = 7
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_kept(n, kept):
    assert kept == 1 and lib.OTHER["v"] == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[
            ("lib.py", "return 2", "return 1 + 1"),
            ("test_a.py", "test_use(kept)", "test_use()"),
        ],
    ),
    (
        "a cell refers to a class of a module that a test imported",
        r#"
-- lib.py --
REGISTERED = []
-- late.py --
class Late:
    v = 2
-- test_a.py --
import lib
def test_use():
    import late
    lib.REGISTERED.append(late.Late)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_found(n):
    assert lib.REGISTERED[0].v == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[("late.py", "v = 2", "v = 3")],
    ),
    (
        "a cell refers to a module that a test imported",
        r#"
-- lib.py --
REGISTERED = []
-- late.py --
V = 2
-- test_a.py --
import lib
def test_use():
    import late
    lib.REGISTERED.append(late)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_found(n):
    assert lib.REGISTERED[0].V == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[("late.py", "V = 2", "V = 3")],
    ),
    (
        "a test clears a cache that a fixture holds",
        r#"
-- lib.py --
STATE = {"v": 1}
OTHER = {"v": 1}
def made():
    return 2
-- conftest.py --
import functools
import pytest
import lib
@pytest.fixture(scope="session")
def function():
    @functools.lru_cache(None)
    def cached(key):
        return key + lib.STATE["v"]
    return cached
-- test_a.py --
import lib
def test_set():
    lib.OTHER["v"] = lib.made()
def test_use(function):
    function(1)
def test_mid():
    lib.STATE["v"] = 7
def test_clear(function):
    pass
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_cached(n, function):
    assert function(1) == 2 and lib.OTHER["v"] == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[
            ("lib.py", "return 2", "return 1 + 1"),
            (
                "test_a.py",
                "test_clear(function):\n    pass",
                "test_clear(function):\n    function.cache_clear()",
            ),
        ],
    ),
    (
        "a fixture that nobody can watch met state in a turn that nothing names",
        r#"
-- lib.py --
STATE = {"v": 1}
OTHER = {"v": 1}
def made():
    return 2
def other():
    return 2
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def numbers():
    def all():
        v = None
        while True:
            if v is None and lib.STATE["v"] != 1:
                v = lib.STATE["v"]
            yield v
    return all()
-- test_0.py --
import lib
def test_make(numbers):
    pass
def test_other():
    lib.OTHER["v"] = lib.other()
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_pad(n):
    assert lib.OTHER["v"] == 2
def test_set():
    lib.STATE["v"] = lib.made()
def test_use(numbers):
    next(numbers)
def test_reset():
    lib.STATE["v"] = 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_next(n, numbers):
    assert next(numbers) == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[("lib.py", "made():\n    return 2", "made():\n    return 3")],
    ),
];

#[test]
fn what_lasts_counts_by_the_turns_of_those_who_made_it() {
    nothing_is_missed(&TURNS);
}

/// For three tests a cell has another value; then it has the recorded one again, which is known as
/// a test comes that makes nothing.
const FOR_A_WHILE: &str = r#"
-- lib.py --
STATE = {"v": 1}
def made():
    return 2
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def during():
    return lib.STATE["v"]
@pytest.fixture(scope="session")
def after():
    return lib.STATE["v"]
-- test_a.py --
import lib
def test_set():
    lib.STATE["v"] = lib.made()
def test_during(during):
    pass
def test_reset():
    lib.STATE["v"] = 1
def test_plain():
    pass
def test_after(after):
    pass
def test_other():
    lib.STATE["v"] = 5
-- test_b.py --
import pytest
@pytest.mark.parametrize("n", range(20))
def test_that_reads_nothing(n):
    pass
@pytest.mark.parametrize("n", range(20))
def test_was_set_up_after_it(n, after):
    assert after == 1
@pytest.mark.parametrize("n", range(20))
def test_was_set_up_during_it(n, during):
    assert during == 2
"#;

#[test]
fn what_was_set_up_when_a_value_was_the_recorded_one_again_is_as_it_was() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FOR_A_WHILE);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 2", "return 3")]);
        let (ran, failed) = readers(&run);
        let during = ["test_was_set_up_during_it"].into();
        assert_eq!((&ran, &failed), (&during, &during), "{}", run.stderr);
        // And so it is when the values of that run are compared.
        let run = step(&mut project, &[("lib.py", "return 3", "return 4")]);
        assert_eq!(readers(&run), (during.clone(), during), "{}", run.stderr);
    });
}

/// Whoever asks first for the folder of temporary files, all get the same one of pytest; not one of
/// the project.
#[test]
fn the_folder_for_temporary_files_may_be_made_in_another_turn() {
    const FILES: &str = r#"
-- lib.py --
LIMIT = 0
def make():
    return 3
-- test_a.py --
import lib
def test_first(tmp_path):
    assert tmp_path.is_dir()
def test_set(tmp_path):
    lib.LIMIT = lib.make()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_read(n, tmp_path):
    assert lib.LIMIT == 3
"#;
    const OWN: &str = r#"
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def tmp_path_factory(tmp_path_factory):
    return tmp_path_factory
"#;
    for (files, is_own) in [(FILES.to_owned(), false), (format!("{FILES}{OWN}"), true)] {
        on_all_interpreters(Wanted::Newest, |python| {
            let mut project = Project::new(python, &files);
            project.commit("one");
            project.run();
            let run = step(&mut project, &[("lib.py", "return 3", "return 1 + 2")]);
            let makes = run.outcomes.contains_key("test_a.py::test_first");
            assert!(run.outcomes.contains_key("test_a.py::test_set"));
            assert_eq!(makes, is_own, "{}", run.stderr);
            assert_eq!(run.outcomes.len() == 1, !is_own, "{}", run.stderr);
        });
    }
}

/// A test that nothing proves runs each time, and so do those that read what it leaves; others that
/// were settled after it do not.
#[test]
fn who_met_nothing_doubtful_is_proven_by_its_value() {
    const FILES: &str = r#"
-- data.txt --
one
-- lib.py --
LIMIT = 0
SIZE = 0
def make():
    return 3
-- test_a.py --
import subprocess
import lib
def test_sed():
    lib.SIZE = len(subprocess.run(["sed", "-n", "1p", "data.txt"], stdout=subprocess.PIPE).stdout)
def test_set():
    lib.LIMIT = lib.make()
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_read(n):
    assert lib.LIMIT == 3
def test_size():
    assert lib.SIZE == 4
"#;
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        project.commit("one");
        project.run();
        let run = step(&mut project, &[("lib.py", "return 3", "return 1 + 2")]);
        assert_eq!(readers(&run).0, ["test_size"].into(), "{}", run.stderr);
        let run = step(&mut project, &[("lib.py", "return 1 + 2", "return 2 + 1")]);
        assert_eq!(readers(&run).0, ["test_size"].into(), "{}", run.stderr);
        let run = step(&mut project, &[("data.txt", "one", "fourteen")]);
        let (ran, failed) = readers(&run);
        assert_eq!(ran, ["test_size"].into(), "{}", run.stderr);
        assert_eq!(failed, ["test_size"].into());
    });
}
