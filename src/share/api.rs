//! GitHub's REST interface: one request, one answer, with limits.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Method, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::error::{RemoteError, Result};
use super::web::{body, chain, plain_client, refusal, runtime};

/// The address, unless the environment names another.
const API: &str = "https://api.github.com";

/// The largest answer.
const MAX_ANSWER: u64 = 12 << 20;

pub(super) struct Api {
    client: Client,
    pub runtime: Runtime,
    /// Without a slash at its end.
    base: String,
    token: Option<String>,
}

impl Api {
    /// A client with the address and the token of the environment.
    ///
    /// # Errors
    /// The client cannot be made.
    pub(super) fn of_environment() -> Result<Api> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let api = variable("GITHUB_API_URL").unwrap_or_else(|| API.to_owned());
        Ok(Api {
            runtime: runtime()?,
            client: plain_client()?,
            base: api.trim_end_matches('/').to_owned(),
            token: variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN")),
        })
    }

    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Sends one request. GitHub refuses those without a user agent.
    ///
    /// # Errors
    /// The address is none, or GitHub does not answer.
    pub(super) async fn send(
        &self,
        method: Method,
        route: &str,
        told: Option<&Value>,
    ) -> Result<Response> {
        let url = Url::parse(&format!("{}{route}", self.base))
            .map_err(|error| RemoteError::NotSetUp(format!("{}: {error}", self.base)))?;
        let mut request = self.client.request(method, url);
        request = request.header(ACCEPT, "application/vnd.github+json");
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(told) = told {
            request = request.header(CONTENT_TYPE, "application/json");
            request = request.body(told.to_string());
        }
        let answer = request.send().await;
        answer.map_err(|error| RemoteError::Unreachable(chain(&error.without_url())))
    }

    /// Sends one request and reads its answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, route: String, what: &str) -> Result<T> {
        let bytes = read(self.send(Method::GET, &route, None).await?, 200, what).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| RemoteError::Malformed(format!("{what}: {error}")))
    }
}

/// The body of an answer that has the status `wanted`.
pub(super) async fn read(answer: Response, wanted: u16, what: &str) -> Result<Vec<u8>> {
    let status = answer.status().as_u16();
    if is_out_of_requests(status, answer.headers()) {
        return Err(RemoteError::Busy(format!("{what}: status {status}")));
    }
    if status != wanted {
        return Err(refusal(status, what));
    }
    body(answer, "an answer of GitHub", MAX_ANSWER).await
}

/// 403 means a lack of rights or of requests; the headers tell which.
pub(super) fn is_out_of_requests(status: u16, headers: &HeaderMap) -> bool {
    let spent = headers
        .get("x-ratelimit-remaining")
        .is_some_and(|left| left.as_bytes() == b"0");
    status == 429 || (status == 403 && (spent || headers.contains_key("retry-after")))
}
