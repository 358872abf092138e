//! Fingerprints of source code, so fine that an edit of one function leaves
//! the others alone, and so coarse that comments and formatting do not count.
//!
//! A front end per language (so far [`python`]) turns the bytes of a file into
//! [`ModuleUnits`]: the `code` units and the `skeleton` of that file, and what
//! is needed to find the unit that a traced code object belongs to.

mod cause;
mod closure;
mod facts;
mod files;
pub mod jvm;
pub mod python;

use std::collections::BTreeMap;

pub use cause::{Cause, Causes};
pub use closure::{Closure, Meaning};
pub use facts::{DIR, Environment, FILE, Facts, Place, Probe, Reads, Value, split};
pub use python::cache::Cache;
pub use python::compare::Change;
pub use python::names::model::{
    CLASS_DOCSTRING, FUNCTION_ANNOTATIONS, FUNCTION_DOCSTRING, Import, Known, MEMBER_ANNOTATIONS,
    NAMES_VERSION, Names, Part, PartAt, Uses, annotated, is_docstring, simple_name,
};
pub use python::way::{Origin, RowOf, Step, Way, Ways, Whole};
pub use python::{analyse_python, analyse_python_knowing};

use anyhow::Result;

use crate::matrix::Fingerprint;
use crate::observe::Run;

/// One way to tell what code and data mean.
pub trait Language: Sync {
    fn name(&self) -> &'static str;

    /// Whether its agent wrote a trace that names this collector.
    fn wrote(&self, collector: &str) -> bool;

    /// Whether the scopes of a process end before the next ones begin, so that their
    /// numbers tell which was first.
    fn runs_in_order(&self) -> bool {
        false
    }

    /// Whether a trace tells for each test what it wrote, so that those of other
    /// processes that met it can be known.
    fn joins_files(&self) -> bool {
        false
    }

    /// What it knows of one run.
    ///
    /// # Errors
    /// If a source cannot be read.
    fn closure(&self, run: &mut Run<'_>) -> Result<Box<dyn Closure>>;
}

/// All languages. Those before the last one know their own traces; the agent of the
/// last one names the means by which its interpreter is watched.
pub static LANGUAGES: [&dyn Language; 3] = [&files::Files, &jvm::Jvm, &python::Python];

/// The index in [`LANGUAGES`] of that whose agent wrote a trace.
pub fn language_of(collector: &str) -> usize {
    let own = LANGUAGES.iter().position(|one| one.wrote(collector));
    own.unwrap_or(LANGUAGES.len() - 1)
}

/// Version of everything that an analysis holds. It is part of every digest
/// and of the cache's path, so that results of different versions never meet.
///
/// - 1: first version.
pub const DIGEST_VERSION: u32 = 1;

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
    skeleton_reach: Reach,
    code_reach: BTreeMap<String, Reach>,
    outline: Outline,
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
struct Reach {
    /// [`name_hash`] of every identifier that the unit spells; sorted.
    mentions: Vec<u32>,
    /// Whether it may reach names that it does not spell.
    dynamic: bool,
}

/// Where in the file things are.
#[derive(Clone, Debug, Default, PartialEq)]
struct Outline {
    /// Lines in the file, at least 1.
    lines: u32,
    /// The outermost functions by line; they never share a line.
    spans: Vec<Span>,
    /// First line and [`name_hash`] of every function and class, at any
    /// depth; sorted.
    definitions: Vec<(u32, u32)>,
    /// [`name_hash`] of what is compiled to code objects of their own at
    /// places that differ between interpreters (type parameters, type
    /// aliases); sorted.
    evaluators: Vec<u32>,
}

/// The lines of an outermost function; all are counted from 1, inclusive.
#[derive(Clone, Debug, PartialEq)]
struct Span {
    /// Where the first decorator or the definition starts.
    first: u32,
    /// Where the body starts.
    body: u32,
    last: u32,
    /// Qualified name.
    unit: String,
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
pub fn name_hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
