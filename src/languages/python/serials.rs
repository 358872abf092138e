//! Serial numbers: a class counts its objects and gives each the next number, by which they are
//! sorted (`creation_counter`, `_creation_index`). Who reads such a number only to count on, to
//! keep it in an object or to compare it in a sort does the same if all of them are higher.
//! `docs/precision.md` has the rule.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_parameter};
use ruff_python_ast::{
    self as ast, Expr, ExprAttribute, Operator, Parameter, Stmt, StmtFunctionDef,
};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged;
use walkdir::{DirEntry, WalkDir};

use super::names::{BoundNames, names_stored};
use super::with_module;
use crate::disk;
use crate::languages::{Facts, UnitReads};

/// A number of a class that is such.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Serial {
    /// The source, relative to the top of the work tree.
    pub path: BString,
    /// A class of that module.
    pub class: String,
    /// The member, which its objects have as well.
    pub name: String,
}

impl Serial {
    /// The name of the cell.
    pub(crate) fn cell(&self) -> String {
        format!("{}.{}", self.class, self.name)
    }

    /// As the collector reads it: parts with tabulators in between.
    pub(crate) fn line(&self) -> BString {
        let parts: [&[u8]; 3] = [&self.path, self.class.as_bytes(), self.name.as_bytes()];
        bstr::join("\t", parts).into()
    }
}

/// What stands in front of what a collector tells. Alone it says that this is told at all.
pub(crate) const SERIAL: char = '#';

/// Code got a serial number in another way than by its name.
pub(super) const GOT: &str = "#*";

/// A serial number was set back, or somebody may have read it of whom no source tells: it is a number
/// like any other.
pub(crate) const LOST: &str = "#?";

/// What code reads of which this was told; `None` if it was told of something else.
pub(super) fn reads(told: &str) -> Option<UnitReads> {
    // Which number an object has no value tells.
    told.starts_with(SERIAL).then(|| UnitReads {
        beyond_values: told == GOT,
        ..UnitReads::default()
    })
}

/// Those of the files on disk.
#[derive(Default)]
struct Known(OnceCell<Vec<Serial>>);

/// The serial numbers of a project, if its files are those on disk.
pub(super) fn serials_at(facts: &Facts<'_>) -> Vec<Serial> {
    if !facts.view().is_work() {
        return Vec::new();
    }
    let known = facts.memory::<Known>();
    let found = known.0.get_or_init(|| {
        let root = facts.root().to_path();
        root.map(serials).unwrap_or_default()
    });
    found.clone()
}

/// The serial numbers of the project in a folder; none where not all of its sources can be read.
pub(crate) fn serials(root: &Path) -> Vec<Serial> {
    let Some(candidates) = candidates(root) else {
        return Vec::new();
    };
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<Option<Uses>> = candidates.iter().map(|_| Some(Uses::default())).collect();
    for file in sources(root) {
        let Some((path, text)) = file.and_then(|file| Some((relative(root, &file)?, read(&file)?)))
        else {
            return Vec::new();
        };
        let hooks = Hooks::of(&text);
        for (name, uses) in candidates.iter().zip(&mut all) {
            let Some(found) = uses else { continue };
            found.hooks.add(hooks);
            if text.contains_str(name) && !found.add(path.as_bstr(), &text, name) {
                *uses = None;
            }
        }
    }
    let all = candidates.into_iter().zip(all);
    all.filter_map(|(name, uses)| uses?.serial(name)).collect()
}

/// The names of members that some source raises; `None` if it cannot be read.
fn candidates(root: &Path) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for file in sources(root) {
        let text = read(&file?)?;
        for at in text.find_iter("+=") {
            let line = text[..at].lines().next_back().unwrap_or_default().trim();
            let Some((class, name)) = line.split_once_str(".") else {
                continue;
            };
            // Most are of an object: `self.size += 1`.
            let is_of_class = || text.contains_str([b"class ", class].concat());
            if is_name(name) && !name.starts_with(b"__") && is_name(class) && is_of_class() {
                found.insert(name.to_str_lossy().into_owned());
            }
        }
    }
    Some(found)
}

fn is_name(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    !text.is_empty() && !text[0].is_ascii_digit() && text.iter().all(is_part)
}

/// The Python sources below a folder, also such that a compiler reads; `None` for what cannot be
/// looked at.
fn sources(root: &Path) -> impl Iterator<Item = Option<std::path::PathBuf>> {
    let files = WalkDir::new(root).into_iter().filter_entry(is_of_project);
    files.filter_map(|entry| match entry {
        Err(_) => Some(None),
        Ok(entry) => {
            let name = entry.file_name().as_encoded_bytes();
            let is_source = [".py", ".pyi", ".pyx", ".pxd", ".pxi"]
                .iter()
                .any(|end| name.ends_with(end.as_bytes()));
            (is_source && !entry.file_type().is_dir()).then(|| Some(entry.into_path()))
        }
    })
}

/// Whether a folder may hold sources of the project: the collector looks at installed packages.
fn is_of_project(entry: &DirEntry) -> bool {
    if !entry.file_type().is_dir() {
        return true;
    }
    let name = entry.file_name().as_encoded_bytes();
    let are_others = [&b"node_modules"[..], b"__pycache__", b"site-packages"].contains(&name);
    !(disk::is_of_tools(name) || are_others || entry.path().join("pyvenv.cfg").exists())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    disk::read(path).ok()
}

fn relative(root: &Path, path: &Path) -> Option<BString> {
    let relative = path.strip_prefix(root).ok()?;
    Some(relative.as_os_str().as_encoded_bytes().into())
}

/// What of a project could see the numbers where it seems only to keep or to compare them.
#[derive(Clone, Copy, Default)]
struct Hooks {
    /// Code runs when an attribute is set, or for each that is read, or all objects are looked at.
    of_all: bool,
    /// Objects have attributes that nobody set, or a `sort` of their own.
    of_sorts: bool,
}

impl Hooks {
    fn of(text: &[u8]) -> Hooks {
        let for_objects = |at: usize| !text[..at].ends_with(b"\ndef ") && text[..at] != *b"def ";
        Hooks {
            of_all: SEEING.iter().any(|name| text.contains_str(name)),
            of_sorts: ["def sort(", "sort =", "sort="]
                .iter()
                .any(|name| text.contains_str(name))
                || text.find_iter("__getattr__").any(for_objects),
        }
    }

    fn add(&mut self, other: Hooks) {
        self.of_all |= other.of_all;
        self.of_sorts |= other.of_sorts;
    }
}

/// Whoever spells such a name may see any number.
const SEEING: [&str; 13] = [
    "__setattr__",
    "__getattribute__",
    "__setstate__",
    "__getstate__",
    "__reduce",
    "SimpleNamespace",
    "ctypes",
    "getattr_static",
    "reload(",
    "vformat",
    "get_objects",
    "get_referents",
    "get_referrers",
];

/// What a project does with members of one name.
#[derive(Default)]
struct Uses {
    hooks: Hooks,
    /// The class whose member it is, and its source.
    owner: Option<(BString, String)>,
    /// Sources that raise or keep it, and of which class.
    raising: BTreeSet<(BString, String)>,
    /// How often it is raised.
    raised: usize,
    is_sorted_by: bool,
}

impl Uses {
    /// Takes in a source that has the name; whether all that it does with it is known to be harmless.
    fn add(&mut self, path: &BStr, text: &[u8], name: &str) -> bool {
        if !path.ends_with(b".py") {
            return false;
        }
        let found = with_module(text, |source, body| {
            let mut found = InSource::new(name, body);
            body.iter()
                .filter_map(Stmt::as_class_def_stmt)
                .for_each(|class| found.class(class));
            found.visit_body(body);
            (found.allowed == times(&source.text, name)).then_some(found)
        });
        let Ok(Some(found)) = found else {
            return false;
        };
        if found.owners.len() + usize::from(self.owner.is_some()) > 1 || !found.is_clear() {
            return false;
        }
        let owner = found.owners.into_iter().next();
        self.owner = self
            .owner
            .take()
            .or(owner.map(|class| (path.to_owned(), class)));
        let raising = found.raising.into_iter();
        self.raising
            .extend(raising.map(|class| (path.to_owned(), class)));
        self.raised += found.raised;
        self.is_sorted_by |= found.is_sorted_by;
        true
    }

    fn serial(self, name: String) -> Option<Serial> {
        let (path, class) = self.owner?;
        let is_other = |one: &(BString, String)| (&one.0, &one.1) != (&path, &class);
        let is_seen = self.hooks.of_all || self.is_sorted_by && self.hooks.of_sorts;
        if is_seen || self.raised != 1 || self.raising.iter().any(is_other) {
            return None;
        }
        Some(Serial { path, class, name })
    }
}

/// How often a source has a name, also in texts; not in comments.
fn times(text: &str, name: &str) -> usize {
    let options = ParseOptions::from(Mode::Module);
    let parsed = parse_unchecked(text, options);
    let spelled = parsed.tokens().iter().filter(|token| {
        let spelled = &text[token.range()];
        match token.kind() {
            TokenKind::Name => spelled == name,
            TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle => {
                spelled.contains(name)
            }
            _ => false,
        }
    });
    spelled.count()
}

/// What one source does with members of one name.
struct InSource<'s> {
    name: &'s str,
    bound: Option<BoundNames>,
    /// How often it is used in a way that is harmless.
    allowed: usize,
    owners: Vec<String>,
    raising: BTreeSet<String>,
    raised: usize,
    is_sorted_by: bool,
    parameters: BTreeSet<String>,
    /// Names that functions and classes bind.
    inner: BTreeSet<String>,
}

impl<'s> InSource<'s> {
    fn new(name: &'s str, body: &[Stmt]) -> InSource<'s> {
        InSource {
            name,
            bound: BoundNames::of(body),
            allowed: 0,
            owners: Vec::new(),
            raising: BTreeSet::new(),
            raised: 0,
            is_sorted_by: false,
            parameters: BTreeSet::new(),
            inner: body.iter().flat_map(inner_names).collect(),
        }
    }

    /// Whether the names of classes and functions mean what they seem to.
    fn is_clear(&self) -> bool {
        let Some(bound) = &self.bound else {
            return false;
        };
        let is_sorted = self.is_sorted_by && bound.all.contains("sorted");
        let mut classes = self.owners.iter().chain(&self.raising);
        !is_sorted
            && !self.parameters.contains("sorted")
            && classes.all(|one| {
                let is_rebound = self.parameters.contains(one) || self.inner.contains(one);
                bound.once.contains(one) && !is_rebound
            })
    }

    /// The name before the dot, if an expression is `<name>.<member>`.
    fn holder<'e>(&self, of: &'e Expr) -> Option<&'e str> {
        let attribute = of.as_attribute_expr()?;
        let is_member = attribute.attr.as_str() == self.name;
        is_member.then_some(attribute.value.as_name_expr()?.id.as_str())
    }

    fn class(&mut self, class: &ast::StmtClassDef) {
        for statement in &class.body {
            match statement {
                Stmt::Assign(assign) => {
                    let [Expr::Name(target)] = assign.targets.as_slice() else {
                        continue;
                    };
                    if target.id.as_str() == self.name && is_whole(&assign.value) {
                        self.allowed += 1;
                        self.owners.push(class.name.to_string());
                    }
                }
                Stmt::FunctionDef(function) => self.method(class, function),
                _ => {}
            }
        }
    }

    /// Looks for objects that keep the number.
    fn method(&mut self, class: &ast::StmtClassDef, function: &StmtFunctionDef) {
        let parameters = &function.parameters;
        let mut positional = parameters.posonlyargs.iter().chain(&parameters.args);
        let first = positional.next().map(|one| one.name().as_str());
        let is_rebound = first.is_some_and(|first| names_stored(&function.body).contains(first));
        let Some(first) = first.filter(|_| function.decorator_list.is_empty() && !is_rebound)
        else {
            return;
        };
        let class = class.name.as_str();
        // No two objects get the same number, and none gets that which the class has.
        for two in function.body.windows(2) {
            if let [Stmt::Assign(keep), Stmt::AugAssign(raise)] = two
                && let [target] = keep.targets.as_slice()
                && self.holder(target) == Some(first)
                && self.holder(&keep.value) == Some(class)
                && raise.op == Operator::Add
                && is_positive(&raise.value)
                && self.holder(&raise.target) == Some(class)
            {
                self.allowed += 3;
                self.raising.insert(class.to_owned());
                self.raised += 1;
            }
        }
    }

    /// How often the number is what a function gives to sort by: as a member of its argument, alone or in
    /// a tuple.
    fn times_as_key(&self, of: &Expr, argument: &str) -> usize {
        match of {
            Expr::Tuple(tuple) => {
                let each = tuple
                    .elts
                    .iter()
                    .map(|one| self.times_as_key(one, argument));
                each.sum()
            }
            Expr::Attribute(ExprAttribute { value, attr, .. })
                if attr.as_str() == self.name && is_part_of(value, argument) =>
            {
                1
            }
            _ => 0,
        }
    }

    fn sort(&mut self, call: &ast::ExprCall) {
        let sorts = match &*call.func {
            Expr::Attribute(method) => {
                method.attr.as_str() == "sort" && call.arguments.args.is_empty()
            }
            Expr::Name(function) => function.id.as_str() == "sorted",
            _ => false,
        };
        let key = call.arguments.find_keyword("key");
        let Some(Expr::Lambda(key)) = key.map(|key| &key.value).filter(|_| sorts) else {
            return;
        };
        let Some(parameters) = &key.parameters else {
            return;
        };
        let [argument] = parameters.args.as_slice() else {
            return;
        };
        if argument.default.is_none() && parameters.len() == 1 {
            let found = self.times_as_key(&key.body, argument.name().as_str());
            self.is_sorted_by |= found > 0;
            self.allowed += found;
        }
    }
}

impl<'a> Visitor<'a> for InSource<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Call(call) = expression {
            self.sort(call);
        }
        walk_expr(self, expression);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.parameters.insert(parameter.name.to_string());
        walk_parameter(self, parameter);
    }
}

/// The names that are bound within a function or a class.
fn inner_names(statement: &Stmt) -> BTreeSet<String> {
    match statement {
        Stmt::FunctionDef(function) => names_stored(&function.body),
        Stmt::ClassDef(class) => names_stored(&class.body),
        _ => BTreeSet::new(),
    }
}

/// An argument, or an item of it.
fn is_part_of(of: &Expr, argument: &str) -> bool {
    match of {
        Expr::Name(name) => name.id.as_str() == argument,
        Expr::Subscript(item) => is_whole(&item.slice) && is_part_of(&item.value, argument),
        _ => false,
    }
}

fn whole(of: &Expr) -> Option<u64> {
    match &of.as_number_literal_expr()?.value {
        ast::Number::Int(number) => number.as_u64(),
        _ => None,
    }
}

fn is_whole(of: &Expr) -> bool {
    whole(of).is_some()
}

fn is_positive(of: &Expr) -> bool {
    whole(of).is_some_and(|number| number > 0)
}

#[cfg(test)]
mod tests;
