//! A line of Surefire's list of exclusions, written so that it means one class only.
//!
//! Surefire puts `**/` before a path, so `demo/CalcTest.java` means `old.demo.CalcTest`,
//! too (`ResolvedTest.reformatClassPattern`, 2.22 and 3.x). A regular expression is
//! compared with the whole path. But Surefire compiles it again for each class, so it is
//! used only if another class fits the path.

use std::collections::HashMap;
use std::path::Path;

use super::pom::Project;
use super::surefire::moves_tests;

/// The line that leaves out a class, named by its path.
pub(super) fn class_line(class: &str, has_longer: bool) -> String {
    match has_longer {
        true => format!("%regex[{}]", exact(class)),
        false => format!("{class}.java"),
    }
}

/// The line that leaves out methods of a class, with all parameters. `None` if none of
/// the methods has a name that can stand in a line.
pub(super) fn methods_line<'m>(
    class: &str,
    methods: impl Iterator<Item = &'m str>,
) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let plain = methods.filter(|method| !method.is_empty() && method.chars().all(is_plain));
    let names: Vec<&str> = plain.collect();
    let class = exact(class);
    (!names.is_empty()).then(|| format!(r"%regex[{class}#({})(\[[\s\S]*)?]", names.join("|")))
}

/// Whether a line is one that leaves out methods.
pub(super) fn names_methods(line: &str) -> bool {
    line.contains('#')
}

/// A regular expression for a class file and no other.
fn exact(class: &str) -> String {
    format!(r"{}\.class", class.replace('$', r"\$"))
}

/// The test classes on disk, compiled or not, by the last part of their paths.
#[derive(Default)]
pub(super) struct Classes {
    paths: HashMap<String, Vec<String>>,
    /// Whether there may be others, elsewhere.
    are_some: bool,
}

impl Classes {
    /// Those of the modules in these folders.
    pub(super) fn of(folders: &[&Path], project: &Project) -> Classes {
        let mut classes = Classes {
            are_some: project.doubt().is_some() || moves_tests(project),
            ..Classes::default()
        };
        for module in folders {
            classes.walk(&module.join("target/test-classes"), "");
            let sources = fs_err::read_dir(module.join("src/test")).into_iter();
            for language in sources.flatten().flatten() {
                classes.walk(&language.path(), "");
            }
        }
        classes
    }

    fn walk(&mut self, folder: &Path, package: &str) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if path.is_dir() {
                self.walk(&path, &format!("{package}{name}/"));
            } else if let Some((class, _)) = name.split_once('.') {
                let path = format!("{package}{class}");
                self.paths.entry(class.to_owned()).or_default().push(path);
            }
        }
    }

    /// Whether there may be a class whose path ends with that of this one.
    pub(super) fn have_longer(&self, class: &str) -> bool {
        let last = class.rsplit('/').next().unwrap_or(class);
        let end = format!("/{class}");
        let paths = self.paths.get(last);
        self.are_some || paths.is_some_and(|all| all.iter().any(|path| path.ends_with(&end)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pom::{Doubt, sample};
    use super::*;

    #[test]
    fn a_class_whose_path_ends_another_ones_is_named_exactly() {
        let top = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = top.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        };
        let line_in = |class: &str, project: &Project| {
            let classes = Classes::of(&[top.path()], project);
            class_line(class, classes.have_longer(class))
        };
        let line = |class: &str| line_in(class, &sample(""));
        write("src/test/java/demo/XTest.java");
        write("target/test-classes/demo/XTest.class");
        assert_eq!(line("demo/XTest"), "demo/XTest.java");
        write("src/test/kotlin/old/demo/XTest.kt");
        assert_eq!(line("demo/XTest"), r"%regex[demo/XTest\.class]");
        assert_eq!(line("old/demo/XTest"), "old/demo/XTest.java");
        write("target/test-classes/a/YTest$In.class");
        assert_eq!(line("YTest$In"), r"%regex[YTest\$In\.class]");
        let elsewhere = line_in("a/B", &sample("<testSourceDirectory/>"));
        assert_eq!(elsewhere, r"%regex[a/B\.class]");
        let mut unknown = sample("");
        unknown.doubts.push(Doubt::Missing("pom.xml".into()));
        assert_eq!(line_in("a/B", &unknown), elsewhere);
    }
}
