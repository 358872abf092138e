"""Names of attributes that code in C asks for, where nobody sees it: that of `operator.attrgetter`
and `operator.methodcaller`, which the code spelled that made these, perhaps long before, and of
`str.format`, which the text has.

PYTEST_DONT_REWRITE
"""

import gc
import operator
import re

_FIELD = re.compile(r"\{([^{}!:]*)")
_ATTRIBUTE = re.compile(r"\.([^.\[\]]+)")


def held_names():
    """The names that any of these objects has that are there now."""
    # The agent's session has hidden the older objects from the collector.
    gc.unfreeze()
    found = set()
    for one in gc.get_objects():
        if type(one) in (operator.attrgetter, operator.methodcaller):
            for name in _asked_by(one):
                found.update(name.split("."))
    return found


def _asked_by(one):
    """The texts that it was made of: `partial(methodcaller, name, x=1), arguments`, too."""
    make, arguments = one.__reduce__()[:2]
    arguments = (*getattr(make, "args", ()), *arguments)
    if type(one) is operator.methodcaller:
        arguments = arguments[:1]
    return [name for name in arguments if type(name) is str]


def names_in(text):
    """The attributes that `str.format` reads for a text."""
    for field in _FIELD.findall(text):
        yield from _ATTRIBUTE.findall(field)
