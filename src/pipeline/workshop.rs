//! What a run of tests needs besides its command: the collector, a folder, a name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::project::Project;
use crate::run::install_agent_for;
use crate::runners::{self, Asked, Built, Prober};

/// Keeps git from seeing the state folder, whatever the project ignores. Where
/// this cannot be written, nothing can be stored either, and that is reported.
fn hide(state: &Path) {
    let file = state.join(".gitignore");
    if !file.exists() && fs_err::create_dir_all(state).is_ok() {
        let _ = crate::disk::write(file, "*\n");
    }
}

/// Everything that a run needs besides its command.
pub(crate) struct Workshop {
    pub agent: PathBuf,
    /// Scratch folder of this run.
    pub scratch: PathBuf,
    pub run: String,
    pub now: u64,
}

impl Workshop {
    /// Installs the agent and makes a scratch folder.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn set_up(project: &Project) -> Result<Workshop> {
        Workshop::set_up_as(project, "")
    }

    /// The same, for one of several runs of this process: `which` tells their
    /// names apart.
    ///
    /// # Errors
    /// Those of [`Workshop::set_up`].
    pub(crate) fn set_up_as(project: &Project, which: &str) -> Result<Workshop> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs());
        let id = std::process::id();
        let run = match which {
            "" => format!("{now}-{id}"),
            which => format!("{now}-{id}-{which}"),
        };
        // Not in the project, which may be read-only.
        let scratch = tempfile::Builder::new()
            .prefix("tamis-")
            .tempdir()
            .context("cannot make a folder for traces; set TMPDIR to one that can be written")?
            .keep();
        hide(project.state());
        Ok(Workshop {
            agent: install_agent_for(project.state()).context("cannot install the collector")?,
            scratch,
            run,
            now,
        })
    }

    /// Who tells what a command will run its tests with. `built`: whether classes count
    /// as they lie on disk.
    pub(crate) fn prober(
        &self,
        project: &Project,
        (command, cwd): (&[OsString], &Path),
        built: Built,
    ) -> Option<Box<dyn Prober>> {
        let runner = runners::driver(project.config.runner.value, command);
        runner.prober(&Asked {
            command,
            cwd,
            root: project.repository.root(),
            agent: &self.agent,
            built,
            settings: project.config.settings(),
        })
    }

    /// Removes the scratch folder, unless TAMIS_DEBUG asks for it. What stays
    /// behind takes space, no more.
    pub(crate) fn clean_up(&self) {
        if std::env::var_os("TAMIS_DEBUG").is_some() {
            return;
        }
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}
