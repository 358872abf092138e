//! A small language of tests, with an interpreter: what it says of a composed test is the
//! judgement over the model.

use std::collections::{BTreeMap, BTreeSet};

use crate::minimise::model::{Call, Input, Known, Role, Statement, Test};
use crate::minimise::walk::Composed;

/// A statement. Variables hold numbers or boxes; a box is an object with a number in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// `x = Box(n)`
    New(String, i64),
    /// `x = y`
    Same(String, String),
    /// `x = y.plus(z)`: a new box
    Plus(String, String, String),
    /// `x.grow(n)`: changes the box
    Grow(String, i64),
    /// `x = y.value()`
    Value(String, String),
    /// `x = n`
    Number(String, i64),
    /// `assert` that `x` holds this
    Assert(String, i64),
}

impl Line {
    /// The variables that it names, in order, and which it binds.
    fn names(&self) -> (Vec<String>, Option<&String>) {
        match self {
            Line::New(x, _) | Line::Number(x, _) => (vec![x.clone()], Some(x)),
            Line::Same(x, y) | Line::Value(x, y) => (unique([x, y]), Some(x)),
            Line::Plus(x, y, z) => (unique([x, y, z]), Some(x)),
            Line::Grow(x, _) | Line::Assert(x, _) => (vec![x.clone()], None),
        }
    }

    pub(super) fn renamed(&self, names: &BTreeMap<String, String>) -> Line {
        let of = |name: &String| names.get(name).unwrap_or(name).clone();
        match self {
            Line::New(x, n) => Line::New(of(x), *n),
            Line::Same(x, y) => Line::Same(of(x), of(y)),
            Line::Plus(x, y, z) => Line::Plus(of(x), of(y), of(z)),
            Line::Grow(x, n) => Line::Grow(of(x), *n),
            Line::Value(x, y) => Line::Value(of(x), of(y)),
            Line::Number(x, n) => Line::Number(of(x), *n),
            Line::Assert(x, n) => Line::Assert(of(x), *n),
        }
    }

    fn shape(&self) -> String {
        let (names, _) = self.names();
        let at = |name: &String| {
            names
                .iter()
                .position(|one| one == name)
                .unwrap()
                .to_string()
        };
        let renamed = names
            .iter()
            .map(|name| (name.clone(), format!("${}", at(name))));
        format!("{:?}", self.renamed(&renamed.collect()))
    }
}

fn unique<const N: usize>(names: [&String; N]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Number(i64),
    Box(usize),
}

/// A production method that is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mutant {
    None,
    /// `Box(n)` holds one more from this number on.
    New(i64),
    /// `plus` subtracts.
    Plus,
    /// `plus` changes its receiver, too.
    PlusGrows,
    /// `grow` does nothing with this number.
    Grow(i64),
    /// `value` of such a box is another.
    Value(i64),
}

/// What runs tests.
pub(super) struct Machine {
    variables: BTreeMap<String, Held>,
    boxes: Vec<i64>,
    mutant: Mutant,
    pub(super) calls: Vec<Call>,
}

impl Machine {
    pub(super) fn new(mutant: Mutant) -> Machine {
        Machine {
            variables: BTreeMap::new(),
            boxes: Vec::new(),
            mutant,
            calls: Vec::new(),
        }
    }

    fn box_of(&self, name: &str) -> Option<usize> {
        match self.variables.get(name)? {
            Held::Box(at) => Some(*at),
            Held::Number(_) => None,
        }
    }

    fn call(&mut self, method: &str, inputs: Vec<Held>) {
        let inputs = inputs.into_iter().map(|held| {
            let known = self.known(held);
            Input {
                kind: known.kind,
                value: known.value,
            }
        });
        let call = Call {
            method: method.to_owned(),
            inputs: inputs.collect(),
        };
        self.calls.push(call);
    }

    fn known(&self, held: Held) -> Known {
        match held {
            Held::Number(number) => Known {
                kind: "int".into(),
                value: Some(number.to_string()),
                is_plain: true,
            },
            Held::Box(at) => Known {
                kind: "Box".into(),
                value: Some(format!("Box({})", self.boxes[at])),
                is_plain: false,
            },
        }
    }

    pub(super) fn state(&self) -> BTreeMap<String, Known> {
        let all = self.variables.iter();
        all.map(|(name, held)| (name.clone(), self.known(*held)))
            .collect()
    }

    /// Which of the variables are one object.
    fn shared(&self, names: &[String]) -> String {
        let held: Vec<_> = names.iter().map(|name| self.variables.get(name)).collect();
        let first = |one: &Option<&Held>| held.iter().position(|other| other == one);
        let is_box = |one: &Option<&Held>| matches!(one, Some(Held::Box(_)));
        let all = held.iter().map(|one| first(one).filter(|_| is_box(one)));
        format!("{:?}", all.collect::<Vec<_>>())
    }

    /// Runs a line; `None`: it fails, as an assertion or with an error.
    pub(super) fn run(&mut self, line: &Line) -> Option<()> {
        match line {
            Line::New(x, n) => {
                self.call("Box", vec![Held::Number(*n)]);
                let more = matches!(self.mutant, Mutant::New(from) if *n >= from);
                self.boxes.push(n + i64::from(more));
                self.variables
                    .insert(x.clone(), Held::Box(self.boxes.len() - 1));
            }
            Line::Same(x, y) => {
                let held = *self.variables.get(y)?;
                self.variables.insert(x.clone(), held);
            }
            Line::Plus(x, y, z) => {
                let (y, z) = (self.box_of(y)?, self.box_of(z)?);
                self.call("plus", vec![Held::Box(y), Held::Box(z)]);
                let sign = if self.mutant == Mutant::Plus { -1 } else { 1 };
                self.boxes.push(self.boxes[y] + sign * self.boxes[z]);
                if self.mutant == Mutant::PlusGrows {
                    self.boxes[y] += 1;
                }
                self.variables
                    .insert(x.clone(), Held::Box(self.boxes.len() - 1));
            }
            Line::Grow(x, n) => {
                let at = self.box_of(x)?;
                self.call("grow", vec![Held::Box(at), Held::Number(*n)]);
                if self.mutant != Mutant::Grow(*n) {
                    self.boxes[at] += n;
                }
            }
            Line::Value(x, y) => {
                let at = self.box_of(y)?;
                self.call("value", vec![Held::Box(at)]);
                let held = self.boxes[at];
                let off = i64::from(self.mutant == Mutant::Value(held));
                self.variables.insert(x.clone(), Held::Number(held + off));
            }
            Line::Number(x, n) => {
                self.variables.insert(x.clone(), Held::Number(*n));
            }
            Line::Assert(x, n) => {
                let held = match self.variables.get(x)? {
                    Held::Number(number) => *number,
                    Held::Box(at) => self.boxes[*at],
                };
                return (held == *n).then_some(());
            }
        }
        Some(())
    }
}

/// A test as it runs; `None` if it fails.
pub(super) fn watched(name: &str, lines: &[Line]) -> Option<Test> {
    let mut machine = Machine::new(Mutant::None);
    let mut statements = Vec::new();
    for line in lines {
        let (used, defined) = line.names();
        let values = |state: &BTreeMap<String, Known>| -> Vec<Option<Known>> {
            used.iter().map(|name| state.get(name).cloned()).collect()
        };
        let (state, shared) = (machine.state(), machine.shared(&used));
        let calls = machine.calls.len();
        machine.run(line)?;
        let now = machine.state();
        let changed = now
            .iter()
            .filter(|(name, known)| state.get(*name) != Some(known));
        let made = Statement {
            role: match line {
                Line::Assert(..) => Role::Assertion,
                _ => Role::Action,
            },
            shape: line.shape(),
            before: values(&state),
            after: values(&now),
            shared: [shared, machine.shared(&used)],
            changed: changed
                .map(|(name, known)| (name.clone(), Some(known.clone())))
                .collect(),
            defined: defined.into_iter().cloned().collect(),
            used,
            ..Statement::default()
        };
        statements.push(made.calling(machine.calls[calls..].to_vec()));
    }
    Some(Test {
        id: name.to_owned(),
        name: name.to_owned(),
        scope: "a".to_owned(),
        set_up: Vec::new(),
        parameters: Vec::new(),
        start: BTreeMap::new(),
        statements,
    })
}

/// The lines of a composed test.
pub(super) fn lines_of(composed: &Composed, suite: &[Vec<Line>]) -> Vec<Line> {
    let steps = composed.steps.iter();
    steps
        .map(|step| suite[step.test][step.statement].renamed(&step.names))
        .collect()
}

/// How a test ends: whether it passes, and the calls that it made.
pub(super) fn outcome(lines: &[Line], mutant: Mutant) -> (bool, BTreeSet<Call>) {
    let mut machine = Machine::new(mutant);
    let passes = lines.iter().all(|line| machine.run(line).is_some());
    (passes, machine.calls.into_iter().collect())
}
