//! Which part of which file configures pytest, and its fingerprint.
//!
//! Comments and layout do not count, nor do the tables of other tools.

use bstr::{BStr, BString, ByteSlice};

use crate::matrix::{Fingerprint, Unit, What};

/// The files in which pytest looks for its configuration, in every directory
/// from the tests' common one upwards; the first that has some decides.
const FILES: [&str; 7] = [
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
];

/// What pytest looks for in each directory from a test file's upwards.
pub(crate) fn directory_units(dir: &BStr) -> Vec<Unit> {
    let looked_for = ["conftest.py", "__init__.py", "setup.py"]
        .map(|name| Unit::at(join(dir, name), What::Exists));
    let place = if dir.is_empty() { b".".as_bstr() } else { dir };
    let configuration = Unit::at(place, What::RunnerConfig("pytest".into()));
    looked_for.into_iter().chain([configuration]).collect()
}

/// The files that decide the value of a directory's `config` unit, whose path
/// is the directory's, or `.` for the top of the work tree.
pub(crate) fn config_files(place: &BStr) -> impl Iterator<Item = BString> {
    let dir = if place == "." { BStr::new("") } else { place };
    FILES.map(|name| join(dir, name)).into_iter()
}

fn join(dir: &BStr, name: &str) -> BString {
    match dir.is_empty() {
        true => name.into(),
        false => [dir.as_bytes(), b"/", name.as_bytes()].concat().into(),
    }
}

/// The fingerprint of the configuration that pytest finds in one directory:
/// that of the first file that has some. `read` gives the content of a file,
/// `None` if there is none. Where no file has a section for pytest, a
/// pyproject.toml still decides which folder is the root.
///
/// # Errors
/// Those of `read`.
pub(crate) fn config_fingerprint<E>(
    place: &BStr,
    read: impl Fn(&BStr) -> Result<Option<Vec<u8>>, E>,
) -> Result<Fingerprint, E> {
    let mut without = Fingerprint::MISSING;
    for path in config_files(place) {
        let Some(content) = read(path.as_bstr())? else {
            continue;
        };
        let name = path.rsplit_str("/").next().unwrap_or(&path).as_bstr();
        match part_for_pytest(name, &content) {
            Said::Options(part) => {
                let text = [name.as_bytes(), b"\0", part.as_bytes()].concat();
                return Ok(Fingerprint::of_digest("tamis pytest config 1", &text));
            }
            // What does not parse counts whole: pytest may stop at it.
            Said::Broken => {
                let text = [name.as_bytes(), b"\0", &content].concat();
                return Ok(Fingerprint::of_digest("tamis pytest config 1 raw", &text));
            }
            Said::None if name == "pyproject.toml" => {
                without = Fingerprint::of_digest("tamis pytest config 1", b"root");
            }
            Said::None => {}
        }
    }
    Ok(without)
}

/// What a file says to pytest.
enum Said {
    /// In a normal form.
    Options(String),
    None,
    Broken,
}

fn part_for_pytest(name: &BStr, content: &[u8]) -> Said {
    let part = match name.as_bytes() {
        b"pyproject.toml" => toml_part(content, true),
        _ if name.ends_with(b".toml") => toml_part(content, false),
        b"setup.cfg" => ini_part(content, "tool:pytest"),
        _ => ini_part(content, "pytest"),
    };
    match part {
        None => Said::Broken,
        Some(Some(part)) => Said::Options(part),
        // These files are pytest's own and count even when empty.
        Some(None) if name.ends_with(b"pytest.ini") => Said::Options(String::new()),
        Some(None) => Said::None,
    }
}

/// The `[tool.pytest]` table of a pyproject.toml, or a whole `pytest.toml`, in
/// a normal form; `None` if the file does not parse, `Some(None)` if it has no
/// such table.
fn toml_part(content: &[u8], is_pyproject: bool) -> Option<Option<String>> {
    let table: toml::Table = std::str::from_utf8(content).ok()?.parse().ok()?;
    if !is_pyproject {
        return toml::to_string(&table).ok().map(Some);
    }
    match table.get("tool").and_then(|tool| tool.get("pytest")) {
        Some(part) => toml::to_string(part).ok().map(Some),
        None => Some(None),
    }
}

/// One section of an ini file without comments and empty lines; `None` if the
/// file is not of that form, `Some(None)` if it has no such section.
fn ini_part(content: &[u8], section: &str) -> Option<Option<String>> {
    let text = std::str::from_utf8(content).ok()?;
    let mut part = None;
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim_end();
        let start = trimmed.trim_start();
        if start.is_empty() || start.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[') {
            inside = name.split(']').next()? == section;
            if inside {
                part.get_or_insert_with(String::new);
            }
            continue;
        }
        if let (true, Some(part)) = (inside, &mut part) {
            // A continuation line keeps that it is one.
            if trimmed.len() != start.len() {
                part.push(' ');
            }
            part.push_str(start);
            part.push('\n');
        }
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Neither the stack nor the patience ends.
    #[test]
    fn nesting_without_end_is_read_or_broken() {
        let table = print(&[(
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = '-q'\n",
        )]);
        for (before, deeper, after) in [
            ("a = ", "[", ""),
            ("a = ", "{a=", ""),
            ("a", ".a", " = 1"),
            ("[a", ".a", "]"),
            ("[[a", ".a", "]]"),
            ("[tool.pytest.ini_options]\na", ".a", " = 1"),
            ("[tool.pytest.ini_options]\na = ", "[", ""),
        ] {
            let text = format!("{before}{}{after}\n", deeper.repeat(100_000));
            assert_ne!(
                print(&[("pyproject.toml", &text)]),
                table,
                "{before}{deeper}"
            );
        }
    }

    fn print(files: &[(&str, &str)]) -> Fingerprint {
        config_fingerprint("a".into(), |path| {
            let name = path.strip_prefix(b"a/").unwrap();
            let found = files.iter().find(|(file, _)| file.as_bytes() == name);
            Ok::<_, Infallible>(found.map(|(_, content)| content.as_bytes().to_vec()))
        })
        .unwrap()
    }

    #[test]
    fn comments_and_other_tools_do_not_count() {
        let pyproject = |content| print(&[("pyproject.toml", content)]);
        let base = pyproject("[tool.pytest.ini_options]\naddopts = '-q'\n");
        let same =
            "# hi\n[project]\nversion = '2'\n[tool.pytest.ini_options]\naddopts   = \"-q\"\n";
        assert_eq!(base, pyproject(same));
        assert_ne!(
            base,
            pyproject("[tool.pytest.ini_options]\naddopts = '-v'\n")
        );
        let tox = |content| print(&[("tox.ini", content)]);
        let ini = tox("[pytest]\naddopts = -q\n");
        let same = "[tox]\nx=1\n[pytest]\n\n; c\naddopts = -q   \n[other]\ny=2\n";
        assert_eq!(ini, tox(same));
        assert_ne!(ini, tox("[pytest]\naddopts = -q\n  -x\n"));
    }

    #[test]
    fn the_first_file_with_options_decides() {
        let ini = ("pytest.ini", "[pytest]\n");
        let tox = ("tox.ini", "[pytest]\naddopts = -q\n");
        assert_eq!(print(&[ini]), print(&[ini, tox]));
        assert_ne!(print(&[tox]), print(&[ini, tox]));
        assert_ne!(print(&[tox]), print(&[("pytest.ini", ""), tox]));
        assert_eq!(print(&[tox]), print(&[tox, ("setup.cfg", "[metadata]\n")]));
    }

    #[test]
    fn files_without_options_count_only_where_they_name_the_root() {
        assert_eq!(print(&[]), Fingerprint::MISSING);
        assert_eq!(
            print(&[("setup.cfg", "[metadata]\n")]),
            Fingerprint::MISSING
        );
        assert_ne!(
            print(&[("pyproject.toml", "[project]\n")]),
            Fingerprint::MISSING
        );
        assert_ne!(
            print(&[("pyproject.toml", "= 1")]),
            print(&[("pyproject.toml", "= 2")])
        );
    }
}
