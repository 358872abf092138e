use std::cell::{Cell, RefCell};

use super::error::{Deadline, RemoteError, Result};
use super::*;
use crate::matrix::samples::{key, small};
use crate::matrix::{Header, encode};
use crate::store::FsStore;
use crate::trust::{SecretKey, Standing};

/// A shared store in memory that counts requests.
#[derive(Default)]
struct Shelf {
    packs: RefCell<Vec<Vec<u8>>>,
    known: Option<Writer>,
    broken: Option<RemoteError>,
    shows_manifests: bool,
    gets: Cell<usize>,
}

impl Remote for Shelf {
    fn place(&self) -> String {
        "memory".into()
    }

    fn offers(&self, _: &Wanted, _: &Deadline) -> Result<Listed> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let packs = self.packs.borrow();
        let offers = packs.iter().enumerate().rev().map(|(at, bytes)| {
            let (manifest, _) = Manifest::read(bytes).unwrap();
            Offer {
                id: at.to_string(),
                commit: manifest.commit.clone(),
                tree: Some(manifest.tree.clone()),
                created: manifest.created,
                environment: None,
                hint: Hint::default(),
                manifest: self.shows_manifests.then_some(manifest),
            }
        });
        Ok(Listed {
            offers: offers.collect(),
            damaged: Vec::new(),
        })
    }

    fn mend(&self) -> String {
        "forget them".into()
    }

    fn attest(&self, _: &Offer, _: &Deadline) -> Result<Option<Writer>> {
        Ok(self.known.clone())
    }

    fn get(&self, offer: &Offer, _: &Deadline) -> Result<Vec<u8>> {
        self.gets.set(self.gets.get() + 1);
        Ok(self.packs.borrow()[offer.id.parse::<usize>().unwrap()].clone())
    }

    fn put(&self, pack: &Pack, _: &Deadline) -> Result<()> {
        self.packs.borrow_mut().push(pack.encode());
        Ok(())
    }

    fn worth(&self) -> usize {
        2
    }
}

fn main_branch() -> Writer {
    Writer {
        provider: "github".into(),
        repository: "o/r".into(),
        event: "push".into(),
        reference: "refs/heads/main".into(),
        ..Writer::default()
    }
}

fn policy() -> Policy {
    Policy {
        repository: "o/r".into(),
        refs: vec!["main".parse().unwrap()],
        events: vec!["push".into()],
        ..Policy::default()
    }
}

fn commit(number: u8) -> String {
    format!("{number:02x}").repeat(20)
}

fn pack(number: u8, writer: Writer, change: impl FnOnce(&mut Header)) -> Pack {
    let mut matrix = small(3, number);
    matrix.header.commit = commit(number);
    matrix.header.tree = commit(number + 100);
    matrix.header.dirty.clear();
    change(&mut matrix.header);
    let bytes = encode(&matrix).unwrap();
    let name = crate::matrix::format::Prefix::read(&bytes).unwrap().digest;
    let manifest = Manifest::of(&matrix.header, &name, bytes.len() as u64, writer);
    Pack {
        manifest,
        matrix: bytes,
        dependences: None,
    }
}

fn wanted(commits: &[u8]) -> Wanted {
    Wanted {
        tree: "f".repeat(40),
        commits: commits.iter().map(|number| commit(*number)).collect(),
        local: commits.len(),
        ..Wanted::default()
    }
}

struct World {
    shared: Shared,
    store: FsStore,
    _dir: tempfile::TempDir,
}

impl World {
    fn new(shelf: Shelf, packs: &[Pack]) -> World {
        let deadline = Deadline::after(std::time::Duration::from_secs(60));
        for pack in packs {
            shelf.put(pack, &deadline).unwrap();
        }
        let dir = tempfile::tempdir().unwrap();
        World {
            shared: Shared {
                remote: Box::new(shelf),
                policy: policy(),
                public_key: None,
                reader: main_branch(),
                listed: None,
            },
            store: FsStore::open(dir.path()),
            _dir: dir,
        }
    }

    fn bring(&self, wanted: &Wanted) -> Brought {
        bring(&self.shared, &self.store, wanted, &|manifest| {
            manifest.key == key()
        })
    }

    /// The commits in the local store.
    fn local(&self) -> Vec<String> {
        let (headers, troubles) = self.store.headers();
        assert_eq!(troubles, []);
        let mut commits: Vec<_> = headers
            .into_iter()
            .map(|(_, header)| header.commit)
            .collect();
        commits.sort();
        commits
    }
}

fn shown() -> Shelf {
    Shelf {
        shows_manifests: true,
        ..Shelf::default()
    }
}

#[test]
fn the_nearest_are_taken_and_no_more_than_are_worth_it() {
    let packs: Vec<Pack> = (1..8).map(|n| pack(n, main_branch(), |_| {})).collect();
    let world = World::new(shown(), &packs);
    let brought = world.bring(&wanted(&[9, 3, 8, 5, 1]));
    assert_eq!(world.local(), [commit(3), commit(5)]);
    assert_eq!(brought.trouble, None);
    assert!(
        brought
            .taken
            .iter()
            .all(|taken| taken.standing == Standing::Trusted)
    );
}

#[test]
fn what_is_no_nearer_than_local_results_is_not_asked_for() {
    let world = World::new(shown(), &[pack(5, main_branch(), |_| {})]);
    let mut wanted = wanted(&[9, 8, 5]);
    (wanted.local, wanted.has_local) = (2, true);
    assert_eq!(world.bring(&wanted).taken, []);
    wanted.local = 3;
    assert_eq!(world.bring(&wanted).taken.len(), 1);
}

#[test]
fn the_same_files_come_first_wherever_they_were_recorded() {
    let same = |header: &mut Header| header.tree = "f".repeat(40);
    let packs = [
        pack(1, main_branch(), |_| {}),
        pack(70, main_branch(), same),
    ];
    let world = World::new(shown(), &packs);
    let brought = world.bring(&wanted(&[1]));
    let commits: Vec<_> = brought
        .taken
        .into_iter()
        .map(|taken| taken.commit)
        .collect();
    assert_eq!(commits, [commit(70), commit(1)]);
}

#[test]
fn without_an_ancestor_the_most_recent_is_taken_if_there_is_nothing_else() {
    let packs = [
        pack(1, main_branch(), |_| {}),
        pack(2, main_branch(), |_| {}),
    ];
    let world = World::new(shown(), &packs);
    let mut none = wanted(&[9]);
    none.has_local = true;
    assert_eq!(world.bring(&none).taken, []);
    none.has_local = false;
    assert_eq!(world.bring(&none).taken[0].commit, commit(2));
}

#[test]
fn of_other_suites_and_untrusted_writers_nothing_is_taken_or_even_downloaded() {
    let fork = Writer {
        event: "pull_request".into(),
        fork: true,
        pr: Some(5),
        head: "e/r:main".into(),
        ..main_branch()
    };
    let other = |header: &mut Header| header.key.suite = "other".into();
    let packs = [pack(1, fork, |_| {}), pack(2, main_branch(), other)];
    let world = World::new(shown(), &packs);
    let brought = world.bring(&wanted(&[1, 2]));
    assert_eq!((brought.taken, world.local()), (vec![], vec![]));
    assert_eq!(brought.refused.values().sum::<usize>(), 2);
    // A store without manifests: the pack is refused after the download.
    let hidden = World::new(Shelf::default(), &packs);
    assert_eq!(hidden.bring(&wanted(&[1, 2])).taken, []);
    assert_eq!(hidden.local(), [""; 0]);
}

#[test]
fn a_store_that_knows_its_writers_is_believed_more_than_they_are() {
    let known = Writer {
        event: "pull_request".into(),
        head: "o/r:topic".into(),
        reference: String::new(),
        ..main_branch()
    };
    let shelf = Shelf {
        known: Some(known),
        ..Shelf::default()
    };
    let world = World::new(shelf, &[pack(1, main_branch(), |_| {})]);
    let brought = world.bring(&wanted(&[1]));
    assert_eq!((brought.taken, world.local()), (vec![], vec![]));
    assert_eq!(brought.refused.len(), 1);
}

#[test]
fn with_a_key_only_signed_results_count() {
    let secret = SecretKey::from_bytes([4; 32]);
    let mut signed = pack(1, main_branch(), |_| {});
    signed.manifest.sign(&secret);
    let mut foreign = pack(2, main_branch(), |_| {});
    foreign.manifest.sign(&SecretKey::from_bytes([5; 32]));
    let packs = [signed, foreign, pack(3, main_branch(), |_| {})];
    let mut world = World::new(shown(), &packs);
    world.shared.public_key = Some(secret.public());
    world.shared.policy.needs_signature = true;
    let brought = world.bring(&wanted(&[1, 2, 3]));
    assert_eq!(world.local(), [commit(1)]);
    // An unsigned one is somebody else's; this one only pretends.
    assert_eq!(brought.damaged.len(), 1, "{brought:?}");
    assert_eq!(brought.damaged[0].file, "1");
}

#[test]
fn damaged_packs_are_named_and_the_next_is_tried() {
    let good = pack(1, main_branch(), |_| {});
    let bad = pack(2, main_branch(), |_| {});
    let world = World::new(Shelf::default(), &[good]);
    let mut bytes = bad.encode();
    *bytes.last_mut().unwrap() ^= 1;
    let shelf = Shelf::default();
    shelf
        .packs
        .borrow_mut()
        .push(pack(1, main_branch(), |_| {}).encode());
    shelf.packs.borrow_mut().push(bytes);
    let damaged = World {
        shared: Shared {
            remote: Box::new(shelf),
            ..world.shared
        },
        ..world
    };
    let brought = damaged.bring(&wanted(&[2, 1]));
    assert_eq!(damaged.local(), [commit(1)]);
    assert_eq!(brought.damaged.len(), 1, "{brought:?}");
    assert_eq!(
        (&*brought.damaged[0].file, &*brought.mend),
        ("1", "forget them")
    );
}

#[test]
fn trouble_is_one_line_and_nothing_else_happens() {
    for error in [
        RemoteError::TooSlow,
        RemoteError::Refused("no".into()),
        RemoteError::Unreachable("https://u:secret@h/ is away".into()),
    ] {
        let shelf = Shelf {
            broken: Some(error),
            ..Shelf::default()
        };
        let world = World::new(shelf, &[]);
        let brought = world.bring(&wanted(&[1]));
        let trouble = brought.trouble.unwrap();
        assert!(
            !trouble.contains("secret") && !trouble.contains('\n'),
            "{trouble}"
        );
    }
}

#[test]
fn addresses_are_read_back_and_others_refused() {
    for text in [
        "git:origin",
        "git:https://example.org/x.git",
        "github",
        "github:o/r",
        "gitlab",
        "s3://bucket/a/b",
        "gs://bucket",
        "az://container/x",
    ] {
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }
    assert_eq!("git".parse(), Ok(Address::Git("origin".into())));
    for text in [
        "",
        "git:",
        "git:--upload-pack=x",
        "github:o",
        "github:o/../x",
        "s3:",
        "s3://",
        "ftp://x",
    ] {
        assert!(text.parse::<Address>().is_err(), "{text}");
    }
    let hidden: Address = "git:https://u:secret@h/x".parse().unwrap();
    assert!(!hidden.to_string().contains("secret"));
}

#[test]
fn slugs_keep_suites_apart_and_are_plain() {
    let slugs = [
        slug("pytest", ""),
        slug("pytest:svc/api", ""),
        slug("pytest", "py312"),
    ];
    for (at, slug) in slugs.iter().enumerate() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(slug.chars().all(plain), "{slug}");
        assert!(!slugs[..at].contains(slug));
    }
    assert!(slug("é$(x)\n..//", "").len() > 8);
    assert!(slug(&"x".repeat(500), "").len() < 60);
}

/// Archives that somebody may put in place of an artifact.
mod archives {
    use super::super::single::only_entry;
    use std::io::Write as _;

    struct File<'a> {
        name: &'a [u8],
        content: &'a [u8],
        size: Option<u32>,
    }

    fn zip(files: &[File<'_>]) -> Vec<u8> {
        let (mut bytes, mut central) = (Vec::new(), Vec::new());
        for file in files {
            let mut packer =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(file.content).unwrap();
            let packed = packer.finish().unwrap();
            let mut crc = flate2::Crc::new();
            crc.update(file.content);
            let at = bytes.len() as u32;
            let mut common = Vec::new();
            common.extend_from_slice(&[20, 0, 0, 0, 8, 0, 0, 0, 0, 0]);
            common.extend_from_slice(&crc.sum().to_le_bytes());
            common.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            let size = file.size.unwrap_or(file.content.len() as u32);
            common.extend_from_slice(&size.to_le_bytes());
            common.extend_from_slice(&(file.name.len() as u16).to_le_bytes());
            common.extend_from_slice(&[0, 0]);
            bytes.extend_from_slice(b"PK\x03\x04");
            bytes.extend_from_slice(&common);
            bytes.extend_from_slice(file.name);
            bytes.extend_from_slice(&packed);
            central.extend_from_slice(b"PK\x01\x02\x14\x00");
            central.extend_from_slice(&common);
            central.extend_from_slice(&[0; 10]);
            central.extend_from_slice(&at.to_le_bytes());
            central.extend_from_slice(file.name);
        }
        let start = bytes.len() as u32;
        bytes.extend_from_slice(&central);
        bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        let count = (files.len() as u64).min(0xffff) as u16;
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&(central.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&start.to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
        bytes
    }

    fn file<'a>(name: &'a str, content: &'a [u8]) -> File<'a> {
        let name = name.as_bytes();
        File {
            name,
            content,
            size: None,
        }
    }

    #[test]
    fn the_one_file_is_read() {
        let bytes = zip(&[file("tamis.pack", b"content")]);
        assert_eq!(only_entry(&bytes, "tamis.pack", 7).unwrap(), b"content");
        assert!(
            only_entry(&bytes, "tamis.pack", 6).is_err(),
            "over the limit"
        );
    }

    #[test]
    fn hostile_archives_are_refused() {
        let bomb = vec![0; 40 << 20];
        let many: Vec<String> = (0..200_000).map(|n| format!("f{n}")).collect();
        let many: Vec<File<'_>> = many.iter().map(|name| file(name, b"")).collect();
        let lying = File {
            size: Some(3),
            ..file("tamis.pack", &bomb)
        };
        let declaring = File {
            size: Some(u32::MAX),
            ..file("tamis.pack", b"x")
        };
        let archives = [
            zip(&[]),
            zip(&[file("../tamis.pack", b"x")]),
            zip(&[file("/tamis.pack", b"x")]),
            zip(&[file("a/tamis.pack", b"x")]),
            zip(&[file("tamis.pack\0", b"x")]),
            zip(&[file("tamis.pack", b"x"), file("tamis.pack", b"y")]),
            zip(&[file("tamis.pack", b"x"), file("other", b"y")]),
            zip(&[file("tamis.pack", &bomb)]),
            zip(&[lying]),
            zip(&[declaring]),
            zip(&many),
            b"PK\x05\x06".to_vec(),
            Vec::new(),
        ];
        for (number, archive) in archives.iter().enumerate() {
            assert!(
                only_entry(archive, "tamis.pack", 1 << 20).is_err(),
                "{number}"
            );
        }
    }

    /// As large as a pack may be, but compressed as no pack can be.
    #[test]
    fn a_bomb_below_the_limit_is_refused_before_it_is_unpacked() {
        let zeros = vec![0; 2 << 20];
        let refused = only_entry(
            &zip(&[file("tamis.pack", &zeros)]),
            "tamis.pack",
            super::manifest::MAX_MATRIX,
        );
        assert!(
            matches!(refused, Err(super::RemoteError::TooLarge { limit, .. }) if limit < 2 << 20),
            "{refused:?}"
        );
    }

    #[test]
    fn cut_and_damaged_archives_are_refused_or_whole() {
        let content: Vec<u8> = (0..200u8).collect();
        let bytes = zip(&[file("tamis.pack", &content)]);
        for len in 0..bytes.len() {
            assert!(
                only_entry(&bytes[..len], "tamis.pack", 1 << 20).is_err(),
                "{len}"
            );
        }
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                if let Ok(read) = only_entry(&damaged, "tamis.pack", 1 << 20) {
                    assert_eq!(read, content, "{place}, bit {bit}");
                }
            }
        }
    }

    #[test]
    fn damaged_archives_are_refused_or_whole() {
        let content: Vec<u8> = (0..600u32).map(|n| (n * n / 7) as u8).collect();
        let reader = crate::fuzz::Reader {
            name: "archive",
            seeds: vec![
                zip(&[file("tamis.pack", &content)]),
                zip(&[file("tamis.pack", b"")]),
                zip(&[]),
            ],
            words: &[
                "PK\u{1}\u{2}",
                "PK\u{3}\u{4}",
                "PK\u{5}\u{6}",
                "PK\u{6}\u{7}",
                "tamis.pack",
                "\0\0",
            ],
            mend: |_| {},
            read: &|bytes| match only_entry(bytes, "tamis.pack", super::manifest::MAX_MATRIX) {
                Ok(read) => format!("{} bytes", read.len()),
                Err(error) => error.to_string(),
            },
        };
        reader.feed();
    }
}
