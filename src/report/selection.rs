//! `selection.json`, schema 1: the public form of a selection. These types
//! are the contract (`docs/json.md`); the inner ones may change.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::history::View;
use crate::matrix::{Outcome, Unit};
use crate::select::{Evidence, Reason, Selection};

const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub struct SelectionJson {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<HeadJson>,
    strategy: &'static str,
    mode: &'static str,
    reason: String,
    baselines: Vec<String>,
    selected: Vec<SelectedJson>,
    excluded: Vec<ExcludedJson>,
    counts: CountsJson,
    estimate: EstimateJson,
    /// Why tests that nobody knows may exist; they run without being listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    inventory_doubt: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What became of the tests that ran (`tamis run` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<BTreeMap<String, &'static str>>,
}

#[derive(Debug, Serialize)]
struct HeadJson {
    commit: String,
    tree: String,
    /// How the commit came to be; this version does not tell.
    kind: &'static str,
    auto: bool,
    references: BTreeMap<&'static str, Vec<String>>,
    evidence: Vec<String>,
    /// Whether uncommitted changes were selected for as well.
    work_tree: bool,
}

#[derive(Debug, Serialize)]
struct SelectedJson {
    id: String,
    reason: ReasonJson,
}

#[derive(Debug, Default, Serialize)]
pub struct ReasonJson {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<UnitJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct UnitJson {
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
}

#[derive(Debug, Serialize)]
struct ExcludedJson {
    id: String,
    evidence: EvidenceJson,
}

#[derive(Debug, Serialize)]
pub struct EvidenceJson {
    baseline: String,
    ran_at: String,
    outcome: &'static str,
    units: usize,
    /// Units that are checked when the tests start; the test runs if one of
    /// them is different then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    late: Vec<UnitJson>,
}

#[derive(Debug, Serialize)]
struct CountsJson {
    available: usize,
    selected: usize,
    excluded: usize,
    new: usize,
    forced: usize,
}

#[derive(Debug, Serialize)]
struct EstimateJson {
    all_seconds: f64,
    selected_seconds: f64,
}

impl SelectionJson {
    /// The public form of `selection`; `view` is what it was made for, if the
    /// repository could be read.
    pub fn new(selection: &Selection, view: Option<&View>, notes: &[String]) -> SelectionJson {
        let selected: Vec<SelectedJson> = selection
            .selected()
            .map(|(id, reason)| SelectedJson {
                id: id.to_owned(),
                reason: reason.into(),
            })
            .collect();
        let excluded: Vec<ExcludedJson> = selection
            .excluded()
            .map(|(id, evidence)| ExcludedJson {
                id: id.to_owned(),
                evidence: evidence.into(),
            })
            .collect();
        let count = |wanted: fn(&Reason) -> bool| {
            selection
                .selected()
                .filter(|(_, reason)| wanted(reason))
                .count()
        };
        let (all, chosen) = selection.seconds();
        SelectionJson {
            schema: SCHEMA,
            head: view.map(HeadJson::of),
            strategy: selection.strategy.word(),
            mode: selection.mode().word(),
            reason: selection.reason(),
            baselines: selection.baselines.clone(),
            counts: CountsJson {
                available: selection.verdicts.len(),
                selected: selected.len(),
                excluded: excluded.len(),
                new: count(|reason| matches!(reason, Reason::New)),
                forced: count(|reason| {
                    matches!(reason, Reason::Forced { .. } | Reason::Failed { .. })
                }),
            },
            selected,
            excluded,
            estimate: EstimateJson {
                all_seconds: all,
                selected_seconds: chosen,
            },
            inventory_doubt: selection.inventory_doubt.clone(),
            notes: notes.to_vec(),
            outcomes: None,
        }
    }

    /// The document.
    ///
    /// # Errors
    /// Never, as long as the types above hold only what JSON can hold.
    pub fn value(&self) -> anyhow::Result<serde_json::Value> {
        Ok(serde_json::to_value(self)?)
    }

    /// Adds what became of the tests that ran.
    pub fn with_outcomes(mut self, outcomes: &BTreeMap<String, Outcome>) -> SelectionJson {
        let words = outcomes
            .iter()
            .map(|(test, outcome)| (test.clone(), outcome.word()));
        self.outcomes = Some(words.collect());
        self
    }
}

impl HeadJson {
    fn of(view: &View) -> HeadJson {
        let revision = view.revision();
        HeadJson {
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            kind: "unknown",
            auto: false,
            references: BTreeMap::new(),
            evidence: vec!["this version does not tell kinds of commits apart".to_owned()],
            work_tree: view.is_work(),
        }
    }
}

impl From<&Unit> for UnitJson {
    fn from(unit: &Unit) -> UnitJson {
        UnitJson {
            kind: unit.kind.word(),
            path: unit.path.to_string(),
            name: unit.name.clone(),
        }
    }
}

impl From<&Reason> for ReasonJson {
    fn from(reason: &Reason) -> ReasonJson {
        let base = ReasonJson {
            kind: reason.kind(),
            baseline: reason.baseline().map(str::to_owned),
            ..ReasonJson::default()
        };
        match reason {
            Reason::New => base,
            Reason::Changed { unit, from, to, .. } => ReasonJson {
                unit: Some(unit.into()),
                from: Some(from.hex()),
                to: Some(to.hex()),
                ..base
            },
            Reason::Unknown { unit, why, .. } => ReasonJson {
                unit: Some(unit.into()),
                detail: Some(why.clone()),
                ..base
            },
            Reason::Failed { outcome, .. } => ReasonJson {
                detail: Some(outcome.word().to_owned()),
                ..base
            },
            Reason::Incomplete { why, .. } => ReasonJson {
                detail: Some(why.clone()),
                ..base
            },
            Reason::Forced { pattern } => ReasonJson {
                detail: Some(pattern.clone()),
                ..base
            },
        }
    }
}

impl From<&Evidence> for EvidenceJson {
    fn from(evidence: &Evidence) -> EvidenceJson {
        EvidenceJson {
            baseline: evidence.baseline.to_string(),
            ran_at: evidence.ran_at.to_string(),
            outcome: evidence.outcome.word(),
            units: evidence.units,
            late: evidence.late.iter().map(|(unit, _)| unit.into()).collect(),
        }
    }
}
