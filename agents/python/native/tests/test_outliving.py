"""`filled_take` names the objects that others may meet, and no garbage."""

import collections
import functools
import gc
import types
import weakref

import pytest


@pytest.fixture
def native(helper, monkeypatch):
    monkeypatch.syspath_prepend(str(helper))
    import _tamis_native
    _tamis_native.watch_clear()
    _tamis_native.filled_take(0)
    gc.disable()
    yield _tamis_native
    gc.enable()
    _tamis_native.watch_clear()


class Graph:
    def __init__(self):
        self.nodes = {}


class Slotted:
    __slots__ = ("graph", "__dict__", "__weakref__")


class Finalized:
    def __del__(self):
        pass


class Unreferable:
    __slots__ = ("graph", "__dict__")


class Text(str):
    pass


MOST = 1000


def taken(native, *objects):
    """Which of these are told, by place."""
    for number, one in enumerate(objects):
        assert native.filled_add(one, number)
    del one, objects
    return native.filled_take(MOST)[0]


def in_cycle(through):
    """A graph that `through` leads back to."""
    graph = Graph()
    graph.nodes["a"] = through(graph)
    return graph


def wrap(kind):
    def through(graph):
        held = kind()
        held.graph = graph
        return held

    return through


def function_of(graph):
    return lambda: graph


def defaulting(graph):
    def inner(graph=graph):
        return graph

    return inner


def recursive(graph):
    def inner(n):
        return inner(n - 1) if n else graph

    return inner


GARBAGE = {
    "function": function_of,
    "recursive function": recursive,
    "default": defaulting,
    "itself": lambda graph: graph,
    "list": lambda graph: [graph],
    "tuple": lambda graph: (1, (graph,)),
    "dict": lambda graph: {"key": {"key": graph}},
    "set": lambda graph: {graph},
    "deque": lambda graph: collections.deque([graph]),
    "instance": wrap(Graph),
    "slots": wrap(Slotted),
    "text": wrap(lambda: Text("a")),
    "method": lambda graph: types.MethodType(len, graph),
    "partial": lambda graph: functools.partial(len, graph),
    "iterator": lambda graph: iter([graph]),
    "map": lambda graph: map(len, [graph]),
    "exception": lambda graph: ValueError(graph),
    "namespace": lambda graph: types.SimpleNamespace(graph=graph),
    "proxy": lambda graph: types.MappingProxyType({"a": graph}),
    "dead weak reference": lambda graph: [graph, weakref.ref(Graph())],
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_met_by_nobody(native, name):
    graph = in_cycle(GARBAGE[name])
    assert native.filled_add(graph, 7)
    assert native.filled_take(MOST) == ([7], [graph])
    assert native.filled_add(graph, 7)
    del graph
    assert native.filled_take(MOST) == ([], [])


@pytest.mark.parametrize("name", GARBAGE)
@pytest.mark.parametrize("held", ["graph", "other", "below"])
def test_what_something_outside_holds_is_met(native, name, held):
    graph = in_cycle(GARBAGE[name])
    below = graph.nodes
    below["other"] = [graph]
    kept = {"graph": graph, "other": graph.nodes["a"], "below": below}[held]
    native.filled_add(graph, 3)
    del graph, below
    assert native.filled_take(MOST)[0] == [3]
    assert kept is not None


def generator_of(graph):
    try:
        yield graph
    finally:
        pass


def started(graph):
    found = generator_of(graph)
    next(found)
    return found


class Holder:
    pass


def class_of(graph):
    return type("Made", (), {"graph": graph})


def module_of(graph):
    module = types.ModuleType("made")
    module.graph = graph
    return module


@pytest.mark.parametrize(
    "through",
    [started, class_of, module_of, wrap(Finalized)],
    ids=["generator", "class", "module", "finalizer"],
)
def test_a_cycle_through_what_can_act_counts_as_met(native, through):
    graph = in_cycle(through)
    native.filled_add(graph, 1)
    del graph
    assert native.filled_take(MOST)[0] == [1]


def test_who_is_only_led_to_can_act(native):
    graph = Graph()
    graph.nodes["a"] = [graph, Finalized(), Holder, function_of(1)]
    native.filled_add(graph, 1)
    del graph
    assert native.filled_take(MOST)[0] == []


def kept_in(registry):
    def keep(graph):
        registry.add(graph)
        return registry

    return keep


def set_of():
    found = weakref.WeakSet()
    return found, found.add


def values_of():
    found = weakref.WeakValueDictionary()
    return found, lambda graph: found.setdefault("key", graph)


def reference_of():
    found = []
    return found, lambda graph: found.append(weakref.ref(graph))


def called_back():
    found = []
    return found, lambda graph: found.append(weakref.ref(graph, print))


def proxy_of():
    found = []
    return found, lambda graph: found.append(weakref.proxy(graph))


@pytest.mark.parametrize("of", ["graph", "other"])
@pytest.mark.parametrize("weakly", [set_of, values_of, reference_of, called_back, proxy_of])
def test_weak_references_find_garbage(native, weakly, of):
    graph = in_cycle(wrap(Graph))
    kept, keep = weakly()
    keep(graph if of == "graph" else graph.nodes["a"])
    native.filled_add(graph, 1)
    del graph
    assert native.filled_take(MOST)[0] == [1]
    assert kept is not None


def test_the_dead_and_the_watched_are_left_out(native):
    dead, watched, met = Graph(), Graph(), Graph()
    assert native.watch_add(watched, True) is not None
    for number, one in enumerate((dead, watched, met)):
        assert native.filled_add(one, number)
    del dead, one
    assert native.filled_take(MOST) == ([2], [met])
    assert native.filled_take(MOST) == ([], [])


def test_an_object_may_be_filled_twice(native):
    graph = Graph()
    native.filled_add(graph, 1)
    native.filled_add(graph, 2)
    assert native.filled_take(MOST) == ([1, 2], [graph, graph])


def test_another_object_at_the_address_is_another(native):
    for number in range(50):
        graph = Graph()
        native.filled_add(graph, number)
        if number < 49:
            del graph
    assert native.filled_take(MOST) == ([49], [graph])


def test_too_many_objects_count_as_met(native):
    graph = in_cycle(lambda graph: [[graph] for _ in range(MOST)])
    native.filled_add(graph, 1)
    del graph
    assert native.filled_take(MOST)[0] == [1]


def test_without_weak_references_nothing_is_noted(native):
    assert not native.filled_add(Unreferable(), 1)
    assert not native.filled_add(5, 1)
    assert native.filled_take(MOST) == ([], [])


def test_nothing_is_kept_alive(native):
    graph = Graph()
    reference = weakref.ref(graph)
    native.filled_add(graph, 1)
    del graph
    assert reference() is None


def lost(through, is_old=False):
    """A graph that only a cycle holds that it does not lead to."""
    graph = Graph()
    other = in_cycle(through)
    other.graph = graph
    if is_old:
        gc.collect()
    return graph


def young(native, item=None):
    """What is met, but for what the attributes of `item` hold."""
    numbers, objects = native.filled_take(MOST)
    kept = vars(item) if item is not None else {}
    found = gc.get_objects(generation=0) + gc.get_objects(generation=1)
    found = [one for one in found if one is not item and one is not kept]
    return [numbers[at] for at in native.filled_met(objects, found, list(kept.values()), [], MOST)]


@pytest.mark.parametrize("name", GARBAGE)
def test_young_garbage_does_not_count(native, name):
    gc.collect()
    graph = lost(GARBAGE[name])
    native.filled_add(graph, 4)
    assert young(native) == [4]
    native.filled_add(graph, 4)
    del graph
    assert young(native) == []


def test_who_is_held_by_others_than_garbage_is_met(native):
    gc.collect()
    graph = lost(GARBAGE["itself"])
    kept = [graph]
    native.filled_add(graph, 4)
    del graph
    assert young(native) == [4]
    assert kept


def test_old_garbage_counts_as_met(native):
    graph = lost(GARBAGE["itself"], is_old=True)
    native.filled_add(graph, 4)
    del graph
    assert young(native) == [4]


def of_all(native):
    """What is met, if all objects are looked at."""
    numbers, objects = native.filled_take(MOST)
    known = gc.get_objects()
    return [numbers[at] for at in native.filled_met(objects, known, [], [], MOST)]


@pytest.mark.parametrize("name", GARBAGE)
def test_old_garbage_does_not_count_among_all_objects(native, name):
    graph = lost(GARBAGE[name], is_old=True)
    native.filled_add(graph, 4)
    assert of_all(native) == [4]
    native.filled_add(graph, 4)
    del graph
    assert of_all(native) == []


class Kept:
    pass


def suspended(graph):
    yield
    return graph


def begun(graph):
    generator = suspended(graph)
    next(generator)
    return generator


HOLDERS = {
    "class": lambda graph: setattr(Kept, "graph", graph),
    "globals": lambda graph: globals().__setitem__("GRAPH", graph),
    "module": lambda graph: setattr(collections, "_graph_of_test", graph),
    "generator": begun,
    "bound method": lambda graph: graph.__init__,
    "far away": lambda graph: functools.reduce(lambda held, _: [held], range(50), graph),
    "weak": lambda graph: weakref.ref(graph),
}


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("is_old", [False, True])
def test_what_is_alive_is_met_among_all_objects(native, name, is_old):
    graph = lost(GARBAGE["itself"], is_old)
    held = HOLDERS[name](graph)
    native.filled_add(graph, 4)
    del graph
    assert of_all(native) == [4]
    Kept.graph = collections._graph_of_test = globals()["GRAPH"] = held = None
    del held


def test_what_ours_holds_is_not_met(native):
    gc.collect()

    class Item:
        pass

    item, made = Item(), Graph()
    made.graph = Graph()
    item.instance, item.method = made, made.__init__
    native.filled_add(made.graph, 4)
    del made
    assert young(native, item) == []
    native.filled_add(item.instance.graph, 4)
    kept = item.instance.graph
    assert young(native, item) == [4]
    assert kept


def begin_collection(native):
    native.aged_note(gc.get_objects(generation=0), gc.get_objects(generation=1), 100000)


def test_what_collections_made_old_in_a_turn(native):
    gc.collect()
    before = [[n] for n in range(100)]
    gc.collect()
    kept = []
    for turn in range(2):
        kept.append([{"n": n, "self": []} for n in range(100)])
        dead = [[n] for n in range(100)]
        begin_collection(native)
        del dead
        gc.collect(1)
        kept.append([[n] for n in range(100)])
        begin_collection(native)
        gc.collect(1)
        younger = [[n] for n in range(100)]
        found = native.aged_found()
        addresses = set(map(id, found))
        assert len(addresses) == len(found)
        assert all(id(one) in addresses for one in kept[-2] + kept[-1])
        assert not any(id(one) in addresses for one in before + younger)
        if turn:
            assert not any(id(one) in addresses for one in kept[0] + kept[1])
        native.aged_forget()
        assert native.aged_found() == []
        del found
        # Else they would be young still when the next turn begins.
        gc.collect(1)


def test_what_a_turn_made_old_and_lost(native):
    kept = [[n] for n in range(100)]
    begin_collection(native)
    gc.collect(1)
    addresses = set(map(id, kept))
    del kept[::2]
    younger = [[n] for n in range(1000)]
    found = set(map(id, native.aged_found()))
    assert all(id(one) in found for one in kept)
    assert not any(id(one) in found for one in younger)
    assert len(addresses & found) == 50
    native.aged_forget()


def test_too_much_is_not_kept_in_mind(native):
    kept = [[n] for n in range(100)]
    native.aged_note(gc.get_objects(generation=0), gc.get_objects(generation=1), 50)
    gc.collect(1)
    assert native.aged_found() == []
    assert native.aged_forget() is None and kept


def test_referrers_are_those_that_gc_finds(native):
    graph, slotted = Graph(), Slotted()
    slotted.graph = graph
    held = graph, graph.nodes, weakref.ref(slotted), types
    bound = graph.__init__
    kept = [held[2], {1: graph}, (graph.nodes,), bound]
    among = gc.get_objects()
    found = {id(one) for one in native.referrers(among, held)}
    expected = {id(one) for one in gc.get_referrers(*held)}
    assert {id(slotted), id(bound), *map(id, kept[1:3])} <= found
    # Of the tuple itself some versions of `gc` do not tell.
    assert found - {id(held)} == expected.intersection(map(id, among)) - {id(held)}
    assert native.referrers(among, ()) == []
