//! Compares the memo index with the matrices, and damages it.

use std::time::UNIX_EPOCH;

use proptest::prelude::*;

use super::super::index::Index;
use super::super::*;
use super::temp;
use crate::matrix::samples::{key, small};
use crate::matrix::{Matrix, Outcome, TestId};

/// The expected content of the index, from the matrices alone: for each test and each distinct
/// set of units with fingerprints the newest usable row, newest first.
fn expected(matrices: &[(Name, Matrix)], test: &str) -> Vec<(Name, u32)> {
    let mut order: Vec<&(Name, Matrix)> = matrices
        .iter()
        .filter(|(_, matrix)| matrix.header.key == key())
        .collect();
    order.sort_by_key(|(name, matrix)| std::cmp::Reverse((matrix.header.created, *name)));
    let mut seen = Vec::new();
    let mut rows = Vec::new();
    for (name, matrix) in order {
        let Some(number) = matrix
            .rows
            .iter()
            .position(|row| row.test == TestId::from(test))
        else {
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
        .flat_map(|(_, matrix)| matrix.tests().map(|(test, _)| test))
        .collect();
    for test in tests {
        let got: Vec<(Name, u32)> = memo
            .candidates(TestId::Test(test))
            .map(|c| (c.matrix, c.row))
            .collect();
        assert_eq!(got, expected(matrices, test), "{test}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Compares the index that grew and shrank with the store, and a rebuilt one, with the
    /// matrices.
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
        // Somebody removes a matrix by hand: the index is out of date and rebuilt.
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
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    let memo = store.memo(&key());
    assert!(memo.notice.is_some_and(|notice| notice.contains("cut off")));
    assert_eq!(memo.index.map(|trouble| trouble.path), Some(path.clone()));
    assert_eq!(store.memo(&key()).index, None);
    assert_eq!(std::fs::read(&path).unwrap(), good);

    let mut newer = good.clone();
    newer[8] = 9;
    std::fs::write(&path, &newer).unwrap();
    let memo = store.memo(&key());
    assert_eq!(
        memo.candidates(TestId::Test(test))
            .map(|c| c.matrix)
            .collect::<Vec<_>>(),
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
    let found: Vec<Name> = second
        .candidates(TestId::Test(test))
        .map(|c| c.matrix)
        .collect();
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

/// Every truncation, every flipped bit, and every other version.
#[test]
fn an_index_is_whole_or_refused() {
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

#[test]
fn damaged_indexes_are_refused() {
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
