//! Code that a program makes of text: there is no source, but the code object
//! tells which names it spells.

use super::dynamic::{
    DOCSTRINGS_IN_TEXT, READERS_IN_TEXT, is_wide_attribute, is_wide_import, is_wide_name, looks_up,
    reads_annotations, reads_docstrings,
};
use super::names::is_builtin;
use super::sort_unique;
use crate::fingerprint::Uses;
use crate::fingerprint::name_hash;

/// What such code can reach. `names` are its variables, attributes and what it
/// imports from modules (`co_names`, not told apart), `modules` those that it
/// imports (dotted), `texts` its literals.
pub fn uses_of_generated(names: &[String], modules: &[String], texts: &[String]) -> Uses {
    let mut uses = Uses::default();
    let parts = modules.iter().flat_map(|name| name.split('.'));
    for name in names.iter().map(String::as_str).chain(parts) {
        uses.asks.push(name_hash(name));
        uses.is_wide |= is_wide_name(name)
            || is_wide_attribute(name)
            || matches!(name, "globals" | "locals" | "vars" | "dir" | "help");
        uses.looks_up |= looks_up(name);
        uses.reads |= reads_annotations(name);
        uses.reads_docs |= reads_docstrings(name);
    }
    // A variable may be a module, too.
    for module in names.iter().chain(modules) {
        uses.is_wide |= is_wide_import(module, None)
            || names.iter().any(|item| is_wide_import(module, Some(item)));
    }
    for name in names {
        if !is_builtin(name) {
            uses.unbound.push(name.clone());
        }
    }
    for text in texts {
        let words = text.split(|char: char| char != '_' && !char.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            uses.asks.push(name_hash(word));
            uses.reads |= READERS_IN_TEXT.contains(&word);
            uses.reads_docs |= DOCSTRINGS_IN_TEXT.contains(&word);
        }
    }
    uses.reads |= uses.is_wide;
    uses.reads_docs |= uses.is_wide;
    sort_unique(&mut uses.asks);
    uses.unbound.sort_unstable();
    uses.unbound.dedup();
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(names: &[&str], texts: &[&str]) -> Uses {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        uses_of_generated(&owned(names), &owned(&["jinja2.runtime"]), &owned(texts))
    }

    #[test]
    fn it_spells_its_names_and_those_in_texts() {
        let found = uses(&["Macro", "len"], &["resolve", "list[Foo]"]);
        for name in ["jinja2", "runtime", "Macro", "resolve", "list", "Foo"] {
            assert!(found.spells(name), "{name}");
        }
        assert_eq!(found.unbound, ["Macro"]);
        assert!(!found.is_wide && !found.looks_up && !found.reads && !found.reads_docs);
    }

    #[test]
    fn it_may_reach_what_other_code_may() {
        for name in ["eval", "globals", "dir", "__subclasses__", "f_back", "pickle", "gc"] {
            assert!(uses(&[name], &[]).is_wide, "{name}");
        }
        assert!(uses(&["sys", "modules"], &[]).is_wide);
        assert!(!uses(&["sys", "path"], &[]).is_wide);
        assert!(uses(&["getattr"], &[]).looks_up);
        assert!(uses(&["__annotations__"], &[]).reads);
        assert!(uses(&[], &["__doc__"]).reads_docs);
    }
}
