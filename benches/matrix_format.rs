//! Size, time and memory of matrix format 3 on synthetic matrices.
//!
//! `cargo bench --bench matrix_format`; each case runs in its own process, so that its peak
//! memory is its own. Times are processor time of the one working thread, the best of many
//! runs (encoding: of one). Only putting, which waits for the disk, is wall time.

#![allow(clippy::print_stdout)]

use std::process::Command;
use std::time::Instant;

use tamis::exposed::matrix::{
    Fingerprint, Header, InClass, Key, Matrix, MatrixBuilder, MatrixView, Outcome, Row, RowFacts,
    Run, TestId, Unit, UnitId, What, decode, encode,
};
use tamis::exposed::store::FsStore;

struct Case {
    name: &'static str,
    tests: u32,
    units: u32,
    /// Distinct files that have units.
    files: u32,
    /// The units of a row.
    per_row: u32,
    sharing: Sharing,
}

enum Sharing {
    /// Tests of one file share an import closure; each has 14 to 40 own units.
    Closures,
    /// Each test has random units of its own.
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
        "{:<36} {:>8} {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>8} {:>6} | {:>5}",
        "",
        "size",
        "bytes/",
        "encode",
        "decode",
        "open",
        "names",
        "prints",
        "sets",
        "affected",
        "ratio",
        "peak"
    );
    println!(
        "{:<36} {:>8} {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>8} {:>6} | {:>5}",
        "case", "MB", "test", "ms", "ms", "ms", "ms", "ms", "ms", "ms", "", "MiB"
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
        "\naffected: open the view and find the rows with units at 10 changed paths (all of open, names,\n\
         prints and sets); ratio: decode / affected; the second line of each case is a process that\n\
         only does that, so its peak is that of a selection"
    );
    folders();
    memo();
    selecting();
}

fn measure(case: &Case) {
    let file = std::env::var("MATRIX_FORMAT_FILE").expect("set by the parent");
    if std::env::var("MATRIX_FORMAT_READ").is_ok_and(|read| read == "view") {
        let bytes = std::fs::read(&file).expect("the file that the first process wrote");
        let hits = affected(bytes, &changed_paths(case));
        println!(
            "{:<36} {hits} rows affected {:>78}",
            "  the same, selection only",
            peak_mib()
        );
        return;
    }
    let matrix = synthesize(case);
    let start = processor_ms();
    let bytes = encode(&matrix).expect("the matrix is within limits");
    let encode_ms = processor_ms() - start;
    std::fs::write(&file, &bytes).expect("the target directory can be written");
    let after_encode = peak_mib();
    let decode_ms = best(|| decode(&bytes).expect("own bytes"));
    assert!(decode(&bytes).expect("own bytes") == matrix);
    let open_ms = best_with(
        || bytes.clone(),
        |bytes| MatrixView::open(bytes).expect("own bytes"),
    );
    let opened = || MatrixView::open(bytes.clone()).expect("own bytes");
    let name_ms = best_with(&opened, |view| (view.unit(0), view));
    let print_ms = best_with(&opened, |view| (view.fingerprint(0), view));
    let rows_ms = best_with(&opened, |view| (view.rows_with(&[0]), view));
    let paths = changed_paths(case);
    let affected_ms = best_with(|| bytes.clone(), |bytes| affected(bytes, &paths));
    println!(
        "{:<36} {:>8.2} {:>7.1} {:>7.1} {:>7.1} | {:>6.2} {:>6.2} {:>6.2} {:>6.2} {:>8.2} {:>5.1}x | {:>5}",
        case.name,
        bytes.len() as f64 / 1e6,
        bytes.len() as f64 / f64::from(case.tests),
        encode_ms,
        decode_ms,
        open_ms,
        name_ms,
        print_ms,
        rows_ms,
        affected_ms,
        decode_ms / affected_ms,
        after_encode,
    );
}

/// Units of the JVM: all classes of a module have one path.
fn folders() {
    println!("\n{:<36} {:>9}", "open, and get all units", "ms");
    for count in [10_000, 100_000] {
        let mut builder = MatrixBuilder::new(header(1));
        let units: Vec<_> = (0..count)
            .map(|number| {
                let class = format!("org/demo/p{}/Class{}", number / 400, number / 20);
                let method = InClass::new(&class, &format!("run{number}()V"));
                let unit = Unit::at("target/classes", What::Method(method));
                let added = builder.unit(unit, Fingerprint([1; 16]));
                added.expect("units differ")
            })
            .collect();
        let group = builder.group(units);
        let facts = RowFacts {
            own: None,
            test: TestId::from("demo.ATest"),
            outcome: Outcome::Passed,
            duration_ms: 1,
            position: 0,
            incomplete: None,
            run: 0,
            selected: true,
        };
        builder.row(facts, [group]).expect("the only row");
        let bytes = encode(&builder.finish()).expect("a sound matrix");
        let ms = best_with(
            || bytes.clone(),
            |bytes| {
                let view = MatrixView::open(bytes).expect("own bytes");
                for id in 0..view.units() as UnitId {
                    std::hint::black_box(view.unit(id));
                }
            },
        );
        println!("{:<36} {ms:>9.1}", format!("{count} methods in one folder"));
    }
}

/// The memo index of a store with many matrices that differ in few rows.
fn memo() {
    let case = &CASES[0];
    let dir = format!("{}/memo_store", env!("CARGO_TARGET_TMPDIR"));
    // Remove the store of an earlier run, or it would be measured, too.
    let _ = std::fs::remove_dir_all(&dir);
    let store = FsStore::open(&dir);
    let mut matrix = synthesize(case);
    let mut random = Random(7);
    println!(
        "\n{:<36} {:>9} {:>9} {:>9}",
        "memo index", "index MB", "put ms", "read ms"
    );
    for count in 1..=20 {
        // Like a commit: some units change, and the rows that have them.
        for _ in 0..10 {
            let at = random.below(matrix.units.len() as u32) as usize;
            matrix.units[at].1 = Fingerprint([count as u8; 16]);
        }
        matrix.header.created = count;
        let start = Instant::now();
        store
            .put(&matrix)
            .expect("the target directory can be written");
        let put_ms = start.elapsed().as_secs_f64() * 1e3;
        if [1, 5, 20].contains(&count) {
            let read_ms = best(|| store.memo(&matrix.header.key));
            let size = std::fs::metadata(format!("{dir}/index")).map_or(0, |meta| meta.len());
            println!(
                "{:<36} {:>9.2} {put_ms:>9.1} {read_ms:>9.2}",
                format!("10k tests, {count} matrices"),
                size as f64 / 1e6
            );
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
}

/// Time and peak memory of the whole `tamis select` with one large matrix.
fn selecting() {
    println!("\n{:<36} {:>9} {:>9}", "tamis select", "ms", "peak MiB");
    for case in &CASES {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let git = |arguments: &[&str]| {
            let output = Command::new("git")
                .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"])
                .args(arguments)
                .current_dir(dir.path())
                .output()
                .expect("git runs");
            assert!(output.status.success(), "git {arguments:?}");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "base"]);
        let mut matrix = synthesize(case);
        matrix.header.key.repository = String::new();
        matrix.header.commit = git(&["rev-parse", "HEAD"]);
        FsStore::open(dir.path().join(".tamis/store"))
            .put(&matrix)
            .expect("the temporary directory can be written");
        drop(matrix);
        let start = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_tamis"))
            .args(["select", "--quiet", "--out", "out"])
            .current_dir(dir.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("tamis runs");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let ended = loop {
            peak = peak.max(peak_of(&status));
            if let Some(ended) = child.try_wait().expect("the child can be waited for") {
                break ended;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        };
        assert!(ended.success(), "{}", case.name);
        let selection = std::fs::read_to_string(dir.path().join("out/selection.json"));
        let proven = selection.is_ok_and(|text| !text.contains("\"mode\": \"all\""));
        assert!(proven, "the matrix was used");
        println!(
            "{:<36} {:>9.0} {peak:>9}",
            case.name,
            start.elapsed().as_secs_f64() * 1e3
        );
    }
}

/// What `tamis select` does with a matrix: finds the rows with a unit at one of the changed
/// paths, with the unit and its fingerprint.
fn affected(bytes: Vec<u8>, paths: &[String]) -> usize {
    let view = MatrixView::open(bytes).expect("own bytes");
    let mut changed: Vec<UnitId> = Vec::new();
    for path in paths {
        changed.extend(view.units_at_path(path.as_bytes()));
    }
    for id in &changed {
        std::hint::black_box((view.unit(*id), view.fingerprint(*id)));
    }
    let rows = view.rows_with(&changed);
    rows.iter().flatten().count()
}

fn best<T>(mut run: impl FnMut() -> T) -> f64 {
    best_with(|| (), |()| run())
}

/// The best of as many runs as fit into two seconds, at least three. On a busy machine the
/// other runs measure other processes.
fn best_with<I, T>(mut prepare: impl FnMut() -> I, mut run: impl FnMut(I) -> T) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut runs = 0;
    while runs < 3 || begin.elapsed().as_secs() < 2 {
        let input = prepare();
        let start = processor_ms();
        let output = std::hint::black_box(run(input));
        best = best.min(processor_ms() - start);
        drop(output);
        runs += 1;
    }
    best
}

/// The processor time of this thread in milliseconds. On a busy machine wall time would
/// include other processes.
fn processor_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The peak memory of a process, in MiB (Linux).
fn peak_mib() -> u64 {
    peak_of("/proc/self/status")
}

fn peak_of(file: &str) -> u64 {
    let status = std::fs::read_to_string(file).unwrap_or_default();
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
            let what = match n {
                0 => What::Skeleton,
                _ => {
                    let word = words[random.below(8) as usize];
                    let class = words[random.below(8) as usize];
                    What::Code(format!("{class}{}.{word}_{n}", n / 6).into())
                }
            };
            let mut print = [0; 16];
            print[..8].copy_from_slice(&random.next().to_le_bytes());
            print[8..].copy_from_slice(&random.next().to_le_bytes());
            units.push((Unit::at(path_of_file(case, file), what), Fingerprint(print)));
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
            own: None,
            test: TestId::Test(format!(
                "tests/area_{:04}/test_module_{file:05}.py::TestCase{}::test_{number:02}",
                file / 8,
                number / 7
            )),
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
        values: None,
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

/// About `size` ids in runs of five to twenty, like the functions of a module that run when it
/// is imported.
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
        chose: false,
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
        shard: None,
        runs: vec![run],
        strategy: "all".into(),
        baselines: Vec::new(),
        command: Vec::new(),
        tests,
        ran: tests,
    }
}
