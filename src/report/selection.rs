//! `selection.json`, schema 1: the public form of a selection. These types are the contract
//! (`docs/json.md`); the inner types may change.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;

use super::audit::AuditJson;
use super::head::references_json;
use crate::ci::CiContext;
use crate::history::{Head, View};
use crate::matrix::{Outcome, Unit};
use crate::pipeline::{After, Audit};
use crate::select::{By, Evidence, Reason, Selection, Shard};

const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub(crate) struct SelectionJson {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<HeadJson>,
    strategy: &'static str,
    /// The strategy that was used, and why not the requested one.
    used: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fallbacks: Vec<String>,
    /// Choices that the strategy made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
    mode: &'static str,
    reason: String,
    baselines: Vec<String>,
    /// The commit of each baseline.
    revisions: BTreeMap<String, String>,
    selected: Vec<SelectedJson>,
    excluded: Vec<ExcludedJson>,
    counts: CountsJson,
    estimate: EstimateJson,
    /// Why unknown tests may exist; they run without being listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    inventory_doubt: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The facts from the CI service.
    #[serde(skip_serializing_if = "Option::is_none")]
    ci: Option<serde_json::Value>,
    /// How the tests are divided, and which part this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    shards: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
    /// The outcomes of the tests that ran (`tamis run` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    outcomes: Option<BTreeMap<String, &'static str>>,
    /// The selected tests that were left out for their values, and the value that differs
    /// for each of those that ran for one (`tamis run` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refuted: Option<BTreeMap<String, String>>,
    /// Tests that end so only after these others, which were left out at first
    /// (`tamis run` only).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    passed_after: BTreeMap<String, Vec<String>>,
    /// The outcomes of tests that would have been left out (`tamis run` only).
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<AuditJson>,
}

#[derive(Debug, Serialize)]
struct HeadJson {
    commit: String,
    tree: String,
    /// The kind of the commit.
    kind: &'static str,
    auto: bool,
    references: serde_json::Value,
    evidence: Vec<String>,
    /// Whether uncommitted changes also counted.
    work_tree: bool,
}

#[derive(Debug, Serialize)]
struct SelectedJson {
    id: String,
    reason: ReasonJson,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct ReasonJson {
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
    /// The test that it runs for, and whose doings it undoes, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    polluter: Option<String>,
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
pub(crate) struct EvidenceJson {
    baseline: String,
    /// The commit of the baseline.
    revision: String,
    /// The number of that parent of a merge, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    ran_at: String,
    outcome: &'static str,
    units: usize,
    /// Units that are checked when the tests start. The test runs if one of them then differs.
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
    /// Selected tests that need not run if the values that they read are the same.
    unconfirmed: usize,
}

#[derive(Debug, Serialize)]
struct EstimateJson {
    all_seconds: f64,
    selected_seconds: f64,
}

impl SelectionJson {
    /// The public form of `selection`. `view` is the state that it is for, if the repository
    /// could be read, and `head` its classification.
    pub(crate) fn new(
        selection: &Selection,
        view: Option<&View>,
        head: Option<&Head>,
        notes: &[String],
    ) -> SelectionJson {
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
                evidence: EvidenceJson::new(evidence, head),
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
            head: view.map(|view| HeadJson::of(view, head)),
            strategy: selection.course.asked.word(),
            used: selection.course.used.word(),
            fallbacks: selection.course.fallbacks.clone(),
            choices: selection.course.notes.clone(),
            mode: selection.mode().word(),
            reason: selection.reason(),
            baselines: selection.baselines.clone(),
            revisions: selection.revisions.clone(),
            counts: CountsJson {
                available: selection.verdicts.len(),
                selected: selected.len(),
                excluded: excluded.len(),
                new: count(|reason| matches!(reason, Reason::New)),
                forced: count(|reason| {
                    matches!(reason, Reason::Forced { .. } | Reason::Failed { .. })
                }),
                unconfirmed: selection.unconfirmed().count(),
            },
            selected,
            excluded,
            estimate: EstimateJson {
                all_seconds: all,
                selected_seconds: chosen,
            },
            inventory_doubt: selection.inventory_doubt.clone(),
            notes: notes.to_vec(),
            ci: None,
            shards: None,
            shard: None,
            outcomes: None,
            confirmed: None,
            refuted: None,
            passed_after: BTreeMap::new(),
            audit: None,
        }
    }

    /// The document.
    ///
    /// # Errors
    /// Never, as long as the types above only hold JSON values.
    pub(crate) fn value(&self) -> anyhow::Result<serde_json::Value> {
        Ok(serde_json::to_value(self)?)
    }

    /// Adds the facts from the CI service; `shallow` tells whether the history is cut off.
    pub(crate) fn with_ci(
        mut self,
        context: Option<&CiContext>,
        shallow: Option<bool>,
    ) -> SelectionJson {
        self.ci = context.map(|context| ci_json(context, shallow));
        self
    }

    /// Adds the division of the tests, and which part this is.
    pub(crate) fn with_shards(
        mut self,
        shards: serde_json::Value,
        part: Option<Shard>,
    ) -> SelectionJson {
        self.shards = Some(shards);
        self.shard = part.map(|part| part.to_string());
        self
    }

    /// Adds the outcomes of the tests that ran.
    pub(crate) fn with_outcomes(mut self, outcomes: &BTreeMap<String, Outcome>) -> SelectionJson {
        let words = outcomes
            .iter()
            .map(|(test, outcome)| (test.clone(), outcome.word()));
        self.outcomes = Some(words.collect());
        self
    }

    /// Adds tests that failed at first, and after which others they do not.
    pub(crate) fn with_passed_after(mut self, after: &BTreeMap<String, After>) -> SelectionJson {
        let outcomes = self.outcomes.get_or_insert_default();
        for (test, after) in after {
            outcomes.insert(test.clone(), after.outcome.word());
            self.passed_after.insert(test.clone(), after.tests.clone());
        }
        self
    }

    /// Adds what values excused, and what they did not.
    pub(crate) fn with_values(
        mut self,
        confirmed: &BTreeSet<String>,
        refuted: &BTreeMap<String, String>,
    ) -> SelectionJson {
        self.confirmed = (!confirmed.is_empty()).then(|| confirmed.clone());
        self.refuted = (!refuted.is_empty()).then(|| refuted.clone());
        self
    }

    /// Adds the outcomes of the tests that would have been left out.
    pub(crate) fn with_audit(mut self, audit: &Audit) -> SelectionJson {
        self.audit = (audit.checked > 0).then(|| AuditJson::new(audit));
        self
    }
}

fn ci_json(context: &CiContext, shallow: Option<bool>) -> serde_json::Value {
    let request = context.pull_request.as_ref().map(|request| {
        json!({
            "number": request.number, "head": request.head, "base": request.base,
            "base_ref": request.base_ref,
        })
    });
    json!({
        "provider": context.provider.word(),
        "trigger": context.trigger.word(),
        "head": context.head,
        "base": context.base,
        "before": context.before,
        "after": context.after,
        "pull_request": request,
        "merge": context.merge,
        "reference": context.reference,
        "attempt": context.attempt,
        "shallow": shallow,
        "trust": {
            "own": context.trust.is_own(),
            "fork": context.trust.fork,
            "default_branch": context.trust.default_branch,
            "protected": context.trust.protected,
            "repository": context.trust.repository,
            "workflow": context.trust.workflow,
        },
        "notes": context.notes,
    })
}

impl HeadJson {
    fn of(view: &View, head: Option<&Head>) -> HeadJson {
        let revision = view.revision();
        HeadJson {
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            kind: head.map_or("unknown", |head| head.kind.word()),
            auto: head.is_some_and(|head| head.auto),
            references: head.map_or_else(
                || serde_json::Value::Object(serde_json::Map::new()),
                |head| references_json(&head.references),
            ),
            evidence: head.map_or_else(Vec::new, |head| head.evidence.clone()),
            work_tree: view.is_work(),
        }
    }
}

impl From<&Unit> for UnitJson {
    fn from(unit: &Unit) -> UnitJson {
        UnitJson {
            kind: unit.kind().word(),
            path: unit.path.to_string(),
            name: unit.name().into_owned(),
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
            Reason::Unconfirmed { by: By::Others, .. } => ReasonJson {
                detail: Some(reason.to_string()),
                ..base
            },
            Reason::Changed { unit, from, to, .. } | Reason::Unconfirmed { unit, from, to, .. } => {
                ReasonJson {
                    unit: Some(unit.into()),
                    from: Some(from.hex()),
                    to: Some(to.hex()),
                    ..base
                }
            }
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
            Reason::Affected { why } => ReasonJson {
                detail: Some((*why).to_owned()),
                ..base
            },
            Reason::Forced { pattern } => ReasonJson {
                detail: Some(pattern.clone()),
                ..base
            },
            Reason::Brought { need, .. } => ReasonJson {
                test: Some(need.served().to_owned()),
                polluter: need.polluter().map(str::to_owned),
                ..base
            },
        }
    }
}

/// The number of a parent of a merge, from 1.
pub(crate) fn parent_number(head: &Head, revision: &str) -> Option<usize> {
    let parents = &head.references.parents;
    let at = parents.iter().position(|p| p.to_string() == revision)?;
    (parents.len() > 1).then_some(at + 1)
}

impl EvidenceJson {
    /// `head` is the revision at which the test is left out.
    pub(crate) fn new(evidence: &Evidence, head: Option<&Head>) -> EvidenceJson {
        EvidenceJson {
            baseline: evidence.baseline.to_string(),
            revision: evidence.revision.to_string(),
            parent: head.and_then(|head| parent_number(head, &evidence.revision)),
            ran_at: evidence.ran_at.to_string(),
            outcome: evidence.outcome.word(),
            units: evidence.units,
            late: evidence.late.iter().map(|(unit, _)| unit.into()).collect(),
        }
    }
}
