//! A search as people see it: its progress, and what it has found.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::count::{counted, number};
use crate::error::Error;
use crate::matrix::Outcome;
use crate::order::{Dependences, Dependent, Detect, Detected, Doubt, Kind};
use crate::pipeline::Ordering;
use crate::report::{Event, Report, escape};
use crate::runners::Ran;

/// Of longer orders nobody asks how their last test ended.
const LONGEST: usize = 12;

/// For so many findings a command is checked that shows them without tamis.
const MOST_COMMANDS: usize = 25;

/// How the last test of an order ended.
#[derive(Clone, Debug)]
struct Shown {
    outcome: Outcome,
    said: Option<String>,
}

impl Shown {
    fn of(test: &str, ran: &Ran) -> Option<Shown> {
        let lost = ran.ended.lost.as_ref().filter(|lost| lost.test == test);
        let outcome = match lost {
            Some(_) => Outcome::Crashed,
            None => *ran.ended.outcomes.get(test)?,
        };
        let said = ran.said.get(test).cloned();
        Some(Shown { outcome, said })
    }
}

/// A search that runs.
pub(super) struct Searching<'r> {
    report: &'r Report,
    phase: String,
    /// How the last test of each short order ended, and what it said.
    last: BTreeMap<Vec<String>, Shown>,
}

impl<'r> Searching<'r> {
    pub(super) fn new(report: &'r Report) -> Searching<'r> {
        Searching {
            report,
            phase: String::new(),
            last: BTreeMap::new(),
        }
    }

    /// Notes how tests are known to end in orders that need not run again.
    pub(super) fn remember(&mut self, known: &Dependences) {
        let found = known.found.dependent.iter();
        for witness in found.flat_map(|dependent| &dependent.witnesses) {
            if let Some(outcome) = known.outcome_of(witness) {
                let said = None;
                self.last.insert(witness.clone(), Shown { outcome, said });
            }
        }
    }

    /// Runs it to its end; whether the user interrupted it.
    pub(super) fn drive(
        &mut self,
        tests: &mut Ordering,
        search: &mut Detect,
    ) -> Result<bool, Error> {
        let done = tests.drive(search, &mut |search, step, ran| {
            if search.phase() != self.phase {
                self.phase = search.phase();
                let work = format!("running orders: {}", self.phase);
                self.report.event(Event::Began { work, total: None });
            }
            let done = search.spent().orders as u64;
            self.report.event(Event::Advanced { done });
            let last = step.order.last().filter(|_| step.order.len() <= LONGEST);
            if let Some(shown) = last.and_then(|test| Shown::of(test, ran)) {
                self.last.insert(step.order.clone(), shown);
            }
        });
        self.report.event(Event::Ended);
        if matches!(done, Ok(true)) {
            search.stop();
        }
        done
    }
}

/// What was found, with what people need besides.
pub(super) struct Told {
    pub(super) found: Detected,
    /// For each dependent test and each witness how it ended, and what it said.
    shown: Vec<Vec<Option<Shown>>>,
    /// For each dependent test a command that was seen to show it without tamis.
    commands: Vec<Option<String>>,
}

impl Told {
    /// `tries`: whether commands are tried, which takes a process for each.
    pub(super) fn new(
        found: Detected,
        searching: &Searching<'_>,
        tests: &mut Ordering,
        tries: bool,
        report: &Report,
    ) -> Result<Told, Error> {
        let mut told = Told {
            shown: Vec::new(),
            commands: Vec::new(),
            found,
        };
        for (at, dependent) in told.found.dependent.iter().enumerate() {
            let shown = dependent.witnesses.iter();
            let shown: Vec<_> = shown.map(|one| searching.last.get(one).cloned()).collect();
            let mut command = None;
            if let (true, Some(witness)) =
                (tries && at < MOST_COMMANDS, dependent.witnesses.first())
            {
                if at == 0 {
                    let work = "trying commands that show it".to_owned();
                    report.event(Event::Began { work, total: None });
                }
                let wanted = shown[0].as_ref().map(|shown| shown.outcome);
                let ran = tests.reproduce(witness)?;
                let again = ran.and_then(|ran| Shown::of(&dependent.id, &ran));
                let outcome = again.map(|shown| shown.outcome);
                if outcome.is_some() && outcome == wanted {
                    command = Some(tests.command_for(witness));
                }
            }
            told.shown.push(shown);
            told.commands.push(command);
        }
        report.event(Event::Ended);
        Ok(told)
    }

    pub(super) fn json(&self) -> Result<Value, Error> {
        let mut document = serde_json::to_value(&self.found).map_err(anyhow::Error::from)?;
        for (at, command) in self.commands.iter().enumerate() {
            let dependent = &mut document["dependent"][at];
            dependent["reproducer"] = json!(command);
            let shown = self.shown[at].iter().map(|shown| {
                let Shown { outcome, said } = shown.as_ref()?;
                Some(json!({ "outcome": outcome.word(), "message": said }))
            });
            dependent["shown"] = shown.collect::<Vec<_>>().into();
        }
        Ok(document)
    }

    pub(super) fn page(&self) -> String {
        let found = &self.found;
        let mut page = String::new();
        for (at, dependent) in found.dependent.iter().enumerate() {
            page.push_str(&self.entry(at, dependent));
        }
        for test in &found.flaky {
            page.push_str(&format!(
                "flaky    {}\n         ends in different ways in one and the same order\n",
                escape::line(test)
            ));
        }
        for one in &found.unconfirmed {
            let why = match one.reason {
                Doubt::Budget => {
                    "changed in another order; the search ended before it was explained"
                }
                Doubt::Fresh => "changed in forks only, and not in processes of its own",
            };
            page.push_str(&format!(
                "unclear  {}\n         {why}\n",
                escape::line(&one.id)
            ));
        }
        page.push_str(&self.summary());
        page
    }

    fn entry(&self, at: usize, dependent: &Dependent) -> String {
        let kind = match dependent.kind {
            Kind::Victim => "victim",
            Kind::Brittle => "brittle",
            Kind::Both => "both",
        };
        let id = escape::line(&dependent.id);
        let mut text = format!(
            "{kind:<8} {id}\n         {} alone\n",
            dependent.alone.past()
        );
        for (witness, shown) in dependent.witnesses.iter().zip(&self.shown[at]) {
            let before = &witness[..witness.len() - 1];
            let before: Vec<_> = before.iter().map(|test| escape::line(test)).collect();
            let (how, said) = match shown {
                Some(shown) => (shown.outcome.past(), shown.said.as_deref()),
                None => ("ended otherwise", None),
            };
            let said = said.map(|said| format!(": {}", escape::line(said)));
            text.push_str(&format!(
                "         {how} after {}{}\n",
                before.join(", then "),
                said.unwrap_or_default()
            ));
        }
        if !dependent.cleaners.is_empty() {
            let cleaners: Vec<_> = dependent
                .cleaners
                .iter()
                .map(|one| escape::line(one))
                .collect();
            text.push_str(&format!(
                "         not if in between runs {}\n",
                cleaners.join(" or ")
            ));
        }
        if !dependent.cells.is_empty() {
            let cells: Vec<_> = dependent
                .cells
                .iter()
                .map(|one| escape::line(one))
                .collect();
            text.push_str(&format!("         by way of {}\n", cells.join(", ")));
        }
        if dependent.masked {
            text.push_str(
                "         the suite's own order hides that it fails: the program may be wrong\n",
            );
        }
        if !dependent.confirmed.fresh {
            text.push_str("         not confirmed in processes of its own\n");
        }
        match &self.commands[at] {
            Some(command) => {
                text.push_str(&format!("         to see it: {}\n", escape::line(command)))
            }
            None => {
                text.push_str("         to see it: `tamis order run` with these tests in a file\n")
            }
        }
        text
    }

    fn summary(&self) -> String {
        let found = &self.found;
        let covered = &found.covered;
        let flaky = match found.flaky.len() {
            0 => String::new(),
            flaky => format!(", {flaky} flaky"),
        };
        let unclear = match found.unconfirmed.len() {
            0 => String::new(),
            unclear => format!(", {unclear} unclear"),
        };
        let cut = match (covered.interrupted, covered.cut_short) {
            (true, _) => " (the search was interrupted)",
            (false, true) => " (the budget ended the search)",
            (false, false) => "",
        };
        let strategies = match covered.strategies.is_empty() {
            true => "nothing to its end".to_owned(),
            false => covered.strategies.join(", "),
        };
        let candidates = covered.candidates.as_ref().map_or_else(String::new, |all| {
            let (done, pairs) = (number(all.covered as u64), number(all.pairs as u64));
            format!("{done} of {pairs} pairs of a test that writes and one that reads, and ")
        });
        let mut left = String::new();
        if let Some([writer, reader]) = covered.candidates.iter().flat_map(|all| &all.left).next() {
            let (writer, reader) = (escape::line(writer), escape::line(reader));
            left = format!("not covered, as one of several: {reader} directly after {writer}\n");
        }
        format!(
            "{} of {} depend on order{flaky}{unclear}\n\
             covered: {strategies}; {candidates}{} of {} pairs were adjacent{cut}\n{left}\
             took {}, {} and {:.1} s of processor time\n",
            found.dependent.len(),
            counted(found.tests, "test"),
            number(covered.pairs as u64),
            number(covered.pairs_total as u64),
            counted(covered.orders, "order"),
            counted(covered.executions, "execution"),
            covered.cpu_seconds,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ended_a_search_is_not_guessed() {
        let found = json!({
            "schema": 1, "tests": 2, "dependent": [], "flaky": [],
            "unconfirmed": [
                { "id": "a.py::t", "reason": "budget", "order": ["a.py::u", "a.py::t"] },
            ],
            "covered": {
                "strategies": [], "pairs": 0, "pairs_total": 2, "candidates": null, "k": 0,
                "orders": 1, "executions": 2, "cpu_seconds": 0.0, "cut_short": false,
                "interrupted": true,
            },
        });
        let told = Told {
            found: serde_json::from_value(found).unwrap(),
            shown: Vec::new(),
            commands: Vec::new(),
        };
        let page = told.page();
        assert!(
            page.contains("the search ended before it was explained"),
            "{page}"
        );
        assert!(page.contains("(the search was interrupted)"), "{page}");
        assert!(!page.contains("budget"), "{page}");
    }
}
