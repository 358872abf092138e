//! Splits the top level of a module into bindings and effects.
//!
//! A statement is a pure binding only if it can neither do anything besides
//! binding names, nor raise. What is not recognised is an effect, so an edit
//! that lets a statement raise changes the effects. A binding's value counts
//! the effects before it: moving it across one changes it.

pub(super) mod changes;
mod import_list;
mod looks;
mod lookups;
mod marks;
mod members;
mod methods;
pub(crate) mod model;
mod notes;
mod purity;
mod stdlib;
mod stores;
#[cfg(test)]
mod tests;
mod uses;
pub(super) mod widely;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use self::looks::{bases, has_subclass_hook, is_bare};
use self::methods::{take_apart, with_body};
use self::purity::{Base, Kind, Scope, Shape};
use self::stores::Stores;
use self::uses::{Found, Reaching};
use super::digest::Sink;
use super::idle::{Annotations, Apart, Level, says_doc};
use super::source::Source;
use super::walk::Walker;
use super::{fingerprint, sort_unique};
use crate::languages::python::names::model::{
    CLASS_DOCSTRING, FUNCTION_ANNOTATIONS, FUNCTION_DOCSTRING, Import, Known, Lines,
    MEMBER_ANNOTATIONS, NAMES_VERSION, Names, Part, annotated, simple_name,
};

/// Whether every supported Python has a module of this name in its library.
pub(super) fn is_standard(module: &str) -> bool {
    stdlib::has_module(module)
}

/// The names that statements can bind, those of inner scopes included.
pub(super) fn names_stored(body: &[Stmt]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in body {
        names.append(&mut Stores::of(statement).names);
    }
    names
}

/// What has come together of one unit.
#[derive(Default)]
struct Parts {
    sink: Sink,
    found: Found,
    effects_before: u32,
    is_import: bool,
    /// How many statements bind it.
    times: u32,
    /// Whether effects come between them.
    moves: bool,
    /// Whether it may bind something else than a function, a class or a
    /// simple value.
    is_other: bool,
}

impl Parts {
    fn add(&mut self, sink: &Sink) {
        self.sink.bytes.extend(&sink.bytes);
        self.sink.asks.extend(&sink.asks);
    }
}

/// The bindings and effects of a module's statements, with what other sources
/// tell of the names that it imports.
pub(super) fn split(source: &Source<'_>, body: &[Stmt], known: &Known) -> Names {
    let mut see: Digested<'_> = Box::new(|_, _| {});
    split_seen(source, body, known, &mut see)
}

/// Meets each statement that is an effect, and what is digested of it.
type Digested<'s> = Box<dyn FnMut(&Stmt, &[u8]) + 's>;

/// The same; `see` meets the effects, in order.
fn split_seen(source: &Source<'_>, body: &[Stmt], known: &Known, see: &mut Digested<'_>) -> Names {
    let mut stores = Stores::default();
    let mut reaching = Reaching::of_module(body);
    let is_lazy = body.iter().any(has_lazy_annotations);
    let stored: Vec<Stores> = body.iter().map(Stores::of).collect();
    let once = bound_once(body, &stored);
    let imported: BTreeMap<String, Import> = reaching
        .imports
        .iter()
        .filter(|import| import.item.is_some() && once.contains(&import.bound))
        .map(|import| (import.bound.clone(), import.clone()))
        .collect();
    let mut classes = BTreeMap::new();
    let module = Statements {
        body,
        stored: &stored,
        once: &once,
    };
    let shapes = shapes(&module, &known.classes, &mut stores, |scope, def| {
        let needed = match once.contains(def.name.as_str()) {
            true => needed_of_bases(scope, def, &classes, &imported),
            false => None,
        };
        match needed {
            Some(needed) => classes.insert(def.name.to_string(), needed),
            None => classes.remove(def.name.as_str()),
        };
    });
    let repeated = repeated(&shapes);
    let mut asked = BTreeSet::new();
    let mut effects = Parts::default();
    let mut notes_of_effects = Parts::default();
    let mut docs_of_effects = Parts::default();
    let mut bindings: BTreeMap<String, Parts> = BTreeMap::new();
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    let mut methods_at = Vec::new();
    let mut before = 0u32;
    for (statement, shape) in body.iter().zip(&shapes) {
        let level = match shape {
            // No protocol, or anything else that asks for what is annotated.
            Shape::Pure(_) => Level::Members,
            _ => Level::Functions,
        };
        reaching.apart = Apart {
            annotations: match is_lazy {
                true => level,
                false => Level::Nothing,
            },
            docstrings: match statement {
                Stmt::ClassDef(def) if says_doc(&def.body) => Level::Functions,
                _ => level,
            },
        };
        let apart = reaching.apart;
        let (found, notes) = reaching.statement(statement);
        if statement.is_class_def_stmt() {
            let loads = found.loads().filter(|name| imported.contains_key(*name));
            asked.extend(loads.map(str::to_owned));
        }
        let names: Vec<&str> = match shape {
            Shape::Nothing => continue,
            Shape::Pure(bound) => bound.iter().map(|(name, _)| &**name).collect(),
            Shape::Import(bound) => bound.iter().map(|name| &**name).collect(),
            Shape::Class(name) => vec![name],
            Shape::Effect => Vec::new(),
        };
        let (mut sink, mut annotations) = walked(source, statement, apart);
        if binds_all_names(statement) {
            // The names that it lists matter to star imports alone.
            sink.asks.clear();
        }
        lines.push(Lines {
            first: source.line_at(start(statement)),
            last: source.line_at(statement.end().into()),
            binding: match (shape, &names[..]) {
                (Shape::Pure(_) | Shape::Class(_), [only]) => Some((*only).to_owned()),
                _ => None,
            },
        });
        let is_import = statement.is_import_stmt() || statement.is_import_from_stmt();
        let done = match shape {
            Shape::Class(_) => {
                let header = header(statement);
                effects.found.merge(reaching.statement(&header).0);
                Some(walked(source, &header, apart).0)
            }
            Shape::Import(_) => Some(Sink {
                bytes: sink.bytes.clone(),
                ..Sink::default()
            }),
            Shape::Effect => Some(std::mem::take(&mut sink)),
            Shape::Nothing | Shape::Pure(_) => None,
        };
        if let Some(done) = done {
            before += 1;
            see(statement, &done.bytes);
            effects.sink.bytes.extend(done.bytes);
            effects.sink.asks.extend(done.asks);
        }
        if matches!(shape, Shape::Effect) {
            effects.found.merge(found);
            notes_of_effects.add(&annotations.functions);
            notes_of_effects.found.merge(notes.functions);
            docs_of_effects.add(&annotations.docstrings);
            continue;
        }
        let used: Vec<(&str, usize)> = repeated
            .iter()
            .filter(|name| found.has_load(name))
            .map(|name| (*name, defined.get(name).copied().unwrap_or_default()))
            .collect();
        let is_plain = match shape {
            Shape::Pure(bound) => bound.iter().all(|(_, kind)| {
                matches!(
                    kind,
                    Kind::Literal | Kind::Simple | Kind::Function | Kind::Class
                )
            }),
            _ => false,
        };
        let mut bind = |name: &str, sink: &Sink, found: Found| {
            let part = bindings.entry(name.to_owned()).or_default();
            part.sink.count(before as usize);
            for (name, times) in &used {
                part.sink.text(name);
                part.sink.count(*times);
            }
            part.sink.bytes.extend(&sink.bytes);
            if !is_import {
                part.sink.asks.extend(&sink.asks);
            }
            part.moves |= part.times > 0 && part.effects_before != before;
            part.effects_before = before;
            part.is_import |= is_import;
            part.times += 1;
            part.is_other |= !is_plain;
            part.found.merge(found);
        };
        let mut found = Some((found, notes));
        for name in names {
            *defined.entry(name).or_default() += 1;
            if stores.names.contains(name) {
                continue;
            }
            let Stmt::ClassDef(def) = statement else {
                let alone = alone(source, statement, name);
                let sink = alone.as_ref().unwrap_or(&sink);
                let (found, notes) = found.take().unwrap_or_default();
                bind(name, sink, found);
                if is_lazy && statement.is_function_def_stmt() {
                    let functions = std::mem::take(&mut annotations.functions);
                    let name = format!("{name}.{FUNCTION_ANNOTATIONS}");
                    bind(&name, &functions, notes.functions);
                }
                if statement.is_function_def_stmt() {
                    let docstrings = std::mem::take(&mut annotations.docstrings);
                    let name = format!("{name}.{FUNCTION_DOCSTRING}");
                    bind(&name, &docstrings, Found::default());
                }
                continue;
            };
            let (class, methods) = take_apart(def);
            let (sink, annotations) = walked(source, &class, apart);
            let (found, notes) = reaching.statement(&class);
            bind(name, &sink, found);
            let of = |kind| format!("{name}.{kind}");
            bind(
                &of(CLASS_DOCSTRING),
                &annotations.docstrings,
                Found::default(),
            );
            if is_lazy {
                bind(
                    &of(FUNCTION_ANNOTATIONS),
                    &annotations.functions,
                    notes.functions,
                );
                bind(&of(MEMBER_ANNOTATIONS), &annotations.members, notes.members);
            }
            for method in methods {
                let name = format!("{name}.{}", method.name);
                let (sink, annotations) = walked(source, &method.alone, apart);
                let (found, notes) = reaching.statement(&method.alone);
                bind(&name, &sink, found);
                let docstring = format!("{name}.{FUNCTION_DOCSTRING}");
                bind(&docstring, &annotations.docstrings, Found::default());
                if is_lazy {
                    let name = format!("{name}.{FUNCTION_ANNOTATIONS}");
                    bind(&name, &annotations.functions, notes.functions);
                }
                methods_at.push(Lines {
                    first: source.line_at(method.range.0),
                    last: source.line_at(method.range.1),
                    binding: Some(name),
                });
            }
        }
    }
    if is_lazy {
        bindings.insert(FUNCTION_ANNOTATIONS.to_owned(), notes_of_effects);
    }
    bindings.insert(FUNCTION_DOCSTRING.to_owned(), docs_of_effects);

    let mut effect_names = stores.names;
    if stores.star {
        effect_names.insert("*".to_owned());
    }
    // An interpreter that lacks some syntax cannot import the module, be it in
    // functions that never run.
    for syntax in source.newer.borrow().iter() {
        effects.sink.text(syntax);
    }
    // What hides a builtin can be met by all code of the module.
    for name in bindings.keys().chain(&effect_names) {
        if stdlib::is_builtin(name) {
            effects.sink.text(name);
        }
    }
    let bound: BTreeSet<String> = bindings
        .keys()
        .filter(|name| simple_name(name) == *name && annotated(name).is_none())
        .chain(&effect_names)
        .cloned()
        .collect();
    Names {
        has_star: stores.star,
        bindings: bindings
            .into_iter()
            .map(|(name, parts)| (name, part("binding", parts, &bound)))
            .collect(),
        effects: part("effects", effects, &bound),
        code: reaching
            .code
            .into_iter()
            .map(|(name, found)| (name, found.uses(Vec::new(), &bound)))
            .collect(),
        imports: reaching.imports,
        lines,
        methods: methods_at,
        effect_names,
        classes,
        asked,
    }
}

/// A class statement without its body; as it is for others.
fn header(statement: &Stmt) -> Stmt {
    match statement {
        Stmt::ClassDef(def) => Stmt::ClassDef(with_body(def, Vec::new())),
        other => other.clone(),
    }
}

/// Of an import statement the part that binds `name`.
fn alone(source: &Source<'_>, statement: &Stmt, name: &str) -> Option<Sink> {
    let binds = |alias: &&ast::Alias| {
        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
        let dotted = alias.asname.is_none() && statement.is_import_stmt();
        match dotted {
            true => bound.split('.').next() == Some(name),
            false => &**bound == name,
        }
    };
    let part = match statement {
        Stmt::Import(import) => Stmt::Import(ast::StmtImport {
            names: import.names.iter().filter(binds).cloned().collect(),
            ..import.clone()
        }),
        Stmt::ImportFrom(import) => Stmt::ImportFrom(ast::StmtImportFrom {
            names: import.names.iter().filter(binds).cloned().collect(),
            ..import.clone()
        }),
        _ => return None,
    };
    Some(walked(source, &part, Apart::NOTHING).0)
}

/// The normal form of one statement, and of what of it stands apart.
fn walked(source: &Source<'_>, statement: &Stmt, apart: Apart) -> (Sink, Annotations) {
    let mut walker = Walker::new_apart(source, apart);
    walker.body(std::slice::from_ref(statement));
    (walker.sink, walker.annotations)
}

fn part(kind: &str, parts: Parts, bound: &BTreeSet<String>) -> Part {
    let mut sink = parts.sink;
    sort_unique(&mut sink.asks);
    Part {
        value: fingerprint(&format!("{kind} {NAMES_VERSION}"), &sink),
        uses: parts.found.uses(sink.asks, bound),
        effects_before: parts.effects_before,
        is_import: parts.is_import,
        is_single: parts.times == 1,
        is_in_place: !parts.moves,
        is_plain: !parts.is_other,
    }
}

/// The names that exactly one statement of the top level can bind, which bind
/// `stored`, and more by functions that declare names `global`.
fn bound_once(body: &[Stmt], stored: &[Stores]) -> BTreeSet<String> {
    let mut once = BTreeSet::new();
    let mut more = BTreeSet::new();
    for (statement, stored) in body.iter().zip(stored) {
        if stored.star {
            return BTreeSet::new();
        }
        let mut globals = Stores::default();
        globals.add_globals(statement);
        for name in stored.names.union(&globals.names) {
            if !once.insert(name.clone()) {
                more.insert(name.clone());
            }
        }
    }
    &once - &more
}

/// The imports that must be classes without hooks so that deriving from the
/// class does nothing of its own; `None` if that cannot be.
fn needed_of_bases(
    scope: &Scope<'_>,
    def: &ast::StmtClassDef,
    classes: &BTreeMap<String, Vec<Import>>,
    imported: &BTreeMap<String, Import>,
) -> Option<Vec<Import>> {
    if !is_bare(def) || has_subclass_hook(&def.body) {
        return None;
    }
    let mut needed = Vec::new();
    for base in bases(def) {
        let name = match base {
            Expr::Subscript(subscript) => &subscript.value,
            other => other,
        };
        let local = match name {
            Expr::Name(name) => Some(&*name.id),
            _ => None,
        };
        match local.and_then(|name| classes.get(name)) {
            Some(known) => needed.extend(known.iter().cloned()),
            None => match local.and_then(|name| imported.get(name)) {
                Some(import) => needed.push(import.clone()),
                None if scope.base(base) == Base::Unknown => return None,
                None => {}
            },
        }
    }
    Some(needed)
}

/// The top level of a module.
struct Statements<'b> {
    body: &'b [Stmt],
    /// What each statement can bind.
    stored: &'b [Stores],
    /// The names that exactly one of them can bind.
    once: &'b BTreeSet<String>,
}

/// What each statement comes to. A name that an effect can bind too has no
/// pure statement; demoting one can demote those that use it, so this is
/// repeated until nothing changes. `see` meets each class, in order, once the
/// names before it are known.
fn shapes(
    module: &Statements<'_>,
    plain: &BTreeSet<String>,
    stores: &mut Stores,
    mut see: impl FnMut(&Scope<'_>, &ast::StmtClassDef),
) -> Vec<Shape> {
    let Statements { body, stored, once } = *module;
    let mut all = Stores::default();
    for one in stored {
        all.merge(one);
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
            if let Stmt::ClassDef(def) = statement {
                see(&scope, def);
            }
            let mut shape = scope.shape(statement, at == 0);
            let is_demoted = match &shape {
                Shape::Pure(bound) => {
                    stores.star || bound.iter().any(|(name, _)| stores.names.contains(name))
                }
                Shape::Class(name) => stores.star || stores.names.contains(name),
                Shape::Import(_) => stores.star,
                Shape::Nothing | Shape::Effect => false,
            };
            if is_demoted {
                shape = Shape::Effect;
            }
            match &shape {
                Shape::Nothing => {}
                Shape::Pure(bound) => scope.bound.extend(bound.iter().cloned()),
                Shape::Class(name) => {
                    let kind = match statement {
                        Stmt::ClassDef(def) => scope.kind_of_class(def),
                        _ => Kind::Value,
                    };
                    scope.bound.insert(name.clone(), kind);
                }
                Shape::Import(bound) => {
                    if imports_pytest(statement) {
                        let module = Kind::StdModule("pytest".to_owned());
                        scope.bound.insert("pytest".to_owned(), module);
                        shapes.push(shape);
                        continue;
                    }
                    bind(&mut scope, bound.iter().map(|name| &**name), stores);
                    for name in bound {
                        if plain.contains(name) && once.contains(name) {
                            scope.bound.insert(name.clone(), Kind::Class);
                        }
                    }
                }
                Shape::Effect => {
                    stores.merge(&stored[at]);
                    let kind = match statement {
                        Stmt::ClassDef(def) if once.contains(def.name.as_str()) => {
                            Some(scope.kind_of_class(def))
                        }
                        _ => None,
                    };
                    bind(&mut scope, surely_bound(statement).into_iter(), stores);
                    if let (Some(kind), Stmt::ClassDef(def)) = (kind, statement) {
                        scope.bound.insert(def.name.to_string(), kind);
                    }
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

fn imports_pytest(statement: &Stmt) -> bool {
    match statement {
        Stmt::Import(import) => {
            matches!(&import.names[..], [only] if only.asname.is_none() && &*only.name == "pytest")
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
            Shape::Class(name) => vec![name],
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
