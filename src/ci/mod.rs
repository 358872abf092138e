//! What the CI service says of a run: which event, which commits, whose data.
//!
//! No other room reads variables of CI services, but for the addresses and
//! tokens of shared stores. Variables are taken from a
//! closed list (so no token is ever held), and payloads are parsed tolerantly:
//! what cannot be read is a note and no hint, never fewer tests.

mod environment;
mod generic;
mod github;
mod gitlab;
#[cfg(test)]
mod tests;
mod writer;

use std::path::PathBuf;

pub use environment::{Environment, VARIABLES};
pub use writer::writer_here;

/// A service whose variables and outputs tamis knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    GitHub,
    GitLab,
    /// Any other: what it has to say is in `TAMIS_CI_…` variables.
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

/// Which service to listen and to write to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The one whose variables are set.
    #[default]
    Auto,
    /// This one, whatever is set.
    Named(Provider),
    /// None: the run is as on a laptop.
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
    /// GitHub's `pull_request_target`: the rights of the base for an event of
    /// the head.
    PullRequestTarget,
    /// The merge of several pull requests, tested before it lands: GitHub's
    /// merge queue, GitLab's merge train.
    MergeQueue,
    Schedule,
    /// A person, an API call, another pipeline.
    Manual,
    /// Something else, or nobody said.
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

/// The pull (or merge) request that a run is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequest {
    pub number: Option<u64>,
    /// The tips of its branch and of the branch that it is to go to.
    pub head: Option<String>,
    pub base: Option<String>,
    pub base_ref: Option<String>,
    /// The repository and the branch that its code comes from.
    pub from: Option<String>,
    pub branch: Option<String>,
}

/// Whose code runs, and with whose rights: facts for whoever decides about
/// trust. What nobody told is `None`, and means the worse of the two.
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
    /// The workflow file, for services that tell.
    pub workflow: Option<String>,
}

impl Trust {
    /// Whether what this run records may be proof for other branches: it must
    /// be known that no fork's code ran.
    pub fn is_own(&self) -> bool {
        self.fork == Some(false)
    }
}

/// Where this run's place is among parallel copies of its job, from 1.
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

/// All that the service says. Commits are full hexadecimal ids; what is absent
/// was not told, or not in a form that can be a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiContext {
    pub provider: Provider,
    pub trigger: Trigger,
    /// The same in the service's own word: `pull_request_review`.
    pub event: Option<String>,
    /// The service's name of the run.
    pub run: Option<String>,
    /// Which run it is, counted from 1.
    pub number: Option<u32>,
    /// The service's name of the job in it.
    pub job: Option<String>,
    /// The commit that is checked out, as the service says.
    pub head: Option<String>,
    /// A commit that the head builds on, as a hint: the base of a pull
    /// request, the tip before a push.
    pub base: Option<String>,
    /// The tips of the branch before and after a push.
    pub before: Option<String>,
    pub after: Option<String>,
    pub pull_request: Option<PullRequest>,
    /// The merge that the service made for the test and that is no commit of
    /// any branch.
    pub merge: Option<String>,
    /// The branch or tag. Anybody may choose such names.
    pub reference: Option<String>,
    /// From 1; more than 1 if the run was started again.
    pub attempt: Option<u32>,
    pub trust: Trust,
    /// How many commits the service fetches, if it limits them.
    pub depth: Option<u32>,
    pub node: Option<Node>,
    pub files: Files,
    /// The folder into which the service checked out what the run is about.
    pub workspace: Option<PathBuf>,
    /// What could not be read, in words.
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

    /// The context that `environment` tells of; `None` outside of CI, or where
    /// `choice` wants none. Pure: files were read before.
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

    /// Takes a commit id from outside; what cannot be one is a note.
    fn commit(&mut self, what: &str, text: Option<&str>) -> Option<String> {
        let text = text?;
        if text.is_empty() || text.bytes().all(|byte| byte == b'0') {
            return None;
        }
        if matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Some(text.to_ascii_lowercase());
        }
        self.notes.push(format!("{what} is no commit id"));
        None
    }

    /// Whether this is an `every`-th run, and one on the default branch.
    pub fn is_turn(&self, every: u32) -> bool {
        let is_merged = self.trust.default_branch == Some(true) && self.pull_request.is_none();
        is_merged && self.number.is_some_and(|number| number % every == 0)
    }

    /// Why tamis does not work in this run at all, if so.
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
