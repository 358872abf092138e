//! In which files pytest looks for tests: whether one that nobody has listed may
//! hold some.

use std::ffi::OsString;
use std::path::Path;

use bstr::{BStr, ByteSlice};

use super::detect::{flags_of, is_python};
pub(crate) use crate::matrix::Finds;
use crate::pattern::Pattern;

/// By these pytest recognises a virtual environment, into which it does not look. It only
/// asks whether they are there.
const OF_ENVIRONMENTS: [&str; 8] = [
    "pyvenv.cfg",
    "history",
    "activate",
    "activate.csh",
    "activate.fish",
    "Activate",
    "Activate.bat",
    "Activate.ps1",
];

/// Whether a file may hold tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayHold {
    No,
    /// Only if a symbolic link in one of the places leads there.
    ByLink,
    Yes,
}

impl Finds {
    /// As pytest does it where nothing is configured.
    pub fn by_default() -> Finds {
        Finds {
            names: ["test_*.py", "*_test.py", "test*.txt"]
                .map(str::to_owned)
                .into(),
            places: None,
            others: Vec::new(),
        }
    }

    /// Whether a folder may be searched for tests since a file of this name is gone.
    pub fn may_have_hidden(name: &[u8]) -> bool {
        OF_ENVIRONMENTS.iter().any(|one| one.as_bytes() == name)
    }

    /// Whether a file that was not there when tests were listed may hold some.
    pub fn may_hold(&self, path: &BStr) -> MayHold {
        let name = path.rsplit_str("/").next().unwrap_or(path).as_bstr();
        // What it defines may take any file for one with tests.
        if name == "conftest.py" || self.begins_at(path) {
            return MayHold::Yes;
        }
        match (self.takes(path), self.is_within(path)) {
            (false, _) => MayHold::No,
            (true, true) => MayHold::Yes,
            (true, false) => MayHold::ByLink,
        }
    }

    /// Whether a file with this path would be looked into, wherever it lies.
    pub fn takes(&self, path: &BStr) -> bool {
        !self.others.is_empty() || self.names.iter().any(|pattern| is_like(path, pattern))
    }

    fn begins_at(&self, path: &BStr) -> bool {
        let mut places = self.places.iter().flatten();
        places.any(|place| place.as_bytes() == path.as_bytes())
    }

    fn is_within(&self, path: &BStr) -> bool {
        let Some(places) = &self.places else {
            return true;
        };
        places.iter().any(|place| {
            let rest = path.strip_prefix(place.as_bytes());
            rest.is_some_and(|rest| place.is_empty() || rest.starts_with(b"/"))
        })
    }
}

/// Whether `path` may match a pattern as pytest reads it: Python's `fnmatch`, which no set
/// of characters is told from another of here. A pattern without a `/` is for the name.
/// One with a `/` is for the whole path, and its `*` goes on over each `/`, so what stands
/// behind its last sign is all that must be there.
fn is_like(path: &BStr, pattern: &str) -> bool {
    let end_of = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    if pattern.contains('/') {
        let rest = pattern.rsplit(['*', '?', ']']).next().unwrap_or(pattern);
        return path.ends_with(end_of(rest).as_bytes());
    }
    let name = path.rsplit_str("/").next().unwrap_or(path).as_bstr();
    let wide = match pattern.split_once('[') {
        Some((before, _)) => format!("{before}*"),
        None => pattern.to_owned(),
    };
    match wide.parse::<Pattern>() {
        Ok(pattern) => pattern.matches_whole(name),
        // One that cannot be told may mean anything.
        Err(_) => true,
    }
}

/// Whether `command` starts pytest itself, and with these arguments: then no file
/// but pytest's own decides what it is told, as a `Makefile` or `tox.ini` would.
pub(crate) fn is_direct(command: &[String], arguments: &[String]) -> bool {
    let is_added =
        |word: &String| word.starts_with("PYTEST_ADDOPTS=") || word.starts_with(super::FOLDER);
    let mut rest = command;
    loop {
        if rest.strip_suffix(arguments).is_some_and(is_pytest) {
            return true;
        }
        match rest.split_last() {
            Some((last, before)) if is_added(last) => rest = before,
            _ => return false,
        }
    }
}

/// Whether these words are pytest's name.
fn is_pytest(start: &[String]) -> bool {
    let words: Vec<OsString> = start.iter().map(OsString::from).collect();
    let Some((program, _)) = words.split_first() else {
        return false;
    };
    let program = Path::new(program);
    if !is_python(program) {
        let name = program.file_name().and_then(|name| name.to_str());
        return start.len() == 1 && matches!(name, Some("pytest" | "py.test" | "pytest-3"));
    }
    let flags = flags_of(&words).map_or(usize::MAX, |flags| flags.len());
    start.len() == flags.saturating_add(3) && start.ends_with(&["-m".into(), "pytest".into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(names: &[&str], places: Option<&[&str]>, others: &[&str]) -> Finds {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Finds {
            names: owned(names),
            places: places.map(owned),
            others: owned(others),
        }
    }

    #[test]
    fn names_places_and_plug_ins_decide() {
        use MayHold::{ByLink, No, Yes};
        let plain = finds(
            &["test_*.py", "*_test.py", "test*.txt"],
            Some(&["tests"]),
            &[],
        );
        for (path, wanted) in [
            ("README.md", No),
            ("uv.lock", No),
            ("tests/data.json", No),
            ("tests/helper.py", No),
            ("tests/test_a.py", Yes),
            ("tests/deep/a_test.py", Yes),
            ("tests/test_a.txt", Yes),
            ("tests2/test_a.py", ByLink),
            ("docs/test_a.txt", ByLink),
            ("docs/conftest.py", Yes),
            ("tests", Yes),
        ] {
            assert_eq!(plain.may_hold(path.into()), wanted, "{path}");
        }
        let anywhere = finds(&["test_*.py"], None, &[]);
        assert_eq!(anywhere.may_hold("docs/test_a.py".into()), Yes);
        let top = finds(&["test_*.py"], Some(&[""]), &["yaml"]);
        assert_eq!(top.may_hold("docs/a.yml".into()), Yes);
        let odd = finds(&["a[b"], Some(&[""]), &[]);
        assert_eq!(odd.may_hold("x/a.rst".into()), Yes);
        assert_eq!(odd.may_hold("x/b.rst".into()), No);
        let whole = finds(
            &["tests/test_*.py", "docs/*.m[dx]", "a/b.c"],
            Some(&[""]),
            &[],
        );
        for (path, wanted) in [
            ("tests/test_unit/helper.py", Yes),
            ("docs/deep/y.md", Yes),
            ("x/a/b.c", Yes),
            ("x/a/b.h", Yes),
            ("x/y.d", Yes),
            ("x/b.c", Yes),
        ] {
            // Nothing is left of a set but its end.
            assert_eq!(whole.may_hold(path.into()), wanted, "{path}");
        }
        let suffix = finds(&["tests/test_*.py"], Some(&[""]), &[]);
        assert_eq!(suffix.may_hold("tests/test_unit/y.rst".into()), No);
    }

    #[test]
    fn only_pytest_itself_is_told_nothing_by_other_files() {
        let is = |command: &str, arguments: &str| {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            let (command, arguments): (Vec<String>, Vec<String>) =
                (words(command), words(arguments));
            is_direct(&command, &arguments)
        };
        assert!(is("pytest", ""));
        assert!(is(".venv/bin/pytest -q tests", "-q tests"));
        assert!(is("python -m pytest", ""));
        assert!(is("python3.11 -W error -m pytest -x", "-x"));
        assert!(is("pytest -x PYTEST_ADDOPTS=-q FOLDER=a", "-x"));
        assert!(is("pytest FOLDER=a", "") && is("pytest FOLDER=a", "FOLDER=a"));
        for command in [
            "make test",
            "tox -- -x",
            "uv run pytest -x",
            "sh -c pytest",
            "-x",
        ] {
            assert!(!is(command, "-x") && !is(command, ""), "{command}");
        }
        assert!(!is("python run.py -m pytest -x", "-x"));
        assert!(!is("pytest -x", ""), "a script that goes by this name");
        assert!(!is("pytest", "-x"));
    }
}
