//! Lists the commits of a range, and their subjects.

use bstr::ByteSlice;

use super::objects::{object_id, oid};
use super::repository::Repository;
use super::{CommitId, HistoryError, HistoryErrorKind, Result};

/// Some revisions of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// The newest commits up to a revision, in topological order.
    Last { count: usize, head: String },
    /// `A..B`: the commits that B has and A does not have.
    Range(String),
}

impl Repository {
    /// The commits of a span, parents before children, otherwise the older first.
    ///
    /// # Errors
    /// A revision has no such name here, or a commit cannot be read.
    pub fn log(&self, span: &Span) -> Result<Vec<CommitId>> {
        let (count, range) = match span {
            Span::Last { count, head } => {
                self.resolve(head)?;
                (*count, None)
            }
            Span::Range(range) => (usize::MAX, Some(range)),
        };
        let walk = || -> std::result::Result<Vec<CommitId>, git2::Error> {
            let mut walk = self.git().revwalk()?;
            walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::TIME)?;
            match (span, range) {
                (_, Some(range)) => walk.push_range(range)?,
                (Span::Last { head, .. }, None) => {
                    let object = self.git().revparse_single(head)?;
                    walk.push(object.peel_to_commit()?.id())?;
                }
                (Span::Range(_), None) => {}
            }
            walk.take(count)
                .map(|id| Ok(CommitId(object_id(id?))))
                .collect()
        };
        let mut commits = walk().map_err(|error| {
            HistoryError::new(
                HistoryErrorKind::UnknownRevision,
                format!("the revisions cannot be listed: {}", error.message()),
                "write a range as `A..B`, with names that `git log` knows",
            )
        })?;
        commits.reverse();
        Ok(commits)
    }

    /// The first line of a commit's message.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub fn subject(&self, commit: &CommitId) -> Result<String> {
        let found = self.git().find_commit(oid(commit.0));
        let found = found
            .map_err(|error| HistoryError::git(format!("cannot read commit {commit}"), &error))?;
        Ok(found
            .summary_bytes()
            .unwrap_or_default()
            .to_str_lossy()
            .into_owned())
    }
}
