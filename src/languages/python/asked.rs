//! What runners of Python's tests ask of modules by themselves, and do in their stead.

use crate::languages::Names;

/// The fixture that sets attributes for the time of a test.
pub(super) const MONKEYPATCH: &str = "monkeypatch";

/// The fixture whose entries are names in doctests. These may reach any name anyway.
pub(super) const DOCTEST_NAMESPACE: &str = "doctest_namespace";

/// Attributes of pytest's items, nodes and requests that are modules, or lead there.
pub(super) const HAND_OUT_MODULES: [&str; 4] = ["module", "obj", "_obj", "_getobj"];

/// Whether something of the module may stand in for these fixtures, or look at what others
/// put there.
pub(super) fn meets_lent(names: &Names) -> bool {
    [MONKEYPATCH, DOCTEST_NAMESPACE]
        .iter()
        .any(|fixture| names.spells(fixture))
        || names.passes_on(DOCTEST_NAMESPACE)
}

/// The globals of a test file that pytest asks for by name. (Tests and fixtures
/// it finds by looking at what all names are bound to.)
pub(super) const ASKED_OF_TEST_FILES: [&str; 14] = [
    "__test__",
    "collect_ignore",
    "collect_ignore_glob",
    "pytest_generate_tests",
    "pytest_plugins",
    "pytestmark",
    "setUpModule",
    "setup",
    "setup_function",
    "setup_module",
    "tearDownModule",
    "teardown",
    "teardown_function",
    "teardown_module",
];

/// Whether pytest asks test files, `conftest.py` and plugins for this global,
/// wherever its value comes from.
pub(super) fn asks_for(name: &str) -> bool {
    name.starts_with("pytest_") || ASKED_OF_TEST_FILES.contains(&name)
}
