//! Which code of the project may read what tests leave: so the test process sees whether a test whose
//! code has changed, or that is new, misses what tests left that do not run.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::{FxHashMap, FxHashSet};

use super::own_unit;
use crate::languages::{Facts, Needed, UnitReads, code_in, name_hash, read_by};
use crate::matrix::Unit;
use crate::runners::{Confirm, OwnUnit};

/// Adds to the plan, for each of `sources`, its code, with what it reads if that may be any cell that
/// tests left.
///
/// # Errors
/// If a source cannot be read.
pub(super) fn add_readers(
    plan: &mut Confirm<'_>,
    facts: &Facts<'_>,
    sources: &BTreeSet<BString>,
) -> Result<()> {
    let left = plan.matrices.iter().flat_map(|matrix| &matrix.ties);
    let left = left.flat_map(|ties| ties.left.values()).flatten();
    let mut names: FxHashSet<u32> = FxHashSet::default();
    let parts = left.flat_map(|cell| cell.1.split('.'));
    names.extend(parts.map(name_hash));
    names.insert(name_hash("modules"));
    let code = code_in(facts, sources)?;
    let units: Vec<&Unit> = code.iter().map(|one| &one.unit).collect();
    let read = read_by(facts, &needed(plan), &units)?;
    let numbers: FxHashMap<&BStr, usize> = { plan.paths.iter().enumerate() }
        .map(|(at, path)| (BStr::new(path.as_str()), at))
        .collect();
    let mut known: FxHashMap<OwnUnit, usize> = FxHashMap::default();
    let mut readers = std::collections::BTreeMap::new();
    for path in sources {
        readers.insert(path.to_string(), Vec::new());
    }
    let mut more = Vec::new();
    for (code, reads) in code.iter().zip(&read.of) {
        let reads = reads.as_ref().filter(|reads| may_read(reads, &names));
        let number = reads.map(|reads| {
            let unit = own_unit(reads, &numbers);
            let next = plan.units.len() + more.len();
            let number = *known.entry(unit.clone()).or_insert(next);
            if number == next {
                more.push(unit);
            }
            number
        });
        let spans = readers.entry(code.unit.path.to_string()).or_default();
        spans.push((code.first, code.last, number));
    }
    plan.units.extend(more);
    plan.readers = Some(readers);
    Ok(())
}

fn may_read(reads: &UnitReads, names: &FxHashSet<u32>) -> bool {
    reads.anything
        || reads.members
        || reads.annotations
        || reads.docstrings
        || !reads.holds.is_empty()
        || !reads.globals.is_empty()
        || !reads.loose.is_empty()
        || reads
            .names
            .iter()
            .chain(&reads.loads)
            .any(|name| names.contains(name))
}

/// The modules of the records, with their names.
fn needed(plan: &Confirm<'_>) -> Needed {
    let mut needed = Needed::new();
    for path in &plan.paths {
        needed.insert(BString::from(path.as_str()), Vec::new());
    }
    for holder in plan.matrices.iter().flat_map(|matrix| &matrix.holders) {
        if let Some(names) = needed.get_mut(holder.1.as_bytes().as_bstr())
            && !holder.0.contains(':')
            && !names.iter().any(|name| name == holder.0)
        {
            names.push(holder.0.to_owned());
        }
    }
    needed
}
