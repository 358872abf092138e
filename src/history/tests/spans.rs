//! Spans of a history, and work trees beside it.

use std::collections::BTreeSet;

use super::fixture::Repo;
use crate::history::{CommitGraph, CommitId, Scratch, Span};

/// Branches that meet and cross, from a fixed list of parents.
fn woven() -> (Repo, Vec<CommitId>) {
    const PARENTS: [&[usize]; 12] = [
        &[],
        &[0],
        &[0],
        &[1, 2],
        &[2, 1],
        &[3],
        &[4, 5],
        &[3, 4, 5],
        &[6],
        &[0],
        &[9, 7],
        &[8, 10],
    ];
    let repo = Repo::new();
    repo.write("a", "1");
    repo.git(&["add", "-A"]);
    let tree = repo.word(&["write-tree"]);
    let mut commits: Vec<CommitId> = Vec::new();
    for (number, parents) in PARENTS.iter().enumerate() {
        let message = format!("commit {number}");
        let parents: Vec<String> = parents.iter().map(|at| commits[*at].to_string()).collect();
        let mut args = vec!["commit-tree", &tree, "-m", &message];
        for parent in &parents {
            args.extend(["-p", parent.as_str()]);
        }
        let id = repo.word(&args);
        repo.git(&["update-ref", "refs/heads/main", &id]);
        commits.push(id.parse().unwrap());
    }
    (repo, commits)
}

#[test]
fn what_lies_between_is_what_git_says() {
    let (repo, commits) = woven();
    let graph = CommitGraph::load_all(&repo.open(), &commits).unwrap();
    for old in &commits {
        for new in &commits {
            let range = format!("{old}..{new}");
            let known = repo.word(&["rev-list", "--ancestry-path", &range]);
            let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
            let found = graph.between(old, new);
            let found: BTreeSet<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, known, "{range}");
        }
    }
    // Two parents of a merge have its dominator in common.
    assert_eq!(
        graph.lowest_common(&commits[3], &commits[4]),
        Some(commits[0])
    );
    assert_eq!(
        graph.lowest_common(&commits[6], &commits[8]),
        Some(commits[6])
    );
    assert_eq!(graph.dominator(&commits[6]), Some(commits[0]));
}

#[test]
fn a_log_has_parents_first() {
    let (repo, commits) = woven();
    let open = repo.open();
    let log = |span| open.log(&span).unwrap();
    let last = |count| Span::Last {
        count,
        head: "main".to_owned(),
    };
    let all = log(last(100));
    assert_eq!(all.len(), commits.len());
    for (at, commit) in all.iter().enumerate() {
        for parent in open.parents(commit).unwrap().ids {
            assert!(all[..at].contains(&parent));
        }
    }
    assert_eq!(log(last(3)), all[all.len() - 3..]);
    let range = format!("{}..main", commits[6]);
    let known = repo.word(&["rev-list", &range]);
    let known: BTreeSet<&str> = known.lines().collect();
    let found: Vec<String> = log(Span::Range(range))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        known
    );
    assert_eq!(open.subject(&commits[7]).unwrap(), "commit 7");
    assert!(open.log(&Span::Range("nowhere..main".to_owned())).is_err());
}

#[test]
fn a_scratch_tree_leaves_no_trace() {
    let repo = Repo::with_files();
    let first = repo.head().commit;
    repo.write("a.py", "a = 2\n");
    repo.remove("src/b.py");
    repo.write(".gitignore", "made\n");
    let second = repo.commit_all();
    let before = repo.git_directory();
    let beside = repo.outside("beside");
    std::fs::create_dir(&beside).unwrap();
    let scratch = Scratch::new(&repo.open(), &beside).unwrap();
    scratch.check_out(second).unwrap();
    assert!(!beside.join("src/b.py").exists());
    std::fs::write(beside.join("made"), "ignored").unwrap();
    std::fs::write(beside.join("new"), "untracked").unwrap();
    scratch.check_out(first).unwrap();
    let read = |path: &str| std::fs::read_to_string(beside.join(path));
    assert_eq!(read("a.py").unwrap(), "a = 1\n");
    assert_eq!(read("src/b.py").unwrap(), "b = 1\n");
    assert!(read("made").is_err() && read("new").is_err());
    assert_eq!(Repo::at(beside).head().commit, first);
    assert_eq!(repo.git_directory(), before);
}
