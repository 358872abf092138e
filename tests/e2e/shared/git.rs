//! A ref of a git repository as a store: in a folder, and behind `git http-backend`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tamis::exposed::share::{Manifest, Pack};

use super::server::Server;
use super::*;

/// Makes `origin`, a bare repository, and pushes the main branch to it.
pub fn add_origin(project: &Project) -> PathBuf {
    let remote = project.world().join("outside/remote.git");
    let path = remote.to_str().unwrap();
    project.git(&["init", "--quiet", "--bare", "--initial-branch=main", path]);
    project.git(&["--git-dir", path, "config", "http.receivepack", "true"]);
    project.git(&["remote", "add", "origin", path]);
    project.git(&["push", "--quiet", "origin", "main"]);
    project.git(&["fetch", "--quiet", "origin"]);
    remote
}

/// The matrices in the remote; all of its files must be sound.
pub fn held(remote: &Path) -> BTreeSet<String> {
    let git = |arguments: &[&str]| {
        let dir = ["--git-dir", remote.to_str().unwrap()];
        std::process::Command::new("git")
            .args(dir)
            .args(arguments)
            .output()
            .unwrap()
            .stdout
    };
    let refs = git(&["for-each-ref", "--format=%(refname)", "refs/tamis"]);
    let refs = String::from_utf8(refs).unwrap();
    let reference = refs.lines().next().expect("a ref of tamis");
    assert_eq!(refs.lines().count(), 1, "{refs}");
    let parents = git(&["log", "--format=%P", reference]);
    assert_eq!(parents, b"\n", "one commit without parents");
    let names = String::from_utf8(git(&["ls-tree", "--name-only", reference])).unwrap();
    let blob = |name: &str| git(&["cat-file", "blob", &format!("{reference}:{name}")]);
    let mut found = BTreeSet::new();
    for name in names.lines() {
        if let Some(stem) = name.strip_suffix(".manifest") {
            let mut pack = blob(name);
            assert_eq!(Manifest::decode(&pack).unwrap().matrix, stem);
            pack.extend(blob(&format!("{stem}.tamis")));
            Pack::decode(&pack).unwrap();
            found.insert(stem.to_owned());
        }
    }
    assert_eq!(names.lines().count(), 2 * found.len(), "{names}");
    found
}

#[test]
fn a_fresh_machine_uses_what_main_recorded() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        let remote = add_origin(&project);
        let before = project.git(&["for-each-ref"]);
        serves_a_fresh_machine(&mut project, on_main, |_| {});
        assert_eq!(held(&remote).len(), 2);
        assert_eq!(
            project.git(&["for-each-ref"]).lines().count(),
            before.lines().count()
        );
        nothing_tells_the_token(&[remote, project.root().join(".tamis")]);
    });
}

#[test]
fn over_http_with_a_password_in_the_url() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        let remote = add_origin(&project);
        let folder = project.world().join("outside");
        let login = format!("u:{TOKEN}");
        let server = Server::start(
            &python.executable(),
            "git_http.py",
            &[folder.to_str().unwrap()],
            project.world(),
            &[&login],
        );
        let port = server.port;
        let url = format!("http://{login}@127.0.0.1:{port}/remote.git");
        project.git(&["remote", "set-url", "origin", &url]);
        serves_a_fresh_machine(&mut project, on_main, |_| {});
        assert_eq!(held(&remote).len(), 2);
        nothing_tells_the_token(&[remote, project.root().join(".tamis")]);

        // A wrong password: everything runs, one line says why, no secret in it.
        let url = format!("http://u:wrong-{TOKEN}@127.0.0.1:{port}/remote.git");
        project.git(&["remote", "set-url", "origin", &url]);
        forget(&mut project);
        let run = project.run();
        assert_eq!((run.code, run.outcomes.len()), (0, 2), "{}", run.stderr);
        assert!(run.told().contains("refused"), "{}", run.stderr);
        assert!(!run.stderr.contains(TOKEN), "{}", run.stderr);
        forget(&mut project);
        let fetch = project.tamis(&["store", "fetch"]);
        assert_eq!(fetch.code(), 4, "{}", fetch.stderr);
        assert!(!fetch.stderr.contains(TOKEN), "{}", fetch.stderr);

        // The password in the checkout's own settings works as well.
        let plain = format!("http://127.0.0.1:{port}/remote.git");
        project.git(&["remote", "set-url", "origin", &plain]);
        let helper = format!("!f() {{ echo username=u; echo password={TOKEN}; }}; f");
        project.git(&["config", "credential.helper", &helper]);
        forget(&mut project);
        let fetch = project.tamis(&["store", "fetch"]);
        assert_eq!(fetch.code(), 0, "{}", fetch.stderr);
        assert!(fetch.stderr.contains("taken"), "{}", fetch.stderr);
    });
}

#[test]
fn a_pull_requests_results_are_its_own() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        let remote = add_origin(&project);
        on_main(&mut project);
        project.run();
        edit_a(&mut project, 10);
        project.commit("edit a");
        for (pr, from) in [(5, "o/r"), (6, "evil/r")] {
            on_pull(&mut project, pr, from);
            forget(&mut project);
            let run = project.run();
            assert_eq!(
                run.outcomes.len(),
                1,
                "main's results count: {}",
                run.stderr
            );
            forget(&mut project);
            assert_eq!(left_out(&project).len(), 2, "its own results count");
            assert!(!project.root().join(".tamis/store").exists(), "kept apart");
        }
        assert_eq!(held(&remote).len(), 3, "all of them are there");
        // Another pull request, and main, run what they have no trusted result for.
        on_pull(&mut project, 7, "o/r");
        forget(&mut project);
        assert_eq!(left_out(&project), ["test_b.py::test_b"]);
        on_main(&mut project);
        forget(&mut project);
        assert_eq!(left_out(&project), ["test_b.py::test_b"]);
        // So does a laptop, even though nothing else is stored there.
        for name in ["GITHUB_ACTIONS", "GITHUB_BASE_REF"] {
            project.set_env(name, None);
        }
        forget(&mut project);
        assert_eq!(left_out(&project), ["test_b.py::test_b"]);
    });
}

/// A reader of main's results can send them again under a writer that counts for fewer runs.
#[test]
fn nobody_takes_mains_name_from_its_results() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        let remote = add_origin(&project);
        on_main(&mut project);
        project.run();
        project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let pushes = |project: &Project| {
            assert_eq!(project.tamis(&["store", "fetch"]).code(), 0);
            let push = project.tamis(&["store", "push", "HEAD"]);
            assert_eq!(push.code(), 0, "{}", push.stderr);
        };
        forget(&mut project);
        on_pull(&mut project, 5, "o/r");
        pushes(&project);
        assert_eq!(held(&remote).len(), 1);
        forget(&mut project);
        on_main(&mut project);
        project.set_env("GITHUB_BASE_REF", None);
        assert_eq!(left_out(&project).len(), 2);
        // A developer's own machine.
        project.set_env("GITHUB_ACTIONS", None);
        pushes(&project);
        forget(&mut project);
        on_main(&mut project);
        assert_eq!(left_out(&project).len(), 2);
    });
}

#[test]
fn trust_is_read_from_the_side_that_is_merged_into() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        let key = project.tamis(&["store", "key", "--json"]);
        let key: serde_json::Value = serde_json::from_str(&key.stdout).unwrap();
        let (secret, public) = (
            key["secret"].as_str().unwrap(),
            key["public"].as_str().unwrap(),
        );
        let signed = format!("version: 1\nshared-store: git\ntrust:\n  public-key: {public}\n");
        project.write("tamis.yml", &signed);
        project.commit("signed");
        let remote = add_origin(&project);
        // Main did not sign.
        on_main(&mut project);
        project.run();
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 0, "unsigned");
        // The pull request's configuration requires no signature, but that does not count.
        project.write("tamis.yml", "version: 1\nshared-store: git\n");
        project.commit("whom I like");
        on_pull(&mut project, 5, "o/r");
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 0, "still unsigned");
        // A clone without the target branch fetches it, with the same result.
        project.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 0, "unsigned for the other side");
        // If it cannot be fetched, nothing is used, and a message says so.
        project.set_env("TAMIS_DEEPEN", Some("never"));
        forget(&mut project);
        let run = project.run();
        project.set_env("TAMIS_DEEPEN", None);
        assert_eq!(run.code, 0);
        assert!(
            run.told().contains("is not in this clone"),
            "{}",
            run.stderr
        );
        // Now main signs, and its results count for all.
        project.git(&["reset", "--quiet", "--hard", "HEAD^"]);
        project.git(&[
            "fetch",
            "--quiet",
            "origin",
            "main:refs/remotes/origin/main",
        ]);
        on_main(&mut project);
        project.set_env("TAMIS_SIGNING_KEY", Some(secret));
        forget(&mut project);
        let run = project.run();
        assert_eq!(run.outcomes.len(), 2, "{}", run.stderr);
        assert!(
            run.told().contains("not used: it is not signed"),
            "{}",
            run.stderr
        );
        project.set_env("TAMIS_SIGNING_KEY", None);
        for pr in [None, Some(5)] {
            forget(&mut project);
            if let Some(pr) = pr {
                on_pull(&mut project, pr, "o/r");
            }
            assert_eq!(left_out(&project).len(), 2, "signed");
        }
        assert!(held(&remote).len() >= 2);
    });
}

#[test]
fn trouble_runs_more_and_fails_nothing() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        on_main(&mut project);
        // No remote at all; a missing one; one that is not a repository.
        for url in [
            None,
            Some("/nowhere/remote.git"),
            Some("http://127.0.0.1:9/x.git"),
        ] {
            if let Some(url) = url {
                let _ = project.command("git", &["remote", "remove", "origin"], &project.root());
                project.git(&["remote", "add", "origin", url]);
            }
            forget(&mut project);
            let run = project.run();
            assert_eq!(
                (run.code, run.outcomes.len()),
                (0, 2),
                "{url:?}: {}",
                run.stderr
            );
            let told = run.told();
            assert_eq!(told.matches("\"fallback\"").count(), 1, "{url:?}: {told}");
            let again = project.run();
            assert_eq!(
                again.outcomes.len(),
                0,
                "local results count: {}",
                again.stderr
            );
        }
    });
}

/// How many push at once. Each waits for the ones before it, so the time grows with the square.
fn writers() -> u8 {
    match std::env::var_os("TAMIS_E2E_ALL") {
        Some(_) => 64,
        None => 16,
    }
}

#[test]
fn many_writers_lose_nothing_and_the_ref_stays_small() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\nkeep: 100\n");
        let remote = add_origin(&project);
        on_main(&mut project);
        let names = matrices(&project, writers());
        push_at_once(&project, &names);
        assert_eq!(held(&remote), names.iter().cloned().collect());
        // All at once for one key: one complete value.
        push_at_once(&project, &vec![names[0].clone(); names.len()]);
        assert_eq!(held(&remote).len(), names.len());
        // The next writer drops the oldest matrices above the limit.
        project.write("tamis.yml", "version: 1\nshared-store: git\nkeep: 3\n");
        project.commit("keep 3");
        project.run();
        let kept = held(&remote);
        // Three from the environment of the writers, and its own.
        assert_eq!(kept.len(), 4, "{kept:?}");
        assert!(
            names[names.len() - 3..]
                .iter()
                .all(|name| kept.contains(name)),
            "{kept:?}"
        );
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn many_writers_over_http() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\nkeep: 100\n");
        let remote = add_origin(&project);
        let folder = project.world().join("outside");
        let folder = folder.to_str().unwrap();
        let python = python.executable();
        let server = Server::start(&python, "git_http.py", &[folder], project.world(), &[]);
        let url = format!("{}/remote.git", server.url());
        project.git(&["remote", "set-url", "origin", &url]);
        on_main(&mut project);
        let names = matrices(&project, writers());
        push_at_once(&project, &names);
        assert_eq!(held(&remote), names.iter().cloned().collect());
        // All at once for one key: one complete value.
        push_at_once(&project, &vec![names[0].clone(); names.len()]);
        assert_eq!(held(&remote).len(), names.len());
    });
}

/// Useless files are named with the remedy, and the rest counts.
#[test]
fn damaged_files_are_named() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: git\n");
        let remote = add_origin(&project);
        on_main(&mut project);
        project.run();
        let older = held(&remote);
        edit_a(&mut project, 10);
        project.commit("edit a");
        project.run();
        assert_eq!(held(&remote).len(), 2);
        // Replaces the content of every file that `sed` selects.
        let damage = |project: &Project, sed: &str, more: &str| {
            let script = format!(
                "ref=$(git for-each-ref --format='%(refname)' refs/tamis)\n\
                 bad=$(echo nonsense | git hash-object -w --stdin)\n\
                 tree=$( (git ls-tree $ref | sed \"{sed}\"; {more}) | git mktree)\n\
                 git update-ref $ref $(git commit-tree -m x $tree)\n"
            );
            let done = project.command("sh", &["-ec", &script], &remote);
            assert_eq!(done.code(), 0, "{}", done.stderr);
        };
        let names = held(&remote);
        let newest = names.difference(&older).next().unwrap();
        let readme = "printf '100644 blob %s\\tREADME\\n' $bad";
        damage(
            &project,
            &format!("/{newest}.manifest/s/blob [0-9a-f]*/blob $bad/"),
            readme,
        );
        let told = |project: &mut Project, words: &[&str]| {
            forget(project);
            let run = project.run();
            for word in words {
                assert!(run.told().contains(word), "{word}: {}", run.stderr);
            }
            run.outcomes.len()
        };
        let manifest = format!("{newest}.manifest: ");
        let words = [
            "refs/tamis/",
            "README: it is not a file of tamis",
            &manifest,
            "git push REMOTE",
        ];
        assert!(told(&mut project, &words) < 2, "the other result counts");
        let doctor = project.tamis(&["doctor"]);
        let page = format!("{}{}", doctor.stdout, doctor.stderr);
        // The newly shared result replaced all damaged files.
        assert!(!page.contains("README"), "{page}");
        assert!(held(&remote).len() >= 2);

        damage(&project, "/[.]tamis/s/blob [0-9a-f]*/blob $bad/", "true");
        let select = project.tamis(&["doctor"]);
        assert!(
            !select.stdout.contains("damaged"),
            "manifests are sound: {}",
            select.stdout
        );
        assert_eq!(told(&mut project, &[".tamis: ", "damaged files"]), 2);
        damage(
            &project,
            "/[.]tamis/d",
            "printf '040000 tree %s\\tsub\\n' $(git mktree </dev/null)",
        );
        let doctor = project.tamis(&["doctor"]);
        for word in [
            "its matrix is not there",
            "sub: it is not a file",
            "git push REMOTE",
        ] {
            assert!(doctor.stdout.contains(word), "{word}: {}", doctor.stdout);
        }
    });
}
