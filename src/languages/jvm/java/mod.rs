//! Java sources, before they are compiled: whose class files an edit can alter.
//!
//! A source is compiled by what it says and by the *heads* of the sources that it
//! can see ([`outline()`]): declarations without the bodies of methods. Each such
//! source is reached by a name that is written: by itself, of the type that it
//! begins to look in; then by the heads of those, of the types that they extend,
//! return and hold. So whoever names no type of a changed head, and no type whose head
//! names one, and so on, is compiled to the same. `docs/jvm.md` has the argument.

mod outline;
#[cfg(test)]
mod tests;
mod tokens;

use std::fmt;
use std::hash::Hasher;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

pub use outline::outline;

use crate::matrix::Fingerprint;

/// Why a source is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An identifier, as a number. Where two share one, more is affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(u64);

impl Word {
    /// Letters beyond ASCII are all alike: which bytes they are depends on the
    /// encoding, and on whether they are escaped.
    pub fn of(text: &[u8]) -> Word {
        let mut hasher = FxHasher::default();
        match text.is_ascii() {
            true => hasher.write(text),
            false => {
                let mut alike: Vec<u8> = text.iter().map(|byte| (*byte).min(0x80)).collect();
                alike.dedup_by(|a, b| *a == 0x80 && *b == 0x80);
                hasher.write(&alike);
            }
        }
        Word(hasher.finish())
    }
}

/// What there is to know of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// All of it, without comments and white space.
    pub whole: Fingerprint,
    /// What other sources can see.
    pub head: Fingerprint,
    /// Whether it reads the same in every encoding.
    pub is_ascii: bool,
    /// With dots; empty if it has none.
    pub package: String,
    /// The names of the types that are not in others; `package-info` of a source that
    /// has none.
    pub tops: Vec<String>,
    /// The names of all types but those in bodies; sorted, as are the words.
    pub types: Vec<Word>,
    /// The names of private fields, and maybe some more.
    pub hidden: Vec<Word>,
    /// All identifiers.
    pub words: Vec<Word>,
    /// Those of the head.
    pub head_words: Vec<Word>,
}

impl Outline {
    /// Whether a class file of the class `name` (with slashes) can come of it.
    pub fn makes(&self, name: &str) -> bool {
        let (package, class) = name.rsplit_once('/').unwrap_or(("", name));
        package.replace('/', ".") == self.package
            && self.tops.iter().any(|top| {
                let rest = class.strip_prefix(top.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
            })
    }
}

/// A source at two states; `None` where it is not there.
#[derive(Clone, Debug)]
pub struct Source {
    pub was: Option<Rc<Outline>>,
    pub is: Option<Rc<Outline>>,
}

impl Source {
    fn sides(&self) -> impl Iterator<Item = &Outline> {
        let is_same = match (&self.was, &self.is) {
            (Some(was), Some(is)) => Rc::ptr_eq(was, is),
            _ => false,
        };
        let was = self.was.as_deref().filter(|_| !is_same);
        was.into_iter().chain(self.is.as_deref())
    }

    /// The names of private fields that only one of the states has.
    fn other_hidden(&self) -> Vec<Word> {
        let (Some(was), Some(is)) = (&self.was, &self.is) else {
            return Vec::new();
        };
        let only = |one: &Outline, other: &Outline| -> Vec<Word> {
            let names = one.hidden.iter();
            let names = names.filter(|name| other.hidden.binary_search(name).is_err());
            names.copied().collect()
        };
        match Rc::ptr_eq(was, is) {
            true => Vec::new(),
            false => [only(was, is), only(is, was)].concat(),
        }
    }

    fn differs(&self, of: impl Fn(&Outline) -> Fingerprint) -> bool {
        self.was.as_deref().map(&of) != self.is.as_deref().map(&of)
    }
}

/// Why the class files of a source may be others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affected {
    /// It was edited itself.
    Edited,
    /// It names a type of this source, whose declarations may mean something else.
    Through(usize),
}

/// By source: why its class files may be others, if they may. `sources` are all
/// that are compiled, whatever they belong to.
pub fn affected(sources: &[Source]) -> Vec<Option<Affected>> {
    let mut users = users(sources);
    let mut found: Vec<Option<Affected>> = sources
        .iter()
        .map(|source| source.differs(|one| one.whole).then_some(Affected::Edited))
        .collect();
    let mut has_other_head: Vec<bool> = sources
        .iter()
        .map(|source| source.differs(|one| one.head))
        .collect();
    for (user, by, is_in_head) in of_hidden(sources, &users) {
        found[user].get_or_insert(Affected::Through(by));
        has_other_head[user] |= is_in_head;
    }
    let mut open: Vec<usize> = (0..sources.len())
        .filter(|at| has_other_head[*at])
        .collect();
    while let Some(at) = open.pop() {
        for word in sources[at].sides().flat_map(|side| &side.types) {
            // Each name once: who uses it is found then.
            let Some(users) = users.remove(word) else {
                continue;
            };
            for user in users.anywhere {
                found[user].get_or_insert(Affected::Through(at));
            }
            for user in users.in_head {
                if !std::mem::replace(&mut has_other_head[user], true) {
                    open.push(user);
                }
            }
        }
    }
    found
}

/// The sources that have a word.
#[derive(Default)]
struct Users {
    anywhere: Vec<usize>,
    in_head: Vec<usize>,
}

/// By the name of a type.
fn users(sources: &[Source]) -> FxHashMap<Word, Users> {
    let mut users: FxHashMap<Word, Users> = FxHashMap::default();
    for side in sources.iter().flat_map(Source::sides) {
        for word in &side.types {
            users.entry(*word).or_default();
        }
    }
    for (at, source) in sources.iter().enumerate() {
        for side in source.sides() {
            for word in &side.words {
                if let Some(users) = users.get_mut(word) {
                    users.anywhere.push(at);
                }
            }
            for word in &side.head_words {
                if let Some(users) = users.get_mut(word) {
                    users.in_head.push(at);
                }
            }
        }
    }
    users
}

/// A private field that comes or goes is in front of an inherited one of its name: in
/// a class below, within others, that name means a variable of theirs then. Who has such
/// a name and inherits from the class, or imports what it has: each with the source of
/// the field, and whether its head has the name.
fn of_hidden(sources: &[Source], users: &FxHashMap<Word, Users>) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let names = source.other_hidden();
        if names.is_empty() {
            continue;
        }
        let has = |words: &[Word]| names.iter().any(|name| words.binary_search(name).is_ok());
        let mut seen = FxHashSet::default();
        let mut open = vec![at];
        while let Some(below) = open.pop() {
            for word in sources[below].sides().flat_map(|side| &side.types) {
                if !seen.insert(*word) {
                    continue;
                }
                let Some(users) = users.get(word) else {
                    continue;
                };
                open.extend(&users.in_head);
                for user in &users.anywhere {
                    if sources[*user].sides().any(|side| has(&side.words)) {
                        let is_in_head = sources[*user].sides().any(|side| has(&side.head_words));
                        found.push((*user, at, is_in_head));
                    }
                }
            }
        }
    }
    found
}
