//! What a later step without tamis can be told: names of test files.

use std::path::Path;

use anyhow::Result;

use crate::disk::write_atomically;
use crate::select::{Part, Selection, Verdict};

/// Writes `test-files.txt`, with the test files to run, and `test-files-left-out.txt`: a line a
/// file, relative to the project. With the latter, files that nobody knows run.
///
/// # Errors
/// If one cannot be written.
pub(super) fn write(selection: &Selection, part: Option<Part<'_>>, out: &Path) -> Result<()> {
    let (mut run, mut left_out) = (String::new(), String::new());
    for (test, verdict) in &selection.verdicts {
        let is_here = part.is_none_or(|part| part.has(test));
        let list = match verdict {
            Verdict::Run(_) if is_here => &mut run,
            _ => &mut left_out,
        };
        list.push_str(test);
        list.push('\n');
    }
    write_atomically(out.join("test-files.txt"), run)?;
    Ok(write_atomically(
        out.join("test-files-left-out.txt"),
        left_out,
    )?)
}
