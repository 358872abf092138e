//! Fetches more of the present clone from its remote: commits that a shallow clone lacks,
//! trees and blobs that a filtered clone lacks.
//!
//! The git program does it like `git fetch` in that clone: it adds objects and moves the edge
//! of a shallow history. Branches, tags, HEAD, FETCH_HEAD, index and work tree stay unchanged.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::error::{Deadline, RemoteError, Result};
use super::process;
use super::program::{MAX_ANSWER, git_in, is_object, must};

/// The time limit for all requests.
const PATIENCE: Duration = Duration::from_secs(120);

/// The time limit for one request: histories are large.
const STEP: Duration = Duration::from_secs(60);

/// The most requests.
const MOST_REQUESTS: u32 = 6;

/// The variable with a token, for clones that have none of their own.
const TOKEN: &str = "TAMIS_FETCH_TOKEN";

/// By how much to deepen a shallow clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// By this many commits.
    By(u32),
    /// The whole history.
    All,
}

/// The remote of the clone.
pub(crate) struct Origin {
    root: PathBuf,
    remote: String,
    access: Option<Access>,
    deadline: Deadline,
    left: u32,
}

/// A service whose token is in the environment.
struct Access {
    /// Only addresses that begin with this get the token.
    server: String,
    user: &'static str,
    token: String,
}

impl Access {
    fn of_environment() -> Option<Access> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let github = || {
            Some(Access {
                server: variable("GITHUB_SERVER_URL")?,
                user: "x-access-token",
                token: variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN"))?,
            })
        };
        let gitlab = || {
            Some(Access {
                server: variable("CI_SERVER_URL")?,
                user: "gitlab-ci-token",
                token: variable("CI_JOB_TOKEN")?,
            })
        };
        github().or_else(gitlab)
    }
}

impl Origin {
    /// The remote of the clone with the work tree `root`: `origin`, or the only one.
    ///
    /// # Errors
    /// There is none, or git cannot be started.
    pub(crate) fn find(root: &Path) -> Result<Origin> {
        let deadline = Deadline::after(PATIENCE).with_step(STEP);
        let mut command = git_in(root);
        command.arg("remote");
        let answer = must(process::run(
            command,
            b"",
            MAX_ANSWER,
            "git's remotes",
            &deadline,
        )?)?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let names: Vec<&str> = answer.lines().collect();
        let remote = match names[..] {
            [only] => only,
            _ if names.contains(&"origin") => "origin",
            [] => {
                return Err(RemoteError::NotSetUp(
                    "the clone has no remote to fetch from".to_owned(),
                ));
            }
            _ => {
                return Err(RemoteError::NotSetUp(
                    "the clone has several remotes, and none is called origin".to_owned(),
                ));
            }
        };
        Ok(Origin {
            root: root.to_owned(),
            remote: remote.to_owned(),
            access: Access::of_environment(),
            deadline,
            left: MOST_REQUESTS,
        })
    }

    /// Moves the edge of the history beyond `commit`, which is here. `reference` is for
    /// servers that only serve named commits.
    ///
    /// # Errors
    /// The remote does not answer or refuses, or too many requests were made.
    pub(crate) fn deepen(
        &mut self,
        commit: &str,
        reference: Option<&str>,
        depth: Depth,
    ) -> Result<()> {
        let depth = match depth {
            Depth::By(commits) => format!("--deepen={commits}"),
            Depth::All => "--unshallow".to_owned(),
        };
        let ask = |wanted: &str| {
            vec![
                depth.clone(),
                "--".to_owned(),
                self.remote.clone(),
                wanted.to_owned(),
            ]
        };
        let (by_id, by_name) = (ask(commit), reference.map(ask));
        match (self.fetch(&by_id, b""), by_name) {
            (Err(RemoteError::Absent(_)), Some(by_name)) => self.fetch(&by_name, b""),
            (fetched, _) => fetched,
        }
    }

    /// Fetches commits that may be on no branch any more, with the missing part of their
    /// history.
    ///
    /// # Errors
    /// The remote does not answer or refuses, or too many requests were made.
    pub(crate) fn commits(&mut self, ids: &[String]) -> Result<()> {
        let mut arguments = vec!["--".to_owned(), self.remote.clone()];
        arguments.extend(ids.iter().filter(|id| is_object(id)).cloned());
        self.fetch(&arguments, b"")
    }

    /// The tip of the remote's branch `name`.
    ///
    /// # Errors
    /// The remote does not answer, refuses or has no such branch, or too many requests were
    /// made.
    pub(crate) fn tip_of(&mut self, name: &str) -> Result<String> {
        let reference = format!("refs/heads/{name}");
        let arguments = ["ls-remote", "--", &self.remote, &reference].map(str::to_owned);
        let answer = self.request(&arguments, b"")?;
        let answer = String::from_utf8_lossy(&answer);
        // For a name git lists all refs that end in it.
        let mut lines = answer.lines().filter_map(|line| line.split_once('\t'));
        let tip = lines.find(|(id, name)| *name == reference && is_object(id));
        tip.map(|(id, _)| id.to_owned())
            .ok_or_else(|| RemoteError::Absent(format!("the branch {name}")))
    }

    /// Fetches one commit with the missing part of its history; in a shallow clone without
    /// history.
    ///
    /// # Errors
    /// The remote does not answer or refuses, or too many requests were made.
    pub(crate) fn tip(&mut self, id: &str, is_shallow: bool) -> Result<()> {
        let mut arguments = Vec::new();
        if is_shallow {
            arguments.push("--depth=1".to_owned());
        }
        arguments.extend(["--", &self.remote, id].map(str::to_owned));
        self.fetch(&arguments, b"")
    }

    /// Fetches these objects in one request: trees with all trees below them, but blobs only
    /// if they are named. For clones that were made with a filter.
    ///
    /// # Errors
    /// The remote does not answer or refuses, or too many requests were made.
    pub(crate) fn objects(&mut self, ids: &[String]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut wanted = String::new();
        for id in ids.iter().filter(|id| is_object(id)) {
            wanted.push_str(id);
            wanted.push('\n');
        }
        let arguments = [
            "--filter=blob:none".to_owned(),
            "--stdin".to_owned(),
            "--".to_owned(),
            self.remote.clone(),
        ];
        self.fetch(&arguments, wanted.as_bytes())
    }

    fn fetch(&mut self, arguments: &[String], input: &[u8]) -> Result<()> {
        let fetch = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-prune",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--refmap=",
        ];
        let fetch = fetch.map(str::to_owned);
        self.request(&[&fetch[..], arguments].concat(), input)
            .map(drop)
    }

    fn request(&mut self, arguments: &[String], input: &[u8]) -> Result<Vec<u8>> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            RemoteError::Busy(format!("{MOST_REQUESTS} requests were not enough"))
        })?;
        let mut command = git_in(&self.root);
        command
            .args(["-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null"])
            .args(["-c", "fetch.writeCommitGraph=false"]);
        if !input.is_empty() {
            // git does the same itself: the local objects do not tell which ones are missing.
            command.args(["-c", "fetch.negotiationAlgorithm=noop"]);
        }
        command.args(arguments);
        if let Some(access) = &self.access {
            lend(&mut command, access);
        }
        let done = process::run(command, input, MAX_ANSWER, "git's answer", &self.deadline)?;
        must(done)
    }
}

/// Lets git answer a request for a password with the token. The token is only in the
/// environment, and git sends it only to this address.
fn lend(command: &mut Command, access: &Access) {
    let known = std::env::var("GIT_CONFIG_COUNT").ok();
    let number: u32 = known.and_then(|count| count.parse().ok()).unwrap_or(0);
    let user = access.user;
    let helper = format!(
        "!f() {{ test \"$1\" = get && echo username={user} && echo \"password=${TOKEN}\"; }}; f"
    );
    command
        .env("GIT_CONFIG_COUNT", (number + 1).to_string())
        .env(
            format!("GIT_CONFIG_KEY_{number}"),
            format!("credential.{}.helper", access.server.trim_end_matches('/')),
        )
        .env(format!("GIT_CONFIG_VALUE_{number}"), helper)
        .env(TOKEN, &access.token);
}
