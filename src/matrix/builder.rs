//! Builds a matrix that keeps its invariants.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{
    Fingerprint, Header, Matrix, Outcome, Own, Row, SetId, TestId, Ties, Unit, UnitId, Values,
};

/// A unit that a [`MatrixBuilder`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitRef(u32);

/// A group of units that a [`MatrixBuilder`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupRef(u32);

/// Why a matrix cannot hold what it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The unit is there already with another fingerprint: the two rows do
    /// not hold at one state.
    TwoFingerprints(Unit, Fingerprint, Fingerprint),
    /// The test has a row already.
    TwoRows(TestId),
    /// A test has no id: it would be read back as the collection.
    NoId,
    /// The header has no run with this index.
    NoSuchRun(u32),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::TwoFingerprints(unit, one, other) => {
                write!(
                    f,
                    "{unit} has two fingerprints at one state: {one} and {other}"
                )
            }
            BuildError::TwoRows(test) => write!(f, "two rows for {test}"),
            BuildError::NoId => write!(f, "a test without an id"),
            BuildError::NoSuchRun(run) => write!(f, "run {run} is not in the header"),
        }
    }
}

impl std::error::Error for BuildError {}

/// All of a row but its units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFacts {
    pub test: TestId,
    pub outcome: Outcome,
    pub duration_ms: u32,
    pub position: u32,
    pub incomplete: Option<String>,
    pub run: u32,
    pub selected: bool,
    /// The part that is the test's own; its groups are among those of the row.
    pub own: Option<Own<GroupRef>>,
}

/// Collects units, groups of units and rows in any order; [`finish`] sorts
/// them and leaves out what no row needs. Equal groups become one set, and the
/// same content gives the same matrix whatever the order it came in.
///
/// [`finish`]: MatrixBuilder::finish
#[derive(Debug)]
pub struct MatrixBuilder {
    header: Header,
    numbers: FxHashMap<Unit, UnitRef>,
    prints: Vec<Fingerprint>,
    groups: Vec<Rc<[UnitRef]>>,
    group_numbers: FxHashMap<Rc<[UnitRef]>, GroupRef>,
    rows: BTreeMap<TestId, (RowFacts, Vec<GroupRef>)>,
    values: Option<Values>,
}

impl MatrixBuilder {
    pub fn new(header: Header) -> MatrixBuilder {
        MatrixBuilder {
            header,
            numbers: FxHashMap::default(),
            prints: Vec::new(),
            groups: Vec::new(),
            group_numbers: FxHashMap::default(),
            rows: BTreeMap::new(),
            values: None,
        }
    }

    /// Makes a unit known, or finds it.
    ///
    /// # Errors
    /// If it is known with another fingerprint.
    pub fn unit(&mut self, unit: Unit, print: Fingerprint) -> Result<UnitRef, BuildError> {
        if let Some(known) = self.numbers.get(&unit) {
            let there = self.prints[known.0 as usize];
            return match there == print {
                true => Ok(*known),
                false => Err(BuildError::TwoFingerprints(unit, there, print)),
            };
        }
        let new = UnitRef(self.prints.len() as u32);
        self.numbers.insert(unit, new);
        self.prints.push(print);
        Ok(new)
    }

    /// A group of units that rows can share; in any order, repeats allowed.
    /// Equal groups are one.
    pub fn group(&mut self, units: impl IntoIterator<Item = UnitRef>) -> GroupRef {
        let mut units: Vec<UnitRef> = units.into_iter().collect();
        units.sort_unstable();
        units.dedup();
        if let Some(known) = self.group_numbers.get(&units[..]) {
            return *known;
        }
        let new = GroupRef(self.groups.len() as u32);
        let units: Rc<[UnitRef]> = units.into();
        self.group_numbers.insert(units.clone(), new);
        self.groups.push(units);
        new
    }

    /// Whether `test` has a row.
    pub fn has_row(&self, test: &str) -> bool {
        self.rows.contains_key(&TestId::from(test))
    }

    /// The tests that have one.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.rows.keys().filter_map(|test| test.test())
    }

    /// All units that were made known.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.numbers.keys()
    }

    /// Adds a test's row, whose units are those of all `groups`.
    ///
    /// # Errors
    /// If the test has a row or no id, or the header lacks its run.
    pub fn row(
        &mut self,
        facts: RowFacts,
        groups: impl IntoIterator<Item = GroupRef>,
    ) -> Result<(), BuildError> {
        if facts.run as usize >= self.header.runs.len() {
            return Err(BuildError::NoSuchRun(facts.run));
        }
        if facts.test.test() == Some("") {
            return Err(BuildError::NoId);
        }
        if self.rows.contains_key(&facts.test) {
            return Err(BuildError::TwoRows(facts.test));
        }
        let groups = groups.into_iter().collect();
        self.rows.insert(facts.test.clone(), (facts, groups));
        Ok(())
    }

    /// Gives the matrix the values of cells.
    pub fn values(&mut self, values: Option<Values>) {
        self.values = values;
    }

    /// Gives the matrix what its tests leave behind, if it has values of cells and knows the
    /// place of each test.
    pub fn ties(&mut self, place: impl Fn(&str) -> Option<u32>, ties: Ties) {
        let tests = self.rows.keys().filter_map(|test| test.test());
        let places: Option<Vec<u32>> = tests.map(place).collect();
        let has_rows = ties.left.keys().all(|test| self.has_row(test));
        if let (Some(places), Some(values), true) = (places, &mut self.values, has_rows) {
            values.ties = Some(Ties { places, ..ties });
        }
    }

    /// The matrix of everything that the rows need.
    pub fn finish(mut self) -> Matrix {
        let has_ties = self.values.as_ref().is_some_and(|one| one.ties.is_some());
        for (facts, groups) in self.rows.values_mut() {
            let Some(own) = &mut facts.own else {
                continue;
            };
            if !has_ties {
                // Nobody could use it.
                own.inner = None;
            }
            groups.extend(own.all_sets());
        }
        drop(self.group_numbers);
        let used_groups = used(
            self.groups.len(),
            self.rows.values().flat_map(|row| &row.1),
            |group| group.0,
        );
        let live = self
            .groups
            .iter()
            .zip(&used_groups)
            .filter(|(_, used)| **used);
        let used_units = used(
            self.prints.len(),
            live.flat_map(|(group, _)| group.iter()),
            |unit| unit.0,
        );

        let (units, unit_ids) = sort_units(self.numbers, &self.prints, &used_units);
        let (sets, set_ids) = sort_groups(self.groups, &used_groups, &unit_ids);
        let rows = self.rows.into_values().map(|(facts, groups)| {
            let ids = |groups: &[GroupRef]| {
                let ids = groups.iter().map(|group| set_ids[group.0 as usize]);
                let mut ids: Vec<SetId> = ids.collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            };
            Row {
                test: facts.test,
                sets: ids(&groups),
                own: facts.own.map(|own| own.map(ids)),
                outcome: facts.outcome,
                duration_ms: facts.duration_ms,
                position: facts.position,
                incomplete: facts.incomplete,
                run: facts.run,
                selected: facts.selected,
            }
        });
        Matrix {
            header: self.header,
            units,
            sets,
            rows: rows.collect(),
            values: self.values,
        }
    }
}

/// For each of `count` things whether it is among `these`.
fn used<'a, T: 'a>(
    count: usize,
    these: impl Iterator<Item = &'a T>,
    number: impl Fn(&T) -> u32,
) -> Vec<bool> {
    let mut used = vec![false; count];
    for this in these {
        used[number(this) as usize] = true;
    }
    used
}

/// The used units, sorted, and for each reference its id (0 where unused).
fn sort_units(
    numbers: FxHashMap<Unit, UnitRef>,
    prints: &[Fingerprint],
    used: &[bool],
) -> (Vec<(Unit, Fingerprint)>, Vec<UnitId>) {
    let mut sorted: Vec<(Unit, UnitRef)> = numbers
        .into_iter()
        .filter(|(_, number)| used[number.0 as usize])
        .collect();
    sorted.sort_unstable();
    let mut ids = vec![0; prints.len()];
    let units = sorted.into_iter().enumerate().map(|(id, (unit, number))| {
        ids[number.0 as usize] = id as UnitId;
        (unit, prints[number.0 as usize])
    });
    (units.collect(), ids)
}

/// The used groups as sets of unit ids, sorted, and for each reference its id.
fn sort_groups(
    groups: Vec<Rc<[UnitRef]>>,
    used: &[bool],
    unit_ids: &[UnitId],
) -> (Vec<Vec<UnitId>>, Vec<SetId>) {
    let mut ids = vec![0; groups.len()];
    let mut sorted: Vec<(Vec<UnitId>, usize)> = Vec::new();
    for (number, group) in groups.into_iter().enumerate().filter(|(n, _)| used[*n]) {
        let mut set: Vec<UnitId> = group.iter().map(|unit| unit_ids[unit.0 as usize]).collect();
        set.sort_unstable();
        sorted.push((set, number));
    }
    sorted.sort_unstable();
    for (id, (_, number)) in sorted.iter().enumerate() {
        ids[*number] = id as SetId;
    }
    (sorted.into_iter().map(|(set, _)| set).collect(), ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::What;
    use crate::matrix::samples::{facts, header};
    use proptest::prelude::*;

    fn unit(number: u32) -> (Unit, Fingerprint) {
        let name = format!("n{number}").into();
        let what = match number % 3 {
            0 => What::Code(name),
            1 => What::Binding(name),
            _ => What::Class(name),
        };
        let unit = Unit::at(format!("p{}", number / 3), what);
        (unit, Fingerprint([number as u8; 16]))
    }

    #[test]
    fn conflicts_are_errors() {
        let mut builder = MatrixBuilder::new(header());
        let (a, print) = unit(1);
        builder.unit(a.clone(), print).unwrap();
        assert!(matches!(
            builder.unit(a, Fingerprint::MISSING),
            Err(BuildError::TwoFingerprints(..))
        ));
        builder.row(facts("t"), []).unwrap();
        assert_eq!(
            builder.row(facts("t"), []),
            Err(BuildError::TwoRows("t".into()))
        );
        assert_eq!(builder.row(facts(""), []), Err(BuildError::NoId));
        let mut late = facts("u");
        late.run = 9;
        assert_eq!(builder.row(late, []), Err(BuildError::NoSuchRun(9)));
    }

    proptest! {
        /// Against the plain reading: each row has the union of its lists.
        #[test]
        fn rows_have_the_units_that_they_were_given(
            rows in proptest::collection::vec(
                proptest::collection::vec(proptest::collection::vec(0u32..30, 0..8), 0..4), 0..8),
        ) {
            let build = |order: Vec<usize>| {
                let mut builder = MatrixBuilder::new(header());
                builder.unit(Unit::of(What::Env("UNUSED".into())), Fingerprint::MISSING).unwrap();
                for index in order {
                    let groups: Vec<GroupRef> = rows[index].iter().map(|group| {
                        let units: Vec<UnitRef> = group.iter().map(|number| {
                            let (unit, print) = unit(*number);
                            builder.unit(unit, print).unwrap()
                        }).collect();
                        builder.group(units)
                    }).collect();
                    builder.row(facts(&format!("t{index}")), groups).unwrap();
                }
                builder.finish()
            };
            let matrix = build((0..rows.len()).collect());
            prop_assert_eq!(matrix.check(), Ok(()));
            prop_assert_eq!(&matrix, &build((0..rows.len()).rev().collect()));
            for (index, groups) in rows.iter().enumerate() {
                let row = matrix.row(TestId::Test(&format!("t{index}"))).unwrap();
                let mut wanted: Vec<_> = groups.iter().flatten().map(|number| unit(*number)).collect();
                wanted.sort();
                wanted.dedup();
                let got: Vec<_> = matrix.units_of(row).iter()
                    .map(|id| matrix.units[*id as usize].clone()).collect();
                prop_assert_eq!(got, wanted);
            }
        }
    }
}
