//! From what agents saw to rows: reads traces, joins the scopes of all
//! processes into one graph, and closes each test over it.

mod additions;
pub(crate) mod graph;
mod meaning;
pub(crate) mod rows;
mod state;
pub(crate) mod trace;
pub(crate) mod units;

pub use graph::{Graph, NodeId};
pub use rows::{Collected, CollectedRow, SharedState, collect};
pub use trace::{Definition, Open, Role, ScopeKind, Trace, TraceError, read_traces};
