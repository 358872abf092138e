//! tamis on real projects: after each edit exactly the affected tests run, and every verdict
//! equals that of running everything.
//!
//! Environment: `TAMIS_E2E_ALL=1` runs the table on every interpreter (`TAMIS_E2E_ALL=3.8` on
//! that one and the two usual ones), `TAMIS_E2E_PLAIN=1` checks only the table itself with
//! plain pytest, and with `CI=true` a missing interpreter or package is a failure and not a
//! skip.

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
