"""The agent of tamis: records what each test of a run depends on.

It needs nothing but the standard library (Python 3.8 and later) and writes traces in the
format of tamis's `docs/formats/trace.md`.

PYTEST_DONT_REWRITE
"""

VERSION = "1"


def _keep_bytecode():
    import sys

    if sys.dont_write_bytecode:
        from . import compiled

        compiled.keep(__path__[0])


_keep_bytecode()
