//! Walks statements.

use ruff_python_ast::{self as ast, ExceptHandler, Expr, Stmt};

use super::{Walker, operator};
use crate::languages::python::digest::Tag;
use crate::languages::python::idle::is_idle;
use crate::languages::python::module::name_hash;

impl Walker<'_> {
    pub(super) fn statement_here(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Return(ast::StmtReturn { value, .. }) => {
                self.sink.tag(Tag::Return);
                self.optional(value.as_deref());
            }
            Stmt::Delete(ast::StmtDelete { targets, .. }) => {
                self.sink.tag(Tag::Delete);
                self.exprs(targets);
            }
            Stmt::TypeAlias(statement) => self.type_alias(statement),
            Stmt::Assign(ast::StmtAssign { targets, value, .. }) => {
                self.sink.tag(Tag::Assign);
                self.exprs(targets);
                self.expr(value);
            }
            Stmt::AugAssign(statement) => self.aug_assign(statement),
            Stmt::AnnAssign(statement) => self.ann_assign(statement),
            Stmt::For(statement) => self.for_statement(statement),
            Stmt::While(statement) => self.while_statement(statement),
            Stmt::If(statement) => self.if_chain(statement),
            Stmt::With(statement) => self.with_statement(statement),
            Stmt::Match(statement) => self.match_statement(statement),
            Stmt::Raise(ast::StmtRaise { exc, cause, .. }) => {
                self.sink.tag(Tag::Raise);
                self.optional(exc.as_deref());
                self.optional(cause.as_deref());
            }
            Stmt::Try(statement) => self.try_statement(statement),
            Stmt::Assert(ast::StmtAssert { test, msg, .. }) => {
                self.sink.tag(Tag::Assert);
                self.expr(test);
                self.optional(msg.as_deref());
            }
            Stmt::Import(ast::StmtImport { names, is_lazy, .. }) => {
                self.sink.tag(Tag::Import);
                self.sink.flag(*is_lazy);
                self.aliases(names, None);
            }
            Stmt::ImportFrom(statement) => self.import_from(statement),
            Stmt::Global(ast::StmtGlobal { names, .. }) => {
                self.sink.tag(Tag::Global);
                self.names(names);
            }
            Stmt::Nonlocal(ast::StmtNonlocal { names, .. }) => {
                self.sink.tag(Tag::Nonlocal);
                self.names(names);
            }
            Stmt::Expr(ast::StmtExpr { value, .. }) => {
                self.sink.tag(Tag::ExprStatement);
                self.expr(value);
            }
            Stmt::Pass(_) => self.sink.tag(Tag::Pass),
            Stmt::Break(_) => self.sink.tag(Tag::Break),
            Stmt::Continue(_) => self.sink.tag(Tag::Continue),
            // Not in modules, only in notebooks.
            Stmt::IpyEscapeCommand(ast::StmtIpyEscapeCommand { range, .. }) => {
                self.sink.tag(Tag::IpyEscape);
                self.raw(*range);
            }
        }
    }

    fn type_alias(&mut self, alias: &ast::StmtTypeAlias) {
        self.sink.tag(Tag::TypeAlias);
        if let Expr::Name(name) = &*alias.name {
            self.outline.evaluators.push(name_hash(&name.id));
        }
        self.expr(&alias.name);
        self.type_params(alias.type_params.as_deref());
        self.expr(&alias.value);
    }

    fn aug_assign(&mut self, assign: &ast::StmtAugAssign) {
        self.sink.tag(Tag::AugAssign);
        self.expr(&assign.target);
        self.sink.code(operator(assign.op));
        self.expr(&assign.value);
    }

    fn ann_assign(&mut self, assign: &ast::StmtAnnAssign) {
        // That of a variable of a function is not evaluated.
        let is_idle = self.at_own_level && is_idle(&assign.annotation);
        if let Some(value) = &assign.value
            && is_idle
        {
            self.sink.tag(Tag::Assign);
            self.exprs(std::slice::from_ref(&assign.target));
            self.expr(value);
            return;
        }
        self.sink.tag(Tag::AnnAssign);
        self.expr(&assign.target);
        self.sink.flag(assign.simple);
        self.annotation((!is_idle).then_some(&assign.annotation));
        self.optional(assign.value.as_deref());
    }

    fn for_statement(&mut self, statement: &ast::StmtFor) {
        let ast::StmtFor {
            is_async,
            target,
            iter,
            body,
            orelse,
            ..
        } = statement;
        self.sink.tag(Tag::For);
        self.sink.flag(*is_async);
        self.expr(target);
        self.expr(iter);
        self.body(body);
        self.body(orelse);
    }

    fn while_statement(&mut self, statement: &ast::StmtWhile) {
        let ast::StmtWhile {
            test, body, orelse, ..
        } = statement;
        self.sink.tag(Tag::While);
        self.expr(test);
        self.body(body);
        self.body(orelse);
    }

    fn with_statement(&mut self, statement: &ast::StmtWith) {
        let ast::StmtWith {
            is_async,
            items,
            body,
            ..
        } = statement;
        self.sink.tag(Tag::With);
        self.sink.flag(*is_async);
        self.sink.count(items.len());
        for item in items {
            self.expr(&item.context_expr);
            self.optional(item.optional_vars.as_deref());
        }
        self.body(body);
    }

    fn match_statement(&mut self, statement: &ast::StmtMatch) {
        let ast::StmtMatch { subject, cases, .. } = statement;
        self.sink.tag(Tag::Match);
        self.expr(subject);
        self.sink.count(cases.len());
        for case in cases {
            self.pattern(&case.pattern);
            self.optional(case.guard.as_deref());
            self.body(&case.body);
        }
    }

    fn import_from(&mut self, import: &ast::StmtImportFrom) {
        self.sink.tag(Tag::ImportFrom);
        self.sink.flag(import.is_lazy);
        self.sink.count(import.level as usize);
        self.optional_name(import.module.as_ref());
        // A relative import is of the project, not of the library.
        let module = match import.level {
            0 => import.module.as_deref().unwrap_or_default(),
            _ => "",
        };
        self.aliases(&import.names, Some(module));
    }

    /// `elif` is the same as an `else` that holds nothing but an `if`.
    fn if_chain(&mut self, mut chain: &ast::StmtIf) {
        self.sink.tag(Tag::If);
        'chain: loop {
            self.sink.tag(Tag::Arm);
            self.expr(&chain.test);
            self.body(&chain.body);
            for clause in &chain.elif_else_clauses {
                match (&clause.test, &clause.body[..]) {
                    (None, [Stmt::If(inner)]) => {
                        chain = inner;
                        continue 'chain;
                    }
                    (None, body) => {
                        self.sink.tag(Tag::Otherwise);
                        self.body(body);
                    }
                    (Some(test), body) => {
                        self.sink.tag(Tag::Arm);
                        self.expr(test);
                        self.body(body);
                    }
                }
            }
            break;
        }
        self.sink.tag(Tag::End);
    }

    fn try_statement(&mut self, statement: &ast::StmtTry) {
        self.sink.tag(Tag::Try);
        self.sink.flag(statement.is_star);
        self.body(&statement.body);
        self.sink.count(statement.handlers.len());
        for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
            self.optional(handler.type_.as_deref());
            self.optional_name(handler.name.as_ref());
            self.body(&handler.body);
        }
        self.body(&statement.orelse);
        self.body(&statement.finalbody);
    }
}
