//! Hashes files piece by piece, and handles files that are too large to read.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result, Seek};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use bstr::ByteSlice;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use super::filters::is_executable;
use super::objects::ObjectId;
use crate::disk;
use crate::matrix::{Fingerprint, Mode};

/// Files of at most this many bytes are hashed in memory, which is faster.
pub(super) const WHOLE: u64 = 1 << 20;

/// Larger files are not read: hashing one takes seconds in every command.
pub(crate) const LARGEST: u64 = 1 << 30;

const UNREAD_DOMAIN: &str = "tamis 2026 file that is too large to be read";

/// How often a file is read again after somebody truncated it meanwhile.
const MOST_TRIES: usize = 3;

/// Looks piece by piece for content that git would change in a file.
#[derive(Default)]
pub(super) struct Pieces {
    pub bytes: u64,
    /// The id that git gives to the unchanged content.
    pub blob: ObjectId,
    pub has_crlf: bool,
    /// Whether there may be a `$Id$` that git would change.
    pub has_ident: bool,
    pub has_zero: bool,
    /// The end of the previous piece.
    seam: Vec<u8>,
}

impl Pieces {
    pub(super) fn read(file: &File) -> Result<Pieces> {
        let (bytes, blob, pieces) = hashed(file, Pieces::default, Pieces::look_at)?;
        Ok(Pieces {
            bytes,
            blob,
            ..pieces
        })
    }

    fn look_at(&mut self, piece: &[u8]) {
        const IDENT: &[u8] = b"$Id:";
        const CRLF: &[u8] = b"\r\n";
        let keep = IDENT.len() - 1;
        self.has_zero = self.has_zero || piece.find_byte(0).is_some();
        self.seam.extend(&piece[..piece.len().min(keep)]);
        for part in [&self.seam[..], piece] {
            self.has_crlf = self.has_crlf || part.find(CRLF).is_some();
            self.has_ident = self.has_ident || part.find(IDENT).is_some();
        }
        if piece.len() > keep {
            self.seam.clear();
            self.seam.extend(&piece[piece.len() - keep..]);
        }
        let cut = self.seam.len().saturating_sub(keep);
        self.seam.drain(..cut);
    }
}

/// The id of the unchanged content of an open file, and a fingerprint of it with one more
/// byte.
pub(super) fn as_it_is(file: &File, domain: &str, last: u8) -> Result<(ObjectId, Fingerprint)> {
    let fresh = || blake3::Hasher::new_derive_key(domain);
    let (_, blob, mut digest) = hashed(file, fresh, |digest, piece| {
        digest.update(piece);
    })?;
    digest.update(&[last]);
    Ok((blob, Fingerprint::of_hasher(&digest)))
}

/// The length and blob id of an open file, and what `each` makes of its pieces. It is read up
/// to its present length: bytes that are appended meanwhile do not count.
fn hashed<T>(
    file: &File,
    fresh: impl Fn() -> T,
    each: impl Fn(&mut T, &[u8]),
) -> Result<(u64, ObjectId, T)> {
    for _ in 0..MOST_TRIES {
        let mut reader = file;
        reader.rewind()?;
        let bytes = file.metadata()?.len();
        let mut sha1 = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
        sha1.update(format!("blob {bytes}\0").as_bytes());
        let mut made = fresh();
        let read = disk::each_piece(file, bytes, |piece| {
            sha1.update(piece);
            each(&mut made, piece);
        })?;
        if read == bytes {
            let mut blob = [0; 20];
            blob.copy_from_slice(sha1.finish().as_ref());
            return Ok((bytes, blob, made));
        }
    }
    let why = "it became shorter each time while it was read";
    Err(Error::new(ErrorKind::UnexpectedEof, why))
}

/// The substitute for the blob and content of a file that is too large. It is made of all
/// metadata by which git would notice an edit.
pub(super) fn unread(metadata: &Metadata) -> (ObjectId, Fingerprint) {
    let mut hasher = blake3::Hasher::new_derive_key(UNREAD_DOMAIN);
    for fact in facts(metadata) {
        hasher.update(&fact.to_le_bytes());
    }
    let mut id = [0; 20];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..20]);
    (id, Fingerprint::of_hasher(&hasher))
}

/// All metadata by which git would notice an edit.
fn facts(metadata: &Metadata) -> [i64; 7] {
    [
        metadata.len() as i64,
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.ino() as i64,
        metadata.mode().into(),
    ]
}

/// What files of this process were found to hold, by device and metadata: every matrix that is
/// compared asks for the same libraries.
static KNOWN: Mutex<BTreeMap<(u64, [i64; 7]), Fingerprint>> = Mutex::new(BTreeMap::new());

/// For how long after a change a file may change again without another time.
const RACY: Duration = Duration::from_secs(2);

/// Why a file of this length has no fingerprint.
pub(crate) fn too_large(bytes: u64) -> String {
    format!(
        "has {}, and files of more than {} are not read",
        disk::size(bytes),
        disk::size(LARGEST)
    )
}

/// The fingerprint that git would give to what is at a path, a file or a symbolic link,
/// wherever it is, without filters.
///
/// # Errors
/// It cannot be read, or is too large.
pub(crate) fn fingerprint_on_disk(path: &Path) -> anyhow::Result<Fingerprint> {
    let found = fs_err::symlink_metadata(path)?;
    let key = (found.dev(), facts(&found));
    let known = || KNOWN.lock().expect("nobody panics with it");
    if let Some(print) = known().get(&key) {
        return Ok(*print);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let changed = Duration::from_secs(found.ctime().max(found.mtime()).try_into().unwrap_or(0));
    let print = read_fingerprint(path, &found)?;
    if changed + RACY < now {
        known().insert(key, print);
    }
    Ok(print)
}

fn read_fingerprint(path: &Path, found: &Metadata) -> anyhow::Result<Fingerprint> {
    if found.is_symlink() {
        let target = fs_err::read_link(path)?;
        let blob = super::blob_id(target.as_os_str().as_bytes());
        return Ok(Fingerprint::of_blob(&blob, Mode::Symlink));
    }
    let mode = match is_executable(found) {
        true => Mode::Executable,
        false => Mode::Regular,
    };
    disk::open(path)
        .and_then(|file| fingerprint_of(&file, mode))
        .with_context(|| format!("cannot read {}", path.display()))
}

/// The fingerprint that git would give to a plain file, wherever it is, without filters.
///
/// # Errors
/// It cannot be read, or is too large.
fn fingerprint_of(file: &File, mode: Mode) -> Result<Fingerprint> {
    let bytes = file.metadata()?.len();
    if bytes > LARGEST {
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            format!("it {}", too_large(bytes)),
        ));
    }
    let blob = match bytes > WHOLE {
        true => hashed(file, || (), |(), _| {})?.1,
        false => super::blob_id(&disk::read_open(file, bytes, LARGEST)?),
    };
    Ok(Fingerprint::of_blob(&blob, mode))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    fn pieces(content: &[u8]) -> Pieces {
        Pieces::read(&file(content)).unwrap()
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
                as_it_is(&file(&content), "x", 7).unwrap(),
                (read.blob, Fingerprint::of_digest("x", &tagged))
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
        // Pieces from the system can have any length.
        let mut read = pieces(b"");
        for piece in [&b"x$"[..], b"I", b"d", b":\r", b"\n"] {
            read.look_at(piece);
        }
        assert!(read.has_ident && read.has_crlf && !read.has_zero);
        read.look_at(b"a\0");
        assert!(read.has_zero);
    }
}
