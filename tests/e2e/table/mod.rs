//! The edit table, one file for each group of things that a test can depend on.

mod annotations;
mod caches;
mod classes;
mod code;
mod config;
mod data_files;
mod descriptors;
mod docstrings;
mod dynamic;
mod environment;
mod features;
mod fixtures;
mod imports;
mod kinds;
mod layout;
mod members;
mod names;
mod packages;
mod parametrize;
mod processes;
mod start_up;
mod state;
mod text;
mod times;
mod workers;
mod xunit;
