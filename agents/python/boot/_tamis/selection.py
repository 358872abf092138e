"""Leaves out the tests that `tamis select` proved to be unaffected.

PYTEST_DONT_REWRITE
"""

import pytest

from . import agent as agent_module
from . import anew, confirm, late, options, turn, workers

_ENDS = "a fixture of the tests before it ends with it"


class Selection:
    """The plug-in that leaves out tests of one session.

    Every xdist worker decides for itself, with the same file and the same environment.
    """

    def __init__(self, config, path, environment):
        self.config = config
        self.environment = environment
        self.trouble = None
        self.exclusion = None
        self.left_out = 0
        self.available = 0
        self.admitted = []
        # Test id -> what it meets that others leave anew.
        self.met = {}
        self.confirmed = 0
        # What a worker of xdist leaves out at its turn: all workers must collect the same.
        self.at_turn = None
        # The test the turn of which passes now, and how many have.
        self.passing = None
        self.passed = 0
        try:
            self.exclusion = late.Exclusion(path)
        except late.Unreadable as error:
            self.trouble = str(error)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        if self.exclusion is not None and self.exclusion.one_process:
            workers.switch_off(config.option)

    # A project's own division comes first, xdist's last.
    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config, log):
        if self.exclusion is None:
            return None
        return workers.scheduler(config, log, self.exclusion.together)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        if self.exclusion is None:
            return
        from .dists import Distributions

        arguments = options.describe(self.config)["args"]
        installed = Distributions()
        self.exclusion.check(
            lambda kind, name: late.current_value(
                kind, name, self.environment, arguments, installed
            )
        )

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session, config, items):
        yield
        if self.exclusion is None or config is not self.config:
            return
        kept, left_out = [], []
        self.met = anew.met(self.exclusion, items)
        unmet = anew.unmet(self.exclusion, items, self.met)
        for item in items:
            if item.nodeid in self.met:
                kept.append(item)
            elif item.nodeid in unmet or self.exclusion.is_left_out(item.nodeid):
                left_out.append(item)
            else:
                kept.append(item)
                if item.nodeid in self.exclusion.tests:
                    self.admitted.append(item.nodeid)
        agent = agent_module.current
        is_worker = hasattr(config, "workerinput")
        # A hook of the project could run a test of which the turn passes.
        can_pass = agent is not None and not workers.has_project_hook(
            agent, config, "pytest_runtest_protocol"
        )
        can_wait = can_pass and not is_worker and self.exclusion.shard is None
        can_wait = can_wait and not config.pluginmanager.hasplugin("dsession")
        collected = [item.nodeid for item in items]
        open_ones = [item for item in kept if item.nodeid not in self.met]
        others = frozenset(self.met)
        judgement = confirm.judge(self.exclusion, open_ones, others, list(items), can_wait)
        judgement.refuted.update(self.met)
        if is_worker:
            if can_pass:
                self.at_turn = judgement
        else:
            runs = {item.nodeid for item in kept}.difference(judgement.confirmed) | judgement.needed
            sure = runs - judgement.waiting()
            if anew.costs_more(self.exclusion, len(sure), len(items)):
                runs = set(collected)
                judgement.run_all(runs - sure, anew.ALL)
            judgement.tell(collected)
            if judgement.settling is not None:
                self.at_turn = judgement
            confirmed = judgement.confirmed
            left_out = [item for item in items if item.nodeid not in runs]
            kept = [item for item in items if item.nodeid in runs]
            self.confirmed = len(confirmed)
            if agent is not None and agent.session is not None:
                is_narrow = not self.exclusion.known() <= set(collected)
                agent.session.collected_all(collected, not left_out, is_narrow)
        self.available = len(items)
        self.left_out = len(left_out)
        if left_out:
            items[:] = kept
            config.hook.pytest_deselected(items=left_out)

    def passes(self, item, nextitem):
        """Whether the turn of `item`, which begins, passes without running it."""
        self.passing = None
        if self.at_turn is None or item.config is not self.config:
            return False
        try:
            return self._passes(item, nextitem)
        except Exception as error:
            # All that are left run, and prove nothing.
            self.at_turn = self.passing = None
            agent_module.current.disable("settling", error)
            return False

    def _passes(self, item, nextitem):
        test = item.nodeid
        if self.at_turn.settling is not None:
            return self._settles(item, nextitem)
        if test in self.at_turn.confirmed and not turn.can_pass(item, nextitem):
            self.at_turn.refute(test, _ENDS)
        self.at_turn.tell([test])
        if test in self.at_turn.confirmed:
            self.passing = item
        return self.passing is not None

    def _settles(self, item, nextitem):
        """Whether what earlier tests left lets `item` be left out. All else is settled."""
        judgement, test = self.at_turn, item.nodeid
        if test not in judgement.settling.waiting:
            why = judgement.settling.begins(item)
            if why is not None:
                judgement.refute(test, why)
                judgement.tell([test])
            return False
        if not judgement.settle(item):
            judgement.tell([test])
            return False
        if not turn.can_pass(item, nextitem):
            judgement.settling.runs_as_well(item)
            judgement.refute(test, _ENDS)
            judgement.tell([test])
            return False
        judgement.settling.passes(item)
        agent_module.current.trace.write("settled", [test])
        self.passing = item
        self.passed += 1
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        if self.passing is not item:
            return None
        turn.tear_down(item, nextitem)
        return True

    def summary(self):
        """One line for people."""
        if self.trouble is not None:
            return "tamis: every test runs: %s" % self.trouble
        selected = self.available - self.left_out
        text = "tamis: %d of %d tests selected" % (selected, self.available)
        if self.confirmed:
            text += ", %d more left out: they read the recorded values" % self.confirmed
        waiting = 0 if self.at_turn is None else len(self.at_turn.waiting())
        if waiting:
            text += ", %d of these only if what earlier tests leave is different" % waiting
        if self.met:
            text += ", %d of them as others leave something new" % len(self.met)
        if self.admitted:
            text += ", %d re-admitted because %s" % (
                len(self.admitted),
                self.exclusion.reason(self.admitted[0]),
            )
        return text

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_collectionfinish(self, config):
        if hasattr(config, "workerinput"):
            return None
        return self.summary()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        settling = None if self.at_turn is None else self.at_turn.settling
        is_over = int(exitstatus) in (0, 1, 5) and not (session.shouldstop or session.shouldfail)
        if settling is not None and is_over:
            try:
                settling.finish()
            except Exception as error:
                agent_module.current.disable("settling", error)
        # It is a success if no test is left to run for a good reason.
        if int(exitstatus) == 5 and self.left_out:
            if not getattr(session, "testsfailed", 0):
                session.exitstatus = pytest.ExitCode.OK
        yield


def watch(config, path, environment):
    """Leave out the tests that the file at `path` names from the session of `config`."""
    selection = Selection(config, path, environment)
    config.pluginmanager.register(selection, "_tamis.selection")
    return selection
