"""Functions with cached results: the user of a value needs what made it.

A miss runs in a scope of the cache. Every caller of the function needs that scope, whether or
not it was a miss; who gets a plain value, only that of those that ran the same (`misses`).
"""

import functools
import sys
from types import MethodType

from . import properties
from .agent import guard
from .misses import Miss, Misses, is_plain
from .watch import member_at

# The extra frames of a miss. Functions that recurse through their own cache must still get as
# deep as without the agent.
_EXTRA_DEPTH = 3


def cells_of(agent, scope):
    """The globals and members that are a cache, each as a path and a name, the one where the function
    stands first: who gets at it reads one of these, and their values have its content. None if that is
    not so."""
    if scope.kind != "cache" or agent.values is None:
        return []
    modules = {at.name: one for at, one in agent.values.modules.items() if one is not None}
    there = member_at(modules.get(scope.name), scope.extra)
    method = None
    if type(there) in (classmethod, staticmethod):
        method, there = there, there.__func__
    if type(there) is not functools._lru_cache_wrapper or there._tamis_scope is not scope:
        return []
    own = scope.name, scope.extra
    alone = object()
    others = sys.getrefcount(there) - sys.getrefcount(alone) - 1
    if method is not None:
        others -= sum(one is there for one in vars(method).values())
    if others <= 0:
        return [own]
    aliases = {
        (path, name)
        for path, module in modules.items()
        for name, one in list(vars(module).items())
        if one is there
    }
    aliases.discard(own)
    # Else something else leads to it: another object, a default, a parameter of a test.
    return [own, *sorted(aliases)] if others <= len(aliases) else []


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
    def begin(cache):
        if agent.trace.through:
            # All is told at once.
            return agent.push(cache)
        if agent.left is not None:
            agent.left.scope_began(cache)
        if type(agent.top) is Miss:
            agent.top.interrupted()
        return agent.push(Miss(cache), needed=False)

    @guard
    def end(token, misses, key, is_of_plain):
        agent.pop(token)
        if token.scope is misses.cache:
            misses.by_key = None
            return
        token.scope.interrupted()
        if agent.missing_modules:
            agent.settle_missing(agent)
        need(misses.ended(token.scope, key, is_of_plain))

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

    def in_scope(function, misses):
        scope = misses.cache

        def miss(*arguments, **keywords):
            __tracebackhide__ = True
            # What fails leaves nothing for others.
            is_of_plain = True
            key = misses.key_of(arguments, keywords)
            token = begin(scope)
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(limit + _EXTRA_DEPTH)
            try:
                result = function(*arguments, **keywords)
                is_of_plain = is_plain(result)
                keep(scope, result)
                return result
            finally:
                if sys.getrecursionlimit() == limit + _EXTRA_DEPTH:
                    sys.setrecursionlimit(limit)
                if token is not None:
                    end(token, misses, key, is_of_plain)

        return miss

    # Its type cannot be subclassed. This class looks the same to programs.
    class _lru_cache_wrapper:
        __slots__ = ("_tamis_cached", "_tamis_scope", "_tamis_misses", "__dict__", "__weakref__")

        def __new__(cls, user_function, maxsize, typed, cache_info):
            scope = scope_of(user_function)
            if scope is None:
                return plain_wrapper(user_function, maxsize, typed, cache_info)
            self = object.__new__(cls)
            misses = self._tamis_misses = Misses(agent, scope)
            miss = in_scope(user_function, misses)
            self._tamis_cached = plain_wrapper(miss, maxsize, typed, cache_info)
            self._tamis_scope = scope
            return self

        def __call__(self, *arguments, **keywords):
            __tracebackhide__ = True
            scope, misses = self._tamis_scope, self._tamis_misses
            used().add(scope)
            key = misses.key_of(arguments, keywords)
            home = scope if key is None else misses.of(key)
            if home is None:
                result = self._tamis_cached(*arguments, **keywords)
                if misses.of(key) is None:
                    need(scope)
                return result
            if home.number not in agent.top.edges:
                need(home)
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
