//! Selecting from a matrix as it is stored is selecting from the matrix.

use proptest::prelude::*;

use crate::matrix::samples::any_matrix;
use crate::matrix::{Fingerprint, Matrix, MatrixView, Row, SetId, TestId, UnitId, encode};
use crate::select::{Differences, Reason, Verdict, tts};

/// What becomes of each unit: by number, 1 changed, 2 unknown, 3 late.
fn differences(matrix: &Matrix, became: &[u8]) -> Differences {
    let mut found = Differences::default();
    for (id, became) in (0..matrix.units.len() as UnitId).zip(became) {
        match became {
            1 => {
                found.changed.insert(id, Fingerprint([9; 16]));
            }
            2 => {
                found
                    .unknown
                    .insert(id, format!("unit {id} cannot be read"));
            }
            3 => found.late.push(id),
            _ => {}
        }
    }
    found
}

/// [G (4.5)] by looking at every unit of a row: the kind of the reason to run,
/// or the units that are settled later.
fn by_hand(matrix: &Matrix, row: &Row, found: &Differences) -> Result<Vec<UnitId>, &'static str> {
    let units = matrix.units_of(row);
    if !row.outcome.is_good() {
        return Err("failed");
    }
    if row.incomplete.is_some() {
        return Err("incomplete");
    }
    let own = row
        .own
        .as_ref()
        .filter(|_| matrix.values.is_some() && row.test != TestId::Collection);
    let is_changed = |sets: &[SetId]| {
        let mut units = sets.iter().flat_map(|set| &matrix.sets[*set as usize]);
        units.any(|id| found.changed.contains_key(id))
    };
    // Without earlier tests it may be the same.
    let inner = own.and_then(|own| own.inner.as_ref());
    let is_tied = inner.is_some_and(|inner| !is_changed(&inner.sets));
    if is_changed(own.map_or(&row.sets, |own| &own.sets)) && !is_tied {
        return Err("changed");
    }
    if units.iter().any(|id| found.unknown.contains_key(id)) {
        return Err("unknown");
    }
    if units.iter().any(|id| found.changed.contains_key(id)) {
        return Err("unconfirmed");
    }
    let late = units.into_iter().filter(|id| found.late.contains(id));
    Ok(late.collect())
}

proptest! {
    #[test]
    fn a_stored_matrix_says_what_the_matrix_says(
        matrix in any_matrix(),
        became in proptest::collection::vec(prop_oneof![8 => Just(0u8), 2 => 1..4u8], 64),
    ) {
        let found = differences(&matrix, &became);
        let view = MatrixView::open(encode(&matrix).unwrap()).unwrap();
        let verdicts = tts(&view, "m", &found);
        prop_assert_eq!(&verdicts, &tts(&matrix, "m", &found));
        prop_assert_eq!(view.whole(), Ok(&matrix));
        prop_assert_eq!(verdicts.len(), matrix.rows.len());
        for (row, verdict) in matrix.rows.iter().zip(&verdicts) {
            match (verdict, by_hand(&matrix, row, &found)) {
                (Verdict::Run(reason), Err(kind)) => {
                    prop_assert_eq!(reason.kind(), kind);
                    if let Reason::Changed { unit, from, .. } = reason {
                        let known = (unit.clone(), *from);
                        let id = matrix.units.iter().position(|unit| *unit == known);
                        let id = id.map(|id| id as UnitId).unwrap();
                        prop_assert!(found.changed.contains_key(&id));
                        prop_assert!(matrix.units_of(row).contains(&id));
                    }
                }
                (Verdict::Skip(evidence), Ok(late)) => {
                    let late: Vec<_> =
                        late.iter().map(|id| matrix.units[*id as usize].clone()).collect();
                    prop_assert_eq!(&evidence.late[..], &late[..]);
                    let sets = row.sets.iter().map(|set| matrix.sets[*set as usize].len());
                    prop_assert_eq!(evidence.units, sets.sum::<usize>());
                    prop_assert_eq!(
                        (evidence.outcome, evidence.duration_ms),
                        (row.outcome, row.duration_ms)
                    );
                }
                (verdict, wanted) => prop_assert!(false, "{verdict:?}, not {wanted:?}"),
            }
        }
    }
}
