//! Finds the project: the folder of `tamis.yml`, or without one the folder that the test
//! runner would use.

use std::path::{Path, PathBuf};

use super::file;
use crate::runners;

/// Files that mark the folder in which pytest runs; pytest's own search for its `rootdir` uses
/// them.
const PROJECT_FILES: [&str; 6] = [
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "setup.py",
];

/// Files that mark a build for the JVM. If a folder above also has one, that is the whole
/// build.
const BUILD_FILES: [&str; 5] = [
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

/// Files that mark a module of Go, and a workspace with several.
const MODULE: &str = "go.mod";
const WORKSPACE: &str = "go.work";

/// The file that marks a package of Rust, and what one of a workspace with several says.
const MANIFEST: &str = "Cargo.toml";
const WITH_MEMBERS: &str = "[workspace";

/// The project and repository around the current folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder of the project. Relative paths in the configuration start here.
    pub folder: PathBuf,
    /// `tamis.yml`, if there is one.
    pub file: Option<PathBuf>,
    /// The top of the work tree; `None` outside a repository.
    pub top: Option<PathBuf>,
}

/// Walks up from `start` (absolute, without `..`) to the top of the repository. Outside a
/// repository only `start` itself is searched.
pub(crate) fn find(start: &Path) -> Place {
    let mut place = find_project(start);
    let file = folders_up_to(start, place.top.as_deref())
        .map(|folder| folder.join(file::NAME))
        .find(|file| file.symlink_metadata().is_ok());
    if let Some(file) = file {
        place.folder = file.parent().unwrap_or(start).to_owned();
        place.file = Some(file);
    }
    place
}

/// Like [`find`] for a project that has no `tamis.yml` yet.
pub(crate) fn find_project(start: &Path) -> Place {
    let top = start
        .ancestors()
        .find(|folder| folder.join(".git").symlink_metadata().is_ok());
    let has = |folder: &Path, names: &[&str]| names.iter().any(|name| folder.join(name).is_file());
    let mut marked = None;
    for folder in folders_up_to(start, top) {
        let is_python = has(folder, &PROJECT_FILES);
        let is_build = has(folder, &BUILD_FILES);
        if is_build || (is_python && marked.is_none()) {
            marked = Some(folder);
        }
        if is_python {
            break;
        }
        if marked.is_none() && has(folder, &[MODULE, WORKSPACE]) {
            let mut above = folders_up_to(folder, top);
            marked = above
                .find(|above| has(above, &[WORKSPACE]))
                .or(Some(folder));
            break;
        }
        if marked.is_none() && has(folder, &[MANIFEST]) {
            let mut above = folders_up_to(folder, top);
            marked = above.find(|above| has_members(above)).or(Some(folder));
            break;
        }
        if marked.is_none() && is_node_package(folder) {
            marked = Some(folder);
            break;
        }
    }
    Place {
        folder: marked.or(top).unwrap_or(start).to_owned(),
        file: None,
        top: top.map(Path::to_owned),
    }
}

/// Whether a folder is a workspace of packages of Rust.
fn has_members(folder: &Path) -> bool {
    let manifest = crate::disk::read_to_string(folder.join(MANIFEST));
    manifest.is_ok_and(|text| text.contains(WITH_MEMBERS))
}

/// Whether a folder is a package with tests that run in Node.
fn is_node_package(folder: &Path) -> bool {
    runners::named("node").is_some_and(|node| node.detect(folder).is_some())
}

fn folders_up_to<'a>(start: &'a Path, top: Option<&'a Path>) -> impl Iterator<Item = &'a Path> {
    let last = top.unwrap_or(start);
    start
        .ancestors()
        .take_while(move |folder| folder.starts_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn the_nearest_file_up_to_the_top_wins() {
        let tree = tree(&[
            "tamis.yml",
            "repo/.git/HEAD",
            "repo/a/tamis.yml",
            "repo/a/b/x",
        ]);
        let repo = tree.path().join("repo");
        let found = find(&repo.join("a/b"));
        assert_eq!(found.folder, repo.join("a"));
        assert_eq!(found.file, Some(repo.join("a/tamis.yml")));
        // A file above the repository does not count.
        let found = find(&repo);
        assert_eq!((found.file, found.top), (None, Some(repo)));
    }

    #[test]
    fn without_a_file_the_folder_is_the_one_that_pytest_takes() {
        let tree = tree(&[".git", "svc/pyproject.toml", "svc/tests/unit/x", "lib/x"]);
        let at = |name: &str| find(&tree.path().join(name)).folder;
        assert_eq!(at("svc/tests/unit"), tree.path().join("svc"));
        assert_eq!(at("lib"), tree.path());
    }

    #[test]
    fn a_workspace_of_rust_is_one_project() {
        let tree = tree(&[
            ".git",
            "a/Cargo.toml",
            "a/b/Cargo.toml",
            "a/b/src/x",
            "c/Cargo.toml",
        ]);
        let manifest = tree.path().join("a/Cargo.toml");
        fs_err::write(manifest, "[workspace]\nmembers = [\"b\"]\n").unwrap();
        let at = |name: &str| find(&tree.path().join(name)).folder;
        assert_eq!(at("a/b/src"), tree.path().join("a"));
        assert_eq!(at("c"), tree.path().join("c"));
    }

    #[test]
    fn a_package_with_tests_in_node_is_a_project() {
        let tree = tree(&[".git", "setup.py", "web/src/x", "lib/package.json", "lib/y"]);
        let package = r#"{"devDependencies": {"vitest": "*"}}"#;
        fs_err::write(tree.path().join("web/package.json"), package).unwrap();
        let at = |name: &str| find(&tree.path().join(name)).folder;
        assert_eq!(at("web/src"), tree.path().join("web"));
        assert_eq!(at("lib"), tree.path());
    }

    #[test]
    fn a_build_is_the_outermost_one_beneath_what_pytest_takes() {
        let tree = tree(&[
            ".git",
            "app/pom.xml",
            "app/core/pom.xml",
            "py/setup.py",
            "py/java/build.gradle",
            "py/java/x/y",
            "both/pom.xml",
            "both/tests/tox.ini",
        ]);
        let at = |name: &str| find(&tree.path().join(name)).folder;
        assert_eq!(at("app/core"), tree.path().join("app"));
        assert_eq!(at("py/java/x"), tree.path().join("py/java"));
        assert_eq!(at("py"), tree.path().join("py"));
        assert_eq!(at("both/tests"), tree.path().join("both/tests"));
    }

    #[test]
    fn a_module_of_go_is_a_project_and_a_workspace_above_it_goes_first() {
        let tree = tree(&[
            ".git",
            "go.mod",
            "tools/go.mod",
            "tools/cmd/x",
            "work/go.work",
            "work/a/go.mod",
            "work/a/b/x",
        ]);
        let at = |name: &str| find(&tree.path().join(name)).folder;
        assert_eq!(at("tools/cmd"), tree.path().join("tools"));
        assert_eq!(at("work/a/b"), tree.path().join("work"));
        assert_eq!(at(""), tree.path());
    }

    #[test]
    fn outside_a_repository_only_the_folder_itself_counts() {
        let tree = tree(&["tamis.yml", "a/x"]);
        let found = find(&tree.path().join("a"));
        assert_eq!((found.file, found.top), (None, None));
        assert_eq!(found.folder, tree.path().join("a"));
    }
}
