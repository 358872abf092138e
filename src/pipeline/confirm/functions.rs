//! The functions that tests may run beyond those of their rows.

use anyhow::Result;
use bstr::{BString, ByteSlice};

use super::Planning;
use crate::history::Delta;
use crate::languages::{Facts, FunctionAt, functions_at};

/// Functions, with the numbers of their paths.
#[derive(Default)]
pub(super) struct Functions {
    /// Sources that no record has; their numbers come after those of the others. New tests run these.
    pub new: Vec<BString>,
    pub all: Vec<(usize, FunctionAt)>,
}

impl Planning<'_> {
    /// Those of all modules, and of sources that came since, by `deltas`.
    ///
    /// # Errors
    /// If a source cannot be read.
    pub(super) fn functions(
        &self,
        facts: &Facts<'_>,
        deltas: impl Iterator<Item = Delta>,
    ) -> Result<Functions> {
        let mut found = Functions::default();
        for (number, path) in self.paths.all.iter().enumerate() {
            let functions = functions_at(facts, path)?;
            found
                .all
                .extend(functions.into_iter().map(|one| (number, one)));
        }
        let mut new: Vec<BString> = deltas.flat_map(|delta| delta.paths).collect();
        new.sort_unstable();
        new.dedup();
        for path in new {
            if self.paths.known.contains_key(path.as_bstr()) {
                continue;
            }
            let functions = functions_at(facts, path.as_bstr())?;
            if !functions.is_empty() {
                let number = self.paths.all.len() + found.new.len();
                found.new.push(path);
                found
                    .all
                    .extend(functions.into_iter().map(|one| (number, one)));
            }
        }
        Ok(found)
    }
}
