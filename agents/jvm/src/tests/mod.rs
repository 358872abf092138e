//! The agent's parts without a JVM, and the whole in one.

mod attribution;
mod rewriting;
