//! Dividing a selection among machines that run at the same time.
//!
//! Longest processing time first [Graham 1969]: groups of tests, the longest
//! first, each go to the shard with the least so far. The longest shard then
//! takes at most 4/3 of what the best division would, and less than twice
//! where one group is longer than a fair share.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::{Selection, Verdict};

/// No service starts more copies of a job.
pub const MOST_SHARDS: u32 = 256;

/// One of several parts: `2/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    pub index: u32,
    pub of: u32,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parsed = text.split_once('/').and_then(|(index, of)| {
            let shard = Shard {
                index: index.parse().ok()?,
                of: of.parse().ok()?,
            };
            let fits =
                (1..=MOST_SHARDS).contains(&shard.of) && (1..=shard.of).contains(&shard.index);
            fits.then_some(shard)
        });
        parsed.ok_or_else(|| format!("`{text}` is not like 2/4: from 1/1 to n/{MOST_SHARDS}"))
    }
}

/// What one shard has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Tests that run, as far as they are known.
    pub tests: usize,
    /// How long they took last; a guess for those that nobody ran.
    pub millis: u64,
}

/// Which shard each known test belongs to, also those that are left out: if
/// one of them must run after all, then in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    of: u32,
    by_test: BTreeMap<String, u32>,
    by_file: BTreeMap<String, u32>,
    /// By shard, from the first.
    pub loads: Vec<Load>,
}

impl Shards {
    /// Divides the tests of `selection` into at most `most` shards: no more
    /// than there are groups to run, and at least one.
    ///
    /// Tests of one file stay together, for they share what is set up for the
    /// module; `file_of` names a test's file. So do the tests of each of
    /// `ties`: sets whose order matters.
    pub fn divide(
        selection: &Selection,
        most: u32,
        file_of: impl Fn(&str) -> &str,
        ties: &[BTreeSet<String>],
    ) -> Shards {
        let groups = groups(selection, &file_of, ties);
        let is_run = |test: &str| matches!(selection.verdicts.get(test), Some(Verdict::Run(_)));
        let runs = |group: &[&str]| group.iter().filter(|test| is_run(test)).count();
        let guess = mean(selection);
        let (running, resting): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| runs(group) > 0);
        // Tests that nobody knows may be in any file: then all shards have work.
        let parts = match selection.inventory_doubt {
            Some(_) if running.is_empty() => most,
            _ => most.min(running.len() as u32),
        };
        let mut shards = Shards {
            of: parts.clamp(1, MOST_SHARDS),
            by_test: BTreeMap::new(),
            by_file: BTreeMap::new(),
            loads: Vec::new(),
        };
        let millis = |test: &str| match selection.durations.get(test) {
            Some(millis) => u64::from(*millis).max(1),
            None => guess,
        };
        let run_only = |group: &[&str]| {
            let running = group.iter().filter(|test| is_run(test));
            running.map(|test| millis(test)).sum()
        };
        let all = |group: &[&str]| group.iter().map(|test| millis(test)).sum();
        shards.loads = shards.assign(&running, run_only, &file_of);
        for group in &running {
            let shard = shards.by_test[group[0]];
            shards.loads[shard as usize].tests += runs(group);
        }
        shards.assign(&resting, all, &file_of);
        shards
    }

    /// Gives each group to the shard with the least; returns what each got.
    fn assign<'s>(
        &mut self,
        groups: &[Vec<&'s str>],
        millis: impl Fn(&[&str]) -> u64,
        file_of: &impl Fn(&'s str) -> &'s str,
    ) -> Vec<Load> {
        let mut loads = vec![Load::default(); self.of as usize];
        let mut order: Vec<(u64, &Vec<&str>)> =
            groups.iter().map(|group| (millis(group), group)).collect();
        // Equal ones by name: the same everywhere.
        order.sort_by_key(|(millis, group)| (Reverse(*millis), group[0]));
        for (millis, group) in order {
            let least = (0..loads.len()).min_by_key(|at| loads[*at].millis);
            let at = least.unwrap_or_default();
            loads[at].millis += millis;
            for test in group {
                self.by_test.insert((*test).to_owned(), at as u32);
                self.by_file.insert(file_of(test).to_owned(), at as u32);
            }
        }
        loads
    }

    pub fn of(&self) -> u32 {
        self.of
    }

    /// Adds shards without known tests, to have `of`.
    pub fn pad(&mut self, of: u32) {
        self.of = self.of.max(of);
        self.loads.resize(self.of as usize, Load::default());
    }

    /// Whether `test`, if it is known, belongs to shard `index` (from 1).
    pub fn is_in(&self, test: &str, index: u32) -> bool {
        self.by_test.get(test).is_some_and(|at| at + 1 == index)
    }

    /// The files of known tests, and the shard (from 1) that has them.
    pub fn files(&self) -> impl Iterator<Item = (&str, u32)> {
        self.by_file
            .iter()
            .map(|(file, at)| (file.as_str(), at + 1))
    }

    /// What must be the same wherever parts of one division are made: another
    /// store gives another, and tests could fall between the two.
    pub fn digest(&self, selection: &Selection) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.of.to_le_bytes());
        for (test, at) in &self.by_test {
            let runs = matches!(selection.verdicts.get(test), Some(Verdict::Run(_)));
            hasher.update(test.as_bytes());
            hasher.update(&[0, u8::from(runs)]);
            hasher.update(&at.to_le_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// The known tests, those together that must be: each group and the list of
/// groups sorted.
fn groups<'s>(
    selection: &'s Selection,
    file_of: &impl Fn(&str) -> &str,
    ties: &[BTreeSet<String>],
) -> Vec<Vec<&'s str>> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut leader: Vec<usize> = Vec::new();
    let mut number = |file: &str, leader: &mut Vec<usize>| {
        *numbers.entry(file.to_owned()).or_insert_with(|| {
            leader.push(leader.len());
            leader.len() - 1
        })
    };
    for test in selection.verdicts.keys() {
        number(file_of(test), &mut leader);
    }
    for tie in ties {
        let known = tie
            .iter()
            .filter(|test| selection.verdicts.contains_key(*test));
        let tied: Vec<usize> = known
            .map(|test| number(file_of(test), &mut leader))
            .collect();
        for pair in tied.windows(2) {
            let (a, b) = (find(&leader, pair[0]), find(&leader, pair[1]));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for test in selection.verdicts.keys() {
        let file = number(file_of(test), &mut leader);
        groups.entry(find(&leader, file)).or_default().push(test);
    }
    groups.into_values().collect()
}

fn find(leader: &[usize], mut at: usize) -> usize {
    while leader[at] != at {
        at = leader[at];
    }
    at
}

/// What a test takes that nobody ran: the mean of the others.
fn mean(selection: &Selection) -> u64 {
    let known = selection.durations.values();
    let count = known.len() as u64;
    let sum: u64 = known.map(|millis| u64::from(*millis).max(1)).sum();
    sum.checked_div(count).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::Reason;
    use crate::select::samples::evidence;
    use proptest::prelude::*;

    /// Tests with their file, duration and whether they run.
    fn selection(tests: &[(u8, Option<u32>, bool)]) -> Selection {
        let mut selection = Selection::all(crate::select::Strategy::Auto, "");
        selection.all_because = None;
        selection.inventory_doubt = None;
        for (at, (file, millis, runs)) in tests.iter().enumerate() {
            let test = format!("test_{file}.py::test_{at}");
            let verdict = match runs {
                true => Verdict::Run(Reason::New),
                false => Verdict::Skip(evidence()),
            };
            selection.verdicts.insert(test.clone(), verdict);
            if let Some(millis) = millis {
                selection.durations.insert(test, *millis);
            }
        }
        selection
    }

    fn file_of(test: &str) -> &str {
        test.split("::").next().unwrap()
    }

    #[test]
    fn a_shard_is_written_as_two_numbers() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, of: 4 }));
        assert_eq!(Shard { index: 2, of: 4 }.to_string(), "2/4");
        for wrong in [
            "", "2", "0/4", "5/4", "1/0", "1/257", "-1/2", "a/b", "1/2/3",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn few_tests_make_few_shards_and_none_make_one() {
        let of = |tests: &[(u8, Option<u32>, bool)]| {
            Shards::divide(&selection(tests), 8, file_of, &[]).of()
        };
        assert_eq!(of(&[]), 1);
        assert_eq!(of(&[(0, None, false)]), 1);
        assert_eq!(of(&[(0, None, true), (0, None, true), (1, None, true)]), 2);
    }

    #[test]
    fn before_anything_is_known_all_shards_have_work() {
        let nothing = Selection::all(crate::select::Strategy::Auto, "nothing is recorded yet");
        assert_eq!(Shards::divide(&nothing, 4, file_of, &[]).of(), 4);
    }

    #[test]
    fn unknown_tests_count_as_the_mean() {
        let tests = [(0, Some(10), true), (1, Some(30), true), (2, None, true)];
        let shards = Shards::divide(&selection(&tests), 1, file_of, &[]);
        assert_eq!(
            shards.loads,
            [Load {
                tests: 3,
                millis: 60
            }]
        );
    }

    fn tests() -> impl Strategy<Value = Vec<(u8, Option<u32>, bool)>> {
        let millis = prop_oneof![Just(None), (0..5000u32).prop_map(Some)];
        prop::collection::vec((0..30u8, millis, prop::bool::weighted(0.7)), 0..120)
    }

    /// The shortest that the longest shard can be, by trying everything.
    fn best(files: &[u32], loads: &mut Vec<u64>) -> u64 {
        let Some((first, rest)) = files.split_first() else {
            return loads.iter().copied().max().unwrap_or(0);
        };
        let mut least = u64::MAX;
        for at in 0..loads.len() {
            loads[at] += u64::from(*first);
            least = least.min(best(rest, loads));
            loads[at] -= u64::from(*first);
        }
        least
    }

    proptest! {
        #[test]
        fn each_known_test_is_in_one_shard_and_files_and_ties_stay_whole(
            tests in tests(), most in 1..12u32, tied in prop::collection::vec(0..120usize, 0..5)
        ) {
            let selection = selection(&tests);
            let names: Vec<&String> = selection.verdicts.keys().collect();
            let tie: BTreeSet<String> = tied.iter().filter_map(|at| names.get(*at)).map(|t| t.to_string()).collect();
            let shards = Shards::divide(&selection, most, file_of, std::slice::from_ref(&tie));
            let mut homes: BTreeMap<&str, u32> = BTreeMap::new();
            for test in selection.verdicts.keys() {
                let of = shards.of();
                let home: Vec<u32> = (1..=of).filter(|index| shards.is_in(test, *index)).collect();
                prop_assert_eq!(home.len(), 1);
                prop_assert_eq!(*homes.entry(file_of(test)).or_insert(home[0]), home[0]);
            }
            let of_tie: BTreeSet<u32> = tie.iter().map(|test| homes[file_of(test)]).collect();
            prop_assert!(of_tie.len() <= 1);
            prop_assert!(shards.of() <= most);
            let running: usize = shards.loads.iter().map(|load| load.tests).sum();
            prop_assert_eq!(running, selection.selected().count());
        }

        #[test]
        fn the_longest_shard_is_within_4_3_of_the_best(
            files in prop::collection::vec(1..60u32, 1..9), most in 1..5u32
        ) {
            let tests: Vec<(u8, Option<u32>, bool)> =
                files.iter().enumerate().map(|(at, ms)| (at as u8, Some(*ms), true)).collect();
            let shards = Shards::divide(&selection(&tests), most, file_of, &[]);
            let longest = shards.loads.iter().map(|load| load.millis).max().unwrap_or(0);
            let best = best(&files, &mut vec![0; shards.of() as usize]);
            let of = u64::from(shards.of());
            // [Graham 1969, theorem 3]: 4/3 - 1/(3n)
            prop_assert!(longest * 3 * of <= best * (4 * of - 1), "{longest} {best}");
        }

        #[test]
        fn the_division_does_not_depend_on_the_machine(tests in tests(), most in 1..12u32) {
            let selection = selection(&tests);
            let one = Shards::divide(&selection, most, file_of, &[]);
            let other = Shards::divide(&selection.clone(), most, file_of, &[]);
            prop_assert_eq!(one.digest(&selection), other.digest(&selection));
            prop_assert_eq!(one, other);
        }
    }
}
