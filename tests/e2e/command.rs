//! `runner: command`: a whole command is one test, and tamis sees what its processes use.

use serde_json::Value;

use crate::harness::*;

const FILES: &str = r#"
-- tamis.yml --
version: 1
runner: command
command: [sh, check.sh]
-- check.sh --
grep -q good data.txt && python -m pytest -q tests/test_it.py
-- data.txt --
good
-- elsewhere/unused.txt --
nobody reads this
-- tests/test_it.py --
def test_one():
    pass
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// How the tests ended that ran.
fn outcomes(done: &Finished) -> Value {
    let outcomes = &json(&done.stdout)["outcomes"];
    match outcomes.is_null() {
        true => serde_json::json!({}),
        false => outcomes.clone(),
    }
}

#[test]
fn a_command_runs_when_something_that_it_uses_changes() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, FILES);
        // What the command starts is no test of its own.
        let passed = serde_json::json!({ "command": "passed" });
        let ran = |project: &Project| {
            let done = project.tamis(&["run", "--json"]);
            (outcomes(&done), done.stderr)
        };
        let runs = |project: &Project| {
            let (outcomes, told) = ran(project);
            assert_eq!(outcomes, passed, "{told}");
        };
        let does_not = |project: &Project| {
            let (outcomes, told) = ran(project);
            assert_eq!(outcomes, serde_json::json!({}), "{told}");
        };
        runs(&project);
        // Python's caches were written by the first run, and are read from now on.
        runs(&project);
        does_not(&project);
        project.write("elsewhere/unused.txt", "nobody reads this either\n");
        does_not(&project);
        project.write("tests/test_it.py", "def test_one():\n    assert 2 > 1\n");
        runs(&project);

        project.write("data.txt", "bad\n");
        let done = project.tamis(&["run", "--json"]);
        assert_eq!(done.code(), 1, "{}", done.stderr);
        assert_eq!(outcomes(&done)["command"], "failed");
        assert_eq!(project.tamis(&["select"]).stdout, "command\n");
        project.write("data.txt", "good\n");
        runs(&project);
        let why = project.tamis(&["why", "command"]);
        assert!(
            why.stdout.contains("nothing that it used has changed"),
            "{}",
            why.stdout
        );

        let doctor = project.tamis(&["doctor"]);
        let seen = "tamis sees what the processes of tests use";
        assert!(doctor.stdout.contains(seen), "{}", doctor.stdout);
        let typed = project.tamis(&["run", "--", "sh", "-c", "exit 3"]);
        assert_eq!(typed.code(), 3, "{}", typed.stderr);
    });
}

/// A script that uses files in many ways. What it prints is what it depends on.
const SCRIPT: &str = r#"
-- tamis.yml --
version: 1
runner: command
command: [sh, check.sh]
-- check.sh --
exec 2>&1
. ./sourced.sh
cat read.txt
cat link.txt
ls listed
test -e appears.txt && echo appeared
test -d folder && echo folder
cat missing/deep.txt
for one in build/*; do echo "$one"; done
cat 3< by_number.txt <&3
cat /dev/stdin < redirected.txt
wc -c < measured.txt
stat -c %s stated.txt
readlink pointer
find found -name '*.x'
./program.sh
sh called.sh deep/in/side.txt
( cd moved && cat here.txt )
cat globbed/*.txt
echo "${FLAVOUR:-none}"
echo "${GITHUB_REF:-no ref}"
test -x program.sh && echo executable
test -x runnable && echo runnable
ls newest
echo x > fresh && mv fresh kept_folder; ls kept_folder; rm -f kept_folder/fresh
ln -sn nothing kept_link; ls kept_link
rmdir full 2> /dev/null; ls full
mv -n tmp_file kept_file; cat kept_file
( cd through && ls )
python3 -I -c 'import os; os.chdir("current"); print(os.listdir("."))'
python3 -I -c 'import os, signal; os.chdir("optional_folder")'
echo hi > place/out && rm place/out
[ -e "" ] || [ -f "$UNSET" ] || echo nothing
echo first > made.txt && cat made.txt
cat written.txt && echo more > written.txt
mkdir -p out/deep && cp copied.txt out/deep/it.txt && cat out/deep/it.txt
mv out/deep out/renamed && cat out/renamed/it.txt && rm -r out
echo appended >> log.txt
head -c 3 hashed.txt
tar cf - packed | md5sum > /dev/null
python3 -I -c 'print(open("by_python.txt").read())'
sort < sorted.txt | uniq | head -n 2
if [ -s optional.conf ]; then cat optional.conf; else echo default; fi
true
-- sourced.sh --
name=value
-- read.txt --
read
-- target.txt --
target
-- listed/one --
1
-- folder/inside --
x
-- measured.txt --
12345
-- stated.txt --
123
-- found/a.x --
a
-- found/b.y --
b
-- program.sh --
#!/bin/sh
cat used_by_program.txt
-- used_by_program.txt --
used
-- called.sh --
cat "$1"
-- deep/in/side.txt --
side
-- moved/here.txt --
here
-- globbed/a.txt --
a
-- copied.txt --
copied
-- runnable --
x
-- newest/one --
1
-- kept_folder/one --
1
-- tmp_file --
tmp
-- kept_file --
kept
-- full/one --
1
-- first/one --
1
-- second/two --
2
-- place/.keep --
keep
-- written.txt --
before
-- log.txt --
log
-- hashed.txt --
hashed
-- packed/p --
p
-- by_python.txt --
python
-- sorted.txt --
b
a
-- by_number.txt --
number
-- redirected.txt --
redirected
-- unused.txt --
unused
-- folder_unused/u --
u
-- here.txt --
not this one
-- .gitignore --
made.txt
ignored/
build/
"#;

/// Edits, as a shell makes them, and whether the command has to run.
const EDITS: [(&str, bool); 60] = [
    ("true", false),
    ("echo x >> unused.txt", false),
    ("rm unused.txt", false),
    ("echo x > brand_new.txt", false),
    ("echo x > folder_unused/new", false),
    ("echo x >> here.txt", false),
    ("mkdir ignored && echo x > ignored/file", false),
    ("echo x >> folder/inside", false),
    ("touch read.txt", false),
    ("echo x >> read.txt", true),
    ("rm read.txt", true),
    ("chmod +x read.txt", true),
    ("echo '# x' >> check.sh", true),
    ("echo x=y >> sourced.sh", true),
    ("rm sourced.sh && echo name=value > sourced.sh", false),
    ("echo x >> target.txt", true),
    ("ln -sfn read.txt link.txt", true),
    ("rm link.txt && cp target.txt link.txt", true),
    ("echo x > listed/two", true),
    ("rm listed/one", true),
    ("echo x > appears.txt", true),
    ("rm -r folder", true),
    ("rm -r folder && echo x > folder", true),
    ("mkdir missing", false),
    ("mkdir missing && echo x > missing/deep.txt", true),
    ("echo x >> measured.txt", true),
    ("echo x >> stated.txt", true),
    ("ln -sfn elsewhere pointer", true),
    ("echo x > found/c.x", true),
    ("mkdir found/sub && echo x > found/sub/d.x", true),
    ("echo ': x' >> program.sh", true),
    ("echo x >> used_by_program.txt", true),
    ("chmod -x program.sh", true),
    ("echo ': x' >> called.sh", true),
    ("echo x >> deep/in/side.txt", true),
    ("echo x >> moved/here.txt", true),
    ("echo x > globbed/b.txt", true),
    ("echo x >> copied.txt", true),
    ("echo x >> log.txt", true),
    ("echo x >> hashed.txt", true),
    ("echo x >> packed/p", true),
    ("echo x >> by_python.txt", true),
    ("echo x >> sorted.txt", true),
    ("echo x > optional.conf", true),
    ("mkdir build && echo x > build/new_test", true),
    ("chmod +x runnable", true),
    ("echo x > newest/two", true),
    ("echo x > kept_folder/two", true),
    ("echo x > first/two", true),
    ("echo x > full/two", true),
    ("echo x >> kept_file", true),
    ("ln -sfn second through", true),
    ("ln -sfn second current", true),
    ("mkdir optional_folder", true),
    ("rm -r place", true),
    ("echo x > second/three", false),
    ("echo x >> tmp_file", true),
    ("echo x >> by_number.txt", true),
    ("echo x >> redirected.txt", true),
    (
        "mkdir -p folder_unused/ignored && echo x > folder_unused/ignored/y",
        false,
    ),
];

#[test]
fn every_way_to_use_a_file_is_seen() {
    on_all_interpreters(Wanted::Newest, |python| {
        use_files(Project::new(python, SCRIPT));
    });
}

fn use_files(mut project: Project) {
    let shell = |project: &Project, text: &str| {
        let done = project.command("sh", &["-c", text], &project.root());
        assert!(done.status.success(), "{text}");
    };
    shell(
        &project,
        "chmod +x program.sh && ln -s target.txt link.txt && ln -s somewhere pointer && \
         ln -s first through && ln -s first current && ln -s first kept_link",
    );
    project.commit("links");
    let restore = |project: &Project| {
        project.git(&["checkout", "-q", "--force", "HEAD"]);
        project.git(&["clean", "-qfdx", "-e", ".tamis"]);
    };
    let done = project.tamis(&["run", "--json"]);
    assert_eq!(outcomes(&done)["command"], "passed", "{}", done.stderr);
    restore(&project);
    let before = script_output(&project);
    for (edit, has_to_run) in EDITS {
        restore(&project);
        shell(&project, edit);
        let reason = reason(&project);
        let selected = reason.is_some();
        assert_eq!(selected, has_to_run, "{edit}: {reason:?}");
        // The truth is what running it shows.
        if script_output(&project) != before {
            assert!(selected, "missed: {edit}");
        }
    }
    restore(&project);
    for (name, value, has_to_run) in [
        ("FLAVOUR", "sweet", true),
        ("ANYTHING", "counts", true),
        ("GITHUB_REF", "is spelled", true),
        ("GITHUB_RUN_ID", "is not", false),
    ] {
        project.set_env(name, Some(value));
        let reason = reason(&project);
        assert_eq!(reason.is_some(), has_to_run, "{name}: {reason:?}");
        project.set_env(name, None);
    }
}

/// Why the command would run.
fn reason(project: &Project) -> Option<String> {
    let done = project.tamis(&["run", "--dry-run", "--json"]);
    let told = json(&done.stdout);
    let mode = told["mode"].as_str().unwrap();
    assert!(["subset", "none"].contains(&mode), "{told}");
    let selected = told["selected"].as_array().unwrap();
    selected.first().map(|one| one["reason"].to_string())
}

/// What the script prints when it runs without tamis.
fn script_output(project: &Project) -> String {
    project.command("sh", &["check.sh"], &project.root()).stdout
}

const NAMED: &str = r#"
-- tamis.yml --
version: 1
runner: command
tests:
  - {id: web, run: [cat, page.txt], cwd: web}
  - {id: slow, run: sleep 30, timeout: 1}
  - {id: gone, run: no-such-program}
  - {id: alone, run: cat alone.txt}
  - {id: writer, run: ["sh", "-c", "test $(cat when.txt) = no || echo x > left.txt"]}
  - {id: looks, run: ["sh", "-c", "test ! -e left.txt"]}
-- alone.txt --
alone
-- when.txt --
no
-- web/page.txt --
page
-- .gitignore --
left.txt
"#;

#[test]
fn each_named_command_is_a_test() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, NAMED);
        let run = |project: &Project| {
            let done = project.tamis(&["run", "--json"]);
            (done.code(), outcomes(&done))
        };
        let all = serde_json::json!({
            "web": "passed", "slow": "failed", "gone": "error",
            "alone": "passed", "writer": "passed", "looks": "passed",
        });
        assert_eq!(run(&project), (124, all));
        let config = project.read("tamis.yml");
        let config = config.replace("sleep 30", "sleep 0");
        let config = config.replace("no-such-program", "true");
        project.write("tamis.yml", &config);
        let mended = serde_json::json!({ "slow": "passed", "gone": "passed" });
        assert_eq!(run(&project), (0, mended));
        assert_eq!(run(&project), (0, serde_json::json!({})));

        project.write("web/page.txt", "another\n");
        let web = serde_json::json!({ "web": "passed" });
        assert_eq!(run(&project), (0, web));
        // Another command is another test, and so is a new name.
        let config = config.replace("[cat, page.txt]", "[cat, -n, page.txt]");
        let config = format!("{config}  - {{id: new, run: cat tamis.yml}}\n");
        let config = config.replace("\n\n", "\n");
        project.write("tamis.yml", &config);
        let changed = serde_json::json!({ "web": "passed", "new": "passed" });
        assert_eq!(run(&project), (0, changed));
        assert_eq!(run(&project), (0, serde_json::json!({})));

        // Who leaves something behind may matter to whoever comes after it.
        project.write("when.txt", "yes\n");
        let disturbed = serde_json::json!({
            "writer": "passed", "looks": "failed", "new": "passed",
        });
        assert_eq!(run(&project), (1, disturbed));
        // As it was when all passed.
        project.delete("left.txt");
        project.write("when.txt", "no\n");
        assert_eq!(run(&project), (0, serde_json::json!({})));

        // A later step leaves out what it is told.
        project.write("web/page.txt", "once more\n");
        let selected = project.tamis(&["select", "--out", "sel"]);
        assert!(
            selected.stdout.lines().any(|line| line == "web"),
            "{}",
            selected.stderr
        );
    });
}

#[test]
fn what_a_command_leaves_running_is_ended() {
    let files = "
-- tamis.yml --
version: 1
runner: command
command: [sh, -c, 'sleep 300 & exec sleep 0']
";
    on_all_interpreters(Wanted::Newest, |python| {
        let done = Project::new(python, files).tamis(&["run"]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let told = "command left 1 program running, which tamis ended";
        assert!(done.stderr.contains(told), "{}", done.stderr);
    });
}

#[test]
fn who_is_traced_already_runs_every_time_and_says_why() {
    let files = "
-- tamis.yml --
version: 1
runner: command
command: [cat, data.txt]
-- data.txt --
x
";
    on_all_interpreters(Wanted::Newest, |python| {
        let project = Project::new(python, files);
        let tamis = env!("CARGO_BIN_EXE_tamis");
        let twice = format!("{tamis} run --json && {tamis} run --json");
        let inner = Project::new(python, files);
        let inside = format!("cd {} && {twice}", inner.root().display());
        let done = project.tamis(&["run", "--", "sh", "-c", &inside]);
        assert_eq!(done.code(), 0, "{}", done.stderr);
        let why = inner.tamis(&["why", "command"]);
        let told = "processes cannot be traced here";
        assert!(why.stdout.contains(told), "{}", why.stdout);
    });
}
