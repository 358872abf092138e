//! Property tests: each strategy against an oracle that knows nothing of
//! matrices, sets or differences.
//!
//! The world of the oracle: a state gives each unit a value, a test reads some
//! units, and its outcome is a function of what it read. A skip is wrong if
//! running the test at the head would give another outcome than the one that
//! the skip reuses.

use std::collections::BTreeSet;

use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, proptest};
use proptest::strategy::Strategy as Generator;

use crate::matrix::{Header, Key, Matrix, MatrixBuilder, RowFacts, Run, TestId, UnitRef, What};
use crate::select::samples::evidence;
use crate::select::*;

const UNITS: usize = 8;
const TESTS: usize = 6;

/// The value of each unit; `None`: cannot be told, `Some(9)`: late.
type State = Vec<u8>;

/// Pairs of a condition and the unit that is read when it holds.
type Branches = Vec<(usize, usize)>;

/// A program: which units each test reads, depending on what it read before.
#[derive(Clone, Debug)]
struct Program {
    /// By test: the units that it always reads, and pairs (when unit `a` is
    /// odd, it reads unit `b` as well).
    tests: Vec<(BTreeSet<usize>, Branches)>,
}

impl Program {
    /// The units that a test reads at `state`, and its outcome: a digest of
    /// all that it read, so that any difference shows.
    fn run(&self, test: usize, state: &State) -> (BTreeSet<usize>, u64) {
        let (always, branches) = &self.tests[test];
        let mut read = always.clone();
        for (condition, target) in branches {
            if read.contains(condition) && state[*condition] % 2 == 1 {
                read.insert(*target);
            }
        }
        let digest = read.iter().fold(7u64, |sum, unit| {
            sum.wrapping_mul(31)
                .wrapping_add(*unit as u64 * 16 + u64::from(state[*unit]))
        });
        (read, digest)
    }
}

fn programs() -> impl Generator<Value = Program> {
    let reads = prop::collection::btree_set(0..UNITS, 0..4);
    let branches = prop::collection::vec((0..UNITS, 0..UNITS), 0..3);
    prop::collection::vec((reads, branches), TESTS).prop_map(|tests| Program { tests })
}

fn states(count: usize) -> impl Generator<Value = Vec<State>> {
    prop::collection::vec(prop::collection::vec(0u8..3, UNITS), count)
}

fn unit(at: usize) -> Unit {
    Unit::at(format!("u{at}"), What::File)
}

fn value(state: &State, at: usize) -> Fingerprint {
    match state[at] {
        0 => Fingerprint::MISSING,
        other => Fingerprint([other; 16]),
    }
}

fn outcome(digest: u64) -> Outcome {
    match digest % 5 {
        0 => Outcome::Failed,
        1 => Outcome::Skipped,
        _ => Outcome::Passed,
    }
}

/// What running everything at `state` records.
fn recorded(program: &Program, state: &State, incomplete: &BTreeSet<usize>) -> Matrix {
    let mut builder = MatrixBuilder::new(header());
    for test in 0..TESTS {
        let (read, digest) = program.run(test, state);
        let known: Vec<UnitRef> = read
            .iter()
            .map(|at| builder.unit(unit(*at), value(state, *at)).unwrap())
            .collect();
        // Two overlapping sets, as shared imports and own code are.
        let half = builder.group(known[..known.len() / 2].to_vec());
        let all = builder.group(known);
        let facts = RowFacts {
            own: None,
            test: TestId::Test(name(test)),
            outcome: outcome(digest),
            duration_ms: 1,
            position: test as u32,
            incomplete: incomplete
                .contains(&test)
                .then(|| "by the property".to_owned()),
            run: 0,
            selected: true,
        };
        builder.row(facts, [half, all]).unwrap();
    }
    builder.finish()
}

fn name(test: usize) -> String {
    format!("t.py::test_{test}")
}

fn header() -> Header {
    Header {
        key: Key {
            repository: String::new(),
            suite: "s".into(),
            environment: "e".into(),
        },
        commit: "0".repeat(40),
        tree: "0".repeat(40),
        dirty: Vec::new(),
        created: 0,
        tool: "0".into(),
        run: "r".into(),
        shard: None,
        runs: vec![Run {
            id: "r".into(),
            commit: "0".repeat(40),
            tree: "0".repeat(40),
            dirty: false,
            chose: false,
        }],
        strategy: "all".into(),
        baselines: Vec::new(),
        command: Vec::new(),
        tests: 0,
        ran: 0,
    }
}

fn differences_by_hand(matrix: &Matrix, head: &State, late: &BTreeSet<usize>) -> Differences {
    let mut found = Differences::default();
    for (id, (known, recorded)) in matrix.units.iter().enumerate() {
        let at: usize = known.path[1..]
            .iter()
            .fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        if late.contains(&at) {
            found.late.push(id as u32);
        } else if value(head, at) != *recorded {
            found.changed.insert(id as u32, value(head, at));
        }
    }
    found
}

/// Checks a skip against running the test at the head.
fn check_skip(program: &Program, test: usize, head: &State, evidence: &Evidence) {
    let late_holds = evidence.late.iter().all(|(known, recorded)| {
        (0..UNITS).any(|at| unit(at) == *known && value(head, at) == *recorded)
    });
    if late_holds {
        let (_, digest) = program.run(test, head);
        assert_eq!(
            evidence.outcome,
            outcome(digest),
            "test {test} was left out but now ends differently"
        );
        assert!(evidence.outcome.is_good());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn tts_is_safe_and_no_larger_than_needed(
        program in programs(),
        states in states(2),
        late in prop::collection::btree_set(0..UNITS, 0..2),
        incomplete in prop::collection::btree_set(0..TESTS, 0..2),
    ) {
        let (then, head) = (&states[0], &states[1]);
        let matrix = recorded(&program, then, &incomplete);
        let verdicts = tts(&matrix, "m", &differences_by_hand(&matrix, head, &late));
        for (row, verdict) in matrix.rows.iter().zip(verdicts) {
            let test: usize = row.test.test().unwrap()["t.py::test_".len()..].parse().unwrap();
            let (read, digest) = program.run(test, then);
            let usable = outcome(digest).is_good() && !incomplete.contains(&test);
            let same = read
                .iter()
                .all(|at| late.contains(at) || value(then, *at) == value(head, *at));
            prop_assert_eq!(matches!(verdict, Verdict::Skip(_)), usable && same);
            if let Verdict::Skip(evidence) = &verdict {
                prop_assert_eq!(
                    evidence.late.len(),
                    read.intersection(&late).count(),
                    "each late unit of the row must be checked later"
                );
                check_skip(&program, test, head, evidence);
            }
        }
    }

    #[test]
    fn memo_is_safe_and_selects_no_more_than_any_baseline_alone(
        program in programs(),
        states in states(4),
        incomplete in prop::collection::btree_set(0..TESTS, 0..2),
    ) {
        let head = &states[3];
        let matrices: Vec<Matrix> = states[..3]
            .iter()
            .map(|state| recorded(&program, state, &incomplete))
            .collect();
        let verdicts: Vec<Vec<Verdict>> = matrices
            .iter()
            .map(|matrix| tts(matrix, "m", &differences_by_hand(matrix, head, &BTreeSet::new())))
            .collect();
        for test in 0..TESTS {
            let of_test = |at: usize| -> &Verdict {
                let rows = &matrices[at].rows;
                let row = rows.iter().position(|row| row.test == TestId::Test(name(test))).unwrap();
                &verdicts[at][row]
            };
            let nearest = Nearest { verdict: Some(of_test(0)), has_same_files: false };
            let all = (0..matrices.len()).map(|at| Some(of_test(at)));
            let proof = choose(nearest, all);
            if let Some(Proof::Source(at)) = proof {
                let Verdict::Skip(evidence) = of_test(at) else {
                    panic!("a verdict to run is no proof");
                };
                check_skip(&program, test, head, evidence);
            }
            let last = of_test(0);
            let is_barred = matches!(last, Verdict::Run(reason) if !reason.is_about_units());
            let excused = (0..matrices.len()).any(|at| matches!(of_test(at), Verdict::Skip(_)));
            prop_assert_eq!(proof.is_some(), !is_barred && excused);
        }
    }
}

#[test]
fn a_test_that_failed_last_runs_whatever_older_results_say() {
    let failed = Verdict::Run(Reason::Failed {
        outcome: Outcome::Failed,
        baseline: "m".into(),
    });
    let passed = Verdict::Skip(evidence());
    let ask = |verdict, has_same_files| {
        let nearest = Nearest {
            verdict,
            has_same_files,
        };
        choose(nearest, [None, Some(&passed)].into_iter())
    };
    assert_eq!(ask(Some(&failed), false), None);
    assert_eq!(ask(Some(&failed), true), None);
    assert_eq!(ask(None, false), Some(Proof::Source(1)));
    assert_eq!(ask(Some(&passed), false), Some(Proof::Source(1)));
    assert_eq!(ask(Some(&passed), true), Some(Proof::Nearest));
}
