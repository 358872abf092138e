//! Finds the rules of [`super::clean`] that apply to a path, and reads a file of the work tree
//! as git would store it.
//!
//! tamis never runs filter programs (`filter.NAME.clean`, for example Git LFS) and never
//! applies `working-tree-encoding`: a path with one of them is *opaque*. Its stored form is
//! known while the stat data in the index match the file, as in git. After an edit it is
//! unknown, and the file gets a fingerprint that no stored content has. That costs test runs,
//! never a missed change.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::Seek;
use std::path::Path;

use bstr::{BStr, ByteSlice, ByteVec};
use git2::{AttrCheckFlags, AttrValue};

use super::clean::{Attribute, LineEnds, clean_ident, clean_line_ends, line_ends};
use super::objects::{ObjectId, Stored};
use super::pieces::{LARGEST, Pieces, WHOLE, as_it_is, unread};
use super::repository::Repository;
use super::{HistoryError, Result, blob_id};
use crate::disk;
use crate::matrix::{Fingerprint, Mode};

const OPAQUE_DOMAIN: &str = "tamis 2026 content before an external filter";

/// A larger file whose line ends or `$Id$` git would change is opaque: to change them, all of
/// it must be in memory.
const LARGEST_CLEANED: u64 = 64 << 20;

/// The repository's settings that concern the files of its work tree.
pub(super) struct Filters {
    auto_crlf: bool,
    /// Whether any filter program is configured.
    has_programs: bool,
    /// Whether the executable bit on disk counts.
    pub trusts_mode: bool,
    /// Whether symbolic links are checked out as such.
    pub has_symlinks: bool,
}

/// A file of the work tree, as git would store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiskFile {
    pub fingerprint: Fingerprint,
    pub stored: Stored,
    /// Whether the stored form is unknown. Then `stored` is the file as it is on disk.
    pub is_opaque: bool,
    /// The length of a file that is too large to read. Its fingerprint comes from its metadata
    /// and proves nothing.
    pub unread: Option<u64>,
}

impl DiskFile {
    pub(super) fn known(stored: Stored) -> DiskFile {
        DiskFile {
            fingerprint: stored.fingerprint(),
            stored,
            is_opaque: false,
            unread: None,
        }
    }

    fn opaque(stored: Stored, fingerprint: Fingerprint) -> DiskFile {
        DiskFile {
            fingerprint,
            stored,
            is_opaque: true,
            unread: None,
        }
    }
}

impl Filters {
    pub(super) fn of(repository: &Repository) -> Filters {
        let config = repository.git().config();
        let auto_crlf = match config.as_ref().map(|c| c.get_string("core.autocrlf")) {
            Ok(Ok(value)) if value.eq_ignore_ascii_case("input") => true,
            _ => repository.switch("core.autocrlf", false),
        };
        let has_programs = config.as_ref().is_ok_and(|config| {
            config
                .entries(Some(r"^filter\..*\.(clean|process)$"))
                .is_ok_and(|mut entries| entries.next().is_some())
        });
        Filters {
            auto_crlf,
            has_programs,
            trusts_mode: repository.switch("core.filemode", true),
            has_symlinks: repository.switch("core.symlinks", true),
        }
    }

    /// The mode that git would store for the file. `before` is the mode in the index or the
    /// commit; it decides what the file system cannot tell.
    ///
    /// `None` for what git does not store: directories, sockets, devices.
    pub(super) fn mode(&self, metadata: &Metadata, before: Option<Mode>) -> Option<Mode> {
        let kind = metadata.file_type();
        if kind.is_symlink() {
            return Some(Mode::Symlink);
        }
        if !kind.is_file() {
            return None;
        }
        match before {
            Some(Mode::Symlink) if !self.has_symlinks => Some(Mode::Symlink),
            Some(mode @ (Mode::Regular | Mode::Executable)) if !self.trusts_mode => Some(mode),
            _ if self.trusts_mode && is_executable(metadata) => Some(Mode::Executable),
            _ => Some(Mode::Regular),
        }
    }

    /// Hashes the file or link at `path` as git would store it. `place` is its path on disk,
    /// `indexed` the blob in the index.
    pub(super) fn hash(
        &self,
        repository: &Repository,
        path: &BStr,
        place: &Path,
        mode: Mode,
        indexed: Option<ObjectId>,
    ) -> Result<DiskFile> {
        let unreadable = |error: std::io::Error| HistoryError::disk("read", place, &error);
        if mode == Mode::Symlink {
            let content = self.read(repository, path, place, mode, indexed)?.0;
            let id = blob_id(&content);
            return Ok(DiskFile::known(Stored { id, mode }));
        }
        let (file, metadata) = disk::open_to_read(place).map_err(unreadable)?;
        if metadata.len() > LARGEST {
            let (id, fingerprint) = unread(&metadata);
            return Ok(DiskFile {
                unread: Some(metadata.len()),
                ..DiskFile::opaque(Stored { id, mode }, fingerprint)
            });
        }
        if metadata.len() > WHOLE
            && let Some(hashed) = self.hash_pieces(repository, path, place, mode, &file)?
        {
            return Ok(hashed);
        }
        let content =
            disk::read_open(&file, metadata.len(), LARGEST_CLEANED).map_err(unreadable)?;
        let (content, is_opaque) = self.stored_form(repository, path, content, indexed)?;
        let stored = Stored {
            id: blob_id(&content),
            mode,
        };
        if !is_opaque {
            return Ok(DiskFile::known(stored));
        }
        let mut tagged = content;
        tagged.push(mode as u8);
        let fingerprint = Fingerprint::of_digest(OPAQUE_DOMAIN, &tagged);
        Ok(DiskFile::opaque(stored, fingerprint))
    }

    /// Does the same for a file that need not fit into memory; `None` if it must.
    fn hash_pieces(
        &self,
        repository: &Repository,
        path: &BStr,
        place: &Path,
        mode: Mode,
        file: &File,
    ) -> Result<Option<DiskFile>> {
        let unreadable = |error: std::io::Error| HistoryError::disk("read", place, &error);
        let opaque = || {
            let (id, fingerprint) =
                as_it_is(file, OPAQUE_DOMAIN, mode as u8).map_err(unreadable)?;
            Ok(Some(DiskFile::opaque(Stored { id, mode }, fingerprint)))
        };
        if self.is_opaque(repository, path)? {
            return opaque();
        }
        let pieces = Pieces::read(file).map_err(unreadable)?;
        let is_changed = match self.line_ends(repository, path, pieces.has_crlf)? {
            LineEnds::Keep => false,
            // Content with a zero byte is not text.
            LineEnds::Guess => !pieces.has_zero,
            LineEnds::Convert => true,
        } || pieces.has_ident
            && attribute(repository, path, "ident")? == Attribute::Set;
        if is_changed && pieces.bytes > LARGEST_CLEANED {
            return opaque();
        }
        if is_changed {
            let mut start = file;
            start.rewind().map_err(unreadable)?;
            return Ok(None);
        }
        let stored = Stored {
            id: pieces.blob,
            mode,
        };
        Ok(Some(DiskFile::known(stored)))
    }

    /// The content as git would store it. If only an external filter can tell, the content as
    /// it is and `true`.
    pub(super) fn read(
        &self,
        repository: &Repository,
        path: &BStr,
        place: &Path,
        mode: Mode,
        indexed: Option<ObjectId>,
    ) -> Result<(Vec<u8>, bool)> {
        let unreadable = |error: std::io::Error| HistoryError::disk("read", place, &error);
        if mode == Mode::Symlink && place.is_symlink() {
            let target = std::fs::read_link(place).map_err(unreadable)?;
            return Ok((Vec::from_path_lossy(&target).into_owned(), false));
        }
        let content = crate::disk::read(place).map_err(unreadable)?;
        if mode == Mode::Symlink {
            return Ok((content, false));
        }
        self.stored_form(repository, path, content, indexed)
    }

    /// Does what [`Filters::read`] does, for a file with this content.
    fn stored_form(
        &self,
        repository: &Repository,
        path: &BStr,
        content: Vec<u8>,
        indexed: Option<ObjectId>,
    ) -> Result<(Vec<u8>, bool)> {
        if self.is_opaque(repository, path)? {
            return Ok((content, true));
        }
        let rule = self.line_ends(repository, path, content.find("\r\n").is_some())?;
        let has_ident = content.find("$Id:").is_some()
            && attribute(repository, path, "ident")? == Attribute::Set;
        let cleaned = clean_line_ends(Cow::Owned(content), rule, || {
            repository.object(indexed?, git2::ObjectType::Blob).ok()
        });
        let cleaned = if has_ident {
            clean_ident(cleaned)
        } else {
            cleaned
        };
        Ok((cleaned.into_owned(), false))
    }

    /// Whether the stored form of `path` needs a program or another encoding.
    fn is_opaque(&self, repository: &Repository, path: &BStr) -> Result<bool> {
        if let Attribute::Value(encoding) = attribute(repository, path, "working-tree-encoding")?
            && !encoding.eq_ignore_ascii_case(b"utf-8")
        {
            return Ok(true);
        }
        if !self.has_programs {
            return Ok(false);
        }
        let Attribute::Value(driver) = attribute(repository, path, "filter")? else {
            return Ok(false);
        };
        let Ok(config) = repository.git().config() else {
            return Ok(true);
        };
        let driver = driver.to_str_lossy();
        Ok(["clean", "process"]
            .iter()
            .any(|verb| config.get_entry(&format!("filter.{driver}.{verb}")).is_ok()))
    }

    fn line_ends(&self, repository: &Repository, path: &BStr, has_crlf: bool) -> Result<LineEnds> {
        if !has_crlf {
            return Ok(LineEnds::Keep);
        }
        Ok(line_ends(
            &attribute(repository, path, "text")?,
            &attribute(repository, path, "crlf")?,
            &attribute(repository, path, "eol")?,
            self.auto_crlf,
        ))
    }
}

/// The attribute `name` of `path` on the way into git, from the `.gitattributes` of the work
/// tree, or else of the index.
fn attribute(repository: &Repository, path: &BStr, name: &str) -> Result<Attribute> {
    repository.check_rules(path)?;
    let value = repository
        .git()
        .get_attr_bytes(&path.to_path_lossy(), name, AttrCheckFlags::FILE_THEN_INDEX)
        .map_err(|error| {
            HistoryError::git(format!("cannot read the attributes of {path}"), &error)
        })?;
    Ok(match AttrValue::from_bytes(value) {
        AttrValue::True => Attribute::Set,
        AttrValue::False => Attribute::Unset,
        AttrValue::Unspecified => Attribute::Unspecified,
        AttrValue::String(text) => Attribute::Value(text.into()),
        AttrValue::Bytes(text) => Attribute::Value(text.into()),
    })
}

#[cfg(unix)]
pub(super) fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}
