//! The state that was tested, as far as it can be relied on.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::BString;

use crate::history::View;
use crate::languages::{Facts, Value};
use crate::matrix::{Fingerprint, Unit, UnitKind};
use crate::observe::Observations;

/// The state that was tested.
pub(super) struct Tested<'a> {
    pub collected: &'a Observations,
    /// What held before the tests started.
    pub facts: &'a Facts<'a>,
    /// The files that were another when the tests had ended.
    pub edited: BTreeSet<BString>,
}

impl Tested<'_> {
    /// A unit's value, and why it cannot be relied on, if so.
    pub(super) fn value(&self, unit: &Unit) -> (Fingerprint, Option<String>) {
        if let Some(seen) = self.collected.seen.get(unit) {
            return (*seen, None);
        }
        let value = match self.facts.value(unit) {
            Value::Known(value) => value,
            Value::Late => {
                let why = format!("{unit} was not told by the process that used it");
                return (Fingerprint::MISSING, Some(why));
            }
            Value::Unknown(why) => return (Fingerprint::MISSING, Some(why)),
        };
        let was_written = || {
            let since = self.used_since(unit);
            since.is_some_and(|since| self.facts.is_newer(unit, since))
        };
        let doubt = (self.was_edited(unit) || was_written())
            .then(|| format!("{} changed while the tests ran", unit.path));
        (value, doubt)
    }

    fn was_edited(&self, unit: &Unit) -> bool {
        let holds_entries = matches!(
            unit.kind(),
            UnitKind::Dir | UnitKind::Exists | UnitKind::Lookup
        );
        let is_about = |path: &BString| {
            path == &unit.path || (holds_entries && path.starts_with(unit.path.as_slice()))
        };
        !unit.path.is_empty() && !unit.is_written() && self.edited.iter().any(is_about)
    }

    /// From when on nothing may have written to the file of a unit that a build made.
    fn used_since(&self, unit: &Unit) -> Option<u64> {
        let compiled = self.collected.compiled.as_ref();
        match unit.kind() {
            kind if kind.is_compiled() => {
                Some(compiled.map_or(0, |compiled| compiled.used_since(unit.path())))
            }
            UnitKind::Exists if unit.is_written() => None,
            UnitKind::File | UnitKind::Exists => compiled?.copied_since(unit.path()),
            _ => None,
        }
    }
}

/// The paths whose content changed between two views of the working tree.
pub(super) fn edited_paths(before: &View, after: &View) -> Result<BTreeSet<BString>> {
    let before: BTreeSet<&(BString, Fingerprint)> = before.dirty()?.iter().collect();
    let after: BTreeSet<&(BString, Fingerprint)> = after.dirty()?.iter().collect();
    Ok(before
        .symmetric_difference(&after)
        .map(|(path, _)| path.clone())
        .collect())
}
