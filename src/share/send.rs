//! Sends matrices from the local store to a shared one.

use std::time::Duration;

use anyhow::{Context, bail};

use super::error::{Deadline, RemoteError};
use super::manifest::{MAX_DEPENDENCES, MAX_MATRIX, Manifest, Pack};
use super::{Shared, redact};
use crate::matrix::format::Prefix;
use crate::store::{FsStore, Name};
use crate::trust::{SecretKey, Writer};

/// The time limit for all sending.
const PATIENCE: Duration = Duration::from_secs(180);

/// The limit for one step: large matrices go over slow lines.
const STEP: Duration = Duration::from_secs(60);

/// The result of sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Stored,
    /// It was not sent, for this reason.
    Kept(&'static str),
    Failed(String),
}

/// A matrix of the store as a pack. It is signed if there is a key and the writer runs merged
/// code.
///
/// # Errors
/// The store cannot read the matrix, or it is too large to share.
pub(crate) fn sign_and_pack(
    store: &FsStore,
    name: &Name,
    writer: &Writer,
    key: Option<&SecretKey>,
) -> anyhow::Result<Pack> {
    let path = store.path_of(name);
    let matrix = crate::disk::read_named(&path)?;
    if matrix.len() as u64 > MAX_MATRIX {
        bail!(
            "{} is too large to share: more than {MAX_MATRIX} bytes",
            path.display()
        );
    }
    let prefix = Prefix::read(&matrix).with_context(|| path.display().to_string())?;
    let mut manifest = Manifest::of(&prefix.header, name, matrix.len() as u64, writer.clone());
    let known = store.newest_dependences(&prefix.header.key);
    let dependences = known.filter(|file| file.len() as u64 <= MAX_DEPENDENCES);
    if let Some(file) = &dependences {
        manifest.attach(file);
    }
    if let Some(key) = key
        && !writer.is_proposed()
    {
        manifest.sign(key);
    }
    manifest
        .check(&matrix)
        .with_context(|| path.display().to_string())?;
    Ok(Pack {
        manifest,
        matrix,
        dependences,
    })
}

/// Sends one matrix. A problem is part of the answer: it must not fail a run. `asked`: the
/// user wants it sent, even from a machine outside CI.
pub(crate) fn send(
    shared: &Shared,
    store: &FsStore,
    name: &Name,
    key: Option<&SecretKey>,
    asked: bool,
) -> Sent {
    if shared.reader.is_local() && !asked {
        return Sent::Kept("only CI shares what it records; `tamis store push` does it by hand");
    }
    let pack = match sign_and_pack(store, name, &shared.reader, key) {
        Ok(pack) => pack,
        Err(error) => return Sent::Failed(redact(&format!("{error:#}"))),
    };
    let deadline = Deadline::after(PATIENCE).with_step(STEP);
    match shared.remote.put(&pack, &deadline) {
        Ok(()) => Sent::Stored,
        // Runs of a fork have no right to write, so this is no problem.
        Err(RemoteError::Refused(_) | RemoteError::NotSetUp(_)) if shared.reader.fork => {
            Sent::Kept("runs of forks may not write to the shared store")
        }
        Err(error) => Sent::Failed(redact(&error.to_string())),
    }
}
