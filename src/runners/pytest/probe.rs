//! Asking the environment of the tests for the value of late units: a Python
//! interpreter, or this process for what a JVM will be given.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::languages::{Probe, is_start_up};
use crate::matrix::{Fingerprint, Unit, UnitKind};
use crate::runners::pytest;

/// An environment that can be asked.
#[derive(Clone, Debug)]
pub enum Prober {
    Python(Interpreter),
    Jvm(Jvm),
}

/// The JVM that Maven will start, as far as it can be told without.
#[derive(Clone, Debug)]
pub struct Jvm {
    /// When Maven began to compile, where packaging and more comes after the selection.
    pub compiled_since: Option<SystemTime>,
    /// The words that name the JDK; empty if none was found.
    pub runtime: String,
    /// The options that can alter outcomes.
    pub args: Vec<String>,
}

impl Prober {
    /// The values of `units`, as far as they are of the kinds `env`, `dist` and
    /// `runtime`.
    ///
    /// # Errors
    /// If the interpreter cannot be asked or its answer is not understood.
    pub fn ask<'u>(&self, units: impl Iterator<Item = &'u Unit>) -> Result<Probe> {
        match self {
            Prober::Python(interpreter) => interpreter.ask(units),
            Prober::Jvm(jvm) => Ok(jvm.ask(units)),
        }
    }

    /// The words that name the environment: `cpython-3.11.7-linux-x86_64`.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn environment(&self) -> Result<String> {
        match self {
            Prober::Python(interpreter) => interpreter.environment(),
            Prober::Jvm(jvm) => Ok(short_name(&jvm.runtime).to_owned()),
        }
    }
}

impl Jvm {
    /// The same, where Maven began to compile at `since` and goes on after the selection.
    pub fn since(self, since: SystemTime) -> Jvm {
        Jvm {
            compiled_since: Some(since),
            ..self
        }
    }

    fn ask<'u>(&self, units: impl Iterator<Item = &'u Unit>) -> Probe {
        use std::os::unix::ffi::OsStrExt;
        let mut probe = Probe::default();
        for unit in units.filter(|unit| is_probed(unit)) {
            let value = match unit.kind {
                UnitKind::Env => std::env::var_os(&unit.name)
                    .map(|value| Fingerprint::of_value(value.as_bytes())),
                UnitKind::Runtime => Some(Fingerprint::of_value(self.runtime.as_bytes())),
                _ => None,
            };
            probe.values.insert(
                (unit.kind, unit.name.clone()),
                value.unwrap_or(Fingerprint::MISSING),
            );
        }
        let lines: String = self.args.iter().map(|arg| format!("{arg}\n")).collect();
        probe.values.insert(
            (UnitKind::Config, pytest::ARGS.to_owned()),
            Fingerprint::of_value(lines.as_bytes()),
        );
        probe
    }
}

/// A Python interpreter that can be asked.
#[derive(Clone, Debug)]
pub struct Interpreter {
    pub python: OsString,
    /// The interpreter's own arguments in the test command; `None` if they are
    /// not understood.
    pub flags: Option<Vec<OsString>>,
    /// Where the agent is installed.
    pub agent: PathBuf,
    pub cwd: PathBuf,
    pub root: PathBuf,
}

impl Interpreter {
    fn ask<'u>(&self, units: impl Iterator<Item = &'u Unit>) -> Result<Probe> {
        let can_tell = |unit: &&Unit| self.flags.is_some() || !is_start_up(unit);
        let wanted: BTreeSet<&Unit> = units
            .filter(|unit| is_probed(unit))
            .filter(can_tell)
            .collect();
        let mut probe = Probe::default();
        if wanted.is_empty() {
            return Ok(probe);
        }
        let question: Vec<Value> = wanted
            .iter()
            .map(|unit| json!([unit.kind.word(), unit.name]))
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
            probe
                .values
                .insert((unit.kind, unit.name.clone()), fingerprint);
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

/// The part of the runtime text that names the environment: its first word.
pub fn short_name(runtime: &str) -> &str {
    runtime.split_whitespace().next().unwrap_or_default()
}

/// Whether only an interpreter can tell the unit's value.
fn is_probed(unit: &Unit) -> bool {
    matches!(
        unit.kind,
        UnitKind::Env | UnitKind::Dist | UnitKind::Runtime
    )
}
