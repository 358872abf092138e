//! What the CI service and the files of a selection are told.

use std::path::Path;

use anyhow::Context;

use crate::ci::{CiContext, Provider};
use crate::error::Error;
use crate::pipeline::Decision;
use crate::report::{self, CiSelection, Report};

/// Tells the CI service how a selection came out, in its own files and words.
///
/// # Errors
/// If the outputs cannot be written: later steps must not take older ones for
/// these.
pub(super) fn tell_service(
    ci: Option<&CiContext>,
    told: &CiSelection,
    report: &Report,
) -> Result<(), Error> {
    tell_outputs(ci, told)?;
    tell_people(ci, told, report);
    Ok(())
}

/// The outputs for later steps.
///
/// # Errors
/// If they cannot be written.
pub(super) fn tell_outputs(ci: Option<&CiContext>, told: &CiSelection) -> Result<(), Error> {
    match ci.and_then(|ci| ci.files.output.as_ref()) {
        Some(path) => append(path, &told.github_output()),
        None => Ok(()),
    }
}

/// The summary and the annotations.
pub(super) fn tell_people(ci: Option<&CiContext>, told: &CiSelection, report: &Report) {
    let Some(ci) = ci else {
        return;
    };
    if let Some(path) = &ci.files.summary
        && let Err(error) = append(path, &told.step_summary())
    {
        // Nobody's tests depend on it.
        let whole = [vec![error.to_string()], error.causes()].concat();
        report.warning(whole.join(": "));
    }
    if ci.provider == Provider::GitHub && !report.is_json() {
        report::workflow_commands(&told.annotations());
    }
}

/// Appends to a file that the service made.
///
/// # Errors
/// If it cannot be written.
pub(super) fn append(path: &Path, text: &str) -> Result<(), Error> {
    Ok(crate::disk::append(path, text).context("cannot tell the CI service")?)
}

/// Why more tests run than could.
pub(super) fn fallbacks(decision: &Decision) -> Vec<String> {
    let refused = decision.trouble.iter().map(|trouble| {
        let file = trouble.path.file_name().unwrap_or_default();
        format!("{}: {}", file.to_string_lossy(), trouble.refusal)
    });
    refused.chain(decision.notes.iter().cloned()).collect()
}

/// Writes a JSON document: whole or not at all.
pub(super) fn write_json(document: &impl serde::Serialize, path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder).map_err(anyhow::Error::from)?;
    let mut text = serde_json::to_vec(document).map_err(anyhow::Error::from)?;
    text.push(b'\n');
    Ok(crate::disk::write_atomically(path, text).map_err(anyhow::Error::from)?)
}
