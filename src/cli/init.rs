//! `tamis init`: looks at the project and writes a commented `tamis.yml`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::Globals;
use crate::config::find;
use crate::config::shown_path;
use crate::config::{self, file::NAME};
use crate::error::{Error, Exit};
use crate::report::Report;

/// Write a commented tamis.yml that fits the project.
///
/// Also adds `.tamis/` to .gitignore. tamis works without the file; it is the
/// place to say what cannot be guessed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis init\n  \
    tamis -C services/api init    for a project in a sub-folder")]
pub struct InitArgs {
    /// Replace a tamis.yml that exists
    #[arg(long)]
    force: bool,
    /// Write nothing, and print the JSON schema of tamis.yml, for editors
    #[arg(long, conflicts_with = "force")]
    schema: bool,
}

/// Files that declare the versions of installed packages.
const LOCK_FILES: [&str; 9] = [
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pylock.toml",
    "Pipfile.lock",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "constraints.txt",
];

const IGNORED: &str = ".tamis/";

/// What the project looks like.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    /// Files and folders that speak for pytest.
    pytest: Vec<&'static str>,
    lock_files: Vec<&'static str>,
}

pub fn run(args: &InitArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
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
    tell(report, &findings, &file, ignore.as_deref())?;
    Ok(Exit::DONE)
}

fn look(folder: &Path) -> Findings {
    let holds = |file: &str, text: &str| {
        crate::disk::read(folder.join(file))
            .is_ok_and(|content| String::from_utf8_lossy(&content).contains(text))
    };
    let signs = [
        ("pytest.ini", folder.join("pytest.ini").is_file()),
        (".pytest.ini", folder.join(".pytest.ini").is_file()),
        ("pyproject.toml", holds("pyproject.toml", "pytest")),
        ("tox.ini", holds("tox.ini", "pytest")),
        ("setup.cfg", holds("setup.cfg", "pytest")),
        ("conftest.py", folder.join("conftest.py").is_file()),
        ("tests/", folder.join("tests").is_dir()),
        ("test/", folder.join("test").is_dir()),
    ];
    Findings {
        pytest: signs
            .into_iter()
            .filter_map(|(name, found)| found.then_some(name))
            .collect(),
        lock_files: LOCK_FILES
            .into_iter()
            .filter(|name| folder.join(name).is_file())
            .collect(),
    }
}

fn template(findings: &Findings) -> String {
    let lock_files = match findings.lock_files.as_slice() {
        [] => "requirements.txt".to_owned(),
        files => files.join(", "),
    };
    format!(
        "# tamis runs only the tests that a change can affect.\n\
         # Every key but `version` is optional; a line that begins with #: shows one\n\
         # with an example. docs/configuration.md of tamis describes each.\n\
         version: 1\n\
         runner: pytest\n\
         \n\
         # The test command and the interpreter, if tamis should not look for them.\n\
         #: command: [pytest, -q]\n\
         #: python: .venv/bin/python\n\
         \n\
         # The sub-folder in which the tests run, and a name for this set of tests.\n\
         #: root: .\n\
         #: paths: [\"src/**\", \"tests/**\"]\n\
         #: suite: pytest\n\
         # Or several suites, each with what is different about it.\n\
         #: suites:\n\
         #:   api: {{root: services/api, paths: [\"services/api/**\"]}}\n\
         \n\
         # Where results are kept, and how many `tamis store gc` leaves.\n\
         #: store: .tamis/store\n\
         # Where they are shared with CI and with others, and whom to trust there.\n\
         #: shared-store: git:origin\n\
         #: shared-label: py312\n\
         #: trust:\n\
         #:   refs: [main, \"release/*\"]\n\
         #: keep: 50\n\
         # When to fetch what a shallow clone lacks: ci, always, never.\n\
         #: deepen: ci\n\
         \n\
         # auto, memo, commit, all, or one of docs/theory.md, and for `thesis` what\n\
         # is many and what is short.\n\
         #: strategy: auto\n\
         #: many-new-tests: 10\n\
         #: short-branches: 3\n\
         \n\
         # Tests that always run; files whose change runs every test.\n\
         #: always-run: [\"tests/smoke/**\"]\n\
         #: run-all-when: [Dockerfile, \".github/workflows/**\"]\n\
         # In CI, every so many runs of the default branch run everything.\n\
         #: run-all-every: 10\n\
         \n\
         # Files that pin packages and interpreter, for test steps without tamis.\n\
         #: lock-files: [{lock_files}]\n\
         \n\
         # Caches and registries that tests leave behind without another noticing.\n\
         #: benign-state: [\"src/pkg/lexer.py#_cache\"]\n\
         \n\
         # Tests whose order matters: they run on one machine.\n\
         #: keep-together: [[tests/test_setup.py, tests/test_use.py]]\n\
         \n\
         # What a test of a JVM is: class, or method (JUnit 4 and 5).\n\
         #: granularity: class\n\
         \n\
         # Whether a JVM's tests look at line numbers.\n\
         #: debug-info: true\n\
         \n\
         # Environment variables that may differ without a test noticing.\n\
         #: env:\n\
         #:   ignore: [BUILD_NUMBER]\n"
    )
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
    file: &Path,
    ignore: Option<&Path>,
) -> Result<(), Error> {
    let next = [
        "tamis run      # runs and records all tests, once",
        "tamis run      # after an edit: runs only what the edit can affect",
    ];
    if report.is_json() {
        return report.json(&json!({
            "schema": 1,
            "written": shown_path(file),
            "gitignore": ignore.map(shown_path),
            "pytest": findings.pytest,
            "lock_files": findings.lock_files,
            "next": next.map(|line| line.split("  ").next()),
        }));
    }
    match findings.pytest.as_slice() {
        [] => report.warning("found no sign of pytest here; tamis knows no other runner yet"),
        signs => report.note(format!("found pytest: {}", signs.join(", "))),
    }
    if !findings.lock_files.is_empty() {
        let files = findings.lock_files.join(", ");
        report.note(format!("found lock files: {files}"));
    }
    report.note(format!("wrote {}", shown_path(file)));
    if let Some(path) = ignore {
        report.note(format!("added {IGNORED} to {}", shown_path(path)));
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
    use crate::config::{Key, Variables, file};
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
    fn the_written_file_is_valid_with_and_without_its_examples() {
        let text = template(&Findings::default());
        file::parse(text.as_bytes(), NAME).unwrap();
        let all = text.replace("#: ", "");
        file::parse(all.as_bytes(), NAME).unwrap();
        for key in Key::ALL {
            assert!(all.contains(&format!("\n{}:", key.word())), "{key:?}");
        }
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
