//! Runs `cargo test` so that a process of tamis is put before each test binary.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::build::{build, cargo, compiler, host, metadata};
use super::doc;
use super::inputs::{own_runner, why_unseen};
use super::model::Survey;
use super::plan::{Built, CargoPlan, Program, load, save};
use super::words::Words;
use crate::languages::Cache;
use crate::languages::rust_trace::COLLECTOR;
use crate::matrix::Fingerprint;
use crate::run::Ended;
use crate::tracer::{self, Lines};

/// The file that tells of programs.
pub(super) const BUILT: &str = "built.json";

/// The names under which what decides results is stored.
pub(super) const TOOLS: &str = "cargo and rustc";
pub(super) const FLAGS: &str = "flags of cargo test";

/// Runs the command of the plan in a file; returns its status. `tell` hears why nothing is
/// recorded, if so.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run_cargo_test(
    file: &Path,
    out: &mut dyn Write,
    tell: &mut dyn FnMut(String),
) -> Result<i32> {
    let plan: CargoPlan = load(file)?;
    let command: Vec<OsString> = plan.command.iter().map(OsString::from).collect();
    let words = Words::read(&command).context("this is no `cargo test`")?;
    if let Some(why) = words.why_left_alone().or_else(|| own_runner(&plan.cwd)) {
        tell(why);
        let status = cargo(&plan, &words)
            .args(&plan.command[1 + words.toolchain.iter().len()..])
            .status();
        let status = status.with_context(|| format!("cannot start `{}`", words.program))?;
        return Ok(Ended::of(status).status());
    }
    let made = match build(&plan, &words, out)? {
        Ok(made) => made,
        Err(status) => {
            tell("it does not compile".to_owned());
            return Ok(status);
        }
    };
    let tools = compiler(&words.program, words.toolchain.as_deref(), &plan.cwd)?;
    let metadata = metadata(&plan, &words)?;
    let cache = Cache::open(&plan.cache).ok();
    let survey = Survey {
        made: &made,
        metadata: &metadata,
        root: &plan.root,
        cwd: &plan.cwd,
        cache: cache.as_ref(),
        unseen: why_unseen(&plan.cwd, &words.flags),
    };
    let mut built = survey.built()?;
    built.environment = environment(&words, &tools);
    save(&built, &plan.out.join(BUILT))?;
    fs_err::create_dir_all(plan.out.join(DONE))?;
    let host = host(&tools).context("rustc does not say what it is made for")?;
    let runner = [
        text(&std::env::current_exe()?)?,
        "cargo-binary".to_owned(),
        text(file)?,
    ];
    // Texts of JSON are texts of TOML.
    let runner = format!("target.{host}.runner = {}", json!(runner));
    let wrapper = text(&doc::wrapper(&plan, file)?)?;
    let mut command = cargo(&plan, &words);
    command.arg("test").args(["--config", &runner]);
    match std::env::var_os(doc::RUSTDOC) {
        // It goes before configuration.
        Some(_) => command.env(doc::RUSTDOC, wrapper),
        None => command.args(["--config", &format!("build.rustdoc = {}", json!(wrapper))]),
    };
    let status = command
        .args(&words.flags)
        .arg("--")
        .args(&words.args)
        .status()
        .with_context(|| format!("cannot start `{}`", words.program))?;
    tell_of_others(&plan, &built)?;
    Ok(Ended::of(status).status())
}

fn text(path: &Path) -> Result<String> {
    let text = path.to_str().context("a path is no text")?;
    Ok(text.to_owned())
}

/// What decides results besides files.
fn environment(words: &Words, tools: &str) -> Vec<(String, String, String)> {
    let all = tracer::of_all(std::env::vars_os());
    let print = |text: &str| Fingerprint::of_value(text.as_bytes()).hex();
    let unit = |kind: &str, name: &str, value| (kind.to_owned(), name.to_owned(), value);
    vec![
        unit("env", "*", all.hex()),
        unit("runtime", TOOLS, print(tools)),
        unit("runtime", FLAGS, print(&words.deciding())),
    ]
}

/// Marks of the binaries that ran.
const DONE: &str = "done";

fn mark(plan: &CargoPlan, program: &Program) -> PathBuf {
    let (device, number) = program.file;
    plan.out.join(DONE).join(format!("{device}-{number}"))
}

pub(super) fn begins(plan: &CargoPlan, program: &Program) -> Result<()> {
    Ok(crate::disk::write(mark(plan, program), "")?)
}

/// Says of binaries that did not run (Cargo stops at the first that fails) that they have tests.
fn tell_of_others(plan: &CargoPlan, built: &Built) -> Result<()> {
    let programs = built.programs.iter();
    let others = programs.filter(|one| one.is_test && !mark(plan, one).exists());
    let tests: Vec<String> = others.flat_map(super::binary::ids_of).collect();
    if tests.is_empty() {
        return Ok(());
    }
    let name = format!("{}-cargo", std::process::id());
    let mut lines = Lines::begin(&name, COLLECTOR, &plan.cwd);
    let nothing: [&str; 0] = [];
    lines.add(json!(["items", tests, nothing]));
    lines.save(&plan.traces, &name)
}
