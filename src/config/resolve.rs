//! Joins flags, variables, the file and the defaults.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::file::FileConfig;
use super::find::Place;
use super::value::{Count, DebugInfo, StorePlace, SubFolder};
use super::{
    Config, Deepen, Granularity, KEEP, Key, Origin, Overrides, STORE, Setting, Strategy, Text,
    Trust, Variables, shown_path,
};
use crate::error::Error;
use crate::runners::{self, Runner};

/// The settings of a suite: flags before variables, these before the file.
///
/// # Errors
/// If a value is not understood, or the folder of the tests does not exist.
pub(super) fn resolve(
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
    let has_python = said.python.is_some() || variables.contains_key("TAMIS_PYTHON");
    let (runner, driver) = runner_of(
        plain(said.runner),
        said.command.as_deref(),
        has_python,
        &root.value,
    );
    let suite = or(suite, || {
        Text(suite_name(runner.value, &root.value, &place))
    });
    let strategy = overrides.strategy.clone();
    let keep = overrides.keep.clone();
    let bases = (start, folder.as_path());
    Ok(Config {
        suite: suite.map(|Text(name)| name),
        is_named,
        paths: or(plain(said.paths), Vec::new),
        driver,
        runner,
        command: optional(plain(said.command))
            .map(|words| words.map(|words| words.into_iter().map(|Text(word)| word).collect())),
        tests: or(plain(said.tests), Vec::new),
        python: optional(pick(Key::Python, None, variables, said.python)?)
            .map_from(bases, |base, path| {
                path.map(|Text(path)| program(base, &path))
            }),
        store: or(pick(Key::Store, None, variables, said.store)?, || {
            StorePlace(STORE.into())
        })
        .map_from(bases, |base, StorePlace(path)| base.join(path)),
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

/// The runner of the suite, and that of its command.
fn runner_of(
    said: Option<Setting<&'static dyn Runner>>,
    command: Option<&[Text]>,
    has_python: bool,
    root: &Path,
) -> (Setting<&'static dyn Runner>, &'static dyn Runner) {
    let command = command.map(|words| {
        let words = words.iter().map(|Text(word)| OsString::from(word));
        words.collect::<Vec<_>>()
    });
    // The name of another program tells nothing.
    let runner = or(said, || {
        match &command {
            Some(words) => runners::of_program(words),
            None => runners::of_interpreter().filter(|_| has_python),
        }
        .unwrap_or_else(|| runners::found(root).runner)
    });
    let driver = match &command {
        Some(words) => runners::driver(runner.value, words),
        None => runner.value,
    };
    (runner, driver)
}

impl<T> Setting<T> {
    /// What a path in a setting is relative to: in a variable the user's folder, else the
    /// folder of the file.
    fn map_from<U>(
        self,
        (user, file): (&Path, &Path),
        resolved: impl FnOnce(&Path, T) -> U,
    ) -> Setting<U> {
        let base = match self.origin {
            Origin::Variable(_) => user,
            _ => file,
        };
        self.map(|value| resolved(base, value))
    }
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

/// The runner's name, with the folder below the top if there is one: `pytest:svc/api`.
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
