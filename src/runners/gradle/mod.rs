//! Gradle.
//!
//! Tests are named as Maven's are. The build's own files stay as they are: an
//! init script changes the tasks that run tests. Versions from 4.0 on have what
//! it uses.

mod command;
mod emit;
mod runner;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::jvm::files_below;

pub(crate) use emit::{Script, emit};
pub(crate) use runner::Gradle;

/// Where the classes of a project lie unless it says otherwise, then a folder
/// for each language and in it one for each set of sources.
const CLASSES: &str = "build/classes";

/// Whether a file is a build's script.
fn is_script(name: &str) -> bool {
    name.ends_with(".gradle") || name.ends_with(".gradle.kts")
}

/// Whether a folder has a build of Gradle's.
pub(crate) fn is_project(folder: &Path) -> bool {
    MARKS.iter().any(|mark| folder.join(mark).is_file())
}

/// The files that make a folder one.
const MARKS: [&str; 4] = [
    "settings.gradle",
    "settings.gradle.kts",
    "build.gradle",
    "build.gradle.kts",
];

/// The options by which the user can alter outcomes.
pub(crate) fn options(command: &[OsString]) -> Vec<String> {
    let named = [
        "GRADLE_OPTS",
        "JAVA_OPTS",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
    ];
    let set = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let counts = named.contains(&name.as_str()) || name.starts_with("ORG_GRADLE_PROJECT_");
        counts.then_some((name, value))
    });
    command::option_words(command, set)
}

/// The folder of the project that a class file belongs to.
pub(crate) fn module_of(class_file: &Path) -> Option<PathBuf> {
    let mark = Path::new(CLASSES);
    let folders = class_file.ancestors().skip(1);
    let mut above = folders.filter(|folder| folder.ends_with(mark));
    let classes = above.next()?;
    classes.parent()?.parent().map(Path::to_owned)
}

/// All folders beneath `top` with a script of a build or with sources.
pub(crate) fn modules(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(top, &mut |folder, names| {
        if names.iter().any(|name| is_script(name) || name == "src") {
            found.push(folder.to_owned());
        }
    });
    found.sort();
    found
}

/// Where Gradle leaves what it makes of each project beneath `top`, and what it notes of
/// builds: absolute.
pub(crate) fn build_folders(top: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    walk(top, &mut |folder, names| {
        if names.iter().any(|name| is_script(name) || name == "src") {
            folders.push(folder.join("build"));
        }
        if names.iter().any(|name| is_script(name)) {
            folders.push(folder.join(".gradle"));
        }
    });
    folders
}

/// Tells of each folder that may be part of the build, and its entries.
fn walk(top: &Path, tell: &mut dyn FnMut(&Path, &[String])) {
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let skipped = ["build", "out", "src", "target", "node_modules"];
            if is_dir && !name.starts_with('.') && !skipped.contains(&name.as_str()) {
                open.push(entry.path());
            }
            names.push(name);
        }
        tell(&folder, &names);
    }
}

/// The files that configure every test of the project, there or not: absolute.
pub(crate) fn config_files(top: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "gradle.properties",
        "gradle.lockfile",
        "gradle/libs.versions.toml",
        "gradle/wrapper/gradle-wrapper.properties",
    ]
    .map(|name| top.join(name))
    .to_vec();
    walk(top, &mut |folder, names| {
        let tells = |name: &&String| {
            is_script(name) || ["gradle.properties", "gradle.lockfile"].contains(&name.as_str())
        };
        files.extend(names.iter().filter(tells).map(|name| folder.join(name)));
        // Plug-ins that are built on the way.
        let settings = ["settings.gradle", "settings.gradle.kts"];
        let is_build = folder != top && names.iter().any(|name| settings.contains(&name.as_str()));
        if is_build || folder == top.join("buildSrc") {
            files.extend(files_below(&folder.join("src")));
        }
    });
    if let Some(home) = user_home() {
        files.extend(
            ["gradle.properties", "init.gradle", "init.gradle.kts"].map(|name| home.join(name)),
        );
        files.extend(files_below(&home.join("init.d")));
    }
    files.sort();
    files.dedup();
    files
}

/// Folders in which a new file can change every test: absolute.
pub(crate) fn config_folders(top: &Path) -> Vec<PathBuf> {
    let mut folders = vec![top.join("buildSrc"), top.join("gradle")];
    folders.extend(user_home().map(|home| home.join("init.d")));
    folders
}

fn user_home() -> Option<PathBuf> {
    let set = std::env::var_os("GRADLE_USER_HOME").filter(|home| !home.is_empty());
    set.map(PathBuf::from)
        .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".gradle")))
}

/// Where what is no test lies in the project at `module`.
pub(crate) fn main_outputs(module: &Path) -> Vec<PathBuf> {
    let languages = std::fs::read_dir(module.join(CLASSES));
    let languages = languages.into_iter().flatten().flatten();
    languages.map(|one| one.path().join("main")).collect()
}

/// Where compiled tests lie in the project at `module`: where they do by
/// default, there or not, and whatever else there is but main classes.
pub(crate) fn test_outputs(module: &Path) -> Vec<PathBuf> {
    let classes = module.join(CLASSES);
    let languages = ["java", "kotlin", "groovy", "scala"];
    let mut outputs: Vec<PathBuf> = languages
        .map(|language| classes.join(language).join("test"))
        .to_vec();
    for language in std::fs::read_dir(&classes).into_iter().flatten().flatten() {
        for set in std::fs::read_dir(language.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            if set.file_name() != "main" {
                outputs.push(set.path());
            }
        }
    }
    outputs.sort();
    outputs.dedup();
    outputs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_files_tell_their_project() {
        let module = |path: &str| module_of(Path::new(path));
        assert_eq!(
            module("/p/core/build/classes/java/test/a/B.class"),
            Some("/p/core".into())
        );
        assert_eq!(module("/p/target/test-classes/a/B.class"), None);
    }

    #[test]
    fn builds_and_their_parts_are_found() {
        let top = tempfile::tempdir().unwrap();
        let here = |path: &str| top.path().join(path);
        for file in [
            "settings.gradle",
            "core/src/test/java/A.java",
            "app/app.gradle.kts",
            "buildSrc/src/main/groovy/P.groovy",
            "build/x/build.gradle",
        ] {
            fs_err::create_dir_all(here(file).parent().unwrap()).unwrap();
            fs_err::write(here(file), "").unwrap();
        }
        assert!(is_project(top.path()) && !is_project(&here("core")));
        let found = modules(top.path());
        assert_eq!(
            found,
            [here(""), here("app"), here("buildSrc"), here("core")]
                .map(|path| path.components().collect::<PathBuf>())
        );
        let files = config_files(top.path());
        assert!(files.contains(&here("app/app.gradle.kts")));
        assert!(files.contains(&here("buildSrc/src/main/groovy/P.groovy")));
        assert!(!files.contains(&here("build/x/build.gradle")));
        assert_eq!(test_outputs(&here("core")).len(), 4);
    }
}
