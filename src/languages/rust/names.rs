//! What names stand for, as far as syntax tells.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Item, UseName, UsePath};

use super::attributes::is_plain;
use super::tokens::{is_trait_of_std, plain};

/// Looks for what counts beyond the function that it stands in.
#[derive(Default)]
pub(super) struct Inside {
    pub declares: bool,
}

impl<'ast> Visit<'ast> for Inside {
    fn visit_item(&mut self, item: &'ast Item) {
        self.declares |= match item {
            Item::Const(_) | Item::Enum(_) | Item::Fn(_) | Item::Struct(_) => false,
            // It may be put where everybody finds it.
            Item::Static(one) => !one.attrs.iter().all(is_plain),
            Item::Type(_) | Item::Union(_) | Item::Use(_) => false,
            // It may make an implementation.
            Item::Macro(one) => one.ident.is_none() || !one.attrs.is_empty(),
            _ => true,
        };
        visit::visit_item(self, item);
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        let tokens = one.tokens.clone().into_iter();
        let mut open: Vec<proc_macro2::TokenTree> = tokens.collect();
        while let Some(token) = open.pop() {
            match token {
                proc_macro2::TokenTree::Ident(name) => self.declares |= name == "impl",
                proc_macro2::TokenTree::Group(group) => open.extend(group.stream()),
                _ => {}
            }
        }
    }
}

/// Collects names that can stand for any type.
pub(super) struct OtherNames<'a>(pub &'a mut BTreeSet<String>);

impl<'ast> Visit<'ast> for OtherNames<'_> {
    fn visit_type_param(&mut self, one: &'ast syn::TypeParam) {
        self.0.insert(plain(&one.ident));
        visit::visit_type_param(self, one);
    }

    fn visit_item_type(&mut self, one: &'ast syn::ItemType) {
        self.0.insert(plain(&one.ident));
        visit::visit_item_type(self, one);
    }

    fn visit_impl_item_type(&mut self, one: &'ast syn::ImplItemType) {
        self.0.insert(plain(&one.ident));
        visit::visit_impl_item_type(self, one);
    }

    fn visit_trait_item_type(&mut self, one: &'ast syn::TraitItemType) {
        self.0.insert(plain(&one.ident));
        visit::visit_trait_item_type(self, one);
    }

    fn visit_use_rename(&mut self, one: &'ast syn::UseRename) {
        self.0.insert(plain(&one.rename));
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        // What it makes of a name may be anything.
        let mut before: Option<String> = None;
        for token in one.tokens.clone() {
            let name = match token {
                proc_macro2::TokenTree::Ident(name) => Some(plain(&name)),
                _ => None,
            };
            if before.as_deref() == Some("type") {
                self.0.extend(name.clone());
            }
            before = name;
        }
    }
}

/// What an import brings in.
#[derive(Default)]
pub(super) struct Imported {
    /// Each name, and what it is called here.
    pub names: Vec<(String, String)>,
    /// All that it names.
    pub path: String,
    /// Of the project: what is called so tells.
    pub may_be_traits: bool,
    /// Of other projects, or all that is somewhere.
    pub are_unknown: bool,
}

impl<'ast> Visit<'ast> for Imported {
    fn visit_use_path(&mut self, one: &'ast UsePath) {
        self.path.push_str(&plain(&one.ident));
        self.path.push_str("::");
        visit::visit_use_path(self, one);
    }

    fn visit_use_name(&mut self, one: &'ast UseName) {
        self.name(plain(&one.ident), plain(&one.ident));
    }

    fn visit_use_rename(&mut self, one: &'ast syn::UseRename) {
        self.name(plain(&one.ident), plain(&one.rename));
    }

    fn visit_use_glob(&mut self, _one: &'ast syn::UseGlob) {
        self.are_unknown = true;
    }
}

impl Imported {
    fn name(&mut self, name: String, other: String) {
        let is_lower = name.chars().next().is_some_and(char::is_lowercase);
        let of_std = ["std", "core", "alloc"];
        let first = self.path.split(':').next();
        let is_of_std = first.is_some_and(|first| of_std.contains(&first));
        let is_type = is_of_std && !is_trait_of_std(&name);
        let is_own = first.is_some_and(|first| ["crate", "self", "super"].contains(&first));
        self.may_be_traits |= !is_lower && !is_type;
        self.are_unknown |= !is_lower && !is_type && !is_own;
        // A module by itself.
        let name = match name.as_str() {
            "self" => self.path.rsplit("::").nth(1).unwrap_or_default().to_owned(),
            _ => name,
        };
        let other = if other == "self" { name.clone() } else { other };
        self.names.push((name, other));
    }
}
