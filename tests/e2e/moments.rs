//! What is made once and lasts met the state of that moment, whatever holds it and whoever made it.

use crate::harness::*;
use crate::ties::step;

/// What it is about, the project, and an edit: file, text, and what replaces it. Some tests fail
/// then.
pub type Moment = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

const MOMENTS: [Moment; 12] = [
    (
        "a property of an object that nobody can watch met what was reset since",
        r#"
-- lib.py --
import functools
STATE = {"v": 1}
def made():
    return 5
class Point:
    @functools.cached_property
    def v(self):
        return STATE["v"]
def points():
    point = Point()
    while True:
        yield point
POINTS = points()
-- test_a.py --
import lib
def test_set():
    lib.STATE["v"] = lib.made()
def test_use():
    assert next(lib.POINTS).v in (5, 6)
def test_reset():
    lib.STATE["v"] = 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_kept(n):
    assert next(lib.POINTS).v == 5
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[("lib.py", "return 5", "return 6")],
    ),
    (
        "a new test sets up early what others get",
        r#"
-- lib.py --
CACHE = {}
def made():
    return 2
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def kept():
    return lib.CACHE.get(1)
-- test_a.py --
import lib
def test_fill():
    lib.CACHE[1] = lib.made()
def test_first(kept):
    pass
-- test_b.py --
import pytest
@pytest.mark.parametrize("n", range(10))
def test_kept(n, kept):
    assert kept == 2
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    pass
"#,
        &[
            ("lib.py", "return 2", "return 1 + 1"),
            (
                "test_a.py",
                "def test_fill",
                "def test_new(kept):\n    pass\ndef test_fill",
            ),
        ],
    ),
    (
        "a new test fills early a cache that others use",
        r#"
-- lib.py --
import functools
STATE = {"v": 1}
def made():
    return 5
@functools.lru_cache(None)
def cached(key):
    return key + STATE["v"]
FIRST = cached(10)
-- test_a.py --
import lib
def test_set():
    lib.STATE["v"] = lib.made()
def test_use():
    assert lib.cached(1) in (2, 6)
def test_reset():
    lib.STATE["v"] = 1
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(10))
def test_cached(n):
    assert lib.cached(1) == 6
@pytest.mark.parametrize("n", range(10))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[
            ("lib.py", "return 5", "return 4 + 1"),
            (
                "test_a.py",
                "def test_set",
                "def test_new():\n    lib.cached(1)\ndef test_set",
            ),
        ],
    ),
    (
        "a removed test had left what another one copied",
        r#"
-- lib.py --
X = {}
Y = {}
-- test_0.py --
import lib
def test_g():
    lib.X["v"] = 5
def test_z():
    pass
-- test_a.py --
import lib
def test_j():
    lib.Y["v"] = lib.X.get("v")
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.Y["v"]
def test_first(kept):
    pass
def test_resets():
    lib.Y["v"] = 9
@pytest.mark.parametrize("n", range(10))
def test_kept(n, kept):
    assert kept == 5
"#,
        &[("test_0.py", "def test_g():\n    lib.X[\"v\"] = 5\n", "")],
    ),
    (
        "an unchanged test copies what an edited one changes only now",
        r#"
-- lib.py --
X = [1]
Y = {}
STATE = {}
OTHER = {}
-- test_a.py --
import lib
def test_w():
    lib.STATE["v"] = 5
def test_j():
    lib.OTHER["v"] = lib.STATE["v"]
def test_p():
    lib.Y["v"] = lib.X[0]
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.Y["v"]
def test_first(kept):
    pass
def test_v():
    lib.Y["v"] = 9
@pytest.mark.parametrize("n", range(16))
def test_r(n, kept):
    assert kept == 1 and lib.OTHER["v"] == 5
"#,
        &[(
            "test_a.py",
            "    lib.STATE[\"v\"] = 5",
            "    lib.X[0] = 7\n    lib.STATE[\"v\"] = 5",
        )],
    ),
    (
        "who set up a fixture first is removed",
        r#"
-- lib.py --
BESIDE = {}
STATE = {}
def made():
    return 5
-- test_a.py --
import lib
def test_beside():
    lib.BESIDE["v"] = lib.made()
def test_w():
    lib.STATE["v"] = lib.BESIDE["v"]
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.STATE["v"]
def test_first(kept):
    pass
def test_resets():
    lib.STATE["v"] = 9
@pytest.mark.parametrize("n", range(8))
def test_kept(n, kept):
    assert kept == 5
"#,
        &[
            ("lib.py", "return 5", "return 4 + 1"),
            ("test_b.py", "def test_first(kept):\n    pass\n", ""),
        ],
    ),
    (
        "an earlier test asks for a fixture now",
        r#"
-- lib.py --
BESIDE = {}
STATE = {"v": 1}
X = [1]
def made():
    return 5
-- conftest.py --
import pytest
import lib
@pytest.fixture(scope="session")
def kept():
    return lib.STATE["v"]
-- test_a.py --
import lib
def test_none():
    pass
def test_beside():
    lib.BESIDE["v"] = lib.made()
def test_w():
    lib.STATE["v"] = lib.BESIDE["v"]
-- test_b.py --
import pytest
import lib
def test_first(kept):
    pass
@pytest.mark.parametrize("n", range(12))
def test_kept(n, kept):
    assert kept == 5
"#,
        &[
            ("lib.py", "return 5", "return 4 + 1"),
            ("test_a.py", "def test_none():", "def test_none(kept):"),
        ],
    ),
    (
        "nothing had changed what a fixture read",
        r#"
-- lib.py --
X = [1]
STATE = {}
def made():
    return 5
-- test_a.py --
import lib
def test_w():
    lib.STATE["v"] = lib.made()
def test_n():
    x = 1
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.X[0]
def test_first(kept):
    pass
def test_v():
    lib.X[0] = 9
@pytest.mark.parametrize("n", range(12))
def test_r(n, kept):
    assert kept == 1 and lib.STATE["v"] == 5
"#,
        &[
            ("lib.py", "return 5", "return 4 + 1"),
            ("test_a.py", "x = 1", "lib.X[0] = 7"),
        ],
    ),
    (
        "the same, by a test that others read of",
        r#"
-- lib.py --
X = [1]
STATE = {}
def made():
    return 5
-- test_a.py --
import lib
def test_w():
    lib.STATE["v"] = lib.made()
-- test_b.py --
import pytest
import lib
@pytest.fixture(scope="module")
def kept():
    return lib.X[0]
def test_first(kept):
    pass
def test_v():
    lib.X[0] = 9
@pytest.mark.parametrize("n", range(12))
def test_r(n, kept):
    assert kept == 1 and lib.STATE["v"] == 5
"#,
        &[(
            "test_a.py",
            "    lib.STATE",
            "    lib.X[0] = 7\n    lib.STATE",
        )],
    ),
    (
        "properties keep values in texts of the program's own types",
        r#"
-- lib.py --
import enum
import functools
def size():
    return 3
class Name(str):
    @functools.cached_property
    def girth(self):
        return size()
class Color(str, enum.Enum):
    RED = "r"
    @functools.cached_property
    def girth(self):
        return size()
NAME = Name("x")
-- test_a.py --
import lib
def test_fill():
    assert lib.NAME.girth
def test_fill2():
    assert lib.Color.RED.girth
-- test_b.py --
import lib
def test_name():
    assert lib.NAME.girth == 3
def test_color():
    assert lib.Color.RED.girth == 3
"#,
        &[("lib.py", "return 3", "return 4")],
    ),
    (
        "parameters that are too much to be watched",
        r#"
-- lib.py --
def size():
    return 3
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return {}
-- test_a.py --
import pytest, lib
@pytest.mark.parametrize("p", [[[{} for _ in range(4900)] for _ in range(12)]])
def test_big(p):
    pass
def test_put(box):
    box["v"] = lib.size()
-- test_b.py --
import lib
def test_box(box):
    assert box["v"] == 3
"#,
        &[("lib.py", "return 3", "return 4")],
    ),
    (
        "a mark of one parameter",
        r#"
-- lib.py --
def memo():
    return 5
-- test_m.py --
import pytest, lib
@pytest.mark.parametrize("x", [pytest.param(0), pytest.param(1, marks=pytest.mark.held({}))])
@pytest.mark.parametrize("turn", [0, 1])
def test_mark(request, x, turn):
    if x == 1:
        held = request.node.get_closest_marker("held").args[0]
        if turn == 0:
            held["memo"] = lib.memo()
        assert held["memo"] == 5
-- pytest.ini --
[pytest]
markers = held
"#,
        &[("lib.py", "return 5", "return 6")],
    ),
];

#[test]
fn what_lasts_met_the_state_of_its_moment() {
    nothing_is_missed(&MOMENTS);
}

/// Each test that fails after an edit, as plain pytest has it, runs.
pub fn nothing_is_missed(moments: &[Moment]) {
    on_all_interpreters(Wanted::Newest, |python| {
        for (name, files, edits) in moments.iter().step_by(one_in(2)) {
            let mut project = Project::new(python, files);
            project.commit("one");
            let run = project.run();
            assert!(run.outcomes.values().all(|one| one == "passed"), "{name}");
            let run = step(&mut project, edits);
            let plain = project.plain();
            let failing = plain.iter().filter(|(_, outcome)| *outcome != "passed");
            let missed: Vec<&String> = { failing.clone() }
                .map(|(test, _)| test)
                .filter(|test| !run.outcomes.contains_key(*test))
                .collect();
            assert!(failing.count() > 0, "{name}");
            assert!(missed.is_empty(), "{name}: {missed:?}\n{}", run.stderr);
        }
    });
}
