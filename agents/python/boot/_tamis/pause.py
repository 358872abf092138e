"""The garbage collector pauses between tests: code of the project that it runs then would count for all
tests, now and then.

PYTEST_DONT_REWRITE
"""

import gc

# Whether the program has it on, and it pauses.
_is_paused = False


def begin():
    global _is_paused
    if gc.isenabled():
        _is_paused = True
        gc.disable()


def end():
    global _is_paused
    if _is_paused:
        _is_paused = False
        gc.enable()


def is_on():
    """Whether it collects when the program runs."""
    return _is_paused or gc.isenabled()
