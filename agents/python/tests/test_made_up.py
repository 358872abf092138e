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
        ("made_1", "made_22", True),
        ("page_7f9109c0e350", "page_7f210a318650", True),
        ("made_1", "built_1", False),
        # No word has so many of these letters in a row, but without a digit it is none either.
        ("made_1_beadeddeface", "made_1_fadedfacade", False),
        ("made_1", "made", False),
        ("REG['1']", "REG['2']", False),
    ],
)
def test_only_numbers_differ(one, other, are):
    keys = [alike(("lib.py", name)) for name in (one, other)]
    assert (keys[0] == keys[1] and keys[0] is not None) == are


def test_names_have_counterparts_of_the_other_time():
    def cells(*names):
        return {("lib.py", name) for name in names}

    now, then = cells("A", "made_2", "C.made_8", "x3", "x4"), cells("A", "made_1", "C.made_7")
    expected = cells("made_2", "made_1", "", "C.made_8", "C.made_7", "C.")
    assert renamed(now, then) == expected
    assert renamed(then, now) == expected
    assert renamed(now, now) == set()
