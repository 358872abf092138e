//! The project at hand: its repository, configuration and where things lie.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bstr::{BStr, BString, ByteSlice};
use tempfile::TempDir;

use super::exchange::Told;
use crate::ci::writer_here;
use crate::config::{Config, shown_path};
use crate::history::{Delta, Repository, View};
use crate::languages::Cache;
use crate::matrix::Key;
use crate::pattern::Pattern;
use crate::runners::Tree;
use crate::share::{self, Listed};
use crate::store::{FsStore, aside, link_out};
use crate::trust::Writer;

/// Folder of everything that tamis keeps in a project.
const STATE: &str = ".tamis";

/// A project: a folder in a repository, with its configuration.
pub struct Project {
    pub repository: Repository,
    pub config: Config,
    /// The folder that the tests run in and that test ids are relative to.
    pub dir: PathBuf,
    /// `dir` relative to the top of the work tree.
    pub prefix: BString,
    /// Digest of the repository's root commits; empty in a shallow clone.
    pub identity: String,
    /// Name of the suite.
    pub suite: String,
    /// Who this process is, for what it shares.
    pub reader: Writer,
    /// The tip of the branch that a pull request goes to, if it had to be fetched.
    pub base: OnceCell<String>,
    /// What a shared store has, if it had to be asked for completing the clone.
    pub offered: OnceCell<share::Result<Listed>>,
    /// What came of completing the clone; every selection tells it.
    pub told: Told,
    state: PathBuf,
    /// Removes the state folder, if it is one for this command alone.
    _own_state: Option<TempDir>,
    store: PathBuf,
    cache: Option<Cache>,
}

impl Project {
    /// The project of `config`.
    ///
    /// # Errors
    /// If it lies in no repository with a work tree and a commit.
    pub fn open(config: Config) -> Result<Project> {
        let dir = config.root.value.clone();
        let repository = Repository::discover(&dir)?;
        // It is made of the rest, and compared as it lies on disk: that git is not told to
        // ignore it must change nothing.
        repository.ignore(config.runner.value.written_folders(repository.root()));
        let (state, own_state) = state_of(&config)?;
        let identity = repository.identity(Some(&state.join("cache").join("identity")))?;
        let reader = writer_here();
        Ok(Project {
            store: store_of(&config, &reader),
            reader,
            base: OnceCell::new(),
            offered: OnceCell::new(),
            told: Told::default(),
            cache: Cache::open(&state.join("cache")).ok(),
            prefix: repository.prefix_of(&dir)?,
            suite: suite_of(&config),
            state,
            _own_state: own_state,
            repository,
            config,
            dir,
            identity,
        })
    }

    /// Where tamis keeps what it needs between runs.
    pub fn state(&self) -> &Path {
        &self.state
    }

    pub fn store_dir(&self) -> &Path {
        &self.store
    }

    pub fn store(&self) -> FsStore {
        FsStore::open_beneath(self.store_dir(), self.config.top_of_store())
    }

    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Whether a matrix with this key may speak of this project's tests. A
    /// shallow clone does not know its repository's identity.
    pub fn owns(&self, key: &Key) -> bool {
        self.is_of(key) && key.suite == self.suite
    }

    /// Whether a matrix with this key may be of this project's repository.
    pub fn is_of(&self, key: &Key) -> bool {
        key.repository == self.identity || key.repository.is_empty() || self.identity.is_empty()
    }

    /// Why everything must run: a changed path that the configuration's
    /// `run-all-when` names.
    pub fn runs_all(&self, delta: Option<&Delta>) -> Option<String> {
        let patterns = &self.config.run_all_when.value;
        let Some(delta) = delta else {
            // What cannot be told may be what they name.
            let why = "what changed is not known, and `run-all-when` names files";
            return (!patterns.is_empty()).then(|| why.to_owned());
        };
        for pattern in patterns {
            let hit = delta.paths.iter().find(|path| pattern.matches(path));
            if let Some(path) = hit {
                return Some(format!(
                    "{path} changed, and `run-all-when` names {pattern}"
                ));
            }
        }
        None
    }

    /// Whether the files that the configuration names as those that declare
    /// the test environment (`lock-files`) are all there and did not change.
    pub fn environment_is_declared(&self, view: &View, delta: Option<&Delta>) -> bool {
        let Some(delta) = delta else {
            return false;
        };
        let unchanged =
            |path: Option<BString>| path.is_some_and(|path| !delta.touches(path.as_bstr()));
        let mut files = self.declared(view).peekable();
        files.peek().is_some() && files.all(|(_, path)| unchanged(path))
    }

    /// Whether one of `lock-files` changed, so that the environment may well be another.
    pub fn environment_changed(&self, view: &View, delta: Option<&Delta>) -> bool {
        let changed = |path: BString| delta.is_none_or(|delta| delta.touches(path.as_bstr()));
        let mut paths = self.declared(view).filter_map(|(_, path)| path);
        paths.any(changed)
    }

    /// The first of `lock-files` that cannot speak for the test environment:
    /// it is not there, or git does not know what it was.
    pub fn undeclared(&self, view: &View) -> Option<String> {
        let (file, _) = self.declared(view).find(|(_, path)| path.is_none())?;
        Some(format!(
            "`lock-files` names {}, which is no file of the repository: what is installed \
             counts as unknown until the tests start",
            shown_path(file)
        ))
    }

    /// The files of `lock-files`, each with its path below the top of the work
    /// tree if it is a file of the repository.
    fn declared(&self, view: &View) -> impl Iterator<Item = (&PathBuf, Option<BString>)> {
        let files = self.config.lock_files.value.iter().flatten();
        files.map(|file| {
            let path = self.repository.prefix_of(file).ok();
            let tracked = path.filter(|path| {
                file.is_file() && view.is_tracked(path.as_bstr()).is_ok_and(|is| is)
            });
            (file, tracked)
        })
    }

    /// Whether a path, relative to the top of the work tree, lies where the
    /// configuration says that tests are.
    pub fn may_hold_tests(&self, path: &[u8]) -> bool {
        let paths = &self.config.paths.value;
        paths.is_empty() || paths.iter().any(|pattern| pattern.matches(path))
    }

    /// The project at `view`, for its runner.
    pub(super) fn tree<'a>(&'a self, view: &'a View) -> Tree<'a> {
        Tree {
            repository: &self.repository,
            dir: &self.dir,
            prefix: self.prefix.as_bstr(),
            view,
        }
    }

    pub fn always_run(&self) -> &[Pattern] {
        &self.config.always_run.value
    }

    /// How ids of tests name a file; `None` if it lies outside of the project.
    pub fn file_of(&self, path: &BStr) -> Option<String> {
        let file = match self.prefix.is_empty() {
            true => path.as_bytes(),
            false => {
                let rest = path.strip_prefix(self.prefix.as_slice())?;
                rest.strip_prefix(b"/")?
            }
        };
        Some(file.to_str().ok()?.to_owned())
    }

    /// The path, relative to the top of the work tree, of a file that a test
    /// id names.
    pub fn path_of(&self, file: &str) -> BString {
        join(self.prefix.as_bstr(), file)
    }
}

/// Where tamis keeps what it needs between runs. Behind a link out of the repository
/// it keeps nothing.
fn state_of(config: &Config) -> Result<(PathBuf, Option<TempDir>)> {
    let state = config.place.folder.join(STATE);
    let top = config.place.top.as_deref();
    if top.and_then(|top| link_out(&state, top)).is_none() {
        return Ok((state, None));
    }
    let own = tempfile::Builder::new().prefix("tamis-").tempdir();
    let own = own.context("cannot make a folder; set TMPDIR to one that can be written")?;
    Ok((own.path().to_owned(), Some(own)))
}

/// The folder of the store. What counts for one pull request alone is kept
/// apart, so that no other run on the same machine meets it.
fn store_of(config: &Config, reader: &Writer) -> PathBuf {
    let store = &config.store.value;
    if config.shared_store.value.is_none() || !reader.is_proposed() {
        return store.clone();
    }
    aside(store, reader.pr)
}

/// The name of the suite. Rows in which some state or variable was taken for
/// harmless are no proof where it is not.
pub(crate) fn suite_of(config: &Config) -> String {
    let mut suite = config.suite.value.clone();
    let benign = config.benign_state.value.iter().map(ToString::to_string);
    let ignored = config.env_ignore.value.iter().cloned();
    for (what, words) in [
        ("benign state", benign.collect::<Vec<_>>()),
        ("ignored variables", ignored.collect()),
    ] {
        if !words.is_empty() {
            let digest = blake3::hash(words.join("\n").as_bytes()).to_hex();
            suite.push_str(&format!(" ({what} {})", &digest[..8]));
        }
    }
    suite
}

fn join(prefix: &BStr, file: &str) -> BString {
    if prefix.is_empty() {
        return file.into();
    }
    let mut path = prefix.to_owned();
    path.push(b'/');
    path.extend_from_slice(file.as_bytes());
    path
}
