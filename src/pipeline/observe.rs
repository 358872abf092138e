//! From the traces of a run to what its tests used. Needs no store and no decision.

use std::path::Path;

use anyhow::Result;
use bstr::ByteSlice;

use super::project::Project;
use super::recording::CommandRun;
use crate::languages::Facts;
use crate::observe::{self, LastRows, Observations, read_traces};
use crate::runners::{Finished, Started};

/// What the tests of a command used, by the traces that it left in a folder. `facts`
/// are those of the state before the tests started, `last` tells of the rows of tests
/// that were left out.
///
/// # Errors
/// If git or the traces cannot be read.
pub(crate) fn observe(
    project: &Project,
    facts: &Facts<'_>,
    traces: &Path,
    ran: &CommandRun<'_>,
    last: &dyn LastRows,
) -> Result<Observations> {
    let (traces, errors) = read_traces(traces)?;
    let started = Started {
        facts,
        project: project.prefix.as_bstr(),
        command: &ran.words,
        folder: std::env::current_dir().ok(),
        variable: &|name| std::env::var_os(name),
    };
    let benign = &project.config.benign_state.value;
    let mut observed = observe::observe_after(&traces, &errors, facts, &started, benign, last)?;
    started.attach_finds(&mut observed);
    let finished = Finished {
        command: &ran.words,
        project: &project.dir,
        left_out: &ran.exclusions.tests,
        ended: ran.ended,
        duration: ran.duration,
        facts,
    };
    project.config.driver.know_tests(&finished, &mut observed);
    Ok(observed)
}
