//! Files that are not plain where tamis or git reads one: named pipes, devices, links out of
//! the repository, files of gigabytes. Each is refused by name and makes more tests run;
//! nothing waits, and nothing fills the memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::*;

const FILES: &str = r#"
-- a.py --
def value():
    return 1
-- sub/keep.txt --
kept
-- test_a.py --
import a

def test_a():
    assert a.value()
-- test_b.py --
import os

def test_b():
    with open(os.path.join(os.path.dirname(__file__), "data.bin"), "rb") as data:
        assert data.read(1) == b"\0"

def test_c():
    pass
"#;

fn with_project(check: impl Fn(Project)) {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = Project::new(python, FILES);
        fs::write(project.root().join("data.bin"), [0; 100]).unwrap();
        check(project);
    });
}

/// Runs `tamis ARGUMENTS`; `None` if it hangs.
fn ended(project: &Project, arguments: &[&str]) -> Option<Finished> {
    let arguments = [&["60", env!("CARGO_BIN_EXE_tamis")], arguments].concat();
    let done = project.command("timeout", &arguments, &project.root());
    (done.code() != 124).then_some(done)
}

fn pipe(place: &Path) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(place)
            .status()
            .unwrap()
            .success()
    );
}

/// The name of the only stored matrix.
fn matrix(project: &Project) -> PathBuf {
    let store = fs::read_dir(project.root().join(".tamis/store")).unwrap();
    let mut files = store.map(|entry| entry.unwrap().path());
    files
        .find(|path| path.extension().is_some_and(|end| end == "tamis"))
        .unwrap()
}

/// Replaces a file, checks how tamis reacts, and restores the file. Returns the errors; the
/// message must contain `word`.
fn in_place_of(
    project: &Project,
    path: &str,
    word: &str,
    arguments: &[&str],
    put: impl Fn(&Path),
) -> Vec<String> {
    let place = project.root().join(path);
    let aside = project.world().join("aside");
    let was_there = fs::rename(&place, &aside).is_ok();
    put(&place);
    let mut wrong = Vec::new();
    match ended(project, arguments) {
        None => wrong.push(format!("{path}: tamis {arguments:?} waits for ever")),
        Some(done) => {
            let said = format!("{}{}", done.stdout, done.stderr);
            if said.contains("panicked") || !said.contains(word) {
                wrong.push(format!(
                    "{path}: exit {}, {word:?} not in: {said}",
                    done.code()
                ));
            }
        }
    }
    let _ = fs::remove_file(&place);
    if was_there {
        fs::rename(&aside, &place).unwrap();
    }
    wrong
}

/// In the store: more tests run, for a reason that names the file.
#[test]
fn named_pipes_and_devices_in_the_store() {
    with_project(|mut project| {
        project.write("tamis.yml", "version: 1\nstrategy: memo\n");
        project.commit("memo");
        assert_eq!(project.run().outcomes.len(), 3);
        let stored = matrix(&project);
        let stored = stored
            .strip_prefix(project.root())
            .unwrap()
            .to_str()
            .unwrap();
        let name = Path::new(stored).file_name().unwrap().to_str().unwrap();
        let zeros = |place: &Path| std::os::unix::fs::symlink("/dev/zero", place).unwrap();
        let select = ["select", "--json"];
        // Units that an edit touches are looked up in the index.
        edit(&mut project, 3);
        let mut wrong = Vec::new();
        for (path, word) in [
            (stored, name),
            (".tamis/store/other.tamis", "other.tamis"),
            (".tamis/store/index", "named pipe"),
            // Both only save work: there is no message.
            (".tamis/store/lock", ""),
            (".tamis/cache/identity", ""),
        ] {
            wrong.extend(in_place_of(&project, path, word, &select, pipe));
        }
        wrong.extend(in_place_of(&project, stored, name, &select, zeros));
        wrong.extend(in_place_of(
            &project,
            ".tamis/store/index",
            "device",
            &select,
            zeros,
        ));
        wrong.extend(in_place_of(
            &project,
            ".tamis/cache/identity",
            "",
            &select,
            zeros,
        ));
        for path in [stored, ".tamis/store/index"] {
            wrong.extend(in_place_of(
                &project,
                path,
                "named pipe",
                &["store", "verify"],
                pipe,
            ));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // With a pipe as its lock the results are stored all the same.
        let _ = fs::remove_file(project.root().join(".tamis/store/lock"));
        pipe(&project.root().join(".tamis/store/lock"));
        edit(&mut project, 2);
        let run = ended(&project, &["run"]).expect("the lock blocks");
        assert_eq!(run.code(), 0, "{}", run.stderr);
        assert_eq!(project.select().selected.len(), 0);
    });
}

fn edit(project: &mut Project, value: u32) {
    project.write("a.py", &format!("def value():\n    return {value}\n"));
}

/// In git's own files: the repository is refused, and the file is named.
#[test]
fn named_pipes_where_git_reads() {
    with_project(|mut project| {
        assert_eq!(project.run().outcomes.len(), 3);
        edit(&mut project, 2);
        project.write("new.txt", "new");
        project.write("sub/new.txt", "new");
        let mut wrong = Vec::new();
        for path in [
            ".gitattributes",
            "sub/.gitattributes",
            ".gitignore",
            "sub/.gitignore",
            ".git/shallow",
            ".git/index",
            ".git/config",
            ".git/HEAD",
            ".git/packed-refs",
            ".git/info/exclude",
            ".git/info/attributes",
            ".git/refs/heads/main",
            ".git/objects/info/alternates",
            ".git/objects/info/commit-graph",
        ] {
            let name = path.rsplit('/').next().unwrap();
            let select = ["select", "--json"];
            let told = in_place_of(&project, path, name, &select, pipe);
            wrong.extend(told);
            let device = |place: &Path| std::os::unix::fs::symlink("/dev/zero", place).unwrap();
            wrong.extend(in_place_of(&project, path, name, &select, device));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let run = project.run();
        assert_eq!(run.outcomes.len(), 1, "{}", run.stderr);
    });
}

/// A pipe in place of a file of a program or a test: it is no file any more.
#[test]
fn named_pipes_in_the_work_tree() {
    with_project(|mut project| {
        assert_eq!(project.run().outcomes.len(), 3);
        let mut wrong = Vec::new();
        for (path, word) in [
            ("tamis.yml", "tamis.yml"),
            ("pytest.ini", ""),
            ("pyproject.toml", ""),
            ("sub/keep.txt", ""),
            ("a.py", "a.py"),
            ("data.bin", "data.bin"),
        ] {
            let select = ["select", "--json"];
            wrong.extend(in_place_of(&project, path, word, &select, pipe));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(project.run().outcomes.len(), 0);
    });
}

/// In the files that a CI service names.
#[test]
fn named_pipes_for_what_a_service_is_told() {
    with_project(|mut project| {
        let place = project.world().join("told");
        pipe(&place);
        project.set_env("GITHUB_ACTIONS", Some("true"));
        for (variable, codes) in [
            ("GITHUB_OUTPUT", [1, 2, 3, 70].as_slice()),
            ("GITHUB_STEP_SUMMARY", &[0]),
            ("GITHUB_EVENT_PATH", &[0]),
        ] {
            project.set_env(variable, place.to_str());
            let done = ended(&project, &["select"]).expect(variable);
            assert!(
                codes.contains(&done.code()),
                "{variable}: {}{}",
                done.code(),
                done.stderr
            );
            assert!(done.stderr.contains("told"), "{variable}: {}", done.stderr);
            assert!(
                done.stderr.contains("named pipe"),
                "{variable}: {}",
                done.stderr
            );
            project.set_env(variable, None);
        }
    });
}

/// People who can commit a link must not choose where tamis writes and deletes.
#[test]
fn a_store_behind_a_link() {
    with_project(|mut project| {
        let outside = project.world().join("outside/state");
        fs::create_dir_all(outside.join("store")).unwrap();
        for (link, target) in [
            (".tamis", outside.clone()),
            (".tamis/store", outside.join("store")),
        ] {
            if project.root().join(".tamis").exists() {
                project.delete(".tamis");
            }
            let place = project.root().join(link);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            project.symlink(link, target.to_str().unwrap());
            let done = project.tamis(&["run"]);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            assert!(done.stdout.contains("3 passed"), "{}", done.stdout);
            assert!(done.stderr.contains("symbolic link"), "{}", done.stderr);
            assert!(done.stderr.contains("`store:"), "{}", done.stderr);
            let left: Vec<_> = fs::read_dir(outside.join("store")).unwrap().collect();
            assert!(left.is_empty(), "{link}: {left:?}");
            let gone = project.tamis(&["store", "gc", "--keep", "1"]);
            assert_ne!(gone.code(), 0, "{}", gone.stdout);
        }
        // A link that stays inside is as good as a folder, and so is one that the user named.
        project.delete(".tamis");
        fs::create_dir(project.root().join("build")).unwrap();
        project.write("build/.gitignore", "*\n");
        project.symlink(".tamis", "build");
        assert_eq!(project.run().outcomes.len(), 3);
        assert_eq!(project.run().outcomes.len(), 0);
        project.delete(".tamis");
        project.symlink(".tamis", outside.to_str().unwrap());
        let store = outside.join("store");
        project.set_env("TAMIS_STORE", store.to_str());
        assert_eq!(project.run().outcomes.len(), 3);
        assert_eq!(project.run().outcomes.len(), 0);
    });
}

/// The peak memory of `tamis ARGUMENTS` or of a program that it starts, in KiB.
fn memory(project: &Project, arguments: &[&str]) -> u64 {
    let program = "import resource, subprocess, sys\n\
        subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n\
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let before = ["-c", program, env!("CARGO_BIN_EXE_tamis")];
    let arguments = [&before, arguments].concat();
    let done = project.command(project.python.executable(), &arguments, &project.root());
    assert_eq!(done.code(), 0, "{}", done.stderr);
    done.stdout.trim().parse().unwrap()
}

fn resize(project: &Project, path: &str, bytes: u64) {
    let place = project.root().join(path);
    let file = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(place);
    file.unwrap().set_len(bytes).unwrap();
}

/// Untracked files and changed tracked files are fingerprinted without being in memory.
#[test]
fn large_files_are_not_in_the_memory() {
    with_project(|mut project| {
        project.git(&["add", "data.bin"]);
        project.commit("data");
        assert_eq!(project.run().outcomes.len(), 3);
        let usual = memory(&project, &["select"]);
        resize(&project, "data.bin", 160 << 20);
        let tracked = memory(&project, &["select"]);
        resize(&project, "data.bin", 100);
        resize(&project, "new.bin", 160 << 20);
        let untracked = memory(&project, &["select"]);
        assert!(
            tracked.max(untracked) < usual + (64 << 10),
            "{usual} {tracked} {untracked}"
        );
    });
}

/// A file of gigabytes is not read: the tests that use it run every time, and no others.
#[test]
fn files_of_gigabytes_are_not_read() {
    with_project(|mut project| {
        resize(&project, "data.bin", 3 << 30);
        project.write("other.bin", "");
        resize(&project, "other.bin", 3 << 30);
        assert_eq!(project.run().outcomes.len(), 3);
        for _ in 0..2 {
            let run = project.run();
            let ran: Vec<_> = run.outcomes.keys().collect();
            assert_eq!(ran, ["test_b.py::test_b"], "{}", run.stderr);
            let why = run.selection.selected["test_b.py::test_b"].to_string();
            assert!(why.contains("data.bin") && why.contains("GiB"), "{why}");
        }
        // With a normal size everything is as usual.
        resize(&project, "data.bin", 100);
        assert_eq!(project.run().outcomes.len(), 1);
        assert_eq!(project.run().outcomes.len(), 0);
    });
}
