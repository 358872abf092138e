"""The turn of a test that does not run.

PYTEST_DONT_REWRITE
"""


def tear_down(item, nextitem):
    """End what the tests before `item` have set up and `nextitem` does not need. When the last
    one ended, `item` was the next."""
    state = item.session._setupstate
    needed = nextitem.listchain() if nextitem is not None else ()
    if all(node in needed for node in state.stack):
        return
    from _pytest.runner import CallInfo, Exit

    end = state.teardown_exact
    # Older versions of pytest ask for the item as well.
    given = (nextitem,) if end.__code__.co_argcount == 2 else (item, nextitem)
    call = CallInfo.from_call(
        lambda: end(*given), when="teardown", reraise=(Exit, KeyboardInterrupt)
    )
    if call.excinfo is not None:
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        item.ihook.pytest_runtest_logreport(report=report)
