//! Telling pytest what to leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::languages::DIR;
use crate::matrix::{Fingerprint, Unit, UnitKind};
use crate::select::{Selection, Shard, Shards, Verdict};

/// The files of one emission.
#[derive(Clone, Debug)]
pub struct Emission {
    /// For the plug-in: everything that is excluded, and what it must check.
    pub late: PathBuf,
    /// Tests that the arguments leave out without the plug-in.
    pub plain: usize,
}

/// What the plug-in reads (`TAMIS_EXCLUDE`), version 1.
#[derive(Clone, Debug, Serialize)]
pub struct LateFile<'a> {
    version: u32,
    /// The folder that ids are relative to.
    project: &'a str,
    exclude: Vec<&'a str>,
    late: Late<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson<'a>>,
    /// No path is ignored: the import of a file can change what others see.
    ignore_files: Vec<&'a str>,
}

/// Which part of the tests that nobody listed runs here: those in files of
/// this shard, and of unknown files a share.
#[derive(Clone, Debug, Serialize)]
struct ShardJson<'a> {
    index: u32,
    of: u32,
    plan: &'a str,
    files: BTreeMap<&'a str, u32>,
}

/// One part of a division.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub shards: &'a Shards,
    /// From 1.
    pub index: u32,
    /// Tells this division from all others.
    pub plan: &'a str,
}

impl Part<'_> {
    /// Whether `test` is in this part.
    pub fn has(&self, test: &str) -> bool {
        self.shards.is_in(test, self.index)
    }
}

#[derive(Clone, Debug, Serialize)]
struct Late<'a> {
    units: Vec<(&'a str, String, Option<String>)>,
    tests: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> LateFile<'a> {
    /// All excluded tests of `selection`, with the units that the plug-in must
    /// find unchanged before it leaves a test out, and all tests that belong
    /// to another part.
    pub fn new(selection: &'a Selection, part: Option<Part<'a>>, project: &'a str) -> LateFile<'a> {
        let is_here = |test: &str| part.is_none_or(|part| part.has(test));
        let mut file = LateFile {
            shard: part.map(|part| ShardJson {
                index: part.index,
                of: part.shards.of(),
                plan: part.plan,
                files: part.shards.files().collect(),
            }),
            version: 1,
            project,
            exclude: Vec::new(),
            late: Late {
                units: Vec::new(),
                tests: BTreeMap::new(),
            },
            ignore_files: Vec::new(),
        };
        let mut known: BTreeMap<&(Unit, Fingerprint), usize> = BTreeMap::new();
        // Tests share their lists.
        let mut lists: BTreeMap<*const (Unit, Fingerprint), Vec<usize>> = BTreeMap::new();
        for (test, verdict) in &selection.verdicts {
            let test = test.as_str();
            let evidence = match verdict {
                _ if !is_here(test) => {
                    file.exclude.push(test);
                    continue;
                }
                Verdict::Run(_) => continue,
                Verdict::Skip(evidence) => evidence,
            };
            file.exclude.push(test);
            if evidence.late.is_empty() {
                continue;
            }
            let units = lists.entry(evidence.late.as_ptr()).or_insert_with(|| {
                let numbers = evidence.late.iter().map(|unit| {
                    *known.entry(unit).or_insert_with(|| {
                        file.late.units.push(wire(&unit.0, unit.1));
                        file.late.units.len() - 1
                    })
                });
                numbers.collect()
            });
            file.late.tests.insert(test, units.clone());
        }
        file
    }
}

fn wire(unit: &Unit, value: Fingerprint) -> (&'static str, String, Option<String>) {
    let name = if unit.path.is_empty() {
        unit.name.clone()
    } else {
        unit.path.to_string()
    };
    let value = match (unit.kind, value) {
        (UnitKind::Exists, Fingerprint::MISSING) => Some("missing".to_owned()),
        (UnitKind::Exists, DIR) => Some("dir".to_owned()),
        (UnitKind::Exists, _) => Some("file".to_owned()),
        (_, Fingerprint::MISSING) => None,
        (_, value) => Some(value.hex()),
    };
    (unit.kind.word(), name, value)
}

/// Writes what the next step needs into `out`: `tests.txt`, `exclude.txt`,
/// `pytest.args` and `late.json`.
///
/// `tests.txt` lists the known tests that must run and `exclude.txt` those
/// that need not, one id a line, with `\n`, `\r` and `\` in ids escaped by a
/// backslash. `pytest.args` holds an argument a line (`pytest @FILE` reads it
/// from pytest 8.2 on); it leaves out only tests whose proof is complete
/// without a look at the test environment, because without the plug-in nobody
/// looks.
///
/// # Errors
/// If a file cannot be written.
pub fn emit(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &str,
    out: &Path,
) -> Result<Emission> {
    fs_err::create_dir_all(out)
        .context("cannot write the selection; give `--out` a folder that can be made")?;
    let is_here = |test: &str| part.is_none_or(|part| part.has(test));
    let is_run =
        |test: &str| is_here(test) && matches!(selection.verdicts.get(test), Some(Verdict::Run(_)));
    let known = selection.verdicts.keys().map(String::as_str);
    let (tests, excluded): (Vec<&str>, Vec<&str>) = known.partition(|test| is_run(test));
    write(&out.join("tests.txt"), lines(&tests).as_bytes())?;
    write(&out.join("exclude.txt"), lines(&excluded).as_bytes())?;
    let plain = plain_exclusions(selection, part);
    let mut args = String::new();
    for prefix in &plain.prefixes {
        let _ = writeln!(args, "--deselect={prefix}");
    }
    write(&out.join("pytest.args"), args.as_bytes())?;
    let late = out.join(super::LATE);
    write(
        &late,
        &serde_json::to_vec(&LateFile::new(selection, part, project))?,
    )?;
    Ok(Emission {
        late,
        plain: plain.tests,
    })
}

/// What an emission leaves out, as read back.
#[derive(Clone, Debug, Default)]
pub struct Exclusions {
    pub tests: BTreeSet<String>,
    /// Those of them that are left out only if nothing else differs where they run.
    pub late: BTreeSet<String>,
    /// The part that it is for; all other tests are left to other parts.
    pub shard: Option<ShardOf>,
}

/// A part, and the division that it is one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardOf {
    pub shard: Shard,
    pub plan: String,
}

/// Reads the file that the plug-in reads.
///
/// # Errors
/// If it cannot be read, or is not such a file.
pub fn read_exclusions(path: &Path) -> Result<Exclusions> {
    #[derive(Deserialize)]
    struct File {
        exclude: BTreeSet<String>,
        late: Late,
        shard: Option<Part>,
    }
    #[derive(Deserialize)]
    struct Late {
        tests: BTreeMap<String, serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Part {
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
        shard: file.shard.map(|Part { index, of, plan }| ShardOf {
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

/// An id on one line: `\\`, `\n` and `\r` are escaped by a backslash.
pub fn escape(id: &str) -> String {
    id.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

struct Plain {
    prefixes: Vec<String>,
    tests: usize,
}

/// Arguments for `--deselect`, which compares *prefixes* of ids: the argument
/// `a.py::test_x` would leave out `a.py::test_xy` as well. So an id is used
/// only where no test that must run, known or new, can begin with it: the
/// list of tests must be proven unchanged, and no known test that runs may
/// share the prefix.
fn plain_exclusions(selection: &Selection, part: Option<Part<'_>>) -> Plain {
    let mut plain = Plain {
        prefixes: Vec::new(),
        tests: 0,
    };
    if selection.inventory_doubt.is_some() {
        return plain;
    }
    let is_left_out = |test: &str, verdict: &Verdict| match (part, verdict) {
        (Some(part), _) if !part.has(test) => true,
        (_, verdict) => verdict.is_proven(),
    };
    let (leaves, stays): (Vec<_>, Vec<_>) = selection
        .verdicts
        .iter()
        .partition(|(test, verdict)| is_left_out(test, verdict));
    let stays: Vec<&str> = stays.into_iter().map(|(test, _)| test.as_str()).collect();
    // `stays` is sorted: whatever begins with a prefix stands right after it.
    let is_free = |prefix: &str| {
        let at = stays.partition_point(|test| *test < prefix);
        stays.get(at).is_none_or(|test| !test.starts_with(prefix))
    };
    for (test, _) in leaves {
        let test = test.as_str();
        if test.contains(['\n', '\r']) {
            continue;
        }
        plain.tests += 1;
        let covered = plain
            .prefixes
            .last()
            .is_some_and(|last: &String| test.starts_with(last.as_str()));
        if covered {
            continue;
        }
        // The widest prefix that leaves out nothing else keeps the file short.
        let wide = test
            .match_indices("::")
            .map(|(at, _)| &test[..at + 2])
            .find(|prefix| is_free(prefix));
        match wide {
            Some(prefix) => plain.prefixes.push(prefix.to_owned()),
            None if is_free(test) => plain.prefixes.push(test.to_owned()),
            None => plain.tests -= 1,
        }
    }
    plain
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    use std::io::Write;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.persist(path)
        .map_err(|error| anyhow::anyhow!("cannot write {}: {}", path.display(), error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::samples::evidence;
    use crate::select::{Reason, Strategy};

    fn selection(excluded: &[&str], run: &[&str]) -> Selection {
        let mut selection = Selection::all(Strategy::Auto, "");
        selection.all_because = None;
        selection.is_whole();
        for test in excluded {
            selection
                .verdicts
                .insert((*test).into(), Verdict::Skip(evidence()));
        }
        for test in run {
            selection
                .verdicts
                .insert((*test).into(), Verdict::Run(Reason::New));
        }
        selection
    }

    #[test]
    fn a_prefix_never_leaves_out_a_test_that_runs() {
        let chosen = |excluded: &[&str], run: &[&str]| {
            plain_exclusions(&selection(excluded, run), None).prefixes
        };
        assert_eq!(chosen(&["a.py::t", "a.py::u"], &["b.py::t"]), ["a.py::"]);
        assert!(chosen(&["a.py::t"], &["a.py::tx"]).is_empty());
        assert_eq!(
            chosen(&["a.py::C::t", "a.py::u"], &["a.py::v"]),
            ["a.py::C::", "a.py::u"]
        );
        assert_eq!(chosen(&["a.py::t[1]"], &["a.py::t[2]"]), ["a.py::t[1]"]);
    }

    #[test]
    fn nothing_is_left_out_plainly_while_the_list_of_tests_is_in_doubt() {
        let mut selection = selection(&["a.py::t"], &[]);
        selection.inventory_doubt = Some("x".into());
        assert_eq!(plain_exclusions(&selection, None).tests, 0);
    }

    #[test]
    fn a_part_leaves_out_what_others_run_and_looks_at_its_own_late_units() {
        let mut selection = selection(&["a.py::t", "b.py::t"], &["a.py::u", "b.py::u"]);
        let late: Vec<(Unit, Fingerprint)> =
            vec![(Unit::new(UnitKind::Env, "", "HOME"), Fingerprint::MISSING)];
        for verdict in selection.verdicts.values_mut() {
            if let Verdict::Skip(evidence) = verdict {
                evidence.late = late.clone().into();
                evidence.is_open = true;
            }
        }
        let shards = Shards::divide(&selection, 2, |test| super::super::source_of(test).0);
        for index in [1, 2] {
            let plan = "p";
            let part = Part {
                shards: &shards,
                index,
                plan,
            };
            let file = LateFile::new(&selection, Some(part), "");
            let own = if shards.is_in("a.py::t", index) {
                "a"
            } else {
                "b"
            };
            let other = if own == "a" { "b" } else { "a" };
            let run = format!("{own}.py::u");
            assert!(!file.exclude.contains(&run.as_str()));
            assert_eq!(file.exclude.len(), 3);
            assert!(file.late.tests.keys().all(|test| test.starts_with(own)));
            assert_eq!(file.late.tests.len(), 1);
            let plain = plain_exclusions(&selection, Some(part));
            assert_eq!(plain.prefixes, [format!("{other}.py::")]);
        }
    }

    #[test]
    fn ids_with_line_ends_are_escaped_in_lists_and_kept_out_of_arguments() {
        let selection = selection(&["a.py::t[\n]"], &["a.py::u"]);
        assert_eq!(plain_exclusions(&selection, None).tests, 0);
        assert_eq!(lines(&["a\\b\n"]), "a\\\\b\\n\n");
    }
}
