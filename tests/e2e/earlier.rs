//! What earlier tests do besides leaving values in cells counts for those that have what came of it.

use crate::moments::{Moment, nothing_is_missed};

const EARLIER: [Moment; 10] = [
    (
        "an earlier test gets another fixture",
        r#"
-- lib.py --
import pytest
STATE = {}
def unrelated():
    pass
-- conftest.py --
import pytest
@pytest.fixture
def kept():
    return 5
-- test_a.py --
import pytest
import lib
def test_w(kept):
    lib.STATE["v"] = [kept]
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.STATE["v"][0] == 5
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[(
            "test_a.py",
            "import lib\n",
            "import lib\n@pytest.fixture\ndef kept():\n    return 6\n",
        )],
    ),
    (
        "an earlier test gets one more fixture",
        r#"
-- lib.py --
STATE = {}
-- test_a.py --
import pytest
import lib
def test_w():
    lib.STATE["v"] = [5, (i for i in range(3))]
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.STATE["v"][0] == 5
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[(
            "test_a.py",
            "import lib\n",
            "import lib\n@pytest.fixture(autouse=True)\ndef auto():\n    yield\n    lib.STATE[\"v\"] = [6]\n",
        )],
    ),
    (
        "a fixture's value that a test changes",
        r#"
-- lib.py --
Z = {}
def collect(box):
    return [x for x in box if x > 1]
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return []
-- test_a.py --
import lib
def test_first(box):
    assert box == []
def test_m(box):
    box.append(1)
def test_c(box):
    lib.Z["v"] = lib.collect(box)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.Z["v"] == []
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[("lib.py", "if x > 1", "if x > 0")],
    ),
    (
        "what a cache keeps, which a test changes",
        r#"
-- lib.py --
import functools
Z = {}
@functools.lru_cache(None)
def box():
    return []
-- test_a.py --
import lib
def test_first():
    assert lib.box() == []
def test_m():
    lib.box().append(1)
def test_c():
    lib.Z["v"] = len(lib.box())
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.Z["v"] == 1
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[("test_a.py", "len(lib.box())", "len(lib.box()) + 1")],
    ),
    (
        "a folder of the session that a test writes into",
        r#"
-- lib.py --
Z = {}
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box(tmp_path_factory):
    return tmp_path_factory.mktemp("box")
-- test_a.py --
import os
import lib
def test_first(box):
    assert box
def test_m(box):
    (box / "one").write_text("1")
def test_c(box):
    lib.Z["v"] = len(os.listdir(box))
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.Z["v"] == 1
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[(
            "test_a.py",
            "len(os.listdir(box))",
            "len(os.listdir(box)) + 1",
        )],
    ),
    (
        "a file of the project that a test writes and another one removes",
        r#"
-- lib.py --
Z = {}
-- test_a.py --
import os
import lib
def test_m():
    with open("out.tmp", "w") as f:
        f.write("1")
def test_c():
    lib.Z["v"] = int(os.path.exists("out.tmp"))
def test_clean():
    os.remove("out.tmp")
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.Z["v"] == 1
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[(
            "test_a.py",
            "int(os.path.exists(\"out.tmp\"))",
            "int(os.path.exists(\"out.tmp\")) + 1",
        )],
    ),
    (
        "parameters of a class that a test changes",
        r#"
-- lib.py --
Z = {}
-- test_a.py --
import pytest
import lib
@pytest.mark.parametrize("p", [[]], ids=["p"])
class TestX:
    def test_m(self, p):
        p.append(1)
    def test_c(self, p):
        lib.Z["v"] = len(p)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.Z["v"] == 1
@pytest.mark.parametrize("n", range(12))
def test_other(n):
    assert lib.__name__ == "lib"
"#,
        &[("test_a.py", "len(p)", "len(p) + 1")],
    ),
    (
        "a property of a fixture's value that a test reads first",
        r#"
-- lib.py --
import functools
Z = {}
STATE = {"v": 5}
class Box:
    @functools.cached_property
    def girth(self):
        return STATE["v"]
def collect(box):
    return [box.girth] if box.girth > 7 else []
-- conftest.py --
import pytest, lib
@pytest.fixture(scope="session")
def box():
    return lib.Box()
-- test_a.py --
import lib
def test_first(box):
    pass
def test_m(box):
    assert box.girth == 5
def test_set():
    lib.STATE["v"] = 4
def test_c(box):
    lib.Z["v"] = lib.collect(box)
def test_set2():
    lib.STATE["v"] = 5
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(20))
def test_r(n):
    assert lib.Z["v"] == []
"#,
        &[("lib.py", "> 7", "> 4")],
    ),
    (
        "a test that changes a fixture's value and reads state",
        r#"
-- lib.py --
STATE = {}
Z = {}
def made():
    return 5
def collect(box):
    return [x for x in box if x > 7]
-- conftest.py --
import pytest
@pytest.fixture(scope="session")
def box():
    return []
-- test_a.py --
import lib
def test_first(box):
    pass
def test_w():
    lib.STATE["v"] = lib.made()
def test_m(box):
    box.append(lib.STATE["v"])
def test_c(box):
    lib.Z["v"] = lib.collect(box)
-- test_b.py --
import pytest
import lib
@pytest.mark.parametrize("n", range(12))
def test_r(n):
    assert lib.Z["v"] == []
@pytest.mark.parametrize("n", range(12))
def test_s(n, box):
    assert box == [5]
"#,
        &[
            ("lib.py", "x > 7", "x > 4"),
            ("lib.py", "return 5", "return 4 + 1"),
        ],
    ),
    (
        "a test that ends a fixture of others",
        r#"
-- conftest.py --
import pytest
@pytest.fixture(scope="session", params=["p", "q"])
def par(request):
    return request.param
-- lib.py --
Z = {}
def made(kept):
    return len(kept) if kept else 0
-- test_a.py --
import pytest, lib
@pytest.fixture(scope="module")
def kept():
    return []
def test_x(par, kept):
    kept.append(1)
    lib.Z["v"] = lib.made(kept)
-- test_b.py --
def test_y(par):
    pass
-- test_c.py --
import pytest, lib
@pytest.mark.parametrize("n", range(10))
def test_r(n):
    assert lib.Z["v"] == 1
"#,
        &[(
            "lib.py",
            "len(kept) if kept else 0",
            "2 if len(kept) == 1 else 1",
        )],
    ),
];

#[test]
fn what_earlier_tests_do_counts() {
    nothing_is_missed(&EARLIER);
}
