//! Finding the stored matrix that is nearest to the head.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::history::{CommitId, Repository};
use crate::matrix::{Header, Matrix};
use crate::store::{FsStore, Name, Trouble};

/// How far back an ancestor with a matrix is looked for.
const MOST_ANCESTORS: usize = 20_000;

/// A stored matrix that a selection may rely on.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub name: Name,
    pub matrix: Matrix,
    /// Commits between it and the head; `None` if it is no ancestor.
    pub distance: Option<u32>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Search {
    pub baseline: Option<Baseline>,
    /// Why there is none, in words.
    pub none_because: String,
    pub trouble: Vec<Trouble>,
}

/// The usable matrix nearest to `head`: on the nearest ancestor (`head`
/// itself first), else the most recent one of any history, since a row is
/// proof wherever it was recorded.
///
/// `wanted` says whether a matrix is about this suite and environment.
///
/// # Errors
/// If the history cannot be read.
pub fn find_baseline(
    repository: &Repository,
    store: &FsStore,
    head: &CommitId,
    wanted: impl Fn(&Header) -> bool,
) -> Result<Search> {
    let (headers, trouble) = store.headers();
    let mut search = Search {
        trouble,
        ..Search::default()
    };
    let stored = headers.len();
    let mut by_commit: BTreeMap<String, Vec<(Name, Header)>> = BTreeMap::new();
    for (name, header) in headers {
        if wanted(&header) {
            by_commit
                .entry(header.commit.clone())
                .or_default()
                .push((name, header));
        }
    }
    if by_commit.is_empty() {
        search.none_because = match (stored, search.trouble.len()) {
            (0, 0) => "nothing is recorded yet".to_owned(),
            (0, refused) => format!("all {refused} stored matrices are unreadable"),
            _ => "nothing is recorded for this suite and environment".to_owned(),
        };
        return Ok(search);
    }
    for ancestor in repository.ancestors(*head).take(MOST_ANCESTORS) {
        let (commit, distance) = ancestor?;
        if let Some(found) = by_commit.remove(&commit.to_string())
            && let Some(baseline) = load_best(store, found, Some(distance), &mut search.trouble)
        {
            search.baseline = Some(baseline);
            return Ok(search);
        }
    }
    let rest: Vec<(Name, Header)> = by_commit.into_values().flatten().collect();
    search.baseline = load_best(store, rest, None, &mut search.trouble);
    if search.baseline.is_none() {
        search.none_because = "no stored matrix can be read".to_owned();
    }
    Ok(search)
}

/// The most recent of `found` that can be read. Its age decides what is
/// compared first, never what is proof.
fn load_best(
    store: &FsStore,
    mut found: Vec<(Name, Header)>,
    distance: Option<u32>,
    trouble: &mut Vec<Trouble>,
) -> Option<Baseline> {
    found.sort_by(|(a_name, a), (b_name, b)| {
        (b.created, &b.run, b_name).cmp(&(a.created, &a.run, a_name))
    });
    for (name, _) in found {
        match store.load(&name) {
            Ok(matrix) => {
                return Some(Baseline {
                    name,
                    matrix,
                    distance,
                });
            }
            Err(refusal) => trouble.push(store.trouble(&name, refusal)),
        }
    }
    None
}
