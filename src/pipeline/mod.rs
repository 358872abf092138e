//! Five functions that every command is made of, each with the value that it gives:
//! [`open()`] a [`Project`], [`decide()`] on a [`Decision`], [`launch()`] a command until it
//! has [`Ran`], [`observe::observe`] what its tests used, and [`record::record`] that.

mod ask;
mod asked;
mod assembly;
mod audit;
mod baselines;
mod causes;
mod compare;
mod confirm;
mod confirmed;
mod data;
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
mod order;
mod own;
mod project;
mod record;
mod recording;
mod replay;
mod rerun;
mod shelf;
mod tested;
mod workshop;

pub(crate) use crate::runners::Sources;
pub(crate) use audit::{Audit, Missed};
pub(crate) use causes::causes;
pub(crate) use confirm::confirming;
pub use decide::{Decision, Known, Request, decide, decide_on};
pub(crate) use exchange::{Exchange, damaged as exchange_damaged, words as exchange_words};
pub(crate) use keep::{Judged, record_run, record_unrun};
pub(crate) use launch::{Ran, TestCommand, launch};
pub(crate) use layout::{lay_out, lay_out_by_files};
pub(crate) use merge::join_shards;
pub(crate) use open::open;
pub(crate) use order::{Ordering, Recorded as RecordedAccesses};
pub use project::Project;
pub(crate) use project::suite_of;
pub(crate) use recording::Recorded;
pub(crate) use replay::{Column, Replayed, Replaying, replay};
pub(crate) use rerun::Rerun;
pub use shelf::Shelf;
pub(crate) use workshop::Workshop;
