//! Objects of many kinds, each made from a value that import-time code computes.

use crate::harness::*;

cases!(kinds);

/// The test of it, how it is made from `seed()`, and what holds if that is 1.
type Kind = (&'static str, &'static str, &'static str);

const KINDS: [Kind; 45] = [
    ("! test_kinds.py::test_int", "seed()", "{} == 1"),
    ("! test_kinds.py::test_float", "seed() / 4", "{} == 0.25"),
    ("! test_kinds.py::test_text", "'a' * seed()", "{} == 'a'"),
    ("! test_kinds.py::test_bytes", "b'a' * seed()", "{} == b'a'"),
    (
        "! test_kinds.py::test_buffer",
        "bytearray(seed())",
        "len({}) == 1",
    ),
    ("! test_kinds.py::test_tuple", "(seed(), 5)", "{}[0] == 1"),
    (
        "! test_kinds.py::test_deep",
        "{'a': [(seed(),)]}",
        "{}['a'][0][0] == 1",
    ),
    ("! test_kinds.py::test_set", "{seed(), 9, 'b'}", "1 in {}"),
    (
        "! test_kinds.py::test_frozen",
        "frozenset([seed(), 9])",
        "1 in {}",
    ),
    (
        "! test_kinds.py::test_range",
        "range(seed())",
        "len({}) == 1",
    ),
    (
        "! test_kinds.py::test_slice",
        "slice(seed())",
        "{}.stop == 1",
    ),
    (
        "! test_kinds.py::test_complex",
        "complex(seed())",
        "{} == 1",
    ),
    (
        "! test_kinds.py::test_function",
        "maker(seed())",
        "{}() == 1",
    ),
    (
        "! test_kinds.py::test_instance",
        "Box(seed())",
        "{}.value == 1",
    ),
    (
        "! test_kinds.py::test_slots",
        "Slots(seed())",
        "{}.value == 1",
    ),
    (
        "! test_kinds.py::test_bound",
        "Box(seed()).get",
        "{}() == 1",
    ),
    (
        "! test_kinds.py::test_class",
        "type('C', (), {'x': seed()})",
        "{}.x == 1",
    ),
    (
        "! test_kinds.py::test_list_of_own",
        "Items([seed()])",
        "{}[0] == 1",
    ),
    (
        "! test_kinds.py::test_own_dict",
        "Table(a=seed())",
        "{}['a'] == 1",
    ),
    ("! test_kinds.py::test_own_int", "Number(seed())", "{} == 1"),
    (
        "! test_kinds.py::test_partial",
        "functools.partial(int, seed())",
        "{}() == 1",
    ),
    (
        "! test_kinds.py::test_itemgetter",
        "operator.itemgetter(seed())",
        "{}('ab') == 'b'",
    ),
    (
        "! test_kinds.py::test_attrgetter",
        "operator.attrgetter('xyz'[seed()])",
        "'y' in repr({})",
    ),
    (
        "! test_kinds.py::test_pattern",
        "re.compile('a' * seed())",
        "{}.pattern == 'a'",
    ),
    (
        "! test_kinds.py::test_deque",
        "collections.deque([seed()])",
        "{}[0] == 1",
    ),
    (
        "! test_kinds.py::test_ordered",
        "collections.OrderedDict(a=seed())",
        "{}['a'] == 1",
    ),
    (
        "! test_kinds.py::test_default",
        "collections.defaultdict(maker(seed()))",
        "{}['b'] == 1",
    ),
    (
        "! test_kinds.py::test_counter",
        "collections.Counter('a' * seed())",
        "{}['a'] == 1",
    ),
    (
        "! test_kinds.py::test_array",
        "array.array('i', [seed()])",
        "{}[0] == 1",
    ),
    (
        "! test_kinds.py::test_date",
        "datetime.date(2020, 1, seed())",
        "{}.day == 1",
    ),
    (
        "! test_kinds.py::test_decimal",
        "decimal.Decimal(seed())",
        "{} == 1",
    ),
    (
        "! test_kinds.py::test_fraction",
        "fractions.Fraction(seed())",
        "{} == 1",
    ),
    (
        "! test_kinds.py::test_uuid",
        "uuid.UUID(int=seed())",
        "{}.int == 1",
    ),
    (
        "! test_kinds.py::test_path",
        "pathlib.Path('a' * seed())",
        "str({}) == 'a'",
    ),
    (
        "! test_kinds.py::test_namespace",
        "types.SimpleNamespace(x=seed())",
        "{}.x == 1",
    ),
    (
        "! test_kinds.py::test_view",
        "types.MappingProxyType({'a': seed()})",
        "{}['a'] == 1",
    ),
    (
        "! test_kinds.py::test_property",
        "property(maker(seed()))",
        "{}.fget() == 1",
    ),
    (
        "! test_kinds.py::test_static",
        "staticmethod(maker(seed()))",
        "{}.__func__() == 1",
    ),
    (
        "! test_kinds.py::test_attribute",
        "marked(seed())",
        "{}.mark == 1",
    ),
    (
        "! test_kinds.py::test_error",
        "ValueError(seed())",
        "{}.args == (1,)",
    ),
    ("! test_kinds.py::test_local", "local(seed())", "{}.x == 1"),
    (
        "! test_kinds.py::test_variable",
        "variable(seed())",
        "{}.get() == 1",
    ),
    (
        "! test_kinds.py::test_own_local",
        "OwnLocal(seed())",
        "{}.x == 1",
    ),
    (
        "! test_kinds.py::test_later_local",
        "OwnLocal(x=seed())",
        "kinds.elsewhere(lambda: {}.x) == 1",
    ),
    (
        "! test_kinds.py::test_class_of_local",
        "type('L', (threading.local,), {'x': seed()})()",
        "{}.x == 1",
    ),
];

/// What may not be comparable: all of them have to run if the value differs.
const HARD: [Kind; 9] = [
    (
        "! test_kinds.py::test_generator",
        "numbers(seed())",
        "{}.gi_frame.f_locals['n'] == 1",
    ),
    (
        "! test_kinds.py::test_started",
        "started(seed())",
        "{}.gi_frame.f_locals['n'] == 1",
    ),
    (
        "! test_kinds.py::test_iterator",
        "iter([1, 2][seed():])",
        "{}.__length_hint__() == 1",
    ),
    (
        "! test_kinds.py::test_weak",
        "weakref.ref(KEPT[seed()])",
        "{}() is KEPT[1]",
    ),
    (
        "! test_kinds.py::test_dead",
        "dead(seed())",
        "{}() is not None",
    ),
    (
        "! test_kinds.py::test_weak_values",
        "weak_values(seed())",
        "len({}) == 1",
    ),
    (
        "! test_kinds.py::test_cached",
        "cached(seed())",
        "{}(0) == 1",
    ),
    (
        "! test_kinds.py::test_bounded",
        "bounded(seed())",
        "{}(0) == 1",
    ),
    (
        "! test_kinds.py::test_file",
        "stream(seed())",
        "{}.getvalue() == 'a'",
    ),
];

const MODULE: &str = r#"
-- kinds.py --
import array
import collections
import contextvars
import datetime
import decimal
import fractions
import functools
import io
import operator
import pathlib
import re
import threading
import types
import uuid
import weakref


def seed():
    return 1


class Box:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Items(list):
    pass


class Table(dict):
    pass


class Number(int):
    pass


def maker(n):
    return lambda: n


def marked(n):
    def function():
        pass

    function.mark = n
    return function


def numbers(n):
    yield n


def started(n):
    made = numbers(n)
    next(made)
    return made


KEPT = [Box(0), Box(1), Box(2)]


def dead(n):
    return weakref.ref(KEPT[1] if n == 1 else Box(1))


def weak_values(n):
    return weakref.WeakValueDictionary({k: KEPT[k] for k in range(n)})


def local(n):
    made = threading.local()
    made.x = n
    return made


class OwnLocal(threading.local):
    def __init__(self, x):
        self.x = x


def elsewhere(get):
    found = []
    thread = threading.Thread(target=lambda: found.append(get()))
    thread.start()
    thread.join()
    return found[0]


def variable(n):
    made = contextvars.ContextVar("made")
    made.set(n)
    return made


def filled(cache, n):
    held = [n]

    @cache
    def get(x):
        return held[0]

    get(0)
    held[0] = 1
    return get


def cached(n):
    return filled(functools.lru_cache(maxsize=None), n)


def bounded(n):
    return filled(functools.lru_cache(maxsize=2), n)


def stream(n):
    return io.StringIO("a" * n)


"#;

fn kinds() -> Case {
    let seed = |value| replace("kinds.py", "return 1\n\n\nclass Box", value);
    let ids = |kinds: &[Kind]| kinds.iter().map(|kind| kind.0).collect::<Vec<_>>();
    let unmarked = |kinds: &[Kind]| -> Vec<&'static str> {
        let kinds = kinds.iter();
        kinds.map(|kind| kind.0.trim_start_matches("! ")).collect()
    };
    let mut all = ids(&KINDS);
    all.extend(ids(&HARD));
    Case::new(text(&[&KINDS[..], &HARD].concat()))
        .by_value()
        .edit(
            "other values",
            [seed("return 2\n\n\nclass Box")],
            Expect::Exactly(all),
        )
        .edit(
            "the same values",
            [seed("return 3 - 2\n\n\nclass Box")],
            Expect::Between(Vec::new(), unmarked(&HARD)),
        )
}

fn text(kinds: &[Kind]) -> String {
    let mut text = MODULE.to_owned();
    let name = |kind: &Kind| kind.0.rsplit_once("::test_").unwrap().1.to_owned();
    for kind in kinds {
        text.push_str(&format!("held_{} = {}\n", name(kind), kind.1));
    }
    text.push_str("-- test_kinds.py --\nfrom kinds import KEPT\nimport kinds\n");
    for kind in kinds {
        let name = name(kind);
        let holds = kind.2.replace("{}", &format!("kinds.held_{name}"));
        text.push_str(&format!("\n\ndef test_{name}():\n    assert {holds}\n"));
    }
    text
}
