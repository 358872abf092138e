"""What a test that runs can read is told by the code that ran, and by what the agent was told."""

import sys
import types

import pytest
import traces

sys.path.insert(0, traces.BOOT)
from _tamis.met import ANYTHING, Functions, Met, read_of

sys.path.remove(traces.BOOT)

FILE = "/project/lib.py"


class Reading:
    """The cells that unit 1 reads are those of the module, unit 2 reads `REG`, unit 3 annotations."""

    by_cell = {("lib.py", "A"), ("lib.py", "REG"), ("lib.py", "REG['k']"), ("lib.py", "C.size")}
    differences = types.SimpleNamespace(found=[types.SimpleNamespace(cell=("lib.py", "C.size"))])

    def cells_of(self, unit):
        return {1: {("lib.py", "A")}, 2: {("lib.py", "REG")}}.get(unit, set())

    def by_names(self, names):
        return {0} if "size" in names else set()


    def reads_annotations(self, unit):
        return unit == 3

    def cells_by_annotations(self):
        return {("lib.py", "C.size")}


def read(code=(), notes=()):
    content = {"functions": {"0": [[0, 0, 1], [3, 5, 2], [7, 9, 3]]}}
    session = types.SimpleNamespace(path=lambda path: path.rpartition("/")[2])
    plan = types.SimpleNamespace(content=content, paths=["lib.py"], session=session, leading=["vars"])
    met = Met()
    met.code.update(range(len(code)))
    met.notes.update(notes)
    agent = types.SimpleNamespace(code_places=dict(enumerate(code)))
    return read_of(met, agent, plan, Reading(), Functions(plan))


def names(found):
    return {name for _, name in found}


@pytest.mark.parametrize(
    "line, expected", [(1, {"A"}), (3, {"REG"}), (5, {"REG"}), (6, {"A"}), (20, {"A"})]
)
def test_code_by_its_line(line, expected):
    assert names(read([(FILE, line)])) == expected


def test_what_nobody_knows_may_read_anything():
    assert read([("/project/other.py", 1)]) is ANYTHING
    assert read([None]) is ANYTHING
    assert read(notes=[("names", "*", None)]) is ANYTHING
    assert read(notes=[("reached", "", ":vars")]) is ANYTHING


def test_who_reads_annotations_reads_what_they_mean():
    assert names(read([(FILE, 8)])) == {"C.size"}
    assert names(read([(FILE, 3)], [("annotations", "", None)])) == {"REG", "C.size"}
    assert names(read(notes=[("reached", "", ".__annotations__")])) == {"C.size"}


@pytest.mark.parametrize("mark", ["", ":", "."])
def test_code_that_was_made_reads_what_it_spells(mark):
    assert names(read(notes=[("reached", FILE, mark + "size")])) == {"C.size"}
    assert read(notes=[("reached", FILE, mark + "argmap_size_12")]) == set()
    assert read(notes=[("reached", FILE, mark + "vars")]) is ANYTHING


def test_keys_in_place_of_the_dictionary():
    by_key = ("reached", FILE, "[!3 get REG")
    assert read([(FILE, 3)], [by_key]) == set()
    entry = ("reached", FILE, "[REG['k']")
    assert names(read([(FILE, 3)], [by_key, entry])) == {"REG['k']"}
    whole = ("reached", FILE, "[REG")
    assert names(read([(FILE, 3)], [by_key, whole])) == {"REG", "REG['k']"}


def test_names_that_were_worked_out():
    assert names(read(notes=[("reached", "", "=size")])) == {"C.size"}
    assert read(notes=[("reached", "", "=other")]) == set()
    # What tests make has such a name, too.
    assert read(notes=[("reached", "", "?fixture size None")]) == set()
    assert names(read(notes=[("reached", FILE, "*")])) == names(Reading.by_cell)
    assert names(read(notes=[("reached", FILE, "{lib:C")])) == {"C.size"}
