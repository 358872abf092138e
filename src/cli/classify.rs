//! `tamis classify`.

use clap::Args;
use serde_json::{Value, json};

use super::Globals;
use super::strategy::EventArgs;
use crate::error::{Error, Exit};
use crate::history::{Classifier, Head, Repository};
use crate::report::{Report, escape, named_references, references_json};

/// Say by which git command a revision came to be.
///
/// Names the kind, the revisions that it speaks of, and what the verdict
/// rests on. A kind is called automatic only after an exact replay.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis classify                       the current commit\n  \
    tamis classify v1.0 --json\n  \
    tamis classify --pr-head refs/pull/12/head")]
pub(crate) struct ClassifyArgs {
    /// The revision
    #[arg(value_name = "REV", default_value = "HEAD")]
    revision: String,
    #[command(flatten)]
    event: EventArgs,
}

pub(crate) fn run(args: &ClassifyArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    let repository = Repository::discover(&globals.folder)?;
    let revision = repository.resolve(&args.revision)?;
    let event = args.event.clone().or_as_told(globals.ci.as_ref());
    let hints = event.resolve(&repository, revision.commit)?;
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
    json!({
        "schema": 1,
        "commit": head.commit.to_string(),
        "tree": head.tree.to_string(),
        "kind": head.kind.word(),
        "auto": head.auto,
        "references": references_json(&head.references),
        "evidence": head.evidence,
    })
}

fn text(head: &Head) -> String {
    let proof = if head.auto { ", proven by replay" } else { "" };
    let mut lines = vec![format!("{}: {}{proof}", head.commit, head.kind.word())];
    for (name, ids) in named_references(&head.references) {
        lines.push(format!("  {}: {}", name.replace('_', " "), ids.join(" ")));
    }
    for why in &head.evidence {
        lines.push(format!("  because {}", escape::line(why)));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
