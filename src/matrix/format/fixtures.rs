//! Files of each format as the first version that knew it wrote them must be read
//! for ever.
//! Neither the files nor the values here may change; a new format gets new
//! ones.

use std::path::PathBuf;

use bstr::BString;

use super::{MatrixView, decode, encode};
use crate::matrix::{
    CellValue, Classes, Finds, Fingerprint, Header, Holder, InClass, Key, Matrix, Note, Outcome,
    Own, ReadBefore, Reads, Row, Run, TestId, Unit, UnitId, UnitKind, Values, What,
};

fn path(format: u32, name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/format-{format}/{name}.tamis"))
}

/// A matrix as formats 1 and 2 have it: units by kind and name, in that order.
struct Old {
    header: Header,
    units: Vec<(UnitKind, BString, &'static str, Fingerprint)>,
    sets: Vec<Vec<UnitId>>,
    rows: Vec<Row>,
}

fn old_unit(
    kind: UnitKind,
    path: &[u8],
    name: &'static str,
    print: u8,
) -> (UnitKind, BString, &'static str, Fingerprint) {
    (kind, path.into(), name, Fingerprint([print; 16]))
}

fn run(id: &str, dirty: bool) -> Run {
    Run {
        id: id.into(),
        commit: "0123456789abcdef0123456789abcdef01234567".into(),
        tree: "89abcdef0123456789abcdef0123456789abcdef".into(),
        dirty,
        chose: false,
    }
}

fn header(runs: Vec<Run>) -> Header {
    Header {
        key: Key {
            repository: "fedcba98".repeat(5),
            suite: "pytest:sub".into(),
            environment: "cpython-3.11.7-linux-x86_64".into(),
        },
        commit: "0123456789abcdef0123456789abcdef01234567".into(),
        tree: "89abcdef0123456789abcdef0123456789abcdef".into(),
        dirty: Vec::new(),
        created: 1_790_000_000,
        tool: "0.1.0".into(),
        run: "r2".into(),
        shard: None,
        runs,
        strategy: "memo".into(),
        baselines: Vec::new(),
        command: vec!["python".into(), "-m".into(), "pytest".into()],
        tests: 0,
        ran: 0,
    }
}

/// Nothing but a header.
fn empty() -> Old {
    Old {
        header: header(Vec::new()),
        units: Vec::new(),
        sets: Vec::new(),
        rows: Vec::new(),
    }
}

/// Every kind of format 1, every outcome, and every odd value that the format allows.
fn rich() -> Old {
    let mut header = header(vec![run("r1", false), run("r2", true)]);
    header.dirty = vec![
        (BString::from("src/new.py"), Fingerprint([9; 16])),
        (BString::from(b"caf\xe9.txt"), Fingerprint::MISSING),
    ];
    header.baselines = vec!["ab".repeat(32)];
    (header.tests, header.ran) = (10, 4);
    let mut units = Vec::new();
    for (number, kind) in UnitKind::ALL.into_iter().take(13).enumerate() {
        let print = number as u8;
        let path: &[u8] = if number < 9 {
            b"src/caf\xe9/\xff.py"
        } else {
            b""
        };
        units.push(old_unit(kind, path, "", print));
        units.push(old_unit(kind, path, "Klass.m\u{e9}thode", print));
        units.push(old_unit(kind, path, "Klass.m\u{e9}tier", 0));
        units.push(old_unit(kind, b"/usr/lib/x", "<locals>", print));
    }
    units.sort();
    let count = units.len() as UnitId;
    let sets = vec![
        Vec::new(),
        (0..count).collect(),
        vec![0, count - 1],
        vec![7],
        vec![1, 3, 5, 8, 13, 21, 34],
    ];
    let mut rows: Vec<Row> = Outcome::ALL
        .into_iter()
        .map(|outcome| Row {
            own: None,
            test: TestId::Test(format!("t.py::test_x[{}-\u{4e16}\n]", outcome.word())),
            sets: vec![outcome as u32 % 3, 4],
            outcome,
            duration_ms: 1 << (4 * outcome as u32),
            position: 9 - outcome as u32,
            incomplete: (outcome == Outcome::Crashed).then(|| "the process was killed".into()),
            run: outcome as u32 % 2,
            selected: (outcome as u32).is_multiple_of(2),
        })
        .collect();
    rows.push(Row {
        own: None,
        test: TestId::Collection,
        sets: Vec::new(),
        outcome: Outcome::Passed,
        duration_ms: u32::MAX,
        position: u32::MAX,
        incomplete: Some(String::new()),
        run: 0,
        selected: true,
    });
    rows.sort_by(|a, b| a.test.cmp(&b.test));
    Old {
        header,
        units,
        sets,
        rows,
    }
}

/// Three tests that share a set: the usual shape.
fn plain() -> Old {
    let mut header = header(vec![run("r2", false)]);
    (header.tests, header.ran) = (3, 3);
    Old {
        header,
        units: vec![
            old_unit(UnitKind::File, b"data/a.json", "", 1),
            old_unit(UnitKind::Code, b"src/a.py", "f", 2),
            old_unit(UnitKind::Code, b"src/a.py", "g", 3),
            old_unit(UnitKind::Skeleton, b"src/a.py", "", 4),
            old_unit(UnitKind::Runtime, b"", "python", 5),
        ],
        sets: vec![vec![3, 4], vec![0, 1], vec![2]],
        rows: ["t.py::test_a", "t.py::test_b", "t.py::test_c"]
            .into_iter()
            .enumerate()
            .map(|(number, test)| Row {
                position: number as u32,
                ..row(test, [vec![0], vec![0, 1], vec![0, 2]][number].clone())
            })
            .collect(),
    }
}

fn row(test: &str, sets: Vec<u32>) -> Row {
    Row {
        own: None,
        test: TestId::read(test).to_owned(),
        sets,
        outcome: Outcome::Passed,
        duration_ms: 5,
        position: 0,
        incomplete: None,
        run: 0,
        selected: true,
    }
}

/// What came with format 2: parts of class files.
fn classes() -> Old {
    let mut header = header(vec![run("r2", false)]);
    (header.tests, header.ran) = (1, 1);
    let unit = |kind, name, print| old_unit(kind, b"target/classes", name, print);
    Old {
        header,
        units: vec![
            unit(UnitKind::Class, "demo/ATest", 1),
            unit(UnitKind::Method, "demo/A#<init>()V", 2),
            unit(UnitKind::Method, "demo/A#f(I)V", 3),
            unit(UnitKind::Shape, "demo/A", 4),
            unit(UnitKind::Member, "demo/A#f(I)V", 5),
            unit(UnitKind::Member, "demo/A#x:I", 0),
        ],
        sets: vec![vec![0, 1, 2, 3, 4, 5]],
        rows: vec![row("demo.ATest", vec![0])],
    }
}

/// What came with format 3: units by what they are about. One of each, as a test of
/// every runner could have them.
fn typed() -> Matrix {
    let mut header = header(vec![run("r2", false)]);
    (header.tests, header.ran) = (2, 2);
    let finds = Finds {
        names: vec!["test_*.py".into()],
        places: Some(vec!["tests".into()]),
        others: Vec::new(),
    };
    let of = |rest| InClass::new("demo/A", rest);
    let in_source = [
        What::Code("C.m".into()),
        What::Skeleton,
        What::Binding("C.m".into()),
        What::Presence("caf\u{e9}".into()),
        What::Note(Note::FunctionAnnotations, "f".into()),
        What::Note(Note::MemberAnnotations, "C".into()),
        What::Note(Note::FunctionDocstring, "".into()),
        What::Note(Note::ClassDocstring, "C".into()),
        What::Effects,
    ];
    let in_classes = [
        What::Class("demo/ATest".into()),
        What::Classes(Classes::All),
        What::Classes(Classes::ForOthers),
        What::Classes(Classes::MayBeTests),
        What::Method(of("f(I)V")),
        What::Shape("demo/A".into()),
        What::Member(of("f(I)V")),
        What::Member(of("x:I")),
        What::Overrides(of("f()V g()V")),
        What::Overrides(of("*")),
        What::Nest(of("demo/A$B")),
    ];
    let without_path = [
        What::OfSources,
        What::NotOfSources("Gradle made them".into()),
        What::Dist("numpy".into()),
        What::Plugins,
        What::Runtime("python".into()),
        What::StartUp,
        What::Env("HOME".into()),
        What::AllEnv,
        What::Options,
        What::Finds(Box::new(finds)),
        What::Other("kind of tomorrow".into()),
    ];
    let mut units = vec![
        Unit::at(b"caf\xe9.txt".as_slice(), What::File),
        Unit::at("/usr/lib/x", What::File),
        Unit::at("build/a.json", What::UntrackedFile),
        Unit::at("a.json", What::AuditedFile),
        Unit::at("a.json", What::Exists),
        Unit::at("build/a.json", What::UntrackedExists),
        Unit::at("out", What::Written),
        Unit::at("src/os", What::Lookup),
        Unit::at("src", What::Dir),
        Unit::at(".", What::RunnerConfig("pytest".into())),
        Unit::at(
            "pom.xml",
            What::KeptConfig(["name".into(), "a b".into()].into()),
        ),
    ];
    units.extend(in_source.map(|what| Unit::at("src/a.py", what)));
    units.extend(in_classes.map(|what| Unit::at("target/classes", what)));
    units.extend(without_path.map(Unit::of));
    units.sort();
    let count = units.len() as UnitId;
    let prints = (1u8..).map(|print| Fingerprint([print; 16]));
    Matrix {
        values: None,
        header,
        units: units.into_iter().zip(prints).collect(),
        sets: vec![(0..count).collect(), vec![0, count - 1]],
        rows: vec![row("", vec![1]), row("demo.ATest", vec![0])],
    }
}

/// What came with format 4: own parts of rows, and values of cells.
fn owned() -> Matrix {
    let mut header = header(vec![run("r2", false)]);
    (header.tests, header.ran) = (3, 3);
    let units = [
        Unit::at("src/a.py", What::Code("f".into())),
        Unit::at("src/a.py", What::Effects),
        Unit::of(What::Options),
    ];
    let prints = (1u8..).map(|print| Fingerprint([print; 16]));
    let own = |sets: &[u32], anything, docstrings| {
        let annotations = anything && docstrings;
        Some(Own {
            sets: sets.to_vec(),
            reads: Reads {
                anything,
                annotations,
                docstrings,
                past: ReadBefore::No,
            },
            inner: None,
        })
    };
    let is = |print| CellValue::Is(Fingerprint([print; 16]));
    let holder = |name: &str, path: &str, cells: Vec<(&str, CellValue)>| Holder {
        name: name.into(),
        path: path.into(),
        cells: cells
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect(),
    };
    Matrix {
        values: Some(Values {
            holders: vec![
                holder("*process", "", vec![("cwd", is(1))]),
                holder("src.a", "src/a.py", vec![("", is(2)), ("caf\u{e9}", is(3))]),
                holder(
                    "src.a:C",
                    "src/a.py",
                    vec![
                        ("<bases>", is(4)),
                        ("x", CellValue::Opaque("volatile".into())),
                    ],
                ),
                holder("*items", "", Vec::new()),
            ],
            ties: None,
        }),
        header,
        units: units.into_iter().zip(prints).collect(),
        sets: vec![vec![0], vec![1], vec![2]],
        rows: vec![
            row("", vec![2]),
            Row {
                own: own(&[0, 2], false, true),
                ..row("t.py::a", vec![0, 1, 2])
            },
            Row {
                own: own(&[], true, true),
                ..row("t.py::b", vec![1])
            },
            Row {
                own: own(&[0, 2], false, true),
                ..row("t.py::c", vec![0, 1, 2])
            },
        ],
    }
}

#[test]
fn frozen_files_of_formats_1_and_2_are_read_for_ever() {
    for (format, name, wanted) in [
        (1, "empty", empty()),
        (1, "plain", plain()),
        (1, "rich", rich()),
        (2, "classes", classes()),
    ] {
        let bytes = std::fs::read(path(format, name)).unwrap();
        let read = decode(&bytes).unwrap();
        assert_eq!((&read.header, &read.rows), (&wanted.header, &wanted.rows));
        assert_eq!(read.check(), Ok(()));
        let sets = wanted.sets.iter().map(|set| {
            let units = set.iter().map(|id| &wanted.units[*id as usize]);
            let units = units
                .map(|(kind, path, name, print)| (Unit::named(*kind, path.clone(), name), *print));
            let mut units: Vec<_> = units.collect();
            units.sort();
            units
        });
        let found = read.sets.iter().map(|set| {
            let units = set.iter().map(|id| read.units[*id as usize].clone());
            units.collect::<Vec<_>>()
        });
        assert!(sets.eq(found), "{name}");
        assert_eq!(read.units.len(), wanted.units.len(), "{name}");
        let view = MatrixView::open(bytes.clone()).unwrap();
        is_seen_as(&view, &read);
        // It goes by the name that its file has.
        assert_eq!(view.digest(), super::Prefix::read(&bytes).unwrap().digest);
        assert_eq!(view.whole(), Ok(&read));
    }
}

#[test]
fn frozen_files_of_format_3_are_read_for_ever() {
    let wanted = typed();
    let bytes = std::fs::read(path(3, "typed")).unwrap();
    assert_eq!(bytes[8..12], [3, 0, 0, 0]);
    assert_eq!(decode(&bytes), Ok(wanted.clone()));
    is_seen_as(&MatrixView::open(bytes).unwrap(), &wanted);
}

#[test]
fn frozen_files_of_format_4_are_read_for_ever() {
    let wanted = owned();
    let bytes = std::fs::read(path(4, "owned")).unwrap();
    assert_eq!(bytes[8..12], [4, 0, 0, 0]);
    assert_eq!(decode(&bytes), Ok(wanted.clone()));
    let view = MatrixView::open(bytes).unwrap();
    is_seen_as(&view, &wanted);
    assert_eq!(view.values(), Ok(wanted.values.as_ref()));
    for (number, row) in wanted.rows.iter().enumerate() {
        assert_eq!(view.row(number).own, row.own.as_ref());
    }
}

fn is_seen_as(view: &MatrixView, wanted: &Matrix) {
    let units = (0..view.units() as UnitId).map(|id| (view.unit(id), view.fingerprint(id)));
    assert!(units.eq(wanted.units.iter().cloned()));
    for (number, row) in wanted.rows.iter().enumerate() {
        assert_eq!(view.row(number).test, row.test.by_ref());
        assert_eq!(view.units_of(number), wanted.units_of(row));
    }
}

/// Wrote the file, once; it never replaces one.
#[test]
#[ignore = "writes the fixtures of a new format"]
fn write_frozen_files() {
    use std::io::Write;
    let file = std::fs::File::options()
        .write(true)
        .create_new(true)
        .open(path(super::VERSION, "owned"));
    if let Ok(mut file) = file {
        file.write_all(&encode(&owned()).unwrap()).unwrap();
    }
}
