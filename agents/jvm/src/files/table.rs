//! The native methods of the JDK that read and write files, and the positions of their paths.

use super::Look;

/// Where a call has a path. Numbers are positions of parameters.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// A string.
    Text(usize),
    /// A `java.io.File`.
    File(usize),
    /// The address of bytes that end with a zero.
    Bytes(usize),
    /// The same, relative to an open directory, the first parameter.
    Beneath(usize, usize),
    /// An open file.
    Open(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Does {
    Look(At, Look),
    /// Asks for attributes, with flags.
    Stat(At, usize),
    /// Opens a file with the system's flags.
    Open(At, usize),
    /// The same with those of `RandomAccessFile`.
    OpenRandom(At, usize),
    /// Opens a file for writing; whether at its end.
    OpenToWrite(At, usize),
    /// Creates an empty file that does not exist.
    Make(At),
    MakeFolder(At),
    Remove(At),
    /// Moves the first to the second.
    Move(At, At),
    /// Makes the second another name of the first.
    Link(At, At),
    SymbolicLink(At),
    Touch(At),
}

use At::{Beneath, Bytes, File, Open, Text};

pub struct Call {
    pub class: &'static str,
    pub method: &'static str,
    pub does: Does,
}

const fn call(class: &'static str, method: &'static str, does: Does) -> Call {
    Call {
        class,
        method,
        does,
    }
}

const IN: &str = "Ljava/io/FileInputStream;";
const OUT: &str = "Ljava/io/FileOutputStream;";
const RANDOM: &str = "Ljava/io/RandomAccessFile;";
pub const IO: &str = "Ljava/io/UnixFileSystem;";
const NIO: &str = "Lsun/nio/fs/UnixNativeDispatcher;";

/// The native methods that matter in JDK 8 to 26. In later versions names end with `0`, which
/// is left out here.
pub const CALLS: [Call; 56] = [
    call(IN, "open", Does::Look(Text(0), Look::Content)),
    call(OUT, "open", Does::OpenToWrite(Text(0), 1)),
    call(RANDOM, "open", Does::OpenRandom(Text(0), 1)),
    // JDK 8 reads archives itself.
    call(
        "Ljava/util/zip/ZipFile;",
        "open",
        Does::Look(Text(0), Look::Content),
    ),
    call(
        "Lsun/nio/fs/LinuxWatchService;",
        "inotifyAddWatch",
        Does::Look(Bytes(1), Look::Names),
    ),
    call(
        IO,
        "getBooleanAttributes",
        Does::Look(File(0), Look::Content),
    ),
    call(IO, "checkAccess", Does::Look(File(0), Look::Content)),
    call(
        IO,
        "getLastModifiedTime",
        Does::Look(File(0), Look::Content),
    ),
    call(IO, "getLength", Does::Look(File(0), Look::Content)),
    call(IO, "list", Does::Look(File(0), Look::Names)),
    call(IO, "createFileExclusively", Does::Make(Text(0))),
    call(IO, "createDirectory", Does::MakeFolder(File(0))),
    call(IO, "delete", Does::Remove(File(0))),
    call(IO, "rename", Does::Move(File(0), File(1))),
    call(IO, "setPermission", Does::Touch(File(0))),
    call(IO, "setLastModifiedTime", Does::Touch(File(0))),
    call(IO, "setReadOnly", Does::Touch(File(0))),
    call(NIO, "open", Does::Open(Bytes(0), 1)),
    call(NIO, "openat", Does::Open(Beneath(0, 1), 2)),
    call(NIO, "fopen", Does::Look(Bytes(0), Look::Content)),
    call(NIO, "stat", Does::Look(Bytes(0), Look::Content)),
    call(NIO, "stat1", Does::Look(Bytes(0), Look::Content)),
    call(NIO, "exists", Does::Look(Bytes(0), Look::Content)),
    call(NIO, "lstat", Does::Look(Bytes(0), Look::Link)),
    call(NIO, "fstatat", Does::Stat(Beneath(0, 1), 2)),
    call(NIO, "access", Does::Look(Bytes(0), Look::Content)),
    call(NIO, "readlink", Does::Look(Bytes(0), Look::Link)),
    call(NIO, "realpath", Does::Look(Bytes(0), Look::Content)),
    call(NIO, "opendir", Does::Look(Bytes(0), Look::Names)),
    call(NIO, "fdopendir", Does::Look(Open(0), Look::Names)),
    call(NIO, "link", Does::Link(Bytes(0), Bytes(1))),
    call(NIO, "symlink", Does::SymbolicLink(Bytes(1))),
    // Four new ones in JDK 26.
    call(NIO, "linkat", Does::Link(Beneath(0, 1), Beneath(2, 3))),
    call(NIO, "symlinkat", Does::SymbolicLink(Beneath(1, 2))),
    call(NIO, "mkdirat", Does::MakeFolder(Beneath(0, 1))),
    call(NIO, "readlinkat", Does::Look(Beneath(0, 1), Look::Link)),
    call(NIO, "unlink", Does::Remove(Bytes(0))),
    call(NIO, "unlinkat", Does::Remove(Beneath(0, 1))),
    call(NIO, "rmdir", Does::Remove(Bytes(0))),
    call(NIO, "mkdir", Does::MakeFolder(Bytes(0))),
    call(NIO, "mknod", Does::Make(Bytes(0))),
    call(NIO, "rename", Does::Move(Bytes(0), Bytes(1))),
    call(NIO, "renameat", Does::Move(Beneath(0, 1), Beneath(2, 3))),
    call(NIO, "chown", Does::Touch(Bytes(0))),
    call(NIO, "lchown", Does::Touch(Bytes(0))),
    call(NIO, "fchown", Does::Touch(Open(0))),
    call(NIO, "chmod", Does::Touch(Bytes(0))),
    call(NIO, "fchmod", Does::Touch(Open(0))),
    call(NIO, "fchmodat", Does::Touch(Beneath(0, 1))),
    call(NIO, "utimes", Does::Touch(Bytes(0))),
    call(NIO, "lutimes", Does::Touch(Bytes(0))),
    call(NIO, "futimes", Does::Touch(Open(0))),
    call(NIO, "futimens", Does::Touch(Open(0))),
    call(NIO, "utimensat", Does::Touch(Beneath(0, 1))),
    call(NIO, "fsetxattr", Does::Touch(Open(0))),
    call(NIO, "fremovexattr", Does::Touch(Open(0))),
];

/// The other native methods of these classes. They either use no paths or are covered
/// elsewhere: an open file was noted when it was opened, and canonical paths, which some
/// versions cache, have a hook (`hooks`).
pub const QUIET: [(&str, &[&str]); 5] = [
    (
        IO,
        &[
            "canonicalize",
            "canonicalizeWithPrefix",
            "getSpace",
            "getNameMax",
            "initIDs",
        ],
    ),
    (
        NIO,
        &[
            "fstat",
            "fgetxattr",
            "flistxattr",
            "read",
            "write",
            "rewind",
            "getlinelen",
            "readdir",
            "closedir",
            "close",
            "fclose",
            "dup",
            "getcwd",
            "statvfs",
            "pathconf",
            "fpathconf",
            "getextmntent",
            "strerror",
            "getpwuid",
            "getgrgid",
            "getpwnam",
            "getgrnam",
            "fchmodatNoFollowSupported",
            "init",
        ],
    ),
    (
        IN,
        &[
            "initIDs",
            "read",
            "readBytes",
            "length",
            "position",
            "skip",
            "available",
            "close",
            "isRegularFile",
        ],
    ),
    (OUT, &["initIDs", "write", "writeBytes", "close"]),
    (
        RANDOM,
        &[
            "initIDs",
            "read",
            "readBytes",
            "write",
            "writeBytes",
            "getFilePointer",
            "seek",
            "length",
            "setLength",
            "close",
        ],
    ),
];

/// Whether a method with this descriptor has the expected parameters.
pub fn fits(does: Does, kind: &str) -> bool {
    let kinds = parameters(kind);
    let has = |at: usize, wanted: &[&str]| kinds.get(at).is_some_and(|kind| wanted.contains(kind));
    let has_path = |path: At| match path {
        Text(at) => has(at, &["Ljava/lang/String;"]),
        File(at) => has(at, &["Ljava/io/File;"]),
        Bytes(at) => has(at, &["J"]),
        Beneath(folder, at) => has(folder, &["I"]) && has(at, &["J"]),
        Open(at) => has(at, &["I"]),
    };
    match does {
        Does::Look(path, _)
        | Does::Make(path)
        | Does::MakeFolder(path)
        | Does::Remove(path)
        | Does::SymbolicLink(path)
        | Does::Touch(path) => has_path(path),
        Does::Stat(path, at) | Does::Open(path, at) | Does::OpenRandom(path, at) => {
            has_path(path) && has(at, &["I"])
        }
        Does::OpenToWrite(path, at) => has_path(path) && has(at, &["Z"]),
        Does::Move(from, to) | Does::Link(from, to) => has_path(from) && has_path(to),
    }
}

/// The types of a descriptor's parameters.
fn parameters(kind: &str) -> Vec<&str> {
    let mut rest = kind
        .trim_start_matches('(')
        .split(')')
        .next()
        .unwrap_or(kind);
    let mut all = Vec::new();
    while !rest.is_empty() {
        let elements = rest.trim_start_matches('[');
        let len = match elements.starts_with('L') {
            true => elements.find(';').map_or(elements.len(), |at| at + 1),
            false => 1,
        };
        let (one, after) = rest.split_at(rest.len() - elements.len() + len);
        all.push(one);
        rest = after;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_with_other_parameters_are_not_replaced() {
        let kind = "(I[JLjava/lang/String;[[La/B;Z)V";
        assert_eq!(
            parameters(kind),
            ["I", "[J", "Ljava/lang/String;", "[[La/B;", "Z"]
        );
        assert!(parameters("()V").is_empty());
        assert!(fits(Does::Open(Bytes(0), 1), "(JII)I"));
        assert!(!fits(Does::Open(Bytes(0), 1), "(IJII)I") && !fits(Does::Touch(Open(0)), "()V"));
        assert!(fits(Does::Move(Beneath(0, 1), Beneath(2, 3)), "(IJIJ)V"));
    }
}
