"""The step of a session in which tests are confirmed by value, after collection.

PYTEST_DONT_REWRITE
"""

from . import agent as agent_module


class Judgement:
    """Which tests are left out because every cell that they can read has the recorded value,
    and for others what differs."""

    def __init__(self, confirmed=(), refuted=()):
        self.confirmed = frozenset(confirmed)
        self.refuted = dict(refuted)

    def refute(self, test, why):
        """It runs all the same."""
        self.confirmed -= {test}
        self.refuted[test] = why

    def tell(self, tests):
        """Tell the trace what was found of these tests."""
        write = agent_module.current.trace.write
        confirmed = [test for test in tests if test in self.confirmed]
        refuted = [[test, self.refuted[test]] for test in tests if test in self.refuted]
        if confirmed:
            write("confirmed", confirmed)
        if refuted:
            write("refuted", refuted)


def judge(exclusion, items):
    """The judgement of the tests among `items` that the plan names."""
    agent = agent_module.current
    if not exclusion.plan or agent is None or agent.broken or agent.values is None:
        return Judgement()
    values = agent.values
    if values.holders is None:
        # The trace gets the reason with the items.
        return Judgement()
    try:
        return Judgement(*_judge(agent, exclusion, items))
    except Exception as error:
        agent.trace.write("no-values", "comparing the values failed: %r" % (error,))
        return Judgement()


def _judge(agent, exclusion, items):
    # Imported only here: few sessions need them.
    from .differences import Plan
    from .present import Present

    plan = Plan(exclusion.plan, Present(agent, agent.values))
    confirmed, refuted, seen = [], [], set()
    for item in items:
        test = item.nodeid
        if test not in plan.tests:
            continue
        if test in seen:
            why = "another test has the same id"
        else:
            why = plan.judge(test, _file(agent, plan, item), _names(item), exclusion.changed)
        if why is None:
            confirmed.append(test)
            # Its row needs the `conftest.py` files that apply to its file.
            agent.session.file_of(item)
        else:
            refuted.append([test, why])
        seen.add(test)
    twice = {test for test, why in refuted if test in seen and test in confirmed}
    return [test for test in confirmed if test not in twice], refuted


def _file(agent, plan, item):
    return plan.session.path(agent.session.file_of(item)[0])


def _names(item):
    """Names by which pytest reads cells for a test: those of its classes and its function, and
    of its fixtures."""
    names = [part.partition("[")[0] for part in item.nodeid.split("::")[1:]]
    names += getattr(item, "fixturenames", ())
    original = getattr(item, "originalname", None)
    if isinstance(original, str):
        names.append(original)
    return names
