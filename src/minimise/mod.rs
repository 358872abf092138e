//! Tests that share statements: which of them can become one, so that what they share runs once.
//! Pure: no clock, no I/O, and it knows no language. Whoever watched the tests hands in what each
//! statement found and left; whoever knows the language hands in where statements stand.
//!
//! Source: \[V\] Vahabzadeh et al., *Fine-Grained Test Minimization*, 2018.
//!
//! Where this is stricter than \[V\]: a statement is only left out if one with the same text ran
//! before in the *same* composed test, with the same inputs, on the same objects and with the
//! same effect; the statements of a test stay together and in their order; and whatever may
//! check something is kept.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod check;
mod model;
mod naming;
mod redundancy;
mod reorganise;
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub(crate) use check::differs;
pub(crate) use model::{Call, Known, Role};
pub(crate) use model::{Statement, Test};
pub(crate) use naming::composed_name;
pub(crate) use redundancy::redundancy;
pub(crate) use reorganise::{Limits, reorganise};
pub(crate) use text::{Edit, rewrite};
pub(crate) use text::{Part, SourceText, StatementText, TestText};
pub(crate) use walk::Composed;
