//! Files of each format as the first version that knew it wrote them must be read
//! for ever.
//! Neither the files nor the values here may change; a new format gets new
//! ones.

use std::path::PathBuf;

use bstr::BString;

use super::{MatrixView, decode, encode};
use crate::matrix::{Fingerprint, Header, Key, Matrix, Outcome, Row, Run, Unit, UnitId, UnitKind};

fn path(name: &str) -> PathBuf {
    let format = if name == "classes" { 2 } else { 1 };
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/format-{format}/{name}.tamis"))
}

fn run(id: &str, dirty: bool) -> Run {
    Run {
        id: id.into(),
        commit: "0123456789abcdef0123456789abcdef01234567".into(),
        tree: "89abcdef0123456789abcdef0123456789abcdef".into(),
        dirty,
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
        runs,
        strategy: "memo".into(),
        baselines: Vec::new(),
        command: vec!["python".into(), "-m".into(), "pytest".into()],
        tests: 0,
        ran: 0,
    }
}

/// Nothing but a header.
fn empty() -> Matrix {
    Matrix {
        header: header(Vec::new()),
        units: Vec::new(),
        sets: Vec::new(),
        rows: Vec::new(),
    }
}

/// Every kind, every outcome, and every odd value that the format allows.
fn rich() -> Matrix {
    let mut header = header(vec![run("r1", false), run("r2", true)]);
    header.dirty = vec![
        (BString::from("src/new.py"), Fingerprint([9; 16])),
        (BString::from(b"caf\xe9.txt"), Fingerprint::MISSING),
    ];
    header.baselines = vec!["ab".repeat(32)];
    (header.tests, header.ran) = (10, 4);
    let mut units: Vec<(Unit, Fingerprint)> = Vec::new();
    let kinds = UnitKind::ALL.into_iter().take(super::KINDS_OF_1);
    for (number, kind) in kinds.enumerate() {
        let print = Fingerprint([number as u8; 16]);
        let path: &[u8] = if number < 9 {
            b"src/caf\xe9/\xff.py"
        } else {
            b""
        };
        units.push((Unit::new(kind, path, ""), print));
        units.push((Unit::new(kind, path, "Klass.m\u{e9}thode"), print));
        units.push((
            Unit::new(kind, path, "Klass.m\u{e9}tier"),
            Fingerprint::MISSING,
        ));
        units.push((Unit::new(kind, "/usr/lib/x", "<locals>"), print));
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
            test: format!("t.py::test_x[{}-\u{4e16}\n]", outcome.word()),
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
        test: String::new(),
        sets: Vec::new(),
        outcome: Outcome::Passed,
        duration_ms: u32::MAX,
        position: u32::MAX,
        incomplete: Some(String::new()),
        run: 0,
        selected: true,
    });
    rows.sort_by(|a, b| a.test.cmp(&b.test));
    Matrix {
        header,
        units,
        sets,
        rows,
    }
}

/// Three tests that share a set: the usual shape.
fn plain() -> Matrix {
    let mut header = header(vec![run("r2", false)]);
    (header.tests, header.ran) = (3, 3);
    let unit = |kind, path: &str, name: &str, print| {
        (Unit::new(kind, path, name), Fingerprint([print; 16]))
    };
    Matrix {
        header,
        units: vec![
            unit(UnitKind::File, "data/a.json", "", 1),
            unit(UnitKind::Code, "src/a.py", "f", 2),
            unit(UnitKind::Code, "src/a.py", "g", 3),
            unit(UnitKind::Skeleton, "src/a.py", "", 4),
            unit(UnitKind::Runtime, "", "python", 5),
        ],
        sets: vec![vec![3, 4], vec![0, 1], vec![2]],
        rows: ["t.py::test_a", "t.py::test_b", "t.py::test_c"]
            .into_iter()
            .enumerate()
            .map(|(number, test)| Row {
                test: test.into(),
                sets: [vec![0], vec![0, 1], vec![0, 2]][number].clone(),
                outcome: Outcome::Passed,
                duration_ms: 5,
                position: number as u32,
                incomplete: None,
                run: 0,
                selected: true,
            })
            .collect(),
    }
}

/// What came with format 2: parts of class files.
fn classes() -> Matrix {
    let mut header = header(vec![run("r2", false)]);
    (header.tests, header.ran) = (1, 1);
    let unit = |kind, name: &str, print| {
        let path = "target/classes";
        (Unit::new(kind, path, name), Fingerprint([print; 16]))
    };
    Matrix {
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
        rows: vec![Row {
            test: "demo.ATest".into(),
            sets: vec![0],
            outcome: Outcome::Passed,
            duration_ms: 5,
            position: 0,
            incomplete: None,
            run: 0,
            selected: true,
        }],
    }
}

fn frozen() -> [(&'static str, Matrix); 4] {
    [
        ("empty", empty()),
        ("plain", plain()),
        ("rich", rich()),
        ("classes", classes()),
    ]
}

#[test]
fn frozen_files_are_read_for_ever() {
    for (name, wanted) in frozen() {
        let bytes = std::fs::read(path(name)).unwrap();
        assert_eq!(decode(&bytes), Ok(wanted.clone()), "{name}");
        let view = MatrixView::open(bytes).unwrap();
        let units = (0..view.units() as UnitId).map(|id| (view.unit(id), view.fingerprint(id)));
        assert!(units.eq(wanted.units.iter().cloned()), "{name}");
        for (number, row) in wanted.rows.iter().enumerate() {
            assert_eq!(view.row(number).test, row.test);
            assert_eq!(view.units_of(number), wanted.units_of(row));
        }
    }
}

/// Wrote the files, once; it never replaces one.
#[test]
#[ignore = "writes the fixtures of a new format"]
fn write_frozen_files() {
    use std::io::Write;
    for (name, matrix) in frozen() {
        let file = std::fs::File::options()
            .write(true)
            .create_new(true)
            .open(path(name));
        if let Ok(mut file) = file {
            file.write_all(&encode(&matrix).unwrap()).unwrap();
        }
    }
}
