//! Brings near, sound and trusted matrices from a shared store into the local one.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::{Deadline, RemoteError};
use super::manifest::{Manifest, Pack};
use super::{Damaged, Listed, Offer, Shared, redact, tag};
use crate::store::{FsStore, Name};
use crate::trust::{Distrust, Policy, Signed, Standing, Writer, judge};

/// The time limit for all fetching.
const PATIENCE: Duration = Duration::from_secs(25);

/// After this many useless packs no more are fetched.
const MOST_REJECTED: usize = 6;

/// What would be useful.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The present tree: results of the same files are the best.
    pub tree: String,
    /// The present commit and its ancestors, the nearest first.
    pub commits: Vec<String>,
    /// The index in `commits` of the nearest local result, or its length if there is none.
    /// Results that are farther away are not worth a request.
    pub local: usize,
    /// Whether any local result may be useful.
    pub has_local: bool,
    /// The environment of the tests, if it is known.
    pub environment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub name: Name,
    pub commit: String,
    pub standing: Standing,
}

/// The result of a look into a shared store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brought {
    pub taken: Vec<Taken>,
    /// Why other results were not taken, with how many.
    pub refused: BTreeMap<String, usize>,
    /// Damaged files in the store, and what people can do about them.
    pub damaged: Vec<Damaged>,
    pub mend: String,
    /// Whether the store was asked. It is not if it cannot have anything better than the local
    /// store.
    pub asked: bool,
    /// A problem because of which more tests run than necessary.
    pub trouble: Option<String>,
}

impl Brought {
    fn refuse(&mut self, why: impl ToString) {
        *self.refused.entry(redact(&why.to_string())).or_default() += 1;
    }
}

/// Fetches useful matrices into `store`. `is_ours` tells whether a manifest belongs to this
/// repository, suite and environment.
///
/// A problem is part of the answer: nothing that happens here may fail a run.
pub(crate) fn bring(
    shared: &Shared,
    store: &FsStore,
    wanted: &Wanted,
    is_ours: &dyn Fn(&Manifest) -> bool,
) -> Brought {
    let mut brought = Brought {
        asked: true,
        ..Brought::default()
    };
    let deadline = Deadline::after(PATIENCE);
    let listed = match &shared.listed {
        Some(listed) => listed.clone(),
        None => shared.remote.offers(wanted, &deadline),
    };
    let Listed { offers, damaged } = match listed {
        Ok(listed) => listed,
        Err(error) => {
            brought.trouble = Some(redact(&error.to_string()));
            return brought;
        }
    };
    brought.damaged = damaged;
    let mut taken_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut rejected = 0;
    for offer in rank(offers, wanted) {
        let environment = offer.environment.clone().unwrap_or_default();
        let enough = taken_of.get(&environment).copied().unwrap_or(0) >= shared.remote.worth();
        if enough || rejected >= MOST_REJECTED {
            continue;
        }
        match take(shared, store, &offer, is_ours, &deadline) {
            Ok(taken) => {
                *taken_of.entry(environment).or_default() += 1;
                brought.taken.push(taken);
            }
            Err(Why::Beforehand(why)) => brought.refuse(why),
            Err(Why::Looked(why)) => {
                brought.refuse(why);
                rejected += 1;
            }
            Err(Why::Damaged(why, looked)) => {
                let name = shared.remote.name_of(&offer);
                brought.damaged.push(Damaged::new(name, redact(&why)));
                rejected += usize::from(looked);
            }
            Err(Why::Store(error)) if error.is_about_one_entry() => {
                brought.refuse(error);
                rejected += 1;
            }
            Err(Why::Store(error)) => {
                brought.trouble = Some(redact(&error.to_string()));
                break;
            }
        }
    }
    if !brought.damaged.is_empty() {
        brought.mend = shared.remote.mend();
    }
    brought
}

enum Why {
    /// It is not what was recorded, or this version cannot read it; and whether finding that
    /// out took requests.
    Damaged(String, bool),
    /// It was refused without a request.
    Beforehand(String),
    /// It was refused after requests.
    Looked(String),
    Store(RemoteError),
}

fn take(
    shared: &Shared,
    store: &FsStore,
    offer: &Offer,
    is_ours: &dyn Fn(&Manifest) -> bool,
    deadline: &Deadline,
) -> Result<Taken, Why> {
    if is_hopeless(shared, offer) {
        return Err(Why::Beforehand("no trusted run wrote it".to_owned()));
    }
    if let Some(manifest) = &offer.manifest {
        if !is_ours(manifest) {
            return Err(Why::Beforehand(OTHER.to_owned()));
        }
        // The store may know more, but that cannot make this one better.
        standing(shared, manifest, None).map_err(|distrust| match distrust {
            Distrust::BadSignature => Why::Damaged(distrust.to_string(), false),
            distrust => Why::Beforehand(distrust.to_string()),
        })?;
    }
    let attested = shared.remote.attest(offer, deadline).map_err(Why::Store)?;
    if let Some(attested) = &attested
        && offer.manifest.is_none()
    {
        may_count(shared, attested).map_err(Why::Looked)?;
    }
    let bytes = shared
        .remote
        .get(offer, deadline)
        .map_err(|error| match error {
            RemoteError::Malformed(why) => Why::Damaged(why, true),
            RemoteError::TooLarge { .. } => Why::Damaged(error.to_string(), true),
            error => Why::Store(error),
        })?;
    let pack = Pack::decode(&bytes).map_err(|refusal| Why::Damaged(refusal.to_string(), true))?;
    if offer
        .manifest
        .as_ref()
        .is_some_and(|told| *told != pack.manifest)
    {
        let why = "its manifest has changed since it was listed";
        return Err(Why::Damaged(why.to_owned(), true));
    }
    if !is_ours(&pack.manifest) {
        return Err(Why::Looked(OTHER.to_owned()));
    }
    let judged = standing(shared, &pack.manifest, attested.as_ref());
    let standing = judged.map_err(|distrust| match distrust {
        Distrust::BadSignature => Why::Damaged(distrust.to_string(), true),
        distrust => Why::Looked(distrust.to_string()),
    })?;
    let name = store
        .take(&pack.matrix)
        .map_err(|error| Why::Store(RemoteError::NotSetUp(format!("{error:#}"))))?;
    if let Some(known) = &pack.dependences {
        store
            .take_dependences(known)
            .map_err(|error| Why::Store(RemoteError::NotSetUp(format!("{error:#}"))))?;
    }
    Ok(Taken {
        name,
        commit: pack.manifest.commit,
        standing,
    })
}

/// Whether the listing alone rules out an offer. Then no request is spent on it.
fn is_hopeless(shared: &Shared, offer: &Offer) -> bool {
    let (hint, reader) = (&offer.hint, &shared.reader);
    if hint.fork && !reader.fork {
        return true;
    }
    if hint.pr.is_some() && hint.pr != reader.pr {
        return true;
    }
    let own = reader.head.rsplit_once(':').map(|(_, branch)| branch);
    hint.branch.as_deref().is_some_and(|branch| {
        Some(branch) != own && !shared.policy.trusts(&format!("refs/heads/{branch}"))
    })
}

/// An offer is not read if its writer cannot be trusted. The store only knows where a
/// pull request's code; its number is in the file.
fn may_count(shared: &Shared, attested: &Writer) -> Result<(), String> {
    if attested.is_proposed() {
        return match attested.head == shared.reader.head {
            true => Ok(()),
            false => Err(Distrust::of_proposed(attested, false).to_string()),
        };
    }
    let policy = Policy {
        needs_signature: false,
        ..shared.policy.clone()
    };
    judge(&policy, &shared.reader, attested, None, Signed::Not)
        .map(drop)
        .map_err(|distrust| distrust.to_string())
}

const OTHER: &str = "it belongs to another repository, suite or environment";

fn standing(
    shared: &Shared,
    manifest: &Manifest,
    attested: Option<&Writer>,
) -> Result<Standing, Distrust> {
    let signed = manifest.signed(shared.public_key.as_ref());
    judge(
        &shared.policy,
        &shared.reader,
        &manifest.writer,
        attested,
        signed,
    )
}

/// The useful offers, the best first: the same files, then the nearest ancestor. Without
/// these, and without any local result, the newest offers: a row is proof wherever it was
/// recorded.
fn rank(offers: Vec<Offer>, wanted: &Wanted) -> Vec<Offer> {
    let place: BTreeMap<&str, usize> = wanted
        .commits
        .iter()
        .enumerate()
        .map(|(at, commit)| (commit.as_str(), at))
        .collect();
    let rank_of = |offer: &Offer| {
        let dirty = offer
            .manifest
            .as_ref()
            .is_some_and(|manifest| manifest.dirty);
        if offer.tree.as_deref() == Some(wanted.tree.as_str()) && !dirty {
            return Some(0);
        }
        let place = place.get(offer.commit.as_str())?;
        (*place < wanted.local).then_some(place + 1)
    };
    let here = wanted.environment.as_deref().map(tag);
    let elsewhere = |offer: &Offer| match (&here, &offer.environment) {
        (Some(here), Some(there)) => here != there,
        _ => false,
    };
    let mut ranked: Vec<(usize, Offer)> = Vec::new();
    let mut rest = Vec::new();
    for offer in offers.into_iter().filter(|offer| !elsewhere(offer)) {
        match rank_of(&offer) {
            Some(rank) => ranked.push((rank, offer)),
            None => rest.push(offer),
        }
    }
    // The sort is stable: within one rank the newest stays first.
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut ranked: Vec<Offer> = ranked.into_iter().map(|(_, offer)| offer).collect();
    if ranked.is_empty() && !wanted.has_local {
        ranked = rest;
    }
    ranked
}
