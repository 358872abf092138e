//! What each system call means for the files of a test.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::{BString, ByteSlice};

use super::caller::Caller;
use super::filter::{FCHMODAT2, NATIVE};
use super::notices::{Notice, bytes};
use super::parts::Parts;
use super::peers::Peers;
use crate::disk;
use crate::tracer::Part;
use crate::tracer::paths::{Found, Paths, Way, fingerprint, native};
use crate::tracer::seen::{Seen, Use, Write};

/// Flags that let an open file be written.
const FOR_WRITING: i32 = libc::O_WRONLY | libc::O_RDWR;

/// The longest first line of a script, and what is read of a program to find its loader.
const HEAD: usize = 4096;

/// Scripts can be interpreted by scripts.
const MOST_INTERPRETERS: usize = 5;

/// What one test's calls came to.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub seen: Seen,
    pub(super) paths: Paths,
    pub(super) peers: Peers,
    pub(super) parts: Option<Parts>,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Continue,
    /// As if the kernel did not know it.
    Unknown,
}

impl Calls {
    /// The test begins in this folder.
    pub(super) fn begins_in(&mut self, folder: &Path) {
        let folder = BString::from(folder.as_os_str().as_bytes());
        let way = self.paths.follow(folder.as_bstr(), true);
        self.seen.used(&way, Use::Existence);
    }

    /// What all calls came to: as a whole, or in parts.
    pub(super) fn end(mut self) -> (Seen, Vec<Part>) {
        let parts = self.parts.map(|parts| parts.end(&mut self.seen));
        (self.seen, parts.unwrap_or_default())
    }

    /// Takes in a call, which happens after that; `waits` says whether it still will.
    pub(super) fn take(&mut self, notice: &Notice, waits: impl Fn() -> bool) -> Answer {
        if notice.architecture != NATIVE {
            self.seen.doubt("a program for another architecture ran");
            return Answer::Continue;
        }
        if notice.number == libc::SYS_io_uring_setup {
            // By rings files are opened without calls. Who asks can do without.
            return Answer::Unknown;
        }
        let caller = Caller { notice };
        if let Some(parts) = &mut self.parts {
            parts.turn_to(notice.thread, &mut self.seen);
        }
        // Of a process that was killed nothing can be read.
        if self.call(&caller).is_none() && waits() {
            self.seen
                .doubt("a path that a process used could not be read");
        }
        Answer::Continue
    }

    fn call(&mut self, caller: &Caller<'_>) -> Option<()> {
        let here = libc::AT_FDCWD;
        let of = |at: usize| caller.number(at);
        match caller.notice.number {
            libc::SYS_openat => self.open(caller, of(0), 1, of(2)),
            libc::SYS_openat2 => self.open_how(caller),
            libc::SYS_newfstatat => {
                self.look(caller, of(0), 1, of(3) & libc::AT_SYMLINK_NOFOLLOW == 0)
            }
            libc::SYS_statx => self.look(caller, of(0), 1, of(2) & libc::AT_SYMLINK_NOFOLLOW == 0),
            libc::SYS_faccessat | libc::SYS_faccessat2 => self.access(caller, of(0), 1, of(2)),
            libc::SYS_readlinkat => self.look(caller, of(0), 1, false),
            libc::SYS_execve => self.execute(caller, here, 0),
            libc::SYS_execveat => self.execute(caller, of(0), 1),
            libc::SYS_unlinkat => self.remove(caller, (of(0), 1), of(2) & libc::AT_REMOVEDIR != 0),
            libc::SYS_renameat => self.rename(caller, (of(0), 1), (of(2), 3), 0),
            libc::SYS_renameat2 => self.rename(caller, (of(0), 1), (of(2), 3), of(4) as u32),
            libc::SYS_linkat => self.link(caller, (of(0), 1), (of(2), 3), of(4)),
            libc::SYS_symlinkat => self.make(caller, (of(1), 2), Write::Changed),
            libc::SYS_mkdirat => self.make(caller, (of(0), 1), Write::Folder),
            libc::SYS_mknodat => self.make(caller, (of(0), 1), Write::Changed),
            libc::SYS_truncate => self.change(caller, (here, 0)),
            libc::SYS_fchmodat | FCHMODAT2 => self.change(caller, (of(0), 1)),
            libc::SYS_getdents64 => self.list(caller),
            libc::SYS_connect
            | libc::SYS_bind
            | libc::SYS_sendto
            | libc::SYS_sendmsg
            | libc::SYS_sendmmsg => self.talk(caller),
            libc::SYS_unshare | libc::SYS_clone => self.unshare(caller.notice.arguments[0]),
            libc::SYS_clone3 => {
                let flags = bytes(caller.notice.thread, caller.notice.arguments[0], 8).ok()?;
                self.unshare(u64::from_le_bytes(flags.try_into().ok()?))
            }
            _ => self.asks_for(caller),
        }
    }

    /// Calls that fail where nothing is.
    fn asks_for(&mut self, caller: &Caller<'_>) -> Option<()> {
        let here = libc::AT_FDCWD;
        match caller.notice.number {
            libc::SYS_chdir
            | libc::SYS_statfs
            | libc::SYS_getxattr
            | libc::SYS_listxattr
            | libc::SYS_setxattr
            | libc::SYS_removexattr => self.exists(caller, here, 0, true),
            libc::SYS_lgetxattr
            | libc::SYS_llistxattr
            | libc::SYS_lsetxattr
            | libc::SYS_lremovexattr => self.exists(caller, here, 0, false),
            libc::SYS_fchownat | libc::SYS_utimensat | libc::SYS_name_to_handle_at => {
                self.exists(caller, caller.number(0), 1, true)
            }
            libc::SYS_inotify_add_watch => self.exists(caller, here, 1, true),
            libc::SYS_open_by_handle_at
            | libc::SYS_open_tree
            | libc::SYS_move_mount
            | libc::SYS_fsmount
            | libc::SYS_mount_setattr
            | libc::SYS_chroot
            | libc::SYS_pivot_root
            | libc::SYS_mount
            | libc::SYS_umount2
            | libc::SYS_setns => self.other_paths(),
            _ => self.older(caller),
        }
    }

    /// Calls in the form without a directory.
    #[cfg(target_arch = "x86_64")]
    fn older(&mut self, caller: &Caller<'_>) -> Option<()> {
        let here = libc::AT_FDCWD;
        match caller.notice.number {
            libc::SYS_open => self.open(caller, here, 0, caller.number(1)),
            libc::SYS_creat => {
                let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
                self.open(caller, here, 0, flags)
            }
            libc::SYS_stat => self.look(caller, here, 0, true),
            libc::SYS_lstat | libc::SYS_readlink => self.look(caller, here, 0, false),
            libc::SYS_access => self.access(caller, here, 0, caller.number(1)),
            libc::SYS_unlink => self.remove(caller, (here, 0), false),
            libc::SYS_rmdir => self.remove(caller, (here, 0), true),
            libc::SYS_rename => self.rename(caller, (here, 0), (here, 1), 0),
            libc::SYS_link => self.link(caller, (here, 0), (here, 1), 0),
            libc::SYS_symlink => self.make(caller, (here, 1), Write::Changed),
            libc::SYS_mkdir => self.make(caller, (here, 0), Write::Folder),
            libc::SYS_mknod => self.make(caller, (here, 0), Write::Changed),
            libc::SYS_chmod => self.change(caller, (here, 0)),
            libc::SYS_getdents => self.list(caller),
            libc::SYS_chown | libc::SYS_utime | libc::SYS_utimes => {
                self.exists(caller, here, 0, true)
            }
            libc::SYS_lchown => self.exists(caller, here, 0, false),
            libc::SYS_futimesat => self.exists(caller, caller.number(0), 1, true),
            _ => self.unknown(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn older(&mut self, _caller: &Caller<'_>) -> Option<()> {
        self.unknown()
    }

    fn unknown(&mut self) -> Option<()> {
        self.seen
            .doubt("a program with another convention of calls ran");
        Some(())
    }

    /// What some processes of the test see as another tree of files.
    fn unshare(&mut self, flags: u64) -> Option<()> {
        match flags & (libc::CLONE_NEWNS | libc::CLONE_NEWUSER) as u64 {
            0 => Some(()),
            _ => self.other_paths(),
        }
    }

    fn other_paths(&mut self) -> Option<()> {
        self.seen.doubt("a process changed what paths mean");
        Some(())
    }

    /// Where the path in an argument leads.
    pub(super) fn way(
        &mut self,
        caller: &Caller<'_>,
        dir: i32,
        at: usize,
        follow: bool,
    ) -> Option<Way> {
        let path = caller.path(dir, at)?;
        if let Some(parts) = &mut self.parts {
            parts.marked(caller.notice.thread, path.as_bstr(), &self.seen);
        }
        Some(match path.is_empty() {
            true => Way::nowhere(),
            false => self.paths.follow(path.as_bstr(), follow),
        })
    }

    /// `openat2`, which has its flags in a structure.
    fn open_how(&mut self, caller: &Caller<'_>) -> Option<()> {
        let how = bytes(caller.notice.thread, caller.notice.arguments[2], 24).ok()?;
        let number = |at: usize| Some(u64::from_le_bytes(how[at..at + 8].try_into().ok()?));
        let (flags, resolve) = (number(0)?, number(16)?);
        if resolve & libc::RESOLVE_IN_ROOT != 0 {
            self.other_paths()?;
        }
        self.open(caller, caller.number(0), 1, flags as i32)
    }

    fn open(&mut self, caller: &Caller<'_>, dir: i32, at: usize, flags: i32) -> Option<()> {
        let follow = flags & libc::O_NOFOLLOW == 0;
        let way = self.way(caller, dir, at, follow)?;
        let creates = flags & libc::O_CREAT != 0;
        if flags & FOR_WRITING == 0 && !creates {
            self.seen.used(&way, Use::Content);
            return Some(());
        }
        if way.found == Found::Missing && !creates {
            self.seen.used(&way, Use::Existence);
            return Some(());
        }
        if matches!(way.found, Found::Special | Found::Dir) {
            self.seen.used(&way, Use::Existence);
            return Some(());
        }
        let replaces = flags & libc::O_TRUNC != 0 && flags & FOR_WRITING != 0;
        let works = || match way.found {
            Found::Missing => caller.may_change_folder_of(&way),
            _ => caller.may_write(&way),
        };
        let how = match replaces && flags & libc::O_EXCL == 0 && works() {
            true => Write::Replaced,
            false => Write::Changed,
        };
        match flags & FOR_WRITING {
            // Only made if it is missing.
            0 if way.found == Found::File => self.seen.used(&way, Use::Content),
            _ => self.seen.writes(&way, how, fingerprint),
        }
        Some(())
    }

    /// The metadata of a file tell its size, a link where it leads.
    fn look(&mut self, caller: &Caller<'_>, dir: i32, at: usize, follow: bool) -> Option<()> {
        let way = self.way(caller, dir, at, follow)?;
        self.seen.used(&way, Use::Content);
        Some(())
    }

    fn exists(&mut self, caller: &Caller<'_>, dir: i32, at: usize, follow: bool) -> Option<()> {
        let way = self.way(caller, dir, at, follow)?;
        self.seen.used(&way, Use::Existence);
        Some(())
    }

    /// Whether a file can be read, written or run is part of what it is.
    fn access(&mut self, caller: &Caller<'_>, dir: i32, at: usize, mode: i32) -> Option<()> {
        let way = self.way(caller, dir, at, true)?;
        let how = match mode {
            libc::F_OK => Use::Existence,
            _ => Use::Content,
        };
        self.seen.used(&way, how);
        Some(())
    }

    /// A program, and what the kernel reads to start it.
    fn execute(&mut self, caller: &Caller<'_>, dir: i32, at: usize) -> Option<()> {
        let mut way = self.way(caller, dir, at, true)?;
        *self.seen.executed.entry(way.path.clone()).or_default() += 1;
        for _ in 0..MOST_INTERPRETERS {
            self.seen.used(&way, Use::Content);
            let Some(interpreter) = interpreter(&way) else {
                break;
            };
            let path = match interpreter.starts_with(b"/") {
                true => interpreter,
                false => caller.below(libc::AT_FDCWD, interpreter.as_bstr())?,
            };
            way = self.paths.follow(path.as_bstr(), true);
        }
        Some(())
    }

    fn list(&mut self, caller: &Caller<'_>) -> Option<()> {
        let folder = caller.open_file(caller.number(0))?;
        if folder.starts_with(b"/") {
            self.seen.lists(folder);
        }
        Some(())
    }
}

/// The program that the kernel starts for another: of a script, the one that its first line
/// names; else its loader.
fn interpreter(way: &Way) -> Option<BString> {
    if way.found != Found::File {
        return None;
    }
    let mut head = Vec::new();
    let file = disk::open(native(&way.path)).ok()?;
    file.take(HEAD as u64).read_to_end(&mut head).ok()?;
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = line.lines().next()?.trim_ascii();
        let end = line.find_byteset(b" \t").unwrap_or(line.len());
        return Some(line[..end].into());
    }
    loader(&head)
}

/// What a program of 64 bits (ELF) names as its interpreter.
fn loader(head: &[u8]) -> Option<BString> {
    const INTERPRETER: u32 = 3;
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let mut value = [0u8; 8];
        value[..bytes].copy_from_slice(head.get(at..at + bytes)?);
        usize::try_from(u64::from_le_bytes(value)).ok()
    };
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for at in (0..count).map(|one| start + one * size) {
        if number(at, 4)? as u32 == INTERPRETER {
            let (from, length) = (number(at + 8, 8)?, number(at + 32, 8)?);
            let name = head.get(from..from + length)?;
            return Some(name.trim_end_with(|end| end == '\0').into());
        }
    }
    None
}
