//! Random suites with planted redundancy: what composed tests do never differs from what their
//! tests do.

use proptest::prelude::*;

use super::toy::{Line, Mutant, lines_of, outcome, watched};
use crate::minimise::{Limits, differs, reorganise};

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        3 => (name(), 0..3i64).prop_map(|(x, n)| Line::New(x, n)),
        1 => (name(), name()).prop_map(|(x, y)| Line::Same(x, y)),
        2 => (name(), name(), name()).prop_map(|(x, y, z)| Line::Plus(x, y, z)),
        2 => (name(), 1..3i64).prop_map(|(x, n)| Line::Grow(x, n)),
        1 => (name(), name()).prop_map(|(x, y)| Line::Value(x, y)),
        1 => (name(), 0..3i64).prop_map(|(x, n)| Line::Number(x, n)),
    ]
}

/// Lines that run, with assertions of what they find: `checks` tells after which lines, and of
/// which variable.
fn test(lines: Vec<Line>, checks: &[(usize, usize)]) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        found.push(line);
        if watched("t", &found).is_none() {
            found.pop();
            continue;
        }
        for (_, which) in checks.iter().filter(|(after, _)| *after == at) {
            let name = ["a", "b", "c"][which % 3].to_owned();
            let value = (-20..200).find(|value| {
                let check = Line::Assert(name.clone(), *value);
                watched("t", &[&found[..], &[check]].concat()).is_some()
            });
            found.extend(value.map(|value| Line::Assert(name, value)));
        }
    }
    found
}

fn suite() -> impl Strategy<Value = Vec<Vec<Line>>> {
    let starts = prop::collection::vec(prop::collection::vec(line(), 1..5), 1..3);
    let rest = (0..2usize, prop::collection::vec(line(), 0..5));
    let checks = prop::collection::vec((0..9usize, 0..3usize), 0..5);
    let tests = prop::collection::vec((rest, checks, 0..6usize), 2..6);
    (starts, tests).prop_map(|(starts, tests)| {
        let made = tests.into_iter().map(|((start, rest), checks, turn)| {
            let start = starts[start % starts.len()].clone();
            let lines = [start, rest].concat();
            // The same under other names.
            let lines = lines.iter().map(|line| turned(line, turn));
            test(lines.collect(), &checks)
        });
        made.collect()
    })
}

fn turned(line: &Line, turn: usize) -> Line {
    let orders = ["abc", "abc", "abc", "bca", "cab", "bac"];
    let names = "abc".chars().zip(orders[turn].chars());
    line.renamed(&names.map(|(from, to)| (from.into(), to.into())).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn behaviour_never_changes(suite in suite(), at_most in 2..5usize, prefix: bool) {
        let tests: Vec<_> = suite
            .iter()
            .enumerate()
            .map(|(at, lines)| watched(&format!("test_{at}"), lines).unwrap())
            .collect();
        let limits = Limits { at_most, only_common_prefix: prefix };
        let found = reorganise(&tests, limits);
        let mut joined = Vec::new();
        for composed in &found {
            prop_assert!((2..=at_most).contains(&composed.tests.len()));
            joined.extend(composed.tests.iter().copied());
            let lines = lines_of(composed, &suite);
            let own: Vec<&Vec<Line>> = composed.tests.iter().map(|at| &suite[*at]).collect();
            // Something goes, and it is no assertion.
            let all: usize = own.iter().map(|lines| lines.len()).sum();
            prop_assert!(lines.len() < all);
            let checks = |lines: &[Line]| {
                let is_check = |line: &&Line| matches!(line, Line::Assert(..));
                lines.iter().filter(is_check).count()
            };
            prop_assert_eq!(checks(&lines), own.iter().map(|lines| checks(lines)).sum::<usize>());
            // It passes, and calls the same.
            let (passes, calls) = outcome(&lines, Mutant::None);
            prop_assert!(passes, "{:?}", lines);
            let mut then = std::collections::BTreeSet::new();
            for lines in &own {
                then.extend(outcome(lines, Mutant::None).1);
            }
            prop_assert_eq!(calls, then);
            let ran = watched("composed", &lines).unwrap();
            prop_assert_eq!(differs(&tests, composed, &ran), None);
            // What some of the tests find, it finds.
            let mutants = [Mutant::Plus, Mutant::PlusGrows].into_iter()
                .chain((0..4).flat_map(|n| [Mutant::New(n), Mutant::Grow(n), Mutant::Value(n)]));
            for mutant in mutants {
                let finds = own.iter().any(|lines| !outcome(lines, mutant).0);
                if finds {
                    prop_assert!(!outcome(&lines, mutant).0, "{:?} {:?}", mutant, lines);
                }
            }
        }
        joined.sort_unstable();
        let count = joined.len();
        joined.dedup();
        prop_assert_eq!(joined.len(), count);
    }
}
