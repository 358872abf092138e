//! State that makes most tests depend on each other: names it, and says how to undo that.

use super::event::Event;
use crate::count::{counted, verb};
use crate::observe::Cell;

/// How many states are named one by one. The pattern to paste covers all.
const MOST_NAMED: usize = 4;

/// The message about the `state` that ties most of `tests` together; nothing if there is none.
pub(crate) fn ties_event(state: &[Cell], tests: usize) -> Option<Event> {
    if state.is_empty() {
        return None;
    }
    let named = state.iter().take(MOST_NAMED).map(|state| {
        format!(
            "{} is used by {} of {}, and {} {} it changed",
            state.name,
            state.readers,
            counted(tests, "test"),
            state.changers,
            verb(state.changers, "leaves", "leave")
        )
    });
    let mut hints: Vec<String> = named.collect();
    if state.len() > MOST_NAMED {
        hints.push(format!("and {} more", state.len() - MOST_NAMED));
    }
    hints.push(format!(
        "if no test notices what another left there (the suite passes in any order), say so in \
         tamis.yml: benign-state: [{}]",
        patterns(state).join(", ")
    ));
    Some(Event::Warning {
        text: "state that outlives tests makes most of them depend on all that ran before"
            .to_owned(),
        hints,
    })
}

/// Patterns for the states, in YAML: one pattern for an attribute of several classes, in one
/// file or in several.
fn patterns(state: &[Cell]) -> Vec<String> {
    let mut patterns: Vec<String> = Vec::new();
    for one in state {
        let alike: Vec<&Cell> = state.iter().filter(|other| other.is_like(one)).collect();
        let in_one_file = alike.iter().all(|other| other.path() == one.path());
        let pattern = match one.attribute() {
            Some(attribute) if !in_one_file => format!("**#*.{attribute}"),
            Some(attribute) if alike.len() > 1 => format!("{}#*.{attribute}", one.path()),
            _ => one.name.clone(),
        };
        let pattern = format!("{pattern:?}");
        if !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str) -> Cell {
        Cell {
            name: name.to_owned(),
            changers: 9,
            readers: 70,
        }
    }

    #[test]
    fn attributes_of_one_name_share_a_pattern() {
        let names = [
            "a.py#A.x", "a.py#B.x", "a.py#B.y", "b.py#A.z", "a.py#A.z", "b.py#x",
        ];
        let all = names.map(state);
        let expected = ["a.py#*.x", "a.py#B.y", "**#*.z", "b.py#x"];
        let quoted = expected.map(|pattern| format!("\"{pattern}\""));
        assert_eq!(patterns(&all), quoted);
    }

    #[test]
    fn without_such_state_nothing_is_told() {
        assert!(ties_event(&[], 100).is_none());
    }
}
