//! Rust: `cargo test` in a workspace.

mod found;
mod harness;
mod project;
mod table;
mod whole;
