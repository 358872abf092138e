//! Builds the tests with Cargo, and finds out what each program is made of.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use cargo_metadata::{Artifact, BuildScript, Message, Metadata};

use super::plan::CargoPlan;
use super::words::Words;
use crate::run::Ended;

/// What Cargo made.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub artifacts: Vec<Artifact>,
    pub scripts: Vec<BuildScript>,
}

/// A command of Cargo.
pub(super) fn cargo(plan: &CargoPlan, words: &Words) -> Command {
    let mut command = Command::new(&words.program);
    command.args(&words.toolchain).current_dir(&plan.cwd);
    command
}

/// Builds all that the tests need; the status of Cargo if that fails. What Cargo says goes where
/// it always goes.
///
/// # Errors
/// If it cannot be started, or its answer is not understood.
pub(super) fn build(
    plan: &CargoPlan,
    words: &Words,
    out: &mut dyn Write,
) -> Result<Result<Made, i32>> {
    let mut child = cargo(plan, words)
        .arg("test")
        .args(&words.flags)
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", words.program))?;
    let said = child.stdout.take().context("its output is not there")?;
    let mut made = Made::default();
    for message in Message::parse_stream(BufReader::new(said)) {
        match message.context("what Cargo says is not understood")? {
            Message::CompilerArtifact(artifact) => made.artifacts.push(artifact),
            Message::BuildScriptExecuted(script) => made.scripts.push(script),
            Message::TextLine(line) => writeln!(out, "{line}")?,
            _ => {}
        }
    }
    let ended = Ended::of(child.wait()?);
    Ok(match ended.status() {
        0 => Ok(made),
        status => Err(status),
    })
}

/// What Cargo knows of the packages.
///
/// # Errors
/// If it does not say.
pub(super) fn metadata(plan: &CargoPlan, words: &Words) -> Result<Metadata> {
    let output = cargo(plan, words)
        .args(["metadata", "--format-version=1"])
        .args(words.of_metadata())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", words.program))?;
    anyhow::ensure!(output.status.success(), "`cargo metadata` fails");
    serde_json::from_slice(&output.stdout).context("what Cargo says of packages is not understood")
}

/// What the compiler says of itself.
///
/// # Errors
/// If it cannot be asked.
pub(super) fn compiler(program: &str, toolchain: Option<&str>, cwd: &Path) -> Result<String> {
    let mut text = String::new();
    let rustc = std::env::var_os("RUSTC").map(PathBuf::from);
    let beside = Path::new(program).with_file_name("rustc");
    // A compiler that is given is none of the proxies that know toolchains.
    let of_rustc = toolchain.filter(|_| rustc.is_none());
    let rustc = rustc.unwrap_or(beside);
    let asked = [
        (Path::new(program), toolchain, "-V"),
        (&rustc, of_rustc, "-vV"),
    ];
    for (program, toolchain, flag) in asked {
        let output = Command::new(program)
            .args(toolchain)
            .arg(flag)
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let output = output.with_context(|| format!("cannot start `{}`", program.display()))?;
        anyhow::ensure!(
            output.status.success(),
            "`{} {flag}` fails",
            program.display()
        );
        text.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    Ok(text)
}

/// The platform that a compiler says it makes programs for.
pub(super) fn host(compiler: &str) -> Option<&str> {
    compiler
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
}
