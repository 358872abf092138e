//! Each kind, made by its git command.

use super::fixture::Repo;
use crate::history::{Classifier, CommitId, Head, HeadKind, Hints};

fn classify_with(repo: &Repo, rev: &str, hints: &Hints) -> Head {
    let repository = repo.open();
    let revision = repository.resolve(rev).unwrap();
    let classifier = Classifier::new(&repository, revision.commit).unwrap();
    classifier.classify(revision, hints).unwrap()
}

pub(super) fn classify(repo: &Repo) -> Head {
    classify_with(repo, "HEAD", &Hints::default())
}

pub(super) fn id(repo: &Repo, rev: &str) -> CommitId {
    repo.word(&["rev-parse", rev]).parse().unwrap()
}

#[track_caller]
pub(super) fn is(head: &Head, kind: HeadKind, auto: bool) {
    assert_eq!((head.kind, head.auto), (kind, auto), "{head:#?}");
}

/// Writes the file and commits.
pub(super) fn edit(repo: &Repo, path: &str, text: &str) -> CommitId {
    repo.write(path, text);
    repo.commit_all()
}

/// `main` edits `a.py`, `side` edits `src/b.py`; `main` is checked out.
fn forked() -> Repo {
    let repo = Repo::with_files();
    repo.git(&["checkout", "-q", "-b", "side"]);
    edit(&repo, "src/b.py", "b = 2\n");
    repo.git(&["checkout", "-q", "main"]);
    edit(&repo, "a.py", "a = 2\n");
    repo
}

#[test]
fn roots_and_commits() {
    let repo = Repo::with_files();
    is(&classify(&repo), HeadKind::Root, false);
    edit(&repo, "a.py", "a = 2\n");
    is(&classify(&repo), HeadKind::Commit, false);
    let before = id(&repo, "HEAD");
    repo.commit();
    let head = classify(&repo);
    is(&head, HeadKind::Empty, true);
    assert_eq!(head.references.same_tree, Some(before));
}

#[test]
fn a_clean_merge_is_automatic_and_names_its_dominator() {
    let repo = forked();
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    let head = classify(&repo);
    is(&head, HeadKind::Automerge, true);
    assert_eq!(head.references.imd, Some(id(&repo, "HEAD~2")));
    assert_eq!(head.references.merge_bases, [id(&repo, "HEAD~2")]);
}

#[test]
fn an_evil_merge_is_manual() {
    let repo = forked();
    repo.git(&["merge", "-q", "--no-commit", "side"]);
    edit(&repo, "src/deep/c.py", "c = 9\n");
    is(&classify(&repo), HeadKind::Merge, false);
}

#[test]
fn a_resolved_conflict_is_manual() {
    let repo = forked();
    repo.git(&["checkout", "-q", "side"]);
    edit(&repo, "a.py", "a = 3\n");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "-s", "ours", "--no-commit", "side"]);
    edit(&repo, "a.py", "a = 4\n");
    is(&classify(&repo), HeadKind::Merge, false);
}

#[test]
fn an_octopus_is_merged_parent_by_parent() {
    let repo = forked();
    repo.git(&["checkout", "-q", "-b", "third", "main~1"]);
    edit(&repo, "src/deep/c.py", "c = 2\n");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-edit", "side", "third"]);
    let head = classify(&repo);
    assert_eq!(head.references.parents.len(), 3);
    is(&head, HeadKind::Automerge, true);
}

#[test]
fn a_criss_cross_has_two_bases() {
    let repo = forked();
    repo.git(&["branch", "old"]);
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["merge", "-q", "--no-edit", "old"]);
    edit(&repo, "src/deep/c.py", "c = 2\n");
    repo.git(&["checkout", "-q", "main"]);
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    let head = classify(&repo);
    is(&head, HeadKind::Automerge, true);
    assert_eq!(head.references.merge_bases.len(), 2);
    assert_eq!(head.references.imd, Some(id(&repo, "old~1")));
}

#[test]
fn reverts_and_reverts_of_reverts() {
    let repo = forked();
    let reverted = id(&repo, "HEAD");
    edit(&repo, "src/deep/c.py", "c = 2\n");
    repo.git(&["revert", "--no-edit", "HEAD~1"]);
    let head = classify(&repo);
    is(&head, HeadKind::Revert, true);
    assert_eq!(head.references.reverted, Some(reverted));
    assert_eq!(head.references.reverted_parent, Some(id(&repo, "HEAD~3")));
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["revert", "--no-edit", "HEAD~1"]);
    is(&classify(&repo), HeadKind::Revert, true);
}

#[test]
fn the_revert_of_a_merge_names_the_parent_that_stays() {
    let repo = forked();
    let kept = id(&repo, "HEAD");
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["revert", "--no-edit", "-m", "1", "HEAD~1"]);
    let head = classify(&repo);
    is(&head, HeadKind::Revert, true);
    assert_eq!(head.references.reverted_parent, Some(kept));
}

#[test]
fn a_pick_is_believed_after_its_replay_alone() {
    let repo = forked();
    repo.git(&["cherry-pick", "-x", "side"]);
    let head = classify(&repo);
    is(&head, HeadKind::CherryPick, true);
    assert_eq!(head.references.picked, Some(id(&repo, "side")));
    repo.write("a.py", "a = 7\n");
    repo.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    let head = classify(&repo);
    is(&head, HeadKind::Commit, false);
    assert_eq!(head.references.picked, None);
}

#[test]
fn squashes_and_rebases_need_the_tip() {
    let repo = forked();
    repo.git(&["checkout", "-q", "side"]);
    edit(&repo, "src/deep/c.py", "c = 2\n");
    let tip = id(&repo, "side");
    let hints = Hints {
        pr_head: Some(tip),
        ..Hints::default()
    };
    repo.git(&["checkout", "-q", "-b", "squashed", "main"]);
    repo.git(&["merge", "-q", "--squash", "side"]);
    repo.commit();
    is(&classify(&repo), HeadKind::Commit, false);
    let head = classify_with(&repo, "HEAD", &hints);
    is(&head, HeadKind::Squash, true);
    assert_eq!(head.references.squash_tip, Some(tip));

    repo.git(&["checkout", "-q", "-b", "rebased", "side"]);
    repo.git(&["rebase", "-q", "main"]);
    let pushed = Hints {
        before: Some(tip),
        ..Hints::default()
    };
    for hints in [hints, pushed] {
        let head = classify_with(&repo, "HEAD", &hints);
        is(&head, HeadKind::Rebase, true);
        assert_eq!(head.references.pre_rebase_tip, Some(tip));
        assert_eq!(head.references.onto, Some(id(&repo, "main")));
    }
}

/// Scripts make several commits in one second. Then authors and dates tell nothing, and
/// commits of two branches look alike.
#[test]
fn a_squash_within_one_second_is_no_rebase() {
    let repo = Repo::with_files();
    let edit = |path: &str, text: &str| {
        repo.write(path, text);
        repo.git(&["commit", "-q", "-a", "-m", "in a hurry"]);
    };
    repo.git(&["checkout", "-q", "-b", "side"]);
    edit("src/b.py", "b = 2\n");
    edit("src/b.py", "b = 3\n");
    repo.git(&["checkout", "-q", "main"]);
    edit("a.py", "a = 2\n");
    repo.git(&["merge", "-q", "--squash", "side"]);
    repo.git(&["commit", "-q", "-m", "both"]);
    let hints = Hints {
        pr_head: Some(id(&repo, "side")),
        ..Hints::default()
    };
    let head = classify_with(&repo, "HEAD", &hints);
    is(&head, HeadKind::Squash, true);
    assert_eq!(head.references.squash_tip, hints.pr_head);
}

#[test]
fn the_tip_of_a_fetched_pull_request_is_found_by_its_number() {
    let repo = forked();
    repo.git(&["update-ref", "refs/pull/12/head", "side"]);
    repo.git(&["merge", "-q", "--squash", "side"]);
    repo.git(&["commit", "-q", "-m", "Title (#12)"]);
    is(&classify(&repo), HeadKind::Squash, true);
}

#[test]
fn amends_and_fast_forwards_need_the_event() {
    let repo = forked();
    let hints = Hints {
        before: Some(id(&repo, "HEAD")),
        ..Hints::default()
    };
    repo.write("a.py", "a = 5\n");
    repo.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    is(
        &classify_with(&repo, "HEAD", &hints),
        HeadKind::Amend,
        false,
    );
    let hints = Hints {
        before: Some(id(&repo, "HEAD")),
        ..Hints::default()
    };
    edit(&repo, "d.py", "d = 1\n");
    is(
        &classify_with(&repo, "HEAD", &hints),
        HeadKind::Commit,
        false,
    );
    edit(&repo, "d.py", "d = 2\n");
    is(
        &classify_with(&repo, "HEAD", &hints),
        HeadKind::FastForward,
        false,
    );
}

#[test]
fn a_shallow_merge_is_unknown_and_no_root() {
    let repo = forked();
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    let from = format!("file://{}", repo.top.display());
    repo.git(&["clone", "-q", "--depth", "1", &from, "../shallow"]);
    let head = classify(&Repo::at(repo.outside("shallow")));
    is(&head, HeadKind::Unknown, false);
    assert_eq!(head.references.parents.len(), 2);
}

#[test]
fn replaced_objects_are_not_looked_at() {
    let repo = forked();
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    repo.git(&["replace", "HEAD", "HEAD~2"]);
    let head = classify(&repo);
    is(&head, HeadKind::Automerge, true);
}

#[test]
fn a_forges_test_merge_says_so() {
    let repo = forked();
    let text = format!("Merge {} into {}", id(&repo, "side"), id(&repo, "main"));
    repo.git(&["merge", "-q", "-m", &text, "side"]);
    let head = classify(&repo);
    is(&head, HeadKind::Automerge, true);
    assert!(head.evidence.iter().any(|why| why.contains("test merge")));
}

#[test]
fn what_a_merge_queue_made_says_so() {
    let repo = forked();
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    edit(&repo, "d.py", "d = 1\n");
    // A queue merges, squashes or rebases, on a branch of its own.
    for (rev, kind) in [("HEAD", HeadKind::Commit), ("HEAD~1", HeadKind::Automerge)] {
        let is_told = |head: &Head| head.evidence.contains(&"made by a merge queue".to_owned());
        let before = classify_with(&repo, rev, &Hints::default());
        assert!(!is_told(&before));
        let queue = format!("refs/heads/gh-readonly-queue/main/pr-{}", kind.word());
        repo.git(&["update-ref", &queue, rev]);
        let head = classify_with(&repo, rev, &Hints::default());
        assert!(is_told(&head), "{head:#?}");
        assert_eq!((head.kind, &head.references), (kind, &before.references));
    }
}

#[test]
fn submodules_merge_without_their_content() {
    let repo = forked();
    let entry = format!("160000,{},sub", "1".repeat(40));
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-edit", "side"]);
    is(&classify(&repo), HeadKind::Automerge, true);
}

/// Gives the current commit another message.
fn reword(repo: &Repo, text: &str) {
    repo.git(&["commit", "-q", "--amend", "-m", text]);
}

#[test]
fn a_revert_is_found_by_the_subject_that_it_quotes() {
    let repo = forked();
    let reverted = id(&repo, "HEAD");
    // Every commit of the fixture has the same subject.
    edit(&repo, "src/deep/c.py", "c = 2\n");
    edit(&repo, "a.py", "a = 2\nb = 3\n");
    edit(&repo, "a.py", "a = 2\n");
    repo.git(&["revert", "--no-edit", &reverted.to_string()]);
    for text in [
        "Revert \"a commit\"",
        "Revert \"a commit\" (#31)\n\nReverts owner/name#30\n",
    ] {
        reword(&repo, text);
        let head = classify(&repo);
        is(&head, HeadKind::Revert, true);
        assert_eq!(head.references.reverted, Some(reverted));
    }
    let undone = id(&repo, "HEAD");
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["revert", "--no-edit", "HEAD~1"]);
    reword(&repo, "Reapply \"a commit\"");
    let head = classify(&repo);
    is(&head, HeadKind::Revert, true);
    assert_eq!(head.references.reverted, Some(undone));
}

#[test]
fn a_quoted_subject_is_believed_after_a_replay_alone() {
    let repo = forked();
    edit(&repo, "src/deep/c.py", "c = 2\n");
    repo.git(&["revert", "--no-edit", "HEAD~1"]);
    repo.write("d.py", "d = 1\n");
    repo.git(&["add", "-A"]);
    reword(&repo, "Revert \"a commit\"");
    let head = classify(&repo);
    is(&head, HeadKind::Commit, false);
    assert_eq!(head.references.reverted, None);
    let said = |part: &str| head.evidence.iter().any(|why| why.contains(part));
    assert!(
        said("no replay proves any of 3 commits that it can mean"),
        "{head:#?}"
    );
    // A commit that undoes a change of another branch is not a revert.
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["revert", "--no-edit", "HEAD"]);
    repo.git(&["commit", "-q", "--amend", "-m", "Revert \"another\""]);
    let head = classify(&repo);
    is(&head, HeadKind::Commit, false);
}

#[test]
fn the_revert_of_a_forges_merge_is_found_by_its_number() {
    let repo = forked();
    let kept = id(&repo, "HEAD");
    repo.git(&[
        "merge",
        "-q",
        "-m",
        "Merge pull request #8 from a/b\n\nTitle",
        "side",
    ]);
    let merge = id(&repo, "HEAD");
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["revert", "--no-edit", "-m", "1", "HEAD~1"]);
    reword(&repo, "Revert \"Title\"\n\nReverts a/b#8");
    let head = classify(&repo);
    is(&head, HeadKind::Revert, true);
    assert_eq!(head.references.reverted, Some(merge));
    assert_eq!(head.references.reverted_parent, Some(kept));
}

#[test]
fn a_pick_is_known_by_author_and_date() {
    let repo = forked();
    repo.git(&["cherry-pick", "side"]);
    let head = classify(&repo);
    is(&head, HeadKind::CherryPick, true);
    assert_eq!(head.references.picked, Some(id(&repo, "side")));
    assert_eq!(head.references.picked_parent, Some(id(&repo, "side~1")));
    // The original is not a pick of its copy.
    let side = classify_with(&repo, "side", &Hints::default());
    is(&side, HeadKind::Commit, false);
    // Without the search nothing is found.
    let repository = repo.open();
    let revision = repository.head().unwrap();
    let classifier = Classifier::new(&repository, revision.commit).unwrap();
    let head = classifier.without_copies();
    let head = head.classify(revision, &Hints::default()).unwrap();
    is(&head, HeadKind::Commit, false);
    // With another tree it is not a pick.
    repo.write("src/b.py", "b = 3\n");
    repo.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    is(&classify(&repo), HeadKind::Commit, false);
}

#[test]
fn a_reworded_commit_is_no_pick() {
    let repo = forked();
    repo.git(&["branch", "before"]);
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["reset", "-q", "--hard", "before"]);
    reword(&repo, "better words");
    assert_eq!(id(&repo, "HEAD~1"), id(&repo, "before~1"));
    is(&classify(&repo), HeadKind::Commit, false);
}

#[test]
fn a_rebase_is_known_by_authors_and_dates_while_a_reflog_has_the_tip() {
    for commits in [1, 2] {
        let repo = forked();
        repo.git(&["checkout", "-q", "side"]);
        if commits == 2 {
            edit(&repo, "src/deep/c.py", "c = 2\n");
        }
        let tip = id(&repo, "side");
        repo.git(&["checkout", "-q", "main"]);
        edit(&repo, "d.py", "d = 1\n");
        repo.git(&["checkout", "-q", "side"]);
        repo.git(&["rebase", "-q", "main"]);
        let head = classify(&repo);
        is(&head, HeadKind::Rebase, true);
        assert_eq!(head.references.pre_rebase_tip, Some(tip));
        assert_eq!(head.references.onto, Some(id(&repo, "main")));
        // A commit that a branch still has was picked from there, as far as anyone can tell.
        repo.git(&["branch", "kept", &tip.to_string()]);
        let head = classify(&repo);
        is(&head, HeadKind::CherryPick, true);
        assert_eq!(head.references.picked, Some(tip));
        repo.git(&["branch", "-q", "-D", "kept"]);
        // Another clone of the branch before the rebase still has it.
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        is(&classify(&repo), HeadKind::Commit, false);
        repo.git(&["update-ref", "refs/remotes/origin/side", &tip.to_string()]);
        is(&classify(&repo), HeadKind::Rebase, true);
    }
}

#[test]
fn a_rebase_with_an_edit_on_the_way_is_no_proof() {
    let repo = forked();
    repo.git(&["checkout", "-q", "side"]);
    edit(&repo, "src/deep/c.py", "c = 2\n");
    let tip = id(&repo, "side");
    repo.git(&["checkout", "-q", "main"]);
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["checkout", "-q", "side"]);
    let edit_first = "test -e done || { touch done; echo b = 5 > src/b.py; \
                      git commit -q -a --amend --no-edit; }";
    repo.git(&["rebase", "-q", "--exec", edit_first, "main"]);
    let head = classify(&repo);
    // The last commit is the same change; the one before it is not.
    is(&head, HeadKind::CherryPick, true);
    assert_eq!(head.references.picked, Some(tip));
    is(
        &classify_with(&repo, "HEAD~1", &Hints::default()),
        HeadKind::Commit,
        false,
    );
}

#[test]
fn looking_for_copies_makes_no_reflog() {
    let repo = forked();
    repo.git(&["tag", "v1"]);
    repo.git(&["update-ref", "refs/pull/1/head", "side"]);
    repo.git(&["cherry-pick", "side"]);
    let before = bytes(&repo);
    is(&classify(&repo), HeadKind::CherryPick, true);
    assert_eq!(bytes(&repo), before);
}

/// Names and bytes of the whole git directory, without time stamps.
pub(super) fn bytes(repo: &Repo) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = repo.git_directory().into_iter();
    files.map(|(path, (_, content))| (path, content)).collect()
}

#[test]
fn replays_leave_the_repository_as_it_was() {
    let repo = Repo::new();
    let lines = |first, last| format!("{first}\n1\n2\n3\n4\n5\n6\n7\n{last}\n");
    edit(&repo, "a.py", &lines("a", "z"));
    repo.git(&["checkout", "-q", "-b", "side"]);
    edit(&repo, "a.py", &lines("b", "z"));
    repo.git(&["checkout", "-q", "main"]);
    edit(&repo, "a.py", &lines("a", "y"));
    // The repository does not contain the clean merge of `a.py`.
    repo.git(&["merge", "-q", "--no-commit", "-s", "ours", "side"]);
    repo.commit();
    let before = bytes(&repo);
    is(&classify(&repo), HeadKind::Merge, false);
    assert_eq!(bytes(&repo), before);
}
