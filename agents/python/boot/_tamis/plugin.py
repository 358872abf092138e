"""The pytest plug-in: scopes for collection, fixtures and tests.

PYTEST_DONT_REWRITE
"""

import gc
import os
import sys
import time

import pytest

from . import agent as agent_module
from . import (
    capture,
    dists,
    envvars,
    finding,
    fingerprint,
    fixtures,
    late,
    options,
    outcomes,
    parameters,
    pause,
)
from .agent import guard
from .trace import encode

_clock = time.perf_counter

# Newer versions of pytest need one generator instead of two for a wrapper.
try:
    _around = pytest.hookimpl(wrapper=True, tryfirst=True)
except TypeError:
    _around = None


def pytest_configure(config):
    """Loaded by hand (`-p _tamis.plugin`) in a process without the agent."""
    directory = os.environ.get("TAMIS_TRACE_DIR")
    if agent_module.current is None and directory:
        from .pytest_entry import join

        join(agent_module.start(directory), config)


class Session:
    """Watches one pytest session, the outermost of its process."""

    def __init__(self, agent, config):
        self.agent = agent
        self.config = config
        self.starting = True
        # What leaves out tests, if any are to be.
        self.selection = None
        self.test = None
        self.deselected = []
        self.all_collected = True
        # Whether code that runs between tests has a scope of its own.
        self.collected = False
        # See `collected_all`.
        self.order = None
        self.is_whole = False
        self.ends_all = False
        # Tests whose changes of state are not all written yet.
        self.ended = []
        self.collect_scopes = {}
        self.conftest_scopes = {}
        self.parameters = parameters.Parameters(agent)
        # Results of `file_of` for the present number of `conftest.py` files.
        self._files = {}
        self._conftests = 0
        if agent.role is None:
            agent.become("main")
        agent.finished = False
        agent.arguments = list(sys.argv)
        if agent.values is not None:
            agent.values.begin()
        # The objects of pytest and the agent live to the end. The garbage collector need not
        # visit them again and again.
        gc.freeze()
        fixtures.watch(agent, self)
        _watch_conftests(agent, self)

    # -- the session ------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self):
        self._begin_early()

    @guard
    def _begin_early(self):
        if self.agent.values is not None:
            self.agent.values.begin_early()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session):
        self._describe()
        self.starting = False

    @guard
    def _describe(self):
        agent, config = self.agent, self.config
        capture.find(config)
        agent.collector.session_begins()
        # Changes up to this point are changes for every test.
        agent.state.ran(agent.root_scope)
        agent.trace.write("config", options.describe(config))
        plugins = dists.Distributions().plugins()
        agent.note("dist", dists.PLUGINS, plugins, agent.root_scope)
        for name in envvars.OF_EVERY_TEST:
            value = envvars.fingerprint_of(name, agent.start_environment)
            agent.note("env", name, value, agent.root_scope)
        # Not for a controller of xdist: its workers are started in another way and run the
        # tests.
        if not config.pluginmanager.hasplugin("dsession"):
            agent.note("runtime", late.START_UP, fingerprint.start_up(), agent.root_scope)
        for path in options.plugin_files(config):
            if agent.paths.place(path) == agent_module.SITE:
                agent.note_site(path, agent.root_scope)
        named = options.named_configuration(config)
        if named is not None:
            agent.note_file(named, agent.root_scope)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtestloop(self, session):
        yield
        pause.end()
        # Whatever comes after the last test is no dependency of any: pytest-cov makes its report
        # around this hook. A fixture that nobody tore down yet is torn down later.
        if not getattr(session._setupstate, "stack", True):
            self._finish()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        pause.end()
        self._finish()

    @guard
    def _finish(self):
        if self.agent.finished:
            return
        self.agent.state.ran(None, final=True)
        self.agent.properties.turn_ended()
        if self.agent.left is not None:
            self.agent.left.finish()
        self._tell_ended()
        self.agent.reached.readers.look_at_classes()
        self.agent.reached.look_at_modules()
        if self.agent.values is not None and self.config.pluginmanager.hasplugin("dsession"):
            self.agent.values.tell_of_controller()
        # From here on reports read files, which is not a dependency.
        self.agent.flush()
        self.agent.finished = True

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config):
        self.agent.session = None

    # -- collection -------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        token = self._enter_collector(collector)
        outcome = yield
        if token is not None:
            self._leave(token)
            self._check_state(token.scope)
        if outcome.excinfo is None and outcome.get_result().outcome == "failed":
            self._failed(self.agent.root_scope if token is None else token.scope)

    @guard
    def _failed(self, scope):
        """The tests of a file that cannot be collected are unknown."""
        self.all_collected = False
        self.agent.trace.write("i", scope.number, "collecting tests failed")

    @guard
    def _check_state(self, scope):
        self.agent.state.ran(scope)

    @guard
    def _enter_collector(self, collector):
        if collector.config is not self.config:
            return None
        path = _test_file(collector)
        if path is None:
            return None
        # What is collected later reads another state.
        scope = (
            self.agent.new_scope("collect", path) if self.collected else self.collect_scope(path)
        )
        if not path.endswith(".py"):
            self.agent.note_file(path, scope)
        return self.agent.push(scope, needed=False)

    @guard
    def _leave(self, token):
        self.agent.pop(token)

    def collect_scope(self, path):
        """The scope in which the items of a test file are made. It needs the `conftest.py`
        files that apply to the file."""
        scope = self.collect_scopes.get(path)
        if scope is None:
            scope = self.collect_scopes[path] = self.agent.named_scope("collect", path)
        return scope

    def file_of(self, item):
        """`(path, the same as JSON, its collect scope)` of a test's file."""
        if self._conftests != len(self.conftest_scopes):
            # New ones may apply to known files.
            self._conftests = len(self.conftest_scopes)
            self._files.clear()
        given = str(_given_path(item))
        found = self._files.get(given)
        if found is None:
            path = _node_path(item) or ""
            scope = self.collect_scope(path)
            self._need_conftests(scope, path)
            found = self._files[given] = path, encode(path), scope
        return found

    def _need_conftests(self, scope, path):
        for conftest, needed in self.conftest_scopes.items():
            directory = os.path.dirname(conftest)
            if path.startswith(directory + "/"):
                scope.need(needed)

    @pytest.hookimpl(trylast=True)
    def pytest_deselected(self, items):
        self.deselected.extend(item.nodeid for item in items)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session, config, items):
        yield
        # Every other plug-in has chosen and ordered its tests. `selection` comes after this: it
        # compares the values.
        if config is self.config:
            self._take(items)

    @guard
    def _take(self, items):
        values = self.agent.values
        if self.agent.serials is not None:
            self.agent.serials.check()
        if values is not None:
            values.take(self.config, items, self.all_collected)

    @guard
    def collected_all(self, order, is_whole, is_narrow=False):
        """Note the ids of all tests that options and hooks have left, and whether each that will run
        begins in the state of a run of all of them; and whether others are known. Called before
        any is deselected for a selection."""
        self.order = order
        self.is_whole = is_whole
        # Else fixtures end with the last test that runs, whichever that is.
        self.ends_all = is_whole and not is_narrow

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        self._items(session)

    @guard
    def _items(self, session):
        if session.config is self.config:
            ids = [item.nodeid for item in session.items]
            # Now every `conftest.py` is loaded.
            found = finding.describe(session)
            if found is not None:
                self.agent.trace.write("finds", found)
            self.agent.trace.write("items", ids, self.deselected)
            if self.order is None:
                self.collected_all(ids, True)
            self.parameters.watch(session.items)
            self.agent.properties.turn_ended()
            if self.agent.state is not None:
                self.agent.state.handed.begin(session.items)
            if self.agent.left is not None:
                self.agent.left.begin(ids)
            if self.order is not None:
                order = [] if self.order == ids else self.order
                self.agent.trace.write("order", order, self.is_whole)
            if self.agent.values is not None:
                self.agent.values.tell()
            if not self.collected:
                # What runs outside of tests from now on can meet what tests have left.
                self.collected = True
                self.agent.push(self.agent.new_scope("session", ""), needed=False)
                self.agent.collector.between(True)
            self.agent.flush()

    # -- tests ------------------------------------------------------------

    if _around is not None:

        @_around
        def pytest_runtest_protocol(self, item, nextitem):
            if self._passes(item, nextitem):
                return (yield)
            test = self._begin(item)
            pause.end()
            complete = False
            try:
                result = yield
                complete = True
            finally:
                pause.begin()
                if test is not None:
                    self._end(test, complete)
            return result

    else:

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item, nextitem):
            if self._passes(item, nextitem):
                yield
                return
            test = self._begin(item)
            pause.end()
            outcome = yield
            pause.begin()
            if test is not None:
                self._end(test, outcome.excinfo is None)

    def _passes(self, item, nextitem):
        """Whether the turn of `item` passes without running it."""
        return self.selection is not None and self.selection.passes(item, nextitem)

    @guard
    def _begin(self, item):
        if item.config is not self.config:
            return None
        agent = self.agent
        path, told_path, collected = self.file_of(item)
        name = item.nodeid
        told = encode(name)
        if agent.serials is not None:
            agent.serials.test_begins(name)
        scope = agent.new_test(name, told, told_path)
        test = Test(name, told, scope, item)
        scope.need_all((agent.root_scope, collected))
        shared = self.parameters.scope(item)
        if shared is not None:
            scope.need(shared)
        if type(item).__name__ == "DoctestItem" and not path.endswith(".py"):
            # The text of an example is in no code object. Text in a docstring is part of its
            # module's skeleton.
            agent.note_file(path, scope)
        if not isinstance(item, pytest.Function):
            # A doctest, or an item of a plug-in: its text may use any name.
            agent.note("names", "*", None, scope)
        test.token = agent.push(scope, needed=False)
        agent.collector.between(False)
        self.test = test
        return test

    @guard
    def _end(self, test, complete):
        agent = self.agent
        seconds = _clock() - test.started
        agent.pop(test.token)
        agent.collector.between(True)
        self.test = None
        agent.state.ran(test.scope)
        agent.properties.turn_ended(test.item, test.scope)
        if agent.left is not None:
            agent.left.turn_ended(test.id, test.scope)
        if agent.outside is not None:
            agent.outside.ran(test.scope)
        if not complete:
            # The run was interrupted: the test has begun and not ended.
            agent.flush()
            return
        # This is written to the file together with the beginning of the next test.
        agent.tell()
        self.ended.append(
            (test.scope.number, test.told, test.outcome(), seconds, test.incomplete)
        )
        if not agent.state.pending:
            self._tell_ended()

    def _tell_ended(self):
        # Without this record a test's row is incomplete. If the process dies before the state
        # was compared, no state counts as unchanged.
        for record in self.ended:
            self.agent.trace.write_result(*record)
        del self.ended[:]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        test = self.test
        if test is not None and report.nodeid == test.id:
            # `reported` ignores the others, so they need not get there.
            if report.when == "call" or report.outcome != "passed":
                test.reported(report)

    if _around is not None:

        @_around
        def pytest_fixture_setup(self, fixturedef, request):
            if fixturedef.scope == "function":
                return (yield)
            token = self._enter_fixture(fixturedef, request)
            if token is None:
                return (yield)
            try:
                value = yield
            finally:
                self._leave_fixture(token)
            self._watch_value(token.scope, value)
            return value

    else:

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_fixture_setup(self, fixturedef, request):
            token = self._enter_fixture(fixturedef, request)
            outcome = yield
            if token is not None:
                self._leave_fixture(token)
                if outcome.excinfo is None:
                    self._watch_value(token.scope, outcome.get_result())

    def _enter_fixture(self, fixturedef, request):
        if fixtures.outlives_a_test(fixturedef) and request.config is self.config:
            self._attribute_changes()
            return fixtures.enter_setup(self.agent, fixturedef, request)
        return None

    @guard
    def _attribute_changes(self):
        """What has changed so far was not done by the fixture that is set up next."""
        scope = self.agent.top
        if scope.kind not in ("test", "fixture") and self.test is not None:
            scope = self.test.scope
        self.agent.state.ran(scope)

    @guard
    def _leave_fixture(self, token):
        self.agent.pop(token)
        # Who reads what it left behind does not need the test that asked for it first.
        self.agent.state.ran(token.scope)

    @guard
    def _watch_value(self, scope, value):
        self.agent.state.fixture_made(scope, value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item):
        if self.test is not None and item.config is self.config:
            fixtures.need_active(self.test.scope, item)


class Test(outcomes.Reports):
    """One running test and its reports."""

    __test__ = False

    def __init__(self, identity, told, scope, item):
        super().__init__()
        self.item = item
        self.id = identity
        # The same as JSON.
        self.told = told
        self.scope = scope
        self.started = _clock()
        self.token = None
        self.incomplete = None


def _given_path(node):
    """The file or directory attribute of a node, in any version of pytest."""
    path = getattr(node, "path", None)
    return getattr(node, "fspath", None) if path is None else path


def _node_path(node):
    """The absolute path of a node's file or directory."""
    path = _given_path(node)
    return None if path is None else os.path.normpath(str(path))


def _test_file(collector):
    """The file of a collector's items; `None` for directories."""
    kinds = [kind.__name__ for kind in type(collector).__mro__]
    if "Session" in kinds or "Package" in kinds or "Dir" in kinds or "Directory" in kinds:
        return None
    return _node_path(collector)


def _watch_conftests(agent, session):
    """Give each `conftest.py` that is loaded during collection a scope that only the tests
    below it need."""
    manager = type(session.config.pluginmanager)
    plain = getattr(manager._importconftest, "__wrapped__", manager._importconftest)

    def _importconftest(self, conftestpath, *arguments, **options):
        token = enter(self, conftestpath)
        try:
            return plain(self, conftestpath, *arguments, **options)
        finally:
            if token is not None:
                session._leave(token)

    @guard
    def enter(self, conftestpath):
        if self is not session.config.pluginmanager or session.starting:
            return None
        path = os.path.normpath(str(conftestpath))
        if path in session.conftest_scopes:
            return None
        scope = session.conftest_scopes[path] = agent.named_scope("collect", path)
        return agent.push(scope, needed=False)

    _importconftest.__wrapped__ = plain
    manager._importconftest = _importconftest
