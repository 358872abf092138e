//! Makes a history with git, and checks every strategy at each revision.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tamis::config::{Config, Overrides, Variables};
use tamis::fingerprint::{Environment, Facts, Value};
use tamis::history::{CommitId, Hints, View};
use tamis::matrix::{
    GroupRef, Header, Key, Matrix, MatrixBuilder, Outcome, RowFacts, Run, Unit, UnitKind,
};
use tamis::pipeline::{Decision, Project, Request, decide};
use tamis::select::{COLLECTION, Strategy};
use tamis::store::FsStore;

use super::toy::{self, Dice, TESTS, UNITS};

#[derive(Default)]
pub struct Counts {
    pub used: BTreeSet<&'static str>,
    pub checks: usize,
    pub left_out: usize,
}

pub struct Maker {
    _folder: tempfile::TempDir,
    top: PathBuf,
    project: Project,
    store: FsStore,
    dice: Dice,
    has_gaps: bool,
    made: u64,
    counts: Counts,
}

impl Maker {
    pub fn one_history(seed: u64) -> Counts {
        let mut maker = Maker::new(seed);
        let mut steps = vec![0, 1, 1, 2, 2, 3, 3, 4, 4, 5];
        while !steps.is_empty() {
            maker.commit();
            let at = maker.dice.below(steps.len());
            match steps.swap_remove(at) {
                0 => maker.branch(),
                1 => maker.merge(),
                2 => maker.pick(),
                3 => maker.revert(),
                4 => maker.rebase(),
                _ => maker.squash(),
            }
        }
        maker.counts
    }

    fn new(seed: u64) -> Maker {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir_all(top.join("tests")).unwrap();
        let mut dice = Dice(seed);
        for number in 0..UNITS {
            fs::write(top.join(toy::unit(number)), toy::source(&mut dice, false)).unwrap();
        }
        for number in 0..TESTS {
            fs::write(top.join(toy::test(number)), toy::source(&mut dice, true)).unwrap();
        }
        fs::write(top.join(".gitignore"), ".tamis/\n").unwrap();
        git_in(&top, 0, &["init", "-q", "-b", "main"]);
        git_in(&top, 0, &["add", "-A"]);
        git_in(&top, 0, &["commit", "-q", "-m", "root"]);
        git_in(&top, 0, &["branch", "side"]);
        let config = Config::load(&top, None, &Variables::new(), &Overrides::default(), None);
        let project = Project::open(config.unwrap()).unwrap();
        let mut maker = Maker {
            _folder: folder,
            store: project.store(),
            project,
            top,
            has_gaps: dice.one_in(2),
            dice,
            made: 0,
            counts: Counts::default(),
        };
        maker.check("HEAD", Hints::default());
        maker
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

    fn id(&mut self, rev: &str) -> CommitId {
        self.git(&["rev-parse", rev]).parse().unwrap()
    }

    fn branches(&mut self) -> Vec<String> {
        let all = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        all.lines().map(str::to_owned).collect()
    }

    /// Checks out some branch and returns the name of another.
    fn two_branches(&mut self) -> (String, String) {
        let mut branches = self.branches();
        let one = branches.remove(self.dice.below(branches.len()));
        let other = branches.remove(self.dice.below(branches.len()));
        self.git(&["checkout", "-q", &one]);
        (one, other)
    }

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
            }
        }
    }

    fn commit(&mut self) {
        self.two_branches();
        self.edit();
        if self.dice.one_in(2) {
            self.edit();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
        self.check("HEAD", Hints::default());
    }

    fn branch(&mut self) {
        let all = self.git(&["rev-list", "--all"]);
        let all: Vec<&str> = all.lines().collect();
        let from = all[self.dice.below(all.len())].to_owned();
        let name = format!("b{}", self.made);
        self.git(&["branch", &name, &from]);
    }

    /// Ends a merge, pick or rebase that stopped at conflicts: each file that
    /// still has marks becomes a fresh one.
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
        let (_, other) = self.two_branches();
        let before = self.id("HEAD");
        let merged = self.try_git(&["merge", "-q", "--no-ff", "--no-edit", &other]);
        if merged.is_none() {
            self.resolve();
            self.git(&["commit", "-q", "--no-edit"]);
        } else if self.dice.one_in(6) && self.id("HEAD") != before {
            self.edit();
            self.git(&["add", "-A"]);
            self.git(&["commit", "-q", "--amend", "--no-edit"]);
        }
        self.check("HEAD", Hints::default());
    }

    /// A commit with one parent that is, or is not, behind the current one.
    fn some_commit(&mut self, is_behind: bool, other: &str) -> Option<String> {
        let range = match is_behind {
            true => "HEAD".to_owned(),
            false => format!("HEAD..{other}"),
        };
        let found = self.git(&["rev-list", "--max-parents=1", "--min-parents=1", &range]);
        let found: Vec<&str> = found.lines().collect();
        let at = (!found.is_empty()).then(|| self.dice.below(found.len()));
        at.map(|at| found[at].to_owned())
    }

    fn pick(&mut self) {
        let (_, other) = self.two_branches();
        let Some(commit) = self.some_commit(false, &other) else {
            return;
        };
        if self.try_git(&["cherry-pick", "-x", &commit]).is_none() {
            self.resolve();
            // What is left may be nothing.
            if self.try_git(&["commit", "-q", "--no-edit"]).is_none() {
                self.git(&["cherry-pick", "--abort"]);
                return;
            }
        }
        self.check("HEAD", Hints::default());
    }

    fn revert(&mut self) {
        let (_, other) = self.two_branches();
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
        let (_, other) = self.two_branches();
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
        let (_, other) = self.two_branches();
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

    /// Selects by every strategy, compares with running everything, and stores
    /// what one of them came to.
    fn check(&mut self, rev: &str, hints: Hints) {
        let repository = &self.project.repository;
        let revision = repository.resolve(rev).unwrap();
        let view = repository.tree_view(&revision).unwrap();
        let outcomes: BTreeMap<String, bool> = (0..TESTS)
            .filter_map(|number| Some((toy::test_id(number), toy::run(&view, number)?.passed)))
            .collect();
        let mut run: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut decisions = Vec::new();
        for strategy in Strategy::ALL {
            let request = Request {
                strategy,
                hints,
                ..Request::default()
            };
            let decision = decide(&self.project, &self.store, &view, &request).unwrap();
            let left_out: BTreeSet<&str> = decision.selection.excluded().map(|(t, _)| t).collect();
            for test in &left_out {
                let place = self.top.display();
                let used = decision.selection.course.used;
                assert_ne!(
                    outcomes.get(*test),
                    Some(&false),
                    "{strategy} ({used}) misses {test} at {} in {place}",
                    revision.commit
                );
            }
            self.counts.checks += 1;
            self.counts.left_out += left_out.len();
            self.counts
                .used
                .insert(decision.selection.course.used.word());
            let known = outcomes.keys();
            let runs = known.filter(|test| !left_out.contains(test.as_str()));
            run.insert(strategy.word(), runs.cloned().collect());
            decisions.push(decision);
        }
        for (strategy, selected) in &run {
            assert!(
                run["memo"].is_subset(selected),
                "memo selects more than {strategy} at {}",
                revision.commit
            );
        }
        assert!(run["merge-parents"].is_subset(&run["merge-history"]));
        let ways = ["all", "commit", "memo", "merge-parents", "thesis"];
        let way = ways[self.dice.below(ways.len())];
        let chosen = Strategy::ALL.iter().position(|one| one.word() == way);
        if !(self.has_gaps && self.dice.one_in(6)) {
            let decision = &decisions[chosen.unwrap()];
            self.store.put(&self.recorded(&view, decision)).unwrap();
        }
    }

    /// The matrix of running what `decision` selects.
    fn recorded(&self, view: &View, decision: &Decision) -> Matrix {
        let facts = Facts::new(view, &self.top, Environment::Elsewhere, None);
        let revision = view.revision();
        let own = Run {
            id: format!("r{}", self.made),
            commit: revision.commit.to_string(),
            tree: revision.tree.to_string(),
            dirty: false,
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
            facts_of(COLLECTION.to_owned(), true, true),
            group(vec![Unit::new(UnitKind::Dir, "tests", "")]),
        )];
        for number in 0..TESTS {
            let id = toy::test_id(number);
            let Some(outcome) = toy::run(view, number) else {
                continue;
            };
            let is_selected = !left_out.contains(id.as_str());
            let (passed, units) = match is_selected {
                true => {
                    let file = |path: String| Unit::new(UnitKind::File, path, "");
                    (
                        outcome.passed,
                        outcome.files.into_iter().map(file).collect(),
                    )
                }
                // As carried over: the row of the proof.
                false => {
                    let matrix = decision.proof_of(&id).unwrap();
                    let row = matrix.row(&id).unwrap();
                    let units = matrix.units_of(row).into_iter();
                    let units = units.map(|unit| matrix.units[unit as usize].0.clone());
                    (row.outcome == Outcome::Passed, units.collect())
                }
            };
            rows.push((facts_of(id, passed, is_selected), group(units)));
        }
        for (facts, units) in rows {
            builder.row(facts, [units]).unwrap();
        }
        builder.finish()
    }
}

fn facts_of(test: String, passed: bool, selected: bool) -> RowFacts {
    RowFacts {
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

fn git(top: &std::path::Path, clock: u64, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    let date = format!("{} +0000", 1_700_000_000 + clock);
    command
        .args(arguments)
        .current_dir(top)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_EDITOR", "true")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "Ann Author")
            .env(format!("GIT_{who}_EMAIL"), "ann@example.org")
            .env(format!("GIT_{who}_DATE"), &date);
    }
    command
}

fn git_in(top: &std::path::Path, clock: u64, arguments: &[&str]) {
    let status = git(top, clock, arguments).stdout(Stdio::null()).status();
    assert!(status.unwrap().success(), "git {arguments:?}");
}
