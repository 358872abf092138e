//! Telling Surefire what to leave out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::around::{Around, Words};
use super::lines::{Classes, class_line, methods_line, names_methods};
use super::plain::why_whole_classes;
use super::pom::Project;
use super::surefire::has_exclusions;
use super::{modules, source_of};
use crate::runners::jvm::testng;
use crate::runners::jvm::{left_out, left_out_of, left_out_unbuilt, written};
use crate::select::{Part, Selection};

/// Surefire excludes nested classes unless something else is to be excluded.
pub(super) const NESTED: &str = "**/*$*";

/// Whether single methods may be left out.
#[derive(Clone, Copy)]
enum Methods<'a> {
    /// No: what is compiled then is not known yet.
    Stay,
    /// Yes, if what was compiled allows it. If not, the reason goes there.
    Leave(&'a dyn Fn(String)),
}

/// The patterns of what to leave out, of all tests that are known and whether each is
/// left out: classes that have no other test, in each module that has such a class; and
/// single methods of other classes.
fn patterns(tests: Vec<(&str, bool)>, folders: &Folders, methods: Methods<'_>) -> BTreeSet<String> {
    // By class and method; `None` is the class as a test.
    let mut leaves: BTreeMap<String, BTreeMap<Option<&str>, bool>> = BTreeMap::new();
    let mut known: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let leaves_some = tests.iter().any(|(_, leaves)| *leaves);
    for (test, is_left_out) in tests {
        let (module, class) = source_of(test);
        known.entry(class.clone()).or_default().insert(module);
        let method = test.split_once('#').map(|(_, method)| method);
        let tests = leaves.entry(class).or_default();
        *tests.entry(method).or_insert(true) &= is_left_out;
    }
    // Surefire comes to tests in a nested class by the one around it.
    let has_nested_tests = |class: &str| {
        let nested = format!("{class}$");
        let beneath = leaves.range(nested.clone()..);
        let mut beneath = beneath.take_while(|(other, _)| other.starts_with(&nested));
        beneath.any(|(_, tests)| {
            tests
                .iter()
                .any(|(method, leaves)| method.is_some() && !leaves)
        })
    };
    let mut patterns = BTreeSet::new();
    if let Some(why) = &folders.suites {
        if let (Methods::Leave(tell), true) = (methods, leaves_some) {
            tell(format!("all tests run: {why}"));
        }
        return patterns;
    }
    let mut partly = Vec::new();
    for (class, tests) in &leaves {
        if folders.have_another(class, &known[class]) {
            continue;
        }
        if tests.values().all(|leaves| *leaves) && !has_nested_tests(class) {
            patterns.insert(class_line(class, folders.have_longer(class)));
        } else if tests.get(&None).is_none_or(|leaves| *leaves) {
            let left_out = tests.iter().filter(|(_, leaves)| **leaves);
            partly.extend(methods_line(
                class,
                left_out.filter_map(|(method, _)| *method),
            ));
        }
    }
    if let (Methods::Leave(tell), false) = (methods, partly.is_empty()) {
        match folders.why_whole_classes() {
            None => patterns.extend(partly),
            Some(why) => tell(format!("single test methods are not left out: {why}")),
        }
    }
    patterns
}

/// The folders of a project's modules, each with the name that ids of tests have.
#[derive(Default)]
struct Folders {
    modules: Vec<(String, PathBuf)>,
    /// Their poms, and all that these inherit from.
    poms: Project,
    classes: Classes,
    /// Why suites of TestNG's, which say what runs and with what, may be run: Surefire
    /// forgets them where it has a list of what to leave out.
    suites: Option<String>,
}

impl Folders {
    fn of(project: &Path) -> Folders {
        let named = modules(project).into_iter().map(|folder| {
            let name = folder.strip_prefix(project).unwrap_or(&folder);
            (name.to_string_lossy().into_owned(), folder)
        });
        let modules: Vec<(String, PathBuf)> = named.collect();
        let around = Around::of(project, &Words::default());
        let mut folders = Folders {
            poms: Project::of_modules(project, &around.repository),
            modules,
            ..Folders::default()
        };
        folders.classes = Classes::of(&folders.paths(), &folders.poms);
        folders.suites = folders.why_suites(&around, project);
        folders
    }

    fn why_suites(&self, around: &Around, project: &Path) -> Option<String> {
        let name = "suiteXmlFile";
        if self.poms.mentions(name) || around.said.iter().any(|one| one.mentions(name)) {
            return Some("`suiteXmlFile` says what runs".to_owned());
        }
        let doubt = around.doubt.as_ref().or(self.poms.doubt());
        let doubt = doubt.filter(|_| testng::is_named_in(project))?;
        Some(format!("a suite of TestNG may be named elsewhere: {doubt}"))
    }

    /// Whether there may be a class of this name in a package beneath another one.
    fn have_longer(&self, class: &str) -> bool {
        self.classes.have_longer(class)
    }

    /// Why no single methods can be left out.
    fn why_whole_classes(&self) -> Option<String> {
        why_whole_classes(&self.paths(), &self.poms)
    }

    fn paths(&self) -> Vec<&Path> {
        let modules = self.modules.iter();
        modules.map(|(_, folder)| folder.as_path()).collect()
    }

    /// Whether Surefire excludes nested classes: no module, and nothing that it inherits
    /// from, says what else is excluded.
    fn exclude_nested(&self) -> bool {
        self.poms.doubt().is_none() && !has_exclusions(&self.poms)
    }

    /// Whether a module that is not among the `known` ones has a test class of this
    /// name, too: a new one. A pattern is for all modules.
    fn have_another(&self, class: &str, known: &BTreeSet<&str>) -> bool {
        let source = class.split('$').next().unwrap_or(class);
        self.modules.iter().any(|(name, folder)| {
            let source = folder.join("src/test/java").join(format!("{source}.java"));
            let built = folder.join("target/test-classes");
            !known.contains(name.as_str())
                && (source.is_file() || built.join(format!("{class}.class")).is_file())
        })
    }
}

/// Writes `surefire.excludes` into `out`, for `-Dsurefire.excludesFile`, for a
/// project that is built. `None` if nothing is to be left out. `tell` hears why more
/// runs than has to.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn emit(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &Path,
    out: &Path,
    tell: &dyn Fn(String),
) -> Result<Option<PathBuf>> {
    write(&list(selection, part, project, tell), out)
}

/// The same before it is built, of tests by name: all that are known, and whether
/// each is left out.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn emit_tests(
    tests: &BTreeMap<String, bool>,
    project: &Path,
    out: &Path,
) -> Result<Option<PathBuf>> {
    let tests = tests.iter().map(|(test, leaves)| (test.as_str(), *leaves));
    let tests = left_out_unbuilt(project, tests.collect());
    let folders = Folders::of(project);
    let patterns = patterns(tests, &folders, Methods::Stay);
    write(&lines(patterns, &folders), out)
}

/// The same of a selection, for a later step, which names the file whatever is in it:
/// there it is always. Where the project is not known, nothing is left out.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn emit_for_later(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: Option<&Path>,
    out: &Path,
) -> Result<()> {
    if let Some(project) = project {
        let folders = Folders::of(project);
        let tests = left_out_unbuilt(project, left_out(selection, part));
        let patterns = patterns(tests, &folders, Methods::Stay);
        if write(&lines(patterns, &folders), out)?.is_some() {
            return Ok(());
        }
    }
    let lines = match project.is_some_and(excludes_nested) {
        true => format!("{NESTED}\n"),
        false => String::new(),
    };
    fs_err::create_dir_all(out)?;
    Ok(crate::disk::write(out.join(FILE), lines)?)
}

/// Whether Surefire would leave out nested classes in all modules of a project if
/// nothing else were left out.
pub(crate) fn excludes_nested(project: &Path) -> bool {
    Folders::of(project).exclude_nested()
}

fn write(lines: &str, out: &Path) -> Result<Option<PathBuf>> {
    written(lines, &out.join(FILE))
}

/// The list where no test has to run.
pub(crate) const EVERYTHING: &str = "**/*.java\n";

/// The name of the file that Surefire reads.
pub(crate) const FILE: &str = "surefire.excludes";

/// What Surefire is to leave out of a project that is built, a pattern a line; empty
/// if that is nothing. `tell` hears why more runs than has to.
pub(crate) fn list(
    selection: &Selection,
    part: Option<Part<'_>>,
    project: &Path,
    tell: &dyn Fn(String),
) -> String {
    let folders = Folders::of(project);
    let tests = left_out_of(project, selection, part, tell);
    let patterns = patterns(tests, &folders, Methods::Leave(tell));
    lines(patterns, &folders)
}

fn lines(mut patterns: BTreeSet<String>, folders: &Folders) -> String {
    // A list that names methods is applied to the tests in nested classes, too. With
    // it, `surefire.excludes` keeps these from being found.
    let has_methods = patterns.iter().any(|line| names_methods(line));
    if !patterns.is_empty() && !has_methods && folders.exclude_nested() {
        patterns.insert(NESTED.to_owned());
    }
    patterns.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::samples::evidence;
    use crate::select::{Reason, Strategy, Verdict};

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
        let patterns: Vec<String> = patterns(
            left_out(&selection, None),
            &Folders::default(),
            Methods::Stay,
        )
        .into_iter()
        .collect();
        assert_eq!(patterns, ["demo/Y$ZTest.java"]);
    }

    #[test]
    fn a_class_of_that_name_that_is_new_in_another_module_runs() {
        let top = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = top.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "<project/>").unwrap();
        };
        write("pom.xml");
        write("a/pom.xml");
        write("b/pom.xml");
        write("a/src/test/java/demo/XTest.java");
        let mut selection = Selection::all(Strategy::Auto, "");
        let skip = Verdict::Skip(evidence());
        selection.verdicts.insert("a/demo.XTest".into(), skip);
        let listed = || list(&selection, None, top.path(), &|_| ()).contains("demo/XTest");
        assert!(listed());
        write("b/src/test/java/demo/XTest.java");
        assert!(!listed());
        fs_err::remove_file(top.path().join("b/src/test/java/demo/XTest.java")).unwrap();
        assert!(listed());
        write("b/target/test-classes/demo/XTest.class");
        assert!(!listed());
    }

    #[test]
    fn a_later_step_finds_a_file_in_any_case() {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join("pom.xml"), "<project/>").unwrap();
        let mut selection = Selection::all(Strategy::Auto, "");
        let written = |selection: &Selection, project: Option<&Path>| {
            emit_for_later(selection, None, project, top.path()).unwrap();
            fs_err::read_to_string(top.path().join(FILE)).unwrap()
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
    fn single_methods_are_left_out_of_what_is_built() {
        let mut selection = Selection::all(Strategy::Auto, "");
        let skip = || Verdict::Skip(evidence());
        for (test, verdict) in [
            ("demo.X#a", skip()),
            ("demo.X#b", Verdict::Run(Reason::New)),
            ("demo.X#c", skip()),
            ("demo.X#adds one, two", skip()),
            ("demo.Y#a", skip()),
            ("demo.Y$In#a", Verdict::Run(Reason::New)),
            ("demo.Y$In#b", skip()),
            ("demo.Z", Verdict::Run(Reason::New)),
            ("demo.Z#a", skip()),
            ("demo.V#a", skip()),
            ("demo.V$In#a", skip()),
        ] {
            selection.verdicts.insert(test.into(), verdict);
        }
        let top = tempfile::tempdir().unwrap();
        let pom = |text: &str| fs_err::write(top.path().join("pom.xml"), text).unwrap();
        pom("<project/>");
        let told = std::cell::RefCell::new(Vec::new());
        let tell = |why: String| told.borrow_mut().push(why);
        let listed = || list(&selection, None, top.path(), &tell);
        let some = [
            r"%regex[demo/X\.class#(a|c)(\[[\s\S]*)?]",
            r"%regex[demo/Y\$In\.class#(b)(\[[\s\S]*)?]",
            r"%regex[demo/Y\.class#(a)(\[[\s\S]*)?]",
            "demo/V$In.java",
            "demo/V.java",
        ];
        assert_eq!(listed(), format!("{}\n", some.join("\n")));
        assert!(told.borrow().is_empty());
        pom(
            "<project><plugin><artifactId>maven-surefire-plugin</artifactId><version>2.22.2</version></plugin></project>",
        );
        assert_eq!(listed(), "**/*$*\ndemo/V$In.java\ndemo/V.java\n");
        let why = "single test methods are not left out: Surefire 2.22.2 takes no methods";
        assert_eq!(told.take(), [why]);
        // Before anything is compiled.
        emit_for_later(&selection, None, Some(top.path()), top.path()).unwrap();
        let later = fs_err::read_to_string(top.path().join(FILE)).unwrap();
        assert_eq!(later, "**/*$*\ndemo/V$In.java\ndemo/V.java\n");
    }

    #[test]
    fn exclusions_of_the_project_are_noticed() {
        let top = tempfile::tempdir().unwrap();
        let pom = |text: &str| {
            let text = format!("<project>{text}</project>");
            fs_err::write(top.path().join("pom.xml"), text).unwrap();
            Folders::of(top.path()).exclude_nested()
        };
        let plugin = |name: &str, what: &str| {
            pom(&format!(
                "<plugin><artifactId>maven-{name}-plugin</artifactId>{what}</plugin>"
            ))
        };
        assert!(pom("") && plugin("surefire", ""));
        assert!(plugin("rat", "<excludes></excludes>"));
        assert!(!plugin("surefire", "<excludes></excludes>"));
        assert!(!plugin("surefire", "<excludesFile>x</excludesFile>"));
        // Those are about other things.
        assert!(plugin("surefire", "<excludedGroups>slow</excludedGroups>"));
        assert!(plugin(
            "surefire",
            "<excludeJUnit5Engines></excludeJUnit5Engines>"
        ));
        assert!(plugin("surefire", "<excludedEnvironmentVariables/>"));
        assert!(!plugin("failsafe", "<excludes></excludes>"));
        assert!(!pom("<surefire.excludes>x</surefire.excludes>"));
        assert!(!pom(
            "<parent><groupId>no.such</groupId><relativePath/></parent>"
        ));
    }
}
