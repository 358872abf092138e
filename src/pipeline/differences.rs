//! Which units of a stored matrix differ at the head: ∂(n, h).

use bstr::{BStr, ByteSlice};
use rustc_hash::FxHashSet;

use crate::fingerprint::{Facts, UNTRACKED, Value, split};
use crate::history::Delta;
use crate::matrix::{Fingerprint, Matrix, Unit, UnitKind};
use crate::runners::pytest;
use crate::select::Differences;

/// Compares every unit of `matrix` whose value may have changed. `delta` is
/// what changed between the matrix's state and that of `facts`; without it
/// every unit is compared.
pub fn differences(matrix: &Matrix, delta: Option<&Delta>, facts: &Facts<'_>) -> Differences {
    let touched = delta.map(|delta| Touched::new(delta, facts.view().is_work()));
    let mut found = Differences::default();
    // Units are sorted: those of one path are neighbours.
    let mut last: Option<(&BStr, bool)> = None;
    for (id, (unit, recorded)) in matrix.units.iter().enumerate() {
        let may_differ = match &touched {
            None => true,
            Some(touched) => match (unit.kind, last) {
                (_, Some((path, answer))) if is_source(unit) && path == unit.path() => answer,
                _ => touched.may_change(unit, *recorded),
            },
        };
        last = is_source(unit).then_some((unit.path(), may_differ));
        if !may_differ {
            continue;
        }
        let id = id as u32;
        match facts.value(unit) {
            Value::Known(now) if now == *recorded => {}
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

/// Whether the content of one source file alone decides what `unit` is worth.
fn is_source(unit: &Unit) -> bool {
    matches!(unit.kind, UnitKind::Code | UnitKind::Binding)
}

/// A delta, with the directories above each changed path.
struct Touched<'a> {
    delta: &'a Delta,
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
            delta,
            above,
            stems,
            on_disk,
        }
    }

    /// Whether `unit` can have another value at the other end of the delta.
    /// What no commit holds is always compared.
    fn may_change(&self, unit: &Unit, recorded: Fingerprint) -> bool {
        match unit.kind {
            UnitKind::Dist | UnitKind::Runtime | UnitKind::Env | UnitKind::Class => true,
            UnitKind::Config if unit.path.is_empty() => true,
            _ if unit.is_outside() || unit.name == UNTRACKED => true,
            UnitKind::File | UnitKind::Exists | UnitKind::Config
                if self.on_disk && recorded == Fingerprint::MISSING =>
            {
                true
            }
            UnitKind::File
            | UnitKind::Code
            | UnitKind::Skeleton
            | UnitKind::Binding
            | UnitKind::Effects => self.touches(unit.path()),
            UnitKind::Config => {
                pytest::config_files(unit.path()).any(|file| self.touches(file.as_bstr()))
            }
            UnitKind::Exists => self.touches(unit.path()) || self.is_above(unit.path()),
            UnitKind::Dir => self.touches(unit.path()) || self.is_above(unit.path()),
            UnitKind::Lookup => {
                let (dir, stem) = split(unit.path());
                self.delta.replaces(dir) || self.stems.contains(&(dir.as_bytes(), stem.as_bytes()))
            }
        }
    }

    fn touches(&self, path: &BStr) -> bool {
        self.delta.touches(path)
    }

    fn is_above(&self, dir: &BStr) -> bool {
        self.above.contains(dir.as_bytes())
    }
}
