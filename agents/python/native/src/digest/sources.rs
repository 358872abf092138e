//! Which of several functions of one name in a source file a code object
//! belongs to. Its first line would tell, but moves with every edit above; the
//! number of `def`s of that name above it does not.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::hash::ByText;
use crate::ffi::*;

/// The lines that begin a function, by its name.
type Lines = ByText<Vec<u32>>;

/// The functions that a source file defines.
pub struct Source(Lines);

/// Files are read once per process: the code that is loaded does not change
/// with the file. None: it cannot be read.
static FILES: Global<Option<ByText<Option<Rc<Source>>>>> = Global::new(None);

/// Longer files are not read.
const MOST_BYTES: u64 = 4 << 20;

unsafe extern "C" {
    fn memchr(text: *const c_void, byte: c_int, size: usize) -> *mut c_void;
}

/// The source in a file; None if there is none.
pub unsafe fn source(file: &[u8]) -> Option<Rc<Source>> {
    if file.is_empty() || file[0] == b'<' {
        return None;
    }
    let files = FILES.get().get_or_insert_default();
    if let Some(known) = files.get(file) {
        return known.clone();
    }
    let found = read(file).map(Rc::new);
    files.insert(file.to_vec(), found.clone());
    found
}

impl Source {
    /// How many definitions of `name` begin above `line`, or None if none begins
    /// at or below: code that was made otherwise.
    pub fn ordinal(&self, name: &[u8], line: u32) -> Option<u32> {
        let lines = self.0.get(name)?;
        let above = lines.partition_point(|at| *at < line);
        (above < lines.len()).then_some(above as u32)
    }
}

fn read(file: &[u8]) -> Option<Source> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(file));
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return None;
    }
    Some(Source(definitions(&std::fs::read(path).ok()?)))
}

/// Those in texts count too: only the order matters.
fn definitions(source: &[u8]) -> Lines {
    let mut found = Lines::default();
    let (mut rest, mut number) = (source, 0);
    // Python ends a line at `\n`, `\r\n` or `\r`.
    let lone = find(b'\r', source).is_some() && !source.windows(2).any(|two| two == b"\r\n");
    loop {
        number += 1;
        let end = match lone {
            true => rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')),
            false => find(b'\n', rest),
        };
        let line = &rest[..end.unwrap_or(rest.len())];
        if let Some(name) = defined(line) {
            match found.get_mut(name) {
                Some(lines) => lines.push(number),
                None => _ = found.insert(name.to_vec(), vec![number]),
            }
        }
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => return found,
        }
    }
}

/// Most of the time goes into looking for the ends of lines.
fn find(byte: u8, text: &[u8]) -> Option<usize> {
    // SAFETY: it reads within the text, and returns null or an address there.
    let found = unsafe { memchr(text.as_ptr().cast(), c_int::from(byte), text.len()) };
    (!found.is_null()).then(|| found as usize - text.as_ptr() as usize)
}

fn defined(line: &[u8]) -> Option<&[u8]> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0c');
    let after = |text: &'_ [u8], word: &[u8]| -> Option<usize> {
        let rest = text.strip_prefix(word)?;
        let blanks = rest.iter().take_while(|byte| is_blank(byte)).count();
        (blanks > 0).then_some(word.len() + blanks)
    };
    let mut rest = line;
    while let Some(inner) = rest.strip_prefix(b"    ") {
        rest = inner;
    }
    while let Some((first, inner)) = rest.split_first()
        && is_blank(first)
    {
        rest = inner;
    }
    if let Some(at) = after(rest, b"async") {
        rest = &rest[at..];
    }
    rest = &rest[after(rest, b"def")?..];
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte < 0x80)
        .unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}
