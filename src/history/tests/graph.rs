//! Parents, ancestors, names and the identity of a repository.

use bstr::ByteSlice;

use super::fixture::Repo;
use crate::history::CommitId;
use crate::history::graph::Ancestor;

/// `main`: root, one, merge; `side`: root, two. Returned in this order.
fn merged() -> (Repo, [CommitId; 4]) {
    let repo = Repo::new();
    repo.write("a", "1");
    let root = repo.commit_all();
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.write("b", "1");
    let two = repo.commit_all();
    repo.git(&["switch", "-q", "main"]);
    repo.write("c", "1");
    let one = repo.commit_all();
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let merge = repo.head().commit;
    (repo, [root, one, two, merge])
}

fn ancestors(repo: &Repo, from: CommitId) -> Vec<Ancestor> {
    repo.open()
        .ancestors(from)
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn ancestors_come_nearest_first_and_once() {
    let (repo, [root, one, two, merge]) = merged();
    let found: Vec<_> = ancestors(&repo, merge)
        .iter()
        .map(|ancestor| (ancestor.commit, ancestor.distance, ancestor.is_cut))
        .collect();
    assert_eq!(
        found,
        [
            (merge, 0, false),
            (one, 1, false),
            (two, 1, false),
            (root, 2, false)
        ]
    );
    let parents = repo.open().parents(&merge).unwrap();
    assert_eq!(parents.ids, [one, two]);
    assert!(parents.missing.is_empty());
}

#[test]
fn a_shallow_merge_is_no_root() {
    let (repo, [root, one, two, merge]) = merged();
    let url = format!("file://{}", repo.top.display());
    let clone = |depth: &str, name: &str| {
        let top = repo.outside(name);
        repo.git(&["clone", "-q", "--depth", depth, &url, top.to_str().unwrap()]);
        Repo::at(top)
    };
    let shallow = clone("1", "one");
    assert!(shallow.open().is_shallow());
    assert_eq!(shallow.open().identity(None).unwrap(), "");
    let parents = shallow.open().parents(&merge).unwrap();
    assert_eq!(parents.ids, [one, two]);
    assert_eq!(parents.missing, [one, two]);
    let cut = Ancestor {
        commit: merge,
        distance: 0,
        is_cut: true,
    };
    assert_eq!(ancestors(&shallow, merge), [cut]);
    let error = shallow.open().resolve("HEAD~1").unwrap_err();
    assert!(error.next.contains("--unshallow"), "{error}");
    assert!(shallow.work().dirty().unwrap().is_empty());

    let deeper = ancestors(&clone("2", "two"), merge);
    assert_eq!(deeper.len(), 3);
    assert!(deeper[1..].iter().all(|ancestor| ancestor.is_cut));
    assert!(deeper.iter().all(|ancestor| ancestor.commit != root));
}

#[test]
fn names_resolve_as_git_resolves_them() {
    let (repo, [root, _, two, merge]) = merged();
    repo.git(&["tag", "-a", "-m", "a tag", "v1", "side"]);
    let repository = repo.open();
    for (name, commit) in [
        ("HEAD", merge),
        ("main", merge),
        ("v1", two),
        ("HEAD^2", two),
        ("main~2", root),
        (&root.to_string()[..10], root),
    ] {
        let revision = repository.resolve(name).unwrap();
        assert_eq!(revision.commit, commit, "{name}");
        let tree = repo.word(&["rev-parse", &format!("{name}^{{tree}}")]);
        assert_eq!(revision.tree.to_string(), tree, "{name}");
    }
    assert_eq!(repository.branch().as_deref(), Some("main"));
    repo.git(&["checkout", "-q", "--detach", "side"]);
    assert_eq!(repo.open().branch(), None);
    assert_eq!(repo.head().commit, two);
}

#[test]
fn identity_is_that_of_the_roots() {
    let (repo, [root, ..]) = merged();
    let identity = repo.open().identity(None).unwrap();
    assert_eq!(identity.len(), 32);
    let url = format!("file://{}", repo.top.display());
    let clone = repo.outside("clone");
    repo.git(&["clone", "-q", &url, clone.to_str().unwrap()]);
    assert_eq!(Repo::at(clone).open().identity(None).unwrap(), identity);

    repo.git(&["checkout", "-q", &root.to_string()]);
    assert_eq!(repo.open().identity(None).unwrap(), identity, "same root");

    repo.git(&["switch", "-q", "--orphan", "apart"]);
    repo.write("z", "1");
    repo.commit_all();
    let apart = repo.open().identity(None).unwrap();
    assert_ne!(apart, identity);
    repo.git(&[
        "merge",
        "-q",
        "--allow-unrelated-histories",
        "-m",
        "join",
        "main",
    ]);
    let joined = repo.open().identity(None).unwrap();
    assert!(joined != apart && joined != identity);
}

#[test]
fn the_cache_never_changes_the_identity() {
    let (repo, [root, _, two, _]) = merged();
    let cache = repo.outside("roots");
    let both = |repo: &Repo| {
        let cached = repo.open().identity(Some(&cache)).unwrap();
        assert_eq!(cached, repo.open().identity(None).unwrap());
        cached
    };
    let first = both(&repo);
    assert!(
        std::fs::read(&cache)
            .unwrap()
            .contains_str(root.to_string())
    );
    repo.write("d", "1");
    repo.commit_all();
    assert_eq!(both(&repo), first, "the tip is an ancestor");
    repo.git(&["checkout", "-q", &two.to_string()]);
    assert_eq!(both(&repo), first, "the tip is a descendant");
    repo.git(&["switch", "-q", "--orphan", "apart"]);
    repo.write("z", "1");
    repo.commit_all();
    let apart = both(&repo);
    assert_ne!(apart, first, "the tip is elsewhere");
    repo.git(&[
        "merge",
        "-q",
        "--allow-unrelated-histories",
        "-m",
        "join",
        "main",
    ]);
    assert_ne!(both(&repo), apart, "a new root below the tip's child");

    let text = std::fs::read_to_string(&cache).unwrap();
    for damaged in [
        "",
        "tamis roots 2\n",
        &text[..60],
        &text[..text.len() - 5],
        "\u{1}",
    ] {
        std::fs::write(&cache, damaged).unwrap();
        both(&repo);
    }
    let nowhere = repo.outside("no/such/directory/roots");
    repo.open().identity(Some(&nowhere)).unwrap();
}
