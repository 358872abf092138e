//! Recorded payloads and variables (`fixtures/ci`), and hostile ones.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/ci");
    fs_err::read(format!("{folder}/{name}.json")).unwrap()
}

fn github(event: &str, sha: &str, reference: &str, file: &str) -> CiContext {
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_SHA", sha),
        ("GITHUB_REF", reference),
        ("GITHUB_REPOSITORY", "octo-org/sample"),
        ("GITHUB_RUN_ATTEMPT", "1"),
        ("GITHUB_TOKEN", "never-read"),
    ];
    let payload = fixture(&format!("github-{file}"));
    let environment = Environment::new(variables, Some(&payload));
    CiContext::from_environment(&environment, Choice::Auto).unwrap()
}

fn gitlab(file: &str) -> CiContext {
    let variables: BTreeMap<String, String> =
        serde_json::from_slice(&fixture(&format!("gitlab-{file}"))).unwrap();
    let pairs = variables.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let environment = Environment::new(pairs, None);
    CiContext::from_environment(&environment, Choice::Auto).unwrap()
}

fn id(part: &str) -> String {
    part.repeat(40)[..40].to_owned()
}

#[test]
fn outside_of_ci_there_is_no_context() {
    let environment = Environment::new([("CI", "true"), ("GITHUB_SHA", "x")], None);
    assert_eq!(
        CiContext::from_environment(&environment, Choice::Auto),
        None
    );
}

#[test]
fn a_choice_beats_what_is_set() {
    let environment = Environment::new([("GITHUB_ACTIONS", "true")], None);
    assert_eq!(
        CiContext::from_environment(&environment, Choice::None),
        None
    );
    let named = Choice::Named(Provider::GitLab);
    let context = CiContext::from_environment(&environment, named).unwrap();
    assert_eq!(context.provider, Provider::GitLab);
}

#[test]
fn a_push_tells_both_tips_and_is_our_own() {
    let context = github("push", &id("4e3"), "refs/heads/main", "push");
    assert_eq!(context.trigger, Trigger::Push);
    assert_eq!(context.before, Some(id("01d")));
    assert_eq!(context.after, Some(id("4e3")));
    assert_eq!(context.trust.default_branch, Some(true));
    assert!(context.trust.is_own());
    assert_eq!(context.notes, [""; 0]);
}

#[test]
fn a_forced_push_is_told_apart() {
    let context = github("push", &id("4e3"), "refs/heads/core", "push-force");
    assert_eq!(context.trigger, Trigger::ForcePush);
    assert_eq!(context.before, Some(id("01d")));
    assert_eq!(context.trust.default_branch, Some(false));
}

#[test]
fn new_branches_and_tags_have_no_tip_before() {
    let branch = github("push", &id("4e3"), "refs/heads/core", "push-new-branch");
    let tag = github("push", &id("4e3"), "refs/tags/v1.2.0", "tag");
    assert_eq!((branch.trigger, branch.before), (Trigger::Push, None));
    assert_eq!((tag.trigger, tag.before), (Trigger::Tag, None));
    assert_eq!(branch.notes, [""; 0]);
}

#[test]
fn a_pull_request_tells_its_tips_and_the_merge_that_is_tested() {
    let merge = "refs/pull/12/merge";
    let context = github("pull_request", &id("3e63e"), merge, "pull_request");
    let request = context.pull_request.clone().unwrap();
    assert_eq!(context.trigger, Trigger::PullRequest);
    assert_eq!(request.number, Some(12));
    assert_eq!(request.head, Some(id("4ead")));
    assert_eq!(request.base, Some(id("ba5e")));
    // Not the payload's `merge_commit_sha`, which may be older.
    assert_eq!(context.merge, Some(id("3e63e")));
    assert_eq!(context.before, None);
    assert!(context.trust.is_own());
}

#[test]
fn a_fork_is_seen_and_a_deleted_one_is_not_trusted() {
    let merge = "refs/pull/12/merge";
    let fork = github("pull_request", &id("3e63e"), merge, "pull_request-fork");
    let gone = github(
        "pull_request",
        &id("3e63e"),
        merge,
        "pull_request-fork-deleted",
    );
    assert_eq!(fork.trust.fork, Some(true));
    assert_eq!(gone.trust.fork, None);
    assert!(!fork.trust.is_own() && !gone.trust.is_own());
}

#[test]
fn pull_request_target_is_refused() {
    let context = github(
        "pull_request_target",
        &id("ba5e"),
        "refs/heads/main",
        "pull_request_target",
    );
    assert!(context.refusal().is_some());
    assert_eq!(context.merge, None);
    assert!(!context.trust.is_own());
    let other = github("push", &id("4e3"), "refs/heads/main", "push");
    assert_eq!(other.refusal(), None);
}

#[test]
fn a_merge_group_tells_its_base() {
    let reference = "refs/heads/gh-readonly-queue/main/pr-12";
    let context = github("merge_group", &id("3e63e"), reference, "merge_group");
    assert_eq!(context.trigger, Trigger::MergeQueue);
    assert_eq!(context.base, Some(id("ba5e")));
    assert_eq!(context.merge, Some(id("3e63e")));
    assert_eq!(context.before, None);
}

#[test]
fn schedules_and_manual_runs_have_no_hints() {
    for (event, trigger) in [
        ("schedule", Trigger::Schedule),
        ("workflow_dispatch", Trigger::Manual),
    ] {
        let context = github(event, &id("4e3"), "refs/heads/main", event);
        assert_eq!(context.trigger, trigger);
        assert_eq!((context.before, context.base), (None, None));
        assert_eq!(context.trust.default_branch, Some(true));
    }
}

#[test]
fn a_hostile_payload_gives_no_hint_and_a_note() {
    let merge = "refs/pull/12/merge";
    let context = github("pull_request", &id("3e63e"), merge, "hostile");
    let request = context.pull_request.unwrap();
    assert_eq!(
        (request.head, request.base, request.number),
        // The number comes from GITHUB_REF, which the payload cannot change.
        (None, None, Some(12))
    );
    assert_eq!(context.trust.fork, None);
    assert_eq!(
        context.notes,
        ["the pull request's head is not a commit id"]
    );
}

#[test]
fn an_unreadable_payload_is_a_note() {
    for payload in [&b"{\"a\":"[..], b"", b"\xff\xfe"] {
        let variables = [("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "push")];
        let environment = Environment::new(variables, Some(payload));
        let context = CiContext::from_environment(&environment, Choice::Auto).unwrap();
        assert_eq!(context.before, None);
        assert_eq!(context.notes.len(), 1, "{:?}", context.notes);
    }
}

#[test]
fn gitlab_tells_pushes_and_tags() {
    let push = gitlab("push");
    assert_eq!(push.trigger, Trigger::Push);
    assert_eq!(push.before, Some(id("01d")));
    assert_eq!(push.depth, Some(20));
    assert_eq!(push.trust.default_branch, Some(true));
    let tag = gitlab("tag");
    assert_eq!((tag.trigger, tag.before), (Trigger::Tag, None));
    assert_eq!(tag.trust.default_branch, Some(false));
}

#[test]
fn gitlab_tells_merge_requests_merged_results_and_trains_apart() {
    let head_of = |context: &CiContext| context.pull_request.clone().unwrap().head;
    let plain = gitlab("merge-request");
    assert_eq!(
        (plain.trigger, plain.merge.clone()),
        (Trigger::PullRequest, None)
    );
    assert_eq!(head_of(&plain), Some(id("4ead")));
    assert_eq!(plain.base, Some(id("ba5e")));
    let merged = gitlab("merged-result");
    assert_eq!(merged.trigger, Trigger::PullRequest);
    assert_eq!(merged.merge, Some(id("3e63e")));
    assert_eq!(head_of(&merged), Some(id("4ead")));
    let train = gitlab("merge-train");
    assert_eq!(train.trigger, Trigger::MergeQueue);
    assert_eq!(train.merge, Some(id("3e63e")));
    assert!(gitlab("merge-request").trust.is_own());
    assert!(!gitlab("merge-request-fork").trust.is_own());
}

#[test]
fn gitlab_tells_schedules_and_parallel_copies() {
    assert_eq!(gitlab("schedule").trigger, Trigger::Schedule);
    assert_eq!(gitlab("parallel").node, Some(Node { index: 2, of: 4 }));
}

#[test]
fn any_other_service_hands_over_what_it_knows() {
    let before = id("01d");
    let variables = [
        ("TAMIS_CI_TRIGGER", "push"),
        ("TAMIS_CI_BEFORE", before.as_str()),
        ("TAMIS_CI_FORK", "false"),
    ];
    let environment = Environment::new(variables, None);
    let context = CiContext::from_environment(&environment, Choice::Auto).unwrap();
    assert_eq!(
        (context.provider, context.trigger),
        (Provider::Generic, Trigger::Push)
    );
    assert_eq!(context.before, Some(before));
    assert!(context.trust.is_own());
}

#[test]
fn each_service_names_its_workspace() {
    for (service, name) in [
        ("GITHUB_ACTIONS", "GITHUB_WORKSPACE"),
        ("GITLAB_CI", "CI_PROJECT_DIR"),
        ("TAMIS_CI_FORK", "TAMIS_CI_WORKSPACE"),
    ] {
        let environment = Environment::new([(service, "true"), (name, "/builds/o/r")], None);
        let read = |choice| CiContext::from_environment(&environment, choice);
        let workspace = read(Choice::Auto).unwrap().workspace;
        assert_eq!(workspace, Some("/builds/o/r".into()), "{service}");
        assert!(read(Choice::None).is_none());
    }
    // Variables of other services do not count.
    let environment =
        Environment::new([("CI_PROJECT_DIR", "/x"), ("GITHUB_ACTIONS", "true")], None);
    let context = CiContext::from_environment(&environment, Choice::Auto).unwrap();
    assert_eq!(context.workspace, None);
}

#[test]
fn tokens_are_not_in_the_list() {
    let variables = [("GITHUB_TOKEN", "s3cret"), ("CI_JOB_TOKEN", "s3cret")];
    let environment = Environment::new(variables, None);
    assert_eq!(environment.names().count(), 0);
    assert!(VARIABLES.iter().all(|name| name.starts_with("TAMIS_CI_")));
    assert_eq!(VARIABLES.len(), 14);
}

/// A payload of some event with one value replaced.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let names = ["github-push", "github-pull_request", "github-merge_group"];
    (0..names.len(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        move |(at, place, byte)| {
            let mut bytes = fixture(names[at]);
            let place = place.index(bytes.len());
            bytes[place] = byte;
            bytes
        },
    )
}

proptest! {
    #[test]
    fn whatever_is_damaged_a_hint_is_a_commit_id(payload in damaged(), event in 0..3usize) {
        let event = ["push", "pull_request", "merge_group"][event];
        let variables = [("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", event)];
        let environment = Environment::new(variables, Some(&payload));
        let context = CiContext::from_environment(&environment, Choice::Auto).unwrap();
        let request = context.pull_request.unwrap_or_default();
        let ids = [context.head, context.base, context.before, context.merge, request.head];
        for id in ids.into_iter().flatten() {
            prop_assert!(id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
    }
}

#[test]
fn damaged_payloads_give_no_hint_that_is_no_commit() {
    // The first byte of the input chooses the event of the payload.
    let events = ["push", "pull_request", "merge_group", "schedule"];
    let named = [
        (0, "push"),
        (0, "push-force"),
        (1, "pull_request"),
        (1, "pull_request-fork"),
        (1, "hostile"),
        (2, "merge_group"),
        (3, "schedule"),
    ];
    let seed = |(event, name): (u8, &str)| {
        let payload = fixture(&format!("github-{name}"));
        [&[event], payload.as_slice()].concat()
    };
    let reader = crate::fuzz::Reader {
        name: "event payloads",
        seeds: named.map(seed).to_vec(),
        words: &[
            "null",
            "{}",
            "[]",
            "\"head\":",
            "\"repo\":",
            "\"sha\":",
            "true",
            "1e400",
            "\\ud83d",
            "[[[[[",
            "-1",
        ],
        mend: |_| {},
        read: &|bytes| {
            let Some((event, payload)) = bytes.split_first() else {
                return String::new();
            };
            let event = events[usize::from(*event) % events.len()];
            let variables = [
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_EVENT_NAME", event),
                ("GITHUB_REF", "refs/pull/1/merge"),
                ("GITHUB_REPOSITORY", "octo-org/sample"),
            ];
            let environment = Environment::new(variables, Some(payload));
            let context = CiContext::from_environment(&environment, Choice::Auto).unwrap();
            let request = context.pull_request.unwrap_or_default();
            let ids = [
                context.head,
                context.base,
                context.before,
                context.merge,
                request.head,
            ];
            for id in ids.iter().flatten() {
                let is_name = matches!(id.len(), 40 | 64);
                assert!(is_name && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
            }
            format!(
                "{event} {} {:?} {:?}",
                "x".repeat(ids.iter().flatten().count()),
                context.trust.fork,
                context.notes.first()
            )
        },
    };
    reader.feed();
}
