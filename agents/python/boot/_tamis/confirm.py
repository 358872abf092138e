"""The step of a session in which tests are confirmed by value, after collection.

PYTEST_DONT_REWRITE
"""

from . import agent as agent_module


# Why a test runs that reads nothing else than in the record. What it leaves may be the end of a
# fixture.
NEEDED = "others need what it leaves"


class Judgement:
    """Which tests are left out because every cell that they can read has the recorded value,
    and for others what differs."""

    def __init__(self, confirmed=(), refuted=()):
        self.confirmed = frozenset(confirmed)
        self.refuted = dict(refuted)
        # What settles tests at their turn, and those that run for it.
        self.settling = None
        self.needed = frozenset()

    def refute(self, test, why):
        """It runs all the same."""
        self.confirmed -= {test}
        self.refuted[test] = why

    def waiting(self):
        """The tests that wait for their turn."""
        return frozenset() if self.settling is None else self.settling.waiting

    def run_all(self, tests, why):
        """Everything runs, and so these `tests` as well."""
        self.confirmed = self.needed = frozenset()
        self.refuted.update(dict.fromkeys(tests, why))
        if self.settling is not None:
            self.settling = None
            left = agent_module.current.left
            left.listener, left.gaps = None, set()

    def tell(self, tests):
        """Tell the trace what was found of these tests."""
        write = agent_module.current.trace.write
        confirmed = [test for test in tests if test in self.confirmed]
        refuted = [[test, self.refuted[test]] for test in tests if test in self.refuted]
        if confirmed:
            write("confirmed", confirmed)
        if refuted:
            write("refuted", refuted)

    def settle(self, item):
        """Whether an open test need not run, as what earlier tests left is as recorded."""
        test = item.nodeid
        if self.settling is None or test not in self.settling.waiting:
            return False
        why = self.settling.settle(item)
        if why is not None:
            self.refuted[test] = why
        return why is None


def judge(exclusion, items, others, collected, can_wait):
    """The judgement of the tests among `items` that the plan names. `others` run, too; `collected`
    are all items, in order."""
    agent = agent_module.current
    if not exclusion.plan or agent is None or agent.broken or agent.values is None:
        return Judgement()
    values = agent.values
    if values.holders is None:
        # The trace gets the reason with the items.
        return Judgement()
    if agent.reached.look_at_modules():
        # What runs looks into it, and nobody knows at which names.
        agent.trace.write("no-values", "a module of the project can be called")
        return Judgement()
    try:
        return _judge(agent, exclusion, items, others, collected, can_wait)
    except Exception as error:
        agent.trace.write("no-values", "comparing the values failed: %r" % (error,))
        return Judgement()


def _judge(agent, exclusion, items, others, collected, can_wait):
    # Imported only here: few sessions need them.
    from .absent import Absent
    from .lacking import Lacking, tell

    plan = plan_of(agent, exclusion, collected)
    absent = Absent(agent, plan, collected)
    confirmed, refuted, waiting, seen = set(), {}, [], set()
    for item in items:
        test = item.nodeid
        if test not in plan.tests or plan.tests[test].get("runs"):
            continue
        if test in seen:
            confirmed.discard(test)
            waiting = [one for one in waiting if one != test]
            refuted[test] = "another test has the same id"
            continue
        seen.add(test)
        told = plan.tests[test]
        of_item = file_of(agent, plan, item), names_of(item), exclusion.changed
        # Its row needs the `conftest.py` files that apply to its file.
        agent.session.file_of(item)
        if "absent" in told:
            met = absent.met_by(item)
            if met is not None:
                refuted[test] = met
                continue
        if told.get("is_same"):
            if exclusion.changed.isdisjoint(told.get("late", ())):
                confirmed.add(test)
            else:
                refuted[test] = "its environment differs"
            continue
        why = "an earlier test that leaves something"
        if "sets" in told:
            why = plan.judge(test, told, *of_item)
        if why is None:
            confirmed.add(test)
            continue
        if plan.tied(test) is not None:
            differs = None
            if told.get("is_import_same"):
                if not exclusion.changed.isdisjoint(told.get("late", ())):
                    differs = "its environment differs"
            else:
                differs = plan.judge(test, plan.tied(test), *of_item)
            if differs is None:
                waiting.append(test)
            why = differs or why
        refuted[test] = why
    judgement = Judgement(confirmed, refuted)
    lacking = Lacking(exclusion.anew)
    kept = others.union(item.nodeid for item in items) - judgement.confirmed
    if can_wait and (waiting or lacking or kept and len(kept) < len(collected)):
        _wait(judgement, agent, plan, (kept, lacking), collected, waiting)
    if lacking and judgement.settling is None:
        # They lack it again.
        tell(agent.trace, lacking.by_test)
    return judgement


def _wait(judgement, agent, plan, kept, collected, waiting):
    """Have tests wait for their turn, if that pays."""
    from .begun import begin

    begun = begin(agent, plan, collected, kept, waiting)
    if begun.settling is None:
        for test in waiting:
            judgement.refuted[test] += " (%s)" % begun.why
        if waiting:
            begun = begin(agent, plan, collected, kept, ())
    settling = begun.settling
    if settling is None:
        return
    judgement.settling = settling
    judgement.needed = frozenset(begun.needed)
    judgement.confirmed -= judgement.needed
    for test in settling.waiting:
        del judgement.refuted[test]
    for test in judgement.needed - begun.others:
        judgement.refuted[test] = NEEDED
    agent.left.listener = settling.left


def plan_of(agent, exclusion, collected):
    """The plan for the items that are there."""
    # Imported only here: few sessions need them.
    from .apart import Apart
    from .plan import Plan
    from .present import Present

    names = {item.nodeid: names_of(item) for item in collected}
    plan = Plan(exclusion.plan, Present(agent, agent.values), names)
    plan.apart = Apart(agent, plan, collected)
    return plan


def file_of(agent, plan, item):
    """The file of a test, as the plan has it."""
    return plan.session.path(agent.session.file_of(item)[0])


def names_of(item):
    """Names by which pytest reads cells for a test: those of its classes and its function, and
    of its fixtures."""
    names = [part.partition("[")[0] for part in item.nodeid.split("::")[1:]]
    names += getattr(item, "fixturenames", ())
    original = getattr(item, "originalname", None)
    if isinstance(original, str):
        names.append(original)
    return names
