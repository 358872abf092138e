"""Which tests wait for their turn, and who runs for them.

PYTEST_DONT_REWRITE
"""

from .separated import last_ones, separators
from .setters import Names, Reads, setters
from .settle import Settling


class Begun:
    """How the tests that wait are settled."""

    def __init__(self):
        # What settles them at their turn, and the tests that run for it.
        self.settling = None
        self.needed = ()
        # Of these, those of which only another record tells what they leave.
        self.others = frozenset()
        # Else why there is none.
        self.why = "another record has its values"


def begin(agent, plan, collected, kept, waiting):
    """Settle `waiting` tests, beside those that are `kept[0]` and so run. `collected` are all items, in
    order. `kept[1]`: what tests lacked in the run before."""
    begun = Begun()
    kept, lacking = kept
    matrices = {plan.tests[test]["matrix"] for test in waiting or plan.tests}
    # The nearest record comes first.
    number = min(matrices, default=0)
    record = plan.content["matrices"][number]
    ties = record.get("ties")
    if not ties:
        begun.why = "what earlier tests leave is not known"
        return begun
    waiting = frozenset(test for test in waiting if plan.tests[test]["matrix"] == number)
    items = [item.nodeid for item in collected]
    settling = Settling(agent, plan, record, waiting, Names(agent, collected))
    if not settling.take_places(items):
        begun.why = "the tests are in another order"
        return begun
    runs = set(kept).difference(waiting)
    settling.reads = Reads(settling, lacking)
    # These will not turn out to do what they did, so others run for them as well.
    runs |= settling.reads.of_unknown(collected, waiting)
    # Of tests that another record proves nobody knows here what they leave: so they run.
    others = set(ties["of_others"]).intersection(items) - runs
    runs |= others
    settling.other_items = plan.other_items(number)
    settling.is_alone = not waiting and not lacking
    needed, settling.is_broad = _needed(settling, collected, runs, waiting, lacking)
    needed += separators(collected, runs.union(needed), waiting)
    if waiting and not lacking and not _pays(others.union(needed), waiting):
        # Those that run anyway need most of these.
        if len(waiting) < len(needed) or not _pays(others, waiting):
            begun.why = "running what leaves something would cost more"
            return begun
        needed, settling.is_broad = separators(collected, runs, waiting), False
    if not lacking or not settling.is_broad:
        settling.proven = frozenset(needed) - waiting
    settling.judged = waiting.intersection(needed)
    settling.gone(items)
    settling.waiting = waiting.difference(needed)
    agent.left.gaps = runs.union(needed)
    begun.settling, begun.needed, begun.others = settling, others.union(needed), others
    return begun


def _needed(settling, collected, runs, waiting, lacking):
    """The tests that leave what those read which run, and those that end what they set up; and
    whether all run that leave anything, as it is most of them or nobody knows what is `lacking`."""
    ends, are_all = frozenset(), lacking.is_broad
    most = _MOST_AGAIN if lacking else _MOST
    leavers = [item.nodeid for item in collected if item.nodeid in settling.recorded]
    while True:
        others = [test for test in leavers if test not in runs and test not in ends]
        needed = others if are_all else setters(settling, collected, runs | ends)
        # Then those that run meet what they meet in a run of all tests.
        are_all = are_all or len(needed) > most * len(others)
        needed = others if are_all else needed
        found = last_ones(collected, runs.union(ends, needed), waiting)
        if not found:
            return [*needed, *ends], are_all
        ends |= found


# Beyond this part all that leave something run; and in a second pass, as a third one costs more.
_MOST, _MOST_AGAIN = 0.75, 0.5


def _pays(needed, waiting):
    """Whether fewer tests run if those that are `needed` do: not all that wait will turn out to do
    what they did."""
    more = sum(test not in waiting for test in needed)
    saved = len(waiting) - (len(needed) - more)
    return 2 * more <= saved
