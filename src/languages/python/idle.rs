//! Annotations that nobody evaluates, and docstrings that nobody reads.
//!
//! In a function's own body no annotation of a variable is ever evaluated or
//! kept. With `from __future__ import annotations`, those of arguments, results
//! and members of classes become text that only shows to who asks for
//! `__annotations__`; docstrings show to who asks for `__doc__`.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Operator, Parameter, Stmt, UnaryOp};

use super::digest::Sink;
use super::walk::{RED_ZONE, STACK, Walker, split_docstring};

/// Of what something is digested apart.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Debug)]
pub(super) enum Level {
    /// Of nothing: annotations are evaluated.
    #[default]
    Nothing,
    /// Of functions.
    Functions,
    /// Of a class, too: the class statement asks for none of it.
    Members,
}

/// What of a statement is digested apart.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Apart {
    pub annotations: Level,
    pub docstrings: Level,
}

impl Apart {
    pub(super) const NOTHING: Apart = Apart {
        annotations: Level::Nothing,
        docstrings: Level::Nothing,
    };
}

/// The annotations and docstrings that were digested apart.
#[derive(Default)]
pub(super) struct Annotations {
    pub functions: Sink,
    pub members: Sink,
    pub docstrings: Sink,
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
    pub(super) fn new_apart(source: &'s super::source::Source<'s>, apart: Apart) -> Walker<'s> {
        let mut walker = Walker::new(source);
        walker.apart = apart;
        walker
    }

    /// Begins with the annotations of a function.
    pub(super) fn begin_header(&mut self, name: &str) {
        if self.is_apart(Level::Functions) {
            self.annotations.functions.text(name);
        }
    }

    /// What of the docstring of a function or class stays in the unit.
    pub(super) fn docstring<'e>(
        &mut self,
        name: &str,
        docstring: Option<&'e Expr>,
        least: Level,
    ) -> Option<&'e Expr> {
        if self.apart.docstrings < least || self.is_in_function() {
            return docstring;
        }
        // What whoever reads it depends on has all of it, be it kept in the unit as well.
        let kept = docstring.filter(|expr| !self.is_plain_text(expr));
        let sink = std::mem::take(&mut self.annotations.docstrings);
        let rest = std::mem::replace(&mut self.sink, sink);
        self.sink.text(name);
        self.optional(docstring);
        self.annotations.docstrings = std::mem::replace(&mut self.sink, rest);
        kept
    }

    /// Whether the compiler has nothing to warn of in a text: an escape, say.
    fn is_plain_text(&self, expr: &Expr) -> bool {
        let Expr::StringLiteral(text) = expr else {
            return false;
        };
        text.value.iter().all(|part| {
            let written = &self.source.text[std::ops::Range::<usize>::from(part.range)];
            part.flags.prefix().is_raw() || !written.contains('\\')
        })
    }

    /// The annotation of an argument or, without `parameter`, of the result.
    pub(super) fn header_annotation(
        &mut self,
        annotation: Option<&Expr>,
        parameter: Option<&Parameter>,
    ) {
        match annotation {
            Some(expr) if self.is_apart(Level::Functions) && is_idle(expr) => {
                let name = parameter.map_or("", |parameter| &*parameter.name);
                let apart = std::mem::take(&mut self.annotations.functions);
                self.annotations.functions = self.annotate(apart, name, expr);
                self.annotation(None);
            }
            annotation => self.annotation(annotation),
        }
    }

    /// The body of a class.
    pub(super) fn class_body(&mut self, name: &str, body: &[Stmt]) {
        let (docstring, rest) = split_docstring(body);
        let body = match self.docstring(name, docstring, Level::Members) {
            None => rest,
            Some(_) => body,
        };
        if !self.is_apart(Level::Members) {
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

    fn is_apart(&self, least: Level) -> bool {
        self.apart.annotations >= least && !self.is_in_function()
    }
}

/// Whether the name by which statements of a class find its docstring occurs.
pub(super) fn says_doc(body: &[Stmt]) -> bool {
    struct Looking(bool);
    impl<'a> Visitor<'a> for Looking {
        fn visit_stmt(&mut self, statement: &'a Stmt) {
            stacker::maybe_grow(RED_ZONE, STACK, || walk_stmt(self, statement));
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Name(name) if name.id == "__doc__");
            stacker::maybe_grow(RED_ZONE, STACK, || walk_expr(self, expr));
        }
    }
    let mut looking = Looking(false);
    looking.visit_body(body);
    looking.0
}
