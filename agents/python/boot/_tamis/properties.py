"""`functools.cached_property`: reads of a present value are not seen.

What a miss runs, whoever read first needs. Others get the value with the object that has it. When
the turn ends there are none if nobody can get at the object any more. If it is watched, it has
changed, as any state does. Else everyone who imports the module of the property needs what its
misses ran.
"""

import functools
import gc
import sys
import weakref

from .agent import guard

# So many objects are looked at in each turn, to see whether those that were filled are garbage: more
# than any test makes that is not slow itself. So many young ones are, which perhaps hold them; if that
# does not tell, those that were young in this turn. Few turns go through a collection of all: for
# these all objects are looked at, so many in a session.
_MOST = 1000000
_MOST_YOUNG = 20000
_MOST_IN_SESSION = 20000000


class Properties:
    """The properties that were read first in the turn of a test, and in which objects."""

    def __init__(self, agent):
        self.agent = agent
        native = getattr(agent.collector, "native", None)
        self._filled = native or Filled()
        # The scopes of properties that were filled in this turn, by number.
        self._scopes = []
        # Name of the module of a property.
        self._modules = {}
        # Whether collections of garbage are watched. Later versions make little old at a time.
        self._watches_age = native is None or sys.version_info >= (3, 14)
        # The oldest generation that was looked through in this turn.
        self._aged = 0
        self._looked_at = 0

    def scope_of(self, found, module):
        """The scope of the function of a property; `found` are the path and the name of that."""
        if found is None:
            return None
        scope = self.agent.named_scope("property", *found)
        self._modules[scope] = module
        return scope

    def filled(self, instance, scope):
        """A value was put into `instance`."""
        if self.agent.session is None or self.agent.trace.through:
            # No turn ends here.
            self._share(scope, self.agent.top)
        elif self._filled.filled_add(instance, len(self._scopes)):
            self._scopes.append(scope)
            if not self._watches_age:
                self._watches_age = True
                gc.callbacks.append(self._collecting)
        else:
            self._share(scope, self.agent.top)

    def turn_ended(self, item=None, by=None):
        """Others may get at some objects now. `item` is the test whose turn it was, and `by` its
        scope."""
        if self._scopes:
            scopes, self._scopes = self._scopes, []
            numbers, objects = self._filled.filled_take(_MOST)
            for at in self._met(objects, item) if objects else ():
                if not self.agent.state.weak.watches(objects[at]):
                    self._share(scopes[numbers[at]], by)
        if self._aged:
            self._aged = 0
            self._filled.aged_forget()

    def _collecting(self, phase, found):
        """The collector begins or ends to look for garbage."""
        generation = found["generation"]
        if phase == "start" and generation and not self.agent.trace.through:
            self._note_young(generation)

    @guard
    def _note_young(self, generation):
        self._aged = max(self._aged, generation)
        young = [gc.get_objects(generation=age) for age in (0, 1)]
        self._filled.aged_note(*young, _MOST)

    def _met(self, objects, item):
        """The places of the objects that others may get at."""
        # pytest keeps the instance that a test ran with, and its method.
        kept = vars(item) if item is not None else {}
        ours = [kept[name] for name in ("_instance", "_obj") if kept.get(name) is not None]
        hidden = [item, kept]
        # No other list may hold what is looked at.
        known = gc.get_objects(generation=0)
        known.extend(gc.get_objects(generation=1))
        looks_at_all = self._aged > 1 and self._looked_at < _MOST_IN_SESSION
        if len(known) <= _MOST_YOUNG:
            found = self._filled.filled_met(objects, known, ours, hidden, _MOST)
            if not found or not (looks_at_all or self._aged == 1):
                return found
        if self._aged == 1:
            known.extend(self._filled.aged_found())
        elif looks_at_all:
            known.extend(gc.get_objects(generation=2))
            self._looked_at += len(known)
        return self._filled.filled_met(objects, known, ours, hidden, _MOST)

    def _share(self, scope, by):
        """Whoever has the module may get what was put into an object, and so what was there in the
        turn of `by`."""
        agent = self.agent
        module = agent.module_scopes.get(self._modules[scope])
        if module is not None:
            shared = agent.named_scope("cache", scope.name, scope.extra)
            shared.need(scope)
            if by is not None:
                shared.need(by)
            module.need(shared)
            if agent.left is not None:
                agent.left.scope_began(shared)
            if agent.trace.through:
                agent.write_scopes()


class Filled:
    """Has the interface of the native helper, but does not know what is garbage."""

    def __init__(self):
        self._found = []

    def filled_add(self, instance, number):
        try:
            self._found.append((number, weakref.ref(instance)))
        except TypeError:
            return False
        return True

    def filled_take(self, _):
        found, self._found = self._found, []
        alive = [(number, held()) for number, held in found if held() is not None]
        return [number for number, _ in alive], [one for _, one in alive]

    def filled_met(self, objects, *_):
        return list(range(len(objects)))


def install(agent, found_at, enter, leave):
    """Watch properties; `found_at` gives path and name of a function of the project's, `enter` and
    `leave` make a scope the current one for a while."""
    kind = functools.cached_property
    plain = kind.__get__
    scopes = {}
    agent.properties = Properties(agent)

    @guard
    def find(function, key):
        found = scopes[key] = agent.properties.scope_of(found_at(function), key[2])
        return found

    filled = guard(agent.properties.filled)

    def __get__(self, instance, owner=None):
        __tracebackhide__ = True
        scope = None
        function = None if instance is None else self.func
        code = getattr(function, "__code__", None)
        if code is not None:
            # Equal code objects may be in different files.
            name = getattr(function, "__qualname__", None)
            key = (code.co_filename, name, getattr(function, "__module__", None))
            scope = scopes[key] if key in scopes else find(function, key)
        if scope is None:
            return plain(self, instance, owner)
        token = enter(scope)
        try:
            value = plain(self, instance, owner)
        finally:
            if token is not None:
                leave(token)
        filled(instance, scope)
        return value

    kind.__get__ = __get__
