//! git's commit-graph file: with it the answers are the same and need fewer reads.

use std::collections::BTreeSet;

use super::fixture::Repo;
use crate::history::written_graph::WrittenGraph;
use crate::history::{Classifier, CommitGraph, CommitId, Head, HeadKind, Hints};

/// A history of commits with up to three parents, made by one process. The first lines have
/// one root, some have another. Parents come first.
fn woven(commits: usize, seed: u64) -> (Repo, Vec<CommitId>) {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut stream = String::new();
    for number in 1..=commits {
        // Dates go back and forth: no answer may depend on them.
        let date = 1_700_000_000 + below(5_000);
        stream.push_str(&format!(
            "commit refs/heads/b{number}\nmark :{number}\n\
             committer Ann Author <ann@example.org> {date} +0000\ndata 1\nx\n"
        ));
        let mut parents = BTreeSet::new();
        let wanted = if below(4) == 0 { 2 + below(2) } else { 1 };
        let is_root = number == 1 || (number < 6 && seed.is_multiple_of(2) && below(2) == 0);
        while !is_root && parents.len() < wanted.min(number - 1) {
            let back = 1 + below((number - 1).min(8));
            parents.insert(number - back);
        }
        for (at, parent) in parents.iter().enumerate() {
            let word = if at == 0 { "from" } else { "merge" };
            stream.push_str(&format!("{word} :{parent}\n"));
        }
        stream.push('\n');
    }
    let repo = Repo::new();
    let file = repo.outside("stream");
    std::fs::write(&file, stream).unwrap();
    let mut import = repo.command(&["fast-import", "--quiet"]);
    let status = import.stdin(std::fs::File::open(&file).unwrap()).status();
    assert!(status.unwrap().success());
    let names = (1..=commits).map(|number| format!("refs/heads/b{number}"));
    let ids = names.map(|name| repo.word(&["rev-parse", &name]).parse().unwrap());
    let ids = ids.collect();
    repo.git(&["update-ref", "refs/heads/main", &format!("b{commits}")]);
    (repo, ids)
}

fn dominators(repo: &Repo, commits: &[CommitId]) -> Vec<Option<CommitId>> {
    let repository = repo.open();
    let graph = CommitGraph::load_all(&repository, commits).unwrap();
    commits.iter().map(|it| graph.dominator(it)).collect()
}

/// The dominators by git's file, which must be usable.
fn written_dominators(repo: &Repo, commits: &[CommitId]) -> Vec<Option<CommitId>> {
    let repository = repo.open();
    let written = WrittenGraph::open(&repository).unwrap();
    let found = commits.iter().map(|it| written.dominator(&repository, *it));
    found.map(|found| found.unwrap().unwrap()).collect()
}

#[test]
fn dominators_are_the_same_with_and_without_the_file() {
    let mut kinds = BTreeSet::new();
    for seed in 0..8 {
        let (repo, commits) = woven(50, seed);
        assert!(WrittenGraph::open(&repo.open()).is_none());
        let expected = dominators(&repo, &commits);
        // First the file knows only the first commits, then all; then it is split.
        let write = |words: &[&str], to: usize| {
            let list = repo.outside("list");
            let ids: Vec<String> = commits[..to].iter().map(ToString::to_string).collect();
            std::fs::write(&list, ids.join("\n") + "\n").unwrap();
            let words = [&["commit-graph", "write", "--stdin-commits"], words].concat();
            let mut command = repo.command(&words);
            let input = std::fs::File::open(&list).unwrap();
            assert!(command.stdin(input).status().unwrap().success());
        };
        for (words, to) in [
            (&[][..], 30),
            (&[][..], 50),
            (&["--split=no-merge"][..], 20),
            (&["--split=no-merge"][..], 40),
        ] {
            if !words.is_empty() && to == 20 {
                let _ = std::fs::remove_file(repo.top.join(".git/objects/info/commit-graph"));
            }
            write(words, to);
            assert_eq!(written_dominators(&repo, &commits), expected, "{seed} {to}");
            assert_eq!(dominators(&repo, &commits), expected, "{seed} {to}");
        }
        for (commit, above) in commits.iter().zip(&expected) {
            let parents = repo.open().parents(commit).unwrap().ids;
            kinds.insert((
                parents.len(),
                above.is_some(),
                parents.first() == above.as_ref(),
            ));
        }
    }
    // Roots; commits; merges with a far dominator, a near one, and none.
    for kind in [
        (0, false, true),
        (1, true, true),
        (2, true, false),
        (2, true, true),
        (2, false, false),
        (3, true, false),
    ] {
        assert!(kinds.contains(&kind), "{kind:?} of {kinds:?}");
    }
}

#[test]
fn a_broken_file_is_as_none() {
    let (repo, commits) = woven(20, 1);
    repo.git(&["commit-graph", "write", "--reachable"]);
    let file = repo.top.join(".git/objects/info/commit-graph");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let expected = dominators(&repo, &commits);
    for broken in [
        &b""[..],
        b"CGPH",
        &bytes[..bytes.len() / 2],
        b"nonsense nonsense",
    ] {
        std::fs::write(&file, broken).unwrap();
        assert_eq!(dominators(&repo, &commits), expected);
    }
}

/// A long past, then two branches that merge, then one commit.
fn with_a_past() -> (Repo, Vec<CommitId>) {
    let repo = Repo::with_files();
    let mut past = Vec::new();
    for number in 0..12 {
        repo.write("past.py", format!("a = {number}\n"));
        past.push(repo.commit_all());
    }
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("src/b.py", "b = 2\n");
    repo.commit_all();
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.py", "a = 2\n");
    repo.commit_all();
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    repo.git(&["tag", "merge"]);
    repo.write("src/deep/c.py", "c = 2\n");
    repo.commit_all();
    (repo, past)
}

/// Removes commits from the object store, so that reading one fails.
fn forget(repo: &Repo, commits: &[CommitId]) {
    for commit in commits {
        let name = commit.to_string();
        let path = format!(".git/objects/{}/{}", &name[..2], &name[2..]);
        std::fs::remove_file(repo.top.join(path)).unwrap();
    }
}

fn classify(repo: &Repo, rev: &str) -> crate::history::Result<Head> {
    let repository = repo.open();
    let revision = repository.resolve(rev)?;
    let classifier = Classifier::new(&repository, revision.commit)?;
    classifier
        .without_copies()
        .classify(revision, &Hints::default())
}

#[test]
fn classifying_one_head_reads_no_more_than_it_needs() {
    let (repo, past) = with_a_past();
    let whole = ["HEAD", "merge"].map(|rev| classify(&repo, rev).unwrap());
    assert_eq!(
        whole.clone().map(|head| head.kind),
        [HeadKind::Commit, HeadKind::Automerge]
    );
    assert_eq!(whole[1].references.imd, past.last().copied());
    repo.git(&["commit-graph", "write", "--reachable"]);
    // libgit2 looks slightly beyond a merge base.
    forget(&repo, &past[..past.len() - 3]);
    // A commit needs its parent, and a merge the commits up to its dominator.
    assert_eq!(classify(&repo, "HEAD").unwrap(), whole[0]);
    assert_eq!(classify(&repo, "merge").unwrap(), whole[1]);
    // Without git's file a merge's dominator needs the whole history.
    std::fs::remove_file(repo.top.join(".git/objects/info/commit-graph")).unwrap();
    assert_eq!(classify(&repo, "HEAD").unwrap(), whole[0]);
    assert!(
        CommitGraph::load(&repo.open(), repo.head().commit)
            .is_ok_and(|graph| { !graph.contains(&past[0]) })
    );
}
