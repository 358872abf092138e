//! The causes of a test's run, for people and as JSON (`docs/json.md`).

use serde::Serialize;

use super::selection::UnitJson;
use crate::languages::Change;
use crate::languages::{Cause, Causes, Origin, Step, Way, Whole};
use crate::matrix::{UnitKind, What};

/// How many causes people see; JSON has all.
pub(crate) const MOST_CAUSES: usize = 5;
/// How many steps of a path people see.
const MOST_STEPS: usize = 6;
/// How many differences of one unit people see.
const MOST_CHANGES: usize = 4;

/// One line for each cause.
pub(crate) fn cause_lines(causes: &Causes) -> Vec<String> {
    let mut lines: Vec<String> = causes.told.iter().map(line).collect();
    match causes.more {
        0 => {}
        1 => lines.push("and 1 more unit changed (see --json)".to_owned()),
        more => lines.push(format!("and {more} more units changed (see --json)")),
    }
    lines
}

/// `` `click.core#Option` (bases changed), reached through `t.py::test` ``.
fn line(cause: &Cause) -> String {
    let mut changes: Vec<String> = cause.changes.iter().map(Change::to_string).collect();
    if changes.len() > MOST_CHANGES {
        let more = changes.len() - MOST_CHANGES;
        changes.truncate(MOST_CHANGES);
        changes.push(format!("{more} more"));
    }
    format!(
        "`{}` ({}), {}",
        cause.name,
        changes.join("; "),
        way_text(cause)
    )
}

fn way_text(cause: &Cause) -> String {
    let way = &cause.way;
    let mut parts = Vec::new();
    if let Some(whole) = &way.whole {
        let taken = match whole {
            Whole::Methods => "taken with all methods",
            _ => "taken whole",
        };
        parts.push(format!("{taken}: {}", whole_text(way, &cause.name, whole)));
    }
    let kind = cause.unit.kind();
    if kind == UnitKind::Code && !is_the_test(cause) {
        parts.push("which ran".to_owned());
    }
    if !way.steps.is_empty() {
        let through = match (kind, way.origin) {
            (UnitKind::Effects, Origin::Runner) => "imported by the runner through",
            (UnitKind::Effects, _) => "imported through",
            _ if is_asked_by_import(cause) => "which import statements ask for in",
            _ => "reached through",
        };
        parts.push(format!("{through} {}", chain(cause)));
    } else if cause.unit.what == What::AuditedFile {
        parts.push("which an audit found to matter".to_owned());
    } else if parts.is_empty() || way.origin == Origin::Lost {
        parts.push(bare(way.origin, kind).to_owned());
    }
    parts.join(", ")
}

fn is_the_test(cause: &Cause) -> bool {
    cause.way.origin == Origin::Test && cause.way.steps.is_empty()
}

/// Whether the only reason for the unit is that a module's import needs the name to be bound.
fn is_asked_by_import(cause: &Cause) -> bool {
    matches!(cause.unit.what, What::Presence(_))
        && matches!(&cause.way.steps[..], [only] if only.unit.kind() == UnitKind::Effects)
}

/// The words for a path without steps.
fn bare(origin: Origin, kind: UnitKind) -> &'static str {
    match (origin, kind) {
        (Origin::Test, UnitKind::Code) => "the test itself",
        (Origin::Test, _) => "the test's own file",
        (Origin::Ran, _) => "which ran",
        (Origin::Imported, _) => "which is imported",
        (Origin::Runner, _) => "which the runner asks for by itself",
        (Origin::Seen, _) => "seen at run time",
        (Origin::Lost, _) => "reached in an unknown way: its recorded source is missing",
    }
}

/// `` `a` (which ran) → `b` ``.
fn chain(cause: &Cause) -> String {
    let way = &cause.way;
    let is_import = cause.unit.kind() == UnitKind::Effects || is_asked_by_import(cause);
    let mut steps: Vec<String> = Vec::new();
    for (at, step) in way.steps.iter().enumerate() {
        let mut text = format!("`{}`", step.name);
        let note = match (&step.whole, at, way.origin) {
            (Some(whole), ..) => {
                let before = Way {
                    steps: way.steps[..at].to_vec(),
                    ..way.clone()
                };
                Some(format!("whole: {}", whole_text(&before, &step.name, whole)))
            }
            (None, 0, Origin::Ran) => Some("which ran".to_owned()),
            (None, 0, Origin::Imported | Origin::Runner) if is_import => None,
            (None, 0, Origin::Imported) => Some("when it was imported".to_owned()),
            (None, 0, Origin::Seen) => Some("seen at run time".to_owned()),
            (None, 0, Origin::Runner) => Some("which the runner asks for by itself".to_owned()),
            _ => None,
        };
        if let Some(note) = note {
            text.push_str(&format!(" ({note})"));
        }
        steps.push(text);
    }
    if steps.len() > MOST_STEPS {
        let left_out = steps.len() - MOST_STEPS;
        let few = format!("({left_out} more)");
        steps.splice(2..2 + left_out, [few]);
    }
    steps.join(" → ")
}

/// Why all of the module `name` was taken; the last step caused it.
fn whole_text(way: &Way, name: &str, whole: &Whole) -> String {
    let by = way.steps.last().map(place);
    let by = by.unwrap_or_else(|| "the test".to_owned());
    match whole {
        Whole::Value => format!("module `{name}` is used as a value in {by}"),
        Whole::OwnNames => format!("{by} can reach all names of its own module"),
        Whole::Star => format!("star import in {by}"),
        Whole::Wide(words) if words.is_empty() => {
            format!("{by} can reach any name of any module")
        }
        Whole::Wide(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            format!("{} in {by} can reach any name", words.join(", "))
        }
        Whole::Given(from) => format!("`{from}`, which is passed on, can give it"),
        Whole::Methods => format!("{by} finds methods by names that it computes"),
        Whole::Runner => "the runner asks for names that it computes".to_owned(),
        Whole::Seen => "seen at run time".to_owned(),
    }
}

fn place(step: &Step) -> String {
    match step.unit.kind() {
        UnitKind::Effects => format!("the statements of `{}`", step.name),
        _ => format!("`{}`", step.name),
    }
}

/// A [`Cause`] as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct CauseJson {
    unit: UnitJson,
    name: String,
    from: String,
    to: String,
    changes: Vec<ChangeJson>,
    way: WayJson,
    text: String,
}

#[derive(Debug, Serialize)]
struct ChangeJson {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    text: String,
}

#[derive(Debug, Serialize)]
struct WayJson {
    origin: &'static str,
    steps: Vec<StepJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<WholeJson>,
}

#[derive(Debug, Serialize)]
struct StepJson {
    unit: UnitJson,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<WholeJson>,
}

#[derive(Debug, Serialize)]
struct WholeJson {
    because: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

impl From<&Cause> for CauseJson {
    fn from(cause: &Cause) -> CauseJson {
        CauseJson {
            unit: (&cause.unit).into(),
            name: cause.name.clone(),
            from: cause.from.hex(),
            to: cause.to.hex(),
            changes: cause.changes.iter().map(ChangeJson::from).collect(),
            way: WayJson {
                origin: origin_word(cause.way.origin),
                steps: cause.way.steps.iter().map(StepJson::from).collect(),
                whole: cause.way.whole.as_ref().map(WholeJson::from),
            },
            text: line(cause),
        }
    }
}

impl From<&Change> for ChangeJson {
    fn from(change: &Change) -> ChangeJson {
        ChangeJson {
            kind: change.kind(),
            of: change.of(),
            name: change.name().map(str::to_owned),
            line: change.line(),
            text: change.to_string(),
        }
    }
}

impl From<&Step> for StepJson {
    fn from(step: &Step) -> StepJson {
        StepJson {
            unit: (&step.unit).into(),
            name: step.name.clone(),
            whole: step.whole.as_ref().map(WholeJson::from),
        }
    }
}

impl From<&Whole> for WholeJson {
    fn from(whole: &Whole) -> WholeJson {
        let (because, words, from) = match whole {
            Whole::Value => ("value", Vec::new(), None),
            Whole::OwnNames => ("own-names", Vec::new(), None),
            Whole::Star => ("star-import", Vec::new(), None),
            Whole::Wide(words) => ("wide", words.clone(), None),
            Whole::Given(from) => ("given", Vec::new(), Some(from.clone())),
            Whole::Methods => ("methods", Vec::new(), None),
            Whole::Runner => ("runner", Vec::new(), None),
            Whole::Seen => ("seen", Vec::new(), None),
        };
        WholeJson {
            because,
            words,
            from,
        }
    }
}

fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Test => "test",
        Origin::Ran => "ran",
        Origin::Imported => "imported",
        Origin::Runner => "runner",
        Origin::Seen => "seen",
        Origin::Lost => "lost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Fingerprint, Unit};

    fn step(kind: UnitKind, name: &str) -> Step {
        let has_name = matches!(kind, UnitKind::Code | UnitKind::Binding);
        Step {
            unit: Unit::named(kind, "a.py", if has_name { name } else { "" }),
            name: format!("a#{name}"),
            whole: None,
        }
    }

    fn cause(kind: UnitKind, name: &str, way: Way) -> Cause {
        let step = step(kind, name);
        Cause {
            unit: step.unit,
            name: step.name,
            from: Fingerprint([1; 16]),
            to: Fingerprint([2; 16]),
            changes: vec![Change::Other],
            way,
        }
    }

    fn way(origin: Origin, steps: Vec<Step>) -> Way {
        Way {
            origin,
            steps,
            whole: None,
        }
    }

    /// The text for every kind of path.
    #[test]
    fn ways_in_words() {
        use Origin::{Imported, Lost, Ran, Runner, Seen, Test};
        use UnitKind::{Binding, Code, Effects, File, Skeleton};
        let f = || vec![step(Code, "f")];
        let import = || vec![step(Effects, "m")];
        let whole = |whole: Whole| Way {
            whole: Some(whole),
            ..way(Test, f())
        };
        let held = Step {
            whole: Some(Whole::Value),
            ..step(Skeleton, "m")
        };
        let long: Vec<Step> = "bcdefghi"
            .chars()
            .map(|c| step(Code, &c.to_string()))
            .collect();
        let causes = [
            cause(Code, "f", way(Test, vec![])),
            cause(Effects, "", way(Test, vec![])),
            cause(Code, "g", way(Ran, vec![])),
            cause(Code, "g", way(Test, f())),
            cause(Binding, "x", way(Ran, f())),
            cause(Binding, "x", way(Imported, import())),
            cause(Binding, "x?", way(Imported, import())),
            cause(Effects, "x", way(Test, import())),
            cause(Effects, "x", way(Runner, import())),
            cause(Binding, "x", way(Runner, vec![])),
            cause(Binding, "x", way(Test, [f(), vec![held]].concat())),
            cause(Binding, "x", way(Test, long)),
            cause(Skeleton, "", whole(Whole::Value)),
            cause(Skeleton, "", whole(Whole::OwnNames)),
            cause(
                Skeleton,
                "",
                whole(Whole::Wide(vec!["eval".into(), "exec".into()])),
            ),
            cause(Skeleton, "", whole(Whole::Wide(vec![]))),
            cause(Skeleton, "", whole(Whole::Given("b".into()))),
            cause(
                Skeleton,
                "",
                Way {
                    whole: Some(Whole::Star),
                    ..way(Imported, import())
                },
            ),
            cause(
                Skeleton,
                "",
                Way {
                    whole: Some(Whole::Seen),
                    ..way(Seen, vec![])
                },
            ),
            cause(
                Skeleton,
                "",
                Way {
                    whole: Some(Whole::Runner),
                    ..way(Runner, vec![])
                },
            ),
            cause(Binding, "C.m", whole(Whole::Methods)),
            cause(File, "", way(Seen, vec![])),
            cause(Code, "g", way(Lost, vec![])),
            cause(Binding, "x", way(Lost, vec![])),
        ];
        let lines: Vec<String> = causes.iter().map(line).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        `a#f` (changed), the test itself
        `a#` (changed), the test's own file
        `a#g` (changed), which ran
        `a#g` (changed), which ran, reached through `a#f`
        `a#x` (changed), reached through `a#f` (which ran)
        `a#x` (changed), reached through `a#m` (when it was imported)
        `a#x?` (changed), which import statements ask for in `a#m`
        `a#x` (changed), imported through `a#m`
        `a#x` (changed), imported by the runner through `a#m`
        `a#x` (changed), which the runner asks for by itself
        `a#x` (changed), reached through `a#f` → `a#m` (whole: module `a#m` is used as a value in `a#f`)
        `a#x` (changed), reached through `a#b` → `a#c` → (2 more) → `a#f` → `a#g` → `a#h` → `a#i`
        `a#` (changed), taken whole: module `a#` is used as a value in `a#f`, reached through `a#f`
        `a#` (changed), taken whole: `a#f` can reach all names of its own module, reached through `a#f`
        `a#` (changed), taken whole: `eval`, `exec` in `a#f` can reach any name, reached through `a#f`
        `a#` (changed), taken whole: `a#f` can reach any name of any module, reached through `a#f`
        `a#` (changed), taken whole: `b`, which is passed on, can give it, reached through `a#f`
        `a#` (changed), taken whole: star import in the statements of `a#m`, reached through `a#m` (when it was imported)
        `a#` (changed), taken whole: seen at run time
        `a#` (changed), taken whole: the runner asks for names that it computes
        `a#C.m` (changed), taken with all methods: `a#f` finds methods by names that it computes, reached through `a#f`
        `a#` (changed), seen at run time
        `a#g` (changed), which ran, reached in an unknown way: its recorded source is missing
        `a#x` (changed), reached in an unknown way: its recorded source is missing
        ");
    }

    #[test]
    fn people_are_told_how_many_more_there_are() {
        let lines = |more: usize| {
            let told = vec![cause(UnitKind::Code, "f", way(Origin::Ran, vec![]))];
            cause_lines(&Causes { told, more })
        };
        assert_eq!(lines(0).len(), 1);
        assert_eq!(lines(1)[1], "and 1 more unit changed (see --json)");
        assert_eq!(lines(3)[1], "and 3 more units changed (see --json)");
    }
}
