//! Orders that make pairs adjacent.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::order::Suite;
use crate::order::cover::{Pairs, nested_row, nested_rows, tuscan_row, tuscan_rows};
use crate::order::normal::{is_normal, shuffled};

/// A suite of `len` tests; so many share a file, and so many of these a class.
fn suite(len: usize, files: usize, classes: usize) -> Suite {
    let test = |at: usize| {
        let (file, class) = (at / files, at / classes);
        let scopes = match class % 3 {
            0 => vec![format!("f{file}")],
            _ => vec![format!("f{file}"), format!("c{class}")],
        };
        (format!("t{at}"), scopes)
    };
    Suite::new((0..len).map(test)).unwrap()
}

#[test]
fn rows_of_an_arrangement_make_each_pair_adjacent() {
    for len in 0..40 {
        let rows: Vec<Vec<usize>> = (0..tuscan_rows(len))
            .map(|row| tuscan_row(len, row))
            .collect();
        let pairs: BTreeSet<(usize, usize)> = rows
            .iter()
            .flat_map(|row| row.windows(2).map(|p| (p[0], p[1])))
            .collect();
        assert_eq!(pairs.len(), len * len.saturating_sub(1), "{len}");
        assert!(rows.len() <= len + len % 2);
        for row in rows {
            assert_eq!(row.iter().collect::<BTreeSet<_>>().len(), len);
        }
    }
}

proptest! {
    #[test]
    fn all_candidate_pairs_become_adjacent(
        (len, files, classes) in (1usize..24, 1usize..9, 1usize..5),
        wanted in prop::collection::btree_set((0u32..24, 0u32..24), 0..60),
    ) {
        let suite = suite(len, files, classes);
        let wanted: BTreeSet<(u32, u32)> = wanted
            .into_iter()
            .filter(|(a, b)| a != b && (*a as usize) < len && (*b as usize) < len)
            .collect();
        let mut pairs = Pairs::new(&suite, wanted.iter().copied());
        let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
        let (mut orders, mut left) = (0, pairs.left());
        while let Some(order) = pairs.next(&suite) {
            prop_assert!(is_normal(&suite, &order));
            prop_assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), order.len());
            seen.extend(order.windows(2).map(|pair| (pair[0], pair[1])));
            prop_assert!(pairs.left() < left);
            left = pairs.left();
            orders += 1;
        }
        prop_assert!(wanted.is_subset(&seen));
        if files >= len && classes >= len {
            let out = |test| wanted.iter().filter(|(a, _)| *a == test).count();
            let into = |test| wanted.iter().filter(|(_, b)| *b == test).count();
            let degree = (0..len as u32).map(|test| out(test).max(into(test))).max().unwrap_or(0);
            prop_assert!(orders <= 2 * degree, "{} orders, degree {}", orders, degree);
        }
    }

    #[test]
    fn whole_suites_stay_normal((len, files, classes) in (1usize..30, 1usize..9, 1usize..5), seed: u64) {
        let suite = suite(len, files, classes);
        let mut orders: Vec<Vec<u32>> = (0..nested_rows(&suite)).map(|row| nested_row(&suite, row)).collect();
        orders.push(shuffled(&suite, &suite.all(), &mut fastrand::Rng::with_seed(seed)));
        for order in orders {
            prop_assert_eq!(order.len(), len);
            prop_assert!(is_normal(&suite, &order));
        }
    }
}
