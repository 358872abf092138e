//! One comment on a pull request that is updated in place.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::api::{Api, read};
use super::error::{Deadline, RemoteError, Result};
use super::web::within;

/// The first line of our comment, by which it is found again. Markdown does not show it.
const MARK: &str = "<!-- tamis: selection -->";

/// GitHub's limit for the characters of a comment.
const LONGEST: usize = 65_000;

/// How many pages of a hundred comments are searched.
const MOST_PAGES: u32 = 5;

/// The time limit for all of it.
const PATIENCE: Duration = Duration::from_secs(25);

/// What happened to a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commented {
    Written,
    Replaced,
    /// It already has this text.
    Same,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    id: Option<u64>,
    body: Option<String>,
    user: Option<User>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct User {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Writes `text`, which must be safe Markdown, to pull request `number` of `repository`
/// (`owner/name`): into the comment of an earlier run, or else into a new one. Uses the token
/// of the environment.
///
/// # Errors
/// GitHub does not answer or refuses.
pub(crate) fn comment(repository: &str, number: u64, text: &str) -> Result<Commented> {
    let api = Api::of_environment()?;
    if !api.has_token {
        return Err(RemoteError::NotSetUp(
            "there is no token in GITHUB_TOKEN".to_owned(),
        ));
    }
    let deadline = Deadline::after(PATIENCE);
    let body = shorten(&format!("{MARK}\n{text}"));
    let told = json!({ "body": body });
    match find(&api, repository, number, &deadline)? {
        Some((_, old)) if is_same(&old, &body) => Ok(Commented::Same),
        Some((id, _)) => {
            let route = format!("/repos/{repository}/issues/comments/{id}");
            let step = async {
                let answer = api.client._patch(route, Some(&told)).await;
                read(answer, 200, "changing the comment").await
            };
            within(&api.runtime, &deadline, step)?;
            Ok(Commented::Replaced)
        }
        None => {
            let route = format!("/repos/{repository}/issues/{number}/comments");
            let step = async {
                let answer = api.client._post(route, Some(&told)).await;
                read(answer, 201, "writing a comment").await
            };
            within(&api.runtime, &deadline, step)?;
            Ok(Commented::Written)
        }
    }
}

/// Finds our comment and its text. A person's comment is not ours, whatever it says.
fn find(
    api: &Api,
    repository: &str,
    number: u64,
    deadline: &Deadline,
) -> Result<Option<(u64, String)>> {
    for page in 1..=MOST_PAGES {
        let route =
            format!("/repos/{repository}/issues/{number}/comments?per_page=100&page={page}");
        let asked = api.ask::<Vec<Option<Row>>>(route, "the list of comments");
        let rows = within(&api.runtime, deadline, asked)?;
        let is_last = rows.len() < 100;
        for row in rows.into_iter().flatten() {
            let kind = row.user.unwrap_or_default().kind;
            let body = row.body.unwrap_or_default();
            if let Some(id) = row.id
                && kind.as_deref() == Some("Bot")
                && body.starts_with(MARK)
            {
                return Ok(Some((id, body)));
            }
        }
        if is_last {
            break;
        }
    }
    Ok(None)
}

/// GitHub may change line ends.
fn is_same(old: &str, new: &str) -> bool {
    let lines = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    lines(old) == lines(new)
}

/// Keeps whole lines up to GitHub's limit.
fn shorten(body: &str) -> String {
    if body.len() <= LONGEST {
        return body.to_owned();
    }
    let mut short = String::new();
    for line in body.split_inclusive('\n') {
        if short.len() + line.len() > LONGEST {
            break;
        }
        short.push_str(line);
    }
    short.push_str("\n…\n");
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_lines() {
        assert_eq!(shorten("a\nb"), "a\nb");
        let long = "äöü 12345\n".repeat(10_000);
        let short = shorten(&long);
        assert!(short.len() < 65_536 && short.ends_with("12345\n\n…\n"));
    }

    #[test]
    fn line_ends_make_no_difference() {
        assert!(is_same("a\r\nb", "a\nb\n"));
        assert!(!is_same("a", "b"));
    }
}
