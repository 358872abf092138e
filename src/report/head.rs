//! The references of a revision, named for JSON and for people.

use serde_json::{Map, Value, json};

use crate::history::{CommitId, References};

/// The references that apply, with their names in JSON.
pub(crate) fn named_references(references: &References) -> Vec<(&'static str, Vec<String>)> {
    let one = |id: &Option<CommitId>| Vec::from_iter(id.iter().map(CommitId::to_string));
    let many = |ids: &[CommitId]| Vec::from_iter(ids.iter().map(CommitId::to_string));
    let mut all = vec![
        ("parents", many(&references.parents)),
        ("merge_bases", many(&references.merge_bases)),
        ("imd", one(&references.imd)),
        ("picked", one(&references.picked)),
        ("picked_parent", one(&references.picked_parent)),
        ("all_picked", many(&references.all_picked)),
        ("all_picked_parents", many(&references.all_picked_parents)),
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

/// The references that apply, as JSON: lists of commits, or a commit.
pub(crate) fn references_json(references: &References) -> Value {
    let is_list = |name| {
        let lists = ["parents", "merge_bases", "all_picked", "all_picked_parents"];
        lists.contains(&name)
    };
    let fields: Map<String, Value> = named_references(references)
        .into_iter()
        .map(|(name, ids)| match is_list(name) {
            true => (name.to_owned(), json!(ids)),
            false => (name.to_owned(), json!(ids[0])),
        })
        .collect();
    Value::Object(fields)
}
