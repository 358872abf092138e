//! What an analysis of one source file comes to.

use std::collections::BTreeMap;

use super::names::model::Names;
use crate::matrix::Fingerprint;

/// Version of everything that an analysis holds. It is part of every digest
/// and of the cache's path, so that results of different versions never meet.
///
/// - 1: first version.
pub(crate) const DIGEST_VERSION: u32 = 1;

/// What came of reading one source file.
#[derive(Clone, Debug, PartialEq)]
pub enum Analysis {
    Parsed(Box<ModuleUnits>),
    /// Why there are no units: a syntax error, an unknown encoding. The file
    /// is then one `file` unit.
    Unparsed(String),
}

/// The units of one source file.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleUnits {
    pub skeleton: Fingerprint,
    /// Qualified name of each outermost function → fingerprint of its bodies.
    pub code: BTreeMap<String, Fingerprint>,
    pub(super) skeleton_reach: Reach,
    pub(super) code_reach: BTreeMap<String, Reach>,
    pub(super) outline: Outline,
    /// The skeleton, split by name.
    pub names: Names,
}

/// Which unit a code object belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitAt<'a> {
    Skeleton,
    /// The qualified name of a `code` unit.
    Code(&'a str),
}

/// Which names the code of a unit can reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reach {
    /// [`name_hash`] of every identifier that the unit spells; sorted.
    pub(super) mentions: Vec<u32>,
    /// Whether it may reach names that it does not spell.
    pub(super) dynamic: bool,
}

/// Where in the file things are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outline {
    /// Lines in the file, at least 1.
    pub(super) lines: u32,
    /// The outermost functions by line; they never share a line.
    pub(super) spans: Vec<Span>,
    /// First line and [`name_hash`] of every function and class, at any
    /// depth; sorted.
    pub(super) definitions: Vec<(u32, u32)>,
    /// [`name_hash`] of what is compiled to code objects of their own at
    /// places that differ between interpreters (type parameters, type
    /// aliases); sorted.
    pub(super) evaluators: Vec<u32>,
}

/// The lines of an outermost function; all are counted from 1, inclusive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    /// Where the first decorator or the definition starts.
    pub(super) first: u32,
    /// Where the body starts.
    pub(super) body: u32,
    pub(super) last: u32,
    /// Qualified name.
    pub(super) unit: String,
}

impl ModuleUnits {
    /// Whether a `code` unit, or the skeleton for `None`, spells `identifier`:
    /// as a name, an attribute, a keyword, an import or in a string literal
    /// that consists of names. It may say yes wrongly (one in 4 billion per
    /// name), and does for a unit that does not exist; never no wrongly.
    pub fn mentions(&self, unit: Option<&str>, identifier: &str) -> bool {
        self.reach(unit)
            .is_none_or(|reach| reach.mentions.binary_search(&name_hash(identifier)).is_ok())
    }

    /// [`name_hash`] of every name that such a unit spells; `None` for one that does not
    /// exist.
    pub(super) fn mentioned(&self, unit: Option<&str>) -> Option<&[u32]> {
        self.reach(unit).map(|reach| &reach.mentions[..])
    }

    /// Whether a `code` unit, or the skeleton for `None`, may reach names that
    /// it does not spell (`getattr` with a computed name, `globals()`, `eval`,
    /// pickles, …). True for a unit that does not exist.
    pub fn is_dynamic(&self, unit: Option<&str>) -> bool {
        self.reach(unit).is_none_or(|reach| reach.dynamic)
    }

    fn reach(&self, unit: Option<&str>) -> Option<&Reach> {
        match unit {
            None => Some(&self.skeleton_reach),
            Some(name) => self.code_reach.get(name),
        }
    }
}

/// FNV-1a, 32 bits: stable over versions, and fast for short names.
pub(crate) fn name_hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
