//! `tamis minimise`.

mod told;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use clap::Args;
use serde_json::json;

use super::order::INTERRUPTED;
use super::{Globals, suites};
use crate::config::{Overrides, shown_path};
use crate::error::{Error, Exit};
use crate::history::patch;
use crate::minimise::Limits;
use crate::pattern::Pattern;
use crate::pipeline::{Minimised, Minimising, Project, Remembered, Wish, Workshop, open};
use crate::report::{Event, Report};

/// The file that tells where the statements of new tests come from, in the state folder.
const MAP: &str = "minimised.json";

/// Join tests that share statements, so that what they share runs once.
///
/// Only for pytest. All assertions stay, and nothing is offered that was not seen to find the
/// same values, to make the same calls of production code, and to pass in several orders. The
/// tests run in a copy of the project.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis minimise                           what could go, and what is left alone\n  \
    tamis minimise --patch minimise.patch    the same as a patch for `git apply`\n  \
    tamis minimise --write --at-most 3       change the files\n  \
    tamis minimise --skip 'tests/slow/**' -- pytest tests/\n\n\
    Exit codes: 0 done, also when nothing can go; 2 wrong usage, tests that fail, edits that \
    would be written over; 3 repository; 130 interrupted.")]
pub(crate) struct MinimiseArgs {
    /// Only say what could go: the default
    #[arg(long, conflicts_with_all = ["patch", "write"])]
    dry_run: bool,
    /// Write the changes to this file, for `git apply`
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// Change the files of the project
    #[arg(long)]
    write: bool,
    /// Join at most so many tests to one
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u16).range(2..))]
    at_most: u16,
    /// Only leave out statements with which both tests begin: the easiest to read
    #[arg(long)]
    only_common_prefix: bool,
    /// Leave these tests alone: ids with `*`, `**` and `?`; can be repeated
    #[arg(long, value_name = "PATTERN")]
    skip: Vec<Pattern>,
    /// The test command [default: the configuration's]
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &MinimiseArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let globals = suites::only_one(globals, "tests are joined within one suite")?;
    let config = globals.config(&Overrides::default())?;
    let config = config.for_command(&args.command);
    let command = suites::command_of(&args.command, &config, report)?;
    let cwd = suites::folder_of_command(!args.command.is_empty(), &config, &globals);
    let project = open(&config, globals.ci.as_ref())?;
    // Paths as they were typed, before anything takes long.
    let into = args.patch.as_ref().map(|file| globals.folder.join(file));
    let workshop = Workshop::set_up(&project)?;
    let found = find(args, (&project, &workshop), (&command, &cwd), report);
    workshop.clean_up();
    let Some(found) = found? else {
        report.note("interrupted");
        return Ok(INTERRUPTED);
    };
    let patched = as_patch(&found)?;
    if args.write {
        refuse_edited(&project, &found)?;
        write(&project, &found)?;
    }
    if let Some(file) = &into {
        crate::disk::write(file, &patched).map_err(anyhow::Error::from)?;
    }
    if args.write || into.is_some() {
        let map = json!({ "version": 1, "tests": found.map });
        let text = serde_json::to_string_pretty(&map).map_err(anyhow::Error::from)?;
        crate::disk::write(project.state().join(MAP), text + "\n").map_err(anyhow::Error::from)?;
    }
    match report.is_json() {
        true => report.json(&told::json(&found, &patched))?,
        false => report.data(&told::page(&found))?,
    }
    if let (Some(file), false) = (&into, args.write) {
        report.note(format!("to apply it: git apply {}", shown_path(file)));
    }
    Ok(Exit::DONE)
}

fn find(
    args: &MinimiseArgs,
    (project, workshop): (&Project, &Workshop),
    (command, cwd): (&[OsString], &Path),
    report: &Report,
) -> Result<Option<Minimised>, Error> {
    let remembered = Remembered::open(project, workshop, (command, cwd))?;
    let dependent = remembered
        .known
        .iter()
        .flat_map(|known| &known.found.dependent);
    let is_on = Cell::new(false);
    let tell = |work: &str| {
        if is_on.replace(true) {
            report.event(Event::Ended);
        }
        report.event(Event::Began {
            work: work.to_owned(),
            total: None,
        });
    };
    let minimising = Minimising {
        project,
        workshop,
        command,
        cwd,
        wish: Wish {
            limits: Limits {
                at_most: args.at_most.into(),
                only_common_prefix: args.only_common_prefix,
            },
            skip: args.skip.clone(),
            dependent: dependent.map(|one| one.id.clone()).collect::<BTreeSet<_>>(),
        },
        tell: &tell,
    };
    let found = minimising.find();
    if is_on.get() {
        report.event(Event::Ended);
    }
    found
}

fn as_patch(found: &Minimised) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    for file in &found.files {
        text.extend(patch(&file.path, &file.before, &file.after)?);
    }
    Ok(text)
}

/// # Errors
/// If a file that would be written has edits that no commit has.
fn refuse_edited(project: &Project, found: &Minimised) -> Result<(), Error> {
    let view = project.repository.work_view()?;
    let dirty: BTreeSet<BString> = view.dirty()?.iter().map(|(path, _)| path.clone()).collect();
    for file in &found.files {
        let path = file.path.as_os_str().as_encoded_bytes().as_bstr();
        if dirty.contains(path) || !view.is_tracked(path)? {
            let why = format!(
                "{} has edits that are not committed",
                shown_path(&file.path)
            );
            return Err(Error::usage(why)
                .with_hint("commit or stash them first")
                .with_hint("or ask for a patch with --patch"));
        }
    }
    Ok(())
}

/// Writes all files, or none: each must still be as it was read.
fn write(project: &Project, found: &Minimised) -> Result<(), Error> {
    let root = project.repository.root();
    for file in &found.files {
        let now = crate::disk::read(root.join(&file.path)).map_err(anyhow::Error::from)?;
        if now != file.before {
            let why = format!("{} was edited meanwhile", shown_path(&file.path));
            return Err(Error::usage(why).with_hint("start again"));
        }
    }
    for (at, file) in found.files.iter().enumerate() {
        let done = crate::disk::write_atomically(root.join(&file.path), &file.after);
        if let Err(error) = done {
            for written in &found.files[..at] {
                // The first error is the one to tell.
                let _ = crate::disk::write_atomically(root.join(&written.path), &written.before);
            }
            return Err(anyhow::Error::from(error).into());
        }
    }
    Ok(())
}
