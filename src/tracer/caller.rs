//! What is known of a thread that calls: its paths, and what it may do.

use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Access, access};
use rustix::process::geteuid;

use super::notices::{Notice, text};
use crate::tracer::paths::{Way, native};

/// A thread, as a call finds it.
pub(super) struct Caller<'n> {
    pub notice: &'n Notice,
}

impl Caller<'_> {
    /// An argument that is a number of 32 bits.
    pub(super) fn number(&self, at: usize) -> i32 {
        self.notice.arguments[at] as i32
    }

    /// The path in an argument, absolute; empty if the call fails for it.
    pub(super) fn path(&self, dir: i32, at: usize) -> Option<BString> {
        if self.notice.arguments[at] == 0 {
            return Some(BString::default());
        }
        let path = text(self.notice.thread, self.notice.arguments[at]).ok()?;
        match path.starts_with(b"/") {
            true => Some(path.into()),
            // It is about an open file.
            false if path.is_empty() && dir >= 0 => self.open_file(dir),
            false if path.is_empty() => Some(BString::default()),
            false => self.below(dir, path.as_bstr()),
        }
    }

    pub(super) fn below(&self, dir: i32, path: &BStr) -> Option<BString> {
        let mut whole = match dir {
            libc::AT_FDCWD => self.link("cwd")?,
            dir => self.open_file(dir)?,
        };
        whole.push(b'/');
        whole.extend_from_slice(path);
        Some(whole)
    }

    /// The path of an open file.
    pub(super) fn open_file(&self, number: i32) -> Option<BString> {
        self.link(&format!("fd/{number}"))
    }

    fn link(&self, name: &str) -> Option<BString> {
        let link = format!("/proc/{}/{name}", self.notice.thread);
        let target = std::fs::read_link(link).ok()?;
        Some(target.into_os_string().into_vec().into())
    }

    /// Whether the caller can write to a file. Of other users nothing is known.
    pub(super) fn may_write(&self, way: &Way) -> bool {
        self.is_same_user() && access(native(&way.path), Access::WRITE_OK).is_ok()
    }

    /// Whether the caller can make and remove things in the folder of a path.
    pub(super) fn may_change_folder_of(&self, way: &Way) -> bool {
        let folder = native(&way.path).parent().filter(|_| way.has_folder);
        let Some(folder) = folder else {
            return false;
        };
        // There each owner keeps what is his.
        let is_sticky = std::fs::metadata(folder).map_or(true, |here| here.mode() & 0o1000 != 0);
        let may = access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        may && self.is_same_user() && (!is_sticky || geteuid().is_root())
    }

    fn is_same_user(&self) -> bool {
        let caller = std::fs::metadata(format!("/proc/{}", self.notice.thread));
        caller.is_ok_and(|caller| caller.uid() == geteuid().as_raw())
    }
}
