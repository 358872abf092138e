//! The one path that `run`, `select`, `record` and `why` share: from the
//! project's state and its store to a selection, and from a run to a matrix.

mod ask;
mod asked;
mod assembly;
mod audit;
mod baselines;
mod causes;
mod compare;
mod decide;
mod deepen;
mod differences;
mod exchange;
mod gone;
mod handed_on;
mod inventory;
mod layout;
mod ledger;
mod merge;
mod observe;
mod project;
mod record;
mod recording;
mod replay;
mod rerun;
mod session;
mod shelf;
mod surefire;
mod tested;

pub use crate::runners::maven::Sources;
pub use crate::runners::pytest::probe::{Interpreter, Jvm, Prober};
pub use audit::{Audit, Missed};
pub use baselines::{Baseline, Place};
pub use causes::causes;
pub use decide::{Decision, Known, Request, decide, decide_on};
pub use deepen::open_whole;
pub use exchange::{Exchange, Told, damaged as exchange_damaged, words as exchange_words};
pub use layout::{lay_out, lay_out_by_files};
pub use merge::join_shards;
pub use observe::observe;
pub use project::{Project, suite_of};
pub use record::record;
pub use recording::{CommandRun, Recorded, Recording};
pub use replay::{Chosen, Column, Miss, Replayed, Replaying, replay};
pub use rerun::{Rerun, Rerunned};
pub use session::{
    Judged, Order, Ran, Session, Workshop, record_unrun, run_tests, start_tests, words,
};
pub use shelf::Shelf;
