//! What dividing a selection among machines has to know: which files there were,
//! and which of them stay together.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::ByteSlice;

use super::close::Known;
use super::decide::Decision;
use super::project::Project;
use crate::history::{Entry, View};
use crate::pattern::Pattern;
use crate::runners::{file_of, function_of};
use crate::select::{Layout, Tied};

/// Completes a selection that is to be divided: files stay together of which tests depend on
/// one another, by what was recorded, by what searches of orders found, or by the
/// configuration. `known`: a decision that has looked into the store, where this one has not.
///
/// Returns how much is tied by what was recorded.
///
/// # Errors
/// If the files cannot be listed.
pub(crate) fn lay_out(
    project: &Project,
    view: &View,
    decision: &mut Decision,
    known: Option<&Decision>,
) -> Result<Tied> {
    let mut layout = Layout::default();
    let from = known.unwrap_or(decision);
    if let (Some(of_order), _) = Known::of(project, &project.store(), from) {
        for group in of_order.together() {
            let files = group.into_iter().map(|test| file_of(&test).to_owned());
            layout.ties.push(files.collect());
        }
    }
    let matrices = from.baseline.iter().chain(&from.others);
    for baseline in matrices {
        layout.tie_by_state(&*baseline.matrix, function_of, |file| {
            project.path_of(file).into()
        });
    }
    if decision.selection.all_because.is_some()
        && let Some(baseline) = &from.baseline
    {
        layout.know_files(&*baseline.matrix, file_of);
        let is_gone = |file: &str| {
            let path = project.path_of(file);
            file.ends_with(".py") && matches!(view.entry(path.as_bstr()), Ok(Entry::Missing))
        };
        layout.files.retain(|file, _| !is_gone(file));
    }
    tie_declared(project, view, decision, &mut layout)?;
    let tied = layout.tied;
    decision.selection.layout = layout;
    Ok(tied)
}

/// Completes a selection that each machine divides for itself, whatever its
/// store holds: only by what the commit says.
///
/// # Errors
/// If the files cannot be listed.
pub(crate) fn lay_out_by_files(
    project: &Project,
    view: &View,
    decision: &mut Decision,
) -> Result<()> {
    let mut layout = Layout::default();
    tie_declared(project, view, decision, &mut layout)?;
    decision.selection.layout = layout;
    Ok(())
}

/// The groups that the configuration names, with files whose tests nobody has
/// listed yet.
fn tie_declared(
    project: &Project,
    view: &View,
    decision: &Decision,
    layout: &mut Layout,
) -> Result<()> {
    let groups = &project.config.keep_together.value;
    if groups.is_empty() {
        return Ok(());
    }
    let files = python_files(project, view)?;
    for group in groups {
        let of_files: Vec<Pattern> = group.iter().map(Pattern::of_file).collect();
        let mut tie = BTreeSet::new();
        for file in &files {
            if of_files
                .iter()
                .any(|pattern| pattern.matches(file.as_bytes()))
            {
                tie.insert(file.clone());
            }
        }
        let known = decision.selection.verdicts.keys().map(String::as_str);
        for test in known.chain(layout.files.keys().map(String::as_str)) {
            let patterns = group.iter().chain(&of_files);
            if { patterns }.any(|pattern| pattern.matches(test.as_bytes())) {
                tie.insert(file_of(test).to_owned());
            }
        }
        layout.ties.push(tie);
    }
    Ok(())
}

/// The Python files of the project, as ids name them.
fn python_files(project: &Project, view: &View) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let mut path = project.path_of(&folder);
        while path.ends_with(b"/") {
            path.pop();
        }
        for (name, is_folder) in view.list(path.as_bstr())?.into_iter().flatten() {
            // An id is text.
            let Ok(name) = name.to_str() else { continue };
            let below = match folder.is_empty() {
                true => name.to_owned(),
                false => format!("{folder}/{name}"),
            };
            match is_folder {
                true => folders.push(below),
                false if name.ends_with(".py") => files.push(below),
                false => {}
            }
        }
    }
    files.sort();
    Ok(files)
}
