//! From what agents saw to what tests used: reads traces, joins the scopes of all
//! processes into one graph, and closes each test over it.
//!
//! Needs no store, no decision and no configuration, and knows no language: `languages`
//! tells what a trace's definitions mean and where names lead.

mod accesses;
mod additions;
mod confirmed;
pub(crate) mod graph;
mod lasting;
mod left;
mod observations;
mod own;
mod rows;
pub(crate) mod run;
mod standing;
mod state;
mod teller;
mod trace;
pub(crate) mod units;
mod walk;

pub(crate) use accesses::{Access, Does, Reader, accesses};
pub(crate) use confirmed::{LastRow, LastRows};
pub(crate) use lasting::KEPT_BY;
pub(crate) use left::TEST;
pub(crate) use observations::Lacked;
pub use observations::Observations;
pub(crate) use observations::{Compiled, Confirmed, LookedIn, ObservedRow};
pub(crate) use own::OwnUnits;
pub use rows::observe;
pub(crate) use rows::observe_after;
pub(crate) use run::Run;
pub(crate) use teller::{Configuration, Given, Teller};
pub(crate) use trace::{Definition, Found, ScopeKind, TestBegin};
pub use trace::{Trace, TraceError, read_traces};
