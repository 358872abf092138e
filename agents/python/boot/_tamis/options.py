"""The options of pytest that can change outcomes."""

import os
import shlex
import sys

# Options that choose, order or report tests, or stop early.
_FLAGS = frozenset(
    """-x --exitfirst -v --verbose -q --quiet -l --showlocals --no-showlocals --lf --last-failed
    --ff --failed-first --nf --new-first --sw --stepwise --sw-skip --stepwise-skip --stepwise-reset
    --sw-reset --cache-clear --full-trace --no-header --no-summary --collect-only --co --keep-duplicates
    --disable-warnings --disable-pytest-warnings --force-short-summary --xfail-tb
    --no-cov --no-cov-on-fail --cov-append --cov-branch --cov -d --setup-show --continue-on-collection-errors
    --no-fold-skipped --fold-skipped --looponfail -f --trace-config --debug""".split()
)
_WITH_VALUE = frozenset(
    """-k -m --deselect --ignore --ignore-glob --maxfail --tb --durations --durations-min --verbosity
    --color --code-highlight --junitxml --junit-xml --junitprefix --junit-prefix --report-log
    --show-capture -r --lfnf --last-failed-no-failures --cov-report --cov-config --cov-context
    --cov-fail-under --cov -n --numprocesses --dist --maxprocesses --max-worker-restart --tx
    --basetemp --rootdir --cache-show --pastebin --html --log-file --log-file-mode --log-file-level
    --maxschedchunk --reruns-delay --showlocals-max --testmon-datafile""".split()
)
_SHORT_FLAGS = frozenset("xvqldf")
_SHORT_WITH_VALUE = frozenset("kmrn")


def altering(arguments, positional=()):
    """The arguments that can change outcomes, sorted. Unknown ones count.

    `positional` are the files and tests among them.
    """
    positional = set(positional)
    found = []
    waiting = iter(arguments)
    for argument in waiting:
        name, equals, _ = argument.partition("=")
        if argument == "--":
            break
        if argument in positional or argument.startswith("@"):
            continue
        if not argument.startswith("-"):
            found.append(argument)
        elif argument == "-p" or argument == "-p=":
            plugin = next(waiting, "")
            if not plugin.startswith("_tamis."):
                found.append("-p " + plugin)
        elif argument.startswith("-p") and not argument.startswith("--"):
            if not argument[2:].lstrip("=").startswith("_tamis."):
                found.append("-p " + argument[2:])
        elif name in _WITH_VALUE:
            if not equals and name != "--cov":
                next(waiting, None)
        elif name in _FLAGS:
            continue
        elif argument.startswith("--"):
            found.append(argument)
        else:
            kept = _short(argument)
            if kept:
                found.append(kept)
    return sorted(found)


def _short(argument):
    """A group of one-letter options, without those that do not matter."""
    kept = ""
    for at, letter in enumerate(argument[1:]):
        if letter in _SHORT_WITH_VALUE:
            break
        if letter in _SHORT_FLAGS:
            continue
        if letter in "scoWpP":
            kept += argument[1 + at :] if letter != "s" else letter
            if letter != "s":
                break
        else:
            kept += letter
    return "-" + kept if kept else ""


def given_arguments(config):
    """The words after pytest's name."""
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        return list(worker.get("mainargv", [""]))[1:]
    parameters = getattr(config, "invocation_params", None)
    return [str(argument) for argument in getattr(parameters, "args", sys.argv[1:])]


def describe(config):
    """The content of the `config` record."""
    arguments = given_arguments(config)
    try:
        arguments += shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    except ValueError:
        pass
    rootdir = getattr(config, "rootpath", None) or getattr(config, "rootdir", "")
    inifile = getattr(config, "inipath", None) or getattr(config, "inifile", None)
    return {
        "rootdir": str(rootdir),
        "inifile": None if inifile is None else str(inifile),
        "args": altering(arguments, getattr(config.option, "file_or_dir", None) or ()),
        "plugins": plugin_names(config),
    }


def named_configuration(config):
    """The file of `-c`. It may be where pytest would not search."""
    if not getattr(config.option, "inifilename", None):
        return None
    inifile = getattr(config, "inipath", None) or getattr(config, "inifile", None)
    return None if inifile is None else os.path.abspath(str(inifile))


def plugin_names(config):
    """Installed plug-ins by name, without those of pytest itself."""
    names = {
        getattr(dist, "project_name", "")
        for _, dist in config.pluginmanager.list_plugin_distinfo()
    }
    return sorted(name for name in names if name)


def plugin_files(config):
    """The files of pytest and of every registered plug-in."""
    files = {sys.modules["pytest"].__file__}
    for plugin in config.pluginmanager.get_plugins():
        module = plugin
        if not hasattr(plugin, "__file__"):
            module = sys.modules.get(type(plugin).__module__)
        path = getattr(module, "__file__", None)
        if isinstance(path, str):
            files.add(path)
    return files
