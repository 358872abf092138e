//! `go test` under tamis: which tests run after an edit, and that none is missed.

mod harness;
mod module;
mod table;
mod whole;
