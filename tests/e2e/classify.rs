//! `tamis classify` as a user types it.

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
        // Dates differ from run to run, and commit names with them.
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
        // A copy is told from what it copies by when it was made.
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
