//! Compares what Java sources tell before they are compiled with the compiler: each class file
//! that differs between two states of a program belongs to a source that the analysis reported
//! as affected.

mod cases;
pub mod oracle;
mod programs;
mod random;
