//! Which of several functions of one name in a source file a code object
//! belongs to. Its first line would tell, but moves with every edit above; the
//! number of `def`s of that name above it does not.

use std::collections::HashMap;

use crate::ffi::*;

type Lines = HashMap<Vec<u8>, Vec<u32>>;

/// Files are read once per process: the code that is loaded does not change
/// with the file. None: it cannot be read.
static FILES: Global<Option<HashMap<Vec<u8>, Option<Lines>>>> = Global::new(None);

/// Longer files are not read.
const MOST_BYTES: u64 = 4 << 20;

/// How many definitions of `name` begin above `line`, or None if none begins
/// at or below: code that was made otherwise.
pub unsafe fn ordinal(file: &[u8], name: &[u8], line: u32) -> Option<u32> {
    if file.is_empty() || file[0] == b'<' {
        return None;
    }
    let files = FILES.get().get_or_insert_default();
    if !files.contains_key(file) {
        files.insert(file.to_vec(), read(file));
    }
    let lines = files.get(file)?.as_ref()?.get(name)?;
    let above = lines.partition_point(|at| *at < line);
    (above < lines.len()).then_some(above as u32)
}

fn read(file: &[u8]) -> Option<Lines> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(file));
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return None;
    }
    Some(definitions(&std::fs::read(path).ok()?))
}

/// The lines that begin a function, by its name. Those in texts count too:
/// only the order matters.
fn definitions(source: &[u8]) -> Lines {
    let mut found = Lines::new();
    for (at, line) in lines(source).enumerate() {
        let Some(name) = defined(line) else { continue };
        found.entry(name.to_vec()).or_default().push(at as u32 + 1);
    }
    found
}

/// Python ends a line at `\n`, `\r\n` or `\r`.
fn lines(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lone = source.contains(&b'\r') && !source.windows(2).any(|two| two == b"\r\n");
    source.split(move |byte| *byte == b'\n' || lone && *byte == b'\r')
}

fn defined(line: &[u8]) -> Option<&[u8]> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0c');
    let after = |text: &'_ [u8], word: &[u8]| -> Option<usize> {
        let rest = text.strip_prefix(word)?;
        let blanks = rest.iter().take_while(|byte| is_blank(byte)).count();
        (blanks > 0).then_some(word.len() + blanks)
    };
    let start = line.iter().take_while(|byte| is_blank(byte)).count();
    let mut rest = &line[start..];
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
