//! Buckets: S3 behind moto, Google Cloud Storage behind a small server of ours. If
//! `TAMIS_E2E_SEAWEEDFS` and `TAMIS_E2E_AZURITE` name their programs (`.ci/services`), also S3
//! behind SeaweedFS and Azure behind Azurite.

use std::io::Write as _;

use futures_util::StreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, parse_url_opts};

use super::server::{Server, python_with_moto};
use super::*;
use tamis::exposed::share::{Manifest, Pack};

/// A replacement for a cloud's file store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Moto,
    Seaweedfs,
    Azurite,
    Gcs,
}

/// Azurite's default account, which its documentation publishes.
const AZURITE: (&str, &str) = (
    "devstoreaccount1",
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
);

impl Service {
    /// Its name and the variable with its program; none for the services of every test run.
    fn program(self) -> Option<(&'static str, &'static str)> {
        match self {
            Service::Moto | Service::Gcs => None,
            Service::Seaweedfs => Some(("seaweedfs", "TAMIS_E2E_SEAWEEDFS")),
            Service::Azurite => Some(("azurite", "TAMIS_E2E_AZURITE")),
        }
    }

    fn url(self, prefix: &str) -> String {
        let scheme = match self {
            Service::Moto | Service::Seaweedfs => "s3",
            Service::Azurite => "az",
            Service::Gcs => "gs",
        };
        format!("{scheme}://bucket{prefix}")
    }

    /// The variables with which a server at `url` is found.
    fn variables(self, url: &str) -> Vec<(&'static str, String)> {
        match self {
            Service::Moto | Service::Seaweedfs => vec![
                ("AWS_ENDPOINT_URL", url.to_owned()),
                ("AWS_ALLOW_HTTP", "true".to_owned()),
                ("AWS_REGION", "us-east-1".to_owned()),
                ("AWS_ACCESS_KEY_ID", "key".to_owned()),
                ("AWS_SECRET_ACCESS_KEY", TOKEN.to_owned()),
            ],
            Service::Azurite => vec![
                ("AZURE_ENDPOINT", format!("{url}/{}", AZURITE.0)),
                ("AZURE_ALLOW_HTTP", "true".to_owned()),
                ("AZURE_STORAGE_ACCOUNT_NAME", AZURITE.0.to_owned()),
                ("AZURE_STORAGE_ACCOUNT_KEY", AZURITE.1.to_owned()),
            ],
            Service::Gcs => vec![
                (
                    "GOOGLE_SERVICE_ACCOUNT_KEY",
                    serde_json::json!({
                        "gcs_base_url": url, "disable_oauth": true, "client_email": "",
                        "private_key": "", "private_key_id": "",
                    })
                    .to_string(),
                ),
                ("GOOGLE_ALLOW_HTTP", "true".to_owned()),
            ],
        }
    }
}

struct Bucket {
    service: Service,
    server: Server,
}

impl Bucket {
    /// A server with one bucket that the project knows by the usual variables. Prints a loud
    /// message if there can be none.
    fn start(service: Service, python: &Python, project: &mut Project) -> Option<Bucket> {
        let server = match service.program() {
            None if service == Service::Gcs => {
                let python = python.executable();
                Server::start(&python, "gcs.py", &[], project.world(), &[])
            }
            None => match python_with_moto(&python.executable()) {
                Ok(python) => {
                    let server = Server::start(&python, "s3.py", &["serve"], project.world(), &[]);
                    let make = std::process::Command::new(&python)
                        .arg(python_file("s3.py"))
                        .args(["make", &server.url(), "bucket"])
                        .status();
                    assert!(make.unwrap().success());
                    server
                }
                Err(why) => {
                    skip(&format!("moto cannot be installed: {why}"));
                    return None;
                }
            },
            Some((word, variable)) => {
                let Some(program) = std::env::var_os(variable) else {
                    let why = format!("{service:?}, for {variable} names no program");
                    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
                    return None;
                };
                let data = project.world().join("service");
                let after = [data.to_str().unwrap(), program.to_str().unwrap()];
                let python = python.executable();
                Server::start(&python, "services.py", &[word], project.world(), &after)
            }
        };
        let bucket = Bucket { service, server };
        bucket.tell(project, &bucket.server.url());
        Some(bucket)
    }

    fn tell(&self, project: &mut Project, url: &str) {
        for (name, value) in self.service.variables(url) {
            project.set_env(name, Some(&value));
        }
    }

    /// All objects, by name.
    fn objects(&self) -> Vec<(String, Vec<u8>)> {
        // The client needs one even without encryption.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = url::Url::parse(&self.service.url("")).unwrap();
        let options = self.service.variables(&self.server.url());
        let options = options
            .into_iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (store, _) = parse_url_opts(&url, options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut listing = store.list(None);
            let mut names: Vec<Key> = Vec::new();
            while let Some(meta) = listing.next().await {
                names.push(meta.unwrap().location);
            }
            let mut found = Vec::new();
            for name in names {
                let bytes = store.get(&name).await.unwrap().bytes().await.unwrap();
                found.push((name.to_string(), bytes.to_vec()));
            }
            found
        })
    }

    /// The names of all matrices; every pointer must lead to a complete one.
    fn held(&self) -> Vec<String> {
        let objects = self.objects();
        let mut found = Vec::new();
        for (name, bytes) in &objects {
            for secret in [TOKEN, AZURITE.1] {
                let is_there = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
                assert!(!is_there, "{name}");
            }
            let Some((before, _)) = name.split_once("/pointers/") else {
                continue;
            };
            let manifest = Manifest::decode(bytes).unwrap();
            let mut pack = bytes.clone();
            let mut add = |name: String| {
                let object = objects.iter().find(|(known, _)| *known == name);
                pack.extend(&object.expect("a pointer leads to what it names").1);
            };
            add(format!("{before}/matrices/{}", manifest.matrix));
            if let Some(attached) = &manifest.dependences {
                add(format!("{before}/dependences/{}", attached.digest));
            }
            Pack::decode(&pack).unwrap();
            found.push(manifest.matrix);
        }
        found.sort();
        found
    }
}

fn a_fresh_machine_uses_what_main_recorded(service: Service) {
    on_all_interpreters(Wanted::Newest, |python| {
        let url = service.url("/some/prefix");
        let mut project = project(python, &format!("shared-store: {url}\n"));
        let Some(bucket) = Bucket::start(service, python, &mut project) else {
            return;
        };
        serves_a_fresh_machine(&mut project, on_main, |_| {});
        assert_eq!(bucket.held().len(), 2);
        nothing_tells_the_token(&[project.root().join(".tamis")]);

        // A store that does not answer, one that does not exist, and a wrong key.
        let away = service.variables("http://127.0.0.1:9");
        let none = service.url("-none/x");
        let none = [("TAMIS_SHARED_STORE", none)];
        let wrong = [("AZURE_STORAGE_ACCOUNT_KEY", "bm8gc3VjaCBrZXk=".to_owned())];
        let checks_keys = service == Service::Azurite;
        let wrong = wrong
            .iter()
            .filter(|_| checks_keys)
            .cloned()
            .collect::<Vec<_>>();
        for (variables, said) in [
            (&away[..], "reached"),
            (&none[..], ""),
            (&wrong[..], "refused"),
        ] {
            if variables.is_empty() {
                continue;
            }
            for (name, value) in variables {
                project.set_env(name, Some(value));
            }
            forget(&mut project);
            let run = project.run();
            assert_eq!((run.code, run.outcomes.len()), (0, 2), "{}", run.stderr);
            let told = run.told();
            assert_eq!(told.matches("\"fallback\"").count(), 1, "{told}");
            assert!(told.contains(said), "{told}");
            for secret in [TOKEN, AZURITE.1, "bm8gc3VjaCBrZXk="] {
                assert!(!run.stderr.contains(secret), "{}", run.stderr);
            }
            project.set_env("TAMIS_SHARED_STORE", None);
            bucket.tell(&mut project, &bucket.server.url());
        }
    });
}

fn many_writers_lose_nothing(service: Service) {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = project(python, &format!("shared-store: {}\n", service.url("")));
        let Some(bucket) = Bucket::start(service, python, &mut project) else {
            return;
        };
        on_main(&mut project);
        let mut names = matrices(&project, 64);
        push_at_once(&project, &names);
        push_at_once(&project, &vec![names[0].clone(); 64]);
        names.sort();
        assert_eq!(bucket.held(), names);
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn s3_of_moto() {
    a_fresh_machine_uses_what_main_recorded(Service::Moto);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn s3_of_moto_many_writers() {
    many_writers_lose_nothing(Service::Moto);
}

#[test]
#[ignore = "needs SeaweedFS: `.ci/services` has it"]
fn s3_of_seaweedfs() {
    a_fresh_machine_uses_what_main_recorded(Service::Seaweedfs);
}

#[test]
#[ignore = "needs SeaweedFS: `.ci/services` has it"]
fn s3_of_seaweedfs_many_writers() {
    many_writers_lose_nothing(Service::Seaweedfs);
}

#[test]
#[ignore = "needs Azurite: `.ci/services` has it"]
fn azure_of_azurite() {
    a_fresh_machine_uses_what_main_recorded(Service::Azurite);
}

#[test]
#[ignore = "needs Azurite: `.ci/services` has it"]
fn azure_of_azurite_many_writers() {
    many_writers_lose_nothing(Service::Azurite);
}

#[test]
fn google() {
    a_fresh_machine_uses_what_main_recorded(Service::Gcs);
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn google_many_writers() {
    many_writers_lose_nothing(Service::Gcs);
}

/// Useless files are named with the remedy.
#[test]
fn damaged_files_are_named() {
    on_all_interpreters(Wanted::Newest, |python| {
        let url = Service::Gcs.url("/p");
        let mut project = project(python, &format!("shared-store: {url}\n"));
        let Some(bucket) = Bucket::start(Service::Gcs, python, &mut project) else {
            return;
        };
        on_main(&mut project);
        project.run();
        let objects = bucket.objects();
        let is_pointer = |(name, _): &&(String, Vec<u8>)| name.contains("/pointers/");
        let (pointer, manifest) = objects.iter().find(is_pointer).unwrap();
        let (matrix, content) = objects.iter().find(|it| !is_pointer(it)).unwrap();
        let name = pointer.rsplit('/').next().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let program = "import sys, urllib.request as u\n\
                u.urlopen(u.Request(sys.argv[1], bytes.fromhex(sys.argv[2]), method='PUT'))";
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let place = format!("{}/bucket/{name}", bucket.server.url());
            let python = python.executable();
            let done = std::process::Command::new(python)
                .args(["-c", program, &place, &hex])
                .status();
            assert!(done.unwrap().success());
        };
        let folder = &pointer[..pointer.len() - name.len()];
        put(&format!("{folder}notes.txt"), b"x");
        for (place, whole) in [(pointer, manifest), (matrix, content)] {
            put(place, &whole[..whole.len() / 2]);
            forget(&mut project);
            let select = project.tamis(&["select"]);
            assert_eq!(select.code(), 0, "{}", select.stderr);
            for word in [
                "pointers/notes.txt",
                name,
                "2 damaged files",
                "delete them in the bucket",
            ] {
                assert!(select.stderr.contains(word), "{word}: {}", select.stderr);
            }
            put(place, whole);
        }
        forget(&mut project);
        let fetch = project.tamis(&["store", "fetch"]);
        assert_eq!(fetch.code(), 0, "{}", fetch.stderr);
        assert!(fetch.stderr.contains("taken"), "{}", fetch.stderr);
        assert!(fetch.stderr.contains("a damaged file"), "{}", fetch.stderr);
    });
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn gcs_what_a_search_found_is_shared() {
    on_all_interpreters(Wanted::Newest, |python| {
        let mut project = order::project(python, &Service::Gcs.url("/x"));
        let Some(bucket) = Bucket::start(Service::Gcs, python, &mut project) else {
            return;
        };
        order::is_shared(&mut project);
        assert_eq!(bucket.held().len(), 2);
        let known = |(name, _): &(String, Vec<u8>)| name.contains("/dependences/");
        assert!(bucket.objects().iter().any(known));
    });
}
