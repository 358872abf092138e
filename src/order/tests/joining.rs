//! What several machines know, as one.

use super::resuming::{place, stored};
use super::world::{Act, World, options};
use crate::matrix::{Fingerprint, Outcome};
use crate::order::*;

/// Two victims, each with a polluter of its own.
fn world() -> World {
    World::of(vec![
        vec![Act::EndIf((0, 1), Outcome::Failed)],
        vec![Act::EndIf((1, 1), Outcome::Failed)],
        vec![Act::Set(0, 1)],
        vec![Act::Set(1, 1)],
    ])
}

/// What a machine knows that has only looked at one test.
fn of_one(world: &World, test: Test) -> Dependences {
    let suite = world.suite();
    let mut search = Detect::of_one(suite.clone(), options(Strategy::Auto), test, Vec::new());
    world.search(&mut search);
    let mut known = Dependences::nothing(&suite, &place("1", &[0; 4]));
    known.take_in(&search, 1);
    known
}

fn ids(known: &Dependences) -> Vec<&str> {
    let found = known.found.dependent.iter();
    found.map(|one| one.id.as_str()).collect()
}

#[test]
fn what_two_machines_found_is_known_to_both() {
    let world = world();
    let (one, other) = (of_one(&world, 0), of_one(&world, 1));
    assert_eq!((ids(&one), ids(&other)), (vec!["t0"], vec!["t1"]));
    let joined = one.joined(&other);
    assert_eq!(ids(&joined), ["t0", "t1"]);
    // In a form that is stored, newer than both, with what explains the findings.
    let again = Dependences::decode(&joined.encode().unwrap()).unwrap();
    assert_eq!(again, joined);
    assert!(joined.created > one.created.max(other.created));
    let explained: Vec<Test> = joined.explained.iter().map(|one| one.test).collect();
    assert_eq!(explained, [0, 1]);
    // Nothing is left to be joined.
    assert_eq!(joined.joined(&other), joined);
    assert_eq!(joined.joined(&one), joined);
}

#[test]
fn a_search_of_all_tests_stays_one_when_a_finding_is_added() {
    let world = world();
    let mut searched = stored(&world, Strategy::Isolate);
    searched.found.dependent.clear();
    searched.explained.clear();
    searched.found.covered.cut_short = false;
    let mut later = of_one(&world, 1);
    later.created += 5;
    let joined = later.joined(&searched);
    assert_eq!(ids(&joined), ["t1"]);
    assert_eq!(joined.found.covered, searched.found.covered);
    assert!(joined.created > later.created);
}

#[test]
fn what_a_later_search_does_not_have_is_gone_with_its_rows_only() {
    let world = world();
    let older = stored(&world, Strategy::Auto);
    assert_eq!(ids(&older), ["t0", "t1"]);
    let mut newer = older.clone();
    newer.created += 5;
    newer.found.dependent.clear();
    newer.explained.clear();
    // The same code: one of the two searches is wrong, and one test too many costs time only.
    assert_eq!(ids(&newer.joined(&older)), ["t0", "t1"]);
    // The polluter of t0 is another one now.
    newer.tests[2].row = Some(Fingerprint([9; 16]));
    assert_eq!(ids(&newer.joined(&older)), ["t1"]);
    // A test without a row may be any.
    newer.tests[3].row = None;
    assert!(newer.joined(&older).found.dependent.is_empty());
    // A search that did not end says nothing.
    newer.found.covered.cut_short = true;
    assert_eq!(ids(&newer.joined(&older)), ["t0", "t1"]);
}

#[test]
fn tests_that_are_gone_are_not_joined() {
    let world = world();
    let older = stored(&world, Strategy::Auto);
    let suite = Suite::new(["t0", "t1", "t2"].map(|id| (id.to_owned(), Vec::new()))).unwrap();
    let newer = Dependences::nothing(&suite, &place("2", &[0; 3]));
    let joined = newer.joined(&older);
    assert_eq!(ids(&joined), ["t0"]);
    joined.encode().unwrap();
}
