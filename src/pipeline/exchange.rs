//! What a project shares with other machines: its shared store, who may be
//! trusted there, and which of its results are wanted.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use bstr::{BString, ByteSlice};

use super::asked::Asked;
use super::project::Project;
use crate::config::file::{self, FileConfig};
use crate::config::{Origin, SIGNING_KEY, Shared as Address, Text, Trust};
use crate::history::{Revision, View, short};
use crate::matrix::{Header, Key};
use crate::pattern::Pattern;
use crate::select::Strategy;
use crate::share::{self, bring, sign_and_pack};
use crate::share::{Brought, Deadline, Listed, Manifest, Pack, Sent, Shared, Site, Wanted};
use crate::store::{FsStore, Name};
use crate::trust::{Policy, SecretKey, Writer};

/// How far back results of others are of use.
const MOST_ANCESTORS: usize = 2000;

/// What starts runs of code that is merged, unless the configuration says
/// otherwise.
const EVENTS: [&str; 5] = [
    "push",
    "schedule",
    "workflow_dispatch",
    "merge_group",
    "web",
];

/// Branches that only merged code reaches, where nothing tells which one is.
const BRANCHES: [&str; 2] = ["main", "master"];

/// The shared store of a project.
pub(crate) struct Exchange {
    shared: Shared,
    key: Option<SecretKey>,
}

/// What the configuration that counts says of sharing.
struct Settings {
    address: Option<Address>,
    label: String,
    trust: Trust,
}

impl Exchange {
    /// The shared store; `None` if none is configured.
    ///
    /// # Errors
    /// If this process lacks what it takes, in words for people.
    pub(crate) fn open(project: &Project) -> Result<Option<Exchange>> {
        if project.config.shared_store.value.is_none() {
            return Ok(None);
        }
        let settings = settings(project)?;
        let Some(address) = settings.address else {
            return Ok(None);
        };
        let reader = project.reader.clone();
        let policy = policy(&settings.trust, &reader)?;
        let slug = share::slug(&project.suite, &settings.label);
        let site = Site {
            root: project.repository.root().to_owned(),
            cache: project.state().join("cache").join("shared"),
            upload: match name_among_others(project) {
                Some(name) => project.state().join("upload").join(name),
                None => project.state().join("upload"),
            },
            slug,
            keep: project.config.keep.value as usize,
        };
        let key = match std::env::var(SIGNING_KEY) {
            Ok(text) if !text.is_empty() => Some(
                SecretKey::parse(&text)
                    .map_err(|error| anyhow::anyhow!("the variable {SIGNING_KEY}: {error}"))?,
            ),
            _ => None,
        };
        // The others have to look into what they list.
        let is_list = matches!(address, Address::Github(_) | Address::Gitlab);
        let remote = share::open(&address, site, &reader)
            .map_err(|error| anyhow::anyhow!("the shared store {address}: {error}"))?;
        Ok(Some(Exchange {
            shared: Shared {
                remote,
                policy,
                public_key: settings.trust.public_key,
                reader,
                listed: project.offered.get().filter(|_| is_list).cloned(),
            },
            key,
        }))
    }

    /// What people can do about damaged files in it.
    pub(crate) fn mend(&self) -> String {
        self.shared.remote.mend()
    }

    pub(crate) fn place(&self) -> String {
        self.shared.remote.place()
    }

    /// Gets what is of use at `view` into `store`.
    ///
    /// # Errors
    /// If the history cannot be read; trouble with the store is in the answer.
    pub(crate) fn fetch(&self, project: &Project, store: &FsStore, view: &View) -> Result<Brought> {
        Ok(match wanted(project, &store.headers().0, view, None)? {
            Some(wanted) => {
                let asked = Asked::about(project, &wanted);
                let brought = self.bring(project, store, &wanted);
                asked.keep(&self.place(), &brought);
                brought
            }
            None => Brought::default(),
        })
    }

    /// What the store has, as far as it tells; one request.
    ///
    /// # Errors
    /// If the store cannot be asked.
    pub(crate) fn offered(&self, patience: Duration) -> share::Result<Listed> {
        let deadline = Deadline::after(patience);
        self.shared.remote.offers(&Wanted::default(), &deadline)
    }

    fn bring(&self, project: &Project, store: &FsStore, wanted: &Wanted) -> Brought {
        let environment = wanted.environment.as_deref();
        let is_ours = |manifest: &Manifest| is_ours(project, &manifest.key, environment);
        bring(&self.shared, store, wanted, &is_ours)
    }

    /// Shares one matrix. `asked`: by hand, not after a run.
    pub(crate) fn send(&self, store: &FsStore, name: &Name, asked: bool) -> Sent {
        share::send(&self.shared, store, name, self.key.as_ref(), asked)
    }

    /// One matrix as a file that others may upload.
    ///
    /// # Errors
    /// If the store cannot give it.
    pub(crate) fn pack(&self, store: &FsStore, name: &Name) -> Result<Pack> {
        sign_and_pack(store, name, &self.shared.reader, self.key.as_ref())
    }
}

/// The suite's name, if it is one of several.
fn name_among_others(project: &Project) -> Option<&str> {
    let config = &project.config;
    config.is_named.then_some(config.suite.value.as_str())
}

/// Whether results with this key are about the project's tests, and made in that
/// environment, if it is known.
fn is_ours(project: &Project, key: &Key, environment: Option<&str>) -> bool {
    project.owns(key) && environment.is_none_or(|environment| key.environment == environment)
}

/// What the results of others are wanted for; `None` if there are local ones
/// that none could be better than.
fn wanted(
    project: &Project,
    headers: &[(Name, Header)],
    view: &View,
    environment: Option<String>,
) -> Result<Option<Wanted>> {
    let headers = headers.iter().map(|(_, header)| header);
    let usable = headers.filter(|header| is_ours(project, &header.key, environment.as_deref()));
    let tree = view.revision().tree.to_string();
    let dirty = view.dirty()?;
    let mut local: BTreeSet<&str> = BTreeSet::new();
    for header in usable {
        if header.tree == tree && header.dirty == dirty {
            return Ok(None);
        }
        local.insert(&header.commit);
    }
    let mut commits = Vec::new();
    let mut nearest = None;
    let ancestors = project.repository.ancestors(view.revision().commit);
    for ancestor in ancestors.take(MOST_ANCESTORS) {
        // The edge of what this clone has is the end of what is wanted.
        let Ok(ancestor) = ancestor else { break };
        let commit = ancestor.commit.to_string();
        if local.contains(commit.as_str()) {
            nearest = Some(commits.len());
            break;
        }
        commits.push(commit);
    }
    if nearest == Some(0) {
        return Ok(None);
    }
    Ok(Some(Wanted {
        tree,
        local: nearest.unwrap_or(commits.len()),
        commits,
        has_local: !local.is_empty(),
        environment,
    }))
}

/// The settings that count. A pull request may not say whom to trust, so it
/// is asked of the side that it is to be merged into.
fn settings(project: &Project) -> Result<Settings> {
    let config = &project.config;
    let mut settings = Settings {
        address: config.shared_store.value.clone(),
        label: config.shared_label.value.clone().unwrap_or_default(),
        trust: config.trust.value.clone(),
    };
    if !project.reader.is_proposed() {
        return Ok(settings);
    }
    let Some(base) = base_of(project) else {
        if project.reader.acts_for_proposals() {
            anyhow::bail!(
                "a run started by `{}` may be about any pull request: nobody says into which \
                 branch that is to be merged, and so not what that branch says of trust",
                project.reader.event
            );
        }
        anyhow::bail!(
            "the branch that this pull request is to be merged into is not in this clone, and so \
             not what it says of trust"
        );
    };
    let view = project.repository.tree_view(&base)?;
    let path = config_path(project)?;
    let said = match view.read(path.as_bstr())? {
        Some(bytes) => {
            file::parse(&bytes, &format!("{path} of the base")).map_err(anyhow::Error::from)?
        }
        None => FileConfig::default(),
    };
    // What the workflow's own environment says is not the pull request's.
    if !matches!(config.shared_store.origin, Origin::Variable(_)) {
        settings.address = said.shared_store;
    }
    if !matches!(config.shared_label.origin, Origin::Variable(_)) {
        let suites = said.suites.iter().flatten();
        let own = suites.filter(|_| config.is_named);
        let own = own.filter(|(name, _)| *name == config.suite.value);
        let own = own.filter_map(|(_, own)| own.shared_label.clone()).next();
        let label = own.or(said.shared_label).map(|Text(label)| label);
        settings.label = label.unwrap_or_default();
    }
    settings.trust = said.trust.unwrap_or_default();
    Ok(settings)
}

/// Where the configuration lies in the repository.
pub(super) fn config_path(project: &Project) -> Result<BString> {
    Ok(match &project.config.place.file {
        Some(path) => project.repository.prefix_of(path)?,
        None => BString::from(file::NAME),
    })
}

/// The commit that a pull request is to be merged into.
pub(super) fn base_of(project: &Project) -> Option<Revision> {
    let (repository, reader) = (&project.repository, &project.reader);
    if !reader.base.is_empty() {
        let name = format!("refs/remotes/origin/{}", reader.base);
        if let Ok(found) = repository.resolve(&name) {
            return Some(found);
        }
    }
    // The provider tells its tip, or the remote was asked for it.
    for tip in [project.base.get(), Some(&reader.base_tip)] {
        if let Some(tip) = tip.filter(|tip| repository.has_commit(tip))
            && let Ok(found) = repository.resolve(tip)
        {
            return Some(found);
        }
    }
    // The provider merged it for this test: its first parent is the base. It
    // must be the provider's commit, since anybody can make a merge.
    let head = repository.head().ok()?;
    if reader.merge.is_empty() || head.commit.to_string() != reader.merge {
        return None;
    }
    let parents = repository.parents(&head.commit).ok()?;
    let first = parents.ids.first().filter(|_| parents.ids.len() == 2)?;
    repository.revision(*first).ok()
}

fn policy(trust: &Trust, reader: &Writer) -> Result<Policy> {
    let named = |names: &[&str]| -> Result<Vec<Pattern>> {
        let parsed = names.iter().map(|name| name.parse::<Pattern>());
        parsed
            .collect::<std::result::Result<_, _>>()
            .map_err(anyhow::Error::msg)
    };
    let refs = match (&trust.refs, reader.default_branch.as_str()) {
        (Some(refs), _) => refs.clone(),
        (None, "") => named(&BRANCHES)?,
        (None, branch) => named(&[branch])?,
    };
    let events = match &trust.events {
        Some(events) => events.iter().map(ToString::to_string).collect(),
        None => EVENTS.map(str::to_owned).to_vec(),
    };
    let repository = trust.repository.as_ref().map(ToString::to_string);
    Ok(Policy {
        repository: repository.unwrap_or_else(|| reader.repository.clone()),
        refs,
        events,
        workflows: trust.workflows.clone().unwrap_or_default(),
        needs_signature: trust.public_key.is_some(),
    })
}

/// What the shared store has for `view`, and its name; `None` if it need not be
/// asked. Nothing is opened for it, and no interpreter started, before that.
fn ask(
    project: &Project,
    store: &FsStore,
    view: &View,
    environment: impl FnOnce() -> Option<String>,
) -> Result<Option<(String, Brought)>> {
    let (headers, _) = store.headers();
    if wanted(project, &headers, view, None)?.is_none() {
        return Ok(None);
    }
    let Some(wanted) = wanted(project, &headers, view, environment())? else {
        return Ok(None);
    };
    let asked = Asked::about(project, &wanted);
    if let Some(answer) = asked.answer() {
        return Ok(answer.trouble.map(|trouble| {
            let brought = Brought {
                trouble: Some(trouble),
                ..Brought::default()
            };
            (answer.place, brought)
        }));
    }
    let Some(exchange) = Exchange::open(project)? else {
        return Ok(None);
    };
    let brought = exchange.bring(project, store, &wanted);
    asked.keep(&exchange.place(), &brought);
    Ok(Some((exchange.place(), brought)))
}

/// What was found on the way to a selection.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Why more tests run than could: people should hear of it.
    pub fallbacks: Vec<String>,
    /// For the curious.
    pub details: Vec<String>,
}

/// Looks into the shared store before a selection.
pub(super) fn consult(
    project: &Project,
    store: &FsStore,
    view: &View,
    strategy: Strategy,
    environment: impl FnOnce() -> Option<String>,
) -> Told {
    let mut told = Told::default();
    if strategy == Strategy::All || project.config.shared_store.value.is_none() {
        return told;
    }
    let fetched = ask(project, store, view, environment);
    match fetched {
        Ok(None) => {}
        Ok(Some((place, brought))) => {
            // Where nothing else is known, people should hear why all runs.
            let is_needed = brought.taken.is_empty() && store.headers().0.is_empty();
            if let Some(trouble) = &brought.trouble {
                // An earlier step of the job has warned of what it asked.
                let is_news = brought.asked || is_needed;
                let trouble = format!("the shared store ({place}): {trouble}");
                match is_news {
                    true => told.fallbacks.push(trouble),
                    false => told.details.push(trouble),
                }
            }
            told.fallbacks.extend(damaged(&place, &brought));
            match is_needed {
                true => told.fallbacks.extend(words(&brought)),
                false => told.details.extend(words(&brought)),
            }
        }
        Err(error) => {
            let error = share::redact(&format!("{error:#}"));
            told.fallbacks
                .push(format!("shared results are not used: {error}"));
        }
    }
    told
}

/// Which files of the shared store are damaged, and what to do, if any are.
pub(crate) fn damaged(place: &str, brought: &Brought) -> Option<String> {
    let count = match brought.damaged.len() {
        0 => return None,
        1 => "a damaged file".to_owned(),
        count => format!("{count} damaged files"),
    };
    let named = share::redact(&share::name_damaged(&brought.damaged));
    let mend = &brought.mend;
    Some(format!(
        "the shared store ({place}) has {count}, of no use: {named} ({mend})"
    ))
}

/// What was taken, and what was not, for the curious.
pub(crate) fn words(brought: &Brought) -> Vec<String> {
    let mut words = Vec::new();
    for taken in &brought.taken {
        let commit = short(&taken.commit);
        words.push(format!("shared results of {commit} taken: {}", taken.name));
    }
    for (why, count) in &brought.refused {
        let results = match count {
            1 => "a shared result is".to_owned(),
            _ => format!("{count} shared results are"),
        };
        words.push(format!("{results} not used: {why}"));
    }
    words
}
