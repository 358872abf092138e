//! What a search has found: the answer of `order detect --json`, schema 1.

use serde::{Deserialize, Serialize};

use crate::matrix::Outcome;

/// What is known of the order dependence of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Detected {
    pub(crate) schema: u32,
    /// How many tests the suite has.
    pub(crate) tests: usize,
    pub(crate) dependent: Vec<Dependent>,
    /// Tests that ended in different ways in the same order.
    pub(crate) flaky: Vec<String>,
    /// Tests that looked dependent, and why they are not among those that are.
    pub(crate) unconfirmed: Vec<Unconfirmed>,
    pub(crate) covered: Covered,
}

/// A test whose outcome depends on the tests before it: a manifest dependence [W section 3].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dependent {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    /// How it ends in the default order, if that was run.
    pub(crate) reference: Option<Outcome>,
    /// How it ends alone.
    pub(crate) alone: Outcome,
    /// Shortest orders that show it; each ends with the test itself. Those of a brittle test
    /// are its setters first; then, where a polluter undoes them, setters and polluter.
    pub(crate) witnesses: Vec<Vec<String>>,
    /// Tests that, between polluters and victim, undo what the polluters did.
    pub(crate) cleaners: Vec<String>,
    /// The state through which tests of a witness may reach it, as far as that is known.
    pub(crate) cells: Vec<String>,
    /// It fails alone and passes in the default order: the fault may be the program's, and
    /// other tests hide it [W section 4.1, "Masking Faults"].
    pub(crate) masked: bool,
    pub(crate) confirmed: Confirmed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Good alone; polluters before it change how it ends.
    Victim,
    /// It needs others before it.
    Brittle,
    /// It needs others before it, and polluters change how it ends nevertheless.
    Both,
}

/// Where both outcomes, alone and in a witness, were seen again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confirmed {
    /// Three times at least in the cheapest process that is sound.
    pub(crate) forked: bool,
    /// In a process of its own; of many witnesses the first ones.
    pub(crate) fresh: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unconfirmed {
    pub(crate) id: String,
    pub(crate) reason: Doubt,
    /// The order that showed it.
    pub(crate) order: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Doubt {
    /// The budget or the user ended the search before it was confirmed.
    Budget,
    /// A fresh process does not show it.
    Fresh,
}

/// What a search has looked at; "found nothing" means: nothing in this.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Covered {
    /// What was done to its end.
    pub(crate) strategies: Vec<String>,
    /// Ordered pairs of which the second test ran directly after the first, in some order.
    pub(crate) pairs: usize,
    pub(crate) pairs_total: usize,
    /// Those of these pairs that data dependences suggest, if these are known.
    #[serde(default)]
    pub(crate) candidates: Option<Candidates>,
    /// All normal orders of at most so many tests were run by themselves.
    pub(crate) k: usize,
    pub(crate) orders: usize,
    /// Tests started, each time that they were.
    pub(crate) executions: usize,
    pub(crate) cpu_seconds: f64,
    /// Whether the search was stopped before it was done: by its budget or by its user.
    pub(crate) cut_short: bool,
    /// Whether its user did.
    #[serde(default)]
    pub(crate) interrupted: bool,
}

/// Pairs of tests of which the second reads what the first writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Candidates {
    pub(crate) pairs: usize,
    /// How many of them ran directly after one another, in this order.
    pub(crate) covered: usize,
    /// The first hundred of the others.
    pub(crate) left: Vec<[String; 2]>,
}

impl Detected {
    pub(crate) const SCHEMA: u32 = 1;

    /// Leaves out what is about tests that are not to stay.
    pub(super) fn keep(&mut self, stays: impl Fn(&String) -> bool) {
        for dependent in &mut self.dependent {
            dependent.witnesses.retain(|order| order.iter().all(&stays));
            dependent.cleaners.retain(&stays);
        }
        self.dependent
            .retain(|dependent| !dependent.witnesses.is_empty());
        self.flaky.retain(&stays);
        self.unconfirmed
            .retain(|doubt| doubt.order.iter().all(&stays));
    }
}
