//! Small matrices for tests: fixed ones and random ones.

use bstr::BString;
use proptest::prelude::*;

use super::{
    CellValue, Classes, Finds, Fingerprint, Header, Holder, InClass, Inner, Key, Matrix,
    MatrixBuilder, Note, Outcome, Own, ReadBefore, Reads, RowFacts, Run, TestId, Unit, Values,
    What,
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
        chose: false,
    };
    Header {
        key: key(),
        commit: run.commit.clone(),
        tree: run.tree.clone(),
        dirty: vec![(BString::from(b"caf\xe9.txt"), Fingerprint([7; 16]))],
        created: 1_790_000_000,
        tool: "0.1.0".into(),
        run: run.id.clone(),
        shard: None,
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
        own: None,
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
            let code = What::Code(format!("f{n}").into());
            let unit = Unit::at(format!("src/m{}.py", n / 2), code);
            builder.unit(unit, Fingerprint([n; 16])).unwrap()
        })
        .collect();
    let shared = builder.group(shared);
    for test in 0..tests {
        let print = if test % 3 == 0 { state } else { 0 };
        let file = Unit::at(format!("data/{test}.json"), What::File);
        let own = [
            builder.unit(file, Fingerprint([print; 16])).unwrap(),
            builder
                .unit(Unit::of(What::Env("HOME".into())), Fingerprint::MISSING)
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

/// What any unit may be about, with names that people may give, and whether it
/// has a path.
fn any_what() -> impl Strategy<Value = (What, bool)> {
    let class = "[a-b/$é]{0,3}";
    let method = "[f-g<>();#~ ]{0,4}";
    let words = || proptest::collection::vec("[a-b*é.\"]{0,3}", 0..3);
    let bare = vec![
        What::File,
        What::UntrackedFile,
        What::AuditedFile,
        What::Exists,
        What::UntrackedExists,
        What::Listing,
        What::Written,
        What::Lookup,
        What::Dir,
        What::Skeleton,
        What::Effects,
        What::Classes(Classes::All),
        What::Classes(Classes::ForOthers),
        What::Classes(Classes::MayBeTests),
        What::Plugins,
        What::StartUp,
        What::AllEnv,
    ];
    let named: [fn(String) -> What; 11] = [
        |name| What::Code(name.into()),
        |name| What::Binding(name.into()),
        |name| What::Presence(name.into()),
        |name| What::Class(name.into()),
        |name| What::Dist(name.into()),
        |name| What::Runtime(name.into()),
        |name| What::Env(name.into()),
        |name| What::RunnerConfig(name.into()),
        |name| What::Shape(name.into()),
        |name| What::Reached(name.into()),
        |name| What::Line(name.into()),
    ];
    let named = (0..named.len(), "[a-bé][a-b.é]{0,2}|").prop_map(move |(at, name)| named[at](name));
    let in_class: [fn(InClass) -> What; 4] =
        [What::Method, What::Member, What::Overrides, What::Nest];
    let in_class = (0..in_class.len(), class, method)
        .prop_map(move |(at, class, rest)| in_class[at](InClass::new(&class, &rest)));
    let notes = (0..Note::ALL.len(), "[a-bé][a-b.é]{0,2}|")
        .prop_map(|(at, of)| What::Note(Note::ALL[at], of.into()));
    let kept = words().prop_map(|kept| What::KeptConfig(kept.into()));
    let finds = (words(), proptest::option::of(words()), words());
    let finds = finds.prop_map(|(names, places, others)| {
        What::Finds(Box::new(Finds {
            names,
            places,
            others,
        }))
    });
    let why = "[a-bé ]{0,4}".prop_map(|why| What::NotOfSources(why.into()));
    let other = "[a-bé ]{0,4}".prop_map(|text| What::Other(text.into()));
    prop_oneof![
        4 => proptest::sample::select(bare).prop_map(|what| (what, true)),
        4 => named.prop_map(|what| (what, true)),
        2 => in_class.prop_map(|what| (what, true)),
        2 => notes.prop_map(|what| (what, true)),
        1 => kept.prop_map(|what| (what, true)),
        1 => other.prop_map(|what| (what, true)),
        1 => finds.prop_map(|what| (what, false)),
        1 => why.prop_map(|what| (what, false)),
        1 => Just((What::OfSources, false)),
        1 => Just((What::Options, false)),
    ]
}

/// Any unit, at a path if it has one.
pub(crate) fn any_unit() -> impl Strategy<Value = Unit> {
    let path = proptest::collection::vec(any::<u8>(), 1..4);
    (any_what(), path).prop_map(|((what, has_path), path)| match has_path {
        true => Unit::at(path, what),
        false => Unit::of(what),
    })
}

/// Any sound values of a few cells.
pub(crate) fn any_values() -> impl Strategy<Value = Values> {
    let value = prop_oneof![
        any::<[u8; 16]>().prop_map(|print| CellValue::Is(Fingerprint(print))),
        "[a0]{0,3}|[0-9]{32}".prop_map(CellValue::Opaque),
    ];
    let cells = proptest::collection::btree_map("[xé.\"]{0,2}", value, 0..4);
    let holders = proptest::collection::btree_map("[m:C*]{0,2}", ("[ab/]{0,2}", cells), 0..4);
    (holders, any::<bool>()).prop_map(|(holders, is_reversed)| {
        let holders = holders.into_iter().map(|(name, (path, cells))| Holder {
            name,
            path,
            cells: cells.into_iter().collect(),
        });
        let mut holders: Vec<Holder> = holders.collect();
        if is_reversed {
            holders.reverse();
        }
        Values {
            holders,
            ties: None,
        }
    })
}

/// Any sound matrix of a few units, sets and rows.
pub(crate) fn any_matrix() -> impl Strategy<Value = Matrix> {
    let units = proptest::collection::btree_map(any_unit(), any::<[u8; 16]>(), 0..12);
    let sets = proptest::collection::vec(proptest::collection::btree_set(0u32..12, 0..12), 0..6);
    let own = proptest::option::of((any::<u8>(), any::<[bool; 3]>()));
    let row = (
        (proptest::collection::btree_set(0u32..6, 0..5), own),
        (0usize..8, any::<u32>(), any::<u32>()),
        (proptest::option::of("[xyü ]{0,5}"), 0u32..2, any::<bool>()),
    );
    let rows = proptest::collection::btree_map("[ab\\[\\]:é\n]{0,5}", row, 0..8);
    (units, sets, rows, proptest::option::of(any_values())).prop_map(
        |(units, sets, rows, values)| {
            let units: Vec<_> = units
                .into_iter()
                .map(|(unit, print)| (unit, Fingerprint(print)))
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
                    |(
                        test,
                        ((ids, own), (outcome, duration_ms, position), (incomplete, run, selected)),
                    )| {
                        let ids = below(ids, sets.len());
                        let own = own.map(|(some, [anything, annotations, docstrings])| Own {
                            sets: ids
                                .iter()
                                .copied()
                                .filter(|id| some >> id & 1 == 1)
                                .collect(),
                            reads: Reads {
                                anything,
                                annotations,
                                docstrings,
                                past: [ReadBefore::No, ReadBefore::Named, ReadBefore::Unnamed]
                                    [outcome % 3],
                            },
                            inner: (some > 127).then(|| Inner {
                                sets: ids
                                    .iter()
                                    .copied()
                                    .filter(|id| some >> id & 2 == 2)
                                    .collect(),
                                others: ids.clone(),
                                reads: Reads::default(),
                            }),
                        });
                        crate::matrix::Row {
                            own,
                            test: TestId::read(&test).to_owned(),
                            sets: ids,
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
            Matrix {
                values,
                header: header(),
                units,
                sets,
                rows,
            }
        },
    )
}
