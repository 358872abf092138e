//! Five functions that every command is made of, each with the value that it gives:
//! [`open`] a [`Project`], [`decide`] on a [`Decision`], [`launch`] a command until it
//! has [`Ran`], [`observe`] what its tests used, and [`record`] that.

mod ask;
mod asked;
mod assembly;
mod audit;
mod baselines;
mod causes;
mod compare;
mod decide;
mod differences;
mod exchange;
mod gone;
mod handed_on;
mod inventory;
mod keep;
mod launch;
mod layout;
mod ledger;
mod merge;
mod observe;
mod open;
mod project;
mod record;
mod recording;
mod replay;
mod rerun;
mod shelf;
mod tested;
mod workshop;

pub use crate::runners::Sources;
pub use audit::{Audit, Missed};
pub use baselines::{Baseline, Place};
pub use causes::causes;
pub use decide::{Decision, Known, Request, decide, decide_on};
pub use exchange::{Exchange, Told, damaged as exchange_damaged, words as exchange_words};
pub use keep::{Judged, record_run, record_unrun};
pub use launch::{Launched, Ran, TestCommand, launch};
pub use layout::{lay_out, lay_out_by_files};
pub use merge::join_shards;
pub use observe::observe;
pub use open::open;
pub use project::{Project, suite_of};
pub use record::record;
pub use recording::{CommandRun, Recorded, Recording};
pub use replay::{Chosen, Column, Miss, Replayed, Replaying, replay};
pub use rerun::{Rerun, Rerunned};
pub use shelf::Shelf;
pub use workshop::Workshop;
