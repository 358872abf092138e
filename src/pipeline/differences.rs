//! Which units of a stored matrix differ at the head: ∂(n, h).

use bstr::{BStr, ByteSlice};
use rustc_hash::FxHashSet;

use crate::fingerprint::{Facts, UNTRACKED, Value, split};
use crate::history::Delta;
use crate::matrix::{Fingerprint, MatrixView, UnitId, UnitKind};
use crate::runners::pytest;
use crate::select::Differences;

/// Compares every unit of `matrix` whose value may have changed. `delta` is
/// what changed between the matrix's state and that of `facts`; without it
/// every unit is compared.
pub fn differences(
    matrix: &MatrixView,
    delta: Option<&Delta>,
    facts: &Facts<'_>,
) -> Differences {
    let mut found = Differences::default();
    for id in candidates(matrix, delta, facts.view().is_work()) {
        let recorded = matrix.fingerprint(id);
        match facts.value(&matrix.unit(id)) {
            Value::Known(now) if now == recorded => {}
            Value::Known(now) => {
                found.changed.insert(id, now);
            }
            Value::Unknown(why) => {
                found.unknown.insert(id, why);
            }
            Value::Late => found.late.push(id),
        }
    }
    found
}

/// The units that may have another value at the other end of `delta`,
/// ascending.
fn candidates(matrix: &MatrixView, delta: Option<&Delta>, on_disk: bool) -> Vec<UnitId> {
    let Some(delta) = delta else {
        return (0..matrix.units() as UnitId).collect();
    };
    let touched = Touched::new(delta, on_disk);
    // Most units are of source files, and there are many of each.
    let of_paths: Vec<bool> = matrix.paths().map(|path| touched.touches(path)).collect();
    let mut candidates = Vec::new();
    for kind in UnitKind::ALL {
        let units = matrix.units_of_kind(kind);
        candidates.extend(units.filter(|id| {
            of_paths[matrix.path_index(*id)] || touched.may_change(matrix, kind, *id)
        }));
    }
    candidates
}

/// A delta, with the directories above each changed path.
struct Touched<'a> {
    paths: FxHashSet<&'a [u8]>,
    above: FxHashSet<&'a [u8]>,
    /// For each changed path and each directory above it: the directory, and
    /// up to its first dot the name there that leads to the path.
    stems: FxHashSet<(&'a [u8], &'a [u8])>,
    /// Whether the later state is that on disk, where files can be that git
    /// ignores, and of which a delta does not speak.
    on_disk: bool,
}

impl<'a> Touched<'a> {
    fn new(delta: &'a Delta, on_disk: bool) -> Touched<'a> {
        let mut above = FxHashSet::default();
        let mut stems = FxHashSet::default();
        for path in &delta.paths {
            let (mut dir, mut name) = split(path.as_bstr());
            loop {
                let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
                let is_new = stems.insert((dir.as_bytes(), stem));
                if !(above.insert(dir.as_bytes()) || is_new) || dir.is_empty() {
                    break;
                }
                (dir, name) = split(dir);
            }
        }
        Touched {
            paths: delta.paths.iter().map(|path| path.as_bytes()).collect(),
            above,
            stems,
            on_disk,
        }
    }

    /// Whether a unit whose path the delta does not touch can have another
    /// value at its other end. What no commit holds is always compared.
    fn may_change(&self, matrix: &MatrixView, kind: UnitKind, id: UnitId) -> bool {
        let path = matrix.path(id);
        let is_missing = || matrix.fingerprint(id) == Fingerprint::MISSING;
        match kind {
            UnitKind::Dist | UnitKind::Runtime | UnitKind::Env | UnitKind::Class => true,
            UnitKind::Config if path.is_empty() => true,
            _ if path.starts_with(b"/") => true,
            UnitKind::File | UnitKind::Exists | UnitKind::Dir
                if matrix.is_named(id, UNTRACKED) =>
            {
                true
            }
            UnitKind::File | UnitKind::Exists | UnitKind::Config
                if self.on_disk && is_missing() =>
            {
                true
            }
            UnitKind::File
            | UnitKind::Code
            | UnitKind::Skeleton
            | UnitKind::Binding
            | UnitKind::Effects
            | UnitKind::Exists
            | UnitKind::Dir => false,
            UnitKind::Config => {
                pytest::config_files(path).any(|file| self.touches(file.as_bstr()))
            }
            UnitKind::Lookup => {
                let (dir, stem) = split(path);
                self.replaces(dir) || self.stems.contains(&(dir.as_bytes(), stem.as_bytes()))
            }
        }
    }

    /// [`Delta::touches`], without a search for each question.
    fn touches(&self, path: &BStr) -> bool {
        match path.is_empty() {
            true => !self.paths.is_empty(),
            false => self.is_above(path) || self.replaces(path),
        }
    }

    /// [`Delta::replaces`].
    fn replaces(&self, path: &BStr) -> bool {
        let path = path.as_bytes();
        let mut above = path.find_iter("/").map(|at| &path[..at]);
        self.paths.contains(path) || above.any(|above| self.paths.contains(above))
    }

    fn is_above(&self, dir: &BStr) -> bool {
        self.above.contains(dir.as_bytes())
    }
}
