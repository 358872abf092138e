//! Walks a module: what belongs to which unit.

mod statements;

use std::collections::BTreeMap;

use ruff_python_ast::{
    self as ast, Alias, Decorator, ExceptHandler, Expr, Identifier, Operator, Parameter,
    ParameterWithDefault, Parameters, Stmt, TypeParam, TypeParams,
};
use ruff_text_size::{Ranged, TextRange};

use super::digest::{Sink, Tag};
use super::docstrings::{DOC, DOC_OTHERWISE};
use super::dynamic::is_dynamic_import;
use super::idle::{Annotations, Apart, Level};
use super::module::{Outline, Span, name_hash};
use super::source::Source;

/// Stack that one level of nesting may take before it is looked at again.
pub(super) const RED_ZONE: usize = 256 << 10;
pub(super) const STACK: usize = 4 << 20;

/// Collects the units of a module.
pub(super) struct Walker<'s> {
    pub source: &'s Source<'s>,
    /// The unit that is being walked: at first, the skeleton.
    pub sink: Sink,
    pub units: BTreeMap<String, Sink>,
    pub outline: Outline,
    /// Hashes of the names that imports bind to something dynamic.
    pub dynamic_names: Vec<u32>,
    /// A star import of a dynamic module: any name may be dynamic.
    pub all_dynamic: bool,
    /// Whether an import calls something else `inspect`.
    pub hides_inspect: bool,
    /// Whether a string is an annotation, to be read as code.
    pub in_annotation: bool,
    /// Which annotations and docstrings go to `annotations` instead of the unit.
    pub apart: Apart,
    pub annotations: Annotations,
    /// Whether the function's own level has a `yield`.
    yields: bool,
    in_function: bool,
    /// Whether a statement is one of an outermost function, not of a function
    /// or class in it.
    at_own_level: bool,
    classes: Vec<Class>,
}

/// A class around what is being walked.
struct Class {
    /// Prefix of its members' qualified names, with the dot; for classes in
    /// functions of no use.
    prefix: String,
    /// Prefix of its private names (`_C` for `_C__x`).
    mangled: String,
    /// Members that are declared `global`, hence no members.
    globals: Vec<ast::name::Name>,
}

impl<'s> Walker<'s> {
    pub(super) fn new(source: &'s Source<'s>) -> Walker<'s> {
        Walker {
            source,
            sink: Sink::default(),
            units: BTreeMap::new(),
            outline: Outline {
                lines: source.line_count(),
                ..Outline::default()
            },
            dynamic_names: Vec::new(),
            all_dynamic: false,
            hides_inspect: false,
            in_annotation: false,
            apart: Apart::NOTHING,
            annotations: Annotations::default(),
            yields: false,
            in_function: false,
            at_own_level: false,
            classes: Vec::new(),
        }
    }

    pub(super) fn body(&mut self, body: &[Stmt]) {
        self.sink.tag(Tag::Body);
        self.sink.count(body.len());
        for statement in body {
            self.statement(statement);
        }
    }

    pub(super) fn statements(&mut self, body: &[&Stmt]) {
        self.sink.tag(Tag::Body);
        self.sink.count(body.len());
        for statement in body {
            self.statement(statement);
        }
    }

    pub(super) fn is_in_function(&self) -> bool {
        self.in_function
    }

    fn statement(&mut self, statement: &Stmt) {
        stacker::maybe_grow(RED_ZONE, STACK, || self.statement_here(statement));
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        stacker::maybe_grow(RED_ZONE, STACK, || self.expr_here(expr));
    }

    fn function(&mut self, def: &ast::StmtFunctionDef) {
        self.define(def.range, &def.decorator_list, &def.name);
        self.sink.tag(Tag::FunctionDef);
        self.sink.flag(def.is_async);
        self.decorators(&def.decorator_list);
        self.name(&def.name);
        self.type_params(def.type_params.as_deref());
        self.begin_header(&def.name);
        self.parameters(&def.parameters);
        self.header_annotation(def.returns.as_deref(), None);

        let outer_yields = std::mem::replace(&mut self.yields, false);
        if self.in_function {
            let outer = std::mem::replace(&mut self.at_own_level, false);
            self.body(&def.body);
            self.at_own_level = outer;
        } else {
            self.unit(def);
        }
        self.yields = outer_yields;
    }

    /// The body of an outermost function is a unit; what shows of it without
    /// running it stays in the skeleton.
    fn unit(&mut self, def: &ast::StmtFunctionDef) {
        let (docstring, body) = split_docstring(&def.body);
        self.sink.tag(Tag::Unit);
        let docstring = self.docstring(&def.name, docstring, Level::Functions);
        self.optional(docstring);

        let name = self.qualified(&def.name);
        let unit = self.units.remove(&name).unwrap_or_default();
        let skeleton = std::mem::replace(&mut self.sink, unit);
        self.in_function = true;
        self.at_own_level = true;
        self.body(body);
        self.at_own_level = false;
        self.in_function = false;
        let unit = std::mem::replace(&mut self.sink, skeleton);
        self.sink.flag(self.yields);

        self.add_span(def, name.clone());
        self.units.insert(name, unit);
    }

    fn add_span(&mut self, def: &ast::StmtFunctionDef, unit: String) {
        let start = def
            .decorator_list
            .first()
            .map_or(def.start(), |first| first.start().min(def.start()));
        let body = def.body.first().map_or(def.end(), |first| match first {
            Stmt::FunctionDef(inner) => first_start(&inner.decorator_list, inner.range),
            Stmt::ClassDef(inner) => first_start(&inner.decorator_list, inner.range),
            other => other.start(),
        });
        self.outline.spans.push(Span {
            first: self.line(start),
            body: self.line(body),
            last: self.line(def.end()),
            unit,
        });
    }

    fn class(&mut self, def: &ast::StmtClassDef) {
        self.define(def.range, &def.decorator_list, &def.name);
        self.sink.tag(Tag::ClassDef);
        self.decorators(&def.decorator_list);
        self.name(&def.name);
        self.type_params(def.type_params.as_deref());
        match &def.arguments {
            Some(arguments) => self.arguments(arguments),
            None => self.no_arguments(),
        }
        let mut globals = Vec::new();
        if !self.in_function {
            declared_global(&def.body, &mut globals);
        }
        self.classes.push(Class {
            prefix: format!("{}.", self.qualified(&def.name)),
            mangled: format!("_{}", def.name.trim_start_matches('_')),
            globals,
        });
        let outer = std::mem::replace(&mut self.at_own_level, false);
        self.class_body(&def.name, &def.body);
        self.at_own_level = outer;
        self.classes.pop();
    }

    fn qualified(&self, name: &Identifier) -> String {
        match self.classes.last() {
            Some(class) if !class.globals.contains(&name.id) => {
                format!("{}{name}", class.prefix)
            }
            _ => name.to_string(),
        }
    }

    /// Notes a code object of this name; its first line is that of its first
    /// decorator.
    fn define(&mut self, range: TextRange, decorators: &[Decorator], name: &Identifier) {
        let start = decorators
            .first()
            .map_or(range.start(), |first| first.expression.start());
        let line = self.line(start);
        self.outline.definitions.push((line, name_hash(name)));
    }

    fn line(&self, offset: ruff_text_size::TextSize) -> u32 {
        self.source.line_at(offset.into())
    }

    fn decorators(&mut self, decorators: &[Decorator]) {
        self.sink.count(decorators.len());
        for decorator in decorators {
            self.expr(&decorator.expression);
        }
    }

    fn type_params(&mut self, params: Option<&TypeParams>) {
        let params = params.map_or(&[][..], |params| &params.type_params);
        self.sink.count(params.len());
        for param in params {
            let (tag, name, bound, default) = match param {
                TypeParam::TypeVar(var) => {
                    (Tag::TypeVar, &var.name, var.bound.as_deref(), &var.default)
                }
                TypeParam::TypeVarTuple(var) => (Tag::TypeVarTuple, &var.name, None, &var.default),
                TypeParam::ParamSpec(var) => (Tag::ParamSpec, &var.name, None, &var.default),
            };
            self.outline.evaluators.push(name_hash(name));
            self.sink.tag(tag);
            self.name(name);
            self.annotation(bound);
            self.annotation(default.as_deref());
        }
    }

    pub(super) fn parameters(&mut self, parameters: &Parameters) {
        self.with_defaults(&parameters.posonlyargs);
        self.with_defaults(&parameters.args);
        self.variadic(parameters.vararg.as_deref());
        self.with_defaults(&parameters.kwonlyargs);
        self.variadic(parameters.kwarg.as_deref());
    }

    fn with_defaults(&mut self, parameters: &[ParameterWithDefault]) {
        self.sink.count(parameters.len());
        for parameter in parameters {
            self.parameter(&parameter.parameter);
            self.optional(parameter.default.as_deref());
        }
    }

    fn variadic(&mut self, parameter: Option<&Parameter>) {
        self.sink.flag(parameter.is_some());
        if let Some(parameter) = parameter {
            self.parameter(parameter);
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        self.name(&parameter.name);
        self.header_annotation(parameter.annotation.as_deref(), Some(parameter));
    }

    pub(super) fn annotation(&mut self, annotation: Option<&Expr>) {
        let outer = std::mem::replace(&mut self.in_annotation, true);
        self.optional(annotation);
        self.in_annotation = outer;
    }

    /// `from` is the module of `from module import …`.
    fn aliases(&mut self, aliases: &[Alias], from: Option<&str>) {
        self.sink.count(aliases.len());
        for alias in aliases {
            self.sink.text(&alias.name);
            self.mention_parts(&alias.name);
            self.optional_name(alias.asname.as_ref());

            let (module, item) = match from {
                None => (&*alias.name, None),
                Some(module) => (module, Some(&*alias.name)),
            };
            let star = item == Some("*");
            self.sink.dynamic |= star;
            let bound = alias.asname.as_ref().unwrap_or(&alias.name);
            self.hides_inspect |= bound == "inspect" && (module, item) != ("inspect", None);
            if is_dynamic_import(module, item) {
                self.all_dynamic |= star;
                let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                let bound = bound.split('.').next().unwrap_or_default();
                self.dynamic_names.push(name_hash(bound));
            }
        }
    }

    pub(super) fn exprs(&mut self, exprs: &[Expr]) {
        self.sink.count(exprs.len());
        for expr in exprs {
            self.expr(expr);
        }
    }

    pub(super) fn optional(&mut self, expr: Option<&Expr>) {
        self.sink.flag(expr.is_some());
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    pub(super) fn optional_name(&mut self, name: Option<&Identifier>) {
        self.sink.flag(name.is_some());
        if let Some(name) = name {
            self.sink.text(name);
            self.mention_parts(name);
        }
    }

    fn names(&mut self, names: &[Identifier]) {
        self.sink.count(names.len());
        for name in names {
            self.name(name);
        }
    }

    pub(super) fn name(&mut self, name: &Identifier) {
        self.sink.text(name);
        self.mention(name);
    }

    /// The source text itself, where it shows at run time.
    pub(super) fn raw(&mut self, range: TextRange) {
        let source = self.source;
        self.sink.text(&source.text[range]);
    }

    /// A private name is mangled inside a class, so that it may mean both.
    pub(super) fn mention(&mut self, name: &str) -> u32 {
        let hash = name_hash(name);
        self.sink.mentions.push(hash);
        if let Some(class) = self.classes.last()
            && name.starts_with("__")
            && !name.ends_with("__")
        {
            let mangled = format!("{}{name}", class.mangled);
            self.sink.mentions.push(name_hash(&mangled));
        }
        hash
    }

    /// Mentions a name that is looked up elsewhere than in scopes.
    pub(super) fn ask(&mut self, name: &str) {
        if name == DOC {
            self.sink.asks.push(name_hash(DOC_OTHERWISE));
        }
        self.ask_attribute(name);
    }

    /// The same of one that stands after a dot.
    pub(super) fn ask_attribute(&mut self, name: &str) {
        let before = self.sink.mentions.len();
        self.mention(name);
        let new = self.sink.mentions[before..].to_vec();
        self.sink.asks.extend(new);
    }

    /// Mentions every identifier in `text`.
    pub(super) fn mention_parts(&mut self, text: &str) {
        text.split(|char: char| char != '_' && !char.is_alphanumeric())
            .filter(|part| !part.is_empty())
            .for_each(|part| self.ask(part));
    }

    pub(super) fn note_yield(&mut self) {
        self.yields = true;
    }

    /// Walks the body of a lambda: a `yield` in it is its own.
    pub(super) fn lambda_body(&mut self, body: &Expr) {
        let outer = self.yields;
        self.expr(body);
        self.yields = outer;
    }
}

/// Where a definition starts: at the `@` of its first decorator, if any.
fn first_start(decorators: &[Decorator], range: TextRange) -> ruff_text_size::TextSize {
    decorators
        .first()
        .map_or(range.start(), |first| first.start().min(range.start()))
}

/// The docstring, if there is one, and the statements after it.
pub(super) fn split_docstring(body: &[Stmt]) -> (Option<&Expr>, &[Stmt]) {
    match body {
        [Stmt::Expr(ast::StmtExpr { value, .. }), rest @ ..] if value.is_string_literal_expr() => {
            (Some(value), rest)
        }
        _ => (None, body),
    }
}

/// The names that a class body declares global, at its own level. Deeply
/// nested blocks do not matter: their depth is bounded by [`super::depth`],
/// and each level is looked into on a checked stack.
pub(super) fn declared_global(body: &[Stmt], globals: &mut Vec<ast::name::Name>) {
    for statement in body {
        stacker::maybe_grow(RED_ZONE, STACK, || match statement {
            Stmt::Global(statement) => {
                globals.extend(statement.names.iter().map(|name| name.id.clone()));
            }
            Stmt::If(statement) => {
                declared_global(&statement.body, globals);
                for clause in &statement.elif_else_clauses {
                    declared_global(&clause.body, globals);
                }
            }
            Stmt::Try(statement) => {
                declared_global(&statement.body, globals);
                for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
                    declared_global(&handler.body, globals);
                }
                declared_global(&statement.orelse, globals);
                declared_global(&statement.finalbody, globals);
            }
            Stmt::With(statement) => declared_global(&statement.body, globals),
            Stmt::For(ast::StmtFor { body, orelse, .. })
            | Stmt::While(ast::StmtWhile { body, orelse, .. }) => {
                declared_global(body, globals);
                declared_global(orelse, globals);
            }
            Stmt::Match(statement) => {
                for case in &statement.cases {
                    declared_global(&case.body, globals);
                }
            }
            Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::Return(_)
            | Stmt::Delete(_)
            | Stmt::TypeAlias(_)
            | Stmt::Assign(_)
            | Stmt::AugAssign(_)
            | Stmt::AnnAssign(_)
            | Stmt::Raise(_)
            | Stmt::Assert(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Nonlocal(_)
            | Stmt::Expr(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::IpyEscapeCommand(_) => {}
        });
    }
}

pub(super) fn operator(operator: Operator) -> u8 {
    match operator {
        Operator::Add => 0,
        Operator::Sub => 1,
        Operator::Mult => 2,
        Operator::MatMult => 3,
        Operator::Div => 4,
        Operator::Mod => 5,
        Operator::Pow => 6,
        Operator::LShift => 7,
        Operator::RShift => 8,
        Operator::BitOr => 9,
        Operator::BitXor => 10,
        Operator::BitAnd => 11,
        Operator::FloorDiv => 12,
    }
}
