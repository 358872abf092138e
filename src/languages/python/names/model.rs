//! A skeleton split by name: what a module binds, what its other statements
//! come to, and which names each piece of its code can reach.
//!
//! `split` in the module above fills it in, and the closure of rows reads it.

use std::collections::{BTreeMap, BTreeSet};

use crate::languages::name_hash;
use crate::matrix::{Fingerprint, What};

/// Version of the rules by which a statement is a binding or an effect. It is
/// part of the digests of both: rows of other rules hold no more.
pub(crate) const NAMES_VERSION: u32 = 5;

/// Where annotations are text that nobody evaluates, what follows the dot in the
/// name of a binding for those of a function's arguments and result (`f.->`;
/// alone: those of all functions in effects), and of a class's members (`C.:`).
pub(crate) const FUNCTION_ANNOTATIONS: &str = "->";
pub(crate) const MEMBER_ANNOTATIONS: &str = ":";

/// The same for docstrings: of a function or method (`f.''`; alone: of all
/// functions in effects), and of a class with what of its methods is not apart.
pub(crate) const FUNCTION_DOCSTRING: &str = "''";
pub(crate) const CLASS_DOCSTRING: &str = "\"\"";

/// The split of one source file's skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    /// The names that nothing but pure statements bind; and as `Class.method`
    /// what of a method shows neither by holding the class nor without asking.
    pub bindings: BTreeMap<String, Part>,
    /// All other statements, in order.
    pub effects: Part,
    /// Names that these statements can bind.
    pub effect_names: BTreeSet<String>,
    /// Whether a star import can bind any name.
    pub has_star: bool,
    /// By qualified name of a `code` unit.
    pub code: BTreeMap<String, Uses>,
    /// Every import, wherever it stands; not those that only type checkers see.
    pub imports: Vec<Import>,
    /// The statements of the top level by line, in order.
    pub lines: Vec<Lines>,
    /// The methods that are bindings of their own, in order.
    pub methods: Vec<Lines>,
    /// Classes of which it is known that deriving from them does nothing of its
    /// own, if that is so for these imports, too.
    pub classes: BTreeMap<String, Vec<Import>>,
    /// Imported names that classes build on: the split is finer where they are
    /// known to be such classes.
    pub asked: BTreeSet<String>,
}

/// What other sources tell of the names that a source imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// Imported names that are classes, deriving from which does nothing of its
    /// own.
    pub classes: BTreeSet<String>,
}

impl Known {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Known::default()
    }
}

/// Statements that form one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub value: Fingerprint,
    pub uses: Uses,
    /// Of a binding: how many effects come before it.
    pub effects_before: u32,
    /// Whether it binds what an import statement brings.
    pub is_import: bool,
    /// Whether no other statement binds the name.
    pub is_single: bool,
    /// Whether the same effects come before each statement that binds it.
    pub is_in_place: bool,
    /// Whether it binds nothing but a function, a class or a simple value.
    pub is_plain: bool,
}

/// What a piece of code can reach, besides what it spells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// [`name_hash`] of the names that it asks any object for, or spells in
    /// imports and strings; sorted.
    pub asks: Vec<u32>,
    /// Global names that it reads and its module binds; sorted.
    pub loads: Vec<String>,
    /// Global names that it reads, that its module does not bind, and that no
    /// builtin is called; sorted.
    pub unbound: Vec<String>,
    /// [`name_hash`] of names that an import binds, and that are used other
    /// than by asking for an attribute: a module may be passed on. Sorted.
    pub values: Vec<u32>,
    /// Attributes that are passed on, as [`name_hash`] of all names from the one that an
    /// import binds: `a.b.c`. Sorted.
    pub parts: Vec<Vec<u32>>,
    /// Those that are passed on to pytest's `monkeypatch`, with one attribute, or to its
    /// `doctest_namespace`. If the project has a thing of that name, it may be that. Sorted.
    pub lent: Vec<u32>,
    /// Attributes that may be a module's: the hash of the name before the dot,
    /// and the attribute. Sorted.
    pub members: Vec<(u32, String)>,
    /// Whether it can reach any name of its own module (`globals()`).
    pub holds_own: bool,
    /// Whether it can reach any name of any module (`eval`, pickles, …).
    pub is_wide: bool,
    /// The same by ways that the native collector watches: it tells what the code really
    /// got (frames, generated code).
    pub is_watched: bool,
    /// Whether it gets at attributes by names that nobody spelled (`vars`).
    pub looks_up: bool,
    /// Whether it gets all members of classes at once, of which the native collector tells the
    /// classes (`vars`, `dir`, `__dict__`).
    pub lists_members: bool,
    /// The same by calls of which the native collector tells the names (`getattr`).
    pub asks_by_name: bool,
    /// Whether it can read annotations, of whatever it be.
    pub reads: bool,
    /// The same for docstrings.
    pub reads_docs: bool,
}

impl Uses {
    /// Whether the code spells `name`, as a global one or otherwise.
    pub fn spells(&self, name: &str) -> bool {
        self.asks.binary_search(&name_hash(name)).is_ok()
            || self
                .loads
                .iter()
                .chain(&self.unbound)
                .any(|known| known == name)
    }
}

/// What a binding's annotations or docstring are of, if it is nothing else: a
/// function, a class, or, of effects, nothing that has a name.
pub(crate) fn annotated(name: &str) -> Option<&str> {
    let (of, last) = name.rsplit_once('.').unwrap_or(("", name));
    let is_apart = matches!(last, FUNCTION_ANNOTATIONS | MEMBER_ANNOTATIONS);
    (is_apart || is_docstring(name)).then_some(of)
}

/// Whether a binding is a docstring and nothing else.
pub(crate) fn is_docstring(name: &str) -> bool {
    matches!(simple_name(name), FUNCTION_DOCSTRING | CLASS_DOCSTRING)
}

/// The last part of a qualified name: what it is asked for by.
pub(crate) fn simple_name(qualified: &str) -> &str {
    qualified.rsplit('.').next().unwrap_or(qualified)
}

/// The one statement that stands on a line.
fn only_at(all: &[Lines], line: u32) -> Option<&Lines> {
    let first = all.partition_point(|lines| lines.last < line);
    let mut found = all[first..].iter().take_while(|lines| lines.first <= line);
    match (found.next(), found.next()) {
        (Some(lines), None) => Some(lines),
        _ => None,
    }
}

/// One name that an import statement binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The bound name; `*` for all.
    pub bound: String,
    /// Dots before the module's name.
    pub level: u32,
    pub module: String,
    /// `item` of `from module import item`.
    pub item: Option<String>,
    /// Whether it runs when the module is imported.
    pub at_import: bool,
}

/// The lines of one statement of the top level, counted from 1, inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    pub first: u32,
    pub last: u32,
    /// The name that it purely binds; `None` for an effect.
    pub binding: Option<String>,
}

/// Which unit of a split skeleton a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartAt<'a> {
    Binding(&'a str),
    Effects,
    /// Several statements, or none.
    Unknown,
}

/// What [`Names::binding`] tells of a name that effects can bind.
const BOUND_BY_EFFECTS: Fingerprint = Fingerprint(*b"tamis: by effect");

impl Names {
    /// The value of the binding of `name`.
    pub fn binding(&self, name: &str) -> Fingerprint {
        match self.bindings.get(name) {
            Some(part) => part.value,
            None => self.unless_pure(name),
        }
    }

    /// The part that a unit of kind `binding` is about, unless it is about whether a
    /// name is bound.
    pub fn part(&self, what: &What) -> Option<&Part> {
        match what {
            What::Binding(_) | What::Note(..) => self.bindings.get(&*what.name()),
            _ => None,
        }
    }

    /// Whether `name` is bound, between which effects, and whether to a class
    /// that can be derived from without further ado: what a module that imports
    /// it can notice when it is imported.
    pub fn presence(&self, name: &str) -> Fingerprint {
        let Some(part) = self.bindings.get(name) else {
            return self.unless_pure(name);
        };
        // Others can meet the name between effects alone; of an import they look
        // up whether it is the only statement.
        let is_one = match part.is_import {
            true => part.is_single,
            false => part.is_in_place,
        };
        let mut text = format!("{} {} {}\n", part.effects_before, part.is_import, is_one);
        if let Some(needed) = self.classes.get(name) {
            text.push_str("class\n");
            for import in needed {
                text.push_str(&format!(
                    "{} {} {:?}\n",
                    import.level, import.module, import.item
                ));
            }
        }
        Fingerprint::of_digest("tamis presence 2", text.as_bytes())
    }

    fn unless_pure(&self, name: &str) -> Fingerprint {
        match self.effect_names.contains(name) {
            true => BOUND_BY_EFFECTS,
            false => Fingerprint::MISSING,
        }
    }

    /// Whether any code of the module binds `name`, or spells it other than as a
    /// variable.
    pub fn spells(&self, name: &str) -> bool {
        let hash = name_hash(name);
        let asks = |uses: &Uses| uses.asks.binary_search(&hash).is_ok();
        self.binds(name)
            || asks(&self.effects.uses)
            || self.bindings.values().any(|part| asks(&part.uses))
            || self.code.values().any(asks)
    }

    /// Whether any code of the module uses a value of this name, other than by asking it for
    /// an attribute: the name of an import, or a fixture.
    pub(crate) fn passes_on(&self, name: &str) -> bool {
        let hash = name_hash(name);
        let passes_on = |uses: &Uses| uses.values.binary_search(&hash).is_ok();
        passes_on(&self.effects.uses)
            || self.bindings.values().any(|part| passes_on(&part.uses))
            || self.code.values().any(passes_on)
    }

    /// Whether the module may have a global of this name.
    pub fn binds(&self, name: &str) -> bool {
        self.bindings.contains_key(name) || self.effect_names.contains(name)
    }

    /// The same by the name's [`name_hash`].
    pub fn binds_hash(&self, name: u32) -> bool {
        let bound = self.bindings.keys().chain(&self.effect_names);
        bound
            .map(|bound| name_hash(bound))
            .any(|bound| bound == name)
    }

    /// The part that a code object outside functions belongs to.
    pub fn part_of(&self, first_line: u32, code_name: &str) -> PartAt<'_> {
        match code_name.starts_with('<') || code_name == "__annotate__" {
            true if code_name != "<module>" => self.part_at(first_line),
            // The body of the module, or of a class: if that does anything
            // but bind, it is an effect.
            _ => PartAt::Effects,
        }
    }

    pub(crate) fn part_at(&self, line: u32) -> PartAt<'_> {
        match (only_at(&self.lines, line), only_at(&self.methods, line)) {
            (Some(_), Some(lines)) | (Some(lines), None) => match &lines.binding {
                Some(name) => PartAt::Binding(name),
                None => PartAt::Effects,
            },
            (None, _) => PartAt::Unknown,
        }
    }

    /// The imports that bind a name with this hash.
    pub fn imports_of(&self, name: u32) -> impl Iterator<Item = &Import> {
        self.imports
            .iter()
            .filter(move |import| name_hash(&import.bound) == name)
    }
}
