//! The model of a test suite: statements, what they use and define, and states.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// The value of a variable with its type \[V, definition 2\]: the value is a digest of all that
/// the variable holds, to any depth. Sent as `[type, digest, is plain]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Sent", into = "Sent")]
pub struct Known {
    pub kind: String,
    /// `None`: it cannot be seen, or is not known any more. That is never equal to anything.
    pub value: Option<String>,
    /// Whether nobody can change what it holds.
    pub is_plain: bool,
}

type Sent = (String, Option<String>, bool);

impl From<Sent> for Known {
    fn from((kind, value, is_plain): Sent) -> Known {
        Known {
            kind,
            value,
            is_plain,
        }
    }
}

impl From<Known> for Sent {
    fn from(known: Known) -> Sent {
        (known.kind, known.value, known.is_plain)
    }
}

impl Known {
    /// Whether both are known, and are of one type and one value.
    pub(crate) fn is(&self, other: &Known) -> bool {
        self.value.is_some() && self.value == other.value && self.kind == other.kind
    }
}

/// A call of production code from a test statement, of which there is no other between the two
/// \[V, definition 3: one of the production method calls, PMC\].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Call {
    /// Its qualified name.
    pub method: String,
    /// In order, the receiver first.
    pub inputs: Vec<Input>,
}

/// One input of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Input {
    pub kind: String,
    /// `None`: it cannot be seen.
    pub value: Option<String>,
}

/// What a statement may be to a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It does something, and checks nothing.
    Action,
    /// It checks something, or may do so.
    #[default]
    Assertion,
    /// The interpreter makes nothing of it: text for readers.
    Silent,
}

/// A statement of a test as it ran \[V, section 2.2\]. Variables are named in the order in which
/// they first appear in it; all lists by that position.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statement {
    pub role: Role,
    /// Its text, with positions in place of variables.
    pub shape: String,
    /// The variables that it names.
    pub used: Vec<String>,
    /// Those that it binds.
    pub defined: BTreeSet<String>,
    /// Those that cannot be called otherwise in it.
    pub fixed: BTreeSet<String>,
    /// Names in it that mean something outside of the test.
    pub free: BTreeSet<String>,
    /// What they hold before and after; `None` where one is not bound.
    pub before: Vec<Option<Known>>,
    pub after: Vec<Option<Known>>,
    /// Digests, before and after, that also tell which of them share objects.
    pub shared: [String; 2],
    /// \[V, definition 3\], in order.
    pub calls: Vec<Call>,
    /// The same as a set, made by `calling`.
    pub production: Rc<BTreeSet<Call>>,
    /// All variables of the test that hold something else after it; `None`: unbound.
    pub changed: BTreeMap<String, Option<Known>>,
}

impl Statement {
    /// The variables that it finds bound, by position: what it uses \[V, definition 4: used
    /// variables of a statement, UVS\]. Whatever it names counts as used with all that it holds.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (usize, &str, &Known)> {
        let found = self.used.iter().zip(&self.before).enumerate();
        found.filter_map(|(at, (name, before))| Some((at, name.as_str(), before.as_ref()?)))
    }

    /// The production calls as a set \[V, definition 3\]: statements with the same ones are
    /// equivalent \[V, definition 9\].
    pub(crate) fn production(&self) -> Rc<BTreeSet<Call>> {
        Rc::clone(&self.production)
    }

    /// Gives it these calls.
    pub(crate) fn calling(mut self, calls: Vec<Call>) -> Statement {
        self.production = Rc::new(calls.iter().cloned().collect());
        self.calls = calls;
        self
    }

    /// Whether it changes what a variable holds that was bound before, without binding it anew.
    pub(crate) fn mutates(&self) -> bool {
        self.uses().any(|(at, name, before)| {
            !self.defined.contains(name) && self.after[at].as_ref() != Some(before)
        })
    }

    /// Whether nothing of what it found or left is unknown.
    pub(crate) fn is_known(&self) -> bool {
        let values = self.before.iter().chain(&self.after).flatten();
        let inputs = self.calls.iter().flat_map(|call| &call.inputs);
        values.into_iter().all(|known| known.value.is_some())
            && inputs.into_iter().all(|input| input.value.is_some())
    }

    /// Whether `other` is the same work on the same state, as far as values tell.
    pub(crate) fn does_as(&self, other: &Statement) -> bool {
        self.shape == other.shape
            && self.calls == other.calls
            && self.before == other.before
            && self.after == other.after
            && self.shared == other.shared
    }
}

/// A test as it ran: a path of statements from its first state \[V, definition 1\].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test {
    pub id: String,
    /// The name of its function.
    pub name: String,
    /// Only tests of one scope are joined.
    pub scope: String,
    /// What its first state depends on besides: fixtures, and how its instance is called.
    pub set_up: Vec<String>,
    /// Variables that it begins with, and that its signature names.
    pub parameters: Vec<String>,
    /// What it begins with: parameters, members of its instance.
    pub start: BTreeMap<String, Known>,
    pub statements: Vec<Statement>,
}

impl Test {
    /// All names that its statements use, of the test or from outside.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let own = self.statements.iter().flat_map(|one| &one.used);
        let free = self.statements.iter().flat_map(|one| &one.free);
        let all = own.chain(free).chain(&self.parameters);
        all.map(String::as_str).collect()
    }

    /// Names that mean something outside of it.
    pub(crate) fn free(&self) -> impl Iterator<Item = &str> {
        let free = self.statements.iter().flat_map(|one| &one.free);
        free.map(String::as_str)
    }
}

/// A variable in a state, and what made its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub known: Known,
    /// The production calls of the statement that gave it this value \[V, definition 5: `Meth`\].
    pub made_by: Rc<BTreeSet<Call>>,
    /// Which of the bindings of this name it is.
    pub version: u32,
}

/// All variables that a statement could name, with types, values and what made them \[V,
/// definition 7: a test state\].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub variables: BTreeMap<String, Variable>,
}

/// Where a variable of a test is in a composed test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub name: String,
    pub version: u32,
}

impl State {
    /// The variable at a place, if that has not been bound anew since.
    pub(crate) fn at(&self, place: &Place) -> Option<&Variable> {
        let found = self.variables.get(&place.name)?;
        (found.version == place.version).then_some(found)
    }

    /// Whether a variable that a statement uses can be read at `place` \[V, definition 8:
    /// compatibility, for one variable\]. `made_by` is given for assertions: these also need
    /// that the same calls made the value \[V, definition 5: UVA\]. The variables that a
    /// statement needs defined \[V, definition 6: DV\] are among those that it uses, as what
    /// it only binds needs none.
    pub(crate) fn suits(
        &self,
        place: &Place,
        wanted: &Known,
        made_by: Option<&Rc<BTreeSet<Call>>>,
    ) -> bool {
        self.at(place).is_some_and(|found| {
            found.known.is(wanted) && made_by.is_none_or(|calls| *calls == found.made_by)
        })
    }
}
