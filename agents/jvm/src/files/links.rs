//! Resolves the symbolic links in paths.

use std::collections::HashMap;
use std::path::Path;

/// More links than this are a loop, as for the system.
const MOST_LINKS: usize = 40;
const MOST_KNOWN: usize = 20_000;

/// A path without links, and the links on the way to it, each with its own path resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    pub links: Vec<String>,
    pub real: String,
}

/// Resolved directories.
#[derive(Default)]
pub struct Links {
    known: HashMap<String, Way>,
}

impl Links {
    /// Resolves an absolute path. `..` has the system's meaning: above the target of a link.
    /// Without `follows_last`, a link at its end is not followed.
    pub fn way(&mut self, path: &str, follows_last: bool) -> Way {
        let path = path.trim_end_matches('/');
        let Some((above, name)) = path.rsplit_once('/') else {
            return Way {
                real: "/".to_owned(),
                ..Way::default()
            };
        };
        let mut way = match self.known.get(above) {
            Some(way) => way.clone(),
            None => {
                let mut way = Way::default();
                go(&mut way, above, true);
                if self.known.len() >= MOST_KNOWN {
                    self.known.clear();
                }
                self.known.insert(above.to_owned(), way.clone());
                way
            }
        };
        go(&mut way, name, follows_last);
        if way.real.is_empty() {
            way.real.push('/');
        }
        way
    }

    /// Forgets everything after a link or directory has changed.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

/// Continues from `way.real` (without a slash at its end) along the parts of `path`.
fn go(way: &mut Way, path: &str, follows_last: bool) {
    let mut open: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
    while let Some(part) = open.pop() {
        match part.as_str() {
            "" | "." => {}
            ".." => {
                let above = way.real.rfind('/').unwrap_or_default();
                way.real.truncate(above);
            }
            part => {
                let here = format!("{}/{part}", way.real);
                let target = match open.is_empty() && !follows_last {
                    true => None,
                    false => std::fs::read_link(Path::new(&here)).ok(),
                };
                let Some(target) = target else {
                    way.real = here;
                    continue;
                };
                if way.links.len() >= MOST_LINKS {
                    way.real = here;
                    return;
                }
                way.links.push(here);
                let target = target.to_string_lossy().into_owned();
                if target.starts_with('/') {
                    way.real.clear();
                }
                open.extend(target.rsplit('/').map(str::to_owned));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn ways_go_through_links_as_the_system_does() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let top = top.to_str().unwrap().to_owned();
        let at = |path: &str| format!("{top}/{path}");
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/x"), "").unwrap();
        symlink("a/b", at("dir")).unwrap();
        symlink("../x", at("a/b/up")).unwrap();
        symlink("dir/up", at("chain")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        let mut links = Links::default();
        let mut way = |path: &str, follows: bool| {
            let way = links.way(&at(path), follows);
            let short = |path: &String| path.strip_prefix(&at("")).unwrap().to_owned();
            (
                way.links.iter().map(short).collect::<Vec<_>>(),
                short(&way.real),
            )
        };
        let is = |links: &[&str], real: &str| {
            (
                links.iter().map(|one| (*one).to_owned()).collect(),
                real.to_owned(),
            )
        };
        assert_eq!(way("a/x", true), is(&[], "a/x"));
        assert_eq!(way("chain", true), is(&["chain", "dir", "a/b/up"], "a/x"));
        assert_eq!(way("chain", false), is(&[], "chain"));
        assert_eq!(way("dir/../x", true), is(&["dir"], "a/x"));
        assert_eq!(way("dangling", true), is(&["dangling"], "nothing"));
        assert_eq!(way("circle", true).1, "circle");
        std::fs::remove_file(at("dir")).unwrap();
        links.forget();
        let gone = links.way(&at("dir/up"), true);
        assert!(gone.links.is_empty() && gone.real == at("dir/up"));
        assert_eq!(links.way("/", true).real, "/");
    }
}
