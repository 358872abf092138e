//! Several picks in one commit: finds the named commits that give a tree when they are picked
//! one after another.

use super::claims::Claims;
use super::replay::Replayer;
use crate::history::repository::Repository;
use crate::history::{CommitId, TreeId};

/// The most commits that are picked again for one commit.
const MOST_PICKS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    pub commit: CommitId,
    pub before: CommitId,
}

/// The commits that a message names, if picking them onto `onto` gives `tree`, in the order of
/// the message or, as in a log, in reverse. Commits that change nothing are left out; at least
/// two remain.
pub(super) fn together(
    repository: &Repository,
    replayer: &Replayer,
    claims: &Claims,
    (onto, tree): (TreeId, TreeId),
) -> Option<Vec<Pick>> {
    let picked_in_turn = |commits: &[CommitId]| {
        let mut at = onto;
        let mut picks = Vec::new();
        for commit in commits {
            // It is not known which parent of a merge counts.
            let parents = repository.parents(commit).ok()?;
            let [before] = parents.ids[..] else {
                return None;
            };
            let next = replayer.pick_onto(*commit, before, at)?;
            if next != at {
                picks.push(Pick {
                    commit: *commit,
                    before,
                });
            }
            at = next;
        }
        (at == tree && picks.len() > 1).then_some(picks)
    };
    candidates(claims)
        .iter()
        .find_map(|commits| picked_in_turn(commits))
}

/// The lists of commits to try. Trailers in a row may come from one commit that was picked
/// again and again (the newest last), or from several commits. The first case is tried first.
fn candidates(claims: &Claims) -> Vec<Vec<CommitId>> {
    let newest_last = claims.picked.iter().rev().copied().collect();
    let mut lists: Vec<Vec<CommitId>> = Vec::new();
    for list in [
        claims.ends_of_trailers.clone(),
        newest_last,
        claims.listed.clone(),
    ] {
        let turned: Vec<CommitId> = list.iter().rev().copied().collect();
        for list in [list, turned] {
            if (2..=MOST_PICKS).contains(&list.len()) && !lists.contains(&list) {
                lists.push(list);
            }
        }
    }
    lists
}
