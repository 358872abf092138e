//! Tests that are not there any more at the head.

use anyhow::Result;
use bstr::ByteSlice;

use super::baselines::Baseline;
use super::project::Project;
use crate::history::Entry;
use crate::languages::{Facts, Value};
use crate::matrix::{Fingerprint, MatrixView, Unit, UnitId, UnitKind, What};
use crate::runners::Source;
use crate::select::{Differences, Reason, Selection};

/// Tells which tests are gone.
pub(super) struct Gone<'a> {
    pub project: &'a Project,
    pub facts: &'a Facts<'a>,
    /// The nearest matrix, and how it differs from the head.
    pub nearest: (&'a MatrixView, &'a Differences),
    pub others: &'a [Baseline],
}

impl Gone<'_> {
    /// Tests whose own source is gone are not available at the head.
    pub(super) fn drop_from(&self, selection: &mut Selection) -> Result<()> {
        let mut gone = Vec::new();
        for (test, reason) in selection.selected() {
            let may_be_gone = matches!(
                reason,
                Reason::Changed { .. } | Reason::Unconfirmed { .. } | Reason::Incomplete { .. }
            );
            if may_be_gone && self.is_gone(test)? {
                gone.push(test.to_owned());
            }
        }
        for test in gone {
            selection.verdicts.remove(&test);
        }
        Ok(())
    }

    /// Whether all classes of the test's name are known, and known to be gone.
    fn is_class_gone(&self, module: &str, class: String) -> bool {
        let (nearest, found) = self.nearest;
        let module = self.project.path_of(module);
        let class = What::Class(class.into());
        let mut ids = nearest.units_of_kind(UnitKind::Class).filter(|id| {
            nearest.is(*id, &class) && nearest.path(*id).starts_with(module.as_slice())
        });
        let gone = Some(Fingerprint::MISSING);
        let is_gone = |id: UnitId| value_at_head(nearest, found, id) == gone;
        match ids.next() {
            Some(first) => is_gone(first) && ids.all(is_gone),
            None => false,
        }
    }

    fn is_gone(&self, test: &str) -> Result<bool> {
        let mut classes = self.nearest.0.units_of_kind(UnitKind::Class);
        let is_compiled = classes.next().is_some();
        let driver = self.project.config.driver;
        let (file, qualified) = match driver.locate(test, is_compiled) {
            None => return Ok(false),
            Some(Source::Class { module, name }) => return Ok(self.is_class_gone(module, name)),
            Some(Source::Function { file, name }) => (file, name),
        };
        let path = self.project.path_of(file);
        if self.facts.view().entry(path.as_bstr())? == Entry::Missing {
            return Ok(true);
        }
        let function = Unit::at(path, What::Code(qualified.into()));
        let (nearest, found) = self.nearest;
        if let Some(id) = nearest.find(&function)
            && let Some(value) = value_at_head(nearest, found, id)
        {
            return Ok(value == Fingerprint::MISSING);
        }
        let mut matrices = self.others.iter().map(|other| &other.matrix);
        let is_known =
            nearest.find(&function).is_some() || matrices.any(|m| m.find(&function).is_some());
        Ok(is_known && self.facts.value(&function) == Value::Known(Fingerprint::MISSING))
    }
}

/// The value of a unit at the head, as comparing it has shown.
fn value_at_head(matrix: &MatrixView, found: &Differences, id: UnitId) -> Option<Fingerprint> {
    if found.unknown.contains_key(&id) || found.late.contains(&id) {
        return None;
    }
    let changed = found.changed.get(&id).copied();
    changed.or_else(|| Some(matrix.fingerprint(id)))
}
