//! What a test binary says, and what `go test` reads of it.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use bstr::ByteSlice;

/// The output of one process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Without its last words: whether it passed, and what it covered.
    pub text: Vec<u8>,
    /// With them, but for what it covered.
    pub whole: Vec<u8>,
    /// Whether it came to its end and said that a test had failed.
    pub has_failed: bool,
}

/// Before words for the program that turns output into JSON.
const MARK: u8 = 0x16;

pub(super) fn read(mut text: Vec<u8>) -> Told {
    if let Some(at) = text.rfind(b"coverage: ") {
        let is_line = at == 0 || text[at - 1] == b'\n';
        let end = text[at..].find_byte(b'\n').map(|length| at + length + 1);
        if let Some(end) = end.filter(|_| is_line) {
            text.drain(at..end);
        }
    }
    let whole = text.clone();
    let mut has_failed = false;
    for (words, is_failure) in [(b"PASS\n".as_slice(), false), (b"FAIL\n", true)] {
        let Some(mut at) = text.rfind(words) else {
            continue;
        };
        let end = at + words.len();
        if end != text.len() {
            continue;
        }
        if at > 0 && text[at - 1] == MARK {
            at -= 1;
        }
        text.truncate(at);
        has_failed = is_failure;
        break;
    }
    Told {
        text,
        whole,
        has_failed,
    }
}

/// The last words of a binary in which tests ran.
pub(super) fn end(
    out: &mut dyn Write,
    status: i32,
    has_failed: bool,
    _verbose: bool,
) -> Result<()> {
    // One that broke off says nothing.
    if status == 0 {
        out.write_all(b"PASS\n")?;
    } else if has_failed {
        out.write_all(b"FAIL\n")?;
    }
    Ok(out.flush()?)
}

/// Those of one without a test to run.
pub(super) fn nothing_ran(out: &mut dyn Write) -> Result<()> {
    out.write_all(b"testing: warning: no tests to run\nPASS\n")?;
    Ok(out.flush()?)
}

/// The tests that failed, as the output of all of them tells.
pub(super) fn failed(text: &[u8]) -> BTreeSet<String> {
    let lines = text
        .lines()
        .map(|line| line.strip_prefix(&[MARK]).unwrap_or(line));
    let names = lines.filter_map(|line| {
        let rest = line.strip_prefix(b"--- FAIL: ")?;
        let name = rest.split(|byte| *byte == b' ').next()?;
        Some(String::from_utf8_lossy(name).into_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_taken_away() {
        let of = |text: &str| {
            let told = read(text.as_bytes().to_vec());
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
            (text(told.text), text(told.whole), told.has_failed)
        };
        let expected =
            |text: &str, whole: &str, failed| (text.to_owned(), whole.to_owned(), failed);
        assert_eq!(
            of("x\nPASS\ncoverage: 3.1% of statements in p\n"),
            expected("x\n", "x\nPASS\n", false)
        );
        assert_eq!(
            of("no line end PASS\n"),
            expected("no line end ", "no line end PASS\n", false)
        );
        assert_eq!(
            of("\u{16}--- FAIL: TestA (0.00s)\n\u{16}FAIL\ncoverage: 1%\n").0,
            "\u{16}--- FAIL: TestA (0.00s)\n"
        );
        assert!(of("FAIL\n").2);
        assert_eq!(
            of("panic: x\n"),
            expected("panic: x\n", "panic: x\n", false)
        );
        assert_eq!(of("").0, "");
    }

    #[test]
    fn those_that_failed_are_named() {
        let text = b"\x16--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\n--- FAIL: TestB (1s)\n--- PASS: TestC (0s)\n";
        assert_eq!(
            failed(text),
            BTreeSet::from(["TestA".to_owned(), "TestB".to_owned()])
        );
    }
}
