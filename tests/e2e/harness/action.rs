//! Runs the steps of `action.yml` that start tamis as GitHub's runner does: each in its own
//! shell, with the variables of the file.

use std::collections::BTreeMap;
use std::fs;

use serde_yaml::Value;

use super::{Finished, Project, outputs};

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// The result of the steps.
pub struct Stepped {
    /// The result of the step that does the work.
    pub work: Finished,
    /// All messages, and the outputs.
    pub told: String,
    /// The steps that ran, by name.
    pub names: Vec<String>,
}

/// Runs the steps for these inputs; the others have their defaults.
pub fn steps(project: &mut Project, inputs: &[(&str, &str)]) -> Stepped {
    let text = fs::read_to_string(format!("{TOP}/action.yml")).unwrap();
    let action: Value = serde_yaml::from_str(&text).unwrap();
    let mut known = BTreeMap::new();
    for (name, input) in action["inputs"].as_mapping().unwrap() {
        let given = inputs
            .iter()
            .find(|(input, _)| Some(*input) == name.as_str());
        let value = given.map_or(input["default"].as_str().unwrap(), |(_, value)| value);
        known.insert(
            format!("inputs.{}", name.as_str().unwrap()),
            value.to_owned(),
        );
    }
    for (input, _) in inputs {
        assert!(known.contains_key(&format!("inputs.{input}")), "{input}");
    }
    let runner = project.path("@outside/runner");
    fs::create_dir_all(runner.join("tamis-bin")).unwrap();
    let program = runner.join("tamis-bin/tamis");
    let _ = fs::remove_file(&program);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tamis"), &program).unwrap();
    project.set_env("RUNNER_TEMP", Some(runner.to_str().unwrap()));
    project.set_env("GITHUB_ACTIONS", Some("true"));
    let mut told = String::new();
    let mut work = None;
    let mut names = Vec::new();
    for step in action["runs"]["steps"].as_sequence().unwrap() {
        let Some(script) = step["run"].as_str().filter(|run| run.contains(" action ")) else {
            continue;
        };
        if !step["if"]
            .as_str()
            .is_none_or(|wanted| holds(wanted, &known))
        {
            continue;
        }
        let name = step["name"].as_str().unwrap();
        let done = one(project, step, script, &known);
        let output = fs::read_to_string(project.path("@outside/runner/output")).unwrap();
        if let Some(id) = step["id"].as_str() {
            for (name, value) in written(&output) {
                known.insert(format!("steps.{id}.outputs.{name}"), value);
            }
        }
        told.push_str(&format!("{}{}{output}", done.stdout, done.stderr));
        names.push(name.to_owned());
        match name {
            "tamis" => work = Some(done),
            // No other step may keep the tests from running.
            _ => assert_eq!(step["continue-on-error"].as_bool(), Some(true), "{name}"),
        }
    }
    let work = work.expect("a step called tamis");
    Stepped { work, told, names }
}

fn one(
    project: &mut Project,
    step: &Value,
    script: &str,
    known: &BTreeMap<String, String>,
) -> Finished {
    let runner = project.path("@outside/runner");
    let output = runner.join("output");
    fs::write(&output, "").unwrap();
    fs::write(runner.join("script.sh"), script).unwrap();
    let mut own = vec!["GITHUB_OUTPUT".to_owned()];
    project.set_env("GITHUB_OUTPUT", Some(output.to_str().unwrap()));
    for (name, value) in step["env"].as_mapping().unwrap() {
        let name = name.as_str().unwrap();
        let text = value.as_str().unwrap();
        let key = text
            .strip_prefix("${{ ")
            .and_then(|text| text.strip_suffix(" }}"));
        let value = known.get(key.unwrap()).unwrap_or_else(|| panic!("{text}"));
        // Variables that the job already has keep their values.
        if name != "GITHUB_TOKEN" || !value.is_empty() {
            project.set_env(name, Some(value));
            own.push(name.to_owned());
        }
    }
    let script = runner.join("script.sh");
    let shell = [
        "--noprofile",
        "--norc",
        "-e",
        "-o",
        "pipefail",
        script.to_str().unwrap(),
    ];
    let done = project.command("bash", &shell, &project.root());
    for name in own {
        project.set_env(&name, None);
    }
    done
}

/// Whether a condition holds: comparisons, joined by `&&` and `||`.
fn holds(wanted: &str, known: &BTreeMap<String, String>) -> bool {
    let mut text = wanted
        .trim_start_matches("${{")
        .trim_end_matches("}}")
        .to_owned();
    for (name, value) in known {
        let word = marked_at(&text, name);
        text = word.replace('\u{1}', &format!("'{}'", value.replace('\'', "")));
    }
    // A value that no step has set is empty.
    let words = text.split(' ').map(|word| match word.contains("steps.") {
        true => "''",
        false => word,
    });
    let text = words
        .collect::<Vec<_>>()
        .join(" ")
        .replace('(', "( ")
        .replace(')', " )");
    let test = format!("[[ {text} ]]");
    let done = std::process::Command::new("bash")
        .args(["-c", &test])
        .output()
        .unwrap();
    assert!(
        matches!(done.status.code(), Some(0 | 1)),
        "{test}: {done:?}"
    );
    done.status.success()
}

/// The text with a mark in place of each whole word `name`.
fn marked_at(text: &str, name: &str) -> String {
    let mut marked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let after = &rest[at + name.len()..];
        let is_whole =
            !after.starts_with(|next: char| next.is_alphanumeric() || "-_.".contains(next));
        marked.push_str(&rest[..at]);
        marked.push_str(if is_whole { "\u{1}" } else { name });
        rest = after;
    }
    marked + rest
}

/// Both forms of outputs.
fn written(text: &str) -> Vec<(String, String)> {
    let is_plain = |line: &&str| !line.contains("<<") && line.contains('=');
    let mut plain = Vec::new();
    let mut rest = String::new();
    for line in text.lines() {
        match is_plain(&line).then(|| line.split_once('=')).flatten() {
            Some((name, value)) if name.chars().all(|c| c.is_alphanumeric() || c == '-') => {
                plain.push((name.to_owned(), value.to_owned()));
            }
            _ => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    plain.extend(outputs(rest.trim_end_matches('\n')));
    plain
}
