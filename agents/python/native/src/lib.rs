//! `_tamis_native`: the parts of the Python agent that need native speed. `API.md` describes
//! its Python interface.
//!
//! One file serves several CPython versions, so nothing here includes Python's headers. `ffi`
//! declares what all versions export, looks up the rest at run time, and holds a few struct
//! offsets. Each use of an offset is probed before it is trusted; after a failed probe the
//! agent falls back.
//!
//! Safety: all `unsafe fn` need the GIL of the main interpreter and pointers to live objects.
//! Further needs are in their comments.

#![allow(unsafe_op_in_unsafe_fn)]

mod abilities;
mod aged;
mod attributes;
mod audit;
mod closings;
mod codes;
mod content;
mod digest;
mod docs;
mod eval_frame;
mod ffi;
mod formats;
mod frames;
mod guards;
mod members;
mod module;
mod monitoring;
mod outliving;
mod serials;
mod signatures;
mod signs;
mod standins;
mod told;
mod trace;
mod watch;
mod watching;
