//! The one room that knows git: revisions, trees, what changed.

/// The git blob id (SHA-1 over `blob LEN\0CONTENT`) of `content`.
pub fn blob_id(content: &[u8]) -> [u8; 20] {
    let oid = git2::Oid::hash_object(git2::ObjectType::Blob, content)
        .expect("hashing memory needs no repository");
    let mut id = [0; 20];
    id.copy_from_slice(oid.as_bytes());
    id
}
