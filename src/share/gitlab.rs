//! Uses generic packages of a GitLab project as a shared store, with the token that every job
//! has. A pack is a package of its own, whose version tells the content. Others can upload the
//! same version again, so the download must match the version.

use reqwest::{Client, RequestBuilder, Url};
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::error::{Deadline, RemoteError, Result};
use super::github::PACK;
use super::manifest::{MAX_BODY, MAX_MANIFEST, Manifest, Pack};
use super::pointer::Pointer;
use super::web::{body, chain, plain_client, refusal, runtime, within};
use super::{Damaged, Listed, Offer, Remote, Site, Wanted};
use crate::trust::Writer;

/// The largest answer.
const MAX_ANSWER: u64 = 12 << 20;

pub(super) struct Packages {
    client: Client,
    runtime: Runtime,
    /// `…/api/v4/projects/ID/packages`
    api: Url,
    token: String,
    /// The name of all packages of this suite.
    name: String,
}

impl Packages {
    /// The packages of the project of this job.
    pub(super) fn open(site: &Site) -> Result<Packages> {
        let variable = |name: &str| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            value.ok_or_else(|| {
                RemoteError::NotSetUp(format!(
                    "the variable {name} is not set: this store is for jobs of GitLab"
                ))
            })
        };
        let api = format!(
            "{}/projects/{}/packages",
            variable("CI_API_V4_URL")?.trim_end_matches('/'),
            variable("CI_PROJECT_ID")?
        );
        Ok(Packages {
            runtime: runtime()?,
            client: plain_client()?,
            api: Url::parse(&api).map_err(|error| RemoteError::NotSetUp(error.to_string()))?,
            token: variable("CI_JOB_TOKEN")?,
            name: format!("tamis-{}", site.slug),
        })
    }

    fn file(&self, version: &str) -> Url {
        let mut url = self.api.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(["generic", &self.name, version, PACK]);
        }
        url
    }

    async fn send(&self, request: RequestBuilder) -> Result<reqwest::Response> {
        let sent = request.header("JOB-TOKEN", &self.token).send().await;
        sent.map_err(|error| RemoteError::Unreachable(chain(&error.without_url())))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PackageRow {
    version: Option<String>,
}

impl Remote for Packages {
    fn place(&self) -> String {
        format!("packages `{}` of this project", self.name)
    }

    fn offers(&self, _wanted: &Wanted, deadline: &Deadline) -> Result<Listed> {
        let mut url = self.api.clone();
        url.query_pairs_mut()
            .append_pair("package_type", "generic")
            .append_pair("package_name", &self.name)
            .append_pair("order_by", "created_at")
            .append_pair("sort", "desc")
            .append_pair("per_page", "100");
        let what = "the list of packages";
        let asked = async {
            let answer = self.send(self.client.get(url)).await?;
            match answer.status().as_u16() {
                200 => body(answer, what, MAX_ANSWER).await,
                status => Err(refusal(status, what)),
            }
        };
        let bytes = within(&self.runtime, deadline, asked)?;
        let rows: Vec<Value> = serde_json::from_slice(&bytes)
            .map_err(|error| RemoteError::Malformed(format!("{what}: {error}")))?;
        let mut listed = Listed::default();
        for (number, row) in rows.into_iter().enumerate() {
            // GitLab searches for the name, so longer names may come, too.
            if row["name"].as_str() != Some(self.name.as_str()) {
                continue;
            }
            // One bad package must not hide the others.
            let row: PackageRow = match serde_json::from_value(row) {
                Ok(row) => row,
                Err(why) => {
                    let name = format!("row {} of {what}", number + 1);
                    listed.damaged.push(Damaged::new(name, why));
                    continue;
                }
            };
            // An unfinished package has no version.
            let Some(version) = row.version else { continue };
            match Pointer::parse(&version) {
                Some(pointer) => listed.offers.push(pointer.offer()),
                None => listed.damaged.push(Damaged::new(
                    format!("version {version}"),
                    "tamis gives no such versions",
                )),
            }
        }
        Ok(listed)
    }

    fn name_of(&self, offer: &Offer) -> String {
        format!("version {}", offer.id)
    }

    fn mend(&self) -> String {
        "delete them in the project's package registry".to_owned()
    }

    /// GitLab tells which pipeline made a package, but not which one added a file to it later.
    fn attest(&self, _offer: &Offer, _deadline: &Deadline) -> Result<Option<Writer>> {
        Ok(None)
    }

    fn get(&self, offer: &Offer, deadline: &Deadline) -> Result<Vec<u8>> {
        let limit = MAX_BODY + MAX_MANIFEST + 64;
        let what = "a package";
        let download = async {
            let answer = self.send(self.client.get(self.file(&offer.id))).await?;
            let status = answer.status().as_u16();
            if !matches!(status, 301 | 302 | 303 | 307 | 308) {
                return match status {
                    200 => body(answer, what, limit).await,
                    status => Err(refusal(status, what)),
                };
            }
            // Redirects to a file store, which does not get the token.
            let place = answer.headers().get("location");
            let place = place.and_then(|place| place.to_str().ok());
            let place = place
                .and_then(|place| Url::parse(place).ok())
                .ok_or_else(|| RemoteError::Malformed("a download without an address".into()))?;
            let answer = self.client.get(place).send().await;
            let answer =
                answer.map_err(|error| RemoteError::Unreachable(chain(&error.without_url())))?;
            match answer.status().as_u16() {
                200 => body(answer, what, limit).await,
                status => Err(refusal(status, what)),
            }
        };
        let bytes = within(&self.runtime, deadline, download)?;
        let (manifest, _) = Manifest::read(&bytes)
            .map_err(|refusal| RemoteError::Malformed(refusal.to_string()))?;
        match Pointer::of(&manifest).name() == offer.id {
            true => Ok(bytes),
            false => Err(RemoteError::Malformed(
                "a package does not match its version".to_owned(),
            )),
        }
    }

    fn put(&self, pack: &Pack, deadline: &Deadline) -> Result<()> {
        let version = Pointer::of(&pack.manifest).name();
        let put = async {
            let request = self.client.put(self.file(&version)).body(pack.encode());
            let answer = self.send(request).await?;
            match answer.status().as_u16() {
                200 | 201 => Ok(()),
                status => Err(refusal(status, "an upload")),
            }
        };
        within(&self.runtime, deadline, put)
    }

    fn worth(&self) -> usize {
        2
    }
}
