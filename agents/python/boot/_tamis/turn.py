"""The turn of a test that need not run, on a worker of pytest-xdist.

PYTEST_DONT_REWRITE
"""

from .fixtures import is_folder


def can_pass(item, nextitem):
    """Whether the turn of `item` can pass without running it. What the tests before it have set
    up and `nextitem` does not need would have to end with it; whether that works is an outcome
    of its own."""
    needed = nextitem.listchain() if nextitem is not None else ()
    stack = item.session._setupstate.stack
    # Older versions of pytest have a list.
    return type(stack) is dict and all(
        node in needed or _has_no_fixture(finalizers) for node, (finalizers, _) in stack.items()
    )


def _has_no_fixture(finalizers):
    """Whether what ends is a module or class of which nothing was set up: its own tear-down is
    always there."""
    return sum(not _ends_nothing(one) for one in finalizers) <= 1


def _ends_nothing(finalizer):
    """Whether it belongs to a fixture that nothing ends."""
    definition = getattr(getattr(finalizer, "func", None), "__self__", None)
    return hasattr(definition, "argname") and is_folder(definition)


def tear_down(item, nextitem):
    """End what `nextitem` does not need. When the test before `item` ended, `item` was the next,
    and a test begins only after all has ended that it does not need."""
    state = item.session._setupstate
    needed = nextitem.listchain() if nextitem is not None else ()
    if any(node not in needed for node in state.stack):
        state.teardown_exact(nextitem)
