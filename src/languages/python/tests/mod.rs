mod bounds;
mod casts;
mod changes;
mod interpreters;
mod normal_form;
mod reach;
mod units;

use super::analyse_python;
use crate::languages::{Analysis, ModuleUnits};

fn parse(source: &str) -> ModuleUnits {
    match analyse_python(source.as_bytes()) {
        Analysis::Parsed(units) => *units,
        Analysis::Unparsed(reason) => panic!("{reason} in:\n{source}"),
    }
}

fn reason(source: &[u8]) -> Option<String> {
    match analyse_python(source) {
        Analysis::Parsed(_) => None,
        Analysis::Unparsed(reason) => Some(reason),
    }
}

/// What differs between two sources: `skeleton`, or names of code units.
fn changed<'a>(before: &'a ModuleUnits, after: &'a ModuleUnits) -> Vec<&'a str> {
    let names = before.code.keys().chain(after.code.keys());
    let mut units: Vec<&str> = names
        .filter(|name| before.code.get(*name) != after.code.get(*name))
        .map(String::as_str)
        .collect();
    units.sort_unstable();
    units.dedup();
    if before.skeleton != after.skeleton {
        units.insert(0, "skeleton");
    }
    units
}
