//! Which tests there are, as `ctest` itself tells once all is built.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use bstr::ByteSlice;
use serde::Deserialize;
use serde_json::{Value, json};

use super::words::Words;
use crate::disk;
use crate::matrix::Fingerprint;

/// The tests of a folder, by name: several can have the same.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub tests: BTreeMap<String, Listing>,
}

/// All tests of one name.
#[derive(Debug, Default)]
pub(super) struct Listing {
    count: usize,
    /// The program of each, without those that are not there.
    programs: Vec<String>,
    /// All of them.
    pub is_disabled: bool,
    /// Whether a library comes before the program, which would come before a process of tamis.
    is_preloaded: bool,
    /// What they are, as text: words, folder, variables, what counts as success.
    definition: String,
    /// Tests and fixtures that they have to do with.
    bonds: BTreeSet<String>,
}

/// What `--show-only=json-v1` writes.
#[derive(Deserialize)]
struct Shown {
    tests: Vec<ShownTest>,
}

#[derive(Deserialize)]
struct ShownTest {
    name: String,
    #[serde(default)]
    command: Vec<String>,
    config: Option<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: Value,
}

/// How much of a script is read to find its interpreter.
const MOST_OF_FIRST_LINE: u64 = 4096;

/// Properties that join tests: one finds what the other leaves.
const FIXTURES: [&str; 3] = ["FIXTURES_SETUP", "FIXTURES_CLEANUP", "FIXTURES_REQUIRED"];

/// Lists the tests in a folder that CMake builds in; only those that the command would run if
/// `is_filtered`. `root` is the top of the work tree.
///
/// # Errors
/// If `ctest` does not tell.
pub(super) fn list(words: &Words, folder: &Path, root: &Path, is_filtered: bool) -> Result<Listed> {
    let mut args: Vec<OsString> = Vec::new();
    match (is_filtered, words.configuration()) {
        (true, _) => args.extend(words.filters(folder)),
        (false, Some(name)) => args.extend(["-C".into(), name.into()]),
        (false, None) => {}
    }
    let output = Command::new(&words.program)
        .args(&args)
        .arg("--show-only=json-v1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", words.program.display()))?;
    ensure!(
        output.status.success(),
        "`ctest --show-only` fails in {}: {}",
        folder.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let text = String::from_utf8_lossy(&output.stdout);
    // Scripts of the project can print before it.
    let begin = text.find("{\n").unwrap_or(0);
    Listed::read(&text[begin..], root).context("`ctest --show-only` wrote what is no list of tests")
}

impl Listed {
    fn read(text: &str, root: &Path) -> Result<Listed> {
        let shown: Shown = serde_json::from_str(text)?;
        let mut listed = Listed::default();
        for test in shown.tests {
            let text = json!([test.command, test.config, texts(&test.properties)]).to_string();
            let one = listed.tests.entry(test.name).or_default();
            one.count += 1;
            one.programs.extend(test.command.into_iter().next());
            let is_disabled = is_set(&test.properties, "DISABLED");
            one.is_disabled = is_disabled && (one.is_disabled || one.count == 1);
            one.is_preloaded |= text.contains("LD_PRELOAD");
            one.definition += &without(&text, &root.to_string_lossy());
            for property in &test.properties {
                let values = property.value.as_array().into_iter().flatten();
                let values = values.filter_map(Value::as_str);
                match property.name.as_str() {
                    "DEPENDS" => one.bonds.extend(values.map(|name| format!("test {name}"))),
                    name if FIXTURES.contains(&name) => {
                        one.bonds
                            .extend(values.map(|name| format!("fixture {name}")));
                    }
                    _ => {}
                }
            }
        }
        Ok(listed)
    }

    /// Those that are not disabled.
    pub(super) fn that_run(&self) -> impl Iterator<Item = &String> {
        let tests = self.tests.iter();
        let run = tests.filter(|(_, test)| !test.is_disabled);
        run.map(|(name, _)| name)
    }

    /// What tests start.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        let tests = self.tests.values();
        tests.flat_map(|test| test.programs.iter().map(String::as_str))
    }

    /// What each test is: names and values.
    pub(super) fn definitions(&self, flags: &str) -> BTreeMap<String, Fingerprint> {
        let tests = self.tests.iter();
        let tests = tests.map(|(name, one)| {
            let text = format!("{flags}\n{}", one.definition);
            (definition_of(name), Fingerprint::of_value(text.as_bytes()))
        });
        tests.collect()
    }

    /// The tests that belong together, as one finds what another leaves: fixtures, and those that
    /// run after others. Each with a number.
    pub(super) fn groups(&self) -> BTreeMap<&str, usize> {
        let mut groups: Vec<(BTreeSet<String>, BTreeSet<&str>)> = Vec::new();
        for (name, test) in &self.tests {
            let mut bonds = test.bonds.clone();
            bonds.insert(format!("test {name}"));
            let mut tests = BTreeSet::from([name.as_str()]);
            groups.retain_mut(|(known, of)| {
                let is_apart = known.is_disjoint(&bonds);
                if !is_apart {
                    bonds.append(known);
                    tests.append(of);
                }
                is_apart
            });
            groups.push((bonds, tests));
        }
        let numbered = groups.into_iter().enumerate();
        numbered
            .flat_map(|(number, (_, tests))| tests.into_iter().map(move |test| (test, number)))
            .collect()
    }

    /// Those of `left_out` that can be: of a group none, if one of it runs.
    pub(super) fn left_out<'l>(&'l self, left_out: &BTreeSet<String>) -> BTreeSet<&'l str> {
        let groups = self.groups();
        let runs = |name: &str| {
            let test = self.tests.get(name);
            test.is_some_and(|test| !test.is_disabled) && !left_out.contains(name)
        };
        let running: BTreeSet<usize> = groups
            .iter()
            .filter(|(name, _)| runs(name))
            .map(|(_, group)| *group)
            .collect();
        let groups = groups.into_iter();
        let out =
            groups.filter(|(name, group)| left_out.contains(*name) && !running.contains(group));
        out.map(|(name, _)| name).collect()
    }
}

impl Listing {
    /// Whether a process of tamis can come before the tests.
    pub(super) fn can_be_seen(&self) -> bool {
        !self.is_preloaded && self.programs.iter().all(|program| can_start(program))
    }

    /// Why not all of them are seen, if so.
    pub(super) fn doubt(&self) -> Option<String> {
        let is_seen =
            self.count == 1 || self.count == self.programs.len() && self.program().is_some();
        (!is_seen).then(|| "several tests with different programs have this name".to_owned())
    }

    /// The program, if there is only one.
    pub(super) fn program(&self) -> Option<&str> {
        let first = self.programs.first()?;
        let is_only = self.programs.iter().all(|one| one == first);
        is_only.then_some(first)
    }
}

/// Whether the system can start a program: if not, `ctest` has to find that itself.
fn can_start(program: &str) -> bool {
    let Ok((file, about)) = disk::open_to_read(Path::new(program)) else {
        return false;
    };
    let mut head = Vec::new();
    if file
        .take(MOST_OF_FIRST_LINE)
        .read_to_end(&mut head)
        .is_err()
    {
        return false;
    }
    let line = head.lines().next().unwrap_or_default();
    let interpreter = line.strip_prefix(b"#!").map(|line| line.trim_ascii());
    let interpreter = interpreter.map(|line| line.split_str(" ").next().unwrap_or_default());
    let has_interpreter =
        interpreter.is_none_or(|path| Path::new(OsStr::from_bytes(path)).exists());
    about.mode() & 0o111 != 0 && has_interpreter
}

/// A text in which the top of the work tree is the same in another checkout.
fn without(text: &str, root: &str) -> String {
    let mut parts = text.split(root);
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Another folder can begin with the same name. What stands for this one, no text has.
        let is_whole = part.starts_with(['/', '"', ';', ':', ' ', ',']);
        known.push_str(if is_whole { "\0" } else { root });
        known.push_str(part);
    }
    known
}

/// The name of what a test is, among what the environment tells.
pub(super) fn definition_of(test: &str) -> String {
    format!("test {test} of ctest")
}

fn texts(properties: &[Property]) -> BTreeMap<&str, &Value> {
    let all = properties.iter();
    all.map(|property| (property.name.as_str(), &property.value))
        .collect()
}

fn is_set(properties: &[Property], name: &str) -> bool {
    let mut of_name = properties.iter().filter(|property| property.name == name);
    of_name.any(|property| property.value == Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(tests: &Value) -> Listed {
        let text = json!({ "kind": "ctestInfo", "tests": tests }).to_string();
        Listed::read(&text, Path::new("/top")).unwrap()
    }

    fn with(name: &str, properties: &[(&str, &[&str])]) -> Value {
        let properties = properties.iter();
        let properties = properties.map(|(name, value)| json!({ "name": name, "value": value }));
        let properties: Vec<Value> = properties.collect();
        json!({ "name": name, "command": ["/top/build/t"], "properties": properties })
    }

    #[test]
    fn fixtures_and_those_that_run_after_others_go_together() {
        let listed = listed(&json!([
            with("alone", &[]),
            with("cleans", &[("FIXTURES_CLEANUP", &["db"])]),
            with("later", &[("DEPENDS", &["uses"])]),
            with("sets up", &[("FIXTURES_SETUP", &["db"])]),
            with("uses", &[("FIXTURES_REQUIRED", &["db", "net"])]),
        ]));
        let groups = listed.groups();
        assert_ne!(groups["alone"], groups["uses"]);
        for name in ["cleans", "later", "sets up"] {
            assert_eq!(groups[name], groups["uses"], "{name}");
        }
        let all = listed.tests.keys().cloned();
        let mut out: BTreeSet<String> = all.collect();
        assert_eq!(listed.left_out(&out).len(), 5);
        out.remove("later");
        let left = listed.left_out(&out);
        assert_eq!(left.into_iter().collect::<Vec<_>>(), ["alone"]);
    }

    #[test]
    fn a_definition_is_the_same_elsewhere_and_another_with_other_words() {
        let of = |tests: Value, flags: &str| listed(&tests).definitions(flags);
        let one = of(json!([with("a", &[])]), "");
        let moved = json!([with("a", &[])])
            .to_string()
            .replace("/top", "/other");
        let text = format!("{{\"tests\":{moved}}}");
        let moved = Listed::read(&text, Path::new("/other")).unwrap();
        assert_eq!(moved.definitions(""), one);
        assert_ne!(of(json!([with("a", &[])]), "-C Debug"), one);
        let set = with("a", &[("ENVIRONMENT", &["A=1"])]);
        assert_ne!(of(json!([set]), ""), one);
        let two = of(json!([with("a", &[]), with("b", &[])]), "");
        assert_eq!(two[&definition_of("a")], one[&definition_of("a")]);
    }
}
