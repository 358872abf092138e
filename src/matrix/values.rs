//! The values that state had when all tests were found: what import-time code comes to
//! for a test, and so what early cut-off by value compares.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Fingerprint;

/// What cells held when a run had found its tests and begun none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// In the order of the taking: digests of identity depend on it.
    pub holders: Vec<Holder>,
    /// What tests leave behind for others, if that is known of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<Ties>,
}

/// What the tests of a matrix leave behind when all of them run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ties {
    /// Their order: for each, in the order of their ids, how many run before it, or
    /// [`Ties::UNPLACED`].
    pub places: Vec<u32>,
    /// By test: the cells that changed during its turn, with the values that it left.
    pub left: BTreeMap<String, Vec<LeftIn>>,
    /// By test, of these: a digest of what ran in its turn that later tests do not run again
    /// (fixtures set up, caches filled, modules imported); empty if nothing did. Earlier versions
    /// did not tell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub made: BTreeMap<String, String>,
    /// Of the values left those that are numbers, truth values or `None`, as the language writes
    /// them: a test process can put these into their cells.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<Fingerprint, String>,
    /// By the id of a run for which options or names of files chose tests: those that leave or make
    /// something and were not there. Nobody looked what its rows would meet of that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent: BTreeMap<String, Vec<String>>,
}

impl Ties {
    /// Of a test that only runs know for which options chose tests.
    pub(crate) const UNPLACED: u32 = u32::MAX;

    /// Each of the `tests` that a matrix has, in the order of their ids, with its place.
    pub(crate) fn placed<'t>(
        &self,
        tests: impl Iterator<Item = &'t str>,
    ) -> impl Iterator<Item = (&'t str, u32)> {
        let all = tests.zip(self.places.iter().copied());
        all.filter(|(_, place)| *place != Ties::UNPLACED)
    }

    /// Whether a test leaves the same by the ties of two matrices, as far as that is known.
    pub(crate) fn tell_alike(one: Option<&Ties>, other: Option<&Ties>, test: &str) -> bool {
        let (Some(one), Some(other)) = (one, other) else {
            return false;
        };
        let (left, left_by_other) = (one.left_by(test), other.left_by(test));
        let are_known = left.iter().all(|cell| !cell.is_unknown);
        are_known && left == left_by_other && one.made_by(test) == other.made_by(test)
    }

    /// Whether a test leaves or makes anything for others.
    pub(crate) fn tells_of(&self, test: &str) -> bool {
        !self.left_by(test).is_empty() || !self.made_by(test).is_empty()
    }

    /// What a test leaves.
    pub(crate) fn left_by(&self, test: &str) -> &[LeftIn] {
        self.left.get(test).map_or(&[], Vec::as_slice)
    }

    fn made_by(&self, test: &str) -> &str {
        self.made.get(test).map_or("", String::as_str)
    }
}

/// A cell that a test changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftIn {
    /// The file of the module.
    pub path: String,
    /// A global, or `Class.member`.
    pub name: String,
    /// `None`: it cannot be told, and who reads it has the code of all who change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Fingerprint>,
    /// Whether the test has run since without all that run before it: then it left something
    /// else. Or others changed the cell before any test that leaves nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unknown: bool,
}

/// Something that has cells: a module (`pkg.m`), a class (`pkg.m:C`), the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    pub name: String,
    /// Of a module or class of the project, the module's file; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// By key, sorted; the key of what holds the others together is empty.
    pub cells: Vec<(String, CellValue)>,
}

/// What a cell held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellValue {
    Is(Fingerprint),
    /// It cannot be told, for this reason: never equal to anything.
    Opaque(String),
}

/// The part of a row that is the test's own. The rest can reach the test only by the
/// values that it leaves in cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Own<S> {
    /// Sets (in a matrix: ids of sets) of which every unit counts by itself.
    pub sets: Vec<S>,
    pub reads: Reads,
    /// What the row is without earlier tests that left something for this one: it counts
    /// where that has the recorded values. `None` if there are none.
    pub inner: Option<Inner<S>>,
}

/// A row without earlier tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inner<S> {
    /// As [`Own::sets`].
    pub sets: Vec<S>,
    /// The rest: what can reach the test only by values that imports leave.
    pub others: Vec<S>,
    pub reads: Reads,
}

/// Which cells a test reads that the code of its own units does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reads {
    /// Any cell, by names that nobody spelled.
    pub anything: bool,
    pub annotations: bool,
    pub docstrings: bool,
    pub past: ReadBefore,
}

/// Whether cells were read not only at the test's turn: a fixture did so when it was set up, an
/// earlier test when it changed what this one gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadBefore {
    #[default]
    No,
    /// By code that units name: those of what tests make, and of earlier tests. So the turns in
    /// which it ran can be found.
    Named,
    /// Nobody knows in which turns.
    Unnamed,
}

impl ReadBefore {
    pub fn is_none(&self) -> bool {
        *self == ReadBefore::No
    }
}

impl<S> Own<S> {
    /// All sets that it names.
    pub fn all_sets(&self) -> impl Iterator<Item = &S> {
        let inner = self.inner.iter();
        let inner = inner.flat_map(|inner| inner.sets.iter().chain(&inner.others));
        self.sets.iter().chain(inner)
    }

    /// The same with other sets.
    pub fn map<T>(&self, of: impl Fn(&[S]) -> Vec<T>) -> Own<T> {
        Own {
            sets: of(&self.sets),
            reads: self.reads,
            inner: self.inner.as_ref().map(|inner| Inner {
                sets: of(&inner.sets),
                others: of(&inner.others),
                reads: inner.reads,
            }),
        }
    }
}

impl Values {
    /// What both say: a cell that one of them lacks, or that has another value there, is
    /// opaque. So who finds these values finds those of each.
    pub fn meet(&self, other: &Values) -> Values {
        let of_name = |values: &Values| -> BTreeMap<String, Holder> {
            let holders = values.holders.iter();
            holders.map(|one| (one.name.clone(), one.clone())).collect()
        };
        let (mut ours, mut theirs) = (of_name(self), of_name(other));
        let names = self.holders.iter().chain(&other.holders);
        let holders = names.filter_map(|holder| {
            let (ours, theirs) = (ours.remove(&holder.name), theirs.remove(&holder.name));
            let of_both = ours.as_ref().zip(theirs.as_ref());
            let of_both = of_both.filter(|(one, other)| one.path == other.path);
            let cells: BTreeMap<&str, &CellValue> = [&ours, &theirs]
                .into_iter()
                .flatten()
                .flat_map(|one| &one.cells)
                .map(|(key, value)| (key.as_str(), value))
                .collect();
            let cells = cells.into_iter().map(|(key, value)| {
                let is_same = of_both.is_some_and(|(one, other)| {
                    one.cell(key) == Some(value) && other.cell(key) == Some(value)
                });
                let value = match is_same {
                    true => value.clone(),
                    false => CellValue::Opaque("it differs between shards".to_owned()),
                };
                (key.to_owned(), value)
            });
            let cells = cells.collect();
            let known = ours.as_ref().or(theirs.as_ref())?;
            Some(Holder {
                name: known.name.clone(),
                path: known.path.clone(),
                cells,
            })
        });
        Values {
            holders: holders.collect(),
            // They may have run in another order.
            ties: None,
        }
    }

    /// Which rule of values is broken, if one is.
    pub(super) fn check(&self) -> Result<(), String> {
        for holder in &self.holders {
            if !holder.cells.is_sorted_by(|one, other| one.0 < other.0) {
                return Err(format!("the cells of {} are not sorted", holder.name));
            }
        }
        let mut names: Vec<&str> = self.holders.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        let ties = self.ties.iter().flat_map(|ties| &ties.left);
        for (test, left) in ties {
            if !left.is_sorted_by(|one, other| (&one.path, &one.name) < (&other.path, &other.name))
            {
                return Err(format!("the cells that {test} left are not sorted"));
            }
        }
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(format!("two holders are called {}", two[0])),
            None => Ok(()),
        }
    }
}

impl Holder {
    /// The value of a cell.
    pub fn cell(&self, key: &str) -> Option<&CellValue> {
        let at = self
            .cells
            .binary_search_by(|(known, _)| known.as_str().cmp(key));
        Some(&self.cells[at.ok()?].1)
    }
}

impl std::ops::BitOr for Reads {
    type Output = Reads;

    fn bitor(self, other: Reads) -> Reads {
        Reads {
            anything: self.anything | other.anything,
            annotations: self.annotations | other.annotations,
            docstrings: self.docstrings | other.docstrings,
            past: self.past.max(other.past),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::matrix::samples::any_values;

    #[test]
    fn a_reason_in_hex_digits_is_no_value() {
        let opaque = CellValue::Opaque("0".repeat(32));
        let json = serde_json::to_string(&opaque).unwrap();
        assert_eq!(serde_json::from_str::<CellValue>(&json).unwrap(), opaque);
    }

    #[test]
    fn only_what_is_known_in_both_is_left_alike() {
        let cell = |value: u8, is_unknown| LeftIn {
            path: "a.py".into(),
            name: "X".into(),
            value: Some(Fingerprint([value; 16])),
            is_unknown,
        };
        let ties = |cells: Vec<LeftIn>, made: &str| Ties {
            left: [("t".to_owned(), cells)].into(),
            made: [("t".to_owned(), made.to_owned())].into(),
            ..Ties::default()
        };
        let alike = |one: &Ties, other: &Ties| Ties::tell_alike(Some(one), Some(other), "t");
        let known = ties(vec![cell(1, false)], "");
        assert!(alike(&known, &known));
        assert!(!alike(&known, &ties(vec![cell(2, false)], "")));
        assert!(!alike(&known, &ties(vec![cell(1, false)], "0123abcd")));
        assert!(!alike(&known, &Ties::default()));
        let unknown = ties(vec![cell(1, true)], "");
        assert!(!alike(&unknown, &unknown));
        assert!(
            alike(&ties(Vec::new(), ""), &Ties::default()),
            "it leaves nothing"
        );
        assert!(!Ties::tell_alike(None, None, "t"), "nobody knows");
    }

    proptest! {
        /// Who finds what both say finds what each says.
        #[test]
        fn both_say_what_each_says(one in any_values(), other in any_values()) {
            let both = one.meet(&other);
            prop_assert_eq!(both.check(), Ok(()));
            let find = |values: &Values, name: &str| {
                values.holders.iter().find(|one| one.name == name).cloned()
            };
            for holder in &both.holders {
                for (key, value) in &holder.cells {
                    let is_known = |values: &Values| {
                        let known = find(values, &holder.name);
                        known.is_some_and(|known| {
                            known.path == holder.path && known.cell(key) == Some(value)
                        })
                    };
                    let is_opaque = matches!(value, CellValue::Opaque(_));
                    prop_assert!(is_opaque || (is_known(&one) && is_known(&other)));
                }
            }
            for holder in one.holders.iter().chain(&other.holders) {
                let known = find(&both, &holder.name).unwrap();
                prop_assert!(holder.cells.iter().all(|(key, _)| known.cell(key).is_some()));
            }
        }

        #[test]
        fn who_agrees_with_oneself_says_the_same(values in any_values()) {
            let opaque = |mut values: Values| {
                for (_, value) in values.holders.iter_mut().flat_map(|one| &mut one.cells) {
                    if let CellValue::Opaque(why) = value {
                        why.clear();
                    }
                }
                values
            };
            prop_assert_eq!(opaque(values.meet(&values)), opaque(values));
        }
    }
}
