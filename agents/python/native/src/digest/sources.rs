//! Which of several functions of one name in a source file a code object
//! belongs to. Its first line would tell, but moves with every edit above. The
//! classes and functions around it do not, nor does the number of `def`s of its
//! name in these above it.

use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::hash::ByText;
use crate::ffi::*;

/// The functions that a source file defines.
#[derive(Default)]
pub struct Source {
    /// By name, from the top.
    functions: ByText<Vec<Begin>>,
    /// The names of classes and functions that others are in, with dots.
    contexts: Vec<Vec<u8>>,
}

/// Where a function begins.
struct Begin {
    line: u32,
    context: usize,
    ordinal: u32,
}

/// How far a definition with `@overload` was read.
#[derive(Clone, Copy, Default, PartialEq)]
enum Overload {
    #[default]
    No,
    /// The next `def` has it.
    Decorated,
    /// Its signature goes on.
    Begun,
    /// Its body comes.
    Signed,
}

/// What tells a function from others of its name and file.
pub struct Definition<'s> {
    /// The classes and functions around it.
    pub within: &'s [u8],
    /// How many of its name are above it there. Those for type checkers only (`overload`) have
    /// numbers of their own.
    pub ordinal: u32,
}

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
    /// The first definition of `name` at or below `line`; None if there is none: code that was
    /// made otherwise.
    pub fn definition(&self, name: &[u8], line: u32) -> Option<Definition<'_>> {
        let all = self.functions.get(name)?;
        let found = all.get(all.partition_point(|one| one.line < line))?;
        Some(Definition {
            within: &self.contexts[found.context],
            ordinal: found.ordinal,
        })
    }
}

fn read(file: &[u8]) -> Option<Source> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(file));
    let about = std::fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return None;
    }
    Some(Reading::default().all(&std::fs::read(path).ok()?))
}

/// A source that is read line by line.
#[derive(Default)]
struct Reading {
    found: Source,
    /// What the next line may be in: how far it is indented, and the number of its context.
    around: Vec<(usize, usize)>,
    /// By name with what is around it, how many there were.
    counts: ByText<u32>,
    numbers: ByText<usize>,
    overload: Overload,
    /// The last definition with `@overload`: its name, and the key of its count.
    last: (Vec<u8>, Vec<u8>),
}

impl Reading {
    /// Definitions in texts count too: only the order matters.
    fn all(mut self, source: &[u8]) -> Source {
        let (mut rest, mut number) = (source, 0);
        // Python ends a line at `\n`, `\r\n` or `\r`.
        let lone = find(b'\r', source).is_some() && !source.windows(2).any(|two| two == b"\r\n");
        loop {
            number += 1;
            let end = match lone {
                true => rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')),
                false => find(b'\n', rest),
            };
            self.line(&rest[..end.unwrap_or(rest.len())], number);
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => return self.found,
            }
        }
    }

    fn line(&mut self, line: &[u8], number: u32) {
        let (indent, rest) = indented(line);
        let rest = rest.trim_ascii_end();
        if rest.first() == Some(&b'@') {
            self.close(indent);
            const OVERLOADS: [&[u8]; 3] = [b"@overload", b"@t.overload", b"@typing.overload"];
            if OVERLOADS.contains(&rest) {
                self.overload = Overload::Decorated;
            }
            return;
        }
        let Some((is_class, name)) = defined(rest) else {
            if begins_block(rest) {
                self.close(indent);
            }
            return self.follow(rest);
        };
        self.close(indent);
        let outer = match self.around.last() {
            Some((_, context)) => *context,
            None => self.context(b""),
        };
        let path = [&self.found.contexts[outer], &b"."[..], name].concat();
        if is_class {
            self.overload = Overload::No;
        } else {
            let count = self.counts.entry(path.clone()).or_default();
            let begin = Begin {
                line: number,
                context: outer,
                ordinal: *count,
            };
            *count += 1;
            match self.found.functions.get_mut(name) {
                Some(known) => known.push(begin),
                None => _ = self.found.functions.insert(name.to_vec(), vec![begin]),
            }
            let is_overload = self.overload == Overload::Decorated;
            self.overload = Overload::No;
            if is_overload {
                self.overload = Overload::Begun;
                self.last = (name.to_vec(), path.clone());
                self.follow(rest);
            }
        }
        let context = self.context(&path);
        self.around.push((indent, context));
    }

    /// A line that is indented so far ends what is not around it.
    fn close(&mut self, indent: usize) {
        while self.around.pop_if(|outer| outer.0 >= indent).is_some() {}
    }

    /// Goes on with a definition that has `@overload`. It is for type checkers only if its body is
    /// `...`: then it has a number of its own, and none among the others.
    fn follow(&mut self, line: &[u8]) {
        match self.overload {
            Overload::No | Overload::Decorated => {}
            Overload::Begun | Overload::Signed
                if line == b"..."
                    || self.overload == Overload::Begun && line.ends_with(b": ...") =>
            {
                self.overload = Overload::No;
                let (name, path) = std::mem::take(&mut self.last);
                let stubs = self.counts.entry([&path, &b"@"[..]].concat()).or_default();
                *stubs += 1;
                let stub = *stubs | 1 << 31;
                if let Some(count) = self.counts.get_mut(&path) {
                    *count -= 1;
                }
                let known = self.found.functions.get_mut(&name);
                if let Some(begin) = known.and_then(|all| all.last_mut()) {
                    begin.ordinal = stub;
                }
            }
            Overload::Begun if line.ends_with(b":") => self.overload = Overload::Signed,
            Overload::Begun => {}
            Overload::Signed => self.overload = Overload::No,
        }
    }

    fn context(&mut self, path: &[u8]) -> usize {
        match self.numbers.get(path) {
            Some(known) => *known,
            None => {
                let contexts = &mut self.found.contexts;
                contexts.push(path.to_vec());
                self.numbers.insert(path.to_vec(), contexts.len() - 1);
                contexts.len() - 1
            }
        }
    }
}

/// Most of the time goes into looking for the ends of lines.
fn find(byte: u8, text: &[u8]) -> Option<usize> {
    // SAFETY: it reads within the text, and returns null or an address there.
    let found = unsafe { memchr(text.as_ptr().cast(), c_int::from(byte), text.len()) };
    (!found.is_null()).then(|| found as usize - text.as_ptr() as usize)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0c')
}

/// How far a line is indented, and the rest of it.
fn indented(line: &[u8]) -> (usize, &[u8]) {
    let mut column = 0;
    let mut rest = line;
    while let Some(inner) = rest.strip_prefix(b"    ") {
        (rest, column) = (inner, column + 4);
    }
    while let Some((first, inner)) = rest.split_first()
        && is_blank(*first)
    {
        column = match first {
            b'\t' => column / 8 * 8 + 8,
            _ => column + 1,
        };
        rest = inner;
    }
    (column, rest)
}

/// Whether a line begins a block in which definitions can be.
fn begins_block(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 12] = [
        b"if", b"elif", b"else", b"for", b"while", b"try", b"except", b"finally", b"with",
        b"match", b"case", b"async",
    ];
    let end = line.iter().position(|byte| !byte.is_ascii_lowercase());
    WORDS.contains(&&line[..end.unwrap_or(line.len())])
}

/// Whether a line begins a class, and the name of that or of the function that it begins.
fn defined(line: &[u8]) -> Option<(bool, &[u8])> {
    let after = |text: &'_ [u8], word: &[u8]| -> Option<usize> {
        let rest = text.strip_prefix(word)?;
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        (blanks > 0).then_some(word.len() + blanks)
    };
    let mut rest = line;
    if let Some(at) = after(rest, b"async") {
        rest = &rest[at..];
    }
    let (is_class, at) = match after(rest, b"def") {
        Some(at) => (false, at),
        None => (true, after(rest, b"class")?),
    };
    rest = &rest[at..];
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte < 0x80)
        .unwrap_or(rest.len());
    (end > 0).then_some((is_class, &rest[..end]))
}
