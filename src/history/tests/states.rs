//! Views and deltas for the everyday states of a work tree.

use std::os::unix::fs::{PermissionsExt, symlink};

use bstr::BStr;

use super::fixture::{Repo, changed, dirty, entry, expected, names};
use crate::history::{Entry, HistoryErrorKind};
use crate::matrix::Fingerprint;

fn assert_as_committed(repo: &Repo) {
    let (work, committed) = (repo.work(), repo.committed());
    assert!(dirty(&work).is_empty(), "{:?}", dirty(&work));
    for (path, (mode, id)) in repo.ls_tree("HEAD") {
        let path = path.to_string();
        assert_eq!(entry(&work, &path), expected(&mode, &id), "{path}");
        assert_eq!(entry(&committed, &path), expected(&mode, &id), "{path}");
        assert_eq!(
            work.read(BStr::new(&path)).unwrap(),
            committed.read(BStr::new(&path)).unwrap(),
            "{path}"
        );
    }
    for dir in ["", "src", "src/deep", "nowhere"] {
        assert_eq!(names(&work, dir), names(&committed, dir), "{dir}");
    }
}

#[test]
fn a_clean_checkout_is_its_commit() {
    let repo = Repo::with_files();
    assert_as_committed(&repo);
    let committed = repo.committed();
    assert_eq!(names(&committed, "").unwrap(), ["a.py", "src/"]);
    assert_eq!(names(&committed, "a.py"), None);
    assert_eq!(entry(&committed, "src"), Entry::Dir);
    assert_eq!(entry(&committed, ""), Entry::Dir);
    assert_eq!(entry(&repo.work(), ""), Entry::Dir);
    for missing in ["b", "a.py/x", "src/b.py/x", "src/deep/d"] {
        assert_eq!(entry(&committed, missing), Entry::Missing);
        assert_eq!(entry(&repo.work(), missing), Entry::Missing);
    }
    assert!(repo.work().is_work() && !committed.is_work());
    assert_eq!(committed.revision(), &repo.head());
}

#[test]
fn every_kind_of_edit_is_dirty() {
    let repo = Repo::with_files();
    repo.write("gone.py", "x\n");
    repo.write("mode.py", "x\n");
    repo.write("kind.py", "x\n");
    repo.commit_all();
    repo.write("a.py", "a = 2\n");
    repo.remove("gone.py");
    repo.write("new.py", "n\n");
    repo.write("fresh/deep/new.py", "n\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(repo.top.join("mode.py"), mode).unwrap();
    repo.remove("kind.py");
    symlink("a.py", repo.top.join("kind.py")).unwrap();
    repo.git(&["mv", "src/b.py", "src/B.py"]);
    let paths = [
        "a.py",
        "fresh/deep/new.py",
        "gone.py",
        "kind.py",
        "mode.py",
        "new.py",
        "src/B.py",
        "src/b.py",
    ];
    let work = repo.work();
    assert_eq!(dirty(&work), paths);
    assert_eq!(changed(&repo), paths);
    let value = |path: &str| {
        let all = work.dirty().unwrap();
        all.iter().find(|(known, _)| known == path).unwrap().1
    };
    assert_eq!(value("gone.py"), Fingerprint::MISSING);
    assert_eq!(value("src/b.py"), Fingerprint::MISSING);
    assert_eq!(value("a.py"), Fingerprint::of_value(b"a = 2\n"));
    assert_eq!(work.read(BStr::new("kind.py")).unwrap().unwrap(), b"a.py");
    assert_eq!(work.read(BStr::new("gone.py")).unwrap(), None);
    assert_eq!(names(&work, "fresh").unwrap(), ["deep/"]);

    // Staging changes nothing that a test could see.
    let before = work.dirty().unwrap().to_vec();
    repo.git(&["add", "-A"]);
    assert_eq!(repo.work().dirty().unwrap(), before);
    // A commit with the same content does not differ from it.
    let from = repo.head();
    repo.commit();
    let delta = repo
        .open()
        .delta(&from, &before, &repo.committed())
        .unwrap();
    assert_eq!(delta.paths.len(), 0, "{delta:?}");
    assert_as_committed(&repo);
}

#[test]
fn a_delta_knows_what_was_dirty_before() {
    let repo = Repo::with_files();
    let from = repo.head();
    repo.write("a.py", "a = 2\n");
    let before = repo.work().dirty().unwrap().to_vec();
    assert_eq!(changed(&repo), ["a.py"]);
    let delta = |view| repo.open().delta(&from, &before, &view).unwrap().paths;
    assert!(delta(repo.work()).is_empty(), "still the same edit");
    assert_eq!(delta(repo.committed()).len(), 1, "the edit is not in HEAD");
    repo.write("a.py", "a = 3\n");
    assert_eq!(delta(repo.work()).len(), 1);
    repo.write("a.py", "a = 1\n");
    assert_eq!(delta(repo.work()).len(), 1, "taken back");
}

#[test]
fn a_delta_touches_what_is_above_and_beneath() {
    let repo = Repo::with_files();
    repo.write("src/deep/c.py", "c = 2\n");
    let (head, work) = (repo.head(), repo.work());
    let delta = repo.open().delta(&head, &[], &work).unwrap();
    for path in ["src/deep/c.py", "src/deep", "src", "", "src/deep/c.py/x"] {
        assert!(delta.touches(BStr::new(path)), "{path}");
    }
    for path in ["a.py", "src/b.py", "src/dee", "src/deep/c", "s"] {
        assert!(!delta.touches(BStr::new(path)), "{path}");
    }
    let may_differ = |path: &str| delta.may_differ(&work, BStr::new(path)).unwrap();
    assert!(may_differ("src/deep/c.py"));
    assert!(!may_differ("a.py"));
    // Git knows nothing about it, so the entry must be asked for.
    assert!(may_differ("ignored.log"));
}

#[test]
fn a_file_becomes_a_directory_and_back() {
    let repo = Repo::with_files();
    let file = repo.head();
    repo.remove("a.py");
    repo.write("a.py/inner.py", "x\n");
    assert_eq!(changed(&repo), ["a.py", "a.py/inner.py"]);
    assert_eq!(entry(&repo.work(), "a.py"), Entry::Dir);
    repo.commit_all();
    let open = repo.open();
    let there = open.delta(&file, &[], &repo.committed()).unwrap();
    assert_eq!(there.paths.len(), 2);
    let back = open.tree_view(&file).unwrap();
    assert_eq!(open.delta(&repo.head(), &[], &back).unwrap(), there);
}

#[test]
fn ignored_files_are_seen_when_asked_and_not_listed() {
    let repo = Repo::with_files();
    repo.write(".gitignore", "*.log\n__pycache__/\nbuild/\n!kept.log\n");
    repo.write("forced.log", "x\n");
    repo.git(&["add", "-f", "forced.log"]);
    repo.commit_all();
    repo.write("made.log", "1\n");
    repo.write("kept.log", "1\n");
    repo.write("src/__pycache__/b.pyc", "1");
    repo.write("only/__pycache__/b.pyc", "1");
    repo.write("build/out/x.so", "1");
    std::fs::create_dir_all(repo.top.join("empty/nest")).unwrap();
    let work = repo.work();
    assert_eq!(dirty(&work), ["kept.log"]);
    assert_eq!(
        names(&work, "").unwrap(),
        [
            ".gitignore",
            "a.py",
            "empty/",
            "forced.log",
            "kept.log",
            "src/"
        ]
    );
    assert_eq!(names(&work, "src").unwrap(), ["b.py", "deep/"]);
    assert_eq!(names(&work, "build").unwrap(), ["out/"]);
    assert_eq!(names(&work, "build/out").unwrap(), ["x.so"]);
    assert_eq!(names(&work, "src/__pycache__").unwrap(), ["b.pyc"]);
    assert!(matches!(entry(&work, "build/out/x.so"), Entry::File { .. }));
    assert_eq!(work.read(BStr::new("made.log")).unwrap().unwrap(), b"1\n");
    assert!(work.is_tracked(BStr::new("forced.log")).unwrap());
    assert!(!work.is_tracked(BStr::new("made.log")).unwrap());
    assert_eq!(entry(&repo.committed(), "made.log"), Entry::Missing);
    repo.write("forced.log", "y\n");
    assert_eq!(dirty(&repo.work()), ["forced.log", "kept.log"]);
}

#[test]
fn an_edit_in_the_same_instant_is_seen() {
    let repo = Repo::with_files();
    for round in 0..30 {
        repo.write("a.py", format!("a = {:04}\n", round));
        repo.git(&["add", "a.py"]);
        // The same size, and as soon after git's look as possible.
        repo.write("a.py", format!("a = {:04}\n", 9_999 - round));
        let id = repo.word(&["hash-object", "a.py"]);
        assert_eq!(
            entry(&repo.work(), "a.py"),
            expected("100644", &id),
            "{round}"
        );
    }
    // A time stamp that was set back does not hide the edit either.
    let place = repo.top.join("src/b.py");
    let old = place.metadata().unwrap().modified().unwrap();
    repo.write("src/b.py", "b = 7\n");
    let file = std::fs::File::options().write(true).open(&place).unwrap();
    file.set_modified(old).unwrap();
    assert!(dirty(&repo.work()).contains(&"src/b.py".to_owned()));
}

/// A clock as coarse as on some file systems: the edit leaves the time stamps unchanged.
#[test]
fn an_edit_without_a_new_time_stamp_is_seen() {
    let repo = Repo::with_files();
    repo.git(&["config", "core.trustctime", "false"]);
    let coming = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let write = |content: &str| {
        repo.write("a.py", content);
        let place = repo.top.join("a.py");
        let file = std::fs::File::options().write(true).open(place).unwrap();
        file.set_modified(coming).unwrap();
    };
    write("a = 2\n");
    repo.git(&["add", "a.py"]);
    repo.commit();
    assert!(dirty(&repo.work()).is_empty());
    write("a = 3\n");
    assert_eq!(dirty(&repo.work()), ["a.py"]);
}

#[test]
fn flags_of_the_index_hide_no_edit() {
    let repo = Repo::with_files();
    repo.git(&["update-index", "--assume-unchanged", "a.py"]);
    repo.git(&["update-index", "--skip-worktree", "src/b.py"]);
    repo.write("a.py", "a = 2\n");
    repo.write("src/b.py", "b = 2\n");
    repo.write("later.py", "l\n");
    repo.git(&["add", "-N", "later.py"]);
    let work = repo.work();
    assert_eq!(dirty(&work), ["a.py", "later.py", "src/b.py"]);
    assert!(work.is_tracked(BStr::new("later.py")).unwrap());
    assert_eq!(work.read(BStr::new("later.py")).unwrap().unwrap(), b"l\n");
}

#[test]
fn a_sparse_checkout_deletes_nothing() {
    let repo = Repo::with_files();
    repo.write("other/d.py", "d = 1\n");
    repo.commit_all();
    repo.git(&["sparse-checkout", "set", "--cone", "other"]);
    assert!(!repo.top.join("src").exists());
    let (work, committed) = (repo.work(), repo.committed());
    assert!(dirty(&work).is_empty());
    for path in ["src", "src/deep", "src/deep/c.py", "a.py"] {
        assert_eq!(entry(&work, path), entry(&committed, path), "{path}");
    }
    assert_eq!(names(&work, ""), names(&committed, ""));
    assert_eq!(names(&work, "src"), names(&committed, "src"));
    let content = work.read(BStr::new("src/b.py")).unwrap().unwrap();
    assert_eq!(content, b"b = 1\n");
}

#[test]
fn symbolic_links_above_a_path_are_followed() {
    let repo = Repo::with_files();
    symlink("src", repo.top.join("link")).unwrap();
    symlink("../src/deep", repo.top.join("src/back")).unwrap();
    symlink("/etc", repo.top.join("away")).unwrap();
    symlink("loop", repo.top.join("loop")).unwrap();
    symlink("nowhere", repo.top.join("dangling")).unwrap();
    repo.commit_all();
    assert_as_committed(&repo);
    for view in [repo.work(), repo.committed()] {
        assert_eq!(entry(&view, "link/b.py"), entry(&view, "src/b.py"));
        assert_eq!(entry(&view, "link/deep"), Entry::Dir);
        assert_eq!(
            entry(&view, "link/back/c.py"),
            entry(&view, "src/deep/c.py")
        );
        assert_eq!(entry(&view, "link/none"), Entry::Missing);
        assert_eq!(entry(&view, "dangling/x"), Entry::Missing);
        assert_eq!(entry(&view, "away/passwd"), Entry::Unknown);
        assert_eq!(names(&view, "link"), names(&view, "src"));
        assert_eq!(names(&view, "dangling"), None);
        assert_eq!(view.read(BStr::new("away")).unwrap().unwrap(), b"/etc");
        assert!(view.list(BStr::new("away")).is_err());
    }
    // A directory replaced by a link: the paths below it are gone from git.
    std::fs::rename(repo.top.join("src"), repo.top.join("moved")).unwrap();
    symlink("moved", repo.top.join("src")).unwrap();
    assert!(dirty(&repo.work()).contains(&"src/b.py".to_owned()));
    assert_eq!(
        entry(&repo.work(), "src/b.py"),
        entry(&repo.work(), "moved/b.py")
    );
}

#[test]
fn a_conflict_is_what_lies_on_disk() {
    let repo = Repo::with_files();
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.write("a.py", "a = 2\n");
    repo.commit_all();
    repo.git(&["switch", "-q", "main"]);
    repo.write("a.py", "a = 3\n");
    repo.commit_all();
    let merge = repo.command(&["merge", "-q", "side"]).output().unwrap();
    assert!(!merge.status.success());
    let work = repo.work();
    assert_eq!(dirty(&work), ["a.py"]);
    assert!(work.is_tracked(BStr::new("a.py")).unwrap());
    repo.write("a.py", "a = 3\n");
    assert!(dirty(&repo.work()).is_empty());
}

#[test]
fn a_second_work_tree_has_its_own_state() {
    let repo = Repo::with_files();
    let second = repo.outside("second");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        second.to_str().unwrap(),
    ]);
    let second = Repo::at(second);
    second.write("a.py", "a = 2\n");
    assert_eq!(dirty(&second.work()), ["a.py"]);
    assert!(dirty(&repo.work()).is_empty());
    assert_eq!(second.open().root(), second.top);
    assert_eq!(second.open().branch().as_deref(), Some("side"));
    assert_eq!(second.open().identity(None), repo.open().identity(None));
}

#[test]
fn nothing_is_written_to_the_repository() {
    let repo = Repo::with_files();
    repo.write(".gitattributes", "*.txt text eol=crlf\n");
    repo.write("t.txt", "one\r\ntwo\r\n");
    repo.commit_all();
    // Time stamps that make git want to refresh its index.
    repo.write("a.py", "a = 1\n");
    repo.write("src/b.py", "b = 2\n");
    repo.write("new.txt", "x\r\n");
    repo.write(".git/index.lock", "");
    let before = repo.git_directory();
    let (open, work) = (repo.open(), repo.work());
    open.identity(None).unwrap();
    assert_eq!(dirty(&work), ["new.txt", "src/b.py"]);
    assert_eq!(names(&work, "").unwrap().len(), 5);
    work.read(BStr::new("new.txt")).unwrap();
    open.delta(&repo.head(), &[], &work).unwrap();
    assert!(repo.git_directory() == before);
}

#[test]
fn a_partial_clone_needs_no_blobs_for_its_tree() {
    let repo = Repo::with_files();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", repo.top.display());
    let top = repo.outside("partial");
    let args = ["clone", "-q", "--filter=blob:none", "--no-checkout", &url];
    repo.git(&[&args[..], &[top.to_str().unwrap()]].concat());
    let partial = Repo::at(top);
    let view = partial.committed();
    assert_eq!(entry(&view, "a.py"), entry(&repo.committed(), "a.py"));
    assert_eq!(names(&view, "src").unwrap(), ["b.py", "deep/"]);
    let error = view.read(BStr::new("a.py")).unwrap_err();
    assert_eq!(error.kind, HistoryErrorKind::MissingObject);
    assert!(error.next.contains("partial clone"), "{error}");
}
