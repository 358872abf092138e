//! Which units of a stored matrix differ at the head: ∂(n, h).

use bstr::{BStr, ByteSlice};
use rustc_hash::FxHashSet;

use crate::history::Delta;
use crate::languages::{Facts, Value, split};
use crate::matrix::{Fingerprint, MatrixView, UnitId, UnitKind};
use crate::runners::{Standing, Unbuilt, config_files};
use crate::select::Differences;

/// Compares every unit of `matrix` whose value may have changed. `delta` is
/// what changed between the matrix's state and that of `facts`; without it
/// every unit is compared. `unbuilt` speaks for what only a build would tell.
pub(super) fn differences(
    matrix: &MatrixView,
    delta: Option<&Delta>,
    facts: &Facts<'_>,
    unbuilt: Option<&Unbuilt<'_>>,
) -> Differences {
    let mut found = Differences::default();
    let mut candidates = candidates(matrix, delta, facts.view().is_work());
    if let Some(unbuilt) = unbuilt {
        // What a build makes is no path of git's.
        let kinds = [
            UnitKind::File,
            UnitKind::Exists,
            UnitKind::Dir,
            UnitKind::Lookup,
        ];
        let all = kinds
            .into_iter()
            .flat_map(|kind| matrix.units_of_kind(kind));
        candidates.extend(all.filter(|id| unbuilt.is_made(matrix.path(*id))));
        candidates.sort_unstable();
        candidates.dedup();
    }
    for id in candidates {
        let recorded = matrix.fingerprint(id);
        let standing = unbuilt.and_then(|unbuilt| unbuilt.standing(&matrix.unit(id), recorded));
        match standing {
            Some(Standing::Same) => continue,
            Some(Standing::Gone) if recorded == Fingerprint::MISSING => continue,
            Some(Standing::Gone) => {
                found.changed.insert(id, Fingerprint::MISSING);
                continue;
            }
            Some(Standing::Open(why)) => {
                found.unknown.insert(id, why);
                continue;
            }
            None => {}
        }
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
    let touched = Touched::new(matrix, delta, on_disk);
    let mut candidates = Vec::new();
    for kind in UnitKind::ALL {
        let units = matrix.units_of_kind(kind);
        candidates.extend(units.filter(|id| touched.may_change(kind, *id)));
    }
    candidates
}

/// What a delta touches of a matrix.
struct Touched<'a> {
    matrix: &'a MatrixView,
    delta: &'a Delta,
    /// For each path of the matrix: whether it, something above it or
    /// something beneath it differs.
    content: Vec<bool>,
    /// The same of what is there by name, whatever its content.
    names: Vec<bool>,
    /// For each path that came, went or became something else, and each
    /// directory above it: the directory, and up to its first dot the name
    /// there that leads to the path.
    stems: FxHashSet<(&'a [u8], &'a [u8])>,
    /// Whether the later state is that on disk, where files can be that git
    /// ignores, and of which a delta does not speak.
    on_disk: bool,
}

impl<'a> Touched<'a> {
    fn new(matrix: &'a MatrixView, delta: &'a Delta, on_disk: bool) -> Touched<'a> {
        let mut touched = Touched {
            matrix,
            delta,
            content: vec![false; matrix.paths().len()],
            names: vec![false; matrix.paths().len()],
            stems: FxHashSet::default(),
            on_disk,
        };
        for path in &delta.paths {
            mark(&mut touched.content, matrix, path.as_bstr());
            if !delta.edited.contains(path) {
                mark(&mut touched.names, matrix, path.as_bstr());
                touched.add_stems(path.as_bstr());
            }
        }
        touched
    }

    fn add_stems(&mut self, path: &'a BStr) {
        let (mut dir, mut name) = split(path);
        loop {
            let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
            let is_new = self.stems.insert((dir.as_bytes(), stem));
            if !is_new || dir.is_empty() {
                break;
            }
            (dir, name) = split(dir);
        }
    }

    /// Whether a unit can have another value at the other end of the delta.
    /// What no commit holds is always compared.
    fn may_change(&self, kind: UnitKind, id: UnitId) -> bool {
        let matrix = self.matrix;
        let (path, at) = (matrix.path(id), matrix.path_index(id));
        let is_missing = || matrix.fingerprint(id) == Fingerprint::MISSING;
        match kind {
            UnitKind::Dist | UnitKind::Runtime | UnitKind::Env | UnitKind::Other => true,
            UnitKind::Config if path.is_empty() => true,
            _ if path.starts_with(b"/") => true,
            _ if matrix.is_untracked(id) => true,
            UnitKind::File | UnitKind::Exists | UnitKind::Config
                if self.on_disk && is_missing() =>
            {
                true
            }
            UnitKind::File
            | UnitKind::Line
            | UnitKind::Listing
            | UnitKind::Code
            | UnitKind::Skeleton
            | UnitKind::Binding
            | UnitKind::Effects => self.content[at],
            // A `pom.xml`; else what pytest looks at in a folder.
            UnitKind::Config if self.content[at] => true,
            UnitKind::Config => config_files(path).any(|file| self.delta.touches(file.as_bstr())),
            UnitKind::Exists | UnitKind::Dir => self.names[at],
            UnitKind::Reached => false,
            UnitKind::Class | UnitKind::Method | UnitKind::Shape | UnitKind::Member => true,
            UnitKind::Lookup => {
                let (dir, stem) = split(path);
                // A lookup beneath what was replaced has a touched path.
                self.names[at] || self.stems.contains(&(dir.as_bytes(), stem.as_bytes()))
            }
        }
    }
}

/// Marks the paths of `matrix` that are `path`, above it or beneath it.
fn mark(marks: &mut [bool], matrix: &MatrixView, path: &BStr) {
    for at in matrix.paths_at(path) {
        marks[at] = true;
    }
    let mut above = path;
    loop {
        above = split(above).0;
        if let Some(at) = matrix.path_named(above) {
            marks[at] = true;
        }
        if above.is_empty() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bstr::BString;
    use proptest::prelude::*;

    use super::*;
    use crate::matrix::samples::any_matrix;
    use crate::matrix::{MatrixView, What, encode};

    /// Paths near those of the samples.
    fn any_paths() -> impl Strategy<Value = BTreeSet<BString>> {
        let part = prop_oneof!["[ab]", "[ab]\\.py", "src", "tests"];
        let path = proptest::collection::vec(part, 1..4);
        let path = path.prop_map(|parts| BString::from(parts.join("/")));
        proptest::collection::btree_set(path, 0..4)
    }

    proptest! {
        /// Against the questions that a delta answers about one path.
        #[test]
        fn candidates_are_what_a_delta_touches(
            matrix in any_matrix(),
            near in any_paths(),
            picks in proptest::collection::vec((any::<prop::sample::Index>(), 0..3usize), 0..4),
        ) {
            let mut paths = near;
            for (pick, up) in picks.iter().filter(|_| !matrix.units.is_empty()) {
                let unit = &matrix.units[pick.index(matrix.units.len())].0;
                let mut path = unit.path();
                for _ in 0..*up {
                    path = split(path).0;
                }
                if !path.is_empty() && !path.starts_with(b"/") {
                    paths.insert(path.to_owned());
                }
            }
            let delta = Delta { paths, edited: BTreeSet::new() };
            let view = MatrixView::open(encode(&matrix).unwrap()).unwrap();
            let found = candidates(&view, Some(&delta), false);
            for (id, (unit, _)) in matrix.units.iter().enumerate() {
                let path = unit.path();
                let is_above = delta.paths.iter().any(|changed| {
                    path.is_empty() || changed.strip_prefix(path.as_bytes())
                        .is_some_and(|rest| rest.starts_with(b"/"))
                });
                let is_untracked = matches!(
                    unit.what,
                    What::UntrackedFile | What::UntrackedExists | What::Listing
                );
                let wanted = match unit.kind() {
                    _ if unit.is_outside() || is_untracked => continue,
                    UnitKind::Dist | UnitKind::Runtime | UnitKind::Env | UnitKind::Other => true,
                    kind if kind.is_compiled() => true,
                    UnitKind::Config | UnitKind::Reached => continue,
                    UnitKind::Exists | UnitKind::Dir => delta.touches(path) || is_above,
                    UnitKind::Lookup => {
                        let (dir, stem) = split(path);
                        let leads_here = |changed: &BString| {
                            let below = match dir.is_empty() {
                                true => Some(changed.as_slice()),
                                false => changed.strip_prefix(dir.as_bytes())
                                    .and_then(|rest| rest.strip_prefix(b"/")),
                            };
                            let name = below.and_then(|below| below.split_str("/").next());
                            let begins = name.and_then(|name| name.split_str(".").next());
                            begins == Some(stem.as_bytes())
                        };
                        delta.replaces(dir) || delta.paths.iter().any(leads_here)
                    }
                    _ => delta.touches(path),
                };
                if wanted {
                    prop_assert!(found.contains(&(id as UnitId)), "{unit}");
                }
            }
        }
    }
}
