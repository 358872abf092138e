//! `tamis comment`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::Globals;
use super::select::SUMMARY;
use crate::ci::{CiContext, Provider};
use crate::error::{Error, Exit};
use crate::report::{Event, Report};
use crate::share::{Commented, comment, redact};

/// Say on the pull request what was selected, in one comment that is kept up to date.
///
/// For GitHub, with the token in GITHUB_TOKEN and the permission `pull-requests: write`.
/// Without these, or for a fork's pull request, nothing is said; the status is 0.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis select --out .tamis/out && tamis comment .tamis/out")]
pub(crate) struct CommentArgs {
    /// The folder that `tamis select --out` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(args: &CommentArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let path = globals.folder.join(&args.folder).join(SUMMARY);
    let text = crate::disk::read_to_string(&path)
        .context("there is no summary of a selection")
        .map_err(|error| {
            Error::usage(format!("{error:#}")).with_hint("`tamis select --out DIR` writes one")
        })?;
    let said = match place(globals.ci.as_ref()) {
        Ok((repository, number)) => match comment(repository, number, &text) {
            Ok(Commented::Written) => "written",
            Ok(Commented::Replaced) => "replaced",
            Ok(Commented::Same) => "same",
            Err(error) => {
                report.event(Event::Warning {
                    text: format!(
                        "the pull request has no comment of this run: {}",
                        redact(&error.to_string())
                    ),
                    hints: vec![
                        "the job needs `permissions: pull-requests: write` and its token; nothing \
                         else depends on it"
                            .to_owned(),
                    ],
                });
                "failed"
            }
        },
        Err(why) => {
            report.note(format!("no comment is written: {why}"));
            "nothing"
        }
    };
    if report.is_json() {
        report.json(&json!({ "schema": 1, "comment": said }))?;
    }
    Ok(Exit::DONE)
}

/// The repository and the number of the pull request to comment on, or why there
/// is none.
fn place(ci: Option<&CiContext>) -> Result<(&str, u64), &'static str> {
    let Some(ci) = ci.filter(|ci| ci.provider == Provider::GitHub) else {
        return Err("this is no run of GitHub Actions");
    };
    let request = ci.pull_request.as_ref();
    let Some(number) = request.and_then(|request| request.number) else {
        return Err("this run is not for a pull request");
    };
    // Its token could not, and one that can has no place in its run.
    if !ci.trust.is_own() {
        return Err("it is a fork's pull request");
    }
    match ci.trust.repository.as_deref() {
        Some(repository) => Ok((repository, number)),
        None => Err("GITHUB_REPOSITORY is not set"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::{Choice, Environment};

    fn context(reference: &str, from: &str) -> Option<CiContext> {
        let payload = format!(
            r#"{{"pull_request":{{"head":{{"ref":"topic","repo":{{"full_name":"{from}"}}}}}}}}"#
        );
        let event = match reference.starts_with("refs/pull") {
            true => "pull_request",
            false => "push",
        };
        let variables = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_EVENT_NAME", event),
            ("GITHUB_REPOSITORY", "o/r"),
            ("GITHUB_REF", reference),
        ];
        let environment = Environment::new(variables, Some(payload.as_bytes()));
        CiContext::from_environment(&environment, Choice::Auto)
    }

    #[test]
    fn only_a_pull_request_of_the_repository_itself_is_commented_on() {
        let own = context("refs/pull/5/merge", "o/r");
        assert_eq!(place(own.as_ref()), Ok(("o/r", 5)));
        for other in [
            context("refs/pull/5/merge", "evil/r"),
            context("refs/heads/main", "o/r"),
            None,
        ] {
            assert!(place(other.as_ref()).is_err());
        }
    }
}
