//! The command that runs some tests in some order, without tamis.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::detect::is_python;

/// Options whose value stands behind them and may look like a path.
const WITH_VALUE: [&str; 18] = [
    "-c",
    "--config-file",
    "--rootdir",
    "--confcutdir",
    "--ignore",
    "--ignore-glob",
    "--basetemp",
    "--import-mode",
    "--deselect",
    "-p",
    "-W",
    "-o",
    "-k",
    "-m",
    "-n",
    "--cov-config",
    "--junitxml",
    "--override-ini",
];

/// The words of `command` without the tests and folders that it names. Where it does not
/// show that it starts pytest (`make test`), plain pytest.
pub(super) fn command(command: &[OsString], cwd: &Path) -> Vec<String> {
    let words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let Some(start) = after_pytest(&words) else {
        return vec!["pytest".to_owned()];
    };
    let mut kept: Vec<String> = words[..start].to_vec();
    for (at, word) in words.iter().enumerate().skip(start) {
        let is_value = at > start && WITH_VALUE.contains(&words[at - 1].as_str());
        let path = word.split("::").next().unwrap_or(word);
        let is_place = !word.starts_with('-') && cwd.join(path).exists();
        if is_value || !is_place {
            kept.push(word.clone());
        }
    }
    kept
}

/// The number of words up to `pytest`.
fn after_pytest(words: &[String]) -> Option<usize> {
    let name = Path::new(words.first()?).file_name()?.to_str()?;
    if name.starts_with("pytest") || name.starts_with("py.test") {
        return Some(1);
    }
    let module = words.windows(2).position(|pair| pair == ["-m", "pytest"]);
    module
        .filter(|_| is_python(Path::new(&words[0])))
        .map(|at| at + 2)
}

/// pytest's id of a test, which is relative to `rootdir`, as it is typed in `cwd`.
pub(super) fn from(cwd: &Path, rootdir: &Path, test: &str) -> String {
    let cwd = fs_err::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let rootdir = fs_err::canonicalize(rootdir).unwrap_or_else(|_| rootdir.to_owned());
    let shared = cwd
        .components()
        .zip(rootdir.components())
        .take_while(|(ours, theirs)| ours == theirs)
        .count();
    let up = cwd.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(rootdir.components().skip(shared)).collect();
    match way.as_os_str().is_empty() {
        true => test.to_owned(),
        false => format!("{}/{test}", way.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("tests")).unwrap();
        fs_err::write(folder.path().join("own.ini"), "").unwrap();
        let words: Vec<OsString> = text.split(' ').map(Into::into).collect();
        command(&words, folder.path()).join(" ")
    }

    #[test]
    fn places_go_and_options_stay() {
        assert_eq!(words("pytest -q tests"), "pytest -q");
        assert_eq!(
            words("python -X dev -m pytest -c own.ini tests tests::a -x"),
            "python -X dev -m pytest -c own.ini -x"
        );
        assert_eq!(words("make test"), "pytest");
    }

    #[test]
    fn ids_are_typed_where_the_user_is() {
        let typed = |cwd: &str, rootdir: &str| from(Path::new(cwd), Path::new(rootdir), "t.py::a");
        assert_eq!(typed("/no/a", "/no/a"), "t.py::a");
        assert_eq!(typed("/no/a", "/no/a/tests"), "tests/t.py::a");
        assert_eq!(typed("/no/a/b", "/no/a"), "../t.py::a");
    }
}
