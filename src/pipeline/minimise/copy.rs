//! A copy of a project, in which tests run while the project itself is only read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::WalkDir;

/// Folders that tests do not need: caches, other programs' state.
const NOT_COPIED: [&str; 10] = [
    ".git",
    ".tamis",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    "node_modules",
];

/// A folder with the files of a project. It goes when this does.
pub(super) struct Copy {
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Copy {
    /// Virtual environments are not copied, but linked to.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(super) fn of(project: &Path) -> Result<Copy> {
        let folder = tempfile::Builder::new()
            .prefix("tamis-copy-")
            .tempdir()
            .context("cannot make a folder for a copy; set TMPDIR to one with enough space")?;
        let root = fs_err::canonicalize(folder.path())?.join("project");
        let mut walk = WalkDir::new(project).into_iter();
        while let Some(entry) = walk.next() {
            let entry = entry.context("cannot read the project")?;
            let below = entry.path().strip_prefix(project)?;
            let target = root.join(below);
            let kind = entry.file_type();
            let name = entry.file_name().to_string_lossy();
            if entry.depth() > 0 && NOT_COPIED.contains(&&*name) {
                if kind.is_dir() {
                    walk.skip_current_dir();
                }
            } else if kind.is_dir() && entry.path().join("pyvenv.cfg").is_file() {
                walk.skip_current_dir();
                std::os::unix::fs::symlink(entry.path(), &target)?;
            } else if kind.is_dir() {
                fs_err::create_dir_all(&target)?;
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(fs_err::read_link(entry.path())?, &target)?;
            } else if kind.is_file() {
                fs_err::copy(entry.path(), &target)?;
            }
        }
        Ok(Copy {
            root,
            _folder: folder,
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where in the copy a folder or file of the project is.
    pub(super) fn place_of(&self, project: &Path, path: &Path) -> PathBuf {
        match path.strip_prefix(project) {
            Ok(below) => self.root.join(below),
            Err(_) => path.to_owned(),
        }
    }

    /// Writes a file; nobody takes what was compiled of the old one for it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, below: &Path, content: &[u8]) -> Result<()> {
        let file = self.root.join(below);
        crate::disk::write(&file, content)?;
        // Python tells the age of compiled files in whole seconds.
        let compiled = file.with_file_name("__pycache__");
        if compiled.is_dir() {
            fs_err::remove_dir_all(compiled)?;
        }
        Ok(())
    }
}
