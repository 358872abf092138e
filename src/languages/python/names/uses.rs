//! Which names each piece of code can reach without spelling where they are.

mod attributes;
mod scopes;
mod visit;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{self as ast, Comprehension, Expr, ExprContext, Stmt};

use self::scopes::Scope;
use super::import_list::{imports_of, is_type_checking};
use super::lookups::{holder, is_dict, names_of_parameters, passed_on};
use super::notes::Notes;
use super::stdlib::is_builtin;
use crate::languages::name_hash;
use crate::languages::python::asked;
use crate::languages::python::docstrings::{DOCSTRINGS_IN_TEXT, reads_docstrings};
use crate::languages::python::dynamic::{
    ASK, READERS_IN_TEXT, is_watched_import, is_wide_import, is_wide_name, lists_members, looks_up,
    names_any, reads_annotations,
};
use crate::languages::python::expr::{evaluated_inside, evaluates_text};
use crate::languages::python::idle::Apart;
use crate::languages::python::names::model::{Import, Uses};
use crate::languages::python::walk::declared_global;

/// Builtins that make or run generated code. The native collector tells what such code spells
/// if they are called by their names.
const RUN_GENERATED: [&str; 3] = ["compile", "eval", "exec"];

/// Stands among the names that code loads for one that it only calls.
fn marked(called: &str) -> String {
    format!("{called}()")
}

/// An attribute of a name, as in [`Uses::parts`].
pub(super) fn part_of(attribute: &ast::ExprAttribute) -> Vec<u32> {
    let mut path = vec![name_hash(&attribute.attr)];
    let mut before = &*attribute.value;
    while let Expr::Attribute(inner) = before {
        path.push(name_hash(&inner.attr));
        before = &inner.value;
    }
    if let Expr::Name(base) = before {
        path.push(name_hash(&base.id));
    }
    path.reverse();
    path
}

/// Which of those a call is of.
fn is_told(call: &ast::ExprCall) -> Option<&'static str> {
    let Expr::Name(name) = &*call.func else {
        return None;
    };
    let mut all = RUN_GENERATED.into_iter().chain(ASK);
    all.find(|called| name.id == *called)
}

/// Walks a module statement by statement; what the bodies of outermost
/// functions reach is kept apart, by the unit that they are.
#[derive(Default)]
pub(super) struct Reaching {
    pub imports: Vec<Import>,
    pub code: BTreeMap<String, Found>,
    /// Of what is walked now: a statement of the top level, or a unit.
    pub(super) found: Found,
    /// What each imported name may stand for: a module, and an item of it.
    aliases: BTreeMap<String, Vec<(String, Option<String>)>>,
    pub(super) scopes: Vec<Scope>,
    classes: Vec<Class>,
    pub(super) in_unit: bool,
    in_annotation: bool,
    /// Which annotations are kept in `notes`.
    pub(super) apart: Apart,
    pub(super) notes: Notes,
    /// In a `__getattr__`, the name that somebody else asked for.
    pub(super) passed_on: Option<String>,
    /// In a method what it is called on, if it stays that: no function.
    pub(super) holder: Option<String>,
}

/// What one piece of code does with names, before it is known which of them
/// its module binds.
#[derive(Clone, Default)]
pub(super) struct Found {
    loads: BTreeSet<String>,
    pub(super) values: BTreeSet<u32>,
    pub(super) parts: BTreeSet<Vec<u32>>,
    pub(super) lent: BTreeSet<u32>,
    members: BTreeSet<(u32, String)>,
    pub(super) holds_own: bool,
    /// Whether it asks `globals()` for names that it spells.
    pub(super) asks_globals: bool,
    pub(super) is_wide: bool,
    /// The same by ways that the native collector watches.
    pub(super) is_watched: bool,
    ways: Ways,
    /// The same by calls of which the native collector tells the names.
    asks_by_name: bool,
    pub(super) reads: bool,
    /// Whether it lists the attributes of what may be a function.
    pub(super) lists: bool,
    reads_docs: bool,
}

/// The names that a module binds.
pub(super) struct Bound {
    /// Among them some that statements bind in scopes of their own.
    pub all: BTreeSet<String>,
    pub outer: BTreeSet<String>,
}

/// How code gets at attributes by names that nobody spelled.
#[derive(Clone, Copy, Default)]
struct Ways {
    looks_up: bool,
    /// By all members of a class.
    lists_members: bool,
}

impl Ways {
    fn spell(&mut self, name: &str) {
        self.looks_up |= looks_up(name);
        self.lists_members |= lists_members(name);
    }
}

/// A class around what is being walked, outside functions.
struct Class {
    prefix: String,
    globals: Vec<ast::name::Name>,
}

impl Found {
    /// The names that it looks up outside its functions.
    pub(super) fn loads(&self) -> impl Iterator<Item = &str> {
        self.loads.iter().map(|name| &**name)
    }

    pub(super) fn has_load(&self, name: &str) -> bool {
        self.loads.contains(name) || (self.asks_globals && name == "globals")
    }

    pub(super) fn merge(&mut self, other: Found) {
        self.loads.extend(other.loads);
        self.values.extend(other.values);
        self.parts.extend(other.parts);
        self.lent.extend(other.lent);
        self.members.extend(other.members);
        self.holds_own |= other.holds_own;
        self.asks_globals |= other.asks_globals;
        self.is_wide |= other.is_wide;
        self.is_watched |= other.is_watched;
        self.ways.looks_up |= other.ways.looks_up;
        self.ways.lists_members |= other.ways.lists_members;
        self.asks_by_name |= other.asks_by_name;
        self.lists |= other.lists;
        self.reads |= other.reads;
        self.reads_docs |= other.reads_docs;
    }

    pub(super) fn uses(mut self, asks: Vec<u32>, names: &Bound) -> Uses {
        let bound = &names.all;
        let mut called = RUN_GENERATED.to_vec();
        called.retain(|called| self.loads.remove(&marked(called)));
        // The module may bind such a name, and the builtin to it.
        let is_wide = self.is_wide || self.loads.iter().any(|name| is_wide_name(name));
        let is_watched = self.is_watched || !called.is_empty();
        let mut asked = ASK.to_vec();
        asked.retain(|asked| self.loads.remove(&marked(asked)));
        // Or a function of the module's own.
        let asks_own = asked.iter().any(|asked| names.outer.contains(*asked));
        called.retain(|called| bound.contains(*called));
        self.loads.extend(called.into_iter().map(str::to_owned));
        self.loads.extend(asked.into_iter().map(str::to_owned));
        let holds_own = self.holds_own || self.loads.contains("globals");
        let (mut loads, others): (Vec<String>, Vec<String>) = self
            .loads
            .into_iter()
            .partition(|name| bound.contains(name));
        let own = "globals".to_owned();
        if self.asks_globals && bound.contains(&own) && !loads.contains(&own) {
            // A function of the module's own.
            loads.push(own);
            loads.sort_unstable();
        }
        let asks_for_help = others.iter().any(|name| name == "help");
        let lists = asks_for_help || (self.lists && others.iter().any(|name| name == "dir"));
        let all = is_wide || lists;
        let reads = self.reads || all || names_any(&READERS_IN_TEXT, &asks);
        let reads_docs = self.reads_docs || all || names_any(&DOCSTRINGS_IN_TEXT, &asks);
        Uses {
            reads,
            reads_docs,
            asks,
            loads,
            unbound: others
                .into_iter()
                .filter(|name| !is_builtin(name))
                .collect(),
            values: self.values.into_iter().collect(),
            parts: self.parts.into_iter().collect(),
            lent: self.lent.into_iter().collect(),
            members: self.members.into_iter().collect(),
            holds_own,
            is_wide,
            is_watched,
            looks_up: self.ways.looks_up || asks_for_help || self.asks_by_name && asks_own,
            lists_members: self.ways.lists_members,
            asks_by_name: self.asks_by_name,
        }
    }
}

impl Reaching {
    /// Makes the imports of a module known, before its code is walked.
    pub(super) fn of_module(body: &[Stmt]) -> Reaching {
        let imports = imports_of(body);
        let mut reaching = Reaching::default();
        for import in &imports {
            let of = match import.level {
                0 => import.module.clone(),
                // Never one of the standard library's.
                level => format!("{}{}", ".".repeat(level as usize), import.module),
            };
            reaching
                .aliases
                .entry(import.bound.clone())
                .or_default()
                .push((of, import.item.clone()));
        }
        reaching.imports = imports;
        reaching
    }

    /// What a statement of the top level reaches, function bodies left out; and
    /// what annotations that stand apart do.
    pub(super) fn statement(&mut self, statement: &Stmt) -> (Found, Notes) {
        self.visit_stmt(statement);
        (
            std::mem::take(&mut self.found),
            std::mem::take(&mut self.notes),
        )
    }

    pub(super) fn load(&mut self, name: &str) {
        // In a class, a private name stands for another one.
        let is_private = name.starts_with("__") && !name.ends_with("__");
        if is_private && let Some(class) = self.classes.last() {
            let class = class.prefix.trim_end_matches('.').rsplit('.').next();
            let class = class.unwrap_or_default().trim_start_matches('_');
            self.load_as_it_is(&format!("_{class}{name}"));
        }
        self.load_as_it_is(name);
    }

    fn load_as_it_is(&mut self, name: &str) {
        self.found.lists |= name == "dir";
        if !self.is_own_function(name) {
            self.found.ways.looks_up |= ASK.contains(&name);
            self.spell(name);
        }
        for (_, item) in self.aliases.get(name).into_iter().flatten() {
            if let Some(item) = item {
                self.found.ways.spell(item);
                self.found.reads |= reads_annotations(item);
                self.found.reads_docs |= reads_docstrings(item);
            }
        }
        let known = match self.scopes.last_mut() {
            Some(scope) => &mut scope.loads,
            None => &mut self.found.loads,
        };
        if !known.contains(name) {
            known.insert(name.to_owned());
        }
    }

    /// A name that is asked for somehow.
    fn spell(&mut self, name: &str) {
        self.found.ways.spell(name);
        self.found.reads |= reads_annotations(name);
        self.found.reads_docs |= reads_docstrings(name);
    }

    /// Whether an import may bind the name; a star import may bind any.
    pub(super) fn is_alias(&self, name: &str) -> bool {
        self.aliases.contains_key(name) || self.aliases.contains_key("*")
    }

    /// What an imported name leads to; `item` is asked of it.
    pub(super) fn reach_by_import(&mut self, name: &str, item: Option<&str>) {
        for (module, known) in self.aliases.get(name).into_iter().flatten() {
            let item = known.as_deref().or(item);
            self.found.is_wide |= is_wide_import(module, item);
            self.found.is_watched |= is_watched_import(module, item);
        }
    }

    /// A name that is not just the part before a dot.
    fn value(&mut self, name: &str) {
        if self.is_alias(name) {
            self.reach_by_import(name, None);
            self.pass_on(name, None);
        }
    }

    fn parameters(&mut self, parameters: &ast::Parameters) {
        for parameter in parameters {
            self.store(parameter.name());
        }
    }

    /// What of a function's header is evaluated where it is defined.
    fn header(&mut self, parameters: &ast::Parameters, returns: Option<&Expr>) {
        for parameter in parameters {
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
            if let Some(annotation) = parameter.annotation() {
                self.header_annotation(annotation);
            }
        }
        if let Some(returns) = returns {
            self.header_annotation(returns);
        }
    }

    pub(super) fn annotation(&mut self, annotation: &Expr) {
        let outer = std::mem::replace(&mut self.in_annotation, true);
        self.visit_expr(annotation);
        self.in_annotation = outer;
    }

    fn type_params(&mut self, params: Option<&ast::TypeParams>) {
        for param in params.into_iter().flat_map(|params| &params.type_params) {
            self.visit_type_param(param);
        }
    }

    fn function(&mut self, def: &ast::StmtFunctionDef) {
        for decorator in &def.decorator_list {
            self.visit_expr(&decorator.expression);
        }
        self.type_params(def.type_params.as_deref());
        self.header(&def.parameters, def.returns.as_deref());
        self.store_function(&def.name);
        if self.in_unit {
            self.body(def);
            return;
        }
        let name = self.qualified(&def.name);
        let unit = self.code.remove(&name).unwrap_or_default();
        let outer = std::mem::replace(&mut self.found, unit);
        // The scopes around are classes; functions do not see their names.
        let scopes = std::mem::take(&mut self.scopes);
        self.in_unit = true;
        self.passed_on = passed_on(def);
        self.holder = match self.classes.is_empty() {
            true => None,
            false => holder(def),
        };
        self.body(def);
        self.passed_on = None;
        self.holder = None;
        self.in_unit = false;
        self.scopes = scopes;
        let unit = std::mem::replace(&mut self.found, outer);
        self.code.insert(name, unit);
    }

    fn body(&mut self, def: &ast::StmtFunctionDef) {
        self.scopes.push(Scope::default());
        self.parameters(&def.parameters);
        for statement in &def.body {
            self.visit_stmt(statement);
        }
        self.leave();
    }

    fn class(&mut self, def: &ast::StmtClassDef) {
        for decorator in &def.decorator_list {
            self.visit_expr(&decorator.expression);
        }
        self.type_params(def.type_params.as_deref());
        for argument in def.arguments.iter().flat_map(|all| &all.args) {
            self.visit_expr(argument);
        }
        for keyword in def.arguments.iter().flat_map(|all| &all.keywords) {
            self.visit_expr(&keyword.value);
        }
        self.store(&def.name);
        let mut globals = Vec::new();
        if !self.in_unit {
            declared_global(&def.body, &mut globals);
        }
        self.classes.push(Class {
            prefix: format!("{}.", self.qualified(&def.name)),
            globals,
        });
        self.scopes.push(Scope {
            is_class: true,
            ..Scope::default()
        });
        for statement in &def.body {
            self.visit_stmt(statement);
        }
        self.leave();
        self.classes.pop();
    }

    fn qualified(&self, name: &ast::Identifier) -> String {
        match self.classes.last() {
            Some(class) if !class.globals.contains(&name.id) => {
                format!("{}{name}", class.prefix)
            }
            _ => name.to_string(),
        }
    }

    /// The first iterable is evaluated outside.
    fn comprehension(&mut self, elements: &[&Expr], generators: &[Comprehension]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.scopes.push(Scope {
            is_comprehension: true,
            ..Scope::default()
        });
        for expr in evaluated_inside(elements, generators) {
            self.visit_expr(expr);
        }
        self.leave();
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(name) => {
                if name.id == asked::DOCTEST_NAMESPACE {
                    self.meet_lent();
                }
                match name.ctx {
                    ExprContext::Load => {
                        self.load(&name.id);
                        self.value(&name.id);
                    }
                    _ => self.store(&name.id),
                }
            }
            Expr::Attribute(attribute) => self.attribute(attribute, true),
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.header(parameters, None);
                }
                self.scopes.push(Scope::default());
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.leave();
            }
            Expr::ListComp(comp) => self.comprehension(&[&comp.elt], &comp.generators),
            Expr::SetComp(comp) => self.comprehension(&[&comp.elt], &comp.generators),
            Expr::Generator(comp) => self.comprehension(&[&comp.elt], &comp.generators),
            Expr::DictComp(comp) => {
                let key = comp.key.as_deref();
                let elements: Vec<&Expr> = key.into_iter().chain([&*comp.value]).collect();
                self.comprehension(&elements, &comp.generators);
            }
            Expr::Named(named) => {
                if let Expr::Name(name) = &*named.target {
                    self.store_around(&name.id);
                }
                self.visit_expr(&named.value);
            }
            Expr::Call(call) => {
                // Without arguments these are about where they stand.
                if let Expr::Name(name) = &*call.func
                    && matches!(&*name.id, "vars" | "dir" | "locals")
                    && call.arguments.args.is_empty()
                    && !self.in_unit
                {
                    self.found.holds_own = true;
                }
                let outer = self.in_annotation;
                self.in_annotation |= evaluates_text(call);
                let (ways, asked) = (self.found.ways, self.found.asks_by_name);
                match names_of_parameters(call) {
                    Some(signature) => self.names_of_parameters(signature),
                    None if self.lists_holder(call) => {
                        let lists = self.found.lists;
                        self.load("dir");
                        self.found.lists = lists;
                    }
                    None => match is_told(call) {
                        Some(called) => {
                            self.load_as_it_is(&marked(called));
                            self.found.asks_by_name |= ASK.contains(&called);
                        }
                        None => self.callee(&call.func),
                    },
                }
                if self.is_spelled(call) {
                    self.found.ways = ways;
                    self.found.asks_by_name = asked;
                }
                self.call_arguments(call);
                self.in_annotation = outer;
            }
            Expr::Subscript(subscript) if self.look_up_own(subscript) => {}
            Expr::Subscript(subscript) => {
                let ways = self.found.ways;
                self.visit_expr(&subscript.value);
                if subscript.slice.is_string_literal_expr() && is_dict(&subscript.value) {
                    self.found.ways = ways;
                }
                self.visit_expr(&subscript.slice);
            }
            Expr::StringLiteral(string) if self.in_annotation => {
                let text = string.value.to_str();
                for name in text.split(|char: char| char != '_' && !char.is_alphanumeric()) {
                    if !name.is_empty() && !name.starts_with(|char: char| char.is_numeric()) {
                        self.load(name);
                    }
                }
            }
            _ => walk_expr(self, expr),
        }
    }

    /// Whether a condition is true for type checkers alone.
    fn is_type_checking(&self, test: &Expr) -> bool {
        is_type_checking(test, |name| self.aliases.get(name).map(Vec::as_slice))
    }
}
