"""What counts of the modules outside the project: their globals and the members of their
classes, so that what the project did to a library shows (a registry, a replaced function).
"""

import sys
import types

from .paths import SITE, STDLIB
from .watch import is_a

_OF_CTYPES = """_cast_addr _memmove_addr _memset_addr _string_at_addr _wstring_at_addr
    _cast _string_at _wstring_at memmove memset pythonapi"""

_OF_CHARSETS = "_ASCII_CHAR_INFO _CHAR_INFO_PAGES"

# Tables of codecs in C, which never change.
_OF_ENCODINGS = """encoding_table codec Codec.decode Codec.encode IncrementalDecoder.codec
    IncrementalEncoder.codec StreamReader.codec StreamWriter.codec"""

# Names that differ between two runs of the same code, or that the interpreter and pytest change
# by themselves, with the reason. `*process` tells the same in another way where it can.
_CHANGE_BY_THEMSELVES = {
    # The order in a set of texts.
    "tokenize": """ContStr PlainToken PseudoExtras PseudoToken String StringPrefix Token Triple
        _prefix endpats single_quoted t triple_quoted u""",
    "email._header_value_parser": """_non_atom_end_matcher _non_attribute_end_matcher
        _non_extended_attribute_end_matcher _non_token_end_matcher _wsp_splitter""",
    "more_itertools.more": "numeric_range._EMPTY_HASH",
    "pkg_resources._vendor.more_itertools.more": "numeric_range._EMPTY_HASH",
    "setuptools._vendor.more_itertools.more": "numeric_range._EMPTY_HASH",
    # Addresses of C functions.
    "_ctypes": _OF_CTYPES,
    "ctypes": _OF_CTYPES,
    "ctypes._endian": _OF_CTYPES,
    "trio._core._thread_cache": "set_os_thread_name",
    # By identity; seeded by the system.
    "trio._core._ki": "_CODE_KI_PROTECTION_STATUS_WMAP",
    "trio._core._run": "_r",
    # Clocks, random names, numbers of threads and processes.
    "logging": """_startTime _handlers _handlerList _at_fork_reinit_lock_weakset shutdown root
        Logger.manager Logger.root""",
    "tempfile": "_name_sequence",
    "threading": """_active _main_thread _dangling _shutdown_locks _shutdown_locks_lock _limbo
        _counter _active_limbo_lock _start_joinable_thread _limbo_handle _trace_hook""",
    "weakref": "finalize._registry finalize._index_iter",
    "multiprocessing.heap": "BufferWrapper._heap",
    "multiprocessing.process": "_current_process ORIGINAL_DIR",
    "multiprocessing.util": "_afterfork_registry",
    "uuid": "_node _last_timestamp",
    "asyncio.events": "_running_loop",
    "execnet.gateway_base": "pid",
    # Results that are computed again where they are missing.
    "re": "_cache _cache2",
    "sre_compile": "_cache",
    "certifi.core": "_CACERT_CTX",
    "charset_normalizer.cd": _OF_CHARSETS,
    "charset_normalizer.md": _OF_CHARSETS,
    "requests.packages.chardet.cd": _OF_CHARSETS,
    "requests.packages.chardet.md": _OF_CHARSETS,
    "requests.packages.charset_normalizer.cd": _OF_CHARSETS,
    "requests.packages.charset_normalizer.md": _OF_CHARSETS,
    "_strptime": "_regex_cache _TimeRE_cache",
    "encodings": "_cache",
    "fnmatch": "_cache",
    "linecache": "cache _interactive_cache",
    "platform": "_uname_cache _sys_version_cache _platform_cache _os_release_cache",
    "pytz": """_tzinfo_cache all_timezones all_timezones_set common_timezones
        common_timezones_set country_names country_timezones""",
    "pytz.tzinfo": "_datetime_cache _timedelta_cache _ttinfo_cache",
    "sysconfig": "_CONFIG_VARS _CONFIG_VARS_INITIALIZED",
    "typing": "_caches _cleanups _overload_registry",
    "typing_extensions": "_overload_registry",
    "urllib.parse": "_parse_cache",
    "zipimport": "_zip_directory_cache",
    # What the import system holds while a module is loaded.
    "_frozen_importlib": "_module_locks _blocking_on",
    "importlib._bootstrap": "_module_locks _blocking_on",
    # `*process` has the environment, the dialects.
    "posix": "environ",
    "wsgiref.handlers": "BaseHandler.os_environ",
    # A copy of `sys.path`, which `*process` has.
    "xdist.plugin": "_sys_path",
    # Plug-ins of pytest: their session, with times, names and items; what was loaded when asked
    # for.
    "syrupy": "_syrupy",
    "allure_commons._core": "MetaPluginManager._plugin_manager",
    "anyio": "__getattr__",
    "anyio.abc": "__getattr__",
    # With `-k` it becomes an interned text.
    "_pytest.mark.expression": "FILE_NAME",
    "_csv": "_dialects",
    "_pytest.debugging": "pytestPDB._saved pytestPDB._wrapped_pdb_cls pytestPDB._recursive_debug",
}

# What watches how tests run has another state in each run, which they do not read.
_OBSERVERS = ("coverage", "$coverage", "pytest_cov", "testmon")

# The runner's entry, and what tells about the process itself: see `process_state`.
_LEFT_OUT = frozenset(("__main__", "sitecustomize", "usercustomize", "sys"))


def roots(agent, own, names=None):
    """One root for each module that is not in `own` (identities), by name; only for those of
    `names` if these are given."""
    found = []
    for name in list(sys.modules) if names is None else names:
        module = sys.modules.get(name)
        if (
            type(name) is str
            and is_a(module, types.ModuleType)
            and id(module) not in own
            and name not in _LEFT_OUT
            and name.partition(".")[0] not in ("_tamis", "_tamis_native", *_OBSERVERS)
        ):
            without = _CHANGE_BY_THEMSELVES.get(name, "")
            if name.startswith("encodings."):
                without = _OF_ENCODINGS
            if name == "warnings" and _collects_warnings(agent, module):
                without = "_showwarnmsg_impl"
            found.append(("*lib:" + name, module, tuple(without.split()), None))
    found.sort(key=lambda root: root[0])
    return found


def _collects_warnings(agent, warnings):
    """Whether pytest puts the warnings of the search for tests into a list. Until that has ended,
    the function that shows them leads to all of them, with their lines; then pytest puts back
    what was there before."""
    show = vars(warnings).get("_showwarnmsg_impl")
    is_list = type(show) is type([].append) and show.__name__ == "append"
    session = agent.session
    return is_list and session is not None and session.config.pluginmanager.hasplugin("warnings")


def path_of(module):
    """The file of a module, as it says itself."""
    path = vars(module).get("__file__")
    return path if isinstance(path, str) else ""


def places(agent):
    """Prefixes of code files, and what stands for them, so that values of another checkout and
    another virtual environment are equal."""
    pytest = sys.modules.get("_pytest")
    found = [(agent.boot + "/_tamis/", "*agent/")]
    if pytest is not None:
        found.append((path_of(pytest)[: -len("__init__.py")], "*library/"))
    known = agent.paths.directories()
    for directory, place in sorted(known, key=lambda pair: -len(pair[0])):
        if place == SITE:
            found.append((directory + "/", "*site/"))
    if agent.root:
        found.append((agent.root + "/", "*project/"))
    for directory, place in sorted(known, key=lambda pair: -len(pair[0])):
        if place == STDLIB:
            found.append((directory + "/", "*library/"))
    return tuple(found)
