//! The output for CI services, and whether the parts of a divided run are the whole run. Uses
//! the sample files of the documentation.

mod samples;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Project, Python, Wanted, on_all_interpreters, on_github, outputs};

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// Test names with special characters of shells, runners, Markdown and YAML.
const HOSTILE: &str = r###"
-- tamis.yml --
version: 1
-- lib.py --
def one():
    return 1
-- test_hostile.py --
import pytest
import lib

NAMES = [
    "$(touch pwned)", "`touch pwned`", "a\nmode<<X\nnone\nX", "::set-output name=mode::none",
    "##[set-output name=mode;]none", "</table><script>", "| a | b |", "'; touch pwned; '", "${{ github.token }}",
]

@pytest.mark.parametrize("name", NAMES, ids=NAMES)
def test_it(name):
    assert lib.one()
-- test_plain.py --
def test_plain():
    pass
"###;

const PARTS: &str = "
-- lib_a.py --
def a():
    return 1
-- lib_b.py --
def b():
    return 1
-- test_a.py --
import lib_a
def test_one():
    assert lib_a.a()
def test_two():
    assert lib_a.a()
-- test_b.py --
import lib_b
def test_one():
    assert lib_b.b()
-- test_c.py --
def test_one():
    pass
";

fn on_one_python(check: impl Fn(&Python)) {
    on_all_interpreters(Wanted::Newest, |python| check(python));
}

/// A run on the main branch, with a token that must never appear.
fn on_main(project: &mut Project, event: &str, payload: &str) {
    on_github(project, event, "refs/heads/main", payload);
    project.set_env("GITHUB_TOKEN", Some("s3cret-token"));
}

/// The value of an output.
fn output(project: &Project, wanted: &str) -> Option<String> {
    let mut told = outputs(&project.read("@outside/output")).into_iter();
    told.find(|(name, _)| name == wanted)
        .map(|(_, value)| value)
}

#[test]
fn hostile_names_come_through_github_s_files_and_do_nothing() {
    on_one_python(|python| {
        let mut project = Project::new(python, HOSTILE);
        project.run();
        project.write("lib.py", "def one():\n    return 2\n");
        on_main(&mut project, "push", "{}");
        let done = project.tamis(&["select", "--out", ".tamis/out", "--shards", "2"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert_eq!(output(&project, "mode").unwrap(), "selected");
        assert_eq!(output(&project, "count").unwrap(), "9");
        assert_eq!(output(&project, "total").unwrap(), "10");
        assert_eq!(
            output(&project, "list-path").unwrap(),
            ".tamis/out/tests.txt"
        );
        let matrix: Value = serde_json::from_str(&output(&project, "matrix").unwrap()).unwrap();
        assert_eq!(matrix["include"].as_array().unwrap().len(), 1);
        // Only files may have the names of tests.
        let summary = project.read("@outside/summary");
        let told = [
            &done.stdout,
            &done.stderr,
            &summary,
            &project.read("@outside/output"),
        ];
        for text in told {
            assert!(
                !text.contains("touch pwned") && !text.contains("s3cret-token"),
                "{text}"
            );
        }
        let commands: Vec<&str> = done.stdout.lines().collect();
        assert!(
            commands[0].starts_with("::notice title=tamis::9 of 10 tests selected"),
            "{commands:?}"
        );
        assert!(
            commands.iter().all(|line| line.contains("title=tamis::")),
            "{commands:?}"
        );
        // The files list exactly the tests that ran.
        let listed: BTreeSet<String> = project
            .read(".tamis/out/tests.txt")
            .lines()
            .map(|line| line.replace("\\n", "\n").replace("\\\\", "\\"))
            .collect();
        assert_eq!(listed.len(), 9);
        let args = [
            "record",
            "--selection",
            ".tamis/out/shard-1",
            "--",
            "python",
            "-m",
            "pytest",
            "-q",
        ];
        let done = project.tamis(&args);
        assert_eq!(done.code(), 0, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("9 passed"), "{}", done.stdout);
        assert!(!project.path("pwned").exists());
    });
}

#[test]
fn printed_names_are_no_commands_of_github_s_runner() {
    on_one_python(|python| {
        let mut project = Project::new(python, HOSTILE);
        on_main(&mut project, "push", "{}");
        project.run();
        for arguments in [
            &[
                "why",
                "test_hostile.py::test_it[##[set-output name=mode;]none]",
            ][..],
            &["run", "--dry-run"],
            &["select", "--json"],
            &["doctor"],
        ] {
            let done = project.tamis(arguments);
            for line in done.stdout.lines().chain(done.stderr.lines()) {
                assert!(!line.contains("##["), "{arguments:?}: {line}");
                let is_ours = line.contains("title=tamis::");
                assert!(
                    is_ours || !line.trim_start().starts_with("::"),
                    "{arguments:?}: {line}"
                );
            }
            if arguments.contains(&"--json") {
                let document: Value = serde_json::from_str(&done.stdout).unwrap();
                assert_eq!(document["ci"]["trigger"], "push");
                assert!(document.to_string().contains("##[set-output"));
            }
        }
    });
}

#[test]
fn a_broken_payload_selects_as_without_one_and_warns() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        project.run();
        project.write("lib_a.py", "def a():\n    return 2\n");
        let plain = project.select();
        on_main(&mut project, "push", "{\"before\": [");
        let done = project.tamis(&["select", "--json"]);
        assert!(
            done.stderr.contains("payload cannot be read"),
            "{}",
            done.stderr
        );
        let told: Value = serde_json::from_str(&done.stdout).unwrap();
        let selected: BTreeSet<&str> = told["selected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|test| test["id"].as_str().unwrap())
            .collect();
        assert_eq!(
            selected,
            plain.selected.keys().map(String::as_str).collect()
        );
    });
}

#[test]
fn the_rights_of_the_base_for_the_code_of_the_head_are_refused() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        let payload =
            fs::read_to_string(format!("{TOP}/fixtures/ci/github-pull_request_target.json"));
        on_main(&mut project, "pull_request_target", &payload.unwrap());
        for command in [
            &["select"][..],
            &["run"],
            &["record", "--", "true"],
            &["shards", "2"],
            &["store", "fetch"],
            &["store", "push", "HEAD"],
            &["store", "pack", "to", "HEAD"],
        ] {
            let done = project.tamis(command);
            assert_eq!(done.code(), 2, "{command:?}");
            assert!(
                done.stderr.contains("pull_request_target"),
                "{}",
                done.stderr
            );
        }
        assert_eq!(project.read("@outside/output"), "");
        assert_eq!(project.tamis(&["--ci", "none", "select"]).code(), 0);
    });
}

#[test]
fn a_push_tells_where_the_branch_was() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        let before = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
        project.write("lib_a.py", "def a():\n    return 2\n");
        project.commit("one");
        project.write("lib_b.py", "def b():\n    return 2\n");
        project.commit("two");
        let after = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let payload =
            format!("{{\"before\": \"{before}\", \"after\": \"{after}\", \"forced\": false}}");
        on_main(&mut project, "push", &payload);
        let kind = |project: &Project, arguments: &[&str]| {
            let done = project.tamis(&[&["classify", "--json"], arguments].concat());
            let document: Value = serde_json::from_str(&done.stdout).unwrap();
            document["kind"].as_str().unwrap().to_owned()
        };
        assert_eq!(kind(&project, &[]), "fast-forward");
        assert_eq!(kind(&project, &["--ci", "none"]), "commit");
        // The event is about another commit.
        assert_eq!(kind(&project, &["HEAD~1"]), "commit");
        let done = project.tamis(&["doctor"]);
        let line = format!("github, push, before {}", &before[..10]);
        assert!(done.stdout.contains(&line), "{}", done.stdout);
    });
}

/// Runs each part in its own clone, like separate machines, then joins their stores. Returns
/// the tests of each part.
pub fn run_parts(project: &mut Project, of: usize) -> Vec<BTreeSet<String>> {
    let parts: Vec<BTreeSet<String>> = (1..=of)
        .map(|index| {
            let store = project.path(&format!("@outside/store-{index}"));
            copy(&project.path(".tamis/store"), &store);
            project.set_env("TAMIS_STORE", Some(&store.display().to_string()));
            let selection = format!(".tamis/out/shard-{index}");
            let arguments = [
                "record",
                "--json",
                "--selection",
                &selection,
                "--",
                "python",
                "-m",
                "pytest",
                "-q",
            ];
            let done = project.tamis(&arguments);
            let told: Value = serde_json::from_str(&done.stdout)
                .unwrap_or_else(|e| panic!("{e}: {}{}", done.stdout, done.stderr));
            let outcomes = told["outcomes"].as_object().unwrap();
            let good = outcomes.values().all(|outcome| outcome == "passed");
            assert!(good && done.code() == 0, "{outcomes:?}{}", done.stderr);
            outcomes.keys().cloned().collect()
        })
        .collect();
    project.set_env("TAMIS_STORE", None);
    for index in 1..=of {
        let store = project.path(&format!("@outside/store-{index}"));
        copy(&store, &project.path(".tamis/store"));
        fs::remove_dir_all(store).unwrap();
    }
    parts
}

/// Copies the matrices of a store. The index can be rebuilt from them.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let Ok(entries) = fs::read_dir(from) else {
        return;
    };
    for entry in entries.map(Result::unwrap) {
        if entry.path().extension().is_some_and(|end| end == "tamis") {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn divide(project: &Project) -> usize {
    let done = project.tamis(&[
        "select",
        "--json",
        "--out",
        ".tamis/out",
        "--shards",
        "3",
        "--here",
        "--",
        "python",
        "-m",
        "pytest",
        "-q",
    ]);
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    told["shards"]["of"].as_u64().unwrap() as usize
}

pub fn whole(parts: &[BTreeSet<String>]) -> BTreeSet<String> {
    let whole: BTreeSet<String> = parts.iter().flatten().cloned().collect();
    let ran: usize = parts.iter().map(BTreeSet::len).sum();
    assert_eq!(ran, whole.len(), "a test ran twice: {parts:?}");
    whole
}

#[test]
fn the_parts_of_a_run_are_the_whole_and_come_together() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        // Nothing is recorded: files are divided when the tests start.
        let of = divide(&project);
        assert_eq!(of, 3);
        let parts = run_parts(&mut project, of);
        assert_eq!(whole(&parts).len(), 4, "{parts:?}");
        // Joined, the parts are as good as one run.
        let here = [
            "select", "--json", "--here", "--", "python", "-m", "pytest", "-q",
        ];
        let mode = |project: &Project| {
            let told: Value = serde_json::from_str(&project.tamis(&here).stdout).unwrap();
            told["mode"].as_str().unwrap().to_owned()
        };
        assert_eq!(mode(&project), "none");
        // An edit that two files notice, and an unlisted file.
        project.write("lib_a.py", "def a():\n    return 2\n");
        project.write("lib_b.py", "def b():\n    return 2\n");
        project.write("test_d.py", "def test_new():\n    pass\n");
        project.commit("edit");
        let of = divide(&project);
        assert_eq!(of, 3);
        let parts = run_parts(&mut project, of);
        let ran = whole(&parts);
        let wanted = [
            "test_a.py::test_one",
            "test_a.py::test_two",
            "test_b.py::test_one",
            "test_d.py::test_new",
        ];
        assert_eq!(ran, wanted.map(str::to_owned).into());
        assert!(parts.iter().all(|part| part.len() < 4), "{parts:?}");
        assert_eq!(mode(&project), "none");
    });
}

#[test]
fn a_part_whose_results_are_lost_runs_again() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        let of = divide(&project);
        let selection = ".tamis/out/shard-1";
        project.tamis(&[
            "record",
            "--selection",
            selection,
            "--",
            "python",
            "-m",
            "pytest",
            "-q",
        ]);
        let ran_before: BTreeSet<String> = project.select().excluded.into_keys().collect();
        assert!(of > 1 && ran_before.len() < 4, "{ran_before:?}");
        // Nothing changed, but the other parts never came: their tests run.
        let run = project.run_with(&["--", "python", "-m", "pytest", "-q"]);
        let ran: BTreeSet<String> = run.outcomes.into_keys().collect();
        assert_eq!(ran.len() + ran_before.len(), 4, "{ran:?} {ran_before:?}");
    });
}

#[test]
fn a_part_of_another_plan_is_refused() {
    on_one_python(|python| {
        let project = Project::new(python, PARTS);
        let plan = |arguments: &[&str]| {
            let done = project.tamis(&[&["shards", "2", "--json"], arguments].concat());
            let told: Value = serde_json::from_str(&done.stdout).unwrap();
            told["plan"].as_str().unwrap().to_owned()
        };
        let plan = plan(&[]);
        let select = |plan: &str| {
            project
                .tamis(&["select", "--shard", "1/2", "--plan", plan])
                .code()
        };
        assert_eq!(select(&plan), 0);
        assert_eq!(select("0123456789abcdef"), 4);
    });
}

#[test]
fn a_step_before_that_failed_makes_every_test_run() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        project.run();
        let done = project.tamis(&[
            "record",
            "--selection",
            "not/there",
            "--",
            "python",
            "-m",
            "pytest",
            "-q",
        ]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert!(done.stdout.contains("4 passed"), "{}", done.stdout);
        assert!(done.stderr.contains("every test runs"), "{}", done.stderr);
    });
}

/// The job of the tests checked out a branch that has moved, or a step changed a file.
#[test]
fn a_selection_of_other_files_leaves_nothing_out() {
    on_one_python(|python| {
        let mut project = Project::new(python, PARTS);
        project.run();
        let select = |project: &Project| {
            let select = project.tamis(&["select", "--out", ".tamis/out", "--shards", "2"]);
            assert_eq!(select.code(), 0, "{}", select.stderr);
        };
        let record = |project: &Project, folder: &str| {
            let command = [
                "record",
                "--selection",
                folder,
                "--",
                "python",
                "-m",
                "pytest",
            ];
            let done = project.tamis(&command);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            done
        };
        select(&project);
        // Files that are not in the commit do not count, nor does another commit with the same
        // files.
        project.write("build/made.txt", "by a step before");
        project.git(&[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "the same",
        ]);
        let same = record(&project, ".tamis/out");
        assert!(!same.stdout.contains("passed"), "{}", same.stdout);
        // An uncommitted edit, first without and then with a commit.
        select(&project);
        project.write("lib_a.py", "def a():\n    return 2\n");
        for folder in [".tamis/out", ".tamis/out/shard-1"] {
            let done = record(&project, folder);
            assert!(done.stdout.contains("4 passed"), "{}", done.stdout);
            let why = "was made before files were changed: every test runs";
            assert!(done.stderr.contains(why), "{}", done.stderr);
        }
        project.commit("another");
        let done = record(&project, ".tamis/out");
        assert!(done.stdout.contains("4 passed"), "{}", done.stdout);
        assert!(
            done.stderr.contains("was made at commit"),
            "{}",
            done.stderr
        );
        select(&project);
        project.delete(".tamis/out/made-for");
        let done = record(&project, ".tamis/out");
        assert!(
            done.stderr.contains("does not say which files"),
            "{}",
            done.stderr
        );
    });
}

#[test]
fn gitlab_gets_plain_values() {
    on_one_python(|python| {
        let mut project = Project::new(python, HOSTILE);
        project.run();
        project.write("lib.py", "def one():\n    return 2\n");
        let done = project.tamis(&[
            "select",
            "--shards",
            "4",
            "--out",
            ".tamis/out",
            "--dotenv",
            "tamis.env",
        ]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let report = project.read("tamis.env");
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "TAMIS_OUT_MODE=selected",
                "TAMIS_OUT_COUNT=9",
                "TAMIS_OUT_TOTAL=10"
            ]
        );
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "=_.".contains(c);
        assert!(
            lines.iter().all(|line| line.chars().all(is_plain)),
            "{report}"
        );
    });
}
