//! 500 names with special characters for shells, runners, terminals, Markdown and YAML, in
//! everything that tamis writes. Each name is read back unchanged, or is left out where that
//! means running the test. No name has an effect.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- pytest.ini --
[pytest]
disable_test_id_escaping_and_forfeit_all_rights_to_community_support = true
-- lib.py --
def one():
    return 1
-- test_it.py --
import json
import pathlib
import pytest
import lib

NAMES = json.loads(pathlib.Path(__file__).with_name("names.json").read_text("utf-8"))

@pytest.mark.parametrize("name", NAMES[::2], ids=NAMES[::2])
def test_used(name):
    assert lib.one()

@pytest.mark.parametrize("name", NAMES[1::2], ids=NAMES[1::2])
def test_free(name):
    pass
"#;

/// Texts that have an effect somewhere. A shell that ran one of them would leave a file
/// `pwned`.
const PIECES: &[&str] = &[
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned;",
    "| touch pwned",
    "&& touch pwned",
    "'",
    "\"",
    "\\",
    "\\n",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{1b}[2J",
    "\u{7}",
    "\u{8}",
    "\u{202e}",
    "\u{200b}",
    "\u{2028}",
    "\u{feff}",
    "::set-output name=mode::none",
    "::error::x",
    "##[set-output name=mode;]none",
    "::add-mask::a",
    "\nmode<<X\nnone\nX\n",
    "\nmode=none\n",
    "${{ github.token }}",
    "${HOME}",
    "$HOME",
    "%0A::warning::x",
    "%s%n",
    "{0}",
    "<script>",
    "</details>",
    "| a | b |",
    "```",
    "# x",
    "- x",
    "[x](javascript:y)",
    "&amp;",
    "*",
    "?",
    "!",
    "~",
    "--deselect=x",
    "-p",
    "@file",
    "::",
    "[",
    "]",
    "../..",
    "/etc/passwd",
    "a b",
    " ",
    "é",
    "日本",
    "🙂",
    "e\u{301}",
    ": x",
    "#",
    "&a",
    "*a",
    "!!python/object",
    "---",
    "null",
    "true",
    "1e9",
    "TAMIS_OUT_MODE=none",
    "=",
    ",",
    "x or y",
    "not x",
];

/// `count` different names, from one seed.
fn names(count: usize) -> Vec<String> {
    let mut found: BTreeSet<String> = PIECES.iter().map(|piece| (*piece).to_owned()).collect();
    let mut state = 7u64;
    while found.len() < count {
        let mut name = String::new();
        for _ in 0..4 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            name.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
        }
        found.insert(name);
    }
    found.into_iter().take(count).collect()
}

/// Unescapes the id on a line, as in `docs/cli.md`.
fn unescape(line: &str) -> String {
    let mut id = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => id.push(match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            }),
            c => id.push(c),
        }
    }
    id
}

fn lines(text: &str) -> BTreeSet<String> {
    text.split_terminator('\n').map(unescape).collect()
}

fn nothing_was_done(folder: &Path) {
    let entries = walkdir::WalkDir::new(folder).min_depth(1).into_iter();
    for entry in entries.filter_entry(|entry| entry.file_name() != "venv") {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy();
        assert!(!name.contains("pwned"), "{entry:?}");
    }
}

/// No line is a command of GitHub's runner, except tamis's own.
fn no_commands(text: &str) {
    for line in text.split(['\n', '\r']) {
        assert!(!line.contains("##["), "{line}");
        let is_ours = line.contains(" title=tamis::");
        assert!(is_ours || !line.trim_start().starts_with("::"), "{line}");
        assert!(
            !line.chars().any(|c| c.is_control() && c != '\t'),
            "{line:?}"
        );
    }
}

/// A run in the repository of the payloads.
fn in_repository(project: &mut Project, event: &str, reference: &str, payload: &Value) {
    on_github(project, event, reference, &payload.to_string());
    project.set_env("GITHUB_REPOSITORY", Some("o/r"));
}

const OUTPUTS: [&str; 10] = [
    "mode",
    "count",
    "total",
    "reason",
    "matrix",
    "list-path",
    "exclude-path",
    "args-path",
    "estimate",
    "suites",
];

#[test]
fn names_of_tests() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        let names = names(450);
        project.write("names.json", &serde_json::to_string(&names).unwrap());
        project.commit("names");
        let id = |at: usize| match at % 2 {
            0 => format!("test_it.py::test_used[{}]", names[at]),
            _ => format!("test_it.py::test_free[{}]", names[at]),
        };
        let used: BTreeSet<String> = (0..450).step_by(2).map(id).collect();
        let free: BTreeSet<String> = (1..450).step_by(2).map(id).collect();
        let first = project.run();
        let ran: BTreeSet<String> = first.outcomes.into_keys().collect();
        assert!(
            ran.iter().eq(used.union(&free).collect::<BTreeSet<_>>()),
            "as pytest calls them"
        );
        project.write("lib.py", "def one():\n    return 2\n");
        let head = serde_json::json!({"before": "$(touch pwned)", "repository": {"default_branch": "main"}});
        in_repository(&mut project, "push", "refs/heads/main", &head);

        let arguments = [
            "select",
            "--out",
            ".tamis/out",
            "--shards",
            "3",
            "--pipeline",
            "ci/x.yml",
            "--dotenv",
            "tamis.env",
            "-v",
        ];
        let done = project.tamis(&arguments);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        no_commands(&done.stdout);
        no_commands(&done.stderr);
        // The lists, complete and in parts.
        assert_eq!(lines(&project.read(".tamis/out/tests.txt")), used);
        assert_eq!(lines(&project.read(".tamis/out/exclude.txt")), free);
        let mut parts = BTreeSet::new();
        for shard in 1.. {
            let file = format!(".tamis/out/shard-{shard}/tests.txt");
            if !project.path(&file).exists() {
                break;
            }
            for test in lines(&project.read(&file)) {
                assert!(parts.insert(test), "in two parts");
            }
        }
        assert_eq!(parts, used);
        let json: Value = serde_json::from_str(&project.read(".tamis/out/selection.json")).unwrap();
        let ids = |list: &str| -> BTreeSet<String> {
            let entries = json[list].as_array().unwrap().iter();
            entries
                .map(|entry| entry["id"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            (ids("selected"), ids("excluded")),
            (used.clone(), free.clone())
        );
        // The output for the services has counts, but no names.
        let told = outputs(&project.read("@outside/output"));
        let keys: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(keys, OUTPUTS);
        assert_eq!(
            (told[0].1.as_str(), told[1].1.as_str()),
            ("selected", "225")
        );
        let texts = [
            project.read("@outside/output"),
            project.read("@outside/summary"),
            project.read("tamis.env"),
            project.read(".tamis/out/child-pipeline.yml"),
            done.stdout,
        ];
        for text in &texts {
            for piece in PIECES.iter().filter(|piece| piece.len() > 9) {
                assert!(!text.contains(piece), "{piece} in {text}");
            }
        }
        selections_leave_out(&mut project, &used);
        for id in used.iter().step_by(23) {
            let why = project.tamis(&["why", "--", id]);
            assert_eq!(why.code(), 0, "{id:?}: {}", why.stderr);
            no_commands(&why.stdout);
        }
        assert_eq!(project.run().outcomes.len(), 0);
        nothing_was_done(project.world());
    });
}

/// Runs plain pytest with the list, and `record` with the selection.
fn selections_leave_out(project: &mut Project, used: &BTreeSet<String>) {
    // The arguments for plain pytest leave out nothing that must run.
    let log = project.world().join("outside/ran.json");
    project.set_env("E2E_OUTCOMES", Some(log.to_str().unwrap()));
    let arguments = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "e2e_outcomes",
        "@.tamis/out/pytest.args",
    ];
    let python = project.world().join("outside/none");
    assert!(!python.exists());
    let pytest = project.command("python", &arguments, &project.root());
    assert_eq!(pytest.code(), 0, "{}{}", pytest.stdout, pytest.stderr);
    let ran: Outcomes = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    let ran: BTreeSet<String> = ran.into_keys().collect();
    assert!(ran.is_superset(used), "{} ran", ran.len());
    project.set_env("E2E_OUTCOMES", None);
    // The plug-in leaves out exactly what the selection excludes.
    let arguments = [
        "record",
        "--json",
        "--selection",
        ".tamis/out",
        "--",
        "python",
        "-m",
        "pytest",
        "-q",
    ];
    let done = project.tamis(&arguments);
    let json: Value = serde_json::from_str(&done.stdout).unwrap();
    let ran: Outcomes = serde_json::from_value(json["outcomes"].clone()).unwrap();
    assert_eq!(ran.into_keys().collect::<BTreeSet<_>>(), *used);
}

/// Fifty names that git allows: for the present branch, for the branch that the service names,
/// and for both sides of a pull request.
#[test]
fn names_of_branches() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(
            python,
            "
-- lib.py --
def one():
    return 1
-- test_it.py --
import lib
def test_it():
    assert lib.one()
",
        );
        project.write(
            "tamis.yml",
            "version: 1\nshared-store: git:../outside/none.git\n",
        );
        project.commit("configuration");
        project.run();
        let allowed = |name: &String| {
            let check = ["check-ref-format", "--branch", name.as_str()];
            project.command("git", &check, &project.root()).code() == 0
        };
        let candidates = names(2000)
            .into_iter()
            .map(|name| name.replace(' ', "${IFS}").replace(['\n', '\t'], ""));
        let branches: Vec<String> = candidates.filter(allowed).take(50).collect();
        assert_eq!(branches.len(), 50);
        let text = serde_json::json!({"full_name": "o/r"});
        for (at, name) in branches.iter().enumerate() {
            let base = &branches[(at + 1) % 50];
            project.git(&["branch", "--force", "--", name]);
            project.git(&["symbolic-ref", "HEAD", &format!("refs/heads/{name}")]);
            let payload = serde_json::json!({
                "before": name, "number": 5, "repository": {"default_branch": name, "full_name": "o/r"},
                "pull_request": {"number": 5, "head": {"ref": name, "sha": name, "repo": text},
                    "base": {"ref": base, "sha": base, "repo": text}},
            });
            let (event, reference) = match at % 2 {
                0 => ("push", format!("refs/heads/{name}")),
                _ => ("pull_request", "refs/pull/5/merge".to_owned()),
            };
            in_repository(&mut project, event, &reference, &payload);
            project.set_env("GITHUB_BASE_REF", Some(base));
            project.set_env("GITHUB_HEAD_REF", Some(name));
            let done = project.tamis(&["select", "-v", "--out", ".tamis/out"]);
            assert_eq!(done.code(), 0, "{name}: {}", done.stderr);
            no_commands(&done.stdout);
            no_commands(&done.stderr);
            let told = outputs(&project.read("@outside/output"));
            let keys: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(keys, OUTPUTS);
            let json: Value =
                serde_json::from_str(&project.read(".tamis/out/selection.json")).unwrap();
            assert!(json["mode"].is_string());
            // One name may be a folder in another.
            project.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
            project.git(&["branch", "--quiet", "-D", "--", name]);
        }
        nothing_was_done(project.world());
    });
}
