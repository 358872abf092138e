//! Finding the stored matrix that is nearest to the head.

use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::Result;

use super::shelf::Shelf;
use crate::history::{Repository, View};
use crate::matrix::{Header, MatrixView};
use crate::store::{Name, Trouble};

/// How far back an ancestor with a matrix is looked for.
pub(super) const MOST_ANCESTORS: usize = 20_000;

/// A stored matrix that a selection may rely on.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub name: Name,
    pub matrix: Rc<MatrixView>,
    pub place: Place,
}

/// How a matrix lies to the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its files are the head's, wherever it was recorded.
    SameFiles,
    /// On the head or an ancestor of it.
    Ancestor,
    /// Somewhere else.
    Elsewhere,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub baseline: Option<Baseline>,
    /// Why there is none, in words.
    pub none_because: String,
    pub trouble: Vec<Trouble>,
}

/// The usable matrix nearest to the head of `view`: one of the same files
/// wherever it was recorded, else that on the nearest ancestor (the head
/// itself first), else the most recent one of any history, since a row is
/// proof wherever it was recorded.
///
/// `wanted` says whether a matrix is about this suite and environment, `is_ours`
/// whether it is of this repository at all.
///
/// # Errors
/// If the history cannot be read.
pub(super) fn find_baseline(
    repository: &Repository,
    shelf: &Shelf<'_>,
    view: &View,
    wanted: impl Fn(&Header) -> bool,
    is_ours: impl Fn(&Header) -> bool,
) -> Result<Search> {
    let mut search = Search {
        trouble: shelf.trouble.clone(),
        ..Search::default()
    };
    let stored = shelf.headers().len();
    let mut by_commit: BTreeMap<&str, Vec<&(Name, Header)>> = BTreeMap::new();
    let mut same: Vec<&(Name, Header)> = Vec::new();
    let tree = view.revision().tree.to_string();
    for found in shelf.headers() {
        let header = &found.1;
        if wanted(header) {
            by_commit.entry(&header.commit).or_default().push(found);
            if header.tree == tree {
                if same.is_empty() {
                    // Most likely the one: read while the disk is looked at.
                    let _ = shelf.load(&found.0);
                }
                if header.dirty == view.dirty()? {
                    same.push(found);
                }
            }
        }
    }
    if by_commit.is_empty() {
        search.none_because = match (stored, search.trouble.len()) {
            (0, 0) => "nothing is recorded yet".to_owned(),
            (0, _)
                if search
                    .trouble
                    .iter()
                    .any(|trouble| trouble.path == shelf.dir()) =>
            {
                "the store cannot be read".to_owned()
            }
            (0, refused) => format!("all {refused} stored matrices are unreadable"),
            _ => format!("nothing is recorded for {}", what_lacks(shelf, is_ours)),
        };
        return Ok(search);
    }
    search.baseline = load_best(shelf, same, Place::SameFiles, &mut search.trouble);
    if search.baseline.is_some() {
        return Ok(search);
    }
    let ancestors = repository.ancestors(view.revision().commit);
    for ancestor in ancestors.take(MOST_ANCESTORS) {
        let ancestor = ancestor?;
        if let Some(found) = by_commit.remove(ancestor.commit.to_string().as_str())
            && let Some(baseline) = load_best(shelf, found, Place::Ancestor, &mut search.trouble)
        {
            search.baseline = Some(baseline);
            return Ok(search);
        }
    }
    let rest: Vec<&(Name, Header)> = by_commit.into_values().flatten().collect();
    search.baseline = load_best(shelf, rest, Place::Elsewhere, &mut search.trouble);
    if search.baseline.is_none() {
        search.none_because = "no stored matrix can be read".to_owned();
    }
    Ok(search)
}

/// What no stored matrix is about, in words.
fn what_lacks(shelf: &Shelf<'_>, is_ours: impl Fn(&Header) -> bool) -> &'static str {
    match shelf.headers().iter().any(|(_, header)| is_ours(header)) {
        true => "this suite and environment",
        false => "this repository: the store is of another one",
    }
}

/// The most recent of `found` that can be read. Its age decides what is
/// compared first, never what is proof.
fn load_best(
    shelf: &Shelf<'_>,
    mut found: Vec<&(Name, Header)>,
    place: Place,
    trouble: &mut Vec<Trouble>,
) -> Option<Baseline> {
    found.sort_by(|(a_name, a), (b_name, b)| {
        (b.created, &b.run, b_name).cmp(&(a.created, &a.run, a_name))
    });
    for (name, _) in found {
        match shelf.load(name) {
            Ok(matrix) => {
                return Some(Baseline {
                    name: *name,
                    matrix,
                    place,
                });
            }
            Err(refusal) => {
                let new = shelf.trouble_with(name, refusal);
                if !trouble.contains(&new) {
                    trouble.push(new);
                }
            }
        }
    }
    None
}
