//! A repository for the tests of one runner, and what `tamis run` does in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// How each test ended, by name.
pub type Endings = BTreeMap<String, String>;

pub struct Workshop {
    world: tempfile::TempDir,
    /// Variables that every command gets.
    pub env: BTreeMap<String, String>,
    /// What the names of tests begin with, which is left away.
    prefix: &'static str,
}

/// The result of one `tamis run --json`.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    /// The tests that ran.
    pub outcomes: Endings,
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

impl Workshop {
    /// A repository with these files (see `harness::text`); git ignores `.tamis` and `ignored`.
    /// Its commands find programs in `folder` first.
    pub fn new(text: &str, ignored: &str, folder: &str, prefix: &'static str) -> Workshop {
        let world = tempfile::Builder::new().prefix("tamis work ").tempdir();
        let world = world.unwrap();
        for folder in ["home", "project", "tmp"] {
            fs_err::create_dir(world.path().join(folder)).unwrap();
        }
        let mut env = BTreeMap::new();
        let path = format!("{folder}:/usr/local/bin:/usr/bin:/bin");
        let home = world.path().join("home").display().to_string();
        let tmp = world.path().join("tmp").display().to_string();
        for (name, value) in [
            ("PATH", path.as_str()),
            ("HOME", &home),
            ("TMPDIR", &tmp),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ] {
            env.insert(name.to_owned(), value.to_owned());
        }
        for who in ["AUTHOR", "COMMITTER"] {
            env.insert(format!("GIT_{who}_NAME"), "A".to_owned());
            env.insert(format!("GIT_{who}_EMAIL"), "a@example.org".to_owned());
        }
        let shop = Workshop { world, env, prefix };
        shop.write(".gitignore", &format!(".tamis/\n{ignored}"));
        for (path, content) in super::files(text) {
            shop.write(&path, &content);
        }
        shop.sh("git init --quiet --initial-branch=main && git add --all && git commit -qm base");
        shop
    }

    /// The same with more variables.
    pub fn with(mut self, env: &[(&str, &str)]) -> Workshop {
        let env = env.iter();
        let env = env.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.env.extend(env);
        self
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

    /// Everything as it was committed, but for what tamis recorded and what is in the folders
    /// `kept`.
    pub fn restore(&self, kept: &[&str]) {
        let kept: String = kept.iter().map(|one| format!(" -e {one}")).collect();
        self.sh(&format!(
            "git checkout -q --force HEAD && git clean -qfdx -e .tamis{kept}"
        ));
    }

    pub fn sh(&self, script: &str) {
        let done = self.command("sh", &["-c", script]);
        assert!(done.status.success(), "{script}: {}", told(&done));
    }

    pub fn command(&self, program: &str, arguments: &[&str]) -> Output {
        let done = Command::new(program)
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .envs(&self.env)
            .output();
        done.unwrap_or_else(|e| panic!("{program}: {e}"))
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
            let name = test.strip_prefix(self.prefix).unwrap_or(&test);
            (name.to_owned(), outcome.as_str().unwrap().to_owned())
        });
        Ran {
            code: done.status.code().unwrap_or(-1),
            outcomes: outcomes.collect(),
            told: told(&done),
        }
    }
}

pub fn told(done: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&done.stdout) + &text(&done.stderr)
}

/// The folder of a program.
pub fn folder_of(program: &str, others: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let others = others.iter().map(PathBuf::from);
    let mut folders = std::env::split_paths(&path).chain(others);
    folders.find(|folder| folder.join(program).is_file())
}
