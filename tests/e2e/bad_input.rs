//! Errors of users: each gives a message with the next step and the documented exit code
//! (`docs/exit-codes.md`), and loses nothing.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use crate::harness::*;

const FILES: &str = r#"
-- test_a.py --
def test_one():
    pass


def test_two():
    pass
"#;

/// The whole answer of a command, without the parts that change from run to run.
fn answer(project: &Project, arguments: &[&str]) -> String {
    let done = project.tamis(arguments);
    let said = format!(
        "$ tamis {}\nexit {}\n{}{}",
        arguments.join(" "),
        done.code(),
        part("stdout", &done.stdout),
        part("stderr", &done.stderr),
    );
    let world = project.world().to_str().unwrap();
    said.replace(world, "[WORLD]")
}

fn part(name: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("-- {name}\n{}\n", text.trim_end()),
    }
}

/// The tests of this file need one interpreter; any will do.
fn with_project(check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| check(Project::new(python, FILES)));
}

fn with_empty_folder(check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| check(Project::bare_world(python)));
}

#[test]
fn no_repository() {
    with_empty_folder(|mut project| {
        project.write("test_a.py", "def test_a():\n    pass\n");
        assert_eq!(project.tamis(&["run"]).code(), 3);
        assert_eq!(project.tamis(&["select", "--strict"]).code(), 3);
        // Errors other than those of usage select everything and say why.
        let select = project.select();
        assert_eq!(select.mode, "all");
        insta::assert_snapshot!("no_repository_run", answer(&project, &["run"]));
        insta::assert_snapshot!("no_repository_select", answer(&project, &["select"]));
        insta::assert_snapshot!(
            "no_repository_strict",
            answer(&project, &["select", "--strict"])
        );
    });
}

#[test]
fn no_commits() {
    with_empty_folder(|mut project| {
        project.write("test_a.py", "def test_a():\n    pass\n");
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        assert_eq!(project.tamis(&["run"]).code(), 3);
        assert_eq!(project.select().mode, "all");
        insta::assert_snapshot!("no_commits_run", answer(&project, &["run"]));
        insta::assert_snapshot!("no_commits_select", answer(&project, &["select"]));
    });
}

/// HEAD names a branch that does not exist, in a repository that has others.
#[test]
fn unborn_head() {
    with_project(|project| {
        project.git(&["checkout", "--quiet", "--orphan", "new"]);
        insta::assert_snapshot!("unborn_head_run", answer(&project, &["run"]));
    });
}

#[test]
fn bare_repository() {
    with_empty_folder(|project| {
        project.git(&["init", "--quiet", "--bare"]);
        insta::assert_snapshot!("bare_repository_run", answer(&project, &["run"]));
    });
}

#[test]
fn unknown_revision() {
    with_project(|project| {
        let select = answer(&project, &["select", "--head", "no-such-branch"]);
        insta::assert_snapshot!("unknown_revision", select);
    });
}

#[test]
fn broken_configuration() {
    with_project(|mut project| {
        for (name, text) in [
            ("unknown_key", "version: 1\nstrateggy: memo\n"),
            ("wrong_value", "version: 1\nstrategy: quick\n"),
            ("no_yaml", "version: 1\ncommand: [pytest\n"),
            ("newer_version", "version: 99\n"),
        ] {
            project.write("tamis.yml", text);
            insta::assert_snapshot!(
                format!("configuration_{name}"),
                answer(&project, &["select"])
            );
        }
    });
}

#[test]
fn wrong_usage() {
    with_project(|project| {
        insta::assert_snapshot!("usage_command", answer(&project, &["rnu"]));
        insta::assert_snapshot!("usage_option", answer(&project, &["run", "--al"]));
        insta::assert_snapshot!(
            "usage_strategy",
            answer(&project, &["run", "--strategy", "mem"])
        );
    });
}

#[test]
fn no_pytest() {
    with_project(|mut project| {
        project.make_own_venv();
        project.delete("@site/shared.pth");
        insta::assert_snapshot!("no_pytest", answer(&project, &["run"]));
    });
}

#[test]
fn no_python() {
    with_project(|mut project| {
        project.set_env("TAMIS_PYTHON", Some("/no/such/python"));
        insta::assert_snapshot!("no_python", answer(&project, &["run"]));
    });
}

#[test]
fn command_does_not_exist() {
    with_project(|project| {
        insta::assert_snapshot!(
            "no_command",
            answer(&project, &["record", "--", "no-such-program"])
        );
    });
}

/// Otherwise the user would wait for ever for savings.
#[test]
fn command_starts_no_pytest() {
    with_project(|project| {
        let done = project.tamis(&["record", "--", "sh", "-c", "true"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert!(
            done.stderr.contains("no test is recorded"),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains("tamis doctor"), "{}", done.stderr);
    });
}

/// The exit status of the command is passed on.
#[test]
fn command_fails() {
    with_project(|project| {
        let done = project.tamis(&["record", "--", "sh", "-c", "exit 7"]);
        assert_eq!(done.code(), 7, "{}", done.stderr);
    });
}

#[test]
fn command_is_killed() {
    with_project(|mut project| {
        let done = project.tamis(&["record", "--", "sh", "-c", "kill -9 $$"]);
        assert_eq!(done.code(), 128 + 9, "{}", done.stderr);
        assert!(done.stderr.contains("signal 9"), "{}", done.stderr);
        assert_eq!(project.run().outcomes.len(), 2);
    });
}

#[test]
fn command_writes_megabytes() {
    with_project(|mut project| {
        project.write(
            "test_a.py",
            "def test_loud():\n    for _ in range(300000):\n        print('x' * 30)\n    assert False\n",
        );
        let done = project.tamis(&["run"]);
        assert_eq!(done.code(), 1);
        assert!(done.stdout.len() > 8_000_000, "{}", done.stdout.len());
    });
}

/// Results cannot be kept: the tests run, their status is passed on, and a
/// warning says what is lost.
#[test]
fn store_is_a_file() {
    with_project(|mut project| {
        project.write(".tamis", "");
        let done = project.tamis(&["run"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert!(done.stderr.contains(".tamis"), "{}", done.stderr);
        assert_eq!(project.plain().len(), 2);
    });
}

/// The file system of the store has hardly any space (ENOSPC): the tests run,
/// their status is passed on, and the next run with space is whole.
#[test]
fn store_is_full() {
    with_mount("size=8k", |done| {
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert!(done.stdout.contains("2 passed"), "{}", done.stdout);
        assert!(done.stderr.contains("No space left"), "{}", done.stderr);
    });
}

#[test]
fn store_is_read_only() {
    with_mount("ro", |done| {
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert!(done.stdout.contains("2 passed"), "{}", done.stdout);
        assert!(done.stderr.contains("not writable"), "{}", done.stderr);
    });
}

/// Runs once with a separate file system under `.tamis`, in a mount namespace, and once more
/// without it. If the machine allows no namespaces, nothing is tested, and the output says so.
fn with_mount(options: &str, check: impl Fn(Finished)) {
    with_project(|mut project| {
        let allowed = project.command("unshare", &["-rm", "true"], &project.root());
        if allowed.code() != 0 {
            let _ = writeln!(std::io::stderr(), "SKIPPED: no mount namespaces here");
            return;
        }
        fs::create_dir(project.root().join(".tamis")).unwrap();
        let tamis = env!("CARGO_BIN_EXE_tamis");
        let script = format!("mount -t tmpfs -o {options} tmpfs .tamis && exec '{tamis}' run");
        check(project.command("unshare", &["-rm", "sh", "-c", &script], &project.root()));
        assert_eq!(project.run().outcomes.len(), 2);
        assert_eq!(project.run().outcomes.len(), 0);
    });
}

#[test]
fn store_of_a_newer_version() {
    with_project(|mut project| {
        assert_eq!(project.run().outcomes.len(), 2);
        let store = project.root().join(".tamis/store");
        let mut changed = 0;
        for entry in files_below(&store) {
            let mut bytes = fs::read(&entry).unwrap();
            // `docs/formats/matrix.md`: the version comes after the magic.
            if bytes.starts_with(b"\x93tamis\r\n") {
                bytes[8] = 200;
                fs::write(&entry, bytes).unwrap();
                changed += 1;
            }
        }
        assert!(changed > 0, "no file of the store shows a version");
        let run = project.run();
        assert_eq!(run.outcomes.len(), 2, "{}", run.stderr);
        assert!(run.stderr.contains("by a newer tamis"), "{}", run.stderr);
    });
}

/// Names that are not UTF-8, of a data file that a test reads.
#[test]
fn names_beyond_utf8() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            r#"
-- test_a.py --
import os


def test_read():
    here = os.path.dirname(os.path.abspath(__file__)).encode()
    with open(os.path.join(here, b"data-\xff.txt")) as file:
        assert file.read() == "1"


def test_none():
    pass
"#,
        );
        let name = std::ffi::OsStr::from_bytes(b"data-\xff.txt");
        let file = project.root().join(name);
        fs::write(&file, "1").unwrap();
        project.commit("a strange name");
        let run = project.run();
        assert_eq!((run.code, run.outcomes.len()), (0, 2), "{}", run.stderr);
        assert_eq!(project.run().outcomes.len(), 0);
        fs::write(&file, "2").unwrap();
        let run = project.run();
        let failed: Vec<_> = run.outcomes.into_iter().collect();
        assert_eq!(
            failed,
            [("test_a.py::test_read".to_owned(), "failed".to_owned())]
        );
    });
}

/// `tamis why` of a test that does not exist names the nearest one.
#[test]
fn unknown_test() {
    with_project(|mut project| {
        project.run();
        insta::assert_snapshot!(
            "unknown_test",
            answer(&project, &["why", "test_a.py::test_onee"])
        );
    });
}

/// A shallow clone says what it lacks, and uses what it has.
#[test]
fn shallow_clone() {
    with_project(|project| {
        project.commit("second");
        let work = project.world().join("outside/shallow");
        let work = work.to_str().unwrap().to_owned();
        let url = format!("file://{}", project.root().display());
        project.git(&["clone", "--quiet", "--depth=1", &url, &work]);
        let first = project.command(
            env!("CARGO_BIN_EXE_tamis"),
            &["run", "--json"],
            work.as_ref(),
        );
        assert_eq!(first.code(), 0, "{}", first.stderr);
        let second = project.command(
            env!("CARGO_BIN_EXE_tamis"),
            &["run", "--json"],
            work.as_ref(),
        );
        let json: serde_json::Value = serde_json::from_str(&second.stdout).unwrap();
        assert_eq!(json["mode"], "none", "{}", second.stderr);
    });
}

#[test]
fn a_runner_that_ends_before_it_finds_tests() {
    with_project(|project| {
        let done = project.tamis(&["run", "--", "python", "-m", "pytest", "--no-such-option"]);
        assert_eq!(done.code(), 4, "{}", done.stderr);
        let told = "the command ended with 4 before any test was found";
        assert!(done.stderr.contains(told), "{}", done.stderr);
        assert!(!done.stderr.contains("Surefire"), "{}", done.stderr);
    });
}

/// Programs that read JSON get it even if their command line is wrong.
#[test]
fn wrong_usage_as_json() {
    with_project(|project| {
        let done = project.tamis(&["--json", "run", "--strategy", "x"]);
        assert_eq!(done.code(), 2);
        let event: serde_json::Value = serde_json::from_str(done.stderr.trim()).unwrap();
        assert_eq!(
            (&event["event"], &event["exit"]),
            (&"failed".into(), &2.into())
        );
        assert!(
            event["message"].to_string().contains("--strategy"),
            "{event}"
        );
        // Words after `--` are not for tamis.
        let done = project.tamis(&["run", "--strategy", "x", "--", "pytest", "--json"]);
        assert!(done.stderr.contains("invalid value"), "{}", done.stderr);
    });
}
