//! Serial numbers: a class counts its objects and gives each the next number, by which they are
//! sorted (`creation_counter`, `_creation_index`). Who reads such a number only to count on, to
//! keep it in an object or to compare it in a sort does the same if all of them are higher.
//! `docs/precision.md` has the rule.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_parameter, walk_stmt};
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
    /// Whether it is raised before an object gets it.
    pub is_raised_first: bool,
}

impl Serial {
    /// The name of the cell.
    pub(super) fn cell(&self) -> String {
        format!("{}.{}", self.class, self.name)
    }

    /// As the collector reads it: parts with tabulators in between.
    pub(crate) fn line(&self) -> BString {
        let first: &[u8] = if self.is_raised_first { b"1" } else { b"" };
        let parts: [&[u8]; 4] = [
            &self.path,
            self.class.as_bytes(),
            self.name.as_bytes(),
            first,
        ];
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
            of_sorts: text.contains_str("def sort(")
                || text.find_iter("__getattr__").any(for_objects),
        }
    }

    fn add(&mut self, other: Hooks) {
        self.of_all |= other.of_all;
        self.of_sorts |= other.of_sorts;
    }
}

/// Whoever spells such a name may see any number.
const SEEING: [&str; 5] = [
    "__setattr__",
    "__getattribute__",
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
    is_raised: bool,
    is_raised_first: bool,
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
        self.is_raised |= !found.raised_at.is_empty();
        self.is_raised_first |= match (found.raised_at.iter().min(), found.kept_at.iter().min()) {
            (Some(raised), Some(kept)) => raised < kept,
            _ => false,
        };
        self.is_sorted_by |= found.is_sorted_by;
        true
    }

    fn serial(self, name: String) -> Option<Serial> {
        let (path, class) = self.owner?;
        let is_other = |one: &(BString, String)| (&one.0, &one.1) != (&path, &class);
        let is_seen = self.hooks.of_all || self.is_sorted_by && self.hooks.of_sorts;
        if is_seen || !self.is_raised || self.raising.iter().any(is_other) {
            return None;
        }
        Some(Serial {
            path,
            class,
            name,
            is_raised_first: self.is_raised_first,
        })
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
    raised_at: Vec<u32>,
    kept_at: Vec<u32>,
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
            raised_at: Vec::new(),
            kept_at: Vec::new(),
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
            && classes.all(|one| bound.once.contains(one) && !self.parameters.contains(one))
            && self
                .inner
                .is_disjoint(&self.owners.iter().chain(&self.raising).cloned().collect())
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
        for statement in &function.body {
            if let Stmt::Assign(assign) = statement
                && let [target] = assign.targets.as_slice()
                && self.holder(target) == Some(first)
                && self.holder(&assign.value) == Some(class)
            {
                self.allowed += 2;
                self.raising.insert(class.to_owned());
                self.kept_at.push(statement.start().to_u32());
            }
        }
    }

    /// What a function gives by which others are sorted: a member of its argument, alone or in a
    /// tuple.
    fn is_key(&self, of: &Expr, argument: &str) -> usize {
        match of {
            Expr::Tuple(tuple) => {
                let each = tuple.elts.iter().map(|one| self.is_key(one, argument));
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
            let found = self.is_key(&key.body, argument.name().as_str());
            self.is_sorted_by |= found > 0;
            self.allowed += found;
        }
    }
}

impl<'a> Visitor<'a> for InSource<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Stmt::AugAssign(raise) = statement
            && raise.op == Operator::Add
            && is_positive(&raise.value)
            && let Some(class) = self.holder(&raise.target)
        {
            self.allowed += 1;
            self.raising.insert(class.to_owned());
            self.raised_at.push(statement.start().to_u32());
        }
        walk_stmt(self, statement);
    }

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
mod tests {
    use super::*;

    /// The serial numbers of sources, as `path class.name`.
    fn of(sources: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in sources {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            disk::write(&path, text).unwrap();
        }
        let found = serials(root.path()).into_iter();
        let shown = found.map(|one| {
            let first = if one.is_raised_first {
                ", raised first"
            } else {
                ""
            };
            format!("{} {}.{}{first}", one.path, one.class, one.name)
        });
        shown.collect()
    }

    const FIELD: &str = "\
class Field:
    turn = 0  # turn by turn

    def __init__(self, name):
        self.name = name
        self.turn = Field.turn
        Field.turn += 1
";

    const SORT: &str = "fields.sort(key=lambda one: one[1].turn)\n";

    /// The same with another file.
    fn with(text: &str) -> Vec<String> {
        of(&[("pkg/fields.py", FIELD), ("pkg/other.py", text)])
    }

    #[test]
    fn a_class_counts_its_objects() {
        let found = ["pkg/fields.py Field.turn"];
        assert_eq!(with(""), found);
        assert_eq!(with(SORT), found);
        assert_eq!(
            with("x = sorted(y, key=lambda one: (one.turn, one.name))\n"),
            found
        );
        assert_eq!(with("turns = {}  # turn\n"), found);
        let text = "\
class Field:
    turn = 0
    def __init__(this):
        Field.turn += 1
        this.turn = Field.turn
";
        assert_eq!(of(&[("a.py", text)]), ["a.py Field.turn, raised first"]);
    }

    #[test]
    fn whoever_may_read_the_number_leaves_it_a_number() {
        for text in [
            "print(field.turn)\n",
            "print(Field.turn)\n",
            "Field.turn = 5\n",
            "Field.turn -= 1\n",
            "getattr(field, 'turn')\n",
            "\"{0.turn}\".format(field)\n",
            "f(turn=1)\n",
            "turn = 1\n",
            "class Other:\n    turn = 0\n",
            "class Other(Field):\n    @property\n    def turn(self): return 1\n",
            "x = max(y, key=lambda one: one.turn)\n",
            "x = sorted(y, key=lambda one: one.turn % 2)\n",
            "x = sorted(y, key=lambda one, by=1: one.turn)\n",
            "x = sorted(y, key=lambda one: other.turn)\n",
            "x = sorted(y, key=lambda one: len(str(one.turn)))\n",
            "def sorted(x, key): pass\nx = sorted(y, key=lambda one: one.turn)\n",
            "from z import *\nx = sorted(y, key=lambda one: one.turn)\n",
            "x.sort(lambda one: one.turn)\n",
            "class Other:\n    def __setattr__(self, name, value): print(value)\n",
            "class Other:\n    def __getattribute__(self, name): print(value)\n",
            "x = (\n",
        ] {
            let text = match text {
                "x = (\n" => "turn = (\n",
                text => text,
            };
            assert_eq!(with(text), [""; 0], "{text}");
        }
        let all = "class Any:\n    def __getattr__(self, name): return 7\n";
        assert_eq!(with(all).len(), 1);
        assert_eq!(with(&format!("{SORT}{all}")), [""; 0]);
        assert_eq!(
            with(&format!("{SORT}def __getattr__(name): return 7\n")).len(),
            1
        );
        assert_eq!(
            with(&format!("{SORT}class L:\n    def sort(self, key): pass\n")),
            [""; 0]
        );
        let compiled = [("fields.py", FIELD), ("fast.pyx", "print(x.turn)\n")];
        assert_eq!(of(&compiled), [""; 0]);
    }

    #[test]
    fn the_class_is_the_one_that_has_the_number() {
        for (old, new) in [
            ("class Field:", "class Field:\n    turn = 1\n"),
            ("class Field:", "Field = 1\nclass Field:"),
            (
                "class Field:",
                "if x:\n  class Field:\n    turn = 1\nclass Field:",
            ),
            ("turn = 0 ", "turn = start() "),
            ("turn = 0 ", "turn: int = 0 "),
            ("Field.turn += 1", "Field.turn += step"),
            ("Field.turn += 1", "self.turn += 1"),
            ("Field.turn += 1", "Other.turn += 1"),
            ("Field.turn += 1", "type(self).turn += 1"),
            ("Field.turn += 1", "Field.turn += 0"),
            ("(self, name)", "(self, Field)"),
            ("self.name = name", "self = name"),
            ("self.name = name", "Field = name"),
            ("    def __init__", "    @wraps\n    def __init__"),
            ("self.turn =", "other.turn ="),
        ] {
            assert!(FIELD.contains(old), "{old}");
            let text = FIELD.replacen(old, new, 1);
            assert_eq!(of(&[("fields.py", &text)]), [""; 0], "{text}");
        }
    }

    #[test]
    fn folders_of_tools_and_of_installed_packages_do_not_count() {
        let reads = "print(field.turn)\n";
        let count = |path| of(&[("fields.py", FIELD), (path, reads)]).len();
        assert_eq!(count("x.py"), 0);
        assert_eq!(count("lib/site-packages/x.py"), 1);
        assert_eq!(count(".tamis/x.py"), 1);
        assert_eq!(count(".hidden/x.py"), 0);
    }
}
