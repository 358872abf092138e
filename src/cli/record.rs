//! `tamis record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::Globals;
use crate::config::{Config, Overrides};
use crate::error::{Error, Exit};
use crate::report::Report;

/// Run a test command under collection and store what its tests used.
///
/// The exit status is the command's, whatever becomes of the record.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis record -- pytest\n  \
    tamis record --selection .tamis/out -- pytest @.tamis/out/pytest.args")]
pub struct RecordArgs {
    /// The folder that `tamis select --out` wrote, when the command runs a selection
    #[arg(long, value_name = "DIR")]
    selection: Option<PathBuf>,
    /// The test command
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What `record` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct RecordRequest {
    pub config: Config,
    /// Absolute.
    pub selection: Option<PathBuf>,
    /// Never empty.
    pub command: Vec<OsString>,
}

impl RecordArgs {
    fn resolve(&self, globals: &Globals) -> Result<RecordRequest, Error> {
        Ok(RecordRequest {
            config: globals.config(&Overrides::default())?,
            selection: self
                .selection
                .as_ref()
                .map(|path| globals.folder.join(path)),
            command: self.command.clone(),
        })
    }
}

pub fn run(args: &RecordArgs, globals: &Globals, _report: &Report) -> Result<Exit, Error> {
    let _request = args.resolve(globals)?;
    Err(Error::usage("`tamis record` is not built yet"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 1] = [&["--selection", "s"]];
        let project = Project::new("version: 1\n");
        project.each_matters(&["--", "pytest"], &groups, RecordArgs::resolve);
        let request = project.request(&["--", "pytest", "-x"], RecordArgs::resolve);
        assert!(request.contains("\"-x\""), "{request}");
    }
}
