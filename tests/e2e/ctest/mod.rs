//! CMake projects: `ctest`.

mod harness;
mod project;
mod table;
mod whole;
