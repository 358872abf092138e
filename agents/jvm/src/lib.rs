//! The collector inside Java virtual machines that run tests: a JVMTI agent.
//!
//! It puts probes into classes when they are loaded ([`plan`]), notes which of
//! them ran while each test class did ([`state`]), and writes a trace
//! (`docs/formats/trace.md`). In every other JVM it does nothing.
//!
//! Safety: all `unsafe fn` need pointers that the JVM has handed to the thread
//! that calls them. No panic crosses into the JVM: each way in catches it,
//! and then the trace says that rows may lack units.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

mod agent;
mod classfile;
mod ffi;
mod hooks;
mod junit3;
mod junit4;
mod natives;
mod plan;
mod process;
mod runtime;
mod shared;
mod state;
mod statics;
mod testng;
mod trace;

#[cfg(test)]
mod tests;
