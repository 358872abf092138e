//! Searches that go on from what earlier ones have stored.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{ProptestConfig, prop, prop_assert, prop_assert_eq, proptest};
use rustc_hash::FxHashMap;

use super::properties::plain_worlds;
use super::world::{Act, World, detect, options};
use crate::matrix::{Fingerprint, Key, Outcome};
use crate::order::*;

/// Where the tests of `world` have the rows with these numbers.
pub(super) fn place(tree: &str, rows: &[u8]) -> Place {
    let row = |(at, row): (usize, &u8)| (format!("t{at}"), Fingerprint([*row; 16]));
    Place {
        key: Key {
            repository: "0123".to_owned(),
            suite: "pytest".to_owned(),
            environment: String::new(),
        },
        commit: "c".repeat(40),
        tree: tree.to_owned(),
        dirty: Vec::new(),
        now: 1,
        rows: FxHashMap::from_iter(rows.iter().enumerate().map(row)),
    }
}

/// What a search of `world` leaves; read back as the next one does.
pub(super) fn stored(world: &World, strategy: Strategy) -> Dependences {
    let suite = world.suite();
    let mut search = Detect::new(suite.clone(), options(strategy));
    world.search(&mut search);
    let rows = vec![0; suite.len()];
    let mut known = Dependences::nothing(&suite, &place("1", &rows));
    known.take_in(&search, 1);
    assert_eq!(known.found, search.found());
    Dependences::decode(&known.encode().unwrap()).unwrap()
}

/// The search of `world` after one that left `known`, in which `changed` had other rows.
fn resumed(
    world: &World,
    known: &Dependences,
    changed: &[usize],
    strategy: Strategy,
) -> (Detected, usize) {
    let suite = world.suite();
    let known = known.about(&suite);
    let row = |at: usize| u8::from(changed.contains(&at));
    let rows: Vec<u8> = (0..suite.len()).map(row).collect();
    let now = place("2", &rows);
    let changed = known.changed(&now.rows_of(&suite));
    let changed: BTreeSet<Test> = changed
        .into_iter()
        .filter_map(|id| suite.find(id))
        .collect();
    let mut search = Detect::new(suite, options(strategy));
    search.resume(&known, &changed);
    let orders = world.search(&mut search);
    (search.found(), orders.len())
}

fn ids(found: &Detected) -> BTreeMap<&str, Kind> {
    let dependent = found.dependent.iter();
    dependent.map(|one| (one.id.as_str(), one.kind)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn after_an_edit_every_pair_is_known(
        before in plain_worlds(),
        at in 0usize..6,
        cell in 0usize..3,
        sets in prop::bool::ANY,
    ) {
        let known = stored(&before, Strategy::Pairs);
        let mut after = before.clone();
        let at = at % after.tests.len();
        after.tests[at] = match sets {
            true => vec![Act::Set(cell, 1)],
            false => vec![Act::EndIf((cell, 1), Outcome::Failed)],
        };
        let (found, _) = resumed(&after, &known, &[at], Strategy::Pairs);
        let found_ids = ids(&found);
        for order in after.orders(2).iter().filter(|order| order.len() == 2) {
            let test = order[1];
            if after.last(order) != after.last(&[test]) {
                prop_assert!(found_ids.contains_key(&*format!("t{test}")), "{order:?}: {found:?}");
            }
        }
        for dependent in &found.dependent {
            for witness in &dependent.witnesses {
                let order = super::world::numbers(witness);
                prop_assert!(after.last(&order) != Some(dependent.alone));
            }
        }
        prop_assert_eq!(found.covered.k, 2);
    }
}

#[test]
fn a_new_test_is_searched_with_all_others_and_nothing_else_is() {
    let mut tests = vec![Vec::new(); 20];
    tests[3] = vec![Act::EndIf((0, 1), Outcome::Failed)];
    tests[9] = vec![Act::Set(0, 1)];
    let world = World::of(tests);
    let known = stored(&world, Strategy::Auto);
    let mut more = world;
    more.tests.push(vec![Act::EndIf((0, 1), Outcome::Failed)]);
    let (found, orders) = resumed(&more, &known, &[], Strategy::Auto);
    let (anew, all) = detect(&more, Strategy::Auto);
    assert_eq!(ids(&found), ids(&anew));
    assert_eq!(
        ids(&found),
        [("t20", Kind::Victim), ("t3", Kind::Victim)].into()
    );
    assert_eq!(found.covered.pairs, found.covered.pairs_total);
    assert!(orders < all.len() - 10, "{orders} of {}", all.len());
}

#[test]
fn what_is_known_moves_with_its_tests() {
    let mut tests = vec![Vec::new(); 6];
    tests[1] = vec![Act::EndUnless((0, 1), Outcome::Failed)];
    tests[0] = vec![Act::Set(0, 1)];
    let known = stored(&World::of(tests), Strategy::Auto);
    let ids = ["t9", "t0", "t5", "t1"].map(|id| (id.to_owned(), Vec::new()));
    let suite = Suite::new(ids).unwrap();
    let moved = known.about(&suite);
    moved.encode().unwrap();
    let explained = &moved.explained[0];
    assert_eq!(
        (explained.test, &explained.orders[1].order),
        (3, &vec![1, 3])
    );
    let outcome = moved.outcome_of(&["t0".to_owned(), "t1".to_owned()]);
    assert_eq!(outcome, Some(Outcome::Passed));
    assert_eq!(moved.tests[0].row, None);
    // Without the setter nothing is left of it.
    let suite = Suite::new([("t1".to_owned(), Vec::new())]).unwrap();
    let rest = known.about(&suite);
    assert_eq!((rest.explained, rest.found.dependent), (vec![], vec![]));
}
