//! The time of day proves nothing: with a clock that is years ahead or behind, and with files
//! of such dates, the same tests are selected for the same reasons.

use std::path::Path;

use serde_json::Value;

use crate::harness::*;

const SHIFTS: [&str; 5] = ["+0", "+10y", "-10y", "+1d", "-1d"];

/// Debian's libfaketime. Prints a loud message if it is missing.
fn faketime() -> Option<String> {
    let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"];
    let found = folders
        .map(|folder| format!("/usr/lib/{folder}/faketime/libfaketime.so.1"))
        .into_iter()
        .find(|path| Path::new(path).exists());
    if found.is_none() {
        skip("libfaketime is not installed");
    }
    found
}

fn at(project: &mut Project, library: &str, shift: &str) {
    project.set_env("LD_PRELOAD", Some(library));
    project.set_env("FAKETIME", Some(shift));
    // The parts of it that tests can see must not count.
    project.set_env("FAKETIME_DONT_FAKE_MONOTONIC", Some("1"));
}

fn selection(project: &Project) -> Value {
    let done = project.tamis(&["select", "--json"]);
    assert_eq!(done.code(), 0, "{}", done.stderr);
    let all: Value = serde_json::from_str(&done.stdout).unwrap();
    serde_json::json!([all["mode"], all["selected"], all["excluded"]])
}

#[test]
fn a_wrong_clock_selects_the_same() {
    on_all_interpreters(Wanted::Newest, |python| {
        let Some(library) = faketime() else { return };
        let mut project = Project::new(python, TWO_MODULES);
        project.write(
            "tamis.yml",
            "version: 1\nenv:\n  ignore: ['FAKETIME*', LD_PRELOAD]\n",
        );
        project.commit("configuration");
        at(&mut project, &library, "+0");
        project.run();
        project.write("a.py", "def value():\n    return 10\n");
        let right = selection(&project);
        assert_eq!(right[0], "subset", "{right:#}");
        assert_eq!(right[1].as_array().unwrap().len(), 1, "{right:#}");
        for shift in SHIFTS {
            at(&mut project, &library, shift);
            assert_eq!(selection(&project), right, "{shift}");
        }
        // Recorded in the past and in the future, in mixed order.
        for (recorded, number) in [("+10y", 11), ("-10y", 12), ("+1d", 13), ("-10y", 14)] {
            at(&mut project, &library, recorded);
            project.write("b.py", &format!("def value():\n    return {number}\n"));
            project.commit("edit b");
            let run = project.run();
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(
                run.outcomes.contains_key("test_b.py::test_b"),
                "{recorded}: {:?}",
                run.outcomes
            );
            let right = selection(&project);
            for shift in SHIFTS {
                at(&mut project, &library, shift);
                assert_eq!(
                    selection(&project),
                    right,
                    "recorded at {recorded}, selected at {shift}"
                );
            }
        }
        project.write("b.py", "def value():\n    return 15\n");
        let right = selection(&project);
        assert_eq!(right[1].as_array().unwrap().len(), 1, "{right:#}");
        for shift in SHIFTS {
            at(&mut project, &library, shift);
            assert_eq!(selection(&project), right, "{shift}");
        }
    });
}

/// Times of files only save work: a file with another time is read.
#[test]
fn files_of_other_years_select_the_same() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, TWO_MODULES);
        project.run();
        project.write("a.py", "def value():\n    return 10\n");
        let right = selection(&project);
        assert_eq!(right[1].as_array().unwrap().len(), 1, "{right:#}");
        for time in ["2016-01-01", "2036-01-01", "1970-01-01", "2100-01-01"] {
            for files in [
                &["a.py"][..],
                &["b.py", "test_b.py"],
                &[".tamis/store", "a.py", "b.py"],
            ] {
                let arguments = [&["--no-dereference", "--date", time], files].concat();
                let done = project.command("touch", &arguments, &project.root());
                assert_eq!(done.code(), 0, "{}", done.stderr);
                assert_eq!(selection(&project), right, "{files:?} of {time}");
            }
        }
        // An edit that keeps the length and time of the file.
        let before = project.read("b.py");
        project.write("b.py", &before.replace('2', "3"));
        let done = project.command("touch", &["--date", "2100-01-01", "b.py"], &project.root());
        assert_eq!(done.code(), 0, "{}", done.stderr);
        assert_eq!(selection(&project)[1].as_array().unwrap().len(), 2);
    });
}
