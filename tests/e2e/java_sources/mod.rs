//! What Java sources tell before they are compiled, against the compiler: each class
//! file that differs between two states of a program is one of a source that
//! the edit was said to affect.

mod cases;
pub mod oracle;
mod programs;
mod random;
