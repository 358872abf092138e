//! The figures and examples of [G ch. 4], and where they go wrong.

use std::collections::BTreeSet;

use super::world::*;
use crate::history::HeadKind;
use crate::select::plan::{Thresholds, plan_with};
use crate::select::*;

const M: usize = 0;
const P: usize = 1;
const Q: usize = 2;
const UNITS: usize = 3;
const TESTS: usize = 4;

/// Figure 4.1b: t1 runs m, t2 p, t3 q, t4 m and p.
fn figure_4_1_program() -> Program {
    let reads = |test: usize, _: &State| -> BTreeSet<usize> {
        let called: &[usize] = [&[M][..], &[P], &[Q], &[M, P]][test];
        called.iter().copied().chain([UNITS + test]).collect()
    };
    Program {
        bodies: (UNITS..UNITS + TESTS).collect(),
        reads: Box::new(reads),
        passes: Box::new(|_, _| true),
    }
}

/// The history of figure 4.1a: n1, then b1 = n2, n3, b2 = n4, n5 and master =
/// n6, n7. Here they are numbered from 0, so n1 is 0.
fn figure_4_1() -> World {
    let mut world = World::new(figure_4_1_program());
    world.push(vec![1; UNITS + TESTS], tip(HeadKind::Root, false, &[]));
    world.record(0, Strategy::Commit);
    for (parent, unit, value) in [
        (0, M, 2),
        (1, P, 2),
        (0, M, 3),
        (3, P, 3),
        (0, P, 4),
        (5, Q, 2),
    ] {
        edit(&mut world, parent, &[(unit, value)]);
    }
    world
}

/// A commit on `parent` that is recorded.
fn edit(world: &mut World, parent: Node, edits: &[(usize, u8)]) -> Node {
    let made = changed(
        world,
        parent,
        edits,
        tip(HeadKind::Commit, false, &[parent]),
    );
    world.record(made, Strategy::Commit);
    made
}

/// A revision whose files are those of `like` with these edits.
fn changed(world: &mut World, like: Node, edits: &[(usize, u8)], tip: Tip) -> Node {
    let mut state = world.revisions[like as usize].state.clone();
    for (unit, value) in edits {
        state[*unit] = *value;
    }
    world.push(state, tip)
}

/// Tests by their numbers in the thesis.
fn tests(numbers: &[usize]) -> BTreeSet<usize> {
    numbers.iter().map(|number| number - 1).collect()
}

fn selected(world: &World, head: Node, strategy: Strategy) -> BTreeSet<usize> {
    let chosen = world.select(head, strategy, false);
    assert_eq!(chosen.plan.used, strategy, "{:?}", chosen.plan.fallbacks);
    chosen.selected()
}

#[test]
fn figure_4_1_selects_modification_traversing_tests() {
    let world = figure_4_1();
    let selected = |node: usize| &world.revisions[node].recorded.as_ref().unwrap().selected;
    assert_eq!(*selected(0), tests(&[1, 2, 3, 4]));
    assert_eq!(*selected(1), tests(&[1, 4]));
    assert_eq!(*selected(2), tests(&[2, 4]));
    assert_eq!(*selected(3), tests(&[1, 4]));
    assert_eq!(*selected(4), tests(&[2, 4]));
    assert_eq!(*selected(5), tests(&[2, 4]));
    assert_eq!(*selected(6), tests(&[3]));
}

#[test]
fn figure_4_2_merge_of_three() {
    let mut world = figure_4_1();
    let parents = tip(HeadKind::Automerge, true, &[2, 4, 6]);
    let head = changed(&mut world, 0, &[(M, 5), (P, 5), (Q, 2)], parents);
    let of = |strategy| selected(&world, head, strategy);
    assert_eq!(of(Strategy::MergeDom), tests(&[1, 2, 3, 4]));
    assert_eq!(of(Strategy::MergeParents), tests(&[1, 2, 4]));
    assert_eq!(of(Strategy::MergeHistory), tests(&[1, 2, 4]));
    let chosen = world.select(head, Strategy::MergeHistory, false);
    assert_eq!(
        chosen.sources[&2],
        Some(6),
        "t3 takes its result from master"
    );
}

#[test]
fn figure_4_3_rebase() {
    let mut world = figure_4_1();
    // Master goes onto b1: p of both sides meet, m is b1's, q is master's.
    let rebased = changed(&mut world, 2, &[(P, 5)], tip(HeadKind::Commit, false, &[2]));
    let mut last = tip(HeadKind::Rebase, true, &[rebased]);
    last.sides = Some([6, 2]);
    let head = changed(&mut world, rebased, &[(Q, 2)], last);
    let of = |strategy| selected(&world, head, strategy);
    assert_eq!(of(Strategy::RebaseDom), tests(&[1, 2, 3, 4]));
    assert_eq!(of(Strategy::RebaseParents), tests(&[2, 4]));
    assert_eq!(of(Strategy::RebaseHistory), tests(&[2, 4]));
}

#[test]
fn figure_4_4_cherry_pick() {
    let mut world = figure_4_1();
    let mut picking = tip(HeadKind::CherryPick, true, &[6]);
    picking.picked = vec![Change {
        commit: 1,
        before: 0,
        is_merge: false,
    }];
    let head = changed(&mut world, 6, &[(M, 2)], picking);
    let of = |strategy| selected(&world, head, strategy);
    assert_eq!(of(Strategy::CherryParent), tests(&[1, 4]));
    assert_eq!(of(Strategy::CherryHistory), tests(&[4]));
    let chosen = world.select(head, Strategy::CherryHistory, false);
    assert_eq!(chosen.sources[&0], Some(1), "t1 takes the result of n2");
}

/// Figure 4.4 with a second commit that is picked with the first: no selection
/// is recorded of what lies between the two.
#[test]
fn several_picks_in_one_commit_are_compared_with_the_parent() {
    let mut world = figure_4_1();
    let mut picking = tip(HeadKind::CherryPick, true, &[6]);
    let change = |commit, before| Change {
        commit,
        before,
        is_merge: false,
    };
    picking.picked = vec![change(1, 0), change(2, 1)];
    let head = changed(&mut world, 6, &[(M, 2)], picking);
    for strategy in [
        Strategy::CherryParent,
        Strategy::CherryHistory,
        Strategy::Thesis,
    ] {
        let chosen = world.select(head, strategy, false);
        assert_eq!(chosen.plan.used, Strategy::CherryParent);
        assert_eq!(chosen.selected(), tests(&[1, 4]));
    }
    let plan = world.select(head, Strategy::CherryHistory, false).plan;
    assert!(plan.fallbacks[0].why.contains("several picks"), "{plan:?}");
    // What was picked is asked by `memo` as well.
    let memo = world.select(head, Strategy::Memo, false);
    assert!(memo.plan.rule.nodes().contains(&1));
    assert!(memo.selected().is_subset(&tests(&[1, 4])));
}

#[test]
fn figure_4_5_revert() {
    let mut world = figure_4_1();
    let mut reverting = tip(HeadKind::Revert, true, &[6]);
    reverting.reverted = Some(Change {
        commit: 5,
        before: 0,
        is_merge: false,
    });
    let head = changed(&mut world, 6, &[(P, 1)], reverting);
    let of = |strategy| selected(&world, head, strategy);
    assert_eq!(of(Strategy::RevertParent), tests(&[2, 4]));
    assert_eq!(of(Strategy::RevertHistory), tests(&[]));
}

#[test]
fn figure_4_6_the_dominator_can_be_better_than_the_parents() {
    let mut world = World::new(figure_4_1_program());
    world.push(vec![1; UNITS + TESTS], tip(HeadKind::Root, false, &[]));
    world.record(0, Strategy::Commit);
    edit(&mut world, 0, &[(M, 2)]);
    edit(&mut world, 0, &[(M, 3)]);
    let mut head = tip(HeadKind::Merge, false, &[1, 2]);
    // Not quite n1, or equal trees would share results before any strategy.
    head.kind = HeadKind::Merge;
    let head = changed(&mut world, 0, &[(Q, 9)], head);
    assert_eq!(selected(&world, head, Strategy::MergeDom), tests(&[3]));
    let by_parents = selected(&world, head, Strategy::MergeParents);
    assert_eq!(by_parents, tests(&[1, 3, 4]));
    // Equal trees: nothing runs, whatever the strategy.
    let equal = changed(&mut world, 0, &[], tip(HeadKind::Merge, false, &[1, 2]));
    for strategy in [Strategy::MergeParents, Strategy::MergeDom, Strategy::Commit] {
        assert_eq!(selected(&world, equal, strategy), tests(&[]));
    }
}

/// Theorem 3 with the history of figure 4.7: m is edited in n3 and in n4, n5
/// merges n2 and n3, n6 merges n2 and n4, n7 both. The test fails where both
/// edits meet.
fn figure_4_7(from_merge_base: bool) -> (World, Node) {
    const BOTH: u8 = 2 + 4;
    let mut program = figure_4_1_program();
    // Each edit of m sets a bit, and they merge.
    let runs_m = |test| test == 0 || test == 3;
    program.passes = Box::new(move |test, state| !runs_m(test) || state[M] != BOTH);
    let mut world = World::new(program);
    world.push(vec![1; UNITS + TESTS], tip(HeadKind::Root, false, &[]));
    world.revisions[0].state[M] = 0;
    world.record(0, Strategy::Commit);
    let n2 = edit(&mut world, 0, &[(Q, 2)]);
    let n3 = edit(&mut world, 0, &[(M, 2)]);
    let n4 = edit(&mut world, 0, &[(M, 4)]);
    let merge = |world: &mut World, a, b, m| {
        let tip = tip(HeadKind::Automerge, true, &[a, b]);
        changed(world, n2, &[(M, m)], tip)
    };
    let n5 = merge(&mut world, n2, n3, 2);
    world.record(n5, Strategy::MergeHistory);
    let n6 = merge(&mut world, n2, n4, 4);
    world.record(n6, Strategy::MergeHistory);
    assert_eq!(world.recorded_selection(n5), tests(&[]));
    assert_eq!(world.recorded_selection(n6), tests(&[]));
    let n7 = merge(&mut world, n5, n6, BOTH);
    world.from_merge_base = from_merge_base;
    (world, n7)
}

#[test]
fn figure_4_7_theorem_3_the_merge_base_is_not_enough() {
    let (world, head) = figure_4_7(false);
    let published = world.select(head, Strategy::MergeHistory, true);
    assert_eq!(published.plan.used, Strategy::MergeHistory);
    // t3 as well: n2, which edits q, lies on both ways from n1.
    assert_eq!(published.selected(), tests(&[1, 3, 4]));
    assert_eq!(world.missed(head, &published), [0usize; 0]);

    let (world, head) = figure_4_7(true);
    let unsafe_form = world.select(head, Strategy::MergeHistory, true);
    assert!(!world.missed(head, &unsafe_form).is_empty());
    // The correction makes good even for that.
    let corrected = world.select(head, Strategy::MergeHistory, false);
    assert_eq!(world.missed(head, &corrected), [0usize; 0]);
}

/// Formula (4.10) as published leaves out a test whose dependencies changed
/// along one branch: on branch 1 m comes to call q, on branch 2 q changes.
#[test]
fn what_a_test_depends_on_changes_along_a_branch() {
    let mut program = figure_4_1_program();
    let calls_q = |state: &State| state[M] == 2;
    program.reads = Box::new(move |test, state| {
        let mut read = BTreeSet::from([UNITS + test]);
        if test == 0 {
            read.insert(M);
            if calls_q(state) {
                read.insert(Q);
            }
        }
        read
    });
    program.passes = Box::new(move |test, state| test != 0 || !calls_q(state) || state[Q] == 1);
    let mut world = World::new(program);
    world.push(vec![1; UNITS + TESTS], tip(HeadKind::Root, false, &[]));
    world.record(0, Strategy::Commit);
    let one = edit(&mut world, 0, &[(M, 2)]);
    let two = edit(&mut world, 0, &[(Q, 2)]);
    assert_eq!(world.recorded_selection(one), tests(&[1]));
    assert_eq!(world.recorded_selection(two), tests(&[]));
    let merge = tip(HeadKind::Automerge, true, &[one, two]);
    let head = changed(&mut world, 0, &[(M, 2), (Q, 2)], merge);
    let published = world.select(head, Strategy::MergeHistory, true);
    assert_eq!(world.missed(head, &published), [0], "the published formula");
    for strategy in Strategy::ALL {
        let chosen = world.select(head, strategy, false);
        assert_eq!(world.missed(head, &chosen), [0usize; 0], "{strategy}");
    }
}

#[test]
fn strategies_that_lack_something_say_what_they_give_way_to() {
    let mut world = figure_4_1();
    let by_hand = tip(HeadKind::Merge, false, &[2, 6]);
    let head = changed(&mut world, 2, &[(Q, 7)], by_hand);
    let gives_way = |world: &World, head, strategy| -> Vec<String> {
        let plan = world.select(head, strategy, false).plan;
        plan.fallbacks.iter().map(ToString::to_string).collect()
    };
    insta::assert_debug_snapshot!(gives_way(&world, head, Strategy::MergeHistory), @r#"
    [
        "merge-parents instead of merge-history: the merge was edited by hand, or cannot be replayed",
    ]
    "#);
    insta::assert_debug_snapshot!(gives_way(&world, head, Strategy::RebaseHistory), @r#"
    [
        "commit instead of rebase-history: the tip before the rebase is not known",
    ]
    "#);
    insta::assert_debug_snapshot!(gives_way(&world, head, Strategy::CherryHistory), @r#"
    [
        "commit instead of cherry-history: the head is no proven cherry-pick",
    ]
    "#);
    // A gap in the chain of selections.
    world.revisions[1].recorded = None;
    let automatic = tip(HeadKind::Automerge, true, &[2, 6]);
    let head = changed(&mut world, 2, &[(Q, 8)], automatic);
    insta::assert_debug_snapshot!(gives_way(&world, head, Strategy::MergeHistory), @r#"
    [
        "merge-parents instead of merge-history: what was selected at n1 is not recorded",
    ]
    "#);
    assert_eq!(gives_way(&world, head, Strategy::MergeParents), [""; 0]);
    let one = changed(&mut world, 6, &[(Q, 9)], tip(HeadKind::Commit, false, &[6]));
    insta::assert_debug_snapshot!(gives_way(&world, one, Strategy::MergeDom), @r#"
    [
        "commit instead of merge-dom: the head is no merge",
    ]
    "#);
}

#[test]
fn the_heuristic_of_4_4_chooses_by_its_two_thresholds() {
    let mut world = figure_4_1();
    let automatic = tip(HeadKind::Automerge, true, &[2, 6]);
    let auto = changed(&mut world, 2, &[(Q, 2)], automatic);
    let by_hand = changed(
        &mut world,
        2,
        &[(Q, 3)],
        tip(HeadKind::Merge, false, &[2, 6]),
    );
    let used = |world: &World, node: Node, many_new_tests, short_branches| {
        let thresholds = Thresholds {
            many_new_tests,
            short_branches,
        };
        let tip = &world.revisions[node as usize].tip;
        plan_with(Strategy::Thesis, tip, world, &thresholds).used
    };
    assert_eq!(used(&world, auto, 1, 0), Strategy::MergeHistory);
    assert_eq!(used(&world, auto, 0, 0), Strategy::MergeParents);
    assert_eq!(used(&world, by_hand, 1, 2), Strategy::MergeDom);
    assert_eq!(used(&world, by_hand, 1, 1), Strategy::MergeParents);
    world.revisions[1].recorded = None;
    assert_eq!(used(&world, auto, 1, 0), Strategy::MergeParents);
    assert_eq!(used(&world, auto, 1, 2), Strategy::MergeDom);
    assert_eq!(used(&world, 6, 1, 0), Strategy::Commit);
}
