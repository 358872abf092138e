//! What stands in the body of a class.

use std::collections::BTreeMap;

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::looks::{is_constant, is_dunder, is_literal};
use super::purity::{Kind, Scope};
use crate::languages::python::walk::{RED_ZONE, STACK};

/// The members of a class, in order.
pub(super) struct Members<'a> {
    scope: &'a Scope<'a>,
    /// By name: whether it is a property.
    seen: BTreeMap<String, bool>,
}

/// Members that take part in the making of a class or of its subclasses, or in
/// what others are told of them.
const CLASS_HOOKS: [&str; 8] = [
    "__slots__",
    "__set_name__",
    "__subclasshook__",
    "__prepare__",
    "__mro_entries__",
    "__classcell__",
    "__qualname__",
    "__module__",
];

impl<'a> Members<'a> {
    pub(super) fn new(scope: &'a Scope<'a>) -> Members<'a> {
        Members {
            scope,
            seen: BTreeMap::new(),
        }
    }

    /// Whether the statement adds a member, and does nothing else. Members are
    /// names for what comes after them, so none may hide a name that is used.
    pub(super) fn add(&mut self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Pass(_) => true,
            Stmt::Expr(expr) => is_constant(&expr.value),
            Stmt::FunctionDef(def) => self.method(def),
            Stmt::Assign(assign) => match &assign.targets[..] {
                [Expr::Name(name)] => self.attribute(&name.id, &assign.value),
                _ => false,
            },
            Stmt::AnnAssign(assign) => match &*assign.target {
                Expr::Name(name) => {
                    self.is_unhidden(&assign.annotation)
                        && self.scope.is_type(&assign.annotation)
                        && match &assign.value {
                            Some(value) => self.attribute(&name.id, value),
                            None => !is_dunder(&name.id),
                        }
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn method(&mut self, def: &ast::StmtFunctionDef) -> bool {
        let is_property = |expr: &Expr| match expr {
            Expr::Name(name) => name.id == "property" && self.scope.is_builtin("property"),
            Expr::Attribute(attribute) => {
                matches!(&*attribute.attr, "setter" | "getter" | "deleter")
                    && matches!(&*attribute.value, Expr::Name(base)
                        if base.id == *def.name && self.seen.get(base.id.as_str()) == Some(&true))
            }
            _ => false,
        };
        let is_accessor = match &def.decorator_list[..] {
            [only] => is_property(&only.expression),
            _ => false,
        };
        let decorators = def
            .decorator_list
            .iter()
            .map(|decorator| &decorator.expression);
        let Some(marks) = self.scope.marks(def) else {
            return false;
        };
        let is_pure = !CLASS_HOOKS.contains(&&*def.name)
            && decorators.zip(marks).all(|(expr, is_mark)| {
                let is_pure = is_mark || self.scope.is_pure_decorator(expr);
                is_accessor || (self.is_unhidden(expr) && is_pure)
            })
            && (is_accessor || !self.seen.contains_key(def.name.as_str()) || {
                // An overload, or a definition that replaces another.
                self.seen.get(def.name.as_str()) == Some(&false)
            })
            && self.header_is_unhidden(def)
            && self.scope.is_pure_function(def);
        self.seen.insert(def.name.to_string(), is_accessor);
        is_pure
    }

    fn attribute(&mut self, name: &str, value: &Expr) -> bool {
        let is_allowed = !is_dunder(name) || matches!(name, "__hash__" | "__test__");
        // A value with `__set_name__` would be told of the class.
        let is_plain = match value {
            Expr::Name(value) => matches!(
                self.scope.kind(&value.id),
                Some(Kind::Literal | Kind::Function | Kind::Class)
            ),
            _ => is_literal(value),
        };
        let is_new = self.seen.insert(name.to_owned(), false).is_none();
        is_allowed && is_plain && is_new && self.is_unhidden(value)
    }

    fn header_is_unhidden(&self, def: &ast::StmtFunctionDef) -> bool {
        let is_lazy = self.scope.lazy_annotations;
        let annotations = def.parameters.iter().filter_map(|one| one.annotation());
        let defaults = def.parameters.iter().filter_map(|one| one.default());
        defaults.into_iter().all(|expr| self.is_unhidden(expr))
            && (is_lazy
                || annotations
                    .chain(def.returns.as_deref())
                    .all(|expr| self.is_unhidden(expr)))
    }

    /// Whether no name in `expr` is that of a member.
    fn is_unhidden(&self, expr: &Expr) -> bool {
        let mut names = Loads::default();
        ast::visitor::Visitor::visit_expr(&mut names, expr);
        names.found.iter().all(|name| !self.seen.contains_key(name))
    }
}

/// All names in an expression.
#[derive(Default)]
struct Loads {
    found: Vec<String>,
}

impl<'a> ast::visitor::Visitor<'a> for Loads {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr {
            self.found.push(name.id.to_string());
        }
        stacker::maybe_grow(RED_ZONE, STACK, || ast::visitor::walk_expr(self, expr));
    }
}
