//! The only way to open a file that others may have put there.
//!
//! A repository, a restored cache and the folders of a CI service can contain named pipes,
//! devices and links to these. Opening a pipe waits for its other end, and a device may never
//! end. So these functions never wait, only open plain files, and never read a file that would
//! fill the memory. The error says what the file is.

use std::fs::{File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use bstr::BString;
use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::Errno;

const MOST: u64 = 512 << 20;

/// How much is read at once of a file that is not kept.
const PIECE: usize = 256 << 10;

/// Opens the plain file at `path` for reading.
///
/// # Errors
/// It does not exist, or is not a plain file.
pub(crate) fn open(path: impl AsRef<Path>) -> Result<File> {
    open_to_read(path.as_ref()).map(|(file, _)| file)
}

/// The same, with the file's metadata.
///
/// # Errors
/// Those of [`open`].
pub(crate) fn open_to_read(path: &Path) -> Result<(File, Metadata)> {
    open_with(path, File::options().read(true))
}

/// Opens the plain file at `path` with `options`. They may create it.
///
/// # Errors
/// It does not exist, or is not a plain file.
pub(crate) fn open_with(path: &Path, options: &mut OpenOptions) -> Result<(File, Metadata)> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match options.custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => file,
        Err(error) => {
            // A pipe without a reader, a socket, a device without a driver.
            let there = std::fs::metadata(path);
            return Err(match there.ok().and_then(|there| odd(there.file_type())) {
                Some(refused) => refused,
                // Another process holds a lease on the file, and gives it up soon.
                None if is_lease(&error) => {
                    let file = options.custom_flags(0).open(path)?;
                    let metadata = file.metadata()?;
                    return Ok((file, metadata));
                }
                None => error,
            });
        }
    };
    let metadata = file.metadata()?;
    match odd(metadata.file_type()) {
        Some(refused) => Err(refused),
        None => Ok((file, metadata)),
    }
}

fn is_lease(error: &Error) -> bool {
    error.raw_os_error() == Some(Errno::WOULDBLOCK.raw_os_error())
}

/// Why this kind of file is not opened.
fn odd(kind: FileType) -> Option<Error> {
    if kind.is_dir() {
        return Some(Error::from(ErrorKind::IsADirectory));
    }
    let what = odd_kind(kind)?;
    Some(Error::new(
        ErrorKind::InvalidInput,
        format!("it is {what} and not a plain file"),
    ))
}

/// Names a kind that is neither a file nor a directory nor a link.
pub(crate) fn odd_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        return Some("a named pipe");
    }
    if kind.is_socket() {
        return Some("a socket");
    }
    (kind.is_char_device() || kind.is_block_device()).then_some("a device")
}

/// Reads the whole file at `path`.
///
/// # Errors
/// It cannot be read, is not a plain file, or would fill the memory.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    read_at_most(path.as_ref(), MOST)
}

/// The same, with the path in the error.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn read_named(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    read(path).map_err(|error| named("read", path, &error))
}

/// Reads the whole file at `path`, which must be UTF-8.
///
/// # Errors
/// Those of [`read`].
pub(crate) fn read_to_string(path: impl AsRef<Path>) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| {
        let why = "stream did not contain valid UTF-8";
        Error::new(ErrorKind::InvalidData, why)
    })
}

/// Reads the whole file at `path` if it has at most this many bytes.
///
/// # Errors
/// It has more, or cannot be read.
pub(crate) fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>> {
    let (file, metadata) = open_to_read(path)?;
    read_open(&file, metadata.len(), most)
}

/// Reads the rest of an open file; `likely` is its expected length.
///
/// # Errors
/// It has more than `most` bytes, or cannot be read.
pub(crate) fn read_open(file: &File, likely: u64, most: u64) -> Result<Vec<u8>> {
    if likely > most {
        return Err(too_large(likely, most));
    }
    // One byte more, so that the end is noticed without growing.
    let mut bytes = Vec::with_capacity(likely as usize + 1);
    loop {
        match rustix::io::read(file, spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(bytes),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if bytes.len() as u64 > most {
            return Err(too_large(bytes.len() as u64, most));
        }
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len().max(PIECE));
        }
    }
}

fn too_large(bytes: u64, most: u64) -> Error {
    let (bytes, most) = (size(bytes), size(most));
    let why = format!("it has {bytes}; tamis reads at most {most}");
    Error::new(ErrorKind::FileTooLarge, why)
}

/// The names in a folder, sorted, and whether each is that of a folder; `None` if it cannot be
/// opened.
pub(crate) fn names(dir: &Path) -> Result<Option<Vec<(BString, bool)>>> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Ok(None);
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let is_dir = entry.file_type()?.is_dir();
        names.push((BString::from(entry.file_name().into_vec()), is_dir));
    }
    names.sort();
    Ok(Some(names))
}

/// Whether a folder of this name belongs to git or to tamis: that it is there says nothing.
pub(crate) fn is_of_tools(name: &[u8]) -> bool {
    name == b".git" || name == b".tamis"
}

/// A length for people: `3.0 GiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) if bytes.is_multiple_of(*unit) => format!("{} {name}", bytes / unit),
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Reads the first `bytes` bytes of an open file piece by piece. Returns how many there were.
///
/// # Errors
/// They cannot be read.
pub(crate) fn each_piece(file: &File, bytes: u64, mut each: impl FnMut(&[u8])) -> Result<u64> {
    let mut piece = vec![0; PIECE.min(bytes as usize)];
    let mut rest = file.take(bytes);
    let mut done = 0;
    while done < bytes {
        match rest.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => {
                each(&piece[..read]);
                done += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes a file, which may already exist. A reader at the same time may see a part of it.
///
/// # Errors
/// It cannot be written, or the path is not a plain file.
pub(crate) fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
    let path = path.as_ref();
    let written = create(path)?.write_all(content.as_ref());
    written.map_err(|error| named("write", path, &error))
}

/// Writes a file that readers see completely or not at all: a new file in the same folder
/// gets its name.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_atomically(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
    let path = path.as_ref();
    let replaced = replace(path, ".tmp", content.as_ref(), false);
    replaced.map_err(|error| named("write", path, &error))
}

/// Like [`write_atomically`], and a power cut leaves the old file or the new one. The name of
/// the new file starts with `prefix`: the owner of the folder removes what a crash left.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_durably(path: &Path, prefix: &str, content: &[u8]) -> Result<()> {
    replace(path, prefix, content, true).map_err(|error| named("write", path, &error))
}

fn replace(path: &Path, prefix: &str, content: &[u8], is_durable: bool) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(prefix)
        // The usual mode of a new file. A private file would lock out other users of a shared
        // cache.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(content)?;
    if is_durable {
        file.as_file().sync_all()?;
    }
    file.persist(path)?;
    if is_durable {
        // Makes the rename survive a power cut, if the system can. This is not an error: only
        // the rename may be lost, and the old state stays intact.
        let opened = File::options().read(true).open(folder);
        let _ = opened.and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Appends to a file, and creates it if necessary.
///
/// # Errors
/// It cannot be written, or the path is not a plain file.
pub(crate) fn append(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let written = open_with(path, File::options().append(true).create(true))
        .and_then(|(mut file, _)| file.write_all(content.as_ref()));
    written.map_err(|error| named("write", path, &error))
}

/// Creates a file at `path`, and replaces an old one.
///
/// # Errors
/// It cannot be created, or the path is not a plain file.
pub(crate) fn create(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    let made = open_with(path, &mut options).map(|(file, _)| file);
    made.map_err(|error| named("write", path, &error))
}

fn named(what: &str, path: &Path, error: &Error) -> Error {
    let why = format!("cannot {what} `{}`: {error}", path.display());
    Error::new(error.kind(), why)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn what_is_no_plain_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let pipe = at("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        std::os::unix::fs::symlink(&pipe, at("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (path, what) in [
            (pipe, "a named pipe"),
            (at("link"), "a named pipe"),
            (at("socket"), "a socket"),
            (PathBuf::from("/dev/zero"), "a device"),
            (at(""), "directory"),
        ] {
            let tries: [Result<()>; 4] = [
                read(&path).map(drop),
                read_to_string(&path).map(drop),
                write(&path, "x"),
                append(&path, "x"),
            ];
            for tried in tries {
                let error = tried.unwrap_err().to_string();
                assert!(error.contains(what), "{}: {error}", path.display());
            }
        }
        let error = read(at("none")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn files_are_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for len in [0, 1, 7, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let content: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            write(&file, &content).unwrap();
            assert_eq!(read(&file).unwrap(), content);
            assert_eq!(read_at_most(&file, len as u64).unwrap(), content);
            // Files of the kernel claim to be empty.
            let again = read_open(&open(&file).unwrap(), 0, MOST).unwrap();
            assert_eq!(again, content);
            let mut pieces = Vec::new();
            let first = len as u64 / 2;
            let read = each_piece(&open(&file).unwrap(), first, |piece| {
                pieces.extend_from_slice(piece);
            });
            assert_eq!((read.unwrap(), &pieces[..]), (first, &content[..len / 2]));
            if let Some(less) = (len as u64).checked_sub(1) {
                let error = read_at_most(&file, less).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}");
                let error = read_open(&open(&file).unwrap(), 0, less).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}");
            }
        }
        append(&file, "more").unwrap();
        assert!(read(&file).unwrap().ends_with(b"more"));
        assert_eq!(
            (size(3 << 30), size(1536)),
            ("3 GiB".into(), "1.5 KiB".into())
        );
        assert!(
            !read_to_string(Path::new("/proc/self/status"))
                .unwrap()
                .is_empty()
        );
    }

    /// Every other way to open a file waits for pipes and reads devices.
    #[test]
    fn nothing_else_opens_files() {
        let forbidden = [
            concat!("fs::", "read("),
            concat!("fs::", "read_to_string("),
            concat!("fs::", "write("),
            concat!("File::", "open("),
            concat!("File::", "create("),
            concat!("OpenOptions::", "new("),
            // That is `write_atomically`.
            concat!(".pers", "ist("),
        ];
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(sources) {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy());
            let is_test = path.components().any(|part| part.as_os_str() == "tests");
            let is_allowed = name == "tests.rs" || ALLOWED.contains(&&*name) || name == "disk.rs";
            if entry.file_type().is_dir() || is_test || is_allowed {
                continue;
            }
            let text = read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for (at, line) in code.lines().enumerate() {
                if forbidden.iter().any(|word| line.contains(word)) {
                    found.push(format!("{}:{}: {line}", path.display(), at + 1));
                }
            }
        }
        assert!(found.is_empty(), "use `crate::disk`:\n{}", found.join("\n"));
    }

    /// Files that are only for tests, the one that makes its own pipes, and the one that writes
    /// into the memory of processes.
    const ALLOWED: [&str; 4] = ["fuzz.rs", "fixtures.rs", "gate.rs", "follow.rs"];
}
