"""Tests that end what others share. Without some, one instance of a fixture would serve two tests
that have one each; and some run in any case, as what others have set up ends with them.

PYTEST_DONT_REWRITE
"""

import pytest

from .fixtures import is_folder, outlives_a_test


def separators(items, runs, perhaps):
    """Tests that have to run beside `runs`, so that between any two of the tests that run, those
    that `perhaps` do among them, fixtures end as in a run of all `items`."""
    runs, found = set(runs), []
    shared = list(_shared(items).values())
    is_new = True
    while is_new:
        is_new = False
        for members in shared:
            for between in _gaps(items, members, runs | perhaps):
                if runs.isdisjoint(between):
                    runs.add(between[0])
                    found.append(between[0])
                    is_new = True
    return found


def _shared(items):
    """What fixtures live as long as: by module, class or package, and by parametrised fixture: the
    places of the tests that use it, each with what it must be for that."""
    found = {}
    for at, item in enumerate(items):
        for node in item.listchain()[1:-1]:
            found.setdefault(node, {})[at] = None
        call = getattr(item, "callspec", None)
        for name, number in call.indices.items() if call is not None else ():
            definitions = item._fixtureinfo.name2fixturedefs.get(name)
            if definitions and definitions[-1].scope != "function":
                found.setdefault((name, id(definitions[-1])), {})[at] = number
    return found


def _gaps(items, members, runs):
    """For two tests that run, one after the other, with the same instance if nobody is between:
    those between that end it."""
    last = None
    # Tests since the last that runs: of another value, and of none.
    others = []
    is_fixture = any(value is not None for value in members.values())
    places = sorted(members) if is_fixture else range(min(members), max(members) + 1)
    for at in places:
        test = items[at].nodeid
        is_member = at in members
        if is_member and test in runs:
            if last == (members[at],) and others:
                yield others
            last, others = (members[at],), []
        elif last is not None and (not is_member or members[at] != last[0]):
            others.append(test)


def last_ones(items, runs, perhaps):
    """The tests, of those that `perhaps` run, with which fixtures end that `runs` set up: the last
    ones here of a module, a class or all."""
    last, ending = {}, set()
    for item in items:
        test = item.nodeid
        if test in runs or test in perhaps:
            last.update(dict.fromkeys(item.listchain()[:-1], test))
        if test in runs:
            ending.update(_holders(item))
    return {last[node] for node in ending} - runs


def _holders(item):
    """The nodes with which the fixtures of `item` end that outlive it. Those that it gets by
    `getfixturevalue` are not known before."""
    info = getattr(item, "_fixtureinfo", None)
    for definitions in getattr(info, "name2fixturedefs", {}).values():
        for definition in filter(outlives_a_test, definitions):
            if is_folder(definition):
                continue
            kinds = _NODES.get(str(definition.scope), ())
            nodes = (node for node in reversed(item.listchain()[:-1]) if isinstance(node, kinds))
            yield next(nodes, item.session)


# Scope of a fixture -> the classes of nodes that one ends with: the innermost one of these.
_NODES = {
    "class": (pytest.Class, pytest.Module),
    "module": pytest.Module,
    "package": pytest.Package,
}
