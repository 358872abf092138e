"""Objects of all kinds: how they are made, and what differs."""

import sys

SETUP = """
import abc, array, collections, contextvars, dataclasses, datetime, decimal, enum, fractions
import functools, io, itertools, logging, operator, pathlib, random, re, struct, sys, threading
import types, typing, uuid, weakref

class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)
    def method(self): pass

class Slots:
    __slots__ = ("a", "b")
    def __init__(self, a=None, b=None):
        self.a = a
        if b is not None:
            self.b = b

class Both(Slots):
    pass

def numbers(a, b=1):
    yield a
def others(a, b=1):
    yield b
def within(a):
    def inner(): yield a
    return inner()
def ended(made):
    list(made)
    return made

class Text(str): pass
class Number(int): pass
class Pair(tuple): pass
class Items(list): pass
class Table(dict): pass
class Members(set): pass
class Part(functools.partial): pass

Point = collections.namedtuple("Point", "x y")

@dataclasses.dataclass
class Data:
    a: int
    b: object = None

class Color(enum.Enum):
    RED = 1
    BLUE = 2

class Bit(enum.Flag):
    A = 1
    B = 2

def plain(x): return x

def holding(value):
    def held(): return value
    return held

def with_default(value):
    def held(x=value): return x
    return held

def with_keyword(value):
    def held(*, x=value): return x
    return held

def marked(**attributes):
    def held(): pass
    held.__dict__.update(attributes)
    return held

def wrapped(function):
    @functools.wraps(function)
    def wrapper(): pass
    return wrapper

def cached(size, *keys):
    @functools.lru_cache(maxsize=size)
    def memo(key): return [key]
    for key in keys: memo(key)
    return memo

def dispatching(*kinds):
    @functools.singledispatch
    def generic(x): pass
    for kind in kinds: generic.register(kind)(plain)
    return generic

def deep(count):
    held = []
    for _ in range(count): held = [held]
    return held

def ring(count, *values):
    items = [[value] for value in values for _ in range(count)]
    for one, next in zip(items, items[1:] + items[:1]): one.append(next)
    return items[0]

def abstract(*kinds):
    class Abstract(abc.ABC): pass
    for kind in kinds: Abstract.register(kind)
    return Abstract

KEPT = [Plain(a=1), Plain(a=2)]

def weak_keys(*values):
    return weakref.WeakKeyDictionary(zip(KEPT, values))

def ordered(*keys):
    made = collections.OrderedDict.fromkeys("abc", 1)
    for key in keys: made.move_to_end(key)
    return made

def logger(name, level=0, **attributes):
    made = logging.Logger(name, level)
    made.__dict__.update(attributes)
    return made

def failure(*args, **attributes):
    made = ValueError(*args)
    made.__dict__.update(attributes)
    return made

def asked(path):
    str(path), path.parts, hash(path)
    return path

def moved(function, *args):
    function(*args)
    return function.__self__

def variable(value):
    made = contextvars.ContextVar("made")
    made.set(value)
    return made

class Local(threading.local):
    def __init__(self, *args, **keywords):
        self.args = len(args)
"""

# Kind: expressions that all differ. Each, evaluated twice, must be equal.
KINDS = {
    "single": "None | ... | NotImplemented",
    "bool": "True | False | 1 | 0 | 1.0 | '1' | b'1'",
    "int": "5 | -5 | 10**50 | -10**50 | 10**50 + 1 | 2**63 | 2**64 | Number(5) | Number(2**70)",
    "float": "0.0 | -0.0 | 1e300 | float('inf')",
    "complex": "1j | 2j | -0j",
    "str": r"'' | 'a' | 'ä' | '\ud800' | 'a\0' | Text('a') | '\U0001f600' | b'a' | b'' | bytearray(b'a')",
    "tuple": "() | (1,) | (1, 2) | (2, 1) | ((1, 2),) | [1, 2] | Pair((1, 2)) | Point(1, 2) | Point(1, 3)",
    "list": "[] | [1] | [[1]] | [[], []] | [1, 2] | [2, 1] | Items([1, 2])",
    "dict": "{} | {'a': 1} | {'a': 2} | {'b': 1} | {'a': 1, 'b': 2} | {'b': 2, 'a': 1} | {1: {}} | Table(a=1) | {(1, 2): 3} | {(1, 3): 3}",
    "set": "set() | {1} | {1, 2, 'a', 'b'} | {1, 2, 'a', 'c'} | frozenset({1}) | Members({1}) | Members({2}) | {(1, 2)} | {frozenset({1}), frozenset({2})} | {frozenset({1, 2})}",
    "range": "range(3) | range(4) | slice(3) | slice(4) | slice(None, None, 3)",
    "instance": "Plain() | Plain(a=1) | Plain(a=2) | Plain(b=1) | Plain(a=1, b=2) | Plain(a=[1]) | Slots(1) | Slots(1, 2) | Both(1) | object()",
    "data": "Data(1) | Data(2) | Data(1, [2]) | types.SimpleNamespace(a=1) | types.SimpleNamespace(a=2)",
    "enum": "Color.RED | Color.BLUE | Bit.A | Bit.B | Bit.A | Bit.B",
    "class": "Plain | Slots | int | type('Made', (), {'a': 1}) | type('Made', (), {'a': 2}) | type('Made', (Plain,), {'a': 1}) | abstract() | abstract(Plain) | abstract(Plain, Slots)",
    "module": "re | operator | types.ModuleType('x') | types.ModuleType('y')",
    "function": "plain | holding(1) | holding([1]) | with_default(1) | with_default(2) | with_keyword(1) | with_keyword([2]) | marked() | marked(a=1) | marked(a=[2]) | wrapped(plain) | wrapped(len) | (lambda: 1) | (lambda: 2)",
    "method": "Plain(a=1).method | Plain(a=2).method | [1].append | [2].append | len | abs | str.upper | str.lower | int.__add__ | (5).__add__ | Slots.a | Slots.b | dict.fromkeys",
    "wrapper": "staticmethod(plain) | classmethod(plain) | property(plain) | property(None, plain) | property(None, None, plain) | functools.cached_property(plain) | staticmethod(len) | functools.partialmethod(plain, 1) | functools.partialmethod(plain, 2)",
    "partial": "functools.partial(plain) | functools.partial(plain, 1) | functools.partial(plain, 2) | functools.partial(plain, a=1) | functools.partial(len, 1) | Part(plain, 1)",
    "getter": "operator.attrgetter('a') | operator.attrgetter('b') | operator.attrgetter('a.b') | operator.attrgetter('a', 'b') | operator.itemgetter('a') | operator.itemgetter(1) | operator.itemgetter(1, 2) | operator.methodcaller('a') | operator.methodcaller('b') | operator.methodcaller('a', 1) | operator.methodcaller('a', b=1)",
    "cache": "cached(5) | cached(5, 1) | cached(5, 2) | cached(5, 1, 2) | cached(None) | cached(None, 1) | cached(None, 2) | cached(6, 1)",
    "dispatch": "dispatching() | dispatching(int) | dispatching(str) | dispatching(int, str)",
    "pattern": "re.compile('a') | re.compile('b') | re.compile('a', re.I) | re.compile(b'a')",
    "deque": "collections.deque() | collections.deque([1]) | collections.deque([2, 1]) | collections.deque([1], 5) | collections.deque(range(200)) | moved(collections.deque(range(200)).rotate, 1)",
    "mapping": "ordered() | ordered('a') | ordered('b') | collections.defaultdict(list) | collections.defaultdict(dict) | collections.defaultdict(list, a=[1]) | collections.Counter('ab') | collections.Counter('aab') | collections.ChainMap({}) | collections.ChainMap({}, {1: 2}) | types.MappingProxyType({1: 2}) | types.MappingProxyType({1: 3}) | collections.UserDict(a=1) | {}.keys() | {1: 2}.keys()",
    "weak": "weakref.ref(KEPT[0]) | weakref.ref(KEPT[1]) | weakref.ref(Plain()) | weakref.proxy(KEPT[0]) | weak_keys() | weak_keys(1) | weak_keys(2) | weak_keys(1, 2) | weakref.WeakSet(KEPT) | weakref.WeakSet(KEPT[:1]) | weakref.WeakValueDictionary(a=KEPT[0]) | weakref.WeakValueDictionary(a=KEPT[1])",
    "time": "datetime.date(2020, 1, 2) | datetime.date(2020, 1, 3) | datetime.time(1, 2) | datetime.time(1, 3) | datetime.time(1, 2, fold=1) | datetime.time(1, 2, tzinfo=datetime.timezone.utc) | datetime.datetime(2020, 1, 2) | datetime.datetime(2020, 1, 2, microsecond=1) | datetime.datetime(2020, 1, 2, fold=1) | datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc) | datetime.timedelta(1) | datetime.timedelta(0, 1) | datetime.timedelta(0, 0, 1) | datetime.timezone.utc | datetime.timezone(datetime.timedelta(hours=1)) | datetime.timezone(datetime.timedelta(hours=1), 'x')",
    "number": "decimal.Decimal(1) | decimal.Decimal('1.0') | decimal.Decimal('1e9') | decimal.Decimal('-0') | decimal.Decimal('nan') | decimal.Context() | decimal.Context(prec=3) | decimal.Context(flags=[decimal.Inexact]) | fractions.Fraction(1, 2) | fractions.Fraction(1, 3)",
    "identifier": "uuid.UUID(int=1) | uuid.UUID(int=2)",
    "path": "pathlib.Path('a') | pathlib.Path('b') | pathlib.Path('/a') | pathlib.PurePosixPath('a') | pathlib.PureWindowsPath('a')",
    "logger": "logger('a') | logger('b') | logger('a', 10) | logger('a', propagate=False) | logger('a', disabled=True) | logger('a', handlers=[logging.NullHandler()]) | logger('a', parent=logger('p')) | logger('a', parent=logger('q'))",
    "context": "contextvars.ContextVar('a') | contextvars.ContextVar('b') | contextvars.ContextVar('a', default=1) | contextvars.ContextVar('a', default=[2]) | variable(3) | variable(4)",
    "typing": "list[int] | list[str] | dict[int] | typing.List[int] | typing.List[str] | typing.Optional[int] | typing.Union[int, str] | typing.Any | typing.TypeVar('T') | typing.TypeVar('U') | typing.TypeVar('T', bound=int) | typing.TypeVar('T', int, str) | typing.TypeVar('T', covariant=True) | typing.ForwardRef('x') | typing.ForwardRef('y') | typing.Callable[[int], str] | typing.Literal[1] | typing.Literal[True]",
    "struct": "struct.Struct('i') | struct.Struct('l') | array.array('i', [1]) | array.array('i', [2]) | array.array('l', [1])",
    "lock": "threading.Lock() | threading.RLock() | threading.Condition() | threading.Event() | threading.Semaphore(2) | threading.Semaphore(3)",
    "random": "random.Random(1) | random.Random(2)",
    "iterator": "iter([]) | iter([1]) | iter([2]) | iter((1,)) | moved(iter([1]).__next__) | iter(range(2)) | iter(range(3)) | iter('a') | iter(b'a') | itertools.count(1) | itertools.count(2) | itertools.count(1, 2) | itertools.count(10**30) | itertools.repeat(1) | itertools.repeat(2) | itertools.repeat(1, 5)",
    "stream": "io.StringIO('a') | io.StringIO('b') | io.BytesIO(b'a') | io.BytesIO(b'b') | moved(io.BytesIO(b'a').read)",
    "exception": "ValueError() | ValueError(1) | ValueError(2) | KeyError(1) | failure(1, a=2)",
    "code": "compile('1', 'f', 'eval') | compile('2', 'f', 'eval') | plain.__code__",
    "local": "threading.local() | moved(threading.local().__setattr__, 'a', 1) | moved(threading.local().__setattr__, 'a', 2) | Local() | Local(1) | Local(2) | Local(k=1) | Local(k=2) | moved(Local(1).__setattr__, 'x', 3)",
    "cycle": "ring(1, 1) | ring(1, 2) | ring(1, 1, 2) | ring(1, 1, 2, 3) | ring(1, 1, 3, 2) | ring(3, 1, 2)",
    "deep": "deep(1000) | deep(1001) | deep(100000)",
}

if sys.version_info >= (3, 11):
    KINDS["generator"] = (
        "(x for x in [1]) | (x for x in [2]) | (y for y in [1]) | (x + 1 for x in [1]) | numbers(1) | numbers(2) | "
        "numbers(a=[1]) | within(1) | within(2) | ended(numbers(1)) | ended(within(1)) | others(1)"
    )
