//! GitLab's generic packages, behind a server that follows its documentation.

use super::server::Server;
use super::*;
use tamis::exposed::share::Pack;

fn on_gitlab(project: &mut Project) {
    let variables = [
        ("GITLAB_CI", "true"),
        ("CI_PROJECT_PATH", "o/r"),
        ("CI_PROJECT_ID", "7"),
        ("CI_PIPELINE_SOURCE", "push"),
        ("CI_COMMIT_REF_NAME", "main"),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_JOB_TOKEN", TOKEN),
    ];
    for (name, value) in variables {
        project.set_env(name, Some(value));
    }
}

fn start(python: &Python, project: &mut Project) -> (Server, PathBuf) {
    let folder = project.world().join("gitlab");
    fs::create_dir_all(&folder).unwrap();
    let before = [folder.to_str().unwrap()];
    let python = python.executable();
    let server = Server::start(&python, "gitlab.py", &before, project.world(), &[TOKEN]);
    let api = format!("{}/api/v4", server.url());
    project.set_env("CI_API_V4_URL", Some(&api));
    (server, folder)
}

/// The packs on the server.
fn held(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.to_str().unwrap().contains('@'))
        .collect()
}

#[test]
fn a_fresh_machine_uses_what_main_recorded() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: gitlab\n");
        let (_server, folder) = start(python, &mut project);
        serves_a_fresh_machine(&mut project, on_gitlab, |_| {});
        let log = fs::read_to_string(folder.join("requests.log")).unwrap();
        for line in log.lines() {
            assert_eq!(line.contains(" files "), line.ends_with("plain"), "{line}");
        }
        nothing_tells_the_token(&[project.root().join(".tamis")]);
        nothing_tells_the_token(&held(&folder));

        // Somebody uploads another pack under the same version.
        let packs = held(&folder);
        assert_eq!(packs.len(), 2);
        fs::copy(&packs[0], &packs[1]).unwrap();
        fs::write(&packs[0], b"nonsense").unwrap();
        forget(&mut project);
        let run = project.run();
        for word in ["2 damaged files", "version ", "package registry"] {
            assert!(run.told().contains(word), "{word}: {}", run.stderr);
        }
        assert_eq!(run.outcomes.len(), 2);

        // The token is no longer valid.
        project.set_env("CI_JOB_TOKEN", Some("another-token"));
        forget(&mut project);
        let run = project.run();
        assert_eq!((run.code, run.outcomes.len()), (0, 2), "{}", run.stderr);
        assert!(run.told().contains("refused"), "{}", run.stderr);
        assert!(!run.stderr.contains("another-token"), "{}", run.stderr);
    });
}

#[test]
fn many_writers_lose_nothing() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: gitlab\n");
        let (_server, folder) = start(python, &mut project);
        on_gitlab(&mut project);
        let names = matrices(&project, 64);
        push_at_once(&project, &names);
        push_at_once(&project, &vec![names[0].clone(); 64]);
        let packs = held(&folder);
        assert_eq!(packs.len(), 64);
        for pack in packs {
            Pack::decode(&fs::read(pack).unwrap()).unwrap();
        }
    });
}
