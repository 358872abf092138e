//! A package for one test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::{Endings, Workshop, everything, folder_of, skip};

/// The versions of vitest that are tried, the one of every run first.
const VERSIONS: [&str; 3] = ["4.1.12", "3.2.4", "2.1.9"];

/// Those to try: `.ci/all` tries all.
pub fn versions() -> &'static [&'static str] {
    if !has_node() {
        return &[];
    }
    if everything() {
        &VERSIONS
    } else {
        &VERSIONS[..1]
    }
}

/// Whether there is a Node with npm; CI must have it.
pub fn has_node() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    let is_there = *THERE.get_or_init(|| folder_of("node", &[]).is_some() && has("npm"));
    if !is_there {
        skip("this needs node and npm");
    }
    is_there
}

fn has(program: &str) -> bool {
    folder_of(program, &[]).is_some()
}

/// The version of jest that is tried.
pub const JEST: &str = "jest@30.5.2";

/// The folder `node_modules` with tools, installed once for all builds. Spaces divide their names.
fn installed(tools: &str) -> PathBuf {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(tools.replace(['@', '/', ' '], "-"));
    let modules = folder.join("node_modules");
    if !folder.join("done").is_file() {
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join("package.json"), "{\"private\": true}\n").unwrap();
        let done = Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
            .args(tools.split(' '))
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        fs_err::write(folder.join("done"), "").unwrap();
    }
    modules
}

/// A repository with these files (see `harness::text`), and vitest where it belongs.
pub fn package(text: &str, version: &str) -> Workshop {
    package_with(text, &format!("vitest@{version}"))
}

/// The same with other tools.
pub fn package_with(text: &str, tools: &str) -> Workshop {
    let shop = plain_package(text);
    let from = installed(tools).display().to_string();
    // Links to the same files: to copy them takes longest.
    shop.sh(&format!(
        "cp -al '{from}' node_modules 2>/dev/null || cp -a '{from}' node_modules"
    ));
    shop.sh("[ ! -d vendor/dep ] || ln -s ../vendor/dep node_modules/dep");
    shop
}

/// The same without vitest.
pub fn plain_package(text: &str) -> Workshop {
    let node = folder_of("node", &[]).unwrap();
    Workshop::new(text, "node_modules/\n", &node.display().to_string(), "")
}

/// What vitest itself finds: how each test file ended, and its status.
pub fn vitest(shop: &Workshop) -> (Endings, i32) {
    // Threads, as these take less time than processes.
    let words = ["run", "--pool=threads", "--reporter=json"];
    plain(shop, "node_modules/.bin/vitest", &words)
}

/// The same of jest.
pub fn jest(shop: &Workshop) -> (Endings, i32) {
    plain(shop, "node_modules/.bin/jest", &["--json", "--no-cache"])
}

fn plain(shop: &Workshop, program: &str, words: &[&str]) -> (Endings, i32) {
    let told = shop.root().join("../told.json");
    let _ = fs_err::remove_file(&told);
    let words = [words, &["--outputFile=../told.json"]].concat();
    let done = shop.command(program, &words);
    let mut endings = Endings::new();
    if let Ok(text) = fs_err::read(&told) {
        let told: Value = serde_json::from_slice(&text).unwrap();
        let root = fs_err::canonicalize(shop.root()).unwrap();
        for file in told["testResults"].as_array().unwrap() {
            let name = Path::new(file["name"].as_str().unwrap());
            let name = name.strip_prefix(&root).unwrap().display().to_string();
            let found = file["assertionResults"].as_array().unwrap();
            let is_skipped =
                |test: &Value| test["status"] == "skipped" || test["status"] == "pending";
            let outcome = match file["status"].as_str() {
                _ if found.is_empty() => "error",
                Some("passed") if found.iter().all(is_skipped) => "skipped",
                Some("passed") => "passed",
                _ => "failed",
            };
            endings.insert(name, outcome.to_owned());
        }
    }
    if !done.status.success() && endings.values().all(|ended| ended == "passed") {
        // An error that no test caught: nobody knows which it was in.
        endings.clear();
    }
    (endings, done.status.code().unwrap_or(-1))
}
