//! Which part of which file configures pytest, and its fingerprint.
//!
//! Comments and layout do not count, nor do the tables of other tools.

use bstr::{BStr, ByteSlice};

use crate::matrix::{Fingerprint, Unit, UnitKind};

/// The files in which pytest looks for its configuration, in every directory
/// from the tests' common one upwards.
const FILES: [&str; 7] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
];

/// What pytest looks for in each directory from a test file's upwards.
pub fn directory_units(dir: &BStr) -> Vec<Unit> {
    let path = |name: &str| match dir.is_empty() {
        true => name.as_bytes().to_vec(),
        false => [dir.as_bytes(), b"/", name.as_bytes()].concat(),
    };
    let looked_for = ["conftest.py", "__init__.py", "setup.py"]
        .map(|name| Unit::new(UnitKind::Exists, path(name), ""));
    let configuration = FILES.map(|name| Unit::new(UnitKind::Config, path(name), "pytest"));
    looked_for.into_iter().chain(configuration).collect()
}

/// The fingerprint of what pytest reads of the configuration file at `path`.
///
/// A file without a section for pytest still counts as present, since it can
/// decide which folder is the root. A file that does not parse counts whole.
pub fn config_fingerprint(path: &BStr, content: Option<&[u8]>) -> Fingerprint {
    let Some(content) = content else {
        return Fingerprint::MISSING;
    };
    let name = path.rsplit_str("/").next().unwrap_or(path).as_bstr();
    let part = if name.ends_with(b".toml") {
        toml_part(content, name == "pyproject.toml")
    } else {
        let section = match name.as_bytes() {
            b"setup.cfg" => "tool:pytest",
            _ => "pytest",
        };
        ini_part(content, section)
    };
    match part {
        Some(part) => Fingerprint::of_digest("tamis pytest config 1", part.as_bytes()),
        None => Fingerprint::of_digest("tamis pytest config 1 raw", content),
    }
}

/// The `[tool.pytest]` table of a pyproject.toml, or a whole `pytest.toml`, in
/// a normal form.
fn toml_part(content: &[u8], is_pyproject: bool) -> Option<String> {
    let table: toml::Table = std::str::from_utf8(content).ok()?.parse().ok()?;
    if !is_pyproject {
        return toml::to_string(&table).ok();
    }
    match table.get("tool").and_then(|tool| tool.get("pytest")) {
        Some(part) => toml::to_string(part).ok(),
        None => Some(String::new()),
    }
}

/// One section of an ini file without comments and empty lines; `None` if the
/// file is not of that form.
fn ini_part(content: &[u8], section: &str) -> Option<String> {
    let text = std::str::from_utf8(content).ok()?;
    let mut part = String::new();
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim_end();
        let start = trimmed.trim_start();
        if start.is_empty() || start.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[') {
            inside = name.split(']').next()? == section;
            continue;
        }
        if inside {
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

    fn print(path: &str, content: &str) -> Fingerprint {
        config_fingerprint(path.into(), Some(content.as_bytes()))
    }

    #[test]
    fn comments_and_other_tools_do_not_count() {
        let base = print("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-q'\n");
        let same = "# hi\n[project]\nversion = '2'\n[tool.pytest.ini_options]\naddopts   = \"-q\"\n";
        assert_eq!(base, print("a/pyproject.toml", same));
        assert_ne!(base, print("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-v'\n"));
        let ini = print("tox.ini", "[pytest]\naddopts = -q\n");
        assert_eq!(ini, print("tox.ini", "[tox]\nx=1\n[pytest]\n\n; c\naddopts = -q   \n[other]\ny=2\n"));
        assert_ne!(ini, print("tox.ini", "[pytest]\naddopts = -q\n  -x\n"));
    }

    #[test]
    fn missing_empty_and_broken_files_differ() {
        let missing = config_fingerprint("setup.cfg".into(), None);
        assert_ne!(missing, print("setup.cfg", ""));
        assert_ne!(print("pyproject.toml", "= 1"), print("pyproject.toml", "= 2"));
        assert_eq!(print("setup.cfg", ""), print("setup.cfg", "[metadata]\nname = x\n"));
    }
}
