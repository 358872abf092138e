//! Selections with a missing, damaged or foreign store: more tests run, nothing is lost, and
//! the user learns why.

use std::fs;
use std::path::PathBuf;

use crate::harness::*;

const FILES: &str = r#"
-- test_a.py --
def test_one():
    pass


def test_two():
    pass
"#;

fn recorded(python: &Python) -> Project {
    let mut project = Project::new(python, FILES);
    assert_eq!(project.run().outcomes.len(), 2);
    assert_eq!(project.run().outcomes.len(), 0);
    project
}

/// All files of the store.
fn files(project: &Project) -> Vec<PathBuf> {
    let found = files_below(&project.root().join(".tamis/store"));
    assert!(!found.is_empty());
    found
}

/// Everything runs for a reason; afterwards the store is complete again.
fn recovers(project: &mut Project, why: &str) {
    let run = project.run();
    assert_eq!(run.code, 0, "{why}: {}", run.stderr);
    assert_eq!(run.outcomes.len(), 2, "{why}: {}", run.stderr);
    assert_eq!(run.selection.mode, "all", "{why}");
    assert!(
        run.selection.reason.to_string().len() > 4,
        "{why}: {:?}",
        run.selection.reason
    );
    let again = project.run();
    assert_eq!(again.outcomes.len(), 0, "{why}: {}", again.stderr);
}

#[test]
fn deleted() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        project.delete(".tamis");
        recovers(&mut project, "deleted");
    });
}

#[test]
fn overwritten() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        for file in files(&project) {
            let mut bytes = fs::read(&file).unwrap();
            for byte in &mut bytes {
                *byte = byte.wrapping_mul(31).wrapping_add(7);
            }
            fs::write(&file, bytes).unwrap();
        }
        recovers(&mut project, "overwritten");
    });
}

#[test]
fn truncated() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        for file in files(&project) {
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        }
        recovers(&mut project, "truncated");
    });
}

#[test]
fn emptied() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = recorded(python);
        for file in files(&project) {
            fs::write(&file, b"").unwrap();
        }
        recovers(&mut project, "emptied");
    });
}

/// One flipped bit at each place of the biggest file: never a wrong skip, never a crash.
#[test]
fn single_flipped_bits() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = recorded(python);
        let biggest = files(&project)
            .into_iter()
            .max_by_key(|file| fs::metadata(file).unwrap().len())
            .unwrap();
        let bytes = fs::read(&biggest).unwrap();
        for place in (0..bytes.len()).step_by(bytes.len() / 12 + 1) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            fs::write(&biggest, &damaged).unwrap();
            let select = project.select();
            let excluded = select.excluded.len();
            assert!(excluded == 0 || excluded == 2, "{place}: {select:?}");
            if excluded == 0 {
                assert_eq!(select.mode, "all", "{place}");
            }
        }
    });
}

/// The matrices of another repository are not evidence here.
#[test]
fn foreign() {
    on_all_interpreters(Wanted::Newest, |python| {
        let other = recorded(python);
        let mut project = Project::new(python, FILES);
        project.git(&["checkout", "--quiet", "--orphan", "apart"]);
        project.git(&["commit", "--quiet", "--message", "another root"]);
        project.git(&["branch", "--delete", "--force", "main"]);
        let from = other.root().join(".tamis");
        let copy = ["-a", from.to_str().unwrap(), "."];
        assert!(
            project
                .command("cp", &copy, &project.root())
                .status
                .success()
        );
        let told = project.tamis(&["select"]).stderr;
        assert!(told.contains("the store is of another one"), "{told}");
        recovers(&mut project, "foreign");
    });
}

/// `store verify` finds damage and names the file.
#[test]
fn verify_names_damaged_files() {
    on_all_interpreters(Wanted::Newest, |python| {
        let project = recorded(python);
        let whole = project.tamis(&["store", "verify"]);
        assert_eq!(whole.code(), 0, "{}", whole.stderr);
        let file = files(&project)
            .into_iter()
            .max_by_key(|file| fs::metadata(file).unwrap().len())
            .unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&file, bytes).unwrap();
        let damaged = project.tamis(&["store", "verify"]);
        assert_eq!(damaged.code(), 1, "{}{}", damaged.stdout, damaged.stderr);
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let said = damaged.stdout + &damaged.stderr;
        assert!(said.contains(&name), "{name} is not in {said}");
    });
}

/// Two runs at once: both succeed, and the store serves the next one.
#[test]
fn concurrent_runs() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| project.tamis(&["run"])))
                .collect();
            for run in runs {
                let done = run.join().unwrap();
                assert_eq!(done.code(), 0, "{}", done.stderr);
            }
        });
        assert_eq!(project.run().outcomes.len(), 0);
    });
}
