"""The collector agent of tamis: records what each test of a run depends on.

It needs nothing but the standard library (Python 3.8 and later) and writes
traces as `docs/formats/trace.md` of tamis describes them.

PYTEST_DONT_REWRITE
"""

VERSION = "1"
