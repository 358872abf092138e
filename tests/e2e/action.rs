//! The scripts of the GitHub action: which program they install, and that they never use a
//! file with another checksum.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::harness::{Project, Wanted, on_all_interpreters, on_github, steps};

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// Replaces the download: copies the file from the release folder.
const CURL: &str = "#!/bin/sh\n\
    while [ $# -gt 1 ]; do case $1 in --output) out=$2; shift;; esac; shift; done\n\
    echo \"$1\" >>\"$RELEASE/asked\"\n\
    cp \"$RELEASE/$(basename \"$1\")\" \"$out\"\n";

/// A copy of the action, a release, and a runner.
struct World {
    folder: tempfile::TempDir,
    /// The name of the release's file for this machine.
    name: String,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let machine = Command::new("uname").arg("-m").output().unwrap().stdout;
        let machine = String::from_utf8(machine).unwrap();
        let world = World {
            folder,
            name: format!("tamis-9.9.9-{}-unknown-linux-gnu", machine.trim()),
        };
        for part in ["tamis/action", "tamis/.ci", "bin", "release", "runner"] {
            fs::create_dir_all(world.path(part)).unwrap();
        }
        for script in ["action/install", "action/checksums.txt", ".ci/checksums"] {
            let from = Path::new(TOP).join(script);
            fs::copy(from, world.path("tamis").join(script)).unwrap();
        }
        world.program("bin/curl", CURL);
        world.program(
            &format!("release/{}", world.name),
            "#!/bin/sh\necho tamis 9.9.9\n",
        );
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn add_checksums(&self, files: &[&str]) -> String {
        let files = files.iter().map(|file| self.path("release").join(file));
        let done = Command::new(self.path("tamis/.ci/checksums"))
            .args(files)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        fs::read_to_string(self.path("tamis/action/checksums.txt")).unwrap()
    }

    /// Runs the step; returns what it installed, if anything.
    fn install(&self, binary: &str) -> (Output, Option<String>) {
        let _ = fs::remove_dir_all(self.path("runner"));
        fs::create_dir(self.path("runner")).unwrap();
        let done = self.call("put", binary);
        let installed = fs::read_to_string(self.path("runner/tamis-bin/tamis")).ok();
        (done, installed)
    }

    fn call(&self, what: &str, binary: &str) -> Output {
        // No cargo: everything on this machine except cargo.
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        Command::new("bash")
            .arg(self.path("tamis/action/install"))
            .arg(what)
            .env_clear()
            .env("PATH", path)
            .env("RELEASE", self.path("release"))
            .env("RUNNER_TEMP", self.path("runner"))
            .env("GITHUB_PATH", self.path("runner/path"))
            .env("GITHUB_OUTPUT", self.path("runner/output"))
            .env("GITHUB_SERVER_URL", "https://github.example")
            .env("TAMIS_ACTION_BINARY", binary)
            .env("TAMIS_ACTION_VERSION", "9.9.9")
            .env("TAMIS_ACTION_REPOSITORY", "o/tamis")
            .env("TAMIS_ACTION_PATH", self.path("tamis"))
            .output()
            .unwrap()
    }
}

#[test]
fn a_release_is_installed_if_its_checksum_is_the_known_one() {
    let world = World::new();
    let (done, installed) = world.install("");
    assert!(
        !done.status.success() && installed.is_none(),
        "no release is known: {done:?}"
    );
    let list = world.add_checksums(&[&world.name]);
    assert!(list.starts_with('#') && list.lines().count() == 2, "{list}");
    let (done, installed) = world.install("");
    assert!(done.status.success(), "{done:?}");
    assert!(installed.unwrap().contains("9.9.9"));
    let bin = fs::read_to_string(world.path("runner/path")).unwrap();
    assert!(bin.trim().ends_with("runner/tamis-bin"), "{bin}");
    let asked = fs::read_to_string(world.path("release/asked")).unwrap();
    let wanted = "https://github.example/o/tamis/releases/download/v9.9.9/";
    assert_eq!(asked.trim(), format!("{wanted}{}", world.name));
}

#[test]
fn another_file_under_its_name_is_never_used() {
    let world = World::new();
    world.add_checksums(&[&world.name]);
    world.program(&format!("release/{}", world.name), "#!/bin/sh\necho evil\n");
    let (done, installed) = world.install("");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(!done.status.success() && installed.is_none(), "{done:?}");
    assert!(
        said.contains("is not the file that action/checksums.txt names"),
        "{said}"
    );
    assert!(!said.contains("\nevil"), "{said}");
    fs::remove_file(world.path(&format!("release/{}", world.name))).unwrap();
    let (done, installed) = world.install("");
    assert!(!done.status.success() && installed.is_none(), "{done:?}");
    // A named program needs no release.
    world.program("own", "#!/bin/sh\necho own\n");
    let (done, installed) = world.install(world.path("own").to_str().unwrap());
    assert!(
        done.status.success() && installed.unwrap().contains("own"),
        "{done:?}"
    );
}

/// Runs the steps that start tamis in a mode. Returns their messages; the outputs are kept.
pub fn step(project: &mut Project, mode: &str, inputs: &[(&str, &str)]) -> String {
    let done = steps(project, &[&[("mode", mode)], inputs].concat());
    assert!(done.work.status.success(), "{mode}: {}", done.told);
    done.told
}

const SUITES: &str = "
-- tamis.yml --
version: 1
suites:
  api: {root: api, command: [python, -m, pytest]}
  web: {root: web, command: [python, -m, pytest]}
-- api/lib.py --
def one():
    return 1
-- api/test_api.py --
import lib

def test_one():
    assert lib.one()
-- web/test_web.py --
def test_one():
    pass
";

#[test]
fn the_steps_of_a_workflow_of_several_suites() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, SUITES);
        let select = step(&mut project, "select", &[]);
        assert!(
            select.contains(r#""suite":"api""#) && select.contains(r#""suite":"web""#),
            "{select}"
        );
        for suite in ["api", "web"] {
            let record = step(&mut project, "record", &[("suite", suite), ("shard", "1")]);
            assert!(
                record.contains("1 passed") && !record.contains("2 passed"),
                "{record}"
            );
        }
        step(&mut project, "keep", &[]);
        project.write("api/lib.py", "def one():\n    return 2\n");
        step(&mut project, "select", &[("shards", "4")]);
        let api = step(&mut project, "record", &[("suite", "api"), ("shard", "1")]);
        assert!(api.contains("1 passed"), "{api}");
        // The selection was lost, and with it the list of suites.
        project.delete(".tamis/out");
        let all = step(&mut project, "record", &[("shard", "1")]);
        assert_eq!(all.matches("1 passed").count(), 2, "{all}");
        assert!(all.contains("every test runs"), "{all}");
    });
}

const THREE_FILES: &str = "
-- test_a.py --
def test_one():
    pass
-- test_b.py --
def test_one():
    pass
-- test_c.py --
def test_one():
    pass
";

/// The value of the sample's `matrix:` if the output did not arrive.
fn matrix_without_output() -> serde_json::Value {
    let sample = format!("{TOP}/fixtures/ci/sample/.github/workflows/tests.yml");
    let sample = fs::read_to_string(sample).unwrap();
    let (_, rest) = sample
        .split_once("fromJSON(needs.select.outputs.matrix || '")
        .unwrap();
    serde_json::from_str(rest.split_once('\'').unwrap().0).unwrap()
}

/// GitHub drops an output that looks like a secret, or an upload fails. The selection that
/// arrives may still be divided.
#[test]
fn a_lost_matrix_leaves_no_part_out() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, THREE_FILES);
        let jobs = matrix_without_output();
        let jobs = jobs["include"].as_array().unwrap();
        assert_eq!(jobs.len(), 1, "{jobs:?}");
        let shard = jobs[0]["shard"].as_str().unwrap().to_owned();
        // First nothing is known, then three files are, then one is selected.
        for (round, wanted) in ["3 passed", "3 passed", "1 passed"].iter().enumerate() {
            let strategy = if round < 2 { "all" } else { "" };
            let command = ("command", "python -m pytest");
            let inputs = [command, ("shards", "4"), ("strategy", strategy)];
            let select = step(&mut project, "select", &inputs);
            assert!(select.contains(r#""shard":1"#), "{select}");
            let record = step(&mut project, "record", &[command, ("shard", &shard)]);
            assert!(record.contains(wanted), "{record}");
            let edit = format!("def test_one():\n    assert {round} < 9\n");
            project.write("test_c.py", &edit);
        }
    });
}

/// `command` has several lines, as `|` in YAML gives them, with quotes and with parts that a
/// shell would evaluate.
#[test]
fn the_command_is_words_and_nothing_is_evaluated() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, THREE_FILES);
        let command = "python -m pytest\n--ignore=test_b.py\n  -q \\\n -k 'not (b or c)' # no\n";
        let inputs = [("command", command), ("shard", "")];
        let record = step(&mut project, "record", &inputs);
        assert!(record.contains("1 passed, 1 deselected"), "{record}");
        let evil = "python -m pytest --junitxml=$(touch${IFS}made) -q `touch made` ; touch made";
        for command in [evil, "pytest -k 'not slow", "pytest \"a b"] {
            let inputs = [("mode", "record"), ("command", command)];
            let done = steps(&mut project, &inputs);
            assert!(!done.work.status.success(), "{command}: {}", done.told);
            let said_so = "::error title=tamis::`command` ends within a quote";
            assert_eq!(
                done.told.contains(said_so),
                command != evil,
                "{}",
                done.told
            );
        }
        assert!(!project.root().join("made").exists());
    });
}

/// A switch with another spelling is on. One that cannot be read is not `false`.
#[test]
fn switches_are_yamls() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, THREE_FILES);
        let command = ("command", "python -m pytest");
        step(&mut project, "run", &[command]);
        for (here, wanted) in [("TRUE", "none"), ("Yes", "none"), ("off", "all")] {
            let told = step(&mut project, "select", &[command, ("here", here)]);
            let mode = told.contains(&format!("\n{wanted}\n"));
            assert!(
                mode || wanted == "all" && told.contains("selected"),
                "{here}: {told}"
            );
        }
        for switch in ["here", "comment"] {
            let inputs = [("mode", "select"), command, (switch, "ja")];
            let done = steps(&mut project, &inputs);
            let said = format!("::error title=tamis::`{switch}` is `ja`");
            assert!(
                !done.work.status.success() && done.told.contains(&said),
                "{}",
                done.told
            );
        }
    });
}

/// Only these steps get the token, and only if they need it.
#[test]
fn steps_with_the_token_start_no_tests() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, THREE_FILES);
        let command = ("command", "python -m pytest");
        let mut names = |mode, more: &[(&str, &str)]| {
            let inputs = [&[("mode", mode), command, ("token", "ghs_none")], more].concat();
            steps(&mut project, &inputs).names
        };
        let fetch = "Ask for shared results and history";
        assert_eq!(names("run", &[]), [fetch, "tamis"]);
        assert_eq!(names("select", &[]), [fetch, "tamis"]);
        let all = [fetch, "tamis", "Say it on the pull request"];
        assert_eq!(names("select", &[("comment", "Yes")]), all);
        assert_eq!(names("record", &[]), ["tamis"]);
        assert_eq!(names("keep", &[]), ["tamis"]);
        let text = fs::read_to_string(format!("{TOP}/action.yml")).unwrap();
        let (_, runs) = text.split_once("\nruns:").unwrap();
        assert_eq!(runs.matches("${{ inputs.token }}").count(), 2);
    });
}

/// Until there is a release, a program that cargo built is not built again.
#[test]
fn what_was_built_is_taken_again() {
    let world = World::new();
    let cargo = "#!/bin/sh\necho built >>\"$RELEASE/builds\"\n\
        while [ $# -gt 1 ]; do case $1 in --root) root=$2; shift;; esac; shift; done\n\
        mkdir -p \"$2/bin\"; printf '#!/bin/sh\\necho tamis built\\n' >\"$2/bin/tamis\"\n\
        chmod +x \"$2/bin/tamis\"\n";
    world.program(
        "bin/cargo",
        &cargo
            .replace("$2", "$root")
            .replace("root=$root", "root=$2"),
    );
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "src/main.rs",
        "agents/a.py",
    ] {
        let path = world.path("tamis").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "one").unwrap();
    }
    let builds =
        || fs::read_to_string(world.path("release/builds")).map_or(0, |text| text.lines().count());
    let key = |binary: &str| {
        let _ = fs::remove_file(world.path("runner/output"));
        let done = world.call("look", binary);
        assert!(done.status.success(), "{done:?}");
        fs::read_to_string(world.path("runner/output")).unwrap_or_default()
    };
    let (done, installed) = world.install("");
    assert!(
        done.status.success() && installed.unwrap().contains("built"),
        "{done:?}"
    );
    assert_eq!(builds(), 1);
    let first = key("");
    assert!(first.starts_with("build=tamis-build-1-Linux-"), "{first}");
    assert_eq!(key(""), first);
    // The cache restores files to cargo's place.
    assert!(world.call("put", "").status.success());
    assert_eq!(builds(), 1);
    fs::write(world.path("tamis/src/main.rs"), "two").unwrap();
    assert_ne!(key(""), first);
    assert_eq!(key("/own/program"), "");
    world.add_checksums(&[&world.name]);
    assert_eq!(key(""), "");
}

/// If the upload of the selection's folder fails, the matrix must be lost as well: another
/// attempt may have left a selection with other parts.
#[test]
fn a_matrix_is_told_only_with_its_selection() {
    let text = fs::read_to_string(format!("{TOP}/action.yml")).unwrap();
    let value = |output: &str| {
        let (_, rest) = text.split_once(&format!("\n  {output}:\n")).unwrap();
        let line = rest.lines().find(|line| line.contains("value:"));
        line.unwrap().trim().to_owned()
    };
    for output in ["matrix", "suites"] {
        let wanted = format!(
            "value: ${{{{ steps.handed-on.outcome == 'success' && steps.tamis.outputs.{output} || '' }}}}"
        );
        assert_eq!(value(output), wanted);
    }
    let (_, step) = text.split_once("id: handed-on\n").unwrap();
    let step = step.split("\n\n").next().unwrap();
    assert!(step.contains("name: tamis-selection"), "{step}");
}

/// Each suite has its own artifact, and a job uploads four.
#[test]
fn the_results_of_several_suites_are_handed_on() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = Project::new(python, SUITES);
        let yaml = project.read("tamis.yml") + "shared-store: github\n";
        project.write("tamis.yml", &yaml);
        project.commit("shared store");
        let main = r#"{"repository": {"default_branch": "main"}}"#;
        on_github(&mut project, "push", "refs/heads/main", main);
        project.set_env("GITHUB_REPOSITORY", Some("o/r"));
        project.set_env("GITHUB_RUN_ID", Some("11"));
        // Nobody answers there, and no answer is needed.
        project.set_env("GITHUB_API_URL", Some("http://127.0.0.1:9"));
        step(&mut project, "record", &[("shard", "1")]);
        let told = step(&mut project, "keep", &[]);
        let name = |told: &str, number: u32| {
            let begin = format!("pack-{number}=tamis-");
            let line = told.lines().find(|line| line.starts_with(&begin));
            line.map(|line| line[begin.len()..].to_owned())
        };
        assert!(name(&told, 1).unwrap().starts_with("api-"), "{told}");
        assert!(name(&told, 2).unwrap().starts_with("web-"), "{told}");
        assert_eq!(name(&told, 3), None);
        let pack = |number: u32| project.path(&format!(".tamis/handed-on/{number}/tamis.pack"));
        assert_ne!(fs::read(pack(1)).unwrap(), fs::read(pack(2)).unwrap());
        // One of the suites, in its own job.
        let told = step(&mut project, "keep", &[("suite", "web")]);
        assert!(name(&told, 1).unwrap().starts_with("web-"), "{told}");
        assert_eq!(name(&told, 2), None);
        // More suites than a job uploads.
        for suite in ["more-1", "more-2", "more-3"] {
            project.write(
                &format!(".tamis/upload/{suite}/artifact-name"),
                "tamis-more\n",
            );
            project.write(&format!(".tamis/upload/{suite}/tamis.pack"), "a pack");
        }
        let told = step(&mut project, "keep", &[]);
        assert!(
            name(&told, 4).is_some() && name(&told, 5).is_none(),
            "{told}"
        );
        assert!(
            told.contains("::warning title=tamis::the results of 1 of 5 suites"),
            "{told}"
        );
    });
}

/// GitHub evaluates every text of this file, and stops at a name that is invalid in that
/// place.
#[test]
fn descriptions_hold_no_expressions() {
    let text = fs::read_to_string(format!("{TOP}/action.yml")).unwrap();
    let (about, _) = text.split_once("\noutputs:").unwrap();
    assert!(
        about.contains("inputs:") && !about.contains("${{"),
        "{about}"
    );
    let mut descriptions = text.lines().filter(|line| line.contains("description:"));
    assert!(descriptions.all(|line| !line.contains("${{")));
}

#[test]
fn checksums_of_other_releases_stay() {
    let world = World::new();
    for name in ["tamis-1.0.0-a", "tamis-1.0.0-b", "tamis-2.0.0-a"] {
        fs::write(world.path("release").join(name), name).unwrap();
    }
    world.add_checksums(&["tamis-1.0.0-b", "tamis-1.0.0-a"]);
    let list = world.add_checksums(&["tamis-2.0.0-a"]);
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split("  ").nth(1))
        .collect();
    assert_eq!(names, ["tamis-1.0.0-a", "tamis-1.0.0-b", "tamis-2.0.0-a"]);
    fs::write(world.path("release/tamis-1.0.0-a"), "built again").unwrap();
    let again = world.add_checksums(&["tamis-1.0.0-a"]);
    assert_eq!(again.lines().count(), list.lines().count());
    assert_ne!(again, list);
}

/// The last step of a release, with real git and a replacement for `gh`: the tag has an action
/// that installs exactly the files of the release.
#[test]
fn a_release_is_tagged_with_its_checksums() {
    let world = World::new();
    fs::copy(
        format!("{TOP}/.ci/publish"),
        world.path("tamis/.ci/publish"),
    )
    .unwrap();
    fs::create_dir(world.path("tamis/dist")).unwrap();
    world.program(
        "bin/gh",
        "#!/bin/sh\nprintf '%s\\n' \"$*\" >>\"$RELEASE/gh\"\n",
    );
    let git = |arguments: &[&str]| {
        let author = ["-c", "user.name=o", "-c", "user.email=o@example.com"];
        let done = Command::new("git")
            .args(author)
            .args(arguments)
            .current_dir(world.path("tamis"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let publish = || {
        let path = format!(
            "{}:{}",
            world.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        Command::new(world.path("tamis/.ci/publish"))
            .env("PATH", path)
            .env("RELEASE", world.path("release"))
            .env("VERSION", "9.9.9")
            .env("GITHUB_REPOSITORY", "o/tamis")
            .output()
            .unwrap()
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    fs::write(world.path("tamis/.gitignore"), "dist/\n").unwrap();
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "first"]);
    git(&[
        "init",
        "--quiet",
        "--bare",
        world.path("origin").to_str().unwrap(),
    ]);
    git(&[
        "remote",
        "add",
        "origin",
        world.path("origin").to_str().unwrap(),
    ]);
    git(&["push", "--quiet", "origin", "main"]);
    let names =
        ["x86_64", "aarch64"].map(|machine| format!("tamis-9.9.9-{machine}-unknown-linux-gnu"));
    fs::write(world.path("tamis/dist").join(&names[0]), "x86").unwrap();
    assert!(!publish().status.success(), "one of the files is missing");
    assert!(!world.path("release/gh").exists());
    fs::write(world.path("tamis/dist").join(&names[1]), "arm").unwrap();
    assert!(!publish().status.success(), "the list of parts is missing");
    fs::write(world.path("tamis/dist/tamis-9.9.9.cdx.json"), "{}").unwrap();
    let done = publish();
    assert!(done.status.success(), "{done:?}");
    let list = git(&[
        "--git-dir",
        world.path("origin").to_str().unwrap(),
        "show",
        "v9.9.9:action/checksums.txt",
    ]);
    for name in &names {
        assert_eq!(list.matches(name.as_str()).count(), 1, "{list}");
    }
    let heads = git(&["ls-remote", "--heads", "origin"]);
    assert_eq!(
        heads.lines().count(),
        1,
        "only the tag has the commit: {heads}"
    );
    let first = git(&["rev-parse", "HEAD~1"]);
    assert!(heads.starts_with(first.trim()), "{heads}");
    let asked = fs::read_to_string(world.path("release/gh")).unwrap();
    let create = asked
        .lines()
        .find(|line| line.starts_with("release create v9.9.9 --verify-tag"));
    let create = create.unwrap_or_else(|| panic!("{asked}"));
    assert!(
        [
            "dist/SHA256SUMS",
            "dist/tamis-9.9.9.cdx.json",
            names[1].as_str()
        ]
        .iter()
        .all(|file| create.contains(file)),
        "{create}"
    );
    let sums = fs::read_to_string(world.path("tamis/dist/SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), 3, "{sums}");
    // An existing tag is never moved.
    let again = publish();
    assert!(!again.status.success(), "{again:?}");
}
