//! `tamis shards`.

use std::path::PathBuf;

use clap::builder::{RangedI64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::strategy::{EventArgs, StrategyArgs};
use super::{Globals, deciding, suites, telling, whole};
use crate::config::{Config, Overrides};
use crate::error::{Error, Exit};
use crate::pipeline::{Project, open};
use crate::report::Report;
use crate::runners::file_of;
use crate::select::{Guests, MOST_SHARDS, Mode, Part, Selection, Shards};

/// Divide the selection among machines that run at the same time.
///
/// Prints what GitHub's `strategy.matrix` or a GitLab child pipeline needs.
/// The longest files go first, each to the machine with the least so far.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis shards 4                        a matrix of at most 4 shards\n  \
    tamis shards 4 --seconds 60           no more than are worth it\n  \
    tamis shards 4 --format gitlab        a child pipeline with a job each\n  \
    tamis select --shard 2/4 --out DIR    what the second one selects")]
pub(crate) struct ShardsArgs {
    /// At most so many
    #[arg(value_name = "N", value_parser = count())]
    most: u32,
    /// No more than have so many seconds of recorded test time each
    #[arg(long, value_name = "S", default_value_t = 0)]
    seconds: u32,
    /// What to print
    #[arg(long, value_enum, value_name = "SERVICE", default_value = "github")]
    format: FormatArg,
    /// For GitLab: the hidden job that each job extends
    #[arg(long, value_name = "JOB", default_value = SHARD_JOB)]
    extends: String,
    /// For GitLab: the file of the repository that has it
    #[arg(
        long,
        value_name = "FILE",
        default_value = "templates/tamis-shard.gitlab-ci.yml"
    )]
    include: String,
    #[command(flatten)]
    selecting: StrategyArgs,
    /// The tests will run in this very environment: also look at its variables,
    /// packages and interpreter, so that nothing is left open
    #[arg(long, requires = "command")]
    here: bool,
    /// The test command of the next step, if it is known
    #[arg(last = true, value_name = "CMD")]
    command: Vec<std::ffi::OsString>,
}

/// The job of GitLab's template that is one shard.
const SHARD_JOB: &str = ".tamis-shard";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    Github,
    Gitlab,
}

/// Reads a number of shards.
pub(crate) fn count() -> impl TypedValueParser<Value = u32> {
    RangedI64ValueParser::<u32>::new().range(1..=i64::from(MOST_SHARDS))
}

/// What `shards` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub(crate) struct ShardsRequest {
    pub config: Config,
    pub most: u32,
    /// Recorded test time that a shard is worth.
    pub seconds: u32,
    /// `None`: a matrix for GitHub; else a child pipeline for GitLab.
    pub gitlab: Option<Template>,
    pub event: EventArgs,
    pub command: Option<Vec<String>>,
    /// The folder in which it would run, if it will run in this environment.
    pub here: Option<PathBuf>,
    /// The suite, if it is one of several.
    pub suite: Option<String>,
}

/// Where the jobs of a child pipeline come from.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub file: String,
    pub job: String,
}

impl Template {
    /// The job of `file` that has the name of ours.
    pub(crate) fn of(file: &str) -> Template {
        Template {
            file: file.to_owned(),
            job: SHARD_JOB.to_owned(),
        }
    }
}

impl ShardsArgs {
    fn resolve(&self, globals: &Globals) -> Result<ShardsRequest, Error> {
        let config = globals.config(&self.selecting.overrides())?;
        let cwd = suites::folder_of_command(true, &config, globals);
        let root = &config.root.value;
        Ok(ShardsRequest {
            suite: config.is_named.then(|| config.suite.value.clone()),
            most: self.most,
            seconds: self.seconds,
            gitlab: match self.format {
                FormatArg::Github => None,
                FormatArg::Gitlab => Some(Template {
                    file: self.include.clone(),
                    job: self.extends.clone(),
                }),
            },
            event: self.selecting.event(globals.ci.as_ref()),
            command: (!self.command.is_empty())
                .then(|| config.driver.words(&self.command, &cwd, root)),
            here: self.here.then_some(cwd),
            config,
        })
    }
}

pub(crate) fn run(args: &ShardsArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    globals.enter_ci(report)?;
    let suites = globals.each_suite()?;
    let requests = suites.iter().map(|globals| args.resolve(globals));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    let mut entries = Vec::new();
    let mut jobs = String::new();
    let mut documents = Vec::new();
    for (globals, request) in suites.iter().zip(&requests) {
        let divided = divide(request, globals, report);
        let (division, selection) = divided.or_else(|error| {
            // As `select` does: the next jobs must not be kept from running the tests.
            if !whole::may_run(&error, globals.ci.as_ref(), request.event.is_named()) {
                return Err(error);
            }
            let selection = whole::select(&error, &request.config, report);
            let division = Division::into_at_most(&selection, request.most);
            Ok((division, selection))
        })?;
        let suite = request.suite.as_deref();
        entries.extend(division.entries(&selection, suite));
        if let Some(template) = &request.gitlab {
            jobs.push_str(&division.jobs(&selection, template, suite));
        }
        documents.push((globals.mark(), division.json()));
    }
    let gitlab = requests.first().and_then(|request| request.gitlab.as_ref());
    let text = match (gitlab, report.is_json()) {
        (_, true) => format!("{:#}\n", suites::join_documents(documents)),
        (None, false) => format!("{}\n", json!({ "include": entries })),
        (Some(template), false) => child_pipeline(&jobs, template),
    };
    report.data(&text)?;
    Ok(Exit::DONE)
}

/// Joins what the shards of earlier runs recorded. That needs nobody's results, so
/// nobody is asked for any.
///
/// # Errors
/// If there is no repository that can be used.
pub(crate) fn join(globals: &Globals, report: &Report) -> Result<(), Error> {
    let project = Project::open(globals.config(&Overrides::default())?)?;
    deciding::join_shards(&project, report);
    Ok(())
}

fn divide(
    request: &ShardsRequest,
    globals: &Globals,
    report: &Report,
) -> Result<(Division, Selection), Error> {
    let project = open(&request.config, globals.ci.as_ref())?;
    deciding::join_shards(&project, report);
    let wanted = deciding::Wanted {
        event: &request.event,
        head: None,
        baseline: None,
        command: request.command.as_deref(),
        here: request.here.as_deref(),
        strict: false,
    };
    let (mut decision, view) = deciding::decide_at(&project, &wanted)?;
    deciding::lay_out(&project, &view, &mut decision, false, report)?;
    telling::tell_decision(&decision, globals.mark().as_deref(), report);
    let selection = decision.selection;
    let division = Division::worth(&selection, request.most, request.seconds);
    Ok((division, selection))
}

/// A division of the tests.
pub(crate) struct Division {
    pub shards: Shards,
    /// Tells it from all others.
    pub plan: String,
    /// By part: tests of other parts that run there too. They are no part of the plan, for
    /// they depend on what the store of each machine knows.
    pub guests: Guests,
}

impl Division {
    /// No more parts than there are files to run.
    pub(crate) fn into_at_most(selection: &Selection, most: u32) -> Division {
        let shards = Shards::divide(selection, most, file_of);
        Division {
            plan: shards.digest(selection),
            shards,
            guests: Vec::new(),
        }
    }

    /// So many parts, some of which may be empty.
    pub(crate) fn into_exactly(selection: &Selection, of: u32) -> Division {
        let mut division = Division::into_at_most(selection, of);
        division.shards.pad(of);
        division.plan = division.shards.digest(selection);
        division
    }

    fn worth(selection: &Selection, most: u32, seconds: u32) -> Division {
        let (_, selected) = selection.seconds();
        let is_known = seconds > 0 && selection.all_because.is_none();
        let enough = match is_known {
            // As a whole number of shards, however few seconds there are.
            true => (selected / f64::from(seconds)).ceil() as u32,
            false => most,
        };
        Division::into_at_most(selection, most.min(enough.max(1)))
    }

    pub(crate) fn part(&self, index: u32) -> Part<'_> {
        Part {
            shards: &self.shards,
            index,
            plan: &self.plan,
            guests: self.guests.get(index as usize - 1),
        }
    }

    /// The public form: how many parts, and what each has to do.
    pub(crate) fn json(&self) -> Value {
        let loads = self.shards.loads.iter().zip(1..);
        let parts: Vec<Value> = loads
            .map(|(load, shard)| {
                let seconds = load.millis as f64 / 1e3;
                json!({"shard": shard, "tests": load.tests, "seconds": seconds})
            })
            .collect();
        json!({"schema": 1, "of": self.shards.of(), "plan": self.plan, "parts": parts})
    }

    /// For `strategy.matrix`: no entry where nothing has to run.
    pub(crate) fn entries(&self, selection: &Selection, suite: Option<&str>) -> Vec<Value> {
        let of = self.shards.of();
        let entry = |shard| {
            let mut entry = json!({"shard": shard, "of": of, "plan": self.plan});
            if let Some(suite) = suite {
                entry["suite"] = suite.into();
            }
            entry
        };
        match selection.mode() {
            Mode::None => Vec::new(),
            Mode::All | Mode::Subset => (1..=of).map(entry).collect(),
        }
    }

    /// For a child pipeline: a job for each part, none where nothing has to run.
    pub(crate) fn jobs(
        &self,
        selection: &Selection,
        template: &Template,
        suite: Option<&str>,
    ) -> String {
        if selection.mode() == Mode::None {
            return String::new();
        }
        let before = suite.map_or_else(String::new, |suite| format!("{suite} "));
        let named = suite.map(|suite| format!("    TAMIS_SUITE: {}\n", quoted(suite)));
        let named = named.unwrap_or_default();
        let job = |index: u32| {
            format!(
                "\n{before}shard {index}:\n  extends: {}\n  variables:\n    SHARD: \"{index}\"\n    SHARDS: \"{}\"\n{named}",
                quoted(&template.job),
                self.shards.of()
            )
        };
        (1..=self.shards.of()).map(job).collect()
    }
}

/// A pipeline of these jobs; with one that does nothing where there are none,
/// for GitLab refuses an empty one.
pub(crate) fn child_pipeline(jobs: &str, template: &Template) -> String {
    if jobs.is_empty() {
        return "nothing to run:\n  script: [\"true\"]\n".to_owned();
    }
    format!("include:\n  - local: {}\n{jobs}", quoted(&template.file))
}

/// JSON is YAML.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project as TestProject;
    use super::*;
    use crate::select::Strategy;

    #[test]
    fn every_option_changes_the_request() {
        let groups: [&[&str]; 7] = [
            &["--deepen", "never"],
            &["--here", "--", "pytest"],
            &["--seconds", "9"],
            &["--format", "gitlab"],
            &["--strategy", "commit"],
            &["--before", "c"],
            &[
                "--format",
                "gitlab",
                "--extends",
                ".x",
                "--include",
                "y.yml",
            ],
        ];
        let project = TestProject::new("version: 1\n");
        for group in groups {
            let words = [&["4"], group].concat();
            let plain = project.request(&["4"], ShardsArgs::resolve);
            assert_ne!(
                project.request(&words, ShardsArgs::resolve),
                plain,
                "{group:?}"
            );
        }
        let fewer = project.request(&["3"], ShardsArgs::resolve);
        assert_ne!(fewer, project.request(&["4"], ShardsArgs::resolve));
    }

    #[test]
    fn everything_unknown_is_divided_by_files_at_run_time() {
        let selection = Selection::all(Strategy::Auto, "nothing is recorded yet");
        let division = Division::into_at_most(&selection, 2);
        let plan = &division.plan;
        assert_eq!(
            Value::from(division.entries(&selection, None)).to_string(),
            format!(
                r#"[{{"of":2,"plan":"{plan}","shard":1}},{{"of":2,"plan":"{plan}","shard":2}}]"#
            )
        );
        let named = division.entries(&selection, Some("api"));
        assert_eq!(
            (&named[1]["suite"], &named[1]["shard"]),
            (&json!("api"), &json!(2))
        );
        let template = Template {
            file: "a\"b.yml".to_owned(),
            job: ".t".to_owned(),
        };
        let jobs = division.jobs(&selection, &template, None);
        let api = division.jobs(&selection, &template, Some("api"));
        assert!(api.contains("\napi shard 2:\n") && api.contains("    TAMIS_SUITE: \"api\"\n"));
        insta::assert_snapshot!(child_pipeline(&jobs, &template), @r#"
        include:
          - local: "a\"b.yml"

        shard 1:
          extends: ".t"
          variables:
            SHARD: "1"
            SHARDS: "2"

        shard 2:
          extends: ".t"
          variables:
            SHARD: "2"
            SHARDS: "2"
        "#);
    }
}
