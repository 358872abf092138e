//! Random histories, compared with git's own view of the same states.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt, symlink};

use bstr::{BStr, BString};
use proptest::prelude::*;

use super::fixture::{Repo, expected, names};
use crate::history::{Entry, Revision, View};
use crate::matrix::Fingerprint;

/// Paths that conflict with each other.
const PATHS: [&str; 10] = [
    "a", "b", "d", "d/a", "d/b", "d/e/f", "d/e/f/g", "x y", "é", "skip.log",
];
const IGNORE: &str = ".gitignore";

#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8),
    /// Other content of the same size, right after git looked.
    Flip(usize),
    Delete(usize),
    Rename(usize, usize),
    Mode(usize, bool),
    Link(usize, usize),
    MakeDir(usize),
    Ignore(bool),
    Stage(usize),
    StageAll,
    Unstage(usize),
    Untrack(usize),
    Refresh,
    Commit,
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    prop_oneof![
        6 => (path.clone(), 0..3u8).prop_map(|(path, content)| Step::Write(path, content)),
        3 => path.clone().prop_map(Step::Flip),
        3 => path.clone().prop_map(Step::Delete),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => (path.clone(), any::<bool>()).prop_map(|(path, bit)| Step::Mode(path, bit)),
        2 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Link(from, to)),
        1 => path.clone().prop_map(Step::MakeDir),
        1 => any::<bool>().prop_map(Step::Ignore),
        2 => path.clone().prop_map(Step::Stage),
        2 => Just(Step::StageAll),
        1 => path.clone().prop_map(Step::Unstage),
        1 => path.prop_map(Step::Untrack),
        1 => Just(Step::Refresh),
        3 => Just(Step::Commit),
    ]
}

/// Applies one step as far as possible.
fn apply(repo: &Repo, step: &Step) {
    let place = |path: &usize| repo.top.join(PATHS[*path]);
    let try_git = |args: &[&str]| drop(repo.command(args).output().unwrap());
    // A step through a link would change a path under another name.
    let make_room = |path: &usize| {
        let place = place(path);
        for above in place.ancestors().skip(1).take_while(|it| *it != repo.top) {
            if above.is_symlink() || above.is_file() {
                let _ = std::fs::remove_file(above);
            }
        }
        let _ = std::fs::create_dir_all(place.parent().unwrap());
        let _ = std::fs::remove_file(&place);
    };
    let is_own_file = |path: &usize| {
        let place = place(path);
        place.is_file() && place.canonicalize().unwrap() == place
    };
    match step {
        Step::Write(path, content) => {
            make_room(path);
            let _ = std::fs::write(place(path), format!("content {content}\n"));
        }
        Step::Flip(path) => {
            if is_own_file(path) {
                try_git(&["add", "-u"]);
                let _ = std::fs::write(place(path), "CONTENT 9\n");
            }
        }
        Step::Delete(path) => {
            let _ =
                std::fs::remove_file(place(path)).or_else(|_| std::fs::remove_dir_all(place(path)));
        }
        Step::Rename(from, to) => {
            if is_own_file(from) && from != to {
                make_room(to);
                let _ = std::fs::rename(place(from), place(to));
            }
        }
        Step::Mode(path, bit) => {
            if is_own_file(path) {
                let mode = if *bit { 0o755 } else { 0o644 };
                let _ =
                    std::fs::set_permissions(place(path), std::fs::Permissions::from_mode(mode));
            }
        }
        Step::Link(path, target) => {
            make_room(path);
            let _ = symlink(PATHS[*target], place(path));
        }
        Step::MakeDir(path) => drop(std::fs::create_dir_all(place(path))),
        Step::Ignore(everything) => {
            let rules = if *everything {
                "*.log\nd/e/\n"
            } else {
                "*.log\n"
            };
            repo.write(IGNORE, rules);
        }
        Step::Stage(path) => try_git(&["add", "-f", "--", PATHS[*path]]),
        Step::StageAll => try_git(&["add", "-A"]),
        Step::Unstage(path) => try_git(&["reset", "-q", "--", PATHS[*path]]),
        Step::Untrack(path) => try_git(&["rm", "-q", "-r", "--cached", "-f", "--", PATHS[*path]]),
        Step::Refresh => try_git(&["status"]),
        Step::Commit => drop(repo.commit()),
    }
}

/// A past state: the data that tamis keeps of it, and git's tree.
struct State {
    revision: Revision,
    dirty: Vec<(BString, Fingerprint)>,
    tree: String,
}

type Listing = BTreeMap<BString, (String, String)>;

/// Each path of git's tree has its entry, and no other path has one.
fn check_entries(view: &View, truth: &Listing, head: &Listing) {
    for (path, (mode, id)) in truth {
        assert_eq!(
            view.entry(path.as_ref()).unwrap(),
            expected(mode, id),
            "{path}"
        );
    }
    for path in head.keys().filter(|path| !truth.contains_key(*path)) {
        let entry = view.entry(path.as_ref()).unwrap();
        // It may still be reached through a link, or be a directory now, or be ignored now
        // that it is not tracked.
        if view.is_tracked(path.as_ref()).unwrap() && !is_below_link(path.as_ref(), truth) {
            assert!(
                matches!(entry, Entry::Missing | Entry::Dir),
                "{path}: {entry:?}"
            );
        }
    }
}

fn is_below_link(path: &BStr, truth: &Listing) -> bool {
    (0..path.len())
        .filter(|at| path[*at] == b'/')
        .any(|at| truth.contains_key(BStr::new(&path[..at])))
}

fn fingerprint(line: Option<&(String, String)>) -> Fingerprint {
    match line.map(|(mode, id)| expected(mode, id)) {
        Some(Entry::File { fingerprint, .. }) => fingerprint,
        _ => Fingerprint::MISSING,
    }
}

/// Compares every answer about the present state with git's.
fn check_state(repo: &Repo, past: &[State]) -> State {
    let (open, work, committed) = (repo.open(), repo.work(), repo.committed());
    let tree = repo.truth();
    let (truth, head) = (repo.ls_tree(&tree), repo.ls_tree("HEAD"));
    check_entries(&work, &truth, &head);
    check_entries(&committed, &head, &head);

    let differing = repo.diff_tree("HEAD", &tree);
    let dirty = work.dirty().unwrap().to_vec();
    let expected_dirty: Vec<_> = differing
        .iter()
        .map(|path| (path.clone(), fingerprint(truth.get(path))))
        .collect();
    assert_eq!(dirty, expected_dirty);

    let on_disk = repo.git(&["ls-tree", "-r", "-t", "-d", "--name-only", "-z", &tree]);
    let dirs = on_disk.split(|byte| *byte == 0).map(BStr::new);
    let revision = Revision {
        commit: repo.head().commit,
        tree: tree.parse().unwrap(),
    };
    let as_tree = open.tree_view(&revision).unwrap();
    for dir in dirs {
        let dir = dir.to_string();
        let listed: Vec<String> = names(&work, &dir).unwrap();
        // Empty directories are on disk and in no tree.
        let listed = listed.into_iter().filter(|name| {
            let path = format!("{dir}/{name}");
            let path = path.trim_matches('/');
            !name.ends_with('/') || as_tree.entry(BStr::new(path)).unwrap() != Entry::Missing
        });
        assert_eq!(
            Some(listed.collect::<Vec<_>>()),
            names(&as_tree, &dir),
            "listing of {dir:?}"
        );
    }

    for from in past {
        let exact: BTreeSet<BString> = repo.diff_tree(&from.tree, &tree).into_iter().collect();
        let delta = open.delta(&from.revision, &from.dirty, &work).unwrap();
        for lacking in exact.difference(&delta.paths) {
            // An untracked file that is ignored now: git lost it, but it is still on disk.
            let before = from.dirty.iter().find(|(path, _)| path == lacking);
            let now = work.entry(lacking.as_ref()).unwrap();
            let is_as_before = matches!(now, Entry::File { fingerprint, .. } if before.is_some_and(|it| it.1 == fingerprint));
            assert!(is_as_before, "{delta:?} lacks {lacking} of {exact:?}");
        }
        for extra in delta.paths.difference(&exact) {
            let entry = work.entry(extra.as_ref()).unwrap();
            let is_odd = entry == Entry::Dir
                || !work.is_tracked(extra.as_ref()).unwrap()
                || is_below_link(extra.as_ref(), &truth);
            assert!(is_odd, "{extra} did not change");
        }
        let between = open.delta(&from.revision, &[], &committed).unwrap();
        let old = from.revision.commit.to_string();
        let between: Vec<BString> = between.paths.into_iter().collect();
        assert_eq!(between, repo.diff_tree(&old, "HEAD"));
    }
    State {
        revision: repo.head(),
        dirty,
        tree,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn views_and_deltas_agree_with_git(rounds in prop::collection::vec(prop::collection::vec(step(), 1..7), 1..6)) {
        let repo = Repo::new();
        repo.write(IGNORE, "*.log\n");
        repo.write("a", "content 0\n");
        repo.write("d/a", "content 0\n");
        repo.commit_all();
        let mut past = Vec::new();
        for steps in &rounds {
            for step in steps {
                apply(&repo, step);
            }
            let state = check_state(&repo, &past);
            past.push(state);
        }
    }
}
