//! `tamis action`: what the steps of the GitHub action do (`action.yml`).
//!
//! Each step is a process of its own. Those that have the token end before the one
//! that starts tests begins, so that no test finds it in a process that is above or
//! beside it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{Globals, again, service, shards, telling};
use crate::config::Overrides;
use crate::error::{Error, Exit};
use crate::history::Repository;
use crate::pipeline::open;
use crate::report::{self, Report};

/// One step of the GitHub action, which hands its inputs over as variables.
#[derive(Args, Debug)]
pub(crate) struct ActionArgs {
    #[arg(value_enum)]
    step: Step,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Step {
    /// Asks others for what they know; has the token.
    Fetch,
    /// Selects, or runs tests, or keeps results; has no token.
    Work,
    /// Writes to the pull request; has the token.
    Comment,
}

/// What the variables of the inputs begin with.
const PREFIX: &str = "TAMIS_ACTION_";

/// What `select` leaves for later jobs, and what they read.
const OUT: &str = ".tamis/out";

/// The upload steps of `action.yml`.
const MOST_UPLOADS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Select,
    Record,
    Keep,
    Run,
}

/// The inputs of the action.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inputs {
    mode: Mode,
    command: Vec<String>,
    shards: String,
    shard: String,
    suite: String,
    strategy: String,
    here: bool,
    comment: bool,
}

impl Inputs {
    fn read(given: &BTreeMap<String, String>) -> Result<Inputs, Error> {
        let text = |name: &str| given.get(name).map_or("", |text| text.trim());
        let command = text("COMMAND");
        Ok(Inputs {
            mode: match text("MODE") {
                "select" => Mode::Select,
                "record" => Mode::Record,
                "keep" => Mode::Keep,
                "run" => Mode::Run,
                other => {
                    let message = format!("`mode` is `{other}`");
                    return Err(
                        Error::usage(message).with_hint("it is select, record, keep or run")
                    );
                }
            },
            command: shell_words::split(command).map_err(|_| {
                Error::usage("`command` ends within a quote")
                    .with_hint("its words are read as a shell reads them, and nothing is evaluated")
            })?,
            shards: text("SHARDS").to_owned(),
            shard: text("SHARD").to_owned(),
            suite: text("SUITE").to_owned(),
            strategy: text("STRATEGY").to_owned(),
            here: truth("here", text("HERE"))?,
            comment: truth("comment", text("COMMENT"))?,
        })
    }

    fn of_this_process() -> Result<Inputs, Error> {
        let given = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
            Some((name, value.to_string_lossy().into_owned()))
        });
        Inputs::read(&given.collect())
    }

    /// The words of a command of tamis, with those of the tests' command behind.
    fn words(&self, own: &[String]) -> Vec<OsString> {
        let strategy = (!self.strategy.is_empty() && self.mode != Mode::Record)
            .then(|| format!("--strategy={}", self.strategy));
        let end = ["--".to_owned()];
        let words = own.iter().chain(&strategy).chain(&end).chain(&self.command);
        words.map(OsString::from).collect()
    }
}

/// A boolean as YAML 1.1 or 1.2 spells it; nothing is `false`.
fn truth(input: &str, text: &str) -> Result<bool, Error> {
    let spells = |word: &str| {
        let capital = word[..1].to_uppercase() + &word[1..];
        text == word || text == capital || text == word.to_uppercase()
    };
    if ["true", "yes", "on", "y"].into_iter().any(spells) {
        Ok(true)
    } else if text.is_empty() || ["false", "no", "off", "n"].into_iter().any(spells) {
        Ok(false)
    } else {
        let message = format!("`{input}` is `{text}`, and must be `true` or `false`");
        Err(Error::usage(message)
            .with_hint("YAML's other words for them will do: `True`, `yes`, `On`, `OFF`"))
    }
}

pub(crate) fn run(args: &ActionArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let done = Inputs::of_this_process().and_then(|inputs| {
        let globals = of_suite(&inputs, globals);
        let action = Action {
            inputs: &inputs,
            globals: &globals,
            report,
        };
        match args.step {
            Step::Fetch => action.fetch(),
            Step::Work => action.work(),
            Step::Comment => {
                action.do_or_tell(&["comment", OUT]);
                Ok(Exit::DONE)
            }
        }
    });
    // The heads of a run's page show it, not only the log of the step.
    done.inspect_err(|error| report::tell_error(&error.to_string()))
}

/// A job of one of several suites is as if `TAMIS_SUITE` named it.
fn of_suite(inputs: &Inputs, globals: &Globals) -> Globals {
    let mut globals = globals.clone();
    if !inputs.suite.is_empty() && inputs.mode != Mode::Select {
        let name = "TAMIS_SUITE".to_owned();
        globals.variables.insert(name, inputs.suite.clone().into());
    }
    globals
}

struct Action<'a> {
    inputs: &'a Inputs,
    globals: &'a Globals,
    report: &'a Report,
}

impl Action<'_> {
    /// What one step of a job has asked, later ones do not ask again: they have no
    /// token, and start the project's code. Nothing of that is started here.
    fn fetch(&self) -> Result<Exit, Error> {
        if !matches!(self.inputs.mode, Mode::Select | Mode::Run) {
            return Ok(Exit::DONE);
        }
        if self.is_shared()? {
            self.do_or_tell(&["store", "fetch"]);
        } else if self.lacks_history() {
            for globals in self.globals.each_suite()? {
                let config = globals.config(&Overrides::default())?;
                let opened = open(&config, globals.ci.as_ref());
                match opened {
                    Ok(project) => telling::tell_clone(&project, self.report),
                    Err(error) => self.report.warning(format!("{error:#}")),
                }
            }
        }
        Ok(Exit::DONE)
    }

    fn work(&self) -> Result<Exit, Error> {
        match self.inputs.mode {
            Mode::Select => self.select(),
            Mode::Record => self.record(),
            Mode::Keep => self.keep(),
            Mode::Run => self.run(),
        }
    }

    fn select(&self) -> Result<Exit, Error> {
        let inputs = self.inputs;
        let out = self.path(OUT);
        if out.exists() {
            // Those of an earlier job on this machine are for other files.
            fs_err::remove_dir_all(&out).map_err(anyhow::Error::from)?;
        }
        let mut own = vec!["select".to_owned(), "--out".to_owned(), OUT.to_owned()];
        own.push(format!("--shards={}", inputs.shards));
        if inputs.here {
            own.push("--here".to_owned());
        }
        let exit = again(inputs.words(&own), self.globals, self.report)?;
        if exit == Exit::DONE && inputs.comment {
            self.tell("comment", "true")?;
        }
        Ok(exit)
    }

    /// No part: all that is selected. If the matrix was lost on the way, nobody else
    /// runs the other parts.
    fn record(&self) -> Result<Exit, Error> {
        let Inputs { suite, shard, .. } = self.inputs;
        let mut folder = format!("{OUT}/");
        if !suite.is_empty() {
            folder.push_str(&format!("{suite}/"));
        }
        if !shard.is_empty() {
            folder.push_str(&format!("shard-{shard}"));
        }
        let own = ["record", "--selection", &folder].map(str::to_owned);
        again(self.inputs.words(&own), self.globals, self.report)
    }

    fn keep(&self) -> Result<Exit, Error> {
        for globals in self.globals.each_suite()? {
            shards::join(&globals, self.report)?;
        }
        for words in [["store", "gc"], ["store", "ls"]] {
            let exit = again(words.map(OsString::from), self.globals, self.report)?;
            if exit != Exit::DONE {
                return Ok(exit);
            }
        }
        if self.is_shared()? {
            self.do_or_tell(&["store", "push"]);
            self.hand_on()?;
        }
        Ok(Exit::DONE)
    }

    fn run(&self) -> Result<Exit, Error> {
        let own = ["run".to_owned()];
        let done = again(self.inputs.words(&own), self.globals, self.report);
        self.hand_on()?;
        done
    }

    /// Lays what the next steps upload, to be shared, where they find it: a folder
    /// and a name for each suite.
    fn hand_on(&self) -> Result<(), Error> {
        let target = self.path(".tamis/handed-on");
        if target.exists() {
            fs_err::remove_dir_all(&target).map_err(anyhow::Error::from)?;
        }
        let mut count = 0;
        for from in self.uploads() {
            let pack = from.join("tamis.pack");
            let name = crate::disk::read_to_string(from.join("artifact-name")).unwrap_or_default();
            let is_plain =
                |letter: &char| letter.is_ascii_alphanumeric() || "._-".contains(*letter);
            let name: String = name.chars().filter(is_plain).collect();
            if name.is_empty() || !pack.is_file() {
                continue;
            }
            count += 1;
            if count <= MOST_UPLOADS {
                let folder = target.join(count.to_string());
                fs_err::create_dir_all(&folder).map_err(anyhow::Error::from)?;
                fs_err::copy(pack, folder.join("tamis.pack")).map_err(anyhow::Error::from)?;
                self.tell(&format!("pack-{count}"), &name)?;
            }
        }
        if count > MOST_UPLOADS {
            let lost = count - MOST_UPLOADS;
            report::tell_warning(&format!(
                "the results of {lost} of {count} suites are not shared: one job uploads those of \
                 {MOST_UPLOADS}; give each of the others a job with `suite`"
            ));
        }
        Ok(())
    }

    /// Where each suite's pack may lie.
    fn uploads(&self) -> Vec<PathBuf> {
        let top = self.path(".tamis/upload");
        if !self.inputs.suite.is_empty() {
            return vec![top.join(&self.inputs.suite)];
        }
        let below = std::fs::read_dir(&top).into_iter().flatten();
        let mut below: Vec<PathBuf> = below.flatten().map(|entry| entry.path()).collect();
        below.sort();
        below.insert(0, top);
        below
    }

    fn is_shared(&self) -> Result<bool, Error> {
        let suites = self.globals.each_suite()?;
        let configs = suites
            .iter()
            .map(|globals| globals.config(&Overrides::default()));
        let configs = configs.collect::<Result<Vec<_>, _>>()?;
        let mut stores = configs.iter().map(|config| &config.shared_store.value);
        Ok(stores.any(Option::is_some))
    }

    fn lacks_history(&self) -> bool {
        Repository::discover(&self.globals.folder)
            .is_ok_and(|repository| repository.is_shallow() || repository.is_partial())
    }

    /// Trouble with it is told, and changes nothing else.
    fn do_or_tell(&self, words: &[&str]) {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        if let Err(error) = again(words, self.globals, self.report) {
            self.report.warning(error.to_string());
        }
    }

    /// An output of the step, which needs no protection: a plain word.
    fn tell(&self, name: &str, value: &str) -> Result<(), Error> {
        let files = self.globals.ci.as_ref().map(|ci| &ci.files);
        match files.and_then(|files| files.output.as_ref()) {
            Some(path) => service::append(path, &format!("{name}={value}\n")),
            None => Ok(()),
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.globals.folder.join(Path::new(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(given: &[(&str, &str)]) -> Result<Inputs, Error> {
        let mut all = BTreeMap::from([("MODE".to_owned(), "run".to_owned())]);
        let given = given
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        all.extend(given);
        Inputs::read(&all)
    }

    #[test]
    fn the_command_is_a_list_of_words_as_a_shell_reads_it() {
        let words = |text| inputs(&[("COMMAND", text)]).unwrap().command;
        assert_eq!(
            words("pytest -k 'not slow' \"a b\"\n  -q \\\n -x\n"),
            ["pytest", "-k", "not slow", "a b", "-q", "-x"]
        );
        assert_eq!(words("$(x) `y` ${IFS} *"), ["$(x)", "`y`", "${IFS}", "*"]);
        assert!(words(" \n").is_empty());
        for text in ["pytest 'a", "pytest \"a"] {
            let error = inputs(&[("COMMAND", text)]).unwrap_err();
            assert!(error.to_string().contains("quote"), "{text}: {error}");
        }
    }

    #[test]
    fn booleans_are_yamls_and_nothing_else() {
        for (text, wanted) in [
            ("true", true),
            ("TRUE", true),
            ("True", true),
            ("yes", true),
            ("On", true),
            ("Y", true),
            ("false", false),
            ("FALSE", false),
            ("No", false),
            ("OFF", false),
            (" false\n", false),
            ("", false),
        ] {
            let read = inputs(&[("HERE", text), ("COMMENT", text)]).unwrap();
            assert_eq!((read.here, read.comment), (wanted, wanted), "{text}");
        }
        for text in ["tRUE", "1", "0", "wahr", "true,", "yEs", "null", "é", "ß"] {
            for name in ["HERE", "COMMENT"] {
                let error = inputs(&[(name, text)]).unwrap_err();
                assert!(error.to_string().contains(text), "{error}");
            }
        }
    }

    #[test]
    fn every_input_of_the_action_is_read() {
        let plain = inputs(&[]).unwrap();
        for (name, text) in [
            ("MODE", "select"),
            ("COMMAND", "pytest"),
            ("SHARDS", "4"),
            ("SHARD", "1"),
            ("SUITE", "api"),
            ("STRATEGY", "all"),
            ("HERE", "true"),
            ("COMMENT", "true"),
        ] {
            assert_ne!(inputs(&[(name, text)]).unwrap(), plain, "{name}");
        }
        assert!(inputs(&[("MODE", "Run")]).is_err());
    }
}
