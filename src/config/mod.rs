//! The settings of a run, from `tamis.yml`, the environment and flags, each with its origin.
//!
//! A flag overrides an environment variable, which overrides the file, which
//! overrides the default.

pub(crate) mod file;
pub(crate) mod find;
mod key;
mod resolve;
mod schema;
mod seeds;
mod suites;
mod tests_key;
mod trust;
mod value;
mod weight;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::error::Error;
use crate::pattern::Pattern;
use crate::runners::{self, NamedTest, Runner, Settings};
pub(crate) use crate::text::Text;
use file::FileConfig;
use find::Place;
pub(crate) use key::{Key, nearest};
use resolve::resolve;
pub(crate) use schema::schema;
pub(crate) use trust::Trust;
pub(crate) use value::{Count, Deepen, Granularity, Shared, Strategy, shown_path};

/// The default number of matrices that `store gc` keeps.
const KEEP: u32 = 50;

/// The default path of the store in a project.
const STORE: &str = ".tamis/store";

/// The variable with the key for signing shared results. It is a secret and not a setting:
/// nothing shows it.
pub(crate) const SIGNING_KEY: &str = "TAMIS_SIGNING_KEY";

/// With this variable tests that fail do not run again after others that were left out.
/// tamis's own tests set it where that would only take time.
pub(crate) const FAILURES_STAY: &str = "TAMIS_FAILURES_STAY";

/// Variables that tamis and its agents set for each other, and those of tamis's developers.
/// They are not settings.
const INTERNAL: [&str; 13] = [
    SIGNING_KEY,
    FAILURES_STAY,
    "TAMIS_ARGS",
    "TAMIS_MAVEN_OPTS",
    "TAMIS_ORDER",
    "TAMIS_TESTS",
    "TAMIS_TRACE_DIR",
    "TAMIS_SERIALS",
    "TAMIS_SPAWN",
    "TAMIS_SCOPE",
    "TAMIS_ROOT",
    "TAMIS_COLLECTOR",
    "TAMIS_DEBUG",
];

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File,
    /// The number of the CI run, compared with the value of this key.
    Turn(&'static str),
    /// The environment variable of this name.
    Variable(&'static str),
    /// The flag of this name.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File => f.write_str(file::NAME),
            Origin::Turn(key) => write!(f, "{key}"),
            Origin::Variable(name) | Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Setting<T> {
    /// A value from the flag `name`.
    pub fn flag(value: T, name: &'static str) -> Setting<T> {
        let origin = Origin::Flag(name);
        Setting { value, origin }
    }

    fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting {
            value: change(self.value),
            origin: self.origin,
        }
    }
}

/// The values of flags.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub deepen: Option<Setting<Deepen>>,
    pub strategy: Option<Setting<Strategy>>,
    pub keep: Option<Setting<Count>>,
}

/// The `TAMIS_*` variables of the environment.
pub type Variables = BTreeMap<String, OsString>;

/// The `TAMIS_*` variables of this process.
pub(crate) fn variables() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with("TAMIS_"))
        .collect()
}

/// All settings, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    pub place: Place,
    /// The name of the suite. Results of different suites are never mixed.
    pub suite: Setting<String>,
    /// Whether the suite is named in `suites`. Then commands run in its folder.
    pub is_named: bool,
    /// Whose results these are.
    pub runner: Setting<&'static dyn Runner>,
    /// Who starts the tests and tells them what to leave out: `runner`, unless the command
    /// is another's or hides what it starts.
    pub driver: &'static dyn Runner,
    /// The test command; `None` if the runner must find it.
    pub command: Setting<Option<Vec<String>>>,
    /// Commands that are tests, where the runner takes them.
    pub tests: Setting<Vec<NamedTest>>,
    /// The interpreter, absolute or a name to look up in `PATH`; `None` if the runner must
    /// find it.
    pub python: Setting<Option<PathBuf>>,
    /// The folder in which the tests run, absolute.
    pub root: Setting<PathBuf>,
    /// Paths, relative to the top of the work tree, with all tests below them; empty means
    /// everywhere.
    pub paths: Setting<Vec<Pattern>>,
    /// The folder of the store, absolute.
    pub store: Setting<PathBuf>,
    /// The store that is shared with other machines.
    pub shared_store: Setting<Option<Shared>>,
    /// Distinguishes results in a shared store, in addition to the suite.
    pub shared_label: Setting<Option<String>>,
    /// Whose shared results count.
    pub trust: Setting<Trust>,
    /// When tamis fetches commits and objects that the clone lacks.
    pub deepen: Setting<Deepen>,
    pub strategy: Setting<Strategy>,
    /// Tests that always run.
    pub always_run: Setting<Vec<Pattern>>,
    /// Paths, relative to the top of the work tree. A change of one runs every test.
    pub run_all_when: Setting<Vec<Pattern>>,
    /// State (`path#name`) that does not make tests depend on each other.
    pub benign_state: Setting<Vec<Pattern>>,
    /// In CI on the default branch, every N-th run runs everything.
    pub run_all_every: Setting<Option<u32>>,
    /// Groups of tests that always stay on one machine.
    pub keep_together: Setting<Vec<Vec<Pattern>>>,
    /// What a test of a JVM is.
    pub granularity: Setting<Granularity>,
    /// Whether debug information in class files counts as a change.
    pub debug_info: Setting<bool>,
    /// Files (absolute) that declare the versions of installed packages; `None` if the runner
    /// must find them.
    pub lock_files: Setting<Option<Vec<PathBuf>>>,
    /// Environment variables on which no test depends, even if it reads them.
    pub env_ignore: Setting<Vec<String>>,
    /// How many matrices `store gc` keeps.
    pub keep: Setting<u32>,
}

impl Config {
    /// Reads the configuration for work in `start` (absolute, no `..`), from `explicit` or
    /// from the next `tamis.yml` upwards. With several suites it is that of `suite`, or of the
    /// suite in `TAMIS_SUITE`.
    pub fn load(
        start: &Path,
        explicit: Option<&Path>,
        variables: &Variables,
        overrides: &Overrides,
        suite: Option<&str>,
    ) -> Result<Config, Error> {
        let (place, said) = read(start, explicit)?;
        let (said, name) = choose(said, suite, variables)?;
        let config = resolve(start, place, said, name.is_some(), variables, overrides)?;
        match suite.filter(|suite| *suite != config.suite.value) {
            // The file names no suites.
            Some(suite) if name.is_none() => Err(Error::usage(format!(
                "there is no suite `{suite}`; the only one is `{}`",
                config.suite.value
            ))
            .with_hint("`suites` in tamis.yml names several")),
            _ => Ok(Config {
                suite: match name {
                    Some(value) => Setting {
                        value,
                        origin: Origin::File,
                    },
                    None => config.suite,
                },
                ..config
            }),
        }
    }

    /// The same for a typed command, which may use another runner. Results of different
    /// runners belong to different suites.
    pub fn for_command(self, typed: &[OsString]) -> Config {
        let config = match runners::of_program(typed) {
            Some(runner) => self.for_runner(runner),
            None => self,
        };
        match typed {
            [] => config,
            typed => config.driven_by(typed),
        }
    }

    /// The same for a command that runs, whatever is configured; the results stay those
    /// of the same runner.
    pub fn driven_by(mut self, command: &[OsString]) -> Config {
        self.driver = runners::driver(self.runner.value, command);
        self
    }

    /// The same for a runner by name.
    pub fn for_runner(mut self, runner: &'static dyn Runner) -> Config {
        if self.runner.origin != Origin::Default {
            return self;
        }
        if self.suite.origin == Origin::Default {
            let place = self.suite.value.strip_prefix(self.runner.value.name());
            self.suite.value = format!("{runner}{}", place.unwrap_or_default());
        }
        self.runner.value = runner;
        match self.command_words() {
            Some(words) => self.driven_by(&words),
            None => Config {
                driver: runner,
                ..self
            },
        }
    }

    /// The names of the suites in the file.
    pub fn suites(start: &Path, explicit: Option<&Path>) -> Result<Vec<String>, Error> {
        let (_, said) = read(start, explicit)?;
        let suites = said.suites.unwrap_or_default().into_iter();
        Ok(suites.map(|(name, _)| name).collect())
    }

    /// Every setting for `doctor`: key, value, origin.
    pub fn table(&self) -> Vec<(&'static str, String, Origin)> {
        fn list<T: fmt::Display>(items: &[T]) -> String {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        fn or_none(value: Option<impl fmt::Display>) -> String {
            value.map_or_else(|| "none".to_owned(), |value| value.to_string())
        }
        fn or_found(value: Option<String>) -> String {
            value.unwrap_or_else(|| "found by the runner".to_owned())
        }
        Key::ALL
            .into_iter()
            .filter_map(|key| {
                let (value, origin) = match key {
                    Key::Version | Key::Suites => return None,
                    Key::Suite => (self.suite.value.clone(), &self.suite.origin),
                    Key::Runner => (self.runner.value.to_string(), &self.runner.origin),
                    Key::Command => (
                        or_found(self.command.value.as_deref().map(list)),
                        &self.command.origin,
                    ),
                    Key::Tests => (list(&self.tests.value), &self.tests.origin),
                    Key::Python => (
                        or_found(self.python.value.as_deref().map(shown_path)),
                        &self.python.origin,
                    ),
                    Key::Root => (shown_path(&self.root.value), &self.root.origin),
                    Key::Paths => (list(&self.paths.value), &self.paths.origin),
                    Key::Store => (shown_path(&self.store.value), &self.store.origin),
                    Key::SharedStore => (
                        or_none(self.shared_store.value.as_ref()),
                        &self.shared_store.origin,
                    ),
                    Key::SharedLabel => (
                        or_none(self.shared_label.value.as_ref()),
                        &self.shared_label.origin,
                    ),
                    Key::Trust => (self.trust.value.to_string(), &self.trust.origin),
                    Key::Deepen => (self.deepen.value.to_string(), &self.deepen.origin),
                    Key::Strategy => (self.strategy.value.to_string(), &self.strategy.origin),
                    Key::AlwaysRun => (list(&self.always_run.value), &self.always_run.origin),
                    Key::RunAllWhen => (list(&self.run_all_when.value), &self.run_all_when.origin),
                    Key::BenignState => (list(&self.benign_state.value), &self.benign_state.origin),
                    Key::RunAllEvery => (
                        or_none(self.run_all_every.value),
                        &self.run_all_every.origin,
                    ),
                    Key::KeepTogether => {
                        let groups = self.keep_together.value.iter().map(|group| list(group));
                        let shown = list(&groups.collect::<Vec<_>>());
                        (shown, &self.keep_together.origin)
                    }
                    Key::Granularity => {
                        (self.granularity.value.to_string(), &self.granularity.origin)
                    }
                    Key::DebugInfo => (self.debug_info.value.to_string(), &self.debug_info.origin),
                    Key::LockFiles => {
                        let files = self.lock_files.value.as_ref();
                        let shown = files.map(|files| {
                            list(&files.iter().map(|f| shown_path(f)).collect::<Vec<_>>())
                        });
                        (or_none(shown), &self.lock_files.origin)
                    }
                    Key::Env => (
                        format!("ignore {}", list(&self.env_ignore.value)),
                        &self.env_ignore.origin,
                    ),
                    Key::Keep => (self.keep.value.to_string(), &self.keep.origin),
                };
                Some((key.word(), value, origin.clone()))
            })
            .collect()
    }
}

impl Config {
    /// The configured command.
    pub fn command_words(&self) -> Option<Vec<OsString>> {
        let words = self.command.value.as_ref()?;
        Some(words.iter().map(OsString::from).collect())
    }

    /// What runners need of it.
    pub fn settings(&self) -> Settings<'_> {
        Settings {
            root: &self.root.value,
            interpreter: self.python.value.as_deref(),
            granularity: self.granularity.value,
            debug_info: self.debug_info.value,
            tests: &self.tests.value,
        }
    }

    /// The folder that must contain the store, if the user named no other place.
    pub fn top_of_store(&self) -> Option<&Path> {
        let is_named = self.store.origin != Origin::Default;
        self.place.top.as_deref().filter(|_| !is_named)
    }
}

/// `TAMIS_…` variables that nothing reads, with the most similar valid name.
pub(crate) fn unknown_variables(variables: &Variables) -> Vec<(String, Option<&'static str>)> {
    let known: Vec<&'static str> = Key::ALL.into_iter().filter_map(Key::variable).collect();
    variables
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
        .filter(|name| !INTERNAL.contains(&name.as_str()))
        .filter(|name| !crate::ci::VARIABLES.contains(&name.as_str()))
        .map(|name| (name.clone(), nearest(name, known.iter().copied())))
        .collect()
}

/// The place and the content of the configuration.
fn read(start: &Path, explicit: Option<&Path>) -> Result<(Place, FileConfig), Error> {
    let mut place = find::find(start);
    if let Some(path) = explicit {
        let path =
            fs_err::canonicalize(start.join(path)).context("cannot read the configuration")?;
        place.folder = path.parent().unwrap_or(start).to_owned();
        place.file = Some(path);
    }
    let said = match &place.file {
        Some(path) => file::read(path)?,
        None => FileConfig::default(),
    };
    Ok((place, said))
}

/// The configuration of the chosen suite, and its name if there are several.
fn choose(
    said: FileConfig,
    suite: Option<&str>,
    variables: &Variables,
) -> Result<(FileConfig, Option<String>), Error> {
    let Some(suites) = &said.suites else {
        return Ok((said, None));
    };
    let names: Vec<String> = suites.iter().map(|(name, _)| name.clone()).collect();
    if said.suite.is_some() {
        return Err(Error::usage("tamis.yml has both `suite` and `suites`")
            .with_hint("delete `suite`: each of `suites` has its own name"));
    }
    let variable = variables
        .get(Key::Suite.variable().unwrap_or_default())
        .map(|value| value.to_string_lossy().into_owned());
    let meant = suite.map(str::to_owned).or(variable);
    let listed = names.join(", ");
    let name = match (meant, &names[..]) {
        (Some(name), _) => name,
        (None, [only]) => only.clone(),
        (None, _) => {
            return Err(Error::usage(format!("there are several suites: {listed}"))
                .with_hint("say which with `--suite NAME`"));
        }
    };
    match said.for_suite(&name) {
        Some(said) => Ok((said, Some(name))),
        None => {
            let error = Error::usage(format!(
                "there is no suite `{name}`; tamis.yml has {listed}"
            ));
            Err(match nearest(&name, names.iter().map(String::as_str)) {
                Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                None => error,
            })
        }
    }
}

#[cfg(test)]
mod tests;
