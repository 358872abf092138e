//! What makes a test run.

use super::{Change, Way};
use crate::matrix::{Fingerprint, Unit};

/// One unit that changed since a test ran.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub unit: Unit,
    /// As people say it: `click.core#Option`.
    pub name: String,
    pub from: Fingerprint,
    pub to: Fingerprint,
    /// What is different; never empty.
    pub changes: Vec<Change>,
    pub way: Way,
}

/// The units of a test's row that changed since it ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Causes {
    pub told: Vec<Cause>,
    /// How many more there are.
    pub more: usize,
}
