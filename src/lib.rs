//! tamis runs only the tests that a change can affect.
//!
//! Each module is one room of the house; `ARCHITECTURE.md` draws it.

pub mod ci;
pub mod cli;
pub mod collect;
pub mod config;
pub mod count;
pub mod disk;
pub mod error;
pub mod fingerprint;
#[cfg(test)]
mod fuzz;
pub mod history;
pub mod matrix;
pub mod pattern;
pub mod pipeline;
pub mod report;
pub mod run;
pub mod runners;
pub mod select;
pub mod share;
pub mod store;
pub mod trust;
