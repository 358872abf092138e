//! Finds links that lead out of a repository. People who can commit a link must not choose
//! where tamis writes and deletes.

use std::path::{Path, PathBuf};

/// The link below `top` through which `path` leaves it, and its target, if there is one.
pub(crate) fn link_out(path: &Path, top: &Path) -> Option<(PathBuf, String)> {
    let mut place = top.to_owned();
    for part in path.strip_prefix(top).ok()? {
        place.push(part);
        if !place.is_symlink() {
            continue;
        }
        let target = match place.canonicalize() {
            Ok(target) if top.canonicalize().is_ok_and(|top| target.starts_with(top)) => continue,
            Ok(target) => target.display().to_string(),
            Err(_) => "nowhere".to_owned(),
        };
        return Some((place, target));
    }
    None
}

/// Why a store is not used that the user did not name and that such a link leads to.
pub(super) fn refusal(store: &Path, top: &Path) -> Option<String> {
    let (link, target) = link_out(store, top)?;
    Some(format!(
        "{} is a symbolic link out of the repository, to {target}: remove it, or write \
         `store: FOLDER` in tamis.yml",
        link.display()
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_links_that_lead_out_count() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path().join("top");
        std::fs::create_dir_all(top.join("in/store")).unwrap();
        std::fs::create_dir(world.path().join("out")).unwrap();
        symlink("in", top.join("inside")).unwrap();
        symlink("../out", top.join("outside")).unwrap();
        symlink("/no/such/place", top.join("nowhere")).unwrap();
        symlink(&top, world.path().join("again")).unwrap();
        let out = |path: &str| link_out(&top.join(path), &top).map(|(link, _)| link);
        assert_eq!(out("in/store"), None);
        assert_eq!(out("inside/store"), None);
        assert_eq!(out("new/store"), None);
        assert_eq!(out("outside/store"), Some(top.join("outside")));
        assert_eq!(out("nowhere/store"), Some(top.join("nowhere")));
        // The repository itself may be behind a link.
        let again = world.path().join("again");
        assert_eq!(link_out(&again.join("inside/store"), &again), None);
    }
}
