//! What a build reads besides sources: what build scripts declare, and configuration.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::ByteSlice;

use super::plan::Need;

/// What a build script reads, by the folder of what it makes and that of its package: what it
/// declares, and all files of its package that are no sources. If it declares nothing, Cargo
/// runs it again for any file of the package. `target` is the folder of what Cargo makes.
///
/// # Errors
/// If a folder cannot be listed.
pub(super) fn of_script(out: &Path, package: &Path, target: &Path) -> Result<BTreeSet<Need>> {
    let said = out.with_file_name("output");
    let said = crate::disk::read(&said).unwrap_or_default();
    let mut needs = BTreeSet::new();
    let mut declares = false;
    for line in String::from_utf8_lossy(&said).lines() {
        let directive = line.strip_prefix("cargo:");
        let Some(line) = directive.map(|line| line.trim_start_matches(':')) else {
            continue;
        };
        if let Some(path) = line.strip_prefix("rerun-if-changed=") {
            declares = true;
            tree(&package.join(path), target, |_| true, &mut needs)?;
        } else if let Some(name) = line.strip_prefix("rerun-if-env-changed=") {
            declares = true;
            needs.insert(Need::Variable(name.to_owned()));
        }
    }
    let counts = |path: &Path| !declares || !is_source(path);
    tree(package, target, counts, &mut needs)?;
    Ok(needs)
}

pub(super) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rs")
}

/// All that lies at a path and below it, without what tools keep there.
///
/// # Errors
/// If a folder cannot be listed.
pub(super) fn tree(
    top: &Path,
    target: &Path,
    counts: impl Fn(&Path) -> bool,
    needs: &mut BTreeSet<Need>,
) -> Result<()> {
    if !top.is_dir() {
        needs.insert(match top.exists() {
            true => Need::File(top.to_owned()),
            false => Need::Missing(top.to_owned()),
        });
        return Ok(());
    }
    let is_own = |entry: &walkdir::DirEntry| {
        let is_of_tools = entry.file_name() == ".git" || entry.file_name() == ".tamis";
        entry.depth() == 0 || !(is_of_tools || entry.path() == target)
    };
    let below = walkdir::WalkDir::new(top).follow_links(true);
    for entry in below.into_iter().filter_entry(is_own) {
        let Ok(entry) = entry else {
            // A link that leads nowhere, or in a circle.
            continue;
        };
        if entry.file_type().is_dir() {
            needs.insert(Need::Names(entry.into_path()));
        } else if counts(entry.path()) {
            needs.insert(Need::File(entry.into_path()));
        }
    }
    Ok(())
}

/// The folders in which the workspace of a manifest finds its members by pattern.
pub(super) fn with_members(top: &Path) -> BTreeSet<Need> {
    let text = crate::disk::read_to_string(top.join("Cargo.toml")).unwrap_or_default();
    let manifest: toml::Table = toml::from_str(&text).unwrap_or_default();
    let members = manifest.get("workspace").and_then(|one| one.get("members"));
    let members = members.and_then(toml::Value::as_array);
    let patterns = members
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str);
    let mut needs = BTreeSet::new();
    for pattern in patterns.filter(|pattern| pattern.contains(['*', '?', '['])) {
        let mut folders = vec![top.to_owned()];
        for part in pattern.split('/') {
            if !part.contains(['*', '?', '[']) {
                folders.iter_mut().for_each(|folder| folder.push(part));
                continue;
            }
            let mut below = Vec::new();
            for folder in folders {
                let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
                below.extend(entries.map(|one| one.path()).filter(|path| path.is_dir()));
                needs.insert(Need::Names(folder));
            }
            folders = below;
        }
    }
    needs
}

/// Why flags for the compiler, or a program before it, let nobody see which functions run, if so:
/// they may ask for optimised code, or for none of the lines.
pub(super) fn why_unseen(cwd: &Path, flags: &[String]) -> Option<String> {
    const WORDS: [&str; 8] = [
        "opt-level",
        "-O",
        "-Z",
        "inline",
        "llvm-args",
        "passes",
        "codegen-backend",
        "debuginfo",
    ];
    const WRAPPERS: [&str; 3] = [
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WRAPPER",
    ];
    const CACHES: [&str; 2] = ["sccache", "ccache"];
    let is_cache = |text: &str| CACHES.iter().any(|cache| text.ends_with(cache));
    let asks = |text: &str| WORDS.iter().any(|word| text.contains(word));
    let mut variables = std::env::vars_os().map(|(name, value)| {
        let text = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
        (text(&name), text(&value))
    });
    let found = variables.find(|(name, value)| {
        let is_wrapper = WRAPPERS.contains(&name.as_str());
        let has_flags = name.ends_with("RUSTFLAGS");
        (is_wrapper && !value.is_empty() && !is_cache(value)) || (has_flags && asks(value))
    });
    if let Some((name, _)) = found {
        return Some(format!("{name} may change how functions are compiled"));
    }
    let is_about_code = |text: &str| {
        let wraps = text.contains("rustc-wrapper") || text.contains("rustc-workspace-wrapper");
        let is_cached = CACHES.iter().any(|cache| text.contains(cache));
        text.contains("rustflags") && asks(text) || wraps && !is_cached || text.contains("include")
    };
    if flags.iter().any(|flag| is_about_code(flag)) {
        return Some("flags may change how functions are compiled".to_owned());
    }
    let file = config_files(cwd).find(|file| {
        let text = crate::disk::read_to_string(file).unwrap_or_default();
        is_about_code(&text)
    });
    file.map(|file| format!("{} may change how functions are compiled", file.display()))
}

/// Configuration of Cargo that counts in a folder.
fn config_files(cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let files = above(cwd, Path::new("/")).into_iter();
    files.filter_map(|need| match need {
        Need::File(file) if file.to_string_lossy().contains("config") => Some(file),
        _ => None,
    })
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
        is_source(path) && crate::disk::read(path).is_ok_and(|text| text.contains_str("test]"))
    })
}

/// Why a runner of tamis cannot be put before test binaries, if so: the project has its own.
pub(super) fn own_runner(cwd: &Path) -> Option<String> {
    let mut variables = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let is_runner = |name: &String| name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    if let Some(name) = variables.find(is_runner) {
        return Some(format!("{name} says what runs the tests"));
    }
    config_files(cwd)
        .filter(|file| {
            let text = crate::disk::read_to_string(file).unwrap_or_default();
            let config: toml::Table = toml::from_str(&text).unwrap_or_default();
            let targets = config.get("target").and_then(toml::Value::as_table);
            let mut targets = targets.into_iter().flat_map(toml::Table::values);
            // What it includes is not looked at.
            config.contains_key("include") || targets.any(|target| target.get("runner").is_some())
        })
        .map(|file| format!("{} says what runs the tests", file.display()))
        .next()
}
