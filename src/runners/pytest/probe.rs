//! Asking a Python interpreter for the value of late units.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::detect::{flags_of, python_of};
use crate::languages::Probe;
use crate::matrix::{Fingerprint, Unit, What};
use crate::runners::probe::{is_probed, short_name};
use crate::runners::{Asked, Prober};

/// The interpreter to ask about the environment of a command, if the command tells which
/// one that is.
pub(crate) fn prober(asked: &Asked<'_>) -> Option<Box<dyn Prober>> {
    Some(Box::new(Interpreter {
        python: python_of(asked.command)?.into_os_string(),
        flags: flags_of(asked.command),
        agent: asked.agent.to_owned(),
        cwd: asked.cwd.to_owned(),
        root: asked.root.to_owned(),
    }))
}

/// A Python interpreter that can be asked.
#[derive(Clone, Debug)]
struct Interpreter {
    python: OsString,
    /// The interpreter's own arguments in the test command; `None` if they are
    /// not understood.
    flags: Option<Vec<OsString>>,
    /// Where the agent is installed.
    agent: PathBuf,
    cwd: PathBuf,
    root: PathBuf,
}

impl Prober for Interpreter {
    fn ask(&self, units: &[Unit]) -> Result<Probe> {
        let can_tell = |unit: &&Unit| self.flags.is_some() || unit.what != What::StartUp;
        let wanted: BTreeSet<&Unit> = units
            .iter()
            .filter(|unit| is_probed(unit))
            .filter(can_tell)
            .collect();
        let mut probe = Probe::default();
        if wanted.is_empty() {
            return Ok(probe);
        }
        let question: Vec<Value> = wanted
            .iter()
            .map(|unit| json!([unit.kind().word(), unit.name()]))
            .collect();
        let mut file = tempfile::NamedTempFile::new()?;
        serde_json::to_writer(&mut file, &question)?;
        let answer = self.run(file.path())?;
        let values = answer
            .get("values")
            .and_then(Value::as_array)
            .context("the answer has no values")?;
        if values.len() != wanted.len() {
            bail!("{} answers to {} questions", values.len(), wanted.len());
        }
        for (unit, value) in wanted.into_iter().zip(values) {
            let fingerprint = match value {
                Value::Null => Fingerprint::MISSING,
                Value::String(hex) => Fingerprint::from_hex(hex)
                    .with_context(|| format!("a bad fingerprint for {unit}"))?,
                other => bail!("{other} for {unit}"),
            };
            probe.values.insert(unit.clone(), fingerprint);
        }
        Ok(probe)
    }

    fn environment(&self) -> Result<String> {
        let mut file = tempfile::NamedTempFile::new()?;
        serde_json::to_writer(&mut file, &json!([]))?;
        let answer = self.run(file.path())?;
        let words = answer.get("runtime").and_then(Value::as_str);
        let words = words.context("the answer has no runtime")?;
        Ok(short_name(words).to_owned())
    }
}

impl Interpreter {
    fn run(&self, question: &Path) -> Result<Value> {
        let output = Command::new(&self.python)
            .args(self.flags.iter().flatten())
            .arg(self.agent.join("boot/_tamis/probe.py"))
            .arg(question)
            .current_dir(&self.cwd)
            .env("TAMIS_ROOT", &self.root)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", Path::new(&self.python).display()))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            let last = words
                .trim_end()
                .lines()
                .last()
                .unwrap_or("no message")
                .to_owned();
            bail!("{} failed: {last}", Path::new(&self.python).display());
        }
        serde_json::from_slice(&output.stdout).context("the answer is not JSON")
    }
}
