//! Secrets in all possible places at once: not a byte of them is printed, written, or sent.

use bstr::ByteSlice;

use super::git::add_origin;
use super::*;

/// Every variable in which a service or a person may keep a secret.
const VARIABLES: &[&str] = &[
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "CI_JOB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "GOOGLE_API_KEY",
    "ACTIONS_RUNTIME_TOKEN",
    "PYPI_PASSWORD",
    "DB_PASSWD",
    "MY_CREDENTIALS",
    "SERVICE_SECRET",
];

/// A test that reads them, fails with them, prints them, and has them in its name.
const FILES_WITH_SECRETS: &str = r#"
-- test_secret.py --
import os
import subprocess
import sys
import pytest

def test_reads():
    assert os.environ["GITHUB_TOKEN"] and os.environ.get("SERVICE_SECRET")

def test_hands_on():
    subprocess.run([sys.executable, "-c", "import os; os.environ['DB_PASSWD']"], check=True)
"#;

/// All bytes below `folder`; git itself unpacks its objects.
fn holds(folder: &Path, secret: &str) -> Option<PathBuf> {
    for path in files_below(folder) {
        let bytes = fs::read(&path).unwrap();
        let mut texts = vec![bytes];
        if path
            .extension()
            .is_some_and(|extension| extension == "tamis")
        {
            // The compressed content.
            let view = tamis::exposed::matrix::decode(&texts[0]).unwrap();
            texts.push(format!("{view:?}").into_bytes());
        }
        let found = |bytes: &Vec<u8>| bytes.contains_str(secret);
        if texts.iter().any(found) {
            return Some(path);
        }
    }
    None
}

const COMMANDS: [&[&str]; 13] = [
    &["-vv", "run"],
    &[
        "-vv",
        "select",
        "--out",
        ".tamis/out",
        "--shards",
        "2",
        "--dotenv",
        "tamis.env",
        "--here",
    ],
    &["-vv", "--json", "select"],
    &["-vv", "why", "test_secret.py::test_reads"],
    &["-vv", "doctor"],
    &["-vv", "doctor", "--json"],
    &["-vv", "shards", "2"],
    &["-vv", "store", "fetch"],
    &["-vv", "store", "push"],
    &["-vv", "store", "ls"],
    &["-vv", "store", "verify"],
    &["-vv", "replay"],
    &["-vv", "classify"],
];

#[test]
fn not_a_byte_is_told() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES_WITH_SECRETS);
        project.write("tamis.yml", "version: 1\nshared-store: git\n");
        project.commit("configuration");
        let remote = add_origin(&project);
        on_main(&mut project);
        for name in VARIABLES {
            project.set_env(name, Some(TOKEN));
        }
        let key = project.tamis(&["store", "key", "--json"]);
        let key: serde_json::Value = serde_json::from_str(&key.stdout).unwrap();
        let signing = key["secret"].as_str().unwrap().to_owned();
        project.set_env("TAMIS_SIGNING_KEY", Some(&signing));
        for name in ["output", "summary"] {
            project.write(&format!("@outside/{name}"), "");
        }
        for (name, file) in [
            ("GITHUB_OUTPUT", "output"),
            ("GITHUB_STEP_SUMMARY", "summary"),
        ] {
            let path = project
                .path(&format!("@outside/{file}"))
                .display()
                .to_string();
            project.set_env(name, Some(&path));
        }
        let remote_with_password = format!("https://u:{TOKEN}@127.0.0.1:9/x.git");
        let bucket = format!("s3://bucket/{}", "x");
        let stores = [
            "git",
            &format!("git:{remote_with_password}"),
            "github",
            "gitlab",
            &bucket,
            "az://container/x",
            "gs://bucket/x",
        ]
        .map(str::to_owned);
        for (name, value) in [
            ("GITHUB_API_URL", "http://127.0.0.1:9"),
            ("CI_API_V4_URL", "http://127.0.0.1:9/api/v4"),
            ("CI_PROJECT_ID", "7"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("AZURE_ENDPOINT", "http://127.0.0.1:9/account"),
            ("AZURE_ALLOW_HTTP", "true"),
            (
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                &format!(
                    r#"{{"private_key":"{TOKEN}","client_email":"x","private_key_id":"{TOKEN}","gcs_base_url":"http://127.0.0.1:9"}}"#
                ),
            ),
        ] {
            project.set_env(name, Some(value));
        }
        let mut commands = 0;
        for store in &stores {
            project.set_env("TAMIS_SHARED_STORE", Some(store));
            for arguments in COMMANDS {
                let done = project.tamis(arguments);
                commands += 1;
                for secret in [TOKEN, &signing] {
                    for text in [&done.stdout, &done.stderr] {
                        assert!(!text.contains(secret), "{store}: {arguments:?}: {text}");
                    }
                }
            }
            project.write(
                "test_more.py",
                &format!("def test_more():\n    assert '{}'\n", store.len()),
            );
            project.commit("more");
        }
        assert_eq!(commands, 13 * stores.len());
        project.set_env("TAMIS_SHARED_STORE", None);
        unpack(&project, &remote);
        for secret in [TOKEN, &signing] {
            for folder in [
                project.root(),
                remote.clone(),
                project.world().join("outside"),
            ] {
                assert_eq!(holds(&folder, secret), None);
            }
        }
    });
}

/// Writes each file of the shared store to a folder: git compresses them.
fn unpack(project: &Project, remote: &Path) {
    let packs = project.world().join("outside/unpacked");
    fs::create_dir_all(&packs).unwrap();
    let bare = ["--git-dir", remote.to_str().unwrap()];
    let in_remote = |arguments: &[&str]| project.git(&[&bare[..], arguments].concat());
    let reference = in_remote(&["for-each-ref", "--format=%(refname)", "refs/tamis"]);
    let reference = reference.trim();
    let names = in_remote(&["ls-tree", "-r", "--name-only", reference]);
    for name in names.lines() {
        let object = format!("{reference}:{name}");
        let copy = packs.join(name.replace('/', "_"));
        let blob = std::process::Command::new("git")
            .args(bare)
            .args(["cat-file", "blob", &object])
            .output()
            .unwrap();
        fs::write(copy, blob.stdout).unwrap();
    }
    assert!(names.lines().count() >= 2, "{names}");
}
