//! A Go module for one test.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::{Endings, Workshop, folder_of, skip};

/// Whether there is a Go that tamis knows; CI must have it.
pub fn has_go() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    let is_there = *THERE.get_or_init(|| folder_of("go", &OTHERS).is_some());
    if !is_there {
        skip("this needs go");
    }
    is_there
}

/// Where Go is, besides the folders of programs.
const OTHERS: [&str; 1] = ["/usr/local/go/bin"];

/// What the names of packages begin with.
const MODULE: &str = "example.com/demo/";

/// A repository with these files (see `harness::text`).
pub fn module(text: &str) -> Workshop {
    let go = folder_of("go", &OTHERS).unwrap();
    // All modules share what was compiled: most of it is Go's library.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
    let shop = Workshop::new(text, "*.gen.go\n", &go.display().to_string(), MODULE);
    shop.with(&[
        ("GOCACHE", &cache.display().to_string()),
        ("GOFLAGS", "-mod=mod"),
        ("GOPROXY", "off"),
        ("GOTOOLCHAIN", "local"),
        ("GOTELEMETRY", "off"),
    ])
}

/// What `go test` itself finds: how each test ended, and its status.
pub fn plain(shop: &Workshop) -> (Endings, i32) {
    let done = shop.command("go", &["test", "-json", "-count=1", "./..."]);
    let mut outcomes = Endings::new();
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
