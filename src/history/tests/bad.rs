//! Repositories that cannot be used, and those that git finds in odd places. The error has the
//! right kind, and its text names the place and a next step.

use std::path::Path;
use std::process::Command;

use super::fixture::Repo;
use crate::history::{HistoryError, HistoryErrorKind, Repository};

fn refusal(from: &Path) -> HistoryError {
    Repository::discover(from)
        .err()
        .expect("no repository that can be used")
}

fn assert_helps(error: &HistoryError, kind: HistoryErrorKind, place: &str, next: &str) {
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.what.contains(place), "{error}");
    assert!(error.next.contains(next), "{error}");
}

#[test]
fn a_plain_directory() {
    let temp = tempfile::tempdir().unwrap();
    let place = temp.path().to_str().unwrap();
    assert_helps(
        &refusal(temp.path()),
        HistoryErrorKind::NotARepository,
        place,
        "git init",
    );
    let missing = temp.path().join("nothing/here");
    assert_helps(
        &refusal(&missing),
        HistoryErrorKind::NotARepository,
        "nothing/here",
        "git init",
    );
}

#[test]
fn a_bare_repository() {
    let repo = Repo::with_files();
    let bare = repo.outside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    assert_helps(
        &refusal(&bare),
        HistoryErrorKind::Bare,
        "bare.git",
        "git worktree add",
    );
}

#[test]
fn no_commit_yet() {
    let repo = Repo::new();
    let repository = repo.open();
    assert_eq!(repository.branch().as_deref(), Some("main"));
    let error = repository.head().unwrap_err();
    assert_helps(
        &error,
        HistoryErrorKind::UnbornHead,
        "branch main",
        "git commit",
    );
    assert_eq!(
        repository.work_view().err().unwrap().kind,
        HistoryErrorKind::UnbornHead
    );
    assert_eq!(
        repository.identity(None).unwrap_err().kind,
        HistoryErrorKind::UnbornHead
    );

    let repo = Repo::with_files();
    repo.git(&["switch", "-q", "--orphan", "fresh"]);
    let error = repo.open().head().unwrap_err();
    assert_helps(
        &error,
        HistoryErrorKind::UnbornHead,
        "branch fresh",
        "git commit",
    );
}

#[test]
fn another_hash_function() {
    let temp = tempfile::tempdir().unwrap();
    let made = Command::new("git")
        .args(["init", "-q", "--object-format=sha256"])
        .arg(temp.path())
        .status()
        .unwrap();
    assert!(made.success());
    let place = temp.path().to_str().unwrap();
    assert_helps(
        &refusal(temp.path()),
        HistoryErrorKind::Unsupported,
        place,
        "SHA-1",
    );
}

#[test]
fn a_damaged_repository() {
    let repo = Repo::with_files();
    repo.write(".git/HEAD", "what?\n");
    let error = match Repository::discover(&repo.top) {
        Err(error) => error,
        Ok(repository) => repository.head().unwrap_err(),
    };
    assert_ne!(error.kind, HistoryErrorKind::UnbornHead);
    assert!(!error.next.is_empty());

    let repo = Repo::with_files();
    repo.write(".git/index", "DIRC but not really");
    let error = repo.open().work_view().err().unwrap();
    assert_helps(&error, HistoryErrorKind::Unreadable, "index", "git status");

    let repo = Repo::with_files();
    let tree = repo.word(&["rev-parse", "HEAD:src"]);
    let object = format!(".git/objects/{}/{}", &tree[..2], &tree[2..]);
    repo.remove(&object);
    // The index tells the content of the commit until a path is asked for or something is
    // staged.
    let asked = || {
        let view = repo.open().work_view()?;
        view.entry("src/b.py".into())
    };
    let error = asked().err().unwrap();
    assert_helps(&error, HistoryErrorKind::MissingObject, &tree, "git fsck");
    repo.write("new.py", "");
    repo.git(&["add", "new.py"]);
    let error = repo.open().work_view().err().unwrap();
    assert_helps(&error, HistoryErrorKind::MissingObject, &tree, "git fsck");
    repo.write(&object, "rubbish");
    let error = repo.open().work_view().err().unwrap();
    assert_helps(&error, HistoryErrorKind::Unreadable, &tree, "git fsck");
}

#[test]
fn forms_of_the_index_that_libgit2_cannot_read() {
    let repo = Repo::with_files();
    repo.git(&["update-index", "--split-index"]);
    let error = repo.open().work_view().err().unwrap();
    assert_helps(
        &error,
        HistoryErrorKind::Unsupported,
        "split",
        "--no-split-index",
    );
    repo.git(&["update-index", "--no-split-index"]);
    assert!(repo.open().work_view().is_ok());

    repo.git(&[
        "sparse-checkout",
        "set",
        "--cone",
        "--sparse-index",
        "other",
    ]);
    let error = repo.open().work_view().err().unwrap();
    assert_helps(
        &error,
        HistoryErrorKind::Unsupported,
        "sparse",
        "--no-sparse-index",
    );
}

#[test]
#[cfg(unix)]
fn a_repository_of_another_user() {
    let repo = Repo::with_files();
    let give = |path: &Path| std::os::unix::fs::chown(path, Some(12_345), None);
    if give(&repo.top)
        .and_then(|()| give(&repo.top.join(".git")))
        .is_err()
    {
        // Only the superuser can give files away.
        return;
    }
    let error = refusal(&repo.top);
    assert_helps(
        &error,
        HistoryErrorKind::Untrusted,
        "another user",
        "safe.directory",
    );
}

#[test]
fn names_that_point_nowhere() {
    let repo = Repo::with_files();
    for name in ["nonsense", "HEAD~5", "main^2", "", "HEAD:a.py"] {
        let error = repo.open().resolve(name).unwrap_err();
        assert_helps(
            &error,
            HistoryErrorKind::UnknownRevision,
            &format!("`{name}`"),
            "git log",
        );
    }
    let gone = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let error = repo.open().revision(gone).unwrap_err();
    assert_helps(
        &error,
        HistoryErrorKind::MissingObject,
        &gone.to_string(),
        "git fsck",
    );
    assert!(repo.open().parents(&gone).is_err());
}

#[test]
fn found_from_below_and_inside_another() {
    let outer = Repo::with_files();
    let repository = Repository::discover(&outer.top.join("src/deep")).unwrap();
    assert_eq!(repository.root(), outer.top);
    assert_eq!(
        repository.prefix_of(&outer.top.join("src/deep")).unwrap(),
        "src/deep"
    );
    assert_eq!(repository.prefix_of(&outer.top).unwrap(), "");
    assert!(repository.prefix_of(outer.top.parent().unwrap()).is_err());
    assert!(repository.prefix_of(&outer.top.join("nowhere")).is_err());

    outer.git(&["init", "-q", "-b", "main", "src/inner"]);
    let inner = Repo::at(outer.top.join("src/inner"));
    inner.write("x.py", "x = 1\n");
    inner.commit_all();
    assert_eq!(Repository::discover(&inner.top).unwrap().root(), inner.top);
}

#[test]
fn a_link_to_the_work_tree_leads_to_the_same_root() {
    let repo = Repo::with_files();
    let link = repo.outside("link");
    std::os::unix::fs::symlink(&repo.top, &link).unwrap();
    let repository = Repository::discover(&link.join("src")).unwrap();
    assert_eq!(repository.root(), repo.top);
    assert_eq!(repository.prefix_of(&link.join("src")).unwrap(), "src");
}

/// Prints what `discover` finds. The test below runs it in its own process, because the
/// environment belongs to the whole process.
#[test]
#[ignore = "a helper of git_variables_count"]
fn print_discovered() {
    let Some(found_file) = std::env::var_os("FOUND") else {
        return;
    };
    let from = std::env::current_dir().unwrap();
    let found = Repository::discover(&from).and_then(|repository| {
        let names = super::fixture::dirty(&repository.work_view()?);
        Ok(format!("{} {names:?}", repository.root().display()))
    });
    std::fs::write(
        found_file,
        found.unwrap_or_else(|error| format!("{:?}", error.kind)),
    )
    .unwrap();
}

#[test]
fn git_variables_count() {
    let repo = Repo::with_files();
    let other = repo.outside("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("a.py"), "a = 1\n").unwrap();
    let top = repo.top.to_str().unwrap();
    let git_dir = repo.top.join(".git");
    let index = repo.outside("second-index");
    let discovered = |from: &Path, env: &[(&str, &Path)]| {
        let found = repo.outside("found");
        let status = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "history::tests::bad::print_discovered",
                "--ignored",
            ])
            .current_dir(from)
            .envs(env.iter().copied())
            .env("FOUND", &found)
            .output()
            .unwrap()
            .status;
        assert!(status.success());
        std::fs::read_to_string(found).unwrap()
    };
    assert_eq!(discovered(&repo.top.join("src"), &[]), format!("{top} []"));
    assert_eq!(discovered(&other, &[]), "NotARepository");
    assert_eq!(
        discovered(&other, &[("GIT_DIR", &git_dir), ("GIT_WORK_TREE", &other)]),
        format!("{} [\"src/b.py\", \"src/deep/c.py\"]", other.display())
    );
    assert_eq!(
        discovered(
            &repo.top.join("src/deep"),
            &[("GIT_CEILING_DIRECTORIES", &repo.top.join("src"))]
        ),
        "NotARepository"
    );
    // The index tracks nothing, but the files exist all the same.
    assert_eq!(
        discovered(&repo.top, &[("GIT_INDEX_FILE", &index)]),
        format!("{top} []")
    );
}
