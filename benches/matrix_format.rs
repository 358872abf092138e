//! Size, time and memory of matrix format 1 on synthetic matrices.
//!
//! `cargo bench --bench matrix_format`; each case runs in a process of its
//! own, so that its peak memory is its own. Times are the best of five.

#![allow(clippy::print_stdout)]

use std::process::Command;
use std::time::Instant;

use tamis::matrix::{
    Fingerprint, Header, Key, Matrix, MatrixView, Outcome, Row, Run, Unit, UnitId, UnitKind,
    decode, encode,
};

/// What a synthetic matrix looks like.
struct Case {
    name: &'static str,
    tests: u32,
    units: u32,
    /// Distinct files that have units.
    files: u32,
    /// Units of a row in all.
    per_row: u32,
    sharing: Sharing,
}

enum Sharing {
    /// Tests of one file share an import closure; each has 14 to 40 own units.
    Closures,
    /// Each test has units at random, shared with nobody.
    Nothing,
}

const CASES: [Case; 5] = [
    Case {
        name: "10k tests, 100k units, closures",
        tests: 10_000,
        units: 100_000,
        files: 5_000,
        per_row: 1_000,
        sharing: Sharing::Closures,
    },
    Case {
        name: "10k tests, 100k units, all random",
        tests: 10_000,
        units: 100_000,
        files: 5_000,
        per_row: 1_000,
        sharing: Sharing::Nothing,
    },
    Case {
        name: "100k tests, 100k units, closures",
        tests: 100_000,
        units: 100_000,
        files: 5_000,
        per_row: 1_000,
        sharing: Sharing::Closures,
    },
    Case {
        name: "100k tests, 1M units, closures",
        tests: 100_000,
        units: 1_000_000,
        files: 50_000,
        per_row: 1_000,
        sharing: Sharing::Closures,
    },
    Case {
        name: "100k tests, 1M units, all random",
        tests: 100_000,
        units: 1_000_000,
        files: 50_000,
        per_row: 1_000,
        sharing: Sharing::Nothing,
    },
];

const TESTS_PER_FILE: u32 = 20;
const REPEATS: u32 = 5;

fn main() {
    match std::env::var("MATRIX_FORMAT_CASE") {
        Ok(name) => measure(
            CASES
                .iter()
                .find(|case| case.name == name)
                .expect("a known case"),
        ),
        Err(_) => all(),
    }
}

fn all() {
    println!(
        "{:<36} {:>9} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "case",
        "size MB",
        "B/test",
        "encode ms",
        "decode ms",
        "open ms",
        "affected",
        "ratio",
        "peak MiB"
    );
    let program = std::env::current_exe().expect("the path of this program");
    for case in &CASES {
        for reading in ["", "view"] {
            let status = Command::new(&program)
                .env("MATRIX_FORMAT_CASE", case.name)
                .env(
                    "MATRIX_FORMAT_FILE",
                    format!("{}/matrix_format.tamis", env!("CARGO_TARGET_TMPDIR")),
                )
                .env("MATRIX_FORMAT_READ", reading)
                .status()
                .expect("this program runs");
            assert!(status.success(), "{} {reading}", case.name);
        }
    }
    println!(
        "\naffected: open the view and find the rows with units at 10 changed paths; ratio: decode / affected;\n\
         second line of each case: a process that only reads, so its peak is that of a selection"
    );
}

fn measure(case: &Case) {
    let file = std::env::var("MATRIX_FORMAT_FILE").expect("set by the parent");
    if std::env::var("MATRIX_FORMAT_READ").is_ok_and(|read| read == "view") {
        let bytes = std::fs::read(&file).expect("the file that the first process wrote");
        let hits = affected(bytes, &changed_paths(case));
        println!(
            "{:<36} {hits:>9} rows affected {:>63} {:>9}",
            "  select only",
            "",
            peak_mib()
        );
        return;
    }
    let matrix = synthesize(case);
    let start = Instant::now();
    let bytes = encode(&matrix).expect("the matrix is within limits");
    let encode_ms = start.elapsed().as_secs_f64() * 1e3;
    std::fs::write(&file, &bytes).expect("the target directory can be written");
    let after_encode = peak_mib();
    let decode_ms = best(|| decode(&bytes).expect("own bytes"));
    assert!(decode(&bytes).expect("own bytes") == matrix);
    let open_ms = best_with(
        || bytes.clone(),
        |bytes| MatrixView::open(bytes).expect("own bytes"),
    );
    let paths = changed_paths(case);
    let affected_ms = best_with(|| bytes.clone(), |bytes| affected(bytes, &paths));
    println!(
        "{:<36} {:>9.2} {:>8.1} {:>9.1} {:>9.1} {:>9.2} {:>9.2} {:>8.1}x {:>9}",
        case.name,
        bytes.len() as f64 / 1e6,
        bytes.len() as f64 / f64::from(case.tests),
        encode_ms,
        decode_ms,
        open_ms,
        affected_ms,
        decode_ms / affected_ms,
        after_encode,
    );
}

/// What `tamis select` does with a matrix: the rows that have a unit at one of
/// the changed paths, with the unit itself and its fingerprint.
fn affected(bytes: Vec<u8>, paths: &[String]) -> usize {
    let view = MatrixView::open(bytes).expect("own bytes");
    let mut changed: Vec<UnitId> = Vec::new();
    for path in paths {
        changed.extend(view.units_at_path(path.as_bytes()));
    }
    for id in &changed {
        std::hint::black_box((view.unit(*id), view.fingerprint(*id)));
    }
    let rows = view.rows_with(&changed).expect("own bytes");
    rows.iter().flatten().count()
}

fn best<T>(mut run: impl FnMut() -> T) -> f64 {
    best_with(|| (), |()| run())
}

fn best_with<I, T>(mut prepare: impl FnMut() -> I, mut run: impl FnMut(I) -> T) -> f64 {
    let times = (0..REPEATS).map(|_| {
        let input = prepare();
        let start = Instant::now();
        let output = std::hint::black_box(run(input));
        let time = start.elapsed().as_secs_f64() * 1e3;
        drop(output);
        time
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The most memory that this process ever held, in MiB (Linux).
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}

/// A fixed pseudo-random sequence (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound)) as u32
    }
}

fn path_of_file(case: &Case, file: u32) -> String {
    let package = file % (case.files / 50);
    format!(
        "src/package_{package:03}/sub_{}/module_{file:05}.py",
        package % 7
    )
}

fn changed_paths(case: &Case) -> Vec<String> {
    (0..10)
        .map(|n| path_of_file(case, (n * 977 + 13) % case.files))
        .collect()
}

fn synthesize(case: &Case) -> Matrix {
    let random = &mut Random(42);
    let per_file = case.units / case.files;
    let words = [
        "load", "parse", "render", "check", "update", "items", "value", "_repr",
    ];
    let mut units = Vec::new();
    for file in 0..case.files {
        for n in 0..per_file {
            let (kind, name) = match n {
                0 => (UnitKind::Skeleton, String::new()),
                _ => {
                    let word = words[random.below(8) as usize];
                    (
                        UnitKind::Code,
                        format!("{}{}.{word}_{n}", words[random.below(8) as usize], n / 6),
                    )
                }
            };
            let mut print = [0; 16];
            print[..8].copy_from_slice(&random.next().to_le_bytes());
            print[8..].copy_from_slice(&random.next().to_le_bytes());
            units.push((
                Unit::new(kind, path_of_file(case, file), name),
                Fingerprint(print),
            ));
        }
    }
    units.sort();
    units.dedup_by(|a, b| a.0 == b.0);
    let count = units.len() as u32;
    let mut sets = Vec::new();
    let mut rows = Vec::new();
    for test in 0..case.tests {
        let (file, number) = (test / TESTS_PER_FILE, test % TESTS_PER_FILE);
        let ids = match case.sharing {
            Sharing::Closures => {
                if number == 0 {
                    sets.push(clustered(random, count, case.per_row - 27));
                }
                let own = 14 + random.below(27);
                sets.push(pick(random, count, own));
                vec![
                    (file * (TESTS_PER_FILE + 1)),
                    file * (TESTS_PER_FILE + 1) + 1 + number,
                ]
            }
            Sharing::Nothing => {
                sets.push(pick(random, count, case.per_row));
                vec![test]
            }
        };
        rows.push(Row {
            test: format!(
                "tests/area_{:04}/test_module_{file:05}.py::TestCase{}::test_{number:02}",
                file / 8,
                number / 7
            ),
            sets: ids,
            outcome: Outcome::Passed,
            duration_ms: random.below(400),
            position: test,
            incomplete: None,
            run: 0,
            selected: random.below(10) == 0,
        });
    }
    rows.sort_by(|a, b| a.test.cmp(&b.test));
    Matrix {
        header: header(case.tests),
        units,
        sets,
        rows,
    }
}

/// `size` distinct ids at random.
fn pick(random: &mut Random, count: u32, size: u32) -> Vec<UnitId> {
    let mut ids: Vec<UnitId> = (0..size).map(|_| random.below(count)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// About `size` ids in runs of five to twenty: the functions of a module that
/// run when it is imported.
fn clustered(random: &mut Random, count: u32, size: u32) -> Vec<UnitId> {
    let mut ids = Vec::new();
    while ids.len() < size as usize {
        let start = random.below(count - 20);
        ids.extend(start..start + 5 + random.below(16));
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn header(tests: u32) -> Header {
    let run = Run {
        id: "run".into(),
        commit: "1".repeat(40),
        tree: "2".repeat(40),
        dirty: false,
    };
    Header {
        key: Key {
            repository: "3".repeat(40),
            suite: "pytest".into(),
            environment: "bench".into(),
        },
        commit: run.commit.clone(),
        tree: run.tree.clone(),
        dirty: Vec::new(),
        created: 0,
        tool: "bench".into(),
        run: run.id.clone(),
        runs: vec![run],
        strategy: "all".into(),
        baselines: Vec::new(),
        tests,
        ran: tests,
    }
}
