//! Files outside every list of tests: which of them start a job, and that none hides a test.

use serde_json::Value;

use crate::harness::{Project, Python, Wanted, on_all_interpreters};

const FILES: &str = r#"
-- tamis.yml --
version: 1
-- pyproject.toml --
[project]
name = "demo"
version = "1"
[tool.pytest.ini_options]
testpaths = ["tests"]
-- README.md --
read
-- LICENSE --
free
-- uv.lock --
version = 1
-- docs/index.rst --
words
-- docs/conf.py --
project = "demo"
-- examples/test_shown.py --
def test_shown():
    pass
-- tests/notes.txt --
nobody reads this
-- tests/helper.py --
def help_out():
    return 1
-- tests/test_a.py --
def test_a():
    from helper import help_out
    assert help_out
-- shared/empty.txt --
-- links/unused.txt --
"#;

const COMMAND: [&str; 5] = ["--", "python", "-m", "pytest", "-q"];

fn on_newest(check: impl Fn(&Python)) {
    on_all_interpreters(Wanted::Newest, |python| check(python));
}

/// The mode, and on how many of four machines tests run.
fn jobs_with(project: &Project, options: &[&str], command: &[&str]) -> (String, usize) {
    let out = ["select", "--json", "--out", ".tamis/out", "--shards", "4"];
    let done = project.tamis(&[&out[..], options, command].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr);
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    let mode = told["mode"].as_str().unwrap().to_owned();
    match mode.as_str() {
        "none" => (mode, 0),
        _ => (mode, told["shards"]["of"].as_u64().unwrap() as usize),
    }
}

fn jobs(project: &Project) -> (String, usize) {
    jobs_with(project, &["--here"], &COMMAND)
}

fn none() -> (String, usize) {
    ("none".to_owned(), 0)
}

fn some(jobs: usize) -> (String, usize) {
    ("subset".to_owned(), jobs)
}

fn run(project: &mut Project, command: &[&str]) -> Vec<String> {
    let run = project.run_with(command);
    assert_eq!(run.code, 0, "{}", run.stderr);
    run.outcomes.into_keys().collect()
}

/// Checks the project after this change, and reverts it.
fn with(project: &mut Project, path: &str, text: &str, check: impl Fn(&mut Project)) {
    let before = project.path(path).exists().then(|| project.read(path));
    project.write(path, text);
    project.commit("change");
    check(project);
    match before {
        Some(text) => project.write(path, &text),
        None => project.delete(path),
    }
    project.commit("back");
}

#[test]
fn documentation_starts_nothing_and_new_tests_start_what_they_need() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        assert_eq!(run(&mut project, &COMMAND), ["tests/test_a.py::test_a"]);
        let pyproject = project
            .read("pyproject.toml")
            .replace("version = \"1\"", "version = \"2\"");
        for (path, text) in [
            ("README.md", "other\n"),
            ("LICENSE", "other\n"),
            ("uv.lock", "version = 2\n"),
            ("docs/index.rst", "other\n"),
            ("docs/conf.py", "project = 'other'\n"),
            (
                "examples/test_shown.py",
                "def test_shown():\n    assert 1\n",
            ),
            ("tests/notes.txt", "other\n"),
            ("pyproject.toml", &pyproject),
            ("docs/new.md", "new\n"),
            ("docs/test_new.txt", ">>> 1 + 1\n2\n"),
            ("examples/test_new.py", "def test_new():\n    pass\n"),
            ("tests/data.json", "{}\n"),
            ("tests/other_helper.py", "X = 1\n"),
        ] {
            with(&mut project, path, text, |project| {
                assert_eq!(jobs(project), none(), "{path}");
                // Only the test step can see installed packages: one job checks them.
                let elsewhere = jobs_with(project, &[], &COMMAND);
                assert_eq!(elsewhere, some(1), "{path}");
            });
        }
        for (path, text, found) in [
            (
                "tests/test_new.py",
                "def test_new():\n    pass\n",
                &["tests/test_new.py::test_new"][..],
            ),
            (
                "tests/deep/test_new.txt",
                ">>> 1 + 1\n2\n",
                &["tests/deep/test_new.txt::test_new.txt"],
            ),
            ("docs/conftest.py", "", &[]),
        ] {
            with(&mut project, path, text, |project| {
                assert_eq!(jobs(project), some(1), "{path}");
                assert_eq!(run(project, &COMMAND), found, "{path}");
            });
        }
    });
}

#[test]
fn many_new_files_are_divided() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        run(&mut project, &COMMAND);
        for at in 0..3 {
            let text = "def test_new():\n    pass\n";
            project.write(&format!("tests/test_new_{at}.py"), text);
        }
        project.commit("new");
        assert_eq!(jobs(&project), some(3));
        let parts = crate::ci::run_parts(&mut project, 3);
        assert!(parts.iter().all(|part| part.len() == 1), "{parts:?}");
        assert_eq!(crate::ci::whole(&parts).len(), 3);
    });
}

/// A link among the tests may lead to something new elsewhere.
#[test]
fn links_among_the_tests_count() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        run(&mut project, &COMMAND);
        let text = "def test_linked():\n    pass\n";
        with(&mut project, "shared/test_s.py", text, |project| {
            assert_eq!(jobs(project), none());
        });
        project.symlink("tests/linked", "../shared");
        project.commit("link");
        assert_eq!(jobs(&project), some(1));
        run(&mut project, &COMMAND);
        with(&mut project, "shared/test_s.py", text, |project| {
            assert_eq!(jobs(project), some(1));
            let found = run(project, &COMMAND);
            assert_eq!(found, ["tests/linked/test_s.py::test_linked"]);
        });
    });
}

/// Takes each `.yml` with this text for a test file.
const COLLECTS: &str = r#"
import pytest

class Item(pytest.Item):
    def runtest(self):
        pass

class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name="it")

def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".yml" and "test" in file_path.read_text():
        return File.from_parent(parent, path=file_path)
"#;

#[test]
fn files_that_a_hook_takes_or_looks_into_count() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        project.write("tests/conftest.py", COLLECTS);
        project.write("tests/taken.yml", "test: 1\n");
        project.write("tests/refused.yml", "other: 1\n");
        project.commit("hook");
        let found = run(&mut project, &COMMAND);
        assert_eq!(found, ["tests/taken.yml::it", "tests/test_a.py::test_a"]);
        for path in ["README.md", "uv.lock", "tests/notes.txt"] {
            with(&mut project, path, "other\n", |project| {
                assert_eq!(jobs(project), none(), "{path}");
            });
        }
        for path in ["tests/refused.yml", "tests/new.yml"] {
            with(&mut project, path, "test: 1\n", |project| {
                assert_ne!(jobs(project), none(), "{path}");
                let ran = run(project, &COMMAND);
                assert!(ran.contains(&format!("{path}::it")), "{ran:?}");
            });
        }
    });
}

/// Files that are not pytest's own can tell it to collect tests.
#[test]
fn files_that_say_what_to_collect_count() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        project.write("more/test_more.py", "def test_more():\n    pass\n");
        project.write(
            "run.py",
            "import pytest, sys\nsys.exit(pytest.main(['-q', 'tests']))\n",
        );
        project.write("ci/own.ini", "[pytest]\naddopts = -q\ntestpaths = tests\n");
        project.commit("more");
        let script = ["--", "python", "run.py"];
        run(&mut project, &script);
        with(&mut project, "README.md", "other\n", |project| {
            assert_eq!(jobs_with(project, &["--here"], &script), some(1));
        });
        let own = [
            "--",
            "python",
            "-m",
            "pytest",
            "-c",
            "ci/own.ini",
            "--rootdir",
            ".",
        ];
        let found = run(&mut project, &own);
        assert_eq!(jobs_with(&project, &["--here"], &own), none(), "{found:?}");
        let text = "[pytest]\naddopts = -q -p no:cacheprovider\ntestpaths = tests more\n";
        with(&mut project, "ci/own.ini", text, |project| {
            assert_ne!(jobs_with(project, &["--here"], &own), none());
            let ran = run(project, &own);
            assert!(
                ran.contains(&"tests/test_a.py::test_a".to_owned()),
                "{ran:?}"
            );
        });
        // Arguments from a file, from pytest 8.2 on.
        project.write("words.txt", "tests\n");
        project.commit("words");
        let words = ["--", "python", "-m", "pytest", "@words.txt"];
        run(&mut project, &words);
        with(&mut project, "words.txt", "tests\nmore\n", |project| {
            assert_eq!(jobs_with(project, &["--here"], &words), some(1));
            assert_eq!(run(project, &words), ["more/test_more.py::test_more"]);
        });
    });
}

/// Ways to new tests without a new file or a test's file name.
#[test]
fn tests_that_come_by_other_ways_count() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        let text = "[project]\nname = 'demo'\nversion = '1'\n[tool.pytest.ini_options]\n\
                    python_files = ['tests/test_*.py', 'test_*.py']\naddopts = '@words.txt'\n";
        project.write("pyproject.toml", text);
        project.write("words.txt", "tests\n");
        project.write("more/test_more.py", "def test_more():\n    pass\n");
        project.commit("words in the configuration");
        run(&mut project, &COMMAND);
        // From pytest 8.2 on.
        with(&mut project, "words.txt", "tests\nmore\n", |project| {
            assert_ne!(jobs(project), none());
            assert_eq!(run(project, &COMMAND), ["more/test_more.py::test_more"]);
        });
        project.write(
            "pyproject.toml",
            &text.replace("addopts = '@words.txt'\n", ""),
        );
        project.write("old/pyvenv.cfg", "");
        project.write("old/test_old.py", "def test_old():\n    pass\n");
        project.symlink("tests/test_link.py", "nowhere.py");
        project.commit("links and environments");
        run(&mut project, &COMMAND);
        let test = "def test_new():\n    pass\n";
        // In a pattern with a path, `*` also matches folders.
        with(&mut project, "tests/test_unit/helper.py", test, |project| {
            assert_ne!(jobs(project), none());
            assert_eq!(
                run(project, &COMMAND),
                ["tests/test_unit/helper.py::test_new"]
            );
        });
        with(&mut project, "tests/nowhere.py", test, |project| {
            assert_ne!(jobs(project), none());
            assert_eq!(run(project, &COMMAND), ["tests/test_link.py::test_new"]);
        });
        project.delete("old/pyvenv.cfg");
        project.commit("no environment any more");
        assert_ne!(jobs(&project), none());
        assert_eq!(run(&mut project, &COMMAND), ["old/test_old.py::test_old"]);
    });
}

/// In another folder the same command finds other tests.
#[test]
fn the_folder_of_the_command_counts() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        project.delete("pyproject.toml");
        project.commit("no testpaths");
        let command = ["--", "python", "-m", "pytest", "-q"];
        project.cwd = "tests".to_owned();
        assert_eq!(run(&mut project, &command), ["tests/test_a.py::test_a"]);
        assert!(run(&mut project, &command).is_empty());
        project.cwd = String::new();
        assert_eq!(
            run(&mut project, &command),
            ["examples/test_shown.py::test_shown"]
        );
    });
}

/// A run with nothing to do prints one line, or two if pytest must start.
#[test]
fn nothing_to_do_takes_two_lines_at_most() {
    on_newest(|python| {
        let mut project = Project::new(python, FILES);
        run(&mut project, &COMMAND);
        let told = |project: &Project, command: &[&str]| {
            let done = project.tamis(&[&["run"], command].concat());
            assert_eq!(done.code(), 0, "{}", done.stderr);
            let ours = done
                .stderr
                .lines()
                .filter(|line| line.starts_with("tamis: "));
            ours.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            told(&project, &COMMAND),
            ["tamis: nothing selected of 1 test: no change can affect a test"]
        );
        let lines = told(&project, &[&COMMAND[..], &["-x"]].concat());
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(
            lines[0],
            "tamis: 0 of 1 test selected: no known test has to run, but whether the options of \
             the test command are the same is known only when the tests start"
        );
        assert!(lines[1].starts_with("tamis: 0 tests ran in "), "{lines:?}");
        assert!(lines[1].contains("1 left out on proof"), "{lines:?}");
    });
}
