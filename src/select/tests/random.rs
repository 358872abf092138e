//! Random histories against the oracle that runs everything everywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::world::*;
use crate::history::HeadKind;
use crate::select::*;

const UNITS: usize = 5;
const TESTS: usize = 4;

/// Histories of a plain `cargo test`; `TAMIS_HISTORIES` asks for more.
const HISTORIES: u64 = 10_000;

/// SplitMix64: small, seeded, the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound as u64) as usize
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Tests that follow calls: what a unit's value calls is a matter of chance,
/// but always the same, and so is whether a test passes.
fn program(seed: u64) -> Program {
    let chance = move |what: usize, value: u8, salt: u64| {
        mix(seed ^ mix((what as u64) << 16 | u64::from(value) << 8 | salt))
    };
    let reads = move |test: usize, state: &State| {
        let mut read = BTreeSet::new();
        let mut stack = vec![UNITS + test];
        while let Some(unit) = stack.pop() {
            if read.insert(unit) {
                let calls = chance(unit, state[unit], 1);
                // A test calls at least one unit; a unit, half of the time.
                if unit >= UNITS || calls & 256 == 0 {
                    stack.push((calls % UNITS as u64) as usize);
                }
                if calls & 512 == 0 {
                    stack.push(((calls >> 32) % UNITS as u64) as usize);
                }
            }
        }
        read
    };
    let passes = move |test: usize, state: &State| {
        let digest = reads(test, state)
            .into_iter()
            .fold(seed, |sum, unit| mix(sum ^ chance(unit, state[unit], 2)));
        !digest.is_multiple_of(5)
    };
    Program {
        bodies: (UNITS..UNITS + TESTS).collect(),
        reads: Box::new(reads),
        passes: Box::new(passes),
    }
}

/// Makes one history, checks every strategy that applies at each revision, and
/// records what one of them selected.
struct Maker {
    world: World,
    dice: Dice,
    /// Tips of branches.
    tips: Vec<Node>,
    /// Whether some revisions are not recorded.
    has_gaps: bool,
    counts: Counts,
}

/// What became of the checks.
#[derive(Default)]
struct Counts {
    /// Revisions at which a strategy was really computed.
    used: BTreeMap<&'static str, usize>,
    /// Tests that the published formulas left out wrongly.
    published_missed: usize,
    /// Tests left out, so that nothing passes because everything runs.
    left_out: BTreeMap<&'static str, usize>,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        let mut dice = Dice(seed);
        let world = World::new(program(dice.roll()));
        let has_gaps = dice.one_in(2);
        let mut maker = Maker {
            world,
            dice,
            tips: Vec::new(),
            has_gaps,
            counts: Counts::default(),
        };
        let state = (0..UNITS + TESTS).map(|_| maker.value()).collect();
        let root = maker.push(state, tip(HeadKind::Root, false, &[]));
        maker.tips = vec![root; 2];
        maker
    }

    fn value(&mut self) -> u8 {
        1 + self.dice.below(3) as u8
    }

    fn push(&mut self, state: State, tip: Tip) -> Node {
        let node = self.world.push(state, tip);
        self.check(node);
        // Not every revision is tested, and not always in the same way.
        if !(self.has_gaps && self.dice.one_in(6)) {
            let ways = [
                Strategy::All,
                Strategy::Commit,
                Strategy::Memo,
                Strategy::MergeParents,
                Strategy::MergeHistory,
                Strategy::Thesis,
            ];
            let way = self.dice.pick(&ways);
            self.world.record(node, way);
        }
        node
    }

    fn state(&self, node: Node) -> &State {
        &self.world.revisions[node as usize].state
    }

    /// One value of a few units is another.
    fn edited(&mut self, node: Node) -> State {
        let mut state = self.state(node).clone();
        for _ in 0..1 + self.dice.below(2) {
            let unit = self.dice.below(UNITS + TESTS);
            // Tests come and go.
            let goes = unit >= UNITS && self.dice.one_in(4);
            state[unit] = if goes { 0 } else { self.value() };
        }
        state
    }

    /// A three-way merge, unit by unit; `None` where both sides changed one in
    /// different ways, or several bases do not agree.
    fn merged(&self, bases: &[Node], ours: &State, theirs: Node) -> Option<State> {
        let theirs = self.state(theirs);
        (0..UNITS + TESTS)
            .map(|unit| {
                let (our, their) = (ours[unit], theirs[unit]);
                let mut made = bases.iter().map(|base| {
                    let base = self.state(*base)[unit];
                    match (our == base, their == base) {
                        _ if our == their => Some(our),
                        (true, _) => Some(their),
                        (_, true) => Some(our),
                        _ => None,
                    }
                });
                let first = made.next()??;
                made.all(|other| other == Some(first)).then_some(first)
            })
            .collect()
    }

    fn bases(&self, a: Node, b: Node) -> Vec<Node> {
        self.world.dag.merge_bases(a, b).into_iter().collect()
    }

    fn commit(&mut self) {
        let branch = self.dice.below(self.tips.len());
        let parent = self.tips[branch];
        let state = self.edited(parent);
        self.tips[branch] = self.push(state, tip(HeadKind::Commit, false, &[parent]));
    }

    fn branch(&mut self) {
        let from = self.dice.below(self.world.revisions.len()) as Node;
        self.tips.push(from);
        if self.tips.len() > 3 {
            let gone = self.dice.below(3);
            self.tips.remove(gone);
        }
    }

    fn merge(&mut self) {
        let count = if self.dice.one_in(6) { 3 } else { 2 };
        let mut parents: Vec<Node> = Vec::new();
        for _ in 0..count {
            let next = self.dice.pick(&self.tips);
            if parents
                .iter()
                .all(|p| !self.world.dag.is_ancestor(next, *p))
            {
                parents.push(next);
            }
        }
        if parents.len() < 2 {
            return;
        }
        let mut clean = Some(self.state(parents[0]).clone());
        for (at, parent) in parents.iter().enumerate().skip(1) {
            let mut bases: Vec<Node> = Vec::new();
            for before in &parents[..at] {
                bases.extend(self.bases(*before, *parent));
            }
            clean = clean.and_then(|ours| self.merged(&bases, &ours, *parent));
        }
        let (state, kind) = match clean {
            Some(state) if !self.dice.one_in(6) => (state, HeadKind::Automerge),
            Some(state) => {
                let mut state = state;
                let unit = self.dice.below(UNITS);
                state[unit] = self.value();
                (state, HeadKind::Merge)
            }
            None => (self.edited(parents[0]), HeadKind::Merge),
        };
        let auto = kind == HeadKind::Automerge;
        let made = self.push(state, tip(kind, auto, &parents));
        for branch in &mut self.tips {
            if parents[0] == *branch {
                *branch = made;
            }
        }
    }

    /// Squashes one branch onto another.
    fn squash(&mut self) {
        let (onto, from) = (self.dice.pick(&self.tips), self.dice.pick(&self.tips));
        let bases = self.bases(onto, from);
        let ours = self.state(onto).clone();
        let Some(state) = self.merged(&bases, &ours, from) else {
            return;
        };
        if state == ours || bases == [onto] {
            return;
        }
        let mut squashed = tip(HeadKind::Squash, true, &[onto]);
        squashed.sides = Some([from, onto]);
        let made = self.push(state, squashed);
        self.tips.push(made);
    }

    /// Repeats or undoes a commit on the tip of a branch; now and then repeats
    /// two at once.
    fn change(&mut self, is_revert: bool) {
        let branch = self.dice.below(self.tips.len());
        let onto = self.tips[branch];
        let ours = self.state(onto).clone();
        let Some((mut state, change)) = self.after_change(onto, &ours, is_revert) else {
            return;
        };
        let kind = match is_revert {
            false => HeadKind::CherryPick,
            true => HeadKind::Revert,
        };
        let mut made = tip(kind, true, &[onto]);
        match is_revert {
            false => made.picked.push(change),
            true => made.reverted = Some(change),
        }
        if !is_revert
            && self.dice.one_in(4)
            && let Some((both, another)) = self.after_change(onto, &state, false)
        {
            state = both;
            made.picked.push(another);
        }
        self.tips[branch] = self.push(state, made);
    }

    /// Some commit that `onto` lacks or, to revert it, has, and what `ours`
    /// comes to after its change is made or undone.
    fn after_change(
        &mut self,
        onto: Node,
        ours: &State,
        is_revert: bool,
    ) -> Option<(State, Change)> {
        let commit = self.dice.below(self.world.revisions.len()) as Node;
        let parents = self.world.dag.parents(commit).to_vec();
        let is_behind = self.world.dag.is_ancestor(commit, onto);
        if parents.is_empty() || is_revert != is_behind {
            return None;
        }
        let before = self.dice.pick(&parents);
        let (base, theirs) = if is_revert {
            (commit, before)
        } else {
            (before, commit)
        };
        let state = self.merged(&[base], ours, theirs)?;
        let change = Change {
            commit,
            before,
            is_merge: parents.len() > 1,
        };
        Some((state, change))
    }

    fn rebase(&mut self) {
        let (onto, from) = (self.dice.pick(&self.tips), self.dice.pick(&self.tips));
        let mut old = Vec::new();
        let mut at = from;
        while !self.world.dag.is_ancestor(at, onto) {
            let [parent] = *self.world.dag.parents(at) else {
                return;
            };
            old.push((at, parent));
            at = parent;
        }
        if old.is_empty() || at == onto {
            return;
        }
        let mut auto = true;
        let mut new = onto;
        for (left, (commit, parent)) in old.iter().enumerate().rev() {
            let ours = self.state(new).clone();
            let state = match self.merged(&[*parent], &ours, *commit) {
                Some(state) => state,
                None => {
                    auto = false;
                    self.edited(new)
                }
            };
            let made = match left {
                0 => {
                    let mut last = tip(HeadKind::Rebase, auto, &[new]);
                    last.sides = Some([from, onto]);
                    last
                }
                _ => tip(HeadKind::Commit, false, &[new]),
            };
            new = self.push(state, made);
        }
        for branch in &mut self.tips {
            if *branch == from {
                *branch = new;
            }
        }
    }

    /// Many an attempt comes to nothing: the branch is merged already, the
    /// change does not apply.
    fn step(&mut self, what: usize) {
        let before = self.world.revisions.len();
        for _ in 0..8 {
            match what {
                0 => return self.branch(),
                1 => self.merge(),
                2 => self.change(false),
                3 => self.change(true),
                4 => self.rebase(),
                5 => self.squash(),
                _ => self.commit(),
            }
            if self.world.revisions.len() > before {
                return;
            }
        }
    }

    /// Checks the strategies that belong to the revision's kind.
    fn check(&mut self, h: Node) {
        let kind = self.world.revisions[h as usize].tip.kind;
        let of_kind: &[Strategy] = match kind {
            HeadKind::Merge | HeadKind::Automerge => &[
                Strategy::MergeDom,
                Strategy::MergeParents,
                Strategy::MergeHistory,
            ],
            HeadKind::Rebase | HeadKind::Squash => &[
                Strategy::RebaseDom,
                Strategy::RebaseParents,
                Strategy::RebaseHistory,
            ],
            HeadKind::CherryPick => &[Strategy::CherryParent, Strategy::CherryHistory],
            HeadKind::Revert => &[Strategy::RevertParent, Strategy::RevertHistory],
            // Sometimes those that do not belong here, for their fallbacks.
            _ if self.dice.one_in(50) => &Strategy::ALL,
            _ => &[],
        };
        let always = [Strategy::Commit, Strategy::Memo, Strategy::Thesis];
        let mut selected: BTreeMap<Strategy, BTreeSet<usize>> = BTreeMap::new();
        for strategy in always.iter().chain(of_kind) {
            let chosen = self.world.select(h, *strategy, false);
            let missed = self.world.missed(h, &chosen);
            assert!(
                missed.is_empty(),
                "{strategy} misses {missed:?} at {h}, a {kind:?}"
            );
            *self.counts.used.entry(chosen.plan.used.word()).or_default() += 1;
            let run = chosen.selected();
            *self
                .counts
                .left_out
                .entry(chosen.plan.used.word())
                .or_default() += chosen.sources.len() - run.len();
            selected.insert(chosen.plan.used, run);
            if chosen.plan.rule.is_history() {
                let published = self.world.select(h, *strategy, true);
                self.counts.published_missed += self.world.missed(h, &published).len();
                assert!(
                    published.selected().is_subset(&selected[&chosen.plan.used]),
                    "the correction only adds tests"
                );
            }
        }
        self.check_order(h, &selected);
    }

    /// memo ⊆ each other strategy, and parents ⊆ history.
    fn check_order(&self, h: Node, selected: &BTreeMap<Strategy, BTreeSet<usize>>) {
        if let Some(memo) = selected.get(&Strategy::Memo) {
            for (strategy, run) in selected {
                assert!(
                    memo.is_subset(run),
                    "memo selects more than {strategy} at {h}"
                );
            }
        }
        for (parents, history) in [
            (Strategy::MergeParents, Strategy::MergeHistory),
            (Strategy::RebaseParents, Strategy::RebaseHistory),
        ] {
            if let (Some(parents), Some(run)) = (selected.get(&parents), selected.get(&history)) {
                assert!(
                    parents.is_subset(run),
                    "{history} is more precise than comparing"
                );
            }
        }
    }
}

fn one_history(seed: u64) -> Counts {
    let mut maker = Maker::new(seed);
    // One of each command at least, in any order, and commits between them.
    let mut steps = vec![0, 1, 1, 2, 3, 4, 5, 6, 6, 6, 6];
    while !steps.is_empty() {
        maker.commit();
        let at = maker.dice.below(steps.len());
        let step = steps.swap_remove(at);
        maker.step(step);
    }
    maker.counts
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the counts are worth seeing with --nocapture"
)]
fn no_strategy_misses_a_test_in_random_histories() {
    let wanted = std::env::var("TAMIS_HISTORIES");
    let histories = wanted.map_or(HISTORIES, |text| text.parse().unwrap());
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let run = |part: u64| {
        let mut counts: Vec<Counts> = Vec::new();
        for seed in (0..histories).filter(|seed| seed % threads == part) {
            counts.push(one_history(seed));
        }
        counts
    };
    let counts: Vec<Counts> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|part| scope.spawn(move || run(part)))
            .collect();
        let done = workers.into_iter().map(|worker| worker.join());
        done.flat_map(|done| done.expect("a check failed"))
            .collect()
    });
    let histories = counts.len();
    let published_missed: usize = counts.iter().map(|count| count.published_missed).sum();
    assert!(published_missed > 0, "the histories are too tame");
    for strategy in Strategy::ALL {
        if matches!(strategy, Strategy::Auto | Strategy::All | Strategy::Thesis) {
            continue;
        }
        let word = strategy.word();
        let used = counts.iter().filter(|count| count.used.contains_key(word));
        let used = used.count();
        let left_out: usize = counts
            .iter()
            .filter_map(|count| count.left_out.get(word))
            .sum();
        println!("{word}: used in {used} of {histories} histories, {left_out} skips");
        assert!(
            used * 10 > histories,
            "{word} was used in {used} histories only"
        );
        assert!(
            left_out * 10 > histories,
            "{word} left out {left_out} tests only"
        );
    }
    println!("published: {published_missed} missed");
}
