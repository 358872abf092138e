//! What a collector tells of functions that code asks how they can be called, or calls in a way
//! that they cannot be: `docs/precision.md`. Who calls one in any other way runs its code.
//!
//! The texts of these units are `(` and the qualified name of the function.

use crate::languages::name_hash;
use crate::languages::reads::UnitReads;

/// What stands in front of such texts. Alone it says that these are told at all.
pub(crate) const CALLED: char = '(';

/// What code reads of which this was told; `None` if it was told of something else.
pub(super) fn reads(told: &str) -> Option<UnitReads> {
    let function = told.strip_prefix(CALLED)?;
    let mut reads = UnitReads::default();
    if !function.is_empty() {
        reads.names = vec![name_hash(told)];
    }
    Some(reads)
}

/// What the code of a function reads, of itself.
pub(super) fn own(qualified: &str) -> u32 {
    name_hash(&format!("{CALLED}{qualified}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_reads_how_it_can_be_called_itself() {
        let names = |told| reads(told).map(|reads| reads.names);
        assert_eq!(names("C.f"), None);
        assert_eq!(names("("), Some(Vec::new()));
        assert_eq!(names("(C.f"), Some(vec![own("C.f")]));
    }
}
