//! Files whose content on disk is not their content in git.

use bstr::BStr;

use super::fixture::{Repo, dirty, entry, expected};
use crate::history::Entry;
use crate::matrix::Fingerprint;

const CONTENTS: [&[u8]; 12] = [
    b"",
    b"one\ntwo\n",
    b"one\r\ntwo\r\n",
    b"mixed\r\nends\n",
    b"lone\rcr\r\n",
    b"double\r\r\n",
    b"nul\0\r\n",
    b"\x01\x02\x03\x04\r\n",
    b"$Id: abc $\r\n$Id$ $Id: open\r\n",
    b"dos end\r\n\x1a",
    b"caf\xc3\xa9\r\n",
    b"ends in cr\r",
];

const ATTRIBUTES: [&str; 11] = [
    "text",
    "-text",
    "text=auto",
    "eol=crlf",
    "eol=lf",
    "text=auto eol=crlf",
    "crlf",
    "-crlf",
    "crlf=input",
    "ident",
    "text ident",
];

/// Compares every content under every attribute and setting with git's own answer, then again
/// with stored content that already has CRLF.
#[test]
fn stored_content_is_what_git_would_store() {
    let repo = Repo::new();
    let mut attributes = String::new();
    let mut paths = Vec::new();
    for (kind, attribute) in ATTRIBUTES.iter().chain(&["!text"]).enumerate() {
        attributes.push_str(&format!("k{kind}-* {attribute}\n"));
        for (number, content) in CONTENTS.iter().enumerate() {
            let path = format!("dir/k{kind}-{number}");
            repo.write(&path, content);
            paths.push(path);
        }
    }
    repo.write("seed", "x");
    repo.git(&["add", "seed"]);
    repo.commit();
    let check = |setting: &str| {
        let truth = repo.ls_tree(&repo.truth());
        let view = repo.work();
        for path in &paths {
            let (mode, id) = &truth[BStr::new(path)];
            assert_eq!(
                entry(&view, path),
                expected(mode, id),
                "{path}, autocrlf={setting}"
            );
            let content = view.read(BStr::new(path)).unwrap().unwrap();
            let read = Fingerprint::of_value(&content);
            assert!(
                matches!(entry(&view, path), Entry::File { fingerprint, .. } if fingerprint == read)
            );
        }
    };
    repo.write(".gitattributes", &attributes);
    for setting in ["false", "true", "input"] {
        repo.git(&["config", "core.autocrlf", setting]);
        check(setting);
    }
    // Stored with CRLF: from now on git keeps it if it only guesses.
    repo.remove(".gitattributes");
    repo.git(&["config", "core.autocrlf", "false"]);
    repo.commit_all();
    for (path, content) in paths.iter().zip(CONTENTS.iter().cycle()) {
        repo.write(path, [content, b"more\r\n".as_slice()].concat());
    }
    repo.write(".gitattributes", &attributes);
    for setting in ["false", "true", "input"] {
        repo.git(&["config", "core.autocrlf", setting]);
        check(setting);
    }
}

/// The same for files that are hashed piece by piece.
#[test]
fn large_stored_content_is_what_git_would_store() {
    let repo = Repo::new();
    let mut attributes = String::new();
    let mut paths = Vec::new();
    for (kind, attribute) in ["text", "text=auto", "ident", "!text"].iter().enumerate() {
        attributes.push_str(&format!("k{kind}-* {attribute}\n"));
        for (number, content) in [2, 6, 8, 11].map(|at| CONTENTS[at]).iter().enumerate() {
            let path = format!("k{kind}-{number}");
            repo.write(&path, [&b"plain\n".repeat(200_000), *content].concat());
            paths.push(path);
        }
    }
    repo.write("seed", "x");
    repo.git(&["add", "seed"]);
    repo.commit();
    repo.write(".gitattributes", &attributes);
    for setting in ["false", "true"] {
        repo.git(&["config", "core.autocrlf", setting]);
        let truth = repo.ls_tree(&repo.truth());
        let view = repo.work();
        for path in &paths {
            let (mode, id) = &truth[BStr::new(path)];
            let wanted = expected(mode, id);
            assert_eq!(entry(&view, path), wanted, "{path}, autocrlf={setting}");
        }
    }
}

#[test]
fn a_checkout_with_other_line_ends_is_clean() {
    let repo = Repo::with_files();
    repo.write(".gitattributes", "*.bat text eol=crlf\n*.id ident\n");
    repo.write("run.bat", "one\ntwo\n");
    repo.write("x.id", "$Id$\n");
    repo.commit_all();
    repo.git(&["config", "core.autocrlf", "true"]);
    for path in repo.ls_tree("HEAD").keys() {
        repo.remove(&path.to_string());
    }
    repo.git(&["checkout", "-q", "--", "."]);
    let on_disk = std::fs::read_to_string(repo.top.join("a.py")).unwrap();
    assert_eq!(on_disk, "a = 1\r\n");
    assert!(dirty(&repo.work()).is_empty());
    // By content, without the help of the index.
    repo.remove(".git/index");
    let work = repo.work();
    assert!(dirty(&work).is_empty(), "{:?}", dirty(&work));
    assert_eq!(work.read(BStr::new("a.py")).unwrap().unwrap(), b"a = 1\n");
    assert_eq!(work.read(BStr::new("x.id")).unwrap().unwrap(), b"$Id$\n");
}

/// A repository where `*.big` goes through a filter program, as with Git LFS.
fn with_program(attribute: &str) -> Repo {
    let repo = Repo::with_files();
    repo.git(&["config", "filter.rot.clean", "tr a-m n-z"]);
    repo.git(&["config", "filter.rot.smudge", "tr n-z a-m"]);
    repo.write(".gitattributes", format!("*.big {attribute}\n"));
    repo.write("data.big", "abc\n");
    // Long before the index is written, so that the index is trusted for it.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = std::fs::File::options()
        .write(true)
        .open(repo.top.join("data.big"))
        .unwrap();
    file.set_modified(old).unwrap();
    repo.commit_all();
    repo
}

#[test]
fn a_file_under_a_filter_program_is_known_while_the_index_vouches_for_it() {
    let repo = with_program("filter=rot");
    let stored = repo.word(&["rev-parse", "HEAD:data.big"]);
    let work = repo.work();
    assert!(dirty(&work).is_empty(), "{:?}", dirty(&work));
    assert_eq!(entry(&work, "data.big"), expected("100644", &stored));
    assert_eq!(work.read(BStr::new("data.big")).unwrap().unwrap(), b"nop\n");

    // After an edit it is unknown and equals nothing that is stored, not even a blob with the
    // same bytes as on disk.
    repo.write("data.big", "nop\n");
    let work = repo.work();
    assert_eq!(dirty(&work), ["data.big"]);
    let edited = entry(&work, "data.big");
    assert_ne!(edited, expected("100644", &stored));
    assert_eq!(
        entry(&repo.work(), "data.big"),
        edited,
        "but equal to itself"
    );
    repo.write("data.big", "xyz\n");
    assert_ne!(entry(&repo.work(), "data.big"), edited);

    // A filter that is named but not configured does nothing, as in git.
    repo.git(&["config", "--remove-section", "filter.rot"]);
    repo.write("data.big", "nop\n");
    assert!(dirty(&repo.work()).is_empty());
}

#[test]
fn another_encoding_is_treated_like_a_program() {
    let repo = with_program("text working-tree-encoding=latin1");
    assert!(dirty(&repo.work()).is_empty());
    repo.write("data.big", b"caf\xe9\n");
    assert_eq!(dirty(&repo.work()), ["data.big"]);
    repo.write("data.big", "abc\n");
    assert_eq!(
        dirty(&repo.work()),
        ["data.big"],
        "touched: nobody can vouch"
    );
}
