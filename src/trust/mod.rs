//! Decides whether a shared matrix may justify a skip here, by its writer. Pure: no I/O, no
//! clock, no environment. `docs/security.md` describes the attacks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod policy;
mod sign;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use policy::{Distrust, Policy, Standing, judge};
pub(crate) use sign::{PublicKey, SecretKey, Signature, Signed};
pub(crate) use writer::Writer;
