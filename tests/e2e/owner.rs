//! A checkout that belongs to another user, as in every job on GitHub that runs in a
//! container: the runner's user owns the files, and root tests them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::harness::{Finished, Project, TWO_MODULES, Wanted, on_all_interpreters, on_github};

const PUSH: &str = r#"{"repository": {"default_branch": "main"}}"#;

/// Gives `.git` and the folders above it to somebody else; `false` if this user may not do
/// that.
fn give_away(project: &Project, owner: u32) -> bool {
    let root = project.root();
    let git = root.join(".git");
    let owner = owner.to_string();
    let give = |words: &[&str], paths: &[&Path]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&owner).args(paths);
        command.output().is_ok_and(|done| done.status.success())
    };
    give(&["chown", "-R"], &[&root]) || give(&["sudo", "-n", "chown", "-R"], &[&git])
}

fn with_given_away(text: &str, prepare: impl Fn(&mut Project), check: impl Fn(&mut Project)) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, text);
        prepare(&mut project);
        on_github(&mut project, "push", "refs/heads/main", PUSH);
        if give_away(&project, 12_345) {
            check(&mut project);
            let own = fs::metadata(project.world()).unwrap().uid();
            assert!(give_away(&project, own), "nobody could clean up");
        }
    });
}

fn name_workspace(project: &mut Project) {
    let root = project.root().display().to_string();
    project.set_env("GITHUB_WORKSPACE", Some(&root));
}

#[track_caller]
fn ran(done: &Finished, summary: &str) {
    assert_eq!(done.code(), 0, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains(summary),
        "{}{}",
        done.stdout,
        done.stderr
    );
}

/// tamis trusts the folder that the service names: for itself, for submodules, and for the git
/// programs that it starts.
#[test]
fn the_workspace_of_the_service_is_trusted() {
    let prepare = |project: &mut Project| {
        let store = "version: 1\nshared-store: git\n";
        project.write("tamis.yml", store);
        let parts = project.path("@outside/parts").display().to_string();
        let origin = project.path("@outside/origin.git").display().to_string();
        project.git(&["init", "--quiet", &parts]);
        let commit = [
            "-C",
            &parts,
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "x",
        ];
        project.git(&commit);
        let add = ["submodule", "--quiet", "add", &parts, "parts"];
        project.git(&[&["-c", "protocol.file.allow=always"], &add[..]].concat());
        project.commit("submodule");
        project.git(&["init", "--quiet", "--bare", &origin]);
        project.git(&["remote", "add", "origin", &origin]);
    };
    with_given_away(TWO_MODULES, prepare, |project| {
        name_workspace(project);
        let first = project.tamis(&["run"]);
        ran(&first, "2 passed");
        let shared = fs::read_dir(project.path("@outside/origin.git/refs/tamis"));
        assert_eq!(shared.unwrap().count(), 1, "{}", first.stderr);
        let again = project.tamis(&["run"]);
        ran(&again, "");
        assert!(!again.stdout.contains("passed"), "{}", again.stdout);
        let doctor = project.tamis(&["doctor"]);
        assert!(
            doctor
                .stdout
                .contains("trusted as the workspace that CI names"),
            "{}",
            doctor.stdout
        );
        let shards = project.tamis(&["shards", "2"]);
        ran(&shards, "include");
        assert!(shards.stderr.contains("0 of 2 tests"), "{}", shards.stderr);
    });
}

/// If git refuses, all tests run, and their status is passed on.
#[test]
fn where_git_refuses_everything_runs() {
    let prepare = |project: &mut Project| {
        project.write("test_c.py", "def test_c():\n    assert False\n");
        project.commit("a failing test");
    };
    let check = |project: &mut Project, why: &str| {
        for command in [&["run"][..], &["record", "--", "python", "-m", "pytest"]] {
            let done = project.tamis(command);
            assert_eq!(done.code(), 1, "{command:?}: {}", done.stderr);
            assert!(
                done.stdout.contains("1 failed, 2 passed"),
                "{}",
                done.stdout
            );
            assert!(done.stderr.contains(why), "{}", done.stderr);
            assert!(
                done.stderr.contains("nothing is left out or recorded"),
                "{}",
                done.stderr
            );
        }
        ran(&project.tamis(&["shards", "2"]), r#""shard":2"#);
        assert_eq!(project.select().mode, "all");
        let doctor = project.tamis(&["doctor"]);
        assert_eq!(doctor.code(), 1, "{}", doctor.stdout);
        assert!(doctor.stdout.contains(why), "{}", doctor.stdout);
    };
    with_given_away(TWO_MODULES, prepare, |project| {
        // A service that names another folder; a repository above the workspace; a developer's
        // machine.
        let elsewhere = project.path("@outside/").display().to_string();
        let below = project.root().join("below");
        fs::create_dir(&below).unwrap();
        let below = below.display().to_string();
        for workspace in [elsewhere.as_str(), &below, "/", ""] {
            project.set_env("GITHUB_WORKSPACE", Some(workspace));
            check(project, "belongs to another user");
        }
        let run = project.run();
        assert_eq!((run.code, run.selection.mode.as_str()), (1, "all"));
        project.set_env("GITHUB_ACTIONS", None);
        check(project, "belongs to another user");
    });
}

/// A checkout without git: `actions/checkout` downloads an archive if the container has no
/// git.
#[test]
fn without_a_repository_a_job_runs_everything() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, TWO_MODULES);
        on_github(&mut project, "push", "refs/heads/main", PUSH);
        project.delete(".git");
        let done = project.tamis(&["run"]);
        ran(&done, "2 passed");
        assert!(done.stderr.contains("no git repository"), "{}", done.stderr);
        let outputs = project.read("@outside/output");
        assert!(
            outputs.contains("mode<<") && outputs.contains("\nall\n"),
            "{outputs}"
        );
        ran(
            &project.tamis(&["record", "--", "python", "-m", "pytest"]),
            "2 passed",
        );
    });
}
