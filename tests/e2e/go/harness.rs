//! A Go module for one test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::skip;

/// Whether there is a Go that tamis knows; CI must have it.
pub fn has_go() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    let is_there = *THERE.get_or_init(|| go_folder().is_some());
    if !is_there {
        skip("this needs go");
    }
    is_there
}

/// The folder of the program `go`.
fn go_folder() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path).chain(["/usr/local/go/bin".into()]);
    folders.find(|folder| folder.join("go").is_file())
}

/// What the names of packages begin with.
const MODULE: &str = "example.com/demo/";

/// How each test ended, by name.
pub type Outcomes = BTreeMap<String, String>;

pub struct Module {
    world: tempfile::TempDir,
    pub env: BTreeMap<String, String>,
}

/// The result of one `tamis run --json`.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    /// The tests that ran.
    pub outcomes: Outcomes,
    pub told: String,
}

impl Ran {
    #[track_caller]
    pub fn are(&self, tests: &[&str]) {
        let ran: BTreeSet<&str> = self.outcomes.keys().map(String::as_str).collect();
        let wanted: BTreeSet<&str> = tests.iter().copied().collect();
        assert_eq!(ran, wanted, "{}", self.told);
    }
}

impl Module {
    /// A repository with these files (see `harness::text`).
    pub fn new(text: &str) -> Module {
        let world = tempfile::Builder::new().prefix("tamis go ").tempdir();
        let module = Module {
            world: world.unwrap(),
            env: BTreeMap::new(),
        };
        for folder in ["home", "project", "tmp"] {
            fs_err::create_dir(module.world.path().join(folder)).unwrap();
        }
        module.write(".gitignore", ".tamis/\n*.gen.go\n");
        for (path, content) in crate::harness::files(text) {
            module.write(&path, &content);
        }
        module.sh("git init --quiet --initial-branch=main && git add --all && git commit -qm base");
        module
    }

    pub fn root(&self) -> PathBuf {
        self.world.path().join("project")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Replaces the only occurrence of a text in a file.
    #[track_caller]
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = fs_err::read_to_string(self.root().join(path)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{path}: {from}");
        self.write(path, &text.replacen(from, to, 1));
    }

    /// Everything as it was committed, but for what tamis recorded.
    pub fn restore(&self) {
        self.sh("git checkout -q --force HEAD && git clean -qfdx -e .tamis");
    }

    pub fn sh(&self, script: &str) {
        let done = self.command("sh", &["-c", script]);
        assert!(done.status.success(), "{script}: {}", told(&done));
    }

    pub fn command(&self, program: &str, arguments: &[&str]) -> Output {
        let home = self.world.path().join("home");
        let go = go_folder().unwrap();
        // All modules share what was compiled: most of it is Go's library.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env(
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", go.display()),
            )
            .env("HOME", &home)
            .env("TMPDIR", self.world.path().join("tmp"))
            .env("GOCACHE", cache)
            .env("GOFLAGS", "-mod=mod")
            .env("GOPROXY", "off")
            .env("GOTOOLCHAIN", "local")
            .env("GOTELEMETRY", "off")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "A");
            command.env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        command.envs(&self.env);
        command
            .output()
            .unwrap_or_else(|e| panic!("{program}: {e}"))
    }

    pub fn tamis(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_tamis"), arguments)
    }

    pub fn run(&self) -> Ran {
        self.run_with(&[])
    }

    /// `tamis run --json` with these words behind.
    #[track_caller]
    pub fn run_with(&self, more: &[&str]) -> Ran {
        let done = self.tamis(&[&["run", "--json"], more].concat());
        let json: Value =
            serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", told(&done)));
        let outcomes = json["outcomes"].as_object().cloned().unwrap_or_default();
        let outcomes = outcomes.into_iter().map(|(test, outcome)| {
            let name = test.strip_prefix(MODULE).unwrap_or(&test);
            (name.to_owned(), outcome.as_str().unwrap().to_owned())
        });
        Ran {
            code: done.status.code().unwrap_or(-1),
            outcomes: outcomes.collect(),
            told: told(&done),
        }
    }

    /// What `go test` itself finds: how each test ended, and its status.
    pub fn plain(&self) -> (Outcomes, i32) {
        let done = self.command("go", &["test", "-json", "-count=1", "./..."]);
        let mut outcomes = Outcomes::new();
        for line in String::from_utf8_lossy(&done.stdout).lines() {
            let Ok(event) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            // One that fails without a failing test leaves open which of them did.
            let package = event["Package"].as_str().unwrap_or_default();
            let package = package.strip_prefix(MODULE).unwrap_or(package).to_owned();
            if event["Action"] == "fail" && event["Test"].is_null() {
                let own = outcomes.iter_mut();
                let start = format!("{package}.");
                let mut own: Vec<_> = own.filter(|(test, _)| test.starts_with(&start)).collect();
                if own.iter().all(|(_, outcome)| *outcome == "passed") {
                    own.iter_mut()
                        .for_each(|(_, outcome)| **outcome = "failed".to_owned());
                }
                continue;
            }
            let outcome = match event["Action"].as_str() {
                Some("pass" | "skip") => "passed",
                Some("fail") => "failed",
                _ => continue,
            };
            if let Some(test) = event["Test"].as_str().filter(|test| !test.contains('/')) {
                outcomes.insert(format!("{package}.{test}"), outcome.to_owned());
            }
        }
        (outcomes, done.status.code().unwrap_or(-1))
    }
}

pub fn told(done: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&done.stdout) + &text(&done.stderr)
}
