use proptest::prelude::*;

use super::*;
use crate::fuzz;
use crate::matrix::samples::{any_matrix, facts, header, key, small};
use crate::matrix::{
    CellValue, Fingerprint, Holder, InClass, Matrix, MatrixBuilder, Own, Reads, Table, Unit,
    UnitId, UnitKind, Values, What,
};

/// The rules that a view does not check.
const OF_NAMES: [&str; 2] = [
    "malformed: units are not sorted",
    "malformed: a unit is about nothing that is known",
];

/// Where the table of sections begins.
const AT_SECTIONS: usize = 160;
const SECTIONS: usize = prefix::SECTIONS;

fn encoded(matrix: &Matrix) -> Vec<u8> {
    encode(matrix).unwrap()
}

/// Everything that reads bytes, on the same bytes; they must agree on whether
/// the file as a whole is sound.
fn read_all(bytes: &[u8]) -> Result<Matrix, Refusal> {
    let _ = read_header(bytes);
    let viewed = MatrixView::open(bytes.to_vec());
    if let Ok(view) = &viewed {
        view.rows_with(&(0..view.units() as UnitId).collect::<Vec<_>>());
        for id in 0..view.units() as UnitId {
            view.unit(id);
            view.fingerprint(id);
        }
        for row in 0..view.rows() {
            view.units_of(row);
            view.row(row);
        }
    }
    let decoded = decode(bytes);
    match (&decoded, &viewed) {
        (Ok(_), Err(refusal)) => panic!("the view says {refusal}"),
        (Err(refusal), Ok(view)) => {
            let is_of_values = view.values().err().as_ref() == Some(refusal);
            assert!(
                is_of_values || OF_NAMES.contains(&refusal.to_string().as_str()),
                "{refusal}"
            );
            assert_eq!(view.whole().map(|_| ()), decoded.clone().map(|_| ()));
        }
        _ => {}
    }
    decoded
}

/// Gives a file whose bytes were edited digests that fit, so that what lies
/// behind the digests is reached.
fn reseal(file: &mut [u8]) {
    let Ok(body) = Prefix::needed(file) else {
        return;
    };
    if body > file.len() {
        return;
    }
    let mut start = body;
    let (at_sections, sections) = match file[8] {
        4 => (AT_SECTIONS, SECTIONS),
        _ => (144, 7),
    };
    for section in 0..sections {
        let at = at_sections + 48 * section;
        let stored = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        let Some(content) = file.get(start..start.saturating_add(stored as usize)) else {
            break;
        };
        let digest = blake3::hash(content);
        file[at + 16..at + 48].copy_from_slice(digest.as_bytes());
        start += stored as usize;
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&file[..16]).update(&file[48..body]);
    let digest = hasher.finalize();
    file[16..48].copy_from_slice(digest.as_bytes());
}

/// Names of classes all lie at the path of their folder.
#[test]
fn units_have_their_names_where_many_are_at_one_path() {
    let mut builder = MatrixBuilder::new(header());
    let folders = [
        ("app/classes", 1),
        ("core/classes", 100),
        ("web/classes", 33),
    ];
    let mut units = Vec::new();
    for (folder, count) in folders {
        for number in 0..count {
            let class = format!("demo/p{}/Class{}", number / 7, number % 7);
            let method = What::Method(InClass::new(&class, "run()V"));
            for what in [What::Shape(class.into()), method] {
                let unit = Unit::at(folder, what);
                units.push(builder.unit(unit, Fingerprint([1; 16])).unwrap());
            }
        }
    }
    let group = builder.group(units);
    builder.row(facts("t"), [group]).unwrap();
    let matrix = builder.finish();
    let view = MatrixView::open(encoded(&matrix)).unwrap();
    assert_eq!(view.units(), 268);
    for (id, (unit, _)) in (0..).zip(&matrix.units) {
        assert_eq!(&view.unit(id), unit);
        assert!(view.is(id, &unit.what));
        assert_eq!(view.find(unit), Some(id));
    }
}

/// Else what is kept of the names in a small file could fill the memory.
#[test]
fn names_are_read_no_further_than_declared() {
    let mut bytes = encoded(&small(4, 1));
    let at = 48 + 8 * 3;
    bytes[at..at + 8].copy_from_slice(&1u64.to_le_bytes());
    reseal(&mut bytes);
    let refusal = MatrixView::open(bytes).unwrap_err().to_string();
    assert_eq!(refusal, "malformed: names are longer than declared");
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(matrix in any_matrix()) {
        let bytes = encoded(&matrix);
        prop_assert_eq!(read_header(&bytes), Ok(matrix.header.clone()));
        prop_assert_eq!(read_all(&bytes), Ok(matrix.clone()));
        prop_assert_eq!(encoded(&matrix), bytes);
    }

    #[test]
    fn the_header_needs_no_body(matrix in any_matrix()) {
        let bytes = encoded(&matrix);
        let needed = Prefix::needed(&bytes[..Prefix::LEAST]).unwrap();
        prop_assert_eq!(read_header(&bytes[..needed]), Ok(matrix.header));
        prop_assert_eq!(read_header(&bytes[..needed - 1]), Err(Refusal::Truncated));
    }

    /// The view against the plain matrix.
    #[test]
    fn the_view_agrees_with_the_matrix(
        matrix in any_matrix(),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let view = MatrixView::open(encoded(&matrix)).unwrap();
        prop_assert_eq!(view.header(), &matrix.header);
        prop_assert_eq!(view.values(), Ok(matrix.values.as_ref()));
        prop_assert_eq!(view.has_values(), matrix.has_values());
        prop_assert_eq!(view.units(), matrix.units.len());
        prop_assert!(view.ids().eq(matrix.rows.iter().map(|row| row.test.by_ref())));
        for (id, (unit, print)) in matrix.units.iter().enumerate() {
            let id = id as UnitId;
            prop_assert_eq!(&view.unit(id), unit);
            prop_assert_eq!(view.find(unit), Some(id));
            prop_assert!(view.is(id, &unit.what));
            prop_assert!(!view.is(id, &What::Code("no such name".into())));
            let untracked = [What::UntrackedFile, What::UntrackedExists, What::Listing];
            prop_assert_eq!(view.is_untracked(id), untracked.contains(&unit.what));
            prop_assert_eq!(view.fingerprint(id), *print);
            prop_assert_eq!((view.kind(id), view.path(id)), (unit.kind(), unit.path()));
            let here: Vec<UnitId> = (0..matrix.units.len())
                .filter(|other| matrix.units[*other].0.path == unit.path)
                .map(|other| other as UnitId)
                .collect();
            prop_assert_eq!(view.units_at_path(&unit.path).collect::<Vec<_>>(), here);
        }
        for kind in UnitKind::ALL {
            let ids = view.units_of_kind(kind);
            let count = matrix.units.iter().filter(|(unit, _)| unit.kind() == kind).count();
            prop_assert_eq!(ids.len(), count);
            prop_assert!(ids.into_iter().all(|id| view.kind(id) == kind));
        }
        prop_assert_eq!(view.units_at_path(b"no such path").count(), 0);
        let changed: Vec<UnitId> = match matrix.units.len() {
            0 => Vec::new(),
            len => picks.iter().map(|pick| pick.index(len) as UnitId).collect(),
        };
        let mut sets = Vec::new();
        let all: Vec<UnitId> = (0..matrix.units.len() as UnitId).collect();
        view.each_set(&all, |_, set| sets.push(set.to_vec()));
        prop_assert_eq!(&sets, &matrix.sets);
        let some: Vec<UnitId> = all.iter().copied().filter(|id| id % 3 == 1).collect();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        view.each_set(&some, |len, set| ours.push((len, set.to_vec())));
        matrix.each_set(&some, |len, set| theirs.push((len, set.to_vec())));
        prop_assert_eq!(ours, theirs);
        for unit in matrix.units.iter().map(|(unit, _)| unit) {
            let dir = unit.path.split(|byte| *byte == b'/').next().unwrap_or_default();
            let beneath = |path: &[u8]| {
                path == dir || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"))
            };
            let here: Vec<usize> = (0..).zip(view.paths())
                .filter(|(_, path)| beneath(path))
                .map(|(index, _)| index)
                .collect();
            prop_assert_eq!(view.paths_at(dir).collect::<Vec<_>>(), here);
        }
        let no_such = Unit::at("no such path", What::File);
        prop_assert_eq!(view.find(&no_such), None);
        let hits = view.rows_with(&changed);
        for (number, row) in matrix.rows.iter().enumerate() {
            let units = matrix.units_of(row);
            let first = units.iter().find(|id| changed.contains(id)).copied();
            prop_assert_eq!(hits[number], first);
            prop_assert_eq!(view.units_of(number), units);
            prop_assert_eq!(view.row_of(row.test.by_ref()), Some(number));
            let seen = view.row(number);
            prop_assert_eq!(seen, Table::row(&matrix, number));
            prop_assert_eq!(seen.test, row.test.by_ref());
            prop_assert_eq!(seen.is_usable(), row.is_usable());
            prop_assert_eq!(seen.incomplete, row.incomplete.as_deref());
            prop_assert_eq!(
                (seen.outcome, seen.duration_ms, seen.position, seen.run, seen.selected),
                (row.outcome, row.duration_ms, row.position, row.run, row.selected)
            );
        }
    }

    #[test]
    fn random_bytes_are_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        prop_assert!(read_all(&bytes).is_err());
        for (byte, magic) in bytes.iter_mut().zip(MAGIC.iter().chain(&[1, 0, 0, 0, 9, 0, 0, 0])) {
            *byte = *magic;
        }
        prop_assert!(read_all(&bytes).is_err());
        reseal(&mut bytes);
        prop_assert!(read_all(&bytes).is_err());
    }

    /// Edited files whose digests fit again: nothing panics, and whatever is
    /// accepted keeps every invariant.
    #[test]
    fn edited_files_with_right_digests_are_sound_or_refused(
        matrix in any_matrix(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encoded(&matrix);
        for (at, value) in edits {
            let at = 16 + at.index(bytes.len() - 16);
            bytes[at] = value;
        }
        reseal(&mut bytes);
        if let Ok(accepted) = read_all(&bytes) {
            prop_assert_eq!(accepted.check(), Ok(()));
        }
    }
}

/// The file with `section`'s content replaced, and digests that fit.
fn with_section(file: &[u8], section: usize, content: &[u8]) -> Vec<u8> {
    let prefix = Prefix::read(file).unwrap();
    let stored = match prefix::Section::ALL[section].is_compressed() {
        true => zstd::bulk::compress(content, 1).unwrap(),
        false => content.to_vec(),
    };
    let before: u64 = prefix.sections[..section]
        .iter()
        .map(|entry| entry.stored)
        .sum();
    let start = prefix.body + before as usize;
    let end = start + prefix.sections[section].stored as usize;
    let mut bytes = [&file[..start], &stored, &file[end..]].concat();
    let at = AT_SECTIONS + 48 * section;
    bytes[at..at + 8].copy_from_slice(&(stored.len() as u64).to_le_bytes());
    bytes[at + 8..at + 16].copy_from_slice(&(content.len() as u64).to_le_bytes());
    reseal(&mut bytes);
    bytes
}

/// What reads a file as a whole keeps the rules of a matrix.
fn answer(bytes: &[u8]) -> String {
    match read_all(bytes) {
        Ok(matrix) => {
            assert_eq!(matrix.check(), Ok(()));
            "sound".to_owned()
        }
        Err(refusal) => refusal.to_string(),
    }
}

fn values() -> Values {
    let cells = vec![
        (String::new(), CellValue::Opaque("volatile".into())),
        ("f".into(), CellValue::Is(Fingerprint([3; 16]))),
    ];
    Values {
        holders: vec![Holder {
            name: "m".into(),
            path: "src/m0.py".into(),
            cells,
        }],
        ties: None,
    }
}

/// A set that one row has, and another one lacks.
fn foreign(matrix: &Matrix, row: usize, other: usize) -> u32 {
    let mut sets = matrix.rows[row].sets.iter();
    let lacking = sets.find(|set| !matrix.rows[other].sets.contains(set));
    *lacking.unwrap()
}

fn rich() -> Vec<u8> {
    let mut matrix = small(4, 1);
    matrix.rows[1].incomplete = Some("killed".into());
    for (row, anything) in [(0, false), (2, true)] {
        matrix.rows[row].own = Some(Own {
            sets: vec![foreign(&matrix, row, 1)],
            reads: Reads {
                anything,
                ..Reads::default()
            },
            inner: None,
        });
    }
    matrix.values = Some(values());
    encoded(&matrix)
}

#[test]
fn damaged_files_are_refused() {
    let reader = fuzz::Reader {
        name: "matrix",
        seeds: vec![rich(), encoded(&small(0, 1)), encoded(&small(9, 2))],
        words: &["null", "\"tests\":", "[", "{", "\u{93}tamis"],
        mend: reseal,
        read: &answer,
    };
    reader.feed();
}

/// Behind compression and digests: what lies in the sections, and what the
/// prefix says of it. An input is the number of a section, a change to a count
/// of the prefix, and the section's content.
#[test]
fn damaged_sections_are_sound_or_refused() {
    let good = rich();
    let prefix = Prefix::read(&good).unwrap();
    let seeds = (0..SECTIONS).map(|section| {
        let content = match prefix::Section::ALL[section] {
            prefix::Section::Prints => prefix
                .stored(&good, prefix::Section::Prints)
                .unwrap()
                .to_vec(),
            compressed => prefix.raw(&good, compressed).unwrap(),
        };
        [&[section as u8, 0, 0], content.as_slice()].concat()
    });
    let reader = fuzz::Reader {
        name: "matrix sections",
        seeds: seeds.collect(),
        words: &["src/m0.py", "t.py::test_", "\0", "\u{7f}"],
        mend: |_| {},
        read: &|input| {
            let Some(([section, count, change], content)) = input.split_first_chunk() else {
                return String::new();
            };
            let mut bytes = with_section(&good, usize::from(*section) % SECTIONS, content);
            if *change != 0 {
                let count = 48 + 8 * (usize::from(*count) % 14);
                bytes[count] = bytes[count].wrapping_add(*change);
                reseal(&mut bytes);
            }
            answer(&bytes)
        },
    };
    reader.feed();
}

#[test]
fn every_truncation_is_refused() {
    let bytes = encoded(&small(3, 1));
    for len in 0..bytes.len() {
        assert_eq!(
            decode(&bytes[..len]),
            Err(Refusal::Truncated),
            "{len} bytes"
        );
        assert!(read_all(&bytes[..len]).is_err(), "{len} bytes");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(decode(&longer), Err(Refusal::Malformed(_))));
}

#[test]
fn every_flipped_bit_is_refused() {
    let mut bytes = encoded(&small(3, 1));
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(read_all(&bytes).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(read_all(&bytes).is_ok());
}

#[test]
fn refusals_have_their_own_names() {
    let good = encoded(&small(3, 1));
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    assert_eq!(
        decode(b"PK\x03\x04 something else"),
        Err(Refusal::NotAMatrix)
    );
    assert_eq!(decode(b""), Err(Refusal::Truncated));
    assert_eq!(
        decode(&with(8, &[5, 0, 0, 0])),
        Err(Refusal::NewerFormat(5))
    );
    assert_eq!(
        decode(&with(good.len() - 1, &[good[good.len() - 1] ^ 1])),
        Err(Refusal::DigestMismatch)
    );
    let long_header = with(12, &u32::MAX.to_le_bytes());
    assert!(matches!(
        decode(&long_header),
        Err(Refusal::OverLimit { .. })
    ));
    let other = Key {
        suite: "other".into(),
        ..key()
    };
    assert_eq!(
        check_key(&read_header(&good).unwrap(), &other),
        Err(Refusal::WrongKey)
    );
    assert_eq!(check_key(&read_header(&good).unwrap(), &key()), Ok(()));
}

/// Counts and sizes that a file only claims are refused before memory is
/// taken for them, even if the digests are right.
#[test]
fn claimed_sizes_are_checked_first() {
    let good = encoded(&small(3, 1));
    for (at, what) in [
        (48, "paths"),
        (64, "units"),
        (80, "sets"),
        (88, "pairs"),
        (112, "rows"),
        (144, "own parts"),
        (152, "sets of own parts"),
    ] {
        for claim in [u64::MAX, 1 << 40, 1 << 20] {
            let mut bytes = good.clone();
            bytes[at..at + 8].copy_from_slice(&claim.to_le_bytes());
            reseal(&mut bytes);
            assert!(
                matches!(
                    decode(&bytes),
                    Err(Refusal::OverLimit { .. } | Refusal::Malformed(_))
                ),
                "{claim} {what}"
            );
        }
    }
    for section in 0..SECTIONS {
        for claim in [u64::MAX, MAX_SECTION + 1, MAX_SECTION] {
            let mut bytes = good.clone();
            let at = AT_SECTIONS + 48 * section + 8;
            bytes[at..at + 8].copy_from_slice(&claim.to_le_bytes());
            reseal(&mut bytes);
            assert!(
                matches!(decode(&bytes), Err(Refusal::OverLimit { .. })),
                "{section}"
            );
        }
    }
}

/// A section of zeros that was squeezed 20,000 times is refused by its ratio,
/// without decompressing it.
#[test]
fn a_bomb_is_refused() {
    let size = 300 << 20;
    let bomb = zstd::stream::encode_all(std::io::Read::take(std::io::repeat(0), size), 1).unwrap();
    let mut bytes = encoded(&small(3, 1));
    let prefix = Prefix::read(&bytes).unwrap();
    let after = prefix.sections[6].stored + prefix.sections[7].stored;
    bytes.truncate(bytes.len() - after as usize);
    bytes.extend_from_slice(&bomb);
    let at = AT_SECTIONS + 48 * 6;
    bytes[at..at + 8].copy_from_slice(&(bomb.len() as u64).to_le_bytes());
    bytes[at + 8..at + 16].copy_from_slice(&size.to_le_bytes());
    reseal(&mut bytes);
    assert!(matches!(
        decode(&bytes),
        Err(Refusal::OverLimit {
            what: "bytes from a compressed section",
            ..
        })
    ));
}

#[test]
fn an_unsound_matrix_is_not_encoded() {
    let sound = small(3, 1);
    let mut cases = vec![sound.clone(); 8];
    cases[0].units.swap(0, 1);
    cases[1].sets[0].push(9999);
    cases[2].rows.swap(0, 1);
    cases[3].rows[0].run = 7;
    cases[4].rows[0].sets.reverse();
    cases[5].rows[0].own = Some(Own {
        sets: vec![foreign(&sound, 1, 0)],
        reads: Reads::default(),
        inner: None,
    });
    cases[6].values = Some(values());
    cases[6].values.as_mut().unwrap().holders[0].cells.reverse();
    let twice = values().holders.into_iter().cycle().take(2).collect();
    cases[7].values = Some(Values {
        holders: twice,
        ties: None,
    });
    for (number, case) in cases.iter().enumerate() {
        assert!(case.check().is_err(), "case {number}");
        assert!(encode(case).is_err(), "case {number}");
    }
    assert_eq!(sound.check(), Ok(()));
}

/// A claim that no row needs would say which of its units count by themselves.
#[test]
fn an_own_part_is_of_its_row() {
    let file = rich();
    let rows = Prefix::read(&file)
        .unwrap()
        .raw(&file, prefix::Section::Rows);
    let mut rows = rows.unwrap();
    let at = rows.len() - 4;
    // The own parts of the four rows.
    assert_eq!(rows[at..], [1, 0, 2, 0]);
    rows[at..].copy_from_slice(&[1, 2, 2, 0]);
    let refusal = decode(&with_section(&file, 6, &rows)).unwrap_err();
    let declared = "malformed: rows hold another number of things than declared";
    assert_eq!(refusal.to_string(), declared);
    rows[at..].copy_from_slice(&[1, 0, 3, 0]);
    let refusal = decode(&with_section(&file, 6, &rows)).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "malformed: a row's own part out of range"
    );
    rows[at..].copy_from_slice(&[2, 0, 1, 0]);
    let file = with_section(&file, 6, &rows);
    let refusal = decode(&file).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "malformed: a row's own part is not of it"
    );
    assert!(MatrixView::open(file).is_err());
}

/// Else a view would make other units than a whole matrix.
#[test]
fn units_about_nothing_are_refused_as_a_whole_and_no_proof_in_a_view() {
    let mut builder = MatrixBuilder::new(header());
    let options = builder.unit(Unit::of(What::Options), Fingerprint::MISSING);
    let method = Unit::at("c", What::Method(InClass::new("A", "f()V")));
    let method = builder.unit(method, Fingerprint([1; 16]));
    let group = builder.group([options.unwrap(), method.unwrap()]);
    builder.row(facts("t"), [group]).unwrap();
    let file = encoded(&builder.finish());
    let mut names = Vec::new();
    wire::put_text(&mut names, b"", b"");
    wire::put_text(&mut names, b"", b"A#f()V");
    let file = with_section(&file, 2, &names);
    assert_eq!(decode(&file).unwrap_err().to_string(), OF_NAMES[1]);
    let view = MatrixView::open(file).unwrap();
    assert_eq!(view.unit(1).what, What::Other("method A#f()V".into()));
    assert!(view.is(0, &What::Options));
}
