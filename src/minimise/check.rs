//! Whether a composed test, when it ran, was what its tests were.

use std::collections::BTreeSet;

use super::model::{Role, Statement, Test};
use super::walk::Composed;

/// What a composed test does otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// It has more or fewer statements than it should have.
    Length,
    /// A statement is another: the test that it is of, and its place there.
    Statement(usize, usize),
    /// A statement found or left other values.
    Values(usize, usize),
    /// A statement made other calls of production code.
    Calls(usize, usize),
    /// An assertion of a test is not in it.
    Assertions(usize),
    /// The sets of production calls differ.
    Production,
}

impl Difference {
    /// It in words.
    pub(crate) fn told(&self, tests: &[Test]) -> String {
        let at = |test: &usize, statement: &usize| {
            format!("statement {} of {}", statement + 1, tests[*test].id)
        };
        match self {
            Difference::Length => "the new test has more or fewer statements".to_owned(),
            Difference::Statement(test, one) => {
                format!("{} is another in the new test", at(test, one))
            }
            Difference::Values(test, one) => {
                format!("{} finds or leaves other values", at(test, one))
            }
            Difference::Calls(test, one) => {
                format!("{} makes other calls of production code", at(test, one))
            }
            Difference::Assertions(test) => {
                format!("the new test lacks an assertion of {}", tests[*test].id)
            }
            Difference::Production => {
                "the new test makes other calls of production code".to_owned()
            }
        }
    }
}

/// Compares a composed test as it ran with its tests as they ran \[V, section 3.4\]: each
/// statement found what it had found, called what it had called, and left what it had left; all
/// assertions are there, one by one; and the sets of production calls are equal. `None`: all is.
pub(crate) fn differs(tests: &[Test], composed: &Composed, ran: &Test) -> Option<Difference> {
    if ran.statements.len() != composed.steps.len() {
        return Some(Difference::Length);
    }
    for (step, now) in composed.steps.iter().zip(&ran.statements) {
        let (test, at) = (step.test, step.statement);
        let then = &tests[test].statements[at];
        if then.role == Role::Silent && now.role == Role::Silent {
            continue;
        }
        if then.role != now.role || then.shape != now.shape {
            return Some(Difference::Statement(test, at));
        }
        if then.calls != now.calls {
            return Some(Difference::Calls(test, at));
        }
        let is_same = then.before == now.before && then.after == now.after;
        if !is_same || then.shared != now.shared || !now.is_known() {
            return Some(Difference::Values(test, at));
        }
    }
    let kept: BTreeSet<(usize, usize)> = composed
        .steps
        .iter()
        .map(|step| (step.test, step.statement))
        .collect();
    for test in composed.tests.iter().copied() {
        let all = tests[test].statements.iter().enumerate();
        let mut assertions = all.filter(|(_, one)| one.role != Role::Action);
        if assertions.any(|(at, _)| !kept.contains(&(test, at))) {
            return Some(Difference::Assertions(test));
        }
    }
    let production = |statements: &mut dyn Iterator<Item = &Statement>| {
        let calls: BTreeSet<_> = statements.flat_map(|one| one.calls.clone()).collect();
        calls
    };
    let before = composed
        .tests
        .iter()
        .flat_map(|test| &tests[*test].statements);
    match production(&mut before.into_iter()) == production(&mut ran.statements.iter()) {
        true => None,
        false => Some(Difference::Production),
    }
}
