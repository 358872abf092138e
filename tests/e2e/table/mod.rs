//! The edit table, one file for each group of things that a test can depend on.

mod data_files;
