//! The pipelines that are shown to users, and what they must not do.

use std::fs;

use serde_json::Value;

use super::TOP;

/// The code blocks of a page that begin with `first`.
fn block(page: &str, first: &str) -> String {
    let page = fs::read_to_string(format!("{TOP}/{page}")).unwrap();
    let mut blocks = page.split("\n```").skip(1).step_by(2);
    let found = blocks.find_map(|block| {
        block
            .split_once('\n')
            .map(|(_, text)| text)
            .filter(|text| text.starts_with(first))
    });
    format!(
        "{}\n",
        found.unwrap_or_else(|| panic!("no block begins with {first}"))
    )
}

#[test]
fn the_readme_shows_what_the_samples_use() {
    let sample =
        |name: &str| fs::read_to_string(format!("{TOP}/fixtures/ci/sample/{name}")).unwrap();
    let short = fs::read_to_string(format!("{TOP}/fixtures/ci/short/tests.yml")).unwrap();
    assert_eq!(block("README.md", "name: tests"), short);
    assert!(short.lines().count() <= 15, "ten lines or so to begin with");
    assert_eq!(
        block("docs/ci.md", "name: tests"),
        sample(".github/workflows/tests.yml")
    );
    assert_eq!(
        block("README.md", "include:"),
        sample(".gitlab-ci-dotenv.yml")
    );
}

/// The called workflow does the same as the long form: same conditions and outputs, so that a
/// lost file never makes fewer tests run.
#[test]
fn the_called_workflow_is_the_long_form() {
    let read = |path: &str| -> Value {
        serde_yaml::from_str(&fs::read_to_string(format!("{TOP}/{path}")).unwrap()).unwrap()
    };
    let called = read(".github/workflows/tamis.yml");
    let long = read("fixtures/ci/sample/.github/workflows/tests.yml");
    let jobs = |workflow: &Value| workflow["jobs"].as_object().unwrap().clone();
    assert_eq!(
        jobs(&called).keys().collect::<Vec<_>>(),
        jobs(&long).keys().collect::<Vec<_>>()
    );
    let mut modes = Vec::new();
    for (name, job) in jobs(&long) {
        let twin = &called["jobs"][&name];
        for part in ["needs", "if", "strategy", "outputs", "continue-on-error"] {
            assert_eq!(twin[part], job[part], "{name}: {part}");
        }
        let steps = twin["steps"].as_array().unwrap();
        for step in steps {
            let script = step["run"].as_str().unwrap_or_default();
            assert!(!script.contains("${{"), "{script}");
            let uses = step["uses"].as_str().unwrap_or("./");
            let is_pinned = uses.split_once('@').is_some_and(|(_, at)| at.len() == 40);
            assert!(
                is_pinned || uses == "./.tamis/action" || uses == "./",
                "{uses}"
            );
        }
        let mode = steps.iter().find_map(|step| step["with"]["mode"].as_str());
        modes.extend(mode.map(str::to_owned));
    }
    assert_eq!(modes, ["keep", "select", "record"]);
    let gate = &long["jobs"]["gate"]["steps"];
    assert_eq!(&called["jobs"]["gate"]["steps"], gate);
    // Each input is used.
    let text = fs::read_to_string(format!("{TOP}/.github/workflows/tamis.yml")).unwrap();
    let inputs = called["on"]["workflow_call"]["inputs"].as_object().unwrap();
    for name in inputs.keys() {
        assert!(text.contains(&format!("inputs.{name} ")), "{name}");
    }
}

/// The calls of each of four copies of GitLab's `tests`, for this report.
fn copies_of_gitlab(mode: &str, shards: &str) -> Vec<String> {
    let template = fs::read_to_string(format!("{TOP}/templates/tamis.gitlab-ci.yml")).unwrap();
    let template: Value = serde_yaml::from_str(&template).unwrap();
    let script = template["tests"]["script"][0].as_str().unwrap();
    let copy = |index: u32| {
        let done = std::process::Command::new("sh")
            .args([
                "-euc",
                &format!("tamis() {{ echo \"$1 $2 $3\"; }}\n{script}"),
            ])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .envs([("TAMIS_OUT_MODE", mode), ("TAMIS_OUT_SHARDS", shards)])
            .envs([("CI_NODE_TOTAL", "4"), ("TEST_COMMAND", "pytest")])
            .env("CI_NODE_INDEX", index.to_string())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    (1..=4).map(copy).collect()
}

/// Whatever arrives of the report, every part of the tests has a copy that runs it.
#[test]
fn copies_of_gitlab_leave_no_part_out() {
    let part = |index: u32| format!("record --selection .tamis/out/shard-{index}");
    let parts: Vec<String> = (1..=4).map(part).collect();
    assert_eq!(copies_of_gitlab("selected", "4"), parts);
    let two = copies_of_gitlab("selected", "2");
    assert_eq!(two[..2], parts[..2]);
    assert!(two[2..].iter().all(|said| said.contains("divided among 2")));
    let none = copies_of_gitlab("none", "4");
    assert!(none.iter().all(|said| said == "no test has to run"));
    assert_eq!(copies_of_gitlab("", "4"), parts);
    // Somebody lowered `parallel`; a report was cut off, or is another one.
    for shards in [
        "",
        "5",
        "256",
        "0",
        "-1",
        "two",
        "2 ",
        "99999999999999999999",
    ] {
        let copies = copies_of_gitlab("selected", shards);
        let all = copies
            .iter()
            .all(|said| said.starts_with("run --all --shard"));
        assert!(all || shards == "2 ", "{shards}: {copies:?}");
    }
}

#[test]
fn the_action_keeps_nothing_of_events_that_act_for_others() {
    let action: Value =
        serde_yaml::from_str(&fs::read_to_string(format!("{TOP}/action.yml")).unwrap()).unwrap();
    let mut saved = 0;
    for step in action["runs"]["steps"].as_array().unwrap() {
        let uses = step["uses"].as_str().unwrap_or_default();
        if uses.starts_with("actions/cache/save@") {
            let condition = step["if"].as_str().unwrap();
            let (_, list) = condition.split_once("contains(fromJSON('").unwrap();
            let (list, rest) = list.split_once("')").unwrap();
            let events: Vec<String> = serde_json::from_str(list).unwrap();
            let wanted = [
                "push",
                "pull_request",
                "merge_group",
                "schedule",
                "workflow_dispatch",
            ];
            assert_eq!(events, wanted);
            assert_eq!(rest, ", github.event_name) }}");
            saved += 1;
        }
        assert!(!uses.starts_with("actions/cache@"), "it would save: {uses}");
    }
    // The results, and the program that was built.
    assert_eq!(saved, 2);
}

#[test]
fn the_action_never_puts_values_into_scripts_and_pins_what_it_uses() {
    let action: Value =
        serde_yaml::from_str(&fs::read_to_string(format!("{TOP}/action.yml")).unwrap()).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    for step in steps {
        if let Some(script) = step["run"].as_str() {
            assert!(!script.contains("${{"), "{script}");
        }
        if let Some(uses) = step["uses"].as_str() {
            let (_, commit) = uses.split_once('@').unwrap();
            assert!(
                commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
                "{uses}"
            );
        }
    }
    // GitHub refuses to load an action with an expression even in texts that only people read.
    let texts = ["inputs", "outputs"].map(|part| action[part].as_object().unwrap());
    for (name, entry) in texts.into_iter().flatten() {
        assert!(!entry["description"].to_string().contains("${{"), "{name}");
    }
    let outputs = action["outputs"].as_object().unwrap();
    let wanted = [
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
    assert_eq!(outputs.len(), wanted.len());
    assert!(wanted.iter().all(|name| outputs.contains_key(*name)));
}
