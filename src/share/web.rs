//! The common part of the HTTP clients: one thread to run on, and downloads with limits.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::error::{Deadline, RemoteError, Result};

/// Runs the clients' work on the calling thread.
pub(super) fn runtime() -> Result<Runtime> {
    // Both clients use the process's choice. A second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RemoteError::NotSetUp(format!("no event loop: {error}")))
}

/// Does one step, or gives up when its time is over.
pub(super) fn within<T>(
    runtime: &Runtime,
    deadline: &Deadline,
    step: impl Future<Output = Result<T>>,
) -> Result<T> {
    let patience = deadline.step()?;
    runtime.block_on(async {
        let done = tokio::time::timeout(patience, step).await;
        done.unwrap_or(Err(RemoteError::TooSlow))
    })
}

/// A client for addresses that came in an answer: it follows no redirects and adds no headers.
pub(super) fn plain_client() -> Result<reqwest::Client> {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("tamis/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| RemoteError::NotSetUp(chain(&error)))
}

/// The body of an answer, of at most `limit` bytes.
pub(super) async fn body(
    mut answer: reqwest::Response,
    what: &'static str,
    limit: u64,
) -> Result<Vec<u8>> {
    if answer.content_length().is_some_and(|bytes| bytes > limit) {
        return Err(RemoteError::TooLarge { what, limit });
    }
    let mut bytes = Vec::new();
    let broken = |error: reqwest::Error| RemoteError::Unreachable(chain(&error));
    while let Some(piece) = answer.chunk().await.map_err(broken)? {
        if bytes.len() as u64 + piece.len() as u64 > limit {
            return Err(RemoteError::TooLarge { what, limit });
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Translates a status other than success.
pub(super) fn refusal(status: u16, what: &str) -> RemoteError {
    let told = format!("{what}: status {status}");
    match status {
        401 | 403 => RemoteError::Refused(told),
        404 | 410 => RemoteError::Absent(what.to_owned()),
        429 => RemoteError::Busy(told),
        413 => RemoteError::Refused(told),
        300..=399 => RemoteError::Malformed(told),
        _ => RemoteError::Unreachable(told),
    }
}

/// An error with its causes, on one line.
pub(super) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !told.contains(&text) {
            told.push_str(": ");
            told.push_str(&text);
        }
        cause = inner.source();
    }
    told
}
