"""Functions whose results are cached: who uses a value needs what made it.

A miss runs in the cache's own scope, and whoever calls the function needs that
scope, whether or not it was a miss.
"""

import functools
import sys
from types import MethodType

from .agent import guard

# Frames that a miss has more than without the agent. Functions that recurse
# through their own cache must get as deep as ever.
_EXTRA_DEPTH = 3


def install(agent):
    """Stand in for what `lru_cache` and `cached_property` are built on."""
    plain_wrapper = functools._lru_cache_wrapper

    @guard
    def scope_of(function):
        """The scope of a cache of `function`; `None` for code of others."""
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
    def leave(token):
        agent.pop(token)

    @guard
    def need(scope):
        agent.top.need(scope)
        if agent.trace.through:
            agent.write_scopes()

    def in_scope(function, scope):
        def miss(*arguments, **keywords):
            __tracebackhide__ = True
            token = enter(scope)
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(limit + _EXTRA_DEPTH)
            try:
                return function(*arguments, **keywords)
            finally:
                if sys.getrecursionlimit() == limit + _EXTRA_DEPTH:
                    sys.setrecursionlimit(limit)
                if token is not None:
                    leave(token)

        return miss

    # Its type cannot be derived from, but one that looks the same tells
    # programs as much.
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
            # It tells how often others have called.
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
    _watch_properties(agent, scope_of, enter, leave)


def _watch_properties(agent, scope_of, enter, leave):
    """`cached_property`: a value that is present is read unseen, so that all
    who import the module of the property need what its misses ran."""
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
            # Equal code objects may stand in different files.
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
