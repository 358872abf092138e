//! Rust: `cargo test` in a workspace.

mod harness;
mod project;
mod table;
mod whole;
