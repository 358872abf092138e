//! Suites with a planted dependence of each kind.

use super::world::{Act, World, detect, numbers, options};
use crate::matrix::Outcome;
use crate::order::*;

fn polluter() -> Vec<Act> {
    vec![Act::Set(0, 1)]
}

fn cleaner() -> Vec<Act> {
    vec![Act::Set(0, 0)]
}

fn victim() -> Vec<Act> {
    vec![Act::EndIf((0, 1), Outcome::Failed)]
}

fn brittle(cell: usize) -> Vec<Act> {
    vec![Act::EndUnless((cell, 1), Outcome::Failed)]
}

fn setter(cell: usize) -> Vec<Act> {
    vec![Act::Set(cell, 1)]
}

fn quiet(count: usize) -> Vec<Vec<Act>> {
    vec![Vec::new(); count]
}

fn witnesses(dependent: &Dependent) -> Vec<Vec<usize>> {
    dependent
        .witnesses
        .iter()
        .map(|order| numbers(order))
        .collect()
}

#[test]
fn a_victim_and_its_polluter() {
    let mut tests = quiet(40);
    tests[7] = victim();
    tests[30] = polluter();
    let (found, orders) = detect(&World::of(tests), Strategy::Auto);
    let [dependent] = &found.dependent[..] else {
        panic!("{found:?}");
    };
    assert_eq!(dependent.kind, Kind::Victim);
    assert_eq!(witnesses(dependent), [[30, 7]]);
    assert!(dependent.cleaners.is_empty() && !dependent.masked);
    assert_eq!(orders.len(), found.covered.orders);
}

#[test]
fn a_cleaner_that_stands_between() {
    let mut tests = quiet(40);
    tests[3] = polluter();
    tests[20] = cleaner();
    tests[33] = victim();
    let (found, _) = detect(&World::of(tests), Strategy::Auto);
    let [dependent] = &found.dependent[..] else {
        panic!("{found:?}");
    };
    assert_eq!(witnesses(dependent), [[3, 33]]);
    assert_eq!(numbers(&dependent.cleaners), [20]);
}

#[test]
fn two_setters_are_needed() {
    let mut tests = quiet(40);
    tests[3] = setter(1);
    tests[20] = setter(2);
    tests[33] = [brittle(1), brittle(2)].concat();
    let (found, _) = detect(&World::of(tests), Strategy::Auto);
    let [dependent] = &found.dependent[..] else {
        panic!("{found:?}");
    };
    assert_eq!((dependent.kind, dependent.masked), (Kind::Brittle, true));
    assert_eq!(witnesses(dependent)[0], [3, 20, 33]);
}

#[test]
fn several_polluters_are_all_named() {
    let mut tests = quiet(30);
    tests[2] = victim();
    for at in [9, 15, 28] {
        tests[at] = polluter();
    }
    let (found, _) = detect(&World::of(tests), Strategy::Auto);
    let mut witnesses = witnesses(&found.dependent[0]);
    witnesses.sort();
    assert_eq!(witnesses, [[9, 2], [15, 2], [28, 2]]);
}

#[test]
fn a_setter_that_a_polluter_undoes() {
    let mut tests = quiet(20);
    tests[4] = setter(0);
    tests[10] = brittle(0);
    tests[12] = cleaner();
    let (found, _) = detect(&World::of(tests), Strategy::Auto);
    let [dependent] = &found.dependent[..] else {
        panic!("{found:?}");
    };
    assert_eq!(dependent.kind, Kind::Both);
    assert_eq!(witnesses(dependent), [vec![4, 10], vec![4, 12, 10]]);
}

#[test]
fn all_polluters_and_cleaners_of_one_test() {
    let mut tests = quiet(40);
    tests[3] = victim();
    tests[10..25].fill(polluter());
    tests[30..38].fill(cleaner());
    let world = World::of(tests);
    let mut search = Detect::of_one(world.suite(), options(Strategy::Auto), 3, Vec::new());
    world.search(&mut search);
    let found = search.found();
    let [dependent] = &found.dependent[..] else {
        panic!("{found:?}");
    };
    let mut witnesses = witnesses(dependent);
    witnesses.sort();
    assert_eq!(witnesses, (10..25).map(|at| [at, 3]).collect::<Vec<_>>());
    assert_eq!(numbers(&dependent.cleaners), (30..38).collect::<Vec<_>>());
    assert_eq!(dependent.reference, Some(Outcome::Passed));
    assert!(dependent.confirmed.fresh);
}

/// A world with a test that flips every so many times that it runs.
struct Flipping {
    world: World,
    test: usize,
    every: usize,
    runs: usize,
}

impl Flipping {
    fn search(&mut self, search: &mut Detect) {
        while let Some(step) = search.next() {
            let mut ended = self.world.ended(&step);
            if numbers(&step.order).contains(&self.test) {
                self.runs += 1;
                if self.runs.is_multiple_of(self.every) {
                    ended
                        .outcomes
                        .insert(format!("t{}", self.test), Outcome::Failed);
                }
            }
            search.observe(&step, &ended);
        }
    }
}

#[test]
fn a_test_that_flips_is_never_dependent() {
    for every in [2, 3, 4, 5, 7, 11] {
        let world = World::of(quiet(12));
        let mut search = Detect::new(world.suite(), options(Strategy::Auto));
        let mut flipping = Flipping {
            world,
            test: 5,
            every,
            runs: 0,
        };
        flipping.search(&mut search);
        let found = search.found();
        assert_eq!(found.dependent, [], "every {every}");
        assert_eq!(found.flaky, ["t5"], "every {every}");
    }
}

#[test]
fn what_only_forks_show_is_unconfirmed() {
    let mut tests = quiet(8);
    tests[2] = victim();
    tests[5] = polluter();
    let (forked, fresh) = (World::of(tests), World::of(quiet(8)));
    let mut search = Detect::new(forked.suite(), options(Strategy::Auto));
    while let Some(step) = search.next() {
        let world = match step.process {
            Process::Forked => &forked,
            Process::Fresh => &fresh,
        };
        search.observe(&step, &world.ended(&step));
    }
    let found = search.found();
    assert_eq!(found.dependent, []);
    assert_eq!(found.unconfirmed[0].reason, Doubt::Fresh);
    assert_eq!(numbers(&found.unconfirmed[0].order), [5, 2]);
}

#[test]
fn asked_again_it_names_the_same_order() {
    let mut search = Detect::new(World::of(quiet(3)).suite(), options(Strategy::Auto));
    assert_eq!(search.next(), search.next());
}

#[test]
fn data_dependences_narrow_the_search() {
    let mut tests = quiet(60);
    tests[3] = polluter();
    tests[20] = cleaner();
    tests[33] = victim();
    let world = World::of(tests);
    let access = |test: usize, does| Access {
        test: format!("t{test}"),
        cell: "m:x".to_owned(),
        does,
    };
    let accesses = [
        access(3, Does::Writes),
        access(20, Does::Writes),
        access(33, Does::Reads),
    ];
    let suite = world.suite();
    let data = Data::new(&suite, known(accesses));
    let kinds: Vec<(Test, Test, EdgeKind)> = data
        .edges()
        .iter()
        .map(|e| (e.earlier, e.later, e.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            (3, 20, EdgeKind::WriteAfterWrite),
            (20, 33, EdgeKind::ReadAfterWrite)
        ]
    );
    for strategy in [Strategy::Cover, Strategy::Data] {
        let options = Options {
            data: Some(data.clone()),
            ..options(strategy)
        };
        let mut search = Detect::new(suite.clone(), options);
        world.search(&mut search);
        let found = search.found();
        assert_eq!(witnesses(&found.dependent[0]), [[3, 33]]);
        assert_eq!(found.dependent[0].cells, ["m:x"]);
        assert!(found.covered.executions < 800, "{:?}", found.covered);
        let candidates = found.covered.candidates.unwrap();
        assert_eq!((candidates.pairs, candidates.covered), (2, 2));
    }
}

#[test]
fn who_changes_the_process_runs_once_before_all_others() {
    // The first one's file has a cleaner, which runs before the victim in no other order.
    let mut tests = quiet(20);
    tests[4] = polluter();
    tests[5] = cleaner();
    tests[16] = victim();
    let world = World {
        together: 4,
        ..World::of(tests)
    };
    let write = |test: usize| Access {
        test: format!("t{test}"),
        cell: "process#cwd".to_owned(),
        does: Does::Writes,
    };
    let accesses = Accesses {
        known: [write(4), write(5)].into(),
        by_anyone: ["process#cwd".to_owned()].into(),
    };
    let suite = world.suite();
    let options = Options {
        data: Some(Data::new(&suite, accesses)),
        ..options(Strategy::Cover)
    };
    let mut search = Detect::new(suite, options);
    let orders = world.search(&mut search);
    let first = orders.iter().find(|order| order.starts_with(&[4, 6]));
    assert_eq!(first.map(Vec::len), Some(19));
    let found = search.found();
    assert_eq!(witnesses(&found.dependent[0]), [[4, 16]]);
    assert_eq!(found.dependent[0].cells, ["process#cwd"]);
    assert_eq!(
        found.covered.strategies,
        ["default", "isolate", "writers first", "candidates"]
    );
}

#[test]
fn who_changes_the_process_also_runs_directly_before_who_changes_it_too() {
    // The last test overwrites one cell and reads another one.
    let world = World::of(vec![
        [setter(1), polluter()].concat(),
        cleaner(),
        [setter(1), victim()].concat(),
    ]);
    let mut accesses = known(accesses(&world));
    accesses.known.retain(|access| access.does == Does::Writes);
    accesses.by_anyone = accesses.known.iter().map(|one| one.cell.clone()).collect();
    let suite = world.suite();
    let options = Options {
        data: Some(Data::new(&suite, accesses)),
        ..options(Strategy::Cover)
    };
    let mut search = Detect::new(suite, options);
    world.search(&mut search);
    assert_eq!(witnesses(&search.found().dependent[0]), [[0, 2]]);
}

#[test]
fn strategies_are_read_as_they_are_written() {
    for text in [
        "auto", "reverse", "random", "isolate", "pairs", "k=3", "data", "cover",
    ] {
        let strategy: Strategy = text.parse().unwrap();
        assert_eq!(strategy.to_string(), text);
    }
    for text in ["k=0", "k=", "k=x", "all"] {
        assert!(text.parse::<Strategy>().is_err());
    }
}

#[test]
fn a_suite_of_four_hundred_tests_is_explained_by_few_executions() {
    let reader = |at: usize| match at % 3 {
        0 => victim(),
        1 => brittle(1),
        _ => vec![Act::EndIf((2, 1), Outcome::Failed)],
    };
    let mut tests = quiet(400);
    for at in 0..30 {
        tests[5 + at * 13] = reader(at);
    }
    tests[2] = setter(1);
    tests[399] = setter(2);
    tests[111] = polluter();
    tests[301] = polluter();
    let world = World {
        together: 20,
        ..World::of(tests)
    };
    let suite = world.suite();
    let mut options = options(Strategy::Auto);
    options.budget = Budget::usual(&suite);
    let mut search = Detect::new(suite, options);
    let mut explained = None;
    while let Some(step) = search.next() {
        if explained.is_none() && search.phase() == "cover" {
            explained = Some(search.spent().executions);
        }
        search.observe(&step, &world.ended(&step));
    }
    let found = search.found();
    assert_eq!((found.dependent.len(), found.unconfirmed.len()), (30, 0));
    // Twice in their order, alone and reversed are 1,600 of these.
    assert!(explained.unwrap() < 2500, "{explained:?}");
    assert!(found.covered.executions < 10_000, "{:?}", found.covered);
    assert_eq!(found.covered.strategies, ["default", "isolate", "reverse"]);
    let first = &found.dependent[0];
    assert_eq!(witnesses(first), [[111, 5], [301, 5]]);
}

/// What each test of a world reads and writes, whatever it meets there.
/// All readers are known.
pub(super) fn known(accesses: impl IntoIterator<Item = Access>) -> Accesses {
    Accesses {
        known: accesses.into_iter().collect(),
        ..Accesses::default()
    }
}

/// What the tests of a world read and write.
pub(super) fn accesses(world: &World) -> Vec<Access> {
    let mut all = Vec::new();
    for (at, acts) in world.tests.iter().enumerate() {
        let mut add = |cell: usize, does| {
            let (test, cell) = (format!("t{at}"), format!("cell {cell}"));
            all.push(Access { test, cell, does });
        };
        for act in acts {
            match act {
                Act::Set(cell, _) => add(*cell, Does::Writes),
                Act::SetIf((from, _), (to, _)) => {
                    add(*from, Does::Reads);
                    add(*to, Does::Writes);
                }
                Act::EndIf((cell, _), _) | Act::EndUnless((cell, _), _) => add(*cell, Does::Reads),
            }
        }
    }
    all
}

#[test]
fn data_dependences_are_refined_to_manifest_ones() {
    // [P] figure 5: t1 and t2 need what t0 set up, t2 also what t1 did; t3 only reads, and
    // t4 overwrites.
    let world = World::of(vec![
        setter(0),
        [brittle(0), setter(1)].concat(),
        [brittle(0), brittle(1)].concat(),
        vec![Act::SetIf((1, 2), (3, 1))],
        vec![Act::Set(1, 0)],
    ]);
    let suite = world.suite();
    let data = Data::new(&suite, known(accesses(&world)));
    let options = Options {
        data: Some(data),
        ..options(Strategy::Auto)
    };
    let mut search = Detect::refine(suite, options);
    let orders = world.search(&mut search);
    let manifest = |later, earlier| (later, earlier, Refined::Manifest);
    assert_eq!(
        search.refined(),
        [
            manifest(1, 0),
            // To run the third before the first, the second would have to as well.
            (2, 0, Refined::Untested),
            manifest(2, 1),
            (3, 1, Refined::Benign),
            manifest(4, 2),
            (4, 3, Refined::Benign),
        ]
    );
    let found = search.found();
    let witnesses: Vec<_> = found.dependent.iter().map(witnesses).collect();
    assert_eq!(witnesses[0], [[0, 1]]);
    assert_eq!(witnesses[1][0], [0, 1, 2]);
    assert_eq!(found.covered.strategies, ["default", "refine"]);
    assert!(orders.len() < 60, "{}", orders.len());
}
