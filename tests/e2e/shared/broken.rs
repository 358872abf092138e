//! Every kind of shared store behind a server that breaks in every way: all tests run, nothing
//! fails, no secret appears, and it does not take long.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::Server;
use super::*;

/// What the server does with every request. The modes of the second list take as long as tamis
/// allows.
const QUICK: &[&str] = &[
    "401", "403", "404", "410", "loop", "away", "cut", "null", "nulls", "empty", "html", "large",
    "binary",
];
const LONG: &[&str] = &["429", "500", "503", "slow", "drip"];

/// The goal is 30 seconds; a busy machine gets twice the time.
const PATIENCE: Duration = Duration::from_secs(60);

/// The variables with which each store is found below `url`.
fn stores(url: &str) -> Vec<(&'static str, Vec<String>)> {
    let set = |pairs: &[(&str, &str)]| {
        let pair = |(name, value): &(&str, &str)| format!("{name}={value}");
        pairs.iter().map(pair).collect::<Vec<_>>()
    };
    let git = format!(
        "git:{}/remote.git",
        url.replace("//", &format!("//u:{TOKEN}@"))
    );
    let api = format!("{url}/api/v4");
    vec![
        ("git", set(&[("TAMIS_SHARED_STORE", &git)])),
        (
            "github",
            set(&[("TAMIS_SHARED_STORE", "github"), ("GITHUB_API_URL", url)]),
        ),
        (
            "gitlab",
            set(&[
                ("TAMIS_SHARED_STORE", "gitlab"),
                ("CI_API_V4_URL", &api),
                ("CI_PROJECT_ID", "7"),
                ("CI_JOB_TOKEN", TOKEN),
            ]),
        ),
        (
            "s3",
            set(&[
                ("TAMIS_SHARED_STORE", "s3://bucket/x"),
                ("AWS_ENDPOINT_URL", url),
                ("AWS_ALLOW_HTTP", "true"),
                ("AWS_REGION", "us-east-1"),
                ("AWS_ACCESS_KEY_ID", "key"),
                ("AWS_SECRET_ACCESS_KEY", TOKEN),
            ]),
        ),
    ]
}

/// Selects with a store behind the broken server.
fn check(project: &Project, url: &str, mode: &str) {
    for (store, mut variables) in stores(&format!("{url}/{mode}")) {
        let tamis = env!("CARGO_BIN_EXE_tamis");
        variables.extend([tamis, "select", "--json"].map(str::to_owned));
        let arguments: Vec<&str> = variables.iter().map(String::as_str).collect();
        let started = Instant::now();
        let done = project.command("env", &arguments, &project.root());
        let what = format!("{store}, {mode}: {}", done.stderr);
        assert!(started.elapsed() < PATIENCE, "{what}");
        assert_eq!(done.code(), 0, "{what}");
        let json: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(json["mode"], "all", "{what}");
        assert!(!done.stdout.contains(TOKEN), "{what}");
        assert!(!done.stderr.contains(TOKEN), "{what}");
        assert!(done.stderr.lines().count() < 4, "{what}");
    }
}

#[test]
fn whatever_a_service_answers_all_tests_run() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "");
        let server = Server::start(&python.executable(), "broken.py", &[], project.world(), &[]);
        let url = server.url();
        on_main(&mut project);
        let project = &project;
        std::thread::scope(|scope| {
            let url = &url;
            // The modes that wait run in parallel.
            for mode in LONG {
                scope.spawn(move || check(project, url, mode));
            }
            for mode in QUICK.iter().step_by(one_in(4)) {
                check(project, url, mode);
            }
        });
        nothing_tells_the_token(&[project.root()]);
    });
}
