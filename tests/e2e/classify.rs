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
