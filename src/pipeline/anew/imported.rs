//! What cells held when all tests were found, as a record has it.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::languages::is_entry;
use crate::matrix::{CellValue, Fingerprint, LeftIn, Values};

/// By path and name, the cells when all tests were found; `None` if one had no value.
pub(super) struct Imported<'t>(FxHashMap<(&'t str, Cow<'t, str>), Option<&'t Fingerprint>>);

impl<'t> Imported<'t> {
    pub(super) fn of(values: &'t Values) -> Imported<'t> {
        let of_project = values.holders.iter();
        let of_project = of_project.filter(|holder| !holder.path.is_empty());
        let cells = of_project.flat_map(|holder| {
            let class = holder.name.split_once(':').map(|(_, class)| class);
            holder.cells.iter().map(move |(key, value)| {
                let name = match class {
                    Some(class) => Cow::Owned(format!("{class}.{key}")),
                    None => Cow::Borrowed(key.as_str()),
                };
                let value = match value {
                    CellValue::Is(value) => Some(value),
                    CellValue::Opaque(_) => None,
                };
                ((holder.path.as_str(), name), value)
            })
        });
        Imported(cells.collect())
    }

    pub(super) fn value(&self, path: &str, name: &str) -> Option<&Fingerprint> {
        *self.0.get(&(path, Cow::Borrowed(name)))?
    }

    /// Whether a cell has the value that it had then.
    pub(super) fn is_as_before(&self, cell: &LeftIn) -> bool {
        cell.value.is_some() && self.value(&cell.path, &cell.name) == cell.value.as_ref()
    }

    /// The name of a cell without digits, if tests may have made it up; `None` if not.
    pub(super) fn made_up(&self, path: &str, name: &str) -> Option<String> {
        // Keys and variables of the environment are what programs want them to be.
        let is_wanted = is_entry(name) || name.starts_with("environ[");
        let is_known = is_wanted || self.0.contains_key(&(path, Cow::Borrowed(name)));
        without_digits(name).filter(|_| !is_known)
    }
}

/// A name without its digits; of numbers that are written in hexadecimal, as the addresses of
/// objects are, letters are digits, too. `None` if it has none.
pub(super) fn without_digits(name: &str) -> Option<String> {
    if !name.contains(|one: char| one.is_ascii_digit()) {
        return None;
    }
    let mut rest = String::new();
    for word in name.split_inclusive(|one: char| !one.is_ascii_hexdigit()) {
        let number = word.trim_end_matches(|one: char| !one.is_ascii_hexdigit());
        let is_number =
            number.len() >= ADDRESS && number.contains(|one: char| one.is_ascii_digit());
        let is_dropped = |one: char| one.is_ascii_digit() || is_number && one.is_ascii_hexdigit();
        rest.extend(word.chars().filter(|one| !is_dropped(*one)));
    }
    Some(rest)
}

/// So many hexadecimal digits in a row, and no word, are a number.
const ADDRESS: usize = 12;
