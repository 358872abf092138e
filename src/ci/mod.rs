//! What the CI service says about a run: event, commits, trust.
//!
//! No other room reads variables of CI services, except the addresses and tokens of shared
//! stores. Variables come from a closed list, so no token is ever held. Payloads are parsed
//! tolerantly: a field that cannot be read becomes a note and no hint, and never leads to
//! fewer tests.

mod environment;
mod generic;
mod github;
mod gitlab;
#[cfg(test)]
mod tests;
mod writer;

use std::path::PathBuf;

pub(crate) use environment::{Environment, VARIABLES};
pub(crate) use writer::writer_here;

/// A service whose variables and outputs tamis knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    GitHub,
    GitLab,
    /// Any other service; it tells what it knows in `TAMIS_CI_…` variables.
    Generic,
}

impl Provider {
    /// The word used in JSON and for people.
    pub fn word(self) -> &'static str {
        match self {
            Provider::GitHub => "github",
            Provider::GitLab => "gitlab",
            Provider::Generic => "generic",
        }
    }
}

/// Which service's variables and outputs to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The service whose variables are set.
    #[default]
    Auto,
    /// This service, whatever is set.
    Named(Provider),
    /// No service: the run is as on a laptop.
    None,
}

/// What started the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Push,
    /// A push whose old tip is not an ancestor of the new one.
    ForcePush,
    Tag,
    PullRequest,
    /// GitHub's `pull_request_target`: an event of the head with the rights of the base.
    PullRequestTarget,
    /// Several merged pull requests that are tested before they land: GitHub's merge queue,
    /// GitLab's merge train.
    MergeQueue,
    Schedule,
    /// A person, an API call, another pipeline.
    Manual,
    /// Something else, or unknown.
    Other,
}

impl Trigger {
    /// The word used in JSON and in `TAMIS_CI_TRIGGER`.
    pub fn word(self) -> &'static str {
        match self {
            Trigger::Push => "push",
            Trigger::ForcePush => "force-push",
            Trigger::Tag => "tag",
            Trigger::PullRequest => "pull-request",
            Trigger::PullRequestTarget => "pull-request-target",
            Trigger::MergeQueue => "merge-queue",
            Trigger::Schedule => "schedule",
            Trigger::Manual => "manual",
            Trigger::Other => "other",
        }
    }

    const ALL: [Trigger; 9] = [
        Trigger::Push,
        Trigger::ForcePush,
        Trigger::Tag,
        Trigger::PullRequest,
        Trigger::PullRequestTarget,
        Trigger::MergeQueue,
        Trigger::Schedule,
        Trigger::Manual,
        Trigger::Other,
    ];
}

/// The pull (or merge) request of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequest {
    pub number: Option<u64>,
    /// The tips of its branch and of its target branch.
    pub head: Option<String>,
    pub base: Option<String>,
    pub base_ref: Option<String>,
    /// The repository and the branch of its code.
    pub from: Option<String>,
    pub branch: Option<String>,
}

/// Whose code runs, and with whose rights: the facts for decisions about trust. `None` means
/// unknown, and counts as the worse case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Whether the tested code comes from another repository.
    pub fork: Option<bool>,
    /// Whether the ref is the default branch.
    pub default_branch: Option<bool>,
    /// The name of that branch.
    pub default_branch_name: Option<String>,
    /// Whether the ref is protected.
    pub protected: Option<bool>,
    /// The repository in which the run takes place: `octo-org/sample`.
    pub repository: Option<String>,
    /// The workflow file, if the service tells it.
    pub workflow: Option<String>,
}

impl Trust {
    /// Whether the results of this run may be proof for other branches: it must be known that
    /// the code is not from a fork.
    pub fn is_own(&self) -> bool {
        self.fork == Some(false)
    }
}

/// The place of this run among parallel copies of its job, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub index: u32,
    pub of: u32,
}

/// Files that a service reads after a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// GitHub's `GITHUB_OUTPUT`.
    pub output: Option<PathBuf>,
    /// GitHub's `GITHUB_STEP_SUMMARY`.
    pub summary: Option<PathBuf>,
}

/// Everything that the service says. Commits are full hexadecimal ids. `None` was not told, or
/// cannot be a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiContext {
    pub provider: Provider,
    pub trigger: Trigger,
    /// The service's own word for it: `pull_request_review`.
    pub event: Option<String>,
    /// The service's name of the run.
    pub run: Option<String>,
    /// The number of the run, from 1.
    pub number: Option<u32>,
    /// The service's name of the job.
    pub job: Option<String>,
    /// The commit that is checked out, according to the service.
    pub head: Option<String>,
    /// A commit on which the head builds, as a hint: the base of a pull request, the tip
    /// before a push.
    pub base: Option<String>,
    /// The tips of the branch before and after a push.
    pub before: Option<String>,
    pub after: Option<String>,
    pub pull_request: Option<PullRequest>,
    /// The merge that the service made for the test; it is on no branch.
    pub merge: Option<String>,
    /// The branch or tag. Anybody may choose its name.
    pub reference: Option<String>,
    /// The attempt, from 1; more than 1 if the run was started again.
    pub attempt: Option<u32>,
    pub trust: Trust,
    /// How many commits the service fetches, if it limits them.
    pub depth: Option<u32>,
    pub node: Option<Node>,
    pub files: Files,
    /// The folder of the service's checkout.
    pub workspace: Option<PathBuf>,
    /// Messages about things that could not be read.
    pub notes: Vec<String>,
}

impl CiContext {
    fn new(provider: Provider) -> CiContext {
        CiContext {
            provider,
            trigger: Trigger::Other,
            event: None,
            run: None,
            number: None,
            job: None,
            head: None,
            base: None,
            before: None,
            after: None,
            pull_request: None,
            merge: None,
            reference: None,
            attempt: None,
            trust: Trust::default(),
            depth: None,
            node: None,
            files: Files::default(),
            workspace: None,
            notes: Vec::new(),
        }
    }

    /// The context in `environment`; `None` outside CI, or if `choice` wants none. Pure: files
    /// were read before.
    pub fn from_environment(environment: &Environment, choice: Choice) -> Option<CiContext> {
        let provider = match choice {
            Choice::None => return None,
            Choice::Named(provider) => provider,
            Choice::Auto => provider_of(environment)?,
        };
        let context = CiContext::new(provider);
        Some(match provider {
            Provider::GitHub => github::read(environment, context),
            Provider::GitLab => gitlab::read(environment, context),
            Provider::Generic => generic::read(environment, context),
        })
    }

    /// Takes a commit id from outside. A text that cannot be a commit becomes a note.
    fn commit(&mut self, what: &str, text: Option<&str>) -> Option<String> {
        let text = text?;
        if text.is_empty() || text.bytes().all(|byte| byte == b'0') {
            return None;
        }
        if matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Some(text.to_ascii_lowercase());
        }
        self.notes.push(format!("{what} is not a commit id"));
        None
    }

    /// Whether this is an `every`-th run on the default branch.
    pub fn is_turn(&self, every: u32) -> bool {
        let is_merged = self.trust.default_branch == Some(true) && self.pull_request.is_none();
        is_merged && self.number.is_some_and(|number| number % every == 0)
    }

    /// Why tamis refuses to work in this run, if it does.
    pub fn refusal(&self) -> Option<&'static str> {
        match self.trigger {
            Trigger::PullRequestTarget => Some(
                "the event pull_request_target gives the code of a pull request the rights of \
                 its base: tamis neither selects nor records there",
            ),
            _ => None,
        }
    }
}

/// The service whose variables are set.
fn provider_of(environment: &Environment) -> Option<Provider> {
    let is_true = |name: &str| environment.text(name) == Some("true");
    if is_true("GITHUB_ACTIONS") {
        Some(Provider::GitHub)
    } else if is_true("GITLAB_CI") {
        Some(Provider::GitLab)
    } else if environment
        .names()
        .any(|name| name.starts_with("TAMIS_CI_"))
    {
        Some(Provider::Generic)
    } else {
        None
    }
}
