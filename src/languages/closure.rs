//! What a language does for the rows of one run.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, BString};
use rustc_hash::FxHashSet;

use crate::observe::graph::NodeId;
use crate::observe::units::UnitIndex;
use crate::observe::{Definition, Observations, Run, TestBegin, Trace};

/// What a definition of a trace stands for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meaning {
    pub units: Vec<UnitIndex>,
    /// The file of a module whose import everything needs that runs its code.
    pub module: Option<BString>,
}

/// What a language knows of one run while the rows of that are built. Every language
/// is asked in turn; where it has nothing to say, nothing happens.
pub(crate) trait Closure {
    /// What a definition means; `None` if it is another language's.
    ///
    /// # Errors
    /// If git cannot be read.
    fn meaning(&mut self, _run: &mut Run<'_>, _what: &Definition) -> Result<Option<Meaning>> {
        Ok(None)
    }

    /// Adds to the graph what follows from it: units that nodes need beside those that
    /// were seen.
    ///
    /// # Errors
    /// If a source cannot be read.
    fn attach(&mut self, _run: &mut Run<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether the tests come in another order each time: then that of one run says
    /// nothing of the next.
    fn reorders(&self, _run: &Run<'_>) -> bool {
        false
    }

    /// Of what `ran`, the units whose code can read the state that a trace calls `name`
    /// in `file`; `None` if it is another language's, or leads from no test to another.
    ///
    /// # Errors
    /// If a source cannot be read.
    fn naming(
        &self,
        _run: &Run<'_>,
        _ran: &BTreeSet<UnitIndex>,
        _file: &BStr,
        _name: &str,
    ) -> Result<Option<FxHashSet<UnitIndex>>> {
        Ok(None)
    }

    /// What `nodes` and their `units` lead to, these among it. Closures are numbered
    /// in the order in which they are asked for: rows build on them.
    fn close_base(
        &mut self,
        _run: &mut Run<'_>,
        _nodes: &[NodeId],
        units: Vec<UnitIndex>,
    ) -> Vec<UnitIndex> {
        units
    }

    /// The same of a row, without what the closure with the number `base` has.
    fn close(
        &mut self,
        _run: &mut Run<'_>,
        _nodes: &[NodeId],
        units: Vec<UnitIndex>,
        _base: usize,
    ) -> Vec<UnitIndex> {
        units
    }

    /// Notes a process that ran tests, whose agent is the language's.
    fn note(&mut self, _run: &Run<'_>, _trace: &Trace, _observed: &mut Observations) {}

    /// What stands before the ids of tests of such a process.
    fn id_prefix(&self, _run: &Run<'_>, _trace: &Trace) -> String {
        String::new()
    }

    /// The id of a test of such a process.
    fn test_id(&self, _run: &Run<'_>, test: &TestBegin, prefix: &str) -> String {
        format!("{prefix}{}", test.test)
    }

    /// The units of such a process's test (in the trace with the number `at`), when
    /// `own` are its closed ones and `base` those of what it builds on; both sorted.
    ///
    /// # Errors
    /// If a class file cannot be read.
    fn complete(
        &mut self,
        _run: &mut Run<'_>,
        _at: usize,
        _test: &TestBegin,
        own: Vec<UnitIndex>,
        _base: &[UnitIndex],
    ) -> Result<Vec<UnitIndex>> {
        Ok(own)
    }

    /// Gives the session what finding the tests depends on. No row is closed after that.
    fn attach_collection(&mut self, _run: &mut Run<'_>, _observed: &Observations) {}
}
