//! A replay as JSON (schema 1, `docs/replay.md`), as a table and as a page.

mod page;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::select::CauseKind;

/// Increased when a key changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReplayJson {
    schema: u32,
    /// The columns, in display order.
    pub strategies: Vec<String>,
    pub revisions: Vec<RevisionJson>,
    /// Totals over all revisions with results, over the merges among these, and over the
    /// automerges among these.
    pub totals: TotalsJson,
    pub merges: TotalsJson,
    pub automerges: TotalsJson,
    /// Tests that a safe strategy left out though they ended differently.
    pub misses: usize,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RevisionJson {
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
pub(crate) struct ChosenJson {
    /// The strategy that was computed.
    pub used: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_because: Option<String>,
    pub selected: usize,
    /// The share of all tests; 0 if there are none.
    pub share: f64,
    /// How many selected tests run because of each kind of cause. Each test counts once.
    pub causes: BTreeMap<&'static str, usize>,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<MissJson>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct MissJson {
    pub test: String,
    /// The revision whose result was used, that result, and the real one.
    pub taken_from: String,
    pub then: &'static str,
    pub now: &'static str,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TotalsJson {
    pub revisions: usize,
    pub tests: usize,
    pub seconds: f64,
    pub strategies: BTreeMap<String, TotalJson>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TotalJson {
    pub selected: usize,
    pub share: f64,
    pub causes: BTreeMap<&'static str, usize>,
    pub seconds: f64,
    pub misses: usize,
}

/// The suffix of a strategy in its published form.
pub(crate) const PUBLISHED: &str = "-published";

impl ReplayJson {
    /// Computes the totals of the revisions.
    pub(crate) fn new(strategies: Vec<String>, revisions: Vec<RevisionJson>) -> ReplayJson {
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
                for (cause, count) in &chosen.causes {
                    *total.causes.entry(cause).or_default() += count;
                }
            }
        }
    }
    for total in totals.strategies.values_mut() {
        total.share = share(total.selected, totals.tests);
    }
    totals
}

impl ReplayJson {
    /// The first strategy, whose causes are shown, and all causes that it has anywhere.
    fn causes(&self) -> Option<(&str, Vec<&'static str>)> {
        let name = self.strategies.first()?;
        let total = self.totals.strategies.get(name)?;
        let words = CauseKind::ALL.iter().map(|kind| kind.word());
        let occurring = words.filter(|word| total.causes.contains_key(word));
        Some((name, occurring.collect()))
    }
}

/// A part of a whole; 0 if the whole is 0.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(used: &'static str, selected: usize, tests: usize) -> ChosenJson {
        let fallbacks = match used {
            "merge-parents" => vec!["merge-parents instead of merge-history: a gap".to_owned()],
            _ => Vec::new(),
        };
        ChosenJson {
            used,
            fallbacks,
            all_because: None,
            selected,
            share: share(selected, tests),
            causes: causes(selected),
            seconds: selected as f64 / 2.0,
            misses: Vec::new(),
        }
    }

    /// One test because of a body, all others because of effects.
    fn causes(selected: usize) -> BTreeMap<&'static str, usize> {
        let both = [
            ("body", selected.min(1)),
            ("effects", selected.saturating_sub(1)),
        ];
        both.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn revision(
        commit: &str,
        kind: &'static str,
        memo: usize,
        history: ChosenJson,
    ) -> RevisionJson {
        let strategies = [
            ("memo".to_owned(), chosen("memo", memo, 10)),
            ("merge-history".to_owned(), history),
        ];
        RevisionJson {
            commit: commit.repeat(40),
            subject: "a <b> & \"c\"".to_owned(),
            kind,
            auto: kind == "automerge",
            parents: if kind == "automerge" { 2 } else { 1 },
            missing: None,
            tests: 10,
            seconds: 5.0,
            strategies: strategies.into(),
        }
    }

    fn sample() -> ReplayJson {
        let mut missed = chosen("merge-history", 2, 10);
        missed.misses.push(MissJson {
            test: "t.py::x\u{1b}[1m".to_owned(),
            taken_from: "e".repeat(40),
            then: "passed",
            now: "failed",
        });
        let mut broken = revision("d", "commit", 0, chosen("commit", 0, 0));
        broken.missing = Some("the build failed".to_owned());
        let revisions = vec![
            revision("a", "commit", 4, chosen("commit", 4, 10)),
            revision("b", "automerge", 1, chosen("merge-parents", 2, 10)),
            revision("c", "automerge", 0, missed),
            broken,
        ];
        let names = ["memo", "merge-history"].map(str::to_owned);
        ReplayJson::new(names.to_vec(), revisions)
    }

    #[test]
    fn the_table_tells_sums_stand_ins_and_misses() {
        insta::assert_snapshot!(sample().table(), @r"
        revision    kind       tests  seconds   memo  merge-history
        aaaaaaaaaa  commit        10      5.0      4              4
        bbbbbbbbbb  automerge     10      5.0      1             2*
        cccccccccc  automerge     10      5.0      0              2
        dddddddddd  commit        10      5.0      -              -
        all         3             30     15.0      5              8
                                100%           16.7%          26.7%
        merges      2             20     10.0      1              4
                                100%            5.0%          20.0%
        automerges  2             20     10.0      1              4
                                100%            5.0%          20.0%
        why memo runs  tests  body  effects
        aaaaaaaaaa         4     1        3
        bbbbbbbbbb         1     1
        all                5     2        3
        merges             1     1
        memo: 2.5 of 15.0 seconds, 12.5 saved
        merge-history: 4.0 of 15.0 seconds, 11.0 saved
        dddddddddd has no results: the build failed
        * 1 times merge-parents instead of merge-history: a gap
        misses: 1
        merge-history left out t.py::x\u{1b}[1m at cccccccccc: passed as at eeeeeeeeee, but failed there
        ");
    }

    #[test]
    fn the_page_shows_names_as_they_are() {
        let page = sample().page();
        assert!(page.contains("a &lt;b&gt; &amp; &quot;c&quot;"));
        assert!(!page.contains("a <b>"));
        assert!(page.contains("1 test was left out and ended differently"));
        // One bar for each strategy at each merge.
        assert_eq!(page.matches("of 10 tests").count(), 4);
        // One part for each cause at each revision where it made a test run.
        assert_eq!(page.matches("1 because of body").count(), 2);
        assert_eq!(page.matches("3 because of effects").count(), 1);
        assert_eq!(page.matches("<details").count(), 1);
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    }
}
