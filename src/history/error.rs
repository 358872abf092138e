//! Errors of a repository, with a next step for the user.

use std::fmt;
use std::path::Path;

/// What kind of error it is: callers decide by it, people read the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryErrorKind {
    /// No repository at or above the directory.
    NotARepository,
    /// A repository without a work tree.
    Bare,
    /// The current branch has no commit.
    UnbornHead,
    /// The repository belongs to another user (`safe.directory`).
    Untrusted,
    /// The repository uses a format that is not supported here.
    Unsupported,
    /// No commit has this name.
    UnknownRevision,
    /// An object is not in the local object store.
    MissingObject,
    /// Any other reason why the repository cannot be read.
    Unreadable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    pub kind: HistoryErrorKind,
    /// What happened, and to which path or object.
    pub what: String,
    /// What the user can do about it.
    pub next: String,
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.next)
    }
}

impl std::error::Error for HistoryError {}

impl HistoryError {
    pub(super) fn new(
        kind: HistoryErrorKind,
        what: impl Into<String>,
        next: impl Into<String>,
    ) -> HistoryError {
        HistoryError {
            kind,
            what: what.into(),
            next: next.into(),
        }
    }

    /// Explains why no repository could be opened for `from`.
    pub(super) fn opening(from: &Path, error: &git2::Error) -> HistoryError {
        let from = from.display();
        let why = error.message();
        match error.code() {
            git2::ErrorCode::NotFound => HistoryError::new(
                HistoryErrorKind::NotARepository,
                format!("no git repository at or above {from}"),
                "change into one, or start one with `git init` and a first commit",
            ),
            git2::ErrorCode::Owner => HistoryError::new(
                HistoryErrorKind::Untrusted,
                format!(
                    "the repository at {from} belongs to another user, so git does not trust it ({why})"
                ),
                "if you trust it, run `git config --global --add safe.directory DIRECTORY` with its top directory; \
                 in CI, tamis trusts the workspace that the service names",
            ),
            _ if why.contains("unknown object format")
                || why.contains("unsupported extension")
                || why.contains("unsupported repository version") =>
            {
                HistoryError::new(
                    HistoryErrorKind::Unsupported,
                    format!("the repository at {from} has a format that tamis cannot read ({why})"),
                    "tamis reads SHA-1 repositories with the `files` reference store; \
                     make a clone in that format, or run all tests",
                )
            }
            _ => HistoryError::new(
                HistoryErrorKind::Unreadable,
                format!("cannot open the git repository at {from}: {why}"),
                "check whether `git status` works there",
            ),
        }
    }

    /// git could not do `what`.
    pub(super) fn git(what: impl fmt::Display, error: &git2::Error) -> HistoryError {
        HistoryError::new(
            HistoryErrorKind::Unreadable,
            format!("{what}: {}", error.message()),
            "check the repository with `git fsck`",
        )
    }

    /// A file or directory of the work tree could not be read.
    pub(super) fn disk(what: &str, path: &Path, error: &std::io::Error) -> HistoryError {
        HistoryError::new(
            HistoryErrorKind::Unreadable,
            format!("cannot {what} {}: {error}", path.display()),
            "make it readable for this user, or remove it",
        )
    }
}
