//! Telling Surefire what to leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{modules, source_of};
use crate::runners::pytest::Part;
use crate::select::{Selection, Verdict};

/// Surefire excludes nested classes unless something else is to be excluded.
const NESTED: &str = "**/*$*";

/// The patterns of what to leave out: classes all of whose tests are proven to
/// need no run, without anything left open, in each module that has such a class;
/// and single methods of other classes.
pub fn class_patterns(selection: &Selection, part: Option<Part<'_>>) -> BTreeSet<String> {
    let is_here = |test: &str| part.is_none_or(|part| part.has(test));
    let verdicts = selection.verdicts.iter();
    patterns(verdicts.map(|(test, verdict)| {
        let is_left_out = match verdict {
            _ if !is_here(test) => true,
            Verdict::Run(_) => false,
            Verdict::Skip(evidence) => evidence.late.is_empty(),
        };
        (test.as_str(), is_left_out)
    }))
}

/// The same, of all tests that are known and whether each is left out.
fn patterns<'t>(tests: impl Iterator<Item = (&'t str, bool)>) -> BTreeSet<String> {
    // By class and method; `None` is the class as a test.
    let mut leaves: BTreeMap<String, BTreeMap<Option<&str>, bool>> = BTreeMap::new();
    for (test, is_left_out) in tests {
        let class = source_of(test).1;
        let method = test.split_once('#').map(|(_, method)| method);
        let tests = leaves.entry(class).or_default();
        *tests.entry(method).or_insert(true) &= is_left_out;
    }
    // A list that names methods is applied to those of nested classes too, which
    // the line that keeps these from being found would then leave out.
    let has_nested = leaves.keys().any(|class| class.contains('$'));
    let mut patterns = BTreeSet::new();
    for (class, tests) in leaves {
        if tests.values().all(|leaves| *leaves) {
            patterns.insert(format!("{class}.java"));
        } else if !has_nested && tests.get(&None).is_none_or(|leaves| *leaves) {
            let methods = tests.iter().filter(|(_, leaves)| **leaves);
            let names = methods.filter_map(|(method, _)| *method);
            patterns.extend(names.map(|method| format!("{class}#{method}")));
        }
    }
    patterns
}

/// The file that lists patterns, in the folder of an emission.
pub const EXCLUDES: &str = "surefire.excludes";

/// Writes [`EXCLUDES`] into `out`, for `-Dsurefire.excludesFile`. `None` if nothing
/// is to be left out.
///
/// # Errors
/// If it cannot be written.
pub fn emit(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &Path,
    out: &Path,
) -> Result<Option<PathBuf>> {
    write(class_patterns(selection, part), project, out)
}

/// The same of tests by name: all that are known, and whether each is left out.
///
/// # Errors
/// If it cannot be written.
pub fn emit_tests(
    tests: &BTreeMap<String, bool>,
    project: &Path,
    out: &Path,
) -> Result<Option<PathBuf>> {
    let tests = tests.iter().map(|(test, leaves)| (test.as_str(), *leaves));
    write(patterns(tests), project, out)
}

/// The same for a later step, which names the file whatever is in it: there it is
/// always. Where the project is not known, nothing is left out.
///
/// # Errors
/// If it cannot be written.
pub fn emit_for_later(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: Option<&Path>,
    out: &Path,
) -> Result<()> {
    if let Some(project) = project
        && emit(selection, part, project, out)?.is_some()
    {
        return Ok(());
    }
    let is_usual = project.is_some_and(excludes_nested);
    let lines = if is_usual {
        format!("{NESTED}\n")
    } else {
        String::new()
    };
    fs_err::create_dir_all(out)?;
    Ok(fs_err::write(out.join(EXCLUDES), lines)?)
}

fn write(mut patterns: BTreeSet<String>, project: &Path, out: &Path) -> Result<Option<PathBuf>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    if excludes_nested(project) {
        patterns.insert(NESTED.to_owned());
    }
    fs_err::create_dir_all(out)?;
    let file = out.join(EXCLUDES);
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
    fn single_methods_are_left_out_where_nothing_is_nested() {
        let mut selection = Selection::all(Strategy::Auto, "");
        let skip = || Verdict::Skip(evidence());
        for (test, verdict) in [
            ("demo.X#a", skip()),
            ("demo.X#b", Verdict::Run(Reason::New)),
            ("demo.Y#a", skip()),
            ("demo.Z", Verdict::Run(Reason::New)),
            ("demo.Z#a", skip()),
        ] {
            selection.verdicts.insert(test.into(), verdict);
        }
        let patterns = |selection: &Selection| -> Vec<String> {
            class_patterns(selection, None).into_iter().collect()
        };
        assert_eq!(patterns(&selection), ["demo/X#a", "demo/Y.java"]);
        selection.verdicts.insert("demo.X$In#c".into(), skip());
        assert_eq!(patterns(&selection), ["demo/X$In.java", "demo/Y.java"]);
    }

    #[test]
    fn a_later_step_finds_a_file_in_any_case() {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join("pom.xml"), "<project/>").unwrap();
        let mut selection = Selection::all(Strategy::Auto, "");
        let written = |selection: &Selection, project: Option<&Path>| {
            emit_for_later(selection, None, project, top.path()).unwrap();
            fs_err::read_to_string(top.path().join(EXCLUDES)).unwrap()
        };
        assert_eq!(written(&selection, Some(top.path())), "**/*$*\n");
        let skip = Verdict::Skip(evidence());
        selection.verdicts.insert("demo.X".into(), skip);
        assert_eq!(
            written(&selection, Some(top.path())),
            "**/*$*\ndemo/X.java\n"
        );
        assert_eq!(written(&selection, None), "");
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
