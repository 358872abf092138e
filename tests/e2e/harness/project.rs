//! A project in its own git repository, and the commands in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::python::{Python, site_packages};
use super::{plain, text};

/// How each test ended, by test id.
pub type Outcomes = BTreeMap<String, String>;

/// Longer than any case takes on a busy machine. A hang must not stop the table.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// Two modules, and a test of each.
pub const TWO_MODULES: &str = r#"
-- a.py --
def value():
    return 1
-- b.py --
def value():
    return 2
-- test_a.py --
import a

def test_a():
    assert a.value()
-- test_b.py --
import b

def test_b():
    assert b.value()
"#;

/// A temporary world: the project, files beside it, a home directory.
pub struct Project {
    pub python: Python,
    world: tempfile::TempDir,
    venv: PathBuf,
    /// The folder in the project in which commands run.
    pub cwd: String,
    env: BTreeMap<String, String>,
    /// Whether tests that fail run only once, and not again after those that were left out.
    pub failures_stay: bool,
    /// The outcome of each test when tamis last ran it.
    pub last: Outcomes,
}

/// The result of a command.
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// The exit code; -1 if a signal ended the process.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }
}

/// The parts of `selection.json` that the table checks.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub mode: String,
    pub reason: Value,
    /// The reason of each selected test.
    pub selected: BTreeMap<String, Value>,
    /// The evidence of each excluded test.
    pub excluded: BTreeMap<String, Value>,
    /// Selected tests that did not run because their values are the recorded ones.
    pub confirmed: BTreeSet<String>,
    /// Selected tests that ran because a value differs.
    pub refuted: BTreeMap<String, String>,
}

/// The output and effect of `tamis run --json`.
pub struct Run {
    pub code: i32,
    pub selection: Selection,
    /// The tests that ran.
    pub outcomes: Outcomes,
    pub stderr: String,
}

impl Run {
    /// The important part of standard error: tamis's warnings and the like, or all of it after
    /// a failure.
    pub fn told(&self) -> String {
        const BROKEN: [&str; 3] = ["INTERNALERROR", "panicked", "Traceback"];
        if BROKEN.iter().any(|word| self.stderr.contains(word)) {
            return self.stderr.clone();
        }
        const TOLD: [&str; 4] = ["warning", "fallback", "store-trouble", "failed"];
        let events = TOLD.map(|event| format!("\"event\":\"{event}\""));
        let lines = self.stderr.lines();
        lines
            .filter(|line| events.iter().any(|event| line.contains(event)))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Project {
    /// A repository with the files of `text` (see [`text::files`]),
    /// committed.
    pub fn new(python: &Python, text: &str) -> Project {
        let mut project = Project::bare_world(python);
        project.write(".gitignore", "__pycache__/\n.pytest_cache/\n.tamis/\n");
        for (path, content) in text::files(text) {
            project.write(&path, &content);
        }
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.commit("base");
        project
    }

    /// A world with an empty project folder that is not a repository.
    pub fn bare_world(python: &Python) -> Project {
        let world = tempfile::Builder::new()
            .prefix("tamis-e2e-")
            .tempdir()
            .unwrap();
        for folder in ["home", "project", "outside", "tmp"] {
            fs::create_dir(world.path().join(folder)).unwrap();
        }
        Project {
            python: python.clone(),
            venv: python.venv.clone(),
            world,
            cwd: String::new(),
            env: BTreeMap::new(),
            failures_stay: false,
            last: Outcomes::new(),
        }
    }

    pub fn root(&self) -> PathBuf {
        self.world.path().join("project")
    }

    pub fn world(&self) -> &Path {
        self.world.path()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        if let Some(rest) = path.strip_prefix("@outside/") {
            self.world().join("outside").join(rest)
        } else if let Some(rest) = path.strip_prefix("@site/") {
            assert!(
                self.venv.starts_with(self.world()),
                "{path} needs an own environment"
            );
            site_packages(&self.venv, self.python.minor).join(rest)
        } else {
            self.root().join(path)
        }
    }

    /// Makes a virtual environment for the project that sees the packages of the shared one.
    pub fn make_own_venv(&mut self) {
        let venv = self.world().join("venv");
        let status = Command::new(self.python.executable())
            .args(["-m", "venv", "--without-pip"])
            .arg(&venv)
            .status()
            .unwrap();
        assert!(status.success());
        self.venv = venv;
        let shared = self.python.site_packages();
        self.write("@site/shared.pth", &format!("{}\n", shared.display()));
    }

    pub fn read(&self, path: &str) -> String {
        let full = self.path(path);
        fs::read_to_string(&full).unwrap_or_else(|e| panic!("{}: {e}", full.display()))
    }

    /// Writes a file, and removes Python's compiled form of an older one. A stale cache needs
    /// two edits within one second and of one size, which people do not make.
    pub fn write(&mut self, path: &str, text: &str) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(&full, text).unwrap_or_else(|e| panic!("{}: {e}", full.display()));
        forget_compiled(&full);
    }

    pub fn delete(&mut self, path: &str) {
        let full = self.path(path);
        let deleted = if full.is_dir() && !full.is_symlink() {
            fs::remove_dir_all(&full)
        } else {
            fs::remove_file(&full)
        };
        deleted.unwrap_or_else(|e| panic!("{}: {e}", full.display()));
        forget_compiled(&full);
    }

    pub fn rename(&mut self, from: &str, to: &str) {
        let (from, to) = (self.path(from), self.path(to));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(&from, &to).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
        forget_compiled(&from);
    }

    pub fn symlink(&mut self, path: &str, target: &str) {
        let full = self.path(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&full);
        std::os::unix::fs::symlink(target, &full).unwrap();
    }

    pub fn set_env(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.env.insert(name.to_owned(), value.to_owned()),
            None => self.env.remove(name),
        };
    }

    /// A distribution in site-packages as pip leaves it. The digests in RECORD replace
    /// SHA-256: they only need to depend on the content.
    pub fn install(&mut self, name: &str, version: &str, files: &[(String, String)]) {
        self.uninstall(name);
        let mut record = String::new();
        let info = format!("{name}-{version}.dist-info");
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        let mut all = files.to_vec();
        all.push((format!("{info}/METADATA"), metadata));
        all.push((format!("{info}/INSTALLER"), "pip\n".to_owned()));
        let names: std::collections::BTreeSet<&str> = files
            .iter()
            .filter_map(|(path, _)| path.split(['/', '.']).next())
            .collect();
        let top_level: String = names.iter().map(|name| format!("{name}\n")).collect();
        all.push((format!("{info}/top_level.txt"), top_level));
        for (path, content) in &all {
            self.write(&format!("@site/{path}"), content);
            let digest = blake3::hash(content.as_bytes()).to_hex();
            record += &format!("{path},sha256={digest},{}\n", content.len());
        }
        record += &format!("{info}/RECORD,,\n");
        self.write(&format!("@site/{info}/RECORD"), &record);
    }

    pub fn uninstall(&mut self, name: &str) {
        let site = self.path("@site/");
        let info = fs::read_dir(&site)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| {
                let file = path.file_name().unwrap().to_string_lossy();
                file.starts_with(&format!("{name}-")) && file.ends_with(".dist-info")
            });
        let Some(info) = info else { return };
        for line in fs::read_to_string(info.join("RECORD")).unwrap().lines() {
            let file = site.join(line.split(',').next().unwrap());
            fs::remove_file(&file).unwrap();
            forget_compiled(&file);
        }
        fs::remove_dir(info).unwrap();
    }

    /// Runs a Python program in the project's folder.
    pub fn python(&self, program: &str) {
        let executable = self.venv.join("bin/python");
        let done = self.command(executable, &["-c", program], &self.root());
        assert!(
            done.status.success(),
            "{program}\n{}{}",
            done.stdout,
            done.stderr
        );
        // It may have written sources.
        for cached in files_below(&self.root()) {
            if cached.extension().is_some_and(|end| end == "pyc") {
                fs::remove_file(cached).unwrap();
            }
        }
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let done = self.command("git", arguments, &self.root());
        assert!(done.status.success(), "git {arguments:?}: {}", done.stderr);
        done.stdout
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// `tamis ARGUMENTS` in the folder `cwd`.
    pub fn tamis(&self, arguments: &[&str]) -> Finished {
        let mut env = self.env.clone();
        if self.failures_stay {
            env.insert("TAMIS_FAILURES_STAY".to_owned(), "1".to_owned());
        }
        let tamis = env!("CARGO_BIN_EXE_tamis");
        self.command_in(
            &env,
            tamis.as_ref(),
            arguments,
            &self.root().join(&self.cwd),
        )
    }

    /// Runs `tamis run --json`, and checks that its output is consistent.
    pub fn run(&mut self) -> Run {
        self.run_with(&[])
    }

    /// `tamis run --json ARGUMENTS`.
    pub fn run_with(&mut self, arguments: &[&str]) -> Run {
        let done = self.tamis(&[&["run", "--json"], arguments].concat());
        let json: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|e| {
            let Finished {
                status,
                stdout,
                stderr,
            } = &done;
            panic!(
                "`tamis run --json` must print one JSON object: {e}\n{status}\n{stdout}\n{stderr}"
            )
        });
        let outcomes: Outcomes = match json.get("outcomes") {
            Some(outcomes) => serde_json::from_value(outcomes.clone()).unwrap(),
            None => Outcomes::new(),
        };
        self.last.extend(outcomes.clone());
        Run {
            code: done.code(),
            selection: Selection::of(&json),
            outcomes,
            stderr: done.stderr,
        }
    }

    /// `tamis select --json` for the working tree.
    pub fn select(&self) -> Selection {
        let done = self.tamis(&["select", "--json"]);
        let json = serde_json::from_str(&done.stdout).unwrap_or_else(|e| {
            panic!("`tamis select --json`: {e}\n{}{}", done.stdout, done.stderr)
        });
        assert_eq!(done.code(), 0, "{}", done.stderr);
        Selection::of(&json)
    }

    /// Whether each test ended last as it ends in a run of everything with plain pytest.
    pub fn is_as_plain(&self) -> bool {
        let plain = self.plain();
        plain.iter().all(|(test, end)| self.last[test] == *end)
    }

    /// Runs everything with plain pytest, and returns the outcomes.
    pub fn plain(&self) -> Outcomes {
        let file = self.world().join("outcomes.json");
        let _ = fs::remove_file(&file);
        let mut env = self.env.clone();
        env.insert("E2E_OUTCOMES".into(), file.display().to_string());
        let executable = self.venv.join("bin/python");
        let cwd = self.root().join(&self.cwd);
        let told = if self.venv == self.python.venv && plain::is_for(&self.env) {
            let out = self.world().join("plain.txt");
            let env = self.environment(&env);
            let ended = plain::run(&executable, &["-p", "e2e_outcomes"], &env, (&cwd, &out));
            format!("came to its end: {ended}\n{}", read_lossy(&out))
        } else {
            let arguments = ["-m", "pytest", "-p", "e2e_outcomes"];
            let done = self.command_in(&env, executable.as_ref(), &arguments, &cwd);
            done.stdout + &done.stderr
        };
        let text = fs::read_to_string(&file)
            .unwrap_or_else(|e| panic!("plain pytest did not finish: {e}\n{told}"));
        serde_json::from_str(&text).unwrap()
    }

    /// A copy of the whole world, to restore later.
    pub fn snapshot(&self) -> Snapshot {
        let copy = tempfile::Builder::new()
            .prefix("tamis-e2e-")
            .tempdir()
            .unwrap();
        copy_tree(self.world(), copy.path());
        Snapshot {
            copy,
            env: self.env.clone(),
            last: self.last.clone(),
        }
    }

    pub fn restore(&mut self, snapshot: &Snapshot) {
        for entry in fs::read_dir(self.world()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        copy_tree(snapshot.copy.path(), self.world());
        self.env = snapshot.env.clone();
        self.last = snapshot.last.clone();
    }

    pub fn command(
        &self,
        program: impl AsRef<std::ffi::OsStr>,
        arguments: &[&str],
        cwd: &Path,
    ) -> Finished {
        self.command_in(&self.env, program.as_ref(), arguments, cwd)
    }

    /// Runs a program in an isolated environment.
    fn command_in(
        &self,
        env: &BTreeMap<String, String>,
        program: &std::ffi::OsStr,
        arguments: &[&str],
        cwd: &Path,
    ) -> Finished {
        let out = tempfile::NamedTempFile::new_in(self.world()).unwrap();
        let err = tempfile::NamedTempFile::new_in(self.world()).unwrap();
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(cwd)
            .env_clear()
            .envs(self.environment(env))
            .stdin(Stdio::null())
            .stdout(out.reopen().unwrap())
            .stderr(err.reopen().unwrap())
            .spawn()
            .unwrap_or_else(|e| panic!("{program:?}: {e}"));
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                let _ = child.kill();
                panic!("{program:?} {arguments:?} did not end in {PATIENCE:?}");
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        Finished {
            status,
            stdout: read_lossy(out.path()),
            stderr: read_lossy(err.path()),
        }
    }

    /// That of every command here, with `more`.
    fn environment(&self, more: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.to_str().expect("a path is text").to_owned();
        let bin = text(self.venv.join("bin"));
        let own = [
            ("PATH", format!("{bin}:/usr/local/bin:/usr/bin:/bin")),
            ("HOME", text(self.world().join("home"))),
            // All worlds share the agent, which Python compiles at first use.
            (
                "XDG_CACHE_HOME",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/cache").to_owned(),
            ),
            ("TMPDIR", text(self.world().join("tmp"))),
            ("LANG", "C.UTF-8".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_AUTHOR_NAME", "A".to_owned()),
            ("GIT_AUTHOR_EMAIL", "a@example.org".to_owned()),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z".to_owned()),
            ("GIT_COMMITTER_NAME", "C".to_owned()),
            ("GIT_COMMITTER_EMAIL", "c@example.org".to_owned()),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z".to_owned()),
            ("TAMIS_PYTHON", text(self.venv.join("bin/python"))),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let more = more
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()));
        own.into_iter().chain(more).collect()
    }
}

/// See [`Project::snapshot`].
pub struct Snapshot {
    copy: tempfile::TempDir,
    env: BTreeMap<String, String>,
    last: Outcomes,
}

impl Selection {
    fn of(json: &Value) -> Selection {
        let by_id = |list: &str, field: &str| {
            let entries = json[list].as_array().cloned().unwrap_or_default();
            entries
                .iter()
                .map(|entry| {
                    let id = entry["id"].as_str().expect("each entry has an id");
                    (id.to_owned(), entry[field].clone())
                })
                .collect()
        };
        Selection {
            mode: json["mode"].as_str().unwrap_or_default().to_owned(),
            reason: json["reason"].clone(),
            selected: by_id("selected", "reason"),
            excluded: by_id("excluded", "evidence"),
            confirmed: serde_json::from_value(json["confirmed"].clone()).unwrap_or_default(),
            refuted: serde_json::from_value(json["refuted"].clone()).unwrap_or_default(),
        }
    }
}

fn read_lossy(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
}

/// All plain files below a folder, in the order of their names. Links are not followed.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    let entries = entries.into_iter().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

/// Removes what Python and pytest compiled from this source file.
fn forget_compiled(source: &Path) {
    let stem = source
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let cache = source.with_file_name("__pycache__");
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(&format!("{stem}."))
        {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// Copies the content of `from` into `to`, with times and links.
fn copy_tree(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .args(["-a", "--"])
        .arg(from.join("."))
        .arg(to)
        .status()
        .unwrap();
    assert!(
        status.success(),
        "cp -a {} {}",
        from.display(),
        to.display()
    );
}
