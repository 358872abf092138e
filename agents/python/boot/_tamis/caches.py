"""Functions with cached results: the user of a value needs what made it.

A miss runs in the cache's own scope. Every caller of the function needs that scope, whether or
not it was a miss.
"""

import functools
import sys
from types import MethodType

from . import properties
from .agent import guard

# The extra frames of a miss. Functions that recurse through their own cache must still get as
# deep as without the agent.
_EXTRA_DEPTH = 3


def install(agent):
    """Replace the base of `lru_cache` and `cached_property`."""
    plain_wrapper = functools._lru_cache_wrapper

    def found_at(function):
        """The path and the name of `function`; `None` if it is not the project's."""
        code = getattr(function, "__code__", None)
        path = None if code is None else agent.paths.code_file(code.co_filename)
        if path is None:
            return None
        return path, getattr(function, "__qualname__", code.co_name)

    @guard
    def scope_of(function):
        """The scope of a cache of `function`; `None` if the function is not the project's."""
        found = found_at(function)
        return None if found is None else agent.named_scope("cache", *found)

    @guard
    def enter(scope):
        return agent.push(scope)

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

    @guard
    def cleared(scope):
        # Later callers find nothing there, and what is made anew is made by others.
        if agent.left is not None:
            agent.left.value_changed(scope)

    def used():
        return agent.left.used if agent.left is not None else set()

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
            used().add(scope)
            return self._tamis_cached(*arguments, **keywords)

        def __get__(self, instance, owner=None):
            return self if instance is None else MethodType(self, instance)

        def cache_info(self):
            # The answer depends on the calls of others.
            need(self._tamis_scope)
            return self._tamis_cached.cache_info()

        def cache_clear(self):
            cleared(self._tamis_scope)
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
    properties.install(agent, found_at, enter, leave)
