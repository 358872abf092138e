//! The edit table, one file for each group of things that a test can depend on.

mod code;
mod config;
mod data_files;
mod environment;
mod fixtures;
mod imports;
mod kinds;
mod layout;
mod packages;
mod parametrize;
mod processes;
mod state;
mod text;
