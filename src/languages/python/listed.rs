//! What a collector tells of classes of which code gets all members at once, or the docstring:
//! `docs/precision.md`.
//!
//! The texts of these units begin with `{` or `"`: `{module:C` for a class of the project, `{*` for
//! any other. `{` alone says that the collector tells of them at all.

use bstr::BStr;

use crate::languages::{UnitReads, name_hash};

/// What stands in front of such texts.
pub(crate) const LISTED: char = '{';

/// The same of classes that were asked for their docstrings.
pub(crate) const ASKED_FOR_DOCS: char = '"';

/// What code reads of which this was told; `None` if it was told of something else.
pub(super) fn reads(path: &BStr, told: &str) -> Option<UnitReads> {
    let class = told.strip_prefix([LISTED, ASKED_FOR_DOCS])?;
    let mark = &told[..told.len() - class.len()];
    let mut reads = UnitReads::default();
    if !class.is_empty() {
        // By the name of its module, and as cells of one that only tests import are called.
        let qualified = class.rsplit(':').next().unwrap_or(class);
        let by_path = format!("{mark}{path}:{qualified}");
        reads.names = vec![name_hash(told), name_hash(&by_path)];
        reads.names.sort_unstable();
    }
    Some(reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_read_by_the_name_and_the_path_of_its_module() {
        let names = |told| reads("src/a/b.py".into(), told).map(|reads| reads.names);
        let hashes = |texts: [&str; 2]| {
            let mut hashes = texts.map(name_hash).to_vec();
            hashes.sort_unstable();
            Some(hashes)
        };
        assert_eq!(names("name"), None);
        assert_eq!(names("{"), Some(Vec::new()));
        assert_eq!(names("{a.b:C.D"), hashes(["{a.b:C.D", "{src/a/b.py:C.D"]));
        assert_eq!(names("\"a.b:C"), hashes(["\"a.b:C", "\"src/a/b.py:C"]));
    }
}
