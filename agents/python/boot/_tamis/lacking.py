"""What tests lacked that ran while others were left out: these leave or make what they could read.

The next run has those others run, too. Of who lacks something then all the same nobody knows what
it lacks, and it runs after all that leave anything.

PYTEST_DONT_REWRITE
"""


class Lacking:
    """What was lacking in the run before this one."""

    def __init__(self, anew):
        self.told = anew["inexact"] if anew else {}
        # Test -> cells, and hashes of what tests make for others.
        self._by_test = {
            test: ({tuple(cell) for cell in one["cells"]}, set(one["made"]))
            for test, one in self.told.items()
            if one is not None
        }
        # Nobody knows what some lacked.
        self.is_broad = len(self._by_test) < len(self.told)

    def __bool__(self):
        return bool(self.told)

    def of(self, test):
        """`None` if it lacked nothing."""
        return self._by_test.get(test)


def tell(trace, inexact):
    """Tell the trace what each test of `inexact` lacked: cells and hashes; `None` if nobody knows."""
    for test, lacked in inexact.items():
        if lacked is not None:
            cells, made = lacked
            lacked = [sorted(cells), sorted(made)]
        trace.write("inexact", test, lacked)


def tell_again(trace, lacking):
    """What was lacking is still."""
    tell(trace, {test: lacking.of(test) for test in lacking.told})
