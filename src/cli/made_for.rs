//! Which files a selection was made for. It proves nothing about others: a job
//! that checked out a later commit than the one that selected runs every test.

use std::path::Path;

use crate::error::Error;
use crate::history::View;

/// Beside the lists of a selection, in each folder that holds some.
const FILE: &str = "made-for";

/// The commit, and a digest of all tracked files as they are at `view`; what no
/// commit has ever had is not among them, since a step before the tests may make
/// such files.
///
/// # Errors
/// If what is on disk cannot be read.
pub(super) fn of(view: &View) -> anyhow::Result<String> {
    let revision = view.revision();
    let mut digest = blake3::Hasher::new();
    digest.update(revision.tree.to_string().as_bytes());
    for (path, fingerprint) in view.dirty()? {
        if view.is_tracked(path.as_ref())? {
            digest.update(format!("\n{path:?} {fingerprint:?}").as_bytes());
        }
    }
    let digest = digest.finalize().to_hex();
    Ok(format!("{} {digest}\n", revision.commit))
}

/// Leaves it in `folder`; `None` where nobody knows, and nothing is left out.
///
/// # Errors
/// If the file cannot be written, or an old one not removed.
pub(super) fn write(folder: &Path, made_for: Option<&str>) -> Result<(), Error> {
    let file = folder.join(FILE);
    let done = match made_for {
        Some(text) => crate::disk::write(file, text),
        None if file.exists() => fs_err::remove_file(file),
        None => Ok(()),
    };
    done.map_err(anyhow::Error::from).map_err(Error::from)
}

/// Why the selection in `folder` is not for the files of `view`, if so.
pub(super) fn mismatch(folder: &Path, view: &View) -> Option<String> {
    let told = crate::disk::read_to_string(folder.join(FILE)).unwrap_or_default();
    let here = match of(view) {
        Ok(here) => here,
        Err(error) => return Some(format!("cannot be compared with what is here ({error:#})")),
    };
    let (told, here) = (told.trim_end(), here.trim_end());
    // The commit alone may be another: a merge that was made twice.
    let (_, digest) = here.split_once(' ')?;
    match told.split_once(' ') {
        Some((_, same)) if same == digest => None,
        Some((commit, _)) if is_id(commit) && !here.starts_with(commit) => Some(format!(
            "was made at commit {:.10}, this is {here:.10}",
            commit
        )),
        Some(_) => Some("was made before files were changed".to_owned()),
        None => Some("does not say which files it is for".to_owned()),
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
