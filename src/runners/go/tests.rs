//! The tests in the sources of a package, and the functions there that each may call.
//!
//! Coverage counters do not count there. A function can only be called by who names it, so what
//! a test may call follows from names. Methods are called by whoever has a value, so these may
//! be called by all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::plan::{Function, GoTest};
use crate::languages::{GoFunction, GoSource};

/// What was found in the sources of a package's tests.
#[derive(Debug, Default)]
pub(super) struct Tests {
    /// In the order in which they run.
    pub tests: Vec<GoTest>,
    /// What any of them may call.
    pub shared: Vec<Function>,
    /// Whether there is a `TestMain`, and whether something comes after the tests there.
    pub has_main: bool,
    pub goes_on: bool,
}

/// The function that runs around all tests.
const MAIN: &str = "TestMain";

/// What names of tests begin with, in the order in which they run.
const KINDS: [&str; 3] = ["Test", "Fuzz", "Example"];

type Files = [(PathBuf, GoSource)];

/// A function: the numbers of its file and in it.
type At = (usize, usize);

impl Tests {
    pub(super) fn find(files: &Files) -> Tests {
        let mut by_name: BTreeMap<&str, Vec<At>> = BTreeMap::new();
        let mut all = Vec::new();
        for (file, (_, source)) in files.iter().enumerate() {
            for (number, function) in source.functions.iter().enumerate() {
                all.push((file, number));
                if !function.is_method {
                    by_name
                        .entry(&function.name)
                        .or_default()
                        .push((file, number));
                }
            }
        }
        let of = |(file, number): At| &files[file].1.functions[number];
        let reach = |starts: Vec<At>, known: &BTreeSet<At>| {
            let mut reached = BTreeSet::new();
            let mut open = starts;
            while let Some(at) = open.pop() {
                if known.contains(&at) || !reached.insert(at) {
                    continue;
                }
                let mentioned = of(at).mentions.iter();
                let mentioned = mentioned.filter_map(|name| by_name.get(name.as_str()));
                open.extend(mentioned.flatten());
            }
            reached
        };
        let outside = files.iter().flat_map(|(_, source)| &source.mentions);
        let outside = outside.filter_map(|name| by_name.get(name.as_str()));
        let mut starts: Vec<At> = outside.flatten().copied().collect();
        starts.extend(
            all.iter()
                .filter(|at| of(**at).is_method || of(**at).name == MAIN),
        );
        let shared = reach(starts, &BTreeSet::new());
        let told = |at: At| Function {
            file: files[at.0].0.clone(),
            name: of(at).name.clone(),
            line: of(at).lines.0,
        };
        let mut found = Tests {
            has_main: all.iter().any(|at| of(*at).name == MAIN),
            goes_on: all
                .iter()
                .any(|at| of(*at).name == MAIN && !of(*at).ends_with_tests),
            shared: shared.iter().copied().map(told).collect(),
            tests: Vec::new(),
        };
        for kind in KINDS {
            for at in &all {
                if !is_test(of(*at), kind) {
                    continue;
                }
                let mut functions: Vec<Function> = vec![told(*at)];
                let reached = reach(vec![*at], &shared);
                let others = reached.into_iter().filter(|other| other != at);
                functions.extend(others.map(told));
                found.add(&of(*at).name, functions);
            }
        }
        found
    }
}

impl Tests {
    /// The package and the one around it can have tests of one name, which run together.
    fn add(&mut self, name: &str, functions: Vec<Function>) {
        match self.tests.iter_mut().find(|test| test.name == name) {
            Some(known) => known.functions.extend(functions),
            None => self.tests.push(GoTest {
                name: name.to_owned(),
                functions,
            }),
        }
    }
}

/// As the `go` command tells.
fn is_test(function: &GoFunction, kind: &str) -> bool {
    let Some(rest) = function.name.strip_prefix(kind) else {
        return false;
    };
    let is_named = !rest.starts_with(char::is_lowercase);
    let is_run = kind != "Example" || function.has_output;
    is_named && is_run && !function.is_method && function.name != MAIN
}

/// Whether a name that a binary lists is that of a test which runs if nobody asks for others.
pub(super) fn is_run(name: &str) -> bool {
    KINDS.iter().any(|kind| name.starts_with(kind))
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn what_a_test_may_call_follows_from_names() {
        let text = b"package p

var made = build(2)

func build(n int) int { return deep(n) }

func deep(n int) int { return n }

func TestB(t *testing.T) { one(t) }

func one(t *testing.T) { two(t) }

func two(t *testing.T) {}

func three(t *testing.T) {}

func FuzzA(f *testing.F) {}

func TestA(t *testing.T) { f := three; f(t) }

func Testing(t *testing.T) {}

func Test(t *testing.T) {}

func BenchmarkA(b *testing.B) {}

func (fake) Close() {}
";
        let other = b"package p_test\n\nfunc Test(t *testing.T) { deep(1); three(t) }\n";
        let files = [
            (PathBuf::from("a_test.go"), GoSource::parse(text, true)),
            (PathBuf::from("b_test.go"), GoSource::parse(other, true)),
        ];
        let found = Tests::find(&files);
        let told = |functions: &[Function]| {
            let names = functions.iter().map(|function| function.name.as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        let tests = found.tests.iter();
        let tests: Vec<String> = tests.map(|test| told(&test.functions)).collect();
        assert_eq!(
            tests,
            [
                "TestB one two",
                "TestA three",
                "Test three Test Test three Test",
                "FuzzA"
            ]
        );
        assert_eq!(told(&found.shared), "build deep fake.Close");
        assert!(!found.has_main);
    }
}
