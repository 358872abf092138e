//! GitHub's REST interface: one request, one answer, with limits.

use http_body_util::BodyExt;
use octocrab::Octocrab;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

use super::error::{RemoteError, Result};
use super::web::{chain, refusal, runtime};

/// The address, unless the environment names another.
const API: &str = "https://api.github.com";

/// The largest answer.
const MAX_ANSWER: u64 = 12 << 20;

pub(super) struct Api {
    pub client: Octocrab,
    pub runtime: Runtime,
    pub has_token: bool,
}

impl Api {
    /// A client with the address and the token of the environment.
    ///
    /// # Errors
    /// The client cannot be made.
    pub(super) fn of_environment() -> Result<Api> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let api = variable("GITHUB_API_URL").unwrap_or_else(|| API.to_owned());
        let token = variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN"));
        let has_token = token.is_some();
        let runtime = runtime()?;
        let set_up = |error: octocrab::Error| RemoteError::NotSetUp(chain(&error));
        // The client starts a task when it is made.
        let client = runtime.block_on(async {
            let mut builder = Octocrab::builder()
                .base_uri(api.trim_end_matches('/'))
                .map_err(set_up)?;
            if let Some(token) = token {
                builder = builder.personal_token(token);
            }
            builder.build().map_err(set_up)
        })?;
        Ok(Api {
            client,
            runtime,
            has_token,
        })
    }

    /// Sends one request and reads its answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, route: String, what: &str) -> Result<T> {
        let bytes = read(self.client._get(route).await, 200, what).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| RemoteError::Malformed(format!("{what}: {error}")))
    }
}

/// The body of an answer that has the status `wanted`.
pub(super) async fn read<B>(
    answer: octocrab::Result<http::Response<B>>,
    wanted: u16,
    what: &str,
) -> Result<Vec<u8>>
where
    B: BodyExt + Unpin,
    B::Data: AsRef<[u8]>,
    B::Error: std::error::Error + 'static,
{
    let answer = answer.map_err(|error| RemoteError::Unreachable(chain(&error)))?;
    let status = answer.status().as_u16();
    if is_out_of_requests(status, answer.headers()) {
        return Err(RemoteError::Busy(format!("{what}: status {status}")));
    }
    if status != wanted {
        return Err(refusal(status, what));
    }
    let mut parts = answer.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = parts.frame().await {
        let frame = frame.map_err(|error| RemoteError::Unreachable(chain(&error)))?;
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        let piece = piece.as_ref();
        if bytes.len() as u64 + piece.len() as u64 > MAX_ANSWER {
            return Err(RemoteError::TooLarge {
                what: "an answer of GitHub",
                limit: MAX_ANSWER,
            });
        }
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
}

/// 403 means a lack of rights or of requests; the headers tell which.
pub(super) fn is_out_of_requests(status: u16, headers: &http::HeaderMap) -> bool {
    let spent = headers
        .get("x-ratelimit-remaining")
        .is_some_and(|left| left.as_bytes() == b"0");
    status == 429 || (status == 403 && (spent || headers.contains_key("retry-after")))
}
