//! Stores that several machines share: one machine can use the results of another if they are
//! [trusted](crate::trust). The local store is read first. If a shared store fails, more tests
//! run and one warning appears, but the run never fails.

mod api;
mod bring;
mod comment;
mod error;
mod git;
mod github;
mod gitlab;
mod listed;
mod manifest;
mod object;
mod origin;
mod pointer;
mod process;
mod program;
mod secrets;
mod send;
mod single;
mod web;

pub(crate) use bring::{Brought, Wanted, bring};
pub(crate) use comment::{Commented, comment};
pub(crate) use error::{Deadline, RemoteError, Result};
pub(crate) use github::PACK;
pub(crate) use listed::{Damaged, Listed, name_damaged};
pub use manifest::{Manifest, Pack};
pub(crate) use origin::{Depth, Origin};
pub(crate) use secrets::redact;
pub(crate) use send::{Sent, send, sign_and_pack};

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::trust::{Policy, PublicKey, Writer};

/// A place for the packs of many writers. Requests are few, and each has a deadline.
pub(crate) trait Remote {
    /// The name for people; without secrets.
    fn place(&self) -> String;

    /// Lists the offers that may be useful, and the damaged files that a listing shows.
    ///
    /// # Errors
    /// The store does not answer.
    fn offers(&self, wanted: &Wanted, deadline: &Deadline) -> Result<Listed>;

    /// The name of `offer` for people.
    fn name_of(&self, offer: &Offer) -> String {
        offer.id.clone()
    }

    /// What people can do about damaged files.
    fn mend(&self) -> String;

    /// What the store itself knows about the writer of `offer`; `None` if it does not keep
    /// track of writers.
    ///
    /// # Errors
    /// It keeps track but does not answer.
    fn attest(&self, offer: &Offer, deadline: &Deadline) -> Result<Option<Writer>>;

    /// The bytes of a pack.
    ///
    /// # Errors
    /// They are not available, or exceed the limit of a pack.
    fn get(&self, offer: &Offer, deadline: &Deadline) -> Result<Vec<u8>>;

    /// Adds a pack; packs of others stay. Putting it twice has no further effect.
    ///
    /// # Errors
    /// The store refuses it.
    fn put(&self, pack: &Pack, deadline: &Deadline) -> Result<()>;

    /// How many packs of one environment are worth fetching.
    fn worth(&self) -> usize;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The store's name for it.
    pub id: String,
    /// Its commit, if the store knows it before the pack is read.
    pub commit: String,
    pub tree: Option<String>,
    pub created: u64,
    /// Only if the store has it apart from the matrix.
    pub manifest: Option<Manifest>,
    /// The [`tag`] of its environment, if it is known.
    pub environment: Option<String>,
    /// Hints that save requests; a false hint is noticed later.
    pub hint: Hint,
}

/// What the listing tells about the writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// The branch of the code.
    pub branch: Option<String>,
    pub fork: bool,
    pub pr: Option<u64>,
}

/// A short name for an environment.
pub(crate) fn tag(environment: &str) -> String {
    blake3::hash(environment.as_bytes()).to_hex()[..8].to_owned()
}

/// The configured shared store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A ref in a git repository: the name of a remote, or a URL.
    Git(String),
    /// The artifacts of a repository's workflows; `None` for the present repository.
    Github(Option<String>),
    /// The packages of the GitLab project of this job.
    Gitlab,
    /// `s3://bucket/prefix`, `gs://…`, `az://…`.
    Object(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Address, String> {
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            return Err("the value is empty or holds a control character".to_owned());
        }
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        match (kind, rest) {
            ("git", None) => Ok(Address::Git("origin".to_owned())),
            // git would take such a word for an option.
            ("git", Some(remote)) if !remote.is_empty() && !remote.starts_with('-') => {
                Ok(Address::Git(remote.to_owned()))
            }
            ("gitlab", None) => Ok(Address::Gitlab),
            ("github", None) => Ok(Address::Github(None)),
            ("github", Some(name)) if is_repository(name) => {
                Ok(Address::Github(Some(name.to_owned())))
            }
            ("s3" | "gs" | "az", Some(rest)) if has_bucket(rest) => {
                Ok(Address::Object(text.trim_end_matches('/').to_owned()))
            }
            ("fs", _) => Err(
                "a folder is not a shared store: `store: fs:PATH` names the folder of results"
                    .to_owned(),
            ),
            _ => Err(format!(
                "unknown shared store `{}`, expected git, git:REMOTE, github, github:OWNER/NAME, gitlab, \
                 s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX",
                redact(text)
            )),
        }
    }
}

fn is_repository(name: &str) -> bool {
    let plain = |part: &str| {
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !part.is_empty() && part.chars().all(good) && !part.chars().all(|c| c == '.')
    };
    name.split_once('/')
        .is_some_and(|(owner, name)| plain(owner) && plain(name))
}

fn has_bucket(rest: &str) -> bool {
    let bucket = rest.strip_prefix("//").map(|rest| rest.split('/').next());
    bucket.flatten().is_some_and(|bucket| !bucket.is_empty())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Git(remote) => write!(f, "git:{}", redact(remote)),
            Address::Gitlab => f.write_str("gitlab"),
            Address::Github(None) => f.write_str("github"),
            Address::Github(Some(name)) => write!(f, "github:{name}"),
            Address::Object(url) => f.write_str(url),
        }
    }
}

/// A shared store as this process uses it.
pub(crate) struct Shared {
    pub remote: Box<dyn Remote>,
    pub policy: Policy,
    /// The key whose signatures count, if signatures are required.
    pub public_key: Option<PublicKey>,
    /// Who this process is.
    pub reader: Writer,
    /// The listing, if the store was already asked.
    pub listed: Option<Result<Listed>>,
}

/// Folders and names for the client of a shared store.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The top of the work tree.
    pub root: PathBuf,
    /// A folder for files that may get lost.
    pub cache: PathBuf,
    /// A folder for packs that another program uploads.
    pub upload: PathBuf,
    /// Distinguishes this project's results from others in the same store; made of the suite
    /// and the label.
    pub slug: String,
    /// How many matrices a store should keep.
    pub keep: usize,
}

/// The client of the store at `address`.
///
/// # Errors
/// This process lacks something that the store needs.
pub(crate) fn open(address: &Address, site: Site, reader: &Writer) -> Result<Box<dyn Remote>> {
    Ok(match address {
        Address::Git(remote) => Box::new(git::GitRef::open(remote, site)?),
        Address::Github(name) => {
            let here = (!reader.repository.is_empty()).then(|| reader.repository.clone());
            Box::new(github::Artifacts::open(name.clone().or(here), site)?)
        }
        Address::Gitlab => Box::new(gitlab::Packages::open(&site)?),
        Address::Object(url) => Box::new(object::Bucket::open(url, &site)?),
    })
}

/// A name for a suite in a shared store: characters that every store accepts, and a digest
/// that keeps different suites apart.
pub fn slug(suite: &str, label: &str) -> String {
    let mut plain = String::new();
    for c in suite.chars().chain("-".chars()).chain(label.chars()) {
        match c.is_ascii_alphanumeric() {
            true => plain.push(c.to_ascii_lowercase()),
            false if plain.ends_with('-') => {}
            false => plain.push('-'),
        }
    }
    let plain: String = plain.trim_matches('-').chars().take(40).collect();
    let digest = blake3::hash(format!("{suite}\0{label}").as_bytes()).to_hex();
    format!("{}-{}", plain.trim_end_matches('-'), &digest[..8])
        .trim_start_matches('-')
        .to_owned()
}

#[cfg(test)]
mod tests;
