//! What each statement of the top level comes to, and which classes do nothing of
//! their own to what derives from them.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::looks::{bases, has_subclass_hook, is_bare};
use super::model::{Import, Known};
use super::purity::{Base, Kind, Scope, Shape};
use super::stores::Stores;

/// The names that exactly one statement of the top level can bind, which bind
/// `stored`, and more by functions that declare names `global`.
pub(super) fn bound_once(body: &[Stmt], stored: &[Stores]) -> BTreeSet<String> {
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
pub(super) struct Statements<'b> {
    pub body: &'b [Stmt],
    /// What each statement can bind.
    pub stored: &'b [Stores],
    /// The names that exactly one of them can bind.
    pub once: &'b BTreeSet<String>,
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

pub(super) fn has_lazy_annotations(statement: &Stmt) -> bool {
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
pub(super) fn repeated(shapes: &[Shape]) -> BTreeSet<&str> {
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

/// The shapes of all statements, and the classes of which it is known that deriving
/// from them does nothing of its own, with the imports for which that must be so, too.
pub(super) fn shapes_and_classes(
    module: &Statements<'_>,
    known: &Known,
    imported: &BTreeMap<String, Import>,
    stores: &mut Stores,
) -> (Vec<Shape>, BTreeMap<String, Vec<Import>>) {
    let mut classes = BTreeMap::new();
    let shapes = shapes(module, &known.classes, stores, |scope, def| {
        let needed = match module.once.contains(def.name.as_str()) {
            true => needed_of_bases(scope, def, &classes, imported),
            false => None,
        };
        match needed {
            Some(needed) => classes.insert(def.name.to_string(), needed),
            None => classes.remove(def.name.as_str()),
        };
    });
    (shapes, classes)
}
