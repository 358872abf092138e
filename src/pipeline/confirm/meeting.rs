//! Tests that run beside others that are left out, where no test waits for its turn.
//!
//! They may meet another state than in a run of all tests, and pass for that. So the test process
//! looks at what they read of it.

use super::recorded::{of_others, recorded, ties_of};
use super::{Decision, Planning};

impl<'d> Planning<'d> {
    /// Adds what the nearest record tells of what tests leave that are left out, and all modules: nobody
    /// knows what new tests run, or edited ones.
    pub(super) fn add_meeting(&mut self, decision: &'d Decision) {
        let Some(nearest) = &decision.baseline else {
            return;
        };
        let Ok(matrix) = nearest.matrix.whole() else {
            return;
        };
        let (Some(values), Some(ties)) = (&matrix.values, matrix.ties()) else {
            return;
        };
        let source = self.source(matrix, values);
        for path in source.held {
            self.paths.of(path.into());
        }
        if self.matrices.is_empty() {
            let of_others = of_others(decision, nearest, matrix);
            let ties = ties_of(matrix, ties, of_others, self.benign);
            let mut recorded = recorded(matrix, values, Some(ties));
            // Nobody compares what imports left.
            recorded.holders.clear();
            self.matrices.push(recorded);
            self.records.push(matrix);
        }
    }
}
