//! Names of pointers that tell what they point to, so that one listing finds the useful ones.

use super::manifest::Manifest;
use super::{Hint, Offer, tag};

/// The content of a pointer's name.
pub(super) struct Pointer {
    created: u64,
    commit: String,
    tree: String,
    matrix: String,
    environment: String,
    /// The number of its pull request.
    pr: Option<u64>,
}

impl Pointer {
    pub(super) fn of(manifest: &Manifest) -> Pointer {
        Pointer {
            created: manifest.created,
            commit: manifest.commit.clone(),
            tree: manifest.tree.clone(),
            matrix: manifest.matrix.clone(),
            environment: tag(&manifest.key.environment),
            pr: manifest.writer.pr,
        }
    }

    /// Listings are sorted by name, so that the newest comes first.
    pub(super) fn name(&self) -> String {
        let age = u64::MAX - self.created;
        let for_whom = self
            .pr
            .map_or_else(|| "all".to_owned(), |pr| format!("pr{pr}"));
        [
            &format!("{age:016x}"),
            &self.commit,
            &self.tree,
            &self.matrix,
            &self.environment,
            &for_whom,
        ]
        .map(String::as_str)
        .join("-")
    }

    pub(super) fn parse(name: &str) -> Option<Pointer> {
        let mut parts = name.split('-');
        let age = u64::from_str_radix(parts.next()?, 16).ok()?;
        let mut digits = || {
            let part = parts.next()?;
            let hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
            (hex && part.len() >= 40).then(|| part.to_owned())
        };
        let (commit, tree, matrix) = (digits()?, digits()?, digits()?);
        let environment = parts.next()?.to_owned();
        let pr = match parts.next()? {
            "all" => None,
            pr => Some(pr.strip_prefix("pr")?.parse().ok()?),
        };
        parts.next().is_none().then_some(Pointer {
            created: u64::MAX - age,
            commit,
            tree,
            matrix,
            environment,
            pr,
        })
    }

    /// The offer of its matrix.
    pub(super) fn offer(self) -> Offer {
        Offer {
            id: self.name(),
            commit: self.commit,
            tree: Some(self.tree),
            created: self.created,
            manifest: None,
            environment: Some(self.environment),
            hint: Hint {
                pr: self.pr,
                ..Hint::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pointers_are_read_back_and_sort_the_newest_first() {
        let pointer = |created: u64| Pointer {
            created,
            commit: "a".repeat(40),
            tree: "b".repeat(40),
            matrix: "c".repeat(64),
            environment: tag("here"),
            pr: created.is_multiple_of(2).then_some(5),
        };
        assert!(pointer(9).name() < pointer(8).name());
        let read = Pointer::parse(&pointer(9).name()).unwrap();
        assert_eq!((read.created, read.pr), (9, None));
        assert_eq!(Pointer::parse(&pointer(8).name()).unwrap().pr, Some(5));
        for name in ["", "zz-a-b-c", "0-1-2-3", "../../etc/passwd"] {
            assert!(Pointer::parse(name).is_none(), "{name}");
        }
    }
}
