//! The environment variables that a test was given.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use bstr::{BString, ByteSlice};

use super::paths::native;
use super::seen::Seen;
use crate::disk;
use crate::matrix::Fingerprint;

/// The name of all variables together.
pub(super) const ALL: &str = "*";

/// Those that differ between shells, terminals or CI jobs, and tell nothing about a program.
/// The same as of the collector in Python (`envvars.py`), without those of pytest and of
/// coverage tools: a command may start these.
const VOLATILE: &str = "
    _ COLUMNS LINES SHLVL PWD OLDPWD WINDOWID TERM_SESSION_ID TERM_PROGRAM_VERSION
    TMUX TMUX_PANE STY SSH_AUTH_SOCK SSH_AGENT_PID SSH_CLIENT SSH_CONNECTION SSH_TTY
    DBUS_SESSION_BUS_ADDRESS XDG_SESSION_ID XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY
    XAUTHORITY GPG_AGENT_INFO HOSTNAME INVOCATION_ID JOURNAL_STREAM MAIL
    CI_JOB_ID CI_JOB_NAME CI_JOB_TOKEN CI_JOB_URL CI_PIPELINE_ID CI_PIPELINE_IID
    CI_PIPELINE_URL CI_COMMIT_SHA CI_COMMIT_SHORT_SHA CI_COMMIT_BEFORE_SHA
    CI_COMMIT_MESSAGE CI_COMMIT_TITLE CI_COMMIT_DESCRIPTION CI_COMMIT_TIMESTAMP
    CI_COMMIT_REF_NAME CI_COMMIT_REF_SLUG CI_COMMIT_BRANCH CI_RUNNER_ID CI_CONCURRENT_ID
    GITHUB_SHA GITHUB_REF GITHUB_REF_NAME GITHUB_HEAD_REF GITHUB_BASE_REF GITHUB_RUN_ID
    GITHUB_RUN_NUMBER GITHUB_RUN_ATTEMPT GITHUB_TOKEN GITHUB_ENV GITHUB_PATH
    GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_EVENT_PATH GITHUB_ACTOR
    GITHUB_ACTOR_ID GITHUB_TRIGGERING_ACTOR GITHUB_JOB GITHUB_ACTION GITHUB_WORKFLOW_SHA
    GITHUB_WORKFLOW_REF GITHUB_EVENT_NAME RUNNER_NAME RUNNER_TRACKING_ID
    ACTIONS_RUNTIME_TOKEN ACTIONS_RUNTIME_URL ACTIONS_CACHE_URL ACTIONS_RESULTS_URL
    ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL
    BUILD_ID BUILD_NUMBER BUILD_URL BUILD_TAG JOB_URL EXECUTOR_NUMBER
";

/// What the names begin with that CI services give.
const OF_SERVICES: [&str; 7] = [
    "CI_",
    "GITHUB_",
    "RUNNER_",
    "ACTIONS_",
    "BUILD_",
    "JOB_URL",
    "EXECUTOR_",
];

/// Below these lie the programs of the system, which serve everybody.
const OF_SYSTEM: [&str; 7] = [
    "/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/", "/sbin/", "/etc/",
];

/// But not below this.
const LOCAL: &str = "/usr/local/";

/// Larger files are not searched: they count as if they named all.
const LARGEST: u64 = 64 << 20;

/// The value of all variables together, without the volatile ones.
pub(crate) fn of_all(variables: impl Iterator<Item = (OsString, OsString)>) -> Fingerprint {
    let volatile: BTreeSet<&str> = VOLATILE.split_whitespace().collect();
    let is_volatile = |name: &OsStr| name.to_str().is_some_and(|name| volatile.contains(name));
    let mut lines: Vec<Vec<u8>> = variables
        .filter(|(name, _)| !is_volatile(name))
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat())
        .collect();
    lines.sort();
    Fingerprint::of_value(&lines.concat())
}

/// The volatile variables of CI services that the words of the command spell, or a file which
/// the test used: it may have read them.
pub(crate) fn spelled(seen: &Seen, words: &[Vec<u8>]) -> BTreeSet<&'static str> {
    let names = VOLATILE.split_whitespace();
    let names = names.filter(|name| OF_SERVICES.iter().any(|one| name.starts_with(one)));
    let names: Vec<&'static str> = names.collect();
    let mut found = BTreeSet::new();
    let mut look = |content: &[u8]| {
        if OF_SERVICES.iter().any(|one| content.contains_str(one)) {
            found.extend(
                names
                    .iter()
                    .copied()
                    .filter(|name| content.contains_str(name)),
            );
        }
    };
    for word in words {
        look(word);
    }
    for path in seen.files.keys().filter(|path| !is_of_system(path)) {
        let here = std::fs::symlink_metadata(native(path));
        if here.as_ref().is_ok_and(|here| here.is_symlink()) {
            // What it leads to is among the files.
            continue;
        }
        let is_small = here.is_ok_and(|here| here.len() <= LARGEST);
        match disk::read(native(path)) {
            Ok(content) if is_small => look(&content),
            // Nobody knows what it spelled.
            _ => return names.into_iter().collect(),
        }
    }
    found
}

fn is_of_system(path: &BString) -> bool {
    OF_SYSTEM.iter().any(|top| path.starts_with_str(top)) && !path.starts_with_str(LOCAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_collectors_leave_out_the_same_variables() {
        let python = include_str!("../../agents/python/boot/_tamis/envvars.py");
        let start = python.find("VOLATILE = frozenset(").unwrap();
        let theirs = python[start..].split("\"\"\"").nth(1).unwrap();
        let set = |text: &'static str| text.split_whitespace().collect::<BTreeSet<_>>();
        let mut theirs = set(theirs);
        theirs.retain(|name| !name.starts_with("PYTEST_") && !name.starts_with("COV_"));
        assert_eq!(set(VOLATILE), theirs);
    }

    #[test]
    fn volatile_variables_count_only_where_they_are_spelled() {
        let variables = |names: &[(&str, &str)]| {
            let pairs = names
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            of_all(pairs.collect::<Vec<_>>().into_iter())
        };
        let one = variables(&[("A", "1"), ("GITHUB_RUN_ID", "7")]);
        assert_eq!(one, variables(&[("GITHUB_RUN_ID", "8"), ("A", "1")]));
        assert_ne!(one, variables(&[("A", "2")]));

        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        std::fs::write(&script, "echo ${GITHUB_REF:-none}").unwrap();
        let mut seen = Seen::default();
        seen.files.insert(script.to_str().unwrap().into(), None);
        assert_eq!(spelled(&seen, &[]), BTreeSet::from(["GITHUB_REF"]));
        let words = [b"echo $CI_JOB_ID".to_vec()];
        assert_eq!(
            spelled(&Seen::default(), &words),
            BTreeSet::from(["CI_JOB_ID"])
        );
    }
}
