//! What a build reads besides sources: what build scripts declare, and configuration.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::ByteSlice;

use super::plan::Need;

/// What a build script reads, by the folder of what it makes and that of its package: what it
/// declares, and all files of its package that are no sources. If it declares nothing, Cargo
/// runs it again for any file of the package.
///
/// # Errors
/// If a folder cannot be listed.
pub(super) fn of_script(out: &Path, package: &Path) -> Result<BTreeSet<Need>> {
    let said = out.with_file_name("output");
    let said = fs_err::read_to_string(&said).unwrap_or_default();
    let mut needs = BTreeSet::new();
    let mut declares = false;
    for line in said.lines() {
        let Some(line) = line
            .strip_prefix("cargo:")
            .map(|line| line.trim_start_matches(':'))
        else {
            continue;
        };
        if let Some(path) = line.strip_prefix("rerun-if-changed=") {
            declares = true;
            tree(&package.join(path), |_| true, &mut needs)?;
        } else if let Some(name) = line.strip_prefix("rerun-if-env-changed=") {
            declares = true;
            needs.insert(Need::Variable(name.to_owned()));
        }
    }
    let is_source = |path: &Path| path.extension().is_some_and(|ending| ending == "rs");
    tree(package, |path| !declares || !is_source(path), &mut needs)?;
    Ok(needs)
}

/// All that lies at a path and below it.
fn tree(top: &Path, counts: impl Fn(&Path) -> bool, needs: &mut BTreeSet<Need>) -> Result<()> {
    if !top.is_dir() {
        needs.insert(match top.exists() {
            true => Need::File(top.to_owned()),
            false => Need::Missing(top.to_owned()),
        });
        return Ok(());
    }
    let is_own = |entry: &walkdir::DirEntry| {
        let name = entry.file_name();
        let is_made = entry.path().join("CACHEDIR.TAG").exists();
        let is_of_tools = name.to_string_lossy().starts_with('.') || name == "target";
        entry.depth() == 0 || !(is_of_tools || is_made)
    };
    for entry in walkdir::WalkDir::new(top).into_iter().filter_entry(is_own) {
        let entry = entry?;
        if entry.file_type().is_dir() {
            needs.insert(Need::Names(entry.into_path()));
        } else if counts(entry.path()) {
            needs.insert(Need::File(entry.into_path()));
        }
    }
    Ok(())
}

/// The configuration that Cargo and rustup look for from a folder upwards.
pub(super) fn above(cwd: &Path, root: &Path) -> BTreeSet<Need> {
    const NAMES: [&str; 4] = [
        ".cargo/config.toml",
        ".cargo/config",
        "rust-toolchain.toml",
        "rust-toolchain",
    ];
    let mut needs = BTreeSet::new();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let of_home = home.into_iter().map(|home| home.join("config.toml"));
    let files = cwd
        .ancestors()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .chain(of_home);
    for file in files {
        if file.exists() {
            needs.insert(Need::File(file));
        } else if file.starts_with(root) {
            needs.insert(Need::Missing(file));
        }
    }
    needs
}

/// Whether some source in a folder or below has tests.
pub(super) fn has_tests(folder: &Path) -> bool {
    /// What is looked at, so that it takes no time.
    const MOST: usize = 5_000;
    let is_other = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() > 0 && (name.starts_with('.') || name == "target" || name == "node_modules")
    };
    let below = walkdir::WalkDir::new(folder).into_iter();
    let mut below = below
        .filter_entry(|entry| !is_other(entry))
        .take(MOST)
        .flatten();
    below.any(|entry| {
        let path = entry.path();
        let is_source = path.extension().is_some_and(|ending| ending == "rs");
        is_source && crate::disk::read(path).is_ok_and(|text| text.contains_str("test]"))
    })
}

/// Why a runner of tamis cannot be put before test binaries, if so: the project has its own.
pub(super) fn own_runner(cwd: &Path) -> Option<String> {
    let mut variables = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let is_runner = |name: &String| name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    if let Some(name) = variables.find(is_runner) {
        return Some(format!("{name} says what runs the tests"));
    }
    let files = above(cwd, Path::new("/"));
    let files = files.into_iter().filter_map(|need| match need {
        Need::File(file) if file.to_string_lossy().contains("config") => Some(file),
        _ => None,
    });
    files
        .filter(|file| {
            let text = crate::disk::read_to_string(file).unwrap_or_default();
            let config: toml::Table = toml::from_str(&text).unwrap_or_default();
            let targets = config.get("target").and_then(toml::Value::as_table);
            let mut targets = targets.into_iter().flat_map(toml::Table::values);
            targets.any(|target| target.get("runner").is_some())
        })
        .map(|file| format!("{} says what runs the tests", file.display()))
        .next()
}
