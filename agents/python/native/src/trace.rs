//! Writes trace lines at once, so that a kill loses nothing that ran.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::ffi::Global;

/// Added to a number to get the number of its unit in a trace.
pub const SHIFT: u32 = 1 << 30;

struct Target {
    fd: RawFd,
    scope: i64,
    /// Device and inode. The program may close our descriptor and get its number for a file of
    /// its own, which must not be written to.
    identity: (u64, u64),
    path: Option<PathBuf>,
}

static TARGET: Global<Option<Target>> = Global::new(None);

pub unsafe fn is_on() -> bool {
    TARGET.get().is_some()
}

pub unsafe fn close() {
    *TARGET.get() = None;
}

/// Begins to write to `fd`. Returns whether this is another file than before; `None` if `fd`
/// is not open.
pub unsafe fn open(fd: RawFd, scope: i64) -> Option<bool> {
    let identity = identity_of(fd)?;
    let before = TARGET.get().as_ref().map(|target| target.identity);
    *TARGET.get() = Some(Target {
        fd,
        scope,
        identity,
        path: std::fs::read_link(format!("/proc/self/fd/{fd}")).ok(),
    });
    Some(before != Some(identity))
}

fn borrow(fd: RawFd) -> ManuallyDrop<File> {
    // SAFETY: never dropped, so the descriptor stays open; a bad descriptor
    // makes its methods return errors.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}

fn identity_of(fd: RawFd) -> Option<(u64, u64)> {
    if fd < 0 {
        return None;
    }
    let meta = borrow(fd).metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Writes that `number` ran, with its definition if given: file, first line, name. `false` if
/// that was not possible.
pub unsafe fn write(number: u32, definition: Option<(Vec<u8>, i32, Vec<u8>)>) -> bool {
    let Some(target) = TARGET.get() else {
        return false;
    };
    let unit = u64::from(number) + u64::from(SHIFT);
    let mut lines = Vec::with_capacity(256);
    if let Some((file, line, name)) = definition {
        lines.extend_from_slice(format!("[\"c\",{unit},").as_bytes());
        push_text(&mut lines, &file);
        lines.extend_from_slice(format!(",{line},").as_bytes());
        push_text(&mut lines, &name);
        lines.extend_from_slice(b"]\n");
    }
    let scope = target.scope;
    lines.extend_from_slice(format!("[\"+\",{scope},[{unit}],[]]\n").as_bytes());
    target.is_open() && write_all(target.fd, &lines)
}

impl Target {
    /// Whether `fd` is still our file; opens the file again if not.
    fn is_open(&mut self) -> bool {
        if identity_of(self.fd) == Some(self.identity) {
            return true;
        }
        let Some(path) = &self.path else { return false };
        let Ok(file) = OpenOptions::new().append(true).open(path) else {
            return false;
        };
        let same = file
            .metadata()
            .is_ok_and(|meta| (meta.dev(), meta.ino()) == self.identity);
        if same {
            self.fd = file.into_raw_fd();
        }
        same
    }
}

fn write_all(fd: RawFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match (&*borrow(fd)).write(bytes) {
            Ok(0) => return false,
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    true
}

/// Writes `bytes` to `fd` if it is the file with this device and inode. Returns how much was
/// written.
pub fn append(fd: RawFd, identity: (u64, u64), bytes: &[u8]) -> usize {
    if identity_of(fd) != Some(identity) {
        return 0;
    }
    (&*borrow(fd)).write(bytes).unwrap_or(0)
}

/// A JSON string, or `{"hex": …}` for text that is not UTF-8.
fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        out.extend_from_slice(b"{\"hex\":\"");
        for byte in text {
            out.extend_from_slice(format!("{byte:02x}").as_bytes());
        }
        out.extend_from_slice(b"\"}");
        return;
    };
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend_from_slice(&[b'\\', character as u8]),
            '\0'..='\x1f' => {
                out.extend_from_slice(format!("\\u{:04x}", character as u32).as_bytes());
            }
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}
