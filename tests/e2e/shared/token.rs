//! The token of a job, and a test that looks for it in all places.

use std::os::unix::fs::PermissionsExt;

use super::github::{GitHub, run_of};
use super::*;

/// A process of the same user can read the environment of every process, and the memory of
/// those that it may trace. The processes of the job have RUNNER_TEMP.
const SPY: &str = r#"
import os

def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""

def in_memory(pid, token):
    try:
        memory = open(f"/proc/{pid}/mem", "rb", 0)
    except OSError:
        return False
    with memory:
        for line in readable(f"/proc/{pid}/maps").decode().splitlines():
            begin, end = (int(part, 16) for part in line.split()[0].split("-"))
            if " rw" not in line and "[stack]" not in line:
                continue
            try:
                memory.seek(begin)
                if token in memory.read(end - begin):
                    return True
            except (OSError, OverflowError, ValueError):
                continue
    return False

def looked_at():
    token = readable(os.environ["SPY_TOKEN"]).strip()[::-1]
    ours = os.environ["RUNNER_TEMP"].encode()
    server = int(os.environ["SPY_SERVER"])
    found, read = [], 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        texts = [readable(f"/proc/{name}/{file}") for file in ("environ", "cmdline")]
        found += [f"{name}: {text!r}" for text in texts if token in text]
        if ours not in texts[0] or int(name) in (os.getpid(), server):
            continue
        read += 1
        if in_memory(name, token):
            found.append(f"{name}: the memory of {texts[1]!r}")
    return found, read

def test_nothing_holds_it():
    found, read = looked_at()
    # tamis at least, which started this.
    assert read >= 1 and not found, found
"#;

#[test]
fn no_test_finds_it_in_any_process() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        // No other test has this token.
        let token = format!("ghs_{}", project.world().display()).replace('/', "_");
        let reversed: String = token.chars().rev().collect();
        project.write("@outside/reversed", &reversed);
        let file = project.path("@outside/reversed").display().to_string();
        on_main(&mut project);
        project.run();
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        let mut state = github.get();
        state["token"] = token.as_str().into();
        github.set(&state);
        project.write("test_spy.py", SPY);
        project.commit("a spy");
        forget(&mut project);
        project.set_env("GITHUB_TOKEN", None);
        project.set_env("GITHUB_JOB", Some("all"));
        project.set_env("SPY_TOKEN", Some(&file));
        project.set_env("SPY_SERVER", Some(&github.pid().to_string()));
        github.requests();
        // Nothing keeps the inputs of a step, not even their place in files.
        let job = [("command", "python -m pytest"), ("token", token.as_str())];
        let run = steps(&mut project, &[&job[..], &[("mode", "run")]].concat());
        assert!(run.work.status.success(), "{}", run.told);
        assert!(run.told.contains("1 passed"), "{}", run.told);
        assert_eq!(
            github.requests().len(),
            4,
            "the token was of use: {}",
            run.told
        );
        // The jobs of a workflow that divides the tests.
        forget(&mut project);
        project.set_env("GITHUB_JOB", Some("select"));
        let select = [("mode", "select"), ("here", "true"), ("comment", "true")];
        let done = steps(&mut project, &[&job[..], &select].concat());
        assert!(done.told.contains("selected"), "{}", done.told);
        let record = steps(&mut project, &[&job[..], &[("mode", "record")]].concat());
        assert!(record.told.contains("1 passed"), "{}", record.told);
        for folder in ["", "@outside/runner", "@outside/../tmp", "@outside/../home"] {
            let folder = project.path(folder);
            assert!(!holds(&folder, &token), "{}", folder.display());
        }
    });
}

fn holds(folder: &Path, token: &str) -> bool {
    for path in files_below(folder) {
        let is_file = fs::metadata(&path).is_ok_and(|it| it.permissions().mode() & 0o400 != 0);
        let bytes = if is_file {
            fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        if bytes
            .windows(token.len())
            .any(|text| text == token.as_bytes())
        {
            return true;
        }
    }
    false
}
