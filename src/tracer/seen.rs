//! What the processes of a test used of the files that were there when it began.
//!
//! What a test wrote itself is no input of it. What it read before it wrote there is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use super::paths::{Found, Way, fingerprint, native};
use super::write::is_below;
use crate::disk;
use crate::matrix::Fingerprint;

/// How much of a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// What it holds: it was opened, or its size was asked for.
    Content,
    /// Whether it is there.
    Existence,
}

/// How a path is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// It works, and what was there before does not matter.
    Replaced,
    /// What was there before stays in part, or decides whether it works.
    Changed,
    /// The same of a folder, which is new with all that will be below it.
    Folder,
}

/// What was seen of one test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Files by content; of those that were written later, their fingerprint before that.
    pub files: BTreeMap<BString, Option<Fingerprint>>,
    /// What was looked for.
    pub exist: BTreeMap<BString, Found>,
    /// Folders that were listed, and the fingerprint of what was in them then, without what
    /// the test had written.
    pub listed: BTreeMap<BString, Option<Fingerprint>>,
    /// What was written, made or removed.
    pub written: BTreeSet<BString>,
    /// Of that, what somebody used later.
    pub reused: BTreeSet<BString>,
    /// Folders that the test made.
    made: BTreeSet<BString>,
    /// What was not there before it was written.
    created: BTreeSet<BString>,
    /// What files held before they were written; `None` if that is not known.
    before: BTreeMap<BString, Option<Fingerprint>>,
    /// How often programs were started, or were to be.
    pub executed: BTreeMap<BString, usize>,
    /// Why there may be more.
    pub incomplete: Option<String>,
}

impl Seen {
    /// Somebody used what is at the end of a way, and the links that lead there.
    pub(super) fn used(&mut self, way: &Way, how: Use) {
        for link in &way.links {
            self.input(link, Found::File, Use::Content);
        }
        self.input(&way.path, way.found, how);
    }

    fn input(&mut self, path: &BString, found: Found, how: Use) {
        if is_of_the_system(path) {
            return;
        }
        if self.is_own(path.as_bstr()) {
            if how == Use::Content && found == Found::File {
                self.reused.insert(path.clone());
            }
            return;
        }
        match (found, how) {
            (Found::File, Use::Content) => {
                self.files.entry(path.clone()).or_default();
            }
            _ => {
                self.exist.entry(path.clone()).or_insert(found);
            }
        }
    }

    /// A folder was listed.
    pub(super) fn lists(&mut self, folder: BString) {
        let is_known = self.listed.contains_key(&folder);
        if is_known || is_of_the_system(&folder) || self.is_own(folder.as_bstr()) {
            return;
        }
        let names = disk::names(native(&folder)).ok().flatten();
        let names = names.map(|mut names| {
            names.retain(|(name, _)| {
                let path = BString::from([folder.as_slice(), b"/", name.as_slice()].concat());
                !disk::is_of_tools(name) && !self.is_own(path.as_bstr())
            });
            Fingerprint::of_listing(&names)
        });
        self.listed.insert(folder, names);
    }

    /// Somebody is about to write at the end of a way. `print` tells what a file holds now.
    pub(super) fn writes(
        &mut self,
        way: &Way,
        how: Write,
        print: impl FnOnce(&BString) -> Option<Fingerprint>,
    ) {
        for link in &way.links {
            self.input(link, Found::File, Use::Content);
        }
        let path = &way.path;
        if is_of_the_system(path) {
            return;
        }
        // Nothing can be written where no folder is.
        if let Some(end) = path.rfind_byte(b'/').filter(|end| *end > 0) {
            let found = if way.has_folder {
                Found::Dir
            } else {
                Found::Missing
            };
            self.input(&path[..end].into(), found, Use::Existence);
        }
        if how != Write::Replaced {
            self.input(path, way.found, Use::Content);
        }
        if way.found == Found::File && !self.written.contains(path) {
            let before = print(path);
            self.before.insert(path.clone(), before);
            if let Some(known) = self.files.get_mut(path) {
                *known = before;
                if before.is_none() {
                    self.doubt(format!("{path} was changed, and what it held is not known"));
                }
            }
        }
        if way.found == Found::Missing && !self.written.contains(path) {
            self.created.insert(path.clone());
        }
        if how == Write::Folder && way.found == Found::Missing {
            self.made.insert(path.clone());
        }
        self.written.insert(path.clone());
    }

    /// Takes out what a file holds, so that only counts that it is there.
    pub(crate) fn forget_content(&mut self, is_known: impl Fn(&BString) -> bool) {
        let exist = &mut self.exist;
        self.files.retain(|path, _| {
            let is_known = is_known(path);
            if is_known {
                exist.entry(path.clone()).or_insert(Found::File);
            }
            !is_known
        });
    }

    /// What was used that `other` wrote.
    pub(crate) fn used_of(&self, other: &Seen) -> Vec<BString> {
        let wrote = other.written.iter();
        let is_used =
            |path: &&BString| self.files.contains_key(*path) || self.exist.contains_key(*path);
        wrote.filter(is_used).cloned().collect()
    }

    /// Somebody looked for a path where nothing is.
    pub(crate) fn misses(&mut self, path: BString) {
        self.exist.entry(path).or_insert(Found::Missing);
    }

    /// For what comes later: what was written is known, and nothing was used.
    pub(crate) fn begun_anew(&self) -> Seen {
        Seen {
            written: self.written.clone(),
            made: self.made.clone(),
            created: self.created.clone(),
            before: self.before.clone(),
            ..Seen::default()
        }
    }

    /// Forgets inputs that `other` brought into being.
    pub(crate) fn forget_made_by(&mut self, other: &Seen) {
        if other.created.is_empty() {
            return;
        }
        let is_new =
            |path: &BString| other.created.contains(path) || other.is_below_made(path.as_bstr());
        self.files.retain(|path, _| !is_new(path));
        // What is not there yet may be there next time before anybody makes it.
        self.exist
            .retain(|path, found| *found == Found::Missing || !is_new(path));
        self.listed.retain(|path, _| !is_new(path));
    }

    /// Adds all that `other` used and wrote, which came later; what is known already stays as it
    /// is.
    pub(crate) fn join(&mut self, other: Seen) {
        for (path, print) in other.files {
            self.files.entry(path).or_insert(print);
        }
        for (path, found) in other.exist {
            self.exist.entry(path).or_insert(found);
        }
        for (path, print) in other.listed {
            self.listed.entry(path).or_insert(print);
        }
        for (path, times) in other.executed {
            *self.executed.entry(path).or_default() += times;
        }
        self.written.extend(other.written);
        self.reused.extend(other.reused);
        self.made.extend(other.made);
        for (path, print) in other.before {
            if !self.created.contains(&path) {
                self.before.entry(path).or_insert(print);
            }
        }
        let before = &self.before;
        let created = other.created.into_iter();
        self.created
            .extend(created.filter(|path| !before.contains_key(path)));
        self.incomplete = self.incomplete.take().or(other.incomplete);
    }

    /// Whether the test itself put there what is there.
    pub(super) fn is_own(&self, path: &BStr) -> bool {
        self.written.contains(path) || self.is_below_made(path)
    }

    fn is_below_made(&self, path: &BStr) -> bool {
        let mut above = path;
        while let Some(end) = above.rfind_byte(b'/') {
            above = above[..end].as_bstr();
            if self.made.contains(above) {
                return true;
            }
        }
        false
    }

    /// A folder goes to another place, with all that is below it. There is nothing there, or a
    /// folder without anything in it.
    pub(super) fn moves_folder(&mut self, from: &BString, to: &BString) {
        if !self.made.contains(from) {
            self.doubt(format!("the folder {from} was moved"));
        }
        self.made.insert(to.clone());
    }

    /// Something that the test used or wrote, and that `other` wrote before.
    pub(super) fn meets<'s>(&'s self, other: &Seen) -> Option<&'s BString> {
        let used = self.files.keys().chain(self.exist.keys());
        let mut used = used.chain(&self.written);
        let folder = |path: &BString| path.rfind_byte(b'/').map(|end| BString::from(&path[..end]));
        let folders: BTreeSet<BString> = other.written.iter().filter_map(folder).collect();
        let mut listed = self.listed.keys();
        used.find(|path| other.written.contains(*path))
            .or_else(|| listed.find(|path| folders.contains(*path)))
    }

    /// Something that is another after the test than before it.
    pub(super) fn changes(&self) -> Option<&BString> {
        self.written.iter().find(|path| self.is_changed(path))
    }

    /// The same, below one of these folders.
    pub(crate) fn changes_below(&self, tops: &[&Path]) -> Option<&BString> {
        let is_inside = |path: &BString| tops.iter().any(|top| is_below(path.as_bstr(), top));
        let mut written = self.written.iter();
        written.find(|path| is_inside(path) && self.is_changed(path))
    }

    fn is_changed(&self, path: &BString) -> bool {
        if let Some(before) = self.before.get(path) {
            return before.is_none() || fingerprint(path) != *before;
        }
        let is_there = native(path).symlink_metadata().is_ok();
        if self.created.contains(path) {
            return is_there;
        }
        let was_there = self
            .exist
            .get(path)
            .is_some_and(|found| *found != Found::Missing);
        is_there || was_there || self.files.contains_key(path)
    }

    /// Gives files that tests before this one wrote the fingerprint that they have now: at the
    /// beginning of the run they were others.
    pub(super) fn keep_prints(
        &mut self,
        written: &BTreeSet<BString>,
        print: impl Fn(&BString) -> Option<Fingerprint>,
    ) {
        for (path, known) in &mut self.files {
            if known.is_none() && written.contains(path) {
                *known = print(path);
            }
        }
    }

    /// The same, by what they hold now.
    pub(crate) fn keep_prints_of(&mut self, written: &BTreeSet<BString>) {
        self.keep_prints(written, fingerprint);
    }

    /// Those of these paths that were written.
    pub(crate) fn written_among(&self, is_meant: impl Fn(&BString) -> bool) -> BTreeSet<BString> {
        let written = self.written.iter();
        written.filter(|path| is_meant(path)).cloned().collect()
    }

    /// Leaves away what was used of these paths.
    pub(crate) fn forget(&mut self, is_meant: impl Fn(&BString) -> bool) {
        self.files.retain(|path, _| !is_meant(path));
        self.exist.retain(|path, _| !is_meant(path));
        self.listed.retain(|path, _| !is_meant(path));
        self.written.retain(|path| !is_meant(path));
        self.before.retain(|path, _| !is_meant(path));
    }

    /// There may be more than was seen.
    pub(crate) fn doubt(&mut self, why: impl Into<String>) {
        self.incomplete.get_or_insert_with(|| why.into());
    }
}

/// Which of several, in their order, use what one before them wrote: the numbers of the writer
/// and the reader, and a path.
pub(crate) fn shared(all: &[&Seen]) -> Vec<(usize, usize, BString)> {
    let mut writers: BTreeMap<&BString, usize> = BTreeMap::new();
    let mut folders: BTreeMap<&BStr, usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (at, seen) in all.iter().enumerate() {
        let used = seen.files.keys().chain(seen.exist.keys());
        let used = used.chain(&seen.written);
        let used = used.filter_map(|path| Some((path, writers.get(path)?)));
        let listed = seen.listed.keys();
        let listed = listed.filter_map(|path| Some((path, folders.get(path.as_bstr())?)));
        let mut met = BTreeSet::new();
        for (path, writer) in used.chain(listed) {
            if met.insert(*writer) {
                pairs.push((*writer, at, path.clone()));
            }
        }
        for path in &seen.written {
            writers.insert(path, at);
            // What came and went is in no list.
            let is_gone = seen.created.contains(path) && !seen.is_changed(path);
            if let Some(end) = path.rfind_byte(b'/').filter(|_| !is_gone) {
                folders.insert(path[..end].as_bstr(), at);
            }
        }
    }
    pairs
}

/// The same of tests that ran in no order that anybody knows.
pub(crate) fn shared_in_any_order(all: &[&Seen]) -> Vec<(usize, usize, BString)> {
    let backwards: Vec<&Seen> = all.iter().rev().copied().collect();
    let last = all.len().saturating_sub(1);
    let back = shared(&backwards).into_iter();
    let back = back.map(|(writer, reader, path)| (last - writer, last - reader, path));
    shared(all).into_iter().chain(back).collect()
}

/// What the kernel makes up: devices, processes, its own state.
fn is_of_the_system(path: &BString) -> bool {
    let is_below = |tops: &[&str]| {
        tops.iter().any(|top| {
            let rest = path.strip_prefix(top.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
        })
    };
    // Without a path a call fails.
    let holds_files = is_below(&["/dev/shm", "/dev/mqueue"]);
    path.is_empty() || !holds_files && is_below(&["/proc", "/sys", "/dev"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(path: &str, found: Found) -> Way {
        Way {
            links: Vec::new(),
            path: path.into(),
            found,
            has_folder: true,
        }
    }

    fn told(seen: &Seen) -> String {
        let files = seen.files.iter().map(|(path, print)| {
            let mark = if print.is_some() { "!" } else { "" };
            format!("{path}{mark}")
        });
        let exist = seen.exist.iter();
        let exist = exist.map(|(path, found)| format!("{path}={found:?}"));
        files.chain(exist).collect::<Vec<_>>().join(" ")
    }

    fn print(_: &BString) -> Option<Fingerprint> {
        Some(Fingerprint([7; 16]))
    }

    #[test]
    fn what_a_test_made_is_no_input() {
        let mut seen = Seen::default();
        seen.writes(&way("/a/new", Found::Missing), Write::Replaced, print);
        seen.used(&way("/a/new", Found::File), Use::Content);
        seen.writes(&way("/a/dir", Found::Missing), Write::Folder, print);
        seen.used(&way("/a/dir/deep/file", Found::File), Use::Content);
        seen.lists("/a/dir/deep".into());
        // That it was not there decided that it could be made.
        assert_eq!(told(&seen), "/a=Dir /a/dir=Missing");
        assert!(seen.listed.is_empty());
        assert_eq!(seen.written.len(), 2);
    }

    #[test]
    fn what_was_read_before_it_was_written_counts_as_it_was() {
        let mut seen = Seen::default();
        seen.used(&way("/a/read", Found::File), Use::Content);
        seen.writes(&way("/a/read", Found::File), Write::Replaced, print);
        seen.writes(&way("/a/added", Found::File), Write::Changed, print);
        seen.writes(&way("/a/read", Found::File), Write::Changed, |_| panic!());
        seen.used(&way("/a/other", Found::File), Use::Existence);
        seen.used(&way("/a/gone", Found::Missing), Use::Content);
        seen.used(&way("/proc/1/stat", Found::File), Use::Content);
        assert_eq!(
            told(&seen),
            "/a/added! /a/read! /a=Dir /a/gone=Missing /a/other=File"
        );
        assert_eq!(seen.incomplete, None);
        seen.used(&way("/a/secret", Found::File), Use::Content);
        seen.writes(&way("/a/secret", Found::File), Write::Replaced, |_| None);
        assert!(seen.incomplete.is_some());
    }

    #[test]
    fn what_one_test_leaves_another_meets() {
        let (mut one, mut other) = (Seen::default(), Seen::default());
        one.writes(&way("/a/left", Found::Missing), Write::Replaced, print);
        other.used(&way("/b/file", Found::File), Use::Content);
        assert_eq!(other.meets(&one), None);
        other.lists("/a".into());
        assert_eq!(other.meets(&one), Some(&"/a".into()));
        other.used(&way("/a/left", Found::File), Use::Content);
        assert_eq!(other.meets(&one), Some(&"/a/left".into()));
    }

    #[test]
    fn what_is_put_back_as_it_was_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let path = file.to_str().unwrap();
        std::fs::write(&file, "as it was").unwrap();
        let mut seen = Seen::default();
        seen.writes(&way(path, Found::File), Write::Replaced, fingerprint);
        assert_eq!(seen.changes(), None);
        std::fs::write(&file, "another").unwrap();
        assert_eq!(seen.changes(), Some(&path.into()));
        assert_eq!(seen.changes_below(&[Path::new("/elsewhere")]), None);
        assert_eq!(seen.changes_below(&[folder.path()]), Some(&path.into()));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(seen.changes(), Some(&path.into()));
        // What comes and goes leaves nothing.
        let mut seen = Seen::default();
        seen.writes(&way(path, Found::Missing), Write::Replaced, fingerprint);
        assert_eq!(seen.changes(), None);
        std::fs::write(&file, "").unwrap();
        assert_eq!(seen.changes(), Some(&path.into()));
    }

    #[test]
    fn a_folder_that_moves_takes_along_what_it_holds() {
        let mut seen = Seen::default();
        seen.writes(&way("/a/tmp", Found::Missing), Write::Folder, print);
        seen.moves_folder(&"/a/tmp".into(), &"/a/final".into());
        seen.used(&way("/a/final/file", Found::File), Use::Content);
        assert_eq!(told(&seen), "/a=Dir /a/tmp=Missing");
        assert_eq!(seen.incomplete, None);
        seen.moves_folder(&"/a/old".into(), &"/a/new".into());
        assert!(seen.incomplete.is_some());
    }
}
