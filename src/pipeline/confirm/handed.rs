//! What import-time code hands on: it can put modules where tests find them.

use std::collections::BTreeSet;

use bit_set::BitSet;
use bstr::BString;
use rustc_hash::FxHashMap;

use super::{Open, Planning};
use crate::languages::UnitReads;
use crate::matrix::{Unit, What};

impl Planning<'_> {
    /// Code that runs at import can put modules where tests find them: in a list, say. So
    /// a test may look into what such code passes on, as if it did that itself, and into
    /// what the record took whole. The test process tells whether there is any such place.
    pub(super) fn hand_on(&mut self, reads: &mut Vec<Option<UnitReads>>) {
        let handing = Handing::new(reads, &self.units.all);
        let sets = self.sets.all.iter();
        let handed: Vec<Handed> = sets.map(|set| handing.by(set)).collect();
        let mut known: FxHashMap<_, Option<usize>> = FxHashMap::default();
        for part in self.open.iter_mut().flat_map(Open::parts) {
            let looks = part.of.sets.iter().any(|set| handed[*set].looks);
            let asks_runner = part.of.sets.iter().map(|set| handed[*set].asks_runner);
            let asks_runner = asks_runner.max().unwrap_or_default();
            let key = (part.others, part.of.modules, looks, asks_runner);
            let set = known.entry(key).or_insert_with(|| {
                let needed = self.modules.all[part.of.modules].len();
                let others = self.others.all[part.others].iter();
                let others = others.map(|set| &handed[*set]);
                let handed = handing.paths_in(&Handed::of_all(others, needed, looks));
                let unit = reads.len();
                (!handed.is_empty()).then(|| {
                    let mut all = UnitReads::default();
                    match asks_runner {
                        AsksRunner::InHooks => all.holds = handed,
                        asks => {
                            all.loose = handed;
                            all.asks_runner = asks == AsksRunner::InTests;
                        }
                    }
                    reads.push(Some(all));
                    self.sets.of(vec![unit])
                })
            });
            part.of.sets.extend(*set);
        }
    }
}

/// What the code of each unit leads to. Many units lead to hundreds of modules each, so these are
/// numbers here.
struct Handing {
    /// Sorted.
    paths: Vec<BString>,
    /// `None` of what is no code.
    of_units: Vec<Option<Handed>>,
}

impl Handing {
    fn new(reads: &[Option<UnitReads>], units: &[&Unit]) -> Handing {
        let all = || units.iter().zip(reads);
        let mut paths: BTreeSet<&BString> = BTreeSet::new();
        for (unit, read) in all() {
            let read = read
                .iter()
                .flat_map(|read| read.holds.iter().chain(&read.globals));
            paths.extend(read);
            if unit.what == What::Skeleton {
                paths.insert(&unit.path);
            }
        }
        let numbers: FxHashMap<&BString, usize> = paths.iter().copied().zip(0..).collect();
        let set = |paths: &mut dyn Iterator<Item = &BString>| -> BitSet {
            paths.map(|path| numbers[path]).collect()
        };
        let of_unit = |(unit, read): (&&Unit, &Option<UnitReads>)| {
            let read = read.as_ref()?;
            let asks_runner = match (read.asks_runner, unit.path.ends_with(b"conftest.py")) {
                (false, _) => AsksRunner::Nowhere,
                (true, true) => AsksRunner::InHooks,
                (true, false) => AsksRunner::InTests,
            };
            let is_whole = unit.what == What::Skeleton;
            Some(Handed {
                passed: set(&mut read.holds.iter()),
                whole: set(&mut is_whole.then_some(&unit.path).into_iter()),
                by_globals: set(&mut read.globals.iter()),
                // Those of a module nobody tells.
                looks: read.members || read.lists_members,
                asks_runner,
            })
        };
        Handing {
            of_units: all().map(of_unit).collect(),
            paths: paths.into_iter().cloned().collect(),
        }
    }

    fn by(&self, set: &[usize]) -> Handed {
        let mut handed = Handed::default();
        for one in set.iter().filter_map(|unit| self.of_units[*unit].as_ref()) {
            handed.add(one);
        }
        handed
    }

    fn paths_in(&self, places: &BitSet) -> Vec<BString> {
        places.iter().map(|at| self.paths[at].clone()).collect()
    }
}

/// What some code leads to, if it runs at import.
#[derive(Default)]
struct Handed {
    /// The modules that it passes on.
    passed: BitSet,
    /// Those that count whole, and those that may do so only because code has all of their
    /// names at once. (Whoever keeps `globals()` has a cell with all of it.)
    whole: BitSet,
    by_globals: BitSet,
    /// Whether some of it finds names that nobody spells.
    looks: bool,
    /// Whether some of it may get modules from what runs the tests.
    asks_runner: AsksRunner,
}

/// Where code may get modules from what runs the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum AsksRunner {
    #[default]
    Nowhere,
    /// If it is given something of that to ask: a fixture.
    InTests,
    InHooks,
}

impl Handed {
    fn add(&mut self, other: &Handed) {
        self.passed.union_with(&other.passed);
        self.whole.union_with(&other.whole);
        self.by_globals.union_with(&other.by_globals);
        self.looks |= other.looks;
        self.asks_runner = self.asks_runner.max(other.asks_runner);
    }

    /// What a test that needs so many modules may look into. If all of these count whole,
    /// it is because of code that can reach anything: what that left is looked into by code
    /// that `looks` for names.
    fn of_all<'h>(all: impl Iterator<Item = &'h Handed>, needed: usize, looks: bool) -> BitSet {
        let mut one = Handed::default();
        all.for_each(|other| one.add(other));
        let mut found = one.passed;
        if one.whole.count() < needed || looks {
            one.whole.difference_with(&one.by_globals);
            found.union_with(&one.whole);
        }
        found
    }
}
