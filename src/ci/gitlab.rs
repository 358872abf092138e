//! GitLab CI: predefined variables. There is no payload.
//! Source: "Predefined CI/CD variables reference" of docs.gitlab.com.

use std::path::PathBuf;

use super::{CiContext, Environment, Node, PullRequest, Trigger};

pub(super) fn read(environment: &Environment, mut context: CiContext) -> CiContext {
    context.head = context.commit("CI_COMMIT_SHA", environment.text("CI_COMMIT_SHA"));
    context.reference = environment.owned("CI_COMMIT_REF_NAME");
    context.trigger = trigger(environment);
    context.workspace = environment.owned("CI_PROJECT_DIR").map(PathBuf::from);
    context.event = environment.owned("CI_PIPELINE_SOURCE");
    context.run = environment.owned("CI_PIPELINE_ID");
    context.number = environment.number("CI_PIPELINE_IID");
    context.job = environment.owned("CI_JOB_ID");
    context.depth = environment.number("GIT_DEPTH").filter(|depth| *depth > 0);
    context.node = node(environment);
    context.trust.repository = environment.owned("CI_PROJECT_PATH");
    context.trust.workflow = environment.owned("CI_CONFIG_PATH");
    context.trust.protected = environment.truth("CI_COMMIT_REF_PROTECTED");
    let branch = environment.text("CI_COMMIT_BRANCH");
    context.trust.default_branch_name = environment.owned("CI_DEFAULT_BRANCH");
    context.trust.default_branch = environment
        .text("CI_DEFAULT_BRANCH")
        .map(|default| branch == Some(default));
    match context.trigger {
        _ if environment.text("CI_MERGE_REQUEST_IID").is_some() => {
            merge_request(environment, &mut context);
        }
        Trigger::PullRequest | Trigger::MergeQueue => merge_request(environment, &mut context),
        Trigger::Push => push(environment, &mut context),
        _ => context.trust.fork = Some(false),
    }
    context
}

fn trigger(environment: &Environment) -> Trigger {
    let kind = environment.text("CI_MERGE_REQUEST_EVENT_TYPE");
    match environment.text("CI_PIPELINE_SOURCE").unwrap_or_default() {
        "merge_request_event" if kind == Some("merge_train") => Trigger::MergeQueue,
        "merge_request_event" => Trigger::PullRequest,
        // A child pipeline inherits the variables of its merge request.
        "parent_pipeline" if environment.text("CI_MERGE_REQUEST_IID").is_some() => {
            Trigger::PullRequest
        }
        "push" if environment.text("CI_COMMIT_TAG").is_some() => Trigger::Tag,
        "push" => Trigger::Push,
        "schedule" => Trigger::Schedule,
        "web" | "api" | "trigger" | "pipeline" | "parent_pipeline" | "chat" | "webide" => {
            Trigger::Manual
        }
        _ => Trigger::Other,
    }
}

fn push(environment: &Environment, context: &mut CiContext) {
    context.trust.fork = Some(false);
    let before = environment.text("CI_COMMIT_BEFORE_SHA");
    context.before = context.commit("CI_COMMIT_BEFORE_SHA", before);
    context.after = context.head.clone();
    context.base = context.before.clone();
}

fn merge_request(environment: &Environment, context: &mut CiContext) {
    let name = "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA";
    let source = context.commit(name, environment.text(name));
    let name = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA";
    let target = context.commit(name, environment.text(name));
    let name = "CI_MERGE_REQUEST_DIFF_BASE_SHA";
    let diff_base = context.commit(name, environment.text(name));
    // Only merged results and merge trains set both. There the commit is a merge that GitLab
    // made for the test; otherwise it is the tip of the source branch.
    let merged = source.is_some() && source != context.head;
    let differ = |one, other| {
        let both = environment.text(one).zip(environment.text(other));
        both.map(|(one, other)| one != other)
    };
    context.trust.fork = differ(
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID",
        "CI_MERGE_REQUEST_PROJECT_ID",
    )
    .or_else(|| differ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", "CI_PROJECT_PATH"));
    context.base = target.clone().or(diff_base);
    context.merge = merged.then(|| context.head.clone()).flatten();
    let number = environment.text("CI_MERGE_REQUEST_IID");
    context.pull_request = Some(PullRequest {
        number: number.and_then(|number| number.parse().ok()),
        head: source.or_else(|| context.head.clone()),
        base: target,
        base_ref: environment.owned("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        from: environment.owned("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH"),
        branch: environment.owned("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
    });
}

/// `parallel: N` numbers the copies of a job from 1.
fn node(environment: &Environment) -> Option<Node> {
    let index = environment.number("CI_NODE_INDEX")?;
    let of = environment.number("CI_NODE_TOTAL")?;
    (1..=of).contains(&index).then_some(Node { index, of })
}
