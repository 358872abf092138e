//! The only room that uses git: revisions, trees and changes.
//!
//! It only reads, and never writes an index, an object or a reference. A path is bytes,
//! relative to the top of the work tree, with `/` between its parts and none at its end. The
//! top itself is the empty path.
//!
//! Objects are read as they are stored, without `refs/replace` and `info/grafts` (as with
//! `GIT_NO_REPLACE_OBJECTS`). So a commit id has the same content everywhere.

mod clean;
mod commit_graph;
mod delta;
pub(crate) mod dominators;
mod error;
mod filters;
mod graph;
mod ids;
mod index;
mod index_file;
mod kind;
mod log;
mod missing;
mod objects;
mod odd;
mod owner;
mod patch;
mod pieces;
mod repository;
mod scan;
mod scratch;
mod sweep;
mod view;
mod work;
mod written_graph;

#[cfg(all(test, unix))]
mod tests;

pub use commit_graph::CommitGraph;
pub(crate) use delta::Delta;
pub use dominators::Dag;
pub(crate) use error::{HistoryError, HistoryErrorKind};
pub use ids::{CommitId, Revision};
pub(crate) use ids::{TreeId, short};
pub use kind::{Classifier, Head, Hints};
pub(crate) use kind::{HeadKind, References};
pub(crate) use log::Span;
pub(crate) use owner::{entrust, entrusted};
pub(crate) use patch::patch;
pub(crate) use pieces::{fingerprint_on_disk, too_large};
pub use repository::Repository;
pub(crate) use scratch::Scratch;
pub(crate) use view::Entry;
pub use view::View;

pub(crate) type Result<T> = std::result::Result<T, HistoryError>;

/// The git blob id (SHA-1 over `blob LEN\0CONTENT`) of `content`.
pub(crate) fn blob_id(content: &[u8]) -> [u8; 20] {
    let oid = git2::Oid::hash_object(git2::ObjectType::Blob, content)
        .expect("hashing memory needs no repository");
    let mut id = [0; 20];
    id.copy_from_slice(oid.as_bytes());
    id
}
