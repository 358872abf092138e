"""What tests leave behind for others."""

import json

from test_values import boot, values  # noqa: F401

LIBRARY = """
import os
CACHE = {}
OTHER = {}
MARK = object()
class Box:
    held = None
"""

TESTS = """
import library, os
def test_global(): library.CACHE["a"] = 1
def test_nothing(): library.CACHE["a"] = 1
def test_mark(): library.CACHE["mark"] = library.MARK
def test_two():
    library.Box.held = 1
    library.OTHER["b"] = [library.CACHE]
def test_after(): pass
def test_variable(): os.environ["MADE"] = "1"
def test_untold(): library.OTHER["it"] = iter({1})
"""


def left(taker, tests=TESTS, library=LIBRARY):
    """By test: name of each cell -> value; and the record of the order."""
    taker.project.write("library.py", library)
    taker.project.write("test_it.py", tests)
    main = taker.run().main
    names = {scope: test.partition("::")[2] for test, scope in _begun(main)}
    found = {}
    for record in main.records:
        if record[0] == "left":
            cells = found.setdefault(names[record[1]], {})
            cells.update({name: value for _, name, value in record[2]})
    return found, [record for record in main.records if record[0] == "order"]


def _begun(main):
    return ((record[2], record[1]) for record in main.records if record[0] == "b")


def test_cells_by_turn(values):
    found, order = left(values)
    assert {test: set(cells) for test, cells in found.items()} == {
        "test_global": {"CACHE"},
        "test_mark": {"CACHE"},
        "test_two": {"Box.held", "OTHER"},
        # The process has a variable more.
        "test_variable": {"", "environ[MADE]"},
        "test_untold": {"OTHER"},
    }
    assert found["test_untold"]["OTHER"] is None
    assert None not in {**found["test_mark"], **found["test_two"], **found["test_variable"]}.values()
    assert order == [["order", [], True]]
    assert left(values)[0] == found


def test_hooks_of_the_collector(values):
    """It notices when objects are collected that have cached properties."""
    library = """
import functools
class Box:
    @functools.cached_property
    def held(self): return 1
"""
    tests = """
import library
def test_cached(): library.Box().held
def test_after(): pass
"""
    assert left(values, tests, library)[0] == {}


def test_values_that_differ(values):
    found, _ = left(values)

    def changed(old, new):
        assert old in TESTS
        now, _ = left(values, TESTS.replace(old, new))
        return {
            (test, name)
            for test in found
            for name, value in found[test].items()
            if value != now.get(test, {}).get(name)
        }

    # An equal object is not the same one.
    in_boxes = {("test_mark", "CACHE"), ("test_two", "OTHER")}
    assert changed("= library.MARK", "= object()") == in_boxes
    in_process = {("test_variable", "environ[MADE]")}
    assert changed('["MADE"] = "1"', '["MADE"] = "2"') == in_process
    assert changed("held = 1", "held = 2") == {("test_two", "Box.held")}
    assert changed('"b"', '"c"') == {("test_two", "OTHER")}
    everything = changed('["a"] = 1', '["a"] = 2')
    assert everything == {("test_global", "CACHE"), ("test_mark", "CACHE"), ("test_two", "OTHER")}


def test_objects_of_several_cells(values):
    tests = """
import library
def test_one():
    library.CACHE["a"] = library.OTHER["a"] = []
    library.Box.held = (library.MARK, "text " * 2)
def test_between(): pass
def test_two(): library.Late = type("Late", (library.Box,), {})
def test_pause(): pass
def test_again(): library.CACHE["b"] = library.OTHER["a"]
"""
    found, _ = left(values, tests)

    def changed(old, new):
        now, _ = left(values, tests.replace(old, new))
        return {
            (test, name)
            for test, cells in found.items()
            for name, value in cells.items()
            if value != now[test].get(name)
        }

    assert {"Late", "Box.__subclasses__", ""} <= set(found["test_two"])
    # Two new ones that were one object. `test_again` leads to that of `OTHER`.
    apart = changed('library.OTHER["a"] = []', '[]; library.OTHER["a"] = []')
    assert apart == {("test_one", "OTHER"), ("test_again", "CACHE")}
    assert changed('library.OTHER["a"]\n', "[]\n") == {("test_again", "CACHE")}
    later = {("test_two", name) for name in ("", "Box.__subclasses__", "Late")}
    assert changed("Late", "Later") == later


def test_changes_in_place(values):
    """No dictionary shows what is in an array."""
    library = LIBRARY + """
import array
class Outer:
    class Inner: numbers = array.array("i", [0])
"""
    tests = """
import library
def test_first(): pass
def test_array(): library.Outer.Inner.numbers[0] = 1
def test_other(): library.CACHE["a"] = 1
def test_last(): pass
"""
    found, _ = left(values, tests, library)
    cells = {test: set(cells) for test, cells in found.items()}
    assert cells == {"test_array": {"Outer.Inner.numbers"}, "test_other": {"CACHE"}}


def test_one_after_the_other(values):
    tests = """
import library
def test_one(): library.CACHE["a"] = 1
def test_two():
    library.CACHE["b"] = 1
    library.OTHER["b"] = 1
def test_three(): library.CACHE["c"] = 1
"""
    found, _ = left(values, tests)
    caches = {cells["CACHE"] for cells in found.values()}
    assert len(caches) == 3 and {len(value) for value in caches} == {32}
    assert len(found["test_two"]["OTHER"]) == 32


def test_a_part_of_the_tests(values):
    project = values.project
    project.write("library.py", LIBRARY)
    project.write("test_it.py", TESTS)
    content = {"version": 1, "exclude": ["test_it.py::test_global"], "late": {"units": [], "tests": {}}}
    path = project.write(".tamis/exclude.json", json.dumps(content))
    main = values.run(TAMIS_EXCLUDE=path).main
    (order,) = [record for record in main.records if record[0] == "order"]
    names = [one.partition("::")[2] for one in order[1]]
    assert names[:2] == ["test_global", "test_nothing"] and order[2] is False
    # So nobody compares with these values; only which cells there are counts.
    assert {"CACHE", "Box.held"} <= {
        name for record in main.records if record[0] == "left" for _, name, _ in record[2]
    }
    main = values.run("-k", "mark").main
    # What options leave out of every run is not there.
    (order,) = [record for record in main.records if record[0] == "order"]
    assert order[2] is True


def test_buffers_in_memory(values):
    library = """
import io
BYTES = io.BytesIO(b"text")
class Box:
    text = io.StringIO("text")
"""
    tests = """
import io, library
def test_nothing(): assert library.BYTES.getvalue() == b"text"
def test_read(): library.BYTES.read(2)
def test_back():
    library.Box.text.read()
    library.Box.text.seek(0)
def test_write(): library.Box.text.write("T")
def test_new(): library.Box.new = io.BytesIO(b"new")
def test_new_read(): library.Box.new.read()
def test_close(): library.BYTES.close()
def test_after(): pass
"""
    found, _ = left(values, tests, library)
    assert {test: set(cells) for test, cells in found.items()} == {
        "test_read": {"BYTES"},
        "test_write": {"Box.text"},
        "test_new": {"Box.", "Box.new"},
        "test_new_read": {"Box.new"},
        "test_close": {"BYTES"},
    }
    values_of_new = [found["test_new"]["Box.new"], found["test_new_read"]["Box.new"]]
    assert None not in values_of_new and len(set(values_of_new)) == 2
    assert left(values, tests, library)[0] == found
