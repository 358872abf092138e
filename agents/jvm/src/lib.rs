//! The collector inside Java virtual machines that run tests: a JVMTI agent.
//!
//! It puts probes into classes when they are loaded ([`plan`]), notes which of them were hit
//! during each test class ([`state`]), and writes a trace (`docs/formats/trace.md`). In every
//! other JVM it does nothing.
//!
//! Safety: all `unsafe fn` need pointers that the JVM has given to the calling thread. No
//! panic crosses into the JVM: each entry point catches it, and then the trace says that rows
//! may lack units.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]
// Its modules are tamis's too, which says what of them it uses.
#![allow(unreachable_pub)]

mod agent;
mod cells;
mod classfile;
mod discovery;
mod ffi;
mod files;
mod hooks;
mod junit3;
mod junit4;
mod lookups;
mod natives;
mod plan;
mod process;
mod reach;
mod runtime;
mod shared;
mod state;
mod statics;
mod testng;
mod trace;

#[cfg(test)]
mod tests;
