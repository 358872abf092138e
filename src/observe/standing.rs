//! Scopes that stand for tests which were left out, where others met what these left in the
//! record: the test process put that in its place.

use super::confirmed::LastRows;
use super::left::TEST;
use super::rows::Closing;
use crate::languages::{Value, language_of};
use crate::matrix::{Unit, What};

impl Closing<'_> {
    /// Gives such scopes what the row of the test has, as if it had run.
    pub(super) fn stand_for_left_out(&mut self, last: &dyn LastRows) {
        let traces = self.run.traces.iter().enumerate();
        let traces = traces.filter(|(_, trace)| !trace.taking.stands.is_empty());
        let mut stands = Vec::new();
        for (at, trace) in traces {
            let language = &self.languages[language_of(&trace.open.collector)];
            let prefix = language.id_prefix(&self.run, trace);
            let of_trace = trace.taking.stands.iter();
            stands.extend(of_trace.map(|(scope, test)| (at, *scope, format!("{prefix}{test}"))));
        }
        if stands.is_empty() {
            return;
        }
        let imports = self.imports_by_path();
        for (at, scope, test) in stands {
            let Some(node) = self.run.graph.node_of(at, scope) else {
                continue;
            };
            let Some(own) = last.own(&test) else {
                let why = "a test before it was left out, and nothing tells by what";
                self.run.graph.nodes[node as usize]
                    .incomplete
                    .get_or_insert_with(|| why.to_owned());
                continue;
            };
            for (unit, value) in own {
                if matches!(self.run.facts.value(&unit), Value::Late) {
                    // That it is the same was seen when the process began.
                    self.run.seen.entry(unit.clone()).or_insert(value);
                }
                self.run.attach(node, unit);
            }
            let modules = last.modules(&test);
            let needed = modules.iter().filter_map(|path| imports.get(path));
            self.run.edges[node as usize].extend(needed);
            let name = Unit::of(What::Reached(format!("{TEST}{test}").into()));
            self.run.attach(node, name);
        }
    }
}
