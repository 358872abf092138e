use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;

use super::files::Listing;
use super::*;
use crate::matrix::samples::{key, small};
use crate::matrix::{Matrix, Outcome};

fn temp() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn at(matrix: &Matrix) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(matrix.header.created)
}

/// Bytes of every file of a directory, by name.
fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap_or_default()))
        .collect();
    files.sort();
    files
}

#[test]
fn what_is_put_is_loaded() {
    let dir = temp();
    let store = FsStore::open(dir.path().join("a/b/store"));
    assert_eq!(store.access(), Access::Write);
    assert_eq!(store.headers(), (Vec::new(), Vec::new()));
    assert!(!store.dir().exists(), "reading makes nothing");
    let (older, newer) = (small(5, 1), small(5, 2));
    let older_name = store.put(&older).unwrap();
    let newer_name = store.put(&newer).unwrap();
    assert_eq!(store.put(&older).unwrap(), older_name);
    assert_eq!(store.load(&older_name), Ok(older.clone()));
    assert_eq!(store.view(&newer_name).unwrap().header(), &newer.header);
    let wanted = vec![(newer_name, newer.header), (older_name, older.header)];
    assert_eq!(store.headers(), (wanted, Vec::new()));
    assert!(
        store
            .verify()
            .iter()
            .all(|(_, verdict)| *verdict == Verdict::Sound)
    );
    assert_eq!(store.verify().len(), 3, "two matrices and the index");
}

#[test]
fn refused_files_are_named_and_stay() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let good = store.put(&small(3, 1)).unwrap();
    let bytes = std::fs::read(store.path_of(&good)).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let name = |digit: &str| format!("{}.tamis", digit.repeat(64));
    let mut newer = bytes.clone();
    newer[8] = 2;
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let cases = [
        (file(&name("1"), b"PK\x03\x04"), Refusal::NotAMatrix),
        (
            file(&name("2"), &bytes[..bytes.len() - 1]),
            Refusal::Truncated,
        ),
        (file(&name("3"), b""), Refusal::Truncated),
        (file(&name("4"), &newer), Refusal::NewerFormat(2)),
        (file(&name("5"), &bytes), Refusal::Misnamed),
        (file("copy.tamis", &bytes), Refusal::Misnamed),
        (file("notes.txt", b"hello"), Refusal::NotAMatrix),
    ];
    // A damaged body shows when it is read.
    let body = store.put(&small(3, 2)).unwrap();
    let body = store.path_of(&body);
    let mut damaged = std::fs::read(&body).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(&body, damaged).unwrap();

    let before = snapshot(dir.path());
    let (headers, troubles) = store.headers();
    assert_eq!(headers.len(), 2);
    let verdicts = store.verify();
    for (path, refusal) in &cases {
        let trouble = Trouble {
            path: path.clone(),
            refusal: refusal.clone(),
        };
        assert!(troubles.contains(&trouble), "{trouble}");
        assert!(verdicts.contains(&(path.clone(), Verdict::Refused(refusal.clone()))));
    }
    assert_eq!(troubles.len(), cases.len());
    assert!(verdicts.contains(&(body.clone(), Verdict::Refused(Refusal::DigestMismatch))));
    // Recording the damaged one again does not overwrite it.
    let error = format!("{:#}", store.put(&small(3, 2)).unwrap_err());
    assert!(error.contains(&body.display().to_string()), "{error}");
    assert_eq!(snapshot(dir.path()), before);

    let keep_one = GcPolicy {
        keep: Some(1),
        ..GcPolicy::default()
    };
    let report = store.gc(&keep_one, at(&small(3, 2))).unwrap();
    assert_eq!((report.removed, report.kept), (Vec::new(), 1));
    assert_eq!(report.refused.len(), cases.len() + 1);
    assert!(
        store.load(&good).is_ok(),
        "the newest that can be read stays"
    );
    let told = GcPolicy {
        remove_refused: true,
        ..keep_one
    };
    let report = store.gc(&told, at(&small(3, 2))).unwrap();
    assert_eq!(report.removed.len(), cases.len(), "all but the text file");
    assert!(dir.path().join("notes.txt").exists());
    assert!(store.load(&good).is_ok());
}

#[test]
fn a_file_in_the_place_of_the_store_is_an_error_with_a_next_step() {
    let dir = temp();
    let file = dir.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let store = FsStore::open(&file);
    assert_eq!(store.access(), Access::None);
    let (headers, troubles) = store.headers();
    assert!(headers.is_empty());
    assert_eq!(troubles[0].path, file);
    let error = format!("{:#}", store.put(&small(2, 1)).unwrap_err());
    assert!(error.contains(&file.display().to_string()), "{error}");
    assert!(error.contains("make it writable"), "{error}");
    assert_eq!(store.memo(&key()).troubles.len(), 1);
    assert_eq!(std::fs::read(&file).unwrap(), b"x");
}

#[test]
fn gc_keeps_what_the_policy_says() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let matrices: Vec<Matrix> = (1..=6).map(|state| small(4, state)).collect();
    let names: Vec<Name> = matrices
        .iter()
        .map(|matrix| store.put(matrix).unwrap())
        .collect();
    let mut other = small(4, 0);
    other.header.key.suite = "other".into();
    let other = store.put(&other).unwrap();
    let now = at(&matrices[5]);
    let left = |store: &FsStore| -> Vec<Name> {
        store.headers().0.iter().map(|(name, _)| *name).collect()
    };

    let nothing = store.gc(&GcPolicy::default(), now).unwrap();
    assert_eq!((nothing.kept, nothing.removed.len()), (7, 0));
    let dry = GcPolicy {
        keep: Some(2),
        dry_run: true,
        ..GcPolicy::default()
    };
    assert_eq!(store.gc(&dry, now).unwrap().removed.len(), 4);
    assert_eq!(left(&store).len(), 7);
    let old = GcPolicy {
        max_age: Some(Duration::from_secs(4)),
        ..GcPolicy::default()
    };
    assert_eq!(
        store.gc(&old, now).unwrap().removed,
        vec![store.path_of(&names[0])]
    );
    let few = GcPolicy {
        keep: Some(3),
        ..GcPolicy::default()
    };
    store.gc(&few, now).unwrap();
    assert_eq!(left(&store), vec![names[5], names[4], names[3], other]);
    let none = GcPolicy {
        keep: Some(0),
        max_bytes: Some(0),
        max_age: Some(Duration::ZERO),
        ..few
    };
    store.gc(&none, now + Duration::from_secs(1000)).unwrap();
    assert_eq!(
        left(&store),
        vec![names[5], other],
        "the newest of each key always stays"
    );
    assert_eq!(
        store.memo(&key()).notice,
        None,
        "gc kept the index up to date"
    );
}

#[test]
fn gc_removes_temporary_files_when_they_are_a_day_old() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    store.put(&small(1, 1)).unwrap();
    let left = dir.path().join(".tmp-killed");
    std::fs::write(&left, "half a matr").unwrap();
    assert!(store.verify().contains(&(left.clone(), Verdict::Temporary)));
    let now = SystemTime::now();
    store.gc(&GcPolicy::default(), now).unwrap();
    assert!(left.exists());
    store
        .gc(&GcPolicy::default(), now + Duration::from_secs(25 * 3600))
        .unwrap();
    assert!(!left.exists());
}

#[test]
fn concurrent_writers_lose_nothing() {
    let dir = temp();
    std::thread::scope(|scope| {
        for writer in 0..8u8 {
            let dir = dir.path();
            scope.spawn(move || {
                let store = FsStore::open(dir);
                for turn in 0..5 {
                    store.put(&small(6, writer * 5 + turn)).unwrap();
                    // All put this one.
                    store.put(&small(6, 200)).unwrap();
                }
            });
        }
    });
    let store = FsStore::open(dir.path());
    let (headers, troubles) = store.headers();
    assert_eq!((headers.len(), troubles), (41, Vec::new()));
    assert!(
        store
            .verify()
            .iter()
            .all(|(_, verdict)| *verdict == Verdict::Sound)
    );
    let _ = store.memo(&key());
    assert_eq!(store.memo(&key()).notice, None);
    assert_eq!(
        Listing::read(dir.path()).unwrap().temporary,
        Vec::<PathBuf>::new()
    );
}

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
            .args(["--ignored", "--exact", "store::tests::put_for_ever"])
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

/// What the index must say, from the matrices alone: for each test and
/// distinct set of units with fingerprints the newest usable row, newest first.
fn expected(matrices: &[(Name, Matrix)], test: &str) -> Vec<(Name, u32)> {
    let mut order: Vec<&(Name, Matrix)> = matrices
        .iter()
        .filter(|(_, matrix)| matrix.header.key == key())
        .collect();
    order.sort_by_key(|(name, matrix)| std::cmp::Reverse((matrix.header.created, *name)));
    let mut seen = Vec::new();
    let mut rows = Vec::new();
    for (name, matrix) in order {
        let Some(number) = matrix.rows.iter().position(|row| row.test == test) else {
            continue;
        };
        let row = &matrix.rows[number];
        let units: Vec<_> = matrix
            .units_of(row)
            .iter()
            .map(|id| matrix.units[*id as usize].clone())
            .collect();
        if row.is_usable() && !seen.contains(&units) {
            seen.push(units);
            rows.push((*name, number as u32));
        }
    }
    rows
}

fn assert_memo(store: &FsStore, matrices: &[(Name, Matrix)]) {
    let memo = store.memo(&key());
    let tests: std::collections::BTreeSet<&str> = matrices
        .iter()
        .flat_map(|(_, matrix)| matrix.rows.iter().map(|row| row.test.as_str()))
        .collect();
    for test in tests {
        let got: Vec<(Name, u32)> = memo.candidates(test).map(|c| (c.matrix, c.row)).collect();
        assert_eq!(got, expected(matrices, test), "{test}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The index that grew and shrank with the store, and the one made anew,
    /// against the matrices themselves.
    #[test]
    fn the_memo_index_says_what_the_matrices_say(
        states in proptest::collection::vec((0u8..4, 1u32..6, 0u64..9, any::<bool>(), 0u32..9), 1..8),
        keep in 1usize..5,
        gone in any::<prop::sample::Index>(),
    ) {
        let dir = temp();
        let store = FsStore::open(dir.path());
        let mut matrices = Vec::new();
        for (state, tests, created, ours, failed) in states {
            let mut matrix = small(tests, state);
            matrix.header.created = created;
            if !ours {
                matrix.header.key.environment = "other".into();
            }
            if let Some(row) = matrix.rows.get_mut(failed as usize) {
                row.outcome = Outcome::Failed;
            }
            let name = store.put(&matrix).unwrap();
            matrices.retain(|(other, _)| *other != name);
            matrices.push((name, matrix));
        }
        prop_assert_eq!(store.memo(&key()).notice, None);
        assert_memo(&store, &matrices);
        let few = GcPolicy { keep: Some(keep), ..GcPolicy::default() };
        store.gc(&few, UNIX_EPOCH).unwrap();
        let left = store.headers().0;
        matrices.retain(|(name, _)| left.iter().any(|(other, _)| other == name));
        prop_assert_eq!(store.memo(&key()).notice, None);
        assert_memo(&store, &matrices);
        // Someone removes any matrix by hand: found out of date, made anew.
        let (name, _) = matrices.remove(gone.index(matrices.len()));
        std::fs::remove_file(store.path_of(&name)).unwrap();
        prop_assert!(store.memo(&key()).notice.is_some());
        prop_assert_eq!(store.memo(&key()).notice, None);
        assert_memo(&store, &matrices);
        std::fs::remove_file(dir.path().join("index")).unwrap();
        assert_memo(&store, &matrices);
        prop_assert_eq!(store.memo(&key()).notice, None);
    }
}

#[test]
fn a_damaged_index_is_made_anew_and_a_newer_one_is_left_alone() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let name = store.put(&small(3, 1)).unwrap();
    let path = dir.path().join("index");
    let good = std::fs::read(&path).unwrap();
    let test = "t.py::test_001";
    for len in 0..good.len() {
        assert!(index::Index::decode(&good[..len]).is_err(), "{len}");
    }
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(index::Index::decode(&bytes).is_err(), "bit {bit}");
    }
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    let memo = store.memo(&key());
    assert!(memo.notice.is_some_and(|notice| notice.contains("cut off")));
    assert_eq!(std::fs::read(&path).unwrap(), good);

    let mut newer = good.clone();
    newer[8] = 9;
    std::fs::write(&path, &newer).unwrap();
    let memo = store.memo(&key());
    assert_eq!(
        memo.candidates(test).map(|c| c.matrix).collect::<Vec<_>>(),
        vec![name]
    );
    assert!(memo.notice.is_some_and(|notice| notice.contains("newer")));
    store.put(&small(3, 2)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), newer);
}

#[test]
fn a_damaged_matrix_is_reported_every_time_but_indexed_around() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let good = store.put(&small(3, 1)).unwrap();
    let path = dir.path().join(format!("{}.tamis", "0".repeat(64)));
    std::fs::write(&path, "no matrix").unwrap();
    let wanted = vec![Trouble {
        path,
        refusal: Refusal::NotAMatrix,
    }];
    let first = store.memo(&key());
    assert_eq!((first.notice.is_some(), &first.troubles), (true, &wanted));
    let second = store.memo(&key());
    assert_eq!((second.notice.as_ref(), &second.troubles), (None, &wanted));
    let test = "t.py::test_001";
    let found: Vec<Name> = second.candidates(test).map(|c| c.matrix).collect();
    assert_eq!(found, vec![good]);
}

/// One row in hundreds of matrices costs the index one entry.
#[test]
fn repeated_rows_do_not_grow_the_index() {
    let dir = temp();
    let store = FsStore::open(dir.path());
    let path = dir.path().join("index");
    let mut matrix = small(300, 1);
    store.put(&matrix).unwrap();
    let one = std::fs::metadata(&path).unwrap().len();
    for turn in 0..30 {
        matrix.header.created += 1;
        matrix.header.run = format!("turn {turn}");
        store.put(&matrix).unwrap();
    }
    let many = std::fs::metadata(&path).unwrap().len();
    assert!(
        many < one + 30 * 200,
        "{one} bytes for one matrix, {many} for 31"
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
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" --ignored --exact store::tests::put_where_it_cannot";
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

/// Every truncation, every flipped bit, and every other version.
#[test]
fn an_index_is_whole_or_refused() {
    use super::index::Index;

    let dir = temp();
    let store = FsStore::open(dir.path());
    store.put(&small(2, 1)).unwrap();
    let _ = store.memo(&key());
    let mut bytes = std::fs::read(dir.path().join("index")).unwrap();
    assert!(Index::decode(&bytes).is_ok());
    for len in 0..bytes.len() {
        assert!(Index::decode(&bytes[..len]).is_err(), "{len} bytes");
    }
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(Index::decode(&bytes).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    for (version, wanted) in [
        (0, Refusal::Malformed("there is no format 0".into())),
        (2, Refusal::NewerFormat(2)),
        (3, Refusal::NewerFormat(3)),
    ] {
        bytes[8] = version;
        assert_eq!(Index::decode(&bytes), Err(wanted));
    }
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
                "store::tests::put_one",
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

#[test]
fn damaged_indexes_are_refused() {
    use super::index::Index;

    let dir = temp();
    let store = FsStore::open(dir.path());
    let seed = || std::fs::read(dir.path().join("index")).unwrap();
    store.put(&small(3, 1)).unwrap();
    let _ = store.memo(&key());
    let one = seed();
    let mut other = small(2, 3);
    other.header.key.suite = "other".into();
    store.put(&other).unwrap();
    store.put(&small(5, 2)).unwrap();
    let _ = store.memo(&key());
    let reader = crate::fuzz::Reader {
        name: "store index",
        seeds: vec![one, seed()],
        words: &["null", "\"key\":", "\"tests\":", "\"raw\":", "[", "{}"],
        mend: |bytes| {
            if bytes.len() < 48 {
                return;
            }
            let mut hasher = blake3::Hasher::new();
            hasher.update(&bytes[..16]).update(&bytes[48..]);
            let digest = hasher.finalize();
            bytes[16..48].copy_from_slice(digest.as_bytes());
        },
        read: &|bytes| match Index::decode(bytes) {
            Ok(index) => format!("read {}", index.covered.len()),
            Err(refusal) => refusal.to_string(),
        },
    };
    reader.feed();
}
