//! Test runners: how each is found, started, told what to leave out, and what
//! of its configuration can change an outcome.

pub mod console;
pub mod gradle;
pub mod jvm;
pub mod maven;
pub mod pytest;
mod testng;
