//! An encoded matrix as selection reads it: checked, flat, without a value for
//! every unit, set and row.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::thread::ScopedJoinHandle;

use bstr::{BStr, ByteSlice};

use super::decode::{RowTable, UnitTable, decode, print_at, read_paths, read_tests, read_values};
use super::prefix::{Digest, Prefix, Section};
use super::wire::{Reader, Strs, Texts};
use super::{Header, Refusal, VERSION, encode};
use crate::matrix::what::{TAGS, Tag, has_text, kind_of, tags_of};
use crate::matrix::{
    Fingerprint, Matrix, Outcome, Own, SetId, Table, TestId, Unit, UnitId, UnitKind, Values, What,
};

/// From so many ids on, a thread of its own reads the sets.
const MANY_PAIRS: u64 = 1 << 17;

/// A matrix, opened for a selection.
///
/// Opening reads every section and checks its digest and its rules, but for
/// three: that values are sound, which whoever asks for them is told; that the texts of one path's units ascend, on which nothing rests that
/// a view answers, and that each says something, else the unit is
/// [`What::Other`].
#[derive(Debug)]
pub struct MatrixView {
    file: Vec<u8>,
    prefix: Prefix,
    paths: Texts,
    units: UnitTable,
    names: Names,
    prints: Range<usize>,
    sets: Sets,
    tests: Strs,
    rows: RowTable,
    values: OnceLock<Result<Option<Values>, Refusal>>,
    whole: OnceLock<Result<Matrix, Refusal>>,
}

/// One row, without its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewRow<'a> {
    pub test: TestId<&'a str>,
    pub sets: &'a [SetId],
    pub outcome: Outcome,
    pub duration_ms: u32,
    pub position: u32,
    /// Why the row may lack units; `None` when it is complete.
    pub incomplete: Option<&'a str>,
    /// Index into [`Header::runs`].
    pub run: u32,
    pub selected: bool,
    /// The part that is the test's own; `None`: all.
    pub own: Option<&'a Own<SetId>>,
}

impl ViewRow<'_> {
    /// Whether the row may justify a skip at all, were its units unchanged.
    pub fn is_usable(&self) -> bool {
        self.outcome.is_good() && self.incomplete.is_none()
    }
}

impl MatrixView {
    /// Opens the encoded matrix `file`. One of an older format is encoded anew: no
    /// more than the first selection after an update has to do with such.
    pub fn open(file: Vec<u8>) -> Result<MatrixView, Refusal> {
        let prefix = Prefix::read(&file)?;
        if prefix.format < VERSION {
            let matrix = decode(&file)?;
            let anew = encode(&matrix).map_err(|error| Refusal::malformed(format!("{error:#}")))?;
            let mut view = MatrixView::open(anew)?;
            view.prefix.digest = prefix.digest;
            return Ok(view);
        }
        prefix.check_len(file.len() as u64)?;
        prefix.stored_range(&file, Section::Values)?;
        let units = UnitTable::read(&prefix, &file)?;
        // The sets take as long as all others together.
        let (sets, names, tests, rows) = std::thread::scope(|scope| {
            let sets = || Sets::read(&prefix, &file);
            let thread = match prefix.counts.pairs {
                0..MANY_PAIRS => None,
                _ => std::thread::Builder::new().spawn_scoped(scope, sets).ok(),
            };
            let names = Names::read(&prefix, &file, &units);
            let tests = read_tests(&prefix, &file);
            let rows = RowTable::read(&prefix, &file);
            let sets = match thread.map(ScopedJoinHandle::join) {
                Some(Ok(read)) => read,
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => sets(),
            };
            (sets, names, tests, rows)
        });
        Ok(MatrixView {
            paths: read_paths(&prefix, &file)?,
            names: names?,
            prints: prefix.stored_range(&file, Section::Prints)?,
            sets: sets?,
            tests: tests?,
            rows: rows?,
            values: OnceLock::new(),
            whole: OnceLock::new(),
            units,
            prefix,
            file,
        })
    }

    /// All of it as a value, made at the first call.
    ///
    /// # Errors
    /// What only [`decode`] checks does not hold.
    pub fn whole(&self) -> Result<&Matrix, Refusal> {
        let made = self.whole.get_or_init(|| decode(&self.file));
        made.as_ref().map_err(Refusal::clone)
    }

    pub fn header(&self) -> &Header {
        &self.prefix.header
    }

    /// What cells held when the tests were found, read at the first call; `None` if that is
    /// not known.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn values(&self) -> Result<Option<&Values>, Refusal> {
        let read = || read_values(&self.prefix, &self.file);
        let read = self.values.get_or_init(read).as_ref();
        read.map(Option::as_ref).map_err(Refusal::clone)
    }

    /// What names the matrix.
    pub fn digest(&self) -> Digest {
        self.prefix.digest
    }

    /// How many units there are; ids are below it.
    pub fn units(&self) -> usize {
        self.units.paths.len()
    }

    /// The units of one kind: neighbours.
    pub fn units_of_kind(&self, kind: UnitKind) -> Range<UnitId> {
        self.units.of_tags(tags_of(kind))
    }

    /// The units of every kind at `path`, ascending.
    pub fn units_at_path(&self, path: &[u8]) -> impl Iterator<Item = UnitId> {
        let path = self.paths.find(path);
        (0..TAGS as Tag).flat_map(move |tag| match path {
            Some(path) => self.units.at_path(tag, path as u32),
            None => 0..0,
        })
    }

    /// The distinct paths of all units, ascending.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &BStr> {
        (0..self.paths.len()).map(|index| self.paths.get(index).as_bstr())
    }

    /// The kind of a unit.
    ///
    /// # Panics
    /// Like the other methods that take an id: if it is not below
    /// [`MatrixView::units`].
    pub fn kind(&self, id: UnitId) -> UnitKind {
        kind_of(self.units.tag(id))
    }

    /// The path of a unit.
    pub fn path(&self, id: UnitId) -> &BStr {
        self.paths
            .get(self.units.paths[id as usize] as usize)
            .as_bstr()
    }

    /// A unit by itself.
    pub fn unit(&self, id: UnitId) -> Unit {
        let tag = self.units.tag(id);
        let name = match has_text(tag) {
            true => self.name(tag, id),
            false => String::new(),
        };
        let what = What::read(tag, &name);
        let other = || What::Other(format!("{} {name}", kind_of(tag).word()).into());
        Unit::at(self.path(id), what.unwrap_or_else(other))
    }

    /// The id of a unit, if some row may have it.
    pub fn find(&self, unit: &Unit) -> Option<UnitId> {
        let path = self.paths.find(&unit.path)?;
        let text = unit.what.text();
        let mut ids = self.units.at_path(unit.what.tag(), path as u32);
        let mut names = self.names.from(ids.start);
        ids.find(|_| names.next() == text.as_bytes())
    }

    /// Whether this is what a unit is about.
    pub fn is(&self, id: UnitId, what: &What) -> bool {
        let tag = self.units.tag(id);
        tag == what.tag() && (!has_text(tag) || self.name(tag, id) == what.text())
    }

    /// Whether a unit is about something that git does not track.
    pub fn is_untracked(&self, id: UnitId) -> bool {
        matches!(
            self.units.tag(id),
            What::UNTRACKED_FILE | What::UNTRACKED_EXISTS | What::LISTING
        )
    }

    /// The text of a unit with this number.
    fn name(&self, tag: Tag, id: UnitId) -> String {
        let first = self.units.at_path(tag, self.units.paths[id as usize]);
        self.names.get(first.start, id)
    }

    /// The indices of `path`, if some unit is there, and of the paths beneath
    /// it, into [`MatrixView::paths`].
    pub fn paths_at(&self, path: &[u8]) -> impl Iterator<Item = usize> {
        let below = [path, b"/"].concat();
        let first = self.paths.first_from(&below);
        let beneath = (first..self.paths.len())
            .take_while(move |index| self.paths.get(*index).starts_with(&below));
        self.paths.find(path).into_iter().chain(beneath)
    }

    /// The index of `path` into [`MatrixView::paths`], if some unit is there.
    pub fn path_named(&self, path: &[u8]) -> Option<usize> {
        self.paths.find(path)
    }

    /// The index of a unit's path into [`MatrixView::paths`].
    pub fn path_index(&self, id: UnitId) -> usize {
        self.units.paths[id as usize] as usize
    }

    /// The fingerprint of a unit.
    pub fn fingerprint(&self, id: UnitId) -> Fingerprint {
        print_at(&self.file[self.prints.clone()], id)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.tests.len()
    }

    /// What each row is of, ascending: row 0, row 1, ….
    pub fn ids(&self) -> impl Iterator<Item = TestId<&str>> {
        self.tests.iter().map(TestId::read)
    }

    /// The number of the row of `test`.
    pub fn row_of(&self, test: TestId<&str>) -> Option<usize> {
        self.tests.find(test.stored())
    }

    /// The row with this number.
    ///
    /// # Panics
    /// If it is not below [`MatrixView::rows`].
    pub fn row(&self, row: usize) -> ViewRow<'_> {
        let columns = &self.rows.columns[row];
        ViewRow {
            own: self.rows.own(columns.own),
            test: TestId::read(self.tests.get(row)),
            sets: self.rows.list(columns.list),
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
    pub fn rows_with(&self, changed: &[UnitId]) -> Vec<Option<UnitId>> {
        if changed.is_empty() {
            return vec![None; self.rows()];
        }
        let mut changed = changed.to_vec();
        changed.sort_unstable();
        changed.dedup();
        let sets = 0..self.sets.starts.len() as SetId;
        let first_of = |set| {
            let mut first = None;
            self.sets.among(set, &changed, |id| {
                first.get_or_insert(id);
            });
            first
        };
        let of_sets: Vec<Option<UnitId>> = sets.map(first_of).collect();
        let of_lists: Vec<Option<UnitId>> = (0..self.rows.lists() as u32)
            .map(|list| {
                let sets = self.rows.list(list).iter();
                sets.filter_map(|set| of_sets[*set as usize]).min()
            })
            .collect();
        let rows = self.rows.columns.iter();
        rows.map(|row| of_lists[row.list as usize]).collect()
    }

    /// By test, the units that audits have added to its row: see
    /// [`What::AuditedFile`].
    pub fn audited(&self) -> BTreeMap<&str, Vec<Unit>> {
        let added: Vec<UnitId> = self.units.of_tag(What::AUDITED_FILE).collect();
        let rows = self.rows_with(&added).into_iter().enumerate();
        let rows = rows.filter(|(_, unit)| unit.is_some());
        rows.filter_map(|(row, _)| {
            let test = TestId::read(self.tests.get(row)).test()?;
            let units = self.units_of(row).into_iter();
            let units = units.filter(|id| added.binary_search(id).is_ok());
            Some((test, units.map(|id| self.unit(id)).collect()))
        })
        .collect()
    }

    /// The units of a row, ascending.
    pub fn units_of(&self, row: usize) -> Vec<UnitId> {
        let mut units = Vec::new();
        for set in self.rows.list(self.rows.columns[row].list) {
            self.sets.each(*set, |id| units.push(id));
        }
        units.sort_unstable();
        units.dedup();
        units
    }
}

impl Table for MatrixView {
    fn header(&self) -> &Header {
        self.header()
    }

    fn units(&self) -> usize {
        self.units()
    }

    fn unit(&self, id: UnitId) -> (Unit, Fingerprint) {
        (self.unit(id), self.fingerprint(id))
    }

    fn each_set(&self, wanted: &[UnitId], mut see: impl FnMut(usize, &[UnitId])) {
        let mut ids = Vec::new();
        for set in 0..self.sets.starts.len() as SetId {
            ids.clear();
            let len = self.sets.among(set, wanted, |id| ids.push(id));
            see(len, &ids);
        }
    }

    fn rows(&self) -> usize {
        self.rows()
    }

    fn row(&self, row: usize) -> ViewRow<'_> {
        self.row(row)
    }

    fn has_values(&self) -> bool {
        self.prefix.sections[Section::Values as usize].raw > 0
    }
}

/// The sets as they are stored, and where each begins.
#[derive(Debug)]
struct Sets {
    content: Vec<u8>,
    starts: Vec<u32>,
    /// How many units there are.
    bound: usize,
}

impl Sets {
    fn read(prefix: &Prefix, file: &[u8]) -> Result<Sets, Refusal> {
        let content = prefix.raw(file, Section::Sets)?;
        let bound = prefix.counts.units as usize;
        let mut reader = Reader::new(&content);
        let mut starts = Vec::with_capacity(prefix.counts.sets as usize);
        let mut pairs = 0;
        for _ in 0..prefix.counts.sets {
            starts.push(reader.position() as u32);
            pairs += reader.ids_among(bound, &[], |_| ())? as u64;
        }
        reader.finish()?;
        match pairs == prefix.counts.pairs {
            true => Ok(Sets {
                content,
                starts,
                bound,
            }),
            false => Err(Refusal::malformed(
                "sets hold another number of ids than declared",
            )),
        }
    }

    fn reader(&self, set: SetId) -> Reader<'_> {
        Reader::new(&self.content[self.starts[set as usize] as usize..])
    }

    fn each(&self, set: SetId, see: impl FnMut(UnitId)) {
        let read = self.reader(set).ids(self.bound, see);
        debug_assert!(read.is_ok(), "checked when it was opened");
    }

    /// Calls `found` with each of `wanted`, which is ascending, that is in a
    /// set; returns how many ids the set has.
    fn among(&self, set: SetId, wanted: &[UnitId], found: impl FnMut(UnitId)) -> usize {
        let read = self.reader(set).ids_among(self.bound, wanted, found);
        debug_assert!(read.is_ok(), "checked when it was opened");
        read.unwrap_or_default()
    }
}

/// The texts of units, of which few are ever asked for.
#[derive(Debug)]
struct Names {
    content: Vec<u8>,
    /// Where each unit's name begins in `content`.
    starts: Vec<u32>,
    /// Units with the names of those before them, ascending: all classes of a folder are
    /// at one path, and to read them from its first one on takes too long for each.
    marks: Vec<(UnitId, Box<[u8]>)>,
}

/// How many names of one number and path are read at most to get one.
const MARK_EVERY: u32 = 32;

impl Names {
    fn read(prefix: &Prefix, file: &[u8], table: &UnitTable) -> Result<Names, Refusal> {
        let content = prefix.raw(file, Section::Names)?;
        let mut reader = Reader::new(&content);
        let mut starts = Vec::with_capacity(prefix.counts.units as usize);
        let mut marks = Vec::new();
        let (mut total, mut is_ascii) = (0, true);
        let mut name: Vec<u8> = Vec::new();
        for tag in 0..TAGS as Tag {
            let (mut first, mut path) = (0, None);
            for id in table.of_tag(tag) {
                let own = Some(table.paths[id as usize]);
                if path != own {
                    (path, first) = (own, id);
                    name.clear();
                }
                if id > first && (id - first) % MARK_EVERY == 0 {
                    marks.push((id, name.as_slice().into()));
                }
                starts.push(reader.position() as u32);
                let (shared, rest) = reader.text_parts(name.len())?;
                name.truncate(shared);
                name.extend_from_slice(rest);
                total += name.len() as u64;
                if total > prefix.counts.name_bytes {
                    // Or the marks of a small file could fill the memory.
                    return Err(Refusal::malformed("names are longer than declared"));
                }
                is_ascii &= rest.is_ascii();
            }
        }
        reader.finish()?;
        if total != prefix.counts.name_bytes {
            return Err(Refusal::malformed(
                "names have another length than declared",
            ));
        }
        if !is_ascii {
            // Only whole names can be told to be UTF-8.
            table.read_names(prefix, file)?;
        }
        Ok(Names {
            content,
            starts,
            marks,
        })
    }

    /// The name of unit `id`; `first` is the first of its number and path, where
    /// the names that share prefixes with it begin.
    fn get(&self, first: UnitId, id: UnitId) -> String {
        let marks = self.marks.partition_point(|(at, _)| *at <= id);
        let mark = self.marks[..marks].last().filter(|(at, _)| *at > first);
        let (start, mut names) = match mark {
            Some((at, before)) => (*at, self.after(before, *at)),
            None => (first, self.from(first)),
        };
        for _ in start..id {
            names.next();
        }
        String::from_utf8_lossy(names.next()).into_owned()
    }

    /// The names from unit `first` of its number and path on.
    fn from(&self, first: UnitId) -> NamesFrom<'_> {
        self.after(&[], first)
    }

    /// Those from `unit` on, behind one with the name `before`.
    fn after(&self, before: &[u8], unit: UnitId) -> NamesFrom<'_> {
        let start = self.starts.get(unit as usize);
        let start = start.map_or(self.content.len(), |start| *start as usize);
        NamesFrom {
            reader: Reader::new(&self.content[start..]),
            name: before.to_vec(),
        }
    }
}

/// Names of one number and path, one after the other.
struct NamesFrom<'a> {
    reader: Reader<'a>,
    name: Vec<u8>,
}

impl NamesFrom<'_> {
    fn next(&mut self) -> &[u8] {
        let read = self.reader.next_text(&mut self.name, true);
        debug_assert!(read.is_ok(), "checked when it was opened");
        &self.name
    }
}
