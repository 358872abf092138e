//! Which imported names are classes, and what deriving from them does: looked
//! up in the sources that they are imported from.
//!
//! Only within the package of the importing file, where an import statement
//! leads to one file whatever the interpreter's search path is.
//!
//! An answer is not asked for again at selection, if the importing file has not
//! changed. If a class stops being one that can be derived from without further
//! ado, that changes the effects of its module, or the presence of its name:
//! whoever imports the importing module has both in its row.

use std::collections::BTreeSet;

use anyhow::Result;
use bstr::{BStr, ByteSlice};

use super::names::model::{Import, Known, Names};
use crate::languages::Analysis;
use crate::languages::facts::Facts;
use crate::matrix::Fingerprint;

/// Imports that are followed one after the other.
const MAX_DEPTH: u32 = 12;

impl Facts<'_> {
    /// What other sources tell of the names that the source at `path` asks about:
    /// which of them are classes whose derivation does nothing of its own.
    pub(in crate::languages) fn known(&self, path: &BStr, names: &Names) -> Result<Known> {
        let mut classes = BTreeSet::new();
        for name in &names.asked {
            let mut imports = names.imports.iter().filter(|import| &import.bound == name);
            if let (Some(import), None) = (imports.next(), imports.next())
                && self.is_plain(path, import, 0)?
            {
                classes.insert(name.clone());
            }
        }
        Ok(Known { classes })
    }

    fn is_plain(&self, from: &BStr, import: &Import, depth: u32) -> Result<bool> {
        let Some(item) = &import.item else {
            return Ok(false);
        };
        let Some(source) = self.source_of(from, import)? else {
            return Ok(false);
        };
        let analysis = self.module_alone(source.as_bstr())?;
        let Some(Analysis::Parsed(module)) = analysis.as_deref() else {
            return Ok(false);
        };
        if depth > MAX_DEPTH {
            return Ok(false);
        }
        if let Some(needed) = module.names.classes.get(item) {
            for import in needed {
                if !self.is_plain(source.as_bstr(), import, depth + 1)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        // Passed on from where it was imported.
        let names = &module.names;
        let part = names.bindings.get(item);
        let is_passed_on = part.is_some_and(|part| part.is_import && part.is_single);
        let mut imports = names.imports.iter().filter(|import| &import.bound == item);
        match (imports.next(), imports.next()) {
            (Some(import), None) if is_passed_on && import.at_import => {
                self.is_plain(source.as_bstr(), import, depth + 1)
            }
            _ => Ok(false),
        }
    }

    /// The value of a module's effects. An import of the standard library does
    /// nothing, unless a file of the project may be meant.
    pub(in crate::languages) fn effects(&self, path: &BStr, names: &Names) -> Result<Fingerprint> {
        let value = names.effects.value;
        let mut hidden = self.hidden(path, names)?;
        if hidden.is_empty() {
            return Ok(value);
        }
        hidden.extend_from_slice(&value.0);
        Ok(Fingerprint::of_digest(
            "tamis effects of hidden modules 1",
            &hidden,
        ))
    }
}
