//! Who wrote a shared matrix, and whether it may justify a skip here. Pure: no
//! I/O, no clock, no environment. `docs/security.md` says what it is against.

mod policy;
mod sign;
#[cfg(test)]
mod tests;
mod writer;

pub use policy::{Distrust, Policy, Standing, judge};
pub use sign::{KeyError, PublicKey, SecretKey, Signature, Signed};
pub use writer::Writer;
