//! From the traces of a run to what its tests used. Needs no store and no decision.

use std::path::Path;

use anyhow::Result;
use bstr::ByteSlice;

use super::project::Project;
use super::recording::CommandRun;
use super::surefire::know_classes;
use crate::languages::Facts;
use crate::observe::{Collected, collect, read_traces};

/// What the tests of a command used, by the traces that it left in a folder. `facts`
/// are those of the state before the tests started.
///
/// # Errors
/// If git or the traces cannot be read.
pub fn observe(
    project: &Project,
    facts: &Facts<'_>,
    traces: &Path,
    ran: &CommandRun<'_>,
) -> Result<Collected> {
    let (traces, errors) = read_traces(traces)?;
    let mut collected = collect(
        &traces,
        &errors,
        facts,
        project.prefix.as_bstr(),
        &ran.words,
        &project.config.benign_state.value,
    )?;
    know_classes(project, ran, facts, &mut collected);
    Ok(collected)
}
