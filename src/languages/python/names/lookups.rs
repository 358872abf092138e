//! Names that are looked up by what is worked out at run time: where the source
//! tells which they can be nevertheless.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{self as ast, Expr, Stmt};

use super::stores::Stores;
use super::uses::{Reaching, part_of};
use crate::languages::name_hash;
use crate::languages::python::asked;
use crate::languages::python::dynamic::{
    ASK, is_benign_dunder, is_watched_attribute, is_wide_attribute,
};
use crate::languages::python::walk::{RED_ZONE, STACK};

impl Reaching {
    /// `globals()["name"]`, `globals()[name]` in a `__getattr__`: the name is
    /// spelled, here or by whoever asked for it.
    pub(super) fn look_up_own(&mut self, subscript: &ast::ExprSubscript) -> bool {
        let is_own = matches!(&*subscript.value, Expr::Call(call)
            if matches!(&*call.func, Expr::Name(name) if name.id == "globals"));
        if !is_own {
            return false;
        }
        match &*subscript.slice {
            Expr::StringLiteral(text) => self.load(text.value.to_str()),
            Expr::Name(name) if self.passed_on.as_deref() == Some(name.id.as_str()) => {}
            _ => return false,
        }
        self.found.asks_globals = true;
        true
    }

    /// The arguments of a call. A module in `getattr(module, "name")`, or in
    /// pytest's `monkeypatch.setattr(module, "name", …)`, is asked for the name
    /// alone.
    pub(super) fn call_arguments(&mut self, call: &ast::ExprCall) {
        let asks = match &*call.func {
            Expr::Name(name) => ASK.contains(&&*name.id).then_some(false),
            Expr::Attribute(method) => {
                let is_fixture =
                    matches!(&*method.value, Expr::Name(name) if name.id == asked::MONKEYPATCH);
                (is_fixture && matches!(&*method.attr, "setattr" | "delattr")).then_some(true)
            }
            _ => None,
        };
        let (Some(is_lent), [module, Expr::StringLiteral(name), rest @ ..]) =
            (asks, &call.arguments.args[..])
        else {
            self.visit_arguments(&call.arguments);
            return;
        };
        let name = name.value.to_str();
        let base = match module {
            Expr::Name(base) if self.is_alias(&base.id) => &*base.id,
            Expr::Attribute(path) if self.is_module_path(path) => path.attr.as_str(),
            _ => {
                self.visit_arguments(&call.arguments);
                return;
            }
        };
        if !is_benign_dunder(name) {
            self.visit_arguments(&call.arguments);
            return;
        }
        match module {
            Expr::Attribute(path) => self.attribute(path, false),
            _ => self.load(base),
        }
        self.member(base, name);
        self.found.is_wide |= is_wide_attribute(name);
        self.found.is_watched |= is_watched_attribute(name);
        self.reach_by_import(base, Some(name));
        let mut part = match module {
            Expr::Attribute(path) => part_of(path),
            _ => vec![name_hash(base)],
        };
        part.push(name_hash(name));
        self.found.parts.insert(part);
        if is_lent {
            self.found.lent.insert(name_hash(base));
        }
        self.visit_expr(&call.arguments.args[1]);
        rest.iter().for_each(|argument| self.visit_expr(argument));
        for keyword in &call.arguments.keywords {
            self.visit_expr(&keyword.value);
        }
    }

    /// Any other use of `doctest_namespace` may look at what is there.
    pub(super) fn meet_lent(&mut self) {
        let name = name_hash(asked::DOCTEST_NAMESPACE);
        self.found.values.insert(name);
    }

    /// `doctest_namespace["name"] = module`, where that is a parameter: only doctests get at
    /// the module.
    pub(super) fn lend_to_doctests(&mut self, assign: &ast::StmtAssign) -> bool {
        let [Expr::Subscript(target)] = &assign.targets[..] else {
            return false;
        };
        let (Expr::Name(fixture), Expr::Name(module)) = (&*target.value, &*assign.value) else {
            return false;
        };
        let is_lent = fixture.id == asked::DOCTEST_NAMESPACE
            && self.is_own(&fixture.id)
            && target.slice.is_string_literal_expr()
            && self.is_alias(&module.id);
        if is_lent {
            self.load(&module.id);
            self.found.lent.insert(name_hash(&module.id));
        }
        is_lent
    }

    /// `dir(self)` in a method: the names in it are those of a class.
    pub(super) fn lists_holder(&self, call: &ast::ExprCall) -> bool {
        let is_dir = matches!(&*call.func, Expr::Name(name) if name.id == "dir");
        let is_holder = match &call.arguments.args[..] {
            [Expr::Name(only)] => self.holder.as_deref() == Some(only.id.as_str()),
            _ => false,
        };
        is_dir && is_holder && call.arguments.keywords.is_empty()
    }

    /// Of a signature nothing but the names of the parameters: they are part of
    /// what is called, and no annotation.
    pub(super) fn names_of_parameters(&mut self, signature: &ast::ExprCall) {
        let reads = self.found.reads;
        self.visit_expr(&signature.func);
        self.found.reads = reads;
        self.visit_arguments(&signature.arguments);
    }

    /// Whether a call that looks up a name spells it: `getattr(x, "name")`, or
    /// passes on what somebody else has spelled.
    pub(super) fn is_spelled(&self, call: &ast::ExprCall) -> bool {
        let args = &call.arguments.args[..];
        if args.iter().any(Expr::is_starred_expr) {
            return false;
        }
        let is_spelled = |arg: &Expr| match arg {
            Expr::Name(name) => self.passed_on.as_deref() == Some(name.id.as_str()),
            _ => arg.is_string_literal_expr(),
        };
        match &*call.func {
            Expr::Name(name) => match &*name.id {
                asked if ASK.contains(&asked) => args.get(1).is_some_and(is_spelled),
                // Without arguments these are about where they stand.
                "vars" | "dir" => args.is_empty() && call.arguments.keywords.is_empty(),
                "attrgetter" => args.iter().all(is_spelled),
                "methodcaller" => args.first().is_some_and(is_spelled),
                _ => false,
            },
            Expr::Attribute(method) => match &*method.attr {
                "attrgetter" => args.iter().all(is_spelled),
                "methodcaller" => args.first().is_some_and(is_spelled),
                "get" | "setdefault" | "pop" => {
                    is_dict(&method.value) && args.first().is_some_and(is_spelled)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// The call of `signature` in `inspect.signature(x).parameters.keys()`.
pub(super) fn names_of_parameters(call: &ast::ExprCall) -> Option<&ast::ExprCall> {
    let Expr::Attribute(keys) = &*call.func else {
        return None;
    };
    let Expr::Attribute(parameters) = &*keys.value else {
        return None;
    };
    let Expr::Call(signature) = &*parameters.value else {
        return None;
    };
    let is_signature = match &*signature.func {
        Expr::Name(name) => name.id == "signature",
        Expr::Attribute(name) => &*name.attr == "signature" && name.value.is_name_expr(),
        _ => false,
    };
    let has_one = signature.arguments.args.len() == 1 && signature.arguments.keywords.is_empty();
    (is_signature && has_one && &*keys.attr == "keys" && &*parameters.attr == "parameters")
        .then_some(signature)
}

/// `x.__dict__`, of something with a name.
pub(super) fn is_dict(expr: &Expr) -> bool {
    match expr {
        Expr::Attribute(attribute) => {
            attribute.attr.as_str() == "__dict__" && attribute.value.is_name_expr()
        }
        _ => false,
    }
}

/// In a `__getattr__` of a class or a module the name that was asked for, if
/// it stays that.
pub(super) fn passed_on(def: &ast::StmtFunctionDef) -> Option<String> {
    let ([name] | [_, name]) = &def.parameters.args[..] else {
        return None;
    };
    let name = name.parameter.name.as_str();
    (def.name.as_str() == "__getattr__" && stays(name, def)).then(|| name.to_owned())
}

/// In a method what it is called on, if it stays that. By these names it is an
/// instance or a class.
pub(super) fn holder(def: &ast::StmtFunctionDef) -> Option<String> {
    let name = def.parameters.args.first()?.parameter.name.as_str();
    (matches!(name, "self" | "cls") && stays(name, def)).then(|| name.to_owned())
}

/// Whether an argument is all that its name stands for in a function.
fn stays(name: &str, def: &ast::StmtFunctionDef) -> bool {
    let mut stores = Stores::default();
    for statement in &def.body {
        stores.visit_stmt(statement);
    }
    // Inner functions could have an argument of that name.
    let mut inner = Functions::default();
    inner.visit_body(&def.body);
    !stores.star && !stores.names.contains(name) && !inner.are_there
}

/// Whether there are functions in a function.
#[derive(Default)]
struct Functions {
    are_there: bool,
}

impl<'a> Visitor<'a> for Functions {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.are_there |= statement.is_function_def_stmt();
        stacker::maybe_grow(RED_ZONE, STACK, || walk_stmt(self, statement));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.are_there |= expr.is_lambda_expr();
        stacker::maybe_grow(RED_ZONE, STACK, || walk_expr(self, expr));
    }
}
