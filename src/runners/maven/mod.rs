//! Maven with Surefire and Failsafe.
//!
//! A test is a test class, named with dots, after the module's folder if that
//! is not the project's: `core/demo.CalcTest`. Class files tell what changed,
//! so the project is compiled before tests are selected.

mod around;
mod built;
mod command;
mod configuration;
mod doctor;
mod emit;
mod lines;
mod meaning;
mod model;
mod once;
mod orders;
mod plain;
mod plugins;
mod pom;
mod runner;
// The agent is a crate of its own, where this is public.
#[allow(unreachable_pub)]
#[path = "../../../agents/jvm/src/runtime.rs"]
mod runtime;
pub(crate) mod surefire;
mod unbuilt;
mod unwatched;
mod xml;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

pub(crate) use around::local_repository;
pub(crate) use built::is_of_sources;
pub(crate) use command::{JVM_OPTIONS, definition_in, goals, is_maven, other_pom};
pub(crate) use configuration::Configuration;
pub(crate) use emit::emit;
pub(crate) use meaning::pom_fingerprint;
pub(crate) use model::{Model, Module, upwards};
pub(crate) use once::why_twice;
pub(crate) use plugins::doubt_of_goal;
pub(crate) use pom::{Project, artifact_in, coordinates};
pub(crate) use runner::Maven;
pub(crate) use runtime::runtime_in;
pub(crate) use unbuilt::Sources;
pub(crate) use unbuilt::{Standing, Unbuilt};

/// The file that makes a folder a module.
pub(crate) const POM: &str = "pom.xml";

/// Whether a folder has a build of Maven's.
pub(crate) fn is_project(folder: &Path) -> bool {
    folder.join(POM).is_file()
}

/// The options by which the user can alter outcomes, for a command that runs in `cwd`.
pub(crate) fn options(command: &[OsString], cwd: &Path) -> Vec<String> {
    let set = command::JVM_OPTIONS
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    command::option_words(command, set, |name| around::is_named(cwd, command, name))
}

/// The folder of the JDK that Maven runs tests with, unless its project names
/// another one.
pub(crate) fn java_home() -> Option<PathBuf> {
    let program = match std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Path::new(&home).join("bin/java"),
        None => super::on_path("java")?,
    };
    home_of(&program)
}

/// The folder of the JDK that has this `java`, or a link to it.
pub(crate) fn home_of(program: &Path) -> Option<PathBuf> {
    let program = std::fs::canonicalize(program).ok()?;
    Some(runtime::home_of(&program).to_owned())
}

/// The folder of the module that a class file belongs to: the nearest above it
/// with a `pom.xml`.
pub(crate) fn module_of(class_file: &BStr) -> Option<PathBuf> {
    let path = PathBuf::from(OsString::from_vec(class_file.to_vec()));
    let above = path.ancestors().skip(1);
    above
        .into_iter()
        .find(|folder| folder.join(POM).is_file())
        .map(Path::to_owned)
}

/// All folders beneath `top` that have a `pom.xml`, `top` included.
pub(crate) fn modules(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        if folder.join(POM).is_file() {
            found.push(folder.clone());
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_project = !name.as_encoded_bytes().starts_with(b".")
                && !["target", "src", "node_modules"]
                    .iter()
                    .any(|skip| name == *skip);
            if is_dir && is_project {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Where Maven leaves what it makes of each module beneath `top`: absolute.
pub(crate) fn build_folders(top: &Path) -> Vec<PathBuf> {
    let modules = modules(top).into_iter();
    modules.map(|module| module.join("target")).collect()
}

/// Where each module's compiled tests lie unless it says otherwise.
pub(crate) fn test_outputs(top: &Path) -> Vec<PathBuf> {
    let folders = modules(top).into_iter();
    folders
        .map(|module| module.join("target/test-classes"))
        .collect()
}

/// Where it is said that tests run in Maven's own JVM, where nothing is collected.
#[derive(Debug)]
pub(crate) struct Inside {
    pub setting: &'static str,
    pub value: &'static str,
    /// The pom; `None`: the command.
    pub pom: Option<PathBuf>,
}

impl Inside {
    /// The place in words.
    pub(crate) fn place(&self) -> String {
        match &self.pom {
            Some(pom) => pom.display().to_string(),
            None => "the command".to_owned(),
        }
    }
}

/// Whether tests may run in Maven's own JVM: as `command`, a `pom.xml` of the project or
/// what it inherits says of forks.
pub(crate) fn inside_by(top: &Path, command: &[String]) -> Option<Inside> {
    let inside = |(setting, value), pom| Inside {
        setting,
        value,
        pom,
    };
    let mut settings = surefire::INSIDE.into_iter();
    let typed = settings.find(|(name, value)| {
        let said = format!("{name}={value}");
        command.iter().any(|word| word.contains(&said))
    });
    typed.map(|said| inside(said, None)).or_else(|| {
        let project = Project::of_modules(top, &local_repository(top, command));
        let (said, pom) = surefire::inside(&project)?;
        Some(inside(said, Some(pom.path.clone())))
    })
}

/// The path of a test's class file and what the test is named after: for
/// `core/demo.CalcTest`, (`core`, `demo/CalcTest`).
pub(crate) fn source_of(test: &str) -> (&str, String) {
    let test = test.split('#').next().unwrap_or(test);
    let (module, class) = test.rsplit_once('/').unwrap_or(("", test));
    (module, class.replace('.', "/"))
}

/// The id of a test class in the module that lies at `module`, relative to the
/// top of the work tree, for a project at `project`.
pub(crate) fn test_id(class: &str, module: &BStr, project: &BStr) -> String {
    let beneath = match project.is_empty() {
        true => module,
        false => match module.strip_prefix(project.as_bytes()) {
            Some(rest) => rest.strip_prefix(b"/").unwrap_or(rest).as_bstr(),
            None => return format!("/{module}/{class}"),
        },
    };
    match beneath.is_empty() {
        true => class.to_owned(),
        false => format!("{beneath}/{class}"),
    }
}

/// The absolute path as git's paths are: bytes.
pub(crate) fn bytes_of(path: &Path) -> BString {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_after_module_and_class() {
        let id = |module: &str, project: &str| test_id("a.B", module.into(), project.into());
        assert_eq!(id("", ""), "a.B");
        assert_eq!(id("core", ""), "core/a.B");
        assert_eq!(id("x/core", "x"), "core/a.B");
        assert_eq!(source_of("core/a.B"), ("core", "a/B".to_owned()));
        assert_eq!(source_of("a.B"), ("", "a/B".to_owned()));
    }

    #[test]
    fn tests_in_mavens_own_jvm_are_noticed() {
        let top = tempfile::tempdir().unwrap();
        let inside = |pom: &str, word: &str| {
            let pom = format!("<project>{pom}</project>");
            fs_err::write(top.path().join(POM), pom).unwrap();
            inside_by(top.path(), &[word.to_owned()]).is_some()
        };
        assert!(inside("<forkCount> 0 </forkCount>", "test"));
        assert!(inside("<forkMode>never</forkMode>", "test"));
        assert!(inside("", "-DforkCount=0") && !inside("", "-DforkCount=2"));
        assert!(!inside("<forkCount>1C</forkCount>", "test"));
        assert!(!inside("<!-- <forkCount>0</forkCount> -->", "test"));
    }

    #[test]
    fn modules_are_found_but_not_in_what_was_built() {
        let top = tempfile::tempdir().unwrap();
        for folder in ["", "core", "target/x"] {
            fs_err::create_dir_all(top.path().join(folder)).unwrap();
            fs_err::write(top.path().join(folder).join(POM), "").unwrap();
        }
        let found = modules(top.path());
        assert_eq!(found, [top.path().to_owned(), top.path().join("core")]);
    }
}
