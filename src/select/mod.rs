//! Which tests must run. Pure: values in, verdicts out.
//!
//! A test is skipped only on proof: a complete row of a good result, each of
//! whose units has the same fingerprint now [G 4.5]. Everything else runs, and
//! the verdict says why.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bring;
mod cause;
mod choose;
mod emission;
mod layout;
mod past;
mod plan;
mod rule;
#[cfg(test)]
pub(crate) mod samples;
mod shard;
mod strategy;
#[cfg(test)]
mod tests;
mod tts;
mod unlisted;

pub(crate) use bring::Need;
pub(crate) use cause::{CauseKind, FirstCauses};
pub(crate) use choose::{Course, Nearest, Proof, choose};
pub(crate) use emission::{Exclusions, Guests, Part, Processes, ShardOf, escape};
pub(crate) use layout::{Layout, Tied};
pub(crate) use past::{Change, HeadKind, Node, Past, Tip};
pub(crate) use plan::{Plan, plan};
pub(crate) use rule::{Rule, Sources};
pub(crate) use shard::{MOST_SHARDS, Shard, Shards};
pub use strategy::Strategy;
pub(crate) use tts::{Differences, tts};
pub(crate) use unlisted::Unlisted;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::matrix::{Fingerprint, Outcome, Unit};

/// Whether a test runs, and why or why not.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Run(Reason),
    Skip(Evidence),
}

impl Verdict {
    /// Whether it need not run, and nothing is left to be looked at.
    pub fn is_proven(&self) -> bool {
        matches!(self, Verdict::Skip(evidence) if !evidence.is_open)
    }
}

/// By what an open test may meet another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Imports,
    /// What earlier tests leave for it.
    Tests,
    Both,
    /// What tests leave that were not there when it ran, as options or names of files chose others.
    /// Nothing is different.
    Others,
}

/// Why nothing is proven by a row of a run for which options chose tests.
const OTHERS_THEN: &str = "it ran without others that may leave what it reads, \
                           as options or names of files chose tests then";

/// Why a test runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// No row of it is stored.
    New,
    /// A unit of its row is different now.
    Changed {
        unit: Unit,
        from: Fingerprint,
        to: Fingerprint,
        baseline: String,
    },
    /// A unit is different by which state is made that it can read, and none of its
    /// own: it need not run if the state is the same all the same. Only the test
    /// process can tell.
    Unconfirmed {
        unit: Unit,
        from: Fingerprint,
        to: Fingerprint,
        baseline: String,
        /// As those of [`Evidence`]: if one of them differs, it runs.
        late: Arc<[(Unit, Fingerprint)]>,
        by: By,
    },
    /// It cannot be told whether a unit of its row is different now.
    Unknown {
        unit: Unit,
        why: String,
        baseline: String,
    },
    /// Its last result was not a good one.
    Failed { outcome: Outcome, baseline: String },
    /// Its row may lack units.
    Incomplete { why: String, baseline: String },
    /// It was selected on the way here, so that no earlier result can be
    /// taken: the history strategies say so.
    Affected { why: &'static str },
    /// The configuration says so.
    Forced { pattern: String },
    /// Another test needs it. By itself it need not run, and this is the proof.
    Brought { need: Need, evidence: Box<Evidence> },
}

impl Reason {
    /// The word for it in `selection.json`.
    pub fn kind(&self) -> &'static str {
        match self {
            Reason::New => "new",
            Reason::Changed { .. } => "changed",
            Reason::Unconfirmed { .. } => "unconfirmed",
            Reason::Unknown { .. } => "unknown",
            Reason::Failed { .. } => "failed",
            Reason::Incomplete { .. } => "incomplete",
            Reason::Affected { .. } => "affected",
            Reason::Forced { .. } => "forced",
            Reason::Brought { need, .. } => need.kind(),
        }
    }

    /// Whether the test runs because of what its row depends on, and not
    /// because of its last result or a wish.
    pub fn is_about_units(&self) -> bool {
        matches!(
            self,
            Reason::Changed { .. }
                | Reason::Unconfirmed { .. }
                | Reason::Unknown { .. }
                | Reason::Affected { .. }
        )
    }

    /// The same reason where nobody confirms anything by values.
    pub(crate) fn settled(self) -> Reason {
        match self {
            Reason::Unconfirmed {
                baseline,
                by: By::Others,
                ..
            } => Reason::Incomplete {
                why: OTHERS_THEN.to_owned(),
                baseline,
            },
            Reason::Unconfirmed {
                unit,
                from,
                to,
                baseline,
                ..
            } => Reason::Changed {
                unit,
                from,
                to,
                baseline,
            },
            other => other,
        }
    }

    pub fn baseline(&self) -> Option<&str> {
        match self {
            Reason::New | Reason::Affected { .. } | Reason::Forced { .. } => None,
            Reason::Brought { evidence, .. } => Some(&evidence.baseline),
            Reason::Changed { baseline, .. }
            | Reason::Unconfirmed { baseline, .. }
            | Reason::Unknown { baseline, .. }
            | Reason::Failed { baseline, .. }
            | Reason::Incomplete { baseline, .. } => Some(baseline),
        }
    }
}

impl fmt::Display for Reason {
    /// One line for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::New => write!(f, "no result of it is stored"),
            Reason::Changed { unit, from, to, .. } => match (*from, *to) {
                (Fingerprint::MISSING, _) => write!(f, "{unit} appeared"),
                (_, Fingerprint::MISSING) => write!(f, "{unit} is gone"),
                _ => write!(f, "{unit} changed"),
            },
            Reason::Unconfirmed { by: By::Others, .. } => f.write_str(OTHERS_THEN),
            Reason::Unconfirmed { unit, .. } => {
                write!(f, "{unit} changed, which makes state that it can read")
            }
            Reason::Unknown { why, .. } => write!(f, "{why}"),
            Reason::Failed { outcome, .. } => write!(f, "it {} last time", outcome.past()),
            Reason::Incomplete { why, .. } => {
                write!(f, "what it used is not fully known: {why}")
            }
            Reason::Affected { why } => f.write_str(why),
            Reason::Forced { pattern } => write!(f, "`always-run` names {pattern}"),
            Reason::Brought { need, .. } => write!(f, "it {need}"),
        }
    }
}

/// The proof that a test need not run.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Name of the matrix whose row holds now.
    pub baseline: Arc<str>,
    /// The commit of that matrix.
    pub revision: Arc<str>,
    /// The commit at which the test last ran, and how it ended there.
    pub ran_at: Arc<str>,
    pub outcome: Outcome,
    /// How many units are the same.
    pub units: usize,
    /// Units that only the test environment can settle, with the fingerprint
    /// that they must have; the skip holds only if they do.
    pub late: Arc<[(Unit, Fingerprint)]>,
    /// Whether the project's files declare not even that these did not change.
    pub is_open: bool,
    pub duration_ms: u32,
}

/// The verdicts on all known tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// By which strategy, and how it came to that one.
    pub course: Course,
    /// Why everything runs, if it does.
    pub all_because: Option<String>,
    /// By test id.
    pub verdicts: BTreeMap<String, Verdict>,
    /// Why the set of available tests may differ from the known one; `None`
    /// if it is proven to be the same.
    pub inventory_doubt: Option<String>,
    /// Files that may hold tests which nobody has listed, as far as they can be named.
    /// For dividing, not for deciding.
    pub unlisted: Vec<String>,
    /// Whether any number of others may have to run.
    pub lacks_any: bool,
    /// Whether the tests are compiled before they run, which no duration counts.
    pub compiles: bool,
    /// Names of the matrices that verdicts rely on, the nearest first.
    pub baselines: Vec<String>,
    /// The commit of each of them.
    pub revisions: BTreeMap<String, String>,
    /// Milliseconds that known tests took last, of those whose evidence does
    /// not say.
    pub durations: BTreeMap<String, u32>,
    /// What matters for dividing it, if it is to be divided.
    pub layout: Layout,
    /// For a command that runs tests in several processes.
    pub processes: Processes,
}

/// How much runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    All,
    Subset,
    None,
}

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Mode::All => "all",
            Mode::Subset => "subset",
            Mode::None => "none",
        }
    }
}

impl Selection {
    /// Everything runs, for this reason.
    pub fn all(strategy: Strategy, why: impl Into<String>) -> Selection {
        Selection {
            course: Course {
                asked: strategy,
                used: Strategy::All,
                fallbacks: Vec::new(),
                notes: Vec::new(),
            },
            all_because: Some(why.into()),
            verdicts: BTreeMap::new(),
            inventory_doubt: Some("no stored list of tests".to_owned()),
            unlisted: Vec::new(),
            lacks_any: true,
            compiles: false,
            baselines: Vec::new(),
            revisions: BTreeMap::new(),
            durations: BTreeMap::new(),
            layout: Layout::default(),
            processes: Processes::default(),
        }
    }

    /// Notes that verdicts rely on a matrix of `commit`.
    pub fn relies_on(&mut self, matrix: &str, commit: &str) {
        if !self.baselines.iter().any(|known| known == matrix) {
            self.baselines.push(matrix.to_owned());
            self.revisions.insert(matrix.to_owned(), commit.to_owned());
        }
    }

    pub fn mode(&self) -> Mode {
        if self.all_because.is_some() {
            Mode::All
        } else if self.inventory_doubt.is_none() && self.verdicts.values().all(Verdict::is_proven) {
            Mode::None
        } else {
            Mode::Subset
        }
    }

    pub fn selected(&self) -> impl Iterator<Item = (&str, &Reason)> {
        self.verdicts
            .iter()
            .filter_map(|(test, verdict)| match verdict {
                Verdict::Run(reason) => Some((test.as_str(), reason)),
                Verdict::Skip(_) => None,
            })
    }

    /// The selected tests that values may excuse.
    pub(crate) fn unconfirmed(&self) -> impl Iterator<Item = &str> {
        let is_open = |reason: &Reason| matches!(reason, Reason::Unconfirmed { .. });
        let open = self.selected().filter(move |(_, reason)| is_open(reason));
        open.map(|(test, _)| test)
    }

    /// Nobody will look at values: what these could have excused runs.
    pub(crate) fn settle(&mut self) {
        for verdict in self.verdicts.values_mut() {
            if let Verdict::Run(reason) = verdict {
                let open = std::mem::replace(reason, Reason::New);
                *reason = open.settled();
            }
        }
    }

    pub fn excluded(&self) -> impl Iterator<Item = (&str, &Evidence)> {
        self.verdicts
            .iter()
            .filter_map(|(test, verdict)| match verdict {
                Verdict::Run(_) => None,
                Verdict::Skip(evidence) => Some((test.as_str(), evidence)),
            })
    }

    /// Seconds that all known tests took last, and that the selected ones did.
    pub fn seconds(&self) -> (f64, f64) {
        // Not `sum`: that of nothing is a negative zero.
        let (mut all, mut selected) = (0.0, 0.0);
        let mut durations = self.durations.iter().peekable();
        for (test, verdict) in &self.verdicts {
            while durations.next_if(|(known, _)| *known < test).is_some() {}
            let known = durations.next_if(|(known, _)| *known == test);
            let known = known.map(|(_, duration_ms)| *duration_ms);
            match verdict {
                Verdict::Run(_) => {
                    let seconds = f64::from(known.unwrap_or(0)) / 1e3;
                    all += seconds;
                    selected += seconds;
                }
                Verdict::Skip(evidence) => {
                    all += f64::from(known.unwrap_or(evidence.duration_ms)) / 1e3;
                }
            }
        }
        (all, selected)
    }

    /// Why the selection is of its mode, in one line.
    pub fn reason(&self) -> String {
        if let Some(why) = &self.all_because {
            return why.clone();
        }
        let is_own = |reason: &Reason| !matches!(reason, Reason::Brought { .. });
        let mut own = self.selected().filter(|(_, reason)| is_own(reason));
        let Some((_, first)) = own.next() else {
            return match &self.inventory_doubt {
                None => "no change can affect a test".to_owned(),
                Some(doubt) => format!("no known test has to run, but {doubt}"),
            };
        };
        first.to_string()
    }

    /// Makes every test run that `pattern` (of the configuration) names.
    pub fn force(&mut self, pattern: &str, matches: impl Fn(&str) -> bool) {
        for (test, verdict) in &mut self.verdicts {
            match verdict {
                Verdict::Skip(evidence) if matches(test) => {
                    let known = self.durations.entry(test.clone());
                    known.or_insert(evidence.duration_ms);
                }
                // It might be left out after all.
                Verdict::Run(Reason::Unconfirmed { .. }) if matches(test) => {}
                Verdict::Run(_) | Verdict::Skip(_) => continue,
            }
            *verdict = Verdict::Run(Reason::Forced {
                pattern: pattern.to_owned(),
            });
        }
    }
}
