//! Small matrices for tests: fixed ones and random ones.

use bstr::BString;
use proptest::prelude::*;

use super::{
    Fingerprint, Header, Key, Matrix, MatrixBuilder, Outcome, RowFacts, Run, Unit, UnitKind,
};

pub(crate) fn key() -> Key {
    Key {
        repository: "5f".repeat(20),
        suite: "pytest:".into(),
        environment: "cpython-3.11.7-linux-x86_64".into(),
    }
}

pub(crate) fn header() -> Header {
    let run = Run {
        id: "run-1".into(),
        commit: "1".repeat(40),
        tree: "2".repeat(40),
        dirty: true,
    };
    Header {
        key: key(),
        commit: run.commit.clone(),
        tree: run.tree.clone(),
        dirty: vec![(BString::from(b"caf\xe9.txt"), Fingerprint([7; 16]))],
        created: 1_790_000_000,
        tool: "0.1.0".into(),
        run: run.id.clone(),
        runs: vec![
            run.clone(),
            Run {
                id: "run-0".into(),
                dirty: false,
                ..run
            },
        ],
        strategy: "memo".into(),
        baselines: vec!["ab".repeat(32)],
        command: Vec::new(),
        tests: 3,
        ran: 2,
    }
}

pub(crate) fn facts(test: &str) -> RowFacts {
    RowFacts {
        test: test.into(),
        outcome: Outcome::Passed,
        duration_ms: 12,
        position: 0,
        incomplete: None,
        run: 0,
        selected: true,
    }
}

/// A matrix of `tests` tests, each with one shared group and two units of its
/// own; `state` sets the fingerprint of every third unit.
pub(crate) fn small(tests: u32, state: u8) -> Matrix {
    let mut header = header();
    header.created += u64::from(state);
    header.run = format!("run-{state}");
    let mut builder = MatrixBuilder::new(header);
    let shared: Vec<_> = (0..6u8)
        .map(|n| {
            let unit = Unit::new(
                UnitKind::Code,
                format!("src/m{}.py", n / 2),
                format!("f{n}"),
            );
            builder.unit(unit, Fingerprint([n; 16])).unwrap()
        })
        .collect();
    let shared = builder.group(shared);
    for test in 0..tests {
        let print = if test % 3 == 0 { state } else { 0 };
        let file = Unit::new(UnitKind::File, format!("data/{test}.json"), "");
        let own = [
            builder.unit(file, Fingerprint([print; 16])).unwrap(),
            builder
                .unit(Unit::new(UnitKind::Env, "", "HOME"), Fingerprint::MISSING)
                .unwrap(),
        ];
        let own = builder.group(own);
        let facts = RowFacts {
            position: tests - test,
            ..facts(&format!("t.py::test_{test:03}"))
        };
        builder.row(facts, [shared, own]).unwrap();
    }
    builder.finish()
}

/// Any sound matrix of a few units, sets and rows.
pub(crate) fn any_matrix() -> impl Strategy<Value = Matrix> {
    let unit = (
        0usize..13,
        proptest::collection::vec(any::<u8>(), 0..4),
        "[a-bé]{0,3}",
    );
    let units = proptest::collection::btree_map(unit, any::<[u8; 16]>(), 0..12);
    let sets = proptest::collection::vec(proptest::collection::btree_set(0u32..12, 0..12), 0..6);
    let row = (
        proptest::collection::btree_set(0u32..6, 0..5),
        (0usize..8, any::<u32>(), any::<u32>()),
        (proptest::option::of("[xyü ]{0,5}"), 0u32..2, any::<bool>()),
    );
    let rows = proptest::collection::btree_map("[ab\\[\\]:é\n]{0,5}", row, 0..8);
    (units, sets, rows).prop_map(|(units, sets, rows)| {
        let units: Vec<_> = units
            .into_iter()
            .map(|((kind, path, name), print)| {
                (
                    Unit::new(UnitKind::ALL[kind], path, name),
                    Fingerprint(print),
                )
            })
            .collect();
        let below = |ids: std::collections::BTreeSet<u32>, bound: usize| -> Vec<u32> {
            ids.into_iter()
                .filter(|id| (*id as usize) < bound)
                .collect()
        };
        let sets: Vec<_> = sets
            .into_iter()
            .map(|set| below(set, units.len()))
            .collect();
        let rows = rows
            .into_iter()
            .map(
                |(test, (ids, (outcome, duration_ms, position), (incomplete, run, selected)))| {
                    crate::matrix::Row {
                        test,
                        sets: below(ids, sets.len()),
                        outcome: Outcome::ALL[outcome],
                        duration_ms,
                        position,
                        incomplete,
                        run,
                        selected,
                    }
                },
            )
            .collect();
        let mut units = units;
        units.sort();
        Matrix {
            header: header(),
            units,
            sets,
            rows,
        }
    })
}
