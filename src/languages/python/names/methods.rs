//! What of a class its methods are, apart from the class.
//!
//! Whoever holds a class or an instance can notice that a method is there, how
//! it is decorated, and which arguments it takes: the interpreter and libraries
//! look methods up by names that nobody spelled, and a call fails or not before
//! the method runs. Its defaults, annotations and docstring can only be noticed
//! by who runs it, asks for it by name, or reads them on purpose.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use super::start;
use crate::languages::python::walk::{RED_ZONE, STACK};

/// A method of a class.
pub(super) struct Method {
    pub name: String,
    /// The class with nothing but the method.
    pub alone: Stmt,
    /// Where it stands in the source: offsets of its start and end.
    pub range: (u32, u32),
}

/// The class with nothing of its methods but what everybody can notice, and
/// these methods.
pub(super) fn take_apart(def: &ast::StmtClassDef) -> (Stmt, Vec<Method>) {
    let mut methods = Vec::new();
    let body = def.body.iter().map(|statement| match statement {
        Stmt::FunctionDef(method) if is_apart(method) => {
            methods.push(Method {
                name: method.name.to_string(),
                alone: Stmt::ClassDef(ast::StmtClassDef {
                    decorator_list: Vec::new().into(),
                    arguments: None,
                    body: vec![statement.clone()].into(),
                    ..with_body(def, Vec::new())
                }),
                range: (start(statement), statement.end().into()),
            });
            Stmt::FunctionDef(outline(method))
        }
        other => other.clone(),
    });
    let body = body.collect();
    (Stmt::ClassDef(with_body(def, body)), methods)
}

/// The class statement with another body.
pub(super) fn with_body(def: &ast::StmtClassDef, body: Vec<Stmt>) -> ast::StmtClassDef {
    ast::StmtClassDef {
        node_index: ast::AtomicNodeIndex::NONE,
        range: def.range,
        decorator_list: def.decorator_list.clone(),
        name: def.name.clone(),
        type_params: def.type_params.clone(),
        arguments: def.arguments.clone(),
        body: body.into(),
    }
}

/// The interpreter asks for some names by itself, and private ones are spelled
/// in two ways. Code in the header would have to be told from that of the class.
fn is_apart(def: &ast::StmtFunctionDef) -> bool {
    let mut lambdas = Lambdas(false);
    lambdas.visit_parameters(&def.parameters);
    if let Some(returns) = &def.returns {
        lambdas.visit_annotation(returns);
    }
    !def.name.starts_with("__") && !lambdas.0
}

/// Decorators, the names of the arguments, and whether it is a generator.
fn outline(def: &ast::StmtFunctionDef) -> ast::StmtFunctionDef {
    let mut yields = Yields::default();
    def.body
        .iter()
        .for_each(|statement| yields.visit_stmt(statement));
    let body: Vec<Stmt> = yields.first.into_iter().collect();
    let mut parameters = def.parameters.clone();
    let ast::Parameters {
        posonlyargs,
        args,
        vararg,
        kwonlyargs,
        kwarg,
        ..
    } = &mut *parameters;
    for one in posonlyargs.iter_mut().chain(args).chain(kwonlyargs) {
        one.parameter.annotation = None;
        if let Some(default) = &mut one.default {
            **default = Expr::EllipsisLiteral(ast::ExprEllipsisLiteral {
                node_index: ast::AtomicNodeIndex::NONE,
                range: default.range(),
            });
        }
    }
    for one in vararg.iter_mut().chain(kwarg) {
        one.annotation = None;
    }
    ast::StmtFunctionDef {
        node_index: ast::AtomicNodeIndex::NONE,
        range: def.range,
        is_async: def.is_async,
        decorator_list: def.decorator_list.clone(),
        name: def.name.clone(),
        type_params: None,
        parameters,
        returns: None,
        body: body.into(),
    }
}

struct Lambdas(bool);

impl<'a> Visitor<'a> for Lambdas {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0 |= expr.is_lambda_expr();
        stacker::maybe_grow(RED_ZONE, STACK, || ast::visitor::walk_expr(self, expr));
    }
}

/// A statement with a `yield` of the function's own, if there is one.
#[derive(Default)]
struct Yields {
    first: Option<Stmt>,
}

impl<'a> Visitor<'a> for Yields {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if !statement.is_function_def_stmt() && !statement.is_class_def_stmt() {
            stacker::maybe_grow(RED_ZONE, STACK, || {
                ast::visitor::walk_stmt(self, statement);
            });
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if expr.is_yield_expr() || expr.is_yield_from_expr() {
            self.first = Some(Stmt::Expr(ast::StmtExpr {
                node_index: ast::AtomicNodeIndex::NONE,
                range: expr.range(),
                value: Box::new(Expr::Yield(ast::ExprYield {
                    node_index: ast::AtomicNodeIndex::NONE,
                    range: expr.range(),
                    value: None,
                })),
            }));
        } else if !expr.is_lambda_expr() {
            stacker::maybe_grow(RED_ZONE, STACK, || ast::visitor::walk_expr(self, expr));
        }
    }
}
