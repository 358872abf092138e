//! Telling Surefire what to leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{modules, source_of};
use crate::runners::pytest::Part;
use crate::select::{Selection, Verdict};

/// Surefire excludes nested classes unless something else is to be excluded.
const NESTED: &str = "**/*$*";

/// The patterns of the classes to leave out: those of tests that are proven to
/// need no run, without anything left open, and that lie in no other module
/// where they must run.
pub fn class_patterns(selection: &Selection, part: Option<Part<'_>>) -> BTreeSet<String> {
    let is_here = |test: &str| part.is_none_or(|part| part.has(test));
    let mut leaves: BTreeMap<String, bool> = BTreeMap::new();
    for (test, verdict) in &selection.verdicts {
        let is_left_out = match verdict {
            _ if !is_here(test) => true,
            Verdict::Run(_) => false,
            Verdict::Skip(evidence) => evidence.late.is_empty(),
        };
        let class = source_of(test).1;
        *leaves.entry(class).or_insert(true) &= is_left_out;
    }
    let left_out = leaves.into_iter().filter(|(_, leaves)| *leaves);
    left_out.map(|(class, _)| format!("{class}.java")).collect()
}

/// Writes `surefire.excludes` into `out`, for `-Dsurefire.excludesFile`.
/// `None` if nothing is to be left out.
///
/// # Errors
/// If it cannot be written.
pub fn emit(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &Path,
    out: &Path,
) -> Result<Option<PathBuf>> {
    let mut patterns = class_patterns(selection, part);
    if patterns.is_empty() {
        return Ok(None);
    }
    if excludes_nested(project) {
        patterns.insert(NESTED.to_owned());
    }
    fs_err::create_dir_all(out)?;
    let file = out.join("surefire.excludes");
    let lines: String = patterns.iter().map(|line| format!("{line}\n")).collect();
    fs_err::write(&file, lines)?;
    Ok(Some(file))
}

/// Whether no `pom.xml` that can be seen excludes anything itself, so that
/// Surefire excludes nested classes.
fn excludes_nested(project: &Path) -> bool {
    modules(project).iter().all(|module| {
        let pom = fs_err::read_to_string(module.join(super::POM)).unwrap_or_default();
        !pom.contains("<exclude") && !has_parent_elsewhere(&pom, module)
    })
}

/// A parent that is not in the project may exclude something.
fn has_parent_elsewhere(pom: &str, module: &Path) -> bool {
    let Some((_, parent)) = pom.split_once("<parent>") else {
        return false;
    };
    let parent = parent.split("</parent>").next().unwrap_or(parent);
    let path = match parent.split_once("<relativePath>") {
        Some((_, path)) => path.split('<').next().unwrap_or_default().trim(),
        None if parent.contains("<relativePath/>") => return true,
        None => "../pom.xml",
    };
    let path = module.join(path);
    !path.is_file() && !path.join(super::POM).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::samples::evidence;
    use crate::select::{Reason, Strategy};

    #[test]
    fn a_class_that_must_run_in_one_module_is_left_out_in_none() {
        let mut selection = Selection::all(Strategy::Auto, "");
        let skip = || Verdict::Skip(evidence());
        for (test, verdict) in [
            ("a/demo.XTest", skip()),
            ("b/demo.XTest", Verdict::Run(Reason::New)),
            ("b/demo.Y$ZTest", skip()),
        ] {
            selection.verdicts.insert(test.into(), verdict);
        }
        let patterns: Vec<String> = class_patterns(&selection, None).into_iter().collect();
        assert_eq!(patterns, ["demo/Y$ZTest.java"]);
    }

    #[test]
    fn exclusions_of_the_project_are_noticed() {
        let top = tempfile::tempdir().unwrap();
        let pom = |text: &str| {
            fs_err::write(top.path().join("pom.xml"), text).unwrap();
            excludes_nested(top.path())
        };
        assert!(pom("<project></project>"));
        assert!(!pom(
            "<project><excludes><exclude>x</exclude></excludes></project>"
        ));
        assert!(!pom("<project><parent><relativePath/></parent></project>"));
    }
}
