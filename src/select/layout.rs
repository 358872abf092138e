//! What matters for dividing the tests beside the verdicts: which files there
//! were, and which tests belong together because of their order.

use std::collections::{BTreeMap, BTreeSet};

use super::shard::Load;
use crate::matrix::{Table, UnitId, What};

/// By file of tests, as the runner names it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Known files, and what they took last: where all tests run, nothing else
    /// tells which there are.
    pub files: BTreeMap<String, Load>,
    /// Files whose tests run on one machine.
    pub ties: Vec<BTreeSet<String>>,
    /// What was recorded of state that outlives a test.
    pub tied: Tied,
}

/// From so many files on, state may be everybody's.
const MANY: usize = 3;

/// How much is tied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tied {
    pub files: usize,
    pub groups: usize,
    /// Tests that leave behind what most files use, a cache or a registry:
    /// nothing could be divided if that were kept together.
    pub everybodys: usize,
}

impl Layout {
    /// Takes over which files `matrix` knows.
    pub fn know_files<'m>(&mut self, matrix: &'m impl Table, file_of: impl Fn(&'m str) -> &'m str) {
        for (test, row) in matrix.tests() {
            let file = self.files.entry(file_of(test).to_owned()).or_default();
            file.tests += 1;
            file.millis += u64::from(row.duration_ms.max(1));
        }
    }

    /// Ties the files of which a test was seen to depend on what a test of another left behind:
    /// its row then holds the body of that test, which nothing else makes it hold. What most
    /// files use ties nobody. `source_of` names a test's file and function, `path_of` a file's
    /// path as units have it.
    ///
    /// That is read from rows and not from pairs of tests, because nothing else comes along
    /// with a row. A matrix has rows of many runs: a reader may have been recorded long ago,
    /// and its writer in each run since. Observations count who reads and changes a cell, and
    /// do not say who; data dependences are of one run, and are stored by searches only. Ties
    /// made of either would lack the pairs of older rows, and a part without the writer would
    /// end otherwise than the whole. It takes a unit for "what this test left behind", recorded
    /// at each change that a row met.
    pub fn tie_by_state<'m>(
        &mut self,
        matrix: &'m impl Table,
        source_of: impl Fn(&'m str) -> (&'m str, String),
        path_of: impl Fn(&str) -> Vec<u8>,
    ) {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut bodies: BTreeMap<(Vec<u8>, String), usize> = BTreeMap::new();
        let mut files: Vec<&str> = Vec::new();
        let mut file_of_row = Vec::new();
        // What finding the tests depends on is no test.
        for (test, _) in matrix.tests() {
            let (file, function) = source_of(test);
            let number = *numbers.entry(file).or_insert_with(|| {
                files.push(file);
                files.len() - 1
            });
            file_of_row.push(number);
            bodies.insert((path_of(file), function), number);
        }
        // Which units are bodies of tests, and of which file's.
        let mut wanted: Vec<UnitId> = Vec::new();
        let mut file_of_body: Vec<usize> = Vec::new();
        for id in 0..matrix.units() as UnitId {
            let (unit, _) = matrix.unit(id);
            if let What::Code(name) = unit.what
                && let Some(file) = bodies.get(&(unit.path.to_vec(), name.into_string()))
            {
                wanted.push(id);
                file_of_body.push(*file);
            }
        }
        let mut in_sets: Vec<Vec<usize>> = Vec::new();
        matrix.each_set(&wanted, |_, among| {
            let body = |id: &UnitId| wanted.binary_search(id).ok();
            in_sets.push(among.iter().filter_map(body).collect());
        });
        // By body, the files whose tests depend on it.
        let mut readers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); wanted.len()];
        for ((_, row), own) in matrix.tests().zip(&file_of_row) {
            for set in row.sets {
                for body in in_sets.get(*set as usize).into_iter().flatten() {
                    if file_of_body[*body] != *own {
                        readers[*body].insert(*own);
                    }
                }
            }
        }
        let mut groups = Groups::new(files.len());
        for (writer, readers) in file_of_body.into_iter().zip(readers) {
            if readers.len() >= MANY && readers.len() * 2 > numbers.len() {
                self.tied.everybodys += 1;
                continue;
            }
            for reader in readers {
                groups.join(writer, reader);
            }
        }
        for group in groups.of_several() {
            self.tied.groups += 1;
            self.tied.files += group.len();
            let names = group.into_iter().map(|at| files[at].to_owned());
            self.ties.push(names.collect());
        }
    }
}

/// Things that are joined one by one.
pub(super) struct Groups {
    leader: Vec<usize>,
}

impl Groups {
    pub(super) fn new(of: usize) -> Groups {
        Groups {
            leader: (0..of).collect(),
        }
    }

    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.leader[a.max(b)] = a.min(b);
    }

    /// The least of the group of `at`.
    pub(super) fn find(&mut self, at: usize) -> usize {
        let mut top = at;
        while self.leader[top] != top {
            top = self.leader[top];
        }
        self.leader[at] = top;
        top
    }

    /// The groups that have more than one member, in order.
    fn of_several(mut self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.leader.len() {
            let leader = self.find(at);
            groups.entry(leader).or_default().push(at);
        }
        groups
            .into_values()
            .filter(|group| group.len() > 1)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::samples::{facts, header};
    use crate::matrix::{Fingerprint, GroupRef, Matrix, MatrixBuilder, Unit};

    fn file_of(test: &str) -> &str {
        test.split("::").next().unwrap_or(test)
    }

    fn source_of(test: &str) -> (&str, String) {
        let (file, name) = test.split_once("::").unwrap_or((test, ""));
        (file, name.to_owned())
    }

    fn layout(matrix: &Matrix) -> Layout {
        let mut layout = Layout::default();
        layout.know_files(matrix, file_of);
        layout.tie_by_state(matrix, source_of, |file| format!("src/{file}").into());
        layout
    }

    /// `FILE::t` for each number, with the bodies of these tests in its row.
    fn matrix(rows: &[(u8, &[u8])]) -> Matrix {
        let mut builder = MatrixBuilder::new(header());
        for (file, bodies) in rows {
            let units = bodies.iter().chain([file]).map(|body| {
                let unit = Unit::at(format!("src/{body}.py"), What::Code("t".into()));
                builder.unit(unit, Fingerprint([*body; 16])).unwrap()
            });
            let units: Vec<_> = units.collect();
            let group: GroupRef = builder.group(units);
            builder
                .row(facts(&format!("{file}.py::t")), vec![group])
                .unwrap();
        }
        builder.finish()
    }

    fn ties(rows: &[(u8, &[u8])]) -> Vec<Vec<String>> {
        let layout = layout(&matrix(rows));
        let ties = layout.ties.into_iter();
        ties.map(|tie| tie.into_iter().collect()).collect()
    }

    #[test]
    fn whoever_uses_what_a_test_left_is_tied_to_it() {
        let rows: [(u8, &[u8]); 5] = [(1, &[]), (2, &[1]), (3, &[]), (4, &[2]), (5, &[])];
        assert_eq!(ties(&rows), [["1.py", "2.py", "4.py"]]);
        let layout = layout(&matrix(&rows));
        assert_eq!((layout.tied.files, layout.tied.groups), (3, 1));
        let first = Load {
            tests: 1,
            millis: 12,
        };
        assert_eq!(layout.files["1.py"], first);
    }

    #[test]
    fn what_most_files_use_ties_nobody() {
        let rows: [(u8, &[u8]); 5] = [(1, &[]), (2, &[1]), (3, &[1]), (4, &[1]), (5, &[4])];
        assert_eq!(ties(&rows), [["4.py", "5.py"]]);
        assert_eq!(layout(&matrix(&rows)).tied.everybodys, 1);
        // Of two files both are tied.
        assert_eq!(ties(&[(1, &[]), (2, &[1])]), [["1.py", "2.py"]]);
    }
}
