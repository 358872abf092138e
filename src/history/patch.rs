//! Differences of files as `git apply` takes them.

use std::path::Path;

use super::Result;
use super::error::HistoryError;

/// The patch that makes `after` of the file `path` with the content `before`.
///
/// # Errors
/// git cannot make one.
pub(crate) fn patch(path: &Path, before: &[u8], after: &[u8]) -> Result<Vec<u8>> {
    let mut options = git2::DiffOptions::new();
    options.force_text(true);
    let made = git2::Patch::from_buffers(before, Some(path), after, Some(path), Some(&mut options));
    let text = made.and_then(|mut patch| patch.to_buf());
    let text = text.map_err(|error| HistoryError::git("cannot make a patch", &error))?;
    Ok(text.to_vec())
}
