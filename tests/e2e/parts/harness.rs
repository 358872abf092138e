//! Edits and compiles a program of Java sources; the agent records it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use bstr::BStr;

use crate::harness::files_below;
use crate::java_sources::oracle::{self, has_compiler};
use tamis::exposed::history::{Repository, View};
use tamis::exposed::languages::{Environment, Facts, Value};
use tamis::exposed::matrix::Unit;
use tamis::exposed::observe::{Observations, observe, read_traces};
use tamis::exposed::runners::{Started, configured};

const COMPILER: &str = include_str!("Harness.java");
const RUNNER: [(&str, &str); 2] = [
    ("JUnitCore", include_str!("JUnitCore.java")),
    ("JUnit4Provider", include_str!("JUnit4Provider.java")),
];

/// One edit: a replacement in the program's text, and the tests that it selects.
pub struct Edit {
    pub name: &'static str,
    pub changes: &'static [(&'static str, &'static str)],
    pub selects: &'static [&'static str],
}

pub const fn edit(
    name: &'static str,
    changes: &'static [(&'static str, &'static str)],
    selects: &'static [&'static str],
) -> Edit {
    Edit {
        name,
        changes,
        selects,
    }
}

/// Records the program `text` (files as `-- Name.java --` and content). Its tests are the
/// classes `tests`, in this order in one JVM. Then checks for each edit which tests it
/// selects, and that these include all tests whose output it changes.
pub fn check(text: &str, tests: &[&str], edits: &[Edit]) {
    if !has_compiler() {
        return;
    }
    let world = tempfile::tempdir().unwrap();
    let top = world.path().canonicalize().unwrap();
    let folders: Vec<String> = (0..=edits.len()).map(|at| format!("v{at}")).collect();
    write(&top.join("Harness.java"), COMPILER);
    for (name, source) in RUNNER {
        write(&top.join(format!("runner/src/{name}.java")), source);
    }
    write_sources(&top.join("v0"), text);
    for (edit, folder) in edits.iter().zip(&folders[1..]) {
        let mut edited = text.to_owned();
        for (from, to) in edit.changes {
            assert_eq!(edited.matches(from).count(), 1, "{}: {from:?}", edit.name);
            edited = edited.replace(from, to);
        }
        write_sources(&top.join(folder), &edited);
    }
    compile(&top, &folders);
    let project = top.join("project");
    write(&project.join("README"), "");
    git(&project);
    let repository = Repository::discover(&project).unwrap();
    install(&top.join("v0"), &project);
    let before = run(&top, &project, tests, None);
    let traces = top.join("traces");
    fs_err::create_dir(&traces).unwrap();
    let watched = run(&top, &project, tests, Some(&traces));
    assert_eq!(before, watched, "watching changes what tests do");
    let view = repository.work_view().unwrap();
    let collected = recorded(&traces, &facts_of(&view, &project));
    let then = facts_of(&view, &project);
    let known: Vec<Value> = collected
        .units
        .iter()
        .map(|unit| then.value(unit))
        .collect();
    let mut wrong = String::new();
    for (edit, folder) in edits.iter().zip(&folders[1..]) {
        let missed = oracle::missed_in(&top.join("v0"), &top.join(folder));
        assert!(
            missed.is_empty(),
            "{}: before the build: {missed:?}",
            edit.name
        );
        install(&top.join(folder), &project);
        let view = repository.work_view().unwrap();
        let now = facts_of(&view, &project);
        let differs: Vec<bool> = collected
            .units
            .iter()
            .zip(&known)
            .map(|(unit, value)| unit.kind().is_compiled() && now.value(unit) != *value)
            .collect();
        let (mut selected, mut why) = (BTreeSet::new(), BTreeSet::new());
        for row in &collected.rows {
            let units = collected.bases[row.base].units.iter().chain(&row.own);
            let changed: Vec<&Unit> = units
                .filter(|unit| differs[**unit as usize])
                .map(|unit| &collected.units[*unit as usize])
                .collect();
            if !changed.is_empty() {
                selected.insert(row.test.as_str());
                why.extend(changed.iter().map(|unit| format!("{}: {unit}", row.test)));
            }
        }
        let wanted: BTreeSet<&str> = edit.selects.iter().copied().collect();
        let after = run(&top, &project, tests, None);
        let affected = tests
            .iter()
            .copied()
            .filter(|test| before.get(*test) != after.get(*test));
        let missed: Vec<&str> = affected.filter(|test| !selected.contains(test)).collect();
        if selected != wanted || !missed.is_empty() {
            wrong.push_str(&format!(
                "{}:\n  selects {selected:?}\n  and not {wanted:?}\n  missed  {missed:?}\n  {why:?}\n",
                edit.name
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn facts_of<'a>(view: &'a View, project: &Path) -> Facts<'a> {
    Facts::new(
        view,
        project,
        Environment::Here(Default::default()),
        None,
        configured,
    )
}

fn write(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn write_sources(folder: &Path, text: &str) {
    for part in text.split("-- ").filter(|part| !part.trim().is_empty()) {
        let (name, content) = part.split_once(" --\n").unwrap();
        write(&folder.join("src").join(name), content);
    }
}

/// Compiles all folders in one JVM.
fn compile(top: &Path, folders: &[String]) {
    let done = Command::new("java")
        .arg("Harness.java")
        .args(folders)
        .arg("./runner")
        .current_dir(top)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
}

fn git(project: &Path) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let commands: [&[&str]; 3] = [
        &["init", "--quiet"],
        &["add", "--all"],
        &["commit", "--quiet", "-m", "first"],
    ];
    for arguments in commands {
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(project)
            .status();
        assert!(done.unwrap().success());
    }
}

/// Makes the compiled classes of one state of the program the project's, with all other files
/// beside its sources.
fn install(version: &Path, project: &Path) {
    let target = project.join("target/classes");
    if target.exists() {
        fs_err::remove_dir_all(&target).unwrap();
    }
    for from in ["classes", "src"] {
        for file in files_below(&version.join(from)) {
            let name = file.strip_prefix(version.join(from)).unwrap();
            let is_source = name.extension().is_some_and(|end| end == "java");
            if !is_source {
                let to = target.join(name);
                fs_err::create_dir_all(to.parent().unwrap()).unwrap();
                fs_err::copy(&file, to).unwrap();
            }
        }
    }
}

/// The output of each test class.
fn run(
    top: &Path,
    project: &Path,
    tests: &[&str],
    traces: Option<&Path>,
) -> BTreeMap<String, String> {
    let mut java = Command::new("java");
    java.current_dir(project)
        .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1"]);
    if let Some(traces) = traces {
        let agent = tamis::exposed::run::install_agent(&top.join("agent")).unwrap();
        let mut option = std::ffi::OsString::from("-agentpath:");
        option.push(agent.join("jvm/libtamis_jvm.so"));
        java.arg(option)
            .env("TAMIS_TRACE_DIR", traces)
            .env("TAMIS_ROOT", project);
    }
    let done = java
        .args(["-cp", "target/classes:../runner.jar"])
        .arg("org.junit.runner.JUnitCore")
        .args(tests)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{told}");
    let mut printed: BTreeMap<String, String> = BTreeMap::new();
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        let (test, result) = line.split_once('\t').unwrap_or(("", line));
        let all = printed.entry(test.to_owned()).or_default();
        all.push_str(result);
        all.push('\n');
    }
    printed
}

fn recorded(traces: &Path, facts: &Facts<'_>) -> Observations {
    let (traces, errors) = read_traces(traces).unwrap();
    assert!(errors.is_empty(), "{errors:?}");
    let started = Started {
        facts,
        project: BStr::new(""),
        command: &[],
        folder: std::env::current_dir().ok(),
        variable: &|name| std::env::var_os(name),
    };
    let collected = observe(&traces, &errors, facts, &started, &[]).unwrap();
    for row in &collected.rows {
        assert_eq!(row.incomplete, None, "{}", row.test);
    }
    collected
}
