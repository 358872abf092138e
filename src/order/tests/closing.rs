//! Selections with what they need.

use std::collections::BTreeSet;

use proptest::prelude::{
    Just, ProptestConfig, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::strategy::Strategy as Generator;

use super::world::{Act, CELLS, Lives, World, detect, numbers, options};
use crate::matrix::Outcome;
use crate::order::closure::Brought;
use crate::order::*;

/// Tests that look at one cell, then set some.
fn worlds() -> impl Generator<Value = World> {
    let looks = prop_oneof![
        2 => Just(None),
        1 => (0..3usize).prop_map(|cell| Some(Act::EndIf((cell, 1), Outcome::Failed))),
        1 => (0..3usize).prop_map(|cell| Some(Act::EndUnless((cell, 1), Outcome::Failed))),
    ];
    let sets = prop::option::of((0..3usize, 0..2u8));
    let test = (looks, sets).prop_map(|(looks, sets)| match (looks, sets) {
        // What one looks at and fails is not set as well: that would be a chain.
        (Some(look), _) => vec![look],
        (None, sets) => sets
            .into_iter()
            .map(|(cell, value)| Act::Set(cell, value))
            .collect(),
    });
    let tests = prop::collection::vec(test, 1..=7);
    let together = prop_oneof![2 => Just(usize::MAX), 1 => 2usize..4];
    let lives = prop_oneof![2 => Just(Lives::Process), 1 => Just(Lives::Scope)];
    let cells = prop::collection::vec(lives, CELLS);
    (tests, together, cells).prop_map(|(tests, together, cells)| World {
        tests,
        together,
        cells: cells.try_into().unwrap(),
    })
}

fn seconds(suite: &Suite) -> Vec<f64> {
    (0..suite.len()).map(|at| at as f64).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_closed_selection_ends_as_the_whole(world in worlds(), chosen in 0u32..128) {
        let (found, _) = detect(&world, Strategy::Within(3));
        let suite = world.suite();
        let whole: Vec<usize> = (0..suite.len()).collect();
        let reference = world.run(&whole);
        let selected: BTreeSet<Test> = (0..suite.len() as Test).filter(|at| chosen >> at & 1 == 1).collect();
        let closed = Manifest::new(&suite, &found, seconds(&suite)).close(&selected);
        prop_assert!(selected.is_subset(&closed.tests));
        prop_assert_eq!(closed.tests.len(), selected.len() + closed.brought.len());
        let part: Vec<usize> = closed.tests.iter().map(|test| *test as usize).collect();
        for (test, word) in part.iter().zip(world.run(&part)) {
            let is_doubted = closed.doubts.contains(&(*test as Test));
            prop_assert!(is_doubted || word == reference[*test], "{} in {:?}: {:?}", test, part, closed);
        }
    }
}

#[test]
fn the_last_answer_of_a_search_counts() {
    // With two tests nothing is left to ask for when the finding is confirmed.
    let needs = vec![Act::EndUnless((1, 1), Outcome::Failed)];
    let world = World::of(vec![vec![Act::Set(1, 1)], needs]);
    let mut search = Witness::new(world.suite(), options(Strategy::Auto), 1, &[1]);
    world.search(&mut search);
    assert!(search.found().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_a_part_lacks_is_found_and_helps(world in worlds(), chosen in 0u32..128) {
        let suite = world.suite();
        let whole: Vec<usize> = (0..suite.len()).collect();
        let reference = world.run(&whole);
        let part: Vec<usize> = whole.iter().copied().filter(|at| chosen >> at & 1 == 1).collect();
        let selected: Vec<Test> = part.iter().map(|at| *at as Test).collect();
        for (at, word) in part.iter().zip(world.run(&part)) {
            if word == Some(Outcome::Passed) || reference[*at] != Some(Outcome::Passed) {
                continue;
            }
            let test = *at as Test;
            let mut search = Witness::new(suite.clone(), options(Strategy::Auto), test, &selected);
            world.search(&mut search);
            prop_assert!(search.found().is_some(), "t{} of {:?}", at, part);
            let found = search.search().found();
            let ran = selected.iter().copied().filter(|other| *other <= test).collect();
            let closed = Manifest::new(&suite, &found, seconds(&suite)).close(&ran);
            let order: Vec<usize> = closed.tests.iter().map(|one| *one as usize).collect();
            prop_assert_eq!(world.last(&order), reference[*at], "{:?}", closed);
            prop_assert!(!closed.brought.is_empty());
        }
    }
}

#[test]
fn what_depends_on_one_another_stays_together() {
    let set = vec![Act::Set(0, 1)];
    let needs = vec![Act::EndUnless((0, 1), Outcome::Failed)];
    let pollutes = vec![Act::Set(1, 1)];
    let victim = vec![Act::EndIf((1, 1), Outcome::Failed)];
    let world = World::of(vec![set, needs, victim, pollutes, vec![]]);
    let (found, _) = detect(&world, Strategy::Pairs);
    assert_eq!(found.dependent.len(), 2);
    let suite = world.suite();
    let manifest = Manifest::new(&suite, &found, vec![1.0; 5]);
    // The polluter runs behind its victim.
    assert_eq!(manifest.together(), [BTreeSet::from([0, 1])]);
    let all: BTreeSet<Test> = (0..5).collect();
    assert_eq!(manifest.relied_on(&all), [0, 3].into());
    assert_eq!(manifest.relied_on(&[0, 4].into()), [].into());
}

#[test]
fn the_cheapest_setter_is_brought() {
    let set = vec![Act::Set(0, 1)];
    let needs = vec![Act::EndUnless((0, 1), Outcome::Failed)];
    let world = World::of(vec![set.clone(), vec![], set, needs]);
    let (found, _) = detect(&world, Strategy::Pairs);
    let suite = world.suite();
    let manifest = Manifest::new(&suite, &found, vec![3.0, 1.0, 9.0, 1.0]);
    let closed = manifest.close(&[3].into());
    let brought = Brought {
        test: 0,
        because: Because::SetsUp(3),
    };
    assert_eq!(
        (closed.brought, closed.doubts),
        (vec![brought], BTreeSet::new())
    );
    // One that is there costs nothing.
    assert_eq!(manifest.close(&[2, 3].into()).brought, []);
    assert_eq!(manifest.close(&[1].into()).brought, []);
}

#[test]
fn a_polluter_and_its_victim_bring_a_cleaner() {
    let world = World::of(vec![
        vec![Act::Set(0, 1)],
        vec![Act::Set(0, 0)],
        vec![Act::EndIf((0, 1), Outcome::Failed)],
    ]);
    let (found, _) = detect(&world, Strategy::Auto);
    let suite = world.suite();
    let manifest = Manifest::new(&suite, &found, vec![1.0; 3]);
    let because = Because::Cleans {
        polluter: 0,
        victim: 2,
    };
    assert_eq!(
        manifest.close(&[0, 2].into()).brought,
        [Brought { test: 1, because }]
    );
    assert_eq!(manifest.close(&[2].into()).brought, []);
    assert_eq!(manifest.close(&[0].into()).brought, []);
}

/// How each test of `order` ends, by its number.
fn run(world: &World, order: &Order) -> Vec<(usize, Option<Outcome>)> {
    let order = numbers(order);
    order.iter().copied().zip(world.run(&order)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn on_each_worker_tests_end_as_in_the_whole(
        world in worlds(),
        workers in 1usize..4,
        policy in prop::sample::select(vec![
            Policy::Chains, Policy::Greedy, Policy::Speculative, Policy::LikelyFailures,
        ]),
        likely in prop::collection::vec(0u32..7, 0..3),
    ) {
        let (found, _) = detect(&world, Strategy::Within(3));
        let suite = world.suite();
        let manifest = Manifest::new(&suite, &found, seconds(&suite));
        let plan = schedule(&suite, &manifest, workers, policy, &likely);
        prop_assert_eq!(plan.workers.len(), workers);
        let ran: usize = plan.workers.iter().map(Vec::len).sum();
        let distinct: BTreeSet<&String> = plan.workers.iter().flatten().collect();
        prop_assert_eq!((distinct.len(), ran - distinct.len()), (suite.len(), plan.repeated));
        prop_assert!(plan.repeated == 0 || policy == Policy::Greedy);
        let reference = world.run(&(0..suite.len()).collect::<Vec<_>>());
        let again: BTreeSet<&String> = plan.again.iter().filter_map(|order| order.last()).collect();
        for order in &plan.workers {
            let part: BTreeSet<Test> = order.iter().filter_map(|id| suite.find(id)).collect();
            let doubts = manifest.close(&part).doubts;
            for (test, word) in run(&world, order) {
                let is_known = word == reference[test] || again.contains(&format!("t{test}"));
                prop_assert!(is_known || doubts.contains(&(test as Test)), "{} in {:?}", test, order);
            }
        }
        for order in &plan.again {
            let (test, word) = run(&world, order).pop().unwrap();
            prop_assert_eq!(word, reference[test]);
        }
        let chains = schedule(&suite, &manifest, workers, Policy::Chains, &[]);
        prop_assert!(policy != Policy::Greedy || plan.seconds <= chains.seconds);
    }
}

#[test]
fn a_short_setter_runs_on_each_worker() {
    // The example of [B 3.4]: ten tests need a short one.
    let mut tests = vec![vec![Act::Set(0, 1)]];
    tests.extend(vec![vec![Act::EndUnless((0, 1), Outcome::Failed)]; 10]);
    let world = World::of(tests);
    let (found, _) = detect(&world, Strategy::Auto);
    let suite = world.suite();
    let mut seconds = vec![600.0; 11];
    seconds[0] = 30.0;
    let manifest = Manifest::new(&suite, &found, seconds);
    let plan = |policy| schedule(&suite, &manifest, 10, policy, &[]);
    assert_eq!(
        (plan(Policy::Chains).seconds, plan(Policy::Chains).repeated),
        (6030.0, 0)
    );
    assert_eq!(
        (plan(Policy::Greedy).seconds, plan(Policy::Greedy).repeated),
        (630.0, 9)
    );
    // Nine of them have the setter on another worker.
    assert_eq!(plan(Policy::Speculative).again.len(), 9);
}

#[test]
fn likely_failures_come_first() {
    let world = World {
        together: 2,
        ..World::of(vec![vec![]; 8])
    };
    let (found, _) = detect(&world, Strategy::Isolate);
    let suite = world.suite();
    let manifest = Manifest::new(&suite, &found, vec![1.0; 8]);
    let plan = schedule(&suite, &manifest, 1, Policy::LikelyFailures, &[5, 2]);
    assert_eq!(numbers(&plan.workers[0]), [4, 5, 2, 3, 0, 1, 6, 7]);
}
