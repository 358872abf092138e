//! What code of Rust means: its tokens, and all that these can name, and what that can name.
//!
//! Types are not known here. A name stands for everything of the project that is called so and
//! can stand there, which is more than it really means.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use bit_set::BitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::syntax::{Declaration, Kind, Rest, RustSource};
use super::tokens::Mention;
use crate::matrix::Fingerprint;

/// What the sources of a project declare.
#[derive(Default)]
pub(super) struct Declared {
    all: Vec<Declaration>,
    by_name: FxHashMap<String, Vec<usize>>,
    /// Names that can stand for any type.
    other_names: BTreeSet<String>,
    traits: BTreeSet<String>,
    /// Whether a macro with a usual name may use names in any way.
    has_standard_macro: bool,
    /// What each declaration leads to, once that is known.
    led: RefCell<FxHashMap<usize, Rc<Vec<usize>>>>,
}

impl Declared {
    pub(super) fn of(sources: &[Arc<RustSource>]) -> Declared {
        let mut declared = Declared::default();
        for source in sources {
            declared
                .other_names
                .extend(source.other_names.iter().cloned());
            declared.has_standard_macro |= source.has_standard_macro;
            declared.traits.extend(source.traits.iter().cloned());
            for one in &source.declarations {
                let number = declared.all.len();
                for name in &one.names {
                    let known = declared.by_name.entry(name.clone()).or_default();
                    known.push(number);
                }
                declared.all.push(one.clone());
            }
        }
        declared
    }

    /// What tokens mean, in which `Self` is this type.
    pub(super) fn meaning(&self, tokens: &Rest, of_self: Option<&str>) -> Fingerprint {
        self.with(tokens, self.named(&tokens.mentions, of_self))
    }

    /// What a part of a file means: what is implemented for types that are none of the project,
    /// and imports of what may be a trait, count for all that has the file in it.
    pub(super) fn of_file(&self, source: &RustSource, part: &Rest) -> Fingerprint {
        let mut first = self.named(&part.mentions, Some(""));
        let mut own = Vec::new();
        for one in &source.declarations {
            let is_about_one = matches!(one.kind, Kind::Implementation | Kind::Import);
            if is_about_one && !self.is_of_own_type(one) {
                own.push(one.shown.digest);
                first.extend(self.named(&one.shown.mentions, Some("")));
            }
        }
        let whole = self.with(part, first);
        let parts = [whole].into_iter().chain(own);
        let text: Vec<u8> = parts.flat_map(|one| one.0).collect();
        Fingerprint::of_digest("tamis 2026 rust file 1", &text)
    }

    /// Whether something is about a type of the project, and about nothing else.
    fn is_of_own_type(&self, one: &Declaration) -> bool {
        if one.names.iter().any(|name| self.traits.contains(name)) {
            return false;
        }
        let named = one.names.iter().filter_map(|name| self.by_name.get(name));
        let mut named = named.flatten();
        named.any(|number| self.all[*number].kind == Kind::Type)
    }

    fn with(&self, tokens: &Rest, first: Vec<usize>) -> Fingerprint {
        let mut met: BitSet = first.iter().copied().collect();
        let mut open = first;
        while let Some(number) = open.pop() {
            for next in self.led(number).iter() {
                if met.insert(*next) {
                    open.push(*next);
                }
            }
        }
        let mut digests: Vec<Fingerprint> =
            met.iter().map(|at| self.all[at].shown.digest).collect();
        digests.sort_unstable();
        let parts = [tokens.digest].into_iter().chain(digests);
        let text: Vec<u8> = parts.flat_map(|one| one.0).collect();
        Fingerprint::of_digest("tamis 2026 rust meaning 1", &text)
    }

    /// What a declaration names.
    fn led(&self, number: usize) -> Rc<Vec<usize>> {
        if let Some(known) = self.led.borrow().get(&number) {
            return known.clone();
        }
        let one = &self.all[number];
        let of_self = match &one.kind {
            Kind::Function { owner, .. } => owner.as_deref(),
            Kind::Type | Kind::Implementation => one.names.first().map(String::as_str),
            Kind::Import | Kind::Other => None,
        };
        let led = Rc::new(self.named(&one.shown.mentions, of_self));
        self.led.borrow_mut().insert(number, led.clone());
        led
    }

    /// Everything that can be named so.
    fn named(&self, mentions: &[Mention], of_self: Option<&str>) -> Vec<usize> {
        let mut found = FxHashSet::default();
        for mention in mentions {
            let known = self.by_name.get(mention.name()).into_iter().flatten();
            found.extend(known.filter(|at| self.may_be(mention, &self.all[**at], of_self)));
        }
        // Its type has no name where it is `Self`.
        if let Some(own) = of_self {
            let known = self.by_name.get(own).into_iter().flatten();
            found.extend(known.filter(|at| !matches!(self.all[**at].kind, Kind::Function { .. })));
        }
        found.into_iter().collect()
    }

    /// Whether a name as it is mentioned can be that declaration.
    fn may_be(&self, mention: &Mention, one: &Declaration, of_self: Option<&str>) -> bool {
        let Kind::Function { owner, has_self } = &one.kind else {
            return !matches!(mention, Mention::Method(_));
        };
        match (mention, owner) {
            (Mention::Any(_), _) | (Mention::Bare(_), None) => true,
            (Mention::Bare(_), Some(_)) => self.has_standard_macro,
            (Mention::Method(_), None) => false,
            (Mention::Method(_), Some(_)) => *has_self,
            (Mention::Path(qualifier, _), None) => {
                let first = qualifier.chars().next();
                first.is_none_or(|first| !first.is_uppercase())
                    || self.other_names.contains(qualifier)
            }
            (Mention::Path(qualifier, _), Some(owner)) => match qualifier.as_str() {
                "" => true,
                _ if owner.is_empty() || self.other_names.contains(owner) => true,
                "Self" => of_self.is_none_or(|own| own.is_empty() || own == owner),
                qualifier => qualifier == owner || self.other_names.contains(qualifier),
            },
        }
    }
}
