//! pytest.

mod args;
mod causes;
mod config;
mod detect;
mod doctor;
mod finds;
mod observing;
mod orders;
mod probe;
mod reproducer;
mod runner;

pub(crate) use args::write as write_args;
pub(crate) use config::{config_files, config_fingerprint, directory_units};
pub(crate) use finds::{Finds, MayHold, is_direct};
pub(crate) use probe::prober;
pub(crate) use runner::{EXAMPLES, Pytest};

use bstr::{BStr, ByteSlice};

/// The variable that adds words to pytest's own.
pub(crate) const ADDED: &str = "PYTEST_ADDOPTS";

/// What stands, after the words of a stored command, before the folder where it ran, if
/// that is another than the project's.
pub(crate) const FOLDER: &str = "FOLDER=";

/// What stands before pytest's own ids, which are relative to its root folder
/// `rootdir`, to make them relative to `project`; both relative to the top of
/// the work tree.
pub(crate) fn id_prefix(rootdir: &BStr, project: &BStr) -> String {
    if rootdir == project {
        return String::new();
    }
    let beneath = if project.is_empty() {
        Some(rootdir.as_bytes())
    } else {
        rootdir
            .strip_prefix(project.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"/"))
    };
    match beneath {
        Some(rest) => format!("{}/", rest.as_bstr()),
        // pytest's root lies above or beside the project.
        None => format!("/{rootdir}/"),
    }
}

/// The variables that the interpreter and pytest act upon by themselves: every
/// row has them (`agents/python/boot/_tamis/envvars.py`).
pub(crate) const READ_BY_EVERY_TEST: [&str; 15] = [
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
];

/// The file and the qualified name of the function that a test id names:
/// `a/test_b.py::C::test_d[1]` → (`a/test_b.py`, `C.test_d`).
pub(crate) fn source_of(test: &str) -> (&str, String) {
    let (file, rest) = test.split_once("::").unwrap_or((test, ""));
    let rest = rest.split('[').next().unwrap_or(rest);
    (file, rest.replace("::", "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_id_names_its_function() {
        let (file, name) = source_of("a/t.py::C::test_d[x::y]");
        assert_eq!((file, name.as_str()), ("a/t.py", "C.test_d"));
        assert_eq!(source_of("a/t.txt").0, "a/t.txt");
    }

    #[test]
    fn the_agent_names_the_same_variables() {
        let source = include_str!("../../../agents/python/boot/_tamis/envvars.py");
        let (_, list) = source.split_once("OF_EVERY_TEST = (").unwrap();
        let (list, _) = list.split_once(')').unwrap();
        let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(names, READ_BY_EVERY_TEST);
    }

    #[test]
    fn ids_are_relative_to_the_project() {
        let prefix = |rootdir: &str, project: &str| id_prefix(rootdir.into(), project.into());
        assert_eq!(prefix("", ""), "");
        assert_eq!(prefix("a", "a"), "");
        assert_eq!(prefix("a/tests", "a"), "tests/");
        assert_eq!(prefix("tests", ""), "tests/");
        assert_eq!(prefix("", "a"), "//");
        assert_eq!(prefix("ab", "a"), "/ab/");
    }
}
