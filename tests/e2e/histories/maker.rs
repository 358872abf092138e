//! Makes a history with git, and checks every strategy at each revision.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use tamis::exposed::config::{Config, Overrides, Variables};
use tamis::exposed::history::{Classifier, CommitGraph, CommitId, Head, Hints, Revision, View};
use tamis::exposed::languages::{Environment, Facts, Value};
use tamis::exposed::matrix::{
    GroupRef, Header, Key, Matrix, MatrixBuilder, Outcome, RowFacts, Run, TestId, Unit, What,
};
use tamis::exposed::pipeline::{Decision, Known, Project, Request, Shelf, decide, decide_on};
use tamis::exposed::runners::configured;
use tamis::exposed::select::Strategy;
use tamis::exposed::store::FsStore;

use super::toy::{self, Dice, TESTS, UNITS};

#[derive(Default)]
pub struct Counts {
    pub used: BTreeSet<&'static str>,
    pub checks: usize,
    pub left_out: usize,
}

/// Settings of git that apply in addition to those of the test. They save work on which no
/// history here depends.
const CONFIGURATION: &str = "\
[user]
\tname = Ann Author
\temail = ann@example.org
[core]
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

pub struct Maker<'s> {
    /// Holds everything that is made, the work tree first.
    folder: &'s Path,
    top: PathBuf,
    seed: u64,
    /// Every branch, and the one that is checked out.
    branches: Vec<String>,
    current: String,
    project: &'s Project,
    store: &'s FsStore,
    /// The same matrices as in the store.
    shelf: Shelf<'s>,
    dice: Dice,
    has_gaps: bool,
    made: u64,
    counts: Counts,
}

impl Maker<'_> {
    pub fn one_history(seed: u64) -> Counts {
        let holder = tempfile::tempdir().unwrap();
        let folder = holder.path().canonicalize().unwrap();
        let mut dice = Dice(seed);
        let top = first_revision(&folder, &mut dice);
        let config = Config::load(&top, None, &Variables::new(), &Overrides::default(), None);
        let project = Project::open(config.unwrap()).unwrap();
        let store = project.store();
        let mut maker = Maker {
            folder: &folder,
            top,
            seed,
            branches: vec!["main".to_owned(), "side".to_owned()],
            current: "main".to_owned(),
            project: &project,
            store: &store,
            shelf: Shelf::empty(&store),
            has_gaps: dice.one_in(2),
            dice,
            made: 0,
            counts: Counts::default(),
        };
        maker.check("HEAD", Hints::default());
        let mut steps = vec![0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6];
        while !steps.is_empty() {
            maker.commit();
            let at = maker.dice.below(steps.len());
            match steps.swap_remove(at) {
                0 => maker.branch(),
                1 => maker.merge(),
                2 => maker.pick(),
                3 => maker.revert(),
                4 => maker.rebase(),
                5 => maker.squash(),
                _ => maker.pick_together(),
            }
        }
        maker.counts
    }

    /// What git prints; `None` if it fails.
    fn try_git(&mut self, arguments: &[&str]) -> Option<String> {
        self.made += 1;
        let output = git(&self.top, self.made, arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        output.status.success().then_some(text)
    }

    fn git(&mut self, arguments: &[&str]) -> String {
        self.try_git(arguments)
            .unwrap_or_else(|| panic!("git {arguments:?}"))
    }

    fn id(&self, rev: &str) -> CommitId {
        self.project.repository.resolve(rev).unwrap().commit
    }

    fn history(&self, rev: &str) -> Vec<CommitId> {
        let ancestors = self.project.repository.ancestors(self.id(rev));
        ancestors.map(|found| found.unwrap().commit).collect()
    }

    /// Checks out a branch and returns the name of another.
    fn two_branches(&mut self) -> String {
        let mut branches = self.branches.clone();
        let one = branches.remove(self.dice.below(branches.len()));
        let other = branches.remove(self.dice.below(branches.len()));
        if one != self.current {
            self.git(&["checkout", "-q", &one]);
            self.current = one;
        }
        other
    }

    /// Edits, removes or makes a file.
    fn edit(&mut self) {
        let number = self.dice.below(UNITS + TESTS);
        let is_test = number >= UNITS;
        let path = match is_test {
            true => toy::test(number - UNITS),
            false => toy::unit(number),
        };
        let place = self.top.join(&path);
        match fs::read_to_string(&place) {
            Ok(_) if is_test && self.dice.one_in(4) => fs::remove_file(place).unwrap(),
            Ok(text) => fs::write(place, toy::edited(&mut self.dice, &text)).unwrap(),
            Err(_) => {
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(place, toy::source(&mut self.dice, is_test)).unwrap();
                // `commit -a` leaves out files that git does not know yet.
                self.git(&["add", "-A"]);
            }
        }
    }

    fn commit(&mut self) {
        self.two_branches();
        self.edit();
        if self.dice.one_in(2) {
            self.edit();
        }
        self.git(&["commit", "-q", "-a", "--allow-empty", "-m", "a commit"]);
        self.check("HEAD", Hints::default());
    }

    fn branch(&mut self) {
        let branches = self.branches.iter();
        let all: BTreeSet<CommitId> = branches.flat_map(|name| self.history(name)).collect();
        let at = self.dice.below(all.len());
        let from = all.iter().nth(at).unwrap().to_string();
        let name = format!("b{}", self.made);
        self.git(&["branch", &name, &from]);
        self.branches.push(name);
    }

    /// Ends a merge, pick or rebase that stopped at conflicts: each file with conflict marks
    /// is replaced by a new one.
    fn resolve(&mut self) {
        let open = self.git(&["diff", "--name-only", "--diff-filter=U"]);
        for path in open.lines() {
            let is_test = path.starts_with("tests/");
            let place = self.top.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, toy::source(&mut self.dice, is_test)).unwrap();
        }
        self.git(&["add", "-A"]);
    }

    fn merge(&mut self) {
        let other = self.two_branches();
        let before = self.id("HEAD");
        let merged = self.try_git(&["merge", "-q", "--no-ff", "--no-edit", &other]);
        if merged.is_none() {
            self.resolve();
            self.git(&["commit", "-q", "--no-edit"]);
        } else if self.dice.one_in(6) && self.id("HEAD") != before {
            self.edit();
            self.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
        }
        self.check("HEAD", Hints::default());
    }

    /// A commit with one parent that is, or is not, an ancestor of the current one.
    fn some_commit(&mut self, is_behind: bool, other: &str) -> Option<String> {
        let behind = self.history("HEAD");
        let found = match is_behind {
            true => behind,
            false => {
                let behind = BTreeSet::from_iter(behind);
                let mut ahead = self.history(other);
                ahead.retain(|commit| !behind.contains(commit));
                ahead
            }
        };
        let repository = &self.project.repository;
        let parents = |commit: &CommitId| repository.parents(commit).unwrap().ids.len();
        let found: Vec<CommitId> = found.into_iter().filter(|it| parents(it) == 1).collect();
        let at = (!found.is_empty()).then(|| self.dice.below(found.len()));
        at.map(|at| found[at].to_string())
    }

    fn pick(&mut self) {
        let other = self.two_branches();
        let Some(commit) = self.some_commit(false, &other) else {
            return;
        };
        if self.try_git(&["cherry-pick", "-x", &commit]).is_none() {
            self.resolve();
            // Nothing may be left to commit.
            if self.try_git(&["commit", "-q", "--no-edit"]).is_none() {
                self.git(&["cherry-pick", "--abort"]);
                return;
            }
        }
        self.check("HEAD", Hints::default());
    }

    /// Picks several commits and makes one of them.
    fn pick_together(&mut self) {
        let other = self.two_branches();
        let first = self.some_commit(false, &other);
        let last = self.some_commit(false, &other);
        let Some((first, last)) = first.zip(last).filter(|(first, last)| first != last) else {
            return;
        };
        let picked = ["cherry-pick", "-n", &first, &last];
        if self.try_git(&picked).is_none() {
            self.git(&["reset", "-q", "--hard"]);
            return;
        }
        let trailers = [first, last].map(|id| format!("(cherry picked from commit {id})"));
        let message = format!("two picks\n\n{}", trailers.join("\n"));
        self.git(&["commit", "-q", "--allow-empty", "-m", &message]);
        self.check("HEAD", Hints::default());
    }

    fn revert(&mut self) {
        let other = self.two_branches();
        let Some(commit) = self.some_commit(true, &other) else {
            return;
        };
        if self.try_git(&["revert", "--no-edit", &commit]).is_none() {
            self.resolve();
            if self.try_git(&["commit", "-q", "--no-edit"]).is_none() {
                let _ = self.try_git(&["revert", "--abort"]);
                self.git(&["reset", "-q", "--hard"]);
                return;
            }
        }
        self.check("HEAD", Hints::default());
    }

    fn rebase(&mut self) {
        let other = self.two_branches();
        let before = self.id("HEAD");
        let mut done = self.try_git(&["rebase", "-q", &other]).is_some();
        while !done {
            self.resolve();
            done = self.try_git(&["rebase", "--continue"]).is_some()
                || self.try_git(&["rebase", "--skip"]).is_some();
        }
        let hints = Hints {
            before: Some(before),
            pr_head: None,
        };
        self.check("HEAD", hints);
    }

    fn squash(&mut self) {
        let other = self.two_branches();
        let tip = self.id(&other);
        if self.try_git(&["merge", "-q", "--squash", &other]).is_none() {
            self.resolve();
        }
        self.git(&["commit", "-q", "--allow-empty", "-m", "squashed"]);
        let hints = Hints {
            before: None,
            pr_head: Some(tip),
        };
        self.check("HEAD", hints);
    }

    /// Selects with every strategy, compares with running everything, and stores the result of
    /// one of them.
    fn check(&mut self, rev: &str, hints: Hints) {
        let revision = self.project.repository.resolve(rev).unwrap();
        let view = self.project.repository.tree_view(&revision).unwrap();
        let outcomes: BTreeMap<String, bool> = (0..TESTS)
            .filter_map(|number| Some((toy::test_id(number), toy::run(&view, number)?.passed)))
            .collect();
        let decisions = self.decisions(revision, &view, hints);
        let mut run: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (strategy, decision) in &decisions {
            let used = decision.selection.course.used.word();
            let left_out: BTreeSet<&str> = decision.selection.excluded().map(|(t, _)| t).collect();
            for test in &left_out {
                if outcomes.get(*test) == Some(&false) {
                    let what = format!("{strategy} ({used}) misses {test}");
                    self.fail(&what, revision);
                }
            }
            self.counts.checks += 1;
            self.counts.left_out += left_out.len();
            self.counts.used.insert(used);
            let known = outcomes.keys().map(String::as_str);
            let runs = known.filter(|test| !left_out.contains(test));
            run.insert(strategy.word(), runs.collect());
        }
        let more = run.iter().find(|(_, tests)| !run["memo"].is_subset(tests));
        if let Some((strategy, _)) = more {
            self.fail(&format!("memo selects more than {strategy}"), revision);
        }
        if !run["merge-parents"].is_subset(&run["merge-history"]) {
            self.fail("merge-parents selects more than merge-history", revision);
        }
        let ways = ["all", "commit", "memo", "merge-parents", "thesis"];
        let way = ways[self.dice.below(ways.len())];
        let chosen = decisions.iter().find(|(one, _)| one.word() == way);
        if !(self.has_gaps && self.dice.one_in(6)) {
            let (_, decision) = chosen.unwrap();
            let name = self.store.put(&self.recorded(&view, decision)).unwrap();
            let header = self.shelf.load(&name).unwrap().header().clone();
            self.shelf.add(name, header);
        }
    }

    /// The decision of each strategy. They share everything that does not depend on the
    /// strategy, as in a replay. Sometimes one is asked alone, as by `tamis select`, and must
    /// give the same answer.
    fn decisions(
        &self,
        revision: Revision,
        view: &View,
        hints: Hints,
    ) -> Vec<(Strategy, Decision)> {
        let repository = &self.project.repository;
        let classify = |is_alone: bool| -> Head {
            let classifier = Classifier::new(repository, revision.commit).unwrap();
            let classifier = match is_alone {
                true => classifier.without_dominators().without_copies(),
                false => classifier.without_dominators(),
            };
            classifier.classify(revision, &hints).unwrap()
        };
        let (head, with_copies) = (classify(true), classify(false));
        let named = [hints.before, hints.pr_head].into_iter().flatten();
        let branches = self.branches.iter().map(|name| self.id(name));
        let tips: Vec<CommitId> = named.chain(branches).collect();
        let graph = Rc::new(CommitGraph::load_all(repository, &tips).unwrap());
        let known = Known::default();
        let ask = |strategy: Strategy| {
            let request = Request {
                strategy,
                hints,
                head: Some(match strategy.asks_for_copies() {
                    true => &with_copies,
                    false => &head,
                }),
                graph: Some(graph.clone()),
                known: Some(&known),
                ..Request::default()
            };
            let decision = decide_on(self.project, &self.shelf, view, &request).unwrap();
            (strategy, decision)
        };
        let decisions: Vec<_> = Strategy::ALL.into_iter().map(ask).collect();
        let mut dice = Dice(self.seed ^ (self.made << 32));
        let (strategy, shared) = &decisions[dice.below(decisions.len())];
        if dice.one_in(6) {
            let request = Request {
                strategy: *strategy,
                hints,
                ..Request::default()
            };
            let alone = decide(self.project, self.store, view, &request).unwrap();
            if alone.selection.verdicts != shared.selection.verdicts {
                self.fail(&format!("{strategy} alone selects otherwise"), revision);
            }
        }
        decisions
    }

    fn fail(&self, what: &str, revision: Revision) -> ! {
        let (seed, place) = (self.seed, self.folder.display());
        panic!(
            "{what} at {} of the history of seed {seed} in {place}",
            revision.commit
        );
    }

    /// The matrix after running what `decision` selects.
    fn recorded(&self, view: &View, decision: &Decision) -> Matrix {
        let facts = Facts::new(view, &self.top, Environment::Elsewhere, None, configured);
        let revision = view.revision();
        let own = Run {
            id: format!("r{}", self.made),
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            dirty: false,
            chose: false,
        };
        let header = Header {
            key: Key {
                repository: self.project.identity.clone(),
                suite: self.project.suite.clone(),
                environment: "toy".to_owned(),
            },
            commit: own.commit.clone(),
            tree: own.tree.clone(),
            dirty: Vec::new(),
            created: self.made,
            tool: "0".to_owned(),
            run: own.id.clone(),
            shard: None,
            runs: vec![own],
            strategy: decision.selection.course.used.word().to_owned(),
            baselines: decision.selection.baselines.clone(),
            command: Vec::new(),
            tests: 0,
            ran: 0,
        };
        let mut builder = MatrixBuilder::new(header);
        let mut group = |units: Vec<Unit>| -> GroupRef {
            let known: Vec<_> = units
                .into_iter()
                .map(|unit| match facts.value(&unit) {
                    Value::Known(value) => builder.unit(unit, value).unwrap(),
                    other => panic!("{unit}: {other:?}"),
                })
                .collect();
            builder.group(known)
        };
        let left_out: BTreeSet<&str> = decision.selection.excluded().map(|(t, _)| t).collect();
        let mut rows = vec![(
            facts_of(TestId::Collection, true, true),
            group(vec![Unit::at("tests", What::Dir)]),
        )];
        for number in 0..TESTS {
            let id = toy::test_id(number);
            let Some(outcome) = toy::run(view, number) else {
                continue;
            };
            let is_selected = !left_out.contains(id.as_str());
            let (passed, units) = match is_selected {
                true => {
                    let file = |path: String| Unit::at(path, What::File);
                    (
                        outcome.passed,
                        outcome.files.into_iter().map(file).collect(),
                    )
                }
                // As carried over: the row in the evidence.
                false => {
                    let matrix = decision.proof_of(&id).unwrap();
                    let row = matrix.row(TestId::Test(&id)).unwrap();
                    let units = matrix.units_of(row).into_iter();
                    let units = units.map(|unit| matrix.units[unit as usize].0.clone());
                    (row.outcome == Outcome::Passed, units.collect())
                }
            };
            rows.push((
                facts_of(TestId::Test(id), passed, is_selected),
                group(units),
            ));
        }
        for (facts, units) in rows {
            builder.row(facts, [units]).unwrap();
        }
        builder.finish()
    }
}

/// A repository with its first commit, on two branches; its work tree.
fn first_revision(folder: &Path, dice: &mut Dice) -> PathBuf {
    let top = folder.join("work");
    fs::create_dir_all(top.join("tests")).unwrap();
    fs::write(top.with_file_name("configuration"), CONFIGURATION).unwrap();
    for number in 0..UNITS {
        fs::write(top.join(toy::unit(number)), toy::source(dice, false)).unwrap();
    }
    for number in 0..TESTS {
        fs::write(top.join(toy::test(number)), toy::source(dice, true)).unwrap();
    }
    fs::write(top.join(".gitignore"), ".tamis/\n").unwrap();
    for arguments in [
        &["init", "-q", "-b", "main", "--template="][..],
        &["add", "-A"],
        &["commit", "-q", "-m", "root"],
        &["branch", "side"],
    ] {
        let status = git(&top, 0, arguments).stdout(Stdio::null()).status();
        assert!(status.unwrap().success(), "git {arguments:?}");
    }
    top
}

fn facts_of(test: TestId, passed: bool, selected: bool) -> RowFacts {
    RowFacts {
        own: None,
        test,
        outcome: if passed {
            Outcome::Passed
        } else {
            Outcome::Failed
        },
        duration_ms: 1,
        position: 0,
        incomplete: None,
        run: 0,
        selected,
    }
}

fn git(top: &Path, clock: u64, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    let date = format!("{} +0000", 1_700_000_000 + clock);
    command
        .args(arguments)
        .current_dir(top)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", top.with_file_name("configuration"))
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .env("GIT_EDITOR", "true")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}
