//! How a test reaches what its row holds.

use crate::matrix::Unit;

/// How a unit came to be part of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub origin: Origin,
    /// From what was there first to what leads to the unit.
    pub steps: Vec<Step>,
    /// If the unit is all of a module, or was taken with all methods, why.
    pub whole: Option<Whole>,
}

/// What a way starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The test's own function, or its file.
    Test,
    /// Code that ran for the test.
    Ran,
    /// What a module does when it is imported.
    Imported,
    /// The runner asks for it by itself.
    Runner,
    /// Only the process that ran the test knew.
    Seen,
    /// The sources that the row was recorded from are not at hand.
    Lost,
}

/// One unit on a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub unit: Unit,
    /// As people say it: `click.core#Option`.
    pub name: String,
    /// If it is all of a module, why that was taken so.
    pub whole: Option<Whole>,
}

/// Why all of a module was taken, or all methods. Who did it is the step
/// before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    /// The module is used as a value.
    Value,
    /// Code can get at all names of its own module.
    OwnNames,
    /// A star import takes everything.
    Star,
    /// Code can get at any name of any module, by these.
    Wide(Vec<String>),
    /// A module that was handed on, which is called so, can give it.
    Given(String),
    /// Code gets at methods by names that nobody spells.
    Methods,
    /// The runner asks for names that it does not spell.
    Runner,
    /// Only the process that ran the test knew.
    Seen,
}
