//! What annotations that stand apart do with names.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{self as ast, Expr};

use super::uses::{Found, Reaching};
use crate::languages::python::idle::{Level, is_idle, only_notes};

/// Those of functions, and those of members.
#[derive(Default)]
pub(super) struct Notes {
    pub functions: Found,
    pub members: Found,
}

impl Reaching {
    pub(super) fn header_annotation(&mut self, annotation: &Expr) {
        if self.apart.annotations == Level::Nothing || self.in_unit || !is_idle(annotation) {
            self.annotation(annotation);
            return;
        }
        let kept = std::mem::take(&mut self.notes.functions);
        self.notes.functions = self.annotation_apart(annotation, kept);
    }

    /// Whoever evaluates such an annotation looks its names up in the module.
    fn annotation_apart(&mut self, annotation: &Expr, kept: Found) -> Found {
        let found = std::mem::replace(&mut self.found, kept);
        let scopes = std::mem::take(&mut self.scopes);
        self.annotation(annotation);
        self.scopes = scopes;
        std::mem::replace(&mut self.found, found)
    }

    /// Whether the walk is at the own level of an outermost function.
    fn is_at_own_level(&self) -> bool {
        self.in_unit && self.scopes.len() == 1
    }

    pub(super) fn annotated_assignment(&mut self, assign: &ast::StmtAnnAssign) {
        if self.apart.annotations == Level::Members && !self.in_unit && only_notes(assign) {
            let kept = std::mem::take(&mut self.notes.members);
            self.notes.members = self.annotation_apart(&assign.annotation, kept);
            return;
        }
        self.visit_expr(&assign.target);
        if !(self.is_at_own_level() && is_idle(&assign.annotation)) {
            self.annotation(&assign.annotation);
        }
        if let Some(value) = &assign.value {
            self.visit_expr(value);
        }
    }
}
