//! tamis runs only the tests that a change can affect.
//!
//! Each module is one room of the house; `ARCHITECTURE.md` draws it.

mod check;
mod ci;
mod cli;
mod config;
mod count;
mod disk;
mod error;
mod escape;
#[cfg(test)]
mod fuzz;
mod history;
mod languages;
mod matrix;
mod minimise;
mod observe;
mod order;
mod pattern;
mod pipeline;
mod report;
#[cfg(test)]
mod rooms;
mod run;
mod runners;
mod select;
mod share;
mod store;
mod text;
mod tracer;
mod trust;

pub use cli::run as run_command_line;
pub use report::bug::explain_panics;

/// What end-to-end tests and benches use of the rooms; no interface for others.
#[doc(hidden)]
pub mod exposed {
    pub mod config {
        pub use crate::config::{Config, Overrides, Variables};
    }
    pub mod history {
        pub use crate::history::{
            Classifier, CommitGraph, CommitId, Dag, Head, Hints, Repository, Revision, View,
        };
    }
    pub mod languages {
        pub use crate::languages::{Cache, Environment, Facts, Value};
        pub mod jvm {
            pub use crate::languages::jvm::class_in;
            pub mod java {
                pub use crate::languages::jvm::java::{Outline, Source, affected, outline};
            }
        }
    }
    pub mod matrix {
        pub use crate::matrix::{
            Fingerprint, GroupRef, Header, InClass, Key, Matrix, MatrixBuilder, MatrixView,
            Outcome, Row, RowFacts, Run, TestId, Unit, UnitId, UnitKind, What, decode, encode,
        };
    }
    pub mod observe {
        pub use crate::observe::{Observations, Trace, TraceError, observe, read_traces};
    }
    pub mod pipeline {
        pub use crate::pipeline::{Decision, Known, Project, Request, Shelf, decide, decide_on};
    }
    pub mod run {
        pub use crate::run::install_agent;
    }
    pub mod runners {
        pub use crate::runners::{Started, configured};
    }
    pub mod select {
        pub use crate::select::Strategy;
    }
    pub mod share {
        pub use crate::share::{Manifest, Pack, slug};
    }
    pub mod store {
        pub use crate::store::FsStore;
    }
}
