//! What was found, for people and for programs.

use std::collections::BTreeMap;

use bstr::ByteSlice;
use serde_json::{Value, json};

use crate::count::{counted, number, verb};
use crate::pipeline::{Check, Minimised};
use crate::report::escape;

/// So many tests are named for each reason; JSON has all.
const NAMED: usize = 2;

pub(super) fn json(found: &Minimised, patch: &[u8]) -> Value {
    let alone = found.left_alone.iter();
    let alone: Vec<Value> = alone
        .map(|(test, reason)| json!({ "test": test, "reason": reason }))
        .collect();
    json!({
        "schema": 1,
        "tests": found.tests,
        "statements": found.statements,
        "left_alone": alone,
        "dropped": found.dropped,
        "verified": found.verified,
        "classes": found.classes,
        "map": found.map,
        "patch": patch.to_str_lossy(),
    })
}

pub(super) fn page(found: &Minimised) -> String {
    let mut page = String::new();
    for class in &found.classes {
        page.push_str(&format!(
            "{}: {} become {}, {} fewer, {:.3} s become {:.3} s\n",
            escape::line(&class.class),
            counted(class.tests_before, "test"),
            class.tests_after,
            counted(class.statements_removed, "statement"),
            class.seconds_before,
            class.seconds_after,
        ));
    }
    for joined in &found.map {
        let ids = joined.originals.iter().map(|id| last(id));
        let ids: Vec<&str> = ids.collect();
        page.push_str(&format!(
            "  {}: {}\n",
            escape::line(&joined.id),
            escape::line(&ids.join(", "))
        ));
    }
    for dropped in &found.dropped {
        page.push_str(&format!(
            "not joined: {}\n  {}\n",
            escape::line(&dropped.tests.join(", ")),
            escape::line(&dropped.reason)
        ));
    }
    page.push_str(&alone(found));
    page.push_str(&summary(found));
    page
}

/// Reasons, with the number of tests of each, the most frequent first.
fn alone(found: &Minimised) -> String {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (test, reason) in &found.left_alone {
        reasons.entry(reason).or_default().push(test);
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.len()));
    let mut text = String::new();
    for (reason, tests) in reasons {
        let named: Vec<_> = tests
            .iter()
            .take(NAMED)
            .map(|one| escape::line(one))
            .collect();
        let more = match tests.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {}", counted(more, "other")),
        };
        text.push_str(&format!(
            "left alone: {}{more}\n  {}\n",
            named.join(", "),
            escape::line(reason)
        ));
    }
    text
}

fn summary(found: &Minimised) -> String {
    let (tests, statements) = (found.tests, found.statements);
    let count = |count: usize| number(count as u64);
    let mut text = format!(
        "{} of {} {} partly redundant; {} of {} {} redundant\n",
        count(tests.partly_redundant),
        counted(tests.before, "test"),
        verb(tests.partly_redundant, "is", "are"),
        count(statements.redundant),
        counted(statements.before, "statement"),
        verb(statements.redundant, "is", "are"),
    );
    if found.map.is_empty() {
        return text + "no tests can be joined\n";
    }
    text.push_str(&format!(
        "{} can go: {} become {}\n",
        counted(statements.removed, "statement"),
        counted(tests.before, "test"),
        count(tests.after),
    ));
    let verified = &found.verified;
    let of = [
        ("assertions", &verified.assertions),
        ("production calls", &verified.pmc),
        ("lines covered", &verified.line),
        ("branches covered", &verified.branch),
        ("mutants", &verified.mutants),
        ("three orders and alone", &verified.orders),
    ];
    for (what, check) in of {
        let how = match check {
            Check::Equal => "equal".to_owned(),
            Check::Different => "different".to_owned(),
            Check::NotRun(why) => format!("not run: {why}"),
        };
        text.push_str(&format!("  {what}: {how}\n"));
    }
    text
}

fn last(id: &str) -> &str {
    id.rsplit("::").next().unwrap_or(id)
}
