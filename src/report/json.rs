//! Events as JSON, one object a line. The shapes are a promise
//! (`docs/json.md`), so they are written here and not derived from [`Event`].

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Event, RunSummary, SelectionSummary};

pub(super) struct JsonLines {
    err: Box<dyn Write + Send>,
}

impl JsonLines {
    pub(super) fn new(err: Box<dyn Write + Send>) -> JsonLines {
        JsonLines { err }
    }

    pub(super) fn tell(&mut self, event: &Event) -> io::Result<()> {
        let line = format!("{}\n", object(event));
        self.err.write_all(line.as_bytes())?;
        self.err.flush()
    }
}

fn object(event: &Event) -> Value {
    match event {
        Event::Began { work, total } => json!({"event": "began", "work": work, "total": total}),
        Event::Advanced { done } => json!({"event": "advanced", "done": done}),
        Event::Ended => json!({"event": "ended"}),
        Event::Detail { text } => json!({"event": "detail", "text": text}),
        Event::Note { text } => json!({"event": "note", "text": text}),
        Event::Warning { text, hints } => {
            json!({"event": "warning", "text": text, "hints": hints})
        }
        Event::Fallback { reason } => json!({"event": "fallback", "reason": reason}),
        Event::StoreTrouble {
            place,
            reason,
            consequence,
        } => json!({
            "event": "store-trouble", "place": place, "reason": reason,
            "consequence": consequence,
        }),
        Event::Selected(summary) => selected(summary),
        Event::Ran(summary) => ran(summary),
        Event::Failed(error) => json!({
            "event": "failed", "kind": error.kind().word(), "exit": error.kind().exit().0,
            "message": error.to_string(), "causes": error.causes(), "hints": error.hints(),
        }),
    }
}

fn selected(summary: &SelectionSummary) -> Value {
    let estimate = summary.estimate.map(|estimate| {
        json!({
            "all_seconds": estimate.all_seconds,
            "selected_seconds": estimate.selected_seconds,
        })
    });
    json!({
        "event": "selected", "mode": summary.mode.word(), "strategy": summary.strategy,
        "reason": summary.reason, "available": summary.available,
        "selected": summary.selected, "new": summary.new, "forced": summary.forced,
        "unconfirmed": summary.unconfirmed, "estimate": estimate,
    })
}

fn ran(summary: &RunSummary) -> Value {
    json!({
        "event": "ran", "ran": summary.ran, "failed": summary.failed,
        "left_out": summary.left_out, "confirmed": summary.confirmed,
        "seconds": summary.seconds,
        "incomplete": summary.incomplete, "incomplete_reason": summary.incomplete_reason,
        "stored": summary.stored,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Style, testing};
    use super::*;
    use crate::error::Error;

    #[test]
    fn each_event_is_one_line_whatever_its_text_holds() {
        let style = Style {
            json: true,
            ..Style::default()
        };
        let (report, _, err) = testing::report(style);
        report.warning("two\nlines");
        report.event(Event::Failed(Error::store("gone").with_hint("look")));
        insta::assert_snapshot!(err.text(), @r#"
        {"event":"warning","hints":[],"text":"two\nlines"}
        {"causes":[],"event":"failed","exit":4,"hints":["look"],"kind":"store","message":"gone"}
        "#);
    }
}
