//! The orders that a search runs before it has a suspicion.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::str::FromStr;

use fastrand::Rng;

use super::cover::{Pairs, nested_row, nested_rows};
use super::memory::Memory;
use super::normal::{first, is_normal, shuffled};
use super::refine::Refine;
use super::suite::Test;
use super::{Data, Suite};

/// How orders are chosen: `order detect --strategy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Each test alone, the default order reversed, then [`Cover`](Strategy::Cover); if data
    /// dependences are known, after that all other pairs; then dependent tests without what
    /// they are known to depend on.
    Auto,
    /// The default order from its end: the reversal of DTDetector (\[P\] section VI).
    Reverse,
    /// Orders by chance.
    Random,
    /// Each test alone: the bound k=1 of \[W\] section 4.1.
    Isolate,
    /// Each ordered pair of tests: k=2.
    Pairs,
    /// All orders of at most so many tests: the k-bounded algorithm of \[W\] section 4.1.
    Within(usize),
    /// Orders of at most two tests of which the second reads what the first writes: the
    /// dependence-aware k-bounded algorithm (\[P\] section III has it from DTDetector).
    Data,
    /// Each pair of tests adjacent: those of which one reads what the other writes if data
    /// dependences are known, and of a cell whose readers nobody knows all tests behind each
    /// that writes it; else all pairs.
    Cover,
}

impl Strategy {
    /// What a search by it that knows data dependences has done when it is done, as
    /// [`Covered`](super::found::Covered) says.
    pub(crate) fn parts(self, has_data: bool) -> Vec<String> {
        match self {
            Strategy::Auto => {
                let all = ["isolate", "reverse", "candidates", "cover"];
                let all = all
                    .into_iter()
                    .filter(|one| has_data || *one != "candidates");
                all.map(str::to_owned).collect()
            }
            Strategy::Cover => ["isolate", "candidates"].map(str::to_owned).into(),
            one => vec![one.to_string()],
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::Auto => f.write_str("auto"),
            Strategy::Reverse => f.write_str("reverse"),
            Strategy::Random => f.write_str("random"),
            Strategy::Isolate => f.write_str("isolate"),
            Strategy::Pairs => f.write_str("pairs"),
            Strategy::Within(k) => write!(f, "k={k}"),
            Strategy::Data => f.write_str("data"),
            Strategy::Cover => f.write_str("cover"),
        }
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        if let Some(k) = text.strip_prefix("k=") {
            return match k.parse() {
                Ok(k) if k > 0 => Ok(Strategy::Within(k)),
                _ => Err(format!("'{k}' is no number of tests: k=2, k=3, …")),
            };
        }
        match text {
            "auto" => Ok(Strategy::Auto),
            "reverse" => Ok(Strategy::Reverse),
            "random" => Ok(Strategy::Random),
            "isolate" => Ok(Strategy::Isolate),
            "pairs" => Ok(Strategy::Pairs),
            "data" => Ok(Strategy::Data),
            "cover" => Ok(Strategy::Cover),
            _ => Err(format!(
                "there is no strategy '{text}': auto, reverse, random, isolate, pairs, k=N, data, cover"
            )),
        }
    }
}

/// A part of a search.
#[derive(Debug)]
pub(super) enum Phase {
    /// The default order, so many times more.
    Default(usize),
    /// Each test alone, from this one.
    Isolate(Test),
    /// The default order reversed, if that is still to come.
    Reverse(bool),
    /// Orders by chance, so many.
    Random(Rng, usize),
    /// Short orders.
    Within(Sequences),
    /// Adjacent pairs: the rows of the whole suite that are still to come, then what is left.
    Cover {
        name: &'static str,
        rows: Vec<usize>,
        pairs: Pairs,
    },
    /// Data dependences, each violated by itself.
    Refine(Refine),
    /// Some orders, and what they are called.
    Given(&'static str, VecDeque<Vec<Test>>),
}

impl Phase {
    /// One order, and what it is called.
    pub(super) fn one(name: &'static str, order: Vec<Test>) -> Phase {
        Phase::Given(name, [order].into())
    }

    /// All pairs of tests.
    pub(super) fn cover(suite: &Suite, seed: u64) -> Phase {
        let mut rows: Vec<usize> = (0..nested_rows(suite)).collect();
        Rng::with_seed(seed).shuffle(&mut rows);
        let (name, pairs) = ("cover", Pairs::all(suite));
        Phase::Cover { name, rows, pairs }
    }

    /// Those pairs that data dependences suggest: all tests behind each writer of what nobody
    /// knows the readers of, then readers directly behind writers.
    pub(super) fn candidates(suite: &Suite, data: &Data) -> [Phase; 2] {
        let behind = data.writers_for_anyone();
        let first = behind
            .into_iter()
            .map(|(writer, others)| first(suite, writer, &others));
        let pairs = Phase::Cover {
            name: "candidates",
            rows: Vec::new(),
            pairs: Pairs::new(suite, data.pairs()),
        };
        [Phase::Given("writers first", first.collect()), pairs]
    }

    /// The strategy that it is, or is a part of.
    pub(super) fn name(&self) -> String {
        match self {
            Phase::Default(_) => "default".to_owned(),
            Phase::Isolate(_) => Strategy::Isolate.to_string(),
            Phase::Reverse(_) => Strategy::Reverse.to_string(),
            Phase::Random(..) => Strategy::Random.to_string(),
            Phase::Within(all) if all.last.is_some() => "pairs with the test".to_owned(),
            Phase::Within(all) => all.strategy().to_string(),
            Phase::Cover { name, .. } => (*name).to_owned(),
            Phase::Refine(_) => "refine".to_owned(),
            Phase::Given(name, _) => (*name).to_owned(),
        }
    }

    /// Whether no order of it is left.
    pub(super) fn is_over(&self, suite: &Suite) -> bool {
        match self {
            Phase::Default(left) | Phase::Random(_, left) => *left == 0,
            Phase::Isolate(next) => *next as usize == suite.len(),
            Phase::Reverse(is_left) => !is_left,
            Phase::Given(_, orders) => orders.is_empty(),
            Phase::Cover { rows, pairs, .. } => rows.is_empty() && pairs.left() == 0,
            Phase::Within(all) => all.len > all.most.min(suite.len()),
            // Its last order is judged when the next one is asked for.
            Phase::Refine(_) => false,
        }
    }

    /// Done to its end, it has run all normal orders of at most so many tests.
    pub(super) fn bound(&self) -> usize {
        match self {
            Phase::Isolate(_) => 1,
            Phase::Within(all) if all.data.is_none() && all.last.is_none() => all.most,
            _ => 0,
        }
    }

    /// The next order; `None`: none is left.
    pub(super) fn next(&mut self, suite: &Suite, memory: &Memory) -> Option<Vec<Test>> {
        match self {
            Phase::Default(left) => {
                *left = left.checked_sub(1)?;
                Some(suite.all())
            }
            Phase::Isolate(next) => {
                let test = suite.all().into_iter().nth(*next as usize)?;
                *next = test + 1;
                Some(vec![test])
            }
            Phase::Reverse(is_left) => {
                let all = suite.all().into_iter().rev();
                std::mem::take(is_left).then(|| all.collect())
            }
            Phase::Random(chance, left) => {
                *left = left.checked_sub(1)?;
                Some(shuffled(suite, &suite.all(), chance))
            }
            Phase::Within(sequences) => sequences.next(suite),
            Phase::Cover { rows, pairs, .. } => {
                pairs.strike(|first, second| memory.were_adjacent(first, second));
                match rows.pop() {
                    Some(row) => Some(nested_row(suite, row)),
                    None => pairs.next(suite),
                }
            }
            Phase::Refine(refine) => refine.next(suite, memory),
            Phase::Given(_, orders) => orders.pop_front(),
        }
    }
}

/// All normal orders of at most `most` tests, shorter ones first.
#[derive(Debug)]
pub(super) struct Sequences {
    most: usize,
    len: usize,
    /// The order that was named last, from its end.
    back: Vec<Test>,
    /// The first test to try at the next place.
    from: Test,
    /// Each test but the last writes what a later one reads.
    data: Option<Data>,
    /// The only tests that an order may end with.
    last: Option<BTreeSet<Test>>,
}

impl Sequences {
    pub(super) fn new(most: usize, data: Option<Data>, last: Option<Test>) -> Sequences {
        let last = last.map(|last| BTreeSet::from([last]));
        Sequences {
            most,
            len: 1,
            back: Vec::new(),
            from: 0,
            data,
            last,
        }
    }

    fn strategy(&self) -> Strategy {
        match (&self.data, self.most) {
            (Some(_), _) => Strategy::Data,
            (None, 2) => Strategy::Pairs,
            (None, most) => Strategy::Within(most),
        }
    }

    fn next(&mut self, suite: &Suite) -> Option<Vec<Test>> {
        if self.back.len() == self.len {
            self.from = self.back.pop()? + 1;
        }
        while self.len <= self.most.min(suite.len()) {
            while (self.from as usize) < suite.len() {
                if !self.allows(self.from) {
                    self.from += 1;
                    continue;
                }
                self.back.push(self.from);
                self.from = 0;
                let order: Vec<Test> = self.back.iter().rev().copied().collect();
                if order.len() < self.len {
                    continue;
                }
                if is_normal(suite, &order) {
                    return Some(order);
                }
                self.from = self.back.pop()? + 1;
            }
            match self.back.pop() {
                Some(last) => self.from = last + 1,
                None => (self.len, self.from) = (self.len + 1, 0),
            }
        }
        None
    }

    /// Whether `test` may come before those that are chosen.
    fn allows(&self, test: Test) -> bool {
        let ends = self.back.is_empty();
        let is_last = self.last.as_ref().is_none_or(|last| last.contains(&test));
        let mut later = self.back.iter();
        let feeds = |data: &Data| later.any(|later| data.feeds(test, *later));
        match ends {
            true => is_last,
            false => !self.back.contains(&test) && self.data.as_ref().is_none_or(feeds),
        }
    }
}
