//! What makes tests run, by kind: for counting, not for deciding.

use super::{Differences, Reason};
use crate::matrix::{SetId, Table, UnitId, UnitKind};

/// The kind of a cause. Those that are about units come first, in the order in
/// which a test with several counts. Effects come before bindings, for when
/// they come or go, so do the digests of names that are bound after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CauseKind {
    /// A function body.
    Body,
    /// Statements that do more than bind a name.
    Effects,
    /// What a name is bound to.
    Binding,
    /// All of a source file outside function bodies.
    Skeleton,
    /// A file, a folder, or whether a path is there.
    File,
    /// Packages, the interpreter, variables, the runner's options.
    Environment,
    /// A unit that cannot be told.
    Unknown,
    /// Selected on the way here: history strategies.
    Affected,
    /// The last result was not a good one.
    Failed,
    /// The row may lack units.
    Incomplete,
    New,
    /// The configuration names the test, or another test needs it.
    Forced,
    /// Everything runs, whatever the test uses.
    Everything,
}

impl CauseKind {
    pub(crate) const ALL: [CauseKind; 13] = [
        CauseKind::Body,
        CauseKind::Effects,
        CauseKind::Binding,
        CauseKind::Skeleton,
        CauseKind::File,
        CauseKind::Environment,
        CauseKind::Unknown,
        CauseKind::Affected,
        CauseKind::Failed,
        CauseKind::Incomplete,
        CauseKind::New,
        CauseKind::Forced,
        CauseKind::Everything,
    ];

    /// The word used in tables and JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            CauseKind::Body => "body",
            CauseKind::Binding => "binding",
            CauseKind::Effects => "effects",
            CauseKind::Skeleton => "skeleton",
            CauseKind::File => "file",
            CauseKind::Environment => "environment",
            CauseKind::Unknown => "unknown",
            CauseKind::Affected => "affected",
            CauseKind::Failed => "failed",
            CauseKind::Incomplete => "incomplete",
            CauseKind::New => "new",
            CauseKind::Forced => "forced",
            CauseKind::Everything => "everything",
        }
    }

    /// That of a changed unit.
    pub(crate) fn of_unit(kind: UnitKind) -> CauseKind {
        match kind {
            UnitKind::Code | UnitKind::Method => CauseKind::Body,
            UnitKind::Binding | UnitKind::Member => CauseKind::Binding,
            UnitKind::Effects => CauseKind::Effects,
            UnitKind::Skeleton | UnitKind::Shape => CauseKind::Skeleton,
            UnitKind::File
            | UnitKind::Exists
            | UnitKind::Lookup
            | UnitKind::Dir
            | UnitKind::Line
            | UnitKind::Listing
            | UnitKind::Class => CauseKind::File,
            UnitKind::Dist
            | UnitKind::Runtime
            | UnitKind::Env
            | UnitKind::Config
            | UnitKind::Reached
            | UnitKind::Other => CauseKind::Environment,
        }
    }

    /// That of a reason. `first` is what the whole row says, where the reason
    /// is a changed unit; without it, the unit that the reason names has to do.
    pub(crate) fn of(reason: &Reason, first: Option<CauseKind>) -> CauseKind {
        match reason {
            Reason::Changed { unit, .. } | Reason::Unconfirmed { unit, .. } => {
                first.unwrap_or_else(|| CauseKind::of_unit(unit.kind()))
            }
            Reason::Unknown { .. } => CauseKind::Unknown,
            Reason::Affected { .. } => CauseKind::Affected,
            Reason::Failed { .. } => CauseKind::Failed,
            Reason::Incomplete { .. } => CauseKind::Incomplete,
            Reason::New => CauseKind::New,
            Reason::Forced { .. } | Reason::Brought { .. } => CauseKind::Forced,
        }
    }
}

/// The first cause in each row of a matrix. A test of which a body changed
/// would run however finely everything else was told apart.
pub(crate) struct FirstCauses {
    of_sets: Vec<Option<CauseKind>>,
}

impl FirstCauses {
    pub(crate) fn new(matrix: &impl Table, differences: &Differences) -> FirstCauses {
        let mut changed: Vec<UnitId> = differences.changed.keys().copied().collect();
        changed.sort_unstable();
        let kind = |id: &UnitId| CauseKind::of_unit(matrix.unit(*id).0.kind());
        let mut of_sets = Vec::new();
        matrix.each_set(&changed, |_, set| of_sets.push(set.iter().map(kind).min()));
        FirstCauses { of_sets }
    }

    /// That of a row of the same matrix with these sets; `None` if no unit of it
    /// changed.
    pub(crate) fn of(&self, sets: &[SetId]) -> Option<CauseKind> {
        let sets = sets.iter();
        sets.filter_map(|set| self.of_sets[*set as usize]).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;
    use crate::matrix::What;
    use crate::matrix::samples::any_matrix;
    use crate::matrix::{Fingerprint, Outcome, Unit};

    #[test]
    fn every_kind_of_unit_and_reason_has_a_kind_and_every_kind_a_word_of_its_own() {
        let mut seen: Vec<CauseKind> = UnitKind::ALL
            .into_iter()
            .map(CauseKind::of_unit)
            .chain([CauseKind::Everything])
            .collect();
        let baseline = String::new;
        let unit = || Unit::at("a.py", What::Effects);
        let reasons = [
            Reason::New,
            Reason::Unknown {
                unit: unit(),
                why: String::new(),
                baseline: baseline(),
            },
            Reason::Failed {
                outcome: Outcome::Failed,
                baseline: baseline(),
            },
            Reason::Incomplete {
                why: String::new(),
                baseline: baseline(),
            },
            Reason::Affected { why: "" },
            Reason::Forced {
                pattern: String::new(),
            },
        ];
        // What a row says is about changed units alone.
        let body = Some(CauseKind::Body);
        seen.extend(reasons.iter().map(|reason| CauseKind::of(reason, body)));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, CauseKind::ALL);
        let mut words: Vec<&str> = CauseKind::ALL.iter().map(|kind| kind.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), CauseKind::ALL.len());
        let changed = Reason::Changed {
            unit: unit(),
            from: Fingerprint([1; 16]),
            to: Fingerprint([2; 16]),
            baseline: baseline(),
        };
        assert_eq!(CauseKind::of(&changed, None), CauseKind::Effects);
        assert_eq!(CauseKind::of(&changed, body), CauseKind::Body);
    }

    proptest! {
        #[test]
        fn a_row_counts_at_its_first_cause(
            matrix in any_matrix(),
            third in 0u32..3,
        ) {
            let ids = 0..matrix.units.len() as u32;
            let changed = ids.filter(|id| id % 3 == third);
            let differences = Differences {
                changed: changed.map(|id| (id, Fingerprint([9; 16]))).collect(),
                ..Differences::default()
            };
            let first = FirstCauses::new(&matrix, &differences);
            for row in &matrix.rows {
                let units = matrix.units_of(row);
                let changed = units.iter().filter(|id| *id % 3 == third);
                let expected = changed
                    .map(|id| CauseKind::of_unit(matrix.units[*id as usize].0.kind()))
                    .min();
                prop_assert_eq!(first.of(&row.sets), expected);
            }
        }
    }
}
