//! Asking a Python interpreter for the value of late units.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

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
        started: RefCell::new(None),
    }))
}

/// A Python interpreter that can be asked.
#[derive(Debug)]
struct Interpreter {
    python: OsString,
    /// The interpreter's own arguments in the test command; `None` if they are
    /// not understood.
    flags: Option<Vec<OsString>>,
    /// Where the agent is installed.
    agent: PathBuf,
    cwd: PathBuf,
    root: PathBuf,
    /// From the first question on: to start takes longer than to answer.
    started: RefCell<Option<Started>>,
}

/// An interpreter that waits for questions.
#[derive(Debug)]
struct Started {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it wrote to standard error. A pipe that nobody reads could fill up.
    error: File,
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has nothing to finish.
        _ = self.child.kill();
        _ = self.child.wait();
    }
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
        let answer = self.answer(&Value::Array(question))?;
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
        let answer = self.answer(&json!([]))?;
        let words = answer.get("runtime").and_then(Value::as_str);
        let words = words.context("the answer has no runtime")?;
        Ok(short_name(words).to_owned())
    }
}

impl Interpreter {
    fn answer(&self, question: &Value) -> Result<Value> {
        let mut started = self.started.borrow_mut();
        let asked = match &mut *started {
            Some(started) => started,
            none => none.insert(self.start()?),
        };
        let answer = asked.answer(question);
        if answer.is_err() {
            // The next question gets one that works, or the same error.
            *started = None;
        }
        answer.with_context(|| format!("{} failed", Path::new(&self.python).display()))
    }

    fn start(&self) -> Result<Started> {
        let error = tempfile::tempfile()?;
        let mut child = Command::new(&self.python)
            .args(self.flags.iter().flatten())
            .arg(self.agent.join("boot/_tamis/probe.py"))
            .current_dir(&self.cwd)
            .env("TAMIS_ROOT", &self.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(error.try_clone()?)
            .spawn()
            .with_context(|| format!("cannot start {}", Path::new(&self.python).display()))?;
        let questions = child.stdin.take().context("it has no input")?;
        let answers = child.stdout.take().context("it has no output")?;
        Ok(Started {
            child,
            questions,
            answers: BufReader::new(answers),
            error,
        })
    }
}

impl Started {
    fn answer(&mut self, question: &Value) -> Result<Value> {
        let mut answer = String::new();
        // If it has ended, its last words say why, and not the broken pipe.
        let asked = writeln!(self.questions, "{question}");
        let read = asked.and_then(|()| self.answers.read_line(&mut answer));
        match read {
            Ok(length) if length > 0 => {
                serde_json::from_str(&answer).context("the answer is not JSON")
            }
            Ok(_) | Err(_) => bail!(self.last_words()),
        }
    }

    fn last_words(&mut self) -> String {
        // It closed its pipes, so it ends by itself; a program in its place may not.
        _ = self.child.kill();
        _ = self.child.wait();
        let mut words = Vec::new();
        let read = self.error.rewind();
        _ = read.and_then(|()| self.error.read_to_end(&mut words));
        let words = String::from_utf8_lossy(&words);
        let last = words.trim_end().lines().last();
        last.unwrap_or("no message").to_owned()
    }
}
