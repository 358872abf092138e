//! Names of commits and trees.

use std::fmt;
use std::str::FromStr;

/// Declares a 20-byte object name, written as 40 hex digits.
macro_rules! object_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 20]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&faster_hex::hex_string(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadName;

            fn from_str(text: &str) -> Result<$name, BadName> {
                parse_hex(text.as_bytes()).map($name).ok_or(BadName)
            }
        }
    };
}

object_name! {
    CommitId
}
object_name! {
    /// The name of a tree. Equal trees have equal content.
    TreeId
}

impl CommitId {
    /// The first ten digits, for people.
    pub fn short(&self) -> String {
        short(&self.to_string()).to_owned()
    }
}

/// The first ten digits of the name of a commit, for people.
pub(crate) fn short(digits: &str) -> &str {
    digits.get(..10).unwrap_or(digits)
}

/// Text that is not 40 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadName;

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object name is 40 hex digits")
    }
}

impl std::error::Error for BadName {}

/// The 20 bytes of 40 hex digits.
pub(super) fn parse_hex(text: &[u8]) -> Option<[u8; 20]> {
    let mut id = [0; 20];
    let is_whole = text.len() == 2 * id.len();
    (is_whole && faster_hex::hex_decode(text, &mut id).is_ok()).then_some(id)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    pub commit: CommitId,
    pub tree: TreeId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_are_inverse() {
        let text = "0123456789abcdef0123456789abcdef01234567";
        let id: CommitId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.0[..3], [0x01, 0x23, 0x45]);
        for bad in ["", "xyz", &text[1..], &text.replace('0', "g")] {
            assert_eq!(bad.parse::<TreeId>(), Err(BadName), "{bad}");
        }
    }
}
