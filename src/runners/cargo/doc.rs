//! Tests in documentation. Cargo starts `rustdoc` for those of a library; a script is put before
//! it, so that tamis can run it under the tracer. All those of a library are one test.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use bstr::BString;
use serde_json::json;

use super::plan::{Built, CargoPlan, load};
use super::rows::{self, Row};
use super::work::BUILT;
use crate::languages::rust_trace::COLLECTOR;
use crate::run::Ended;
use crate::tracer::{self, Job, Lines};

/// Behind the name of a package.
const DOC: &str = "(doc)";

/// The variable in which people name the program.
pub(super) const RUSTDOC: &str = "RUSTDOC";

/// The variable with the real program.
const REAL: &str = "TAMIS_RUSTDOC";

/// The script that stands for `rustdoc`.
///
/// # Errors
/// If it cannot be written.
pub(super) fn wrapper(plan: &CargoPlan, file: &Path) -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let real = std::env::var_os(RUSTDOC).unwrap_or_else(|| "rustdoc".into());
    let quote = |word: &[u8]| {
        let text = String::from_utf8_lossy(word).into_owned();
        shell_words::quote(&text).into_owned()
    };
    let text = format!(
        "#!/bin/sh\n{REAL}={} exec {} cargo-doc {} \"$@\"\n",
        quote(real.as_bytes()),
        quote(program.as_os_str().as_bytes()),
        quote(file.as_os_str().as_bytes()),
    );
    let script = plan.out.join("rustdoc");
    crate::disk::write(&script, text)?;
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    Ok(script)
}

/// Runs `rustdoc` with arguments; returns its status.
///
/// # Errors
/// If it cannot be started, or what it did not be written down.
pub(crate) fn run_rustdoc(plan: &Path, args: &[OsString]) -> Result<i32> {
    let real = std::env::var_os(REAL).context("it is not said where rustdoc is")?;
    let is_test = args.iter().any(|arg| arg == "--test");
    let plan: CargoPlan = load(plan)?;
    let name = std::env::var("CARGO_PKG_NAME")
        .ok()
        .or_else(|| value_of(args, "--crate-name"));
    let Some(package) = name.filter(|_| is_test) else {
        let status = Command::new(real).args(args).status()?;
        return Ok(Ended::of(status).status());
    };
    let id = format!("{package} {DOC}");
    let name = format!("{}-doc", std::process::id());
    let cwd = std::env::current_dir()?;
    if plan.left_out.contains(&id) {
        let mut lines = Lines::begin(&name, COLLECTOR, &cwd);
        let nothing: [&str; 0] = [];
        lines.add(json!(["items", nothing, [&id]]));
        lines.save(&plan.traces, &name)?;
        return Ok(0);
    }
    let built: Built = load(&plan.out.join(BUILT))?;
    let mut argv = vec![real];
    argv.extend(args.iter().cloned());
    let job = Job {
        argv: &argv,
        cwd: &cwd,
        timeout: None,
        env: &[],
        output: None,
        marks: None,
        programs: None,
    };
    let traced = match &plan.untraced {
        None => {
            tracer::adopt_orphans()?;
            tracer::trace(&job, tracer::end_descendants)?
        }
        Some(why) => tracer::untraced(&job, why)?,
    };
    let status = traced.ended.status();
    let mut row = Row::of(id, traced);
    // What Cargo has made of sources that count themselves.
    let seen = &mut row.traced.seen;
    let is_own = |path: &BString| {
        let is_made = |folder: &PathBuf| tracer::is_below(path.as_ref(), folder);
        built.target.iter().any(is_made) || is_made(&plan.out)
    };
    seen.forget(is_own);
    rows::write_of_documentation(&plan, &built, &name, &cwd, &package, &row)?;
    Ok(status)
}

fn value_of(args: &[OsString], name: &str) -> Option<String> {
    let at = args.iter().position(|arg| arg == name)?;
    Some(args.get(at + 1)?.to_string_lossy().into_owned())
}
