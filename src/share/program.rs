//! Calls the git program, and reads its error messages.

use std::path::Path;
use std::process::Command;

use super::error::{RemoteError, Result};
use super::process::Done;
use super::redact;
use crate::history::entrusted;

/// The largest answer.
pub(super) const MAX_ANSWER: u64 = 16 << 20;

/// git without the settings of the caller's repository, and without prompts.
pub(super) fn git() -> Command {
    let mut command = Command::new("git");
    for variable in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_TRACE",
        "GIT_TRACE_CURL",
        "GIT_CURL_VERBOSE",
    ] {
        command.env_remove(variable);
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_REPLACE_OBJECTS", "1");
    if std::env::var_os("GIT_SSH_COMMAND").is_none() && std::env::var_os("GIT_SSH").is_none() {
        command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
    }
    command
}

/// The same for questions about the repository with the work tree `root`.
pub(super) fn git_in(root: &Path) -> Command {
    let mut command = git();
    command.current_dir(root);
    // As the repository was opened here: with explicit paths git does not check the owner.
    if let Some(folder) = entrusted(root) {
        command.env("GIT_DIR", folder).env("GIT_WORK_TREE", root);
    }
    command
}

/// git's output, if it succeeded.
pub(super) fn must(done: Done) -> Result<Vec<u8>> {
    match done.status.success() {
        true => Ok(done.stdout),
        false => Err(trouble(&done)),
    }
}

/// Classifies git's error message; messages are fixed in the locale C.
pub(super) fn trouble(done: &Done) -> RemoteError {
    let said = redact(&done.stderr);
    let last = said
        .lines()
        .find(|line| line.starts_with("fatal:") || line.starts_with("error:"))
        .or_else(|| said.lines().last())
        .unwrap_or("git failed without a word")
        .to_owned();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&["couldn't find remote ref", "not our ref"]) {
        RemoteError::Absent(last)
    } else if has(&[
        "Authentication failed",
        "Permission denied",
        "could not read Username",
        "could not read Password",
        "access denied",
        "returned error: 401",
        "returned error: 403",
        "insufficient permission",
        "terminal prompts disabled",
    ]) {
        RemoteError::Refused(last)
    } else if has(&["returned error: 429"]) {
        RemoteError::Busy(last)
    } else {
        RemoteError::Unreachable(last)
    }
}

pub(super) fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
