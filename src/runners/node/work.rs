//! Runs the command of the tests under the tracer, with an agent in each of its Node processes,
//! and writes down what each test file used.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::Result;
use bstr::BStr;
use serde_json::json;

use super::plan::{definition, id};
use super::rows::{self, Rows};
use super::told::{RAN, Told};
use crate::disk;
use crate::languages::js_trace::{COLLECTOR, OUTSIDE};
use crate::matrix::Fingerprint;
use crate::runners::supervised::Supervised;
use crate::tracer::{self, Job, Seen, Units, bytes, value};

/// The agents, by the names that they have in the folder of a run.
const AGENTS: [(&str, &str); 4] = [
    ("agent.cjs", include_str!("../../../agents/node/agent.cjs")),
    (
        "functions.cjs",
        include_str!("../../../agents/node/functions.cjs"),
    ),
    ("jest.cjs", include_str!("../../../agents/node/jest.cjs")),
    (
        "vitest.mjs",
        include_str!("../../../agents/node/vitest.mjs"),
    ),
];

/// The folder of results.
const STORE: &str = ".tamis";

/// The first scope of a test; 0 is what all need.
const FIRST_TEST: u64 = 1;

/// Runs the command of the plan in a file; returns its status. `tell` hears why nothing is
/// recorded, if so.
///
/// # Errors
/// If it cannot be started, or what it did not be written down.
pub(crate) fn run_node_tests(file: &Path, tell: &mut dyn FnMut(String)) -> Result<i32> {
    let plan = Supervised::load(file)?;
    let marks = plan.out.join("marks");
    fs_err::create_dir_all(&marks)?;
    fs_err::create_dir_all(plan.out.join(RAN))?;
    for (name, text) in AGENTS {
        disk::write(plan.out.join(name), text)?;
    }
    let left_out = plan.left_out.iter().map(|test| plan.project.join(test));
    let left_out: Vec<_> = left_out.collect();
    disk::write(
        plan.out.join("node.json"),
        json!({ "leftOut": left_out }).to_string(),
    )?;
    if plan.untraced.is_none() {
        tracer::adopt_orphans()?;
    }
    let argv = plan.words();
    let env = environment(&plan);
    let job = Job {
        argv: &argv,
        cwd: &plan.cwd,
        timeout: None,
        env: &env,
        output: None,
        marks: Some(&marks),
        programs: None,
    };
    let traced = match &plan.untraced {
        None => tracer::trace(&job, tracer::end_descendants)?,
        Some(why) => tracer::untraced(&job, why)?,
    };
    let status = traced.ended.status();
    let told = Told::read(&plan.out)?;
    let mut alone = told.mains.values().filter_map(|main| main.alone.as_ref());
    match alone.next() {
        Some(word) => tell(format!("`{word}` says itself what runs")),
        None if told.mains.is_empty() => {
            tell("the command starts neither vitest, jest nor `node --test`".to_owned());
        }
        None => {
            let store = plan.root.join(STORE);
            let rows = rows::sort(&told, traced.parts, &plan.out, &store);
            write(&plan, &told, &rows, traced.seen.incomplete.as_ref())?;
        }
    }
    Ok(status)
}

/// The variables that bring the agent into each process.
fn environment(plan: &Supervised) -> Vec<(OsString, OsString)> {
    let agent = plan.out.join(AGENTS[0].0);
    let quoted = agent
        .display()
        .to_string()
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    let mut options = OsString::from(format!("--require \"{quoted}\""));
    if let Some(given) = std::env::var_os("NODE_OPTIONS").filter(|given| !given.is_empty()) {
        options.push(" ");
        options.push(given);
    }
    let no = |name: &str, value: &str| (name.into(), value.into());
    vec![
        ("NODE_OPTIONS".into(), options),
        ("TAMIS_NODE".into(), plan.out.clone().into_os_string()),
        // Package managers ask whether there is a newer one: who uses the network runs always.
        no("npm_config_update_notifier", "false"),
        no("NO_UPDATE_NOTIFIER", "1"),
        // They keep a few logs, of which the oldest go.
        no("npm_config_logs_max", "0"),
        no("YARN_DISABLE_SELF_UPDATE_CHECK", "1"),
    ]
}

/// Writes one trace, with all tests.
fn write(plan: &Supervised, told: &Told, rows: &Rows, untraced: Option<&String>) -> Result<()> {
    let Some(tests) = &told.tests else {
        return Ok(());
    };
    let trace = format!("{}-node", std::process::id());
    let mut units = Units::begin(&trace, COLLECTOR, &plan.cwd);
    let words = plan.words();
    let mut common = units.seen(&rows.session);
    let print = |print: Fingerprint| value(Some(print));
    let (name_of, command) = definition(&words, &plan.cwd, &plan.root);
    common.push(units.of("runtime", name_of.into(), print(command)));
    let all = tracer::of_all(std::env::vars_os());
    common.push(units.of("env", "*".into(), print(all)));
    for name in spelled(rows, &words) {
        let set = std::env::var_os(name);
        let set = set.map(|set| Fingerprint::of_value(set.as_bytes()));
        common.push(units.of("env", name.into(), value(set)));
    }
    let nothing: [u64; 0] = [];
    units.lines.add(json!(["+", 0, common, nothing]));
    let none = Seen::default();
    for (scope, (test, (outcome, seconds))) in (FIRST_TEST..).zip(&told.ended) {
        let name = id(plan, test);
        let path = bytes(BStr::new(test.as_bytes()));
        let seen = rows.tests.get(test).unwrap_or(&none);
        let mut numbers = units.seen(seen);
        for (file, ran) in rows.functions.get(test).into_iter().flatten() {
            let file = bytes(BStr::new(file.as_bytes()));
            numbers.push(units.of("reached", file.clone(), OUTSIDE.into()));
            numbers.extend(ran.iter().map(|name| units.code(file.clone(), name)));
        }
        let lines = &mut units.lines;
        lines.add(json!(["s", scope, "test", name, null]));
        lines.add(json!(["b", scope, name, path]));
        lines.add(json!(["+", scope, numbers, [0]]));
        let lost = "no process was seen to run it".to_owned();
        let is_lost = !rows.tests.contains_key(test);
        let incomplete = untraced.or(rows.session.incomplete.as_ref());
        let incomplete = incomplete.or(told.doubt.as_ref());
        let incomplete = incomplete.or(seen.incomplete.as_ref());
        let incomplete = incomplete.or(is_lost.then_some(&lost)).cloned();
        lines.ends(scope, &name, *outcome, *seconds, &incomplete);
    }
    let ids = |tests: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        tests.map(|test| id(plan, test)).collect()
    };
    let ran = ids(&mut told.ended.keys());
    let rest = ids(&mut tests.iter().filter(|test| !told.ended.contains_key(*test)));
    units.lines.add(json!(["items", ran, rest]));
    units.lines.save(&plan.traces, &trace)
}

/// The variables of CI services that files spell which tests use.
fn spelled(rows: &Rows, words: &[OsString]) -> BTreeSet<&'static str> {
    let mut all = Seen::default();
    for seen in rows.tests.values().chain([&rows.session]) {
        for path in seen.files.keys() {
            all.files.entry(path.clone()).or_default();
        }
    }
    for path in rows.functions.values().flat_map(BTreeMap::keys) {
        all.files.entry(path.as_str().into()).or_default();
    }
    let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    tracer::spelled(&all, &words)
}
