"""A project whose steps exercise every way to run code; driven by `drive.py`."""

import asyncio
import functools
import threading


def plain():
    return inner()


def inner():
    return [square(n) for n in range(3)] and {n: square(n) for n in range(2)}


def square(n):
    return n * n


def generate(n):
    for item in range(n):
        yield helper(item)


def helper(item):
    return item


def careful():
    try:
        yield 1
        yield 2
    except ValueError:
        helper(3)
        yield 3
    finally:
        square(2)


HELD = []


def make_generators():
    HELD.append(generate(5))
    HELD.append(careful())
    next(HELD[0]), next(HELD[1])


def resume_generator():
    next(HELD[0])


def throw_into():
    HELD[1].throw(ValueError())


def close_it():
    HELD[1].close()


def loop_over_generator():
    for _ in HELD[0]:
        pass


def delegate():
    yield from generate(3)


def run_delegate():
    return list(delegate())


async def coroutine():
    await asyncio.sleep(0)
    async with Manager():
        return [n async for n in agenerate()]


async def agenerate():
    for n in range(3):
        yield n
        await asyncio.sleep(0)


class Manager:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return False


def run_coroutine():
    asyncio.run(coroutine())


def run_gathered():
    async def both():
        await asyncio.gather(coroutine(), coroutine())
    asyncio.run(both())


class Base:
    registry = []

    def __init_subclass__(cls):
        Base.registry.append(cls)

    def __init__(self):
        self.value = 1

    @property
    def double(self):
        return self.value * 2

    @functools.cached_property
    def cached(self):
        return helper(1)

    @classmethod
    def create(cls):
        return cls()

    @staticmethod
    def fixed():
        return 1

    def __getitem__(self, item):
        return helper(item)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __call__(self):
        return 1

    def __del__(self):
        square(1)


class Descriptor:
    def __get__(self, instance, owner):
        return 1

    def __set_name__(self, owner, name):
        self.name = name


def define_class():
    class Local(Base):
        attribute = helper(1)
        descriptor = Descriptor()
    return Local


def construct():
    for _ in range(50):
        Base()


def construct_slots():
    for _ in range(50):
        Slotted(1)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


def many_subscripts():
    base = Base()
    for n in range(200):
        base[n]


def many_properties():
    base = Base()
    for _ in range(200):
        base.double, base.missing, base.cached


def dunders():
    base = Base()
    with base:
        base()
        raise ValueError
    return {base: base == base}


def make_and_get():
    return define_class()().descriptor


def creators():
    return Base.create(), Base.fixed()


def c_callbacks():
    sorted([3, 1, 2], key=lambda n: -n)
    list(map(square, range(3)))
    functools.reduce(lambda a, b: a + b, [1, 2, 3])
    max([1, 2], key=helper)


def threads():
    workers = [threading.Thread(target=in_thread) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def in_thread():
    return [square(n) for n in range(100)]


def raising():
    try:
        deep_raise(5)
    except KeyError:
        helper(1)


def deep_raise(n):
    if n:
        deep_raise(n - 1)
    raise KeyError


def recursion_depth(n=0):
    try:
        return recursion_depth(n + 1)
    except RecursionError:
        return n


def recurse():
    recursion_depth()


def executed():
    space = {}
    exec(compile("def made():\n    return 1\nmade()", __file__ + "x.py", "exec"), space)


def addresses():
    for n in range(300):
        space = {}
        exec(compile(f"def made{n % 7}():\n    return {n}\nmade{n % 7}()", __file__ + "y.py", "exec"), space)


def generator_expression():
    return sum(square(n) for n in range(3))


@functools.lru_cache(None)
def cached(n):
    return helper(n)


def use_cache():
    return cached(1)


STEPS = [
    plain, make_generators, resume_generator, resume_generator, throw_into, close_it,
    loop_over_generator, run_delegate, run_coroutine, run_gathered, define_class, construct,
    construct_slots, many_subscripts, many_subscripts, many_properties, many_properties, dunders,
    make_and_get, creators, c_callbacks, threads, raising, recurse, executed, addresses,
    generator_expression, use_cache, use_cache, plain, construct, construct,
]
