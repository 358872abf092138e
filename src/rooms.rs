//! The walls of the house, as a test: which room may use which. `ARCHITECTURE.md`
//! draws the same table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What every room may use: small things that are in no room.
const ANYBODY: [&str; 7] = [
    "check", "count", "disk", "error", "escape", "pattern", "text",
];

/// Each room and the rooms that it may use.
const ROOMS: [(&str, &[&str]); 21] = [
    // Pure: no clock, no environment, no files.
    ("matrix", &[]),
    ("select", &["matrix"]),
    ("order", &["matrix"]),
    ("minimise", &[]),
    ("trust", &[]),
    // Each is about one thing outside of tamis.
    // It tells kinds of revisions apart that strategies know.
    ("history", &["matrix", "select"]),
    ("store", &["matrix", "order"]),
    ("share", &["history", "matrix", "store", "trust"]),
    ("ci", &["trust"]),
    ("run", &[]),
    ("tracer", &["history", "matrix", "run"]),
    // Code, data and the programs that run tests.
    ("languages", &["history", "matrix", "minimise", "observe"]),
    ("observe", &["languages", "matrix"]),
    (
        "runners",
        &[
            "history",
            "languages",
            "matrix",
            "minimise",
            "observe",
            "order",
            "run",
            "select",
            "tracer",
        ],
    ),
    ("config", &["ci", "runners", "select", "share", "trust"]),
    // These join them.
    (
        "pipeline",
        &[
            "ci",
            "config",
            "history",
            "languages",
            "matrix",
            "minimise",
            "observe",
            "order",
            "run",
            "runners",
            "select",
            "share",
            "store",
            "trust",
        ],
    ),
    // What people see and type.
    (
        "report",
        &[
            "ci",
            "history",
            "languages",
            "matrix",
            "minimise",
            "observe",
            "order",
            "pipeline",
            "select",
        ],
    ),
    (
        "cli",
        &[
            "ci",
            "config",
            "history",
            "languages",
            "matrix",
            "minimise",
            "observe",
            "order",
            "pipeline",
            "report",
            "run",
            "runners",
            "select",
            "share",
            "store",
            "tracer",
            "trust",
        ],
    ),
    ("main", &["cli"]),
    ("error", &["history"]),
    (
        "fuzz",
        &[
            "ci",
            "config",
            "history",
            "languages",
            "matrix",
            "observe",
            "runners",
            "share",
            "store",
        ],
    ),
];

/// Packages that only one room imports.
const PACKAGES: [(&str, &str); 9] = [
    ("git2", "history"),
    ("gix_commitgraph", "history"),
    ("octocrab", "share"),
    ("object_store", "share"),
    ("reqwest", "share"),
    ("ruff_python_parser", "languages"),
    ("tree_sitter", "languages"),
    ("quick_xml", "runners"),
    ("libc", "tracer"),
];

#[test]
fn no_room_uses_one_that_it_may_not() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.into();
    let mut crossed = Vec::new();
    for (file, room, code) in sources() {
        let Some(may) = allowed.get(room.as_str()) else {
            continue;
        };
        for used in names_after(&code, "crate::") {
            let is_allowed =
                used == room || ANYBODY.contains(&used.as_str()) || may.contains(&used.as_str());
            if !is_allowed {
                crossed.push(format!("{}: {room} uses {used}", file.display()));
            }
        }
    }
    assert!(crossed.is_empty(), "{}", crossed.join("\n"));
}

#[test]
fn every_room_has_its_walls() {
    let known: BTreeSet<&str> = ROOMS.into_iter().map(|(room, _)| room).collect();
    let rooms = sources().into_iter().map(|(_, room, _)| room);
    let unknown: BTreeSet<String> = rooms
        .filter(|room| !known.contains(room.as_str()) && !ANYBODY.contains(&room.as_str()))
        .filter(|room| !["lib", "rooms"].contains(&room.as_str()))
        .collect();
    assert_eq!(unknown, BTreeSet::new());
}

#[test]
fn packages_stay_in_their_rooms() {
    let mut crossed = Vec::new();
    for (file, room, code) in sources() {
        for (package, home) in PACKAGES {
            if room != home && code.contains(&format!("{package}::")) {
                crossed.push(format!("{}: {package} belongs to {home}", file.display()));
            }
        }
    }
    assert!(crossed.is_empty(), "{}", crossed.join("\n"));
}

/// A file that is longer is about more than one thing. (Clippy looks after functions.)
#[test]
fn no_source_is_long() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["agents", "benches", "src", "tests"].into_iter();
    let files = folders.flat_map(|folder| walkdir::WalkDir::new(top.join(folder)));
    let mut long = Vec::new();
    for file in files.map(|file| file.unwrap().into_path()) {
        let ending = file.extension().unwrap_or_default().to_string_lossy();
        if ["java", "py", "rs", "sh"].contains(&&*ending) {
            let lines = fs_err::read_to_string(&file).unwrap().lines().count();
            if lines > 600 {
                long.push(format!("{} has {lines} lines", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Each source with its room, and its code without comments and tests.
fn sources() -> Vec<(PathBuf, String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![src.clone()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(&src).unwrap().to_owned();
            let is_test = below.iter().any(|part| {
                let name = part.to_string_lossy();
                [
                    "tests",
                    "tests.rs",
                    "testing.rs",
                    "samples.rs",
                    "fixtures.rs",
                ]
                .contains(&&*name)
            });
            if is_test {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                let first = below.iter().next().unwrap().to_string_lossy();
                let room = first.trim_end_matches(".rs").to_owned();
                let code = code_of(&fs_err::read_to_string(&path).unwrap());
                found.push((below, room, code));
            }
        }
    }
    found
}

fn code_of(source: &str) -> String {
    let end = source.find("#[cfg(test)]\nmod tests {");
    let code = &source[..end.unwrap_or(source.len())];
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The identifiers after each `mark`.
fn names_after(code: &str, mark: &str) -> BTreeSet<String> {
    let parts = code.split(mark).skip(1);
    let name = |part: &str| {
        let is_part = |c: &char| c.is_ascii_lowercase() || *c == '_';
        part.chars().take_while(is_part).collect()
    };
    parts.map(name).collect()
}
