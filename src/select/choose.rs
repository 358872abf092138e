//! One test's verdict from those of the revisions that a rule names.

use super::{Strategy, Verdict};

/// What the nearest recorded revision says of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest<'v> {
    /// Its verdict, if it knows the test.
    pub verdict: Option<&'v Verdict>,
    /// Whether its files are exactly those that tests are selected for.
    pub has_same_files: bool,
}

/// Whose row is the proof that a test need not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The nearest revision's, because its files are the same.
    Nearest,
    /// That of the source with this number.
    Source(usize),
}

/// The proof that lets a test be left out, if there is one.
///
/// `sources` are the verdicts of [`super::tts()`] between the revisions that a
/// rule names and h, the best first. Before them, equal files share results;
/// and a test whose last known result was not a good one, or whose last row
/// may lack units, runs whatever other revisions say.
pub(crate) fn choose<'v>(
    nearest: Nearest<'_>,
    sources: impl Iterator<Item = Option<&'v Verdict>>,
) -> Option<Proof> {
    match nearest.verdict {
        Some(Verdict::Run(reason)) if !reason.is_about_units() => return None,
        Some(Verdict::Skip(_)) if nearest.has_same_files => return Some(Proof::Nearest),
        Some(_) | None => {}
    }
    let mut proof = None;
    for (at, verdict) in sources.enumerate() {
        match verdict {
            Some(verdict) if verdict.is_proven() => {
                return Some(Proof::Source(at));
            }
            // One with nothing left open would be better; look on.
            Some(Verdict::Skip(_)) => proof = proof.or(Some(Proof::Source(at))),
            Some(Verdict::Run(_)) | None => {}
        }
    }
    proof
}

/// How a selection came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// The strategy that was asked for, and the one that was computed.
    pub asked: Strategy,
    pub used: Strategy,
    /// Why the one gave way to the other, a sentence each.
    pub fallbacks: Vec<String>,
    /// Choices and stand-ins on the way, likewise.
    pub notes: Vec<String>,
}

impl Course {
    /// The strategy as asked for.
    pub fn plain(strategy: Strategy) -> Course {
        Course {
            asked: strategy,
            used: strategy,
            fallbacks: Vec::new(),
            notes: Vec::new(),
        }
    }
}
