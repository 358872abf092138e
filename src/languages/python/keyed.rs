//! What a collector tells of dictionaries that code reads by key: `docs/precision.md`.
//!
//! The texts of these units begin with `[`. A function that uses the global `X` by key only is
//! told as `[!f X`, each entry that was read as `[X['k']`, and whether there is one as
//! `[X['k']?`. `[X[]` tells only that there is a dictionary, and `[X` that all of it was read.

use super::module::{ModuleUnits, UnitAt};
use crate::languages::simple_name;

/// What stands in front of such texts.
pub(crate) const KEYED: char = '[';

/// One such unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyed<'t> {
    /// A function, by the name of its unit, and a global that it uses by key only.
    Function(&'t str, &'t str),
    /// A global that is read as a whole.
    Whole(&'t str),
    /// An entry: its cell, and that of the dictionary's kind.
    Entry { cell: &'t str, global: &'t str },
}

impl<'t> Keyed<'t> {
    /// From the text of a unit; `None` if it is about something else.
    pub(crate) fn of(text: &'t str) -> Option<Keyed<'t>> {
        let text = text.strip_prefix(KEYED)?;
        if let Some(function) = text.strip_prefix('!') {
            let (function, global) = function.rsplit_once(' ')?;
            return Some(Keyed::Function(function, global));
        }
        Some(match text.split_once('[') {
            Some((global, _)) => Keyed::Entry { cell: text, global },
            None => Keyed::Whole(text),
        })
    }

    /// The text of the unit for what an agent told, where functions have a line in front of their
    /// names. `None` if the source has no such function.
    pub(super) fn text(told: &str, module: Option<&ModuleUnits>) -> Option<String> {
        let Some(function) = told.strip_prefix("[!") else {
            return Some(told.to_owned());
        };
        let (line, rest) = function.split_once(' ')?;
        let (name, global) = rest.rsplit_once(' ')?;
        let UnitAt::Code(unit) = module?.unit_at(line.parse().ok()?, name)? else {
            return None;
        };
        // Of two functions with one name the other may do anything.
        let is_all = simple_name(unit) == name && module?.defines_once(unit);
        is_all.then(|| format!("[!{unit} {global}"))
    }
}

/// The cell that tells whether a global is a dictionary with entries by key at all.
pub(crate) fn kind_of(global: &str) -> String {
    format!("{global}[]")
}

/// The other way round: the global of which a cell is the kind.
pub(crate) fn keyed_in(cell: &str) -> Option<&str> {
    cell.strip_suffix("[]")
}

/// The name that a cell has in a module at `path`, for those who read it by key.
pub(crate) fn spelled(path: &str, cell: &str) -> String {
    format!("{path}#{cell}")
}

/// The name of a cell for people. In names, points divide classes and members.
pub(crate) fn shown(cell: &str) -> String {
    match is_entry(cell) {
        true => cell.replace("\\x2e", "."),
        false => cell.to_owned(),
    }
}

/// Whether a cell is an entry of a dictionary.
pub(crate) fn is_entry(cell: &str) -> bool {
    cell.ends_with([']', '?']) && cell.contains('[') && !cell.starts_with("environ[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_what_is_read() {
        let entry = |cell, global| Some(Keyed::Entry { cell, global });
        assert_eq!(Keyed::of("name"), None);
        assert_eq!(Keyed::of("[!C.f X"), Some(Keyed::Function("C.f", "X")));
        assert_eq!(Keyed::of("[X"), Some(Keyed::Whole("X")));
        assert_eq!(Keyed::of("[X[]"), entry("X[]", "X"));
        assert_eq!(Keyed::of("[X['[a]']?"), entry("X['[a]']?", "X"));
        assert!(is_entry("X['a']?") && is_entry("X[]") && !is_entry("environ[HOME]"));
        assert!(!is_entry("C.member"));
        assert_eq!(shown("X['a\\x2eb']?"), "X['a.b']?");
    }
}
