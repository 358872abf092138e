//! What a language does for the rows of one run.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, BString};

use crate::matrix::Reads;
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

/// The units whose code can read some state.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateReaders {
    pub units: Vec<UnitIndex>,
    /// Units that read it for whoever also needs one of the `holders`: these hand out what the
    /// state is in.
    pub looking: Vec<UnitIndex>,
    pub holders: Vec<NodeId>,
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

    /// Gets ready for [`naming`](Self::naming): these units are what `ran`.
    ///
    /// # Errors
    /// If a source cannot be read.
    fn index_names(&mut self, _run: &Run<'_>, _ran: &BTreeSet<UnitIndex>) -> Result<()> {
        Ok(())
    }

    /// Of what ran, the units whose code can read the state that a trace calls `name`
    /// in `file`; `None` if it is another language's, or leads from no test to another.
    fn naming(&self, _run: &Run<'_>, _file: &BStr, _name: &str) -> Option<StateReaders> {
        None
    }

    /// What `nodes` and their `units` lead to, these among it, without what the closure with
    /// the number `on` has, which it builds on. Closures are numbered in the order in which
    /// they are asked for: others build on them.
    fn close_base(
        &mut self,
        _run: &mut Run<'_>,
        _nodes: &[NodeId],
        units: Vec<UnitIndex>,
        _on: Option<usize>,
    ) -> Vec<UnitIndex> {
        units
    }

    /// The same of a row, on which nothing builds.
    fn close(
        &mut self,
        _run: &mut Run<'_>,
        _nodes: &[NodeId],
        units: Vec<UnitIndex>,
        _on: usize,
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

    /// What the code of `nodes`, and `units` that are no code of a source, read of state
    /// beside what sources tell.
    fn reads(&self, _nodes: &[NodeId], _units: &[UnitIndex]) -> Reads {
        Reads::default()
    }

    /// Nodes that each test of `file` needs beside that of collecting it.
    fn around(&self, _run: &Run<'_>, _file: &BStr) -> Vec<NodeId> {
        Vec::new()
    }

    /// Units that change with anything that the modules whose imports are among `nodes`
    /// do when they are imported, or with what can be read of them: docstrings if asked.
    fn left_by(
        &mut self,
        _run: &mut Run<'_>,
        _nodes: &[NodeId],
        _docstrings: bool,
    ) -> Vec<UnitIndex> {
        Vec::new()
    }

    /// Gives the session what finding the tests depends on. No row is closed after that.
    fn attach_collection(&mut self, _run: &mut Run<'_>, _observed: &Observations) {}
}
