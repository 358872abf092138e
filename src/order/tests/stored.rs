//! The stored form.

use proptest::prelude::{prop_assert, proptest};

use super::world::{Act, World, detect};
use crate::matrix::{Fingerprint, Key, Outcome};
use crate::order::dependences::Tested;
use crate::order::resume::Explanation;
use crate::order::*;

fn sample() -> Dependences {
    let mut tests = vec![Vec::new(); 6];
    tests[1] = vec![Act::EndIf((0, 1), Outcome::Failed)];
    tests[4] = vec![Act::Set(0, 1)];
    let (found, _) = detect(&World::of(tests), Strategy::Auto);
    let tested = |at: u8| Tested {
        id: format!("t{at}"),
        row: Some(Fingerprint([at; 16])),
        reference: Some(Outcome::Passed),
        seconds: 0.25,
    };
    Dependences {
        key: Key {
            repository: "0123".to_owned(),
            suite: "pytest".to_owned(),
            environment: "cpython-3.13-linux-x86_64".to_owned(),
        },
        commit: "c".repeat(40),
        tree: "7".repeat(40),
        created: 1,
        tool: "0.1.0".to_owned(),
        tests: (0..6).map(tested).collect(),
        cells: vec!["app:cache".to_owned()],
        data: vec![DataEdge {
            earlier: 1,
            later: 4,
            cell: 0,
            kind: EdgeKind::WriteAfterRead,
        }],
        dirty: Vec::new(),
        explained: vec![Explained {
            test: 1,
            orders: vec![Explanation {
                order: vec![1],
                outcome: Some(Outcome::Passed),
                adds_to: None,
                forked: true,
                fresh: None,
            }],
        }],
        found,
    }
}

#[test]
fn what_is_written_is_read() {
    let written = sample();
    let file = written.encode().unwrap();
    assert_eq!(Dependences::decode(&file).unwrap(), written);
    assert_eq!(written.encode().unwrap(), file);
}

#[test]
fn findings_stand_while_their_rows_do() {
    let known = sample();
    let ids: Vec<String> = (0..7).map(|at| format!("t{at}")).collect();
    let rows = |changed: &[usize]| -> Vec<(&str, Option<Fingerprint>)> {
        let row = |at: usize| match changed.contains(&at) {
            true => None,
            false => Some(Fingerprint([at as u8; 16])),
        };
        ids.iter()
            .enumerate()
            .map(|(at, id)| (id.as_str(), row(at)))
            .collect()
    };
    let now = rows(&[]);
    assert!(known.changed(&now[..6]).is_empty());
    assert_eq!(known.standing(&now[..6]), known.found);
    assert_eq!(known.changed(&now), ["t6"].into());
    assert_eq!(known.standing(&rows(&[2])).dependent, known.found.dependent);
    assert_eq!(known.standing(&rows(&[4])).dependent, []);
    // The polluter is gone.
    assert_eq!(known.standing(&now[..4]).dependent, []);
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let refused = |change: fn(&mut Dependences), why: &str| {
        let mut sample = sample();
        change(&mut sample);
        let error = sample.encode().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(|d| d.tests[0].id = "t1".to_owned(), "twice");
    refused(|d| d.data[0].later = 6, "not there");
    refused(|d| d.data[0].later = 1, "forwards");
    refused(
        |d| d.found.dependent[0].witnesses[0].reverse(),
        "ends with another",
    );
    refused(
        |d| d.explained[0].orders[0].order = vec![6],
        "break the rules",
    );
    refused(
        |d| d.explained[0].orders[0].adds_to = Some(0),
        "break the rules",
    );
    refused(|d| d.explained[0].orders.clear(), "break the rules");
    refused(|d| d.found.schema = 2, "schema");
    let mut newer = sample().encode().unwrap();
    newer[8] = 2;
    let error = Dependences::decode(&newer).unwrap_err().to_string();
    assert!(error.contains("newer"), "{error}");
}

proptest! {
    #[test]
    fn no_damage_goes_unnoticed(at in 0usize..4096, bit in 0u8..8, end in 0usize..4096) {
        let file = sample().encode().unwrap();
        let mut damaged = file.clone();
        damaged[at % file.len()] ^= 1 << bit;
        prop_assert!(Dependences::decode(&damaged).is_err());
        prop_assert!(Dependences::decode(&file[..end % file.len()]).is_err());
    }

    #[test]
    fn anything_is_read_without_a_crash(bytes: Vec<u8>) {
        let mut file = b"\x93tamid\r\n\x01\0\0\0".to_vec();
        file.extend(bytes);
        prop_assert!(Dependences::decode(&file).is_err());
    }
}

/// Corrects length and digest.
fn mend(file: &mut [u8]) {
    if file.len() <= 52 {
        return;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&file[..20]);
    hasher.update(&file[52..]);
    let digest = *hasher.finalize().as_bytes();
    file[20..52].copy_from_slice(&digest);
}

/// They come from other machines.
#[test]
fn damaged_files_are_refused_and_sound_ones_harm_nobody() {
    // The frame is stored plainly, so that damage reaches the JSON.
    let plain = |known: &Dependences| {
        let json = serde_json::to_vec(known).unwrap();
        let mut file = known.encode().unwrap()[..12].to_vec();
        file.extend((json.len() as u64).to_le_bytes());
        file.extend([0; 32]);
        // Magic, one segment of four bytes of size, one last raw block.
        file.extend(0xfd2f_b528_u32.to_le_bytes());
        file.push(0b1010_0000);
        file.extend((json.len() as u32).to_le_bytes());
        let block = (json.len() as u32) << 3 | 1;
        file.extend(&block.to_le_bytes()[..3]);
        file.extend(json);
        mend(&mut file);
        file
    };
    let known = sample();
    assert_eq!(Dependences::decode(&plain(&known)).unwrap(), known);
    let reader = crate::fuzz::Reader {
        name: "dependences",
        seeds: vec![known.encode().unwrap(), plain(&known)],
        words: &[
            "null",
            "true",
            "[]",
            "{}",
            "\"t1\"",
            "\"t4\"",
            "[1,1]",
            "-1",
            "1e308",
            "4294967295",
            "\"witnesses\":[[]]",
            "\"cleaners\":[\"t0\"]",
            "\"reference\":null",
        ],
        mend,
        read: &|bytes| match Dependences::decode(bytes) {
            Ok(read) => {
                let suite = known.tests.iter().map(|test| (test.id.clone(), Vec::new()));
                let suite = Suite::new(suite).unwrap();
                let about = read.about(&suite);
                let joined = known.joined(&read);
                joined.encode().unwrap();
                read.joined(&known).encode().unwrap();
                let seconds = about.tests.iter().map(|test| test.seconds).collect();
                let manifest = Manifest::new(&suite, &about.found, seconds);
                let all = (0..suite.len() as Test).collect();
                let closed = [vec![1], vec![1, 4], vec![0, 1, 2]].map(|selected: Vec<Test>| {
                    manifest.close(&selected.into_iter().collect()).tests.len()
                });
                schedule(&suite, &manifest, 3, Policy::Greedy, &[]);
                format!(
                    "{closed:?} {} {:?}",
                    manifest.relied_on(&all).len(),
                    manifest.tied()
                )
            }
            Err(error) => format!("{error:#}"),
        },
    };
    reader.feed();
}
