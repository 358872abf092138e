//! `tamis init`: looks at the project and writes a commented `tamis.yml`.

mod template;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::{Globals, doctor};
use crate::config::find;
use crate::config::shown_path;
use crate::config::{self, Overrides, file::NAME};
use crate::error::{Error, Exit};
use crate::report::{Check, Event, Report};
use crate::runners::{self, Runner};
use template::template;

/// Write a commented tamis.yml that fits the project.
///
/// Also adds `.tamis/` to .gitignore. tamis works without the file; it is the
/// place to say what cannot be guessed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis init\n  \
    tamis -C services/api init    for a project in a sub-folder")]
pub(crate) struct InitArgs {
    /// Replace a tamis.yml that exists
    #[arg(long)]
    force: bool,
    /// Write nothing, and print the JSON schema of tamis.yml, for editors
    #[arg(long, conflicts_with = "force")]
    schema: bool,
}

const IGNORED: &str = ".tamis/";

/// What the project looks like.
#[derive(Debug, PartialEq, Eq)]
struct Findings {
    runner: &'static dyn Runner,
    /// Another one whose tests seem to be there as well.
    other: Option<&'static dyn Runner>,
    /// Files and folders that speak for the runner.
    signs: Vec<&'static str>,
    lock_files: Vec<&'static str>,
}

pub(crate) fn run(args: &InitArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    if args.schema {
        report.json(&config::schema())?;
        return Ok(Exit::DONE);
    }
    let place = find::find_project(&globals.folder);
    let Some(top) = &place.top else {
        let message = format!("{} is not in a git repository", shown_path(&globals.folder));
        return Err(Error::repository(message).with_hint("run `git init` first"));
    };
    let findings = look(&place.folder);
    let file = place.folder.join(NAME);
    write_config(&file, &template(&findings), args.force)?;
    let ignore = ignore_store(&place.folder, top)?;
    let checks = checks(&findings, globals);
    tell(report, &findings, &checks, &file, ignore.as_deref())?;
    Ok(Exit::DONE)
}

/// What `doctor` would say of the build, as that decides how much there is to gain.
fn checks(findings: &Findings, globals: &Globals) -> Vec<Check> {
    if !findings.runner.is_checked_by_init() {
        return Vec::new();
    }
    let config = globals.config(&Overrides::default());
    config.map_or_else(|_| Vec::new(), |config| doctor::of_runner(&config))
}

fn look(folder: &Path) -> Findings {
    let found = runners::found(folder);
    Findings {
        runner: found.runner,
        other: found.other,
        signs: found.runner.signs(folder),
        lock_files: found.runner.lock_files(folder),
    }
}

/// Never replaces a file unless told to.
fn write_config(file: &Path, text: &str, force: bool) -> Result<(), Error> {
    if file.symlink_metadata().is_ok() && !force {
        let message = format!("{} exists", shown_path(file));
        return Err(Error::usage(message).with_hint("add `--force` to replace it"));
    }
    let mut options = std::fs::File::options();
    options.write(true);
    match force {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let written = crate::disk::open_with(file, &mut options)
        .and_then(|(mut file, _)| file.write_all(text.as_bytes()))
        .with_context(|| shown_path(file));
    Ok(written.context("cannot write the configuration")?)
}

/// Makes git ignore the store. Returns the file that was changed, or `None`
/// if git ignores it already.
fn ignore_store(folder: &Path, top: &Path) -> Result<Option<PathBuf>, Error> {
    let inside = |other: &Path| other.starts_with(top);
    let ignored = folder.ancestors().take_while(|up| inside(up)).any(|up| {
        crate::disk::read(up.join(".gitignore")).is_ok_and(|text| names_store(&text, up == folder))
    });
    if ignored {
        return Ok(None);
    }
    let path = folder.join(".gitignore");
    let before = match crate::disk::read_named(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(anyhow::Error::new(error).into()),
    };
    let end = if before.contains(&b'\r') {
        "\r\n"
    } else {
        "\n"
    };
    let lead = match before.last() {
        None | Some(b'\n') => "",
        Some(_) => end,
    };
    let added = crate::disk::append(&path, format!("{lead}{IGNORED}{end}"));
    added.context("cannot add the store to .gitignore")?;
    Ok(Some(path))
}

/// Whether a line of a `.gitignore` names the store; a line that begins with
/// a slash counts only in the project's own folder.
fn names_store(text: &[u8], own: bool) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii();
        let line = line.strip_suffix(b"/").unwrap_or(line);
        match line {
            b".tamis" | b"**/.tamis" => true,
            b"/.tamis" => own,
            _ => false,
        }
    })
}

fn tell(
    report: &Report,
    findings: &Findings,
    checks: &[Check],
    file: &Path,
    ignore: Option<&Path>,
) -> Result<(), Error> {
    let next = [
        "tamis run      # runs and records all tests, once",
        "tamis run      # after an edit: runs only what the edit can affect",
    ];
    if report.is_json() {
        let mut document = json!({
            "schema": 1,
            "written": shown_path(file),
            "gitignore": ignore.map(shown_path),
            "runner": findings.runner.name(),
            "signs": findings.signs,
            "lock_files": findings.lock_files,
            "checks": checks.iter().map(doctor::check_json).collect::<Vec<_>>(),
            "next": next.map(|line| line.split("  ").next()),
        });
        for runner in runners::ALL {
            let is_found = *runner == findings.runner;
            let signs = findings.signs.iter().filter(|_| is_found);
            document[runner.name()] = signs.copied().collect();
        }
        return report.json(&document);
    }
    match findings.signs.as_slice() {
        [] => report.warning(
            "found no sign of a runner here: correct `runner` in tamis.yml, and \
             `root` if the tests are in a sub-folder",
        ),
        signs => report.note(format!("found {}: {}", findings.runner, signs.join(", "))),
    }
    if let Some(other) = findings.other {
        report.note(format!(
            "{other} seems to have tests here as well: `suites` in tamis.yml runs both"
        ));
    }
    if !findings.lock_files.is_empty() {
        let files = findings.lock_files.join(", ");
        report.note(format!("found lock files: {files}"));
    }
    report.note(format!("wrote {}", shown_path(file)));
    if let Some(path) = ignore {
        report.note(format!("added {IGNORED} to {}", shown_path(path)));
    }
    for check in checks {
        let Check { name, found, .. } = check;
        match &check.fix {
            None => report.note(format!("{name}: {found}")),
            Some(fix) => report.event(Event::Warning {
                text: format!("{name}: {found}"),
                hints: vec![fix.clone()],
            }),
        }
    }
    report.note("next:");
    for line in next {
        report.note(format!("  {line}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Variables;
    use crate::report::{Style, testing};

    struct Project(tempfile::TempDir);

    impl Project {
        fn new(files: &[(&str, &str)]) -> Project {
            let folder = tempfile::tempdir().unwrap();
            fs_err::create_dir(folder.path().join(".git")).unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(path, text).unwrap();
            }
            Project(folder)
        }

        fn read(&self, name: &str) -> String {
            fs_err::read_to_string(self.0.path().join(name)).unwrap()
        }

        /// Runs `init` in a folder of the project; returns standard error.
        fn init(&self, below: &str, force: bool) -> Result<String, Error> {
            let globals = Globals {
                folder: self.0.path().join(below),
                config_file: None,
                suite: None,
                is_one_of_all: false,
                variables: Variables::new(),
                ci: None,
            };
            let (report, _, err) = testing::report(Style::default());
            run(
                &InitArgs {
                    force,
                    schema: false,
                },
                &globals,
                &report,
            )?;
            Ok(err.text().replace(&shown_path(self.0.path()), "TOP"))
        }
    }

    #[test]
    fn a_project_is_looked_at_and_the_next_steps_are_named() {
        let project = Project::new(&[
            ("pyproject.toml", "[tool.pytest.ini_options]"),
            ("tests/test_a.py", ""),
            ("uv.lock", ""),
        ]);
        insta::assert_snapshot!(project.init("tests", false).unwrap(), @r"
        tamis: found pytest: pyproject.toml, tests/
        tamis: found lock files: uv.lock
        tamis: wrote TOP/tamis.yml
        tamis: added .tamis/ to TOP/.gitignore
        tamis: next:
        tamis:   tamis run      # runs and records all tests, once
        tamis:   tamis run      # after an edit: runs only what the edit can affect
        ");
        assert_eq!(project.read(".gitignore"), ".tamis/\n");
        assert!(project.read(NAME).contains("#: lock-files: [uv.lock]"));
    }

    #[test]
    fn a_build_of_the_jvm_is_known() {
        let maven = Project::new(&[("pom.xml", "<project/>"), ("src/test/java/A.java", "")]);
        let told = maven.init("src/test", false).unwrap();
        assert!(told.contains("found maven: pom.xml, src/test\n"), "{told}");
        assert!(maven.read(NAME).contains("\nrunner: maven\n"));
        let gradle = Project::new(&[
            ("settings.gradle.kts", ""),
            ("gradlew", ""),
            ("core/src/test/java/A.java", ""),
            ("conftest.py", ""),
        ]);
        let told = gradle.init("core", false).unwrap();
        let lines: Vec<&str> = told.lines().take(2).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        tamis: found gradle: settings.gradle.kts, gradlew
        tamis: pytest seems to have tests here as well: `suites` in tamis.yml runs both
        ");
        assert!(
            told.contains("gradle: ./gradlew cannot be executed"),
            "{told}"
        );
        let neither = Project::new(&[("README", "")]);
        let told = neither.init("", false).unwrap();
        assert!(told.contains("no sign of a runner"), "{told}");
    }

    #[test]
    fn an_existing_file_is_kept_unless_forced() {
        let project = Project::new(&[(NAME, "version: 1\n# mine\n")]);
        let error = project.init("", false).unwrap_err();
        assert!(error.to_string().ends_with("tamis.yml exists"));
        assert_eq!(error.hints(), ["add `--force` to replace it"]);
        assert!(project.read(NAME).contains("# mine"));
        project.init("", true).unwrap();
        assert!(!project.read(NAME).contains("# mine"));
    }

    #[test]
    fn gitignore_gains_the_line_once_in_its_own_style() {
        let cases = [
            ("*.pyc", "*.pyc\n.tamis/\n"),
            ("*.pyc\r\n", "*.pyc\r\n.tamis/\r\n"),
            (".tamis\n", ".tamis\n"),
            ("/.tamis/\r\n", "/.tamis/\r\n"),
            ("#.tamis/\n", "#.tamis/\n.tamis/\n"),
        ];
        for (before, after) in cases {
            let project = Project::new(&[(".gitignore", before)]);
            project.init("", false).unwrap();
            project.init("", true).unwrap();
            assert_eq!(project.read(".gitignore"), after);
        }
    }

    #[test]
    fn a_sub_project_trusts_the_line_of_the_top_if_it_reaches_down() {
        let reaching = Project::new(&[(".gitignore", ".tamis/\n"), ("svc/tox.ini", "[pytest]")]);
        reaching.init("svc", false).unwrap();
        assert!(!reaching.0.path().join("svc/.gitignore").exists());
        let anchored = Project::new(&[
            (".gitignore", "/.tamis/\n"),
            ("svc/tox.ini", "[pytest]"),
            (NAME, "version: 1\n# that of the top\n"),
        ]);
        anchored.init("svc", false).unwrap();
        assert_eq!(anchored.read("svc/.gitignore"), ".tamis/\n");
        assert!(anchored.read("svc/tamis.yml").contains("version: 1"));
        assert!(anchored.read(NAME).contains("that of the top"));
    }
}
