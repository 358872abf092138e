//! `tamis why`.

use clap::Args;

use super::{Globals, strategy_parser};
use crate::config::{Config, Overrides, Setting, Strategy};
use crate::error::{Error, Exit};
use crate::report::Report;

/// Explain why a test would run, or why it would be left out.
///
/// Names what changed, or the proof that nothing did, down to the function,
/// file or package, and between which revisions.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis why tests/test_a.py::test_add\n  \
    tamis why 'tests/test_a.py::test_add[1-2]' --json")]
pub struct WhyArgs {
    /// The test, as its runner names it
    #[arg(value_name = "TEST")]
    test: String,
    /// How to select [default: the configuration's, else auto]
    #[arg(long, value_name = "NAME", value_parser = strategy_parser())]
    strategy: Option<Strategy>,
    /// Explain for this revision instead of the work tree
    #[arg(long, value_name = "REV")]
    head: Option<String>,
    /// Rely on the results of this revision only
    #[arg(long, value_name = "REV")]
    baseline: Option<String>,
}

/// What `why` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct WhyRequest {
    pub config: Config,
    pub test: String,
    /// `None`: the work tree, uncommitted edits included.
    pub head: Option<String>,
    pub baseline: Option<String>,
}

impl WhyArgs {
    fn resolve(&self, globals: &Globals) -> Result<WhyRequest, Error> {
        let config = globals.config(&Overrides {
            strategy: self
                .strategy
                .map(|value| Setting::flag(value, "--strategy")),
            ..Overrides::default()
        })?;
        Ok(WhyRequest {
            config,
            test: self.test.clone(),
            head: self.head.clone(),
            baseline: self.baseline.clone(),
        })
    }
}

pub fn run(args: &WhyArgs, globals: &Globals, _report: &Report) -> Result<Exit, Error> {
    let _request = args.resolve(globals)?;
    Err(Error::usage("`tamis why` is not built yet"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 3] = [
            &["--strategy", "all"],
            &["--head", "a"],
            &["--baseline", "b"],
        ];
        Project::new("version: 1\n").each_matters(&["t.py::t"], &groups, WhyArgs::resolve);
    }
}
