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

use super::layout::Groups;
use super::{Selection, Verdict};

/// No service starts more copies of a job.
pub(crate) const MOST_SHARDS: u32 = 256;

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

impl Load {
    fn add(&mut self, other: Load) {
        self.tests += other.tests;
        self.millis += other.millis;
    }
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
    /// module; `file_of` names a test's file. So do the files that the
    /// selection's layout ties, whether or not their tests are known.
    pub fn divide(selection: &Selection, most: u32, file_of: impl Fn(&str) -> &str) -> Shards {
        let groups = groups(selection, &file_of);
        let (running, resting): (Vec<_>, Vec<_>) =
            groups.iter().partition(|group| group.runs.millis > 0);
        // Tests that nobody knows may be in any file: then all shards have work.
        let is_anywhere = selection.all_because.is_some() || selection.lacks_any;
        let parts = match is_anywhere && running.is_empty() {
            true => most,
            false => most.min(running.len() as u32),
        };
        let mut shards = Shards {
            of: parts.clamp(1, MOST_SHARDS),
            by_test: BTreeMap::new(),
            by_file: BTreeMap::new(),
            loads: Vec::new(),
        };
        shards.loads = shards.assign(&running, |group| group.runs);
        shards.assign(&resting, |group| group.rests);
        shards
    }

    /// Gives each group to the shard with the least; returns what each got.
    fn assign(&mut self, groups: &[&Group<'_>], load: impl Fn(&Group<'_>) -> Load) -> Vec<Load> {
        let mut loads = vec![Load::default(); self.of as usize];
        let mut order: Vec<(Load, &Group<'_>)> =
            groups.iter().map(|group| (load(group), *group)).collect();
        // Equal ones by name: the same everywhere.
        order.sort_by_key(|(load, group)| (Reverse(load.millis), group.files[0]));
        for (load, group) in order {
            let least = (0..loads.len()).min_by_key(|at| loads[*at].millis);
            let at = least.unwrap_or_default();
            loads[at].millis += load.millis;
            loads[at].tests += load.tests;
            for test in &group.tests {
                self.by_test.insert((*test).to_owned(), at as u32);
            }
            for file in &group.files {
                self.by_file.insert((*file).to_owned(), at as u32);
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

    /// The shard (from 1) in which the tests of `file` run, known or not, where nobody has
    /// listed them: `Shard.has` in `late.py` is the same rule.
    pub fn home(&self, file: &str) -> u32 {
        let share = || crc32fast::hash(file.as_bytes()) % self.of;
        self.by_file.get(file).copied().unwrap_or_else(share) + 1
    }

    /// The files that are known, and the shard (from 1) that has them.
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
        for (file, at) in &self.by_file {
            hasher.update(file.as_bytes());
            hasher.update(&[0]);
            hasher.update(&at.to_le_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// What runs on one machine.
struct Group<'s> {
    /// Sorted, never empty.
    files: Vec<&'s str>,
    /// Those that are known, sorted.
    tests: Vec<&'s str>,
    runs: Load,
    /// What is left out: a guess, if need be.
    rests: Load,
}

/// The files, those together that must be.
fn groups<'s>(selection: &'s Selection, file_of: &impl Fn(&str) -> &str) -> Vec<Group<'s>> {
    let layout = &selection.layout;
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    // The part of the test's own text that names its file.
    let part_of = |test: &'s str| &test[..file_of(test).len()];
    let tests = selection.verdicts.keys().map(|test| part_of(test));
    let tied = layout.ties.iter().flatten().map(String::as_str);
    let known = layout.files.keys().map(String::as_str);
    let unlisted: BTreeSet<&str> = selection.unlisted.iter().map(String::as_str).collect();
    for file in tests
        .chain(tied)
        .chain(known)
        .chain(unlisted.iter().copied())
    {
        let next = numbers.len();
        numbers.entry(file).or_insert(next);
    }
    let mut joined = Groups::new(numbers.len());
    for tie in &layout.ties {
        let tied: Vec<usize> = tie.iter().map(|file| numbers[file.as_str()]).collect();
        for pair in tied.windows(2) {
            joined.join(pair[0], pair[1]);
        }
    }
    let mut groups: BTreeMap<usize, Group<'s>> = BTreeMap::new();
    let is_listed: BTreeSet<&str> = selection
        .verdicts
        .keys()
        .map(|test| part_of(test))
        .collect();
    let guess = mean(selection);
    let everything_runs = selection.all_because.is_some();
    for (file, number) in &numbers {
        let group = groups.entry(joined.find(*number)).or_insert_with(|| Group {
            files: Vec::new(),
            tests: Vec::new(),
            runs: Load::default(),
            rests: Load::default(),
        });
        group.files.push(file);
        if !is_listed.contains(file) {
            let load = layout.files.get(*file).copied();
            group.rests.millis += load.map_or(guess, |load| load.millis);
            if let Some(load) = load.filter(|_| everything_runs) {
                group.runs.add(load);
            }
            if unlisted.contains(file) && !everything_runs {
                group.runs.millis += guess;
            }
        }
    }
    for (test, verdict) in &selection.verdicts {
        let Some(group) = groups.get_mut(&joined.find(numbers[part_of(test)])) else {
            continue;
        };
        let millis = selection.durations.get(test);
        let millis = millis.map_or(guess, |millis| u64::from(*millis).max(1));
        let load = Load { tests: 1, millis };
        group.tests.push(test);
        group.rests.add(load);
        if matches!(verdict, Verdict::Run(_)) {
            group.runs.add(load);
        }
    }
    groups.into_values().collect()
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
        selection.is_whole();
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
        let of =
            |tests: &[(u8, Option<u32>, bool)]| Shards::divide(&selection(tests), 8, file_of).of();
        assert_eq!(of(&[]), 1);
        assert_eq!(of(&[(0, None, false)]), 1);
        assert_eq!(of(&[(0, None, true), (0, None, true), (1, None, true)]), 2);
    }

    #[test]
    fn files_that_nobody_has_listed_have_shards_of_their_own() {
        let divide = |known: &[(u8, Option<u32>, bool)], files: usize, is_any| {
            let mut selection = selection(known);
            selection.may_also_hold(super::super::Unlisted {
                doubt: Some("a.py may hold new ones".to_owned()),
                files: (0..files).map(|at| format!("new_{at}.py")).collect(),
                is_any,
            });
            Shards::divide(&selection, 4, file_of)
        };
        let of = |known: &[_], files, is_any| divide(known, files, is_any).of();
        let (rests, runs) = ((0, None, false), (1, None, true));
        // What is left is settled when the tests start: one machine will do.
        assert_eq!(of(&[rests], 0, false), 1);
        assert_eq!(of(&[rests], 1, false), 1);
        assert_eq!(of(&[rests, runs], 2, false), 3);
        assert_eq!(of(&[rests], 9, false), 4);
        assert_eq!(of(&[], 0, true), 4);
        // Each runs in one place, which is told.
        let shards = divide(&[rests, runs], 2, false);
        let files: BTreeMap<&str, u32> = shards.files().collect();
        let places: BTreeSet<u32> = ["new_0.py", "new_1.py", "test_1.py"]
            .map(|file| files[file])
            .into();
        assert_eq!(places.len(), 3, "{files:?}");
    }

    #[test]
    fn before_anything_is_known_all_shards_have_work() {
        let nothing = Selection::all(crate::select::Strategy::Auto, "nothing is recorded yet");
        assert_eq!(Shards::divide(&nothing, 4, file_of).of(), 4);
    }

    #[test]
    fn unknown_tests_count_as_the_mean() {
        let tests = [(0, Some(10), true), (1, Some(30), true), (2, None, true)];
        let shards = Shards::divide(&selection(&tests), 1, file_of);
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
        /// Against groups found by brute force: two files belong together if a
        /// chain of ties leads from one to the other.
        #[test]
        fn each_test_is_in_one_shard_and_what_is_tied_stays_whole(
            tests in tests(), most in 1..12u32, all in prop::bool::ANY,
            ties in prop::collection::vec(prop::collection::btree_set(0..34u8, 0..4), 0..6),
            known in prop::collection::btree_map(0..36u8, 1..5000u64, 0..20),
        ) {
            let mut selection = selection(&tests);
            let name = |file: &u8| format!("test_{file}.py");
            selection.layout.ties = ties.iter().map(|tie| tie.iter().map(name).collect()).collect();
            selection.layout.files = known.iter().map(|(file, millis)| {
                (name(file), Load { tests: 1, millis: *millis })
            }).collect();
            if all {
                selection.all_because = Some("asked for".into());
            }
            let shards = Shards::divide(&selection, most, file_of);
            let of = shards.of();
            prop_assert!(of <= most);
            let homes: BTreeMap<&str, u32> = shards.files().collect();
            for test in selection.verdicts.keys() {
                let home: Vec<u32> = (1..=of).filter(|index| shards.is_in(test, *index)).collect();
                prop_assert_eq!(&home, &vec![homes[file_of(test)]]);
            }
            let mut files: BTreeSet<String> = tests.iter().map(|(file, ..)| name(file)).collect();
            files.extend(selection.layout.files.keys().cloned());
            files.extend(selection.layout.ties.iter().flatten().cloned());
            prop_assert_eq!(files.len(), homes.len());
            let mut together: BTreeSet<(&str, &str)> = BTreeSet::new();
            for tie in &selection.layout.ties {
                for a in tie {
                    together.extend(tie.iter().map(|b| (a.as_str(), b.as_str())));
                }
            }
            let tied: BTreeSet<&String> = selection.layout.ties.iter().flatten().collect();
            for via in &tied {
                for a in &tied {
                    for b in &tied {
                        let (to, from) = ((a.as_str(), via.as_str()), (via.as_str(), b.as_str()));
                        if together.contains(&to) && together.contains(&from) {
                            together.insert((a, b));
                        }
                    }
                }
            }
            for (a, b) in together {
                prop_assert_eq!(homes[a], homes[b], "{} {}", a, b);
            }
            let running: usize = shards.loads.iter().map(|load| load.tests).sum();
            let listed: BTreeSet<&str> = selection.verdicts.keys().map(|test| file_of(test)).collect();
            let unlisted = selection.layout.files.keys().filter(|file| !listed.contains(file.as_str()));
            let more = if all { unlisted.count() } else { 0 };
            prop_assert_eq!(running, selection.selected().count() + more);
        }

        #[test]
        fn the_longest_shard_is_within_4_3_of_the_best(
            files in prop::collection::vec(1..60u32, 1..9), most in 1..5u32
        ) {
            let tests: Vec<(u8, Option<u32>, bool)> =
                files.iter().enumerate().map(|(at, ms)| (at as u8, Some(*ms), true)).collect();
            let shards = Shards::divide(&selection(&tests), most, file_of);
            let longest = shards.loads.iter().map(|load| load.millis).max().unwrap_or(0);
            let best = best(&files, &mut vec![0; shards.of() as usize]);
            let of = u64::from(shards.of());
            // [Graham 1969, theorem 3]: 4/3 - 1/(3n)
            prop_assert!(longest * 3 * of <= best * (4 * of - 1), "{longest} {best}");
        }

        #[test]
        fn the_division_does_not_depend_on_the_machine(tests in tests(), most in 1..12u32) {
            let selection = selection(&tests);
            let one = Shards::divide(&selection, most, file_of);
            let other = Shards::divide(&selection.clone(), most, file_of);
            prop_assert_eq!(one.digest(&selection), other.digest(&selection));
            prop_assert_eq!(one, other);
        }
    }
}
