//! What people are told of values that differ.

use std::collections::BTreeMap;

use super::Event;
use crate::count::counted;
use crate::pipeline::NEEDED;

/// How many of the differences are named.
const NAMED: usize = 3;

/// Why tests ran that the same values would have excused: `refuted` has what differs, by
/// test.
pub(crate) fn refuted_event(refuted: &BTreeMap<String, String>) -> Option<Event> {
    if refuted.is_empty() {
        return None;
    }
    let mut tests: BTreeMap<&str, u64> = BTreeMap::new();
    for why in refuted.values() {
        *tests.entry(why).or_default() += 1;
    }
    let needed = tests.remove(NEEDED).map(|count| {
        let them = if count == 1 {
            "it leaves"
        } else {
            "they leave"
        };
        format!("{} ran for what {them} to others", counted(count, "test"))
    });
    let mut tests: Vec<(&str, u64)> = tests.into_iter().collect();
    tests.sort_by_key(|(why, count)| (std::cmp::Reverse(*count), *why));
    let more = tests.len().saturating_sub(NAMED);
    let named = tests.iter().take(NAMED);
    let mut named: Vec<String> = named
        .map(|(why, count)| format!("{why} ({})", counted(*count, "test")))
        .collect();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let differ = format!("values that tests read differ: {}", named.join(", "));
    let differ = (!named.is_empty()).then_some(differ);
    let told: Vec<String> = differ.into_iter().chain(needed).collect();
    Some(Event::Note {
        text: told.join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_that_most_tests_read_are_named_first() {
        let by = [("f", 1), ("g", 3), ("h", 2), ("i", 1)];
        let of = |(name, count): (&'static str, u32)| {
            let why = format!("a.{name} differs");
            (0..count).map(move |test| (format!("t.py::{name}_{test}"), why.clone()))
        };
        let mut refuted: BTreeMap<String, String> = by.into_iter().flat_map(of).collect();
        let Some(Event::Note { text }) = refuted_event(&refuted) else {
            panic!("people hear of it");
        };
        insta::assert_snapshot!(text, @"values that tests read differ: a.g differs (3 tests), a.h differs (2 tests), a.f differs (1 test), 1 more");
        assert!(refuted_event(&BTreeMap::new()).is_none());
        refuted.retain(|test, _| test.ends_with("i_0"));
        refuted.insert("a".to_owned(), NEEDED.to_owned());
        let Some(Event::Note { text }) = refuted_event(&refuted) else {
            panic!("people hear of it");
        };
        insta::assert_snapshot!(text, @"values that tests read differ: a.i differs (1 test); 1 test ran for what it leaves to others");
    }
}
