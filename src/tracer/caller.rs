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
            true => Some(self.without_process(path.into())),
            // It is about an open file.
            false if path.is_empty() && dir >= 0 => self.open_file(dir),
            false if path.is_empty() => Some(BString::default()),
            false => self.below(dir, path.as_bstr()),
        }
    }

    /// A path by way of what a process has open, or where it is: what it leads to depends on
    /// who asks.
    fn without_process(&self, path: BString) -> BString {
        let thread = self.notice.thread.to_string();
        let Some((process, rest)) = of_process(path.as_bstr(), &thread) else {
            return path;
        };
        // `fd/3/file` is below the folder that is open as 3.
        let parts = if rest.starts_with(b"fd/") { 2 } else { 1 };
        let mut slashes = rest.find_iter("/").skip(parts - 1);
        let end = slashes.next().unwrap_or(rest.len());
        let target = link_of(process, &rest[..end]);
        let Some(mut target) = target.filter(|target| target.starts_with(b"/")) else {
            return path;
        };
        target.extend_from_slice(&rest[end..]);
        target
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
        link_of(&self.notice.thread.to_string(), name.as_bytes())
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

/// Where `cwd` or `fd/0` of a process leads.
fn link_of(process: &str, name: &[u8]) -> Option<BString> {
    let link = [b"/proc/", process.as_bytes(), b"/", name].concat();
    let target = std::fs::read_link(native(&link.into())).ok()?;
    Some(target.into_os_string().into_vec().into())
}

/// The process that a path is about, and what of it: `cwd/file`, `fd/0`. `thread` asks.
fn of_process<'p>(path: &'p BStr, thread: &'p str) -> Option<(&'p str, &'p [u8])> {
    const OPEN: [(&[u8], &[u8]); 3] = [
        (b"/dev/stdin", b"fd/0"),
        (b"/dev/stdout", b"fd/1"),
        (b"/dev/stderr", b"fd/2"),
    ];
    if let Some((_, open)) = OPEN.iter().find(|(name, _)| path.as_bytes() == *name) {
        return Some((thread, open));
    }
    if path.starts_with(b"/dev/fd/") {
        return Some((thread, &path[b"/dev/".len()..]));
    }
    let rest = path.strip_prefix(b"/proc/")?;
    let (process, rest) = rest.split_once_str("/")?;
    let process = match process {
        b"self" | b"thread-self" => thread,
        number => number
            .to_str()
            .ok()
            .filter(|one| one.parse::<u32>().is_ok())?,
    };
    Some((process, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_processes_are_told() {
        let told = |path: &'static str| {
            let (process, rest) = of_process(path.into(), "7")?;
            Some(format!("{process} {}", rest.as_bstr()))
        };
        assert_eq!(told("/proc/self/cwd/a/b").as_deref(), Some("7 cwd/a/b"));
        assert_eq!(told("/proc/12/fd/3").as_deref(), Some("12 fd/3"));
        assert_eq!(told("/dev/fd/63").as_deref(), Some("7 fd/63"));
        assert_eq!(told("/dev/stdin").as_deref(), Some("7 fd/0"));
        assert_eq!(told("/proc/cpuinfo"), None);
        assert_eq!(told("/proc/net/tcp"), None);
        assert_eq!(told("/etc/passwd"), None);
    }
}
