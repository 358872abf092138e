//! Submodules, repositories in repositories, odd names, odd settings.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use bstr::{BStr, ByteSlice};

use super::fixture::{Repo, changed, dirty, entry, expected, names};
use crate::history::{Entry, HistoryErrorKind};

/// A repository with the submodule `sub`, which has `lib.py` and `dir/x.py`.
fn with_submodule() -> (Repo, Repo) {
    let repo = Repo::with_files();
    let library = repo.outside("library");
    std::fs::create_dir(&library).unwrap();
    repo.git(&["init", "-q", "-b", "main", library.to_str().unwrap()]);
    let library = Repo::at(library);
    library.write("lib.py", "l = 1\n");
    library.write("dir/x.py", "x = 1\n");
    library.commit_all();
    repo.git(&[
        "submodule",
        "--quiet",
        "add",
        library.top.to_str().unwrap(),
        "sub",
    ]);
    repo.commit();
    let sub = Repo::at(repo.top.join("sub"));
    (repo, sub)
}

#[test]
fn a_submodule_is_its_commit_and_its_files() {
    let (repo, sub) = with_submodule();
    let commit = sub.head().commit.to_string();
    for view in [repo.work(), repo.committed()] {
        assert!(dirty(&view).is_empty());
        assert_eq!(entry(&view, "sub"), expected("160000", &commit));
        assert_eq!(
            entry(&view, "sub/lib.py"),
            entry(&sub.committed(), "lib.py")
        );
        assert_eq!(entry(&view, "sub/dir"), Entry::Dir);
        assert_eq!(entry(&view, "sub/none"), Entry::Missing);
        assert_eq!(names(&view, "sub").unwrap(), ["dir/", "lib.py"]);
        assert_eq!(names(&view, "sub/dir").unwrap(), ["x.py"]);
        assert_eq!(
            names(&view, "").unwrap(),
            [".gitmodules", "a.py", "src/", "sub/"]
        );
        assert!(view.is_tracked(BStr::new("sub/lib.py")).unwrap());
        assert!(!view.is_tracked(BStr::new("sub/none")).unwrap());
        let content = view.read(BStr::new("sub/lib.py")).unwrap().unwrap();
        assert_eq!(content, b"l = 1\n");
        assert_eq!(view.read(BStr::new("sub")).unwrap(), None);
    }
}

#[test]
fn edits_and_commits_in_a_submodule_are_seen() {
    let (repo, sub) = with_submodule();
    let from = repo.head();
    sub.write("lib.py", "l = 2\n");
    sub.write("new.py", "n = 1\n");
    assert_eq!(dirty(&repo.work()), ["sub/lib.py", "sub/new.py"]);
    assert_eq!(changed(&repo), ["sub/lib.py", "sub/new.py"]);
    let before = repo.work().dirty().unwrap().to_vec();
    let delta = repo.open().delta(&from, &before, &repo.work()).unwrap();
    assert!(delta.paths.is_empty(), "{delta:?}");

    sub.commit_all();
    assert_eq!(dirty(&repo.work()), ["sub"]);
    repo.commit_all();
    let delta = repo.open().delta(&from, &[], &repo.committed()).unwrap();
    assert_eq!(delta.paths.len(), 1);
    assert!(delta.touches(BStr::new("sub/lib.py")));
    assert!(!delta.touches(BStr::new("a.py")));
    // The submodule's object store still has the old commit.
    let old = repo.open().tree_view(&from).unwrap();
    assert_eq!(
        old.read(BStr::new("sub/lib.py")).unwrap().unwrap(),
        b"l = 1\n"
    );
}

#[test]
fn a_submodule_that_is_not_checked_out() {
    let (repo, sub) = with_submodule();
    let commit = sub.head().commit.to_string();
    let clone = repo.outside("clone");
    repo.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let clone = Repo::at(clone);
    let (work, committed) = (clone.work(), clone.committed());
    assert!(dirty(&work).is_empty());
    assert_eq!(entry(&work, "sub"), expected("160000", &commit));
    assert_eq!(entry(&work, "sub/lib.py"), Entry::Missing);
    assert_eq!(names(&work, "sub").unwrap().len(), 0);
    assert_eq!(entry(&committed, "sub/lib.py"), Entry::Unknown);
    let error = committed.read(BStr::new("sub/lib.py")).unwrap_err();
    assert!(error.next.contains("git submodule update"), "{error}");

    std::fs::remove_dir(clone.top.join("sub")).unwrap();
    assert_eq!(dirty(&clone.work()), ["sub"]);
    clone.write("sub", "a file now");
    assert_eq!(dirty(&clone.work()), ["sub"]);
}

#[test]
fn a_repository_inside_that_is_no_submodule() {
    let repo = Repo::with_files();
    repo.git(&["init", "-q", "-b", "main", "inner"]);
    let inner = Repo::at(repo.top.join("inner"));
    inner.write("x.py", "x = 1\n");
    assert_eq!(dirty(&repo.work()), ["inner/x.py"], "without a commit");
    inner.commit_all();
    let work = repo.work();
    let commit = inner.head().commit.to_string();
    assert_eq!(dirty(&work), ["inner"]);
    assert_eq!(entry(&work, "inner"), expected("160000", &commit));
    assert_eq!(entry(&work, "inner/x.py"), entry(&inner.work(), "x.py"));
    assert_eq!(names(&work, "inner").unwrap(), ["x.py"]);
    inner.write("x.py", "x = 2\n");
    assert_eq!(
        entry(&repo.work(), "inner/x.py"),
        entry(&inner.work(), "x.py")
    );
}

#[test]
fn names_are_bytes() {
    let repo = Repo::with_files();
    let name = b"caf\xe9 \"x\"\n.py";
    let place = repo.top.join(std::ffi::OsStr::from_bytes(name));
    std::fs::write(&place, "1").unwrap();
    let path = BStr::new(name);
    let work = repo.work();
    assert_eq!(work.dirty().unwrap()[0].0, name.as_bstr());
    repo.commit_all();
    let from = repo.head();
    assert!(dirty(&repo.work()).is_empty());
    assert_eq!(
        repo.committed().entry(path).unwrap(),
        work.entry(path).unwrap()
    );
    std::fs::write(&place, "2").unwrap();
    let delta = repo.open().delta(&from, &[], &repo.work()).unwrap();
    assert!(delta.paths.contains(path) && delta.touches(path));
    assert!(
        repo.work()
            .list(BStr::new(""))
            .unwrap()
            .unwrap()
            .iter()
            .any(|(it, _)| it == path)
    );
}

#[test]
fn names_that_differ_in_case_are_two() {
    let repo = Repo::with_files();
    repo.write("A.py", "A = 1\n");
    repo.commit_all();
    repo.git(&["config", "core.ignoreCase", "true"]);
    repo.git(&["mv", "src/b.py", "src/B.py"]);
    assert_eq!(changed(&repo), ["src/B.py", "src/b.py"]);
    let work = repo.work();
    assert_ne!(entry(&work, "a.py"), entry(&work, "A.py"));
    assert_eq!(names(&work, "").unwrap(), ["A.py", "a.py", "src/"]);
}

#[test]
fn the_executable_bit_counts_unless_it_means_nothing() {
    let repo = Repo::with_files();
    repo.write("run.sh", "#!/bin/sh\n");
    repo.git(&["add", "run.sh"]);
    repo.git(&["update-index", "--chmod=+x", "run.sh"]);
    repo.commit();
    assert_eq!(
        dirty(&repo.work()),
        ["run.sh"],
        "the file on disk is not executable"
    );
    repo.git(&["config", "core.fileMode", "false"]);
    assert!(dirty(&repo.work()).is_empty());
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repo.top.join("a.py"), mode).unwrap();
    assert!(dirty(&repo.work()).is_empty());
    // A staged change of the mode alone counts, whatever the setting.
    repo.git(&["update-index", "--chmod=+x", "a.py"]);
    assert_eq!(changed(&repo), ["a.py"]);
    let from = repo.head();
    repo.commit();
    let delta = repo.open().delta(&from, &[], &repo.committed()).unwrap();
    assert_eq!(delta.paths.len(), 1);
}

#[test]
fn links_as_plain_files_where_there_are_no_links() {
    let repo = Repo::with_files();
    symlink("a.py", repo.top.join("link")).unwrap();
    repo.commit_all();
    repo.git(&["config", "core.symlinks", "false"]);
    repo.remove("link");
    repo.git(&["checkout", "--", "link"]);
    assert!(!repo.top.join("link").is_symlink());
    let work = repo.work();
    assert!(dirty(&work).is_empty());
    assert_eq!(entry(&work, "link"), entry(&repo.committed(), "link"));
    repo.write("link", "src/b.py");
    assert_eq!(dirty(&repo.work()), ["link"]);
}

#[test]
fn objects_are_themselves_even_if_replaced() {
    let repo = Repo::with_files();
    let old = repo.word(&["rev-parse", "HEAD:a.py"]);
    repo.write("other", "a = 999\n");
    let new = repo.word(&["hash-object", "-w", "other"]);
    repo.remove("other");
    repo.git(&["replace", &old, &new]);
    assert_eq!(entry(&repo.committed(), "a.py"), expected("100644", &old));
    assert!(dirty(&repo.work()).is_empty());
    // git checks out the replacement and calls that unchanged.
    repo.remove("a.py");
    repo.git(&["checkout", "--", "a.py"]);
    assert_eq!(entry(&repo.work(), "a.py"), expected("100644", &new));
}

#[test]
fn what_is_no_file_is_unknown() {
    let repo = Repo::with_files();
    let socket = repo.top.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let work = repo.work();
    assert!(dirty(&work).is_empty());
    assert_eq!(entry(&work, "socket"), Entry::Unknown);
    repo.remove("a.py");
    std::fs::rename(&socket, repo.top.join("a.py")).unwrap();
    assert_eq!(dirty(&repo.work()), ["a.py"]);
    assert_eq!(entry(&repo.work(), "a.py"), Entry::Unknown);
}

#[test]
fn an_older_index_and_one_without_checksum() {
    let repo = Repo::with_files();
    for version in ["2", "4"] {
        repo.git(&["update-index", "--index-version", version]);
        repo.write("a.py", "a = 2\n");
        assert_eq!(dirty(&repo.work()), ["a.py"], "version {version}");
    }
    repo.remove(".git/index");
    assert_eq!(dirty(&repo.work()), ["a.py"], "no index at all");
    assert_eq!(
        repo.open().work_view().err().map(|error| error.kind),
        None::<HistoryErrorKind>
    );
}
