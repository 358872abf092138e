"""Known system programs that leave no trace and still keep a record complete. Their result
depends only on their arguments, their standard input, and the files that they are told to
read.
"""

import os

from . import envvars
from .paths import PROJECT

_FOLDERS = ("/bin/", "/usr/bin/")

# For each program the letters of options with which it reads nothing else.
_OPTIONS = {
    "cat": frozenset("AbeEnstTuv"),
    "less": frozenset("cdeEfFgGiIJKmMnNqQrRsSuUwWX"),
    "true": frozenset(),
    "false": frozenset(),
}

# Variables that only change the look of a pager.
_HARMLESS = ("LESS", "LESSCHARSET", "LESSSECURE")


def excuse(agent, argv, candidates, folder, environment):
    """Why a program needs no trace, or `None`. Notes the files that it is told to read. The
    first existing one of `candidates` is run, in `folder` (`None` for the current one), with
    an environment of `NAME=VALUE` lines (or `None`)."""
    argv = [os.fsdecode(argument) for argument in argv]
    program = _found(agent, [os.fsdecode(path) for path in candidates])
    options = _OPTIONS.get(os.path.basename(program)) if program else None
    if options is None or os.path.dirname(program) + "/" not in _FOLDERS:
        return None
    variables = _variables(environment)
    if any(map(_leads_elsewhere, variables)):
        return None
    home = variables.get("HOME")
    if home and agent.paths.place(agent.paths.absolute(home)) == PROJECT:
        return None
    files = []
    name = os.path.basename(program)
    if name == "less":
        settings = variables.get("LESS", "").split()
        if not all(_is_option(one, options) for one in settings):
            return None
    for argument in argv[1:] if options else ():
        if argument == "-" or _is_option(argument, options):
            continue
        path = _in(folder, argument)
        if path is None or argument[:1] in ("-", "+") or not os.path.isfile(path):
            return None
        files.append(path)
    if name == "less":
        for variable in _HARMLESS + ("TERM", "COLUMNS", "LINES"):
            value = envvars.fingerprint_of(variable, agent.start_environment)
            agent.note("env", variable, value)
    for path in files:
        agent.note_file(agent.paths.absolute(path))
    return "reads nothing but what it is given: %s" % program


def _in(folder, path):
    try:
        return os.path.join(os.getcwd(), os.fsdecode(folder or b""), path)
    except OSError:
        return None


def _is_option(argument, options):
    return argument[:1] == "-" and len(argument) > 1 and options.issuperset(argument[1:])


def _leads_elsewhere(variable):
    """Whether this variable makes the dynamic linker or the pager read files or run
    programs."""
    if variable in _HARMLESS:
        return False
    return variable.startswith(("LD_", "LESS")) or variable in ("GCONV_PATH", "LOCPATH", "NLSPATH")


def _found(agent, candidates):
    """The file that will be run, if it cannot be another file of the project."""
    for path in candidates:
        if not os.path.isabs(path):
            return None
        if os.access(path, os.X_OK):
            return path
        if agent.paths.place(agent.paths.absolute(path)) == PROJECT:
            return None
    return None


def _variables(lines):
    """The environment of the program, by name."""
    if lines is None:
        lines = [name + b"=" + value for name, value in os.environ._data.items()]
    found = {}
    for line in lines:
        name, _, value = os.fsdecode(bytes(line)).partition("=")
        found.setdefault(name, value)
    return found
