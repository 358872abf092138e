"""Names that are others in each run."""

import sys

import pytest
import traces

sys.path.insert(0, traces.BOOT)
from _tamis.made_up import alike, renamed

sys.path.remove(traces.BOOT)


@pytest.mark.parametrize(
    "one, other, are",
    [
        ("page_7f9109c0e350", "page_7f210a318650", True),
        ("page_7f9109c0e350", "book_7f210a318650", False),
        # Others may ask for a certain one of these.
        ("made_1", "made_22", False),
        ("page_20261130", "page_20261201", False),
        # So many letters in a row are a word.
        ("page_beadeddefaced", "page_fadedfacaded", False),
        ("REG['7f9109c0e350']", "REG['7f210a318650']", False),
    ],
)
def test_only_addresses_differ(one, other, are):
    keys = [alike(("lib.py", name)) for name in (one, other)]
    assert (keys[0] == keys[1] and keys[0] is not None) == are


def test_names_have_counterparts_of_the_other_time():
    def cells(*names):
        return {("lib.py", name) for name in names}

    one, two, three = "7f9109c0e350", "7f210a318650", "7f2db9568750"
    now = cells("A", "made_" + one, "C.made_" + one, "x" + one, "x" + two)
    then = cells("A", "made_" + three, "C.made_" + three)
    expected = now | then | {("lib.py", ""), ("lib.py", "C.")}
    expected -= cells("A", "x" + one, "x" + two)
    assert renamed(now, then) == expected
    assert renamed(then, now) == expected
    assert renamed(now, now) == set()
