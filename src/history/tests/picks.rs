//! Several picks in one commit, made and squashed as people do.

use super::fixture::Repo;
use super::kinds::{bytes, classify, edit, id, is};
use crate::history::{CommitId, Head, HeadKind};

/// `side` edits `src/b.py`, and then again together with `src/deep/c.py`. `main`, which is
/// checked out, edits `a.py`. The two edits in `src/b.py` are next to each other, so that only
/// one order works.
fn two_to_pick() -> (Repo, [CommitId; 2]) {
    let repo = Repo::with_files();
    repo.git(&["checkout", "-q", "-b", "side"]);
    let one = edit(&repo, "src/b.py", "b = 2\n");
    repo.write("src/b.py", "b = 3\n");
    let two = edit(&repo, "src/deep/c.py", "c = 3\n");
    repo.git(&["checkout", "-q", "main"]);
    edit(&repo, "a.py", "a = 2\n");
    (repo, [one, two])
}

fn trailer(commit: CommitId) -> String {
    format!("(cherry picked from commit {commit})")
}

/// Squashes the newest commits into one with this message.
fn squash(repo: &Repo, count: usize, message: &str) {
    repo.git(&["reset", "-q", "--soft", &format!("HEAD~{count}")]);
    repo.git(&["commit", "-q", "-m", message]);
}

#[track_caller]
fn are_picked(head: &Head, commits: &[CommitId], parents: &[CommitId]) {
    is(head, HeadKind::CherryPick, true);
    assert_eq!(head.references.all_picked, commits);
    assert_eq!(head.references.all_picked_parents, parents);
    assert_eq!(head.references.picked, None);
    assert_eq!(head.references.picked_parent, None);
}

#[test]
fn several_picks_squashed_are_replayed_one_after_another() {
    let (repo, [one, two]) = two_to_pick();
    repo.git(&["cherry-pick", "-n", "main..side"]);
    repo.commit();
    let parents = [id(&repo, "side~2"), one];
    let (first, second) = (trailer(one), trailer(two));
    for message in [
        format!("Both\n\n{first}\n{second}"),
        // As in a log, the newest first.
        format!("Both\n\n{second}\n{first}"),
        // As `git rebase --interactive` joins messages.
        format!("a commit\n\n{first}\n\na commit\n\n{second}"),
    ] {
        squash(&repo, 1, &message);
        let before = bytes(&repo);
        are_picked(&classify(&repo), &[one, two], &parents);
        assert_eq!(bytes(&repo), before, "the repository stays as it was");
    }
    // The tree between the two picks never existed.
    let between = format!("{}:src/deep/c.py", id(&repo, "HEAD"));
    assert_ne!(repo.word(&["show", &between]), "c = 1");
}

#[test]
fn git_squashes_picks_itself() {
    let (repo, [one, two]) = two_to_pick();
    repo.git(&["cherry-pick", "-x", &one.to_string(), &two.to_string()]);
    let second = repo.word(&["rev-parse", "--short", "HEAD"]);
    let fixup = format!("GIT_SEQUENCE_EDITOR=\"sed -i 's/pick {second}/squash {second}/'\"");
    let rebase = format!("{fixup} GIT_EDITOR=true git rebase -q -i HEAD~2");
    let done = {
        let mut command = repo.command(&[]);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = std::process::Command::new("sh");
        command.args(["-c", &rebase]).current_dir(&repo.top);
        command.env_clear().envs(environment).output().unwrap()
    };
    assert!(done.status.success(), "{done:?}");
    assert_eq!(id(&repo, "HEAD~1"), id(&repo, "main~1"));
    let parents = [id(&repo, "side~2"), one];
    are_picked(&classify(&repo), &[one, two], &parents);
}

#[test]
fn a_pick_of_a_pick_counts_once() {
    let (repo, [one, two]) = two_to_pick();
    repo.git(&["checkout", "-q", "-b", "release", "main"]);
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["cherry-pick", "-x", &one.to_string()]);
    let again = id(&repo, "HEAD");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["cherry-pick", "-n", &again.to_string(), &two.to_string()]);
    let parents = [id(&repo, "release~1"), one];
    let chain = format!("{}\n{}", trailer(one), trailer(again));
    let message = format!("One\n\n{chain}\n\nTwo\n\n{}", trailer(two));
    repo.git(&["commit", "-q", "-m", &message]);
    are_picked(&classify(&repo), &[again, two], &parents);
    // Without the empty lines this cannot be told; one of the two counts.
    squash(&repo, 1, &format!("All\n\n{chain}\n{}", trailer(two)));
    let parents = [id(&repo, "side~2"), one];
    are_picked(&classify(&repo), &[one, two], &parents);
}

#[test]
fn an_edit_between_or_beside_several_picks_is_no_proof() {
    let (repo, [one, two]) = two_to_pick();
    repo.git(&["cherry-pick", "-n", "main..side"]);
    repo.write("a.py", "a = 9\n");
    repo.git(&["add", "-A"]);
    let message = format!("Both\n\n{}\n{}", trailer(one), trailer(two));
    repo.git(&["commit", "-q", "-m", &message]);
    let head = classify(&repo);
    is(&head, HeadKind::Commit, false);
    assert_eq!(head.references.all_picked, []);
    let said = |commit: CommitId| {
        let words = format!("the message says that {commit} was picked; no replay proves it");
        head.evidence.contains(&words)
    };
    assert!(said(one) && said(two), "{head:#?}");
    // One of the two picks met a conflict.
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    edit(&repo, "src/b.py", "b = 8\n");
    edit(&repo, "src/b.py", "b = 3\n");
    repo.write("src/deep/c.py", "c = 3\n");
    repo.git(&["commit", "-q", "-a", "-m", &message]);
    let head = classify(&repo);
    assert_eq!(head.references.all_picked, [], "{head:#?}");
}

#[test]
fn a_merge_among_several_picks_is_no_proof() {
    let (repo, [one, two]) = two_to_pick();
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["checkout", "-q", "-b", "third", "side~2"]);
    edit(&repo, "e.py", "e = 1\n");
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["merge", "-q", "--no-edit", "third"]);
    let merge = id(&repo, "HEAD");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["cherry-pick", "-n", &one.to_string(), &two.to_string()]);
    repo.git(&["cherry-pick", "-n", "-m", "1", &merge.to_string()]);
    let trailers = [one, two, merge].map(trailer).join("\n");
    repo.git(&["commit", "-q", "-m", &format!("All\n\n{trailers}")]);
    is(&classify(&repo), HeadKind::Commit, false);
}

#[test]
fn a_squash_that_git_lists_names_its_tip() {
    let (repo, [_, tip]) = two_to_pick();
    repo.git(&["merge", "-q", "--squash", "side"]);
    // git's own message stays.
    repo.git(&["commit", "-q", "--no-edit"]);
    let message = repo.word(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("Squashed commit of the following:"));
    let head = classify(&repo);
    is(&head, HeadKind::Squash, true);
    assert_eq!(head.references.squash_tip, Some(tip));
    // Nothing in the list counts without a replay.
    repo.write("d.py", "d = 1\n");
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "--amend", "--no-edit"]);
    is(&classify(&repo), HeadKind::Commit, false);
}

#[test]
fn picks_squashed_from_a_branch_that_is_gone_are_found_by_what_it_picked() {
    let (repo, [one, two]) = two_to_pick();
    repo.git(&["checkout", "-q", "-b", "picking"]);
    repo.git(&["cherry-pick", "-x", &one.to_string(), &two.to_string()]);
    repo.git(&["checkout", "-q", "main"]);
    edit(&repo, "d.py", "d = 1\n");
    repo.git(&["merge", "-q", "--squash", "picking"]);
    repo.git(&["commit", "-q", "--no-edit"]);
    is(&classify(&repo), HeadKind::Squash, true);
    repo.git(&["branch", "-q", "-D", "picking"]);
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    let parents = [id(&repo, "side~2"), one];
    are_picked(&classify(&repo), &[one, two], &parents);
}
