"""The values that imports leave, and the tests that are left out because they are equal."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import traces


@pytest.fixture(scope="module")
def boot(tmp_path_factory):
    """The agent with its native helper."""
    made = tmp_path_factory.mktemp("agent")
    boot = str(made / "boot")
    shutil.copytree(traces.BOOT, boot)
    library = os.path.join(boot, "_tamis_native.so")
    given = os.environ.get("TAMIS_NATIVE_DIR")
    if given:
        shutil.copy(os.path.join(given, "_tamis_native.so"), library)
    else:
        native = os.path.join(os.path.dirname(traces.BOOT), "native", "src", "lib.rs")
        command = ["rustc", "--crate-name", "_tamis_native", "--crate-type", "cdylib"]
        command += ["--edition", "2024", "-C", "opt-level=1", "-C", "panic=abort", "-o"]
        try:
            subprocess.check_call(command + [library, native])
        except OSError:
            pytest.skip("no native helper")
    return boot


@pytest.fixture
def values(project, boot):
    return Taker(project, boot)


class Taker:
    """Runs a project, and tells what was taken."""

    def __init__(self, project, boot):
        self.project = project
        self.boot = boot

    def run(self, *arguments, **environment):
        environment["PYTHONPATH"] = self.boot
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        run = self.project.pytest(*arguments, environment=environment, check=None)
        main = run.main()
        return Taking(run, main, self.project.root)

    def write_with(self, library):
        self.project.write("library.py", library)
        tests = "".join("def test_%d(): pass\n" % at for at in range(4))
        self.project.write("test_it.py", "import library, logging\n" + tests)

    def run_with(self, library):
        self.write_with(library)
        return self.run()

    def changed(self, name, text):
        """Cells that differ once the file `name` has another text."""
        before = self.run()
        self.project.write(name, text)
        after = self.run()
        assert before.forbidden is after.forbidden is None
        keys = before.cells.keys() | after.cells.keys()
        return {key for key in keys if before.cells.get(key) != after.cells.get(key)}


class Taking:
    def __init__(self, run, main, root):
        self.run = run
        self.main = main
        self.cells, self.why, self.holders = {}, {}, []
        self.imported, self.forbidden = None, None
        self.confirmed, self.refuted = [], {}
        for record in main.records:
            if record[0] == "imported":
                self.imported = {os.path.basename(main.scopes[one][1]) for one in record[1]}
            elif record[0] == "cells":
                self.holders.append([record[1], _beneath(record[2], root), [c[:2] for c in record[3]]])
                for key, value, *why in record[3]:
                    self.cells[record[1], key] = value
                    if why:
                        self.why[record[1], key] = why[0]
            elif record[0] == "no-values":
                self.forbidden = record[1]
            elif record[0] == "confirmed":
                self.confirmed = record[1]
            elif record[0] == "refuted":
                self.refuted = dict(record[1])


def _beneath(path, root):
    return path[len(root) + 1 :] if path.startswith(root + "/") else path


TEST = "import library\ndef test_a(): library.use()\n"


def test_modules_of_tests_go_away(values):
    values.project.write("test_it.py", """
        import gc, importlib.util, sys, weakref
        def test_it(tmp_path):
            path = tmp_path / "made.py"
            path.write_text("X = []")
            spec = importlib.util.spec_from_file_location("made", path)
            module = sys.modules["made"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            known = weakref.ref(module)
            del module, sys.modules["made"], spec
            gc.collect()
            assert known() is None
    """)
    taking = values.run()
    assert taking.run.outcomes() == {"test_it": "passed"}


def test_records(values):
    values.project.write("library.py", "X = [1]\nclass C:\n    y = 2\n    def f(self) -> int: 'doc'\ndef use(): pass\n")
    values.project.write("test_it.py", TEST)
    taking = values.run()
    assert taking.imported == {"library.py", "test_it.py"}
    names = [name for name, _, _ in taking.holders]
    own = [name for name in names if name[0] != "*"]
    assert own == ["library", "library:C", "test_it"]
    assert [name for name in names if name[:5] != "*lib:"] == own + ["*process", "*modules"]
    paths = {name: path for name, path, _ in taking.holders}
    assert paths["library:C"] == paths["library"] == "library.py"
    assert {"X", "C", "use", ""} <= {key for name, key in taking.cells if name == "library"}
    assert {"y", "f", "f.__annotations__", "<bases>", ""} <= {key for name, key in taking.cells if name == "library:C"}
    assert all(len(value) == 32 for value in taking.cells.values()), taking.why
    assert taking.why == {}
    # The taking comes after the items.
    tags = [record[0] for record in taking.main.records]
    assert tags.index("items") < tags.index("imported") < tags.index("cells") < tags.index("b")


def test_two_runs_are_equal(values, boot, tmp_path):
    """Other hash seeds, another place, another order of imports of libraries."""
    text = """
        import enum, re, logging, dataclasses, functools, abc, random, decimal, locale
        NAMES = {"one", "two", "three"}
        class E(enum.Enum):
            A = 1
        @dataclasses.dataclass
        class D:
            x: int = 1
        class B(abc.ABC): pass
        @functools.lru_cache
        def memo(x): return [x]
        memo("a")
        PATTERN = re.compile("a+")
        def use(): pass
    """
    first = values
    second = Taker(traces.Project(tmp_path / "elsewhere"), boot)
    takings = []
    for taker, seed, extra in ((first, "1", ""), (second, "2", "import xml.dom, wave\n")):
        extra = "import os\n" + extra
        taker.project.write("library.py", text)
        taker.project.write("test_it.py", "import pytest\n" + TEST + "@pytest.mark.parametrize('x', [1, 'b'])\ndef test_b(x): pass\n")
        taker.project.write("conftest.py", extra)
        takings.append(taker.run(PYTHONHASHSEED=seed).cells)
    one, two = takings
    differ = {key for key in one.keys() | two.keys() if one.get(key) != two.get(key)}
    differ = {key for key in differ if key[0] in [k[0] for k in one] and key[0] in [k[0] for k in two]}
    assert differ == {("conftest", ""), ("conftest", "xml"), ("conftest", "wave"), ("*modules", "modules")}


BEFORE = "import json, os, re, logging\nfrom collections.abc import Mapping\nclass C: pass\nX = 1\ndef use(): pass\n"

QUIET = [
    "PATTERN = re.compile('b+c*')",
    "import enum\nclass E(enum.Enum): A = 1",
    "import dataclasses\n@dataclasses.dataclass\nclass D:\n    x: int = 1",
    "logger = logging.getLogger('some.name')",
    "class M(Mapping): __len__ = __iter__ = __getitem__ = None",
    "import typing\nK = typing.Optional[typing.List['C']]",
    "json.loads('[1]'), os.path.exists('x'), isinstance(1, Mapping)",
]

# Statements of an import, and the cell outside the project that shows what they did.
LOUD = {
    "Mapping.register(C)": ("*lib:collections.abc", ""),
    "json.dumps = len": ("*lib:json", ""),
    "json.JSONEncoder.default = use": ("*lib:json.encoder", ""),
    "warnings.simplefilter('error')": ("*lib:warnings", ""),
    "copyreg.pickle(C, len)": ("*lib:copyreg", ""),
    "mimetypes.add_type('x/y', '.xy')": ("*lib:mimetypes", ""),
    "builtins.mine = 1": ("*lib:builtins", ""),
    "logging.getLogger('x').setLevel(10)": ("*process", "logging"),
    "os.environ['FLAVOUR'] = 'sweet'": ("*process", "environ[FLAVOUR]"),
    "sys.path.append('/nowhere')": ("*process", "sys.path"),
    "sys.setrecursionlimit(1234)": ("*process", "sys"),
    "sys.intern = str": ("*process", "sys.*"),
    "sys.excepthook = use": ("*process", "hooks"),
    "decimal.getcontext().prec = 3": ("*process", "decimal"),
    "random.seed(3)": ("*process", "random"),
    "signal.signal(signal.SIGUSR1, signal.SIG_IGN)": ("*process", "signals"),
    "csv.register_dialect('mine', delimiter=';')": ("*process", "csv"),
    "socket.setdefaulttimeout(3)": ("*process", "sockets"),
    "locale.setlocale(locale.LC_COLLATE, 'C.UTF-8')": ("*process", "locale"),
    "os.chdir('/')": ("*process", "cwd"),
    "sys.argv.append('x')": ("*process", "sys.argv"),
    "import atexit; atexit.register(use)": ("*process", "atexit"),
}


def loaded_before():
    """So that the edit imports nothing that was not there."""
    return (
        "import enum, dataclasses, typing, warnings, copyreg, decimal, random, signal, csv, socket\n"
        "import mimetypes, builtins, sys, locale\nmimetypes.init()\n"
    )


def test_what_libraries_do_by_themselves_is_quiet(values):
    values.project.write("test_it.py", TEST)
    values.project.write("library.py", loaded_before() + BEFORE)
    found = values.changed("library.py", loaded_before() + BEFORE + "\n".join(QUIET) + "\n")
    assert {name for name, _ in found} <= {"library", "library:D", "library:E", "library:M"}


def test_what_imports_do_to_others_shows(values):
    values.project.write("test_it.py", TEST)
    values.project.write("library.py", loaded_before() + BEFORE)
    steps = "\n".join(LOUD) + "\n"
    found = values.changed("library.py", loaded_before() + BEFORE + steps)
    found = {cell for cell in found if cell[0] not in ("library", "*modules")}
    assert found >= set(LOUD.values())
    # The module from which `collections.abc` has its names, and the like.
    assert {cell for cell in found if cell[0] == "*process"} <= set(LOUD.values())


def test_warnings_that_pytest_collects_are_quiet(values):
    """Which ones there are, and on which lines."""
    values.project.write("test_it.py", TEST)
    values.project.write("library.py", loaded_before() + BEFORE + "warnings.warn('mind')\n")
    again = BEFORE + "\n\nwarnings.warn('mind')\nwarnings.warn('twice')\n"
    found = values.changed("library.py", loaded_before() + again)
    assert {name for name, _ in found} <= {"library"}
    found = values.changed("library.py", loaded_before() + again + "warnings.showwarning = use\n")
    assert ("*lib:warnings", "") in found


def test_aliasing(values):
    values.project.write("other.py", "missing = object()\n")
    values.project.write("library.py", "from other import missing\nHELD = {1: [missing]}\ndef use(): pass\n")
    values.project.write("test_it.py", TEST)
    found = values.changed(
        "library.py", "missing = object()\nHELD = {1: [missing]}\nimport other\ndef use(): pass\n"
    )
    assert {("library", "missing"), ("library", "HELD")} <= found


def test_items(values):
    text = """
        import pytest
        @pytest.fixture
        def made(value=1): return 1
        @pytest.mark.parametrize("x", [1, {2: 3}, pytest.param(4, id="four")])
        def test_a(x): pass
        def test_b(made): pass
        @pytest.mark.slow(1)
        def test_c(): pass
        def test_d(tmp_path): pass
        @pytest.mark.skipif("1 > 2")
        def test_e(): pass
    """
    path = values.project.write("test_it.py", text)
    taking = values.run("-Wignore")
    items = {key.partition("::")[2] for name, key in taking.cells if name == "*items"}
    assert items == {"test_a[1]", "test_a[x1]", "test_a[four]", "test_b", "test_c", "test_e"}
    assert taking.why == {}
    for old, new, differs in [
        ("2: 3", "2: 4", "test_a[x1]"),
        ("value=1", "value=2", "test_b"),
        ("slow(1)", "slow(2)", "test_c"),
        ("def made", "def other(): pass\n@pytest.fixture(scope='module')\ndef made", "test_b"),
    ]:
        with open(path, encoding="utf-8") as lines:
            before = lines.read()
        found = values.changed("test_it.py", before.replace(old, new))
        assert {key for name, key in found if name == "*items"} == {"test_it.py::" + differs}, new


def test_opaque_and_volatile(values):
    values.project.write("library.py", "G = iter({1})\nF = open(__file__)\nimport time\nNOW = time.time()\ndef use(): pass\n")
    values.project.write("test_it.py", TEST)
    taking = values.run()
    assert taking.why == {("library", "G"): "set_iterator", ("library", "F"): "_io.TextIOWrapper"}
    assert taking.cells["library", "G"] is None
    assert taking.cells["library", "NOW"] != values.run().cells["library", "NOW"]


def test_imports_that_do_more_than_leave_values(values):
    project = values.project
    project.write("plain.py", "X = 1\n")
    project.write("writes.py", "open('out.txt', 'w').close()\n")
    project.write("needs_it.py", "import writes, plain\n")
    project.write("starts.py", "import subprocess, sys\nsubprocess.check_call([sys.executable, '-c', ''])\n")
    project.write("replaced.py", "import sys\nclass Fake: pass\nsys.modules[__name__] = Fake()\n")
    project.write("broken.py", "X = 1\nraise ImportError('no')\n")
    project.write("test_it.py", "import plain, replaced\ntry: import broken\nexcept ImportError: pass\ndef test_a(): pass\n")
    project.write("test_other.py", "import needs_it, starts\ndef test_b(): pass\n")
    project.write("sends.py", "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('127.0.0.1', 9))\n")
    project.write("remembers.py", "import functools\n@functools.lru_cache\ndef f(): return g()\n@functools.lru_cache\ndef g(): open('two.txt', 'w').close()\nf()\n")
    project.write("test_more.py", "import sends, remembers\ndef test_c(): pass\n")
    # Who needs such an import is none itself.
    assert values.run().imported == {"plain.py", "needs_it.py", "test_it.py", "test_other.py", "test_more.py"}


def test_no_values(values):
    project = values.project
    project.write("test_it.py", "def test_a(): pass\n")
    project.write("test_bad.py", "raise RuntimeError\n")
    assert values.run("--continue-on-collection-errors").forbidden == "collecting tests failed"
    project.write("test_bad.py", "import threading, time\nthreading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n")
    assert values.run().forbidden == "other threads are running"
    assert values.run(TAMIS_COLLECTOR="pure").forbidden is None


def test_values_of_workers(values):
    """Each takes its own; the controller, which collects nothing, takes none."""
    project = values.project
    project.write("test_it.py", "VALUE = 1\ndef test_a(): pass\n")
    pytest.importorskip("xdist")
    environment = {"PYTHONPATH": values.boot, "PYTHONDONTWRITEBYTECODE": "1"}
    run = project.pytest("-n", "2", plugins=True, environment=environment)
    takings = [Taking(run, process, project.root) for process in run.processes.values()]
    of_workers = [one for one in takings if one.main.items is not None]
    assert len(of_workers) == 2 and len(takings) == 3
    for one in takings:
        assert one.forbidden is None
        assert (("test_it", "VALUE") in one.cells) is (one in of_workers)


# -- confirming -----------------------------------------------------------------


def name_hash(name):
    found = 0x811C9DC5
    for byte in name.encode():
        found = (found ^ byte) * 0x01000193 % 2**32
    return found


def plan(taking, tests, flags=(), holds=(), modules=("library.py", "test_it.py"), late=()):
    """A plan in which each test reads some names. `tests`: id -> names."""
    paths = sorted(set(modules) | set(holds))
    units = [
        dict({flag: True for flag in flags}, names=[name_hash(name) for name in names],
             holds=[paths.index(path) for path in holds])
        for names in tests.values()
    ]
    return {
        "matrices": [{"holders": taking.holders}],
        "paths": paths,
        "modules": [[paths.index(path) for path in modules]],
        "asked": ["setup_module", "pytestmark"],
        "units": units,
        "sets": [[at] for at in range(len(units))],
        "tests": {
            test: {"matrix": 0, "sets": [at], "modules": 0, "late": list(late)}
            for at, test in enumerate(tests)
        },
    }


def confirm(values, confirm, *arguments, late=None):
    content = {"version": 1, "exclude": [], "confirm": confirm}
    content["late"] = late or {"units": [], "tests": {}}
    path = values.project.write(".tamis/exclude.json", json.dumps(content))
    return values.run(*arguments, TAMIS_EXCLUDE=path)


LIBRARY = """
import re, sys
CONSTANT = 1
OTHER = [2]
def f(x, y=1):
    "doc"
    return x
class Base:
    z = 1
    def __init__(self): pass
    def m(self): "doc"
class Plain(Exception):
    z = 1
"""

# What an import makes and takes away again.
PASSING = """
import os
os.mkdir('passing')
os.symlink(__file__, 'passing/link')
open('passing/x', 'a').close()
for name in os.listdir('passing'): os.remove('passing/' + name)
os.rmdir('passing')
"""

# Edits of `LIBRARY`; what a test spells, its flags, and what differs for it (`None`: confirmed).
CASES = {
    ("return x", "return x + 1"): [(["f", "CONSTANT"], [], None), ([], ["anything"], None)],
    ("CONSTANT = 1", "CONSTANT = 2"): [
        (["CONSTANT"], [], "library.CONSTANT differs"),
        (["OTHER"], ["members", "docstrings", "annotations"], None),
        ([], ["anything"], "library.CONSTANT differs"),
    ],
    ("CONSTANT = 1\n", ""): [(["CONSTANT"], [], "library.CONSTANT differs"), (["OTHER"], [], None)],
    ("CONSTANT = 1", "CONSTANT = iter({1})"): [(["CONSTANT"], [], "library.CONSTANT has no value (set_iterator)")],
    ("OTHER = [2]", "OTHER = [2]\nOTHER2 = 3"): [
        (["OTHER"], [], None),
        ([], ["anything"], "library.OTHER2 differs, and 1 more"),
    ],
    ("y=1", "y=2"): [(["f"], [], "library.f differs")],
    ("(x, y=1)", "(z, y=1)"): [(["f"], [], "library.f differs")],
    ('"doc"\n    return', '"new"\n    return'): [
        (["f"], ["docstrings"], None),
    ],
    ("class Base:", "f.__doc__ = 'set'\nclass Base:"): [
        (["f"], [], None),
        ([], ["docstrings"], "library.f.__doc__ differs"),
    ],
    ("def f(x", "def f(x: int"): [
        (["f"], [], None),
        ([], ["annotations"], "library.f.__annotations__ differs"),
    ],
    ("def m", "def __len__(self): return 1\n    def m"): [([], [], "library.Base.__len__ differs")],
    ("class Base:", "class Base(list):"): [([], [], "library.Base.<bases> differs")],
    ("def m", "def qqqq(self): return 1\n    def m"): [
        (["m"], [], None),
        (["qqqq"], [], "library.Base.qqqq differs"),
        ([], ["members"], "library.Base.qqqq differs, and 1 more"),
    ],
    # The module `logging` spells this one.
    ("def m", "def getMessage(self): return 1\n    def m"): [
        (["m"], [], "library.Base.getMessage differs")
    ],
    ("OTHER = [2]", "OTHER = [2]\ndef pytest_thing(): pass"): [
        ([], [], "library.pytest_thing differs")
    ],
    ("OTHER = [2]", "OTHER = [2]\ndef __getattr__(name): return 1"): [
        ([], [], None),
        (["library.py:__getattr__"], [], "library.__getattr__ differs"),
    ],
    ("OTHER = [2]", "OTHER = [2]\nsys.path.append('/nowhere')"): [
        ([], [], "process sys.path differs")
    ],
    ("OTHER = [2]", "OTHER = [2]\nre.compile = len"): [([], [], "the library re differs")],
    ("OTHER = [2]", "OTHER = [2]\nopen('out.txt', 'w').close()"): [
        ([], [], "the import of library.py did more than leave values")
    ],
    ("OTHER = [2]", "OTHER = [2]\n" + PASSING): [([], [], None)],
    # A descriptor leads to what has no path any more.
    ("OTHER = [2]", "OTHER = [2]\n" + PASSING.replace("'a').close()", "'a').close()\nHELD = os.open('passing/x', 0)")): [
        ([], [], "the import of library.py did more than leave values")
    ],
    # Through a link it writes what stays.
    ("OTHER = [2]", "OTHER = [2]\n" + PASSING.replace("/x", "/link")): [
        ([], [], "the import of library.py did more than leave values")
    ],
}


@pytest.fixture(scope="module")
def recorded(boot, tmp_path_factory):
    """A run of `LIBRARY` in another place."""
    taker = Taker(traces.Project(tmp_path_factory.mktemp("recorded") / "project"), boot)
    return taker.run_with(LIBRARY)


@pytest.mark.parametrize("edit", list(CASES))
def test_confirming(values, recorded, edit):
    assert edit[0] in LIBRARY
    values.write_with(LIBRARY.replace(*edit))
    tests = {"test_it.py::test_%d" % at: names for at, (names, _, _) in enumerate(CASES[edit])}
    made = plan(recorded, tests)
    for unit, (_, flags, _) in zip(made["units"], CASES[edit]):
        unit.update({flag: True for flag in flags})
    taking = confirm(values, made)
    expected = {test: why for test, (_, _, why) in zip(tests, CASES[edit])}
    assert taking.forbidden is None
    assert taking.refuted == {test: why for test, why in expected.items() if why}
    assert taking.confirmed == [test for test, why in expected.items() if not why]
    left_out = {test.partition("::")[2] for test in taking.confirmed}
    assert set(taking.run.outcomes()) == {"test_%d" % at for at in range(4)} - left_out
    # What was left out for that is among the deselected.
    assert taking.main.items[1] == taking.confirmed


def test_what_the_test_itself_has(values):
    """The name of its function and of its fixtures, its parameters, its file's conftest."""
    project = values.project
    project.write("library.py", "X = 1\n")
    text = "import pytest, library\n@pytest.fixture\ndef made(): return 1\nhelper = 1\n@pytest.mark.parametrize('x', [[1], [2]])\ndef test_a(x, made, value=1): pass\ndef test_b(value=1): pass\n"
    project.write("test_it.py", text)
    conftest = project.write("conftest.py", "import pytest\nX = 1\n")
    recorded = values.run()
    tests = {"test_it.py::" + name: [] for name in ("test_a[x0]", "test_a[x1]", "test_b")}

    def refuted(new, *arguments):
        project.write("test_it.py", new)
        return set(confirm(values, plan(recorded, tests), *arguments).refuted)

    assert refuted(text) == set()
    assert refuted(text, "-k", "test_b") == set()
    assert refuted(text.replace("helper = 1", "helper = 2")) == set()
    assert refuted(text.replace("[2]", "[3]")) == {"test_it.py::test_a[x1]"}
    assert refuted(text.replace("test_b(value=1)", "test_b(value=2)")) == {"test_it.py::test_b"}
    assert refuted(text.replace("def made()", "def made(v=1)")) == {"test_it.py::test_a[x0]", "test_it.py::test_a[x1]"}
    assert refuted(text + "def setup_module(): pass\n") == set(tests)
    project.write("conftest.py", "import pytest\nX = 2\n")
    assert refuted(text) == set(tests)


def test_modules_that_come_and_go(values):
    project = values.project
    project.write("library.py", "X = 1\n")
    project.write("test_it.py", "import library\ndef test_a(): pass\n")
    recorded = values.run()
    project.write("test_new.py", "import newer\ndef test_b(): pass\n")
    project.write("newer.py", "X = 2\n")
    test = "test_it.py::test_a"
    assert confirm(values, plan(recorded, {test: ["X"]})).confirmed == [test]
    assert confirm(values, plan(recorded, {test: ["newer"]})).refuted == {test: "newer differs"}
    assert test in confirm(values, plan(recorded, {test: []}, ["anything"])).refuted
    both = values.run()
    os.remove(os.path.join(project.root, "test_new.py"))
    assert confirm(values, plan(both, {test: ["newer"]})).refuted == {test: "newer differs"}


def test_a_held_module(values):
    project = values.project
    project.write("library.py", "X = 1\n")
    project.write("test_it.py", "import library\ndef test_a(): pass\n")
    recorded = values.run()
    project.write("library.py", "X = 2\n")
    test = "test_it.py::test_a"
    assert confirm(values, plan(recorded, {test: []})).confirmed == [test]
    held = plan(recorded, {test: []}, holds=["library.py"])
    assert confirm(values, held).refuted == {test: "library.X differs"}


def test_when_nothing_is_confirmed(values):
    project = values.project
    project.write("library.py", "X = 1\n")
    project.write("test_it.py", "import library\ndef test_a(): pass\n")
    test = "test_it.py::test_a"
    made = plan(values.run(), {test: []})
    run = confirm(values, made)
    assert run.confirmed == [test] and "0 of 1 tests selected, 1 more left out" in run.run.output
    late = {"units": [["env", "FLAVOUR", "00" * 16]], "tests": {}}
    differs = plan(values.run(), {test: []}, late=[0])
    assert confirm(values, differs, late=late).refuted == {test: "its environment differs"}
    broken = confirm(values, dict(made, modules=[]))
    assert broken.confirmed == [] and "comparing the values failed" in broken.forbidden
    assert set(broken.run.outcomes()) == {"test_a"}
    project.write("test_bad.py", "raise RuntimeError\n")
    failing = confirm(values, made, "--continue-on-collection-errors")
    assert failing.confirmed == [] and set(failing.run.outcomes()) == {"test_a"}
