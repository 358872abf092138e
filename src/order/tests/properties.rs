//! Random suites of up to six tests against all of their orders.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{
    Just, ProptestConfig, TestCaseError, prop, prop_assert, prop_assert_eq, prop_assert_ne,
    prop_assume, prop_oneof, proptest,
};
use proptest::strategy::Strategy as Generator;

use super::examples::{accesses, known};
use super::world::{Act, CELLS, Lives, World, detect, numbers, options};
use crate::matrix::Outcome;
use crate::order::*;

fn acts() -> impl Generator<Value = Act> {
    let cell = || (0..CELLS, 0..3u8);
    let word = prop_oneof![
        6 => Just(Outcome::Failed),
        1 => Just(Outcome::Skipped),
        1 => Just(Outcome::Error),
        1 => Just(Outcome::Crashed),
    ];
    let word = word.boxed();
    prop_oneof![
        3 => cell().prop_map(|(cell, value)| Act::Set(cell, value)),
        2 => (cell(), cell()).prop_map(|(is, then)| Act::SetIf(is, then)),
        2 => (cell(), word.clone()).prop_map(|(is, word)| Act::EndIf(is, word)),
        1 => (cell(), word).prop_map(|(is, word)| Act::EndUnless(is, word)),
    ]
}

fn worlds() -> impl Generator<Value = World> {
    let tests = prop::collection::vec(prop::collection::vec(acts(), 0..4), 1..=6);
    let together = prop_oneof![2 => Just(usize::MAX), 1 => 1usize..4];
    let lives = prop_oneof![2 => Just(Lives::Process), 1 => Just(Lives::Scope)];
    let cells = prop::collection::vec(lives, CELLS);
    (tests, together, cells).prop_map(|(tests, together, cells)| World {
        tests,
        together,
        cells: cells.try_into().unwrap(),
    })
}

/// The same with files among the cells.
fn worlds_with_files() -> impl Generator<Value = World> {
    (worlds(), 0..CELLS, 0..CELLS).prop_map(|(mut world, one, other)| {
        world.cells[one] = Lives::Disk;
        world.cells[other] = Lives::Disk;
        world
    })
}

/// The tests on which files can have an effect, directly or through what other tests set.
fn touched_by_files(world: &World) -> BTreeSet<usize> {
    let is_disk = |cell: &usize| world.cells[*cell] == Lives::Disk;
    let mut cells: BTreeSet<usize> = (0..CELLS).filter(is_disk).collect();
    let mut tests = BTreeSet::new();
    loop {
        let before = (cells.len(), tests.len());
        for (at, acts) in world.tests.iter().enumerate() {
            let looks_at = |act: &Act| match *act {
                Act::Set(..) => None,
                Act::SetIf((cell, _), _) | Act::EndIf((cell, _), _) => Some(cell),
                Act::EndUnless((cell, _), _) => Some(cell),
            };
            if acts
                .iter()
                .filter_map(looks_at)
                .any(|cell| cells.contains(&cell))
            {
                tests.insert(at);
                cells.extend(acts.iter().filter_map(|act| match *act {
                    Act::Set(cell, _) | Act::SetIf(_, (cell, _)) => Some(cell),
                    Act::EndIf(..) | Act::EndUnless(..) => None,
                }));
            }
        }
        if before == (cells.len(), tests.len()) {
            return tests;
        }
    }
}

/// A crash keeps all tests behind it from running.
fn may_crash(acts: &[Act]) -> bool {
    let crashes = |act: &Act| {
        matches!(
            act,
            Act::EndIf(_, Outcome::Crashed) | Act::EndUnless(_, Outcome::Crashed)
        )
    };
    acts.iter().any(crashes)
}

/// Tests that only set cells and fail at one value of one cell.
pub(super) fn plain_worlds() -> impl Generator<Value = World> {
    let sets = prop::collection::vec((0..CELLS, 0..2u8), 0..3);
    let ends = prop::option::of(0..CELLS);
    let test = (ends, sets).prop_map(|(ends, sets)| {
        let ends = ends.map(|cell| Act::EndIf((cell, 1), Outcome::Failed));
        let sets = sets.into_iter().map(|(cell, value)| Act::Set(cell, value));
        // A failing test leaves the cells alone all the same.
        sets.chain(ends).collect::<Vec<Act>>()
    });
    let reads_first = prop::collection::vec(test, 1..=6);
    reads_first.prop_map(World::of)
}

/// How the last test of an order ended, by test.
type Ends = BTreeMap<usize, BTreeSet<Outcome>>;

/// All ways in which each test ends at the end of one of `orders`.
fn ends(world: &World, orders: &[Vec<usize>]) -> Ends {
    let mut ends = Ends::new();
    for order in orders.iter().filter(|order| !order.is_empty()) {
        let word = world.last(order);
        ends.entry(order[order.len() - 1]).or_default().extend(word);
    }
    ends
}

/// What is reported is true: each outcome, each witness and that it is minimal, cleaners.
fn check_sound(world: &World, found: &Detected) -> Result<(), TestCaseError> {
    prop_assert_eq!(&found.flaky, &Vec::<String>::new());
    prop_assert_eq!(&found.unconfirmed, &Vec::new());
    for dependent in &found.dependent {
        let test = numbers(std::slice::from_ref(&dependent.id))[0];
        let alone = world.last(&[test]);
        prop_assert_eq!(Some(dependent.alone), alone);
        prop_assert!(dependent.confirmed.forked && dependent.confirmed.fresh);
        prop_assert!(!dependent.witnesses.is_empty());
        for witness in &dependent.witnesses {
            let order = numbers(witness);
            prop_assert_eq!(order.last(), Some(&test));
            check_witness(world, dependent, &order)?;
        }
        for cleaner in &numbers(&dependent.cleaners) {
            prop_assert!(
                cleans(world, dependent, *cleaner),
                "{:?} {}",
                dependent,
                cleaner
            );
        }
        let is_masked =
            !dependent.alone.is_good() && dependent.reference.is_some_and(Outcome::is_good);
        prop_assert_eq!(dependent.masked, is_masked);
        if dependent.kind == Kind::Victim && dependent.alone.is_good() {
            let word = world.last(&numbers(&dependent.witnesses[0]));
            prop_assert_ne!(word, alone);
        }
        if is_masked {
            prop_assert_ne!(dependent.kind, Kind::Victim);
        }
    }
    Ok(())
}

/// No part of a witness shows what it shows.
fn check_witness(
    world: &World,
    dependent: &Dependent,
    order: &[usize],
) -> Result<(), TestCaseError> {
    let word = world.last(order);
    prop_assert!(word.is_some());
    let parts = parts(order);
    let differs: Vec<&Vec<usize>> = parts
        .iter()
        .filter(|part| world.last(part) == word)
        .collect();
    let is_first = word != Some(dependent.alone);
    if is_first {
        // No shorter order out of it ends so.
        let inner: Vec<_> = differs
            .iter()
            .filter(|part| part.len() < order.len())
            .collect();
        let setters = numbers(&dependent.witnesses[0]);
        let is_undone = dependent.kind == Kind::Both
            && contains(order, &setters)
            && setters.len() < order.len();
        prop_assert!(inner.is_empty() || is_undone, "{:?} of {:?}", inner, order);
    } else {
        // A polluter undoes setters, and the test ends as alone again.
        prop_assert_eq!(dependent.kind, Kind::Both);
        prop_assert!(parts.iter().any(|part| world.last(part) != word));
    }
    Ok(())
}

/// All orders that a part of the tests before the last makes with it.
fn parts(order: &[usize]) -> Vec<Vec<usize>> {
    let before = order.len() - 1;
    let part = |subset: u32| {
        let stays = order
            .iter()
            .enumerate()
            .filter(|(at, _)| *at == before || subset >> at & 1 == 1);
        stays.map(|(_, test)| *test).collect()
    };
    (0..1 << before).map(part).collect()
}

fn contains(order: &[usize], part: &[usize]) -> bool {
    let mut left = order.iter();
    part.iter().all(|test| left.any(|other| other == test))
}

/// Whether `cleaner`, put into a witness, makes the test end as before the polluters came.
fn cleans(world: &World, dependent: &Dependent, cleaner: usize) -> bool {
    dependent.witnesses.iter().any(|witness| {
        let order = numbers(witness);
        let polluted = world.last(&order);
        (1..order.len()).any(|at| {
            let mut cleaned = order.clone();
            cleaned.insert(at, cleaner);
            world.last(&cleaned) != polluted
        })
    })
}

fn ids(found: &Detected) -> BTreeSet<usize> {
    found
        .dependent
        .iter()
        .map(|dependent| numbers(std::slice::from_ref(&dependent.id))[0])
        .collect()
}

/// A search that knows who writes which cell, and of all but some cells who reads them.
fn with_data(world: &World, strategy: Strategy, unknown: &BTreeSet<usize>) -> Detected {
    let by_anyone: BTreeSet<String> = unknown.iter().map(|cell| format!("cell {cell}")).collect();
    let mut accesses = known(accesses(world));
    let is_known =
        |access: &Access| access.does == Does::Writes || !by_anyone.contains(&access.cell);
    accesses.known.retain(is_known);
    accesses.by_anyone = by_anyone;
    let suite = world.suite();
    let options = Options {
        data: Some(Data::new(&suite, accesses)),
        ..options(strategy)
    };
    let mut search = Detect::new(suite, options);
    world.search(&mut search);
    search.found()
}

/// Tests that ended in several ways.
fn several(ends: &Ends) -> BTreeSet<usize> {
    ends.iter()
        .filter(|(_, words)| words.len() > 1)
        .map(|(test, _)| *test)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn orders_of_bounded_length_miss_nothing_within_the_bound(world in worlds(), k in 1usize..=4) {
        let (found, _) = detect(&world, Strategy::Within(k));
        check_sound(&world, &found)?;
        let within = several(&ends(&world, &world.orders(k)));
        prop_assert!(found.covered.k >= k);
        prop_assert!(within.is_subset(&ids(&found)), "{:?} {:?}", within, found);
        let all = several(&ends(&world, &world.orders(6)));
        prop_assert!(ids(&found).is_subset(&all));
    }

    #[test]
    fn all_orders_of_all_tests_leave_nothing_out(world in worlds()) {
        let (found, _) = detect(&world, Strategy::Within(6));
        check_sound(&world, &found)?;
        prop_assert_eq!(ids(&found), several(&ends(&world, &world.orders(6))));
    }

    #[test]
    fn whatever_a_search_saw_it_tells(
        world in worlds(),
        strategy in prop::sample::select(vec![
            Strategy::Auto, Strategy::Reverse, Strategy::Isolate, Strategy::Pairs, Strategy::Cover,
        ]),
    ) {
        let (found, orders) = detect(&world, strategy);
        check_sound(&world, &found)?;
        prop_assert_eq!(ids(&found), several(&world.words(&orders)), "{:?}", found);
    }

    #[test]
    fn adjacent_pairs_find_plain_pollution(world in plain_worlds()) {
        let (found, _) = detect(&world, Strategy::Auto);
        check_sound(&world, &found)?;
        prop_assert_eq!(found.covered.pairs, found.covered.pairs_total);
        prop_assert_eq!(ids(&found), several(&ends(&world, &world.orders(2))));
    }

    #[test]
    fn data_dependences_leave_out_no_pair_that_matters(world in worlds()) {
        let found = with_data(&world, Strategy::Data, &BTreeSet::new());
        check_sound(&world, &found)?;
        let within = several(&ends(&world, &world.orders(2)));
        prop_assert!(within.is_subset(&ids(&found)), "{:?} {:?}", within, found);
    }

    #[test]
    fn candidates_find_plain_pollution(
        world in plain_worlds(),
        unknown in prop::collection::btree_set(0..CELLS, 0..3),
    ) {
        let found = with_data(&world, Strategy::Cover, &unknown);
        check_sound(&world, &found)?;
        let candidates = found.covered.candidates.clone().unwrap();
        prop_assert_eq!((candidates.covered, candidates.left.len()), (candidates.pairs, 0));
        prop_assert_eq!(ids(&found), several(&ends(&world, &world.orders(2))));
    }

    #[test]
    fn one_test_of_one_order_is_explained(world in worlds(), chance: u64) {
        let mut order: Vec<u32> = (0..world.tests.len() as u32).collect();
        fastrand::Rng::with_seed(chance).shuffle(&mut order);
        let numbered: Vec<usize> = order.iter().map(|test| *test as usize).collect();
        let words = world.run(&numbered);
        for (place, test) in order.iter().enumerate() {
            let mut search = Detect::of_one(world.suite(), options(Strategy::Auto), *test, vec![order.clone()]);
            world.search(&mut search);
            let found = search.found();
            check_sound(&world, &found)?;
            let differs = words[place].is_some() && words[place] != world.last(&[*test as usize]);
            prop_assert!(!differs || ids(&found) == BTreeSet::from([*test as usize]), "{:?}", found);
            for dependent in &found.dependent {
                let is_in_it = |witness: &Vec<String>| contains(&numbered, &numbers(witness));
                prop_assert!(!differs || dependent.witnesses.iter().any(is_in_it));
            }
        }
    }

    /// Forks share their files, so nothing is certain of tests that use them. Of all others
    /// all is as if there were no files.
    #[test]
    fn files_that_orders_leave_behind_say_nothing_of_others(
        world in worlds_with_files(), k in 1usize..=4, is_auto: bool,
    ) {
        let by_files = touched_by_files(&world);
        prop_assume!(by_files.iter().all(|test| !may_crash(&world.tests[*test])));
        let strategy = if is_auto { Strategy::Auto } else { Strategy::Within(k) };
        let (mut found, orders) = detect(&world, strategy);
        let is_ours = |id: &String| !by_files.contains(&numbers(std::slice::from_ref(id))[0]);
        found.dependent.retain(|one| is_ours(&one.id));
        found.flaky.retain(is_ours);
        found.unconfirmed.retain(|one| is_ours(&one.id));
        check_sound(&world, &found)?;
        let seen = match is_auto {
            true => several(&world.words(&orders)),
            false => several(&ends(&world, &world.orders(k))),
        };
        let seen: BTreeSet<usize> = seen.difference(&by_files).copied().collect();
        prop_assert!(seen.is_subset(&ids(&found)), "{:?} {:?}", seen, found);
    }

    #[test]
    fn a_budget_is_kept_and_what_is_known_is_true(world in worlds(), most in 1usize..60) {
        let mut options = options(Strategy::Auto);
        options.budget.executions = Some(most);
        let mut search = Detect::new(world.suite(), options);
        world.search(&mut search);
        let found = search.found();
        prop_assert!(found.covered.executions < most + world.tests.len());
        for dependent in &found.dependent {
            prop_assert!(dependent.confirmed.forked);
        }
        let all = several(&ends(&world, &world.orders(6)));
        prop_assert!(ids(&found).is_subset(&all));
    }
}
