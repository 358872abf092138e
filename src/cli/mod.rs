//! The command line: what was typed, what it means with the configuration
//! merged in, and one file for each command.

pub(crate) mod action;
mod cargo;
pub(crate) mod classify;
pub(crate) mod comment;
pub(crate) mod completions;
mod ctest;
mod deciding;
pub(crate) mod doctor;
mod exchange;
mod go;
pub(crate) mod init;
mod made_for;
pub(crate) mod minimise;
mod node;
pub(crate) mod order;
pub(crate) mod record;
pub(crate) mod replay;
pub mod run;
pub(crate) mod select;
mod service;
pub(crate) mod shards;
pub(crate) mod store;
mod strategy;
mod suites;
mod telling;
pub(crate) mod trace;
mod whole;
pub(crate) mod why;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::ci::{Choice, CiContext, Environment, Provider};
use crate::config::{
    self, Config, Key, Origin, Overrides, Setting, Strategy, Variables, shown_path,
};
use crate::error::{Error, Exit, Explain};
use crate::history;
use crate::report::{self, Colour, Event, Report, Style};

/// Run only the tests that a change can affect.
///
/// tamis records what each test uses: functions, files, packages, variables.
/// At the next change it runs the tests whose things changed, and leaves out
/// the others on proof. Any doubt runs the test, and tamis says why.
#[derive(Debug, Parser)]
#[command(
    name = "tamis",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:\n  \
        tamis run                        run what a change can affect; the first time, all\n  \
        tamis run -- pytest -x tests/    the same with your own test command\n  \
        tamis why tests/test_a.py::test  why a test was left out, or not\n\n\
        Exit codes: 0 done, 1 tests failed, 2 usage or configuration, 3 repository, 4 store, 70 our own bug."
)]
struct Arguments {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitArgs),
    Run(run::RunArgs),
    Select(select::SelectArgs),
    Shards(shards::ShardsArgs),
    Record(record::RecordArgs),
    Why(why::WhyArgs),
    Order(order::OrderArgs),
    Minimise(minimise::MinimiseArgs),
    Classify(classify::ClassifyArgs),
    Comment(comment::CommentArgs),
    Replay(replay::ReplayArgs),
    Store(store::StoreArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Action(action::ActionArgs),
    #[command(hide = true)]
    Trace(trace::TraceArgs),
    #[command(hide = true)]
    CargoTest(cargo::CargoTestArgs),
    #[command(hide = true)]
    CargoBinary(cargo::CargoBinaryArgs),
    #[command(hide = true)]
    CargoDoc(cargo::CargoDocArgs),
    #[command(hide = true)]
    CtestRun(ctest::CtestRunArgs),
    #[command(hide = true)]
    CtestTest(ctest::CtestTestArgs),
    #[command(hide = true)]
    CtestBuild(ctest::CtestBuildArgs),
    #[command(hide = true)]
    GoTest(go::GoTestArgs),
    #[command(hide = true)]
    GoBinary(go::GoBinaryArgs),
    #[command(hide = true)]
    NodeTest(node::NodeTestArgs),
}

/// Options of every command, as typed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
struct GlobalArgs {
    /// Results as JSON on standard output, events as JSON lines on standard error
    #[arg(long, global = true)]
    json: bool,
    /// Say less: -q only results, warnings and errors; -qq only errors
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    quiet: u8,
    /// Say more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// When to use colours (NO_COLOR is respected)
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto"
    )]
    color: ColorArg,
    /// Work in this folder instead of the current one
    #[arg(short = 'C', global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// The CI service to take hints from and to write outputs for
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "SERVICE",
        default_value = "auto"
    )]
    ci: CiArg,
    /// Use this configuration file instead of the tamis.yml found by walking up
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only this suite, where the configuration has several
    #[arg(long, global = true, value_name = "NAME")]
    suite: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ColorArg {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CiArg {
    Auto,
    Github,
    Gitlab,
    Generic,
    None,
}

impl CiArg {
    fn choice(self) -> Choice {
        match self {
            CiArg::Auto => Choice::Auto,
            CiArg::Github => Choice::Named(Provider::GitHub),
            CiArg::Gitlab => Choice::Named(Provider::GitLab),
            CiArg::Generic => Choice::Named(Provider::Generic),
            CiArg::None => Choice::None,
        }
    }
}

impl GlobalArgs {
    fn style(&self, ci: Option<&CiContext>) -> Style {
        let level = i16::from(self.verbose) - i16::from(self.quiet);
        Style {
            colour: match self.color {
                ColorArg::Auto => Colour::Auto,
                ColorArg::Always => Colour::Always,
                ColorArg::Never => Colour::Never,
            },
            json: self.json,
            verbosity: level.clamp(-2, 2) as i8,
            workflow_commands: ci.is_some_and(|ci| ci.provider == Provider::GitHub),
        }
    }

    fn resolve(&self, ci: Option<CiContext>) -> Result<Globals, Error> {
        if let Some(workspace) = ci.as_ref().and_then(|ci| ci.workspace.as_ref()) {
            history::entrust(workspace);
        }
        let current = std::env::current_dir().context("cannot find the current folder")?;
        let folder = match &self.directory {
            Some(path) => fs_err::canonicalize(current.join(path))
                .context("cannot work in that folder")
                .hint("correct the option -C")?,
            None => current,
        };
        if !folder.is_dir() {
            let message = format!("{} is not a folder", shown_path(&folder));
            return Err(Error::usage(message).with_hint("correct the option -C"));
        }
        Ok(Globals {
            folder,
            config_file: self.config.clone(),
            suite: self.suite.clone(),
            is_one_of_all: false,
            variables: config::variables(),
            ci,
        })
    }
}

/// Where a command works, and what the environment says.
#[derive(Clone, Debug)]
pub struct Globals {
    /// The current folder or that of `-C`: absolute, without `..` or links.
    pub folder: PathBuf,
    /// `--config`, relative to `folder`.
    pub config_file: Option<PathBuf>,
    /// Which of several suites is meant.
    pub suite: Option<String>,
    /// Whether it is so because all suites are meant, one after the other.
    pub is_one_of_all: bool,
    pub variables: Variables,
    /// What the CI service tells; `None` outside of CI.
    pub ci: Option<CiContext>,
}

impl Globals {
    /// Tells what could not be read of the CI service's words, and stops where
    /// tamis must not work.
    pub fn enter_ci(&self, report: &Report) -> Result<(), Error> {
        let Some(ci) = &self.ci else {
            return Ok(());
        };
        for note in &ci.notes {
            report.warning(format!("{}: {note}; it gives no hint", ci.provider.word()));
        }
        match ci.refusal() {
            None => Ok(()),
            Some(why) => Err(Error::usage(why)
                .with_hint("run tests on the event pull_request")
                .with_hint("docs/ci.md says what `--ci none` would mean")),
        }
    }

    /// The settings of the project, with the command's flags merged in.
    pub fn config(&self, overrides: &Overrides) -> Result<Config, Error> {
        let file = self.config_file.as_deref();
        let suite = self.suite.as_deref();
        let config = Config::load(&self.folder, file, &self.variables, overrides, suite)?;
        Ok(self.take_turns(config))
    }

    /// Where every so many runs of the default branch are to run everything,
    /// and this is one of them: unless a flag names a strategy.
    fn take_turns(&self, mut config: Config) -> Config {
        let is_free = !matches!(config.strategy.origin, Origin::Flag(_));
        let is_turn = |every| self.ci.as_ref().is_some_and(|ci| ci.is_turn(every));
        if is_free && config.run_all_every.value.is_some_and(is_turn) {
            config.strategy = Setting {
                value: Strategy::All,
                origin: Origin::Turn(Key::RunAllEvery.word()),
            };
        }
        config
    }

    /// The suite's name, where all suites are meant: what it answers is marked
    /// with it.
    pub fn mark(&self) -> Option<String> {
        self.suite.clone().filter(|_| self.is_one_of_all)
    }

    /// These for each suite that is meant: the one that was named, else all.
    pub fn each_suite(&self) -> Result<Vec<Globals>, Error> {
        if self.suite.is_some() || self.variables.contains_key("TAMIS_SUITE") {
            return Ok(vec![self.clone()]);
        }
        let names = Config::suites(&self.folder, self.config_file.as_deref())?;
        if names.is_empty() {
            return Ok(vec![self.clone()]);
        }
        let of = |name| Globals {
            suite: Some(name),
            is_one_of_all: true,
            ..self.clone()
        };
        Ok(names.into_iter().map(of).collect())
    }
}

/// Runs the command that `args` name (the first is the program) and returns
/// the exit status of the process.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let arguments = match Arguments::try_parse_from(&args) {
        Ok(arguments) => arguments,
        Err(answer) => {
            if answer.use_stderr() && asks_for_json(&args) {
                let style = Style {
                    json: true,
                    ..Style::default()
                };
                Report::to_standard_streams(style).event(Event::Failed(refused(&answer)));
                return Exit::USAGE;
            }
            report::help(&answer.render().ansi().to_string(), answer.use_stderr());
            return if answer.use_stderr() {
                Exit::USAGE
            } else {
                Exit::DONE
            };
        }
    };
    let environment = Environment::of_this_process();
    let ci = CiContext::from_environment(&environment, arguments.global.ci.choice());
    let report = Report::to_standard_streams(arguments.global.style(ci.as_ref()));
    settle(|| dispatch(&arguments, ci, &report), &report)
}

/// Whether a command line that could not be read asks for JSON; what follows `--` is
/// somebody else's.
fn asks_for_json(args: &[OsString]) -> bool {
    let own = args.iter().take_while(|word| *word != "--");
    own.into_iter().any(|word| word == "--json")
}

/// What clap says, in its first line, and the rest.
fn refused(answer: &clap::Error) -> Error {
    let text = answer.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let error = Error::usage(first);
    lines.fold(error, |error, line| error.with_hint(line))
}

/// Does the work; an error is told, and becomes its exit status. A panic has
/// been told by the hook.
fn settle(work: impl FnOnce() -> Result<Exit, Error>, report: &Report) -> Exit {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => {
            let exit = error.kind().exit();
            report.event(Event::Failed(error));
            exit
        }
        Err(_) => Exit::BUG,
    }
}

fn dispatch(arguments: &Arguments, ci: Option<CiContext>, report: &Report) -> Result<Exit, Error> {
    perform(&arguments.command, &arguments.global.resolve(ci)?, report)
}

/// Does what these words mean behind `tamis`, in this process.
fn again(
    words: impl IntoIterator<Item = OsString>,
    globals: &Globals,
    report: &Report,
) -> Result<Exit, Error> {
    let words = [OsString::from("tamis")].into_iter().chain(words);
    let arguments = Arguments::try_parse_from(words).map_err(|answer| refused(&answer))?;
    perform(&arguments.command, globals, report)
}

fn perform(command: &Command, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    match command {
        Command::Init(args) => init::run(args, globals, report),
        Command::Run(args) => run::run(args, globals, report),
        Command::Select(args) => select::run(args, globals, report),
        Command::Shards(args) => shards::run(args, globals, report),
        Command::Record(args) => record::run(args, globals, report),
        Command::Why(args) => why::run(args, globals, report),
        Command::Order(args) => order::run(args, globals, report),
        Command::Minimise(args) => minimise::run(args, globals, report),
        Command::Classify(args) => classify::run(args, globals, report),
        Command::Comment(args) => comment::run(args, globals, report),
        Command::Replay(args) => replay::run(args, globals, report),
        Command::Store(args) => store::run(args, globals, report),
        Command::Doctor(args) => doctor::run(args, globals, report),
        Command::Completions(args) => completions::run(args, report),
        Command::Action(args) => action::run(args, globals, report),
        Command::Trace(args) => trace::run(args, globals, report),
        Command::CargoTest(args) => cargo::test(args, report),
        Command::CargoBinary(args) => cargo::binary(args),
        Command::CargoDoc(args) => cargo::documentation(args),
        Command::CtestRun(args) => ctest::run(args, report),
        Command::CtestTest(args) => ctest::test(args),
        Command::CtestBuild(args) => ctest::build(args),
        Command::GoTest(args) => go::test(args, report),
        Command::GoBinary(args) => go::binary(args),
        Command::NodeTest(args) => node::run(args, report),
    }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn help(words: &[&str]) -> String {
        let args = ["tamis"].iter().chain(words);
        let command = Arguments::command().term_width(100);
        let answer = command.try_get_matches_from(args).unwrap_err();
        let text = answer.render().to_string();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    #[test]
    fn the_definitions_hold() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_top_help_teaches() {
        insta::assert_snapshot!(help(&["-h"]), @r"
        Run only the tests that a change can affect

        Usage: tamis [OPTIONS] <COMMAND>

        Commands:
          init         Write a commented tamis.yml that fits the project
          run          Select, run what is selected, and record the results
          select       Compute the selection for the next step, without running anything
          shards       Divide the selection among machines that run at the same time
          record       Run a test command under collection and store what its tests used
          why          Explain why a test would run, or why it would be left out
          order        Find, explain and run tests in other orders than their own
          minimise     Join tests that share statements, so that what they share runs once
          classify     Say by which git command a revision came to be
          comment      Say on the pull request what was selected, in one comment that is kept up to date
          replay       Show what each strategy would have selected on your own history
          store        Look at, check and clean the recorded results
          doctor       Check the set-up and say what to fix
          completions  Print completions for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Global options:
              --json           Results as JSON on standard output, events as JSON lines on standard error
          -q, --quiet...       Say less: -q only results, warnings and errors; -qq only errors
          -v, --verbose...     Say more
              --color <WHEN>   When to use colours (NO_COLOR is respected) [default: auto] [possible values:
                               auto, always, never]
          -C <DIR>             Work in this folder instead of the current one
              --ci <SERVICE>   The CI service to take hints from and to write outputs for [default: auto]
                               [possible values: auto, github, gitlab, generic, none]
              --config <FILE>  Use this configuration file instead of the tamis.yml found by walking up
              --suite <NAME>   Only this suite, where the configuration has several

        Examples:
          tamis run                        run what a change can affect; the first time, all
          tamis run -- pytest -x tests/    the same with your own test command
          tamis why tests/test_a.py::test  why a test was left out, or not

        Exit codes: 0 done, 1 tests failed, 2 usage or configuration, 3 repository, 4 store, 70 our own bug.
        ");
    }

    #[test]
    fn the_help_of_select_names_every_option() {
        let runners: Vec<&str> = crate::runners::names().collect();
        let help = help(&["select", "-h"]).replace(&runners.join(", "), "RUNNERS");
        insta::assert_snapshot!(help, @r"
        Compute the selection for the next step, without running anything

        Usage: tamis select [OPTIONS] [-- <CMD>...]

        Arguments:
          [CMD]...  The test command of the next step, if it is known

        Options:
              --out <DIR>        Write selection.json, tests.txt, exclude.txt and the runner's own files
                                 here
              --strategy <NAME>  How to select [default: the configuration's, else auto] [possible values:
                                 auto, all, commit, memo, merge-dom, merge-parents, merge-history,
                                 rebase-dom, rebase-parents, rebase-history, cherry-parent, cherry-history,
                                 revert-parent, revert-history, thesis]
              --deepen <WHEN>    When to fetch what a shallow or filtered clone lacks [default: the
                                 configuration's, else ci] [possible values: ci, always, never]
              --before <REV>     Where the branch pointed before the push
              --pr-head <REV>    The tip of the pull request that was merged
              --head <REV>       Select for this revision instead of the work tree
              --baseline <REV>   Rely on the results of this revision only
              --strict           End with an error where trouble would otherwise select all tests
              --format <RUNNER>  Runners to write files for [default: the configuration's runner] [possible
                                 values: RUNNERS]
              --shards <N>       Divide the tests among at most so many machines: one folder each below DIR
              --shard <M/N>      Select only this part of the tests: 2/4
              --plan <PLAN>      End with an error unless the tests are divided by this plan (of `tamis
                                 shards`)
              --pipeline <FILE>  Write DIR/child-pipeline.yml for GitLab: jobs that extend `.tamis-shard` of
                                 FILE
              --dotenv <FILE>    Write a dotenv report for GitLab here
              --here             The tests will run in this very environment: also look at its variables,
                                 packages and interpreter, so that nothing is left open
          -h, --help             Print help (see more with '--help')

        Global options:
              --json           Results as JSON on standard output, events as JSON lines on standard error
          -q, --quiet...       Say less: -q only results, warnings and errors; -qq only errors
          -v, --verbose...     Say more
              --color <WHEN>   When to use colours (NO_COLOR is respected) [default: auto] [possible values:
                               auto, always, never]
          -C <DIR>             Work in this folder instead of the current one
              --ci <SERVICE>   The CI service to take hints from and to write outputs for [default: auto]
                               [possible values: auto, github, gitlab, generic, none]
              --config <FILE>  Use this configuration file instead of the tamis.yml found by walking up
              --suite <NAME>   Only this suite, where the configuration has several

        Examples:
          tamis select                                  print what would run, and why
          tamis select --out .tamis/out                 write files for the test step
          pytest @.tamis/out/pytest.args                the test step (pytest 8.2 or later)
          tamis record --selection .tamis/out -- mvn test    the same for Maven
          tamis select --json | jq '.counts.selected'
        ");
    }

    #[test]
    fn every_command_has_examples_and_a_page() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
        let all = Arguments::command();
        for command in all
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
        {
            let name = command.get_name();
            let examples = command.get_after_help().map(ToString::to_string);
            assert!(examples.unwrap_or_default().contains("tamis "), "{name}");
            let page = fs_err::read_to_string(format!("{docs}/{name}.md")).unwrap();
            for option in command.get_arguments().filter_map(|arg| arg.get_long()) {
                assert!(page.contains(&format!("`--{option}")), "{name} --{option}");
            }
            for below in command.get_subcommands() {
                let line = format!("tamis {name} {}", below.get_name());
                assert!(page.contains(&line), "{line}");
                for option in below.get_arguments().filter_map(|arg| arg.get_long()) {
                    assert!(page.contains(&format!("`--{option}")), "{line} --{option}");
                }
            }
        }
    }

    #[test]
    fn verbosity_adds_up_and_is_bounded() {
        let level = |words: &[&str]| {
            let args = ["tamis", "doctor"].iter().chain(words).map(OsString::from);
            let arguments = Arguments::try_parse_from(args).unwrap();
            arguments.global.style(None).verbosity
        };
        assert_eq!(level(&[]), 0);
        assert_eq!(level(&["-vv", "-q"]), 1);
        assert_eq!(level(&["-qqqqq"]), -2);
    }

    #[test]
    fn errors_and_panics_become_exit_codes() {
        let (report, _, err) = report::testing::report(Style::default());
        for kind in crate::error::Kind::ALL {
            let exit = settle(|| Err(Error::new(kind, "stop")), &report);
            assert_eq!(exit, kind.exit());
        }
        assert_eq!(err.text().lines().count(), 4);
        assert_eq!(settle(|| Ok(Exit(5)), &report), Exit(5));
        assert_eq!(settle(|| panic!("as a test"), &report), Exit::BUG);
    }

    #[test]
    fn exit_codes_of_the_command_line() {
        let run = |words: &[&str]| run(words.iter().map(OsString::from));
        assert_eq!(run(&["tamis", "--version"]), Exit::DONE);
        assert_eq!(run(&["tamis", "no-such-command"]), Exit::USAGE);
        assert_eq!(run(&["tamis", "record"]), Exit::USAGE);
        assert_eq!(run(&["tamis", "-C", "/no/such", "doctor"]), Exit::USAGE);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(run(&["tamis", "-q", "-C", path, "init"]), Exit::REPOSITORY);
    }
}
