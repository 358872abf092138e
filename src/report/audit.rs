//! The result of an audit, for people and programs.

use bstr::ByteSlice;
use serde::Serialize;

use super::event::Event;
use crate::count::counted;
use crate::history::short;
use crate::pipeline::{Audit, Missed, Suspect};

/// How many misses, and changed files of one miss, are shown to people; JSON has all.
const MOST_NAMED: usize = 5;

/// The key `audit` in the output of `run` and `record`.
#[derive(Debug, Serialize)]
pub(crate) struct AuditJson {
    /// Tests that ran though the stored rows would have left them out.
    checked: usize,
    missed: Vec<MissedJson>,
}

#[derive(Debug, Serialize)]
struct MissedJson {
    id: String,
    was: &'static str,
    ran_at: String,
    is: &'static str,
    /// Bytes that are not UTF-8 are replaced; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Vec<String>>,
    /// State that could explain it; absent if none is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<CellJson>,
}

#[derive(Debug, Serialize)]
struct CellJson {
    cell: String,
    written_by: String,
}

impl AuditJson {
    pub(crate) fn new(audit: &Audit) -> AuditJson {
        let missed = audit.misses.iter().map(|missed| MissedJson {
            id: missed.test.clone(),
            was: missed.was.word(),
            ran_at: missed.ran_at.clone(),
            is: missed.is.word(),
            changed: missed.changed.as_ref().map(|paths| {
                let paths = paths.iter().map(|path| path.to_str_lossy().into_owned());
                paths.collect()
            }),
            cells: { missed.suspects.iter() }
                .map(|suspect| CellJson {
                    cell: suspect.cell.clone(),
                    written_by: suspect.writer.clone(),
                })
                .collect(),
        });
        AuditJson {
            checked: audit.checked,
            missed: missed.collect(),
        }
    }
}

/// The message about an audit; nothing if there was none.
pub(crate) fn audit_event(audit: &Audit) -> Option<Event> {
    if audit.checked == 0 {
        return None;
    }
    if audit.misses.is_empty() {
        return Some(Event::Note {
            text: format!(
                "audit: {} that would have been left out ended as before",
                counted(audit.checked, "test")
            ),
        });
    }
    let mut hints: Vec<String> = audit.misses.iter().take(MOST_NAMED).map(told).collect();
    if audit.misses.len() > MOST_NAMED {
        let more = audit.misses.len() - MOST_NAMED;
        hints.push(format!("and {more} more: `--json` lists all"));
    }
    hints.push(
        "each is flaky or depends on something that tamis does not see; from now on it also runs when \
         one of these files changes; `always-run` in tamis.yml makes it run every time"
            .to_owned(),
    );
    Some(Event::Warning {
        text: format!(
            "audit: {} of {} that would have been left out ended differently",
            audit.misses.len(),
            counted(audit.checked, "test")
        ),
        hints,
    })
}

fn told(missed: &Missed) -> String {
    let commit = short(&missed.ran_at);
    let changed = match &missed.changed {
        None => "the changes since then are not known".to_owned(),
        Some(paths) if paths.is_empty() => "no file changed since".to_owned(),
        Some(paths) => {
            let named = paths.iter().take(MOST_NAMED);
            let named: Vec<String> = named.map(|path| path.to_string()).collect();
            let more = match paths.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("changed since then: {}{more}", named.join(", "))
        }
    };
    format!(
        "{} {} at {commit} and {} now; {changed}{}",
        missed.test,
        missed.was.past(),
        missed.is.past(),
        explained(missed)
    )
}

/// Which state could explain it, and how to find out.
fn explained(missed: &Missed) -> String {
    let named = missed.suspects.iter().take(MOST_NAMED);
    let named: Vec<String> = named
        .map(|Suspect { cell, writer }| format!("{cell}, which {writer} wrote last"))
        .collect();
    if named.is_empty() {
        return String::new();
    }
    let more = match missed.suspects.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!(
        "; it may be {}{more}: `tamis order minimise {}` tells",
        named.join("; or "),
        missed.test
    )
}
