"""State of the process that imports may change, and that no module's globals show."""

import gc
import io
import os
import signal
import sys
import threading
import types

from . import capture, pause


def describe(agent, without=()):
    """Values by name."""
    found = {}
    for name, value in _PARTS.items():
        if name in without:
            continue
        try:
            found[name] = value(agent)
        except Exception:
            found[name] = _opaque()
    found.update(_environment(agent))
    return found


def describe_between_tests(agent):
    """The same, without what tests change that read it: which signals decimals have raised, how
    many random numbers were drawn."""
    found = describe(agent, ("decimal", "random"))
    decimal = sys.modules.get("decimal")
    if decimal is not None:
        context = decimal.getcontext().copy()
        context.clear_flags()
        found["decimal"] = context
    return found


def _environment(agent):
    """The variables that code has set or removed. A variable as it was at the start is an
    observation of those who read it."""
    first = agent.start_environment
    now = {os.fsdecode(name): os.fsdecode(value) for name, value in os.environ._data.items()}
    return {
        "environ[%s]" % name: now.get(name)
        for name in sorted(first.keys() | now.keys())
        if first.get(name) != now.get(name) and not name.startswith(("PYTEST_", "TAMIS_"))
    }


def _opaque():
    return (nothing for nothing in ())


def _beneath(agent, path):
    """A path, the same in every checkout and every virtual environment."""
    for directory, text in ((agent.root, "*project"), (sys.prefix, "*prefix")):
        if directory and (path == directory or path.startswith(directory + "/")):
            return text + path[len(directory) :]
    return path


def _search_path(agent):
    return [
        _beneath(agent, entry) if isinstance(entry, str) else entry
        for entry in sys.path
        if entry != agent.boot
    ]


def _settings(agent):
    found = {
        "recursion": sys.getrecursionlimit(),
        "switch": sys.getswitchinterval(),
        "traceback": getattr(sys, "tracebacklimit", None),
        "digits": getattr(sys, "get_int_max_str_digits", int)(),
        "bytecode": sys.dont_write_bytecode,
        "gc": (pause.is_on(), gc.get_threshold(), gc.get_debug()),
        "umask": umask(),
        "stack": _stack_size(),
        "coroutines": sys.get_coroutine_origin_tracking_depth(),
    }
    for name in ("float_repr_style", "ps1", "ps2", "__interactivehook__"):
        found[name] = getattr(sys, name, None)
    return found


def umask():
    value = os.umask(0o077)
    os.umask(value)
    return value


def _stack_size():
    # To ask sets it to 0.
    value = threading.stack_size()
    threading.stack_size(value)
    return value


def _hooks(agent):
    """Functions that the interpreter calls."""
    return [
        sys.excepthook,
        sys.displayhook,
        sys.unraisablehook,
        sys.breakpointhook,
        threading.excepthook,
        [_runner_or(hook) for hook in sys.path_hooks],
        [_runner_or(hook) for hook in sys.meta_path],
        [_runner_or(hook) for hook in gc.callbacks if not _is_own(hook)],
        getattr(threading, "_profile_hook", None),
        tuple(sys.get_asyncgen_hooks()),
    ]


def _is_own(hook):
    """Whether this is a method of a class of this package."""
    is_bound = type(hook) is types.MethodType
    return is_bound and type(hook.__self__).__module__.startswith("_tamis.")


def _runner_or(hook):
    kind = hook if isinstance(hook, type) else type(hook)
    return kind if kind.__module__.startswith("_pytest.") else hook


def _names_of_sys(agent):
    """What somebody added to `sys`, its functions, and the kinds of its streams. What it keeps of the
    last failure is pytest's."""
    found = {
        name: value
        for name, value in vars(sys).items()
        if (name not in _OF_SYS or callable(value)) and not name.startswith(("__", "last_"))
    }
    found["captured"] = [_captured(capture.captured_stdout), _captured(capture.captured_stderr)]
    for name in ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"):
        found[name] = type(getattr(sys, name, None))
    return found


def _captured(stream):
    """How a stream was configured that pytest captures."""
    plain = io.TextIOWrapper
    if not isinstance(stream, plain):
        return type(stream)
    asked = [getattr(plain, name) for name in ("encoding", "errors", "line_buffering")]
    return dict(vars(stream)), [one.__get__(stream) for one in asked]


_OF_SYS = frozenset(
    """abiflags activate_stack_trampoline addaudithook api_version argv audit base_exec_prefix
    base_prefix breakpointhook builtin_module_names byteorder call_tracing copyright
    deactivate_stack_trampoline displayhook dont_write_bytecode exc_info excepthook exception
    exec_prefix executable exit flags float_info float_repr_style get_asyncgen_hooks
    get_coroutine_origin_tracking_depth get_int_max_str_digits getallocatedblocks getdefaultencoding
    getdlopenflags getfilesystemencodeerrors getfilesystemencoding getprofile getrecursionlimit
    getrefcount getsizeof getswitchinterval gettrace getunicodeinternedsize hash_info hexversion
    implementation int_info intern is_finalizing is_stack_trampoline_active last_exc last_traceback
    last_type last_value maxsize maxunicode meta_path modules monitoring orig_argv path path_hooks
    path_importer_cache platform platlibdir prefix ps1 ps2 pycache_prefix set_asyncgen_hooks
    set_coroutine_origin_tracking_depth set_int_max_str_digits setdlopenflags setprofile
    setrecursionlimit setswitchinterval settrace stderr stdin stdlib_module_names stdout thread_info
    tracebacklimit unraisablehook version version_info warnoptions _xoptions""".split()
)


def _logging(agent):
    """Loggers that differ from new ones."""
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    manager = logging.Logger.manager
    own = _handlers_of_pytest(agent)
    loggers = {"": _logger(logging.root, own)}
    for name, logger in sorted(manager.loggerDict.items()):
        if isinstance(logger, logging.Logger):
            told = _logger(logger, own)
            if told != (logging.Logger, logging.NOTSET, False, True, [], []):
                loggers[name] = told
    handlers = [_handler(handler) for handler in own]
    return [loggers, manager.disable, manager.loggerClass, dict(logging._levelToName), handlers]


def _handlers_of_pytest(agent):
    """Those that show what was logged. pytest puts them there for the time of the collection and of
    the tests, and `dictConfig` may remove them at import. What else is done to them stays."""
    config = getattr(agent.session, "config", None)
    plugin = config and config.pluginmanager.getplugin("logging-plugin")
    held = vars(plugin) if plugin is not None else {}
    names = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")
    return [held[name] for name in names if name in held]


def _handler(handler):
    """A handler with all that it holds; of pytest's own, which differ, what tests can set."""
    kind, form = type(handler), handler.formatter
    if not kind.__module__.startswith("_pytest."):
        return handler
    # That of pytest remembers how it formats.
    form = type(form) if type(form).__module__.startswith("_pytest.") else form
    return kind, handler.level, form, list(handler.filters)


def _logger(logger, own):
    return (
        type(logger),
        logger.level,
        logger.disabled,
        logger.propagate,
        [_handler(one) for one in logger.handlers if not any(one is other for other in own)],
        list(logger.filters),
    )


def _limits(agent):
    """What C code and the system keep for the process."""
    import faulthandler
    import resource

    found = [
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        [signal.getitimer(which) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL)],
        [resource.getrlimit(getattr(resource, name)) for name in _RLIMITS],
        os.getpriority(os.PRIO_PROCESS, 0),
        sys.getdlopenflags(),
        faulthandler.is_enabled(),
    ]
    traced = sys.modules.get("tracemalloc")
    if traced is None:
        # To import it changes nothing: whoever shows the first warning of some kinds does.
        found.append((False, 1))
    else:
        found.append((traced.is_tracing(), traced.get_traceback_limit()))
    return found


_RLIMITS = ("RLIMIT_AS", "RLIMIT_CORE", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_FSIZE",
            "RLIMIT_NOFILE", "RLIMIT_STACK")


def locale_name(agent):
    import _locale

    return _locale.setlocale(_locale.LC_ALL, None)


def _decimal(agent):
    decimal = sys.modules.get("decimal")
    return None if decimal is None else decimal.getcontext()


def _random(agent):
    """A generator that nobody has seeded differs in each process, so whoever asks it gets
    another number each time. A state that somebody set is a value."""
    random = sys.modules.get("random")
    if random is None or agent.first_random is None:
        return None
    now = random._inst.getstate()
    other = random.Random()
    other.setstate(agent.first_random)
    for _ in range(_MOST_DRAWS):
        if other.getstate()[1][:-1] == now[1][:-1]:
            return "never seeded"
        # All words of the state, which are then made anew together.
        for _ in range(len(now[1]) - 1):
            other.getrandbits(32)
    return now


# So many times the words of a generator's state may have been used up.
_MOST_DRAWS = 20


def _signals(agent):
    found = []
    for number in sorted(signal.valid_signals()):
        handler = signal.getsignal(number)
        found.append((int(number), int(handler) if isinstance(handler, int) else handler))
    return found


def _at_exit(agent):
    import atexit

    return atexit._ncallbacks() - agent.exits_of_pytest


def _traced(agent):
    in_threads = getattr(threading, "_trace_hook", None)
    return [sys.getprofile() is None, sys.gettrace() is None, in_threads is None]


def _sockets(agent):
    socket = sys.modules.get("_socket")
    return None if socket is None else socket.getdefaulttimeout()


def _csv(agent):
    csv = sys.modules.get("_csv")
    if csv is None:
        return None
    found = [csv.field_size_limit()]
    for name in sorted(csv.list_dialects()):
        one = csv.get_dialect(name)
        found.append(
            (name, one.delimiter, one.doublequote, one.escapechar, one.lineterminator)
            + (one.quotechar, one.quoting, one.skipinitialspace, one.strict)
        )
    return found


_PARTS = {
    "cwd": lambda agent: _beneath(agent, os.getcwd()),
    "sys.path": _search_path,
    "sys": _settings,
    "hooks": _hooks,
    "sys.*": _names_of_sys,
    "logging": _logging,
    "limits": _limits,
    "locale": locale_name,
    "decimal": _decimal,
    "random": _random,
    "signals": _signals,
    "atexit": _at_exit,
    "traced": _traced,
    "sys.argv": lambda agent: None if sys.argv == agent.arguments else sys.argv,
    "sockets": _sockets,
    "csv": _csv,
    "codecs": lambda agent: agent.values.codecs,
    "registered": lambda agent: sorted(agent.registered.pairs),
}
