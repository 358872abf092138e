//! Test runners: how each is found, started, told what to leave out, and what
//! of its configuration can change an outcome.

pub mod detect;
pub mod gradle;
pub mod junit;
pub mod jvm;
pub mod maven;
pub mod pytest;
pub mod unwatched;

use std::path::PathBuf;

/// The program of this name that a command finds.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}
