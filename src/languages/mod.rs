//! What code and data mean: the value of any unit at a state of the project, and what
//! a run's rows need besides what the agents saw.
//!
//! A language is a folder, a line in [`LANGUAGES`], and a fixture.

mod cause;
mod change;
mod closure;
mod facts;
mod files;
mod go;
mod javascript;
pub(crate) mod jvm;
pub(crate) mod python;
mod reads;
mod rust;
mod way;

pub(crate) use cause::{Cause, Causes};
pub(crate) use change::Change;
pub(crate) use closure::{Closure, Meaning, StateReaders};
pub use facts::{Environment, Facts, Value};
pub(crate) use facts::{Place, Probe, Read, split};
pub(crate) use files::DIR;
pub(crate) use go::{
    GoFunction, GoSource, is_part as is_part_of_go_package, is_test_file as is_go_test_file,
    trace as go_trace,
};
pub(crate) use javascript::{JsFunction, JsSource, parsed as parsed_js, trace as js_trace};
pub use python::cache::Cache;
pub(crate) use python::module::{Analysis, DIGEST_VERSION, ModuleUnits, UnitAt, name_hash};
pub(crate) use python::names::model::{
    CLASS_DOCSTRING, FUNCTION_ANNOTATIONS, FUNCTION_DOCSTRING, Import, Known, MEMBER_ANNOTATIONS,
    NAMES_VERSION, Names, Part, PartAt, Uses, annotated, is_docstring, simple_name,
};
pub(crate) use python::serials::{Serial, serials};
pub(crate) use python::statements::tests_in as python_tests_in;
pub(crate) use python::way::{RowOf, Ways};
pub(crate) use python::{
    ASKED_FOR_DOCS, CALLED, KEYED, Keyed, LISTED, LOST, SERIAL, TOLD, is_entry, keyed_in,
    shown as shown_cell,
};
pub(crate) use reads::{FunctionAt, Needed, UnitReads, Words, functions_at, read_by};
pub(crate) use rust::{parsed as parsed_rust, trace as rust_trace};

pub(crate) use way::{Origin, Step, Way, Whole};

use anyhow::Result;
use bstr::BStr;

use crate::matrix::Unit;
use crate::observe::Run;

/// One way to tell what code and data mean.
pub(crate) trait Language: Sync {
    fn name(&self) -> &'static str;

    /// Whether its agent wrote a trace that names this collector.
    fn wrote(&self, collector: &str) -> bool;

    /// Whether the scopes of a process end before the next ones begin, so that their
    /// numbers tell which was first.
    fn runs_in_order(&self) -> bool {
        false
    }

    /// Whether a trace tells for each test what it wrote, so that those of other
    /// processes that met it can be known.
    fn joins_files(&self) -> bool {
        false
    }

    /// Whether a trace tells of each path what a test found before it wrote there.
    fn tells_what_was_there_first(&self) -> bool {
        false
    }

    /// The value of a unit; `None` if it is of a kind that the language does not know.
    ///
    /// # Errors
    /// If what it is about cannot be read.
    fn value(&self, facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>>;

    /// What is different about a unit whose value is not the same in two states; `None`
    /// if the language has nothing to say beyond that.
    ///
    /// # Errors
    /// If what it is about cannot be read.
    fn changes(
        &self,
        _then: &Facts<'_>,
        _now: &Facts<'_>,
        _unit: &Unit,
    ) -> Result<Option<Vec<Change>>> {
        Ok(None)
    }

    /// What units, which are now as they were, read of the state that `modules` hold;
    /// `None` if nobody watches the values of that.
    ///
    /// # Errors
    /// If a source cannot be read.
    fn reads(
        &self,
        _facts: &Facts<'_>,
        _modules: &Needed,
        _units: &[&Unit],
    ) -> Result<Option<reads::Read>> {
        Ok(None)
    }

    /// The functions of the source at `path`, in order, if [`Self::reads`] tells what they read.
    ///
    /// # Errors
    /// If the source cannot be read.
    fn functions_at(&self, _facts: &Facts<'_>, _path: &BStr) -> Result<Vec<reads::FunctionAt>> {
        Ok(Vec::new())
    }

    /// What it knows of one run.
    ///
    /// # Errors
    /// If a source cannot be read.
    fn closure(&self, run: &mut Run<'_>) -> Result<Box<dyn Closure>>;
}

/// All languages. The order matters: a trace that no other language recognises belongs to
/// the last one, and what looks like a file to all of them may be a package to the first.
pub(crate) static LANGUAGES: [&dyn Language; 6] = [
    &go::Go,
    &javascript::JavaScript,
    &rust::Rust,
    &files::Files,
    &jvm::Jvm,
    &python::Python,
];

/// The index in [`LANGUAGES`] of that whose agent wrote a trace.
pub(crate) fn language_of(collector: &str) -> usize {
    let own = LANGUAGES.iter().position(|one| one.wrote(collector));
    own.unwrap_or(LANGUAGES.len() - 1)
}
