//! The message for a bug in tamis.

use std::io::Write;
use std::panic::PanicHookInfo;

use super::escape;

/// Replaces the panic message by a short one that says that this is a bug in tamis. `cli::run`
/// turns the panic into exit code 70.
pub fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let _ = std::io::stderr().write_all(message(panic).as_bytes());
    }));
}

fn message(panic: &PanicHookInfo<'_>) -> String {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place = panic
        .location()
        .map(|at| format!(" ({}:{})", at.file(), at.line()))
        .unwrap_or_default();
    let backtrace = std::backtrace::Backtrace::capture();
    let trace = match backtrace.status() {
        std::backtrace::BacktraceStatus::Captured => format!("{backtrace}\n"),
        _ => String::new(),
    };
    format!(
        "tamis: our bug: {}{place}\n\
         tamis: the command did not finish; do not rely on what it wrote\n\
         tamis: please report it to the tamis developers with this text, the output of \
         `tamis --version`\n\
         tamis: and, if you can, that of the same command with RUST_BACKTRACE=1\n{trace}",
        escape::line(what),
    )
}
