"""What tests lacked that ran while others were left out: these leave or make what they could read.

The next run has those others run, too. Of who lacks something then all the same nobody knows what
it lacks, and it runs after all that leave anything.

PYTEST_DONT_REWRITE
"""


class Lacking:
    """What was lacking in the run before this one."""

    def __init__(self, anew):
        # Test -> cells, and hashes of what tests make for others; `None` if nobody knows.
        self.by_test = {
            test: one and ({tuple(cell) for cell in one["cells"]}, set(one["made"]))
            for test, one in (anew["inexact"] if anew else {}).items()
        }
        self.is_broad = None in self.by_test.values()

    def __bool__(self):
        return bool(self.by_test)


def tell(trace, inexact):
    """Tell the trace what each test of `inexact` lacked: cells and hashes; `None` if nobody knows."""
    for test, lacked in inexact.items():
        if lacked is not None:
            cells, made = lacked
            lacked = [sorted(cells), sorted(made)]
        trace.write("inexact", test, lacked)
