//! The table for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{ChosenJson, ReplayJson, TotalsJson};
use crate::escape;
use crate::history::short;

/// How many misses are listed; JSON has all of them.
const MOST_MISSES: usize = 20;

impl ReplayJson {
    /// One line for each revision, then totals, fallbacks and misses.
    pub(crate) fn table(&self) -> String {
        let mut rows = vec![self.heading()];
        for revision in &self.revisions {
            let mut row = vec![
                short(&revision.commit).to_owned(),
                revision.kind.to_owned(),
                revision.tests.to_string(),
                format!("{:.1}", revision.seconds),
            ];
            for name in &self.strategies {
                row.push(match (&revision.missing, revision.strategies.get(name)) {
                    (None, Some(chosen)) => {
                        let fell = if gave_way(chosen) { "*" } else { "" };
                        format!("{}{fell}", chosen.selected)
                    }
                    _ => "-".to_owned(),
                });
            }
            rows.push(row);
        }
        for (what, totals) in [
            ("all", &self.totals),
            ("merges", &self.merges),
            ("automerges", &self.automerges),
        ] {
            if totals.revisions > 0 {
                rows.push(self.sum(what, totals));
                rows.push(self.share_line(totals));
            }
        }
        let mut text = aligned(&rows, 2);
        self.tell_causes(&mut text);
        self.tell_savings(&mut text);
        self.tell_missing(&mut text);
        self.tell_fallbacks(&mut text);
        self.tell_misses(&mut text);
        text
    }

    fn heading(&self) -> Vec<String> {
        let fixed = ["revision", "kind", "tests", "seconds"];
        let fixed = fixed.into_iter().map(str::to_owned);
        fixed.chain(self.strategies.iter().cloned()).collect()
    }

    fn sum(&self, what: &str, totals: &TotalsJson) -> Vec<String> {
        let mut row = vec![
            what.to_owned(),
            totals.revisions.to_string(),
            totals.tests.to_string(),
            format!("{:.1}", totals.seconds),
        ];
        let selected = |name| {
            totals
                .strategies
                .get(name)
                .map_or(0, |total| total.selected)
        };
        row.extend(
            self.strategies
                .iter()
                .map(|name| selected(name).to_string()),
        );
        row
    }

    fn share_line(&self, totals: &TotalsJson) -> Vec<String> {
        let mut row = vec![String::new(), String::new(), "100%".into(), String::new()];
        let share = |name| totals.strategies.get(name).map_or(0.0, |total| total.share);
        let shares = self.strategies.iter().map(|name| share(name) * 100.0);
        row.extend(shares.map(|share| format!("{share:.1}%")));
        row
    }

    /// Shows why the first strategy selects tests, in one line for each revision with any.
    fn tell_causes(&self, text: &mut String) {
        let Some((name, words)) = self.causes().filter(|(_, words)| !words.is_empty()) else {
            return;
        };
        let line = |first: &str, selected: usize, causes: &BTreeMap<&'static str, usize>| {
            let count = |word: &&'static str| causes.get(word).map(usize::to_string);
            let counts = words.iter().map(|word| count(word).unwrap_or_default());
            let first = [first.to_owned(), selected.to_string()];
            first.into_iter().chain(counts).collect()
        };
        let heading = words.iter().map(|word| (*word).to_owned());
        let first = [format!("why {name} runs"), "tests".to_owned()];
        let mut rows: Vec<Vec<String>> = vec![first.into_iter().chain(heading).collect()];
        for revision in self.revisions.iter().filter(|row| row.missing.is_none()) {
            if let Some(chosen) = revision.strategies.get(name)
                && chosen.selected > 0
            {
                let commit = short(&revision.commit);
                rows.push(line(commit, chosen.selected, &chosen.causes));
            }
        }
        for (what, totals) in [("all", &self.totals), ("merges", &self.merges)] {
            if let Some(total) = totals.strategies.get(name) {
                rows.push(line(what, total.selected, &total.causes));
            }
        }
        text.push_str(&aligned(&rows, 1));
    }

    fn tell_savings(&self, text: &mut String) {
        for name in &self.strategies {
            if let Some(total) = self.totals.strategies.get(name) {
                let saved = self.totals.seconds - total.seconds;
                let _ = writeln!(
                    text,
                    "{name}: {:.1} of {:.1} seconds, {saved:.1} saved",
                    total.seconds, self.totals.seconds
                );
            }
        }
        for (more, fewer) in [
            ("merge-dom", "merge-history"),
            ("merge-history", "merge-parents"),
            ("merge-dom", "memo"),
        ] {
            let of = |name| self.automerges.strategies.get(name);
            if let (Some(more_total), Some(fewer_total)) = (of(more), of(fewer))
                && fewer_total.selected > 0
            {
                let times = more_total.selected as f64 / fewer_total.selected as f64;
                let _ = writeln!(
                    text,
                    "at automerges {more} selects {times:.2} times as many tests as {fewer}"
                );
            }
        }
    }

    fn tell_missing(&self, text: &mut String) {
        for revision in &self.revisions {
            if let Some(why) = &revision.missing {
                let commit = short(&revision.commit);
                let _ = writeln!(text, "{commit} has no results: {}", escape::line(why));
            }
        }
    }

    fn tell_fallbacks(&self, text: &mut String) {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for revision in self.revisions.iter().filter(|row| row.missing.is_none()) {
            let chosen = revision.strategies.values().filter(|one| gave_way(one));
            for fallback in chosen.flat_map(|one| &one.fallbacks) {
                *reasons.entry(fallback).or_default() += 1;
            }
        }
        for (reason, count) in reasons {
            let _ = writeln!(text, "* {count} times {}", escape::line(reason));
        }
    }

    fn tell_misses(&self, text: &mut String) {
        let _ = writeln!(text, "misses: {}", self.misses);
        let all = self.revisions.iter().flat_map(|revision| {
            let of_revision = revision.strategies.iter();
            of_revision.flat_map(move |(name, chosen)| {
                chosen.misses.iter().map(move |miss| (revision, name, miss))
            })
        });
        for (revision, name, miss) in all.take(MOST_MISSES) {
            let _ = writeln!(
                text,
                "{name} left out {} at {}: {} as at {}, but {} there",
                escape::line(&miss.test),
                short(&revision.commit),
                miss.then,
                short(&miss.taken_from),
                miss.now,
            );
        }
    }
}

/// Whether another strategy truly replaced this one. At a commit that is not a merge, for
/// example, merge strategies compare with the parent by definition.
fn gave_way(chosen: &ChosenJson) -> bool {
    !chosen.fallbacks.is_empty() && chosen.used != "commit"
}

/// Columns of equal width: the first ones aligned left, numbers right.
fn aligned(rows: &[Vec<String>], to_the_left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(String::len)
            .max()
    };
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells: Vec<String> = cells
            .map(|(at, (cell, width))| match at < to_the_left {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            })
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
