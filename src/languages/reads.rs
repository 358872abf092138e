//! What code reads of the state that it meets, as far as its source tells.

use std::collections::BTreeMap;

use anyhow::Result;
use bstr::{BStr, BString};

use super::{Facts, LANGUAGES};
use crate::matrix::Unit;

/// The modules that tests need: the paths of their units, and the dotted names by which
/// they were imported.
pub(crate) type Needed = BTreeMap<BString, Vec<String>>;

/// What one unit reads, besides what it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UnitReads {
    /// [`name_hash`](super::name_hash) of each name that it asks objects for, imports or has in
    /// a text; sorted.
    pub names: Vec<u32>,
    /// The same of names that it loads as global ones of the module in `file`; sorted.
    pub loads: Vec<u32>,
    /// The path of its source; empty if it loads none.
    pub file: BString,
    /// The modules that it passes on, and those that these hand out: whoever gets them may
    /// look into them by names that nobody spells; sorted.
    pub holds: Vec<BString>,
    /// Modules that it may look into if import-time code has put some where it finds them.
    pub loose: Vec<BString>,
    /// Those of which it has all names at once, and hands on none: its own by `globals()`,
    /// others by a star import. With those that they hand out.
    pub globals: Vec<BString>,
    /// Whether it may read whatever there is.
    pub anything: bool,
    /// Whether it may read members of classes by names that it does not spell.
    pub members: bool,
    /// Whether it may get all members of classes at once. Of which classes the record tells.
    pub lists_members: bool,
    /// Whether it may get modules from what runs the tests.
    pub asks_runner: bool,
    pub annotations: bool,
    pub docstrings: bool,
    /// Whether it asks objects for their docstrings, of which the record tells.
    pub asks_for_docs: bool,
    /// Whether it may read something that no value tells: the line that a function stands
    /// on, how often a cache was asked.
    pub beyond_values: bool,
}

impl UnitReads {
    /// Of code that nobody understands.
    pub(crate) fn anything() -> UnitReads {
        UnitReads {
            anything: true,
            ..UnitReads::default()
        }
    }
}

/// What units read that are now as they were recorded.
pub(crate) struct Read {
    /// By unit; `None` if it is no code.
    pub of: Vec<Option<UnitReads>>,
    pub words: Words,
}

/// Names that mean more than what has these names.
#[derive(Default)]
pub(crate) struct Words {
    /// What runners of tests ask test files for by themselves.
    pub asked: &'static [&'static str],
    /// By what code that was made while tests ran, and so is in no source, can reach more than what
    /// has such a name.
    pub leading: Vec<&'static str>,
}

/// A function of a source.
pub(crate) struct FunctionAt {
    /// Its lines, from 1, inclusive.
    pub lines: (u32, u32),
    pub unit: Unit,
}

/// The functions of the source at `path`, in order, if somebody knows what they read.
///
/// # Errors
/// If the source cannot be read.
pub(crate) fn functions_at(facts: &Facts<'_>, path: &BStr) -> Result<Vec<FunctionAt>> {
    let mut found = Vec::new();
    for language in LANGUAGES {
        found.extend(language.functions_at(facts, path)?);
    }
    Ok(found)
}

/// What `units` read of the state that `modules` hold.
///
/// # Errors
/// If a source cannot be read.
pub(crate) fn read_by(facts: &Facts<'_>, modules: &Needed, units: &[&Unit]) -> Result<Read> {
    let mut read = Read {
        of: vec![None; units.len()],
        words: Words::default(),
    };
    for language in LANGUAGES {
        let Some(by) = language.reads(facts, modules, units)? else {
            continue;
        };
        for (known, new) in read.of.iter_mut().zip(by.of) {
            *known = known.take().or(new);
        }
        read.words = by.words;
    }
    for (read, unit) in read.of.iter_mut().zip(units) {
        if read.is_none() && unit.kind().is_source() {
            *read = Some(UnitReads::anything());
        }
    }
    Ok(read)
}
