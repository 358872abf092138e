"""Excluded tests stay out, unless a unit changed that the selection could not check."""

import json
import os
import subprocess
import sys

import pytest

import traces

TESTS = "import os\ndef test_a(): pass\ndef test_b(): pass\ndef test_c(): os.environ.get('FLAVOUR')\n"


@pytest.fixture
def three(project):
    project.write("test_it.py", TESTS)
    return project


def exclude(project, tests, late=None, version=1):
    content = {
        "version": version,
        "exclude": tests,
        "late": late or {"units": [], "tests": {}},
    }
    return {"TAMIS_EXCLUDE": project.write(".tamis/exclude.json", json.dumps(content))}


def env_unit(value):
    sys.path.insert(0, traces.BOOT)
    try:
        from _tamis import fingerprint
    finally:
        sys.path.remove(traces.BOOT)
    return ["env", "FLAVOUR", value and fingerprint.of_bytes(value.encode())]


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_excluded_tests_are_deselected(three, workers):
    pytest.importorskip("xdist")
    variables = exclude(three, ["test_it.py::test_a", "test_it.py::test_c"])
    run = three.pytest("test_it.py", *workers, plugins=bool(workers), environment=variables)
    assert set(run.outcomes()) == {"test_b"}
    if not workers:
        assert "1 of 3 tests selected" in run.output
        assert run.main().items[1] == ["test_it.py::test_a", "test_it.py::test_c"]


@pytest.mark.parametrize("files", [{"test_it.py": 2}, {}])
def test_the_shards_of_unlisted_tests_are_the_whole(three, files):
    three.write("test_other.py", "def test_d(): pass\n")
    seen = []
    for index in [1, 2, 3]:
        variables = exclude(three, ["test_it.py::test_b"])
        with open(variables["TAMIS_EXCLUDE"]) as text:
            content = json.load(text)
        content["shard"] = {"index": index, "of": 3, "plan": "p", "files": files}
        variables = {"TAMIS_EXCLUDE": three.write(".tamis/exclude.json", json.dumps(content))}
        ran = set(three.pytest(environment=variables).outcomes())
        if index == files.get("test_it.py"):
            assert {"test_a", "test_c"} <= ran
        # A file is never divided.
        assert ("test_a" in ran) == ("test_c" in ran)
        seen += ran
    assert sorted(seen) == ["test_a", "test_c", "test_d"]


@pytest.mark.parametrize("shard", [{"index": 4, "of": 3, "files": {}}, {"index": 1}, [1]])
def test_a_shard_that_cannot_be_read_leaves_nothing_out(three, shard):
    variables = exclude(three, ["test_it.py::test_b"])
    with open(variables["TAMIS_EXCLUDE"]) as text:
        content = dict(json.load(text), shard=shard)
    variables = {"TAMIS_EXCLUDE": three.write(".tamis/exclude.json", json.dumps(content))}
    run = three.pytest("test_it.py", environment=variables)
    assert set(run.outcomes()) == {"test_a", "test_b", "test_c"}


def test_nothing_left_is_a_success(three):
    everything = ["test_it.py::test_%s" % letter for letter in "abc"]
    run = three.pytest("test_it.py", environment=exclude(three, everything))
    assert run.outcomes() == {}
    assert "0 of 3 tests selected" in run.output


def test_no_tests_at_all_is_still_status_5(three):
    three.write("test_empty.py")
    three.pytest("test_empty.py", environment=exclude(three, ["x"]), check=5)


@pytest.mark.parametrize(
    "value, admitted", [("sweet", False), ("sour", True), (None, True)]
)
def test_changed_variable_admits_again(three, value, admitted):
    late = {"units": [env_unit("sweet")], "tests": {"test_it.py::test_c": [0]}}
    variables = exclude(three, ["test_it.py::test_a", "test_it.py::test_c"], late)
    if value is not None:
        variables["FLAVOUR"] = value
    run = three.pytest("test_it.py", environment=variables)
    assert set(run.outcomes()) == ({"test_b", "test_c"} if admitted else {"test_b"})
    assert ("re-admitted because env FLAVOUR changed" in run.output) == admitted


@pytest.mark.parametrize("content", ["{", '{"version": 2, "exclude": []}', "[]", '{"version":1}'])
def test_a_file_that_cannot_be_used_excludes_nothing(three, content):
    path = three.write(".tamis/exclude.json", content)
    run = three.pytest("test_it.py", environment={"TAMIS_EXCLUDE": path})
    assert len(run.outcomes()) == 3
    assert "tamis: every test runs" in run.output


def test_probe_prints_what_the_trace_says(project):
    project.write("test_it.py", "import os\ndef test_c(): os.environ.get('FLAVOUR')\n")
    run = project.pytest("test_it.py", plugins=True, environment={"FLAVOUR": "sweet"})
    traced = {
        (kind, path): value
        for kind, path, value in run.closure("test_c")
        if kind in ("env", "dist", "runtime")
    }
    assert ("dist", "pytest") in traced and ("env", "FLAVOUR") in traced
    question = json.dumps(sorted(traced)) + "\n"
    probe = os.path.join(traces.BOOT, "_tamis", "probe.py")
    environment = dict(os.environ, FLAVOUR="sweet")
    answers = subprocess.check_output(
        [sys.executable, probe], input=(2 * question).encode(), env=environment
    )
    values = [traced[key] for key in sorted(traced)]
    assert [json.loads(line)["values"] for line in answers.splitlines()] == [values, values]
