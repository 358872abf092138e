"""A scope for each fixture instance that outlives a test.

Instances of function scope belong to the scope of their test.
"""

import atexit

from .agent import guard

# Tells the scope of the end of a fixture from that of its beginning.
TEAR_DOWN = "tear-down"

# pytest has these for temporary files.
_OF_FOLDERS = ("tmp_path_factory", "tmpdir_factory")


def watch(agent, session):
    """Watch the fixtures of this session only."""
    from _pytest import fixtures, tmpdir

    plain_execute = _plain(fixtures.FixtureDef.execute)
    plain_finish = _plain(fixtures.FixtureDef.finish)
    plain_active = _plain(fixtures.FixtureRequest._get_active_fixturedef)
    plain_folder = _plain(tmpdir.TempPathFactory.getbasetemp)

    def execute(self, request):
        try:
            return plain_execute(self, request)
        finally:
            if self._tamis_scope is not None:
                need(self._tamis_scope)

    def finish(self, *arguments, **options):
        token = None if self._tamis_scope is None else enter(self._tamis_scope)
        try:
            return plain_finish(self, *arguments, **options)
        finally:
            if token is not None:
                leave(token)

    def _get_active_fixturedef(self, argname):
        found = plain_active(self, argname)
        # The replacement for `request` is not a `FixtureDef`.
        scope = getattr(found, "_tamis_scope", None)
        if scope is not None:
            need(scope)
        return found

    def getbasetemp(self):
        if self._basetemp is not None:
            return plain_folder(self)
        before = atexit._ncallbacks()
        try:
            return plain_folder(self)
        finally:
            # pytest removes it in the end, whichever test is the first to ask for a folder.
            agent.exits_of_pytest += atexit._ncallbacks() - before

    @guard
    def need(scope):
        agent.top.need(scope)

    @guard
    def enter(scope):
        """Tear-down has its own scope. The tests that use the fixture need it, and so does the
        test in which it runs, which reports its failure."""
        end = agent.new_scope("fixture", scope.name, TEAR_DOWN)
        scope.need(end)
        if session.test is not None:
            session.test.scope.need(end)
        return agent.push(end, needed=False)

    @guard
    def leave(token):
        agent.pop(token)

    # The scope of the newest instance, if it outlives a test.
    fixtures.FixtureDef._tamis_scope = None
    for owner, wrapper, plain in (
        (fixtures.FixtureDef, execute, plain_execute),
        (fixtures.FixtureDef, finish, plain_finish),
        (fixtures.FixtureRequest, _get_active_fixturedef, plain_active),
        (tmpdir.TempPathFactory, getbasetemp, plain_folder),
    ):
        wrapper.__wrapped__ = plain
        wrapper.__doc__ = plain.__doc__
        setattr(owner, wrapper.__name__, wrapper)


def _plain(function):
    return getattr(function, "__wrapped__", function)


def outlives_a_test(definition):
    return str(getattr(definition, "scope", "function")) != "function"


def fixtures_of(item):
    """The names of the scopes of fixtures that outlive a test, of all that an item may use."""
    info = getattr(item, "_fixtureinfo", None)
    for definitions in getattr(info, "name2fixturedefs", {}).values():
        for definition in filter(outlives_a_test, definitions):
            name = _name_of(definition)
            yield name
            for index in range(len(getattr(definition, "params", None) or ())):
                yield "%s[%s]" % (name, index)


def folders_of(items):
    """The names of the scopes of pytest's own fixtures for temporary files: whoever asks first, all get
    the same. Not where something else has that name."""
    own, others = set(), set()
    for item in items:
        info = getattr(item, "_fixtureinfo", None)
        for name in _OF_FOLDERS:
            for definition in getattr(info, "name2fixturedefs", {}).get(name, ()):
                (own if is_folder(definition) else others).add(_name_of(definition))
    return own - others


def is_folder(definition):
    """Whether it is one of these, which nothing ends."""
    function = getattr(definition, "func", None)
    is_own = str(getattr(function, "__module__", "")).startswith("_pytest.")
    return is_own and definition.argname in _OF_FOLDERS


def _name_of(definition):
    return "%s::%s" % (getattr(definition, "baseid", "") or "", definition.argname)


@guard
def enter_setup(agent, definition, request):
    """A new instance that outlives a test will be made."""
    name = _name_of(definition)
    index = getattr(request, "param_index", 0)
    if hasattr(request, "param"):
        name += "[%s]" % index
    scope = agent.new_scope("fixture", name)
    if is_folder(definition):
        agent.folders.add(scope)
    definition._tamis_scope = scope
    for argument in definition.argnames:
        if argument == "request":
            continue
        needed = request._get_active_fixturedef(argument)
        needed = getattr(needed, "_tamis_scope", None)
        if needed is not None:
            scope.need(needed)
    return agent.push(scope)


@guard
def need_active(scope, item):
    """The test needs every fixture instance that it uses."""
    request = getattr(item, "_request", None)
    active = getattr(request, "_fixture_defs", None)
    if isinstance(active, dict):
        for definition in active.values():
            needed = getattr(definition, "_tamis_scope", None)
            if needed is not None:
                scope.need(needed)
