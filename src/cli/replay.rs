//! `tamis replay`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;

use super::Globals;
use crate::config::{Config, Overrides};
use crate::count::counted;
use crate::error::{Error, Exit};
use crate::history::{CommitId, HeadKind, Span};
use crate::pipeline::{Column, Project, Replayed, Replaying, Rerun, replay};
use crate::report::{
    ChosenJson, Event, MissJson, PUBLISHED, ReplayJson, Report, RevisionJson, share,
};
use crate::select::{CauseKind, Strategy};

/// How many revisions are replayed unless told otherwise.
const LAST: usize = 20;

/// Show what each strategy would have selected on your own history.
///
/// Relies on the results that are stored. With --record the tests are first
/// run at each revision that has none, in a work tree beside the project; then
/// every test that a strategy would have left out is compared with what really
/// became of it. Ends with 1 if one ended differently.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis replay                                    the last 20 revisions, as far as recorded\n  \
    tamis replay v1.0..v1.1 --record -- pytest -q   run the tests at each, then compare\n  \
    tamis replay --last 50 --html replay.html       with plots")]
pub(crate) struct ReplayArgs {
    /// The revisions, as A..B [default: the last ones]
    #[arg(value_name = "RANGE")]
    range: Option<String>,
    /// How many revisions up to the current one [default: 20]
    #[arg(long, value_name = "N", conflicts_with = "range")]
    last: Option<usize>,
    /// Run CMD at each revision that has no results
    #[arg(long, requires = "command")]
    record: bool,
    /// A shell command that makes a revision ready, run before CMD
    #[arg(long, value_name = "CMD", requires = "record")]
    build: Option<String>,
    /// Try revisions again that could not be built or tested before
    #[arg(long, requires = "record")]
    retry: bool,
    /// Work trees to run CMD in at the same time
    #[arg(long, value_name = "N", requires = "record", default_value_t = 1)]
    jobs: usize,
    /// Show the history formulas as published too: they are unsafe
    #[arg(long)]
    published: bool,
    /// Write how each test ended at each revision to this file, as JSON
    #[arg(long, value_name = "FILE")]
    outcomes: Option<PathBuf>,
    /// Write a page with plots to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// The test command, with --record
    #[arg(last = true, value_name = "CMD", requires = "record")]
    command: Vec<OsString>,
}

/// What `replay` is to do.
#[derive(Clone, Debug)]
pub(crate) struct ReplayRequest {
    pub config: Config,
    pub span: Span,
    /// Absolute.
    pub html: Option<PathBuf>,
    pub outcomes: Option<PathBuf>,
    pub published: bool,
    /// The test command, if it is to be run.
    pub command: Option<Vec<OsString>>,
    pub build: Option<String>,
    pub retry: bool,
    pub jobs: usize,
}

impl ReplayArgs {
    fn resolve(&self, globals: &Globals) -> Result<ReplayRequest, Error> {
        let span = match &self.range {
            Some(range) => Span::Range(range.clone()),
            None => Span::Last {
                count: self.last.unwrap_or(LAST),
                head: "HEAD".to_owned(),
            },
        };
        let file = |path: &Option<PathBuf>| path.as_ref().map(|path| globals.folder.join(path));
        let command = self
            .record
            .then(|| found_here(&self.command, &globals.folder));
        let config = globals.config(&Overrides::default())?;
        Ok(ReplayRequest {
            config: match &command {
                Some(command) => config.driven_by(command),
                None => config,
            },
            span,
            html: file(&self.html),
            outcomes: file(&self.outcomes),
            published: self.published,
            command,
            build: self.build.clone(),
            retry: self.retry,
            jobs: self.jobs,
        })
    }
}

/// The command with its program as it is found from `folder`: the work trees
/// have no virtual environment.
fn found_here(command: &[OsString], folder: &Path) -> Vec<OsString> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut() {
        let path = folder.join(&*program);
        if Path::new(program).components().count() > 1 && path.exists() {
            *program = path.into_os_string();
        }
    }
    command
}

pub(crate) fn run(args: &ReplayArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let request = args.resolve(globals)?;
    let project = Project::open(request.config.clone())?;
    let store = project.store();
    let commits = project.repository.log(&request.span)?;
    let folder = project.state().join("replay");
    if let Some(command) = &request.command {
        record(&request, &project, &folder, &commits, command, report)?;
    }
    let failures = Rerun::failures(&folder);
    let strategies = columns(&request);
    report.event(Event::Began {
        work: format!("replaying {} revisions", commits.len()),
        total: Some(commits.len() as u64),
    });
    let replayed = replay(
        &project,
        &store,
        &Replaying {
            commits: &commits,
            strategies: &strategies,
            published: request.published,
            failures: &failures,
        },
        |done| report.event(Event::Advanced { done: done as u64 }),
    )?;
    report.event(Event::Ended);
    let document = document(&strategies, &request, &replayed);
    if report.is_json() {
        report.json(&serde_json::to_value(&document).map_err(anyhow::Error::from)?)?;
    } else {
        report.data(&document.table())?;
    }
    if let Some(path) = &request.html {
        write(path, document.page(), report)?;
    }
    if let Some(path) = &request.outcomes {
        let text = serde_json::to_string(&outcomes(&replayed)).map_err(anyhow::Error::from)?;
        write(path, text, report)?;
    }
    Ok(match document.misses {
        0 => Exit::DONE,
        _ => Exit::TESTS_FAILED,
    })
}

fn write(path: &Path, text: String, report: &Report) -> Result<(), Error> {
    crate::disk::write(path, text).map_err(anyhow::Error::from)?;
    report.note(format!("wrote {}", path.display()));
    Ok(())
}

/// Runs the tests where nothing is recorded.
fn record(
    request: &ReplayRequest,
    project: &Project,
    folder: &Path,
    commits: &[CommitId],
    command: &[OsString],
    report: &Report,
) -> Result<(), Error> {
    if request.retry {
        Rerun::forget_failures(folder)?;
    }
    let failures = Rerun::failures(folder);
    let root = &project.config.root.value;
    let words = request.config.driver.words(command, root, root);
    let (headers, _) = project.store().headers();
    let is_recorded = |commit: &CommitId| {
        headers.iter().any(|(_, header)| {
            project.owns(&header.key)
                && header.dirty.is_empty()
                && header.tests > 0
                && header.commit == commit.to_string()
                && header.strategy == Strategy::All.word()
                && header.command == words
        })
    };
    let open: Vec<CommitId> = commits
        .iter()
        .filter(|commit| !failures.contains_key(commit) && !is_recorded(commit))
        .copied()
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    report.event(Event::Began {
        work: format!(
            "running the tests at {} of {} revisions",
            open.len(),
            commits.len()
        ),
        total: Some(open.len() as u64),
    });
    let rerun = Rerun {
        config: request.config.clone(),
        identity: project.identity.clone(),
        command: command.to_vec(),
        build: request.build.clone(),
        folder: folder.to_owned(),
        jobs: request.jobs,
    };
    let done = AtomicU64::new(0);
    rerun.run(&open, |one| {
        let commit = &one.commit.to_string()[..10];
        let seconds = one.seconds.as_secs_f64();
        match one.ran {
            Ok(tests) => {
                let tests = counted(tests, "test");
                report.detail(format!("{commit}: {tests} in {seconds:.1} s"));
            }
            Err(why) => report.warning(format!("{commit} has no results: {why}")),
        }
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        report.event(Event::Advanced { done });
    })?;
    report.event(Event::Ended);
    Ok(())
}

/// The strategies that are shown, in this order.
fn columns(request: &ReplayRequest) -> Vec<Strategy> {
    let asked = request.config.strategy.value;
    let mut columns: Vec<Strategy> = Strategy::ALL.to_vec();
    columns.retain(|strategy| !matches!(strategy, Strategy::All | Strategy::Auto));
    // The one in force first.
    columns.sort_by_key(|strategy| *strategy != asked && *strategy != Strategy::Memo);
    columns
}

fn name(column: &Column) -> String {
    match column.published {
        true => format!("{}{PUBLISHED}", column.strategy),
        false => column.strategy.to_string(),
    }
}

/// The replay as it is shown; strategies for kinds that do not occur are not.
fn document(strategies: &[Strategy], request: &ReplayRequest, replayed: &[Replayed]) -> ReplayJson {
    let has = |kinds: &[HeadKind]| replayed.iter().any(|row| kinds.contains(&row.head.kind));
    let occurs = |strategy: Strategy| match strategy {
        Strategy::MergeDom | Strategy::MergeParents | Strategy::MergeHistory => {
            has(&[HeadKind::Merge, HeadKind::Automerge])
        }
        Strategy::RebaseDom | Strategy::RebaseParents | Strategy::RebaseHistory => {
            has(&[HeadKind::Rebase, HeadKind::Squash])
        }
        Strategy::CherryParent | Strategy::CherryHistory => has(&[HeadKind::CherryPick]),
        Strategy::RevertParent | Strategy::RevertHistory => has(&[HeadKind::Revert]),
        _ => true,
    };
    let mut shown: Vec<Column> = Vec::new();
    for published in [false, true] {
        let all = strategies.iter().filter(|strategy| occurs(**strategy));
        let all = all.filter(|strategy| !published || strategy.word().ends_with("-history"));
        shown.extend(
            all.filter(|_| !published || request.published)
                .map(|strategy| Column {
                    strategy: *strategy,
                    published,
                }),
        );
    }
    let revisions = replayed.iter().map(|row| revision(row, &shown)).collect();
    ReplayJson::new(shown.iter().map(name).collect(), revisions)
}

/// By commit, the tests that really ran there by outcome; nothing of revisions
/// without results.
fn outcomes(replayed: &[Replayed]) -> BTreeMap<String, BTreeMap<&'static str, Vec<&str>>> {
    let there = replayed.iter().filter(|row| row.missing.is_none());
    there
        .map(|row| {
            let mut by_outcome: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
            for (test, outcome) in &row.outcomes {
                by_outcome.entry(outcome.word()).or_default().push(test);
            }
            (row.head.commit.to_string(), by_outcome)
        })
        .collect()
}

fn revision(row: &Replayed, shown: &[Column]) -> RevisionJson {
    let of_shown = row
        .columns
        .iter()
        .filter(|(column, _)| shown.contains(column));
    let strategies: BTreeMap<String, ChosenJson> = of_shown
        .map(|(column, chosen)| {
            let misses = chosen.misses.iter().map(|miss| MissJson {
                test: miss.test.clone(),
                taken_from: miss.revision.clone(),
                then: miss.then.word(),
                now: miss.now.word(),
            });
            let json = ChosenJson {
                used: chosen.used.word(),
                fallbacks: chosen.fallbacks.clone(),
                all_because: chosen.all_because.clone(),
                selected: chosen.selected,
                share: share(chosen.selected, row.tests),
                causes: words(&chosen.causes),
                seconds: chosen.seconds,
                misses: misses.collect(),
            };
            (name(column), json)
        })
        .collect();
    RevisionJson {
        commit: row.head.commit.to_string(),
        subject: row.subject.clone(),
        kind: row.head.kind.word(),
        auto: row.head.auto,
        parents: row.head.references.parents.len(),
        missing: row.missing.clone(),
        tests: row.tests,
        seconds: row.seconds,
        strategies,
    }
}

fn words(causes: &BTreeMap<CauseKind, usize>) -> BTreeMap<&'static str, usize> {
    let causes = causes.iter();
    causes.map(|(kind, count)| (kind.word(), *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 6] = [
            &["a..b"],
            &["--outcomes", "ends.json"],
            &["--last", "3"],
            &["--published"],
            &["--html", "page.html"],
            &["--record", "--", "pytest"],
        ];
        let project = Project::new("version: 1\n");
        project.each_matters(&[], &groups, ReplayArgs::resolve);
        let recording = ["--record", "--", "pytest"];
        let plain = project.request(&recording, ReplayArgs::resolve);
        for more in [&["--build", "make"][..], &["--retry"], &["--jobs", "2"]] {
            let words = [more, &recording].concat();
            assert_ne!(
                project.request(&words, ReplayArgs::resolve),
                plain,
                "{more:?}"
            );
        }
    }
}
