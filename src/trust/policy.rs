//! The rules: whose results count for whom.

use std::fmt;

use super::sign::Signed;
use super::writer::Writer;
use crate::pattern::Pattern;

/// What a configuration says about trust.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The repository whose results count, `owner/name`; empty: any.
    pub repository: String,
    /// Branches and tags, without `refs/heads/`, that only reviewed code reaches.
    pub refs: Vec<Pattern>,
    /// What may have started a run.
    pub events: Vec<String>,
    /// The files of workflows that count; empty: all.
    pub workflows: Vec<Pattern>,
    /// Whether only what is signed counts for others.
    pub needs_signature: bool,
}

impl Policy {
    /// Whether only reviewed code reaches this branch or tag, or it is a merge
    /// queue into such a branch.
    pub fn trusts(&self, reference: &str) -> bool {
        let name = reference
            .strip_prefix("refs/heads/")
            .or_else(|| reference.strip_prefix("refs/tags/"));
        let Some(name) = name else {
            return false;
        };
        let target = match name.strip_prefix("gh-readonly-queue/") {
            // `gh-readonly-queue/main/pr-5-<sha>`
            Some(queue) => queue.rsplit_once('/').map(|(branch, _)| branch),
            None => Some(name),
        };
        target.is_some_and(|branch| matches_any(&self.refs, branch))
    }
}

/// Why something counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A trusted run wrote it: it counts for everybody.
    Trusted,
    /// An earlier run of the same pull request wrote it.
    SameProposal,
}

/// Why something does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// The store's own records contradict what the file says of its writer.
    Contradicted(&'static str),
    /// A pull request from another repository wrote it.
    Fork,
    /// A pull request that is not the one at hand wrote it.
    Proposal(Option<u64>),
    /// A run wrote it that was started by an event which acts for pull requests.
    Acting(String),
    Repository(String),
    Event(String),
    Reference(String),
    Workflow(String),
    /// Signatures are asked for, and it has none.
    Unsigned,
    /// Its signature is not of the configured key, or not of this content.
    BadSignature,
}

impl Distrust {
    /// Why nobody but the same pull request believes what `writer` wrote.
    pub fn of_proposed(writer: &Writer, is_fork: bool) -> Distrust {
        match (writer.acts_for_proposals(), is_fork || writer.fork) {
            (true, _) => Distrust::Acting(writer.event.clone()),
            (false, true) => Distrust::Fork,
            (false, false) => Distrust::Proposal(writer.pr),
        }
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distrust::Contradicted(fact) => {
                write!(
                    f,
                    "the store knows another {fact} of its writer than it says"
                )
            }
            Distrust::Fork => f.write_str("a fork's pull request wrote it"),
            Distrust::Proposal(Some(pr)) => write!(f, "pull request {pr} wrote it"),
            Distrust::Proposal(None) => f.write_str("a pull request wrote it"),
            Distrust::Acting(event) => write!(
                f,
                "a run started by `{event}` wrote it, which can run the code of a pull request \
                 with the rights of the repository"
            ),
            Distrust::Repository(name) => {
                write!(f, "it was written for the repository `{name}`")
            }
            Distrust::Event(event) => {
                write!(
                    f,
                    "a run started by `{event}` wrote it, which `trust` does not name"
                )
            }
            Distrust::Reference(name) => {
                write!(f, "it was written on `{name}`, which `trust` does not name")
            }
            Distrust::Workflow(name) => {
                write!(
                    f,
                    "the workflow `{name}` wrote it, which `trust` does not name"
                )
            }
            Distrust::Unsigned => f.write_str("it is not signed"),
            Distrust::BadSignature => f.write_str("its signature is not of the configured key"),
        }
    }
}

/// Whether something with this history may justify a skip for `reader`.
///
/// `claimed` is what the file itself says of its writer: worth as much as the
/// right to write to the store. `attested` is what the store knows, where it
/// knows anything: then each fact that it tells must be the one claimed.
///
/// | writer | signature asked for and right, or not asked for | else |
/// |---|---|---|
/// | trusted event on a trusted ref of the repository | everybody | nobody |
/// | a pull request, not from a fork | that pull request | that pull request |
/// | a fork's pull request | that pull request | that pull request |
/// | anything else | nobody | nobody |
pub fn judge(
    policy: &Policy,
    reader: &Writer,
    claimed: &Writer,
    attested: Option<&Writer>,
    signed: Signed,
) -> Result<Standing, Distrust> {
    if let Some(attested) = attested {
        agree(claimed, attested)?;
    }
    if signed == Signed::Wrong {
        return Err(Distrust::BadSignature);
    }
    let facts = attested.unwrap_or(claimed);
    if claimed.is_proposed() || facts.is_proposed() {
        return own(reader, claimed, facts);
    }
    let repository = [&claimed.repository, &facts.repository];
    for name in repository {
        if !policy.repository.is_empty() && *name != policy.repository {
            return Err(Distrust::Repository(name.clone()));
        }
    }
    if !policy.events.contains(&claimed.event) {
        return Err(Distrust::Event(claimed.event.clone()));
    }
    if !policy.trusts(&claimed.reference) && !claimed.is_local() {
        return Err(Distrust::Reference(claimed.reference.clone()));
    }
    let workflows = &policy.workflows;
    if !workflows.is_empty() && !matches_any(workflows, &claimed.workflow) {
        return Err(Distrust::Workflow(claimed.workflow.clone()));
    }
    if policy.needs_signature && signed != Signed::Right {
        return Err(Distrust::Unsigned);
    }
    Ok(Standing::Trusted)
}

/// Each fact that the store tells must be the one that the file claims.
fn agree(claimed: &Writer, attested: &Writer) -> Result<(), Distrust> {
    let facts: [(&str, &str, &'static str); 6] = [
        (&claimed.provider, &attested.provider, "provider"),
        (&claimed.repository, &attested.repository, "repository"),
        (&claimed.event, &attested.event, "event"),
        (&claimed.workflow, &attested.workflow, "workflow"),
        (&claimed.run, &attested.run, "run"),
        (&claimed.head, &attested.head, "head"),
    ];
    for (said, known, name) in facts {
        if !known.is_empty() && said != known {
            return Err(Distrust::Contradicted(name));
        }
    }
    if claimed.fork != attested.fork {
        return Err(Distrust::Contradicted("fork"));
    }
    if !attested.reference.is_empty() && claimed.reference != attested.reference {
        return Err(Distrust::Contradicted("ref"));
    }
    Ok(())
}

/// A pull request's data counts for itself: the same number, and code from the
/// same branch of the same repository.
fn own(reader: &Writer, claimed: &Writer, facts: &Writer) -> Result<Standing, Distrust> {
    let same = claimed.proposal().is_some()
        && claimed.proposal() == reader.proposal()
        && claimed.repository == reader.repository
        && claimed.provider == reader.provider
        && claimed.fork == reader.fork;
    match same {
        true => Ok(Standing::SameProposal),
        false => Err(Distrust::of_proposed(claimed, facts.fork)),
    }
}

fn matches_any(patterns: &[Pattern], text: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| pattern.matches_whole(text.as_bytes()))
}
