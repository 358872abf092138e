//! Whether Surefire can leave out single methods of a project that is built.
//!
//! If its list names methods, the provider gets the list as one of JUnit's filters and
//! applies it to everything that runs (3.0.0-M6 and later; it is an error before). Then
//! custom runners lose all tests that are not named after methods, suites lose the
//! classes that the list names, and Mockito's runner no longer looks for unused stubs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use bstr::ByteSlice;

use super::pom::{Doubt, Project};
use super::surefire::{has_inclusions, why_no_methods};
use crate::languages::jvm::TestClass;
use crate::runners::jvm::class_files;

/// Runners of which a filter takes only the methods that it names.
const PLAIN: [&str; 4] = [
    "org/junit/runners/BlockJUnit4ClassRunner",
    "org/junit/runners/JUnit4",
    "org/junit/runners/Parameterized",
    "org/junit/experimental/theories/Theories",
];

/// Beginnings of classes that no runner of its own runs.
const KNOWN: [&str; 4] = [
    "java/",
    "javax/",
    "junit/framework/TestCase",
    "org/junit/rules/",
];

/// Why methods cannot be left out of the modules in these folders.
pub(super) fn why_whole_classes(folders: &[&Path], project: &Project) -> Option<String> {
    let checked = have_plain_methods(folders, project);
    checked.err().map(|why| format!("{why:#}"))
}

fn have_plain_methods(folders: &[&Path], project: &Project) -> Result<()> {
    let doubt = project.doubt().map(Doubt::to_string);
    if let Some(why) = doubt.or_else(|| why_no_methods(project)) {
        bail!(why);
    }
    for folder in folders {
        let is_built = folder.join("target/test-classes").is_dir();
        let is_built = is_built || !folder.join("src/test/java").is_dir();
        ensure!(is_built, "{} has no compiled tests", folder.display());
    }
    Compiled::of(folders, has_inclusions(project))?.are_plain()
}

/// The compiled classes of a project.
struct Compiled {
    /// Where each lies, by its name as a path.
    all: HashMap<PathBuf, PathBuf>,
    tests: Vec<PathBuf>,
    /// Whether Surefire may take a class of any name for a test.
    any_name: bool,
}

impl Compiled {
    fn of(modules: &[&Path], any_name: bool) -> Result<Compiled> {
        let (mut all, mut tests) = (HashMap::new(), Vec::new());
        for module in modules {
            for output in ["target/test-classes", "target/classes"] {
                let folder = module.join(output);
                let files = class_files(&folder)?;
                for file in &files {
                    let name = file.strip_prefix(&folder).unwrap_or(file);
                    let place = all.entry(name.with_extension(""));
                    place.or_insert_with(|| file.clone());
                }
                if output == "target/test-classes" {
                    tests.extend(files);
                }
            }
        }
        Ok(Compiled {
            all,
            tests,
            any_name,
        })
    }

    /// Checks that a filter takes only methods that it names.
    fn are_plain(&self) -> Result<()> {
        let mut classes = Vec::new();
        for file in &self.tests {
            let bytes = crate::disk::read(file).unwrap_or_default();
            let class = TestClass::read(&bytes);
            let class = class.with_context(|| format!("{} is not understood", file.display()))?;
            let has_testng = bytes.contains_str("org/testng/");
            ensure!(!has_testng, "{} uses TestNG", dotted(&class.name));
            classes.push(class);
        }
        let has_junit4 = classes.iter().any(|class| class.is_junit4);
        let mut classes = classes.iter();
        classes.try_for_each(|class| self.is_plain(class, has_junit4))
    }

    fn is_plain(&self, class: &TestClass, has_junit4: bool) -> Result<()> {
        let name = dotted(&class.name);
        let mut is_test = self.any_name || is_named_as_test(&class.name);
        let mut next = class.clone();
        // A circle cannot be compiled; it may be left over.
        for _ in 0..100 {
            is_test |= next.is_annotated;
            let mut runners = next.runner.iter();
            if let Some(runner) = runners.find(|runner| !PLAIN.contains(&runner.as_str())) {
                bail!("{name} is run by {}", dotted(runner));
            }
            ensure!(!next.is_suite, "{name} is a suite");
            let Some(above) = next.extends else {
                return Ok(());
            };
            if KNOWN.iter().any(|prefix| above.starts_with(prefix)) {
                return Ok(());
            }
            let file = self.all.get(Path::new(&above));
            let bytes = file.and_then(|file| crate::disk::read(file).ok());
            next = match bytes.map(|bytes| TestClass::read(&bytes)) {
                Some(Some(class)) => class,
                None if !is_test || !has_junit4 => return Ok(()),
                Some(None) | None => {
                    let above = dotted(&above);
                    bail!("{name} extends {above}, which may be run in its own way")
                }
            };
        }
        bail!("what {name} extends has no end")
    }
}

fn dotted(class: &str) -> String {
    class.replace('/', ".")
}

/// Whether Surefire or Failsafe takes it for a test by its name.
fn is_named_as_test(class: &str) -> bool {
    let name = class.rsplit('/').next().unwrap_or(class);
    let mut starts = ["Test", "IT"].into_iter();
    let mut ends = ["Test", "Tests", "TestCase", "IT", "ITCase"].into_iter();
    starts.any(|mark| name.starts_with(mark)) || ends.any(|mark| name.ends_with(mark))
}

#[cfg(test)]
mod tests {
    use super::super::pom::sample;
    use super::*;

    const SOURCES: [&str; 12] = [
        "package org.junit; import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) public @interface Test {}",
        "package org.junit.runner; import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) public @interface RunWith { Class<?> value(); }",
        "package org.junit.runners; public class Parameterized {}",
        "package org.junit.runners; public class Suite {}",
        "package lib; public class Base {}",
        "public class PlainTest extends Object { @org.junit.Test public void x() {} static class In {} }",
        "@org.junit.runner.RunWith(org.junit.runners.Parameterized.class) public class ManyTest {}",
        "@org.junit.runner.RunWith(org.junit.runners.Suite.class) public class AllTest {}",
        "public class MoreTest extends AllTest {}",
        "public class OldTests { public static Object suite() { return null; } }",
        "public class FarTest extends lib.Base {}",
        "public class Helper extends lib.Base {}",
    ];

    /// Compiles all sources; `None` without a compiler.
    fn compiled(to: &Path) -> Option<()> {
        let mut javac = std::process::Command::new("javac");
        javac.arg("-d").arg(to);
        for (at, source) in SOURCES.iter().enumerate() {
            let mut words = source
                .split(' ')
                .skip_while(|word| !word.ends_with("interface") && *word != "class");
            let name = words.nth(1).unwrap();
            let file = to.join(at.to_string()).join(format!("{name}.java"));
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(&file, source).unwrap();
            javac.arg(file);
        }
        let done = javac.status().ok();
        assert!(
            done.is_some() || std::env::var_os("CI").is_none(),
            "there is no javac"
        );
        done.map(|status| assert!(status.success()))
    }

    #[test]
    fn classes_that_a_filter_may_change_are_a_reason() {
        let classes = tempfile::tempdir().unwrap();
        if compiled(classes.path()).is_none() {
            return;
        }
        let why = |tests: &[&str], pom: &str| {
            let module = tempfile::tempdir().unwrap();
            let output = module.path().join("target/test-classes");
            fs_err::create_dir_all(&output).unwrap();
            for test in tests {
                let name = format!("{test}.class");
                fs_err::copy(classes.path().join(&name), output.join(name)).unwrap();
            }
            why_whole_classes(&[module.path()], &sample(pom))
        };
        let is_run = |name: &str| Some(format!("{name} is run by org.junit.runners.Suite"));
        assert_eq!(
            why(&["PlainTest", "PlainTest$In", "ManyTest", "Helper"], ""),
            None
        );
        assert_eq!(why(&["PlainTest", "AllTest"], ""), is_run("AllTest"));
        assert_eq!(
            why(&["MoreTest", "PlainTest", "AllTest"], ""),
            is_run("AllTest")
        );
        let is_suite = Some("OldTests is a suite".to_owned());
        assert_eq!(why(&["PlainTest", "OldTests"], ""), is_suite);
        let is_far = Some("FarTest extends lib.Base, which may be run in its own way".to_owned());
        assert_eq!(why(&["PlainTest", "FarTest"], ""), is_far);
        assert_eq!(why(&["FarTest"], ""), None);
        let any = "<plugin>surefire<includes><include>**/*</include></includes></plugin>";
        assert!(why(&["PlainTest", "Helper"], any).is_some());
    }
}
