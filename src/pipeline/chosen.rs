//! Runs for which options or names of files choose tests, so that others which are known are not
//! there.
//!
//! What those leave the chosen ones have not met, and who meets what these leave was not there,
//! perhaps. So their rows count for other runs only when it is known that they read nothing of it,
//! and what they leave with another value than before nobody knows.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use bstr::ByteSlice;

use super::assembly::Assembly;
use super::project::Project;
use super::recording::Recording;
use super::ties::at;
use crate::history::{Entry, View};
use crate::matrix::{LeftIn, Matrix, RowFacts, Table, TestId, Ties};
use crate::observe::{LookedIn, Observations};
use crate::runners::file_of;

/// Why a row that says nothing is there.
const UNCHOSEN: &str = "it was to run, and options or names of files chose others";

/// The same where the run ended early.
pub(super) const STOPPED: &str = "it was to run, and the run ended before";

/// How the tests of a run were chosen.
#[derive(Default)]
pub(super) struct Chosen {
    /// Whether some that are known were not there.
    pub is_narrow: bool,
    /// Whether this is told of the rows, as values tell what tests leave.
    pub counts: bool,
    /// Known tests that no longer are there anywhere.
    pub gone: BTreeSet<String>,
    /// Tests that were to run and were not there, or did not come to their turn.
    pub not: BTreeSet<String>,
    /// Whether they came in the order that is known.
    pub is_sorted: bool,
}

impl Chosen {
    /// How those of `collected` were chosen that `recording` is about.
    ///
    /// # Errors
    /// If git cannot be read.
    pub(super) fn of(
        project: &Project,
        recording: &Recording<'_>,
        collected: &Observations,
    ) -> Result<Chosen> {
        let decision = recording.decision;
        let mut chosen = Chosen::default();
        let order = collected.order.as_ref();
        let there: Option<BTreeSet<&str>> =
            order.map(|order| order.iter().map(String::as_str).collect());
        let is_open = |test: &&String| collected.lacks(test);
        for test in decision.selection.verdicts.keys().filter(is_open) {
            if is_gone(project, recording.before, collected, test)? {
                chosen.gone.insert(test.clone());
            }
        }
        chosen.is_narrow = there.is_some_and(|there| {
            let mut known = decision.selection.verdicts.keys();
            known.any(|test| !there.contains(test.as_str()) && !chosen.gone.contains(test))
        });
        let nearest = decision.baseline.as_ref();
        let matrix = nearest.and_then(|nearest| nearest.matrix.whole().ok());
        chosen.counts = chosen.is_narrow && matrix.is_some_and(Matrix::has_values);
        Ok(chosen)
    }
}

/// Whether a test that the runner lacks is no longer there: not if its file is, and the runner was
/// given others.
fn is_gone(project: &Project, view: &View, collected: &Observations, test: &str) -> Result<bool> {
    let path = project.path_of(file_of(test));
    let looked_in = |one: &Option<LookedIn>| {
        let Some(LookedIn { args, places, .. }) = one else {
            return true;
        };
        let is_part = args.iter().any(|word| word.contains("::"));
        let has = |place: &String| is_within(&path, place.as_bytes());
        let is_in = places.as_ref().is_none_or(|all| all.iter().any(has));
        is_in && !is_part
    };
    let is_certain = collected.looked_in.is_empty() || collected.looked_in.iter().any(looked_in);
    Ok(is_certain || view.entry(path.as_bstr())? == Entry::Missing)
}

fn is_within(path: &[u8], place: &[u8]) -> bool {
    let rest = path.strip_prefix(place);
    place.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

impl<'a> Assembly<'a> {
    /// Whether it is known of all rows that they hold among all tests.
    pub(super) fn among_all(&self) -> bool {
        let is_shard = self.recording.shard.is_some();
        self.collected.order.is_some() && !self.chosen.is_narrow && !is_shard
    }

    /// Of tests that were to run and were not there, rows that prove nothing: what they left is not
    /// forgotten, for others have met it.
    pub(super) fn add_unchosen_rows(&mut self) -> Result<()> {
        let decision = self.recording.decision;
        if !self.chosen.counts {
            return Ok(());
        }
        let order = self.collected.order.iter().flatten();
        let there: BTreeSet<&str> = order.map(String::as_str).collect();
        for (test, _) in decision.selection.selected() {
            let is_open = !self.builder.has_row(test) && !there.contains(test);
            if is_open && !self.chosen.gone.contains(test) {
                self.add_open_row(test, UNCHOSEN)?;
            }
        }
        Ok(())
    }

    /// A row of the nearest record without what it names, which proves nothing.
    pub(super) fn add_open_row(&mut self, test: &str, why: &str) -> Result<()> {
        let nearest = self.recording.decision.baseline.as_ref();
        let Some(matrix) = nearest.map(|nearest| nearest.matrix.whole()).transpose()? else {
            return Ok(());
        };
        let Some(row) = matrix.row(TestId::Test(test)) else {
            return Ok(());
        };
        let facts = RowFacts {
            test: row.test.clone(),
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            position: row.position,
            incomplete: Some(why.to_owned()),
            run: self.run(&matrix.header.runs[row.run as usize]),
            selected: false,
            own: None,
        };
        self.builder.row(facts, [])?;
        self.chosen.not.insert(test.to_owned());
        self.note_source(matrix);
        Ok(())
    }

    /// Adds to what tests of a run for which options chose them left what they left besides. With
    /// what value among all nobody knows. What nobody left before stays open: the run that has
    /// those who can meet it looks at it.
    pub(super) fn add_left_by_chosen(
        &self,
        left: &mut BTreeMap<String, Vec<LeftIn>>,
        is_placed: impl Fn(&str) -> bool,
    ) {
        for row in &self.collected.rows {
            let test = row.test.as_str();
            let is_told = self.builder.has_row(test) && is_placed(test);
            let now = self.collected.left.get(test).filter(|_| is_told);
            let Some(now) = now else {
                continue;
            };
            let then = left.get(test).map_or(&[][..], Vec::as_slice);
            let is_new = |cell: &&LeftIn| at(then, &cell.path, &cell.name).is_none();
            let is_open = |cell: &&LeftIn| self.recorded.anew.is_open(test, cell);
            let more = now.iter().filter(|cell| is_new(cell) && !is_open(cell));
            let more: Vec<LeftIn> = { more.cloned() }
                .map(|cell| LeftIn {
                    value: None,
                    is_unknown: true,
                    ..cell
                })
                .collect();
            if !more.is_empty() {
                let cells = left.entry(test.to_owned()).or_default();
                cells.extend(more);
                cells.sort();
            }
        }
    }

    /// By run for which options chose tests: those that leave something and were not there.
    pub(super) fn absent<'t>(
        &self,
        before: impl Iterator<Item = &'t Ties> + Clone,
    ) -> BTreeMap<String, Vec<String>> {
        let known = before.clone().flat_map(|ties| ties.absent.clone());
        let mut absent: BTreeMap<String, Vec<String>> = known.collect();
        if self.chosen.counts {
            // What they have met in another order is not what they meet among all.
            let order = self.collected.order.iter().flatten();
            let order = order.filter(|_| self.chosen.is_sorted);
            let there: BTreeSet<&str> = order.map(String::as_str).collect();
            let leavers = before.flat_map(|ties| ties.left.keys().chain(ties.made.keys()));
            let leavers: BTreeSet<&String> = leavers
                .filter(|test| !there.contains(test.as_str()) && !self.chosen.gone.contains(*test))
                .collect();
            let leavers = leavers.into_iter().cloned().collect();
            absent.insert(self.recording.run.clone(), leavers);
        }
        absent
    }
}

/// Forgets who was not there in runs of which there is no row left.
pub(super) fn forget_absent(matrix: &mut Matrix) {
    let runs = matrix.header.runs.iter().filter(|run| run.chose);
    let runs: BTreeSet<&str> = runs.map(|run| run.id.as_str()).collect();
    let ties = matrix
        .values
        .as_mut()
        .and_then(|values| values.ties.as_mut());
    if let Some(ties) = ties {
        ties.absent.retain(|run, _| runs.contains(run.as_str()));
    }
}

/// Whether the `known` tests among those of `order` come in their order there, too.
pub(super) fn is_sorted(known: &[&str], order: Option<&[String]>) -> bool {
    let places: BTreeMap<&str, usize> = known.iter().copied().zip(0..).collect();
    let order = order.unwrap_or_default().iter();
    let places = order.filter_map(|test| places.get(test.as_str()));
    places.is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_tests_may_come_in_another_order_than_the_known_one() {
        let is = |order: &[&str]| {
            let order: Vec<String> = order.iter().map(|test| (*test).to_owned()).collect();
            is_sorted(&["a", "b", "c"], Some(&order))
        };
        assert!(is(&["x", "b", "y", "c"]) && is(&[]) && is(&["a", "b"]));
        assert!(!is(&["c", "x", "b"]));
    }

    #[test]
    fn a_file_is_within_a_folder_and_itself() {
        let is = |path: &str, place: &str| is_within(path.as_bytes(), place.as_bytes());
        assert!(is("a/b.py", "a") && is("a/b.py", "a/b.py") && is("a/b.py", ""));
        assert!(!is("ab/c.py", "a") && !is("a", "a/b.py"));
    }
}
