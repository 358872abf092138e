//! What is different between two sources of a module, piece by piece: on the
//! normal form, like the digests, so that what does not count is not told.

mod effects;

use std::collections::BTreeMap;

use ruff_python_ast::{self as ast, AnyParameterRef, Expr, Stmt};

pub(in crate::languages::python) use self::effects::effects;
use super::methods::take_apart;
use super::{alone, walked};
use crate::languages::Change;
use crate::languages::python::idle::Apart;
use crate::languages::python::source::Source;
use crate::languages::python::walk::Walker;

/// A parsed source.
#[derive(Clone, Copy)]
pub(in crate::languages::python) struct Parsed<'s> {
    pub source: &'s Source<'s>,
    pub body: &'s [Stmt],
}

/// The normal form of a piece of syntax.
type Form = Vec<u8>;

impl Parsed<'_> {
    fn statement(&self, statement: &Stmt) -> Form {
        walked(self.source, statement, Apart::NOTHING).0.bytes
    }

    fn exprs<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Form> {
        let exprs = exprs.into_iter();
        exprs
            .map(|expr| {
                let mut walker = Walker::new(self.source);
                walker.expr(expr);
                walker.sink.bytes
            })
            .collect()
    }

    fn decorators(&self, decorators: &[ast::Decorator]) -> Vec<Form> {
        self.exprs(decorators.iter().map(|one| &one.expression))
    }

    fn annotation(&self, annotation: Option<&Expr>) -> Option<Form> {
        annotation.map(|annotation| {
            let mut walker = Walker::new(self.source);
            walker.in_annotation = true;
            walker.expr(annotation);
            walker.sink.bytes
        })
    }
}

/// What binds a name.
enum Definition<'a> {
    Function(&'a ast::StmtFunctionDef),
    Class(&'a ast::StmtClassDef),
    Value(&'a Stmt),
    Import(&'a Stmt),
    Docstring(&'a Expr),
}

impl Definition<'_> {
    fn word(&self) -> &'static str {
        match self {
            Definition::Function(_) => "a function",
            Definition::Class(_) => "a class",
            Definition::Value(_) => "a value",
            Definition::Import(_) => "an import",
            Definition::Docstring(_) => "the docstring",
        }
    }
}

/// What is different about what pure statements bind to `name`, a name of the
/// top level or `Class.method`; empty if the statements do not tell.
pub(in crate::languages::python) fn binding(
    was: Parsed<'_>,
    is: Parsed<'_>,
    name: &str,
) -> Vec<Change> {
    if let Some((class, method)) = name.split_once('.') {
        let (old, new) = (methods(was, class, method), methods(is, class, method));
        return pairs(&old, &new, |old, new| function((was, old), (is, new)));
    }
    let (old, new) = (definitions(was, name), definitions(is, name));
    pairs(&old, &new, |old, new| match (old, new) {
        (Definition::Function(old), Definition::Function(new)) => function((was, old), (is, new)),
        // What of its methods is a binding of its own, does not count here.
        (Definition::Class(old), Definition::Class(new)) => {
            match (take_apart(old).0, take_apart(new).0) {
                (Stmt::ClassDef(old), Stmt::ClassDef(new)) => class((was, &old), (is, &new)),
                _ => Vec::new(),
            }
        }
        (Definition::Value(old), Definition::Value(new)) => value((was, old), (is, new)),
        (Definition::Import(old), Definition::Import(new)) => {
            let form = |of: Parsed<'_>, statement| alone(of.source, statement, name);
            let bytes = |sink: Option<super::Sink>| sink.map(|sink| sink.bytes);
            let differ = bytes(form(was, old)) != bytes(form(is, new));
            differ.then_some(Change::ImportSource).into_iter().collect()
        }
        (Definition::Docstring(old), Definition::Docstring(new)) => {
            let differ = was.exprs([*old]) != is.exprs([*new]);
            differ.then_some(Change::Docstring).into_iter().collect()
        }
        (old, new) => vec![Change::Kind(old.word(), new.word())],
    })
}

/// Compares definitions of one name in turn; that there are more or fewer of
/// them has no word.
fn pairs<T>(old: &[T], new: &[T], compare: impl Fn(&T, &T) -> Vec<Change>) -> Vec<Change> {
    if old.len() != new.len() {
        return vec![Change::Other];
    }
    let mut found = Vec::new();
    for (old, new) in old.iter().zip(new) {
        for change in compare(old, new) {
            if !found.contains(&change) {
                found.push(change);
            }
        }
    }
    found
}

fn definitions<'a>(of: Parsed<'a>, name: &str) -> Vec<Definition<'a>> {
    let is_named = |expr: &Expr| matches!(expr, Expr::Name(target) if target.id == name);
    let mut found = Vec::new();
    for (at, statement) in of.body.iter().enumerate() {
        match statement {
            Stmt::FunctionDef(def) if &*def.name == name => found.push(Definition::Function(def)),
            Stmt::ClassDef(def) if &*def.name == name => found.push(Definition::Class(def)),
            Stmt::Assign(assign) if assign.targets.iter().any(is_named) => {
                found.push(Definition::Value(statement));
            }
            Stmt::AnnAssign(assign) if is_named(&assign.target) => {
                found.push(Definition::Value(statement));
            }
            Stmt::TypeAlias(alias) if is_named(&alias.name) => {
                found.push(Definition::Value(statement));
            }
            Stmt::Import(ast::StmtImport { names, .. })
            | Stmt::ImportFrom(ast::StmtImportFrom { names, .. })
                if names.iter().any(|alias| binds(statement, alias, name)) =>
            {
                found.push(Definition::Import(statement));
            }
            Stmt::Expr(expr)
                if at == 0 && name == "__doc__" && expr.value.is_string_literal_expr() =>
            {
                found.push(Definition::Docstring(&expr.value));
            }
            _ => {}
        }
    }
    found
}

fn binds(statement: &Stmt, alias: &ast::Alias, name: &str) -> bool {
    match &alias.asname {
        Some(bound) => bound == name,
        None if statement.is_import_stmt() => alias.name.split('.').next() == Some(name),
        None => &*alias.name == name,
    }
}

fn methods<'a>(of: Parsed<'a>, class: &str, method: &str) -> Vec<&'a ast::StmtFunctionDef> {
    let classes = of.body.iter().filter_map(|statement| match statement {
        Stmt::ClassDef(def) if &*def.name == class => Some(def),
        _ => None,
    });
    classes
        .flat_map(|def| &def.body)
        .filter_map(|statement| match statement {
            Stmt::FunctionDef(def) if &*def.name == method => Some(def),
            _ => None,
        })
        .collect()
}

fn docstring(body: &[Stmt]) -> Option<&Expr> {
    match body.first() {
        Some(Stmt::Expr(expr)) if expr.value.is_string_literal_expr() => Some(&expr.value),
        _ => None,
    }
}

/// Notes `change` if the two forms differ.
fn differ<T: PartialEq>(found: &mut Vec<Change>, old: T, new: T, change: Change) {
    if old != new {
        found.push(change);
    }
}

fn function(
    (was, old): (Parsed<'_>, &ast::StmtFunctionDef),
    (is, new): (Parsed<'_>, &ast::StmtFunctionDef),
) -> Vec<Change> {
    let mut found = Vec::new();
    differ(
        &mut found,
        was.decorators(&old.decorator_list),
        is.decorators(&new.decorator_list),
        Change::Decorators,
    );
    let type_parameters = |of: Parsed<'_>, def: &ast::StmtFunctionDef| {
        of.statement(&Stmt::FunctionDef(ast::StmtFunctionDef {
            type_params: def.type_params.clone(),
            ..bare(def)
        }))
    };
    differ(
        &mut found,
        type_parameters(was, old),
        type_parameters(is, new),
        Change::TypeParameters,
    );
    found.extend(parameters((was, old), (is, new)));
    differ(
        &mut found,
        was.annotation(old.returns.as_deref()),
        is.annotation(new.returns.as_deref()),
        Change::Returns,
    );
    differ(
        &mut found,
        was.exprs(docstring(&old.body)),
        is.exprs(docstring(&new.body)),
        Change::Docstring,
    );
    // Of the body, nothing else shows in the definition.
    let flavour = |of: Parsed<'_>, def: &ast::StmtFunctionDef| {
        let skip = usize::from(docstring(&def.body).is_some());
        of.statement(&Stmt::FunctionDef(ast::StmtFunctionDef {
            is_async: def.is_async,
            body: def.body[skip..].to_vec().into(),
            ..bare(def)
        }))
    };
    differ(
        &mut found,
        flavour(was, old),
        flavour(is, new),
        Change::Flavour,
    );
    found
}

/// A function of this name, without anything.
fn bare(def: &ast::StmtFunctionDef) -> ast::StmtFunctionDef {
    ast::StmtFunctionDef {
        node_index: ast::AtomicNodeIndex::NONE,
        range: def.range,
        is_async: false,
        decorator_list: Vec::new().into(),
        name: def.name.clone(),
        type_params: None,
        parameters: Box::default(),
        returns: None,
        body: Vec::new().into(),
    }
}

fn parameters(
    (was, old): (Parsed<'_>, &ast::StmtFunctionDef),
    (is, new): (Parsed<'_>, &ast::StmtFunctionDef),
) -> Vec<Change> {
    let all = |def: &'_ ast::StmtFunctionDef| -> Vec<String> {
        def.parameters
            .iter()
            .map(|one| one.name().to_string())
            .collect()
    };
    let (old_names, new_names) = (all(old), all(new));
    let mut found = Vec::new();
    for name in &old_names {
        if !new_names.contains(name) {
            found.push(Change::ParameterRemoved(name.clone()));
        }
    }
    for name in &new_names {
        if !old_names.contains(name) {
            found.push(Change::ParameterAdded(name.clone()));
        }
    }
    if found.is_empty() && layout(old) != layout(new) {
        found.push(Change::Parameters);
    }
    for before in &*old.parameters {
        let same = |now: &AnyParameterRef<'_>| now.name() == before.name();
        let Some(now) = new.parameters.iter().find(same) else {
            continue;
        };
        let name = || before.name().to_string();
        differ(
            &mut found,
            was.exprs(before.default()),
            is.exprs(now.default()),
            Change::Default(name()),
        );
        differ(
            &mut found,
            was.annotation(before.annotation()),
            is.annotation(now.annotation()),
            Change::Annotation(name()),
        );
    }
    found
}

/// The names of the parameters, and how each can be given.
fn layout(def: &ast::StmtFunctionDef) -> Vec<(u8, String)> {
    let parameters = &def.parameters;
    let many = |kind: u8, all: &[ast::ParameterWithDefault]| -> Vec<(u8, String)> {
        all.iter()
            .map(|one| (kind, one.name().to_string()))
            .collect()
    };
    let one = |kind: u8, one: &Option<Box<ast::Parameter>>| {
        one.as_ref().map(|one| (kind, one.name.to_string()))
    };
    let mut all = many(0, &parameters.posonlyargs);
    all.extend(many(1, &parameters.args));
    all.extend(one(2, &parameters.vararg));
    all.extend(many(3, &parameters.kwonlyargs));
    all.extend(one(4, &parameters.kwarg));
    all
}

fn class(
    (was, old): (Parsed<'_>, &ast::StmtClassDef),
    (is, new): (Parsed<'_>, &ast::StmtClassDef),
) -> Vec<Change> {
    let mut found = Vec::new();
    differ(
        &mut found,
        was.decorators(&old.decorator_list),
        is.decorators(&new.decorator_list),
        Change::Decorators,
    );
    let bases = |of: Parsed<'_>, def: &ast::StmtClassDef| of.exprs(def.bases());
    differ(&mut found, bases(was, old), bases(is, new), Change::Bases);
    let keywords = |of: Parsed<'_>, def: &ast::StmtClassDef| {
        let names = def.keywords().iter().map(|one| one.arg.as_deref());
        let names: Vec<Option<String>> = names.map(|name| name.map(str::to_owned)).collect();
        (names, of.exprs(def.keywords().iter().map(|one| &one.value)))
    };
    differ(
        &mut found,
        keywords(was, old),
        keywords(is, new),
        Change::ClassKeywords,
    );
    differ(
        &mut found,
        was.exprs(docstring(&old.body)),
        is.exprs(docstring(&new.body)),
        Change::Docstring,
    );
    found.extend(members((was, old), (is, new)));
    found
}

fn members(
    (was, old): (Parsed<'_>, &ast::StmtClassDef),
    (is, new): (Parsed<'_>, &ast::StmtClassDef),
) -> Vec<Change> {
    let forms = |of: Parsed<'_>, def: &ast::StmtClassDef| {
        let mut forms: BTreeMap<String, Vec<(Form, Stmt)>> = BTreeMap::new();
        let mut order = Vec::new();
        for statement in &def.body {
            for name in member_names(statement) {
                let known = forms.entry(name.clone()).or_default();
                known.push((of.statement(statement), statement.clone()));
                order.push(name);
            }
        }
        (forms, order)
    };
    let same = |old: &[(Form, Stmt)], new: &[(Form, Stmt)]| {
        let (old, new) = (old.iter(), new.iter());
        old.map(|(form, _)| form).eq(new.map(|(form, _)| form))
    };
    let ((old_forms, old_order), (new_forms, new_order)) = (forms(was, old), forms(is, new));
    let mut found = Vec::new();
    for (name, form) in &old_forms {
        match new_forms.get(name) {
            None => found.push(Change::MemberRemoved(name.clone())),
            Some(now) if same(form, now) => {}
            Some(now) => {
                let inner = match (&form[..], &now[..]) {
                    ([(_, Stmt::FunctionDef(old))], [(_, Stmt::FunctionDef(new))]) => {
                        function((was, old), (is, new))
                    }
                    _ => Vec::new(),
                };
                if inner.is_empty() {
                    found.push(Change::MemberChanged(name.clone()));
                }
                let of = |change| Change::Member(name.clone(), Box::new(change));
                found.extend(inner.into_iter().map(of));
            }
        }
    }
    for name in new_forms.keys() {
        if !old_forms.contains_key(name) {
            found.push(Change::MemberAdded(name.clone()));
        }
    }
    if found.is_empty() && old_order != new_order {
        found.push(Change::MemberOrder);
    }
    found
}

/// The members that a statement of a class's body binds, if it is simple.
fn member_names(statement: &Stmt) -> Vec<String> {
    let name = |expr: &Expr| match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        _ => None,
    };
    match statement {
        Stmt::FunctionDef(def) => vec![def.name.to_string()],
        Stmt::ClassDef(def) => vec![def.name.to_string()],
        Stmt::Assign(assign) => assign.targets.iter().filter_map(name).collect(),
        Stmt::AnnAssign(assign) => name(&assign.target).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn value((was, old): (Parsed<'_>, &Stmt), (is, new): (Parsed<'_>, &Stmt)) -> Vec<Change> {
    let mut found = Vec::new();
    let parts = |of: Parsed<'_>, statement: &Stmt| {
        let (value, annotation) = match statement {
            Stmt::Assign(assign) => (Some(&*assign.value), None),
            Stmt::AnnAssign(assign) => (assign.value.as_deref(), Some(&*assign.annotation)),
            Stmt::TypeAlias(alias) => (Some(&*alias.value), None),
            _ => (None, None),
        };
        (of.exprs(value), of.annotation(annotation))
    };
    let ((old_value, old_annotation), (new_value, new_annotation)) =
        (parts(was, old), parts(is, new));
    differ(&mut found, old_value, new_value, Change::Value);
    differ(
        &mut found,
        old_annotation,
        new_annotation,
        Change::OwnAnnotation,
    );
    found
}
