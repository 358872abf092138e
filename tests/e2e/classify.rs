//! `tamis classify` as users call it.

use crate::harness::*;

#[test]
fn a_merge_as_json() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, "-- a.py --\na = 1\n-- b.py --\nb = 1\n");
        project.git(&["checkout", "--quiet", "-b", "side"]);
        project.write("b.py", "b = 2\n");
        project.commit("side");
        project.git(&["checkout", "--quiet", "-"]);
        project.write("a.py", "a = 2\n");
        project.commit("ours");
        project.git(&["merge", "--quiet", "--no-edit", "side"]);
        let done = project.tamis(&["classify", "--json"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        // Dates change from run to run, and commit names with them.
        let mut said = done.stdout.clone();
        for (rev, name) in [
            ("HEAD", "[HEAD]"),
            ("HEAD^1", "[OURS]"),
            ("HEAD^2", "[SIDE]"),
        ] {
            said = said.replace(project.git(&["rev-parse", rev]).trim(), name);
        }
        said = said.replace(project.git(&["rev-parse", "side~1"]).trim(), "[FORK]");
        said = said.replace(project.git(&["rev-parse", "HEAD^{tree}"]).trim(), "[TREE]");
        insta::assert_snapshot!("merge_json", said);
    });
}

#[test]
fn a_pick_that_no_message_names_counts_for_the_strategies_that_ask() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = "-- a.py --\na = 1\n-- test_b.py --\ndef test_b():\n    pass\n";
        let mut project = Project::new(python, files);
        project.git(&["checkout", "--quiet", "-b", "side"]);
        project.write("b.py", "b = 2\n");
        project.commit("side");
        project.git(&["checkout", "--quiet", "-"]);
        project.write("a.py", "a = 2\n");
        project.commit("ours");
        project.run();
        // The date of the commit tells the copy from the original.
        let later = [
            "-c",
            "GIT_COMMITTER_DATE=2090-01-01T00:00:00Z git cherry-pick side",
        ];
        let picked = project.command("sh", &later, &project.root());
        assert_eq!(picked.code(), 0, "{}", picked.stderr);
        let json = |arguments: &[&str]| -> serde_json::Value {
            let done = project.tamis(arguments);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            serde_json::from_str(&done.stdout).unwrap()
        };
        let said = json(&["classify", "--json"]);
        assert_eq!(
            (&said["kind"], &said["auto"]),
            (&"cherry-pick".into(), &true.into())
        );
        let side = project.git(&["rev-parse", "side"]);
        assert_eq!(said["references"]["picked"], side.trim());
        for (strategy, kind) in [
            ("cherry-parent", "cherry-pick"),
            ("thesis", "cherry-pick"),
            ("memo", "commit"),
        ] {
            let said = json(&["select", "--json", "--strategy", strategy]);
            assert_eq!(said["head"]["kind"], kind, "{strategy}");
            assert_eq!(said["counts"]["selected"], 0, "{strategy}");
        }
    });
}

#[test]
fn an_event_is_told_by_options() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = "-- a.py --\na = 1\n-- b.py --\nb = 1\n\
                     -- test_a.py --\nimport a\ndef test_a():\n    assert a.a\n\
                     -- test_b.py --\nimport b\ndef test_b():\n    assert b.b\n";
        let mut project = Project::new(python, files);
        project.git(&["checkout", "--quiet", "-b", "side"]);
        for value in ["2", "3"] {
            project.write("b.py", &format!("b = {value}\n"));
            project.commit("b");
        }
        project.run();
        project.git(&["checkout", "--quiet", "main"]);
        project.write("a.py", "a = 2\n");
        project.commit("a");
        project.run();
        project.git(&["merge", "--quiet", "--squash", "side"]);
        project.git(&["commit", "--quiet", "-m", "Both"]);
        let json = |project: &Project, arguments: &[&str]| -> serde_json::Value {
            let done = project.tamis(arguments);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            serde_json::from_str(&done.stdout).unwrap()
        };
        let side = project.git(&["rev-parse", "side"]).trim().to_owned();
        let said = json(&project, &["classify", "--json"]);
        assert_eq!(said["kind"], "commit");
        let said = json(&project, &["classify", "--json", "--pr-head", "side"]);
        assert_eq!(said["kind"], "squash");
        assert_eq!(said["references"]["squash_tip"], side.as_str());
        // On each side the test of its own file has a passing row.
        for (strategy, selected) in [("commit", 1), ("rebase-parents", 0), ("memo", 0)] {
            let words = ["select", "--json", "--pr-head", "side"];
            let said = json(&project, &[&words[..], &["--strategy", strategy]].concat());
            assert_eq!(said["used"], strategy);
            assert_eq!(said["counts"]["selected"], selected, "{strategy}: {said:#}");
        }
        let before = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
        project.write("b.py", "b = 4\n");
        project.git(&["commit", "--quiet", "--all", "--amend", "-m", "Both"]);
        let said = json(&project, &["classify", "--json", "--before", &before]);
        assert_eq!(said["kind"], "amend");
        assert_eq!(said["references"]["pre_rebase_tip"], before.as_str());
        let done = project.tamis(&["classify", "--before", "nothing"]);
        assert_ne!(done.code(), 0);
        assert!(done.stderr.contains("nothing"), "{}", done.stderr);
    });
}

#[test]
fn several_picks_in_one_commit_are_named_and_selected_for() {
    on_all_interpreters(Wanted::Newest, |python| {
        let files = "-- a.py --\na = 1\n-- b.py --\nb = 1\n-- c.py --\nc = 1\n\
                     -- test_a.py --\nimport a\ndef test_a():\n    assert a.a\n\
                     -- test_b.py --\nimport b\ndef test_b():\n    assert b.b\n\
                     -- test_c.py --\nimport c\ndef test_c():\n    assert c.c\n";
        let mut project = Project::new(python, files);
        project.git(&["checkout", "--quiet", "-b", "side"]);
        for name in ["b", "c"] {
            project.write(&format!("{name}.py"), &format!("{name} = 2\n"));
            project.commit(name);
        }
        project.git(&["checkout", "--quiet", "-"]);
        project.write("a.py", "a = 2\n");
        project.commit("ours");
        project.run();
        let id = |project: &Project, rev| project.git(&["rev-parse", rev]).trim().to_owned();
        let picked = [id(&project, "side~1"), id(&project, "side")];
        project.git(&["cherry-pick", "--no-commit", &picked[0], &picked[1]]);
        let trailers = picked
            .iter()
            .map(|id| format!("(cherry picked from commit {id})\n"));
        let message = format!("both\n\n{}", trailers.collect::<String>());
        project.git(&["commit", "--quiet", "-m", &message]);
        let json = |project: &Project, arguments: &[&str]| -> serde_json::Value {
            let done = project.tamis(arguments);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            serde_json::from_str(&done.stdout).unwrap()
        };
        let said = json(&project, &["classify", "--json"]);
        assert_eq!(
            (&said["kind"], &said["auto"]),
            (&"cherry-pick".into(), &true.into())
        );
        assert_eq!(said["references"]["all_picked"], serde_json::json!(picked));
        let parents = serde_json::json!([id(&project, "side~2"), picked[0]]);
        assert_eq!(said["references"]["all_picked_parents"], parents);
        // Neither history form applies. The safe form does, and says why.
        let said = json(
            &project,
            &["select", "--json", "--strategy", "cherry-history"],
        );
        assert_eq!(said["head"]["kind"], "cherry-pick");
        assert_eq!(said["used"], "cherry-parent");
        let why = said["fallbacks"][0].as_str().unwrap();
        assert!(why.contains("several picks were squashed"), "{why}");
        let selected = said["selected"].as_array().unwrap().iter();
        let selected: Vec<_> = selected.map(|test| test["id"].clone()).collect();
        assert_eq!(selected, ["test_b.py::test_b", "test_c.py::test_c"]);
    });
}
