//! What `tamis run` tells a process of tamis that supervises a command.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::Launch;
use super::emission::left_out_for_sure;
use crate::check::Check;
use crate::disk::write_atomically;
use crate::run::RunPlan;
use crate::tracer;

/// How a command is to run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Supervised {
    pub traces: PathBuf,
    /// The top of the work tree.
    pub root: PathBuf,
    /// The folder that names of tests are relative to.
    pub project: PathBuf,
    /// A folder for files of this run, without links.
    pub out: PathBuf,
    pub cwd: PathBuf,
    /// The words of the command, of which each is bytes.
    command: Vec<Vec<u8>>,
    pub left_out: BTreeSet<String>,
    /// Why nobody sees what processes use, if so.
    pub untraced: Option<String>,
}

/// The file that says so.
const PLAN: &str = "supervised.json";

impl Supervised {
    /// # Errors
    /// If the folder cannot be made, or the list of what is left out not be read.
    pub(super) fn of(launch: &Launch<'_>) -> Result<Supervised> {
        fs_err::create_dir_all(launch.out)?;
        let words = launch.command.iter();
        Ok(Supervised {
            traces: launch.traces.to_owned(),
            root: launch.root.to_owned(),
            project: launch.project.to_owned(),
            out: fs_err::canonicalize(launch.out)?,
            cwd: launch.cwd.to_owned(),
            command: words.map(|word| word.as_bytes().to_vec()).collect(),
            left_out: left_out_for_sure(launch.exclude)?,
            untraced: tracer::why_not(),
        })
    }

    pub(super) fn words(&self) -> Vec<OsString> {
        let words = self.command.iter().cloned();
        words.map(OsString::from_vec).collect()
    }

    /// Who supervises it: tamis itself, with this command.
    ///
    /// # Errors
    /// If the file that says how it is to run cannot be written.
    pub(super) fn by(&self, command: &str) -> Result<RunPlan> {
        let file = self.out.join(PLAN);
        save(self, &file)?;
        let program = std::env::current_exe()?;
        let argv = vec![program.into(), command.into(), file.into()];
        Ok(RunPlan {
            traces: self.traces.clone(),
            ..RunPlan::plain(argv, &self.cwd)
        })
    }

    /// # Errors
    /// Those of [`load`].
    pub(super) fn load(file: &Path) -> Result<Supervised> {
        load(file)
    }
}

/// What `doctor` says of a runner whose tests are left out by the files that they use.
pub(super) fn check(runner: &'static str) -> Check {
    match tracer::why_not() {
        None => Check::ok(runner, "tamis sees which files tests use"),
        Some(why) => Check::warn(
            runner,
            format!("{why}: tests run every time"),
            "let the container or sandbox allow `seccomp`",
        ),
    }
}

/// # Errors
/// If the file cannot be written.
pub(super) fn save(what: &impl Serialize, file: &Path) -> Result<()> {
    Ok(write_atomically(file, serde_json::to_vec(what)?)?)
}

/// # Errors
/// If the file cannot be read, or is none that [`save`] wrote.
pub(super) fn load<T: for<'d> Deserialize<'d>>(file: &Path) -> Result<T> {
    let bytes = crate::disk::read_named(file)?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{} was not written by tamis", file.display()))
}
