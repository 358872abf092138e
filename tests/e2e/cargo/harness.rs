//! A Cargo workspace for one test.

use std::sync::OnceLock;

use crate::harness::{Endings, Workshop, folder_of, skip};

/// Whether there is a Cargo, and functions can be seen here; CI must have both.
pub fn has_cargo() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    let is_there = *THERE.get_or_init(|| {
        cfg!(all(target_os = "linux", target_arch = "x86_64")) && folder_of("cargo", &[]).is_some()
    });
    if !is_there {
        skip("this needs cargo on x86-64");
    }
    is_there
}

/// A repository with these files (see `harness::text`).
pub fn workspace(text: &str) -> Workshop {
    let folder = folder_of("cargo", &[]).unwrap();
    let shop = Workshop::new(text, "target/\n", &folder.display().to_string(), "");
    // What rustup puts there leads to the toolchains.
    let mut found = Vec::new();
    for (name, of_home) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let given = std::env::var_os(name).map(std::path::PathBuf::from);
        let given = given.or_else(|| Some(std::env::home_dir()?.join(of_home)));
        found.extend(given.map(|path| (name, path.display().to_string())));
    }
    let mut env: Vec<(&str, &str)> = found
        .iter()
        .map(|(name, at)| (*name, at.as_str()))
        .collect();
    env.extend([("CARGO_NET_OFFLINE", "true"), ("CARGO_INCREMENTAL", "0")]);
    let shop = shop.with(&env);
    shop.sh("cargo generate-lockfile -q && git add --all && git commit -qm lock --allow-empty");
    shop
}

/// What `cargo test` itself finds: how each test ended, and its status. Integration tests are all
/// of the package `app`.
pub fn plain(shop: &Workshop) -> (Endings, i32) {
    let done = shop.command("sh", &["-c", "cargo test --workspace --no-fail-fast 2>&1"]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut outcomes = Endings::new();
    let mut binary = String::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(running) = line.strip_prefix("Running ") {
            binary = binary_of(running);
            if binary == "app::plain" {
                outcomes.insert(binary.clone(), "passed".to_owned());
            }
        } else if let Some(package) = line.strip_prefix("Doc-tests ") {
            binary = format!("{package} (doc)");
            outcomes.insert(binary.clone(), "passed".to_owned());
        } else if let Some((name, outcome)) = told(line) {
            let is_doc = binary.ends_with("(doc)");
            if is_doc && outcome == "failed" {
                outcomes.insert(binary.clone(), outcome.to_owned());
            } else if !is_doc {
                outcomes.insert(format!("{binary} {name}"), outcome.to_owned());
            }
        } else if line.contains("`-p app --test plain`") {
            outcomes.insert("app::plain".to_owned(), "failed".to_owned());
        }
    }
    (outcomes, done.status.code().unwrap_or(-1))
}

fn binary_of(running: &str) -> String {
    let (source, program) = running.split_once(" (").unwrap();
    let name = program.rsplit('/').next().unwrap();
    let name = name.rsplit_once('-').unwrap().0;
    match source {
        "unittests src/main.rs" => format!("app::bin/{name}"),
        "unittests src/lib.rs" => name.to_owned(),
        _ => format!("app::{name}"),
    }
}

fn told(line: &str) -> Option<(&str, &'static str)> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    match outcome {
        "ok" => Some((name, "passed")),
        "FAILED" => Some((name, "failed")),
        _ => None,
    }
}
