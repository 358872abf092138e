//! Any other service: its configuration tells tamis what it knows in `TAMIS_CI_…` variables
//! (`docs/ci.md`).

use std::path::PathBuf;

use super::{CiContext, Environment, Node, PullRequest, Trigger};

pub(super) fn read(environment: &Environment, mut context: CiContext) -> CiContext {
    let named =
        |context: &mut CiContext, name: &'static str| context.commit(name, environment.text(name));
    context.head = named(&mut context, "TAMIS_CI_HEAD");
    context.base = named(&mut context, "TAMIS_CI_BASE");
    context.before = named(&mut context, "TAMIS_CI_BEFORE");
    let pr_head = named(&mut context, "TAMIS_CI_PR_HEAD");
    context.reference = environment.owned("TAMIS_CI_REF");
    context.trust.fork = environment.truth("TAMIS_CI_FORK");
    context.trust.default_branch = environment.truth("TAMIS_CI_DEFAULT_BRANCH");
    context.trust.protected = environment.truth("TAMIS_CI_PROTECTED");
    context.trust.repository = environment.owned("TAMIS_CI_REPOSITORY");
    context.number = environment.number("TAMIS_CI_RUN_NUMBER");
    context.node = node(environment);
    context.workspace = environment.owned("TAMIS_CI_WORKSPACE").map(PathBuf::from);
    if let Some(word) = environment.text("TAMIS_CI_TRIGGER") {
        match Trigger::ALL.iter().find(|trigger| trigger.word() == word) {
            Some(trigger) => context.trigger = *trigger,
            None => context
                .notes
                .push("TAMIS_CI_TRIGGER is not a known event".to_owned()),
        }
    }
    if pr_head.is_some() || context.trigger == Trigger::PullRequest {
        context.pull_request = Some(PullRequest {
            head: pr_head,
            base: context.base.clone(),
            ..PullRequest::default()
        });
    }
    if context.trust.default_branch == Some(true) {
        let name = context.reference.as_deref();
        let name = name.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name));
        context.trust.default_branch_name = name.map(str::to_owned);
    }
    if context.trigger == Trigger::Push {
        context.after = context.head.clone();
    }
    context
}

fn node(environment: &Environment) -> Option<Node> {
    let index = environment.number("TAMIS_CI_NODE_INDEX")?;
    let of = environment.number("TAMIS_CI_NODE_TOTAL")?;
    (1..=of).contains(&index).then_some(Node { index, of })
}
