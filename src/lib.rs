//! tamis runs only the tests that a change can affect.
//!
//! Each module is one room of the house; `ARCHITECTURE.md` draws it.

pub mod check;
pub mod ci;
pub mod cli;
pub mod config;
pub mod count;
pub mod disk;
pub mod error;
pub mod escape;
#[cfg(test)]
mod fuzz;
pub mod history;
pub mod languages;
pub mod matrix;
pub mod observe;
pub mod pattern;
pub mod pipeline;
pub mod report;
#[cfg(test)]
mod rooms;
pub mod run;
pub mod runners;
pub mod select;
pub mod share;
pub mod store;
pub mod text;
pub mod trust;
