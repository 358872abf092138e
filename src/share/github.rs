//! Uses the artifacts of a repository's workflows as a shared store. GitHub itself tells which
//! run wrote an artifact, so nobody can pretend to be another.
//!
//! GitHub's own upload action does the upload, because programs do not get the token for it.
//! This module only puts a pack in place for it.
//!
//! The models are our own: every field may be missing or null.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::api::{Api, is_out_of_requests};
use super::error::{Deadline, RemoteError, Result};
use super::manifest::{MAX_BODY, MAX_MANIFEST, Pack};
use super::single::only_entry;
use super::web::{body, chain, plain_client, refusal, within};
use super::{Damaged, Hint, Listed, Offer, Remote, Site, Wanted};
use crate::trust::Writer;

/// The file in an artifact.
pub(crate) const PACK: &str = "tamis.pack";

/// The file beside it with the name for the artifact.
const NAME: &str = "artifact-name";

/// The largest archive that is downloaded.
const MAX_ARCHIVE: u64 = MAX_BODY + (1 << 20);

pub(super) struct Artifacts {
    api: Api,
    /// `owner/name`.
    repository: String,
    /// The name of all artifacts of this suite.
    name: String,
    /// The folder for packs that wait for the upload.
    upload: PathBuf,
}

impl Artifacts {
    /// The artifacts of `repository`, with the token of the environment.
    pub(super) fn open(repository: Option<String>, site: Site) -> Result<Artifacts> {
        let Some(repository) = repository else {
            return Err(RemoteError::NotSetUp(
                "no GitHub repository is named; write `github:OWNER/NAME`".to_owned(),
            ));
        };
        Ok(Artifacts {
            api: Api::of_environment()?,
            repository,
            name: format!("tamis-{}", site.slug),
            upload: site.upload,
        })
    }

    /// The address of an artifact, valid for a minute.
    async fn place_of(&self, id: &str) -> Result<reqwest::Url> {
        let route = format!("/repos/{}/actions/artifacts/{id}/zip", self.repository);
        let answer = self.api.client._get(route).await;
        let answer = answer.map_err(|error| RemoteError::Unreachable(chain(&error)))?;
        let status = answer.status().as_u16();
        if is_out_of_requests(status, answer.headers()) {
            return Err(RemoteError::Busy(format!("a download: status {status}")));
        }
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Err(refusal(status, "an artifact"));
        }
        let place = answer.headers().get("location");
        let place = place.and_then(|place| place.to_str().ok());
        let url = place.and_then(|place| reqwest::Url::parse(place).ok());
        url.filter(|url| matches!(url.scheme(), "https" | "http"))
            .ok_or_else(|| RemoteError::Malformed("a download without an address".to_owned()))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Page {
    artifacts: Option<Vec<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ArtifactRow {
    id: Option<u64>,
    size_in_bytes: Option<u64>,
    expired: Option<bool>,
    digest: Option<String>,
    workflow_run: Option<RunOfArtifact>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RunOfArtifact {
    id: Option<u64>,
    head_sha: Option<String>,
    head_branch: Option<String>,
    repository_id: Option<u64>,
    head_repository_id: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RunRow {
    id: Option<u64>,
    event: Option<String>,
    path: Option<String>,
    head_branch: Option<String>,
    repository: Option<RepositoryRow>,
    head_repository: Option<RepositoryRow>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RepositoryRow {
    full_name: Option<String>,
}

/// The identity of an artifact in the text of an [`Offer`]: the artifact, its run, its digest.
struct Id<'a> {
    artifact: &'a str,
    run: &'a str,
    digest: &'a str,
}

impl<'a> Id<'a> {
    fn of(offer: &'a Offer) -> Id<'a> {
        let mut parts = offer.id.splitn(3, ' ');
        let mut next = || parts.next().unwrap_or_default();
        Id {
            artifact: next(),
            run: next(),
            digest: next(),
        }
    }
}

impl Remote for Artifacts {
    fn place(&self) -> String {
        format!("artifacts `{}` of {}", self.name, self.repository)
    }

    fn offers(&self, _wanted: &Wanted, deadline: &Deadline) -> Result<Listed> {
        // One page: after a hundred artifacts no older one is worth a request.
        let route = format!(
            "/repos/{}/actions/artifacts?name={}&per_page=100",
            self.repository, self.name
        );
        let asked = self.api.ask::<Page>(route, "the list of artifacts");
        let page = within(&self.api.runtime, deadline, asked)?;
        let rows = page.artifacts.unwrap_or_default().into_iter();
        let mut listed = Listed::default();
        for (number, row) in rows.enumerate() {
            // GitHub searches for the name, so longer names may come, too.
            if row["name"].as_str() != Some(self.name.as_str()) {
                continue;
            }
            // One bad artifact must not hide the others.
            let row: ArtifactRow = match serde_json::from_value(row) {
                Ok(row) => row,
                Err(why) => {
                    let name = format!("row {} of the list of artifacts", number + 1);
                    listed.damaged.push(Damaged::new(name, why));
                    continue;
                }
            };
            if row.expired == Some(true) {
                continue;
            }
            let run = row.workflow_run.unwrap_or_default();
            let digest = row.digest.unwrap_or_default();
            let (Some(id), Some(of)) = (row.id, run.id) else {
                let name = format!("row {} of the list of artifacts", number + 1);
                let why = "it names no artifact, or no run that wrote it";
                listed.damaged.push(Damaged::new(name, why));
                continue;
            };
            let bytes = row.size_in_bytes.unwrap_or(0);
            if bytes > MAX_ARCHIVE {
                let why = format!("it has {bytes} bytes, too many for a result");
                listed
                    .damaged
                    .push(Damaged::new(format!("artifact {id}"), why));
                continue;
            }
            listed.offers.push(Offer {
                id: format!("{id} {of} {digest}"),
                commit: run.head_sha.unwrap_or_default(),
                tree: None,
                created: 0,
                manifest: None,
                environment: None,
                hint: Hint {
                    fork: run.repository_id != run.head_repository_id,
                    branch: run.head_branch,
                    pr: None,
                },
            });
        }
        Ok(listed)
    }

    fn name_of(&self, offer: &Offer) -> String {
        let id = Id::of(offer);
        format!("artifact {} of run {}", id.artifact, id.run)
    }

    fn mend(&self) -> String {
        "delete these artifacts, or let them expire".to_owned()
    }

    fn attest(&self, offer: &Offer, deadline: &Deadline) -> Result<Option<Writer>> {
        let id = Id::of(offer);
        let route = format!("/repos/{}/actions/runs/{}", self.repository, id.run);
        let asked = self.api.ask::<RunRow>(route, "a workflow run");
        let row = within(&self.api.runtime, deadline, asked)?;
        if row.id.map(|id| id.to_string()).as_deref() != Some(id.run) {
            return Err(RemoteError::Malformed(
                "another run than the requested one".to_owned(),
            ));
        }
        Ok(Some(writer_of(row)))
    }

    fn get(&self, offer: &Offer, deadline: &Deadline) -> Result<Vec<u8>> {
        let id = Id::of(offer);
        let url = within(&self.api.runtime, deadline, self.place_of(id.artifact))?;
        let download = async {
            // This client has no token: the address is that of a file store, and carries its
            // own permission.
            let answer = plain_client()?.get(url).send().await;
            let answer =
                answer.map_err(|error| RemoteError::Unreachable(chain(&error.without_url())))?;
            match answer.status().as_u16() {
                200 => body(answer, "an artifact", MAX_ARCHIVE).await,
                status => Err(refusal(status, "the file of an artifact")),
            }
        };
        let archive = within(&self.api.runtime, deadline, download)?;
        check_digest(&archive, id.digest)?;
        only_entry(&archive, PACK, MAX_BODY + MAX_MANIFEST + 64)
    }

    /// Puts the pack where the upload step finds it.
    fn put(&self, pack: &Pack, _deadline: &Deadline) -> Result<()> {
        let local = |error: std::io::Error| RemoteError::NotSetUp(error.to_string());
        std::fs::create_dir_all(&self.upload).map_err(local)?;
        // The upload step must know the name.
        crate::disk::write(self.upload.join(NAME), format!("{}\n", self.name)).map_err(local)?;
        crate::disk::write_atomically(self.upload.join(PACK), pack.encode()).map_err(local)
    }

    fn worth(&self) -> usize {
        1
    }
}

/// What GitHub knows about the run. A missing fact gets a value that nobody can claim, so no
/// claim about it is trusted.
fn writer_of(row: RunRow) -> Writer {
    let known = |text: Option<String>| match text {
        Some(text) if !text.is_empty() => text,
        _ => "(not told)".to_owned(),
    };
    let name = |row: Option<RepositoryRow>| known(row.and_then(|row| row.full_name));
    let (repository, from) = (name(row.repository), name(row.head_repository));
    let branch = known(row.head_branch);
    let event = known(row.event);
    let mut writer = Writer {
        provider: "github".to_owned(),
        fork: from != repository,
        workflow: known(row.path.map(|path| {
            // `.github/workflows/ci.yml@refs/heads/main` for reusable workflows. By the
            // description of the interface the repository may precede it.
            let path = path.split('@').next().unwrap_or_default();
            let own = path.strip_prefix(&repository);
            let own = own.and_then(|path| path.strip_prefix('/'));
            own.unwrap_or(path).to_owned()
        })),
        run: row.id.map(|id| id.to_string()).unwrap_or_default(),
        event,
        repository,
        ..Writer::default()
    };
    match writer.is_proposed() {
        true => writer.head = format!("{from}:{branch}"),
        false => writer.reference = format!("refs/heads/{branch}"),
    }
    writer
}

/// Checks GitHub's digest of the archive, if there is one.
fn check_digest(archive: &[u8], digest: &str) -> Result<()> {
    let Some(wanted) = digest.strip_prefix("sha256:") else {
        // The pack inside has its own digest.
        return Ok(());
    };
    let found = ring_sha256(archive);
    match found == wanted.to_ascii_lowercase() {
        true => Ok(()),
        false => Err(RemoteError::Malformed(
            "an artifact does not match its digest".to_owned(),
        )),
    }
}

fn ring_sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    faster_hex::hex_string(digest.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(json: &str) -> Writer {
        writer_of(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_run_tells_who_wrote() {
        let pushed = run(
            r#"{"id":1,"event":"push","path":".github/workflows/ci.yml@refs/heads/main",
                "head_branch":"main","repository":{"full_name":"o/r"},
                "head_repository":{"full_name":"o/r"},"conclusion":null,"unknown":[1]}"#,
        );
        assert_eq!(pushed.reference, "refs/heads/main");
        assert_eq!(pushed.workflow, ".github/workflows/ci.yml");
        assert!(!pushed.is_proposed());
        let of = |path: &str| {
            run(&format!(
                r#"{{"id":1,"event":"push","path":"{path}","repository":{{"full_name":"o/r"}}}}"#
            ))
            .workflow
        };
        assert_eq!(
            of("o/r/.github/workflows/ci.yml@main"),
            ".github/workflows/ci.yml"
        );
        assert_eq!(
            of("e/r/.github/workflows/ci.yml@main"),
            "e/r/.github/workflows/ci.yml"
        );
        let fork = run(r#"{"id":1,"event":"pull_request","head_branch":"main",
                "repository":{"full_name":"o/r"},"head_repository":{"full_name":"e/r"}}"#);
        assert!(fork.fork);
        assert_eq!(
            (fork.head.as_str(), fork.reference.as_str()),
            ("e/r:main", "")
        );
    }

    #[test]
    fn what_github_does_not_tell_is_nothing_that_can_be_claimed() {
        for json in [
            "{}",
            r#"{"id":null,"event":null,"path":null,"head_branch":null,"repository":null}"#,
            r#"{"id":1,"event":"push","repository":{"full_name":"o/r"},"head_repository":null}"#,
        ] {
            let told = run(json);
            assert!(told.fork || told.repository == "(not told)", "{json}");
            assert!(told.workflow.starts_with('('), "{json}");
        }
    }

    #[test]
    fn the_digest_of_the_archive_is_checked_where_there_is_one() {
        let right = format!("sha256:{}", ring_sha256(b"zip"));
        assert_eq!(check_digest(b"zip", &right), Ok(()));
        assert!(check_digest(b"zap", &right).is_err());
        assert_eq!(check_digest(b"zip", ""), Ok(()));
    }

    #[test]
    fn damaged_answers_are_read_or_refused() {
        let page = r#"{"total_count":1,"artifacts":[{"id":7,"node_id":"x","name":"tamis-a","size_in_bytes":1000,
            "url":null,"expired":false,"created_at":null,"digest":"sha256:00","workflow_run":{"id":1,
            "repository_id":1,"head_repository_id":1,"head_branch":"main","head_sha":"00"}},null]}"#;
        let row = r#"{"id":1,"event":"push","path":".github/workflows/ci.yml@refs/heads/main","head_branch":"main",
            "repository":{"full_name":"o/r"},"head_repository":{"full_name":"o/r"},"conclusion":null}"#;
        let reader = crate::fuzz::Reader {
            name: "answers of GitHub",
            seeds: vec![page.into(), row.into(), b"null".to_vec()],
            words: &[
                "null",
                "[]",
                "{}",
                "\"id\":",
                "-1",
                "1e400",
                "\\ud83d",
                "pull_request",
                "\"artifacts\":",
                "[[[[[",
            ],
            mend: |_| {},
            read: &|bytes| {
                let page =
                    serde_json::from_slice::<Page>(bytes).map(|page| page.artifacts.is_some());
                match serde_json::from_slice::<RunRow>(bytes).map(writer_of) {
                    Ok(writer) => {
                        // Nobody can claim a fact that GitHub did not tell.
                        assert!(!writer.repository.is_empty() && !writer.event.is_empty());
                        format!("{page:?} {} {}", writer.fork, writer.is_proposed())
                    }
                    Err(error) => format!("{page:?} {error}"),
                }
            },
        };
        reader.feed();
    }
}
