//! Opens a project after its clone has what the selection needs: commits that a
//! shallow clone lacks, trees and blobs that a filtered one lacks. Only where
//! that is wanted, with few requests, and never more than helps.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use bstr::ByteSlice;

use super::asked::Asked;
use super::exchange::{Exchange, Told, base_of, config_path};
use super::project::Project;
use crate::ci::{CiContext, Provider};
use crate::config::{Config, Deepen};
use crate::count::counted;
use crate::history::{CommitId, Entry, Revision};
use crate::share::{Depth, Origin, RemoteError, Wanted, redact};

/// How far the edge of a shallow history is moved, request by request.
const DEPTHS: [Depth; 4] = [Depth::By(50), Depth::By(500), Depth::By(5000), Depth::All];

/// The list of what a shared store has must be here by then.
const PATIENCE: Duration = Duration::from_secs(15);

/// How far back results are of use.
const MOST_ANCESTORS: usize = 2000;

/// Of so many results the trees are fetched; a selection reads few more.
const MOST_COMPARED: usize = 20;

/// So many blobs are fetched in order to tell how the head came to be.
const MOST_BLOBS: usize = 5000;

/// Trees are fetched with all that is below them, so this is more than enough.
const MOST_ROUNDS: u32 = 3;

/// The project of `config`. Where the configuration wants that, its clone is
/// first completed as far as earlier results need it. Trouble with that is told
/// by the project, and makes more tests run.
///
/// # Errors
/// Those of [`Project::open`].
pub(crate) fn open(config: &Config, ci: Option<&CiContext>) -> Result<Project> {
    let project = Project::open(config.clone())?;
    let repository = &project.repository;
    let is_wanted = match config.deepen.value {
        Deepen::Ci => ci.is_some(),
        Deepen::Always => true,
        Deepen::Never => false,
    };
    let is_cut = repository.is_shallow() || repository.is_partial();
    let may_lack = is_cut || config.strategy.value.asks_for_copies() || lacks_base(&project);
    if !is_wanted || !may_lack {
        return Ok(project);
    }
    let completion = Completion {
        head: repository.head()?,
        project: &project,
        ci,
        origin: None,
        told: Told::default(),
    };
    let told = completion.make();
    // What was read of the history before may be out of date.
    let mut whole = Project::open(config.clone())?;
    whole.told = told;
    whole.base = project.base;
    whole.offered = project.offered;
    Ok(whole)
}

/// Whether the side that a pull request goes to is not here, which says whom to
/// trust.
fn lacks_base(project: &Project) -> bool {
    project.config.shared_store.value.is_some()
        && project.reader.is_proposed()
        && base_of(project).is_none()
}

/// One attempt to get what is lacking.
struct Completion<'a> {
    project: &'a Project,
    ci: Option<&'a CiContext>,
    head: Revision,
    /// Opened at the first request.
    origin: Option<Origin>,
    told: Told,
}

impl Completion<'_> {
    fn make(mut self) -> Told {
        if let Err(why) = self.get_base() {
            let why = redact(&why.to_string());
            let told = format!("the branch that this goes to cannot be fetched: {why}");
            self.told.details.push(told);
        }
        self.complete();
        self.get_named();
        self.told
    }

    /// The branch that a pull request goes to, where the clone has only the
    /// request's own tip: its commit, and the configuration in it. Without it
    /// nothing shared is used, and the selection says so.
    fn get_base(&mut self) -> Result<(), RemoteError> {
        let project = self.project;
        let reader = &project.reader;
        // A merge that the provider made has it for a parent.
        if !lacks_base(project) || self.is_base_missing() {
            return Ok(());
        }
        let tip = match (reader.base_tip.as_str(), reader.base.as_str()) {
            ("", "") => return Ok(()),
            ("", name) => self.origin()?.tip_of(name)?,
            (tip, _) => tip.to_owned(),
        };
        let repository = &project.repository;
        if !repository.has_commit(&tip) {
            let is_shallow = repository.is_shallow();
            self.origin()?.tip(&tip, is_shallow)?;
            self.told
                .details
                .push(format!("fetched {tip}, which this goes to"));
        }
        if repository.is_partial() {
            self.get_configuration(&tip)?;
        }
        let _ = project.base.set(tip);
        Ok(())
    }

    /// The configuration at `tip`, which a filter leaves out.
    fn get_configuration(&mut self, tip: &str) -> Result<(), RemoteError> {
        let project = self.project;
        let Ok(commit) = tip.parse::<CommitId>() else {
            return Ok(());
        };
        let trees = project.repository.missing_trees(&[commit]);
        self.origin()?.objects(&trees)?;
        let view = project.repository.revision(commit);
        let view = view.and_then(|revision| project.repository.tree_view(&revision));
        let (Ok(view), Ok(path)) = (view, config_path(project)) else {
            return Ok(());
        };
        if let Ok(Entry::File { blob, .. }) = view.entry(path.as_bstr())
            && view.read(path.as_bstr()).is_err()
        {
            let id = faster_hex::hex_string(&blob);
            self.origin()?.objects(&[id])?;
        }
        Ok(())
    }

    fn complete(&mut self) {
        let mut results = self.local_results();
        if results.is_here {
            return;
        }
        if self.project.repository.is_shallow()
            && let Err(why) = self.deepen(&mut results)
        {
            self.fall_back(
                "the clone is shallow, and more of its history cannot be fetched",
                &why,
                "results of commits that it lacks are not used",
                "fetch-depth: 0",
            );
        }
        if self.project.repository.is_partial() {
            self.ask_shared(&mut results);
            if let Err(why) = self.fill(&results) {
                self.fall_back(
                    "the clone was made with a filter, and files of earlier commits cannot be fetched",
                    &why,
                    "all that was recorded is compared instead of what changed",
                    "no `filter`",
                );
            }
        }
    }

    /// The tips that the event names, for strategies that compare with them: a
    /// push by force has left the one before on no branch. Without them such a
    /// strategy gives way to another, and says so.
    fn get_named(&mut self) {
        let project = self.project;
        if !project.config.strategy.value.asks_for_copies() || project.repository.is_shallow() {
            return;
        }
        let request = self.ci.and_then(|ci| ci.pull_request.as_ref());
        let named = [
            self.ci.and_then(|ci| ci.before.clone()),
            request.and_then(|request| request.head.clone()),
        ];
        let missing: Vec<String> = named
            .into_iter()
            .flatten()
            .filter(|name| !project.repository.has_commit(name))
            .collect();
        if missing.is_empty() {
            return;
        }
        let fetched = self.origin().and_then(|origin| origin.commits(&missing));
        self.told.details.push(match fetched {
            Ok(()) => format!("fetched {} for the strategy", missing.join(", ")),
            Err(why) => format!("{} cannot be fetched: {why}", missing.join(", ")),
        });
    }

    /// The commits that the local store has results for.
    fn local_results(&self) -> Results {
        let mut results = Results::default();
        let tree = self.head.tree.to_string();
        for (_, header) in self.project.store().headers().0 {
            if self.project.owns(&header.key) {
                results.is_here |= header.tree == tree;
                results.commits.insert(header.commit);
            }
        }
        results
    }

    /// Adds what the shared store has, if that is not known yet and can be.
    fn ask_shared(&mut self, results: &mut Results) {
        if results.is_shared_known || self.project.config.shared_store.value.is_none() {
            return;
        }
        // The side that a pull request goes to says whom to trust.
        if self.project.reader.is_proposed() && base_of(self.project).is_none() {
            return;
        }
        results.is_shared_known = true;
        let question = Wanted {
            tree: self.head.tree.to_string(),
            ..Wanted::default()
        };
        if Asked::about(self.project, &question).answer().is_some() {
            // What an earlier step of the job took is in the local store.
            return;
        }
        let offered = match Exchange::open(self.project) {
            Ok(Some(exchange)) => exchange.offered(PATIENCE),
            // The selection says so, if it asks.
            Ok(None) | Err(_) => return,
        };
        let offered = self.project.offered.get_or_init(|| offered);
        for offer in offered.iter().flat_map(|listed| &listed.offers) {
            results.commits.insert(offer.commit.clone());
        }
    }

    /// Fetches history until a commit with results is an ancestor of the head.
    fn deepen(&mut self, results: &mut Results) -> Result<(), RemoteError> {
        let reference = self.ci.and_then(|ci| ci.reference.clone());
        for depth in DEPTHS {
            self.ask_shared(results);
            let is_base_missing = self.is_base_missing();
            let is_enough = results.commits.is_empty() || self.has_near(results);
            if !self.project.repository.is_shallow() || (is_enough && !is_base_missing) {
                break;
            }
            let head = self.head.commit.to_string();
            self.origin()?.deepen(&head, reference.as_deref(), depth)?;
            self.told.details.push(match depth {
                Depth::By(commits) => format!("fetched {commits} more commits of the history"),
                Depth::All => "fetched the whole history".to_owned(),
            });
        }
        Ok(())
    }

    /// Whether the side that a pull request goes to would be the head's parent,
    /// and is not here.
    fn is_base_missing(&self) -> bool {
        let (project, reader) = (self.project, &self.project.reader);
        project.config.shared_store.value.is_some()
            && reader.is_proposed()
            && reader.merge == self.head.commit.to_string()
            && base_of(project).is_none()
    }

    /// Whether some result is of an ancestor of the head.
    fn has_near(&self, results: &Results) -> bool {
        !self.near(results, 1).is_empty()
    }

    /// The nearest ancestors that have results, at most `most`.
    fn near(&self, results: &Results, most: usize) -> Vec<CommitId> {
        let ancestors = self.project.repository.ancestors(self.head.commit);
        ancestors
            .take(MOST_ANCESTORS)
            .map_while(Result::ok)
            .map(|ancestor| ancestor.commit)
            .filter(|commit| results.commits.contains(&commit.to_string()))
            .take(most)
            .collect()
    }

    /// Fetches the trees of the results that will be compared, and what it takes
    /// to tell how the head came to be.
    fn fill(&mut self, results: &Results) -> Result<(), RemoteError> {
        let project = self.project;
        let repository = &project.repository;
        let sides = repository.sides_of(self.head.commit);
        let mut commits = self.near(results, MOST_COMPARED);
        if commits.is_empty() {
            let elsewhere = results.commits.iter();
            let elsewhere = elsewhere.filter_map(|name| name.parse::<CommitId>().ok());
            commits.extend(elsewhere.take(MOST_COMPARED));
        }
        commits.extend(&sides);
        for _ in 0..MOST_ROUNDS {
            let missing = repository.missing_trees(&commits);
            if missing.is_empty() {
                break;
            }
            let trees = missing.len();
            self.origin()?.objects(&missing)?;
            let told = format!("fetched {trees} trees that a filter had left out");
            self.told.details.push(told);
        }
        // What a sparse checkout leaves out is nowhere else.
        let nearest = self.near(results, 1).first().copied();
        if let Some(nearest) = nearest {
            let missing = repository.missing_own_blobs(self.head.commit, nearest, MOST_BLOBS);
            if !missing.is_empty() {
                let blobs = missing.len();
                self.origin()?.objects(&missing)?;
                let told = format!("fetched {}, not checked out here", counted(blobs, "file"));
                self.told.details.push(told);
            }
        }
        if sides.len() > 1 {
            let missing = repository.missing_blobs(self.head.commit, &sides, MOST_BLOBS);
            if !missing.is_empty() {
                let blobs = missing.len();
                self.origin()?.objects(&missing)?;
                let told = format!("fetched {}, left out by a filter", counted(blobs, "file"));
                self.told.details.push(told);
            }
        }
        Ok(())
    }

    fn origin(&mut self) -> Result<&mut Origin, RemoteError> {
        if self.origin.is_none() {
            self.origin = Some(Origin::find(self.project.repository.root())?);
        }
        let none = || RemoteError::NotSetUp("the clone has no remote to fetch from".to_owned());
        self.origin.as_mut().ok_or_else(none)
    }

    /// One line: what is missing, what it costs, what to write instead.
    fn fall_back(&mut self, what: &str, why: &RemoteError, cost: &str, github: &str) {
        let cure = match self.ci.map(|ci| ci.provider) {
            Some(Provider::GitHub) => format!("write `{github}` below `with:` of actions/checkout"),
            Some(Provider::GitLab) => "write `GIT_DEPTH: \"0\"` below `variables:`".to_owned(),
            Some(Provider::Generic) | None => {
                "make a full clone, or `git fetch --unshallow` before".to_owned()
            }
        };
        let why = redact(&why.to_string());
        self.told
            .fallbacks
            .push(format!("{what} ({why}): {cost}; {cure}"));
    }
}

/// Where results are.
#[derive(Default)]
struct Results {
    /// Those of these very files are in the local store.
    is_here: bool,
    commits: BTreeSet<String>,
    /// Whether `commits` has those of the shared store.
    is_shared_known: bool,
}
