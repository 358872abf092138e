//! Which names a statement can bind or delete.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{
    Visitor, walk_body, walk_except_handler, walk_expr, walk_pattern, walk_stmt,
};
use ruff_python_ast::{self as ast, Expr, ExprContext, Stmt};

use crate::languages::python::walk::{RED_ZONE, STACK};

/// Every name that effects, or functions by `global`, can bind or delete: more
/// than they do, as names of inner scopes count too.
#[derive(Default)]
pub(super) struct Stores {
    pub names: BTreeSet<String>,
    /// Those of the module's own scope.
    pub outer: BTreeSet<String>,
    /// Names that something deletes.
    pub deleted: BTreeSet<String>,
    /// After a star import nothing is known.
    pub star: bool,
    /// In how many functions and classes; and whether the next body is that of one.
    depth: usize,
    is_opened: bool,
}

impl Stores {
    pub(super) fn of(statement: &Stmt) -> Stores {
        let mut stores = Stores::default();
        stores.visit_stmt(statement);
        stores
    }

    /// Adds all of `other`.
    pub(super) fn merge(&mut self, other: &Stores) {
        self.names.extend(other.names.iter().cloned());
        self.outer.extend(other.outer.iter().cloned());
        self.deleted.extend(other.deleted.iter().cloned());
        self.star |= other.star;
    }

    /// Adds what functions in `statement` declare `global`.
    pub(super) fn add_globals(&mut self, statement: &Stmt) {
        Globals(self).visit_stmt(statement);
    }

    fn add(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
        if self.depth == 0 && !self.outer.contains(name) {
            self.outer.insert(name.to_owned());
        }
    }
}

impl<'a> Visitor<'a> for Stores {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let name = match statement {
            Stmt::FunctionDef(def) => Some(&def.name),
            Stmt::ClassDef(def) => Some(&def.name),
            _ => None,
        };
        name.into_iter().for_each(|name| self.add(name));
        self.is_opened = name.is_some();
        stacker::maybe_grow(RED_ZONE, STACK, || walk_stmt(self, statement));
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        let inner = usize::from(std::mem::take(&mut self.is_opened));
        self.depth += inner;
        walk_body(self, body);
        self.depth -= inner;
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && name.ctx != ExprContext::Load
        {
            self.add(&name.id);
            if name.ctx == ExprContext::Del {
                self.deleted.insert(name.id.to_string());
            }
        }
        stacker::maybe_grow(RED_ZONE, STACK, || walk_expr(self, expr));
    }

    fn visit_alias(&mut self, alias: &'a ast::Alias) {
        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
        self.star |= &**bound == "*";
        self.add(bound.split('.').next().unwrap_or_default());
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.add(name);
            // The interpreter deletes it after the handler.
            self.deleted.insert(name.to_string());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        if let Some(name) = captured(pattern) {
            self.add(name);
        }
        stacker::maybe_grow(RED_ZONE, STACK, || walk_pattern(self, pattern));
    }
}

/// The names that are declared `global` anywhere; functions can delete them.
struct Globals<'s>(&'s mut Stores);

impl<'a> Visitor<'a> for Globals<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::Global(global) = statement {
            for name in &global.names {
                self.0.add(name);
                self.0.deleted.insert(name.to_string());
            }
        }
        stacker::maybe_grow(RED_ZONE, STACK, || walk_stmt(self, statement));
    }

    /// Statements are not inside expressions.
    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// The name that a pattern binds by itself.
pub(super) fn captured(pattern: &ast::Pattern) -> Option<&ast::Identifier> {
    match pattern {
        ast::Pattern::MatchAs(one) => one.name.as_ref(),
        ast::Pattern::MatchStar(one) => one.name.as_ref(),
        ast::Pattern::MatchMapping(one) => one.rest.as_ref(),
        _ => None,
    }
}
