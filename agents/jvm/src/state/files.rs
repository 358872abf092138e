//! Files that a test leaves to later tests.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::State;

/// What this process did to files, by paths without links.
#[derive(Default)]
pub(super) struct Files {
    written: HashMap<String, Written>,
    /// Directories that this process made.
    made: HashSet<String>,
    /// The scopes that wrote, made or removed something in a directory.
    names: HashMap<String, BTreeSet<u64>>,
    /// Directories that were moved or removed with their content, and by whom.
    trees: HashMap<String, BTreeSet<u64>>,
    /// What is in the trace.
    told: HashMap<u64, HashSet<String>>,
    /// Files that a test has left open for writing.
    held: BTreeSet<String>,
    /// By the possible names of a resource bundle that a file belongs to: the file's path
    /// without its ending, and the unit.
    bundles: HashMap<String, BTreeSet<(String, u64)>>,
}

/// The scopes that wrote or removed a file.
#[derive(Default)]
struct Written {
    by: BTreeSet<u64>,
    /// Whether all of its content comes from them.
    is_whole: bool,
}

fn above(path: &str) -> impl Iterator<Item = &str> {
    let ancestors = Path::new(path).ancestors().skip(1);
    ancestors.filter_map(Path::to_str)
}

impl State {
    /// Notes that the running code depends on what is at `path`, and so on those who wrote it
    /// here. Returns whether it depends on more than that.
    pub fn meets(&mut self, path: &str) -> bool {
        let mut by = BTreeSet::new();
        let mut is_whole = false;
        if let Some(written) = self.files.written.get(path) {
            by.extend(&written.by);
            is_whole = written.is_whole;
        }
        if !self.files.trees.is_empty() {
            let moved = above(path).filter_map(|folder| self.files.trees.get(folder));
            by.extend(moved.flatten());
        }
        self.inherits(&by);
        !is_whole
    }

    /// Notes that the running code finds nothing at `path`. Returns whether that depends on
    /// more than what ran here before.
    pub fn meets_none(&mut self, path: &str) -> bool {
        if !self.meets(path) {
            return false;
        }
        // Nobody put the file into a directory that was made here.
        let made = |folder: &&str| self.files.made.contains(*folder);
        let Some(folder) = above(path).find(made).map(str::to_owned) else {
            return true;
        };
        self.meets(&folder);
        false
    }

    /// The same for the names in a directory.
    pub fn meets_names(&mut self, folder: &str) -> bool {
        let by = self.files.names.get(folder).cloned();
        self.inherits(&by.unwrap_or_default());
        self.meets(folder) || !self.files.made.contains(folder)
    }

    fn inherits(&mut self, from: &BTreeSet<u64>) {
        if from.is_empty() {
            return;
        }
        for scope in self.open() {
            let known = &mut self.scope(scope).edges;
            let new: Vec<u64> = from
                .iter()
                .copied()
                .filter(|by| *by != scope && known.insert(*by))
                .collect();
            self.trace.add(scope, &[], &new);
        }
    }

    /// Notes that the running code wrote or removed `path`. `is_whole`: nothing of the old
    /// content is left, or the code itself depends on it.
    pub fn wrote(&mut self, path: &str, is_whole: bool) {
        let open = self.open();
        self.written_by(path, is_whole, &open);
        self.files.made.remove(path);
    }

    fn written_by(&mut self, path: &str, is_whole: bool, by: &[u64]) {
        let written = self.files.written.entry(path.to_owned()).or_default();
        if is_whole {
            written.by.clear();
            written.is_whole = true;
        }
        written.by.extend(by);
        if let Some(folder) = above(path).next() {
            let names = self.files.names.entry(folder.to_owned()).or_default();
            names.extend(by);
        }
        for scope in by {
            let told = self.files.told.entry(*scope).or_default();
            if !told.contains(path) {
                told.insert(path.to_owned());
                self.trace.wrote(*scope, path);
            }
        }
    }

    /// Notes that the running code made a directory.
    pub fn made_folder(&mut self, path: &str) {
        self.wrote(path, true);
        self.files.names.remove(path);
        self.files.made.insert(path.to_owned());
    }

    /// Notes that the running code removed everything at `path`.
    pub fn removed(&mut self, path: &str) {
        self.wrote(path, true);
        self.moved_tree(path);
    }

    /// Notes that the running code moved everything at `from` to `to`, after it was met.
    pub fn moved(&mut self, from: &str, to: &str, is_folder: bool) {
        if !is_folder {
            self.wrote(from, true);
            return self.wrote(to, true);
        }
        let beneath = |path: &str| {
            let rest = path.strip_prefix(from)?;
            rest.starts_with('/').then(|| format!("{to}{rest}"))
        };
        let paths = self.files.written.keys();
        let written: Vec<String> = paths.filter_map(|path| beneath(path)).collect();
        let made = self.files.made.iter();
        let made: Vec<String> = made.filter_map(|path| beneath(path)).collect();
        let was_made = self.files.made.contains(from);
        self.removed(from);
        self.wrote(to, true);
        self.moved_tree(to);
        for path in written {
            self.wrote(&path, true);
        }
        self.files.made.extend(made);
        if was_made {
            self.files.made.insert(to.to_owned());
        }
    }

    fn moved_tree(&mut self, path: &str) {
        let open = self.open();
        let by = self.files.trees.entry(path.to_owned()).or_default();
        by.extend(open);
    }

    /// Notes a file that may belong to a resource bundle, which the JDK caches.
    pub(super) fn note_bundle(&mut self, path: &str, unit: u64) {
        let Some(path) = path.strip_suffix(".properties") else {
            return;
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let parts = name.match_indices('_').map(|(at, _)| at);
        for end in parts.chain([name.len()]) {
            let whole = path[..path.len() - name.len() + end].to_owned();
            let bundles = self
                .files
                .bundles
                .entry(name[..end].to_owned())
                .or_default();
            bundles.insert((whole, unit));
        }
    }

    /// Notes that the running code asked for a resource bundle (with slashes).
    pub fn meets_bundle(&mut self, bundle: &str) {
        let name = bundle.rsplit('/').next().unwrap_or(bundle);
        let known = self.files.bundles.get(name).into_iter().flatten();
        let is_of = |path: &str| {
            let rest = path.strip_suffix(bundle);
            rest.is_some_and(|rest| rest.ends_with('/'))
        };
        let units: Vec<u64> = known
            .filter(|(path, _)| is_of(path))
            .map(|(_, unit)| *unit)
            .collect();
        if !units.is_empty() {
            for scope in self.open() {
                self.scope(scope).observed.extend(&units);
            }
        }
    }

    /// Whether this test wrote something.
    pub fn has_written(&self, test: &str) -> bool {
        let scope = self.running_as(test);
        scope.is_some_and(|scope| self.files.told.contains_key(&scope))
    }

    /// Whether an earlier test left files open for writing.
    pub fn holds_files(&self) -> bool {
        !self.files.held.is_empty()
    }

    pub fn is_written(&self, path: &str) -> bool {
        self.files.written.contains_key(path)
    }

    /// Called when a test ends; `open` are files open for writing. The test may have written
    /// to those that were open when it began.
    pub fn holds(&mut self, test: &str, open: BTreeSet<String>) {
        let held = std::mem::replace(&mut self.files.held, open);
        if let Some(scope) = self.running_as(test) {
            for path in held {
                self.written_by(&path, false, &[scope]);
            }
        }
    }
}
