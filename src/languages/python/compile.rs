//! What parses and yet does not compile: `break` outside a loop, `nonlocal` of a
//! name that is bound nowhere. Such an error, be it in a function that never
//! runs, makes every import of the file fail.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, Comprehension, Expr, PythonVersion, Stmt};
use ruff_python_parser::semantic_errors::{
    LazyImportContext, SemanticSyntaxChecker, SemanticSyntaxContext, SemanticSyntaxError,
};
use ruff_text_size::{Ranged, TextRange};

use super::expr::evaluated_inside;
use super::names::names_stored;
use super::walk::{RED_ZONE, STACK};

/// The first error: where it is, and what.
pub(super) fn error(text: &str, body: &[Stmt]) -> Option<(u32, String)> {
    let mut check = Check {
        semantic: SemanticSyntaxChecker::new(),
        context: Context {
            text,
            scopes: vec![Scope::new(Kind::Module, body)],
            found: RefCell::default(),
        },
    };
    check.visit_body(body);
    check.context.found.into_inner()
}

struct Check<'a> {
    semantic: SemanticSyntaxChecker,
    context: Context<'a>,
}

struct Context<'a> {
    text: &'a str,
    scopes: Vec<Scope>,
    found: RefCell<Option<(u32, String)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module,
    Class,
    Function { is_async: bool },
    Lambda,
    Comprehension { is_async: bool, is_generator: bool },
}

struct Scope {
    kind: Kind,
    /// Loops around what is walked, within this scope.
    loops: u32,
    parameters: BTreeSet<String>,
    bound: BTreeSet<String>,
    globals: BTreeMap<String, TextRange>,
}

impl Scope {
    fn new(kind: Kind, body: &[Stmt]) -> Scope {
        let mut globals = Globals::default();
        globals.visit_body(body);
        Scope {
            kind,
            loops: 0,
            parameters: BTreeSet::new(),
            bound: match kind {
                Kind::Function { .. } => names_stored(body),
                _ => BTreeSet::new(),
            },
            globals: globals.found,
        }
    }

    fn with(mut self, parameters: &ast::Parameters) -> Scope {
        let names = parameters.iter().map(|one| one.name().to_string());
        self.parameters = names.collect();
        self
    }
}

impl Check<'_> {
    fn within<'b>(&mut self, scope: Scope, walk: impl FnOnce(&mut Self) + 'b) {
        self.context.scopes.push(scope);
        walk(self);
        self.context.scopes.pop();
    }

    fn parameters(&mut self, parameters: &ast::Parameters) {
        for one in parameters {
            if let Some(default) = one.default() {
                self.visit_expr(default);
            }
            if let Some(annotation) = one.annotation() {
                self.visit_expr(annotation);
            }
        }
    }

    fn looping(&mut self, body: &[Stmt], orelse: &[Stmt]) {
        self.loops(1);
        self.visit_body(body);
        self.loops(-1);
        self.visit_body(orelse);
    }

    fn loops(&mut self, change: i32) {
        if let Some(scope) = self.context.scopes.last_mut() {
            scope.loops = scope.loops.saturating_add_signed(change);
        }
    }

    /// The first iterable is evaluated outside.
    fn comprehension(
        &mut self,
        elements: &[&Expr],
        generators: &[Comprehension],
        is_generator: bool,
    ) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let is_async = generators.iter().any(|generator| generator.is_async);
        let kind = Kind::Comprehension {
            is_async,
            is_generator,
        };
        self.within(Scope::new(kind, &[]), |check| {
            for expr in evaluated_inside(elements, generators) {
                check.visit_expr(expr);
            }
        });
    }

    fn statement(&mut self, statement: &Stmt) {
        self.semantic.visit_stmt(statement, &self.context);
        match statement {
            Stmt::FunctionDef(def) => {
                for decorator in &def.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                self.parameters(&def.parameters);
                if let Some(returns) = &def.returns {
                    self.visit_expr(returns);
                }
                let kind = Kind::Function {
                    is_async: def.is_async,
                };
                let scope = Scope::new(kind, &def.body).with(&def.parameters);
                self.within(scope, |check| check.visit_body(&def.body));
            }
            Stmt::ClassDef(def) => {
                for decorator in &def.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                if let Some(arguments) = &def.arguments {
                    self.visit_arguments(arguments);
                }
                self.within(Scope::new(Kind::Class, &def.body), |check| {
                    check.visit_body(&def.body);
                });
            }
            Stmt::For(ast::StmtFor {
                target,
                iter,
                body,
                orelse,
                ..
            }) => {
                self.visit_expr(iter);
                self.visit_expr(target);
                self.looping(body, orelse);
            }
            Stmt::While(ast::StmtWhile {
                test, body, orelse, ..
            }) => {
                self.visit_expr(test);
                self.looping(body, orelse);
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        self.semantic.visit_expr(expr, &self.context);
        match expr {
            Expr::Lambda(lambda) => {
                let mut scope = Scope::new(Kind::Lambda, &[]);
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                    scope = scope.with(parameters);
                }
                self.within(scope, |check| check.visit_expr(&lambda.body));
            }
            Expr::ListComp(comp) => self.comprehension(&[&comp.elt], &comp.generators, false),
            Expr::SetComp(comp) => self.comprehension(&[&comp.elt], &comp.generators, false),
            Expr::Generator(comp) => self.comprehension(&[&comp.elt], &comp.generators, true),
            Expr::DictComp(comp) => {
                let key = comp.key.as_deref();
                let elements: Vec<&Expr> = key.into_iter().chain([&*comp.value]).collect();
                self.comprehension(&elements, &comp.generators, false);
            }
            _ => walk_expr(self, expr),
        }
    }
}

impl<'a> Visitor<'a> for Check<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        stacker::maybe_grow(RED_ZONE, STACK, || self.statement(statement));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        stacker::maybe_grow(RED_ZONE, STACK, || self.expr(expr));
    }
}

impl Context<'_> {
    fn inwards(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().rev()
    }

    fn here(&self) -> Kind {
        self.scopes.last().map_or(Kind::Module, |scope| scope.kind)
    }

    /// The innermost scope that is no comprehension.
    fn around_comprehensions(&self) -> Kind {
        self.inwards()
            .map(|scope| scope.kind)
            .find(|kind| !matches!(kind, Kind::Comprehension { .. }))
            .unwrap_or(Kind::Module)
    }

    /// The comprehensions right around.
    fn comprehensions(&self) -> impl Iterator<Item = (bool, bool)> {
        self.inwards().map_while(|scope| match scope.kind {
            Kind::Comprehension {
                is_async,
                is_generator,
            } => Some((is_async, is_generator)),
            _ => None,
        })
    }
}

impl SemanticSyntaxContext for Context<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        false
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        None
    }

    fn python_version(&self) -> PythonVersion {
        PythonVersion::latest()
    }

    fn source(&self) -> &str {
        self.text
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        self.scopes.last()?.globals.get(name).copied()
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        let around = self.inwards().skip(1);
        around
            .filter(|scope| matches!(scope.kind, Kind::Function { .. }))
            .any(|scope| {
                (scope.bound.contains(name) || scope.parameters.contains(name))
                    && !scope.globals.contains_key(name)
            })
    }

    fn in_async_context(&self) -> bool {
        self.around_comprehensions() == Kind::Function { is_async: true }
    }

    fn in_await_allowed_context(&self) -> bool {
        matches!(
            self.around_comprehensions(),
            Kind::Function { .. } | Kind::Lambda
        )
    }

    fn in_yield_allowed_context(&self) -> bool {
        matches!(self.here(), Kind::Function { .. } | Kind::Lambda)
    }

    fn in_sync_comprehension(&self) -> bool {
        self.comprehensions()
            .any(|(is_async, is_generator)| !is_async && !is_generator)
    }

    fn in_class_body_comprehension(&self) -> bool {
        self.around_comprehensions() == Kind::Class
    }

    fn in_module_scope(&self) -> bool {
        self.here() == Kind::Module
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.here(), Kind::Function { .. })
    }

    fn in_generator_context(&self) -> bool {
        self.comprehensions().any(|(_, is_generator)| is_generator)
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        let mut found = self.found.borrow_mut();
        if found.is_none() {
            *found = Some((error.range.start().into(), error.to_string()));
        }
    }

    fn in_loop_context(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.loops > 0)
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        let scope = self.scopes.last();
        scope.is_some_and(|scope| scope.parameters.contains(name))
    }
}

/// The `global` statements of one scope.
#[derive(Default)]
struct Globals {
    found: BTreeMap<String, TextRange>,
}

impl<'a> Visitor<'a> for Globals {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::Global(global) => {
                for name in &global.names {
                    self.found.entry(name.to_string()).or_insert(global.range());
                }
            }
            _ => stacker::maybe_grow(RED_ZONE, STACK, || walk_stmt(self, statement)),
        }
    }

    /// Statements are not inside expressions.
    fn visit_expr(&mut self, _: &'a Expr) {}
}
