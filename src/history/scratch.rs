//! A second work tree beside the repository, which leaves no trace in it.

use std::path::Path;

use super::objects::oid;
use super::repository::Repository;
use super::{CommitId, HistoryError, Result, owner};

/// A repository of its own that uses the objects of another one.
pub(crate) struct Scratch {
    git: git2::Repository,
}

impl Scratch {
    /// Makes one in the empty folder `dir`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn new(of: &Repository, dir: &Path) -> Result<Scratch> {
        let theirs = of.git().commondir();
        let borrow = || -> std::io::Result<()> {
            let mut line = theirs.join("objects").into_os_string();
            line.push("\n");
            let ours = dir.join(".git/objects/info");
            fs_err::create_dir_all(&ours)?;
            crate::disk::write(ours.join("alternates"), line.as_encoded_bytes())?;
            // A shallow history ends here.
            let shallow = theirs.join("shallow");
            if shallow.exists() {
                fs_err::copy(shallow, dir.join(".git/shallow"))?;
            }
            Ok(())
        };
        let failed = |error: &git2::Error| {
            HistoryError::git(
                format!("cannot make a work tree in {}", dir.display()),
                error,
            )
        };
        git2::Repository::init(dir).map_err(|error| failed(&error))?;
        borrow().map_err(|error| HistoryError::disk("make a work tree in", dir, &error))?;
        let git = owner::open(|| git2::Repository::open(dir)).map_err(|error| failed(&error))?;
        Ok(Scratch { git })
    }

    /// Checks out `commit` in the work tree and removes everything else.
    ///
    /// # Errors
    /// An object is missing, or a file cannot be written.
    pub(crate) fn check_out(&self, commit: CommitId) -> Result<()> {
        let work = || -> std::result::Result<(), git2::Error> {
            self.git.set_head_detached(oid(commit.0))?;
            let mut how = git2::build::CheckoutBuilder::new();
            how.force().remove_untracked(true).remove_ignored(true);
            self.git.checkout_head(Some(&mut how))
        };
        work().map_err(|error| HistoryError::git(format!("cannot check out {commit}"), &error))
    }
}
