mod faults;
mod index;

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::files::Listing;
use super::*;
use crate::matrix::Matrix;
use crate::matrix::samples::{key, small};

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
    assert_eq!(store.access(), super::files::Access::Write);
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
    newer[8] = crate::matrix::format::VERSION as u8 + 1;
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let cases = [
        (file(&name("1"), b"PK\x03\x04"), Refusal::NotAMatrix),
        (
            file(&name("2"), &bytes[..bytes.len() - 1]),
            Refusal::Truncated,
        ),
        (file(&name("3"), b""), Refusal::Truncated),
        (
            file(&name("4"), &newer),
            Refusal::NewerFormat(crate::matrix::format::VERSION + 1),
        ),
        (file(&name("5"), &bytes), Refusal::Misnamed),
        (file("copy.tamis", &bytes), Refusal::Misnamed),
        (file("notes.txt", b"hello"), Refusal::NotAMatrix),
    ];
    // A damaged body is found when it is read.
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
    assert_eq!(store.access(), super::files::Access::None);
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
                    // All threads put this one.
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
