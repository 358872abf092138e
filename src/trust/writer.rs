//! The facts about a process that writes or reads shared results.

use serde::{Deserialize, Serialize};

/// Who recorded something, or wants to use it. Unknown facts are empty and never make anything
/// trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Writer {
    /// `github`, `gitlab`, or `local` outside CI.
    pub provider: String,
    /// The repository of the CI: `owner/name`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub repository: String,
    /// The event, in the provider's word: `push`, `pull_request`.
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
    /// The number of its pull or merge request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr: Option<u64>,
    /// The source of a pull request's code: `owner/name:branch`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head: String,
    /// The job of the run and its attempt; empty if the provider does not tell.
    #[serde(skip)]
    pub job: String,
    /// The default branch, if the provider tells.
    #[serde(skip)]
    pub default_branch: String,
    /// The target branch of a pull request.
    #[serde(skip)]
    pub base: String,
    /// The tip of that branch, if the provider tells.
    #[serde(skip)]
    pub base_tip: String,
    /// The commit that the provider made by merging a pull request into its target.
    #[serde(skip)]
    pub merge: String,
}

impl Writer {
    /// The provider and the event of processes outside CI.
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

    /// Whether it runs code that is not merged yet. Events that act for a pull request count,
    /// even if they name none.
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

    /// Whether an event started it that acts for a pull request with the rights of the
    /// repository, whoever proposed the code.
    pub fn acts_for_proposals(&self) -> bool {
        let acting = ["pull_request_target", "issue_comment", "workflow_run"];
        acting.contains(&self.event.as_str())
    }

    /// The pull request whose results count only for itself: number and source.
    pub fn proposal(&self) -> Option<(u64, &str)> {
        self.pr
            .filter(|_| !self.head.is_empty())
            .map(|pr| (pr, self.head.as_str()))
    }
}
