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

/// What such code can reach. `attributes` are those and what it takes from
/// modules, `modules` the ones that it imports (dotted), `texts` its literals.
pub fn uses_of_generated(
    attributes: &[String],
    variables: &[String],
    modules: &[String],
    texts: &[String],
) -> Uses {
    let mut uses = Uses::default();
    let parts = modules.iter().flat_map(|name| name.split('.'));
    let all = attributes.iter().chain(variables).map(String::as_str);
    for name in all.chain(parts) {
        uses.asks.push(name_hash(name));
        uses.is_wide |= is_wide_attribute(name) || name == "f_locals";
        uses.looks_up |= looks_up(name);
        uses.reads |= reads_annotations(name);
        uses.reads_docs |= reads_docstrings(name);
    }
    for name in variables {
        uses.is_wide |=
            is_wide_name(name) || matches!(&**name, "globals" | "locals" | "vars" | "dir" | "help");
        if !is_builtin(name) {
            uses.unbound.push(name.clone());
        }
    }
    // A variable may be a module, too.
    for module in variables.iter().chain(modules) {
        uses.is_wide |= is_wide_import(module, None)
            || attributes
                .iter()
                .any(|item| is_wide_import(module, Some(item)));
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

    fn uses(variables: &[&str], texts: &[&str]) -> Uses {
        with(&[], variables, texts)
    }

    fn with(attributes: &[&str], variables: &[&str], texts: &[&str]) -> Uses {
        let owned = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let modules = owned(&["jinja2.runtime"]);
        uses_of_generated(
            &owned(attributes),
            &owned(variables),
            &modules,
            &owned(texts),
        )
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
        for name in [
            "eval",
            "globals",
            "dir",
            "__subclasses__",
            "f_back",
            "pickle",
            "gc",
        ] {
            assert!(uses(&[name], &[]).is_wide, "{name}");
        }
        assert!(with(&["modules"], &["sys"], &[]).is_wide);
        assert!(!with(&["path", "vars"], &["sys"], &[]).is_wide);
        assert!(uses(&["getattr"], &[]).looks_up);
        assert!(uses(&["__annotations__"], &[]).reads);
        assert!(uses(&[], &["__doc__"]).reads_docs);
    }
}
