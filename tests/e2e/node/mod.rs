//! vitest, jest and `node --test` under tamis: which test files run after an edit, and that none is
//! missed.

mod functions;
mod harness;
mod jest;
mod project;
mod reads;
mod table;
mod whole;
