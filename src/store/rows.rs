//! Digests of rows. Rows with the same units and fingerprints have the same digest.

use std::fmt;

use crate::matrix::{Fingerprint, Matrix, SetId, Unit};

/// A digest of a row's units with their fingerprints. It distinguishes rows of one test,
/// however their units are grouped. It only serves to drop repetitions and proves nothing: a
/// collision would cost a rerun, no more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowDigest(pub [u8; 16]);

impl fmt::Debug for RowDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_le_bytes(self.0))
    }
}

/// The number and digest of every row of `matrix` that may justify a skip, in the order of the
/// rows.
///
/// The digest is the sum of the digests of the row's distinct units, so that no row has to be
/// sorted.
pub(crate) fn usable_rows(matrix: &Matrix) -> Vec<(u32, RowDigest)> {
    let mut sums = Sums {
        units: matrix.units.iter().map(digest_unit).collect(),
        seen_in: vec![0; matrix.units.len()],
        turn: 0,
    };
    let mut rows = Vec::new();
    // Most of a row is a set that neighbouring rows share. This keeps the sum of that set, and
    // the turn that counted it.
    let mut shared: Option<(SetId, u128, u32)> = None;
    for (number, row) in matrix.rows.iter().enumerate() {
        if !row.is_usable() {
            continue;
        }
        let sum = match row.sets.split_first() {
            Some((first, others)) => {
                let (_, sum, base) = *match &mut shared {
                    Some(known) if known.0 == *first => known,
                    other => {
                        let base = sums.next_turn();
                        let sum = sums.add(0, base, &matrix.sets[*first as usize]);
                        other.insert((*first, sum, base))
                    }
                };
                sums.next_turn();
                let others = others.iter().map(|set| &matrix.sets[*set as usize]);
                others.fold(sum, |sum, set| sums.add(sum, base, set))
            }
            None => 0,
        };
        rows.push((number as u32, RowDigest(sum.to_le_bytes())));
    }
    rows
}

struct Sums {
    units: Vec<u128>,
    /// For each unit, the last turn that counted it.
    seen_in: Vec<u32>,
    turn: u32,
}

impl Sums {
    fn next_turn(&mut self) -> u32 {
        self.turn += 1;
        self.turn
    }

    /// `sum` plus the digests of the units of `set` that were counted neither in this turn nor
    /// in `base`.
    fn add(&mut self, mut sum: u128, base: u32, set: &[u32]) -> u128 {
        for id in set {
            let id = *id as usize;
            let seen = self.seen_in[id];
            if seen != self.turn && seen != base {
                self.seen_in[id] = self.turn;
                sum = sum.wrapping_add(self.units[id]);
            }
        }
        sum
    }
}

fn digest_unit((unit, print): &(Unit, Fingerprint)) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&print.0);
    hasher.update(&[unit.kind() as u8]);
    hasher.update(&(unit.path.len() as u64).to_le_bytes());
    hasher.update(&unit.path);
    hasher.update(unit.name().as_bytes());
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    u128::from_le_bytes(half)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::matrix::samples;

    proptest! {
        #[test]
        fn a_digest_is_the_sum_over_the_distinct_units(matrix in samples::any_matrix()) {
            let found: Vec<(u32, RowDigest)> = usable_rows(&matrix);
            let expected: Vec<(u32, RowDigest)> = (0u32..)
                .zip(&matrix.rows)
                .filter(|(_, row)| row.is_usable())
                .map(|(number, row)| {
                    let sets = row.sets.iter().map(|set| &matrix.sets[*set as usize]);
                    let units: BTreeSet<u32> = sets.flatten().copied().collect();
                    let digest = |id: &u32| digest_unit(&matrix.units[*id as usize]);
                    let sum = units.iter().map(digest).fold(0, u128::wrapping_add);
                    (number, RowDigest(sum.to_le_bytes()))
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
