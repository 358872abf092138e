//! The rules: whose results count, and for which runs.

use std::fmt;

use super::sign::Signed;
use super::writer::Writer;
use crate::pattern::Pattern;

/// The configured trust.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// The repository whose results count, `owner/name`; empty for any.
    pub repository: String,
    /// Branches and tags, without `refs/heads/`, that only get reviewed code.
    pub refs: Vec<Pattern>,
    /// Events whose runs count.
    pub events: Vec<String>,
    /// The workflow files whose runs count; empty for all.
    pub workflows: Vec<Pattern>,
    /// Whether results must be signed to count for others.
    pub needs_signature: bool,
}

impl Policy {
    /// Whether this branch or tag only gets reviewed code, or is a merge queue into such a
    /// branch.
    pub(crate) fn trusts(&self, reference: &str) -> bool {
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
pub(crate) enum Standing {
    /// A trusted run wrote it: it counts for everybody.
    Trusted,
    /// An earlier run of the same pull request wrote it.
    SameProposal,
}

/// Why something does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Distrust {
    /// The store's own records contradict the file about its writer.
    Contradicted(&'static str),
    /// A pull request from another repository wrote it.
    Fork,
    /// Another pull request wrote it.
    Proposal(Option<u64>),
    /// A run of an event that acts for pull requests wrote it.
    Acting(String),
    Repository(String),
    Event(String),
    Reference(String),
    Workflow(String),
    /// Signatures are required, and it has none.
    Unsigned,
    /// Its signature is not from the configured key, or not for this content.
    BadSignature,
}

impl Distrust {
    /// Why only the same pull request trusts the results of `writer`.
    pub(crate) fn of_proposed(writer: &Writer, is_fork: bool) -> Distrust {
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
                    "the store knows another {fact} of its writer than it claims"
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
            Distrust::BadSignature => f.write_str("its signature is not from the configured key"),
        }
    }
}

/// Whether the results of a writer may justify a skip for `reader`.
///
/// `claimed` is what the file itself says about its writer; it is worth as much as the right
/// to write to the store. `attested` is what the store knows, if it knows anything: then each
/// of its facts must match the claim.
///
/// | writer | with a correct signature, or none required | otherwise |
/// |---|---|---|
/// | trusted event on a trusted ref of the repository | everybody | nobody |
/// | a pull request, not from a fork | that pull request | that pull request |
/// | a fork's pull request | that pull request | that pull request |
/// | anything else | nobody | nobody |
pub(crate) fn judge(
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

/// Each fact that the store knows must match the claim of the file.
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

/// A pull request's results count for the pull request itself: the same number, and code from
/// the same branch of the same repository.
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
