//! Processes that are killed, and disks that are full.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::super::files::Listing;
use super::super::*;
use super::{snapshot, temp};
use crate::matrix::samples::{key, small};

const CHILD_DIR: &str = "TAMIS_TEST_PUT_FOR_EVER";

/// Not a test: what the next one starts, and kills.
#[test]
#[ignore = "runs until it is killed"]
fn put_for_ever() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let store = FsStore::open(dir);
    let mut matrix = small(200, 1);
    if let Some((_, newest)) = store.headers().0.first() {
        matrix.header.created = newest.created;
    }
    for turn in 0.. {
        matrix.header.created += 1;
        matrix.header.run = format!("{}-{turn}", std::process::id());
        store.put(&matrix).unwrap();
        if turn % 3 == 2 {
            let few = GcPolicy {
                keep: Some(5),
                ..GcPolicy::default()
            };
            store.gc(&few, SystemTime::now()).unwrap();
        }
    }
}

#[test]
fn a_kill_at_any_moment_loses_at_most_the_run_in_flight() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let first = store.put(&small(200, 1)).unwrap();
    let mut most = 0;
    for round in 0..50u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "store::tests::faults::put_for_ever"])
            .env(CHILD_DIR, dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wait until it works, then a different part of a put each time.
        let before = store.headers().0;
        let start = SystemTime::now();
        while store.headers().0 == before {
            assert!(
                start.elapsed().unwrap() < Duration::from_secs(60),
                "the child puts nothing"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(round * 7919 % 100_000));
        let seen = store.headers().0;
        child.kill().unwrap();
        child.wait().unwrap();
        let (headers, troubles) = store.headers();
        assert_eq!(troubles, Vec::new(), "round {round}");
        for (path, verdict) in store.verify() {
            assert!(
                matches!(verdict, Verdict::Sound | Verdict::Temporary),
                "{path:?}: {verdict:?}"
            );
        }
        // What was there is there, but for what gc removed: the oldest.
        let oldest_left = headers
            .iter()
            .map(|(_, header)| header.created)
            .min()
            .unwrap();
        for (name, header) in seen {
            assert!(header.created <= oldest_left || headers.iter().any(|(left, _)| *left == name));
        }
        let _ = store.memo(&key());
        let memo = store.memo(&key());
        assert_eq!((memo.notice, memo.troubles), (None, Vec::new()));
        most = most.max(headers.len());
    }
    assert!(most > 2, "{most}: the child never put twice");
    assert!(
        store.load(&first).is_err(),
        "the child's gc removed the oldest"
    );
}

/// Not a test: what the next one starts where a file cannot be written whole.
#[test]
#[ignore = "needs a directory in its environment"]
fn put_where_it_cannot() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let store = FsStore::open(dir);
    // There already, unless this runs by hand on a small disk.
    let _ = store.put(&small(20, 1));
    let error = format!("{:#}", store.put(&small(5000, 2)).unwrap_err());
    assert!(
        error.contains(&store.dir().display().to_string()),
        "{error}"
    );
    assert!(error.contains("make room"), "{error}");
    let (headers, troubles) = store.headers();
    assert_eq!((headers.len(), troubles), (1, Vec::new()));
    assert_eq!(store.load(&headers[0].0), Ok(small(20, 1)));
    assert_eq!(
        Listing::read(store.dir()).unwrap().temporary,
        Vec::<PathBuf>::new()
    );
    // The verdict of the run must not hang on the store: reading still works.
    assert_eq!(store.memo(&key()).candidates("t.py::test_001").count(), 1);
}

/// A limit on file sizes stands for a full disk: the write fails half-way.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_harms_nothing() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    store.put(&small(20, 1)).unwrap();
    let before = snapshot(dir.path());
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" --ignored --exact store::tests::faults::put_where_it_cannot";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD_DIR, dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    assert_eq!(snapshot(dir.path()), before);
}

const ONE_DIR: &str = "TAMIS_TEST_PUT_ONE";

/// Not a test: what the next one kills.
#[test]
#[ignore = "is killed on the way"]
fn put_one() {
    if let Some(dir) = std::env::var_os(ONE_DIR) {
        let store = FsStore::open(dir);
        store.put(&small(20, 2)).unwrap();
        let few = GcPolicy {
            keep: Some(1),
            ..GcPolicy::default()
        };
        store.gc(&few, SystemTime::now()).unwrap();
    }
}

/// Killed at each system call of a process that stores and removes, whatever the
/// call: `TAMIS_E2E_ALL=1` takes every one, else later ones are further apart.
#[cfg(target_os = "linux")]
#[test]
fn a_kill_at_any_system_call_tears_nothing() {
    let strace = |arguments: &[&str], dir: &Path| {
        Command::new("strace")
            .args(arguments)
            .arg(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "store::tests::faults::put_one",
                "--test-threads=1",
            ])
            .env(ONE_DIR, dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
    };
    if strace(&["-f", "-o", "/dev/null"], temp().path()).is_err() {
        assert!(std::env::var_os("CI").is_none(), "strace is not installed");
        return;
    }
    let all = std::env::var_os("TAMIS_E2E_ALL").is_some();
    let (mut call, mut kills) = (1, 0);
    loop {
        let dir = temp();
        let store = FsStore::open(dir.path());
        let first = store.put(&small(20, 1)).unwrap();
        let inject = format!("inject=all:signal=KILL:when={call}");
        let status = strace(&["-f", "-qq", "-o", "/dev/null", "-e", &inject], dir.path()).unwrap();
        let (headers, troubles) = store.headers();
        assert_eq!(troubles, Vec::new(), "call {call}");
        for (path, verdict) in store.verify() {
            let whole = matches!(verdict, Verdict::Sound | Verdict::Temporary);
            assert!(whole, "call {call}: {path:?}: {verdict:?}");
        }
        let names: Vec<Name> = headers.into_iter().map(|(name, _)| name).collect();
        // The new one is there whole before the old one goes.
        assert!(
            names.contains(&first) || store.load(&names[0]) == Ok(small(20, 2)),
            "call {call}"
        );
        let memo = store.memo(&key());
        assert!(memo.candidates("t.py::test_001").count() > 0, "call {call}");
        if status.success() {
            assert_eq!(names.len(), 1);
            break;
        }
        kills += 1;
        call += if all { 1 } else { 1 + call / 6 };
    }
    assert!(kills > 10, "{kills}");
}
