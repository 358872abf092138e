//! Which statements do nothing but bind a name, and cannot fail to.
//!
//! Everything here is a promise: what is called safe can neither raise nor do
//! anything that other code could notice, whatever the edit that led to it.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{self as ast, Expr, Number, Stmt, UnaryOp};

use super::looks::{bases, has_subclass_hook, is_arithmetic, is_bare, is_constant, is_literal};
use super::members::Members;
use super::stdlib;
use crate::languages::python::walk::{RED_ZONE, STACK};

/// What a name is bound to, as far as later statements can rely on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Value,
    /// A literal, or containers of such.
    Literal,
    /// A container, a lambda or a truth value.
    Simple,
    Function,
    /// A class whose derivation does nothing of its own.
    Class,
    StdModule(String),
    StdItem(String, String),
}

/// What a statement of the top level comes to.
pub(super) enum Shape {
    /// It binds these names, and nothing can go wrong.
    Pure(Vec<(String, Kind)>),
    /// A class whose header may raise, or do something that does not look at
    /// the members.
    Class(String),
    /// An import that may run code, or fail; then it binds these names.
    Import(Vec<String>),
    /// It never does anything.
    Nothing,
    Effect,
}

/// What is bound when a statement is reached.
pub(super) struct Scope<'a> {
    pub bound: BTreeMap<String, Kind>,
    /// Every name that the module binds anywhere.
    pub anywhere: &'a BTreeSet<String>,
    /// Whether annotations are not evaluated.
    pub lazy_annotations: bool,
}

/// Names of a module that the interpreter or the import system read.
const SPECIAL: [&str; 14] = [
    "__getattr__",
    "__dir__",
    "__path__",
    "__spec__",
    "__loader__",
    "__builtins__",
    "__name__",
    "__package__",
    "__file__",
    "__class__",
    "__annotations__",
    "__dict__",
    "__debug__",
    "__test__",
];

impl Scope<'_> {
    pub(super) fn shape(&self, statement: &Stmt, is_first: bool) -> Shape {
        match statement {
            Stmt::Pass(_) => Shape::Nothing,
            Stmt::Expr(expr) if is_constant(&expr.value) => match is_first {
                true if expr.value.is_string_literal_expr() => {
                    Shape::Pure(vec![("__doc__".to_owned(), Kind::Literal)])
                }
                _ => Shape::Nothing,
            },
            Stmt::If(chain) if chain.elif_else_clauses.is_empty() => {
                match self.is_type_checking(&chain.test) {
                    true => Shape::Nothing,
                    false => Shape::Effect,
                }
            }
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::ClassDef(def) => self.class(def),
            _ => match self.binding(statement) {
                Some(bound) => Shape::Pure(vec![bound]),
                None => Shape::Effect,
            },
        }
    }

    fn import(&self, import: &ast::StmtImport) -> Shape {
        let bound = |alias: &ast::Alias| match &alias.asname {
            Some(name) => name.to_string(),
            None => alias.name.split('.').next().unwrap_or_default().to_owned(),
        };
        if !import
            .names
            .iter()
            .all(|alias| stdlib::has_module(&alias.name) || &*alias.name == "builtins")
        {
            return Shape::Import(import.names.iter().map(bound).collect());
        }
        let kind = |alias: &ast::Alias| match &alias.asname {
            // What is in it may be replaced.
            _ if &*alias.name == "builtins" => Kind::Value,
            Some(_) => Kind::StdModule(alias.name.to_string()),
            None => Kind::StdModule(bound(alias)),
        };
        Shape::Pure(
            import
                .names
                .iter()
                .map(|alias| (bound(alias), kind(alias)))
                .collect(),
        )
    }

    fn import_from(&self, import: &ast::StmtImportFrom) -> Shape {
        let module = import.module.as_deref().unwrap_or_default();
        if module == "__future__" && import.level == 0 {
            return Shape::Effect;
        }
        if import.names.iter().any(|alias| &*alias.name == "*") {
            return Shape::Effect;
        }
        let bound = |alias: &ast::Alias| {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            name.to_string()
        };
        let is_std = import.level == 0
            && import
                .names
                .iter()
                .all(|alias| stdlib::has(module, &alias.name));
        if !is_std || module == "builtins" {
            return Shape::Import(import.names.iter().map(bound).collect());
        }
        let kind = |alias: &ast::Alias| Kind::StdItem(module.to_owned(), alias.name.to_string());
        Shape::Pure(
            import
                .names
                .iter()
                .map(|alias| (bound(alias), kind(alias)))
                .collect(),
        )
    }

    fn binding(&self, statement: &Stmt) -> Option<(String, Kind)> {
        match statement {
            Stmt::Assign(assign) => match &assign.targets[..] {
                [Expr::Name(name)] => self.assignment(&name.id, &assign.value),
                _ => None,
            },
            Stmt::AnnAssign(assign) => match (&*assign.target, &assign.value) {
                (Expr::Name(name), Some(value)) if self.is_type(&assign.annotation) => {
                    self.assignment(&name.id, value)
                }
                _ => None,
            },
            Stmt::FunctionDef(def) => {
                let marks = self.marks(def)?;
                let mut decorators = def.decorator_list.iter().zip(&marks);
                let is_pure = !SPECIAL.contains(&&*def.name)
                    && self.is_pure_function(def)
                    && decorators.all(|(decorator, is_mark)| {
                        *is_mark || self.is_pure_decorator(&decorator.expression)
                    });
                let kind = match marks.iter().all(|is_mark| *is_mark) {
                    true => Kind::Function,
                    false => Kind::Value,
                };
                is_pure.then(|| (def.name.to_string(), kind))
            }
            _ => None,
        }
    }

    fn assignment(&self, name: &str, value: &Expr) -> Option<(String, Kind)> {
        if SPECIAL.contains(&name) || !self.is_safe(value) {
            return None;
        }
        let kind = match value {
            Expr::Name(value) => self.kind(&value.id).unwrap_or(Kind::Value),
            _ if is_literal(value) => Kind::Literal,
            Expr::List(_) | Expr::Tuple(_) | Expr::Set(_) | Expr::Dict(_) => Kind::Simple,
            Expr::Lambda(_) | Expr::Compare(_) | Expr::BoolOp(_) => Kind::Simple,
            _ => Kind::Value,
        };
        Some((name.to_owned(), kind))
    }

    pub(super) fn kind(&self, name: &str) -> Option<Kind> {
        match self.bound.get(name) {
            Some(kind) => Some(kind.clone()),
            None if self.is_builtin(name) => {
                Some(Kind::StdItem("builtins".to_owned(), name.to_owned()))
            }
            None => None,
        }
    }

    pub(super) fn is_builtin(&self, name: &str) -> bool {
        stdlib::is_builtin(name) && !self.anywhere.contains(name)
    }

    /// What of the standard library an expression names.
    fn standard(&self, expr: &Expr) -> Option<(String, String)> {
        match expr {
            Expr::Name(name) => match self.kind(&name.id)? {
                Kind::StdItem(module, item) => Some((module, item)),
                _ => None,
            },
            Expr::Attribute(attribute) => {
                let Expr::Name(base) = &*attribute.value else {
                    return None;
                };
                match self.kind(&base.id)? {
                    Kind::StdModule(module) if stdlib::has(&module, &attribute.attr) => {
                        Some((module, attribute.attr.to_string()))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_type_checking(&self, test: &Expr) -> bool {
        self.standard(test)
            .is_some_and(|(module, item)| module == "typing" && item == "TYPE_CHECKING")
    }

    /// Whether evaluating `expr` can neither raise nor do anything.
    pub(super) fn is_safe(&self, expr: &Expr) -> bool {
        stacker::maybe_grow(RED_ZONE, STACK, || match expr {
            Expr::Name(name) => self.kind(&name.id).is_some(),
            Expr::Attribute(_) => self.standard(expr).is_some(),
            Expr::Tuple(tuple) => tuple.elts.iter().all(|item| self.is_safe(item)),
            Expr::List(list) => list.elts.iter().all(|item| self.is_safe(item)),
            Expr::Dict(dict) => dict.items.iter().all(|item| {
                item.key.as_ref().is_some_and(|key| self.is_hashable(key))
                    && self.is_safe(&item.value)
            }),
            Expr::Set(set) => set.elts.iter().all(|item| self.is_hashable(item)),
            Expr::Lambda(lambda) => lambda
                .parameters
                .iter()
                .flat_map(|parameters| parameters.iter())
                .all(|one| one.default().is_none_or(|default| self.is_safe(default))),
            Expr::Call(call) => self.is_safe_call(call),
            Expr::Compare(compare) => self.is_safe_comparison(compare),
            Expr::BoolOp(both) => both.values.iter().all(|value| self.is_condition(value)),
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => self.is_condition(&not.operand),
            _ => is_constant(expr) || is_arithmetic(expr, 0),
        })
    }

    /// Whether the truth of `expr` can be asked, too.
    fn is_condition(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Compare(_) | Expr::BoolOp(_) => self.is_safe(expr),
            Expr::UnaryOp(not) if not.op == UnaryOp::Not => self.is_safe(expr),
            Expr::Call(call) => self.is_platform_test(call),
            Expr::Name(name) => self.kind(&name.id) == Some(Kind::Literal),
            _ => is_constant(expr),
        }
    }

    /// Of what tells about the machine, with constants: `sys.platform ==
    /// "win32"`, `sys.version_info >= (3, 9)`.
    fn is_safe_comparison(&self, compare: &ast::ExprCompare) -> bool {
        let [right] = &compare.comparators[..] else {
            return false;
        };
        let is_equality = matches!(&compare.ops[..], [ast::CmpOp::Eq | ast::CmpOp::NotEq]);
        let is_order = matches!(
            &compare.ops[..],
            [ast::CmpOp::Lt | ast::CmpOp::LtE | ast::CmpOp::Gt | ast::CmpOp::GtE]
        );
        let Some((module, item)) = self.standard(&compare.left) else {
            return false;
        };
        match (&*module, &*item, right) {
            ("sys", "platform" | "byteorder", right) => {
                is_equality && right.is_string_literal_expr()
            }
            ("sys", "version_info", Expr::Tuple(tuple)) => {
                (is_order || is_equality)
                    && tuple.elts.iter().all(|part| match part {
                        Expr::NumberLiteral(number) => matches!(number.value, Number::Int(_)),
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// `sys.platform.startswith("win")`
    fn is_platform_test(&self, call: &ast::ExprCall) -> bool {
        let Expr::Attribute(method) = &*call.func else {
            return false;
        };
        method.attr.as_str() == "startswith"
            && self.standard(&method.value) == Some(("sys".to_owned(), "platform".to_owned()))
            && call.arguments.keywords.is_empty()
            && matches!(&call.arguments.args[..], [only] if only.is_string_literal_expr())
    }

    fn is_hashable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Tuple(tuple) => tuple.elts.iter().all(|item| self.is_hashable(item)),
            Expr::Name(name) => matches!(self.kind(&name.id), Some(Kind::Function | Kind::Class)),
            _ => is_constant(expr),
        }
    }

    /// Calls of the standard library that only make an object.
    fn is_safe_call(&self, call: &ast::ExprCall) -> bool {
        if self.is_platform_test(call) {
            return true;
        }
        let Some((module, item)) = self.standard(&call.func) else {
            return false;
        };
        let args = &call.arguments.args[..];
        let keywords = &call.arguments.keywords;
        match (&*module, &*item) {
            ("builtins", "object" | "dict" | "list" | "set" | "tuple" | "frozenset") => {
                keywords.is_empty()
                    && match args {
                        [] => true,
                        [Expr::List(list)] if item != "object" && item != "dict" => {
                            list.elts.iter().all(is_constant)
                        }
                        [Expr::Tuple(tuple)] if item != "object" && item != "dict" => {
                            tuple.elts.iter().all(is_constant)
                        }
                        [Expr::Set(set)] if item != "object" && item != "dict" => {
                            set.elts.iter().all(is_constant)
                        }
                        _ => false,
                    }
            }
            ("logging", "getLogger") => {
                let is_name = |expr: &Expr| match expr {
                    Expr::Name(name) => {
                        name.id == "__name__" && !self.anywhere.contains("__name__")
                    }
                    _ => expr.is_string_literal_expr(),
                };
                keywords.is_empty() && args.len() <= 1 && args.iter().all(is_name)
            }
            ("typing", "TypeVar") => {
                let variances = keywords.iter().filter(|keyword| {
                    matches!(keyword.arg.as_deref(), Some("covariant" | "contravariant"))
                });
                matches!(args, [Expr::StringLiteral(_)])
                    && variances.count() <= 1
                    && keywords.iter().all(|keyword| match keyword.arg.as_deref() {
                        Some("bound") => self.is_type_argument(&keyword.value),
                        Some("covariant" | "contravariant") => {
                            keyword.value.is_boolean_literal_expr()
                        }
                        _ => false,
                    })
            }
            ("threading", "Lock" | "RLock" | "Event" | "local") => {
                args.is_empty() && keywords.is_empty()
            }
            _ => false,
        }
    }

    /// Annotations are safe where they are not evaluated, or safe to evaluate.
    pub(super) fn is_type(&self, expr: &Expr) -> bool {
        self.lazy_annotations || self.is_safe(expr) || self.is_type_argument(expr)
    }

    /// Whether `expr` is a type for `typing`'s subscripts, which check that.
    fn is_type_argument(&self, expr: &Expr) -> bool {
        let is_class = |expr: &Expr| match expr {
            Expr::Name(name) => match self.kind(&name.id) {
                Some(Kind::Class) => true,
                Some(Kind::StdItem(module, item)) => stdlib::is_plain_class(&module, &item),
                _ => false,
            },
            _ => self
                .standard(expr)
                .is_some_and(|(module, item)| stdlib::is_plain_class(&module, &item)),
        };
        match expr {
            Expr::NoneLiteral(_) => true,
            Expr::StringLiteral(text) => {
                let text = text.value.to_str();
                let is_name = |part: &str| {
                    !part.is_empty()
                        && !part.starts_with(|char: char| char.is_ascii_digit())
                        && part
                            .bytes()
                            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
                        && part.bytes().any(|byte| byte.is_ascii_uppercase())
                };
                text.split('.').all(is_name) && !matches!(text, "None" | "True" | "False")
            }
            Expr::Name(name) if self.is_builtin(&name.id) && name.id == "bool" => true,
            Expr::Subscript(subscript) => self.is_generic(subscript),
            _ => {
                is_class(expr)
                    || self.standard(expr).is_some_and(|(module, item)| {
                        module == "typing"
                            && matches!(&*item, "Any" | "AnyStr" | "Text" | "Hashable")
                    })
            }
        }
    }

    fn is_generic(&self, subscript: &ast::ExprSubscript) -> bool {
        let Some((module, item)) = self.standard(&subscript.value) else {
            return false;
        };
        let args = match &*subscript.slice {
            Expr::Tuple(tuple) => &tuple.elts[..],
            other => std::slice::from_ref(other),
        };
        let all = |args: &[Expr]| args.iter().all(|arg| self.is_type_argument(arg));
        module == "typing"
            && match &*item {
                "Optional" | "List" | "Set" | "FrozenSet" | "Type" | "Iterable" | "Iterator"
                | "Sequence" | "MutableSequence" | "Collection" | "Container" | "Awaitable" => {
                    args.len() == 1 && all(args)
                }
                "Dict" | "Mapping" | "MutableMapping" => args.len() == 2 && all(args),
                "Union" => !args.is_empty() && all(args),
                "Tuple" => match args {
                    [first, Expr::EllipsisLiteral(_)] => self.is_type_argument(first),
                    args => !args.is_empty() && all(args),
                },
                "Callable" => match args {
                    [Expr::EllipsisLiteral(_), result] => self.is_type_argument(result),
                    [Expr::List(list), result] => all(&list.elts) && self.is_type_argument(result),
                    _ => false,
                },
                _ => false,
            }
    }

    /// Whether what is evaluated of a function where it is defined is safe;
    /// decorators aside.
    pub(super) fn is_pure_function(&self, def: &ast::StmtFunctionDef) -> bool {
        def.type_params.is_none()
            && def
                .returns
                .as_deref()
                .is_none_or(|returns| self.is_type(returns))
            && def.parameters.iter().all(|one| {
                one.annotation()
                    .is_none_or(|annotation| self.is_type(annotation))
                    && one.default().is_none_or(|default| self.is_safe(default))
            })
    }

    /// Decorators that wrap or mark a function and do nothing else.
    pub(super) fn is_pure_decorator(&self, expr: &Expr) -> bool {
        let (func, call) = match expr {
            Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        let Some((module, item)) = self.standard(func) else {
            return false;
        };
        match (&*module, &*item, call) {
            ("builtins", "property" | "staticmethod" | "classmethod", None)
            | ("functools", "cached_property", None)
            | ("contextlib", "contextmanager" | "asynccontextmanager", None)
            | ("abc", "abstractmethod", None)
            | ("typing", "overload" | "final" | "no_type_check", None) => true,
            ("functools", "lru_cache", Some(call)) => {
                let is_size = |expr: &Expr| match expr {
                    Expr::NumberLiteral(number) => matches!(number.value, Number::Int(_)),
                    Expr::NoneLiteral(_) => true,
                    _ => false,
                };
                call.arguments.args.is_empty()
                    && call.arguments.keywords.iter().all(|keyword| {
                        keyword
                            .arg
                            .as_ref()
                            .is_some_and(|name| &**name == "maxsize")
                            && is_size(&keyword.value)
                    })
            }
            _ => false,
        }
    }

    /// A class whose making can neither raise nor do anything, or nothing that
    /// looks at its members: bases that are known, and members that are
    /// functions and literals.
    fn class(&self, def: &ast::StmtClassDef) -> Shape {
        let bases = bases(def);
        let is_derived = !SPECIAL.contains(&&*def.name)
            && is_bare(def)
            && bases.iter().all(|base| self.base(base) != Base::Unknown);
        if !is_derived {
            return Shape::Effect;
        }
        let mut members = Members::new(self);
        if !def.body.iter().all(|statement| members.add(statement)) {
            return Shape::Effect;
        }
        let is_pure = match bases {
            [] => true,
            [base] => self.base(base) == Base::Plain,
            // They may not fit together.
            _ => false,
        };
        match is_pure {
            true => Shape::Pure(vec![(def.name.to_string(), self.kind_of_class(def))]),
            false => Shape::Class(def.name.to_string()),
        }
    }

    /// Whether deriving from the class does nothing of its own.
    pub(super) fn kind_of_class(&self, def: &ast::StmtClassDef) -> Kind {
        let is_class = is_bare(def)
            && !has_subclass_hook(&def.body)
            && bases(def)
                .iter()
                .all(|base| self.base(base) != Base::Unknown);
        match is_class {
            true => Kind::Class,
            false => Kind::Value,
        }
    }

    pub(super) fn base(&self, base: &Expr) -> Base {
        match base {
            Expr::Name(name) if self.bound.get(name.id.as_str()) == Some(&Kind::Class) => {
                Base::Plain
            }
            // What is asked of a class, or of `Generic`, may be refused.
            Expr::Subscript(subscript) => match self.base(&subscript.value) {
                Base::Unknown => Base::Unknown,
                Base::Plain | Base::Checked => Base::Checked,
            },
            _ => match self.standard(base) {
                Some((module, item)) if stdlib::is_plain_class(&module, &item) => Base::Plain,
                // Its hook gives the class attributes of its own.
                Some((module, item))
                    if module == "unittest"
                        && matches!(&*item, "TestCase" | "IsolatedAsyncioTestCase") =>
                {
                    Base::Plain
                }
                Some((module, item))
                    if module == "typing" && matches!(&*item, "Generic" | "Protocol") =>
                {
                    Base::Checked
                }
                _ => Base::Unknown,
            },
        }
    }
}

/// What deriving from a base does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    /// Nothing, and it cannot fail.
    Plain,
    /// It may fail, whatever the members of the class are.
    Checked,
    Unknown,
}
