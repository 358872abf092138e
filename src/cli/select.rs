//! `tamis select`.

use std::path::PathBuf;

use bstr::ByteSlice;
use clap::{Args, ValueEnum};

use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, shared};
use crate::config::{Config, Runner};
use crate::error::{Error, Exit, Kind};
use crate::history::View;
use crate::pipeline::{Decision, Project};
use crate::report::{Event, Report, SelectionJson};
use crate::runners::pytest;
use crate::select::Selection;

/// Compute the selection for the next step, without running anything.
///
/// Needs the repository and the store, but no test environment. Trouble with
/// either selects all tests and says why, unless --strict is given.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis select                                  print what would run, and why\n  \
    tamis select --out .tamis/out                 write files for the test step\n  \
    pytest @.tamis/out/pytest.args                the test step (pytest 8.2 or later)\n  \
    tamis select --json | jq '.counts.selected'")]
pub struct SelectArgs {
    /// Write selection.json, tests.txt, exclude.txt and the runner's own files here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    selecting: StrategyArgs,
    /// Select for this revision instead of the work tree
    #[arg(long, value_name = "REV")]
    head: Option<String>,
    /// Rely on the results of this revision only
    #[arg(long, value_name = "REV")]
    baseline: Option<String>,
    /// End with an error where trouble would otherwise select all tests
    #[arg(long)]
    strict: bool,
    /// Runners to write files for [default: the configuration's runner]
    #[arg(long, value_name = "RUNNER", value_enum, value_delimiter = ',')]
    format: Vec<FormatArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    Pytest,
}

/// What `select` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct SelectRequest {
    pub config: Config,
    /// Absolute.
    pub out: Option<PathBuf>,
    /// `None`: the work tree, uncommitted edits included.
    pub head: Option<String>,
    pub baseline: Option<String>,
    /// What an event tells of the head.
    pub event: EventArgs,
    pub strict: bool,
    /// Never empty.
    pub formats: Vec<Runner>,
}

impl SelectArgs {
    fn resolve(&self, globals: &Globals) -> Result<SelectRequest, Error> {
        let config = globals.config(&self.selecting.overrides())?;
        let mut formats: Vec<Runner> = self
            .format
            .iter()
            .map(|format| match format {
                FormatArg::Pytest => Runner::Pytest,
            })
            .collect();
        if formats.is_empty() {
            formats.push(config.runner.value);
        }
        Ok(SelectRequest {
            config,
            out: self.out.as_ref().map(|path| globals.folder.join(path)),
            head: self.head.clone(),
            baseline: self.baseline.clone(),
            event: self.selecting.event(),
            strict: self.strict,
            formats,
        })
    }
}

pub fn run(args: &SelectArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let request = args.resolve(globals)?;
    match decide_for(&request) {
        Ok((project, decision, view)) => {
            shared::tell_decision(&decision, report);
            let json = || shared::selection_json(&decision, &view);
            let prefix = project.prefix.to_str_lossy();
            let exit = emit(&request, &decision.selection, &prefix, json, report);
            // The process ends here; giving back what describes every test,
            // piece by piece, would take longer than deciding about it.
            std::mem::forget(decision);
            exit
        }
        Err(error) if may_select_all(&request, &error) => {
            // The next step must not be kept from running the tests.
            let selection = Selection::all(request.config.strategy.value, error.to_string());
            report.event(Event::Fallback {
                reason: error.to_string(),
            });
            let json = || SelectionJson::new(&selection, None, None, &[]);
            emit(&request, &selection, "", json, report)
        }
        Err(error) => Err(error),
    }
}

fn decide_for(request: &SelectRequest) -> Result<(Project, Decision, View), Error> {
    let project = Project::open(request.config.clone())?;
    let (decision, view) = shared::decide_at(
        &project,
        &request.event,
        request.head.as_deref(),
        request.baseline.as_deref(),
        request.strict,
    )?;
    Ok((project, decision, view))
}

/// Trouble that is not the user's own words selects all tests instead.
fn may_select_all(request: &SelectRequest, error: &Error) -> bool {
    let is_named = request.head.is_some() || request.baseline.is_some() || request.event.is_named();
    !request.strict && !is_named && matches!(error.kind(), Kind::Repository | Kind::Store)
}

fn emit(
    request: &SelectRequest,
    selection: &Selection,
    prefix: &str,
    json: impl Fn() -> SelectionJson,
    report: &Report,
) -> Result<Exit, Error> {
    if let Some(out) = &request.out {
        for runner in &request.formats {
            match runner {
                Runner::Pytest => {
                    pytest::emit(selection, prefix, out)?;
                }
            }
        }
        shared::write_json(&json(), &out.join("selection.json"))?;
    }
    shared::show_selection(json, selection, report)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 9] = [
            &["--out", "o"],
            &["--strategy", "memo"],
            &["--head", "a"],
            &["--baseline", "b"],
            &["--many-new-tests", "7"],
            &["--short-branches", "7"],
            &["--before", "c"],
            &["--pr-head", "d"],
            &["--strict"],
        ];
        let project = Project::new("version: 1\n");
        project.each_matters(&[], &groups, SelectArgs::resolve);
        let request = project.request(&["--out", "o"], SelectArgs::resolve);
        assert!(request.contains("\"TOP/o\""), "{request}");
    }

    #[test]
    fn formats_default_to_the_runner() {
        let project = Project::new("version: 1\n");
        let plain = project.request(&[], SelectArgs::resolve);
        let named = project.request(&["--format", "pytest"], SelectArgs::resolve);
        assert!(plain.contains("Pytest"));
        assert_eq!(plain, named);
    }
}
