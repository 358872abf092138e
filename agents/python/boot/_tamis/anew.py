"""Which tests that are left out can meet what others leave anew.

A run before this one has shown that some tests leave something which the record has nobody leave by
then. Tests after them were left out without being looked at: those that can read any of it run now.
What these leave is compared with the record when they have ended, and if it differs, another run
looks for those who meet that. In the last run they count as leaving something else than in the
record.

PYTEST_DONT_REWRITE
"""

from . import agent as agent_module
from .confirm import file_of, names_of
from .turns import hashes_of


def met(exclusion, collected):
    """Test id -> what it meets, of the tests among the items `collected` that `exclusion` leaves
    out."""
    if not exclusion.anew:
        return {}
    agent = agent_module.current
    meets = _nobody_knows
    if exclusion.plan and agent is not None and not agent.broken and agent.values is not None:
        if agent.values.holders is not None:
            try:
                meets = Meeting(agent, exclusion, collected)
            except Exception as error:
                agent.trace.write("no-values", "comparing the values failed: %r" % (error,))
    return _sweep(exclusion, collected, meets)


def _nobody_knows(item, cells, hashes):
    return "nobody knows what it reads", (), ()


def _sweep(exclusion, collected, meets):
    found = {}
    cells, hashes = set(), set()
    fresh, known = exclusion.anew["by_test"], exclusion.anew["known"]
    for item in collected:
        test = item.nodeid
        leaves = fresh.get(test)
        if leaves is None and (cells or hashes):
            # Who has met it left something else than it leaves now, perhaps.
            leaves = known.get(test)
        if leaves is not None:
            cells.update(map(tuple, leaves["cells"]))
            hashes.update(hashes_of(leaves["made"]))
        elif (cells or hashes) and test not in known and _is_open(exclusion, meets, test):
            why, more, made = meets(item, frozenset(cells), frozenset(hashes))
            if why is not None:
                found[test] = why
            if why is not None and exclusion.anew["is_last"]:
                cells.update(more)
                hashes.update(hashes_of(made))
    return found


def _is_open(exclusion, meets, test):
    """Whether a test is left out, or runs only for others."""
    told = meets.plan.tests.get(test) if isinstance(meets, Meeting) else None
    return exclusion.is_left_out(test) or told is not None and told.get("runs", False)


class Meeting:
    """Tells what a test meets, and what it leaves in turn: cells and hashes of names."""

    def __init__(self, agent, exclusion, collected):
        # Imported only here: few sessions need them.
        from .differences import Plan
        from .present import Present

        self.agent = agent
        names = {item.nodeid: names_of(item) for item in collected}
        self.plan = Plan(exclusion.plan, Present(agent, agent.values), names)

    def __call__(self, item, cells, hashes):
        test = item.nodeid
        if test not in self.plan.tests:
            return _nobody_knows(item, cells, hashes)
        part = self.plan.tied(test)
        why = None
        if hashes and self.plan.needs_one(part, hashes):
            why = "what it gets is made or changed by a test that did not do so before"
        elif cells:
            file = file_of(self.agent, self.plan, item)
            why = self.plan.meets(cells, test, file, names_of(item))
        if why is None:
            return None, (), ()
        number = self.plan.tests[test]["matrix"]
        ties = self.plan.content["matrices"][number].get("ties") or {}
        left = ties.get("left", {}).get(test, ())
        made = ties.get("made", {}).get(test, "")
        return why, {(path, name) for path, name, _ in left}, filter(None, made.split(","))
