//! What statements and expressions lead to when they are met.

use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_pattern, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};

use super::Reaching;
use crate::languages::python::walk::{RED_ZONE, STACK};

impl<'a> Visitor<'a> for Reaching {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        stacker::maybe_grow(RED_ZONE, STACK, || match statement {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Assign(assign) if self.lend_to_doctests(assign) => {}
            Stmt::AnnAssign(assign) => self.annotated_assignment(assign),
            // An augmented assignment reads, too.
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.load(&name.id);
                }
                walk_stmt(self, statement);
            }
            Stmt::If(chain) if self.is_type_checking(&chain.test) => {
                for clause in &chain.elif_else_clauses {
                    self.visit_elif_else_clause(clause);
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                if let Some(scope) = self.scopes.last_mut() {
                    let names = nonlocal.names.iter().map(|name| name.to_string());
                    scope.nonlocals.extend(names);
                }
            }
            Stmt::Global(global) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope
                        .globals
                        .extend(global.names.iter().map(|n| n.to_string()));
                }
            }
            _ => walk_stmt(self, statement),
        });
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        stacker::maybe_grow(RED_ZONE, STACK, || self.expr(expr));
    }

    fn visit_annotation(&mut self, expr: &'a Expr) {
        self.annotation(expr);
    }

    fn visit_alias(&mut self, alias: &'a ast::Alias) {
        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
        let bound = bound.split('.').next().unwrap_or_default();
        self.store(bound);
        if let Some(scope) = self.scopes.last_mut() {
            scope.not_only_own.insert(bound.to_owned());
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.store(name);
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        if let Some(name) = crate::languages::python::names::stores::captured(pattern) {
            self.store(name);
        }
        stacker::maybe_grow(RED_ZONE, STACK, || walk_pattern(self, pattern));
    }
}
