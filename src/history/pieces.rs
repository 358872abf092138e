//! Files that are hashed without being in the memory, and those that are not read.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result, Seek};
use std::os::unix::fs::MetadataExt;

use bstr::ByteSlice;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use super::objects::ObjectId;
use crate::disk;
use crate::matrix::{Fingerprint, Mode};

/// Files of at most so many bytes are hashed in the memory, which is faster.
pub(super) const WHOLE: u64 = 1 << 20;

/// Larger files are not read: hashing one takes seconds, in every command.
pub const LARGEST: u64 = 1 << 30;

const UNREAD_DOMAIN: &str = "tamis 2026 file that is too large to be read";

/// How often a file is read again that somebody cut off meanwhile.
const MOST_TRIES: usize = 3;

/// What a file told, read a piece at a time.
pub(super) struct Pieces {
    pub bytes: u64,
    /// The id that git gives to the content as it is.
    pub blob: ObjectId,
    pub has_crlf: bool,
    /// Whether there may be a `$Id$` that git would change.
    pub has_ident: bool,
    pub has_zero: bool,
    digest: blake3::Hasher,
}

impl Pieces {
    /// Reads an open file up to the length that it has now: one that somebody adds to
    /// is as it was. With a `domain`, there is a fingerprint in it too.
    pub fn read(file: &File, domain: Option<&str>) -> Result<Pieces> {
        for _ in 0..MOST_TRIES {
            let mut reader = file;
            reader.rewind()?;
            let bytes = file.metadata()?.len();
            let mut sha1 = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
            sha1.update(format!("blob {bytes}\0").as_bytes());
            let mut pieces = Pieces {
                bytes,
                blob: [0; 20],
                has_crlf: false,
                has_ident: false,
                has_zero: false,
                digest: domain.map_or_else(blake3::Hasher::new, blake3::Hasher::new_derive_key),
            };
            let mut seam = Vec::new();
            let read = disk::each_piece(file, bytes, |piece| {
                sha1.update(piece);
                if domain.is_some() {
                    pieces.digest.update(piece);
                    pieces.look_at(piece, &mut seam);
                }
            })?;
            if read == bytes {
                pieces.blob.copy_from_slice(sha1.finish().as_ref());
                return Ok(pieces);
            }
        }
        let why = "it became shorter while it was read, again and again";
        Err(Error::new(ErrorKind::UnexpectedEof, why))
    }

    /// Looks for what git would change; `seam` is the end of what came before.
    fn look_at(&mut self, piece: &[u8], seam: &mut Vec<u8>) {
        self.has_zero = self.has_zero || piece.find_byte(0).is_some();
        const IDENT: &[u8] = b"$Id:";
        const CRLF: &[u8] = b"\r\n";
        let keep = IDENT.len() - 1;
        seam.extend_from_slice(&piece[..piece.len().min(keep)]);
        for part in [&seam[..], piece] {
            self.has_crlf = self.has_crlf || part.find(CRLF).is_some();
            self.has_ident = self.has_ident || part.find(IDENT).is_some();
        }
        let long = piece.len() >= keep;
        if long {
            seam.clear();
        }
        let tail = if long {
            &piece[piece.len() - keep..]
        } else {
            &[]
        };
        seam.extend_from_slice(tail);
        let cut = seam.len().saturating_sub(keep);
        seam.drain(..cut);
    }

    /// The fingerprint of the content with one byte after it.
    pub fn fingerprint_with(mut self, last: u8) -> Fingerprint {
        self.digest.update(&[last]);
        Fingerprint::of_hasher(&self.digest)
    }
}

/// What stands for the blob of a file that is too large, and for its content: made of
/// all by which git would notice an edit.
pub(super) fn unread(metadata: &Metadata) -> (ObjectId, Fingerprint) {
    let mut hasher = blake3::Hasher::new_derive_key(UNREAD_DOMAIN);
    let facts = [
        metadata.len() as i64,
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.ino() as i64,
        metadata.mode().into(),
    ];
    for fact in facts {
        hasher.update(&fact.to_le_bytes());
    }
    let mut id = [0; 20];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..20]);
    (id, Fingerprint::of_hasher(&hasher))
}

/// Why a file of this length has no fingerprint.
pub fn too_large(bytes: u64) -> String {
    format!(
        "has {}, and files of more than {} are not read",
        disk::size(bytes),
        disk::size(LARGEST)
    )
}

/// The fingerprint that git would give to a plain file wherever it lies, as it is.
///
/// # Errors
/// If it cannot be read, or is too large.
pub fn fingerprint_of(file: &File, mode: Mode) -> Result<Fingerprint> {
    let bytes = file.metadata()?.len();
    if bytes > LARGEST {
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it {}", too_large(bytes)),
        ));
    }
    let blob = match bytes > WHOLE {
        true => Pieces::read(file, None)?.blob,
        false => super::blob_id(&disk::read_open(file, bytes, LARGEST)?),
    };
    Ok(Fingerprint::of_blob(&blob, mode))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn pieces(content: &[u8]) -> Pieces {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        Pieces::read(&file, Some("x")).unwrap()
    }

    #[test]
    fn pieces_make_the_same_whole() {
        for len in [0, 1, 255, (256 << 10) - 1, 256 << 10, (600 << 10) + 7] {
            let content: Vec<u8> = (0..len).map(|at| (at % 249) as u8 | 0x80).collect();
            let read = pieces(&content);
            assert_eq!(
                (read.bytes, read.blob),
                (len as u64, super::super::blob_id(&content))
            );
            assert!(!read.has_crlf && !read.has_ident && !read.has_zero);
            let tagged = [&content[..], &[7]].concat();
            assert_eq!(
                read.fingerprint_with(7),
                Fingerprint::of_digest("x", &tagged)
            );
        }
    }

    #[test]
    fn what_git_would_change_is_seen_across_pieces() {
        for place in (256 << 10) - 5..(256 << 10) + 3 {
            for (what, has_ident) in [(&b"$Id:"[..], true), (b"\r\n", false)] {
                let mut content = vec![b'.'; 600 << 10];
                content[place..place + what.len()].copy_from_slice(what);
                let read = pieces(&content);
                assert_eq!(
                    (read.has_ident, read.has_crlf),
                    (has_ident, !has_ident),
                    "{place}"
                );
            }
        }
        // Pieces of the system may be of any length.
        let mut read = pieces(b"");
        let mut seam = Vec::new();
        for piece in [&b"x$"[..], b"I", b"d", b":\r", b"\n"] {
            read.look_at(piece, &mut seam);
        }
        assert!(read.has_ident && read.has_crlf && !read.has_zero);
        read.look_at(b"a\0", &mut seam);
        assert!(read.has_zero);
    }
}
