//! tamis runs only the tests that a change can affect.
//!
//! Each module is one room of the house; `ARCHITECTURE.md` draws it.

pub mod cli;
pub mod config;
pub mod error;
pub mod history;
#[deny(clippy::disallowed_methods)]
pub mod matrix;
pub mod report;
