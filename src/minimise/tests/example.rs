//! The four tests of \[V, figure 1\] become the one of \[V, figure 2\].

use super::toy::{Line, lines_of, watched};
use crate::minimise::{Limits, composed_name, differs, redundancy, reorganise};

const ALL: Limits = Limits {
    at_most: 9,
    only_common_prefix: false,
};

fn new(name: &str, number: i64) -> Line {
    Line::New(name.into(), number)
}

fn plus(x: &str, y: &str, z: &str) -> Line {
    Line::Plus(x.into(), y.into(), z.into())
}

fn is(name: &str, number: i64) -> Line {
    Line::Assert(name.into(), number)
}

/// `add`, `subtract`, … are `plus` with operands in other orders, so that their calls differ.
fn figure_1() -> Vec<(&'static str, Vec<Line>)> {
    vec![
        (
            "testAdd",
            vec![new("x", 3), new("y", 5), plus("z", "x", "y"), is("z", 8)],
        ),
        (
            "testSubtract",
            vec![new("x", 3), new("y", 5), plus("z", "y", "x"), is("z", 8)],
        ),
        (
            "testMultiply",
            vec![new("x", 3), new("y", 5), plus("z", "x", "x"), is("z", 6)],
        ),
        (
            "testDivide",
            vec![
                new("dividend", 3),
                new("divisor", 5),
                plus("q", "divisor", "divisor"),
                is("q", 10),
            ],
        ),
    ]
}

#[test]
fn the_worked_example_becomes_one_test() {
    let suite = figure_1();
    let tests: Vec<_> = suite
        .iter()
        .map(|(name, lines)| watched(name, lines).unwrap())
        .collect();
    let lines: Vec<Vec<Line>> = suite.into_iter().map(|(_, lines)| lines).collect();
    let redundant = redundancy(&tests);
    assert_eq!((redundant.statements, redundant.tests.len()), (6, 4));
    let found = reorganise(&tests, ALL);
    let [composed] = &found[..] else {
        panic!("{found:?}");
    };
    let names: Vec<&str> = composed
        .tests
        .iter()
        .map(|at| tests[*at].name.as_str())
        .collect();
    let name = composed_name(&names, &Default::default());
    assert_eq!(name, "testAdd_Subtract_Multiply_Divide");
    assert_eq!(
        lines_of(composed, &lines),
        [
            new("x", 3),
            new("y", 5),
            plus("z", "x", "y"),
            is("z", 8),
            plus("z_subtract", "y", "x"),
            is("z_subtract", 8),
            plus("z_multiply", "x", "x"),
            is("z_multiply", 6),
            plus("q", "y", "y"),
            is("q", 10),
        ]
    );
    assert_eq!(composed.removed.len(), 6);
    let ran = watched("composed", &lines_of(composed, &lines)).unwrap();
    assert_eq!(differs(&tests, composed, &ran), None);
}

/// The composed tests of tests with these lines, as lines.
fn joined(suite: &[Vec<Line>], limits: Limits) -> Vec<Vec<Line>> {
    let tests: Vec<_> = suite
        .iter()
        .enumerate()
        .map(|(at, lines)| watched(&format!("test_{at}"), lines).unwrap())
        .collect();
    let found = reorganise(&tests, limits);
    found.iter().map(|one| lines_of(one, suite)).collect()
}

#[test]
fn no_more_tests_are_joined_than_wanted() {
    let suite: Vec<Vec<Line>> = figure_1().into_iter().map(|(_, lines)| lines).collect();
    let limits = Limits { at_most: 2, ..ALL };
    let found = joined(&suite, limits);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6]);
}

#[test]
fn an_object_that_was_changed_is_made_again() {
    let grow = |by| Line::Grow("x".into(), by);
    let suite = [
        vec![new("x", 3), grow(1), is("x", 4)],
        vec![new("x", 3), is("x", 3)],
        vec![new("x", 3), grow(1), grow(2), is("x", 6)],
    ];
    // The second needs the box as it was, so nothing of it can go; the third goes on.
    assert_eq!(
        joined(&suite, ALL),
        [[new("x", 3), grow(1), is("x", 4), grow(2), is("x", 6)]]
    );
}

#[test]
fn two_equal_objects_are_not_one() {
    let grow = |name: &str| Line::Grow(name.into(), 1);
    let suite = [
        vec![new("a", 3), new("b", 4), is("a", 3), is("b", 4)],
        vec![new("a", 3), new("c", 3), grow("a"), is("a", 4), is("c", 3)],
    ];
    let found = joined(&suite, ALL);
    let [lines] = &found[..] else {
        panic!("{found:?}");
    };
    let news = lines.iter().filter(|line| matches!(line, Line::New(_, 3)));
    assert_eq!(news.count(), 2, "{lines:?}");
}

#[test]
fn only_first_statements_are_left_out_if_that_is_wanted() {
    let suite = [
        vec![new("x", 3), new("y", 5), is("y", 5)],
        vec![new("y", 5), is("y", 5)],
        vec![new("x", 3), is("x", 3)],
    ];
    let limits = Limits {
        only_common_prefix: true,
        ..ALL
    };
    assert_eq!(joined(&suite, limits).len(), 1);
    assert_eq!(joined(&suite, limits)[0].len(), 4);
    assert_eq!(joined(&suite, ALL)[0].len(), 5);
}
