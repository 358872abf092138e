//! GitHub's artifacts, behind a server that follows its documentation and breaks on request.

use serde_json::{Value, json};

use super::server::Server;
use super::*;
use crate::action::step;
use tamis::exposed::share::Pack;

pub(super) struct GitHub {
    server: Server,
    folder: PathBuf,
    python: PathBuf,
}

impl GitHub {
    pub(super) fn start(python: &Python, project: &mut Project) -> GitHub {
        let folder = project.world().join("github");
        fs::create_dir_all(&folder).unwrap();
        let github = GitHub {
            server: Server::start(
                &python.executable(),
                "github.py",
                &[folder.to_str().unwrap()],
                project.world(),
                &[],
            ),
            folder,
            python: python.executable(),
        };
        github.set(
            &json!({ "artifacts": [], "runs": {}, "zips": {}, "comments": [], "token": TOKEN }),
        );
        project.set_env("GITHUB_API_URL", Some(&github.server.url()));
        github
    }

    pub(super) fn get(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder.join("state.json")).unwrap()).unwrap()
    }

    pub(super) fn set(&self, state: &Value) {
        let new = self.folder.join("state.new");
        fs::write(&new, state.to_string()).unwrap();
        fs::rename(new, self.folder.join("state.json")).unwrap();
    }

    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    fn mode(&self, mode: &str) {
        let mut state = self.get();
        state["mode"] = mode.into();
        self.set(&state);
    }

    /// Uploads the pack of a run as the upload action does.
    pub(super) fn upload(&self, project: &Project, run: Value) {
        let pack = project.root().join(".tamis/upload/tamis.pack");
        let mut state = self.get();
        let id = 100 + state["artifacts"].as_array().unwrap().len();
        let zip = self.folder.join(format!("{id}.zip"));
        let program = "import sys, zipfile, hashlib\n\
             with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as z:\n\
             \x20   z.write(sys.argv[2], 'tamis.pack')\n\
             print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())";
        let made = std::process::Command::new(&self.python)
            .args(["-c", program])
            .args([&zip, &pack])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let digest = String::from_utf8(made.stdout).unwrap();
        let name = format!("tamis-{}", tamis::exposed::share::slug("pytest", ""));
        let same = run["repository"]["full_name"] == run["head_repository"]["full_name"];
        let row = json!({
            "id": id, "node_id": "x", "name": name, "size_in_bytes": 1000, "url": null,
            "expired": false, "created_at": null, "digest": format!("sha256:{}", digest.trim()),
            "workflow_run": {
                "id": run["id"], "repository_id": 1, "head_repository_id": if same { 1 } else { 2 },
                "head_branch": run["head_branch"], "head_sha": run["head_sha"],
            },
        });
        state["artifacts"].as_array_mut().unwrap().insert(0, row);
        state["zips"][id.to_string()] = zip.to_str().unwrap().into();
        let id = run["id"].to_string();
        state["runs"][id] = run;
        self.set(&state);
    }

    /// The requests since the last call.
    pub(super) fn requests(&self) -> Vec<String> {
        let log = self.folder.join("requests.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(log);
        text.lines().map(str::to_owned).collect()
    }
}

fn head(project: &Project) -> String {
    project.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

pub(super) fn run_of(project: &Project, event: &str, branch: &str, from: &str) -> Value {
    json!({
        "id": 11, "event": event, "path": ".github/workflows/ci.yml", "head_branch": branch,
        "head_sha": head(project), "conclusion": null,
        "repository": { "full_name": "o/r" }, "head_repository": { "full_name": from },
    })
}

#[test]
fn a_fresh_machine_uses_what_main_recorded_with_four_requests() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        // Nothing is there yet: everything runs without a warning.
        serves_a_fresh_machine(&mut project, on_main, |project| {
            github.upload(project, run_of(project, "push", "main", "o/r"));
        });
        github.requests();
        forget(&mut project);
        assert_eq!(left_out(&project), ["test_b.py::test_b"]);
        let requests = github.requests();
        assert_eq!(requests.len(), 4, "{requests:?}");
        let steps: Vec<_> = requests
            .iter()
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        assert_eq!(steps, ["artifacts", "run", "zip", "blob"]);
        assert!(
            requests[..3]
                .iter()
                .all(|line| line.ends_with("authorized")),
            "{requests:?}"
        );
        assert!(
            requests[3].ends_with("plain"),
            "no token for the other host: {requests:?}"
        );
        nothing_tells_the_token(&[project.root().join(".tamis"), github.folder.join("100.zip")]);
    });
}

/// The pack claims to be from main; GitHub tells who wrote it.
#[test]
fn who_wrote_is_what_github_says() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        project.run();
        let mut null = run_of(&project, "push", "main", "o/r");
        null["head_repository"] = Value::Null;
        let mut workflow = run_of(&project, "push", "main", "o/r");
        workflow["path"] = ".github/workflows/evil.yml".into();
        for run in [
            run_of(&project, "pull_request", "main", "o/r"),
            run_of(&project, "push", "topic", "o/r"),
            run_of(&project, "pull_request", "main", "evil/r"),
            run_of(&project, "pull_request_target", "main", "o/r"),
            null,
            workflow,
        ] {
            github.upload(&project, run.clone());
            let upload = project.root().join(".tamis/upload");
            let kept = project.world().join("upload");
            fs::rename(&upload, &kept).unwrap();
            forget(&mut project);
            assert_eq!(left_out(&project).len(), 0, "{run}");
            fs::create_dir_all(project.root().join(".tamis")).unwrap();
            fs::rename(&kept, &upload).unwrap();
        }
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 2, "the true one counts");
    });
}

#[test]
fn a_pull_requests_results_are_its_own() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        project.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let github = GitHub::start(python, &mut project);
        for (pr, from) in [(5, "o/r"), (6, "evil/r")] {
            on_pull(&mut project, pr, from);
            forget(&mut project);
            let run = project.run();
            assert_eq!(run.outcomes.len(), 2, "{}", run.stderr);
            github.upload(&project, run_of(&project, "pull_request", "topic", from));
            forget(&mut project);
            assert_eq!(left_out(&project).len(), 2, "its own");
        }
        on_pull(&mut project, 7, "o/r");
        forget(&mut project);
        assert_eq!(
            left_out(&project).len(),
            0,
            "another one from the same branch"
        );
        on_pull(&mut project, 6, "other/r");
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 0, "another repository");
        on_main(&mut project);
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 0, "main");
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn every_broken_answer_runs_more_and_fails_nothing() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        project.run();
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        let mut modes = Vec::new();
        let answers = [
            "401", "403", "404", "410", "429", "500", "loop", "null", "empty", "html",
        ];
        // Each step and each answer; `.ci/all` tries each answer to each step.
        for (at, what) in answers.into_iter().enumerate() {
            for (number, step) in ["artifacts", "run", "zip", "blob"].into_iter().enumerate() {
                if everything() || number == at % 4 {
                    modes.push(format!("{step}:{what}"));
                }
            }
        }
        let more = [
            "artifacts:large",
            "artifacts:slow",
            "blob:drip",
            "zip:file",
            "zip:nowhere",
        ];
        modes.extend(more.map(str::to_owned));
        for mode in modes {
            github.mode(&mode);
            forget(&mut project);
            let started = std::time::Instant::now();
            let select = project.tamis(&["select", "--json"]);
            // The reliability goal of 30 seconds, and room for a busy machine.
            assert!(started.elapsed().as_secs() < 60, "{mode}");
            assert_eq!(select.code(), 0, "{mode}: {}", select.stderr);
            let json: Value = serde_json::from_str(&select.stdout).unwrap();
            assert_eq!(json["mode"], "all", "{mode}");
            for secret in [TOKEN, "signed-secret"] {
                assert!(!select.stderr.contains(secret), "{mode}: {}", select.stderr);
            }
        }
        // Rows without any field are skipped; the good one is found.
        github.mode("");
        let mut state = github.get();
        let rows = state["artifacts"].as_array_mut().unwrap();
        let name = rows[0]["name"].clone();
        rows.insert(0, Value::Null);
        rows.insert(0, json!({ "name": name, "id": null, "workflow_run": null }));
        rows.insert(
            0,
            json!({ "name": name, "id": 7, "workflow_run": { "id": null } }),
        );
        for id in [json!(-1), json!("7"), json!(1e30), json!([])] {
            rows.insert(0, json!({ "name": name, "id": id, "size_in_bytes": -5 }));
        }
        rows.insert(0, json!(7));
        let mut expired = rows.last().unwrap().clone();
        expired["expired"] = true.into();
        rows.insert(0, expired);
        github.set(&state);
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 2);
        // The archive does not match GitHub's digest.
        let zip = github.folder.join("100.zip");
        let mut bytes = fs::read(&zip).unwrap();
        bytes[40] ^= 1;
        fs::write(&zip, bytes).unwrap();
        forget(&mut project);
        assert_eq!(left_out(&project).len(), 0);
    });
}

/// A pack waiting for the upload, and the uploads of 64 runs for one commit.
#[test]
fn many_writers_of_one_artifact_leave_a_whole_one() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        let names = matrices(&project, 64);
        push_at_once(&project, &names);
        push_at_once(&project, &vec![names[0].clone(); 64]);
        let upload = project.root().join(".tamis/upload");
        let pack = Pack::decode(&fs::read(upload.join("tamis.pack")).unwrap()).unwrap();
        assert_eq!(pack.manifest.matrix, names[0]);
        let files = fs::read_dir(&upload).unwrap().count();
        assert_eq!(files, 2, "the pack and its name");
        // All runs of one commit have the same results; the newest is taken.
        forget(&mut project);
        project.run();
        for _ in 0..64 {
            github.upload(&project, run_of(&project, "push", "main", "o/r"));
        }
        forget(&mut project);
        github.requests();
        assert_eq!(left_out(&project).len(), 2);
        assert_eq!(github.requests().len(), 4);
    });
}

/// A selection with a hostile cause, on a pull request.
fn select_for_a_comment(python: &Python) -> (Project, GitHub) {
    let mut project = project(python, "");
    let github = GitHub::start(python, &mut project);
    project.run();
    edit_a(&mut project, 10);
    project.write("<!-- x -->@everyone.py", "value = 1\n");
    on_pull(&mut project, 5, "o/r");
    select_again(&project);
    (project, github)
}

fn select_again(project: &Project) {
    let done = project.tamis(&["select", "--out", ".tamis/out"]);
    assert_eq!(done.code(), 0, "{}", done.stderr);
}

fn say(project: &Project) -> String {
    let done = project.tamis(&["comment", ".tamis/out", "--json"]);
    assert_eq!(done.code(), 0, "{}", done.stderr);
    assert!(!done.stderr.contains(TOKEN), "{}", done.stderr);
    let warnings = done.stderr.matches("\"warning\"").count();
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        warnings,
        usize::from(said["comment"] == "failed"),
        "{}",
        done.stderr
    );
    said["comment"].as_str().unwrap().to_owned()
}

#[test]
fn one_comment_is_kept_up_to_date() {
    on_all_interpreters(Wanted::Newest, |python| {
        let (mut project, github) = select_for_a_comment(python);
        let mark = "<!-- tamis: selection -->";
        // Comments that look like ours; one comes after a page of other comments.
        let person =
            json!({ "id": 1, "body": format!("{mark}\nnot ours"), "user": { "type": "User" } });
        let mut rows = vec![
            person,
            Value::Null,
            json!({ "id": null, "body": null, "user": null }),
        ];
        rows.extend(
            (0..120).map(|id| json!({ "id": 100 + id, "body": "x", "user": { "type": "Bot" } })),
        );
        let mut state = github.get();
        state["comments"] = rows.into();
        github.set(&state);
        assert_eq!(say(&project), "written");
        let bodies = |wanted: &str| {
            let comments = github.get()["comments"].as_array().unwrap().clone();
            let texts = comments.iter().filter_map(|row| row["body"].as_str());
            let texts = texts
                .filter(|body| body.contains(wanted))
                .map(str::to_owned);
            texts.collect::<Vec<_>>()
        };
        let ours = bodies("tests selected");
        assert_eq!(ours.len(), 1);
        assert!(
            ours[0].starts_with(mark) && ours[0].contains("1 of 2 tests selected"),
            "{ours:?}"
        );
        assert_eq!(ours[0].matches("<!--").count(), 1, "{ours:?}");
        assert!(!ours[0].contains("@everyone"), "{ours:?}");
        assert_eq!(say(&project), "same");
        project.write("b.py", "def value():\n    return 3\n");
        select_again(&project);
        github.requests();
        assert_eq!(say(&project), "replaced");
        assert_eq!(github.requests().len(), 3, "two pages, one change");
        let ours = bodies("tests selected");
        assert_eq!(ours.len(), 1);
        assert!(
            ours[0].contains("2 of 2 tests selected") || ours[0].contains("all tests"),
            "{ours:?}"
        );
        assert_eq!(bodies("not ours").len(), 1);
    });
}

#[test]
fn no_comment_is_written_where_none_may_be() {
    on_all_interpreters(Wanted::Newest, |python| {
        let (mut project, github) = select_for_a_comment(python);
        for mode in [
            "write:403",
            "comments:404",
            "comments:500",
            "comments:null",
            "comments:html",
        ] {
            github.mode(mode);
            assert_eq!(say(&project), "failed", "{mode}");
        }
        github.mode("");
        project.set_env("GITHUB_TOKEN", Some("wrong"));
        assert_eq!(say(&project), "failed");
        project.set_env("GITHUB_TOKEN", None);
        assert_eq!(say(&project), "failed");
        project.set_env("GITHUB_TOKEN", Some(TOKEN));
        github.requests();
        on_pull(&mut project, 5, "evil/r");
        assert_eq!(say(&project), "nothing");
        on_main(&mut project);
        assert_eq!(say(&project), "nothing");
        assert_eq!(github.requests(), [""; 0]);
        assert_eq!(github.get()["comments"], json!([]));
    });
}

#[test]
fn doctor_says_what_the_shared_store_answers() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        let found = |project: &Project| {
            let done = project.tamis(&["doctor", "--json"]);
            assert!(!done.stdout.contains(TOKEN));
            let document: Value = serde_json::from_str(&done.stdout).unwrap();
            let checks = document["checks"].as_array().unwrap().iter();
            let mut own = checks.filter(|check| check["name"] == "shared store");
            let check = own.next().expect("a check").clone();
            let text = check["found"].as_str().unwrap().to_owned();
            (check["state"].as_str().unwrap().to_owned(), text)
        };
        let (state, text) = found(&project);
        assert!(
            state == "ok" && text.ends_with("holds nothing of this suite yet"),
            "{text}"
        );
        assert_eq!(github.requests().len(), 1, "one question");
        project.run();
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        let (state, text) = found(&project);
        assert!(
            state == "ok" && text.ends_with("holds 1 result of this suite"),
            "{text}"
        );
        github.mode("artifacts:403");
        let (state, text) = found(&project);
        assert!(state == "warn" && text.contains("refused"), "{text}");
    });
}

/// The steps of the action, job by job. The first step that needs results asks for them with
/// the token. All others have no token, ask nobody, and print no warning.
#[test]
fn a_job_asks_once_and_no_step_warns() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        project.run();
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        edit_a(&mut project, 2);
        project.commit("edit");
        let command = ("command", "python -m pytest");
        let job = |project: &mut Project, name: &str| {
            // Only the input `token` has it.
            project.set_env("GITHUB_TOKEN", None);
            project.set_env("GITHUB_JOB", Some(name));
            github.requests();
        };
        let quiet = |told: &str| {
            let warned = ["warning:", "::warning"];
            let warned = warned.iter().any(|word| told.contains(word));
            // As a whole word: the marks of GITHUB_OUTPUT are random digits.
            let mut words = told.split(|c: char| !c.is_ascii_alphanumeric());
            assert!(!warned && !words.any(|word| word == "401"), "{told}");
        };
        forget(&mut project);
        job(&mut project, "select");
        let token = ("token", TOKEN);
        let told = step(&mut project, "select", &[command, ("here", "true"), token]);
        quiet(&told);
        assert!(told.contains("mode") && told.contains("selected"), "{told}");
        assert_eq!(github.requests().len(), 4);
        // Another step of this job, without the token.
        quiet(&step(&mut project, "select", &[command, ("here", "true")]));
        assert_eq!(github.requests(), Vec::<String>::new());
        job(&mut project, "tests");
        let told = step(&mut project, "record", &[command]);
        quiet(&told);
        assert!(told.contains("1 passed"), "{told}");
        job(&mut project, "keep");
        let told = step(&mut project, "keep", &[]);
        quiet(&told);
        assert!(told.contains("pack-1=tamis-pytest-"), "{told}");
        assert!(project.path(".tamis/handed-on/1/tamis.pack").is_file());
        assert_eq!(github.requests(), Vec::<String>::new());
        // All in one job.
        forget(&mut project);
        job(&mut project, "all");
        let told = step(&mut project, "run", &[command, token]);
        quiet(&told);
        assert!(
            told.contains("1 passed") && told.contains("pack-1="),
            "{told}"
        );
        assert_eq!(github.requests().len(), 4);
        // In a shallow clone the listing tells how deep it must be, and is enough.
        let remote = super::git::add_origin(&project);
        let shallow = project.path("@outside/shallow");
        let from = format!("file://{}", remote.display());
        let to = shallow.to_str().unwrap().to_owned();
        project.git(&["clone", "--quiet", "--depth=1", &from, &to]);
        project.delete(".git");
        fs::rename(shallow.join(".git"), project.path(".git")).unwrap();
        forget(&mut project);
        job(&mut project, "shallow");
        let told = step(&mut project, "select", &[command, ("here", "true"), token]);
        quiet(&told);
        assert!(told.contains("selected"), "{told}");
        assert_eq!(github.requests().len(), 4);
        // A service that does not answer is asked once, and reported.
        forget(&mut project);
        job(&mut project, "broken");
        github.mode("artifacts:500");
        let told = step(&mut project, "run", &[command, token]);
        assert!(told.contains("2 passed") && told.contains("500"), "{told}");
        assert_eq!(github.requests().len(), 1);
    });
}

/// Useless files are named with the remedy, and the next one is tried.
#[test]
fn damaged_artifacts_are_named() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: github\n");
        let github = GitHub::start(python, &mut project);
        on_main(&mut project);
        project.run();
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        github.upload(&project, run_of(&project, "push", "main", "o/r"));
        fs::write(github.folder.join("101.zip"), "nonsense").unwrap();
        let mut state = github.get();
        let mut row = state["artifacts"][0].clone();
        row["id"] = "seven".into();
        state["artifacts"].as_array_mut().unwrap().push(row);
        github.set(&state);
        forget(&mut project);
        let select = project.tamis(&["select"]);
        let words = [
            "artifact 101 of run 11",
            "row 3 of the list",
            "delete these artifacts",
        ];
        for word in words {
            assert!(select.stderr.contains(word), "{word}: {}", select.stderr);
        }
        assert_eq!(left_out(&project).len(), 2, "the other one counts");
    });
}
