//! `tamis classify`.

use clap::Args;
use serde_json::{Map, Value, json};

use super::Globals;
use crate::error::{Error, Exit};
use crate::history::{Classifier, CommitId, Head, Hints, References, Repository};
use crate::report::{Report, escape};

/// Say by which git command a revision came to be.
///
/// Names the kind, the revisions that it speaks of, and what the verdict
/// rests on. A kind is called automatic only after an exact replay.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis classify                       the current commit\n  \
    tamis classify v1.0 --json\n  \
    tamis classify --pr-head refs/pull/12/head")]
pub struct ClassifyArgs {
    /// The revision
    #[arg(value_name = "REV", default_value = "HEAD")]
    revision: String,
    /// Where the branch pointed before the push
    #[arg(long, value_name = "REV")]
    before: Option<String>,
    /// The tip of the pull request that was merged
    #[arg(long, value_name = "REV")]
    pr_head: Option<String>,
}

pub fn run(args: &ClassifyArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let repository = Repository::discover(&globals.folder)?;
    let revision = repository.resolve(&args.revision)?;
    let resolve = |rev: &Option<String>| -> Result<Option<CommitId>, Error> {
        match rev {
            Some(rev) => Ok(Some(repository.resolve(rev)?.commit)),
            None => Ok(None),
        }
    };
    let hints = Hints {
        before: resolve(&args.before)?,
        pr_head: resolve(&args.pr_head)?,
    };
    let head = Classifier::new(&repository, revision.commit)?.classify(revision, &hints)?;
    if report.is_json() {
        report.json(&document(&head))?;
    } else {
        report.data(&text(&head))?;
    }
    Ok(Exit::DONE)
}

/// The JSON document; its shape is a promise (`docs/classify.md`).
fn document(head: &Head) -> Value {
    let references: Map<String, Value> = named(&head.references)
        .into_iter()
        .map(|(name, ids)| match is_list(name) {
            true => (name.to_owned(), json!(ids)),
            false => (name.to_owned(), json!(ids[0])),
        })
        .collect();
    json!({
        "schema": 1,
        "commit": head.commit.to_string(),
        "tree": head.tree.to_string(),
        "kind": head.kind.word(),
        "auto": head.auto,
        "references": references,
        "evidence": head.evidence,
    })
}

fn text(head: &Head) -> String {
    let proof = if head.auto { ", proven by replay" } else { "" };
    let mut lines = vec![format!("{}: {}{proof}", head.commit, head.kind.word())];
    for (name, ids) in named(&head.references) {
        lines.push(format!("  {}: {}", name.replace('_', " "), ids.join(" ")));
    }
    for why in &head.evidence {
        lines.push(format!("  because {}", escape::line(why)));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn is_list(name: &str) -> bool {
    matches!(name, "parents" | "merge_bases")
}

/// The references that apply, by the names of the JSON document.
fn named(references: &References) -> Vec<(&'static str, Vec<String>)> {
    let one = |id: &Option<CommitId>| Vec::from_iter(id.iter().map(CommitId::to_string));
    let many = |ids: &[CommitId]| Vec::from_iter(ids.iter().map(CommitId::to_string));
    let mut all = vec![
        ("parents", many(&references.parents)),
        ("merge_bases", many(&references.merge_bases)),
        ("imd", one(&references.imd)),
        ("picked", one(&references.picked)),
        ("picked_parent", one(&references.picked_parent)),
        ("reverted", one(&references.reverted)),
        ("reverted_parent", one(&references.reverted_parent)),
        ("squash_tip", one(&references.squash_tip)),
        ("pre_rebase_tip", one(&references.pre_rebase_tip)),
        ("onto", one(&references.onto)),
        ("same_tree", one(&references.same_tree)),
    ];
    all.retain(|(_, ids)| !ids.is_empty());
    all
}
