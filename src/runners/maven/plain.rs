//! Whether Surefire can leave out single methods of a project that is built.
//!
//! Where its list names methods, the provider itself gets the list, as a filter of
//! JUnit's, and puts it upon whatever runs (3.0.0-M6 and later; before, it is an
//! error). Tests of custom runners then vanish unless their names are those of
//! methods, suites lose the classes that the list names, and Mockito's runner no
//! longer looks for stubs that nobody needs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::ByteSlice;

use super::pom::Project;
use super::surefire::{has_inclusions, why_no_methods};
use crate::languages::jvm::TestClass;
use crate::runners::jvm::class_files;

/// Runners that a filter leaves as they are, but for the methods that it names.
const PLAIN: [&str; 4] = [
    "org/junit/runners/BlockJUnit4ClassRunner",
    "org/junit/runners/JUnit4",
    "org/junit/runners/Parameterized",
    "org/junit/experimental/theories/Theories",
];

/// Why methods cannot be left out of the modules in these folders.
pub fn why_whole_classes(folders: &[&Path], project: &Project) -> Option<String> {
    if let Some(doubt) = project.doubt() {
        return Some(doubt.to_string());
    }
    if let Some(why) = why_no_methods(project) {
        return Some(why);
    }
    let is_built = |folder: &Path| {
        folder.join("target/test-classes").is_dir() || !folder.join("src/test/java").is_dir()
    };
    if let Some(folder) = folders.iter().find(|folder| !is_built(folder)) {
        return Some(format!("{} has no compiled tests", folder.display()));
    }
    match Compiled::of(folders, has_inclusions(project)) {
        Ok(compiled) => compiled.why_whole_classes(),
        Err(error) => Some(format!("{error:#}")),
    }
}

/// The compiled classes of a project.
struct Compiled {
    /// Where each lies, by name with slashes: the tests', and all.
    tests: Vec<PathBuf>,
    all: HashMap<String, PathBuf>,
    /// Whether Surefire may take a class of any name for a test.
    any_name: bool,
}

impl Compiled {
    fn of(modules: &[&Path], any_name: bool) -> Result<Compiled> {
        let mut compiled = Compiled {
            tests: Vec::new(),
            all: HashMap::new(),
            any_name,
        };
        for module in modules {
            let folders = [("target/test-classes", true), ("target/classes", false)];
            for (folder, is_tests) in folders {
                let folder = module.join(folder);
                for entry in class_files(&folder)? {
                    if is_tests {
                        compiled.tests.push(entry.clone());
                    }
                    let name = entry.strip_prefix(&folder).unwrap_or(&entry);
                    let name = name.with_extension("").to_string_lossy().into_owned();
                    compiled.all.entry(name).or_insert(entry);
                }
            }
        }
        Ok(compiled)
    }

    fn why_whole_classes(&self) -> Option<String> {
        let mut classes = Vec::new();
        for file in &self.tests {
            let bytes = crate::disk::read(file).unwrap_or_default();
            let Some(class) = TestClass::read(&bytes) else {
                return Some(format!("{} is not understood", file.display()));
            };
            if bytes.contains_str("org/testng/") {
                return Some(format!("{} uses TestNG", class.name.replace('/', ".")));
            }
            classes.push(class);
        }
        let has_junit4 = classes.iter().any(|class| class.is_junit4);
        classes
            .iter()
            .find_map(|class| self.why_not(class, has_junit4))
    }

    fn why_not(&self, class: &TestClass, has_junit4: bool) -> Option<String> {
        let name = class.name.replace('/', ".");
        let mut is_test = self.any_name || is_named_as_test(&class.name);
        let mut next = class.clone();
        // A circle cannot be compiled; it may be left over.
        for _ in 0..100 {
            is_test |= next.is_annotated;
            if let Some(runner) = next
                .runner
                .filter(|runner| !PLAIN.contains(&runner.as_str()))
            {
                let runner = runner.replace('/', ".");
                return Some(format!("{name} is run by {runner}"));
            }
            if next.is_suite {
                return Some(format!("{name} is a suite"));
            }
            let above = next.extends?;
            let known = [
                "java/",
                "javax/",
                "junit/framework/TestCase",
                "org/junit/rules/",
            ];
            if known.iter().any(|prefix| above.starts_with(prefix)) {
                return None;
            }
            let read = self
                .all
                .get(&above)
                .and_then(|file| crate::disk::read(file).ok());
            match read.map(|bytes| TestClass::read(&bytes)) {
                Some(Some(class)) => next = class,
                None if !is_test || !has_junit4 => return None,
                Some(None) | None => {
                    let above = above.replace('/', ".");
                    return Some(format!(
                        "{name} extends {above}, which may be run in its own way"
                    ));
                }
            }
        }
        Some(format!("what {name} extends has no end"))
    }
}

/// Whether Surefire or Failsafe takes it for a test by its name.
fn is_named_as_test(class: &str) -> bool {
    let name = class.rsplit('/').next().unwrap_or(class);
    ["Test", "IT"].iter().any(|mark| name.starts_with(mark))
        || ["Test", "Tests", "TestCase", "IT", "ITCase"]
            .iter()
            .any(|mark| name.ends_with(mark))
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
