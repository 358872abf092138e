//! tamis on real projects: after each edit exactly the affected tests run, and every verdict
//! equals that of running everything.
//!
//! Ignored tests are slow, or need other interpreters or rare programs. `.ci/all` runs them:
//! `cargo test --test e2e -- --include-ignored`.
//!
//! Environment: with `TAMIS_E2E_PYTHON=3.8` only 3.8 stands for the other interpreters,
//! `TAMIS_E2E_ALL=1` takes the large numbers (every system call, 64 writers),
//! `TAMIS_E2E_PLAIN=1` checks only the table itself with plain pytest, and with `CI=true` a
//! missing interpreter or package is a failure and not a skip.

// What modules of a test show is for the modules beside them.
#![allow(unreachable_pub)]

mod action;
mod agent;
mod alone;
mod anew;
mod apart;
mod at_once;
mod audit;
mod bad_input;
mod believed;
mod benign;
mod beside;
mod called;
mod cargo;
mod carried;
mod chains;
mod chosen;
mod ci;
mod classify;
mod clock;
mod command;
mod confirmed;
mod console;
mod counted;
mod crashes;
mod ctest;
mod declared;
mod deselected;
mod earlier;
mod generators;
mod git_states;
mod go;
mod gradle;
mod harness;
mod histories;
mod hostile;
mod java_sources;
mod keys;
mod leaving;
mod maven;
mod minimise;
mod moments;
mod node;
mod odd_files;
mod of_process;
mod order;
mod owner;
mod parts;
mod replay;
mod restored;
mod setters;
mod shards;
mod shared;
mod smoke;
mod stores;
mod suites;
mod table;
mod ties;
mod turns;
mod two_records;
mod unlisted;
mod values;
mod why;
