use proptest::prelude::*;

use super::*;
use crate::matrix::{Fingerprint, Outcome};
use crate::observe::ObservedRow;

const CELLS: [&str; 3] = ["a", "b", "c"];

fn cells(mask: u8) -> Vec<LeftIn> {
    let those = CELLS
        .iter()
        .enumerate()
        .filter(|(at, _)| mask >> at & 1 == 1);
    let cell = |name: &str| LeftIn {
        path: "m.py".to_owned(),
        name: name.to_owned(),
        value: None,
        is_unknown: false,
    };
    those.map(|(_, name)| cell(name)).collect()
}

fn row(test: &str) -> ObservedRow {
    ObservedRow {
        test: test.to_owned(),
        base: 0,
        own: Vec::new(),
        by_itself: None,
        inner: None,
        outcome: Outcome::Passed,
        duration_ms: 0,
        position: 0,
        incomplete: None,
    }
}

/// Whoever may need anything.
fn all() -> Needed<'static> {
    Needed {
        is_all: true,
        ..Needed::default()
    }
}

/// What tests leave anew of which the record has each leave a value in one cell, and which leave
/// another one now; those that are beyond the end did not run. 0: nothing; 3: with no value that is
/// known.
fn leaving(name: &str, record: &[u8], now: &[u8], are_compared: bool) -> Anew {
    let left = |value: u8| -> Vec<LeftIn> {
        let cell = LeftIn {
            path: "m.py".to_owned(),
            name: name.to_owned(),
            value: (value < 3).then_some(Fingerprint([value; 16])),
            is_unknown: value == 3,
        };
        if value == 0 { Vec::new() } else { vec![cell] }
    };
    let tests: Vec<String> = (0..record.len()).map(|at| format!("t{at}")).collect();
    let of_record = tests.iter().zip(record).filter(|(_, value)| **value > 0);
    let ties = Ties {
        places: (0..record.len() as u32).collect(),
        left: of_record
            .map(|(test, value)| (test.clone(), left(*value)))
            .collect(),
        made: BTreeMap::new(),
        numbers: BTreeMap::new(),
        absent: BTreeMap::new(),
    };
    let mut collected = Observations {
        order: Some(tests.clone()),
        ..Observations::default()
    };
    for (test, value) in tests.iter().zip(now) {
        collected.left.insert(test.clone(), left(*value));
        collected.rows.push(row(test));
    }
    let values = Values::default();
    let record = Record::new(tests.iter().map(String::as_str), &ties, &values, all());
    record.anew(
        &collected,
        (|_: &_| false, |_: &_| are_compared),
        |_| false,
        false,
    )
}

#[test]
fn names_that_count_and_addresses() {
    let without = |name: &str| without_digits(name);
    assert_eq!(without("plain"), None);
    assert_eq!(without("deadbeef_cafe"), None);
    assert_eq!(without("Box12.field"), without("Box7.field"));
    assert_eq!(without("made_7f7be4b09090"), without("made_7fa1c8d9e0f2"));
    assert_ne!(without("fade1_a"), without("face1_a"));
    assert_ne!(without("add3badbee1"), without("bad00bee2"));
    assert_ne!(without("made_7f7be4b09090"), without("mode_7f7be4b09090"));
}

proptest! {
    /// Against the definition: nobody of the record leaves it up to there, where tests that
    /// leave something one after the other count as one.
    #[test]
    fn what_is_left_anew(record in prop::collection::vec(0..8u8, 1..8), now in prop::collection::vec((0..8u8, any::<bool>()), 1..8)) {
        let name = |at: usize| format!("t{at}");
        let tests: Vec<String> = (0..record.len()).map(name).collect();
        let left = tests.iter().zip(&record).filter(|(_, mask)| **mask > 0);
        let ties = Ties {
            places: (0..record.len() as u32).collect(),
            left: left.map(|(test, mask)| (test.clone(), cells(*mask))).collect(),
            made: BTreeMap::new(),
            numbers: BTreeMap::new(),
            absent: BTreeMap::new(),
        };
        // Some tests are new: they stand behind the known one of that number.
        let mut order = Vec::new();
        let mut collected = Observations::default();
        for (at, test) in tests.iter().enumerate() {
            order.push((test.clone(), at, false));
            if now.get(at).is_some_and(|(_, is_new)| *is_new) {
                order.push((format!("new{at}"), at, true));
            }
        }
        collected.order = Some(order.iter().map(|(test, ..)| test.clone()).collect());
        for (test, at, _) in &order {
            let mask = now.get(*at).map_or(0, |(mask, _)| *mask);
            collected.left.insert(test.clone(), cells(mask));
            // Of one cell nobody sees who changes it.
            let unseen = BTreeSet::from([("m.py".to_owned(), "c".to_owned())]);
            collected.unseen.insert(test.clone(), unseen);
            collected.rows.push(row(test));
        }
        let values = Values::default();
        let record_of = Record::new(tests.iter().map(String::as_str), &ties, &values, all());
        let found = record_of.anew(&collected, (|_: &_| false, |_: &_| false), |_| false, false);
        for (test, at, is_new) in &order {
            let mut by = *at;
            while !is_new && record[*at] > 0 && record.get(by + 1).is_some_and(|mask| *mask > 0) {
                by += 1;
            }
            let of = |masks: &[u8]| masks.iter().fold(0, |all, mask| all | mask);
            let before: u8 = of(&record[..=*at]) & 3 | of(&record[..=by]) & 4;
            let is_last = *is_new && at + 1 == record.len();
            let mask = now.get(*at).map_or(0, |(mask, _)| *mask);
            let anew = if is_last { 0 } else { mask & !before };
            let cells: BTreeSet<_> = { cells(anew).into_iter() }
                .map(|cell| (cell.path, cell.name))
                .collect();
            let known = found.by_test.get(test).map(|leaves| leaves.cells.clone());
            prop_assert_eq!(known.unwrap_or_default(), cells, "{}", test);
        }
    }

    /// Of who met something new each cell that it leaves in the record counts, unless it leaves it
    /// with the same value now, and both are known.
    #[test]
    fn what_is_left_otherwise(then in prop::collection::vec(0..4u8, 3), now in prop::collection::vec(0..4u8, 3)) {
        // 0: not at all; 3: with a value that nobody knows.
        let cells = |values: &[u8]| -> Vec<LeftIn> {
            let left = CELLS.iter().zip(values).filter(|(_, value)| **value > 0);
            let cell = |(name, value): (&&str, &u8)| LeftIn {
                path: "m.py".to_owned(),
                name: (*name).to_owned(),
                value: Some(Fingerprint([*value; 16])),
                is_unknown: *value == 3,
            };
            left.map(cell).collect()
        };
        let ties = Ties {
            places: vec![0],
            left: BTreeMap::from([("t".to_owned(), cells(&then))]),
            made: BTreeMap::new(),
            numbers: BTreeMap::new(),
            absent: BTreeMap::new(),
        };
        let mut collected = Observations {
            order: Some(vec!["t".to_owned()]),
            ..Observations::default()
        };
        collected.left.insert("t".to_owned(), cells(&now));
        collected.rows.push(row("t"));
        let values = Values::default();
        for is_met in [true, false] {
            let record = Record::new(["t"].into_iter(), &ties, &values, all());
            let found = record.anew(&collected, (|_: &_| false, |_: &_| is_met), |_| false, false);
            let of_test = found.by_test.get("t").map(|leaves| leaves.cells.clone());
            let of_test = of_test.unwrap_or_default();
            for (at, name) in CELLS.iter().enumerate() {
                let (then, now) = (then[at], now[at]);
                let is_new = then == 0 && now > 0;
                let is_other = then > 0 && (then != now || then == 3);
                let key = ("m.py".to_owned(), (*name).to_owned());
                prop_assert_eq!(of_test.contains(&key), is_new || is_met && is_other);
            }
        }
    }

    /// An entry counts by its value: against the state that the record has at that place.
    #[test]
    fn which_entries_are_left_anew(record in prop::collection::vec(0..4u8, 1..8), now in prop::collection::vec(0..4u8, 1..8)) {
        let found = leaving("X['k']", &record, &now, false);
        let mut state = 0;
        for (at, then) in record.iter().enumerate() {
            if *then > 0 {
                state = *then;
            }
            let left = now.get(at).copied().unwrap_or_default();
            let is_same = *then > 0 || left == 0 || left < 3 && left == state;
            prop_assert_eq!(found.by_test.contains_key(&format!("t{at}")), !is_same, "{}", at);
        }
    }

    /// Of who met something new each cell counts that it leaves with another value than the record
    /// has there by then, whoever left that.
    #[test]
    fn what_is_left_where_others_leave_something(
        name in prop::sample::select(vec!["a", "environ[A1]"]),
        record in prop::collection::vec(0..4u8, 1..8),
        now in prop::collection::vec(0..4u8, 8),
    ) {
        let found = leaving(name, &record, &now, true);
        let mut state = 0;
        for (at, (then, now)) in record.iter().zip(now).enumerate() {
            state = if *then > 0 { *then } else { state };
            let is_same = match now {
                0 => *then == 0,
                3 => false,
                now => now == state,
            };
            prop_assert_eq!(found.by_test.contains_key(&format!("t{at}")), !is_same, "{}", at);
        }
    }
}
