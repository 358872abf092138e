//! Who this process is: the facts that a CI service puts into its environment.

use serde::Deserialize;

use super::Environment;
use crate::trust::Writer;

/// The facts about this process.
pub fn writer_here() -> Writer {
    writer(&Environment::of_this_process())
}

/// The facts that variables and the payload of an event tell. What is not told
/// counts as the worst case.
fn writer(environment: &Environment) -> Writer {
    if environment.text("GITHUB_ACTIONS") == Some("true") {
        let event = match &environment.payload {
            Some(Ok(bytes)) => serde_json::from_slice(bytes).unwrap_or_default(),
            Some(Err(_)) | None => Event::default(),
        };
        return github(environment, event);
    }
    if environment.text("GITLAB_CI") == Some("true") {
        return gitlab(environment);
    }
    Writer::local()
}

/// What is read of an event; whatever is missing or null is not known.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    pull_request: Option<PullRequest>,
    repository: Option<Repository>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PullRequest {
    number: Option<u64>,
    head: Option<Side>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Side {
    #[serde(rename = "ref")]
    reference: Option<String>,
    repo: Option<Repository>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Repository {
    full_name: Option<String>,
    default_branch: Option<String>,
}

fn github(environment: &Environment, event: Event) -> Writer {
    let variable = |name| environment.owned(name).unwrap_or_default();
    let repository = variable("GITHUB_REPOSITORY");
    let reference = variable("GITHUB_REF");
    // `owner/name/.github/workflows/ci.yml@refs/heads/main`
    let workflow = variable("GITHUB_WORKFLOW_REF");
    let workflow = workflow.split('@').next().unwrap_or_default();
    let workflow = workflow
        .strip_prefix(&repository)
        .and_then(|path| path.strip_prefix('/'))
        .unwrap_or_default();
    let mut writer = Writer {
        provider: "github".to_owned(),
        event: variable("GITHUB_EVENT_NAME"),
        workflow: workflow.to_owned(),
        run: variable("GITHUB_RUN_ID"),
        default_branch: event
            .repository
            .and_then(|repository| repository.default_branch)
            .unwrap_or_default(),
        repository,
        reference,
        ..Writer::default()
    };
    let number = writer
        .reference
        .strip_prefix("refs/pull/")
        .and_then(|rest| rest.split('/').next()?.parse().ok());
    let asked = event.pull_request.unwrap_or_default();
    writer.pr = asked.number.or(number);
    if writer.pr.is_none() {
        return writer;
    }
    writer.base = variable("GITHUB_BASE_REF");
    if writer.reference.ends_with("/merge") {
        writer.merge = variable("GITHUB_SHA");
    }
    let head = asked.head.unwrap_or_default();
    let from = head.repo.and_then(|repo| repo.full_name);
    let branch = head
        .reference
        .unwrap_or_else(|| variable("GITHUB_HEAD_REF"));
    // A fork that was deleted has no name any more.
    writer.fork = from.as_deref() != Some(writer.repository.as_str());
    if let Some(from) = from
        && !branch.is_empty()
    {
        writer.head = format!("{from}:{branch}");
    }
    writer
}

fn gitlab(environment: &Environment) -> Writer {
    let variable = |name| environment.owned(name).unwrap_or_default();
    let tag = variable("CI_COMMIT_TAG");
    let reference = match tag.is_empty() {
        true => format!("refs/heads/{}", variable("CI_COMMIT_REF_NAME")),
        false => format!("refs/tags/{tag}"),
    };
    let mut writer = Writer {
        provider: "gitlab".to_owned(),
        repository: variable("CI_PROJECT_PATH"),
        event: variable("CI_PIPELINE_SOURCE"),
        reference,
        workflow: variable("CI_CONFIG_PATH"),
        run: variable("CI_PIPELINE_ID"),
        pr: variable("CI_MERGE_REQUEST_IID").parse().ok(),
        default_branch: variable("CI_DEFAULT_BRANCH"),
        ..Writer::default()
    };
    if writer.pr.is_some() {
        let from = variable("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH");
        let branch = variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME");
        writer.base = variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME");
        if variable("CI_MERGE_REQUEST_EVENT_TYPE") != "detached" {
            writer.merge = variable("CI_COMMIT_SHA");
        }
        writer.fork = from != writer.repository;
        if !from.is_empty() && !branch.is_empty() {
            writer.head = format!("{from}:{branch}");
        }
    }
    writer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)], event: &str) -> Writer {
        let variables = variables.iter().copied();
        writer(&Environment::new(variables, Some(event.as_bytes())))
    }

    const GITHUB: [(&str, &str); 4] = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_REPOSITORY", "o/r"),
        (
            "GITHUB_WORKFLOW_REF",
            "o/r/.github/workflows/ci.yml@refs/heads/main",
        ),
        ("GITHUB_RUN_ID", "77"),
    ];

    #[test]
    fn outside_ci_it_is_local() {
        assert_eq!(with(&[], ""), Writer::local());
    }

    #[test]
    fn a_push() {
        let push = [
            &GITHUB[..],
            &[
                ("GITHUB_EVENT_NAME", "push"),
                ("GITHUB_REF", "refs/heads/main"),
            ],
        ];
        let writer = with(
            &push.concat(),
            r#"{"repository":{"default_branch":"main"}}"#,
        );
        assert!(!writer.is_proposed());
        assert_eq!(writer.workflow, ".github/workflows/ci.yml");
        assert_eq!(
            (writer.default_branch.as_str(), writer.run.as_str()),
            ("main", "77")
        );
    }

    #[test]
    fn pull_requests_of_the_repository_of_forks_and_of_deleted_forks() {
        let pull = [
            &GITHUB[..],
            &[
                ("GITHUB_EVENT_NAME", "pull_request"),
                ("GITHUB_REF", "refs/pull/5/merge"),
                ("GITHUB_HEAD_REF", "topic"),
            ],
        ]
        .concat();
        let own =
            r#"{"pull_request":{"number":5,"head":{"ref":"topic","repo":{"full_name":"o/r"}}}}"#;
        let writer = with(&pull, own);
        assert_eq!(writer.proposal(), Some((5, "o/r:topic")));
        assert!(!writer.fork);
        let fork = own.replace("o/r", "evil/r");
        let writer = with(&pull, &fork);
        assert_eq!(writer.proposal(), Some((5, "evil/r:topic")));
        assert!(writer.fork);
        // What is not known makes nothing trusted.
        for event in [
            r#"{"pull_request":{"number":5,"head":{"ref":"topic","repo":null}}}"#,
            r#"{"pull_request":null}"#,
            "{}",
            "no json",
        ] {
            let writer = with(&pull, event);
            assert!(writer.fork && writer.is_proposed(), "{event}");
            assert_eq!(writer.proposal(), None, "{event}");
        }
    }

    #[test]
    fn merge_requests_of_gitlab() {
        let merge = [
            ("GITLAB_CI", "true"),
            ("CI_PROJECT_PATH", "o/r"),
            ("CI_PIPELINE_SOURCE", "merge_request_event"),
            ("CI_COMMIT_REF_NAME", "topic"),
            ("CI_MERGE_REQUEST_IID", "9"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "f/r"),
            ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "topic"),
        ];
        let writer = with(&merge, "");
        assert!(writer.fork);
        assert_eq!(writer.proposal(), Some((9, "f/r:topic")));
    }
}
