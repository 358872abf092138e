//! Rows with a part of their own against an oracle that runs the tests: state made by
//! import-time code reaches them only by values.

use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::strategy::Strategy as Generator;

use crate::matrix::samples::{facts, header};
use crate::matrix::{
    CellValue, Holder, Matrix, MatrixBuilder, Own, Reads, RowFacts, TestId, UnitRef, Values, What,
};
use crate::select::*;

const UNITS: usize = 6;
const CELLS: usize = 3;
const TESTS: usize = 4;

/// The value of each unit.
type State = Vec<u8>;

/// What import-time code makes of some units, and what tests read of that and of others.
#[derive(Clone, Debug)]
struct Program {
    /// By cell: the units of the code that fills it.
    makers: Vec<BTreeSet<usize>>,
    /// By test: the units that it runs itself, and the cells that it reads.
    tests: Vec<(BTreeSet<usize>, BTreeSet<usize>)>,
}

impl Program {
    /// What a cell holds: often the same for other code.
    fn cell(&self, cell: usize, state: &State) -> u8 {
        self.makers[cell].iter().map(|at| state[*at]).sum::<u8>() % 2
    }

    /// All that a test sees, in order.
    fn run(&self, test: usize, state: &State) -> Vec<u8> {
        let (own, cells) = &self.tests[test];
        let own = own.iter().map(|at| state[*at]);
        let cells = cells.iter().map(|cell| self.cell(*cell, state));
        own.chain(cells).collect()
    }

    /// The units of a test's row beyond its own.
    fn others(&self, test: usize) -> BTreeSet<usize> {
        let cells = self.tests[test].1.iter();
        cells.flat_map(|cell| self.makers[*cell].clone()).collect()
    }
}

fn programs() -> impl Generator<Value = Program> {
    let units = || prop::collection::btree_set(0..UNITS, 0..3);
    let makers = prop::collection::vec(units(), CELLS);
    let cells = prop::collection::btree_set(0..CELLS, 0..3);
    let tests = prop::collection::vec((units(), cells), TESTS);
    (makers, tests).prop_map(|(makers, tests)| Program { makers, tests })
}

fn unit(at: usize) -> Unit {
    Unit::at(format!("u{at}.py"), What::Effects)
}

fn value(state: &State, at: usize) -> Fingerprint {
    Fingerprint([state[at]; 16])
}

fn name(test: usize) -> String {
    format!("t.py::test_{test}")
}

fn recorded(program: &Program, state: &State, with: &BTreeSet<usize>, values: bool) -> Matrix {
    let mut builder = MatrixBuilder::new(header());
    for test in 0..TESTS {
        let group = |builder: &mut MatrixBuilder, units: &BTreeSet<usize>| {
            let known: Vec<UnitRef> = units
                .iter()
                .map(|at| builder.unit(unit(*at), value(state, *at)).unwrap())
                .collect();
            builder.group(known)
        };
        let own = group(&mut builder, &program.tests[test].0);
        let others = group(&mut builder, &program.others(test));
        let own_part = Own {
            sets: vec![own],
            reads: Reads::default(),
            inner: None,
        };
        let facts = RowFacts {
            own: with.contains(&test).then_some(own_part),
            ..facts(&name(test))
        };
        builder.row(facts, [own, others]).unwrap();
    }
    builder.values(values.then(no_values));
    builder.finish()
}

/// Comparing them is not selection's.
fn no_values() -> Values {
    Values {
        holders: vec![Holder {
            name: "m".into(),
            path: String::new(),
            cells: vec![("c".into(), CellValue::Opaque("for a test".into()))],
        }],
        ties: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_not_a_tests_own_is_left_to_values_and_nothing_else_is(
        program in programs(),
        states in prop::collection::vec(prop::collection::vec(0u8..3, UNITS), 2),
        (late, unknown) in (
            prop::collection::btree_set(0..UNITS, 0..2),
            prop::collection::btree_set(0..UNITS, 0..2),
        ),
        (with, values) in (prop::collection::btree_set(0..TESTS, 0..TESTS), any::<bool>()),
    ) {
        let (then, head) = (&states[0], &states[1]);
        let matrix = recorded(&program, then, &with, values);
        let mut found = Differences::default();
        let number = |at: usize| {
            let units = matrix.units.iter();
            { units }.position(|(known, _)| *known == unit(at)).map(|id| id as u32)
        };
        for (at, id) in (0..UNITS).filter_map(|at| Some((at, number(at)?))) {
            if late.contains(&at) {
                found.late.push(id);
            } else if unknown.contains(&at) {
                found.unknown.insert(id, "for a test".to_owned());
            } else if value(then, at) != value(head, at) {
                found.changed.insert(id, value(head, at));
            }
        }
        let changed = |units: &BTreeSet<usize>| {
            units.iter().any(|at| number(*at).is_some_and(|id| found.changed.contains_key(&id)))
        };
        for (row, verdict) in matrix.rows.iter().zip(tts(&matrix, "m", &found)) {
            let test = (0..TESTS).find(|test| TestId::Test(name(*test)) == row.test).unwrap();
            let (own, others) = (&program.tests[test].0, program.others(test));
            let is_told = own.union(&others).all(|at| late.contains(at) || !unknown.contains(at));
            let counts = match values && with.contains(&test) {
                true => changed(own),
                false => changed(own) || changed(&others),
            };
            let expected = match (counts, is_told, changed(&others)) {
                (true, _, _) => "changed",
                (false, false, _) => "unknown",
                (false, true, true) => "unconfirmed",
                (false, true, false) => "",
            };
            let kind = match &verdict {
                Verdict::Run(reason) => reason.kind(),
                Verdict::Skip(_) => "",
            };
            prop_assert_eq!(kind, expected);
            let late_of = own.union(&others).filter(|at| late.contains(at));
            let late_of: Vec<_> = late_of.map(|at| (unit(*at), value(then, *at))).collect();
            let holds = late_of.iter().all(|(known, recorded)| {
                (0..UNITS).any(|at| unit(at) == *known && value(head, at) == *recorded)
            });
            let cells = &program.tests[test].1;
            let is_equal = cells.iter().all(|c| program.cell(*c, then) == program.cell(*c, head));
            match &verdict {
                Verdict::Run(Reason::Changed { unit: named, from, to, .. }) => {
                    prop_assert!(from != to);
                    let is_in_row = own.union(&others).any(|at| unit(*at) == *named);
                    prop_assert!(is_in_row);
                    if values && with.contains(&test) {
                        prop_assert!(own.iter().any(|at| unit(*at) == *named));
                    }
                }
                Verdict::Run(Reason::Unconfirmed { unit: named, from, to, late, .. }) => {
                    prop_assert!(from != to);
                    prop_assert!(others.difference(own).any(|at| unit(*at) == *named));
                    prop_assert_eq!(&late[..], &late_of[..]);
                    // What confirming comes to: then it must see what it saw.
                    if is_equal && holds {
                        prop_assert_eq!(program.run(test, then), program.run(test, head));
                    }
                }
                Verdict::Run(_) => {}
                Verdict::Skip(evidence) => {
                    prop_assert_eq!(&evidence.late[..], &late_of[..]);
                    if holds {
                        prop_assert_eq!(program.run(test, then), program.run(test, head));
                    }
                }
            }
        }
    }
}

#[test]
fn which_tests_there_are_is_never_left_to_values() {
    let mut builder = MatrixBuilder::new(header());
    let known = builder.unit(unit(0), Fingerprint([1; 16])).unwrap();
    let (own, others) = (builder.group([]), builder.group([known]));
    for test in [TestId::Collection, TestId::from("t.py::t")] {
        let own = Own {
            sets: vec![own],
            reads: Reads::default(),
            inner: None,
        };
        let facts = RowFacts {
            own: Some(own),
            test,
            ..facts("")
        };
        builder.row(facts, [others]).unwrap();
    }
    builder.values(Some(no_values()));
    let mut found = Differences::default();
    found.changed.insert(0, Fingerprint([2; 16]));
    let kinds = tts(&builder.finish(), "m", &found)
        .into_iter()
        .map(|verdict| match verdict {
            Verdict::Run(reason) => reason.kind(),
            Verdict::Skip(_) => "",
        });
    assert_eq!(kinds.collect::<Vec<_>>(), ["changed", "unconfirmed"]);
}

#[test]
fn a_test_that_must_run_is_not_left_to_values() {
    let mut selection = Selection::all(Strategy::Auto, "");
    let reason = Reason::Unconfirmed {
        unit: unit(0),
        from: Fingerprint([1; 16]),
        to: Fingerprint([2; 16]),
        baseline: "m".into(),
        late: [].into(),
        by: By::Imports,
    };
    for test in ["a.py::t", "b.py::t"] {
        let verdict = Verdict::Run(reason.clone());
        selection.verdicts.insert(test.into(), verdict);
    }
    selection.force("a.py", |test| test.starts_with("a.py"));
    let kinds = selection.selected().map(|(_, reason)| reason.kind());
    assert_eq!(kinds.collect::<Vec<_>>(), ["forced", "unconfirmed"]);
}
