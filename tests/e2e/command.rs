//! `runner: command`: a whole command is one test.

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- tamis.yml --
version: 1
runner: command
command: [sh, check.sh]
-- check.sh --
grep -q good data.txt && python -m pytest -q test_it.py
-- data.txt --
good
-- test_it.py --
def test_one():
    pass
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_command_runs_every_time_and_says_why() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        for _ in 0..2 {
            let done = project.tamis(&["run", "--json"]);
            assert_eq!(done.code(), 0, "{}", done.stderr);
            // What the command starts is no test of its own.
            let outcomes = serde_json::json!({ "command": "passed" });
            assert_eq!(json(&done.stdout)["outcomes"], outcomes);
        }
        let why = project.tamis(&["why", "command"]);
        let unseen = "nothing sees what the processes of this command use";
        assert!(why.stdout.contains(unseen), "{}", why.stdout);

        project.write("data.txt", "bad\n");
        let done = project.tamis(&["run", "--json"]);
        assert_eq!(done.code(), 1, "{}", done.stderr);
        assert_eq!(json(&done.stdout)["outcomes"]["command"], "failed");
        assert_eq!(project.tamis(&["select"]).stdout, "command\n");

        let doctor = project.tamis(&["doctor"]);
        assert!(doctor.stdout.contains(unseen), "{}", doctor.stdout);
        let typed = project.tamis(&["run", "--", "sh", "-c", "exit 3"]);
        assert_eq!(typed.code(), 3, "{}", typed.stderr);
    });
}
