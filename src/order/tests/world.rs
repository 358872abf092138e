//! A suite whose tests read and write cells, run in memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::matrix::Outcome;
use crate::order::*;

pub(super) const CELLS: usize = 4;

/// What a test does to the cells, one after another.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Set(usize, u8),
    /// Only if the first cell holds the value, the second is set.
    SetIf((usize, u8), (usize, u8)),
    /// If the cell holds the value, the test ends so.
    EndIf((usize, u8), Outcome),
    /// Unless it does.
    EndUnless((usize, u8), Outcome),
}

/// How long a cell holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lives {
    /// As long as the process: a global.
    Process,
    /// Until a test of another scope runs: the value of a fixture.
    Scope,
    /// For ever: a file. Later orders find it.
    Disk,
}

/// The tests in their default order. All cells hold 0 at first.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) tests: Vec<Vec<Act>>,
    /// So many tests share a scope.
    pub(super) together: usize,
    pub(super) cells: [Lives; CELLS],
}

impl World {
    pub(super) fn of(tests: Vec<Vec<Act>>) -> World {
        World {
            tests,
            together: usize::MAX,
            cells: [Lives::Process; CELLS],
        }
    }

    pub(super) fn suite(&self) -> Suite {
        let test = |at: usize| {
            (
                format!("t{at}"),
                vec![format!("file{}", at / self.together)],
            )
        };
        Suite::new((0..self.tests.len()).map(test)).unwrap()
    }

    /// How each test of `order` ends in a new checkout; `None` behind a crash.
    pub(super) fn run(&self, order: &[usize]) -> Vec<Option<Outcome>> {
        self.run_on(order, &mut [0; CELLS])
    }

    /// The same with what earlier orders left on `disk`.
    fn run_on(&self, order: &[usize], disk: &mut [u8; CELLS]) -> Vec<Option<Outcome>> {
        let mut cells = [0; CELLS];
        self.keep(&mut cells, disk, Lives::Disk);
        let mut is_dead = false;
        let mut words = Vec::new();
        let mut scope = None;
        for test in order {
            if is_dead {
                words.push(None);
                continue;
            }
            if scope.replace(test / self.together) != Some(test / self.together) {
                self.keep(&mut cells, &[0; CELLS], Lives::Scope);
            }
            let word = end(&self.tests[*test], &mut cells);
            is_dead = word == Outcome::Crashed;
            words.push(Some(word));
        }
        self.keep(disk, &cells, Lives::Disk);
        words
    }

    /// Takes over the cells that live so.
    fn keep(&self, cells: &mut [u8; CELLS], from: &[u8; CELLS], lives: Lives) {
        for at in (0..CELLS).filter(|at| self.cells[*at] == lives) {
            cells[at] = from[at];
        }
    }

    pub(super) fn last(&self, order: &[usize]) -> Option<Outcome> {
        self.run(order).pop().flatten()
    }

    pub(super) fn ended(&self, step: &Step) -> Ended {
        self.ended_on(step, &mut [0; CELLS])
    }

    fn ended_on(&self, step: &Step, disk: &mut [u8; CELLS]) -> Ended {
        let order = numbers(&step.order);
        let mut ended = Ended {
            elapsed: 1.0,
            cpu: 0.5,
            ..Ended::default()
        };
        for (id, word) in step.order.iter().zip(self.run_on(&order, disk)) {
            match word {
                Some(Outcome::Crashed) => {
                    ended.lost = Some(Lost {
                        test: id.clone(),
                        how: How::Crashed,
                    });
                }
                Some(word) => {
                    ended.outcomes.insert(id.clone(), word);
                    ended.seconds.insert(id.clone(), 0.01);
                }
                None => {}
            }
        }
        ended
    }

    /// Runs a search to its end. Returns the orders that it ran.
    pub(super) fn search(&self, search: &mut impl Stepper) -> Vec<Vec<usize>> {
        let mut orders = Vec::new();
        let mut disk = [0; CELLS];
        while let Some(step) = search.next() {
            let order = numbers(&step.order);
            let distinct: BTreeSet<usize> = order.iter().copied().collect();
            assert_eq!(distinct.len(), order.len(), "{order:?} has a test twice");
            search.observe(&step, &self.ended_on(&step, &mut disk));
            orders.push(order);
            assert!(orders.len() < 100_000, "it does not end");
        }
        orders
    }

    /// For each test how it ended in each of `orders`.
    pub(super) fn words(&self, orders: &[Vec<usize>]) -> BTreeMap<usize, BTreeSet<Outcome>> {
        let mut all: BTreeMap<usize, BTreeSet<Outcome>> = BTreeMap::new();
        for order in orders {
            for (test, word) in order.iter().zip(self.run(order)) {
                all.entry(*test).or_default().extend(word);
            }
        }
        all
    }

    /// Whether an order comes back to no scope.
    fn is_normal(&self, order: &[usize]) -> bool {
        let mut scopes: Vec<usize> = order.iter().map(|test| test / self.together).collect();
        scopes.dedup();
        let distinct: BTreeSet<usize> = scopes.iter().copied().collect();
        distinct.len() == scopes.len()
    }

    /// All normal orders of at most `most` tests.
    pub(super) fn orders(&self, most: usize) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..most {
            let until = all.len();
            for at in from..until {
                for test in 0..self.tests.len() {
                    if !all[at].contains(&test) {
                        let mut longer = all[at].clone();
                        longer.push(test);
                        all.push(longer);
                    }
                }
            }
            from = until;
        }
        all.retain(|order| self.is_normal(order));
        all
    }
}

fn end(acts: &[Act], cells: &mut [u8; CELLS]) -> Outcome {
    for act in acts {
        match *act {
            Act::Set(cell, value) => cells[cell] = value,
            Act::SetIf((condition, is), (cell, value)) => {
                if cells[condition] == is {
                    cells[cell] = value;
                }
            }
            Act::EndIf((cell, value), word) if cells[cell] == value => return word,
            Act::EndUnless((cell, value), word) if cells[cell] != value => return word,
            Act::EndIf(..) | Act::EndUnless(..) => {}
        }
    }
    Outcome::Passed
}

pub(super) fn numbers(ids: &[String]) -> Vec<usize> {
    ids.iter().map(|id| id[1..].parse().unwrap()).collect()
}

pub(super) fn options(strategy: Strategy) -> Options {
    Options {
        strategy,
        budget: Budget::default(),
        seed: 7,
        data: None,
        fresh: true,
    }
}

pub(super) fn detect(world: &World, strategy: Strategy) -> (Detected, Vec<Vec<usize>>) {
    let mut search = Detect::new(world.suite(), options(strategy));
    let orders = world.search(&mut search);
    (search.found(), orders)
}
