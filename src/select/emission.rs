//! A selection as it is handed on: to one machine of several, or to a later step.

use std::collections::BTreeSet;

use super::{Shard, Shards};

/// One part of a division.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub shards: &'a Shards,
    /// From 1.
    pub index: u32,
    /// Tells this division from all others.
    pub plan: &'a str,
    /// Tests of other parts that run here too, since tests of this part need them.
    pub guests: Option<&'a BTreeSet<String>>,
}

impl Part<'_> {
    /// Whether `test` is in this part.
    pub fn has(&self, test: &str) -> bool {
        self.shards.is_in(test, self.index)
    }
}

/// What matters where the test command itself spreads its tests over processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processes {
    /// Sets of tests that end as in the full run only if each set is in one process.
    pub together: Vec<Vec<String>>,
    /// Whether all tests run in one, whatever the command says.
    pub is_one: bool,
}

/// By part, tests of other parts that run there too.
pub(crate) type Guests = Vec<BTreeSet<String>>;

/// A part, and the division that it is one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShardOf {
    pub shard: Shard,
    pub plan: String,
}

/// What was handed on, as read back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions {
    pub tests: BTreeSet<String>,
    /// Those of them that are left out only if nothing else differs where they run.
    pub late: BTreeSet<String>,
    /// The part that it is for; all other tests are left to other parts.
    pub shard: Option<ShardOf>,
}

/// An id on one line: `\\`, `\n` and `\r` are escaped by a backslash.
pub(crate) fn escape(id: &str) -> String {
    id.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}
