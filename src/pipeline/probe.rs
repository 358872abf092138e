//! Asking an interpreter of the test environment for the value of late units.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::fingerprint::Probe;
use crate::matrix::{Fingerprint, Unit, UnitKind};

/// An interpreter that can be asked.
#[derive(Clone, Debug)]
pub struct Prober {
    pub python: OsString,
    /// Where the agent is installed.
    pub agent: PathBuf,
    pub cwd: PathBuf,
    pub root: PathBuf,
}

impl Prober {
    /// The values of `units`, which are all of the kinds `env`, `dist` and
    /// `runtime`.
    ///
    /// # Errors
    /// If the interpreter cannot be asked or its answer is not understood.
    pub fn ask<'u>(&self, units: impl Iterator<Item = &'u Unit>) -> Result<Probe> {
        let wanted: BTreeSet<&Unit> = units.filter(|unit| is_probed(unit)).collect();
        let mut probe = Probe::default();
        if wanted.is_empty() {
            return Ok(probe);
        }
        let question = json!({
            "version": 1,
            "units": wanted.iter().map(|unit| json!([unit.kind.word(), unit.name])).collect::<Vec<_>>(),
        });
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
            probe.values.insert((unit.kind, unit.name.clone()), fingerprint);
        }
        Ok(probe)
    }

    /// The words that name the environment: `cpython-3.11.7-linux-x86_64`.
    ///
    /// # Errors
    /// If the interpreter cannot be asked.
    pub fn environment(&self) -> Result<String> {
        let mut file = tempfile::NamedTempFile::new()?;
        serde_json::to_writer(&mut file, &json!({"version": 1, "units": []}))?;
        let answer = self.run(file.path())?;
        let words = answer.get("runtime").and_then(Value::as_str);
        words.map(str::to_owned).context("the answer has no runtime")
    }

    fn run(&self, question: &Path) -> Result<Value> {
        let output = Command::new(&self.python)
            .arg(self.agent.join("boot/_tamis/probe.py"))
            .arg(question)
            .current_dir(&self.cwd)
            .env("TAMIS_ROOT", &self.root)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", Path::new(&self.python).display()))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            let last = words.trim_end().lines().last().unwrap_or("no message").to_owned();
            bail!("{} failed: {last}", Path::new(&self.python).display());
        }
        serde_json::from_slice(&output.stdout).context("the answer is not JSON")
    }
}

/// Whether only an interpreter can tell the unit's value.
fn is_probed(unit: &Unit) -> bool {
    matches!(unit.kind, UnitKind::Env | UnitKind::Dist | UnitKind::Runtime)
}
