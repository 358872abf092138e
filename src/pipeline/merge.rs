//! One matrix from those that the shards of a run recorded, each on a machine
//! of its own: no server, no lock, whoever has all of them can make it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::project::Project;
use crate::matrix::{
    GroupRef, Header, Key, Matrix, MatrixBuilder, Outcome, Row, RowFacts, Run, SetId, ShardOfRun,
    TestId,
};
use crate::select::{Shard, ShardOf};
use crate::store::{FsStore, Name};

/// The shard of `run` that this is, if it is one.
pub(super) fn shard_of_run(run: &str, shard: Option<&ShardOf>) -> Option<ShardOfRun> {
    let ShardOf { shard, plan } = shard?;
    Some(ShardOfRun {
        run: run.to_owned(),
        index: shard.index,
        of: shard.of,
        plan: plan.clone(),
    })
}

/// The name of a run, for people. Each shard has another one.
pub(super) fn run_name(run: &str, shard: Option<&ShardOfRun>) -> String {
    match shard {
        None => run.to_owned(),
        Some(of) => format!("{run}-shard-{}-of-{}-{}", of.index, of.of, of.plan),
    }
}

/// Why a shard's matrix does not know which tests there are.
pub(super) fn left_to_others(shard: Shard) -> String {
    format!("other shards than {shard} have the results of the rest")
}

/// One division of one state's tests.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Division {
    key: Key,
    commit: String,
    dirty: Vec<u8>,
    command: Vec<String>,
    of: u32,
    plan: String,
}

/// The newest recording of each shard.
type Parts = BTreeMap<u32, (Name, Header)>;

/// Stores a matrix for each run whose shards are in the store and were not
/// joined before; returns how many.
///
/// # Errors
/// If the store cannot be written. What cannot be read is left alone: those
/// tests run again.
pub(crate) fn join_shards(project: &Project, store: &FsStore) -> Result<usize> {
    let (headers, _) = store.headers();
    let mut divisions: BTreeMap<Division, Parts> = BTreeMap::new();
    let mut joined: BTreeSet<&str> = BTreeSet::new();
    for (name, header) in &headers {
        let Some(shard) = &header.shard else {
            joined.extend(header.runs.iter().map(|run| run.id.as_str()));
            continue;
        };
        if !project.owns(&header.key) {
            continue;
        }
        let division = Division {
            key: header.key.clone(),
            commit: header.commit.clone(),
            dirty: format!("{:?}", header.dirty).into_bytes(),
            command: header.command.clone(),
            of: shard.of,
            plan: shard.plan.clone(),
        };
        // The newest come first.
        let parts = divisions.entry(division).or_default();
        parts
            .entry(shard.index)
            .or_insert_with(|| (*name, header.clone()));
    }
    let mut made = 0;
    for (division, parts) in divisions {
        let is_new = parts
            .values()
            .any(|(_, header)| !joined.contains(header.run.as_str()));
        if parts.len() < 2 || !is_new {
            continue;
        }
        let load = |(name, _): &(Name, Header)| store.load(name).ok();
        let matrices: Vec<Matrix> = parts.values().filter_map(load).collect();
        if let Some(matrix) = join(&matrices, division.of) {
            store.put(&matrix)?;
            made += 1;
        }
    }
    Ok(made)
}

/// The union of the rows of `parts`, which are about the same state. A row
/// that was made there comes before one that was taken over; one that
/// contradicts the others is left out.
fn join(parts: &[Matrix], of: u32) -> Option<Matrix> {
    let newest = parts
        .iter()
        .max_by_key(|matrix| (matrix.header.created, &matrix.header.run))?;
    let mut doubt = doubt(parts, of);
    let mut builder = MatrixBuilder::new(header(parts, &newest.header));
    let runs = all_runs(parts, &newest.header);
    // A row has met the values of its shard, and whoever finds what all shards found finds
    // those.
    let values = parts.iter().filter_map(|matrix| matrix.values.clone());
    let values = values.reduce(|one, other| one.meet(&other));
    let mut best: BTreeMap<&str, (&Matrix, &Row)> = BTreeMap::new();
    for matrix in parts {
        for (test, row) in matrix.tests() {
            let better = best
                .get(test)
                .is_none_or(|(_, known)| row.selected && !known.selected);
            if better {
                best.insert(test, (matrix, row));
            }
        }
    }
    for (matrix, row) in best.values() {
        if add(&mut builder, matrix, row, &runs, row.incomplete.clone()).is_none() {
            doubt.get_or_insert_with(|| "shards of this run saw different things".to_owned());
        }
    }
    add_collection(&mut builder, parts, doubt)?;
    builder.values(values);
    let mut matrix = builder.finish();
    matrix.header.tests = matrix.tests().count() as u32;
    Some(matrix)
}

/// Why the joined matrix may lack tests: a shard that is missing, or one that
/// did not run all of its part.
fn doubt(parts: &[Matrix], of: u32) -> Option<String> {
    if parts.len() < of as usize {
        return Some(format!("only {} of {of} shards left results", parts.len()));
    }
    parts.iter().find_map(|matrix| {
        let why = matrix
            .row(TestId::Collection)
            .map(|row| row.incomplete.as_deref());
        let shard = matrix.header.shard.as_ref()?;
        let shard = Shard {
            index: shard.index,
            of: shard.of,
        };
        match why {
            Some(None) => None,
            Some(Some(why)) if why == left_to_others(shard) => None,
            Some(Some(why)) => Some(why.to_owned()),
            None => Some("finding tests was not recorded".to_owned()),
        }
    })
}

/// Finding the tests depends on what any of the shards saw.
fn add_collection(
    builder: &mut MatrixBuilder,
    parts: &[Matrix],
    doubt: Option<String>,
) -> Option<()> {
    let mut groups = Vec::new();
    for matrix in parts {
        let row = matrix.row(TestId::Collection)?;
        groups.extend(groups_of(builder, matrix, row)?);
    }
    let facts = RowFacts {
        own: None,
        test: TestId::Collection,
        outcome: Outcome::Passed,
        duration_ms: 0,
        position: 0,
        incomplete: doubt,
        run: 0,
        selected: true,
    };
    builder.row(facts, groups).ok()
}

/// The sets of a row; `None` if they contradict what is known already.
fn groups_of(builder: &mut MatrixBuilder, matrix: &Matrix, row: &Row) -> Option<Vec<GroupRef>> {
    let mut groups = Vec::with_capacity(row.sets.len());
    for set in &row.sets {
        let mut units = Vec::new();
        for id in &matrix.sets[*set as usize] {
            let (unit, value) = &matrix.units[*id as usize];
            units.push(builder.unit(unit.clone(), *value).ok()?);
        }
        groups.push(builder.group(units));
    }
    Some(groups)
}

fn add(
    builder: &mut MatrixBuilder,
    matrix: &Matrix,
    row: &Row,
    runs: &[Run],
    incomplete: Option<String>,
) -> Option<()> {
    let groups = groups_of(builder, matrix, row)?;
    let of_set = |set: &SetId| groups[row.sets.binary_search(set).unwrap_or_default()];
    let own = row.own.as_ref().filter(|_| matrix.values.is_some());
    let own = own.map(|own| own.map(|sets| sets.iter().map(of_set).collect()));
    let run = &matrix.header.runs[row.run as usize];
    let facts = RowFacts {
        own,
        test: row.test.clone(),
        outcome: row.outcome,
        duration_ms: row.duration_ms,
        position: row.position,
        incomplete,
        run: runs.iter().position(|known| known == run)? as u32,
        selected: row.selected,
    };
    builder.row(facts, groups).ok()
}

/// The joined run, then those of the shards, then those of rows taken over.
fn all_runs(parts: &[Matrix], newest: &Header) -> Vec<Run> {
    let name = newest.shard.as_ref().map_or(&newest.run, |of| &of.run);
    let mut runs = vec![Run {
        id: format!("{name}-joined"),
        commit: newest.commit.clone(),
        tree: newest.tree.clone(),
        dirty: !newest.dirty.is_empty(),
        chose: false,
    }];
    for run in parts.iter().flat_map(|matrix| &matrix.header.runs) {
        if !runs.contains(run) {
            runs.push(run.clone());
        }
    }
    runs
}

fn header(parts: &[Matrix], newest: &Header) -> Header {
    let runs = all_runs(parts, newest);
    let baselines: BTreeSet<&String> = parts
        .iter()
        .flat_map(|matrix| &matrix.header.baselines)
        .collect();
    Header {
        run: runs[0].id.clone(),
        shard: None,
        runs,
        // After its parts, for it knows more.
        created: newest.created + 1,
        baselines: baselines.into_iter().cloned().collect(),
        ran: parts.iter().map(|matrix| matrix.header.ran).sum(),
        ..newest.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Fingerprint, Unit, What};

    /// A row: its test, the value of the one unit that it uses, whether it ran
    /// in this shard.
    type Spec<'a> = (&'a str, u8, bool);

    fn part(index: u32, rows: &[Spec<'_>], doubt: Option<&str>) -> Matrix {
        let of = ShardOf {
            shard: Shard { index, of: 2 },
            plan: "p".to_owned(),
        };
        let run = format!("100-{index}");
        let shard = shard_of_run(&run, Some(&of));
        let id = run_name(&run, shard.as_ref());
        let own = |id: &str| Run {
            id: id.to_owned(),
            commit: "c".repeat(40),
            tree: "d".repeat(40),
            dirty: false,
            chose: false,
        };
        let mut builder = MatrixBuilder::new(Header {
            key: Key {
                repository: String::new(),
                suite: "pytest".to_owned(),
                environment: "e".to_owned(),
            },
            commit: "c".repeat(40),
            tree: "d".repeat(40),
            dirty: Vec::new(),
            created: 100,
            tool: String::new(),
            run: id.clone(),
            shard,
            runs: vec![own(&id), own("before")],
            strategy: "memo".to_owned(),
            baselines: Vec::new(),
            command: Vec::new(),
            tests: 0,
            ran: 0,
        });
        let left = left_to_others(of.shard);
        let tests = rows.iter();
        let tests = tests.map(|(test, value, ran)| (TestId::from(*test), *value, *ran));
        for (test, value, ran) in tests.chain([(TestId::Collection, 0, true)]) {
            let unit = Unit::at("lib.py", What::File);
            let left_out = doubt.unwrap_or(&left).to_owned();
            let (units, incomplete) = match test {
                TestId::Collection => (Vec::new(), Some(left_out)),
                TestId::Test(_) => {
                    let value = Fingerprint::of_value(&[value]);
                    (vec![builder.unit(unit, value).unwrap()], None)
                }
            };
            let group = builder.group(units);
            let facts = RowFacts {
                own: None,
                test,
                outcome: Outcome::Passed,
                duration_ms: 1,
                position: 0,
                incomplete,
                run: u32::from(!ran),
                selected: ran,
            };
            builder.row(facts, [group]).unwrap();
        }
        builder.finish()
    }

    fn doubt_of(matrix: &Matrix) -> Option<&str> {
        matrix
            .row(TestId::Collection)
            .unwrap()
            .incomplete
            .as_deref()
    }

    #[test]
    fn all_parts_together_know_all_tests() {
        let one = part(1, &[("a", 1, true), ("c", 1, false)], None);
        let two = part(2, &[("b", 1, true), ("c", 1, true)], None);
        for parts in [[one.clone(), two.clone()], [two, one]] {
            let joined = join(&parts, 2).unwrap();
            assert_eq!(doubt_of(&joined), None);
            let tests: Vec<&str> = joined.tests().map(|(test, _)| test).collect();
            assert_eq!(tests, ["a", "b", "c"]);
            assert_eq!(joined.rows.len(), 4);
            assert_eq!((joined.header.tests, &joined.header.shard), (3, &None));
            // The row that was made in this run, not the one taken over.
            assert!(joined.row(TestId::Test("c")).unwrap().selected);
        }
    }

    #[test]
    fn without_all_parts_or_with_one_in_doubt_nobody_knows() {
        let one = part(1, &[("a", 1, true)], None);
        let some = join(std::slice::from_ref(&one), 2).unwrap();
        assert_eq!(doubt_of(&some), Some("only 1 of 2 shards left results"));
        let cut = part(2, &[("b", 1, true)], Some("1 test was to run and did not"));
        let joined = join(&[one, cut], 2).unwrap();
        assert_eq!(doubt_of(&joined), Some("1 test was to run and did not"));
        assert!(joined.row(TestId::Test("b")).is_some());
    }

    #[test]
    fn rows_that_contradict_each_other_are_not_joined() {
        let one = part(1, &[("a", 1, true)], None);
        let two = part(2, &[("b", 2, true)], None);
        let joined = join(&[one, two], 2).unwrap();
        assert!(joined.row(TestId::Test("a")).is_some() != joined.row(TestId::Test("b")).is_some());
        assert_eq!(
            doubt_of(&joined),
            Some("shards of this run saw different things")
        );
    }
}
