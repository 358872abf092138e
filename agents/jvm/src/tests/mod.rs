//! Tests of the agent's parts without a JVM, and of all of it in one.

mod attribution;
mod rewriting;
