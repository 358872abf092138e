//! The dependences of a suite as JSON (schema 1, `docs/order.md`), for Graphviz and as a page.

mod dot;
mod page;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::order::{Dependences, Detected, EdgeKind, Kind};

/// Increased when a key changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct GraphJson {
    schema: u32,
    /// HEAD when the orders ran.
    commit: String,
    /// How many tests the suite has.
    tests: usize,
    /// Those that depend on others or that others depend on, in their default order.
    nodes: Vec<String>,
    data: Vec<DataJson>,
    manifest: Vec<ManifestJson>,
}

/// A data dependence of the default order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct DataJson {
    later: String,
    earlier: String,
    cells: Vec<String>,
    kinds: Vec<EdgeKind>,
}

/// A test whose outcome depends on others.
#[derive(Clone, Debug, Serialize)]
struct ManifestJson {
    id: String,
    kind: Kind,
    witnesses: Vec<Vec<String>>,
    cleaners: Vec<String>,
    cells: Vec<String>,
}

impl GraphJson {
    /// Of what is stored; `found` is what of it still stands.
    pub(crate) fn new(known: &Dependences, found: &Detected) -> GraphJson {
        let id = |test: u32| known.tests[test as usize].id.clone();
        let mut edges = known.data.clone();
        edges.sort_by_key(|edge| (edge.later, edge.earlier, edge.cell, edge.kind));
        let mut data: Vec<DataJson> = Vec::new();
        for edge in edges {
            let (later, earlier) = (id(edge.later), id(edge.earlier));
            let cell = &known.cells[edge.cell as usize];
            let is_same = |one: &&mut DataJson| one.later == later && one.earlier == earlier;
            match data.last_mut().filter(is_same) {
                Some(one) => {
                    push(&mut one.cells, cell.clone());
                    push(&mut one.kinds, edge.kind);
                }
                None => data.push(DataJson {
                    later,
                    earlier,
                    cells: vec![cell.clone()],
                    kinds: vec![edge.kind],
                }),
            }
        }
        let manifest: Vec<ManifestJson> = { found.dependent.iter() }
            .map(|one| ManifestJson {
                id: one.id.clone(),
                kind: one.kind,
                witnesses: one.witnesses.clone(),
                cleaners: one.cleaners.clone(),
                cells: one.cells.clone(),
            })
            .collect();
        let of_data = data.iter().flat_map(|edge| [&edge.later, &edge.earlier]);
        let of_found = manifest
            .iter()
            .flat_map(|one| one.witnesses.iter().flatten().chain(&one.cleaners));
        let named: BTreeSet<&String> = of_data.chain(of_found).collect();
        let all = known.tests.iter().map(|test| &test.id);
        GraphJson {
            schema: SCHEMA,
            commit: known.commit.clone(),
            tests: known.tests.len(),
            nodes: all.filter(|id| named.contains(id)).cloned().collect(),
            data,
            manifest,
        }
    }
}

impl ManifestJson {
    /// The tests that its witnesses have before it, each once.
    fn before(&self) -> BTreeSet<&String> {
        let all = self.witnesses.iter().flatten();
        all.filter(|test| **test != self.id).collect()
    }

    fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Victim => "victim",
            Kind::Brittle => "brittle",
            Kind::Both => "both",
        }
    }
}

fn push<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

/// What people read for a kind of data dependence.
fn kind_words(kinds: &[EdgeKind]) -> String {
    let word = |kind: &EdgeKind| match kind {
        EdgeKind::ReadAfterWrite => "reads what it wrote",
        EdgeKind::WriteAfterRead => "overwrites what it read",
        EdgeKind::WriteAfterWrite => "overwrites what it wrote",
    };
    kinds.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(super) fn sample() -> GraphJson {
    let id = |name: &str| format!("test_a.py::test_{name}");
    GraphJson {
        schema: SCHEMA,
        commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        tests: 9,
        nodes: ["sets", "needs", "<b>\"x\"", "clears"].map(id).to_vec(),
        data: vec![
            DataJson {
                later: id("needs"),
                earlier: id("sets"),
                cells: vec!["app.py#CACHE".to_owned()],
                kinds: vec![EdgeKind::ReadAfterWrite],
            },
            DataJson {
                later: id("clears"),
                earlier: id("<b>\"x\""),
                cells: vec!["a&b.txt".to_owned(), "environ[HOME]".to_owned()],
                kinds: vec![EdgeKind::WriteAfterRead, EdgeKind::WriteAfterWrite],
            },
        ],
        manifest: vec![ManifestJson {
            id: id("needs"),
            kind: Kind::Brittle,
            witnesses: vec![vec![id("sets"), id("needs")]],
            cleaners: vec![id("clears")],
            cells: vec!["app.py#CACHE".to_owned()],
        }],
    }
}
