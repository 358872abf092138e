//! Bytes as a matrix. Every rule of the format is checked, section by section;
//! the view reads the same sections through the same functions.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::prefix::{Prefix, Section};
use super::wire::{Reader, Strs, Texts, unzigzag};
use super::{OWN, Refusal, TYPED, old};
use crate::matrix::what::{TAGS, Tag};
use crate::matrix::{
    Fingerprint, Inner, Matrix, Outcome, Own, ReadBefore, Reads, Row, SetId, TestId, Unit, UnitId,
    Values, What,
};

/// Decodes a whole matrix, checking its digest, its limits and every invariant
/// of [`Matrix`].
pub fn decode(bytes: &[u8]) -> Result<Matrix, Refusal> {
    let prefix = Prefix::read(bytes)?;
    prefix.check_len(bytes.len() as u64)?;
    let mut units = units(&prefix, bytes)?;
    let mut sets = sets(&prefix, bytes)?;
    if prefix.format < TYPED {
        old::renumber(&mut units, &mut sets)?;
    }
    Ok(Matrix {
        values: read_values(&prefix, bytes)?,
        units,
        sets,
        rows: rows(&prefix, bytes)?,
        header: prefix.header,
    })
}

/// The units in their order in the file.
fn units(prefix: &Prefix, bytes: &[u8]) -> Result<Vec<(Unit, Fingerprint)>, Refusal> {
    let paths = read_paths(prefix, bytes)?;
    let table = UnitTable::read(prefix, bytes)?;
    let names = table.read_names(prefix, bytes)?;
    let prints = prefix.stored(bytes, Section::Prints)?;
    let mut units = Vec::with_capacity(table.paths.len());
    for tag in 0..TAGS as Tag {
        for id in table.of_tag(tag) {
            let at = id as usize;
            let (path, name) = (paths.get(table.paths[at] as usize), names.get(at));
            let unit = match prefix.format < TYPED {
                true => old::unit(tag, path, name),
                false => Unit::at(path, What::read(tag, name).ok_or_else(nothing_known)?),
            };
            units.push((unit, print_at(prints, id)));
        }
    }
    Ok(units)
}

#[cold]
fn nothing_known() -> Refusal {
    Refusal::malformed("a unit is about nothing that is known")
}

fn sets(prefix: &Prefix, bytes: &[u8]) -> Result<Vec<Vec<UnitId>>, Refusal> {
    let content = prefix.raw(bytes, Section::Sets)?;
    let mut reader = Reader::new(&content);
    let mut sets = Vec::with_capacity(prefix.counts.sets as usize);
    let mut ids = Vec::new();
    let mut pairs = 0;
    for _ in 0..prefix.counts.sets {
        ids.clear();
        pairs += reader.ids(prefix.counts.units as usize, |id| ids.push(id))? as u64;
        sets.push(ids.clone());
    }
    reader.finish()?;
    match pairs == prefix.counts.pairs {
        true => Ok(sets),
        false => Err(Refusal::malformed(
            "sets hold another number of ids than declared",
        )),
    }
}

fn rows(prefix: &Prefix, bytes: &[u8]) -> Result<Vec<Row>, Refusal> {
    let tests = read_tests(prefix, bytes)?;
    let table = RowTable::read(prefix, bytes)?;
    let rows = table
        .columns
        .iter()
        .zip(tests.iter())
        .map(|(row, test)| Row {
            own: table.own(row.own).cloned(),
            test: TestId::read(test).to_owned(),
            sets: table.list(row.list).to_vec(),
            outcome: row.outcome,
            duration_ms: row.duration_ms,
            position: row.position,
            incomplete: table.reason(row.reason).map(str::to_owned),
            run: row.run,
            selected: row.selected,
        });
    Ok(rows.collect())
}

/// What cells held, if that is known.
pub(super) fn read_values(prefix: &Prefix, bytes: &[u8]) -> Result<Option<Values>, Refusal> {
    if prefix.format < OWN {
        return Ok(None);
    }
    let content = prefix.raw(bytes, Section::Values)?;
    if content.is_empty() {
        return Ok(None);
    }
    let values: Values = serde_json::from_slice(&content)
        .map_err(|error| Refusal::malformed(format!("values: {error}")))?;
    values
        .check()
        .map_err(|why| Refusal::malformed(format!("values: {why}")))?;
    Ok(Some(values))
}

pub(super) fn read_paths(prefix: &Prefix, bytes: &[u8]) -> Result<Texts, Refusal> {
    let content = prefix.raw(bytes, Section::Paths)?;
    let mut reader = Reader::new(&content);
    let (count, total) = (
        prefix.counts.paths as usize,
        prefix.counts.path_bytes as usize,
    );
    let paths = Texts::read_sorted(&mut reader, count, total, "paths")?;
    reader.finish()?;
    Ok(paths)
}

pub(super) fn read_tests(prefix: &Prefix, bytes: &[u8]) -> Result<Strs, Refusal> {
    let content = prefix.raw(bytes, Section::Tests)?;
    let mut reader = Reader::new(&content);
    let (count, total) = (
        prefix.counts.rows as usize,
        prefix.counts.test_bytes as usize,
    );
    let tests = Texts::read_sorted(&mut reader, count, total, "tests")?;
    reader.finish()?;
    tests.into_strs("tests")
}

/// The fingerprint of unit `id` in the section of fingerprints.
pub(super) fn print_at(prints: &[u8], id: UnitId) -> Fingerprint {
    let mut print = [0; 16];
    print.copy_from_slice(&prints[16 * id as usize..][..16]);
    Fingerprint(print)
}

/// Number and path of every unit. In formats 1 and 2 the number is that of its kind.
#[derive(Debug)]
pub(super) struct UnitTable {
    /// Where each number's units begin, and after the last number where they end.
    starts: [u32; TAGS + 1],
    /// Each unit's index into the table of paths; ascending within a number.
    pub(super) paths: Vec<u32>,
}

impl UnitTable {
    pub(super) fn read(prefix: &Prefix, bytes: &[u8]) -> Result<UnitTable, Refusal> {
        let content = prefix.raw(bytes, Section::Units)?;
        let mut reader = Reader::new(&content);
        let units = prefix.counts.units as usize;
        let most = match prefix.format < TYPED {
            true => old::KINDS,
            false => TAGS,
        };
        let starts = read_starts(&mut reader, units, most)?;
        let mut paths = Vec::with_capacity(units);
        for tag in starts.windows(2) {
            let mut path = 0;
            for _ in tag[0]..tag[1] {
                path += reader.below(prefix.counts.paths as usize, "a unit's path")?;
                paths.push(path as u32);
            }
            if tag[0] < tag[1] && path as u64 >= prefix.counts.paths {
                return Err(Refusal::malformed("a unit's path is out of range"));
            }
        }
        reader.finish()?;
        Ok(UnitTable { starts, paths })
    }

    pub(super) fn of_tag(&self, tag: Tag) -> Range<UnitId> {
        self.of_tags(usize::from(tag)..usize::from(tag) + 1)
    }

    /// The units of neighbouring numbers.
    pub(super) fn of_tags(&self, tags: Range<usize>) -> Range<UnitId> {
        self.starts[tags.start]..self.starts[tags.end]
    }

    pub(super) fn tag(&self, id: UnitId) -> Tag {
        let after = self.starts.partition_point(|start| *start <= id);
        (after - 1) as Tag
    }

    /// The units of one number at the path with this index.
    pub(super) fn at_path(&self, tag: Tag, path: u32) -> Range<UnitId> {
        let of_tag = self.of_tag(tag);
        let paths = &self.paths[of_tag.start as usize..of_tag.end as usize];
        let first = paths.partition_point(|other| *other < path) as u32;
        let after = paths.partition_point(|other| *other <= path) as u32;
        of_tag.start + first..of_tag.start + after
    }

    /// The text of every unit. With them all is known that orders units, so
    /// this checks that they are sorted and free of duplicates.
    pub(super) fn read_names(&self, prefix: &Prefix, bytes: &[u8]) -> Result<Strs, Refusal> {
        let content = prefix.raw(bytes, Section::Names)?;
        let mut reader = Reader::new(&content);
        let total = prefix.counts.name_bytes as usize;
        let mut names = Texts::with_capacity(self.paths.len(), total);
        for tag in 0..TAGS as Tag {
            let of_tag = self.of_tag(tag);
            for id in of_tag.clone() {
                let at = id as usize;
                let same = id > of_tag.start && self.paths[at] == self.paths[at - 1];
                names.read_next(&mut reader, same, total)?;
                if same && names.get(at - 1) >= names.get(at) {
                    return Err(Refusal::malformed("units are not sorted"));
                }
            }
        }
        reader.finish()?;
        names.check_total(total)?;
        names.into_strs("names of units")
    }
}

fn read_starts(
    reader: &mut Reader<'_>,
    units: usize,
    most: usize,
) -> Result<[u32; TAGS + 1], Refusal> {
    let mut starts = [0; TAGS + 1];
    let known = reader.below(most + 1, "the number of kinds of unit")?;
    for tag in 0..TAGS {
        let count = match tag < known {
            true => reader.below(units + 1, "the number of units of a kind")?,
            false => 0,
        };
        starts[tag + 1] = starts[tag] + count as u32;
        if starts[tag + 1] as usize > units {
            return Err(Refusal::malformed("kinds have more units than declared"));
        }
    }
    match starts[TAGS] as usize == units {
        true => Ok(starts),
        false => Err(Refusal::malformed("kinds have fewer units than declared")),
    }
}

/// All of a row but its test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) list: u32,
    pub(super) duration_ms: u32,
    pub(super) position: u32,
    /// 0: complete; else one more than the index of the reason.
    pub(super) reason: u32,
    pub(super) run: u32,
    /// 0: none; else one more than the index of the own part.
    pub(super) own: u32,
    pub(super) outcome: Outcome,
    pub(super) selected: bool,
}

/// The rows, and the distinct lists, reasons and own parts that they refer to.
#[derive(Debug)]
pub(super) struct RowTable {
    list_ids: Vec<SetId>,
    list_ends: Vec<u32>,
    reasons: Strs,
    owns: Vec<Own<SetId>>,
    pub(super) columns: Vec<Columns>,
}

impl RowTable {
    pub(super) fn read(prefix: &Prefix, bytes: &[u8]) -> Result<RowTable, Refusal> {
        let content = prefix.raw(bytes, Section::Rows)?;
        let mut reader = Reader::new(&content);
        let (list_ids, list_ends) = read_lists(prefix, &mut reader)?;
        let reasons = read_reasons(prefix, &mut reader)?;
        let owns = read_owns(prefix, &mut reader)?;
        let mut table = RowTable {
            list_ids,
            list_ends,
            reasons,
            owns,
            columns: read_columns(prefix, &mut reader)?,
        };
        reader.finish()?;
        table.check_totals(prefix)?;
        table.check_owns()?;
        table.list_ids.shrink_to_fit();
        Ok(table)
    }

    pub(super) fn list(&self, list: u32) -> &[SetId] {
        let start = match list {
            0 => 0,
            _ => self.list_ends[list as usize - 1] as usize,
        };
        &self.list_ids[start..self.list_ends[list as usize] as usize]
    }

    pub(super) fn lists(&self) -> usize {
        self.list_ends.len()
    }

    pub(super) fn reason(&self, reason: u32) -> Option<&str> {
        reason
            .checked_sub(1)
            .map(|at| self.reasons.get(at as usize))
    }

    pub(super) fn own(&self, own: u32) -> Option<&Own<SetId>> {
        own.checked_sub(1).map(|at| &self.owns[at as usize])
    }

    /// The sets of own parts are among those of their rows.
    fn check_owns(&self) -> Result<(), Refusal> {
        let mut known = FxHashSet::default();
        for row in &self.columns {
            let Some(own) = self.own(row.own) else {
                continue;
            };
            let list = self.list(row.list);
            let is_among = |set: &SetId| list.binary_search(set).is_ok();
            if known.insert((row.list, row.own)) && !own.all_sets().all(is_among) {
                return Err(Refusal::malformed("a row's own part is not of it"));
            }
        }
        Ok(())
    }

    /// Rows that share lists, reasons and own parts may not unfold to more than declared.
    fn check_totals(&self, prefix: &Prefix) -> Result<(), Refusal> {
        let (mut refs, mut reason_bytes, mut own_refs) = (0, 0, 0);
        for row in &self.columns {
            own_refs += self
                .own(row.own)
                .map_or(0, |own| own.all_sets().count() as u64);
            refs += self.list(row.list).len() as u64;
            reason_bytes += self
                .reason(row.reason)
                .map_or(0, |reason| reason.len() as u64);
        }
        let is_as_declared = refs == prefix.counts.refs
            && reason_bytes == prefix.counts.reason_bytes
            && own_refs == prefix.counts.own_refs;
        match is_as_declared {
            true => Ok(()),
            false => Err(Refusal::malformed(
                "rows hold another number of things than declared",
            )),
        }
    }
}

fn read_lists(prefix: &Prefix, reader: &mut Reader<'_>) -> Result<(Vec<SetId>, Vec<u32>), Refusal> {
    let mut ids = Vec::new();
    let mut ends = Vec::with_capacity(prefix.counts.lists as usize);
    for _ in 0..prefix.counts.lists {
        reader.ids(prefix.counts.sets as usize, |id| ids.push(id))?;
        if ids.len() as u64 > prefix.counts.refs {
            return Err(Refusal::malformed("lists hold more sets than declared"));
        }
        ends.push(ids.len() as u32);
    }
    Ok((ids, ends))
}

fn read_reasons(prefix: &Prefix, reader: &mut Reader<'_>) -> Result<Strs, Refusal> {
    let total = prefix.counts.reason_bytes as usize;
    let mut reasons = Texts::with_capacity(prefix.counts.reasons as usize, 0);
    for _ in 0..prefix.counts.reasons {
        reasons.read_next(reader, false, total)?;
    }
    reasons.into_strs("reasons")
}

fn read_owns(prefix: &Prefix, reader: &mut Reader<'_>) -> Result<Vec<Own<SetId>>, Refusal> {
    let mut owns = Vec::with_capacity(prefix.counts.owns as usize);
    let mut refs = 0;
    for _ in 0..prefix.counts.owns {
        let flags = reader.byte()?;
        if flags & !(7 | HAS_INNER | PAST | PAST_IS_NAMED) != 0 {
            return Err(Refusal::malformed("an own part has unknown flags"));
        }
        let sets = read_sets(prefix, reader)?;
        let inner = match flags & HAS_INNER {
            0 => None,
            _ => {
                let flags = reader.byte()?;
                if flags & !(7 | PAST | NAMES_MADE | PAST_IS_NAMED) != 0 {
                    return Err(Refusal::malformed("an inner part has unknown flags"));
                }
                let inner = Inner {
                    reads: reads(flags),
                    sets: read_sets(prefix, reader)?,
                    others: read_sets(prefix, reader)?,
                };
                // Nobody could tell whether it needs what is made in another turn now.
                Some(inner).filter(|_| flags & NAMES_MADE != 0)
            }
        };
        let own = Own {
            sets,
            reads: reads(flags),
            inner,
        };
        refs += own.all_sets().count() as u64;
        if refs > prefix.counts.own_refs {
            return Err(Refusal::malformed("own parts hold more sets than declared"));
        }
        owns.push(own);
    }
    Ok(owns)
}

/// The flag of an own part that has an inner one.
pub(super) const HAS_INNER: u8 = 8;

/// The flag of an inner part of which code read state before the test's turn.
pub(super) const PAST: u8 = 16;

/// The flag of an inner part with units for what others made: fixtures, caches, modules.
pub(super) const NAMES_MADE: u8 = 32;

/// The flag, beside [`PAST`], of a part of which units name all that ran before the test's turn.
pub(super) const PAST_IS_NAMED: u8 = 64;

fn reads(flags: u8) -> Reads {
    Reads {
        anything: flags & 1 != 0,
        annotations: flags & 2 != 0,
        docstrings: flags & 4 != 0,
        past: match (flags & PAST != 0, flags & PAST_IS_NAMED != 0) {
            (false, _) => ReadBefore::No,
            (true, true) => ReadBefore::Named,
            (true, false) => ReadBefore::Unnamed,
        },
    }
}

fn read_sets(prefix: &Prefix, reader: &mut Reader<'_>) -> Result<Vec<SetId>, Refusal> {
    let mut sets = Vec::new();
    reader.ids(prefix.counts.sets as usize, |id| sets.push(id))?;
    Ok(sets)
}

fn read_columns(prefix: &Prefix, reader: &mut Reader<'_>) -> Result<Vec<Columns>, Refusal> {
    let counts = &prefix.counts;
    let empty = Columns {
        list: 0,
        duration_ms: 0,
        position: 0,
        reason: 0,
        run: 0,
        own: 0,
        outcome: Outcome::Error,
        selected: false,
    };
    let mut rows = vec![empty; counts.rows as usize];
    let mut next = 0;
    for row in &mut rows {
        let back = reader.below(next + 1, "a row's list")?;
        row.list = (next - back) as u32;
        next += usize::from(back == 0);
    }
    if next as u64 != counts.lists {
        return Err(Refusal::malformed(
            "rows use another number of lists than declared",
        ));
    }
    for row in &mut rows {
        let flags = reader.byte()?;
        row.outcome = Outcome::from_u8(flags & 7)
            .filter(|_| flags < 16)
            .ok_or_else(|| Refusal::malformed("a row has unknown flags"))?;
        row.selected = flags & 8 != 0;
    }
    for row in &mut rows {
        row.duration_ms = reader.u32("a duration")?;
    }
    let mut position = 0i64;
    for row in &mut rows {
        position = position
            .checked_add(unzigzag(reader.varint()?))
            .filter(|position| u32::try_from(*position).is_ok())
            .ok_or_else(|| Refusal::malformed("a position is out of range"))?;
        row.position = position as u32;
    }
    for row in &mut rows {
        row.reason = reader.below(counts.reasons as usize + 1, "a row's reason")? as u32;
    }
    for row in &mut rows {
        row.run = reader.below(prefix.header.runs.len(), "a row's run")? as u32;
    }
    if prefix.format >= OWN {
        for row in &mut rows {
            row.own = reader.below(counts.owns as usize + 1, "a row's own part")? as u32;
        }
    }
    Ok(rows)
}
