//! What code asks objects for by a name that it spells.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{self as ast, Expr};

use super::{Reaching, part_of};
use crate::languages::name_hash;
use crate::languages::python::dynamic::{
    is_benign_dunder, is_watched_attribute, is_wide_attribute,
};
use crate::languages::python::walk::{RED_ZONE, STACK};

impl Reaching {
    pub(in super::super) fn attribute(&mut self, attribute: &ast::ExprAttribute, is_value: bool) {
        self.spell(&attribute.attr);
        self.attribute_of(attribute, is_value);
    }

    /// The same without what its name alone says.
    fn attribute_of(&mut self, attribute: &ast::ExprAttribute, is_value: bool) {
        self.found.is_wide |= is_wide_attribute(&attribute.attr);
        self.found.is_watched |= is_watched_attribute(&attribute.attr);
        match &*attribute.value {
            Expr::Name(base) => {
                self.load(&base.id);
                if self.is_alias(&base.id) {
                    let item = &*attribute.attr;
                    self.reach_by_import(&base.id, Some(item));
                    self.member(&base.id, item);
                    if !is_benign_dunder(item) {
                        self.value(&base.id);
                    }
                }
            }
            Expr::Attribute(inner) => {
                stacker::maybe_grow(RED_ZONE, STACK, || self.attribute(inner, false));
                if let Some(root) = self.root_of_path(inner) {
                    self.member(&inner.attr, &attribute.attr);
                    if !is_benign_dunder(&attribute.attr) {
                        self.pass_on(root, Some(part_of(inner)));
                    }
                }
            }
            other => self.visit_expr(other),
        }
        if is_value && let Some(root) = self.root_of_path(attribute) {
            self.pass_on(root, Some(part_of(attribute)));
        }
    }

    pub(in super::super) fn member(&mut self, base: &str, name: &str) {
        let member = (name_hash(base), name.to_owned());
        self.found.members.insert(member);
    }

    /// Of an attribute of the form `alias.a.b` the alias.
    fn root_of_path<'e>(&self, attribute: &'e ast::ExprAttribute) -> Option<&'e str> {
        root_of(attribute).filter(|root| self.is_alias(root))
    }

    pub(in super::super) fn is_module_path(&self, attribute: &ast::ExprAttribute) -> bool {
        self.root_of_path(attribute).is_some()
    }

    /// What is called is no module. Of those that are all the same, the collector tells.
    pub(super) fn callee(&mut self, callee: &Expr) {
        match callee {
            // Mostly a method. If it is the built-in function, the collector tells what it is asked.
            // What a module has of that name may be anything.
            Expr::Attribute(attribute)
                if &*attribute.attr == "getattr"
                    && root_of(attribute).is_some_and(|root| self.is_variable(root)) =>
            {
                self.found.asks_by_name = true;
                self.attribute_of(attribute, false);
            }
            Expr::Attribute(attribute) => self.attribute(attribute, false),
            Expr::Name(name) => {
                self.load(&name.id);
                self.reach_by_import(&name.id, None);
            }
            other => self.visit_expr(other),
        }
    }
}

/// Of an attribute of the form `a.b.c` the name `a`.
fn root_of(mut attribute: &ast::ExprAttribute) -> Option<&str> {
    loop {
        match &*attribute.value {
            Expr::Name(base) => return Some(&base.id),
            Expr::Attribute(inner) => attribute = inner,
            _ => return None,
        }
    }
}
