//! How a process that runs tests is asked for an order, and what it tells meanwhile: the same
//! for all runners.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Limits, Ran};
use crate::error::Error;
use crate::matrix::Outcome;
use crate::order::{How, Lost};
use crate::run::{Ended, Heard, Served};

/// What a process may take before its first test and after its last.
const AROUND_TESTS: Duration = Duration::from_secs(60);

/// Lines of a process's output in an error.
const MOST_WORDS: usize = 12;

/// How much was told of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runners) enum Told {
    All,
    /// The process ended or was killed before.
    Some,
    Interrupted,
}

/// What came of an order.
pub(in crate::runners) struct Heeded {
    pub(in crate::runners) told: Told,
    pub(in crate::runners) ran: Ran,
    /// What the process was asked to look for besides, and what else it said at its end.
    pub(in crate::runners) seen: Value,
    pub(in crate::runners) last: Value,
}

/// One order, as a process is asked to run it.
pub(in crate::runners) struct Request<'s> {
    order: &'s [String],
    /// The places of the tests in the list of the process.
    pub(in crate::runners) numbers: Vec<usize>,
    pub(in crate::runners) limits: Vec<Duration>,
    ran: Ran,
    seen: Value,
    last: Value,
    /// The test that runs, and the one that comes next.
    running: Option<usize>,
    next: usize,
}

impl<'s> Request<'s> {
    /// `number` tells the place of a test in the list of the process.
    ///
    /// # Errors
    /// If it has no such test, or one is in the order twice.
    pub(in crate::runners) fn new(
        order: &'s [String],
        number: impl Fn(&str) -> Option<usize>,
        limits: Limits<'_>,
    ) -> Result<Request<'s>, Error> {
        let mut seen = BTreeSet::new();
        let mut numbers = Vec::new();
        for test in order {
            let Some(number) = number(test) else {
                let why = format!("{test} was collected once, and not again");
                return Err(
                    Error::usage(why).with_hint("give its parameters ids that do not change")
                );
            };
            if !seen.insert(test) {
                return Err(Error::usage(format!("{test} is in the order twice")));
            }
            numbers.push(number);
        }
        Ok(Request {
            numbers,
            limits: order.iter().map(|test| limits(test)).collect(),
            order,
            ran: Ran::default(),
            seen: Value::Null,
            last: Value::Null,
            running: None,
            next: 0,
        })
    }

    /// Says `words` to a process, and hears what comes of it. `more` is what it has to notice
    /// by itself that a test takes too long.
    ///
    /// # Errors
    /// The system fails.
    pub(in crate::runners) fn hear(
        mut self,
        served: &mut Served,
        words: &str,
        more: Duration,
    ) -> Result<Heeded, Error> {
        served.say(words);
        let told = self.listen(served, more)?;
        Ok(Heeded {
            told,
            ran: self.ran,
            seen: self.seen,
            last: self.last,
        })
    }

    fn listen(&mut self, served: &mut Served, more: Duration) -> Result<Told, Error> {
        loop {
            let limit = self.running.map_or(AROUND_TESTS, |at| self.limits[at]);
            match served.hear(Some(Instant::now() + limit + more))? {
                Heard::Line(line) => {
                    let message: Value =
                        serde_json::from_str(&line).map_err(anyhow::Error::from)?;
                    if self.take(&message) {
                        return Ok(Told::All);
                    }
                }
                Heard::Late => {
                    served.kill()?;
                    self.lose(How::TimedOut, None);
                    return Ok(Told::Some);
                }
                Heard::Ended => {
                    let ended = served.end()?;
                    let how = match ended {
                        Ended::Exit(status) => json!({ "exit": status }),
                        Ended::Signal(signal) => json!({ "signal": signal }),
                    };
                    self.lose(How::Crashed, Some(early_end(&how)));
                    return Ok(Told::Some);
                }
                Heard::Interrupted => {
                    served.kill()?;
                    return Ok(Told::Interrupted);
                }
            }
        }
    }

    /// Takes a message; whether it is the last one.
    fn take(&mut self, message: &Value) -> bool {
        let at = message[1].as_u64().map(|at| at as usize);
        match (message[0].as_str(), at) {
            (Some("b"), Some(at)) => self.running = Some(at),
            (Some("e"), Some(at)) if at < self.order.len() => {
                let test = &self.order[at];
                let word = message[2].as_str().unwrap_or_default();
                let outcome = Outcome::ALL.into_iter().find(|one| one.word() == word);
                let ended = &mut self.ran.ended;
                ended
                    .outcomes
                    .insert(test.clone(), outcome.unwrap_or(Outcome::Error));
                let seconds = message[3].as_f64().unwrap_or_default();
                ended.seconds.insert(test.clone(), seconds);
                if let Some(why) = message[4].as_str() {
                    self.ran.said.insert(test.clone(), why.to_owned());
                }
                (self.running, self.next) = (None, at + 1);
            }
            (Some("w"), _) => self.seen = message[2].clone(),
            (Some("d"), _) => {
                self.last = message.clone();
                self.ran.ended.cpu = message[2].as_f64().unwrap_or_default();
                match &message[1] {
                    Value::Null => {}
                    how if how.get("timed_out").is_some() => self.lose(How::TimedOut, None),
                    how => self.lose(How::Crashed, Some(early_end(how))),
                }
                return true;
            }
            _ => {}
        }
        false
    }

    /// The process ended at the test that was running.
    fn lose(&mut self, how: How, said: Option<String>) {
        let at = self.running.unwrap_or(self.next);
        let last = self.order.len().saturating_sub(1);
        let Some(test) = self.order.get(at.min(last)) else {
            return;
        };
        let said = said.unwrap_or_else(|| {
            let limit = self.limits.get(at).copied().unwrap_or(AROUND_TESTS);
            format!(
                "took longer than {:.0} s, and was stopped",
                limit.as_secs_f64()
            )
        });
        self.ran.said.insert(test.clone(), said);
        self.ran.ended.lost = Some(Lost {
            test: test.clone(),
            how,
        });
    }
}

fn early_end(how: &Value) -> String {
    if let Some(signal) = how.get("signal").and_then(Value::as_i64) {
        return format!("the process was ended by signal {signal}");
    }
    if let Some(status) = how.get("exit").and_then(Value::as_i64) {
        return format!("the process ended with status {status}");
    }
    let stopped = how.get("stopped").and_then(Value::as_str);
    format!(
        "it stopped the run: {}",
        stopped.unwrap_or("no reason is known")
    )
}

/// An error with the last lines of what the process wrote.
pub(in crate::runners) fn explained(why: String, served: &Served) -> Error {
    let said = served.last_words();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(MOST_WORDS);
    match lines[from..].join("\n  ") {
        words if words.is_empty() => Error::usage(why),
        words => Error::usage(format!("{why}:\n  {words}")),
    }
}
