//! How much of a suite is redundant.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Role, Test};

/// Statements that do again what another statement does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redundancy {
    /// Statements beyond the first of each class of equivalent ones \[V, definition 9\], where
    /// the class is of several tests. Statements without production calls are in no class, nor
    /// are assertions, which are all kept.
    pub statements: usize,
    /// Partly redundant tests \[V, definition 10\], by their place.
    pub tests: BTreeSet<usize>,
}

/// The redundancy among `tests`.
pub(crate) fn redundancy<'t>(tests: impl IntoIterator<Item = &'t Test>) -> Redundancy {
    let mut classes: BTreeMap<_, (usize, BTreeSet<usize>)> = BTreeMap::new();
    for (at, test) in tests.into_iter().enumerate() {
        for statement in &test.statements {
            let production = statement.production();
            if statement.role == Role::Action && !production.is_empty() {
                let class = classes.entry(production).or_default();
                class.0 += 1;
                class.1.insert(at);
            }
        }
    }
    let mut found = Redundancy::default();
    for (statements, of) in classes.into_values() {
        if of.len() > 1 {
            found.statements += statements - 1;
            found.tests.extend(of);
        }
    }
    found
}
