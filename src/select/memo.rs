//! The memo strategy: any stored row that holds at the head is proof.

use super::Verdict;

/// S^|N| of [G 4.2.2] for one test: skip iff a stored row of it holds at h.
///
/// `others` are the verdicts of [`super::tts`] between other stored matrices
/// and h, the newest first; the answer names which of them is the proof.
/// `nearest` is the verdict of the nearest matrix, if that knows the test. A
/// test whose last known result was not a good one, or may be incomplete, runs
/// whatever older results say.
pub fn memo<'v>(
    nearest: Option<&Verdict>,
    others: impl Iterator<Item = (usize, &'v Verdict)>,
) -> Option<usize> {
    match nearest {
        Some(Verdict::Run(reason)) if !reason.is_about_units() => return None,
        Some(Verdict::Skip(_)) => return None,
        Some(Verdict::Run(_)) | None => {}
    }
    let mut proof = None;
    for (at, verdict) in others {
        match verdict {
            Verdict::Skip(evidence) if evidence.late.is_empty() => return Some(at),
            // One with nothing left open would be better; look on.
            Verdict::Skip(_) => proof = proof.or(Some(at)),
            Verdict::Run(_) => {}
        }
    }
    proof
}
