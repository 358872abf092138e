//! From what agents saw to what tests used: reads traces, joins the scopes of all
//! processes into one graph, and closes each test over it.
//!
//! Needs no store, no decision and no configuration, and knows no language: what
//! a trace's definitions mean, and where names lead, `languages` tells.

mod additions;
pub(crate) mod graph;
mod observations;
mod rows;
pub(crate) mod run;
mod state;
mod teller;
mod trace;
pub(crate) mod units;

pub use graph::{Graph, NodeId};
pub use observations::{
    After, Base, By, Cell, Compiled, Dependence, LookedIn, Met, Observations, ObservedRow,
};
pub use rows::observe;
pub use run::Run;
pub use teller::{Configuration, Given, Teller};
pub use trace::{
    Definition, Found, Open, Role, ScopeKind, TestBegin, Trace, TraceError, read_traces,
};
