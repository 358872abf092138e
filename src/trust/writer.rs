//! The facts about a process that writes or reads shared results.

use serde::{Deserialize, Serialize};

/// Who recorded something, or who wants to use it. Facts that are not known
/// are empty, and never make anything trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Writer {
    /// `github`, `gitlab`; `local` outside CI.
    pub provider: String,
    /// The repository whose CI it is: `owner/name`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub repository: String,
    /// What started the run, in the provider's word: `push`, `pull_request`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub event: String,
    /// The branch or tag: `refs/heads/main`.
    #[serde(rename = "ref", skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// The file of the workflow, relative to the repository.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workflow: String,
    /// The provider's name of the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// Whether the code comes from another repository.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fork: bool,
    /// The pull or merge request that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr: Option<u64>,
    /// Where a pull request's code comes from: `owner/name:branch`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head: String,
    /// The job of the run, and which attempt it is; empty if the provider does
    /// not tell.
    #[serde(skip)]
    pub job: String,
    /// The branch that new branches are made from, if the provider tells.
    #[serde(skip)]
    pub default_branch: String,
    /// The branch that a pull request is to be merged into.
    #[serde(skip)]
    pub base: String,
    /// The tip of that branch, if the provider tells.
    #[serde(skip)]
    pub base_tip: String,
    /// The commit that the provider made by merging a pull request into it.
    #[serde(skip)]
    pub merge: String,
}

impl Writer {
    /// The provider, and the event, of processes that run in no CI.
    pub const LOCAL: &'static str = "local";

    /// A process outside CI.
    pub fn local() -> Writer {
        Writer {
            provider: Writer::LOCAL.to_owned(),
            event: Writer::LOCAL.to_owned(),
            ..Writer::default()
        }
    }

    pub fn is_local(&self) -> bool {
        self.provider == Writer::LOCAL
    }

    /// Whether it runs code that nobody has merged yet. Events that act for a
    /// pull request count, even if they name none.
    pub fn is_proposed(&self) -> bool {
        self.pr.is_some()
            || self.fork
            || !self.head.is_empty()
            || self.acts_for_proposals()
            || matches!(
                self.event.as_str(),
                "pull_request"
                    | "pull_request_review"
                    | "merge_request_event"
                    | "external_pull_request_event"
            )
    }

    /// Whether it was started by an event that acts for a pull request with the rights
    /// of the repository, whoever proposed the code that it runs.
    pub fn acts_for_proposals(&self) -> bool {
        let acting = ["pull_request_target", "issue_comment", "workflow_run"];
        acting.contains(&self.event.as_str())
    }

    /// The name of the pull request that it is about, whose results count for
    /// this pull request alone.
    pub fn proposal(&self) -> Option<(u64, &str)> {
        self.pr
            .filter(|_| !self.head.is_empty())
            .map(|pr| (pr, self.head.as_str()))
    }
}
