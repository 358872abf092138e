//! `tamis select`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use bstr::ByteSlice;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::shards::{self, Division, Template, child_pipeline};
use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, deciding, made_for, service, suites, telling};
use crate::ci::{CiContext, Provider};
use crate::config::Config;
use crate::error::{Error, Exit, Kind};
use crate::history::View;
use crate::pipeline::{Decision, Project, guests, open};
use crate::report::{CiSelection, Event, Report, SelectionJson};
use crate::run::Output;
use crate::runners::{self, Runner, emission};
use crate::select::{Guests, Part, Selection, Shard, Shards};

/// Compute the selection for the next step, without running anything.
///
/// Needs the repository and the store, but no test environment. Trouble with
/// either selects all tests and says why, unless --strict is given.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis select                                  print what would run, and why\n  \
    tamis select --out .tamis/out                 write files for the test step\n  \
    pytest @.tamis/out/pytest.args                the test step (pytest 8.2 or later)\n  \
    tamis record --selection .tamis/out -- mvn test    the same for Maven\n  \
    tamis select --json | jq '.counts.selected'")]
pub(crate) struct SelectArgs {
    /// Write selection.json, tests.txt, exclude.txt and the runner's own files here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    selecting: StrategyArgs,
    /// Select for this revision instead of the work tree
    #[arg(long, value_name = "REV")]
    head: Option<String>,
    /// Rely on the results of this revision only
    #[arg(long, value_name = "REV")]
    baseline: Option<String>,
    /// End with an error where trouble would otherwise select all tests
    #[arg(long)]
    strict: bool,
    /// Runners to write files for [default: the configuration's runner]
    #[arg(
        long,
        value_name = "RUNNER",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(runners::names()),
    )]
    format: Vec<String>,
    /// Divide the tests among at most so many machines: one folder each below DIR
    #[arg(long, value_name = "N", value_parser = shards::count(), conflicts_with = "shard")]
    shards: Option<u32>,
    /// Select only this part of the tests: 2/4
    #[arg(long, value_name = "M/N")]
    shard: Option<Shard>,
    /// End with an error unless the tests are divided by this plan (of `tamis shards`)
    #[arg(long, value_name = "PLAN", requires = "shard")]
    plan: Option<String>,
    /// Write DIR/child-pipeline.yml for GitLab: jobs that extend `.tamis-shard` of FILE
    #[arg(long, value_name = "FILE", requires = "shards", requires = "out")]
    pipeline: Option<String>,
    /// Write a dotenv report for GitLab here
    #[arg(long, value_name = "FILE")]
    dotenv: Option<PathBuf>,
    /// The tests will run in this very environment: also look at its variables,
    /// packages and interpreter, so that nothing is left open
    #[arg(long, requires = "command")]
    here: bool,
    /// The test command of the next step, if it is known
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// The file of the summary, in Markdown, in the folder of `--out`.
pub(crate) const SUMMARY: &str = "summary.md";

/// What `select` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub(crate) struct SelectRequest {
    pub config: Config,
    /// Absolute.
    pub out: Option<PathBuf>,
    /// Where there are several suites the folder above it, which is theirs.
    pub top: Option<PathBuf>,
    /// `None`: the work tree, uncommitted edits included.
    pub head: Option<String>,
    pub baseline: Option<String>,
    /// What an event tells of the head.
    pub event: EventArgs,
    pub strict: bool,
    /// Never empty.
    pub formats: Vec<&'static dyn Runner>,
    /// Into how many parts at most the tests are divided.
    pub shards: Option<u32>,
    /// Which part is selected.
    pub shard: Option<Shard>,
    pub plan: Option<String>,
    /// The file that a child pipeline includes.
    pub pipeline: Option<String>,
    /// Absolute.
    pub dotenv: Option<PathBuf>,
    /// The words of the command that will run the tests.
    pub command: Option<Vec<String>>,
    /// The folder in which it would run, if it will run in this environment.
    pub here: Option<PathBuf>,
    /// The same as typed.
    pub typed: Vec<OsString>,
}

impl SelectArgs {
    fn resolve(&self, globals: &Globals) -> Result<SelectRequest, Error> {
        let config = globals.config(&self.selecting.overrides())?;
        let config = config.for_command(&self.command);
        let named = self.format.iter().filter_map(|name| runners::named(name));
        let mut formats: Vec<_> = named.collect();
        if formats.is_empty() {
            formats.push(config.runner.value);
        }
        let cwd = suites::folder_of_command(true, &config, globals);
        let root = &config.root.value;
        let top = self.out.as_ref().map(|path| globals.folder.join(path));
        Ok(SelectRequest {
            out: match config.is_named {
                true => top.as_ref().map(|top| top.join(&config.suite.value)),
                false => top.clone(),
            },
            top,
            head: self.head.clone(),
            baseline: self.baseline.clone(),
            event: self.selecting.event(globals.ci.as_ref()),
            strict: self.strict,
            formats,
            shards: self.shards,
            shard: self.shard,
            plan: self.plan.clone(),
            pipeline: self.pipeline.clone(),
            dotenv: self.dotenv.as_ref().map(|path| globals.folder.join(path)),
            command: (!self.command.is_empty())
                .then(|| config.driver.words(&self.command, &cwd, root)),
            here: self.here.then_some(cwd),
            typed: self.command.clone(),
            config,
        })
    }
}

pub(crate) fn run(args: &SelectArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let suites = globals.each_suite()?;
    let requests = suites.iter().map(|globals| args.resolve(globals));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let mut parts = Vec::new();
    for (globals, request) in suites.iter().zip(&requests) {
        parts.push(select_one(request, globals, report)?);
    }
    finish(parts, &requests, globals, report)
}

/// What became of one suite.
struct SuiteDone {
    suite: Option<String>,
    told: CiSelection,
    /// Into how many parts it is divided.
    shards: Option<u32>,
    /// Its jobs in a child pipeline.
    jobs: String,
    /// Only if it is asked for.
    document: Option<Value>,
    lines: String,
}

fn select_one(
    request: &SelectRequest,
    globals: &Globals,
    report: &Report,
) -> Result<SuiteDone, Error> {
    let outlet = Outlet {
        request,
        globals,
        report,
    };
    let ci = globals.ci.as_ref();
    match decide_for(request, ci, report) {
        Ok((project, decision, view)) => {
            telling::tell_decision(&decision, globals.mark().as_deref(), report);
            let is_shallow = project.repository.is_shallow();
            let json = || {
                let json = telling::selection_json(&decision, &view);
                json.with_ci(ci, Some(is_shallow))
            };
            let prefix = project.prefix.to_str_lossy();
            let told = CiSelection::new(&decision.selection, &service::fallbacks(&decision));
            // Where nobody can say what is here, the test step runs everything.
            let made_for = request.out.as_ref().and_then(|_| made_for::of(&view).ok());
            let about = About {
                prefix: &prefix,
                made_for: made_for.as_deref(),
                dir: Some(&project.dir),
                guests: Some(&|shards| guests(&project, &decision, None, shards)),
            };
            let part = outlet.emit(&decision.selection, &about, json, told);
            // The process ends here; giving back what describes every test,
            // piece by piece, would take longer than deciding about it.
            std::mem::forget(decision);
            part
        }
        Err(error) if may_select_all(request, &error) => {
            // The next step must not be kept from running the tests.
            let why = error.to_string();
            let selection = Selection::all(request.config.strategy.value, why.clone());
            report.event(Event::Fallback {
                reason: why.clone(),
            });
            let json = || SelectionJson::new(&selection, None, None, &[]).with_ci(ci, None);
            let told = CiSelection::new(&selection, &[why]);
            outlet.emit(&selection, &About::default(), json, told)
        }
        Err(error) => Err(error),
    }
}

/// Tells the service and the user of all suites.
fn finish(
    mut parts: Vec<SuiteDone>,
    requests: &[SelectRequest],
    globals: &Globals,
    report: &Report,
) -> Result<Exit, Error> {
    let Some(request) = requests.first() else {
        return Ok(Exit::DONE);
    };
    if let (Some(file), Some(top)) = (&request.pipeline, &request.top) {
        let jobs: String = parts.iter().map(|part| part.jobs.as_str()).collect();
        let text = child_pipeline(&jobs, &Template::of(file));
        crate::disk::write(top.join("child-pipeline.yml"), text)
            .context("cannot write the child pipeline")?;
    }
    let shards = parts.iter().map(|part| part.shards);
    let shards = shards.reduce(|a, b| a.zip(b).map(|(a, b)| a + b)).flatten();
    let mut told: Vec<CiSelection> = parts
        .iter_mut()
        .map(|part| std::mem::take(&mut part.told))
        .collect();
    let told = match (&parts[..], told.pop()) {
        ([SuiteDone { suite: None, .. }], Some(only)) => only,
        (_, last) => {
            told.extend(last);
            CiSelection::join(told)
        }
    };
    if let Some(top) = &request.top {
        crate::disk::write(top.join(SUMMARY), told.step_summary())
            .context("cannot write the summary")?;
    }
    if let Some(path) = &request.dotenv {
        crate::disk::write(path, told.dotenv(shards))
            .context("cannot write what --dotenv names")?;
    }
    service::tell_service(globals.ci.as_ref(), &told, report)?;
    let is_on_github = globals.ci.as_ref().map(|ci| ci.provider) == Some(Provider::GitHub);
    if report.is_json() {
        let documents = parts
            .into_iter()
            .map(|part| (part.suite, part.document.unwrap_or_default()));
        report.json(&suites::join_documents(documents.collect()))?;
    } else if !is_on_github {
        // There lists are in files, where nobody takes names for commands.
        let lines: String = parts.iter().map(|part| part.lines.as_str()).collect();
        report.data(&lines)?;
    }
    Ok(Exit::DONE)
}

fn decide_for(
    request: &SelectRequest,
    ci: Option<&CiContext>,
    report: &Report,
) -> Result<(Project, Decision, View), Error> {
    let project = open(&request.config, ci)?;
    deciding::join_shards(&project, report);
    build_first(request, report)?;
    let (mut decision, view) = deciding::decide_at(
        &project,
        &deciding::Wanted {
            event: &request.event,
            head: request.head.as_deref(),
            baseline: request.baseline.as_deref(),
            command: request.command.as_deref(),
            here: request.here.as_deref(),
            strict: request.strict,
        },
    )?;
    if request.shards.is_some() || request.shard.is_some() {
        let is_once = request.shard.is_none();
        deciding::lay_out(&project, &view, &mut decision, is_once, report)?;
    }
    Ok((project, decision, view))
}

/// Compiles, where only that tells what an edit can affect. Without `--here` nothing counts that was
/// built.
fn build_first(request: &SelectRequest, report: &Report) -> Result<(), Error> {
    let config = &request.config;
    let Some(cwd) = &request.here else {
        return Ok(());
    };
    if !config.driver.builds_before_selecting() {
        return Ok(());
    }
    let out = std::env::temp_dir();
    let built = deciding::build(config, (&request.typed, cwd), &out, &Output::Stderr, report);
    // The next step finds that, too.
    built.map_err(|error| Error::store(error.to_string()))?;
    Ok(())
}

/// Trouble that is not the user's own words selects all tests instead.
fn may_select_all(request: &SelectRequest, error: &Error) -> bool {
    let is_named = request.head.is_some() || request.baseline.is_some() || request.event.is_named();
    !request.strict && !is_named && matches!(error.kind(), Kind::Repository | Kind::Store)
}

/// What a selection is about; nothing where that is not known.
#[derive(Default)]
struct About<'a> {
    /// The folder of the project in the repository.
    prefix: &'a str,
    /// Which files it was made for.
    made_for: Option<&'a str>,
    /// The folder of the project.
    dir: Option<&'a Path>,
    /// Who has to run with the tests of each part.
    guests: Option<&'a dyn Fn(&Shards) -> Guests>,
}

/// Where a selection goes.
struct Outlet<'a> {
    request: &'a SelectRequest,
    globals: &'a Globals,
    report: &'a Report,
}

impl Outlet<'_> {
    fn emit(
        &self,
        selection: &Selection,
        about: &About<'_>,
        json: impl Fn() -> SelectionJson,
        mut told: CiSelection,
    ) -> Result<SuiteDone, Error> {
        let request = self.request;
        let mut division = self.divide(selection)?;
        if let (Some(division), Some(guests)) = (&mut division, about.guests) {
            division.guests = guests(&division.shards);
        }
        let json = || match &division {
            Some(division) => json().with_shards(division.json(), request.shard),
            None => json(),
        };
        if let Some(out) = &request.out {
            let part = request.shard.zip(division.as_ref());
            let part = part.map(|(shard, division)| division.part(shard.index));
            self.write(selection, part, about, out)?;
            service::write_json(&json(), &out.join("selection.json"))?;
            if let Some(division) = division.as_ref().filter(|_| request.shard.is_none()) {
                for index in 1..=division.shards.of() {
                    let folder = out.join(format!("shard-{index}"));
                    self.write(selection, Some(division.part(index)), about, &folder)?;
                }
            }
            told.out = Some(self.shown(out));
        }
        let suite = self.globals.mark();
        let config = &request.config;
        let name = config.is_named.then_some(config.suite.value.as_str());
        let entries = division.as_ref().map(|it| it.entries(selection, name));
        told.matrix = entries.map(|entries| json!({ "include": entries }).to_string());
        told.suite = suite.clone();
        let jobs = division.as_ref().zip(request.pipeline.as_ref());
        let jobs = jobs.map(|(it, file)| it.jobs(selection, &Template::of(file), name));
        let is_json = self.report.is_json();
        Ok(SuiteDone {
            told,
            shards: division.as_ref().map(|division| division.shards.of()),
            jobs: jobs.unwrap_or_default(),
            document: is_json.then(|| json().value()).transpose()?,
            lines: match is_json {
                true => String::new(),
                false => telling::list(selection, suite.as_deref()),
            },
            suite,
        })
    }

    /// How the tests are divided, if that is wanted.
    ///
    /// # Errors
    /// If this part belongs to another division than the one made here.
    fn divide(&self, selection: &Selection) -> Result<Option<Division>, Error> {
        let request = self.request;
        let exact = request.shard.map(|shard| shard.of);
        let Some(most) = exact.or(request.shards) else {
            return Ok(None);
        };
        let division = match exact {
            Some(of) => Division::into_exactly(selection, of),
            None => Division::into_at_most(selection, most),
        };
        if let Some(plan) = request.plan.as_ref().filter(|plan| **plan != division.plan) {
            let message = format!(
                "the tests are divided differently here ({}) than by the plan {plan}: \
                 other results are stored, or the files differ",
                division.plan
            );
            return Err(Error::store(message)
                .with_hint("use the folders that `tamis select --out DIR --shards N` writes"));
        }
        Ok(Some(division))
    }

    fn write(
        &self,
        selection: &Selection,
        part: Option<Part<'_>>,
        about: &About<'_>,
        out: &Path,
    ) -> Result<(), Error> {
        emission::write(selection, part, about.prefix, (None, None), out)?;
        for runner in &self.request.formats {
            runner.emit_for_later(selection, part, about.dir, out)?;
        }
        made_for::write(out, about.made_for)
    }

    /// A path as later steps can use it, which start in the same folder.
    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.globals.folder).unwrap_or(path);
        shown.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 15] = [
            &["--deepen", "never"],
            &["--out", "o", "--shards", "4", "--pipeline", "f"],
            &["--here", "--", "pytest"],
            &["--shards", "4"],
            &["--shard", "1/4"],
            &["--shard", "1/4", "--plan", "a"],
            &["--dotenv", "e"],
            &["--", "pytest"],
            &["--out", "o"],
            &["--strategy", "memo"],
            &["--head", "a"],
            &["--baseline", "b"],
            &["--before", "c"],
            &["--pr-head", "d"],
            &["--strict"],
        ];
        let project = Project::new("version: 1\n");
        project.each_matters(&[], &groups, SelectArgs::resolve);
        let request = project.request(&["--out", "o"], SelectArgs::resolve);
        assert!(request.contains("\"TOP/o\""), "{request}");
    }

    #[test]
    fn formats_default_to_the_runner() {
        let project = Project::new("version: 1\n");
        let plain = project.request(&[], SelectArgs::resolve);
        let named = project.request(&["--format", "pytest"], SelectArgs::resolve);
        assert!(plain.contains("pytest"));
        assert_eq!(plain, named);
    }
}
