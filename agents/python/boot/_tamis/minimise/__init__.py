"""Watches tests statement by statement: what each finds in its variables, what it leaves there,
and which calls of production code it makes.

tamis asks for it over the socket of the order server (`_tamis.order.server`).

PYTEST_DONT_REWRITE
"""

import os
import sys

_BOOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def observe(session, items, request, write):
    """Run an order and watch the tests that the request names; why it ended early, or `None`."""
    from . import statements

    return statements.run(session, items, request, write, _native(), _BOOT)


def why_not():
    """Why statements cannot be watched here; `None` if they can."""
    if _native() is not None:
        return None
    return "values are taken on Linux with glibc and CPython 3.9 to 3.14 only; this is %s %d.%d" % (
        sys.implementation.name,
        *sys.version_info[:2],
    )


def _native():
    """The module of the native helper, which needs no agent to take values."""
    if "_tamis_native" in sys.modules:
        return sys.modules["_tamis_native"]
    from ..collector import native_module

    try:
        return native_module(_BOOT)
    except ImportError:
        return None
