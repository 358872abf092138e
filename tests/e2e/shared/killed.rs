//! Killed at any system call, or after an error of it: everything stored before is intact,
//! locally and in the remote.

use super::git::{add_origin, held};
use super::*;

/// Calls that change something, or come right before or after such a call. strace counts each
/// kind separately, so each kind has its own turns.
const CALLS: [&str; 14] = [
    "write",
    "fsync",
    "rename",
    "link",
    "unlink",
    "openat",
    "close",
    "flock",
    "ftruncate",
    "linkat",
    "pwrite64",
    "renameat",
    "renameat2",
    "unlinkat",
];

/// How many calls of a kind are tried if not all are.
const FEW: usize = 6;

/// One call of tamis and of each git process that it starts.
struct Call {
    kind: &'static str,
    /// The number of the call among this kind in each process, from 1.
    number: usize,
}

impl std::fmt::Display for Call {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.kind, self.number)
    }
}

/// Runs tamis under strace, which does `what` to that call in each of its processes. `false`
/// if there was no such call.
fn disturbed(project: &Project, what: &str, call: &Call, arguments: &[&str]) -> bool {
    let log = tempfile::NamedTempFile::new().unwrap();
    let inject = format!("inject={}:{what}:when={}", call.kind, call.number);
    let trace = format!("trace={}", call.kind);
    let tamis = env!("CARGO_BIN_EXE_tamis");
    let path = log.path().to_str().unwrap();
    let mut all = vec!["-f", "-q", "-o", path, "-e", &trace, "-e", &inject, tamis];
    all.extend(arguments);
    project.command("strace", &all, &project.root());
    let shown = fs::read(log.path()).unwrap();
    let shown = String::from_utf8_lossy(&shown);
    shown.contains("(INJECTED)") || shown.contains("killed by SIGKILL")
}

/// Does this to one call after another of each kind, until `attempt` returns that there was
/// none. Only some calls are tried; `TAMIS_E2E_ALL=1` tries every one. Returns how many there
/// were.
#[allow(clippy::print_stderr, reason = "how much was tried")]
fn at_each_call(what: &str, mut attempt: impl FnMut(&Call) -> bool) -> usize {
    let all = std::env::var_os("TAMIS_E2E_ALL").is_some();
    let mut count = 0;
    for kind in &CALLS[..if all { CALLS.len() } else { FEW }] {
        let mut number = 1;
        while attempt(&Call { kind, number }) {
            count += 1;
            number += if all { 1 } else { 1 + number / 2 };
        }
    }
    eprintln!("{what}: {count} calls");
    count
}

/// A project whose main branch has shared its results, and the remote; `None` without strace.
fn recorded_on_main(python: &Python) -> Option<(Project, PathBuf)> {
    let mut project = project(python, "shared-store: git\n");
    let strace = project.command("strace", &["-V"], &project.root());
    if !strace.status.success() {
        skip("strace is not installed");
        return None;
    }
    let remote = add_origin(&project);
    on_main(&mut project);
    project.run();
    Some((project, remote))
}

fn git_in(remote: &Path, arguments: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    git.arg("--git-dir").arg(remote).args(arguments);
    let done = git.output().unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// A git process that is killed in the remote, as on its server, leaves its locks there. At
/// each later push git says that they must be removed by hand.
fn remove_locks(remote: &Path) {
    for path in files_below(&remote.join("refs")) {
        if path.extension().is_some_and(|ending| ending == "lock") {
            fs::remove_file(path).unwrap();
        }
    }
}

fn no_file_is_refused(project: &Project, call: &Call) {
    let verify = project.tamis(&["store", "verify"]);
    assert_eq!(verify.code(), 0, "{call}: {}", verify.stdout);
}

/// Whatever happens to any call of sending and fetching: nothing is torn, old results stay,
/// and the next command works.
fn harms_nothing(what: &str) {
    on_all_interpreters(Wanted::Newest, |python| {
        let Some((mut project, remote)) = recorded_on_main(python) else {
            return;
        };
        let name = matrices(&project, 2).remove(0);
        let before = held(&remote);
        let tip = git_in(
            &remote,
            &[
                "for-each-ref",
                "--format=%(refname) %(objectname)",
                "refs/tamis",
            ],
        );
        let (reference, tip) = tip.trim().split_once(' ').unwrap();
        let sent = at_each_call(&format!("store push, {what}"), |call| {
            // Otherwise nothing is left to send after a successful push.
            remove_locks(&remote);
            git_in(&remote, &["update-ref", reference, tip]);
            let was_there = disturbed(&project, what, call, &["store", "push", &name]);
            no_file_is_refused(&project, call);
            assert!(held(&remote).is_superset(&before), "{what} at {call}");
            was_there
        });
        assert!(sent > 10, "{sent}");
        remove_locks(&remote);
        let push = project.tamis(&["store", "push", &name]);
        assert_eq!(push.code(), 0, "{}", push.stderr);
        let fetched = at_each_call(&format!("store fetch, {what}"), |call| {
            forget(&mut project);
            let was_there = disturbed(&project, what, call, &["store", "fetch"]);
            no_file_is_refused(&project, call);
            let fetch = project.tamis(&["store", "fetch"]);
            assert_eq!(fetch.code(), 0, "{what} at {call}: {}", fetch.stderr);
            assert_eq!(left_out(&project).len(), 2, "{what} at {call}");
            was_there
        });
        assert!(fetched > 10, "{fetched}");
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn killed_at_any_call_of_sending_and_fetching() {
    harms_nothing("signal=KILL");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn let_down_by_a_full_disk() {
    harms_nothing("error=ENOSPC");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn let_down_by_a_broken_disk() {
    harms_nothing("error=EIO");
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn let_down_by_rights_that_are_gone() {
    harms_nothing("error=EACCES");
}
