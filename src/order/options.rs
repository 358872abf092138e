//! What a search is to do, and where it ends.

use super::memory::Spent;
use super::search::Strategy;
use super::{Data, Suite};

/// What a search is to do.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) strategy: Strategy,
    pub(crate) budget: Budget,
    /// Where orders by chance start from.
    pub(crate) seed: u64,
    /// Who reads and writes which state, if that is known.
    pub(crate) data: Option<Data>,
    /// Whether findings are confirmed in fresh processes.
    pub(crate) fresh: bool,
}

/// Where a search ends; what is left out has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Budget {
    /// Tests started.
    pub(crate) executions: Option<usize>,
    /// Wall-clock seconds.
    pub(crate) seconds: Option<f64>,
}

impl Budget {
    /// How many executions a search may take if nobody says: 25 for each test; in a suite of
    /// up to some thirty tests four times their square, which is enough for all pairs.
    pub(crate) fn usual(suite: &Suite) -> Budget {
        let n = suite.len();
        Budget {
            executions: Some((25 * n).max((4 * n * n).min(4000))),
            seconds: None,
        }
    }

    /// Whether `share` of it is spent.
    pub(super) fn is_spent(&self, spent: &Spent, share: f64) -> bool {
        let runs = self
            .executions
            .is_some_and(|most| spent.executions as f64 >= share * most as f64);
        runs || self
            .seconds
            .is_some_and(|most| spent.elapsed >= share * most)
    }
}
