//! Casts for type checkers: `typing.cast(T, value)` is `value`, whatever `T` is.
//!
//! That holds where the call can fail neither for what it calls nor for `T`. So the import of
//! `typing` must be the only thing in the module that binds its name, in any scope, and `T` must
//! be text, a builtin type, or something of `typing` that every supported interpreter evaluates.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_parameter, walk_stmt, walk_type_param};
use ruff_python_ast::{self as ast, Alias, Expr, Stmt};
use ruff_python_parser::parse_expression;
use ruff_text_size::{Ranged, TextSize};

use super::idle::is_idle;
use super::names::BoundNames;
use super::walk::{RED_ZONE, STACK};

/// What a module knows of `typing`.
#[derive(Default)]
pub(super) struct Casts {
    /// Each name that is bound once, by an import of this at the outermost level, and where that
    /// ends: the module, or its `cast`.
    typing: BTreeMap<String, (Typing, TextSize)>,
    /// What else the module binds, in whatever scope.
    bound: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Typing {
    Module,
    Cast,
}

impl Casts {
    pub(super) fn of(text: &str, body: &[Stmt]) -> Casts {
        let mut casts = Casts::default();
        // By far the most modules have none.
        if !text.contains("cast") {
            return casts;
        }
        for statement in body {
            casts.note_import(statement);
        }
        if casts.typing.is_empty() {
            return casts;
        }
        let Some(BoundNames { mut all, once }) = BoundNames::of(body) else {
            return Casts::default();
        };
        let mut parameters = Parameters(BTreeSet::new());
        parameters.visit_body(body);
        let of_functions = parameters.0;
        let is_once = |name: &String| once.contains(name) && !of_functions.contains(&**name);
        casts.typing.retain(|name, _| is_once(name));
        all.extend(of_functions.into_iter().map(str::to_owned));
        casts.bound = all;
        casts
    }

    fn note_import(&mut self, statement: &Stmt) {
        let (names, what) = match statement {
            Stmt::Import(import) => (&import.names, ("typing", Typing::Module)),
            Stmt::ImportFrom(import)
                if import.level == 0 && import.module.as_deref() == Some("typing") =>
            {
                (&import.names, ("cast", Typing::Cast))
            }
            _ => return,
        };
        let bound = |alias: &'_ Alias| alias.asname.as_ref().unwrap_or(&alias.name).to_string();
        for alias in names.iter().filter(|alias| &*alias.name == what.0) {
            let name = bound(alias);
            if names.iter().filter(|one| bound(one) == name).count() == 1 {
                self.typing.insert(name, (what.1, statement.end()));
            }
        }
    }

    /// What a call evaluates to that is such a cast: its second argument.
    pub(super) fn value<'e>(&self, call: &'e ast::ExprCall) -> Option<&'e Expr> {
        let is_cast = match &*call.func {
            Expr::Name(name) => self.is(name, Typing::Cast),
            Expr::Attribute(one) => &*one.attr == "cast" && self.is_module(&one.value),
            _ => false,
        };
        let ([of_type, value], []) = (&*call.arguments.args, &*call.arguments.keywords) else {
            return None;
        };
        let is_plain = is_cast && !value.is_starred_expr() && self.is_type(of_type);
        is_plain.then_some(value)
    }

    fn is(&self, name: &ast::ExprName, what: Typing) -> bool {
        let known = self.typing.get(name.id.as_str());
        known.is_some_and(|(known, end)| *known == what && *end <= name.start())
    }

    fn is_module(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Name(name) if self.is(name, Typing::Module))
    }

    /// Whether nothing but a type or text can come of it.
    fn is_type(&self, expr: &Expr) -> bool {
        match expr {
            Expr::StringLiteral(_) | Expr::NoneLiteral(_) => true,
            expr => stacker::maybe_grow(RED_ZONE, STACK, || self.is_part(expr)),
        }
    }

    /// The same of a type in brackets, of which `typing` evaluates text.
    fn is_part(&self, expr: &Expr) -> bool {
        match expr {
            Expr::StringLiteral(text) => {
                let parsed = parse_expression(text.value.to_str());
                parsed.is_ok_and(|parsed| is_forward(parsed.expr()))
            }
            Expr::NoneLiteral(_) => true,
            Expr::Name(name) => {
                BUILTINS.contains(&name.id.as_str()) && !self.bound.contains(name.id.as_str())
            }
            Expr::Attribute(_) => matches!(self.generic(expr), Some(Takes::Nothing | Takes::So(_))),
            Expr::Subscript(one) => self.is_subscript(one),
            _ => false,
        }
    }

    fn is_subscript(&self, one: &ast::ExprSubscript) -> bool {
        let parts = match &*one.slice {
            Expr::Tuple(parts) => &parts.elts[..],
            part => std::slice::from_ref(part),
        };
        let are_parts = |parts: &[Expr]| parts.iter().all(|part| self.is_type_part(part));
        match self.generic(&one.value) {
            Some(Takes::So(count)) => parts.len() == count && are_parts(parts),
            Some(Takes::One) => parts.len() == 1 && are_parts(parts),
            Some(Takes::Some) => !parts.is_empty() && are_parts(parts),
            Some(Takes::Arguments) => match parts {
                [Expr::List(of), result] => are_parts(&of.elts) && self.is_type_part(result),
                [Expr::EllipsisLiteral(_), result] => self.is_type_part(result),
                _ => false,
            },
            Some(Takes::Nothing) | None => false,
        }
    }

    fn is_type_part(&self, expr: &Expr) -> bool {
        stacker::maybe_grow(RED_ZONE, STACK, || self.is_part(expr))
    }

    /// What stands in brackets behind `expr`, if that is something of `typing`.
    fn generic(&self, expr: &Expr) -> Option<Takes> {
        let Expr::Attribute(one) = expr else {
            return None;
        };
        let name = one.attr.as_str();
        let known = GENERICS.iter().find(|(names, _)| names.contains(&name));
        known
            .filter(|_| self.is_module(&one.value))
            .map(|(_, takes)| *takes)
    }
}

/// Whether text in brackets is the name of something: such text is compiled.
fn is_forward(expr: &Expr) -> bool {
    match expr {
        Expr::Attribute(one) => is_forward(&one.value),
        expr => expr.is_name_expr() && is_idle(expr),
    }
}

/// What stands in the brackets of a type.
#[derive(Clone, Copy)]
enum Takes {
    Nothing,
    /// So many, or none.
    So(usize),
    One,
    /// One or more.
    Some,
    /// Types of arguments, and of the result.
    Arguments,
}

/// What `typing` has since Python 3.8.
const GENERICS: [(&[&str], Takes); 6] = [
    (
        &[
            "Any", "AnyStr", "BinaryIO", "Hashable", "Sized", "Text", "TextIO",
        ],
        Takes::Nothing,
    ),
    (
        &[
            "AbstractSet",
            "AsyncIterable",
            "AsyncIterator",
            "Awaitable",
            "Collection",
            "Container",
            "Counter",
            "Deque",
            "FrozenSet",
            "IO",
            "Iterable",
            "Iterator",
            "List",
            "MutableSequence",
            "MutableSet",
            "Reversible",
            "Sequence",
            "Set",
            "Type",
        ],
        Takes::So(1),
    ),
    (
        &[
            "ChainMap",
            "DefaultDict",
            "Dict",
            "Mapping",
            "MutableMapping",
            "OrderedDict",
        ],
        Takes::So(2),
    ),
    (&["Optional"], Takes::One),
    (&["Union"], Takes::Some),
    (&["Callable"], Takes::Arguments),
];

const BUILTINS: [&str; 12] = [
    "bool",
    "bytearray",
    "bytes",
    "complex",
    "dict",
    "float",
    "frozenset",
    "int",
    "list",
    "object",
    "set",
    "str",
];

/// The names of parameters, and of those of types.
struct Parameters<'a>(BTreeSet<&'a str>);

impl<'a> Visitor<'a> for Parameters<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        stacker::maybe_grow(RED_ZONE, STACK, || walk_stmt(self, statement));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        stacker::maybe_grow(RED_ZONE, STACK, || walk_expr(self, expr));
    }

    fn visit_parameter(&mut self, parameter: &'a ast::Parameter) {
        self.0.insert(&parameter.name);
        walk_parameter(self, parameter);
    }

    fn visit_type_param(&mut self, param: &'a ast::TypeParam) {
        self.0.insert(param.name());
        walk_type_param(self, param);
    }
}
