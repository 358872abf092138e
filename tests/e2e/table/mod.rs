//! The edit table, one file for each group of things that a test can depend on.

mod code;
mod data_files;
mod environment;
mod fixtures;
mod parametrize;
mod processes;
mod state;
