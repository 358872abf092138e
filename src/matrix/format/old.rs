//! What formats before today's lack. Units as formats 1 and 2 have them: by kind and name, in the order of these.

use super::Refusal;
use crate::matrix::what::Tag;
use crate::matrix::{Fingerprint, ShardOfRun, Unit, UnitId, UnitKind};

/// How many counts and sections there were before format 4.
pub(super) const COUNTS: usize = 12;
pub(super) const SECTIONS: usize = 7;

/// How many kinds there are: in format 1 the first 13.
pub(super) const KINDS: usize = 16;

pub(super) fn unit(kind: Tag, path: &[u8], name: &str) -> Unit {
    Unit::named(UnitKind::ALL[usize::from(kind)], path, name)
}

/// Which shard a run was: its name says so, `RUN-shard-2-of-4-PLAN`.
pub(super) fn shard_of(run: &str) -> Option<ShardOfRun> {
    let (own, rest) = run.rsplit_once("-shard-")?;
    let mut parts = rest.splitn(4, '-');
    let index = parts.next()?.parse().ok()?;
    let of = parts.nth(1)?.parse().ok()?;
    Some(ShardOfRun {
        run: own.to_owned(),
        index,
        of,
        plan: parts.next()?.to_owned(),
    })
}

/// Puts units and sets into the order of today.
///
/// # Errors
/// If two units are the same.
pub(super) fn renumber(
    units: &mut Vec<(Unit, Fingerprint)>,
    sets: &mut [Vec<UnitId>],
) -> Result<(), Refusal> {
    let mut order: Vec<UnitId> = (0..units.len() as UnitId).collect();
    let unit = |at: &UnitId| &units[*at as usize].0;
    order.sort_by(|one, other| unit(one).cmp(unit(other)));
    if order.windows(2).any(|two| unit(&two[0]) == unit(&two[1])) {
        return Err(Refusal::malformed("two units are the same"));
    }
    let mut ids = vec![0; units.len()];
    for (id, at) in order.iter().enumerate() {
        ids[*at as usize] = id as UnitId;
    }
    for set in sets {
        for id in set.iter_mut() {
            *id = ids[*id as usize];
        }
        set.sort_unstable();
    }
    let mut taken: Vec<_> = std::mem::take(units).into_iter().map(Some).collect();
    let sorted = order.iter().filter_map(|at| taken[*at as usize].take());
    units.extend(sorted);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_run_told_its_shard() {
        let shard = ShardOfRun {
            run: "1700000000-42".into(),
            index: 2,
            of: 4,
            plan: "0a1b".into(),
        };
        assert_eq!(shard_of("1700000000-42-shard-2-of-4-0a1b"), Some(shard));
        assert_eq!(shard_of("1700000000-42"), None);
        assert_eq!(shard_of("1700000000-42-joined"), None);
    }
}
