//! Which tests read and write which state [B 3.1-3.3].

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::Suite;
use super::dependences::DataEdge;
use super::suite::Test;

/// A test reads or writes a cell: state that outlives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Access {
    pub(crate) test: String,
    pub(crate) cell: String,
    pub(crate) does: Does,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Does {
    /// It reads what others left there.
    Reads,
    /// It leaves something there.
    Writes,
}

/// Who reads and writes which state, with the cells of which nobody knows who reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accesses {
    pub(crate) known: BTreeSet<Access>,
    /// Settings of the process: any test may read them.
    pub(crate) by_anyone: BTreeSet<String>,
}

/// How an earlier and a later test touch the same cell [B 3].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EdgeKind {
    /// The later reads what the earlier wrote last.
    ReadAfterWrite,
    /// The later overwrites what the earlier read.
    WriteAfterRead,
    /// The later overwrites what the earlier wrote.
    WriteAfterWrite,
}

/// A data dependence in the default order: `later` depends on `earlier`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) earlier: Test,
    pub(crate) later: Test,
    pub(crate) cell: String,
    pub(crate) kind: EdgeKind,
}

/// All accesses of a suite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    readers: BTreeMap<String, BTreeSet<Test>>,
    writers: BTreeMap<String, BTreeSet<Test>>,
    /// Cells that any test may read.
    by_anyone: BTreeSet<String>,
    /// Pairs of a writer and another test that reads what it writes.
    feeds: FxHashSet<(Test, Test)>,
}

impl Data {
    /// Accesses of tests that are not in the suite are left out.
    pub(crate) fn new(suite: &Suite, accesses: Accesses) -> Data {
        let mut data = Data {
            by_anyone: accesses.by_anyone,
            ..Data::default()
        };
        for access in accesses.known {
            let Some(test) = suite.find(&access.test) else {
                continue;
            };
            let side = match access.does {
                Does::Reads => &mut data.readers,
                Does::Writes => &mut data.writers,
            };
            side.entry(access.cell).or_default().insert(test);
        }
        for (cell, writers) in &data.writers {
            for reader in data.readers.get(cell).into_iter().flatten() {
                let others = writers.iter().filter(|writer| *writer != reader);
                data.feeds.extend(others.map(|writer| (*writer, *reader)));
            }
        }
        data
    }

    /// Pairs of a writer and another test that reads what it writes, whichever comes first; of
    /// cells that any test may read, pairs of writers.
    pub(super) fn pairs(&self) -> FxHashSet<(Test, Test)> {
        let mut pairs = self.feeds.clone();
        for (writer, others) in self.writers_for_anyone() {
            pairs.extend(others.into_iter().map(|other| (writer, other)));
        }
        pairs
    }

    /// Each test that writes cells which any test may read, with the other tests that write
    /// one of these.
    pub(super) fn writers_for_anyone(&self) -> BTreeMap<Test, BTreeSet<Test>> {
        let mut others: BTreeMap<Test, BTreeSet<Test>> = BTreeMap::new();
        for cell in &self.by_anyone {
            let writers = self.writers.get(cell).into_iter().flatten();
            for writer in writers.clone() {
                let others = others.entry(*writer).or_default();
                others.extend(writers.clone().filter(|other| *other != writer));
            }
        }
        others
    }

    pub(super) fn feeds(&self, writer: Test, reader: Test) -> bool {
        let for_anyone = |cell: &String| {
            let writers = self.writers.get(cell);
            writers.is_some_and(|writers| writers.contains(&writer))
        };
        self.feeds.contains(&(writer, reader)) || self.by_anyone.iter().any(for_anyone)
    }

    /// The cells that `writer` writes and `reader` reads, or may read.
    pub(crate) fn between(&self, writer: Test, reader: Test) -> Vec<&str> {
        let written = self
            .writers
            .iter()
            .filter(|(_, tests)| tests.contains(&writer));
        let reads = |cell: &String| {
            let readers = self.readers.get(cell);
            readers.is_some_and(|readers| readers.contains(&reader))
                || self.by_anyone.contains(cell)
        };
        written
            .filter(|(cell, _)| reads(cell))
            .map(|(cell, _)| cell.as_str())
            .collect()
    }

    /// The cells that `reader` reads, or may read, after another test wrote them, with the one
    /// that did so last.
    pub(crate) fn before(&self, reader: Test) -> Vec<(&str, Test)> {
        let reads = |cell: &String| {
            let readers = self.readers.get(cell);
            readers.is_some_and(|readers| readers.contains(&reader))
                || self.by_anyone.contains(cell)
        };
        let written = self.writers.iter().filter(|(cell, _)| reads(cell));
        let last = written.filter_map(|(cell, tests)| {
            let last = tests.range(..reader).next_back();
            Some((cell.as_str(), *last?))
        });
        last.collect()
    }

    /// The cells that a dependence is about, and the dependences, as they are stored.
    pub(crate) fn stored(&self) -> (Vec<String>, Vec<DataEdge>) {
        let edges = self.edges();
        let names: BTreeSet<&String> = edges.iter().map(|edge| &edge.cell).collect();
        let places: BTreeMap<&String, u32> = names.iter().copied().zip(0..).collect();
        let stored = edges.iter().map(|edge| DataEdge {
            earlier: edge.earlier,
            later: edge.later,
            cell: places[&edge.cell],
            kind: edge.kind,
        });
        let stored = stored.collect();
        (names.into_iter().cloned().collect(), stored)
    }

    /// The data dependences between tests that run in their default order [B 3]: a read
    /// depends on the last write before it, and so does a write; a write depends on the
    /// reads since.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        let cells: BTreeSet<&String> = self.readers.keys().chain(self.writers.keys()).collect();
        let mut edges = Vec::new();
        let none = BTreeSet::new();
        for cell in cells {
            let readers = self.readers.get(cell).unwrap_or(&none);
            let writers = self.writers.get(cell).unwrap_or(&none);
            let touching: BTreeSet<Test> = readers.union(writers).copied().collect();
            let (mut last_writer, mut read_since) = (None, Vec::new());
            for later in touching {
                let mut edge = |earlier, kind| {
                    let cell = cell.clone();
                    edges.push(Edge {
                        earlier,
                        later,
                        cell,
                        kind,
                    });
                };
                if readers.contains(&later) {
                    if let Some(writer) = last_writer {
                        edge(writer, EdgeKind::ReadAfterWrite);
                    }
                    read_since.push(later);
                }
                if writers.contains(&later) {
                    if let Some(writer) = last_writer {
                        edge(writer, EdgeKind::WriteAfterWrite);
                    }
                    for reader in read_since.drain(..).filter(|reader| *reader != later) {
                        edge(reader, EdgeKind::WriteAfterRead);
                    }
                    last_writer = Some(later);
                }
            }
        }
        edges.sort();
        edges
    }
}
