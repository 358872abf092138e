"""The streams with which pytest captures what a program prints.

They are `sys.stdout` and `sys.stderr` while the project is imported, but not between the tests.
What keeps one (a handler of `logging`, a console) has a value only if the stream has a name: its
content is written in C, and another one in each process.

PYTEST_DONT_REWRITE
"""

# The native digest finds them here.
captured_stdout = captured_stderr = None


def find(config):
    global captured_stdout, captured_stderr
    manager = config.pluginmanager.getplugin("capturemanager")
    capturing = getattr(manager, "_global_capturing", None)
    captured_stdout, captured_stderr = (
        getattr(getattr(capturing, name, None), "tmpfile", None) for name in ("out", "err")
    )
