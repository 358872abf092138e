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
mod shapes;
mod stdlib;
mod stores;
#[cfg(test)]
mod tests;
mod uses;
pub(super) mod widely;

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use self::methods::{take_apart, with_body};
use self::notes::Notes;
use self::purity::{Kind, Shape};
use self::shapes::{Statements, bound_once, has_lazy_annotations, repeated, shapes_and_classes};
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

/// Whether every supported Python has a builtin whose name has this hash.
pub(super) fn is_builtin(name: u32) -> bool {
    stdlib::is_hash_of_builtin(name)
}

/// The names that statements can bind, those of inner scopes included.
pub(super) fn names_stored(body: &[Stmt]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in body {
        names.append(&mut Stores::of(statement).names);
    }
    names
}

/// The names that a module binds or deletes, in whatever scope, but for parameters.
pub(super) struct BoundNames {
    pub all: BTreeSet<String>,
    /// Those that one statement of the outermost level binds, and no other one.
    pub once: BTreeSet<String>,
}

impl BoundNames {
    /// `None` after a star import, as nothing is known then.
    pub(super) fn of(body: &[Stmt]) -> Option<BoundNames> {
        let stored: Vec<Stores> = body.iter().map(Stores::of).collect();
        let once = bound_once(body, &stored);
        let mut all = Stores::default();
        for (statement, stored) in body.iter().zip(&stored) {
            all.merge(stored);
            all.add_globals(statement);
        }
        let all = (!all.star).then_some(all.names)?;
        Some(BoundNames { all, once })
    }
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
    let reaching = Reaching::of_module(body);
    let stored: Vec<Stores> = body.iter().map(Stores::of).collect();
    let once = bound_once(body, &stored);
    let imported: BTreeMap<String, Import> = reaching
        .imports
        .iter()
        .filter(|import| import.item.is_some() && once.contains(&import.bound))
        .map(|import| (import.bound.clone(), import.clone()))
        .collect();
    let module = Statements {
        body,
        stored: &stored,
        once: &once,
    };
    let (shapes, classes) = shapes_and_classes(&module, known, &imported, &mut stores);
    let mut split = Split {
        source,
        see,
        reaching,
        imported: &imported,
        is_lazy: body.iter().any(has_lazy_annotations),
        stores,
        repeated: repeated(&shapes),
        asked: BTreeSet::new(),
        effects: Parts::default(),
        notes_of_effects: Parts::default(),
        docs_of_effects: Parts::default(),
        bindings: BTreeMap::new(),
        defined: BTreeMap::new(),
        lines: Vec::new(),
        methods: Vec::new(),
        before: 0,
    };
    for (statement, shape) in body.iter().zip(&shapes) {
        split.statement(statement, shape);
    }
    split.names(classes)
}

/// A module that is split statement by statement.
struct Split<'b, 's, 'd> {
    source: &'b Source<'s>,
    see: &'b mut Digested<'d>,
    reaching: Reaching,
    /// Names that one import statement binds, and nothing else.
    imported: &'b BTreeMap<String, Import>,
    /// Whether annotations are text.
    is_lazy: bool,
    /// What effects can bind.
    stores: Stores,
    /// Names that more than one statement binds.
    repeated: BTreeSet<&'b str>,
    asked: BTreeSet<String>,
    effects: Parts,
    notes_of_effects: Parts,
    docs_of_effects: Parts,
    bindings: BTreeMap<String, Parts>,
    /// How many statements so far bind a name.
    defined: BTreeMap<&'b str, usize>,
    lines: Vec<Lines>,
    methods: Vec<Lines>,
    /// How many effects came so far.
    before: u32,
}

/// What all that one statement binds has in common.
struct Bound<'b> {
    is_import: bool,
    is_plain: bool,
    /// The repeated names that it uses, and how often each was bound before it.
    used: Vec<(&'b str, usize)>,
}

impl<'b> Split<'b, '_, '_> {
    fn statement(&mut self, statement: &'b Stmt, shape: &'b Shape) {
        let apart = self.apart(statement, shape);
        self.reaching.apart = apart;
        let (found, notes) = self.reaching.statement(statement);
        if statement.is_class_def_stmt() {
            let loads = found.loads();
            let loads = loads.filter(|name| self.imported.contains_key(*name));
            self.asked.extend(loads.map(str::to_owned));
        }
        let names: Vec<&str> = match shape {
            Shape::Nothing => return,
            Shape::Pure(bound) => bound.iter().map(|(name, _)| &**name).collect(),
            Shape::Import(bound) => bound.iter().map(|name| &**name).collect(),
            Shape::Class(name) => vec![name],
            Shape::Effect => Vec::new(),
        };
        let (mut sink, mut annotations) = walked(self.source, statement, apart);
        if binds_all_names(statement) {
            // The names that it lists matter to star imports alone.
            sink.asks.clear();
        }
        self.lines.push(Lines {
            first: self.source.line_at(start(statement)),
            last: self.source.line_at(statement.end().into()),
            binding: match (shape, &names[..]) {
                (Shape::Pure(_) | Shape::Class(_), [only]) => Some((*only).to_owned()),
                _ => None,
            },
        });
        self.effect(statement, shape, &sink);
        if matches!(shape, Shape::Effect) {
            self.effects.found.merge(found);
            self.notes_of_effects.add(&annotations.functions);
            self.notes_of_effects.found.merge(notes.functions);
            self.docs_of_effects.add(&annotations.docstrings);
            return;
        }
        let bound = self.bound(statement, shape, &found);
        let mut found = Some((found, notes));
        for name in names {
            *self.defined.entry(name).or_default() += 1;
            if self.stores.names.contains(name) {
                continue;
            }
            if let Stmt::ClassDef(def) = statement {
                self.class(name, def, &bound);
                continue;
            }
            let alone = alone(self.source, statement, name);
            let (found, notes) = found.take().unwrap_or_default();
            self.bind(name, alone.as_ref().unwrap_or(&sink), found, &bound);
            if statement.is_function_def_stmt() {
                let annotations = std::mem::take(&mut annotations);
                self.notes(name, &annotations, notes, &bound);
            }
        }
    }

    /// What of a statement is a unit of its own.
    fn apart(&self, statement: &Stmt, shape: &Shape) -> Apart {
        let level = match shape {
            // No protocol, or anything else that asks for what is annotated.
            Shape::Pure(_) => Level::Members,
            _ => Level::Functions,
        };
        Apart {
            annotations: match self.is_lazy {
                true => level,
                false => Level::Nothing,
            },
            docstrings: match statement {
                Stmt::ClassDef(def) if says_doc(&def.body) => Level::Functions,
                _ => level,
            },
        }
    }

    /// What a statement does besides binding, if anything; `sink` is all of it.
    fn effect(&mut self, statement: &Stmt, shape: &Shape, sink: &Sink) {
        let apart = self.reaching.apart;
        let done = match shape {
            Shape::Class(_) => {
                let header = header(statement);
                let (found, _) = self.reaching.statement(&header);
                self.effects.found.merge(found);
                walked(self.source, &header, apart).0
            }
            Shape::Import(_) => Sink {
                bytes: sink.bytes.clone(),
                ..Sink::default()
            },
            Shape::Effect => Sink {
                bytes: sink.bytes.clone(),
                asks: sink.asks.clone(),
                ..Sink::default()
            },
            Shape::Nothing | Shape::Pure(_) => return,
        };
        self.before += 1;
        (self.see)(statement, &done.bytes);
        self.effects.add(&done);
    }

    fn bound(&self, statement: &Stmt, shape: &Shape, found: &Found) -> Bound<'b> {
        let is_plain = |kind: &Kind| {
            matches!(
                kind,
                Kind::Literal | Kind::Simple | Kind::Function | Kind::Class
            )
        };
        let used = self.repeated.iter().filter(|name| found.has_load(name));
        let times = |name: &str| self.defined.get(name).copied().unwrap_or_default();
        Bound {
            is_import: statement.is_import_stmt() || statement.is_import_from_stmt(),
            is_plain: match shape {
                Shape::Pure(bound) => bound.iter().all(|(_, kind)| is_plain(kind)),
                _ => false,
            },
            used: used.map(|name| (*name, times(name))).collect(),
        }
    }

    fn bind(&mut self, name: &str, sink: &Sink, found: Found, bound: &Bound<'_>) {
        let before = self.before;
        let part = self.bindings.entry(name.to_owned()).or_default();
        part.sink.count(before as usize);
        for (name, times) in &bound.used {
            part.sink.text(name);
            part.sink.count(*times);
        }
        part.sink.bytes.extend(&sink.bytes);
        if !bound.is_import {
            part.sink.asks.extend(&sink.asks);
        }
        part.moves |= part.times > 0 && part.effects_before != before;
        part.effects_before = before;
        part.is_import |= bound.is_import;
        part.times += 1;
        part.is_other |= !bound.is_plain;
        part.found.merge(found);
    }

    /// What can be read of the function `name`.
    fn notes(&mut self, name: &str, annotations: &Annotations, notes: Notes, bound: &Bound<'_>) {
        if self.is_lazy {
            let of = format!("{name}.{FUNCTION_ANNOTATIONS}");
            self.bind(&of, &annotations.functions, notes.functions, bound);
        }
        let of = format!("{name}.{FUNCTION_DOCSTRING}");
        self.bind(&of, &annotations.docstrings, Found::default(), bound);
    }

    /// A class, and those of its methods that are bindings of their own.
    fn class(&mut self, name: &str, def: &ast::StmtClassDef, bound: &Bound<'_>) {
        let apart = self.reaching.apart;
        let (class, methods) = take_apart(def);
        let (sink, annotations) = walked(self.source, &class, apart);
        let (found, notes) = self.reaching.statement(&class);
        self.bind(name, &sink, found, bound);
        let of = |kind| format!("{name}.{kind}");
        let docstrings = &annotations.docstrings;
        self.bind(&of(CLASS_DOCSTRING), docstrings, Found::default(), bound);
        if self.is_lazy {
            let functions = &annotations.functions;
            self.bind(&of(FUNCTION_ANNOTATIONS), functions, notes.functions, bound);
            let members = &annotations.members;
            self.bind(&of(MEMBER_ANNOTATIONS), members, notes.members, bound);
        }
        for method in methods {
            let name = format!("{name}.{}", method.name);
            let (sink, annotations) = walked(self.source, &method.alone, apart);
            let (found, notes) = self.reaching.statement(&method.alone);
            self.bind(&name, &sink, found, bound);
            self.notes(&name, &annotations, notes, bound);
            self.methods.push(Lines {
                first: self.source.line_at(method.range.0),
                last: self.source.line_at(method.range.1),
                binding: Some(name),
            });
        }
    }

    /// What the statements came to.
    fn names(mut self, classes: BTreeMap<String, Vec<Import>>) -> Names {
        let mut bindings = self.bindings;
        if self.is_lazy {
            bindings.insert(FUNCTION_ANNOTATIONS.to_owned(), self.notes_of_effects);
        }
        bindings.insert(FUNCTION_DOCSTRING.to_owned(), self.docs_of_effects);
        let mut effect_names = std::mem::take(&mut self.stores.names);
        if self.stores.star {
            effect_names.insert("*".to_owned());
        }
        let mut effects = self.effects;
        // An interpreter that lacks some syntax cannot import the module, be it in
        // functions that never run.
        for syntax in self.source.newer.borrow().iter() {
            effects.sink.text(syntax);
        }
        // What hides a builtin can be met by all code of the module.
        for name in bindings.keys().chain(&effect_names) {
            if stdlib::is_builtin(name) {
                effects.sink.text(name);
            }
        }
        let known = bindings.keys();
        let known = known.filter(|name| simple_name(name) == *name && annotated(name).is_none());
        let known: BTreeSet<String> = known.cloned().collect();
        let bound = uses::Bound {
            all: known.union(&effect_names).cloned().collect(),
            outer: known.union(&self.stores.outer).cloned().collect(),
        };
        let bindings = bindings.into_iter();
        let code = self.reaching.code.into_iter();
        Names {
            has_star: self.stores.star,
            bindings: bindings
                .map(|(name, parts)| (name, part("binding", parts, &bound)))
                .collect(),
            effects: part("effects", effects, &bound),
            code: code
                .map(|(name, found)| (name, found.uses(Vec::new(), &bound)))
                .collect(),
            imports: self.reaching.imports,
            lines: self.lines,
            methods: self.methods,
            effect_names,
            classes,
            asked: self.asked,
        }
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

fn part(kind: &str, parts: Parts, bound: &uses::Bound) -> Part {
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
