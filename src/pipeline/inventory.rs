//! Whether there may be tests that nobody has listed, and in how many files.

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashSet;

use super::project::Project;
use crate::fingerprint::jvm::ALL;
use crate::history::{Delta, Entry, View};
use crate::matrix::{Fingerprint, MatrixView, Mode, UnitId, UnitKind};
use crate::runners::pytest::{Finds, MayHold};
use crate::select::{COLLECTION, Unlisted};

/// The changed paths of which no recorded unit of the collection speaks, and that may
/// hold tests which nobody knows. Outside of `paths` there are none: the configuration
/// says so.
///
/// # Errors
/// If git cannot be read.
pub(super) fn unlisted(
    project: &Project,
    matrix: &MatrixView,
    delta: Option<&Delta>,
    view: &View,
) -> Result<Unlisted> {
    let Some(delta) = delta else {
        return Ok(Unlisted {
            doubt: Some("what changed since the last run is unknown".to_owned()),
            ..Unlisted::default()
        });
    };
    let collection: Vec<UnitId> = match matrix.row_of(COLLECTION) {
        Some(row) => matrix.units_of(row),
        None => Vec::new(),
    };
    let is_all = |id: &UnitId| matrix.kind(*id) == UnitKind::Class && matrix.is_named(*id, ALL);
    if collection.iter().any(is_all) {
        // All compiled tests were compared.
        return Ok(Unlisted::default());
    }
    let known: FxHashSet<&BStr> = collection.iter().map(|id| matrix.path(*id)).collect();
    let finding = Finding::new(matrix, &collection, view);
    let mut unlisted = Unlisted::default();
    let paths = delta.paths.iter();
    for path in paths.filter(|path| project.may_hold_tests(path)) {
        if known.contains(path.as_bstr()) || !finding.may_hold(path.as_bstr(), delta)? {
            continue;
        }
        if finding.is_named(path.as_bstr()) {
            unlisted.files.extend(project.file_of(path.as_bstr()));
        }
        unlisted
            .doubt
            .get_or_insert_with(|| format!("{path} may hold new ones"));
    }
    Ok(unlisted)
}

/// How the runner found the tests.
struct Finding<'a> {
    view: &'a View,
    /// Of each process that looked for them; empty if that was not recorded.
    finds: Vec<Finds>,
}

impl<'a> Finding<'a> {
    fn new(matrix: &MatrixView, collection: &[UnitId], view: &'a View) -> Finding<'a> {
        let options = collection
            .iter()
            .filter(|id| matrix.kind(**id) == UnitKind::Config && matrix.path(**id).is_empty());
        let units = options.map(|id| matrix.unit(*id));
        let finds = units
            .filter(Finds::is_unit)
            .map(|unit| Finds::of_unit(&unit));
        Finding {
            view,
            finds: finds.collect::<Option<_>>().unwrap_or_default(),
        }
    }

    /// Whether a changed path, of which the list of tests says nothing, may hold some.
    fn may_hold(&self, path: &BStr, delta: &Delta) -> Result<bool> {
        let plain = match self.view.entry(path)? {
            Entry::Missing => return Ok(false),
            Entry::File { fingerprint, .. } => is_plain(fingerprint),
            Entry::TooLarge { .. } => true,
            Entry::Dir | Entry::Unknown => false,
        };
        if self.finds.is_empty() || !plain {
            return Ok(true);
        }
        if delta.edited.contains(path) {
            // It was there when the tests were listed and had none. Whoever looked
            // into it to find that out would have it among its units.
            return Ok(false);
        }
        for finds in &self.finds {
            match finds.may_hold(path) {
                MayHold::No => {}
                MayHold::Yes => return Ok(true),
                MayHold::ByLink if self.has_links(finds)? => return Ok(true),
                MayHold::ByLink => {}
            }
        }
        Ok(false)
    }

    /// Whether it is a file of tests by its name, so that a machine for it is worth it.
    fn is_named(&self, path: &BStr) -> bool {
        !self.finds.is_empty() || Finds::by_default().may_hold(path) == MayHold::Yes
    }

    /// Whether a symbolic link lies where pytest looks, which may lead anywhere.
    fn has_links(&self, finds: &Finds) -> Result<bool> {
        let mut open: Vec<BString> = finds
            .places
            .iter()
            .flatten()
            .map(|it| it.as_str().into())
            .collect();
        while let Some(folder) = open.pop() {
            for (name, is_folder) in self.view.list(folder.as_bstr())?.into_iter().flatten() {
                let mut path = folder.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(&name);
                if is_folder {
                    open.push(path);
                } else if let Entry::File { fingerprint, .. } = self.view.entry(path.as_bstr())?
                    && !is_plain(fingerprint)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// A file, and neither a symbolic link nor a submodule.
fn is_plain(fingerprint: Fingerprint) -> bool {
    let mode = fingerprint.0[15];
    mode == Mode::Regular as u8 || mode == Mode::Executable as u8
}
