//! Killed at any system call, or let down by it: what was stored before is
//! whole, here and there.

use super::git::{add_origin, held};
use super::*;

const KILL: &str = "signal=KILL";

/// Calls that change something, or come right before or after it.
const CALLS: &str = "openat,write,pwrite64,fsync,rename,renameat,renameat2,link,linkat,unlink,\
                     unlinkat,ftruncate,flock,close";

/// Runs tamis under strace, which does this to the `call`th call of each process
/// of it, git's too. False if all went well, so that there were fewer calls.
fn disturbed(project: &Project, what: &str, call: usize, arguments: &[&str]) -> bool {
    let inject = format!("inject={CALLS}:{what}:when={call}");
    let trace = format!("trace={CALLS}");
    let tamis = env!("CARGO_BIN_EXE_tamis");
    let mut all = vec![
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        &trace,
        "-e",
        &inject,
        tamis,
    ];
    all.extend(arguments);
    let done = project.command("strace", &all, &project.root());
    done.code() != 0
}

/// A count of calls that grows: the first ones one by one, later ones further
/// apart. `TAMIS_E2E_ALL=1` takes every one.
fn counts() -> impl Iterator<Item = usize> {
    let all = std::env::var_os("TAMIS_E2E_ALL").is_some();
    std::iter::successors(Some(1usize), move |count| {
        Some(count + if all { 1 } else { 1 + count / 4 })
    })
}

/// A project whose main branch has shared its results, and the remote; `None`
/// without strace.
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

fn no_file_is_refused(project: &Project, call: usize) {
    let verify = project.tamis(&["store", "verify"]);
    assert_eq!(verify.code(), 0, "call {call}: {}", verify.stdout);
}

#[test]
fn at_any_call_of_sending_and_fetching() {
    on_all_interpreters(Wanted::Newest, |python| {
        let Some((mut project, remote)) = recorded_on_main(python) else {
            return;
        };
        let first = held(&remote);
        let names = matrices(&project, 2);
        let mut kills = 0;
        for call in counts() {
            let was_killed = disturbed(&project, KILL, call, &["store", "push", &names[0]]);
            no_file_is_refused(&project, call);
            assert!(held(&remote).is_superset(&first), "call {call}");
            if !was_killed {
                break;
            }
            kills += 1;
        }
        assert!(kills > 10, "{kills}");
        let push = project.tamis(&["store", "push", &names[0]]);
        assert_eq!(push.code(), 0, "{}", push.stderr);
        for call in counts() {
            forget(&mut project);
            let was_killed = disturbed(&project, KILL, call, &["store", "fetch"]);
            no_file_is_refused(&project, call);
            if !was_killed {
                break;
            }
            let fetch = project.tamis(&["store", "fetch"]);
            assert_eq!(fetch.code(), 0, "after call {call}: {}", fetch.stderr);
            assert_eq!(left_out(&project).len(), 2, "after call {call}");
        }
    });
}

/// A full disk, a broken one, rights that are gone: also where tamis or git go on
/// after it.
#[test]
fn let_down_at_any_call() {
    on_all_interpreters(Wanted::Newest, |python| {
        let Some((mut project, remote)) = recorded_on_main(python) else {
            return;
        };
        let names = matrices(&project, 1);
        for what in ["error=ENOSPC", "error=EIO", "error=EACCES"] {
            let mut times = 0;
            for call in counts().take_while(|call| *call < 2000) {
                let before = held(&remote);
                times += usize::from(disturbed(
                    &project,
                    what,
                    call,
                    &["store", "push", &names[0]],
                ));
                no_file_is_refused(&project, call);
                assert!(held(&remote).is_superset(&before), "{what} at {call}");
            }
            assert!(times > 5, "{what}: {times}");
            for call in counts().take_while(|call| *call < 500) {
                forget(&mut project);
                disturbed(&project, what, call, &["store", "fetch"]);
                no_file_is_refused(&project, call);
            }
            forget(&mut project);
            let fetch = project.tamis(&["store", "fetch"]);
            assert_eq!(fetch.code(), 0, "after {what}: {}", fetch.stderr);
            assert_eq!(left_out(&project).len(), 2, "after {what}");
            matrices(&project, 1);
        }
    });
}
