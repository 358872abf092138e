//! Who else names a test: then it cannot get another name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use walkdir::WalkDir;

/// Files that can name tests for programs.
const KINDS: [&str; 9] = [
    "py", "toml", "cfg", "ini", "txt", "yml", "yaml", "json", "sh",
];

/// Longer ones are data.
const LONGEST: u64 = 4 << 20;

/// Of these names those that are more than defined: name → the file that names it.
///
/// # Errors
/// If the folder cannot be read.
pub(super) fn mentioned(root: &Path, names: &BTreeSet<String>) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in WalkDir::new(root).sort_by_file_name() {
        let entry = entry.context("cannot read the copy of the project")?;
        let ending = entry.path().extension().unwrap_or_default();
        let is_wanted = entry.file_type().is_file()
            && KINDS.iter().any(|kind| *kind == ending)
            && entry.metadata().is_ok_and(|about| about.len() <= LONGEST);
        if !is_wanted {
            continue;
        }
        let text = crate::disk::read(entry.path())?;
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        for name in named_in(&String::from_utf8_lossy(&text)) {
            if names.contains(name) && !found.contains_key(name) {
                found.insert(name.to_owned(), below.display().to_string());
            }
        }
    }
    Ok(found)
}

/// The words of a text, without those that it only defines.
fn named_in(text: &str) -> impl Iterator<Item = &str> {
    let ends_word = |c: char| !c.is_alphanumeric() && c != '_';
    let mut before = "";
    let words = text.split_inclusive(ends_word).filter_map(move |piece| {
        let word = piece.trim_end_matches(ends_word);
        if word.is_empty() {
            return None;
        }
        let is_defined = before == "def";
        before = word;
        (!is_defined).then_some(word)
    });
    words.filter(|word| word.contains("test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_do_not_count() {
        let text = "def test_a():\n    test_b()\n\"test_c\"\ndef  test_d(): pass";
        let found: Vec<&str> = named_in(text).collect();
        assert_eq!(found, ["test_b", "test_c"]);
    }
}
