//! From what agents saw to rows: reads traces, joins the scopes of all
//! processes into one graph, and closes each test over it.

mod additions;
mod cause;
mod classes;
mod finds;
mod graph;
mod jvm;
mod meaning;
mod modules;
mod names;
mod rows;
mod state;
mod trace;
mod units;
mod way;

pub use cause::{Cause, Causes};
pub use graph::{Graph, NodeId};
pub use rows::{Collected, CollectedRow, SharedState, collect};
pub use trace::{Definition, Open, Role, ScopeKind, Trace, TraceError, read_traces};
pub use way::{Origin, RowOf, Step, Way, Ways, Whole};
