//! `tamis store`.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Globals, exchange, suites};
use crate::config::{Config, Count, Overrides, Setting, nearest};
use crate::count::{self, counted};
use crate::error::{Error, Exit, Explain, Kind};
use crate::history::{Repository, short};
use crate::matrix::{Matrix, Refusal, Row, TestId};
use crate::pipeline::suite_of;
use crate::report::{Event, Report, escape};
use crate::store::{FsStore, GcPolicy, Name, Trouble, Verdict};

/// Look at, check and clean the recorded results.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis store ls\n  \
    tamis store show HEAD\n  \
    tamis store gc --keep 20 --dry-run\n  \
    tamis store fetch               get what a shared store has for this commit")]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// List the stored matrices, the newest first
    Ls,
    Show(ShowArgs),
    /// Read every stored file in full; the status is 1 if one is damaged
    Verify,
    Gc(GcArgs),
    /// Get results from the shared store that are of use here
    Fetch,
    Push(PushArgs),
    Pack(PackArgs),
    /// Make a pair of keys for signing what is shared
    Key,
}

/// Share one stored matrix with others
#[derive(Args, Debug)]
struct PushArgs {
    /// A matrix as `ls` names it, or a revision
    #[arg(value_name = "MATRIX", default_value = "HEAD")]
    matrix: String,
}

/// Write one stored matrix as a file that a CI step can upload
#[derive(Args, Debug)]
struct PackArgs {
    /// Where to write tamis.pack
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A matrix as `ls` names it, or a revision
    #[arg(value_name = "MATRIX", default_value = "HEAD")]
    matrix: String,
}

/// Show one stored matrix
#[derive(Args, Debug)]
struct ShowArgs {
    /// A matrix as `ls` names it, or a revision
    #[arg(value_name = "MATRIX")]
    matrix: String,
    /// Show only this test's row
    #[arg(long, value_name = "TEST")]
    test: Option<String>,
}

/// Delete matrices that are not worth their space
///
/// The newest are kept. What is deleted makes later runs larger, never wrong.
#[derive(Args, Debug)]
struct GcArgs {
    /// How many matrices to keep [default: the configuration's, else 50]
    #[arg(long, value_name = "N")]
    keep: Option<Count>,
    /// Delete more until the store has at most this size (`500MB`, `2GiB`)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_bytes: Option<u64>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// What `store` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub(crate) struct StoreRequest {
    pub config: Config,
    pub action: StoreAction,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreAction {
    List,
    Show {
        /// A matrix name or a revision.
        matrix: String,
        test: Option<String>,
    },
    Verify,
    Collect {
        keep: u32,
        max_bytes: Option<u64>,
        dry_run: bool,
    },
    Fetch,
    Push {
        matrix: String,
    },
    Pack {
        /// Absolute.
        folder: PathBuf,
        matrix: String,
    },
    Key,
}

impl StoreArgs {
    fn resolve(&self, globals: &Globals) -> Result<StoreRequest, Error> {
        let keep = match &self.command {
            StoreCommand::Gc(args) => args.keep.map(|keep| Setting::flag(keep, "--keep")),
            _ => None,
        };
        let config = globals.config(&Overrides {
            keep,
            ..Overrides::default()
        })?;
        let action = match &self.command {
            StoreCommand::Ls => StoreAction::List,
            StoreCommand::Show(args) => StoreAction::Show {
                matrix: args.matrix.clone(),
                test: args.test.clone(),
            },
            StoreCommand::Verify => StoreAction::Verify,
            StoreCommand::Gc(args) => StoreAction::Collect {
                keep: config.keep.value,
                max_bytes: args.max_bytes,
                dry_run: args.dry_run,
            },
            StoreCommand::Fetch => StoreAction::Fetch,
            StoreCommand::Push(args) => StoreAction::Push {
                matrix: args.matrix.clone(),
            },
            StoreCommand::Pack(args) => StoreAction::Pack {
                folder: match globals.mark() {
                    Some(suite) => globals.folder.join(&args.folder).join(suite),
                    None => globals.folder.join(&args.folder),
                },
                matrix: args.matrix.clone(),
            },
            StoreCommand::Key => StoreAction::Key,
        };
        Ok(StoreRequest { config, action })
    }
}

/// `500`, `500MB` (10^6), `500MiB` (2^20), `2G` (as `GB`).
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("expected a size such as 500MB or 2GiB".to_owned()),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "expected a size such as 500MB or 2GiB".to_owned())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "the size is too large".to_owned())
}

pub(crate) fn run(args: &StoreArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let suites = globals.each_suite()?;
    let each = match args.command {
        StoreCommand::Fetch | StoreCommand::Push(_) | StoreCommand::Pack(_) => &suites[..],
        // What lies in the store is of all suites.
        _ => &suites[..1],
    };
    if let StoreCommand::Fetch | StoreCommand::Push(_) | StoreCommand::Pack(_) = args.command {
        globals.enter_ci(report)?;
    }
    if let StoreCommand::Fetch = args.command {
        return fetch(args, each, report);
    }
    let (exit, _) = suites::for_each(each, report, |_, globals| {
        Ok((run_suite(args, globals, report)?, ()))
    })?;
    Ok(exit)
}

fn fetch(args: &StoreArgs, suites: &[Globals], report: &Report) -> Result<Exit, Error> {
    let (exit, documents) = suites::for_each(suites, report, |_, globals| {
        let config = args.resolve(globals)?.config;
        let document = exchange::fetch(&config, globals.ci.as_ref(), report)?;
        Ok((Exit::DONE, document.map(|it| (globals.mark(), it))))
    })?;
    if report.is_json() {
        let documents = documents.into_iter().flatten().collect();
        report.json(&suites::join_documents(documents))?;
    }
    Ok(exit)
}

fn run_suite(args: &StoreArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let request = args.resolve(globals)?;
    let store = FsStore::open_beneath(&request.config.store.value, request.config.top_of_store());
    match &request.action {
        StoreAction::List => list(&store, report),
        StoreAction::Show { matrix, test } => {
            show(&request.config, &store, matrix, test.as_deref(), report)
        }
        StoreAction::Verify => verify(&store, report),
        StoreAction::Collect {
            keep,
            max_bytes,
            dry_run,
        } => {
            let policy = GcPolicy {
                keep: Some(*keep as usize),
                max_bytes: *max_bytes,
                dry_run: *dry_run,
                ..GcPolicy::default()
            };
            collect(&store, &policy, report)
        }
        StoreAction::Fetch => fetch(args, std::slice::from_ref(globals), report),
        StoreAction::Push { matrix } => {
            let find = |store: &FsStore| find(&request.config, store, matrix);
            exchange::push(&request.config, find, report)
        }
        StoreAction::Pack { folder, matrix } => {
            let find = |store: &FsStore| find(&request.config, store, matrix);
            exchange::pack(&request.config, folder, find, report)
        }
        StoreAction::Key => exchange::key(report),
    }
}

fn list(store: &FsStore, report: &Report) -> Result<Exit, Error> {
    let (headers, troubles) = store.headers();
    tell(&troubles, report);
    if troubles.iter().any(|trouble| trouble.path == store.dir()) {
        return Ok(Exit::STORE);
    }
    if report.is_json() {
        let matrices: Vec<Value> = headers
            .iter()
            .map(|(name, header)| json!({ "name": name.to_string(), "header": header }))
            .collect();
        report.json(&json!({ "schema": 1, "matrices": matrices }))?;
        return Ok(Exit::DONE);
    }
    if headers.is_empty() {
        report.note(format!("{} holds no matrix", store.dir().display()));
    }
    let mut lines = String::new();
    for (name, header) in &headers {
        let dirty = if header.dirty.is_empty() {
            ""
        } else {
            "+edits"
        };
        let line = format!(
            "{}  {}{dirty}  {}, {} ran  {}  {}",
            short(&name.to_string()),
            short(&header.commit),
            counted(header.tests, "test"),
            header.ran,
            header.key.suite,
            header.key.environment,
        );
        lines.push_str(&escape::line(&line));
        lines.push('\n');
    }
    report.data(&lines)?;
    Ok(Exit::DONE)
}

fn show(
    config: &Config,
    store: &FsStore,
    wanted: &str,
    test: Option<&str>,
    report: &Report,
) -> Result<Exit, Error> {
    let name = find(config, store, wanted)?;
    let matrix = store.load(&name).map_err(|refusal| {
        Error::store(format!("{}: {refusal}", store.path_of(&name).display()))
    })?;
    let rows: Vec<&Row> = match test {
        None => matrix.tests().map(|(_, row)| row).collect(),
        Some(test) => vec![matrix.row(TestId::Test(test)).ok_or_else(|| {
            let near = nearest(test, matrix.tests().map(|(test, _)| test));
            let error = Error::usage(format!("{} has no row of {test}", short(&name.to_string())));
            match near {
                Some(near) => error.with_hint(format!("did you mean {near}?")),
                None => error,
            }
        })?],
    };
    if report.is_json() {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| row_json(&matrix, row, test.is_some()))
            .collect();
        report.json(&json!({
            "schema": 1,
            "name": name.to_string(),
            "header": matrix.header,
            "rows": rows,
        }))?;
        return Ok(Exit::DONE);
    }
    let mut lines = String::new();
    for row in rows {
        let incomplete = row
            .incomplete
            .as_deref()
            .map(|why| format!(", incomplete: {why}"));
        let line = format!(
            "{}  {}, {} ms, {}{}",
            row.test.test().unwrap_or_default(),
            row.outcome.word(),
            row.duration_ms,
            counted(matrix.units_of(row).len(), "unit"),
            incomplete.unwrap_or_default(),
        );
        lines.push_str(&escape::line(&line));
        lines.push('\n');
        if test.is_some() {
            for id in matrix.units_of(row) {
                let (unit, print) = &matrix.units[id as usize];
                lines.push_str(&escape::line(&format!("  {print}  {unit}")));
                lines.push('\n');
            }
        }
    }
    report.data(&lines)?;
    Ok(Exit::DONE)
}

fn row_json(matrix: &Matrix, row: &Row, with_units: bool) -> Value {
    let mut shown = json!({
        "test": row.test.test(),
        "outcome": row.outcome.word(),
        "duration_ms": row.duration_ms,
        "position": row.position,
        "incomplete": row.incomplete,
        "run": matrix.header.runs[row.run as usize],
        "selected": row.selected,
    });
    if with_units {
        shown["units"] = matrix
            .units_of(row)
            .iter()
            .map(|id| {
                let (unit, print) = &matrix.units[*id as usize];
                json!({
                    "kind": unit.kind().word(),
                    "path": unit.path.to_string(),
                    "name": unit.name(),
                    "fingerprint": print.hex(),
                })
            })
            .collect();
    }
    shown
}

/// The matrix that `wanted` names: the beginning of its name, or a revision.
fn find(config: &Config, store: &FsStore, wanted: &str) -> Result<Name, Error> {
    let (headers, _) = store.headers();
    let named: Vec<&Name> = headers
        .iter()
        .map(|(name, _)| name)
        .filter(|name| wanted.len() >= 4 && name.to_string().starts_with(wanted))
        .collect();
    match named.as_slice() {
        [one] => return Ok(**one),
        [] => {}
        _ => {
            return Err(Error::usage(format!(
                "several matrices begin with {wanted}"
            )));
        }
    }
    let commit = Repository::discover(&config.root.value)?
        .resolve(wanted)?
        .commit
        .to_string();
    let newest = headers
        .iter()
        .filter(|(_, header)| header.commit == commit)
        .filter(|(_, header)| !config.is_named || header.key.suite == suite_of(config))
        .max_by(|(_, a), (_, b)| (a.created, &a.run).cmp(&(b.created, &b.run)));
    match newest {
        Some((name, _)) => Ok(*name),
        None => Err(Error::store(format!("no matrix of {wanted} is stored"))
            .with_hint("`tamis store ls` lists what is")),
    }
}

fn verify(store: &FsStore, report: &Report) -> Result<Exit, Error> {
    let verdicts = store.verify();
    let bad: Vec<(&PathBuf, &Refusal)> = verdicts
        .iter()
        .filter_map(|(path, verdict)| match verdict {
            Verdict::Refused(refusal) => Some((path, refusal)),
            Verdict::Sound | Verdict::Temporary => None,
        })
        .collect();
    if report.is_json() {
        let files: Vec<Value> = verdicts
            .iter()
            .map(|(path, verdict)| {
                let (state, reason) = match verdict {
                    Verdict::Sound => ("sound", None),
                    Verdict::Temporary => ("temporary", None),
                    Verdict::Refused(refusal) => ("refused", Some(refusal.to_string())),
                };
                json!({ "path": path.display().to_string(), "state": state, "reason": reason })
            })
            .collect();
        report.json(&json!({ "schema": 1, "files": files }))?;
    } else {
        let mut lines = String::new();
        for (path, refusal) in &bad {
            lines.push_str(&escape::line(&format!("{}: {refusal}", path.display())));
            lines.push('\n');
        }
        report.data(&lines)?;
        report.note(format!(
            "{} read, {} refused",
            counted(verdicts.len(), "file"),
            bad.len()
        ));
    }
    Ok(match bad.is_empty() {
        true => Exit::DONE,
        false => Exit::TESTS_FAILED,
    })
}

fn collect(store: &FsStore, policy: &GcPolicy, report: &Report) -> Result<Exit, Error> {
    let done = store.gc(policy, SystemTime::now()).kind(Kind::Store)?;
    tell(&done.refused, report);
    if report.is_json() {
        let removed: Vec<String> = done
            .removed
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        report.json(&json!({
            "schema": 1,
            "removed": removed,
            "freed": done.freed,
            "kept": done.kept,
        }))?;
        return Ok(Exit::DONE);
    }
    let verb = if policy.dry_run {
        "would be deleted"
    } else {
        "deleted"
    };
    report.note(format!(
        "{} {verb}, {}; {} {}",
        counted(done.removed.len(), "file"),
        counted(done.freed, "byte"),
        counted(done.kept, "matrix"),
        count::verb(done.kept, "remains", "remain")
    ));
    Ok(Exit::DONE)
}

fn tell(troubles: &[Trouble], report: &Report) {
    for trouble in troubles {
        report.event(Event::StoreTrouble {
            place: trouble.path.display().to_string(),
            reason: trouble.refusal.to_string(),
            consequence: "it is not used".to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        let sizes = ["0", "500", "2kB", "3MB", "1MiB", "2G", "1 GiB"].map(parse_size);
        let bytes = [0, 500, 2000, 3_000_000, 1 << 20, 2_000_000_000, 1 << 30];
        assert_eq!(sizes, bytes.map(Ok));
        for text in ["", "MB", "1.5GB", "-1", "5 parsecs", "99999999999GB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_word_reaches_the_action() {
        let project = Project::new("version: 1\nkeep: 3\n");
        let action = |words: &[&str]| {
            project.request(words, |args: &StoreArgs, globals| {
                let StoreRequest { action, .. } = args.resolve(globals)?;
                Ok(action)
            })
        };
        assert_eq!(action(&["ls"]), "List");
        assert_eq!(action(&["verify"]), "Verify");
        assert_eq!(action(&["fetch"]), "Fetch");
        assert_eq!(action(&["key"]), "Key");
        assert!(action(&["push"]).contains("HEAD"));
        assert!(action(&["push", "abcd"]).contains("abcd"));
        let pack = action(&["pack", "out", "abcd"]);
        assert!(pack.contains("/out") && pack.contains("abcd"), "{pack}");
        let show = action(&["show", "HEAD", "--test", "t.py::t"]);
        assert!(show.contains("HEAD") && show.contains("t.py::t"), "{show}");
        let plain = action(&["gc"]);
        assert!(plain.contains("keep: 3"), "{plain}");
        for words in [
            &["--keep", "4"][..],
            &["--max-bytes", "1MB"],
            &["--dry-run"],
        ] {
            assert_ne!(action(&[&["gc"], words].concat()), plain, "{words:?}");
        }
    }
}
