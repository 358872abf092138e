//! Tests that depend on one another: which orders to run, and what their outcomes say.
//! Pure: no clock, no I/O. A [`Stepper`] names the next order; whoever runs it hands the
//! outcomes back.
//!
//! Terms and sources: \[W\] Wuttke et al., *Test Dependence: Theory and Manifestation*, 2012;
//! \[B\] Bell et al., *Efficient Dependency Detection for Safe Java Test Acceleration*, 2015;
//! \[P\] Gambi et al., *Practical Test Dependency Detection*, 2018.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod ask;
mod closure;
mod cover;
mod data;
mod dependences;
mod detect;
mod found;
mod further;
mod joined;
mod memory;
mod normal;
mod options;
mod refine;
mod report;
mod resume;
mod rules;
mod schedule;
mod search;
mod shrink;
mod suite;
#[cfg(test)]
mod tests;
mod witness;

pub(crate) use closure::{Because, Closed, Manifest};
pub(crate) use data::{Access, Accesses, Data, Does, EdgeKind};
pub(crate) use dependences::{DataEdge, Dependences};
pub(crate) use detect::Detect;
pub(crate) use found::{Confirmed, Dependent, Detected, Doubt, Kind};
pub(crate) use memory::Spent;
pub(crate) use options::{Budget, Options};
pub(crate) use refine::Refined;
pub(crate) use resume::{Explained, Place};
pub(crate) use schedule::{Policy, Schedule, schedule};
pub(crate) use search::Strategy;
pub(crate) use suite::{Suite, Test, Twice};
pub(crate) use witness::Witness;

use std::collections::BTreeMap;

use crate::matrix::Outcome;

/// Ids of tests in the order in which they run; each at most once.
pub(crate) type Order = Vec<String>;

/// The process that an order starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Process {
    /// The cheapest that is sound: a fork after collection, or a new class loader.
    Forked,
    /// One that was started for this order alone, as a user would start it.
    Fresh,
}

/// An order to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub order: Order,
    pub process: Process,
}

/// How an order ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// Of each test that ended. Of a test that was lost and of those after it: nothing.
    pub outcomes: BTreeMap<String, Outcome>,
    /// Seconds of each test that ended: set-up, call and tear-down.
    pub seconds: BTreeMap<String, f64>,
    /// The test at which the process ended; those after it did not run.
    pub lost: Option<Lost>,
    /// Wall-clock seconds for the order as a whole.
    pub elapsed: f64,
    /// Seconds of processor time for the order as a whole, child processes included.
    pub cpu: f64,
    /// Whether an earlier command ran it, so that it costs nothing here.
    pub is_recorded: bool,
}

/// A test that ended its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub test: String,
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The process died.
    Crashed,
    /// It was stopped, as the test took longer than its limit.
    TimedOut,
}

/// A search that says which order to run next.
pub(crate) trait Stepper {
    /// The next order to run; `None`: the search is done. Asked again without an answer
    /// in between, it names the same one.
    fn next(&mut self) -> Option<Step>;

    /// What became of the order that [`next`](Stepper::next) named.
    fn observe(&mut self, step: &Step, ended: &Ended);
}
