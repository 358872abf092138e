//! CMake projects: `ctest`.

mod found;
mod harness;
mod project;
mod table;
mod whole;
