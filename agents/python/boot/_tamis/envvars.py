"""Environment variables: their initial values, and which are volatile."""

from . import fingerprint

# These differ between shells, terminals or CI jobs and tell nothing about the program under
# test. A test that reads one by name still depends on it. Only a read of the whole environment
# leaves them out.
VOLATILE = frozenset(
    """
    _ COLUMNS LINES SHLVL PWD OLDPWD WINDOWID TERM_SESSION_ID TERM_PROGRAM_VERSION
    TMUX TMUX_PANE STY SSH_AUTH_SOCK SSH_AGENT_PID SSH_CLIENT SSH_CONNECTION SSH_TTY
    DBUS_SESSION_BUS_ADDRESS XDG_SESSION_ID XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY
    XAUTHORITY GPG_AGENT_INFO HOSTNAME INVOCATION_ID JOURNAL_STREAM MAIL
    PYTEST_CURRENT_TEST PYTEST_XDIST_WORKER PYTEST_XDIST_WORKER_COUNT
    PYTEST_XDIST_TESTRUNUID PYTEST_PLUGINS PYTEST_ADDOPTS PYTEST_VERSION
    COV_CORE_SOURCE COV_CORE_CONFIG COV_CORE_DATAFILE COV_CORE_BRANCH COV_CORE_CONTEXT
    CI_JOB_ID CI_JOB_NAME CI_JOB_TOKEN CI_JOB_URL CI_PIPELINE_ID CI_PIPELINE_IID
    CI_PIPELINE_URL CI_COMMIT_SHA CI_COMMIT_SHORT_SHA CI_COMMIT_BEFORE_SHA
    CI_COMMIT_MESSAGE CI_COMMIT_TITLE CI_COMMIT_DESCRIPTION CI_COMMIT_TIMESTAMP
    CI_COMMIT_REF_NAME CI_COMMIT_REF_SLUG CI_COMMIT_BRANCH CI_RUNNER_ID CI_CONCURRENT_ID
    GITHUB_SHA GITHUB_REF GITHUB_REF_NAME GITHUB_HEAD_REF GITHUB_BASE_REF GITHUB_RUN_ID
    GITHUB_RUN_NUMBER GITHUB_RUN_ATTEMPT GITHUB_TOKEN GITHUB_ENV GITHUB_PATH
    GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_EVENT_PATH GITHUB_ACTOR
    GITHUB_ACTOR_ID GITHUB_TRIGGERING_ACTOR GITHUB_JOB GITHUB_ACTION GITHUB_WORKFLOW_SHA
    GITHUB_WORKFLOW_REF GITHUB_EVENT_NAME RUNNER_NAME RUNNER_TRACKING_ID
    ACTIONS_RUNTIME_TOKEN ACTIONS_RUNTIME_URL ACTIONS_CACHE_URL ACTIONS_RESULTS_URL
    ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL
    BUILD_ID BUILD_NUMBER BUILD_URL BUILD_TAG JOB_URL EXECUTOR_NUMBER
    """.split()
)


# The interpreter, the C library and pytest use these without `os.environ`, so every test
# depends on them. Most other variables of the interpreter show in its flags.
OF_EVERY_TEST = (
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTEST_PLUGINS",
    "PYTHONBREAKPOINT",
    "PYTHONCOERCECLOCALE",
    "PYTHONHASHSEED",
    "PYTHONHOME",
    "PYTHONIOENCODING",
    "PYTHONMALLOC",
    "PYTHONNODEBUGRANGES",
    "PYTHONPATH",
    "PYTHONPLATLIBDIR",
    "PYTHONTRACEMALLOC",
    "PYTHONUSERBASE",
    "PYTHON_CPU_COUNT",
    "TZ",
)


# Says what tamis put into `PYTHONHASHSEED`.
SEED = "TAMIS_HASH_SEED"


def is_ours(name):
    """Whether the variable only exists because tamis runs the tests."""
    return name.startswith("TAMIS_")


def own_value(name, value, boot, seed=None):
    """`value` as it would be without tamis; `None` if it would be unset.

    `name` and `value` are text. `boot` is the directory that tamis put on `PYTHONPATH`, `seed` what
    it put into `PYTHONHASHSEED`.
    """
    if value is None or is_ours(name) or name == "PYTHONHASHSEED" and value == seed:
        return None
    if name == "PYTHONPATH" and boot:
        parts = value.split(":")
        kept = [part for part in parts if part != boot]
        if len(kept) == len(parts):
            return value
        # A single empty part comes from an unset variable.
        return ":".join(kept) if any(kept) else None
    if name == "PYTEST_PLUGINS":
        parts = value.split(",")
        kept = [part for part in parts if part != "_tamis.plugin"]
        if len(kept) == len(parts):
            return value
        return ",".join(kept) if any(kept) else None
    return value


def fingerprint_of(name, environment):
    """The fingerprint of a variable in `environment` (text to text)."""
    if name == "*":
        lines = sorted(
            "%s=%s\n" % pair for pair in environment.items() if pair[0] not in VOLATILE
        )
        return fingerprint.of_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    value = environment.get(name)
    if value is None:
        return None
    return fingerprint.of_bytes(value.encode("utf-8", "surrogateescape"))
