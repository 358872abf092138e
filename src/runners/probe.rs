//! Asking the environment of the tests for the value of late units.

use std::fmt;
use std::time::SystemTime;

use anyhow::Result;

use crate::languages::Probe;
use crate::matrix::{Unit, UnitKind};

/// An environment that can be asked.
pub trait Prober: fmt::Debug {
    /// The values of `units`, as far as they are of the kinds `env`, `dist` and
    /// `runtime`.
    ///
    /// # Errors
    /// If it cannot be asked or its answer is not understood.
    fn ask(&self, units: &[Unit]) -> Result<Probe>;

    /// The words that name the environment: `cpython-3.11.7-linux-x86_64`.
    ///
    /// # Errors
    /// If it cannot be asked.
    fn environment(&self) -> Result<String>;

    /// All tests that there are, if it knows.
    fn tests(&self) -> Option<&[String]> {
        None
    }

    /// When compiling began, where the command goes on with it after the selection.
    fn compiled_since(&self) -> Option<SystemTime> {
        None
    }
}

/// The part of the runtime text that names the environment: its first word.
pub(crate) fn short_name(runtime: &str) -> &str {
    runtime.split_whitespace().next().unwrap_or_default()
}

/// Whether only the environment can tell the unit's value.
pub(super) fn is_probed(unit: &Unit) -> bool {
    matches!(
        unit.kind(),
        UnitKind::Env | UnitKind::Dist | UnitKind::Runtime
    )
}
