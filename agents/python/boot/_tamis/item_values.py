"""What pytest's items hold beyond the globals of their modules: parameters, marks, fixtures."""

# Attributes of every item; others are those of plug-ins and of hooks in `conftest.py`.
_OF_EVERY_ITEM = frozenset(
    """__dict__ _arg2fixturedef _fixtureinfo _initrequest _instance _nodeid _obj
    _report_sections _request _store _testcase _explicit_tearDown _needs_explicit_tearDown
    callspec config dtest extra_keyword_matches fixture_defs fixturenames fspath funcargs
    keywords name obj originalname own_markers parent path runner session stash
    user_properties""".split()
)

# What such a mark says is in the item's parameters and the names of its fixtures.
_TOLD_OTHERWISE = frozenset(("parametrize", "usefixtures"))


def describe(items, harness):
    """The content of each item by test id. Items without any are left out. `harness` tells
    whether a function is pytest's own."""
    definitions, marks, found = {}, {}, {}
    # In an order that does not depend on how tests are shuffled.
    for item in sorted(items, key=lambda item: item.nodeid):
        content = _content(item, definitions, marks, harness)
        if content:
            # Two items of one name: neither can be told.
            found[item.nodeid] = content if item.nodeid not in found else (i for i in ())
    return found


def _content(item, definitions, marks, harness):
    content = []
    held = vars(item)
    call = held.get("callspec")
    if call is not None:
        content += ("call", call.params, tuple(getattr(call, "_idlist", ())))
    for mark in item.iter_markers():
        told = marks.get(id(mark))
        if told is None:
            told = marks[id(mark)] = _mark(mark)
        if told:
            content.append(told)
    info = held.get("_fixtureinfo")
    if info is not None:
        for name in info.names_closure:
            for definition in info.name2fixturedefs.get(name, ()):
                told = definitions.get(id(definition))
                if told is None:
                    told = definitions[id(definition)] = _definition(definition, harness)
                if told:
                    content.append(told)
    if held.get("user_properties"):
        content += ("properties", held["user_properties"])
    if not _OF_EVERY_ITEM.issuperset(held):
        content.append([(name, held[name]) for name in held if name not in _OF_EVERY_ITEM])
    return content


def _mark(mark):
    if mark.name in _TOLD_OTHERWISE:
        return ()
    if mark.name in ("skipif", "xfail") and any(isinstance(one, str) for one in mark.args):
        # A generator is opaque.
        return (mark.name, (i for i in ()))
    return ("mark", mark.name, mark.args, mark.kwargs)


def _definition(definition, harness):
    function = definition.func
    if harness(function):
        return ()
    return (
        "fixture",
        definition.argname,
        str(definition.scope),
        definition.params,
        definition.argnames,
        function,
    )
