//! What attributes say of items.

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

/// Attributes that leave a function what it is.
const PLAIN: [&str; 14] = [
    "allow",
    "cfg",
    "cold",
    "deprecated",
    "deny",
    "doc",
    "expect",
    "forbid",
    "ignore",
    "inline",
    "must_use",
    "should_panic",
    "track_caller",
    "warn",
];

pub(super) fn is_plain(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path.is_ident("cfg_attr") {
        let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        return parts.is_ok_and(|parts| {
            let mut applied = parts.iter().skip(1);
            applied.all(|one| PLAIN.iter().any(|name| one.path().is_ident(name)))
        });
    }
    let first = path.segments.first();
    let is_of_tools =
        first.is_some_and(|first| first.ident == "clippy" || first.ident == "rustfmt");
    is_of_tools || PLAIN.iter().any(|name| path.is_ident(name))
}

/// Derivations that only make implementations for their type.
const DERIVED: [&str; 17] = [
    "Args",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Eq",
    "Error",
    "Hash",
    "Ord",
    "Parser",
    "PartialEq",
    "PartialOrd",
    "Serialize",
    "Subcommand",
    "ValueEnum",
    "Zeroize",
];

/// Attributes that say something to these, or to the compiler.
const OF_TYPES: [&str; 9] = [
    "arg",
    "clap",
    "command",
    "error",
    "group",
    "non_exhaustive",
    "repr",
    "serde",
    "value",
];

/// Whether an attribute leaves a type, or a constant, something that only matters by its name.
pub(super) fn is_about_a_type(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path.is_ident("derive") {
        let parts = attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
        return parts.is_ok_and(|parts| {
            let mut last = parts.iter().filter_map(|one| one.segments.last());
            last.all(|last| DERIVED.iter().any(|name| last.ident == name))
        });
    }
    is_plain(attribute) || OF_TYPES.iter().any(|name| path.is_ident(name))
}

/// `#[test]`, `#[tokio::test]` and the like.
pub(super) fn is_test(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == "test")
}

/// `#[cfg(test)]` and `#[test]`: nothing else is compiled with them.
pub(super) fn are_for_tests(attributes: &[Attribute]) -> bool {
    let mut attributes = attributes.iter();
    attributes.any(|one| {
        let is_condition = one.path().is_ident("cfg");
        let condition = || one.meta.require_list().map(|list| list.tokens.to_string());
        is_test(one) || (is_condition && condition().is_ok_and(|text| text == "test"))
    })
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(one) => &one.attrs,
        Item::Enum(one) => &one.attrs,
        Item::ExternCrate(one) => &one.attrs,
        Item::ForeignMod(one) => &one.attrs,
        Item::Macro(one) => &one.attrs,
        Item::Static(one) => &one.attrs,
        Item::Struct(one) => &one.attrs,
        Item::TraitAlias(one) => &one.attrs,
        Item::Type(one) => &one.attrs,
        Item::Union(one) => &one.attrs,
        Item::Use(one) => &one.attrs,
        _ => &[],
    }
}
