//! What each system call means for the files of a test.

use std::io::Read;
use std::os::unix::ffi::OsStringExt;

use bstr::{BStr, BString, ByteSlice};

use super::filter::NATIVE;
use super::notices::{Notice, bytes, text};
use crate::disk;
use crate::tracer::paths::{Found, Paths, Way, fingerprint, native};
use crate::tracer::seen::{Seen, Use, Write};

/// Flags that let an open file be written.
const FOR_WRITING: i32 = libc::O_WRONLY | libc::O_RDWR;

/// The longest first line of a script, and what is read of a program to find its loader.
const HEAD: usize = 4096;

/// Scripts can be interpreted by scripts.
const MOST_INTERPRETERS: usize = 5;

/// A thread, as a call finds it.
struct Caller<'n> {
    notice: &'n Notice,
}

/// What one test's calls came to.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub seen: Seen,
    paths: Paths,
    /// Whether a process of the test offers a service.
    serves: bool,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Continue,
    /// As if the kernel did not know it.
    Unknown,
}

impl Calls {
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
        // Of a process that was killed nothing can be read.
        if self.call(&caller).is_none() && waits() {
            self.seen
                .doubt("a path that a process used could not be read");
        }
        Answer::Continue
    }

    fn call(&mut self, caller: &Caller<'_>) -> Option<()> {
        let here = libc::AT_FDCWD;
        let (number, of) = (caller.notice.number, |at: usize| caller.number(at));
        match number {
            libc::SYS_openat => self.open(caller, of(0), 1, of(2)),
            libc::SYS_openat2 => {
                let how = bytes(caller.notice.thread, caller.notice.arguments[2], 8).ok()?;
                let flags = u64::from_le_bytes(how.try_into().ok()?);
                self.open(caller, of(0), 1, flags as i32)
            }
            libc::SYS_newfstatat => {
                self.look(caller, of(0), 1, of(3) & libc::AT_SYMLINK_NOFOLLOW == 0)
            }
            libc::SYS_statx => self.look(caller, of(0), 1, of(2) & libc::AT_SYMLINK_NOFOLLOW == 0),
            libc::SYS_faccessat | libc::SYS_faccessat2 => self.exists(caller, of(0), 1),
            libc::SYS_readlinkat => self.look(caller, of(0), 1, false),
            libc::SYS_execve => self.execute(caller, here, 0),
            libc::SYS_execveat => self.execute(caller, of(0), 1),
            libc::SYS_unlinkat => self.remove(caller, of(0), 1),
            libc::SYS_renameat | libc::SYS_renameat2 => self.rename(caller, (of(0), 1), (of(2), 3)),
            libc::SYS_linkat => self.link(caller, (of(0), 1), (of(2), 3)),
            libc::SYS_symlinkat => self.make(caller, of(1), 2, Write::Changed),
            libc::SYS_mkdirat => self.make(caller, of(0), 1, Write::Folder),
            libc::SYS_mknodat => self.make(caller, of(0), 1, Write::Changed),
            libc::SYS_truncate => self.make(caller, here, 0, Write::Changed),
            libc::SYS_getdents64 => self.list(caller),
            libc::SYS_connect | libc::SYS_bind => self.peer(
                caller,
                caller.notice.arguments[1],
                caller.notice.arguments[2],
            ),
            libc::SYS_sendto => self.peer(
                caller,
                caller.notice.arguments[4],
                caller.notice.arguments[5],
            ),
            libc::SYS_unshare => self.unshare(of(0)),
            libc::SYS_open_by_handle_at
            | libc::SYS_chroot
            | libc::SYS_pivot_root
            | libc::SYS_mount
            | libc::SYS_setns => {
                self.seen.doubt("a process changed what paths mean");
                Some(())
            }
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
            libc::SYS_access => self.exists(caller, here, 0),
            libc::SYS_unlink | libc::SYS_rmdir => self.remove(caller, here, 0),
            libc::SYS_rename => self.rename(caller, (here, 0), (here, 1)),
            libc::SYS_link => self.link(caller, (here, 0), (here, 1)),
            libc::SYS_symlink => self.make(caller, here, 1, Write::Changed),
            libc::SYS_mkdir => self.make(caller, here, 0, Write::Folder),
            libc::SYS_mknod => self.make(caller, here, 0, Write::Changed),
            libc::SYS_getdents => self.list(caller),
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

    /// Where the path in an argument leads; an empty one leads nowhere.
    fn way(&mut self, caller: &Caller<'_>, dir: i32, at: usize, follow: bool) -> Option<Way> {
        let path = caller.path(dir, at)?;
        Some(self.paths.follow(path.as_bstr(), follow))
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
        let how = match replaces && flags & libc::O_EXCL == 0 {
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

    fn exists(&mut self, caller: &Caller<'_>, dir: i32, at: usize) -> Option<()> {
        let way = self.way(caller, dir, at, true)?;
        self.seen.used(&way, Use::Existence);
        Some(())
    }

    fn remove(&mut self, caller: &Caller<'_>, dir: i32, at: usize) -> Option<()> {
        let way = self.way(caller, dir, at, false)?;
        self.seen.used(&way, Use::Existence);
        if way.found != Found::Missing {
            self.seen.writes(&way, Write::Replaced, fingerprint);
        }
        self.paths.forget();
        Some(())
    }

    fn make(&mut self, caller: &Caller<'_>, dir: i32, at: usize, how: Write) -> Option<()> {
        let way = self.way(caller, dir, at, how == Write::Changed)?;
        match how == Write::Folder && way.found != Found::Missing {
            // It fails.
            true => self.seen.used(&way, Use::Existence),
            false => self.seen.writes(&way, how, fingerprint),
        }
        self.paths.forget();
        Some(())
    }

    fn rename(&mut self, caller: &Caller<'_>, from: (i32, usize), to: (i32, usize)) -> Option<()> {
        let from = self.way(caller, from.0, from.1, false)?;
        let to = self.way(caller, to.0, to.1, false)?;
        self.seen.used(&from, Use::Content);
        if from.found == Found::Dir {
            self.seen.moves_folder(&from.path, &to.path);
        }
        if from.found != Found::Missing {
            self.seen.writes(&from, Write::Replaced, fingerprint);
            self.seen.writes(&to, Write::Replaced, fingerprint);
        }
        self.paths.forget();
        Some(())
    }

    fn link(&mut self, caller: &Caller<'_>, from: (i32, usize), to: (i32, usize)) -> Option<()> {
        let from = self.way(caller, from.0, from.1, false)?;
        let to = self.way(caller, to.0, to.1, false)?;
        self.seen.used(&from, Use::Content);
        self.seen.writes(&to, Write::Changed, fingerprint);
        self.paths.forget();
        Some(())
    }

    /// A program, and what the kernel reads to start it.
    fn execute(&mut self, caller: &Caller<'_>, dir: i32, at: usize) -> Option<()> {
        let mut way = self.way(caller, dir, at, true)?;
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

    /// Whom a process talks to, or as whom it lets others talk to it.
    fn peer(&mut self, caller: &Caller<'_>, address: u64, length: u64) -> Option<()> {
        let length = usize::try_from(length).ok()?.min(128);
        if length < 2 {
            return Some(());
        }
        let told = bytes(caller.notice.thread, address, length).ok()?;
        let family = i32::from(u16::from_le_bytes([told[0], told[1]]));
        let binds = caller.notice.number == libc::SYS_bind;
        match family {
            libc::AF_UNIX => self.local_peer(caller, &told[2..], binds),
            libc::AF_INET | libc::AF_INET6 if binds => {
                self.serves = true;
                Some(())
            }
            libc::AF_INET | libc::AF_INET6 => {
                let is_here = match family {
                    libc::AF_INET => told.get(4) == Some(&127),
                    _ => told.get(8..24) == Some(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
                };
                if !(is_here && self.serves) {
                    self.seen.doubt("it used the network");
                }
                Some(())
            }
            _ => Some(()),
        }
    }

    fn local_peer(&mut self, caller: &Caller<'_>, name: &[u8], binds: bool) -> Option<()> {
        let end = name.find_byte(0).unwrap_or(name.len());
        if end == 0 {
            // A name in no folder.
            self.serves |= binds;
            if !binds && !self.serves {
                self.seen.doubt("it talked to another program");
            }
            return Some(());
        }
        let path = BString::from(&name[..end]);
        let path = match path.starts_with(b"/") {
            true => path,
            false => caller.below(libc::AT_FDCWD, path.as_bstr())?,
        };
        let way = self.paths.follow(path.as_bstr(), true);
        if binds {
            self.seen.writes(&way, Write::Changed, fingerprint);
            return Some(());
        }
        self.seen.used(&way, Use::Existence);
        if way.found != Found::Missing && !self.seen.is_own(way.path.as_bstr()) {
            self.seen
                .doubt(format!("it talked to the program behind {}", way.path));
        }
        Some(())
    }

    fn unshare(&mut self, flags: i32) -> Option<()> {
        if flags & (libc::CLONE_NEWNS | libc::CLONE_NEWUSER) != 0 {
            self.seen.doubt("a process changed what paths mean");
        }
        Some(())
    }
}

impl Caller<'_> {
    /// An argument that is a number of 32 bits.
    fn number(&self, at: usize) -> i32 {
        self.notice.arguments[at] as i32
    }

    /// The path in an argument, absolute.
    fn path(&self, dir: i32, at: usize) -> Option<BString> {
        let path = text(self.notice.thread, self.notice.arguments[at]).ok()?;
        match path.starts_with(b"/") {
            true => Some(path.into()),
            // A program in an open file.
            false if path.is_empty() => self.open_file(dir),
            false => self.below(dir, path.as_bstr()),
        }
    }

    fn below(&self, dir: i32, path: &BStr) -> Option<BString> {
        let mut whole = match dir {
            libc::AT_FDCWD => self.link("cwd")?,
            dir => self.open_file(dir)?,
        };
        whole.push(b'/');
        whole.extend_from_slice(path);
        Some(whole)
    }

    /// The path of an open file.
    fn open_file(&self, number: i32) -> Option<BString> {
        self.link(&format!("fd/{number}"))
    }

    fn link(&self, name: &str) -> Option<BString> {
        let link = format!("/proc/{}/{name}", self.notice.thread);
        let target = std::fs::read_link(link).ok()?;
        Some(target.into_os_string().into_vec().into())
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
