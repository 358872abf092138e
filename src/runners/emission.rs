//! The files of a selection that every runner has: lists for people and programs, and what
//! the collector in the test process reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::confirm::{Anew, Confirm, OpenTest};
use crate::disk::write_atomically;
use crate::languages::DIR;
use crate::matrix::{Fingerprint, Unit, UnitKind};
use crate::select::{Exclusions, Part, Reason, Selection, Shard, ShardOf, Verdict, escape};

/// Name of the file that the collector reads, in the folder of an emission.
pub(crate) const LATE: &str = "late.json";

/// What it holds (`TAMIS_EXCLUDE`), version 1.
#[derive(Clone, Debug, Serialize)]
struct LateFile<'a> {
    version: u32,
    /// The folder that ids are relative to.
    project: &'a str,
    exclude: Vec<&'a str>,
    /// Tests that only values can excuse: which of them do, a later step may find out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<&'a str>,
    late: Late<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    together: &'a Vec<Vec<String>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    one_process: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<ConfirmJson<'a>>,
    /// Excluded tests that can read any of this run all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    anew: Option<&'a Anew>,
}

/// The plan by which tests that are not excluded are left out all the same.
#[derive(Clone, Debug, Serialize)]
struct ConfirmJson<'a> {
    #[serde(flatten)]
    plan: &'a Confirm<'a>,
    tests: BTreeMap<&'a str, OpenTestJson<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct OpenTestJson<'a> {
    #[serde(flatten)]
    test: &'a OpenTest<'a>,
    /// As in [`Late::tests`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    late: Vec<usize>,
}

/// Which part of the tests that nobody listed runs here: those in files of
/// this shard, and of unknown files a share.
#[derive(Clone, Debug, Serialize)]
struct ShardJson<'a> {
    index: u32,
    of: u32,
    plan: &'a str,
    files: BTreeMap<&'a str, u32>,
    /// Tests of other shards that run here too.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    guests: BTreeSet<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
struct Late<'a> {
    units: Vec<(&'a str, String, Option<String>)>,
    tests: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> LateFile<'a> {
    /// All excluded tests of `selection`, with the units that the collector must
    /// find unchanged before it leaves a test out, and all tests that belong
    /// to another part. `confirm` is about some of the others.
    fn new(
        selection: &'a Selection,
        part: Option<Part<'a>>,
        project: &'a str,
        confirm: Option<&'a Confirm<'a>>,
    ) -> LateFile<'a> {
        let is_here = |test: &str| part.is_none_or(|part| part.has(test));
        let mut file = LateFile {
            anew: None,
            shard: part.map(|part| ShardJson {
                index: part.index,
                of: part.shards.of(),
                plan: part.plan,
                files: part.shards.files().collect(),
                guests: part
                    .guests
                    .into_iter()
                    .flatten()
                    .map(String::as_str)
                    .collect(),
            }),
            version: 1,
            together: &selection.processes.together,
            one_process: selection.processes.is_one,
            project,
            exclude: Vec::new(),
            open: Vec::new(),
            late: Late {
                units: Vec::new(),
                tests: BTreeMap::new(),
            },
            confirm: confirm.map(|plan| ConfirmJson {
                plan,
                tests: BTreeMap::new(),
            }),
        };
        let mut known: BTreeMap<&(Unit, Fingerprint), usize> = BTreeMap::new();
        // Tests share their lists.
        let mut lists: BTreeMap<*const (Unit, Fingerprint), Vec<usize>> = BTreeMap::new();
        for (test, verdict) in &selection.verdicts {
            let test = test.as_str();
            if !is_here(test) {
                file.exclude.push(test);
                continue;
            }
            if matches!(verdict, Verdict::Run(Reason::Unconfirmed { .. })) {
                file.open.push(test);
            }
            let open = confirm.and_then(|plan| plan.tests.get(test));
            let is_proven = matches!(
                verdict,
                Verdict::Skip(_) | Verdict::Run(Reason::Brought { .. })
            ) || open.is_some_and(|open| open.runs);
            if let (true, Some(open), Some(confirm)) = (is_proven, open, &mut file.confirm) {
                // It may meet what others leave anew, and nothing else.
                let late = Vec::new();
                confirm
                    .tests
                    .insert(test, OpenTestJson { test: open, late });
            }
            let (late, open) = match (verdict, open) {
                (Verdict::Skip(evidence), _) => {
                    file.exclude.push(test);
                    (&evidence.late, None)
                }
                (Verdict::Run(Reason::Unconfirmed { late, .. }), Some(open)) => (late, Some(open)),
                (Verdict::Run(_), _) => continue,
            };
            let units = lists.entry(late.as_ptr()).or_insert_with(|| {
                let numbers = late.iter().map(|unit| {
                    *known.entry(unit).or_insert_with(|| {
                        file.late.units.push(wire(&unit.0, unit.1));
                        file.late.units.len() - 1
                    })
                });
                numbers.collect()
            });
            match (open, &mut file.confirm) {
                (Some(open), Some(confirm)) => {
                    let late = units.clone();
                    let open = OpenTestJson { test: open, late };
                    confirm.tests.insert(test, open);
                }
                _ if units.is_empty() => {}
                _ => {
                    file.late.tests.insert(test, units.clone());
                }
            }
        }
        file
    }
}

fn wire(unit: &Unit, value: Fingerprint) -> (&'static str, String, Option<String>) {
    let name = if unit.path.is_empty() {
        unit.name().into_owned()
    } else {
        unit.path.to_string()
    };
    let value = match (unit.kind(), value) {
        (UnitKind::Exists, Fingerprint::MISSING) => Some("missing".to_owned()),
        (UnitKind::Exists, DIR) => Some("dir".to_owned()),
        (UnitKind::Exists, _) => Some("file".to_owned()),
        (_, Fingerprint::MISSING) => None,
        (_, value) => Some(value.hex()),
    };
    (unit.kind().word(), name, value)
}

/// Writes what the next step needs into `out`: `tests.txt`, `exclude.txt` and
/// `late.json`, whose path is returned.
///
/// `tests.txt` lists the known tests that must run and `exclude.txt` those
/// that need not, one id a line, with `\n`, `\r` and `\` in ids escaped by a
/// backslash. `confirm` and `anew` are for a run that begins at once.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &str,
    (confirm, anew): (Option<&Confirm<'_>>, Option<&Anew>),
    out: &Path,
) -> Result<PathBuf> {
    fs_err::create_dir_all(out)
        .context("cannot write the selection; give `--out` a folder that can be made")?;
    let is_here = |test: &str| part.is_none_or(|part| part.has(test));
    let is_run =
        |test: &str| is_here(test) && matches!(selection.verdicts.get(test), Some(Verdict::Run(_)));
    let known = selection.verdicts.keys().map(String::as_str);
    let (tests, excluded): (Vec<&str>, Vec<&str>) = known.partition(|test| is_run(test));
    write_atomically(out.join("tests.txt"), lines(&tests))?;
    write_atomically(out.join("exclude.txt"), lines(&excluded))?;
    let late = out.join(LATE);
    let mut file = LateFile::new(selection, part, project, confirm);
    file.anew = anew;
    write_atomically(&late, serde_json::to_vec(&file)?)?;
    Ok(late)
}

/// Writes into `out` what the selection in the file `late` is and, beside it, by which plan
/// tests are left out for the values that they read: of those that this selection found to
/// be open, and no others.
///
/// # Errors
/// If the one cannot be read, or the other not be written.
pub(crate) fn add_plan(
    late: &Path,
    selection: &Selection,
    confirm: &Confirm<'_>,
    out: &Path,
) -> Result<PathBuf> {
    let bytes = crate::disk::read_named(late)?;
    let mut file: Value = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} was not written by tamis", late.display()))?;
    let told = LateFile::new(selection, None, "", Some(confirm));
    let mut plan = serde_json::to_value(&told.confirm)?;
    let units = file
        .pointer_mut("/late/units")
        .and_then(Value::as_array_mut);
    let units = units.with_context(|| format!("{} has no late units", late.display()))?;
    // Both count from 0.
    let before = units.len();
    for unit in &told.late.units {
        units.push(serde_json::to_value(unit)?);
    }
    let is_open: BTreeSet<&str> = file["open"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(tests) = plan.get_mut("tests").and_then(Value::as_object_mut) {
        tests.retain(|test, _| is_open.contains(test.as_str()));
        for test in tests.values_mut() {
            let late = test.get_mut("late").and_then(Value::as_array_mut);
            for unit in late.into_iter().flatten() {
                *unit = (before as u64 + unit.as_u64().unwrap_or_default()).into();
            }
        }
    }
    file["confirm"] = plan;
    fs_err::create_dir_all(out)?;
    let path = out.join(LATE);
    write_atomically(&path, serde_json::to_vec(&file)?)?;
    Ok(path)
}

/// Reads the file that the collector reads.
///
/// # Errors
/// If it cannot be read, or is not such a file.
pub(crate) fn read_exclusions(path: &Path) -> Result<Exclusions> {
    #[derive(Deserialize)]
    struct File {
        exclude: BTreeSet<String>,
        late: Late,
        shard: Option<OfShard>,
    }
    #[derive(Deserialize)]
    struct Late {
        tests: BTreeMap<String, serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct OfShard {
        index: u32,
        of: u32,
        plan: String,
    }
    let bytes = crate::disk::read_named(path)?;
    let file: File = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} was not written by tamis", path.display()))?;
    Ok(Exclusions {
        tests: file.exclude,
        late: file.late.tests.into_keys().collect(),
        shard: file.shard.map(|OfShard { index, of, plan }| ShardOf {
            shard: Shard { index, of },
            plan,
        }),
    })
}

fn lines(ids: &[&str]) -> String {
    let mut text = String::new();
    for id in ids {
        text.push_str(&escape(id));
        text.push('\n');
    }
    text
}

/// The tests that a file of exclusions leaves out, without those of which only their processes
/// could look at all that they used: these run.
///
/// # Errors
/// Those of [`read_exclusions`].
pub(super) fn left_out_for_sure(exclude: Option<&Path>) -> Result<BTreeSet<String>> {
    let exclusions = exclude.map(read_exclusions).transpose()?;
    let mut exclusions = exclusions.unwrap_or_default();
    let late = exclusions.late;
    exclusions.tests.retain(|test| !late.contains(test));
    Ok(exclusions.tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{ReadBefore, What};
    use crate::runners::OpenPart;
    use crate::select::samples::evidence;
    use crate::select::{By, Reason, Shards, Strategy};

    #[test]
    fn a_part_leaves_out_what_others_run_and_looks_at_its_own_late_units() {
        let mut selection = Selection::all(Strategy::Auto, "");
        let late: Vec<(Unit, Fingerprint)> =
            vec![(Unit::of(What::Env("HOME".into())), Fingerprint::MISSING)];
        for test in ["a.py::t", "b.py::t"] {
            let mut evidence = evidence();
            evidence.late = late.clone().into();
            let verdict = Verdict::Skip(evidence);
            selection.verdicts.insert(test.into(), verdict);
        }
        for test in ["a.py::u", "b.py::u"] {
            let verdict = Verdict::Run(Reason::New);
            selection.verdicts.insert(test.into(), verdict);
        }
        let shards = Shards::divide(&selection, 2, |test| {
            crate::runners::pytest::source_of(test).0
        });
        for index in [1, 2] {
            let plan = "p";
            let part = Part {
                shards: &shards,
                index,
                plan,
                guests: None,
            };
            let file = LateFile::new(&selection, Some(part), "", None);
            let own = match shards.is_in("a.py::t", index) {
                true => "a",
                false => "b",
            };
            let run = format!("{own}.py::u");
            assert!(!file.exclude.contains(&run.as_str()));
            assert_eq!(file.exclude.len(), 3);
            assert!(file.late.tests.keys().all(|test| test.starts_with(own)));
            assert_eq!(file.late.tests.len(), 1);
        }
    }

    #[test]
    fn what_values_can_excuse_is_planned_for_here_and_not_excluded() {
        let unit = |name: &str| (Unit::of(What::Env(name.into())), Fingerprint::MISSING);
        let mut selection = Selection::all(Strategy::Auto, "");
        let mut skip = evidence();
        skip.late = [unit("HOME")].into();
        let skip = Verdict::Skip(skip);
        let open = Verdict::Run(Reason::Unconfirmed {
            unit: Unit::at("a.py", What::Effects),
            from: Fingerprint([1; 16]),
            to: Fingerprint([2; 16]),
            baseline: "m".into(),
            late: [unit("HOME"), unit("LANG")].into(),
            by: By::Imports,
        });
        let tests = [
            ("a.py::open", open.clone()),
            ("a.py::skip", skip),
            ("a.py::unplanned", open.clone()),
            ("b.py::open", open),
        ];
        let tests = tests.map(|(test, verdict)| (test.to_owned(), verdict));
        selection.verdicts.extend(tests);
        let test = OpenTest {
            matrix: 0,
            own: Some(OpenPart {
                sets: vec![1],
                modules: 2,
                late_modules: 3,
                flags: Default::default(),
                past: ReadBefore::No,
            }),
            tied: None,
            is_import_same: false,
            runs: false,
            is_same: false,
            absent: None,
        };
        let plan = Confirm {
            tests: [("a.py::open", test.clone()), ("b.py::open", test)].into(),
            ..Confirm::default()
        };
        let file = LateFile::new(&selection, None, "", Some(&plan));
        assert_eq!(file.exclude, ["a.py::skip"]);
        let json = serde_json::to_value(&file).unwrap();
        let open = serde_json::json!({ "matrix": 0, "sets": [1], "modules": 2, "late_modules": 3, "late": [0, 1] });
        let tests = serde_json::json!({ "a.py::open": open, "b.py::open": open });
        assert_eq!(json["confirm"]["tests"], tests);
        assert_eq!(
            json["late"]["tests"],
            serde_json::json!({ "a.py::skip": [0] })
        );
        assert_eq!(json["confirm"]["units"], serde_json::json!([]));

        let shards = Shards::divide(&selection, 2, |test| {
            crate::runners::pytest::source_of(test).0
        });
        let mut planned = 0;
        for index in [1, 2] {
            let part = Part {
                shards: &shards,
                index,
                plan: "p",
                guests: None,
            };
            let file = LateFile::new(&selection, Some(part), "", Some(&plan));
            let confirm = file.confirm.unwrap();
            assert!(confirm.tests.keys().all(|test| part.has(test)));
            planned += confirm.tests.len();
        }
        assert_eq!(planned, 2);
    }

    #[test]
    fn ids_with_line_ends_are_escaped_in_lists() {
        assert_eq!(lines(&["a\\b\n"]), "a\\\\b\\n\n");
    }
}
