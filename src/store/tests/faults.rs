//! Killed processes and full disks.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::super::files::Listing;
use super::super::*;
use super::{snapshot, temp};
use crate::matrix::TestId;
use crate::matrix::samples::{key, small};

const CHILD_DIR: &str = "TAMIS_TEST_PUT_FOR_EVER";

/// Not a test: the next test starts and kills this.
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
        // Wait until it works, then kill it at a different part of a put each time.
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
        // Everything is still there except the oldest matrices, which gc removed.
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

/// Not a test: the next test starts this where a file cannot be written completely.
#[test]
#[ignore = "needs a directory in its environment"]
fn put_where_it_cannot() {
    let Some(dir) = std::env::var_os(CHILD_DIR) else {
        return;
    };
    let store = FsStore::open(dir);
    // It is already there, unless this runs by hand on a small disk.
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
    // The verdict of the run must not depend on the store: reading still works.
    assert_eq!(
        store
            .memo(&key())
            .candidates(TestId::Test("t.py::test_001"))
            .count(),
        1
    );
}

/// A limit on file sizes simulates a full disk: the write fails half-way.
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

/// Not a test: the next test kills this.
#[test]
#[ignore = "is killed on the way"]
fn put_one() {
    if let Some(dir) = std::env::var_os(ONE_DIR) {
        // strace counts calls per thread. After more calls than the starting thread made, the
        // numbers of the calls that count are unique.
        for _ in 0..40 {
            fs_err::write("/dev/null", "a").unwrap();
            assert!(fs_err::read("/dev/null").unwrap().is_empty());
        }
        let store = FsStore::open(dir);
        store.put(&small(20, 2)).unwrap();
        let few = GcPolicy {
            keep: Some(1),
            ..GcPolicy::default()
        };
        store.gc(&few, SystemTime::now()).unwrap();
    }
}

/// The output of strace for `put_one` in `dir`, and whether it succeeded all the same; `None`
/// without strace. A fault is a kind of call and what happens to it.
#[cfg(target_os = "linux")]
fn put_under_strace(dir: &Path, fault: Option<(&str, &str)>) -> Option<(String, bool)> {
    let log = temp();
    let log = log.path().join("log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-o"]).arg(&log);
    if let Some((kind, fault)) = fault {
        // Other calls need not be told of.
        strace.args(["-e", &format!("trace={kind}")]);
        if fault.starts_with("error=") {
            // They need not even stop the process, which took most of the time. A signal only
            // arrives where each call stops it.
            strace.arg("--seccomp-bpf");
        }
        strace.args(["-e", &format!("inject={kind}:{fault}")]);
    }
    let status = strace
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
        .status();
    if status.is_err() {
        assert!(std::env::var_os("CI").is_none(), "strace is not installed");
        return None;
    }
    let shown = String::from_utf8_lossy(&fs_err::read(&log).unwrap()).into_owned();
    Some((shown, status.unwrap().success()))
}

/// Checks a store with one result after a failed `put_one`: the first result is complete, or
/// the new one is. Nothing is torn.
#[cfg(target_os = "linux")]
fn nothing_is_torn(store: &FsStore, first: &Name, what: &str) -> Vec<Name> {
    let (headers, troubles) = store.headers();
    assert_eq!(troubles, Vec::new(), "{what}");
    for (path, verdict) in store.verify() {
        let whole = matches!(verdict, Verdict::Sound | Verdict::Temporary);
        assert!(whole, "{what}: {path:?}: {verdict:?}");
    }
    let names: Vec<Name> = headers.into_iter().map(|(name, _)| name).collect();
    // The new one is complete before the old one is removed.
    assert!(
        store.load(first) == Ok(small(20, 1)) || store.load(&names[0]) == Ok(small(20, 2)),
        "{what}"
    );
    let memo = store.memo(&key());
    assert!(
        memo.candidates(TestId::Test("t.py::test_001")).count() > 0,
        "{what}"
    );
    names
}

/// Injects `fault` into the first, second, … call of `kind` until there are no more calls;
/// strace counts each kind separately. Returns how many there were.
#[cfg(target_os = "linux")]
fn fault_at_every(kind: &str, fault: &str) -> usize {
    let all = std::env::var_os("TAMIS_E2E_ALL").is_some();
    let (mut call, mut faults) = (1, 0);
    loop {
        let dir = temp();
        let store = FsStore::open(dir.path());
        let first = store.put(&small(20, 1)).unwrap();
        let fault = format!("{fault}:when={call}");
        let (shown, _) = put_under_strace(dir.path(), Some((kind, &fault))).unwrap();
        nothing_is_torn(&store, &first, &format!("{kind}:{fault}"));
        if !shown.contains("(INJECTED)") && !shown.contains("killed by SIGKILL") {
            return faults;
        }
        faults += 1;
        call += if all { 1 } else { 1 + call / 6 };
    }
}

/// The kinds of system calls in a process that stores and removes.
#[cfg(target_os = "linux")]
fn kinds_of_calls() -> Option<std::collections::BTreeSet<String>> {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let first = store.put(&small(20, 1)).unwrap();
    let (shown, went_well) = put_under_strace(dir.path(), None)?;
    assert!(went_well, "{shown}");
    assert_eq!(nothing_is_torn(&store, &first, "no fault").len(), 1);
    let of_line = |line: &str| {
        let call = line.split_once(' ')?.1.trim_start();
        Some(call.split_once('(')?.0.to_owned())
    };
    let is_name = |kind: &String| {
        kind.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    Some(shown.lines().filter_map(of_line).filter(is_name).collect())
}

/// Kills a process that stores and removes at each system call. `TAMIS_E2E_ALL=1` tries every
/// call; otherwise later ones are farther apart.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "how much was tried")]
fn a_kill_at_any_system_call_tears_nothing() {
    let Some(kinds) = kinds_of_calls() else {
        return;
    };
    for begin in ["fsync", "rename", "unlink", "write"] {
        let is_there = kinds.iter().any(|kind| kind.starts_with(begin));
        assert!(is_there, "{begin} is not in {kinds:?}");
    }
    let mut kills = 0;
    for kind in &kinds {
        kills += fault_at_every(kind, "signal=KILL");
    }
    eprintln!("{kills} kills, {} kinds of calls", kinds.len());
    assert!(kills > kinds.len(), "{kills}");
}

/// A full disk, a broken disk, lost permissions, at each call that changes something.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "how much was tried")]
fn an_error_at_any_call_that_writes_harms_nothing() {
    let Some(kinds) = kinds_of_calls() else {
        return;
    };
    let changing = [
        "close",
        "fallocate",
        "fdatasync",
        "flock",
        "fsync",
        "ftruncate",
        "link",
        "mkdir",
        "openat",
        "rename",
        "unlink",
        "write",
    ];
    let changes = |kind: &&String| changing.iter().any(|begin| kind.starts_with(begin));
    for error in ["ENOSPC", "EIO", "EACCES"] {
        let mut faults = 0;
        for kind in kinds.iter().filter(changes) {
            let times = fault_at_every(kind, &format!("error={error}"));
            assert!(times > 0, "{error}, {kind}");
            faults += times;
        }
        eprintln!("{faults} times {error}");
        assert!(faults > 10, "{error}: {faults}");
    }
}
