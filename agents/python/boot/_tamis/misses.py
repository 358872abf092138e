"""What single misses of a cache ran: who gets a result needs what made that one, and not what made all
others.

Misses that ran the same share a scope. There are such scopes only for plain values that are made of
plain values, as numbers and texts: others may be changed later, by another miss for example.
"""

from _thread import get_ident

from .names import name_hash
from .scopes import Scope

# Nothing changes these, and to compare them runs no code of the program.
_PLAIN = frozenset((str, int, bool, float, complex, bytes, type(None)))
# So many such scopes a cache may have, most have one or two. So many keys are kept, of texts and tuples
# that are no longer than this.
_MOST_SCOPES = 64
_MOST_KEYS = 20000
_LONGEST = 1000


def is_plain(value):
    kind = type(value)
    if kind is tuple:
        return len(value) <= _LONGEST and all(type(one) is not tuple and is_plain(one) for one in value)
    return kind in _PLAIN and (kind is not str and kind is not bytes or len(value) <= _LONGEST)


class Miss(Scope):
    """The scope of a miss while it runs. What tells of it by its number has all of it count for
    the whole cache."""

    __slots__ = ("_cache", "_home", "has_ended", "_thread")

    def __init__(self, cache):
        self._cache = cache
        self._home = None
        self.has_ended = False
        self._thread = get_ident()
        self.kind = "miss"
        self.name = cache.name
        self.extra = cache.extra
        self.units, self.edges = set(), set()
        self.imports, self.taken = set(), set()
        self.variables, self.directories = set(), set()

    @property
    def number(self):
        if self._home is None:
            self._home = self._cache
        return self._home.number

    @property
    def is_apart(self):
        """Whether nothing has told of it yet."""
        return self._home is None

    def interrupted(self):
        """Another scope begins. What this thread runs meanwhile counts for that if another one does."""
        if self._thread != get_ident():
            self._home = self._cache

    def add(self, unit):
        if self.has_ended:
            return self._home.add(unit)
        is_new = unit not in self.units
        self.units.add(unit)
        return is_new

    def add_all(self, units):
        if self.has_ended:
            self._home.add_all(units)
        else:
            self.units.update(units)

    def need(self, scope):
        self.need_all((scope,))

    def need_all(self, scopes):
        if self.has_ended:
            self._home.need_all(scopes)
        else:
            self.edges.update(scope.number for scope in scopes)

    def end(self, home):
        """All that it has is `home`'s, unless it is the cache's already. Returns whose it is."""
        if self.is_apart:
            self._home = home
        self.has_ended = True
        self._home.add_all(self.units)
        self._home.need_numbers(self.edges)
        return self._home


class Misses:
    """The scopes of the misses of one cache."""

    def __init__(self, agent, cache):
        self._agent = agent
        self.cache = cache
        # By arguments: what those need who pass these. `None` if some of them are not plain: such may
        # be equal to any.
        self.by_key = {}
        self._by_content = {}
        # By number.
        self._own = {}

    def key_of(self, arguments, keywords):
        """What a result is kept by here; `None` if it is not. Equal values are one key, even where the
        cache tells `1` from `True`."""
        if self.by_key is None:
            return None
        key = arguments
        if keywords:
            key = *arguments, *keywords, *keywords.values(), len(keywords)
        return key if all(map(is_plain, key)) else None

    def of(self, key):
        """What those need who pass the arguments of a key; `None` if nobody knows."""
        by_key = self.by_key
        return None if by_key is None else by_key.get(key)

    def ended(self, miss, key, is_of_plain):
        """A miss has ended, and perhaps has made a value. Returns the scope that the caller needs."""
        if key is None:
            self.by_key = None
        is_apart = is_of_plain and key is not None and miss.is_apart
        home = miss.end(self._home_of(miss) if is_apart else self.cache)
        by_key = self.by_key
        if by_key is not None:
            known = by_key.get(key)
            if known is not None and known is not home:
                # Nobody knows which of the two made what is there now.
                by_key[key] = self.cache
            elif len(by_key) < _MOST_KEYS:
                by_key[key] = home
        return home

    def _home_of(self, miss):
        content = frozenset(miss.units), frozenset(miss.edges)
        home = self._by_content.get(content)
        if home is None:
            home = self._inner(*content)
            if home is None and len(self._own) < _MOST_SCOPES:
                home = self._new(*content)
            if home is None:
                return self.cache
            self._by_content[content] = home
        return home

    def _inner(self, units, edges):
        """The scope of another miss of the same cache within this one, which ran all that this did."""
        for number in edges & self._own.keys():
            inner = self._own[number]
            if units <= inner.units and edges - {number} <= inner.edges:
                return inner
        return None

    def _new(self, units, edges):
        agent, cache = self._agent, self.cache
        agent.write_scopes()
        told = agent.told(sorted(units))
        places = (agent.code_places.get(number) for number in sorted(units))
        text = repr((sorted(map(repr, told)), sorted(map(repr, places)), sorted(edges)))
        name = "%s[%08x]" % (cache.extra, name_hash(text))
        scope = agent.named_scope("cache", cache.name, name)
        self._own[scope.number] = scope
        cache.need(scope)
        if agent.left is not None:
            # What tells of the cache tells of this, too.
            agent.note("reached", "", "?" + agent.left.name_of(cache), scope)
        return scope
