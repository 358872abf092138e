//! A bucket, behind moto's S3.

use super::server::{Server, python_with_moto};
use super::*;
use tamis::share::{Manifest, Pack};

struct Bucket {
    server: Server,
    python: PathBuf,
}

impl Bucket {
    /// A server with one bucket, known to the project by the usual variables;
    /// says so loudly where there can be none.
    fn start(python: &Python, project: &mut Project) -> Option<Bucket> {
        let python = match python_with_moto(&python.executable()) {
            Ok(python) => python,
            Err(why) => {
                skip(&format!("moto cannot be installed: {why}"));
                return None;
            }
        };
        let server = Server::start(&python, "s3.py", &["serve"], project.world(), &[]);
        let bucket = Bucket { server, python };
        bucket.script(&["make", &bucket.server.url(), "bucket"]);
        let url = bucket.server.url();
        let variables = [
            ("AWS_ENDPOINT_URL", url.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", TOKEN),
        ];
        for (name, value) in variables {
            project.set_env(name, Some(value));
        }
        Some(bucket)
    }

    fn script(&self, arguments: &[&str]) {
        let status = std::process::Command::new(&self.python)
            .arg(python_file("s3.py"))
            .args(arguments)
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    /// The names of all matrices; every pointer must lead to a whole one.
    fn held(&self, project: &Project) -> Vec<String> {
        let folder = tempfile::tempdir_in(project.world()).unwrap();
        let url = self.server.url();
        self.script(&["dump", &url, "bucket", folder.path().to_str().unwrap()]);
        nothing_tells_the_token(&[folder.path().to_owned()]);
        let mut found = Vec::new();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let Some((before, _)) = name.split_once("__pointers__") else {
                continue;
            };
            let mut pack = fs::read(&path).unwrap();
            let matrix = Manifest::decode(&pack).unwrap().matrix;
            let blob = format!("{before}__matrices__{matrix}");
            pack.extend(fs::read(folder.path().join(blob)).unwrap());
            Pack::decode(&pack).unwrap();
            found.push(matrix);
        }
        found.sort();
        found
    }
}

#[test]
fn a_fresh_machine_uses_what_main_recorded() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: s3://bucket/some/prefix\n");
        let Some(bucket) = Bucket::start(python, &mut project) else {
            return;
        };
        serves_a_fresh_machine(&mut project, on_main, |_| {});
        assert_eq!(bucket.held(&project).len(), 2);
        nothing_tells_the_token(&[project.root().join(".tamis")]);

        // A store that is away, one that is not there, and one without a key.
        for (name, value, said) in [
            ("AWS_ENDPOINT_URL", Some("http://127.0.0.1:9"), "reached"),
            ("TAMIS_SHARED_STORE", Some("s3://none/x"), ""),
        ] {
            project.set_env(name, value);
            forget(&mut project);
            let run = project.run();
            assert_eq!((run.code, run.outcomes.len()), (0, 2), "{}", run.stderr);
            let told = run.told();
            assert_eq!(told.matches("\"fallback\"").count(), 1, "{told}");
            assert!(told.contains(said), "{told}");
            assert!(!run.stderr.contains(TOKEN), "{}", run.stderr);
            let url = bucket.server.url();
            project.set_env("AWS_ENDPOINT_URL", Some(&url));
        }
    });
}

#[test]
fn many_writers_lose_nothing() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, "shared-store: s3://bucket\n");
        let Some(bucket) = Bucket::start(python, &mut project) else {
            return;
        };
        on_main(&mut project);
        let mut names = matrices(&project, 64);
        push_at_once(&project, &names);
        push_at_once(&project, &vec![names[0].clone(); 64]);
        names.sort();
        assert_eq!(bucket.held(&project), names);
    });
}
