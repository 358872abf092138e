//! Events as text for people, on standard error.
//!
//! Each line begins with `tamis:`, because the output of the tests is next to it.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};

use super::escape;
use super::{Estimate, Event, RunSummary, SelectionMode, SelectionSummary};
use crate::count::{counted, number};
use crate::error::Error;

const PREFIX: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const CARE: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

pub(super) struct Human {
    err: Box<dyn Write + Send>,
    colour: bool,
    /// Whether standard error is a terminal, on which a progress bar may be drawn.
    bars: bool,
    verbosity: i8,
    bar: Option<ProgressBar>,
}

impl Human {
    pub(super) fn new(
        err: Box<dyn Write + Send>,
        colour: bool,
        bars: bool,
        verbosity: i8,
    ) -> Human {
        Human {
            err,
            colour,
            bars,
            verbosity,
            bar: None,
        }
    }

    pub(super) fn tell(&mut self, event: &Event) -> io::Result<()> {
        if self.verbosity < least_verbosity(event) {
            return Ok(());
        }
        match event {
            Event::Began { work, total } => self.begin(work, *total)?,
            Event::Advanced { done } => {
                if let Some(bar) = &self.bar {
                    bar.set_position(*done);
                }
            }
            Event::Ended => self.clear_bar(),
            Event::Detail { text } => self.line(&[(PREFIX, text)])?,
            Event::Note { text } => self.line(&[(Style::new(), text)])?,
            Event::Warning { text, hints } => {
                self.line(&[(CARE, "warning: "), (Style::new(), text)])?;
                self.hints(hints)?;
            }
            Event::Fallback { reason } => {
                self.line(&[(CARE, "running more: "), (Style::new(), reason)])?
            }
            Event::StoreTrouble {
                place,
                reason,
                consequence,
            } => {
                let text = format!("{place}: {reason}; {consequence}");
                self.line(&[(CARE, "store: "), (Style::new(), &text)])?;
            }
            Event::Selected(summary) => self.selected(summary)?,
            Event::Ran(summary) => self.ran(summary)?,
            Event::Failed(error) => self.failed(error)?,
        }
        self.err.flush()
    }

    fn begin(&mut self, work: &str, total: Option<u64>) -> io::Result<()> {
        self.clear_bar();
        if !self.bars {
            return self.line(&[(PREFIX, work)]);
        }
        let (bar, template) = match total {
            Some(total) => (
                ProgressBar::new(total),
                "tamis: {msg} {bar:30} {human_pos}/{human_len} {eta} left",
            ),
            None => (
                ProgressBar::new_spinner(),
                "tamis: {msg} {spinner} {human_pos}",
            ),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(escape::line(work).into_owned());
        self.bar = Some(bar);
        Ok(())
    }

    fn clear_bar(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn selected(&mut self, summary: &SelectionSummary) -> io::Result<()> {
        let headline = selection_headline(summary);
        let rest = selection_details(summary);
        self.line(&[(STRONG, &headline), (Style::new(), &rest)])
    }

    fn ran(&mut self, summary: &RunSummary) -> io::Result<()> {
        let headline = format!("{} ran", counted(summary.ran, "test"));
        let style = if summary.failed == 0 { STRONG } else { BAD };
        self.line(&[(style, &headline), (Style::new(), &run_details(summary))])?;
        if summary.incomplete > 0 {
            let reason = summary.incomplete_reason.as_deref().unwrap_or("unknown");
            let text = format!(
                "{} will run again next time, whatever changes: {reason}",
                counted(summary.incomplete, "test")
            );
            self.line(&[(CARE, "note: "), (Style::new(), &text)])?;
        }
        Ok(())
    }

    fn failed(&mut self, error: &Error) -> io::Result<()> {
        self.clear_bar();
        let message = error.to_string();
        let mut lines = message.lines();
        let heading = format!("{}: ", error.kind().heading());
        self.line(&[(BAD, &heading), (STRONG, lines.next().unwrap_or_default())])?;
        for line in lines {
            self.indented("| ", Style::new(), line)?;
        }
        for cause in error.causes() {
            for (at, line) in cause.lines().enumerate() {
                let mark = if at == 0 { "because: " } else { "| " };
                self.indented(mark, Style::new(), line)?;
            }
        }
        self.hints(error.hints())
    }

    fn hints(&mut self, hints: &[String]) -> io::Result<()> {
        for hint in hints {
            self.indented("hint: ", HINT, hint)?;
        }
        Ok(())
    }

    fn indented(&mut self, mark: &str, style: Style, text: &str) -> io::Result<()> {
        let mark = format!("  {mark}");
        self.line(&[(style, &mark), (Style::new(), text)])
    }

    /// Writes one line of styled, escaped parts; hides a progress bar meanwhile.
    fn line(&mut self, parts: &[(Style, &str)]) -> io::Result<()> {
        let mut line = self.paint(PREFIX, "tamis: ");
        for (style, text) in parts {
            line.push_str(&self.paint(*style, &escape::line(text)));
        }
        line.push('\n');
        match self.bar.clone() {
            Some(bar) => bar.suspend(|| self.err.write_all(line.as_bytes())),
            None => self.err.write_all(line.as_bytes()),
        }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() && style != Style::new() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// The lowest verbosity at which an event is shown.
fn least_verbosity(event: &Event) -> i8 {
    match event {
        Event::Detail { .. } => 1,
        Event::Began { .. } | Event::Advanced { .. } | Event::Ended | Event::Note { .. } => 0,
        Event::Warning { .. }
        | Event::Fallback { .. }
        | Event::StoreTrouble { .. }
        | Event::Selected(_)
        | Event::Ran(_) => -1,
        Event::Failed(_) => i8::MIN,
    }
}

fn selection_headline(summary: &SelectionSummary) -> String {
    let available = summary.available.map(|all| counted(all, "test"));
    match (summary.mode, summary.selected, available) {
        (SelectionMode::All, _, Some(all)) => format!("all {all} selected"),
        (SelectionMode::All, _, None) => "all tests selected".to_owned(),
        (SelectionMode::None, _, Some(all)) => format!("nothing selected of {all}"),
        (SelectionMode::None, _, None) => "nothing selected".to_owned(),
        (SelectionMode::Subset, Some(some), Some(all)) => {
            format!("{} of {all} selected", number(some))
        }
        (SelectionMode::Subset, Some(some), None) => {
            format!("{} selected", counted(some, "test"))
        }
        (SelectionMode::Subset, None, _) => "some tests selected".to_owned(),
    }
}

fn selection_details(summary: &SelectionSummary) -> String {
    let mut text = String::new();
    let marks = [
        (summary.new, "new"),
        (summary.forced, "forced"),
        (summary.unconfirmed, "only if values differ"),
    ];
    let marks: Vec<String> = marks
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", number(count)))
        .collect();
    if !marks.is_empty() {
        text.push_str(&format!(" ({})", marks.join(", ")));
    }
    if !summary.reason.is_empty() {
        text.push_str(&format!(": {}", summary.reason));
    }
    if let Some(Estimate {
        all_seconds,
        selected_seconds,
        compiles,
    }) = summary.estimate
        && summary.mode == SelectionMode::Subset
        && summary.selected != Some(0)
    {
        text.push_str(&format!(
            "; about {} instead of {}",
            seconds(selected_seconds),
            seconds(all_seconds)
        ));
        if compiles {
            text.push_str(", compiling not counted");
        }
    }
    text
}

fn run_details(summary: &RunSummary) -> String {
    let mut text = format!(" in {}", seconds(summary.seconds));
    if summary.failed > 0 {
        text.push_str(&format!(", {} failed", number(summary.failed)));
    }
    if summary.confirmed > 0 {
        let confirmed = number(summary.confirmed);
        text.push_str(&format!(", {confirmed} left out as values are the same"));
    }
    if summary.left_out > 0 {
        text.push_str(&format!(", {} left out on proof", number(summary.left_out)));
    }
    match &summary.stored {
        Some(name) => text.push_str(&format!("; recorded as {name}")),
        None => text.push_str("; not recorded"),
    }
    text
}

/// `0.4 s`, `41 s`, `3 min 5 s`.
fn seconds(value: f64) -> String {
    if value < 9.95 {
        return format!("{value:.1} s");
    }
    // The duration of tests is far below 2^53 seconds.
    let whole = value.round() as u64;
    match (whole / 60, whole % 60) {
        (0, rest) => format!("{rest} s"),
        (minutes, 0) => format!("{} min", number(minutes)),
        (minutes, rest) => format!("{} min {rest} s", number(minutes)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Colour, Style as Wish, testing};
    use super::*;
    use crate::error::{Error, Explain, Kind};

    fn shown(style: Wish, events: Vec<Event>) -> String {
        let (report, out, err) = testing::report(style);
        for event in events {
            report.event(event);
        }
        assert_eq!(out.text(), "", "events never reach standard output");
        err.text()
    }

    fn summary(mode: SelectionMode, selected: u64) -> SelectionSummary {
        SelectionSummary {
            mode,
            available: Some(1992),
            selected: Some(selected),
            new: 3,
            forced: 0,
            unconfirmed: 0,
            strategy: "memo".into(),
            reason: "changed since 4e92b9f: src/a.py".into(),
            estimate: Some(Estimate {
                all_seconds: 185.0,
                selected_seconds: 2.25,
                compiles: false,
            }),
        }
    }

    #[test]
    fn selections_say_mode_numbers_reason_and_estimate() {
        let none = SelectionSummary {
            new: 0,
            reason: "no change can affect a test".into(),
            estimate: None,
            ..summary(SelectionMode::None, 0)
        };
        let compiled = SelectionSummary {
            estimate: Some(Estimate {
                all_seconds: 9.0,
                selected_seconds: 2.0,
                compiles: true,
            }),
            ..summary(SelectionMode::Subset, 12)
        };
        let one = SelectionSummary {
            available: Some(1),
            estimate: compiled.estimate,
            ..none.clone()
        };
        // Units that are checked when the tests start are in no estimate.
        let open = SelectionSummary {
            mode: SelectionMode::Subset,
            reason: "no known test has to run, but a_test.py may hold new ones".into(),
            ..one.clone()
        };
        let events = vec![
            Event::Selected(summary(SelectionMode::Subset, 12)),
            Event::Selected(SelectionSummary {
                unconfirmed: 300,
                ..summary(SelectionMode::Subset, 312)
            }),
            Event::Selected(summary(SelectionMode::All, 1992)),
            Event::Selected(none),
            Event::Selected(compiled),
            Event::Selected(one),
            Event::Selected(open),
        ];
        insta::assert_snapshot!(shown(Wish::default(), events), @r"
        tamis: 12 of 1,992 tests selected (3 new): changed since 4e92b9f: src/a.py; about 2.2 s instead of 3 min 5 s
        tamis: 312 of 1,992 tests selected (3 new, 300 only if values differ): changed since 4e92b9f: src/a.py; about 2.2 s instead of 3 min 5 s
        tamis: all 1,992 tests selected (3 new): changed since 4e92b9f: src/a.py
        tamis: nothing selected of 1,992 tests: no change can affect a test
        tamis: 12 of 1,992 tests selected (3 new): changed since 4e92b9f: src/a.py; about 2.0 s instead of 9.0 s, compiling not counted
        tamis: nothing selected of 1 test: no change can affect a test
        tamis: 0 of 1 test selected: no known test has to run, but a_test.py may hold new ones
        ");
    }

    #[test]
    fn a_run_says_what_ran_and_what_it_recorded() {
        let run = RunSummary {
            ran: 12,
            failed: 1,
            left_out: 1680,
            confirmed: 300,
            seconds: 61.2,
            incomplete: 2,
            incomplete_reason: Some("the interpreter crashed".into()),
            stored: Some("m-1f".into()),
        };
        insta::assert_snapshot!(shown(Wish::default(), vec![Event::Ran(run)]), @r"
        tamis: 12 tests ran in 1 min 1 s, 1 failed, 300 left out as values are the same, 1,680 left out on proof; recorded as m-1f
        tamis: note: 2 tests will run again next time, whatever changes: the interpreter crashed
        ");
    }

    #[test]
    fn errors_show_every_cause_and_hint_and_names_cannot_act() {
        let error = Err::<(), _>(std::io::Error::other("disk\nfull"))
            .kind(Kind::Store)
            .map_err(|e| anyhow::Error::new(e).context("cannot write t[\u{1b}[2J]\n::error::x"))
            .hint("free some space")
            .unwrap_err();
        insta::assert_snapshot!(shown(Wish::default(), vec![Event::Failed(error)]), @r"
        tamis: store error: cannot write t[\u{1b}[2J]
        tamis:   | ::error::x
        tamis:   because: disk
        tamis:   | full
        tamis:   hint: free some space
        ");
    }

    #[test]
    fn quiet_keeps_results_and_very_quiet_keeps_errors() {
        let events = || {
            vec![
                Event::Began {
                    work: "reading".into(),
                    total: Some(2),
                },
                Event::Advanced { done: 1 },
                Event::Ended,
                Event::Detail {
                    text: "detail".into(),
                },
                Event::Note {
                    text: "note".into(),
                },
                Event::Fallback {
                    reason: "no baseline".into(),
                },
                Event::StoreTrouble {
                    place: "m-1f".into(),
                    reason: "truncated".into(),
                    consequence: "not used".into(),
                },
                Event::Failed(Error::usage("stop")),
            ]
        };
        let at = |verbosity| {
            let style = Wish {
                verbosity,
                ..Wish::default()
            };
            shown(style, events())
        };
        insta::assert_snapshot!(at(1), @r"
        tamis: reading
        tamis: detail
        tamis: note
        tamis: running more: no baseline
        tamis: store: m-1f: truncated; not used
        tamis: error: stop
        ");
        assert!(!at(0).contains("detail"));
        insta::assert_snapshot!(at(-1), @r"
        tamis: running more: no baseline
        tamis: store: m-1f: truncated; not used
        tamis: error: stop
        ");
        insta::assert_snapshot!(at(-2), @"tamis: error: stop");
    }

    #[test]
    fn colours_appear_only_when_wanted() {
        let colour = |colour| {
            let style = Wish {
                colour,
                ..Wish::default()
            };
            shown(style, vec![Event::Failed(Error::usage("x"))])
        };
        assert!(colour(Colour::Always).contains("\u{1b}["));
        assert!(!colour(Colour::Never).contains('\u{1b}'));
    }

    #[test]
    fn durations_read_well() {
        assert_eq!(
            [0.04, 9.96, 60.0, 3725.4].map(seconds),
            ["0.0 s", "10 s", "1 min", "62 min 5 s"]
        );
    }
}
