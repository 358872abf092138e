//! Splits the top level of a module into bindings and effects.
//!
//! A statement is a pure binding only if it can neither do anything besides
//! binding names, nor raise. What is not recognised is an effect, so an edit
//! that lets a statement raise changes the effects. A binding's value counts
//! the effects before it: moving it across one changes it.

mod purity;
mod stdlib;
mod stores;
#[cfg(test)]
mod tests;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use self::purity::{Kind, Scope, Shape};
use self::stores::Stores;
use self::uses::{Found, Reaching};
use super::digest::Sink;
use super::source::Source;
use super::walk::Walker;
use super::{fingerprint, sort_unique};
use crate::fingerprint::name_hash;
use crate::fingerprint::names::{Lines, NAMES_VERSION, Names, Part};

/// What has come together of one unit.
#[derive(Default)]
struct Parts {
    sink: Sink,
    found: Found,
    effects_before: u32,
    is_import: bool,
}

/// The bindings and effects of a module's statements.
pub(super) fn split(source: &Source<'_>, body: &[Stmt]) -> Names {
    let mut stores = Stores::default();
    let shapes = shapes(body, &mut stores);
    let repeated = repeated(&shapes);
    let mut reaching = Reaching::of_module(body);
    let mut effects = Parts::default();
    let mut bindings: BTreeMap<String, Parts> = BTreeMap::new();
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    let mut before = 0u32;
    for (statement, shape) in body.iter().zip(&shapes) {
        let found = reaching.statement(statement);
        let names: Vec<&str> = match shape {
            Shape::Nothing => continue,
            Shape::Pure(bound) => bound.iter().map(|(name, _)| &**name).collect(),
            Shape::Import(bound) => bound.iter().map(|name| &**name).collect(),
            Shape::Effect => Vec::new(),
        };
        let mut walker = Walker::new(source);
        walker.body(std::slice::from_ref(statement));
        let mut sink = walker.sink;
        if binds_all_names(statement) {
            // The names that it lists matter to star imports alone.
            sink.mentions = found.loads().map(name_hash).collect();
        }
        lines.push(Lines {
            first: source.line_at(start(statement)),
            last: source.line_at(statement.end().into()),
            binding: match (shape, &names[..]) {
                (Shape::Pure(_), [only]) => Some((*only).to_owned()),
                _ => None,
            },
        });
        let is_import = statement.is_import_stmt() || statement.is_import_from_stmt();
        if !matches!(shape, Shape::Pure(_)) {
            before += 1;
            effects.sink.bytes.extend(&sink.bytes);
            if !matches!(shape, Shape::Import(_)) {
                effects.sink.mentions.extend(&sink.mentions);
            }
        }
        if matches!(shape, Shape::Effect) {
            effects.found.merge(found);
            continue;
        }
        let used: Vec<(&str, usize)> = repeated
            .iter()
            .filter(|name| found.has_load(name))
            .map(|name| (*name, defined.get(name).copied().unwrap_or_default()))
            .collect();
        let mut found = Some(found);
        for name in names {
            *defined.entry(name).or_default() += 1;
            if stores.names.contains(name) {
                continue;
            }
            let part = bindings.entry(name.to_owned()).or_default();
            part.sink.count(before as usize);
            for (name, times) in &used {
                part.sink.text(name);
                part.sink.count(*times);
            }
            part.sink.bytes.extend(&sink.bytes);
            part.sink.mentions.extend(&sink.mentions);
            part.effects_before = before;
            part.is_import |= is_import;
            part.found.merge(found.take().unwrap_or_default());
        }
    }

    let mut effect_names = stores.names;
    if stores.star {
        effect_names.insert("*".to_owned());
    }
    // What hides a builtin can be met by all code of the module.
    for name in bindings.keys().chain(&effect_names) {
        if stdlib::is_builtin(name) {
            effects.sink.text(name);
        }
    }
    let known: BTreeSet<String> = bindings.keys().chain(&effect_names).cloned().collect();
    let binds = |name: &str| known.contains(name);
    Names {
        has_star: stores.star,
        bindings: bindings
            .into_iter()
            .map(|(name, parts)| (name, part("binding", parts, &binds)))
            .collect(),
        effects: part("effects", effects, &binds),
        code: reaching
            .code
            .into_iter()
            .map(|(name, found)| (name, found.uses(&binds)))
            .collect(),
        imports: reaching.imports,
        lines,
        effect_names,
    }
}

fn part(kind: &str, parts: Parts, binds: &impl Fn(&str) -> bool) -> Part {
    let mut sink = parts.sink;
    sort_unique(&mut sink.mentions);
    Part {
        value: fingerprint(&format!("{kind} {NAMES_VERSION}"), &sink),
        mentions: sink.mentions,
        uses: parts.found.uses(binds),
        effects_before: parts.effects_before,
        is_import: parts.is_import,
    }
}

/// What each statement comes to. A name that an effect can bind too has no
/// pure statement; demoting one can demote those that use it, so this is
/// repeated until nothing changes.
fn shapes(body: &[Stmt], stores: &mut Stores) -> Vec<Shape> {
    let mut all = Stores::default();
    for statement in body {
        all.visit_stmt(statement);
    }
    let mut scope = Scope {
        bound: BTreeMap::new(),
        anywhere: &all.names,
        lazy_annotations: body.iter().any(has_lazy_annotations),
    };
    loop {
        scope.bound.clear();
        let known = (stores.names.len(), stores.deleted.len(), stores.star);
        let mut shapes = Vec::with_capacity(body.len());
        for (at, statement) in body.iter().enumerate() {
            let mut shape = scope.shape(statement, at == 0);
            let is_demoted = match &shape {
                Shape::Pure(bound) => {
                    stores.star || bound.iter().any(|(name, _)| stores.names.contains(name))
                }
                Shape::Import(_) => stores.star,
                Shape::Nothing | Shape::Effect => false,
            };
            if is_demoted {
                shape = Shape::Effect;
            }
            match &shape {
                Shape::Nothing => {}
                Shape::Pure(bound) => scope.bound.extend(bound.iter().cloned()),
                Shape::Import(bound) => bind(&mut scope, bound.iter().map(|name| &**name), stores),
                Shape::Effect => {
                    stores.visit_stmt(statement);
                    bind(&mut scope, surely_bound(statement).into_iter(), stores);
                }
            }
            stores.add_globals(statement);
            shapes.push(shape);
        }
        if known == (stores.names.len(), stores.deleted.len(), stores.star) {
            return shapes;
        }
    }
}

fn bind<'n>(scope: &mut Scope<'_>, names: impl Iterator<Item = &'n str>, stores: &Stores) {
    for name in names {
        match stores.deleted.contains(name) {
            true => scope.bound.remove(name),
            false => scope.bound.insert(name.to_owned(), Kind::Value),
        };
    }
}

/// The names that an effect binds whenever it comes to its end.
fn surely_bound(statement: &Stmt) -> Vec<&str> {
    match statement {
        Stmt::FunctionDef(def) => vec![&def.name],
        Stmt::ClassDef(def) => vec![&def.name],
        Stmt::Assign(assign) => assign
            .targets
            .iter()
            .filter_map(|target| match target {
                Expr::Name(name) => Some(&*name.id),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn has_lazy_annotations(statement: &Stmt) -> bool {
    match statement {
        Stmt::ImportFrom(import) => {
            import.module.as_deref() == Some("__future__")
                && import
                    .names
                    .iter()
                    .any(|alias| &*alias.name == "annotations")
        }
        _ => false,
    }
}

/// Names that more than one statement binds.
fn repeated(shapes: &[Shape]) -> BTreeSet<&str> {
    let mut once = BTreeSet::new();
    let mut more = BTreeSet::new();
    for shape in shapes {
        let names: Vec<&str> = match shape {
            Shape::Pure(bound) => bound.iter().map(|(name, _)| &**name).collect(),
            Shape::Import(bound) => bound.iter().map(|name| &**name).collect(),
            Shape::Nothing | Shape::Effect => Vec::new(),
        };
        more.extend(names.into_iter().filter(|name| !once.insert(*name)));
    }
    more
}

/// Whether the statement says what a star import brings, and no more.
fn binds_all_names(statement: &Stmt) -> bool {
    let is_all = |expr: &Expr| matches!(expr, Expr::Name(name) if name.id == "__all__");
    match statement {
        Stmt::Assign(assign) => assign.targets.iter().all(is_all),
        Stmt::AnnAssign(assign) => is_all(&assign.target),
        Stmt::AugAssign(assign) => is_all(&assign.target),
        Stmt::Expr(expr) => match &*expr.value {
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Attribute(attribute) if is_all(&attribute.value))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Where a statement starts, decorators included.
fn start(statement: &Stmt) -> u32 {
    let decorators: &[ast::Decorator] = match statement {
        Stmt::FunctionDef(def) => &def.decorator_list,
        Stmt::ClassDef(def) => &def.decorator_list,
        _ => &[],
    };
    let first = decorators.first().map(Ranged::start);
    first
        .map_or(statement.start(), |first| first.min(statement.start()))
        .into()
}
