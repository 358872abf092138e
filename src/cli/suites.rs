//! Commands that do their work suite by suite, and the test command of each.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Globals;
use crate::config::{Config, Origin};
use crate::error::{Error, Exit};
use crate::report::{Event, Report};
use crate::runners;

/// Does something for each suite. Where there are several, trouble with one
/// does not keep the others from it; the status is the first that is not 0.
///
/// # Errors
/// Those of `work`, where there is but one suite.
pub(super) fn for_each<T>(
    suites: &[Globals],
    report: &Report,
    mut work: impl FnMut(usize, &Globals) -> Result<(Exit, T), Error>,
) -> Result<(Exit, Vec<T>), Error> {
    let mut exit = Exit::DONE;
    let mut done = Vec::new();
    for (at, globals) in suites.iter().enumerate() {
        let status = match work(at, globals) {
            Ok((status, what)) => {
                done.push(what);
                status
            }
            Err(error) if globals.is_one_of_all => {
                let status = error.kind().exit();
                report.event(Event::Failed(error));
                status
            }
            Err(error) => return Err(error),
        };
        if exit == Exit::DONE {
            exit = status;
        }
    }
    Ok((exit, done))
}

/// The only suite that is meant. `why`: what needs that.
///
/// # Errors
/// If several are meant.
pub(super) fn only_one(globals: &Globals, why: &str) -> Result<Globals, Error> {
    let mut suites = globals.each_suite()?;
    match (suites.pop(), suites.is_empty()) {
        (Some(one), true) => Ok(one),
        (last, _) => {
            let names = suites
                .iter()
                .chain(&last)
                .filter_map(|one| one.suite.clone());
            let names: Vec<String> = names.collect();
            let why = format!("{why}, and the configuration has several");
            Err(Error::usage(why)
                .with_hint(format!("choose one with --suite: {}", names.join(", "))))
        }
    }
}

/// One document for several suites: each below its name.
pub(super) fn join_documents(documents: Vec<(Option<String>, Value)>) -> Value {
    let mut suites = serde_json::Map::new();
    for (suite, document) in documents {
        match suite {
            None => return document,
            Some(suite) => suites.insert(suite, document),
        };
    }
    json!({ "schema": 1, "suites": suites })
}

/// The command to run: what was typed, else what is configured, else what is
/// found.
///
/// # Errors
/// If none is found.
pub(super) fn command_of(
    typed: &[OsString],
    config: &Config,
    report: &Report,
) -> Result<Vec<OsString>, Error> {
    if !typed.is_empty() {
        return Ok(typed.to_vec());
    }
    if let Some(words) = &config.command.value {
        return Ok(words.iter().map(OsString::from).collect());
    }
    let runner = config.runner.value;
    let found = runners::found(&config.root.value);
    match found.other {
        Some(other) if config.runner.origin == Origin::Default && found.runner == runner => {
            report.note(format!(
                "using {runner}, though {other} seems to have tests here as well: \
                 `runner: {other}` in tamis.yml chooses that, `suites` runs both"
            ));
        }
        _ => report.detail(format!("using {runner} ({})", config.runner.origin)),
    }
    let found = runner.find_command(&config.settings())?;
    if let Some(because) = found.because {
        report.detail(because);
    }
    Ok(found.words)
}

/// Where it runs: what was typed where the user is, unless it is for one of
/// several suites; all else in the folder of the tests.
pub(super) fn folder_of_command(is_typed: bool, config: &Config, globals: &Globals) -> PathBuf {
    match is_typed && !config.is_named {
        true => globals.folder.clone(),
        false => config.root.value.clone(),
    }
}
