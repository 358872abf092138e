//! `_tamis_native`: what the Python agent needs at native speed. `API.md` says
//! what Python sees of it.
//!
//! One file serves several CPython versions, so nothing here includes Python's
//! headers: `ffi` declares what all versions export, looks up the rest at run
//! time, and holds the few struct offsets; each use of an offset is probed
//! before it is trusted, and a failed probe means that the agent falls back.
//!
//! Safety: all `unsafe fn` need the GIL of the main interpreter, and pointers
//! to live objects; what one of them needs besides, its comment says.

#![allow(unsafe_op_in_unsafe_fn)]

mod abilities;
mod audit;
mod codes;
mod content;
mod digest;
mod eval_frame;
mod ffi;
mod guards;
mod module;
mod monitoring;
mod standins;
mod trace;
mod watch;
