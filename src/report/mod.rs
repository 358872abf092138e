//! All output of a run: events on standard error, as text for people or as JSON lines, and a
//! command's result on standard output. No other room writes to either.

mod audit;
pub(crate) mod bug;
mod cause;
mod ci;
mod commands;
pub(crate) use crate::escape;
mod event;
mod graph;
mod head;
mod human;
mod json;
mod replay;
mod selection;
mod values;

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

pub(crate) use crate::check::{Check, CheckState};
pub(crate) use audit::{AuditJson, audit_event};
pub(crate) use cause::{CauseJson, MOST_CAUSES, cause_lines};
pub(crate) use ci::CiSelection;
pub(crate) use event::{Estimate, Event, RunSummary, SelectionMode, SelectionSummary};
pub(crate) use graph::GraphJson;
pub(crate) use head::{named_references, references_json};
pub(crate) use replay::{ChosenJson, MissJson, PUBLISHED, ReplayJson, RevisionJson, share};
pub(crate) use selection::{EvidenceJson, ReasonJson, SelectionJson, parent_number};
pub(crate) use values::refuted_event;

use crate::error::Error;
use commands::Tame;
use human::Human;
use json::JsonLines;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal that supports them, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// How the user wants the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    pub colour: Colour,
    /// Events as JSON lines instead of text.
    pub json: bool,
    /// 0 is the default; 1 and more: details; -1: results, warnings and errors; -2 and less:
    /// errors only.
    pub verbosity: i8,
    /// Whether the reader takes some lines for commands, as GitHub's runner does. Then the
    /// output is escaped so that none is one.
    pub workflow_commands: bool,
}

/// The only way out for output. It is shared by reference; lines of several threads do not
/// mix.
pub struct Report {
    json: bool,
    sinks: Mutex<Sinks>,
}

struct Sinks {
    out: Box<dyn Write + Send>,
    events: Consumer,
}

enum Consumer {
    Human(Human),
    Json(JsonLines),
}

impl Report {
    /// Writes to the standard streams of this process.
    pub fn to_standard_streams(style: Style) -> Report {
        let stderr = io::stderr();
        let colour = match style.colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => anstream::AutoStream::choice(&stderr) != anstream::ColorChoice::Never,
        };
        let bars = stderr.is_terminal();
        Report::build(
            style,
            colour,
            bars,
            Box::new(io::stdout()),
            Box::new(stderr),
        )
    }

    /// Writes to the given streams, never with a progress bar.
    pub fn to_streams(
        style: Style,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> Report {
        let colour = style.colour == Colour::Always;
        Report::build(style, colour, false, out, err)
    }

    fn build(
        style: Style,
        colour: bool,
        bars: bool,
        out: Box<dyn Write + Send>,
        err: Box<dyn Write + Send>,
    ) -> Report {
        let (out, err): (Box<dyn Write + Send>, Box<dyn Write + Send>) =
            match style.workflow_commands {
                true => (
                    Box::new(Tame::new(out, style.json)),
                    Box::new(Tame::new(err, style.json)),
                ),
                false => (out, err),
            };
        let events = if style.json {
            Consumer::Json(JsonLines::new(err))
        } else {
            Consumer::Human(Human::new(err, colour, bars, style.verbosity))
        };
        Report {
            json: style.json,
            sinks: Mutex::new(Sinks { out, events }),
        }
    }

    /// Whether results must be JSON documents (`--json`).
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Writes an event. An error of standard error is not reported, because nothing is left to
    /// report it to.
    pub fn event(&self, event: Event) {
        let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        let told = match &mut sinks.events {
            Consumer::Human(human) => human.tell(&event),
            Consumer::Json(lines) => lines.tell(&event),
        };
        drop(told);
    }

    pub fn note(&self, text: impl Into<String>) {
        self.event(Event::Note { text: text.into() });
    }

    pub fn detail(&self, text: impl Into<String>) {
        self.event(Event::Detail { text: text.into() });
    }

    pub fn warning(&self, text: impl Into<String>) {
        self.event(Event::Warning {
            text: text.into(),
            hints: Vec::new(),
        });
    }

    /// Writes a command's result to standard output unchanged. It is no error if the reader
    /// has gone (`tamis store ls | head`).
    pub fn data(&self, text: &str) -> Result<(), Error> {
        let mut sinks = self.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        match write_all(&mut sinks.out, text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let error = anyhow::Error::new(error).context("cannot write to standard output");
                Err(Error::from(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes a JSON document and a line end to standard output.
    pub fn json(&self, value: &serde_json::Value) -> Result<(), Error> {
        self.data(&format!("{value:#}\n"))
    }
}

/// Sends commands from [`CiSelection::annotations`] to GitHub's runner. They go directly to
/// standard output, because a [`Report`] would escape them.
pub(crate) fn workflow_commands(commands: &str) {
    // If this fails, only an annotation is missing.
    let _ = write_all(&mut io::stdout(), commands.as_bytes());
}

/// Shows an error at the top of a run's page on GitHub.
pub(crate) fn tell_error(text: &str) {
    workflow_commands(&commands::annotation(commands::Level::Error, text));
}

/// Shows a warning there.
pub(crate) fn tell_warning(text: &str) {
    workflow_commands(&commands::annotation(commands::Level::Warning, text));
}

/// Prints help or a usage error with colours, before any command runs: help to standard
/// output, errors to standard error.
pub(crate) fn help(styled: &str, is_error: bool) {
    // There is nobody left to tell about a failure.
    let _ = if is_error {
        write_all(
            &mut anstream::AutoStream::auto(io::stderr()),
            styled.as_bytes(),
        )
    } else {
        write_all(
            &mut anstream::AutoStream::auto(io::stdout()),
            styled.as_bytes(),
        )
    };
}

fn write_all(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    out.flush()
}

#[cfg(test)]
pub(crate) mod testing {
    //! A report whose output a test can read.

    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    pub(crate) struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Buffer {
        pub(crate) fn text(&self) -> String {
            let bytes = self.0.lock().unwrap().clone();
            String::from_utf8(bytes).unwrap()
        }
    }

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A report, its standard output and its standard error.
    pub(crate) fn report(style: Style) -> (Report, Buffer, Buffer) {
        let (out, err) = (Buffer::default(), Buffer::default());
        let report = Report::to_streams(style, Box::new(out.clone()), Box::new(err.clone()));
        (report, out, err)
    }

    /// The message that a user reads when a command ends with `error`.
    pub(crate) fn message(error: &Error) -> String {
        let mut text = format!("{}: {error}\n", error.kind().heading());
        for cause in error.causes() {
            text.push_str(&format!("because: {cause}\n"));
        }
        for hint in error.hints() {
            text.push_str(&format!("hint: {hint}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Gone(io::ErrorKind);

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_error_but_a_full_disk_is() {
        let to = |kind| {
            let out = Box::new(Gone(kind));
            Report::to_streams(Style::default(), out, Box::new(io::sink())).data("x")
        };
        assert!(to(io::ErrorKind::BrokenPipe).is_ok());
        let error = to(io::ErrorKind::StorageFull).unwrap_err();
        assert_eq!(error.to_string(), "cannot write to standard output");
    }
}
