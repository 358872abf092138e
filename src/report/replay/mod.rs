//! A replay as JSON (schema 1, `docs/replay.md`), as a table and as a page.

mod page;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

/// Raised when a key changes its meaning.
const SCHEMA: u32 = 1;

/// A replayed history.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReplayJson {
    schema: u32,
    /// The columns, in the order in which they are shown.
    pub strategies: Vec<String>,
    pub revisions: Vec<RevisionJson>,
    /// Over all revisions with results, over the merges among these, and over
    /// the automerges among these.
    pub totals: TotalsJson,
    pub merges: TotalsJson,
    pub automerges: TotalsJson,
    /// Tests that a safe strategy left out though they ended differently.
    pub misses: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct RevisionJson {
    pub commit: String,
    pub subject: String,
    pub kind: &'static str,
    pub auto: bool,
    pub parents: usize,
    /// Why there are no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    pub tests: usize,
    pub seconds: f64,
    pub strategies: BTreeMap<String, ChosenJson>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ChosenJson {
    /// The strategy that was computed.
    pub used: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_because: Option<String>,
    pub selected: usize,
    /// Of the tests that there are; 0 where there are none.
    pub share: f64,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<MissJson>,
}

#[derive(Clone, Debug, Serialize)]
pub struct MissJson {
    pub test: String,
    /// The revision whose result was taken, that result, and the real one.
    pub taken_from: String,
    pub then: &'static str,
    pub now: &'static str,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TotalsJson {
    pub revisions: usize,
    pub tests: usize,
    pub seconds: f64,
    pub strategies: BTreeMap<String, TotalJson>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TotalJson {
    pub selected: usize,
    pub share: f64,
    pub seconds: f64,
    pub misses: usize,
}

/// What is added to the name of a strategy in its published form.
pub const PUBLISHED: &str = "-published";

impl ReplayJson {
    /// Sums the revisions up.
    pub fn new(strategies: Vec<String>, revisions: Vec<RevisionJson>) -> ReplayJson {
        let totals = |wanted: fn(&RevisionJson) -> bool| {
            let there = |row: &&RevisionJson| row.missing.is_none() && wanted(row);
            total(revisions.iter().filter(there), &strategies)
        };
        let all = totals(|_| true);
        let safe = all.strategies.iter();
        let safe = safe.filter(|(name, _)| !name.ends_with(PUBLISHED));
        ReplayJson {
            schema: SCHEMA,
            misses: safe.map(|(_, total)| total.misses).sum(),
            merges: totals(|row| row.parents > 1),
            automerges: totals(|row| row.kind == "automerge"),
            totals: all,
            strategies,
            revisions,
        }
    }
}

fn total<'r>(rows: impl Iterator<Item = &'r RevisionJson>, names: &[String]) -> TotalsJson {
    let mut totals = TotalsJson::default();
    for row in rows {
        totals.revisions += 1;
        totals.tests += row.tests;
        totals.seconds += row.seconds;
        for name in names {
            let total = totals.strategies.entry(name.clone()).or_default();
            if let Some(chosen) = row.strategies.get(name) {
                total.selected += chosen.selected;
                total.seconds += chosen.seconds;
                total.misses += chosen.misses.len();
            }
        }
    }
    for total in totals.strategies.values_mut() {
        total.share = share(total.selected, totals.tests);
    }
    totals
}

/// A part of a whole; 0 of nothing.
pub fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}
