//! Early cut-off by value: code that runs at import counts by the values that it leaves.
//!
//! An edit of such code runs the tests that read a value which is different now, and leaves
//! out the others. Tests with `! ` fail after the edit: to leave one out is a miss. Where
//! the state of the process or of a library may be touched, more tests may run.

mod abstract_classes;
mod annotated;
mod annotated_members;
mod asked;
mod caches;
mod called;
mod class_docs;
mod classes;
mod collection;
mod docstrings;
mod generated;
mod holders;
mod identity;
mod import_code;
mod kept_signatures;
mod kinds;
mod libraries;
mod listed;
mod marks;
mod modules;
mod names;
mod process;
mod processes;
mod reading;
mod registries;
mod runs;
mod serials;
mod stars;
mod steps;
mod test_classes;
mod warnings;
mod workers;
