//! Values for tests.

use super::Evidence;
use crate::matrix::Outcome;

/// A proof with nothing special about it.
pub(crate) fn evidence() -> Evidence {
    Evidence {
        baseline: "b".into(),
        revision: "c".into(),
        ran_at: "c".into(),
        outcome: Outcome::Passed,
        units: 1,
        late: [].into(),
        is_open: false,
        duration_ms: 1,
    }
}
