//! What a test binary says, as if one process had run all its tests.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use bstr::ByteSlice;

/// How many tests went which way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
    pub left_out: usize,
}

/// What one process said of its test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// All before the last words.
    pub text: Vec<u8>,
    /// What it printed, where that is shown only if it fails.
    pub of_failure: Vec<u8>,
}

/// Takes apart the output of a process that ran one test.
pub(super) fn read(output: &[u8]) -> Told {
    let begin = output.find(b"running 1 test\n");
    let begin = begin.map_or(0, |at| at + b"running 1 test\n".len());
    let rest = output[begin..].trim_start_with(|c| c == '\n');
    let mut end = rest.len();
    if let Some(at) = rest.rfind(b"\ntest result: ") {
        end = at;
    }
    let mut text = &rest[..end];
    let mut of_failure = &b""[..];
    if let Some(at) = text.find(b"\nfailures:\n\n") {
        let told = &text[at + b"\nfailures:\n\n".len()..];
        let told = told
            .rfind(b"\nfailures:\n    ")
            .map_or(told, |end| &told[..end]);
        of_failure = told.trim_end();
        text = &text[..at];
    }
    Told {
        text: text.trim_end().to_vec(),
        of_failure: of_failure.to_vec(),
    }
}

pub(super) fn begin(out: &mut dyn Write, tests: usize) -> Result<()> {
    let plural = if tests == 1 { "" } else { "s" };
    writeln!(out, "\nrunning {tests} test{plural}")?;
    Ok(out.flush()?)
}

/// The failures, and the last words. `failed` has names, and what their tests printed.
pub(super) fn end(
    out: &mut dyn Write,
    failed: &[(String, Vec<u8>)],
    counts: Counts,
    duration: Duration,
) -> Result<()> {
    if !failed.is_empty() {
        writeln!(out, "\nfailures:\n")?;
        for (_, text) in failed {
            out.write_all(text)?;
            writeln!(out, "\n")?;
        }
        writeln!(out, "\nfailures:")?;
        for (name, _) in failed {
            writeln!(out, "    {name}")?;
        }
    }
    let word = if counts.failed == 0 { "ok" } else { "FAILED" };
    writeln!(
        out,
        "\ntest result: {word}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; \
         finished in {:.2}s\n",
        counts.passed,
        counts.failed,
        counts.ignored,
        counts.left_out,
        duration.as_secs_f64()
    )?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_test_says_is_taken_apart() {
        let passed =
            "\nrunning 1 test\ntest a::b ... ok\n\ntest result: ok. 1 passed; 0 failed\n\n";
        let told = read(passed.as_bytes());
        assert_eq!(told.text.as_bstr(), "test a::b ... ok");
        assert!(told.of_failure.is_empty());
        let failed = "\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n\
            said\n\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed\n\n";
        let told = read(failed.as_bytes());
        assert_eq!(told.text.as_bstr(), "test a ... FAILED");
        assert_eq!(told.of_failure.as_bstr(), "---- a stdout ----\nsaid");
        let broken = "\nrunning 1 test\nthread panicked\n";
        assert_eq!(read(broken.as_bytes()).text.as_bstr(), "thread panicked");
    }
}
