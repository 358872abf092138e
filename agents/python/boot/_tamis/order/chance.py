"""The states of random numbers.

A fork continues the numbers of its parent, or gets new ones; a fresh process gets what it would
get. To tell apart who sets a seed by itself and who leaves it to chance, tamis compares the
states in two processes.

PYTEST_DONT_REWRITE
"""

import hashlib
import random
import sys


def states():
    """A state for each generator that is loaded."""
    found = {"random": random.getstate()}
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        try:
            found["numpy"] = numpy.get_state()
        except Exception:
            pass
    return found


def digest(found):
    """The same in two processes if both set the same seed."""
    return {
        name: hashlib.sha256(repr(state).encode()).hexdigest()[:16]
        for name, state in sorted(found.items())
    }


def restore(found, seeded):
    """In a fork: generators that the project seeds go on from there; others begin anew."""
    if "random" in seeded:
        random.setstate(found["random"])
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and "numpy" in found:
        if "numpy" in seeded:
            numpy.set_state(found["numpy"])
        else:
            numpy.seed()
