//! GitHub Actions: variables and the event's payload.
//! Source: "Variables reference" and "Webhook events and payloads" of
//! docs.github.com.

use std::path::PathBuf;

use serde_json::Value;

use super::{CiContext, Environment, Files, PullRequest, Trigger};

pub(super) fn read(environment: &Environment, mut context: CiContext) -> CiContext {
    let event = environment.text("GITHUB_EVENT_NAME").unwrap_or_default();
    context.event = environment.owned("GITHUB_EVENT_NAME");
    context.run = environment.owned("GITHUB_RUN_ID");
    context.number = environment.number("GITHUB_RUN_NUMBER");
    context.job = environment.owned("GITHUB_JOB");
    let payload = payload(environment, &mut context);
    context.head = context.commit("GITHUB_SHA", environment.text("GITHUB_SHA"));
    context.reference = environment.owned("GITHUB_REF");
    context.attempt = environment.number("GITHUB_RUN_ATTEMPT");
    context.workspace = environment.owned("GITHUB_WORKSPACE").map(PathBuf::from);
    context.files = Files {
        output: environment.owned("GITHUB_OUTPUT").map(PathBuf::from),
        summary: environment.owned("GITHUB_STEP_SUMMARY").map(PathBuf::from),
    };
    context.trust.repository = environment.owned("GITHUB_REPOSITORY");
    context.trust.protected = environment.truth("GITHUB_REF_PROTECTED");
    context.trust.workflow = environment.owned("GITHUB_WORKFLOW_REF");
    context.trust.default_branch_name =
        text(&payload, "/repository/default_branch").map(str::to_owned);
    context.trust.default_branch = is_default_branch(&context);
    context.trigger = trigger(event, &context, &payload);
    match context.trigger {
        Trigger::Push | Trigger::ForcePush | Trigger::Tag => push(&payload, &mut context),
        Trigger::PullRequest | Trigger::PullRequestTarget => {
            pull_request(environment, &payload, &mut context);
        }
        Trigger::MergeQueue => merge_group(&payload, &mut context),
        Trigger::Schedule | Trigger::Manual => context.trust.fork = Some(false),
        // Reviews and comments, for example.
        Trigger::Other if is_about_a_pull_request(&context, &payload) => {
            pull_request(environment, &payload, &mut context);
        }
        Trigger::Other => {}
    }
    context
}

fn is_about_a_pull_request(context: &CiContext, payload: &Value) -> bool {
    number_of_ref(context).is_some() || payload["pull_request"].is_object()
}

/// `refs/pull/5/merge` belongs to number 5.
fn number_of_ref(context: &CiContext) -> Option<u64> {
    let below = context.reference.as_deref()?.strip_prefix("refs/pull/")?;
    below.split('/').next()?.parse().ok()
}

/// The event's payload; `null` if it cannot be read.
fn payload(environment: &Environment, context: &mut CiContext) -> Value {
    let parsed = match &environment.payload {
        Some(Ok(bytes)) => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
        Some(Err(why)) => Err(why.clone()),
        None => Err("GITHUB_EVENT_PATH is not set".to_owned()),
    };
    parsed.unwrap_or_else(|why| {
        let note = format!("the event's payload cannot be read: {why}");
        context.notes.push(note);
        Value::Null
    })
}

fn trigger(event: &str, context: &CiContext, payload: &Value) -> Trigger {
    let reference = context.reference.as_deref().unwrap_or_default();
    match event {
        "push" if reference.starts_with("refs/tags/") => Trigger::Tag,
        // The payload itself says that the old tip is gone.
        "push" if payload["forced"] == Value::Bool(true) => Trigger::ForcePush,
        "push" => Trigger::Push,
        "pull_request" => Trigger::PullRequest,
        "pull_request_target" => Trigger::PullRequestTarget,
        "merge_group" => Trigger::MergeQueue,
        "schedule" => Trigger::Schedule,
        "workflow_dispatch" | "repository_dispatch" => Trigger::Manual,
        _ => Trigger::Other,
    }
}

fn is_default_branch(context: &CiContext) -> Option<bool> {
    let name = context.trust.default_branch_name.as_deref()?;
    let reference = context.reference.as_deref()?;
    Some(reference.strip_prefix("refs/heads/") == Some(name))
}

fn push(payload: &Value, context: &mut CiContext) {
    // Only people who may push to the repository can push, so it is no fork.
    context.trust.fork = Some(false);
    context.after = context.commit("`after` of the payload", text(payload, "/after"));
    if context.trigger == Trigger::Tag {
        return;
    }
    context.before = context.commit("`before` of the payload", text(payload, "/before"));
    context.base = context.before.clone();
}

fn pull_request(environment: &Environment, payload: &Value, context: &mut CiContext) {
    let at = |field: &str| text(payload, &format!("/pull_request/{field}"));
    let head = context.commit("the pull request's head", at("head/sha"));
    let base = context.commit("the pull request's base", at("base/sha"));
    // A deleted fork leaves no repository: it is unknown.
    let from = at("head/repo/full_name");
    let own = context.trust.repository.as_deref();
    let here = match payload.pointer("/pull_request/base") {
        // The payload must confirm that this is the base.
        Some(_) => at("base/repo/full_name")
            .filter(|base| own.is_none_or(|own| own.eq_ignore_ascii_case(base))),
        None => own,
    };
    let repositories = from.zip(here);
    context.trust.fork = repositories.map(|(from, here)| !from.eq_ignore_ascii_case(here));
    context.base = base.clone();
    // The variable names the merge that was made for the test. The payload may be older.
    let reference = context.reference.as_deref().unwrap_or_default();
    if reference.starts_with("refs/pull/") && reference.ends_with("/merge") {
        context.merge = context.head.clone();
    }
    let number = payload
        .pointer("/pull_request/number")
        .or_else(|| payload.get("number"));
    let or_told =
        |field, name| at(field).map_or_else(|| environment.owned(name), |it| Some(it.to_owned()));
    context.pull_request = Some(PullRequest {
        number: number
            .and_then(Value::as_u64)
            .or_else(|| number_of_ref(context)),
        head,
        base,
        base_ref: or_told("base/ref", "GITHUB_BASE_REF"),
        from: from.map(str::to_owned),
        branch: or_told("head/ref", "GITHUB_HEAD_REF"),
    });
}

fn merge_group(payload: &Value, context: &mut CiContext) {
    context.trust.fork = Some(false);
    context.base = context.commit(
        "the merge group's base",
        text(payload, "/merge_group/base_sha"),
    );
    let head = text(payload, "/merge_group/head_sha");
    let head = context.commit("the merge group's head", head);
    context.merge = head.or_else(|| context.head.clone());
}

/// A text of the payload; `None` if it is missing, null or something else.
fn text<'p>(payload: &'p Value, pointer: &str) -> Option<&'p str> {
    payload.pointer(pointer)?.as_str()
}
