//! Against every CPython that the machine has: `oracle.py` tells what the
//! interpreter makes of its own standard library.
//!
//! `TAMIS_STDLIB_EVERY` says how many modules: every n-th one of the top
//! level, or with 0 all modules of all packages. Where only the sources of the standard
//! libraries differ, the oldest and the newest are asked; `TAMIS_E2E_ALL=1` asks all.
#![expect(
    clippy::print_stderr,
    reason = "tests say which interpreters they had and what they counted"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{analyse_python, changed, parse};
use crate::languages::{Analysis, ModuleUnits, UnitAt};
use serde_json::Value;

const MINORS: std::ops::RangeInclusive<u32> = 8..=14;

/// The interpreters by minor version: on the path, or where pyenv keeps them.
fn interpreters() -> BTreeMap<u32, PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    let pyenv = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let versions = pyenv.and_then(|root| std::fs::read_dir(root.join("versions")).ok());
    for version in versions.into_iter().flatten().flatten() {
        folders.push(version.path().join("bin"));
    }
    let mut found = BTreeMap::new();
    for minor in MINORS {
        let works = |program: &PathBuf| {
            Command::new(program)
                .args(["-c", "import ast"])
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        let name = format!("python3.{minor}");
        match folders.iter().map(|folder| folder.join(&name)).find(works) {
            Some(program) => {
                found.insert(minor, program);
            }
            None => eprintln!("SKIPPED python3.{minor}: not on this machine"),
        }
    }
    found
}

/// Of those from a minor version on the oldest and the newest, whose syntax differs most.
fn outermost(from: u32) -> BTreeMap<u32, PathBuf> {
    let mut found = interpreters().split_off(&from);
    if std::env::var_os("TAMIS_E2E_ALL").is_none() {
        let (oldest, newest) = (found.pop_first(), found.pop_last());
        found = oldest.into_iter().chain(newest).collect();
    }
    found
}

/// Calls `check` with each answer of the oracle, and the source it is about.
fn ask(program: &Path, mode: &str, every: u32, mut check: impl FnMut(&str, &[u8], &Value)) {
    let every = std::env::var("TAMIS_STDLIB_EVERY").unwrap_or_else(|_| every.to_string());
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/languages/python/tests/oracle.py"
    );
    let mut child = Command::new(program)
        .args(["-X", "utf8", script, mode, &every])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if answer["broken"] == true {
            continue;
        }
        let path = answer["path"].as_str().unwrap();
        check(path, &std::fs::read(path).unwrap(), &answer);
    }
    assert!(child.wait().unwrap().success());
}

/// The units of a source, or a note of why there are none.
fn units_of(path: &str, source: &[u8], unparsed: &mut Vec<String>) -> Option<ModuleUnits> {
    match analyse_python(source) {
        Analysis::Parsed(units) => Some(*units),
        Analysis::Unparsed(reason) => {
            unparsed.push(format!("{path}: {reason}"));
            None
        }
    }
}

/// Code of a header may count as the body that starts on its line.
fn shares_line(units: &ModuleUnits, line: u32) -> bool {
    units.outline.spans.iter().any(|span| span.body == line)
}

#[test]
fn every_code_object_finds_its_unit() {
    for (minor, program) in interpreters() {
        let (mut files, mut objects, mut doubtful) = (0, 0, 0);
        let (mut wrong, mut unparsed) = (Vec::new(), Vec::new());
        ask(&program, "codes", 6, |path, source, answer| {
            let Some(units) = units_of(path, source, &mut unparsed) else {
                return;
            };
            files += 1;
            for code in answer["codes"].as_array().unwrap() {
                let line = code[0].as_u64().unwrap() as u32;
                let name = code[1].as_str().unwrap();
                objects += 1;
                let expected = match code[2].as_str() {
                    Some(unit) => UnitAt::Code(unit),
                    None => UnitAt::Skeleton,
                };
                let found = units.unit_at(line, name);
                if found == Some(expected) {
                    continue;
                }
                let is_doubt = expected == UnitAt::Skeleton && shares_line(&units, line);
                match found {
                    Some(UnitAt::Code(_)) if is_doubt => doubtful += 1,
                    _ => wrong.push(format!("{path}:{line} {name}: {found:?} != {expected:?}")),
                }
            }
        });
        eprintln!(
            "python3.{minor}: {objects} code objects in {files} modules, {doubtful} in doubt, \
             {} wrong, {} modules not parsed {unparsed:?}",
            wrong.len(),
            unparsed.len()
        );
        assert!(objects > 0);
        assert_eq!(wrong, [""; 0], "python3.{minor}");
        assert!(unparsed.len() * 100 <= files);
    }
}

#[test]
fn formatting_changes_no_unit() {
    // `ast.unparse` came with 3.9.
    for (mode, from) in [("unparse", 9), ("reformat", 8)] {
        for (minor, program) in outermost(from) {
            let (mut files, mut unfaithful) = (0, 0);
            let (mut wrong, mut unparsed) = (Vec::new(), Vec::new());
            ask(&program, mode, 8, |path, source, answer| {
                let Some(text) = answer["text"].as_str() else {
                    unfaithful += 1;
                    return;
                };
                let Some(before) = units_of(path, source, &mut unparsed) else {
                    return;
                };
                files += 1;
                let after = parse(text);
                let differs = changed(&before, &after);
                if !differs.is_empty() {
                    wrong.push(format!("{path}: {differs:?}"));
                }
                let crlf = text.replace('\n', "\r\n");
                assert_eq!(changed(&after, &parse(&crlf)), [""; 0], "{path} with CRLF");
            });
            eprintln!(
                "python3.{minor} {mode}: {files} modules compared, {} differ, \
                 {unfaithful} that the formatter itself changes, {} not parsed",
                wrong.len(),
                unparsed.len()
            );
            assert!(files > 0);
            assert_eq!(wrong, [""; 0], "python3.{minor} {mode}");
        }
    }
}

#[test]
fn an_edit_changes_its_unit_alone() {
    for (minor, program) in outermost(9) {
        let (mut bodies, mut skeletons) = (0, 0);
        ask(&program, "mutate", 16, |path, _, answer| {
            let Some(base) = answer["base"].as_str() else {
                return;
            };
            let Analysis::Parsed(base) = analyse_python(base.as_bytes()) else {
                return;
            };
            for edit in answer["edits"].as_array().unwrap() {
                let after = parse(edit[2].as_str().unwrap());
                let differs = changed(&base, &after);
                if edit[0] == "body" {
                    bodies += 1;
                    assert_eq!(differs, [edit[1].as_str().unwrap()], "{path}");
                } else {
                    skeletons += 1;
                    assert_eq!(differs, ["skeleton"], "{path} {}", edit[1]);
                }
            }
        });
        eprintln!("python3.{minor}: {bodies} edits of bodies, {skeletons} of skeletons");
        assert!(bodies > 0 && skeletons > 0);
    }
}
