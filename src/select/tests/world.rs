//! A history in memory whose tests an oracle can run at every revision.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::history::dominators::Dominators;
use crate::history::{Dag, HeadKind};
use crate::matrix::{Fingerprint, Outcome, Unit, What};
use crate::select::*;

/// The value of each unit. What a test is made of is a unit of it; there is no
/// such test where that is 0.
pub(super) type State = Vec<u8>;

/// What is asked of a test at a state.
pub(super) type OfTest<T> = Box<dyn Fn(usize, &State) -> T>;

/// What the tests do: which units each reads, and whether it passes.
pub(super) struct Program {
    /// For each test the unit that it is made of.
    pub bodies: Vec<usize>,
    pub reads: OfTest<BTreeSet<usize>>,
    pub passes: OfTest<bool>,
}

/// One test's units with their values where it last ran, and its outcome.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub units: Vec<(usize, u8)>,
    pub passed: bool,
}

/// What is stored of a revision.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    pub rows: BTreeMap<usize, Row>,
    /// S_sel.
    pub selected: BTreeSet<usize>,
}

pub(super) struct Revision {
    pub state: State,
    pub tip: Tip,
    pub recorded: Option<Recorded>,
}

pub(super) struct World {
    pub program: Program,
    pub revisions: Vec<Revision>,
    pub dag: Dag,
    /// Made when asked for, as long as the history is.
    dominators: RefCell<Option<(u32, Dominators)>>,
    /// Whether branches are followed from the merge base and not from the
    /// dominator: theorem 3 says that this is unsafe.
    pub from_merge_base: bool,
    skip: Verdict,
    changed: Verdict,
    failed: Verdict,
}

/// The selection at one revision.
pub(super) struct Selected {
    pub plan: Plan,
    /// By available test: the revision whose row is the proof of a skip.
    pub sources: BTreeMap<usize, Option<Node>>,
}

impl Selected {
    pub(super) fn selected(&self) -> BTreeSet<usize> {
        let run = self.sources.iter().filter(|(_, source)| source.is_none());
        run.map(|(test, _)| *test).collect()
    }
}

/// A tip of this kind that names only its parents.
pub(super) fn tip(kind: HeadKind, auto: bool, parents: &[Node]) -> Tip {
    Tip {
        kind,
        auto,
        parents: parents.to_vec(),
        picked: Vec::new(),
        reverted: None,
        sides: None,
    }
}

fn name(test: usize) -> String {
    format!("t{test}")
}

fn number(test: &str) -> usize {
    test[1..].parse().unwrap()
}

impl World {
    pub(super) fn new(program: Program) -> World {
        World {
            program,
            revisions: Vec::new(),
            dag: Dag::new(),
            dominators: RefCell::new(None),
            from_merge_base: false,
            skip: Verdict::Skip(Evidence {
                baseline: "m".into(),
                revision: "m".into(),
                ran_at: "m".into(),
                outcome: Outcome::Passed,
                units: 1,
                late: [].into(),
                is_open: false,
                duration_ms: 1,
            }),
            changed: Verdict::Run(Reason::Changed {
                unit: Unit::at("u", What::File),
                from: Fingerprint::MISSING,
                to: Fingerprint::MISSING,
                baseline: "m".into(),
            }),
            failed: Verdict::Run(Reason::Failed {
                outcome: Outcome::Failed,
                baseline: "m".into(),
            }),
        }
    }

    /// Adds a revision that nothing is recorded of.
    pub(super) fn push(&mut self, state: State, tip: Tip) -> Node {
        let node = self.dag.push(&tip.parents);
        self.revisions.push(Revision {
            state,
            tip,
            recorded: None,
        });
        node
    }

    /// The tests that there are at a revision.
    pub(super) fn tests(&self, node: Node) -> Vec<usize> {
        let state = &self.revisions[node as usize].state;
        let bodies = self.program.bodies.iter().enumerate();
        bodies
            .filter(|(_, body)| state[**body] != 0)
            .map(|(test, _)| test)
            .collect()
    }

    pub(super) fn passes(&self, test: usize, node: Node) -> bool {
        (self.program.passes)(test, &self.revisions[node as usize].state)
    }

    /// Runs what `strategy` selects, and records it.
    pub(super) fn record(&mut self, node: Node, strategy: Strategy) {
        let chosen = self.select(node, strategy, false);
        let mut recorded = Recorded::default();
        for (test, source) in chosen.sources {
            let row = match source {
                Some(source) => {
                    let there = self.revisions[source as usize].recorded.as_ref().unwrap();
                    there.rows[&test].clone()
                }
                None => {
                    recorded.selected.insert(test);
                    self.run(test, node)
                }
            };
            recorded.rows.insert(test, row);
        }
        self.revisions[node as usize].recorded = Some(recorded);
    }

    fn run(&self, test: usize, node: Node) -> Row {
        let state = &self.revisions[node as usize].state;
        let reads = (self.program.reads)(test, state);
        Row {
            units: reads.into_iter().map(|unit| (unit, state[unit])).collect(),
            passed: self.passes(test, node),
        }
    }

    /// tts(n, h) for one test that n knows.
    fn tts(&self, n: Node, h: Node, test: usize) -> Option<&Verdict> {
        let row = self.revisions[n as usize]
            .recorded
            .as_ref()?
            .rows
            .get(&test)?;
        let now = &self.revisions[h as usize].state;
        Some(if !row.passed {
            &self.failed
        } else if row.units.iter().all(|(unit, value)| now[*unit] == *value) {
            &self.skip
        } else {
            &self.changed
        })
    }

    /// What the pipeline calls the nearest matrix, and whether it has the
    /// same files.
    fn nearest_matrix(&self, h: Node) -> Option<(Node, bool)> {
        let earlier = || (0..h).rev().filter(|n| self.is_recorded(*n));
        let state = |n: Node| &self.revisions[n as usize].state;
        if let Some(same) = earlier().find(|n| state(*n) == state(h)) {
            return Some((same, true));
        }
        let mut queue = VecDeque::from(self.dag.parents(h).to_vec());
        while let Some(node) = queue.pop_front() {
            if self.is_recorded(node) {
                return Some((node, false));
            }
            queue.extend(self.dag.parents(node));
        }
        earlier().next().map(|n| (n, false))
    }

    /// The selection at h from what is recorded before it.
    pub(super) fn select(&self, h: Node, strategy: Strategy, published: bool) -> Selected {
        let tests = self.tests(h);
        let Some((nearest, has_same_files)) = self.nearest_matrix(h) else {
            return Selected {
                plan: Plan {
                    used: Strategy::All,
                    rule: Rule::All,
                    fallbacks: Vec::new(),
                    notes: Vec::new(),
                },
                sources: tests.into_iter().map(|test| (test, None)).collect(),
            };
        };
        let tip = &self.revisions[h as usize].tip;
        let plan = plan(strategy, tip, self);
        let mut sources = BTreeMap::new();
        for test in tests {
            let asked = match plan.rule.sources(&name(test), self) {
                Sources::Nearest => vec![nearest],
                Sources::Nodes(nodes) => nodes,
                Sources::Every(mut nodes) => {
                    nodes.insert(0, nearest);
                    nodes.extend((0..h).rev().filter(|n| self.is_recorded(*n)));
                    nodes
                }
            };
            let told = asked.iter().map(|n| match self.tts(*n, h, test) {
                // As published, nobody looks whether the row still holds.
                Some(Verdict::Run(reason))
                    if published && plan.rule.is_history() && reason.is_about_units() =>
                {
                    Some(&self.skip)
                }
                told => told,
            });
            let last = Nearest {
                verdict: self.tts(nearest, h, test),
                has_same_files,
            };
            let proof = choose(last, told).map(|proof| match proof {
                Proof::Nearest => nearest,
                Proof::Source(at) => asked[at],
            });
            sources.insert(test, proof);
        }
        Selected { plan, sources }
    }

    /// The tests that are left out at h although they fail there.
    pub(super) fn missed(&self, h: Node, chosen: &Selected) -> Vec<usize> {
        let left_out = chosen.sources.iter().filter(|(_, source)| source.is_some());
        left_out
            .map(|(test, _)| *test)
            .filter(|test| !self.passes(*test, h))
            .collect()
    }

    /// S_sel of a recorded revision.
    pub(super) fn recorded_selection(&self, node: Node) -> BTreeSet<usize> {
        self.recorded(node).selected.clone()
    }

    fn recorded(&self, node: Node) -> &Recorded {
        let recorded = &self.revisions[node as usize].recorded;
        recorded.as_ref().expect("only recorded ones are asked")
    }
}

impl Past for World {
    fn name(&self, node: Node) -> String {
        format!("n{node}")
    }

    fn is_recorded(&self, node: Node) -> bool {
        self.revisions[node as usize].recorded.is_some()
    }

    fn nearest(&self, node: Node) -> Option<Node> {
        let mut queue = VecDeque::from([node]);
        while let Some(node) = queue.pop_front() {
            if self.is_recorded(node) {
                return Some(node);
            }
            queue.extend(self.dag.parents(node));
        }
        None
    }

    fn dominator(&self, a: Node, b: Node) -> Option<Node> {
        if self.from_merge_base {
            return self.dag.merge_bases(a, b).first().copied();
        }
        let mut made = self.dominators.borrow_mut();
        let length = self.dag.len();
        made.take_if(|(there, _)| *there != length);
        let (_, dominators) = made.get_or_insert_with(|| (length, self.dag.dominators()));
        dominators.lowest_common(a, b)
    }

    fn between(&self, old: Node, new: Node) -> Vec<Node> {
        (old + 1..=new)
            .filter(|n| self.dag.is_ancestor(old, *n) && self.dag.is_ancestor(*n, new))
            .collect()
    }

    fn is_selected(&self, node: Node, test: &str) -> bool {
        self.recorded(node).selected.contains(&number(test))
    }

    fn is_available(&self, node: Node, test: &str) -> bool {
        self.recorded(node).rows.contains_key(&number(test))
    }

    fn available(&self, node: Node) -> Vec<String> {
        self.recorded(node)
            .rows
            .keys()
            .map(|test| name(*test))
            .collect()
    }
}
