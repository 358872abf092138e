"""Functions with cached results: the user of a value needs what made it.

A miss runs in the cache's own scope. Every caller of the function needs that scope, whether or
not it was a miss.
"""

import functools
import sys
from types import MethodType

from .agent import guard

# The extra frames of a miss. Functions that recurse through their own cache must still get as
# deep as without the agent.
_EXTRA_DEPTH = 3


def install(agent):
    """Replace the base of `lru_cache` and `cached_property`."""
    plain_wrapper = functools._lru_cache_wrapper

    @guard
    def scope_of(function):
        """The scope of a cache of `function`; `None` if the function is not the project's."""
        code = getattr(function, "__code__", None)
        path = None if code is None else agent.paths.code_file(code.co_filename)
        if path is None:
            return None
        name = getattr(function, "__qualname__", code.co_name)
        return agent.named_scope("cache", path, name)

    @guard
    def enter(scope):
        return agent.push(scope)

    @guard
    def enter_property(scope):
        # The value is in the instance. If other tests can reach that, this is a change of state.
        return agent.push(scope, leaves=False)

    @guard
    def leave(token):
        agent.pop(token)

    @guard
    def need(scope):
        agent.top.need(scope)
        if agent.trace.through:
            agent.write_scopes()

    @guard
    def keep(scope, result):
        # A process that a test started watches nothing.
        if agent.state is not None:
            agent.state.cached(scope, result)

    def in_scope(function, scope):
        def miss(*arguments, **keywords):
            __tracebackhide__ = True
            token = enter(scope)
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(limit + _EXTRA_DEPTH)
            try:
                result = function(*arguments, **keywords)
                keep(scope, result)
                return result
            finally:
                if sys.getrecursionlimit() == limit + _EXTRA_DEPTH:
                    sys.setrecursionlimit(limit)
                if token is not None:
                    leave(token)

        return miss

    # Its type cannot be subclassed. This class looks the same to programs.
    class _lru_cache_wrapper:
        __slots__ = ("_tamis_cached", "_tamis_scope", "__dict__", "__weakref__")

        def __new__(cls, user_function, maxsize, typed, cache_info):
            scope = scope_of(user_function)
            if scope is None:
                return plain_wrapper(user_function, maxsize, typed, cache_info)
            self = object.__new__(cls)
            miss = in_scope(user_function, scope)
            self._tamis_cached = plain_wrapper(miss, maxsize, typed, cache_info)
            self._tamis_scope = scope
            return self

        def __call__(self, *arguments, **keywords):
            __tracebackhide__ = True
            scope = self._tamis_scope
            if scope.number not in agent.top.edges:
                need(scope)
            return self._tamis_cached(*arguments, **keywords)

        def __get__(self, instance, owner=None):
            return self if instance is None else MethodType(self, instance)

        def cache_info(self):
            # The answer depends on the calls of others.
            need(self._tamis_scope)
            return self._tamis_cached.cache_info()

        def cache_clear(self):
            return self._tamis_cached.cache_clear()

        def __reduce__(self):
            return self.__qualname__

        def __copy__(self):
            return self

        def __deepcopy__(self, memo):
            return self

    _lru_cache_wrapper.__module__ = "functools"
    _lru_cache_wrapper.__qualname__ = "_lru_cache_wrapper"
    functools._lru_cache_wrapper = _lru_cache_wrapper
    _watch_properties(agent, scope_of, enter_property, leave)


def _watch_properties(agent, scope_of, enter, leave):
    """`cached_property`: reads of a present value are not seen. So everyone who imports the
    module of the property needs what its misses ran."""
    kind = functools.cached_property
    plain = kind.__get__
    scopes = {}

    @guard
    def find(function, key):
        scope = scopes[key] = scope_of(function)
        module = agent.module_scopes.get(key[2])
        if scope is not None and module is not None:
            module.need(scope)
        return scope

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
            return plain(self, instance, owner)
        finally:
            if token is not None:
                leave(token)

    kind.__get__ = __get__
