//! What a statement of a test names, and whether that is understood.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{
    Visitor, walk_except_handler, walk_expr, walk_interpolated_string_element, walk_stmt,
};
use ruff_python_ast::{
    self as ast, CmpOp, ExceptHandler, Expr, ExprContext, InterpolatedStringElement, Stmt,
};
use ruff_text_size::{Ranged, TextRange};

use super::Role;

/// What was found in one statement.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) role: Role,
    /// Each place of a variable that can be called otherwise there.
    pub(super) places: Vec<(TextRange, String)>,
    pub(super) used: Vec<String>,
    pub(super) defined: BTreeSet<String>,
    pub(super) fixed: BTreeSet<String>,
    pub(super) free: BTreeSet<String>,
}

/// Parts of names of functions that check something, or may.
const CHECKING: [&str; 11] = [
    "assert", "raises", "warns", "fail", "expect", "verify", "check", "should", "must", "ensure",
    "compare",
];

/// Names that end a test early or leave it out.
const ENDING: [&str; 7] = [
    "skip",
    "skipTest",
    "xfail",
    "fail",
    "exit",
    "importorskip",
    "subTest",
];

/// Names by which code looks at its own names, at identities, or at who calls it; and those by
/// which it has something done when the test ends.
const LOOKING: &[&str] = &[
    "__class__",
    "_getframe",
    "addCleanup",
    "assertIs",
    "assertIsNot",
    "breakpoint",
    "currentframe",
    "dir",
    "doCleanups",
    "enterContext",
    "eval",
    "exec",
    "getframeinfo",
    "globals",
    "id",
    "locals",
    "super",
    "vars",
];

/// The statements of a test's body.
///
/// # Errors
/// Why the test has to be left alone.
pub(super) fn look_at(
    function: &ast::StmtFunctionDef,
    instance: Option<&str>,
) -> Result<Vec<Looked>, String> {
    let mut names = Names::default();
    for parameter in &function.parameters.args {
        names.own.insert(parameter.parameter.name.to_string());
    }
    for statement in &function.body {
        names.visit_stmt(statement);
    }
    if let Some(why) = names.why_alone {
        return Err(why);
    }
    if let Some(name) = names.inner.intersection(&names.own).next() {
        return Err(format!("an inner scope has its own variable {name}"));
    }
    if instance.is_some_and(|instance| names.stored.contains(instance)) {
        return Err("it binds the name of its instance".to_owned());
    }
    let mut found = Vec::new();
    for statement in &function.body {
        let mut uses = Uses {
            own: &names.own,
            inner: &names.inner,
            instance,
            looked: Looked::default(),
            writes_instance: false,
        };
        uses.looked.role = role_of(statement, &names.own);
        uses.visit_stmt(statement);
        if uses.writes_instance {
            return Err("it binds attributes of its instance".to_owned());
        }
        found.push(uses.looked);
    }
    Ok(found)
}

fn role_of(statement: &Stmt, own: &BTreeSet<String>) -> Role {
    match statement {
        Stmt::Assign(_)
        | Stmt::AugAssign(_)
        | Stmt::Delete(_)
        | Stmt::Import(_)
        | Stmt::ImportFrom(_) => checks(statement, own),
        Stmt::AnnAssign(assign) if assign.value.is_some() => checks(statement, own),
        Stmt::AnnAssign(assign) if assign.target.is_name_expr() => Role::Silent,
        Stmt::Expr(one) if one.value.is_literal_expr() => Role::Silent,
        Stmt::Expr(one) if one.value.is_call_expr() => checks(statement, own),
        // Whatever has statements of its own may check something, and so may a bare expression.
        _ => Role::Assertion,
    }
}

fn checks(statement: &Stmt, own: &BTreeSet<String>) -> Role {
    let mut words = Words { own, found: false };
    words.visit_stmt(statement);
    match words.found {
        true => Role::Assertion,
        false => Role::Action,
    }
}

struct Words<'n> {
    /// How a variable of the test is called says nothing.
    own: &'n BTreeSet<String>,
    found: bool,
}

impl<'a> Visitor<'a> for Words<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let name = match expr {
            Expr::Name(name) if !self.own.contains(name.id.as_str()) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let name = name.to_lowercase();
        self.found |= CHECKING.iter().any(|word| name.contains(word));
        walk_expr(self, expr);
    }
}

/// The variables of a function, and what keeps it from being reorganised.
#[derive(Default)]
struct Names {
    /// Parameters, and names that it binds.
    own: BTreeSet<String>,
    stored: BTreeSet<String>,
    /// Names that inner scopes bind.
    inner: BTreeSet<String>,
    why_alone: Option<String>,
}

impl Names {
    fn alone(&mut self, why: &str) {
        self.why_alone.get_or_insert(why.to_owned());
    }

    fn store(&mut self, name: &str) {
        self.own.insert(name.to_owned());
        self.stored.insert(name.to_owned());
    }

    fn look_at_word(&mut self, word: &str) {
        if LOOKING.contains(&word) {
            self.alone(&format!("it uses `{word}`"));
        }
        if ENDING.contains(&word) {
            self.alone(&format!("it can end early: it uses `{word}`"));
        }
    }
}

impl<'a> Visitor<'a> for Names {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {
                self.alone("it defines functions or classes of its own");
            }
            Stmt::Return(_) => self.alone("it can return early"),
            Stmt::Raise(_) => self.alone("it raises an exception itself"),
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.alone("it binds names outside of itself"),
            Stmt::Match(_) | Stmt::TypeAlias(_) | Stmt::IpyEscapeCommand(_) => {
                self.alone("it has a statement whose names are not followed");
            }
            _ => {}
        }
        for name in imported(statement) {
            self.store(name);
        }
        walk_stmt(self, statement);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.store(name);
        }
        walk_except_handler(self, handler);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        if let InterpolatedStringElement::Interpolation(one) = element
            && one.debug_text.is_some()
        {
            self.alone("its text shows names of variables");
        }
        walk_interpolated_string_element(self, element);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.look_at_word(&name.id);
                if name.ctx != ExprContext::Load {
                    self.store(&name.id);
                }
            }
            Expr::Attribute(attribute) => self.look_at_word(&attribute.attr),
            Expr::Lambda(_) => self.alone("it defines functions or classes of its own"),
            Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) => {
                self.alone("it is asynchronous or a generator");
            }
            Expr::Compare(compare) => {
                let of_identity = |op: &CmpOp| matches!(op, CmpOp::Is | CmpOp::IsNot);
                let sides = std::iter::once(&*compare.left).chain(compare.comparators.iter());
                let plain = sides.filter(|side| is_constant(side)).count();
                if compare.ops.iter().any(of_identity) && plain == 0 {
                    self.alone("it compares identities");
                }
            }
            Expr::ListComp(ast::ExprListComp { generators, .. })
            | Expr::SetComp(ast::ExprSetComp { generators, .. })
            | Expr::DictComp(ast::ExprDictComp { generators, .. })
            | Expr::Generator(ast::ExprGenerator { generators, .. }) => {
                self.comprehension(expr, generators);
                return;
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

impl<'a> Names {
    /// What a comprehension binds is its own, but for what `:=` in it binds.
    fn comprehension(&mut self, expr: &'a Expr, generators: &'a [ast::Comprehension]) {
        let mut targets = Names::default();
        for generator in generators {
            targets.visit_expr(&generator.target);
        }
        let mut inside = Names::default();
        walk_expr(&mut inside, expr);
        self.inner.extend(targets.stored.iter().cloned());
        self.inner.append(&mut inside.inner);
        if let Some(why) = inside.why_alone {
            self.alone(&why);
        }
        for name in inside.stored.difference(&targets.stored) {
            self.store(name);
        }
    }
}

/// Values of which there is one each.
fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::NoneLiteral(_) | Expr::BooleanLiteral(_) | Expr::EllipsisLiteral(_) => true,
        Expr::Name(name) => name.id.as_str() == "NotImplemented",
        _ => false,
    }
}

/// The names that an import statement binds; none of any other.
fn imported(statement: &Stmt) -> impl Iterator<Item = &str> {
    let names: &[ast::Alias] = match statement {
        Stmt::Import(import) => &import.names,
        Stmt::ImportFrom(import) => &import.names,
        _ => &[],
    };
    names.iter().map(bound_by)
}

fn bound_by(alias: &ast::Alias) -> &str {
    match &alias.asname {
        Some(name) => name,
        None => alias.name.split('.').next().unwrap_or_default(),
    }
}

/// The names of one statement.
struct Uses<'n> {
    own: &'n BTreeSet<String>,
    inner: &'n BTreeSet<String>,
    instance: Option<&'n str>,
    looked: Looked,
    writes_instance: bool,
}

impl Uses<'_> {
    fn uses(&mut self, name: &str) {
        if !self.looked.used.iter().any(|one| one == name) {
            self.looked.used.push(name.to_owned());
        }
    }

    fn fixes(&mut self, name: &str) {
        self.uses(name);
        self.looked.defined.insert(name.to_owned());
        self.looked.fixed.insert(name.to_owned());
    }

    fn name(&mut self, name: &ast::ExprName) {
        let id = name.id.as_str();
        if Some(id) == self.instance {
            self.uses(id);
        } else if self.own.contains(id) {
            self.uses(id);
            self.looked.places.push((name.range(), id.to_owned()));
            if name.ctx != ExprContext::Load {
                self.looked.defined.insert(id.to_owned());
            }
        } else if !self.inner.contains(id) {
            self.looked.free.insert(id.to_owned());
        }
    }
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        for name in imported(statement) {
            self.fixes(name);
        }
        walk_stmt(self, statement);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(one) = handler;
        if let Some(name) = &one.name {
            self.fixes(name);
        }
        walk_except_handler(self, handler);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(attribute) = expr
            && let Expr::Name(name) = &*attribute.value
            && Some(name.id.as_str()) == self.instance
        {
            self.writes_instance |= attribute.ctx != ExprContext::Load;
            self.uses(&format!("{}.{}", name.id, attribute.attr));
            return;
        }
        if let Expr::Name(name) = expr {
            self.name(name);
        }
        walk_expr(self, expr);
    }
}
