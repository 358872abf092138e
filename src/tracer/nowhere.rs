//! Where nothing can be traced.

use anyhow::{Result, bail};

use super::{Job, Traced};

const WHY: &str = "tamis can trace processes only on Linux, on x86-64 and ARM of 64 bits";

pub(crate) fn why_not() -> Option<String> {
    Some(WHY.to_owned())
}

pub(crate) fn adopt_orphans() -> Result<()> {
    bail!(WHY)
}

pub(crate) fn trace(_job: &Job<'_>, _end_rest: impl FnOnce() -> usize) -> Result<Traced> {
    bail!(WHY)
}

pub(crate) fn end_descendants() -> usize {
    0
}
