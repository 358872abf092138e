//! Digests of rows: equal where a test's units and their fingerprints are.

use std::fmt;

use crate::matrix::{Fingerprint, Matrix, Unit};

/// A digest of one row's units with their fingerprints. It tells rows of one
/// test apart, however their units were grouped. It serves to drop repeats,
/// and proves nothing: two rows that collided would cost a re-run, no more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowDigest(pub [u8; 16]);

impl fmt::Debug for RowDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_le_bytes(self.0))
    }
}

/// The number and digest of every row of `matrix` that may justify a skip, in
/// the order of the rows.
///
/// The digest is the sum of the digests of the row's distinct units, so that
/// no row has to be sorted.
pub(super) fn usable_rows(matrix: &Matrix) -> Vec<(u32, RowDigest)> {
    let units: Vec<u128> = matrix.units.iter().map(digest_unit).collect();
    let mut seen_in = vec![0u32; units.len()];
    let mut rows = Vec::new();
    for (number, row) in matrix.rows.iter().enumerate() {
        if !row.is_usable() {
            continue;
        }
        let turn = number as u32 + 1;
        let mut sum = 0u128;
        for id in row.sets.iter().flat_map(|set| &matrix.sets[*set as usize]) {
            let id = *id as usize;
            if seen_in[id] != turn {
                seen_in[id] = turn;
                sum = sum.wrapping_add(units[id]);
            }
        }
        rows.push((number as u32, RowDigest(sum.to_le_bytes())));
    }
    rows
}

fn digest_unit((unit, print): &(Unit, Fingerprint)) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&print.0);
    hasher.update(&[unit.kind as u8]);
    hasher.update(&(unit.path.len() as u64).to_le_bytes());
    hasher.update(&unit.path);
    hasher.update(unit.name.as_bytes());
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    u128::from_le_bytes(half)
}
