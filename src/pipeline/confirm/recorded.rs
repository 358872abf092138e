//! What a matrix has of one run, for the test process.

use super::Decision;
use crate::matrix::{CellValue, Matrix, TestId, Ties, Values};
use crate::pattern::Pattern;
use crate::pipeline::baselines::Baseline;
use crate::runners::{self, Cell, Holder, LeftIn, Recorded};
use crate::select::Reason;

/// Tests that `decision` leaves out by another matrix than that of `baseline`, or may, and that do not
/// leave the same in the two.
pub(super) fn of_others<'d>(
    decision: &'d Decision,
    baseline: &Baseline,
    matrix: &'d Matrix,
) -> Vec<&'d str> {
    let excluded = decision.selection.excluded();
    let excluded = excluded.map(|(test, _)| (test, decision.baseline_of(&TestId::from(test))));
    let open = decision.selection.selected().filter_map(|(test, reason)| {
        let Reason::Unconfirmed { baseline, .. } = reason else {
            return None;
        };
        Some((test, decision.baseline_named(baseline)))
    });
    let others = excluded.chain(open).filter_map(|(test, proof)| {
        let proof = proof.filter(|proof| proof.name != baseline.name)?;
        let theirs = proof.matrix.whole().ok().and_then(Matrix::ties);
        (!Ties::tell_alike(matrix.ties(), theirs, test)).then_some(test)
    });
    others.collect()
}

/// What the tests of a matrix left, for the test process, but for `benign` cells: what a test that
/// runs meets of these does not matter.
pub(super) fn ties_of<'d>(
    matrix: &'d Matrix,
    ties: &'d Ties,
    of_others: Vec<&'d str>,
    benign: &[Pattern],
) -> runners::Ties<'d> {
    let tests = matrix.rows.iter().filter_map(|row| row.test.test());
    let mut order: Vec<(&str, u32)> = ties.placed(tests).collect();
    order.sort_unstable_by_key(|(_, place)| *place);
    let left = ties.left.iter().map(|(test, cells)| {
        let cells = cells
            .iter()
            .filter(|cell| !Pattern::is_benign(benign, &cell.path, &cell.name));
        let cells = cells.map(|cell| {
            let value = match cell.is_unknown {
                true => Some(LeftIn::UNKNOWN.to_owned()),
                false => cell.value.map(|value| value.hex()),
            };
            LeftIn(&cell.path, &cell.name, value)
        });
        (test.as_str(), cells.collect())
    });
    runners::Ties {
        order: order.into_iter().map(|(test, _)| test).collect(),
        left: left.collect(),
        made: &ties.made,
        numbers: &ties.numbers,
        of_others,
        absent: &ties.absent,
    }
}

pub(super) fn recorded<'d>(
    matrix: &'d Matrix,
    values: &'d Values,
    ties: Option<runners::Ties<'d>>,
) -> Recorded<'d> {
    let holders = values.holders.iter().map(|holder| {
        let cells = holder.cells.iter().map(|(key, value)| {
            let value = match value {
                CellValue::Is(value) => Some(value.hex()),
                CellValue::Opaque(_) => None,
            };
            Cell(key, value)
        });
        Holder(&holder.name, &holder.path, cells.collect())
    });
    Recorded {
        run: &matrix.header.run,
        holders: holders.collect(),
        ties,
    }
}
