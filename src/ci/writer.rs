//! Tells who this process is, from what a CI service says.

use super::{Choice, CiContext, Environment, Provider, Trigger};
use crate::trust::Writer;

/// The facts about this process. `--ci` does not count here: the command line must not choose
/// the writer.
pub(crate) fn writer_here() -> Writer {
    writer(&Environment::of_this_process())
}

fn writer(environment: &Environment) -> Writer {
    let context = CiContext::from_environment(environment, Choice::Auto);
    context.map_or_else(Writer::local, |context| context.writer())
}

impl CiContext {
    /// The facts about this run for those who use its shared results. Unknown facts count as
    /// the worst case.
    pub fn writer(&self) -> Writer {
        let owned = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut writer = Writer {
            provider: self.provider.word().to_owned(),
            repository: owned(&self.trust.repository),
            event: self.event_word(),
            reference: self.full_reference(),
            workflow: self.workflow_file(),
            run: owned(&self.run),
            job: self.job_of_run(),
            default_branch: owned(&self.trust.default_branch_name),
            ..Writer::default()
        };
        let Some(request) = &self.pull_request else {
            writer.fork = self.trust.fork == Some(true);
            return writer;
        };
        writer.pr = request.number;
        writer.base = owned(&request.base_ref);
        writer.merge = owned(&self.merge);
        if self.provider != Provider::Generic {
            writer.base_tip = owned(&request.base);
        }
        // A deleted fork has no name any more.
        writer.fork = !self.trust.is_own();
        if let (Some(from), Some(branch)) = (&request.from, &request.branch) {
            writer.head = format!("{from}:{branch}");
        }
        writer
    }

    /// The name of this job, unique among all runs, if it is known.
    fn job_of_run(&self) -> String {
        match (&self.run, &self.job) {
            (Some(run), Some(job)) => format!("{run} {} {job}", self.attempt.unwrap_or(1)),
            _ => String::new(),
        }
    }

    /// The service's word for the event, or else GitHub's word.
    fn event_word(&self) -> String {
        if let Some(event) = &self.event {
            return event.clone();
        }
        let word = match self.trigger {
            Trigger::Push | Trigger::ForcePush | Trigger::Tag => "push",
            Trigger::PullRequest => "pull_request",
            Trigger::PullRequestTarget => "pull_request_target",
            Trigger::MergeQueue => "merge_group",
            Trigger::Schedule => "schedule",
            Trigger::Manual => "workflow_dispatch",
            Trigger::Other => "",
        };
        word.to_owned()
    }

    /// The full name of the branch or tag.
    fn full_reference(&self) -> String {
        match (&self.reference, self.provider, self.trigger) {
            (None, ..) => String::new(),
            (Some(name), Provider::GitHub, _) => name.clone(),
            (Some(name), ..) if name.starts_with("refs/") => name.clone(),
            (Some(name), _, Trigger::Tag) => format!("refs/tags/{name}"),
            (Some(name), ..) => format!("refs/heads/{name}"),
        }
    }

    /// The file of the workflow. GitHub adds its repository and ref:
    /// `owner/name/.github/workflows/ci.yml@refs/heads/main`.
    fn workflow_file(&self) -> String {
        let told = self.trust.workflow.as_deref().unwrap_or_default();
        if self.provider != Provider::GitHub {
            return told.to_owned();
        }
        let repository = self.trust.repository.as_deref().unwrap_or_default();
        let file = told.split('@').next().unwrap_or_default();
        let file = file.strip_prefix(repository);
        let file = file.and_then(|path| path.strip_prefix('/'));
        file.unwrap_or_default().to_owned()
    }
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
        // An unknown value makes nothing trusted.
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

    #[test]
    fn any_other_service_tells_who_it_is_in_variables() {
        let push = [
            ("TAMIS_CI_TRIGGER", "push"),
            ("TAMIS_CI_REPOSITORY", "o/r"),
            ("TAMIS_CI_REF", "main"),
            ("TAMIS_CI_DEFAULT_BRANCH", "true"),
        ];
        let writer = with(&push, "");
        assert!(!writer.is_proposed() && !writer.is_local());
        assert_eq!(
            (writer.event.as_str(), writer.reference.as_str()),
            ("push", "refs/heads/main")
        );
        assert_eq!(writer.default_branch, "main");
        let tag = with(&[("TAMIS_CI_TRIGGER", "tag"), ("TAMIS_CI_REF", "v1")], "");
        assert_eq!(tag.reference, "refs/tags/v1");
        // Missing facts about a pull request count as the worst case.
        let pull = with(&[("TAMIS_CI_TRIGGER", "pull-request")], "");
        assert!(pull.fork && pull.is_proposed());
        let fork = with(
            &[("TAMIS_CI_TRIGGER", "push"), ("TAMIS_CI_FORK", "true")],
            "",
        );
        assert!(fork.is_proposed());
    }

    #[test]
    fn reviews_and_comments_are_about_their_pull_request() {
        let review = [
            &GITHUB[..],
            &[
                ("GITHUB_EVENT_NAME", "pull_request_review"),
                ("GITHUB_REF", "refs/pull/5/merge"),
            ],
        ];
        let writer = with(&review.concat(), "{}");
        assert_eq!(writer.pr, Some(5));
        assert!(writer.fork && writer.is_proposed());
    }
}
