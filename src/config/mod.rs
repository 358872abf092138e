//! The settings of a run, from `tamis.yml`, the environment and flags, each with its origin.
//!
//! A flag overrides an environment variable, which overrides the file, which
//! overrides the default.

pub mod file;
pub mod find;
mod key;
mod schema;
mod seeds;
mod suites;
mod trust;
mod value;
mod weight;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;

use crate::error::Error;
use crate::pattern::Pattern;
use crate::runners::{self, Runner, Settings};
pub use crate::text::Text;
use file::FileConfig;
use find::Place;
pub use key::{Key, nearest};
pub use schema::schema;
pub use trust::Trust;
pub use value::{
    Count, DebugInfo, Deepen, Granularity, Shared, StorePlace, Strategy, SubFolder, shown_path,
};

/// The default number of matrices that `store gc` keeps.
const KEEP: u32 = 50;

/// The default path of the store in a project.
const STORE: &str = ".tamis/store";

/// The variable with the key for signing shared results. It is a secret and not a setting:
/// nothing shows it.
pub const SIGNING_KEY: &str = "TAMIS_SIGNING_KEY";

/// Variables that tamis and its agents set for each other, and those of tamis's developers.
/// They are not settings.
const INTERNAL: [&str; 10] = [
    SIGNING_KEY,
    "TAMIS_ARGS",
    "TAMIS_MAVEN_OPTS",
    "TAMIS_TESTS",
    "TAMIS_TRACE_DIR",
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
pub fn variables() -> Variables {
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
        }
    }

    /// The folder that must contain the store, if the user named no other place.
    pub fn top_of_store(&self) -> Option<&Path> {
        let is_named = self.store.origin != Origin::Default;
        self.place.top.as_deref().filter(|_| !is_named)
    }
}

/// `TAMIS_…` variables that nothing reads, with the most similar valid name.
pub fn unknown_variables(variables: &Variables) -> Vec<(String, Option<&'static str>)> {
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

fn resolve(
    start: &Path,
    place: Place,
    said: FileConfig,
    is_named: bool,
    variables: &Variables,
    overrides: &Overrides,
) -> Result<Config, Error> {
    let folder = place.folder.clone();
    let suite = match is_named {
        // The variable chose it.
        true => None,
        false => pick(Key::Suite, None, variables, said.suite)?,
    };
    let root = pick(Key::Root, None, variables, said.root)?;
    let root = match root {
        Some(root) => root.map(|SubFolder(path)| folder.join(path)),
        None => or(None, || folder.clone()),
    };
    require_folder(&root)?;
    let command = said.command.as_ref().map(|words| {
        let words = words.iter().map(|Text(word)| OsString::from(word));
        words.collect::<Vec<_>>()
    });
    let has_python = said.python.is_some() || variables.contains_key("TAMIS_PYTHON");
    // The name of another program tells nothing.
    let runner = or(plain(said.runner), || {
        match &command {
            Some(words) => runners::of_program(words),
            None => runners::of_interpreter().filter(|_| has_python),
        }
        .unwrap_or_else(|| runners::found(&root.value).runner)
    });
    let suite = or(suite, || {
        Text(suite_name(runner.value, &root.value, &place))
    });
    let strategy = overrides.strategy.clone();
    let keep = overrides.keep.clone();
    // A path in a variable is relative to the user's folder, and one in the file to the file's
    // folder.
    let base = |origin: &Origin| match origin {
        Origin::Variable(_) => start.to_owned(),
        _ => folder.clone(),
    };
    Ok(Config {
        suite: suite.map(|Text(name)| name),
        is_named,
        paths: or(plain(said.paths), Vec::new),
        driver: match &command {
            Some(words) => runners::driver(runner.value, words),
            None => runner.value,
        },
        runner,
        command: optional(plain(said.command))
            .map(|words| words.map(|words| words.into_iter().map(|Text(word)| word).collect())),
        python: {
            let python = optional(pick(Key::Python, None, variables, said.python)?);
            let base = base(&python.origin);
            python.map(|path| path.map(|Text(path)| program(&base, &path)))
        },
        store: {
            let store = or(pick(Key::Store, None, variables, said.store)?, || {
                StorePlace(STORE.into())
            });
            let base = base(&store.origin);
            store.map(|StorePlace(path)| base.join(path))
        },
        shared_store: optional(pick(Key::SharedStore, None, variables, said.shared_store)?),
        shared_label: optional(pick(Key::SharedLabel, None, variables, said.shared_label)?)
            .map(|label| label.map(|Text(label)| label)),
        trust: or(plain(said.trust), Trust::default),
        deepen: or(
            pick(
                Key::Deepen,
                overrides.deepen.clone(),
                variables,
                said.deepen,
            )?,
            || Deepen::Ci,
        ),
        strategy: or(
            pick(Key::Strategy, strategy, variables, said.strategy)?,
            || Strategy::Auto,
        ),
        always_run: or(plain(said.always_run), Vec::new),
        run_all_when: or(plain(said.run_all_when), Vec::new),
        run_all_every: optional(pick(Key::RunAllEvery, None, variables, said.run_all_every)?)
            .map(|every| every.map(|Count(runs)| runs)),
        benign_state: or(plain(said.benign_state), Vec::new),
        keep_together: or(plain(said.keep_together), Vec::new),
        granularity: or(
            pick(Key::Granularity, None, variables, said.granularity)?,
            || Granularity::Class,
        ),
        debug_info: or(
            pick(Key::DebugInfo, None, variables, said.debug_info)?,
            || DebugInfo(false),
        )
        .map(|DebugInfo(counts)| counts),
        lock_files: optional(plain(said.lock_files)).map(|files| {
            files.map(|files| files.iter().map(|Text(file)| folder.join(file)).collect())
        }),
        env_ignore: or(plain(said.env_ignore), Vec::new)
            .map(|names| names.into_iter().map(|Text(name)| name).collect()),
        keep: or(pick(Key::Keep, keep, variables, said.keep)?, || Count(KEEP))
            .map(|Count(count)| count),
        root,
        place,
    })
}

/// The value with the strongest origin, if there is any.
fn pick<T: FromStr<Err = String>>(
    key: Key,
    flag: Option<Setting<T>>,
    variables: &Variables,
    said: Option<T>,
) -> Result<Option<Setting<T>>, Error> {
    if flag.is_some() {
        return Ok(flag);
    }
    let Some(name) = key.variable() else {
        return Ok(plain(said));
    };
    let Some(text) = variables.get(name) else {
        return Ok(plain(said));
    };
    let parsed = match text.to_str() {
        Some(text) => text.parse(),
        None => Err("the value is not UTF-8".to_owned()),
    };
    let origin = Origin::Variable(name);
    parsed
        .map(|value| Some(Setting { value, origin }))
        .map_err(|reason| {
            Error::usage(format!("the environment variable {name}: {reason}"))
                .with_hint(format!("correct it or `unset {name}`"))
        })
}

fn plain<T>(said: Option<T>) -> Option<Setting<T>> {
    let origin = Origin::File;
    said.map(|value| Setting { value, origin })
}

fn or<T>(setting: Option<Setting<T>>, default: impl FnOnce() -> T) -> Setting<T> {
    setting.unwrap_or_else(|| Setting {
        value: default(),
        origin: Origin::Default,
    })
}

fn optional<T>(setting: Option<Setting<T>>) -> Setting<Option<T>> {
    or(setting.map(|setting| setting.map(Some)), || None)
}

/// A program: a path if it looks like one, otherwise a name to look up.
fn program(base: &Path, text: &str) -> PathBuf {
    match Path::new(text).components().count() {
        0 | 1 => PathBuf::from(text),
        _ => base.join(text),
    }
}

fn require_folder(root: &Setting<PathBuf>) -> Result<(), Error> {
    if root.origin == Origin::Default || root.value.is_dir() {
        return Ok(());
    }
    let message = format!(
        "the folder {} does not exist (`root`, from {})",
        shown_path(&root.value),
        root.origin
    );
    Err(Error::usage(message)
        .with_hint("correct `root`: it is relative to the folder of tamis.yml"))
}

/// `pytest`, or `pytest:svc/api` for a folder below the top.
fn suite_name(runner: &dyn Runner, root: &Path, place: &Place) -> String {
    let inside = place
        .top
        .as_deref()
        .and_then(|top| root.strip_prefix(top).ok());
    match inside {
        Some(inside) if !inside.as_os_str().is_empty() => {
            format!("{runner}:{}", shown_path(inside))
        }
        _ => runner.to_string(),
    }
}

#[cfg(test)]
mod tests;
