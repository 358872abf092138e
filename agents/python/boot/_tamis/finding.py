"""Tells in which files pytest looks for tests, and so which new files may contain some.

Existing files need no record: pytest uses their names and what its plug-ins read of them, and
all that belongs to the session.
"""

import os
import shlex

from .options import given_arguments

# Modules whose hooks decide by the name alone, by the rule in the record.
_OWN = frozenset(("_pytest.python", "_pytest.doctest", "_pytest.main"))
# Modules whose hooks ignore files by the name alone.
_IGNORING = frozenset(("_pytest.main", "_hypothesis_pytestplugin", "_tamis.selection"))
_SPECIAL = "*?["


def describe(session):
    """The content of the `finds` record; `None` if it is unknown."""
    config = session.config
    arguments = given_arguments(config)
    if any(_is_from_file(word) for word in (*arguments, *_added(config))):
        # The file may have other words next time.
        return None
    if config.getoption("lf", False) or any(_who_ignore(config)):
        # Next time there may be other reasons to ignore files.
        return None
    names = list(config.getini("python_files"))
    names += config.getoption("doctestglob", None) or ["test*.txt"]
    if config.getoption("doctestmodules", False):
        names.append("*.py")
    return {
        "args": arguments,
        "names": sorted(set(map(str, names))),
        "in": _places(session),
        "others": sorted(_others(config)),
    }


def _added(config):
    """The words that pytest puts before those of the command."""
    try:
        return (*config.getini("addopts"), *shlex.split(os.environ.get("PYTEST_ADDOPTS", "")))
    except ValueError:
        # Then pytest has not understood them either.
        return ()


def _is_from_file(argument):
    # A file of tamis only leaves out tests.
    return argument.startswith("@") and "/.tamis/" not in "/" + argument[1:]


def _others(config):
    """Plug-ins that may take any file for a test file."""
    for name in ("pytest_collect_file", "pytest_collect_directory"):
        for implementation in _implementations(config, name):
            if _module(implementation) not in _OWN:
                yield str(implementation.plugin_name)


def _who_ignore(config):
    """Installed plug-ins that ignore files for reasons of their own. (What a `conftest.py`
    reads is recorded.)"""
    for implementation in _implementations(config, "pytest_ignore_collect"):
        code = getattr(implementation.function, "__code__", None)
        file = os.path.basename(code.co_filename) if code is not None else ""
        if _module(implementation) not in _IGNORING and file != "conftest.py":
            yield implementation.plugin_name


def _implementations(config, name):
    # From pytest 7 to 8, `config.hook` hides them behind functions.
    hook = getattr(config.pluginmanager.hook, name, None)
    return () if hook is None else hook.get_hookimpls()


def _module(implementation):
    return getattr(implementation.function, "__module__", None)


def _places(session):
    """The files and folders at which pytest starts; `None` for anywhere."""
    config = session.config
    if config.getoption("pyargs", False):
        return None
    given = config.getoption("file_or_dir", None) or ()
    parameters = getattr(config, "invocation_params", None)
    start = str(getattr(parameters, "dir", None) or config.invocation_dir)
    found = set(map(str, config.args))
    if not given:
        # Also those that do not exist yet.
        found.update(map(str, config.getini("testpaths")))
    found.update(str(path) for path in getattr(session, "_initialpaths", ()))
    return sorted({os.path.realpath(os.path.join(start, _certain(path))) for path in found})


def _certain(argument):
    """The path in an argument, without the parts that match several paths."""
    path = argument.split("::", 1)[0]
    at = min((path.find(sign) for sign in _SPECIAL if sign in path), default=-1)
    return path if at < 0 else os.path.dirname(path[:at])
