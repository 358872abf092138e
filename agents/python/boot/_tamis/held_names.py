"""Names of attributes that objects hold which ask for these in C, where nobody sees it:
`operator.attrgetter`, `operator.methodcaller`, and texts for `str.format`. The code that spelled such
a name may have run long before, when a module was imported.

PYTEST_DONT_REWRITE
"""

import gc
import operator
import re

# What is not told to the collector if all in it is as simple.
_PLAIN = (dict, tuple)

_FIELD = re.compile(r"\{([^{}!:]*)")
_ATTRIBUTE = re.compile(r"\.([^.\[\]]+)")

# Objects that are asked at once for what they refer to.
_MANY = 10000


def held_names():
    """All of them that are there now."""
    gc.unfreeze()
    found = set()
    waiting = gc.get_objects()
    seen = set()
    at = 0
    while at < len(waiting):
        some = waiting[at : at + _MANY]
        at += len(some)
        for one in some:
            if type(one) in (operator.attrgetter, operator.methodcaller):
                for name in _asked_by(one):
                    found.update(name.split("."))
        for one in gc.get_referents(*some):
            kind = type(one)
            if kind is str:
                if "{" in one and "." in one:
                    found.update(_in_text(one))
            elif kind in _PLAIN and not gc.is_tracked(one) and id(one) not in seen:
                seen.add(id(one))
                waiting.append(one)
    return found


def _asked_by(one):
    """The texts that it was made of: `partial(methodcaller, name, x=1), arguments`, too."""
    make, arguments = one.__reduce__()[:2]
    arguments = (*getattr(make, "args", ()), *arguments)
    if type(one) is operator.methodcaller:
        arguments = arguments[:1]
    return [name for name in arguments if type(name) is str]


def _in_text(text):
    for field in _FIELD.findall(text):
        yield from _ATTRIBUTE.findall(field)
