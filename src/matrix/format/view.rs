//! An encoded matrix as selection reads it: flat, without a value for every
//! unit, and with names and fingerprints only when they are asked for.

use std::ops::Range;
use std::sync::OnceLock;

use bstr::{BStr, ByteSlice};

use super::decode::{RowTable, UnitTable, print_at, read_paths, read_tests};
use super::prefix::{Digest, Prefix, Section};
use super::wire::{Reader, Strs, Texts};
use super::{Header, Refusal};
use crate::matrix::{Fingerprint, Outcome, Unit, UnitId, UnitKind};

/// A matrix, opened for a selection.
///
/// Opening checks the digests and rules of all but three sections: sets, names
/// and fingerprints are checked when first used, which is why those methods
/// can refuse. A view that refused once justifies no skip.
#[derive(Debug)]
pub struct MatrixView {
    file: Vec<u8>,
    prefix: Prefix,
    paths: Texts,
    units: UnitTable,
    tests: Strs,
    rows: RowTable,
    sets: OnceLock<Result<Vec<u8>, Refusal>>,
    names: OnceLock<Result<Strs, Refusal>>,
    prints: OnceLock<Result<Range<usize>, Refusal>>,
}

/// One row of a view, without its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewRow<'a> {
    pub test: &'a str,
    pub outcome: Outcome,
    pub duration_ms: u32,
    pub position: u32,
    /// Why the row may lack units; `None` when it is complete.
    pub incomplete: Option<&'a str>,
    /// Index into [`Header::runs`].
    pub run: u32,
    pub selected: bool,
}

impl ViewRow<'_> {
    /// Whether the row may justify a skip at all, were its units unchanged.
    pub fn is_usable(&self) -> bool {
        self.outcome.is_good() && self.incomplete.is_none()
    }
}

impl MatrixView {
    /// Opens the encoded matrix `file`.
    pub fn open(file: Vec<u8>) -> Result<MatrixView, Refusal> {
        let prefix = Prefix::read(&file)?;
        prefix.check_len(file.len() as u64)?;
        Ok(MatrixView {
            paths: read_paths(&prefix, &file)?,
            units: UnitTable::read(&prefix, &file)?,
            tests: read_tests(&prefix, &file)?,
            rows: RowTable::read(&prefix, &file)?,
            sets: OnceLock::new(),
            names: OnceLock::new(),
            prints: OnceLock::new(),
            prefix,
            file,
        })
    }

    pub fn header(&self) -> &Header {
        &self.prefix.header
    }

    /// What names the matrix.
    pub fn digest(&self) -> Digest {
        self.prefix.digest
    }

    /// How many units there are; ids are below it.
    pub fn units(&self) -> usize {
        self.units.paths.len()
    }

    /// The units of one kind: neighbours, sorted by path and name.
    pub fn units_of_kind(&self, kind: UnitKind) -> Range<UnitId> {
        self.units.of_kind(kind)
    }

    /// The units of every kind at `path`, ascending.
    pub fn units_at_path(&self, path: &[u8]) -> impl Iterator<Item = UnitId> {
        let path = self.paths.find(path);
        UnitKind::ALL.into_iter().flat_map(move |kind| match path {
            Some(path) => self.units.at_path(kind, path as u32),
            None => 0..0,
        })
    }

    /// The distinct paths of all units, ascending.
    pub fn paths(&self) -> impl Iterator<Item = &BStr> {
        (0..self.paths.len()).map(|index| self.paths.get(index).as_bstr())
    }

    /// The kind of a unit.
    ///
    /// # Panics
    /// Like the other methods that take an id: if it is not below
    /// [`MatrixView::units`].
    pub fn kind(&self, id: UnitId) -> UnitKind {
        self.units.kind(id)
    }

    /// The path of a unit.
    pub fn path(&self, id: UnitId) -> &BStr {
        self.paths
            .get(self.units.paths[id as usize] as usize)
            .as_bstr()
    }

    /// A unit by itself. The first call reads the names of all.
    pub fn unit(&self, id: UnitId) -> Result<Unit, Refusal> {
        let names = self
            .names
            .get_or_init(|| self.units.read_names(&self.prefix, &self.file))
            .as_ref()
            .map_err(Refusal::clone)?;
        Ok(Unit::new(
            self.kind(id),
            self.path(id),
            names.get(id as usize),
        ))
    }

    /// The fingerprint of a unit. The first call checks the digest of all.
    pub fn fingerprint(&self, id: UnitId) -> Result<Fingerprint, Refusal> {
        let prints = self
            .prints
            .get_or_init(|| self.prefix.stored_range(&self.file, Section::Prints))
            .as_ref()
            .map_err(Refusal::clone)?;
        Ok(print_at(&self.file[prints.clone()], id))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.tests.len()
    }

    /// Every test that has a row, ascending: row 0, row 1, ….
    pub fn all_tests(&self) -> impl Iterator<Item = &str> {
        self.tests.iter()
    }

    /// The number of the row of `test`.
    pub fn row_of(&self, test: &str) -> Option<usize> {
        self.tests.find(test)
    }

    /// The row with this number.
    ///
    /// # Panics
    /// If it is not below [`MatrixView::rows`].
    pub fn row(&self, row: usize) -> ViewRow<'_> {
        let columns = &self.rows.columns[row];
        ViewRow {
            test: self.tests.get(row),
            outcome: columns.outcome,
            duration_ms: columns.duration_ms,
            position: columns.position,
            incomplete: self.rows.reason(columns.reason),
            run: columns.run,
            selected: columns.selected,
        }
    }

    /// For each row the least of the units in `changed` that it contains.
    ///
    /// Reads the sets once, then the rows: the time does not depend on how
    /// many units changed.
    pub fn rows_with(&self, changed: &[UnitId]) -> Result<Vec<Option<UnitId>>, Refusal> {
        if changed.is_empty() {
            return Ok(vec![None; self.rows()]);
        }
        let mut is_changed = vec![0u64; self.units().div_ceil(64)];
        for id in changed {
            is_changed[*id as usize / 64] |= 1 << (id % 64);
        }
        let mut of_sets = Vec::with_capacity(self.prefix.counts.sets as usize);
        self.each_set(|_, reader| {
            let mut least = None;
            let count = reader.ids(self.units(), |id| {
                if is_changed[id as usize / 64] >> (id % 64) & 1 == 1 && least.is_none() {
                    least = Some(id);
                }
            })?;
            of_sets.push(least);
            Ok(count)
        })?;
        let of_lists: Vec<Option<UnitId>> = (0..self.rows.lists() as u32)
            .map(|list| {
                let sets = self.rows.list(list).iter();
                sets.filter_map(|set| of_sets[*set as usize]).min()
            })
            .collect();
        let rows = self.rows.columns.iter();
        Ok(rows.map(|row| of_lists[row.list as usize]).collect())
    }

    /// The units of a row, ascending. Reads all sets: meant for the few rows
    /// that somebody asks about.
    pub fn units_of(&self, row: usize) -> Result<Vec<UnitId>, Refusal> {
        let wanted = self.rows.list(self.rows.columns[row].list);
        let mut units = Vec::new();
        self.each_set(|set, reader| match wanted.binary_search(&set) {
            Ok(_) => reader.ids(self.units(), |id| units.push(id)),
            Err(_) => reader.ids(self.units(), |_| ()),
        })?;
        units.sort_unstable();
        units.dedup();
        Ok(units)
    }

    /// Lets `read` read each set in turn and say how many ids it has.
    fn each_set(
        &self,
        mut read: impl FnMut(u32, &mut Reader<'_>) -> Result<usize, Refusal>,
    ) -> Result<(), Refusal> {
        let content = self
            .sets
            .get_or_init(|| self.prefix.raw(&self.file, Section::Sets))
            .as_ref()
            .map_err(Refusal::clone)?;
        let mut reader = Reader::new(content);
        let mut pairs = 0;
        for set in 0..self.prefix.counts.sets as u32 {
            pairs += read(set, &mut reader)? as u64;
        }
        reader.finish()?;
        match pairs == self.prefix.counts.pairs {
            true => Ok(()),
            false => Err(Refusal::malformed(
                "sets hold another number of ids than declared",
            )),
        }
    }
}
