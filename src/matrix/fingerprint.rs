//! The digest of a unit at a revision.

use std::fmt;

use bstr::BString;
use serde::{Deserialize, Serialize};

/// A digest of a unit's content at a revision, 16 bytes.
///
/// For `file`, `env`, `dist` and `runtime` units it is made from a git blob id
/// (SHA-1 over `blob LEN\0CONTENT`), so that it is free from a tree and a
/// collector in any language can compute it; for parsed source it is BLAKE3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 16]);

/// How a path is stored, as far as it can matter to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    Regular = b'r',
    Executable = b'x',
    Symlink = b'l',
    /// A submodule: the blob id is the commit it points to.
    Gitlink = b's',
}

impl Fingerprint {
    /// The value of a unit that does not exist.
    pub const MISSING: Fingerprint = Fingerprint([0; 16]);

    /// The fingerprint of content stored under a git object id: its first
    /// 15 bytes and the mode.
    pub fn of_blob(oid: &[u8], mode: Mode) -> Fingerprint {
        let mut bytes = [0; 16];
        let len = oid.len().min(15);
        bytes[..len].copy_from_slice(&oid[..len]);
        bytes[15] = mode as u8;
        Fingerprint(bytes)
    }

    /// Of a folder: the sorted lines `f name` and `d name`, as agents compute it too. A name is
    /// that of a folder if it is marked so.
    pub fn of_listing(names: &[(BString, bool)]) -> Fingerprint {
        let lines = names.iter().map(|(name, is_dir)| {
            let kind: &[u8] = if *is_dir { b"d " } else { b"f " };
            [kind, name.as_slice(), b"\n"].concat()
        });
        let mut lines: Vec<Vec<u8>> = lines.collect();
        lines.sort();
        Fingerprint::of_value(&lines.concat())
    }

    /// The fingerprint of a value that no tree holds (an environment
    /// variable, a package version): that of a regular blob with this content.
    pub fn of_value(content: &[u8]) -> Fingerprint {
        let oid = blob_id(content);
        Fingerprint::of_blob(&oid, Mode::Regular)
    }

    /// A BLAKE3 digest, domain-separated by `domain`, cut to 16 bytes.
    pub fn of_digest(domain: &str, content: &[u8]) -> Fingerprint {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        hasher.update(content);
        Fingerprint::of_hasher(&hasher)
    }

    /// The first 16 bytes of what `hasher` has seen.
    pub fn of_hasher(hasher: &blake3::Hasher) -> Fingerprint {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Fingerprint(bytes)
    }

    pub fn hex(&self) -> String {
        faster_hex::hex_string(&self.0)
    }

    /// The inverse of [`Fingerprint::hex`].
    pub fn from_hex(text: &str) -> Option<Fingerprint> {
        let mut bytes = [0; 16];
        let is_whole = text.len() == 2 * bytes.len();
        let read = faster_hex::hex_decode(text.as_bytes(), &mut bytes);
        (is_whole && read.is_ok()).then_some(Fingerprint(bytes))
    }
}

/// The git blob id (SHA-1 over `blob LEN\0CONTENT`) of `content`.
pub(crate) fn blob_id(content: &[u8]) -> [u8; 20] {
    let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha1);
    hasher.update(format!("blob {}\0", content.len()).as_bytes());
    hasher.update(content);
    let mut id = [0; 20];
    match hasher.try_finalize() {
        Ok(known) => id.copy_from_slice(known.as_bytes()),
        // Made to have the id of something else: git refuses it, so no tree holds
        // it, and any id will do that no tree has.
        Err(_) => id.copy_from_slice(&blake3::hash(content).as_bytes()[..20]),
    }
    id
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Display for Fingerprint {
    /// The first eight hex digits: enough for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex()[..8])
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.hex())
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Fingerprint::from_hex(&text)
            .ok_or_else(|| serde::de::Error::custom("a fingerprint is 32 hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_refuses_other_text() {
        let print = Fingerprint::of_value(b"hello");
        assert_eq!(Fingerprint::from_hex(&print.hex()), Some(print));
        assert_eq!(Fingerprint::from_hex("xyz"), None);
        assert_eq!(Fingerprint::from_hex(&"é".repeat(16)), None);
        assert_eq!(Fingerprint::from_hex(&"+1".repeat(16)), None);
    }

    #[test]
    fn value_is_the_blob_id_that_git_computes() {
        // `printf hello | git hash-object --stdin`
        assert_eq!(
            Fingerprint::of_value(b"hello").hex(),
            "b6fc4c620b67d95f953a5c1c1230aa72"
        );
        // `git hash-object /dev/null`
        assert_eq!(blob_id(b"")[..4], [0xe6, 0x9d, 0xe2, 0x9b]);
    }
}
