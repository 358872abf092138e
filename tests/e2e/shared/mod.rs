//! Shared stores with the real programs behind them. Results that CI recorded on the main
//! branch serve an empty machine; results of untrusted writers do not. Errors make more tests
//! run and fail nothing.

mod broken;
mod deepen;
mod git;
mod github;
mod gitlab;
mod killed;
mod object;
mod order;
mod secrets;
mod server;
mod token;

use std::fs;
use std::path::{Path, PathBuf};

use tamis::exposed::matrix::{Fingerprint, Header, Key, MatrixBuilder, Outcome, RowFacts, Run};
use tamis::exposed::matrix::{Unit, What};
use tamis::exposed::store::FsStore;

use crate::harness::*;

/// A token that must never appear.
const TOKEN: &str = "ghs_do-not-tell-4711";

/// A project whose `tamis.yml` names a shared store.
fn project(python: &Python, yaml: &str) -> Project {
    let mut project = Project::new(python, TWO_MODULES);
    project.write("tamis.yml", &format!("version: 1\n{yaml}"));
    project.commit("configuration");
    project
}

/// The variables of a GitHub run.
fn in_ci(project: &mut Project, event: &str, reference: &str, payload: &str) {
    let file = project.world().join("event.json");
    fs::write(&file, payload).unwrap();
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_REF", reference),
        ("GITHUB_RUN_ID", "11"),
        (
            "GITHUB_WORKFLOW_REF",
            "o/r/.github/workflows/ci.yml@refs/heads/main",
        ),
        ("GITHUB_EVENT_PATH", file.to_str().unwrap()),
        ("GITHUB_TOKEN", TOKEN),
    ];
    for (name, value) in variables {
        project.set_env(name, Some(value));
    }
}

fn on_main(project: &mut Project) {
    let payload = r#"{"repository":{"default_branch":"main"}}"#;
    in_ci(project, "push", "refs/heads/main", payload);
}

fn on_pull(project: &mut Project, pr: u64, from: &str) {
    let payload = format!(
        r#"{{"pull_request":{{"number":{pr},"head":{{"ref":"topic","repo":{{"full_name":"{from}"}}}}}},
            "repository":{{"default_branch":"main"}}}}"#
    );
    let reference = format!("refs/pull/{pr}/merge");
    in_ci(project, "pull_request", &reference, &payload);
    project.set_env("GITHUB_BASE_REF", Some("main"));
}

/// Simulates another machine: removes everything local.
fn forget(project: &mut Project) {
    if project.root().join(".tamis").exists() {
        project.delete(".tamis");
    }
}

fn edit_a(project: &mut Project, value: u32) {
    project.write("a.py", &format!("def value():\n    return {value}\n"));
}

/// The tests that would be left out.
fn left_out(project: &Project) -> Vec<String> {
    project.select().excluded.into_keys().collect()
}

/// No readable file contains the token.
fn nothing_tells_the_token(folders: &[PathBuf]) {
    let mut read = 0;
    for path in folders.iter().flat_map(|folder| files_below(folder)) {
        let bytes = fs::read(&path).unwrap();
        let found = bytes
            .windows(TOKEN.len())
            .any(|text| text == TOKEN.as_bytes());
        assert!(!found, "{}", path.display());
        read += 1;
    }
    assert!(read > 0);
}

/// The names of `count` different matrices in the project's store.
fn matrices(project: &Project, count: u8) -> Vec<String> {
    let store = FsStore::open(project.root().join(".tamis/store"));
    let put = |number: u8| {
        let commit = format!("{number:02x}").repeat(20);
        let run = Run {
            id: format!("run-{number}"),
            commit: commit.clone(),
            tree: commit.clone(),
            dirty: false,
            chose: false,
        };
        let header = Header {
            key: Key {
                repository: String::new(),
                suite: "pytest".into(),
                environment: "somewhere".into(),
            },
            commit: commit.clone(),
            tree: commit,
            dirty: Vec::new(),
            created: 1_790_000_000 + u64::from(number),
            tool: "0.1.0".into(),
            run: run.id.clone(),
            shard: None,
            runs: vec![run],
            strategy: "memo".into(),
            baselines: Vec::new(),
            command: Vec::new(),
            tests: 1,
            ran: 1,
        };
        let mut builder = MatrixBuilder::new(header);
        let unit = Unit::at("data", What::File);
        let unit = builder.unit(unit, Fingerprint([number; 16])).unwrap();
        let group = builder.group([unit]);
        let facts = RowFacts {
            own: None,
            test: "t.py::t".into(),
            outcome: Outcome::Passed,
            duration_ms: 1,
            position: 0,
            incomplete: None,
            run: 0,
            selected: true,
        };
        builder.row(facts, [group]).unwrap();
        store.put(&builder.finish()).unwrap().to_string()
    };
    (0..count).map(put).collect()
}

/// Pushes all names at the same time, each in its own process.
fn push_at_once(project: &Project, names: &[String]) {
    std::thread::scope(|scope| {
        let pushes: Vec<_> = names
            .iter()
            .map(|name| scope.spawn(|| project.tamis(&["store", "push", name])))
            .collect();
        for push in pushes {
            let done = push.join().unwrap();
            assert_eq!(done.code(), 0, "{}{}", done.stdout, done.stderr);
        }
    });
}

/// Recorded on main, used by an empty machine.
fn serves_a_fresh_machine(
    project: &mut Project,
    enter: fn(&mut Project),
    publish: impl Fn(&Project),
) {
    enter(project);
    let run = project.run();
    assert_eq!((run.code, run.outcomes.len()), (0, 2), "{}", run.stderr);
    assert_eq!(run.told(), "", "sharing went well");
    publish(project);
    forget(project);
    assert_eq!(left_out(project).len(), 2, "the same commit");
    forget(project);
    edit_a(project, 10);
    project.commit("edit a");
    assert_eq!(left_out(project), ["test_b.py::test_b"]);
    let why = project.tamis(&["why", "test_b.py::test_b"]);
    assert!(why.stdout.contains("would be left out"), "{}", why.stdout);
    forget(project);
    let run = project.run();
    assert_eq!(
        run.outcomes.keys().collect::<Vec<_>>(),
        ["test_a.py::test_a"]
    );
}

fn python_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/servers")
        .join(name)
}
