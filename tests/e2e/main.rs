//! tamis on real projects: after each edit, exactly the tests that the edit
//! can affect are run, and every verdict equals that of running everything.
//!
//! Ignored tests are slow, need other interpreters or need programs that few have:
//! `cargo test --test e2e -- --include-ignored`, as `.ci/all` does.
//!
//! Environment: `TAMIS_E2E_PYTHON=3.8` takes that interpreter of those that are neither
//! the newest nor 3.11, `TAMIS_E2E_ALL=1` disturbs every system call and not some of them,
//! `TAMIS_E2E_PLAIN=1` checks the table itself with plain pytest alone, and `CI=true`
//! turns a missing interpreter or package from a skip into a failure.

mod action;
mod agent;
mod audit;
mod bad_input;
mod benign;
mod beside;
mod carried;
mod ci;
mod classify;
mod clock;
mod console;
mod crashes;
mod declared;
mod git_states;
mod gradle;
mod harness;
mod histories;
mod hostile;
mod java_sources;
mod maven;
mod odd_files;
mod owner;
mod parts;
mod replay;
mod shards;
mod shared;
mod smoke;
mod stores;
mod suites;
mod table;
mod unlisted;
mod why;
