//! Annotations that nobody evaluates.
//!
//! In a function's own body no annotation of a variable is ever evaluated or
//! kept. With `from __future__ import annotations`, those of arguments, results
//! and members of classes become text that only shows to who asks for
//! `__annotations__`.

use ruff_python_ast::{self as ast, Expr, Operator, Parameter, Stmt, UnaryOp};

use super::digest::Sink;
use super::walk::{RED_ZONE, STACK, Walker};

/// What of a statement is digested apart.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Apart {
    /// Nothing: annotations are evaluated.
    #[default]
    Nothing,
    /// The annotations of functions.
    Functions,
    /// Those of members, too: the class statement asks for none of them.
    Members,
}

/// The annotations that were digested apart.
#[derive(Default)]
pub(super) struct Annotations {
    pub functions: Sink,
    pub members: Sink,
}

/// Whether the compiler makes nothing of an annotation but its text: it is of
/// names, attributes, subscripts and literals. What else may stand there can
/// bind names, make a function a generator, or be refused.
pub(super) fn is_idle(expr: &Expr) -> bool {
    stacker::maybe_grow(RED_ZONE, STACK, || match expr {
        Expr::Name(name) => !matches!(&*name.id, "__class__" | "super" | "__debug__"),
        Expr::Attribute(attribute) => is_idle(&attribute.value),
        Expr::Subscript(subscript) => is_idle(&subscript.value) && is_idle(&subscript.slice),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_idle),
        Expr::List(list) => list.elts.iter().all(is_idle),
        Expr::BinOp(binary) => {
            binary.op == Operator::BitOr && is_idle(&binary.left) && is_idle(&binary.right)
        }
        Expr::UnaryOp(unary) => unary.op == UnaryOp::USub && unary.operand.is_number_literal_expr(),
        // The compiler may warn of an escape.
        Expr::StringLiteral(text) => !text.value.to_str().contains('\\'),
        Expr::NoneLiteral(_)
        | Expr::EllipsisLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NumberLiteral(_) => true,
        _ => false,
    })
}

/// Whether a statement of a class body does nothing but note an annotation
/// that nobody evaluates.
pub(super) fn only_notes(assign: &ast::StmtAnnAssign) -> bool {
    assign.value.is_none() && assign.target.is_name_expr() && is_idle(&assign.annotation)
}

/// The statements of a class body without those that only note annotations.
pub(super) fn without_notes(body: &[Stmt]) -> impl Iterator<Item = &Stmt> {
    body.iter()
        .filter(|statement| !matches!(statement, Stmt::AnnAssign(assign) if only_notes(assign)))
}

impl<'s> Walker<'s> {
    /// What is digested apart goes to another sink than the rest.
    pub fn new_apart(source: &'s super::source::Source<'s>, apart: Apart) -> Walker<'s> {
        let mut walker = Walker::new(source);
        walker.apart = apart;
        walker
    }

    /// Begins with the annotations of a function.
    pub(super) fn begin_header(&mut self, name: &str) {
        if self.is_apart(Apart::Functions) {
            self.annotations.functions.text(name);
        }
    }

    /// The annotation of an argument or, without `parameter`, of the result.
    pub(super) fn header_annotation(
        &mut self,
        annotation: Option<&Expr>,
        parameter: Option<&Parameter>,
    ) {
        match annotation {
            Some(expr) if self.is_apart(Apart::Functions) && is_idle(expr) => {
                let name = parameter.map_or("", |parameter| &*parameter.name);
                let apart = std::mem::take(&mut self.annotations.functions);
                self.annotations.functions = self.annotate(apart, name, expr);
                self.annotation(None);
            }
            annotation => self.annotation(annotation),
        }
    }

    /// The body of a class.
    pub(super) fn class_body(&mut self, body: &[Stmt]) {
        if !self.is_apart(Apart::Members) {
            self.body(body);
            return;
        }
        for statement in body {
            if let Stmt::AnnAssign(assign) = statement
                && only_notes(assign)
                && let Expr::Name(name) = &*assign.target
            {
                let apart = std::mem::take(&mut self.annotations.members);
                self.annotations.members = self.annotate(apart, &name.id, &assign.annotation);
            }
        }
        let rest: Vec<&Stmt> = without_notes(body).collect();
        self.statements(&rest);
    }

    fn annotate(&mut self, apart: Sink, name: &str, annotation: &Expr) -> Sink {
        let rest = std::mem::replace(&mut self.sink, apart);
        self.sink.text(name);
        self.annotation(Some(annotation));
        std::mem::replace(&mut self.sink, rest)
    }

    fn is_apart(&self, least: Apart) -> bool {
        let is_asked = match least {
            Apart::Nothing => true,
            Apart::Functions => self.apart != Apart::Nothing,
            Apart::Members => self.apart == Apart::Members,
        };
        is_asked && !self.is_in_function()
    }
}
