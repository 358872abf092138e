//! Clones that lack commits or objects, of a repository behind `git http-backend`. In CI tamis
//! fetches what earlier results need; elsewhere it fetches nothing. If that fails, more tests
//! run, and one line says why.

use super::git::add_origin;
use super::server::Server;
use super::*;

/// A project with results of its first commit, and its origin served over HTTP.
struct World {
    project: Project,
    server: Server,
}

impl World {
    /// `login`: the `user:password` that the server requires.
    fn new(python: &Python, yaml: &str, login: Option<&str>) -> World {
        let mut project = project(python, yaml);
        let remote = add_origin(&project);
        for setting in ["uploadpack.allowFilter", "http.receivepack"] {
            let git_dir = ["--git-dir", remote.to_str().unwrap()];
            project.git(&[&git_dir[..], &["config", setting, "true"]].concat());
        }
        let folder = project.world().join("outside");
        let login: Vec<&str> = login.into_iter().collect();
        let server = Server::start(
            &python.executable(),
            "git_http.py",
            &[folder.to_str().unwrap()],
            project.world(),
            &login,
        );
        on_main(&mut project);
        assert_eq!(project.run().code, 0);
        World { project, server }
    }

    /// Adds this many commits, the last of which edits `a.py`.
    fn grow(&mut self, commits: u32) {
        for number in 1..commits {
            self.project.write("notes.txt", &format!("{number}\n"));
            self.project.commit("notes");
        }
        edit_a(&mut self.project, 10);
        self.project.commit("edit a");
        self.project.git(&["push", "--quiet", "origin", "HEAD"]);
    }

    fn url(&self) -> String {
        format!("{}/remote.git", self.server.url())
    }

    /// Replaces the project's repository by a clone; the store of results stays.
    fn clone_again(&mut self, options: &[&str], url: &str) {
        let clone = self.project.path("@outside/clone");
        let _ = fs::remove_dir_all(&clone);
        let to = clone.to_str().unwrap();
        let clone_it = [&["clone", "--quiet"], options, &["--", url, to]].concat();
        self.project.git(&clone_it);
        self.project.delete(".git");
        fs::rename(clone.join(".git"), self.project.path(".git")).unwrap();
    }

    fn commits(&self) -> usize {
        let listed = self.project.git(&["rev-list", "HEAD"]);
        listed.lines().count()
    }

    /// Whether objects are missing that a local commit names.
    fn lacks(&self, revision: &str) -> bool {
        let arguments = ["rev-list", "--objects", "--missing=print", "--max-count=1"];
        let listed = self.project.git(&[&arguments[..], &[revision]].concat());
        listed.lines().any(|line| line.starts_with('?'))
    }

    /// Everything that a fetch must leave unchanged.
    fn state(&self) -> (String, String, String, bool, String) {
        let git = |arguments: &[&str]| self.project.git(arguments);
        (
            git(&["for-each-ref"]),
            git(&["rev-parse", "HEAD"]),
            git(&["ls-files", "--stage"]),
            self.project.path(".git/FETCH_HEAD").exists(),
            git(&["config", "--local", "--list"]),
        )
    }

    fn on_a_laptop(&mut self) {
        self.project.set_env("GITHUB_ACTIONS", None);
    }
}

#[test]
fn a_shallow_clone_is_deepened_in_ci_and_only_there() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "", None);
        world.grow(70);
        world.clone_again(&["--depth=1"], &world.url());
        assert_eq!(world.project.git(&["status", "--porcelain"]), "");
        let before = world.state();
        world.on_a_laptop();
        assert_eq!(left_out(&world.project), ["test_b.py::test_b"]);
        assert_eq!(world.commits(), 1, "nobody asked for it");
        on_main(&mut world.project);
        world.project.set_env("TAMIS_DEEPEN", Some("never"));
        world.project.tamis(&["select"]);
        assert_eq!(world.commits(), 1, "it is switched off");
        world.project.set_env("TAMIS_DEEPEN", None);

        let run = world.project.run();
        let ran: Vec<&String> = run.outcomes.keys().collect();
        assert_eq!(ran, ["test_a.py::test_a"]);
        assert_eq!(run.told(), "");
        assert_eq!(world.commits(), 72, "50 more were not enough, 500 were");
        assert_eq!(world.state(), before);
        assert!(!world.project.path(".git/shallow").exists());
    });
}

#[test]
fn no_more_is_fetched_than_helps() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "", None);
        world.grow(70);
        world.project.run();
        world.clone_again(&["--depth=1"], &world.url());
        assert_eq!(left_out(&world.project).len(), 2);
        assert_eq!(world.commits(), 1, "the results of these files are here");
        forget(&mut world.project);
        world.project.tamis(&["select"]);
        assert_eq!(world.commits(), 1, "there are no results anywhere");
        world.project.set_env("TAMIS_DEEPEN", Some("always"));
        world.on_a_laptop();
        world.project.run();
        edit_a(&mut world.project, 11);
        world.project.commit("edit a again");
        world.project.tamis(&["select"]);
        assert_eq!(world.commits(), 2, "the parent has results");
    });
}

#[test]
fn a_token_of_the_environment_opens_the_origin_and_nothing_else() {
    on_all_interpreters(Wanted::Newest, |python| {
        let login = format!("x-access-token:{TOKEN}");
        let mut world = World::new(python, "", Some(&login));
        world.grow(3);
        let with_login = world.url().replace("://", &format!("://{login}@"));
        world.clone_again(&["--depth=1"], &with_login);
        world
            .project
            .git(&["remote", "set-url", "origin", &world.url()]);

        // The token is for another server.
        world
            .project
            .set_env("GITHUB_SERVER_URL", Some("https://github.example"));
        let run = world.project.tamis(&["select", "--json"]);
        assert_eq!(run.code(), 0);
        let told = run.stderr.matches("\"fallback\"").count();
        for part in [
            "more of its history cannot be fetched",
            "refused",
            "results of commits that it lacks are not used",
            "fetch-depth: 0",
        ] {
            assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
        }
        assert!(told >= 1 && !run.stderr.contains(TOKEN), "{}", run.stderr);
        assert_eq!(world.commits(), 1);

        let server = world.server.url();
        world.project.set_env("GITHUB_SERVER_URL", Some(&server));
        let run = world.project.tamis(&["select", "--json", "-v"]);
        assert!(
            !run.stderr.contains("cannot be fetched") && !run.stderr.contains(TOKEN),
            "{}",
            run.stderr
        );
        assert_eq!(world.commits(), 5);
        nothing_tells_the_token(&[world.project.root()]);
    });
}

#[test]
fn an_origin_that_is_gone_runs_more_and_says_so_once() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "", None);
        world.grow(3);
        world.clone_again(&["--depth=1"], &world.url());
        for url in [Some("http://127.0.0.1:9/x.git"), Some("/nowhere"), None] {
            match url {
                Some(url) => world.project.git(&["remote", "set-url", "origin", url]),
                None => world.project.git(&["remote", "remove", "origin"]),
            };
            let done = world.project.tamis(&["select"]);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            let told = done.stderr.matches("cannot be fetched").count();
            assert_eq!(told, 1, "{url:?}: {}", done.stderr);
            assert!(done.stderr.contains("fetch-depth: 0"), "{}", done.stderr);
            let all = done.stderr.matches("running more").count();
            assert_eq!(all, 1, "{url:?}: {}", done.stderr);
        }
    });
}

#[test]
fn what_others_shared_is_reached_from_a_shallow_clone() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "shared-store: git\n", None);
        world.grow(60);
        world.clone_again(&["--depth=1"], &world.url());
        forget(&mut world.project);
        let fetch = world.project.tamis(&["store", "fetch", "-v"]);
        assert!(fetch.stderr.contains("taken"), "{}", fetch.stderr);
        assert!(
            fetch.stderr.contains("fetched 500 more commits"),
            "{}",
            fetch.stderr
        );
        world.clone_again(&["--depth=1"], &world.url());
        forget(&mut world.project);
        assert_eq!(left_out(&world.project), ["test_b.py::test_b"]);
    });
}

#[test]
fn the_side_that_a_pull_request_goes_to_is_fetched() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "shared-store: git\n", None);
        world
            .project
            .git(&["switch", "--quiet", "--create", "topic"]);
        world.grow(2);
        world
            .project
            .git(&["switch", "--quiet", "--detach", "main"]);
        world
            .project
            .git(&["merge", "--quiet", "--no-ff", "-m", "for the test", "topic"]);
        let push = ["push", "--quiet", "origin", "HEAD:refs/pull/5/merge"];
        world.project.git(&push);
        let merge = world.project.git(&["rev-parse", "HEAD"]);
        // As actions/checkout does.
        world.clone_again(&["--no-checkout", "--depth=1"], &world.url());
        let fetch = ["fetch", "--quiet", "--depth=1", "origin"];
        world.project.git(
            &[
                &fetch[..],
                &["+refs/pull/5/merge:refs/remotes/pull/5/merge"],
            ]
            .concat(),
        );
        world.project.git(&[
            "checkout",
            "--quiet",
            "--force",
            "--detach",
            "refs/remotes/pull/5/merge",
        ]);
        world
            .project
            .git(&["update-ref", "-d", "refs/remotes/origin/main"]);
        forget(&mut world.project);
        on_pull(&mut world.project, 5, "o/r");
        world.project.set_env("GITHUB_SHA", Some(merge.trim()));
        let run = world.project.run();
        let ran: Vec<&String> = run.outcomes.keys().collect();
        assert_eq!(ran, ["test_a.py::test_a"], "{}", run.stderr);
        assert_eq!(run.told(), "");
    });
}

#[test]
fn trees_and_files_that_a_filter_left_out_are_fetched_at_once() {
    on_all_interpreters(Wanted::Newest, |python| {
        for (filter, revision) in [("tree:0", "HEAD~3"), ("blob:none", "HEAD~3")] {
            let mut world = World::new(python, "run-all-when: [x]\n", None);
            world.grow(4);
            let option = format!("--filter={filter}");
            world.clone_again(&[&option], &world.url());
            let before = world.state();
            assert!(world.lacks(revision), "{filter}");
            world.on_a_laptop();
            let laptop = world.project.run_with(&["--dry-run"]);
            let is_known = laptop.selection.mode == "subset";
            assert_eq!(is_known, filter == "blob:none", "{:?}", laptop.selection);
            on_main(&mut world.project);
            let select = world.project.run_with(&["--dry-run"]);
            assert_eq!(select.selection.mode, "subset", "{filter}");
            assert_eq!(select.told(), "", "{filter}");
            assert_eq!(world.state(), before, "{filter}");
        }
    });
}

#[test]
fn a_merge_in_a_filtered_clone_is_told_like_in_a_whole_one() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "", None);
        world
            .project
            .git(&["switch", "--quiet", "--create", "topic"]);
        let both = "def value():\n    return 2\n\n\nX = 1\n\n\nY = 1\n";
        world.project.write("b.py", both);
        world.grow(2);
        world.project.git(&["switch", "--quiet", "main"]);
        world
            .project
            .write("b.py", "Z = 0\n\n\ndef value():\n    return 2\n");
        world.project.commit("the other side");
        world
            .project
            .git(&["merge", "--quiet", "--no-ff", "-m", "merge", "topic"]);
        world.project.git(&["push", "--quiet", "origin", "main"]);
        let whole = world.project.tamis(&["select", "--json"]);
        let kind = |text: &str| {
            let document: serde_json::Value = serde_json::from_str(text).unwrap();
            document["head"]["kind"].as_str().map(str::to_owned)
        };
        assert_eq!(kind(&whole.stdout).as_deref(), Some("automerge"));
        for filter in ["blob:none", "tree:0"] {
            world.clone_again(&[&format!("--filter={filter}")], &world.url());
            let filtered = world.project.tamis(&["select", "--json"]);
            assert_eq!(kind(&filtered.stdout), kind(&whole.stdout), "{filter}");
            assert!(
                !filtered.stderr.contains("\"fallback\""),
                "{}",
                filtered.stderr
            );
        }
    });
}

#[test]
fn the_tip_before_a_push_by_force_is_fetched_for_strategies_that_ask() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "", None);
        world
            .project
            .git(&["switch", "--quiet", "--create", "topic"]);
        world.grow(1);
        let before = world.project.git(&["rev-parse", "HEAD"]);
        let before = before.trim();
        world.project.git(&["switch", "--quiet", "main"]);
        world.project.write("notes.txt", "onto\n");
        world.project.commit("onto");
        world.project.git(&["push", "--quiet", "origin", "main"]);
        world.project.git(&["rebase", "--quiet", "main", "topic"]);
        world
            .project
            .git(&["push", "--quiet", "--force", "origin", "topic"]);
        world.clone_again(&["--branch=topic"], &world.url());
        let has = |world: &World| {
            let done =
                world
                    .project
                    .command("git", &["cat-file", "-e", before], &world.project.root());
            done.status.success()
        };
        let after = world.project.git(&["rev-parse", "HEAD"]);
        let payload = format!(
            r#"{{"forced":true,"before":"{before}","after":"{}","repository":{{"default_branch":"main"}}}}"#,
            after.trim()
        );
        in_ci(&mut world.project, "push", "refs/heads/topic", &payload);
        let kind = |world: &World, strategy: &str| {
            let done = world
                .project
                .tamis(&["select", "--json", "--strategy", strategy]);
            let document: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
            document["head"]["kind"].as_str().unwrap().to_owned()
        };
        kind(&world, "auto");
        assert!(!has(&world), "nobody needs it");
        assert_eq!(kind(&world, "thesis"), "rebase");
        assert!(has(&world));
    });
}

/// After a checkout of a pull request's own tip, only the name or the tip of the target branch
/// is known.
#[test]
fn the_side_that_a_pull_request_goes_to_is_asked_for_where_its_tip_is_checked_out() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "shared-store: git\n", None);
        let git = |world: &World, arguments: &[&str]| world.project.git(arguments);
        git(&world, &["switch", "--quiet", "--create", "topic"]);
        world.grow(2);
        git(&world, &["switch", "--quiet", "main"]);
        world.project.write("notes.txt", "main went on\n");
        world.project.commit("main");
        git(&world, &["push", "--quiet", "origin", "main"]);
        let tip = git(&world, &["rev-parse", "main"]);
        git(&world, &["switch", "--quiet", "topic"]);
        let payload = format!(
            r#"{{"pull_request": {{"number": 5, "head": {{"ref": "topic", "repo": {{"full_name": "o/r"}}}},
                "base": {{"ref": "main", "sha": "{}", "repo": {{"full_name": "o/r"}}}}}},
                "repository": {{"default_branch": "main"}}}}"#,
            tip.trim()
        );
        let clones = [
            &["--depth=1"][..],
            &[],
            &["--filter=blob:none"],
            &["--filter=tree:0"],
            &["--filter=blob:none", "--depth=1"],
        ];
        for (at, options) in clones.into_iter().enumerate() {
            for knows_tip in [true, false] {
                if !everything() && knows_tip == (at % 2 == 1) {
                    continue;
                }
                let branch = [&["--single-branch", "--branch=topic"], options].concat();
                world.clone_again(&branch, &world.url());
                forget(&mut world.project);
                on_pull(&mut world.project, 5, "o/r");
                if knows_tip {
                    in_ci(
                        &mut world.project,
                        "pull_request",
                        "refs/pull/5/merge",
                        &payload,
                    );
                }
                let select = world.project.run_with(&["--dry-run"]);
                let ran: Vec<&String> = select.selection.selected.keys().collect();
                assert_eq!(
                    ran,
                    ["test_a.py::test_a"],
                    "{options:?} {knows_tip}: {}",
                    select.stderr
                );
                assert_eq!(select.told(), "", "{options:?} {knows_tip}");
            }
        }
        // The branch is gone: everything runs, and one line says why.
        world.clone_again(&["--single-branch", "--branch=topic"], &world.url());
        forget(&mut world.project);
        on_pull(&mut world.project, 5, "o/r");
        world.project.set_env("GITHUB_BASE_REF", Some("gone"));
        let select = world.project.run_with(&["--dry-run"]);
        assert_eq!(select.selection.mode, "all");
        assert!(
            select.stderr.contains("is not in this clone"),
            "{}",
            select.stderr
        );
    });
}

/// A clone without the files outside its cone and without their content.
#[test]
fn a_sparse_clone_without_blobs_selects_like_a_whole_one() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut world = World::new(python, "", None);
        world
            .project
            .write("far/helper.py", "def far():\n    return 1\n");
        let test = "import helper\n\n\ndef test_far():\n    assert helper.far()\n";
        world.project.write("far/test_far.py", test);
        world.project.write("away/data.txt", "1\n");
        world.project.commit("far");
        assert_eq!(world.project.run().code, 0);
        // One more comment: only a reader of the file can know that.
        world
            .project
            .write("far/helper.py", "def far():\n    return 1  # so\n");
        world.project.write("away/data.txt", "2\n");
        world.grow(2);
        let whole: Vec<String> = world.project.select().selected.into_keys().collect();
        assert_eq!(whole, ["test_a.py::test_a"]);
        for (filter, deepen) in [
            ("--filter=blob:none", "ci"),
            ("--filter=tree:0", "ci"),
            ("--filter=blob:none", "never"),
        ] {
            world.project.set_env("TAMIS_DEEPEN", Some(deepen));
            world.clone_again(&[filter, "--no-checkout"], &world.url());
            let cone = ["sparse-checkout", "set", "--cone", "nowhere"];
            world.project.git(&cone);
            world
                .project
                .git(&["checkout", "--quiet", "--force", "main"]);
            for folder in ["far", "away"] {
                let _ = fs::remove_dir_all(world.project.path(folder));
            }
            assert_eq!(
                world.project.git(&["status", "--porcelain"]),
                "",
                "{filter}"
            );
            // The results of the complete clone's analysis of that file were kept.
            world.project.delete(".tamis/cache");
            let select = world.project.run_with(&["--dry-run"]);
            let ran: Vec<&String> = select.selection.selected.keys().collect();
            assert_eq!(select.told(), "", "{filter}");
            if deepen == "ci" {
                assert_eq!(ran, ["test_a.py::test_a"], "{filter}");
                continue;
            }
            // A file that cannot be read may have changed: its test runs, and says why.
            assert_eq!(ran, ["far/test_far.py::test_far", "test_a.py::test_a"]);
            let reason = &select.selection.selected["far/test_far.py::test_far"];
            assert!(reason.to_string().contains("cannot be read"), "{reason}");
        }
    });
}
