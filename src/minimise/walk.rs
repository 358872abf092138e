//! One test more in a composed test: which of its statements have run there already, and which
//! run again under which names.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::model::{Call, Place, Role, State, Statement, Test, Variable};
use super::naming::variable_name;

/// A statement that runs in a composed test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Its test and its place in that.
    pub test: usize,
    pub statement: usize,
    /// Variables that have another name than in their own test.
    pub names: BTreeMap<String, String>,
    /// Where the variables of the statement are before and after it, by position.
    before: Vec<Option<Place>>,
    after: Vec<Option<Place>>,
}

/// A statement that is left out, as a step does the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub test: usize,
    pub statement: usize,
    pub twin: usize,
}

/// A test that several were joined to: a path through the model \[V, section 3.3\].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Composed {
    /// In the order in which their statements follow.
    pub tests: Vec<usize>,
    pub parameters: Vec<String>,
    pub steps: Vec<Step>,
    pub removed: Vec<Removed>,
    /// The running state of \[V, algorithm 1\].
    state: State,
    /// Names that are bound in it, and names from outside.
    bound: BTreeSet<String>,
    free: BTreeSet<String>,
    /// Shape of a statement → the steps that have it.
    shapes: BTreeMap<String, Vec<usize>>,
    versions: u32,
}

/// Why a test does not go on as it was tried.
enum Stuck {
    /// These statements have to run again, then it may.
    Again(BTreeSet<usize>),
    Never,
}

/// A test that is being joined.
struct Joining<'t> {
    tests: &'t [Test],
    test: usize,
    own: &'t Test,
    /// Where its variables are.
    places: BTreeMap<String, Place>,
    /// What made their values in its own run.
    made: BTreeMap<String, Rc<BTreeSet<Call>>>,
    /// Statements that are left out so far, with the variables that they name.
    removed: BTreeMap<usize, usize>,
    /// Statements that must run.
    again: &'t BTreeSet<usize>,
    /// Names that no new variable may have.
    names: BTreeSet<&'t str>,
}

impl Composed {
    /// This, and then `test`; `None` if that does not go.
    pub(super) fn with(&self, tests: &[Test], test: usize) -> Option<Composed> {
        let mut again = BTreeSet::new();
        loop {
            let mut next = self.clone();
            match next.walk(tests, test, &again) {
                Ok(()) => return Some(next),
                Err(Stuck::Never) => return None,
                Err(Stuck::Again(more)) => {
                    let before = again.len();
                    again.extend(more);
                    if again.len() == before {
                        return None;
                    }
                }
            }
        }
    }

    /// Whether a statement of `test` may be one that has run here and calls production code.
    pub(super) fn may_share(&self, tests: &[Test], test: usize) -> bool {
        tests[test].statements.iter().any(|own| {
            let steps = self.shapes.get(&own.shape).into_iter().flatten();
            let has_run = |at: &usize| {
                let step = &self.steps[*at];
                own.calls == tests[step.test].statements[step.statement].calls
            };
            own.role == Role::Action && !own.calls.is_empty() && steps.into_iter().any(has_run)
        })
    }

    /// Of the statements that were left out, those of `test` that call production code.
    pub(super) fn saved(&self, tests: &[Test], test: usize) -> usize {
        let of = self.removed.iter().filter(|one| one.test == test);
        of.filter(|one| !tests[test].statements[one.statement].calls.is_empty())
            .count()
    }

    /// Whether `test` leaves out nothing but its first statements, which are also the first
    /// ones here.
    pub(super) fn shares_only_its_beginning(&self, tests: &[Test], test: usize) -> bool {
        let loud = |test: usize| {
            let all = tests[test].statements.iter().enumerate();
            all.filter(|(_, one)| one.role != Role::Silent)
                .map(|(at, _)| at)
        };
        let Some(&first) = self.tests.first() else {
            return true;
        };
        let removed = self.removed.iter().filter(|one| one.test == test);
        removed
            .zip(loud(test).zip(loud(first)))
            .all(|(one, (own, twin))| {
                let step = &self.steps[one.twin];
                one.statement == own && (step.test, step.statement) == (first, twin)
            })
    }

    fn walk(&mut self, tests: &[Test], test: usize, again: &BTreeSet<usize>) -> Result<(), Stuck> {
        let own = &tests[test];
        if own.free().any(|name| self.bound.contains(name)) {
            return Err(Stuck::Never);
        }
        let mut joining = Joining {
            tests,
            test,
            own,
            places: BTreeMap::new(),
            made: BTreeMap::new(),
            removed: BTreeMap::new(),
            again,
            names: own.names(),
        };
        self.begin(&mut joining)?;
        for (at, statement) in own.statements.iter().enumerate() {
            let twin = match again.contains(&at) {
                true => None,
                false => self.twin(&joining, statement),
            };
            match twin {
                Some(twin) => self.leave_out(&mut joining, (at, statement), twin),
                None => self.run(&mut joining, (at, statement))?,
            }
            for (name, known) in &statement.changed {
                match known {
                    Some(_) => joining.made.insert(name.clone(), statement.production()),
                    None => joining.made.remove(name),
                };
            }
        }
        self.free.extend(own.free().map(str::to_owned));
        self.tests.push(test);
        Ok(())
    }

    /// What a test begins with is there from the beginning.
    fn begin(&mut self, joining: &mut Joining<'_>) -> Result<(), Stuck> {
        let own = joining.own;
        for (name, known) in &own.start {
            let is_parameter = own.parameters.contains(name);
            let is_new = !self.parameters.contains(name) && is_parameter;
            if is_new && (self.bound.contains(name) || self.free.contains(name)) {
                return Err(Stuck::Never);
            }
            if is_new || self.tests.is_empty() {
                let variable = Variable {
                    known: known.clone(),
                    made_by: Rc::default(),
                    version: 0,
                };
                self.state.variables.insert(name.clone(), variable);
                self.bound.insert(name.clone());
            }
            if is_new {
                self.parameters.push(name.clone());
            }
            let place = Place {
                name: name.clone(),
                version: 0,
            };
            joining.places.insert(name.clone(), place);
            joining.made.insert(name.clone(), Rc::default());
        }
        Ok(())
    }

    /// A step that has done what `statement` does, on the very objects that it would do it on.
    fn twin(&self, joining: &Joining<'_>, statement: &Statement) -> Option<usize> {
        let has_effect = !statement.calls.is_empty()
            || !statement.defined.is_empty()
            || statement.before != statement.after;
        if statement.role != Role::Action || !has_effect || !statement.is_known() {
            return None;
        }
        let steps = self.shapes.get(&statement.shape)?;
        let taken: BTreeSet<usize> = joining.removed.values().copied().collect();
        steps.iter().copied().find(|at| {
            let step = &self.steps[*at];
            let other = &joining.tests[step.test].statements[step.statement];
            let is_same_place = |(at, name): (usize, &String)| match statement.before[at] {
                Some(_) => joining.places.get(name) == step.before[at].as_ref(),
                None => true,
            };
            // Two statements of one test make two objects.
            step.test != joining.test
                && !taken.contains(at)
                && other.role == Role::Action
                && statement.does_as(other)
                && statement.used.iter().enumerate().all(is_same_place)
        })
    }

    fn leave_out(
        &mut self,
        joining: &mut Joining<'_>,
        (at, statement): (usize, &Statement),
        twin: usize,
    ) {
        for (position, name) in statement.used.iter().enumerate() {
            match &self.steps[twin].after[position] {
                Some(place) => joining.places.insert(name.clone(), place.clone()),
                None => joining.places.remove(name),
            };
        }
        joining.removed.insert(at, twin);
        self.removed.push(Removed {
            test: joining.test,
            statement: at,
            twin,
        });
    }

    /// Runs a statement: checks that the running state is compatible with it \[V, definition
    /// 8\], and applies its effect to that \[V, algorithm 1, `Apply`\].
    fn run(
        &mut self,
        joining: &mut Joining<'_>,
        (at, statement): (usize, &Statement),
    ) -> Result<(), Stuck> {
        let none = Rc::default();
        for (_, name, wanted) in statement.uses() {
            let is_assertion = statement.role == Role::Assertion;
            let made_by = joining.made.get(name).unwrap_or(&none);
            let suits = joining.places.get(name).is_some_and(|place| {
                let made_by = is_assertion.then_some(made_by);
                self.state.suits(place, wanted, made_by)
            });
            if !suits {
                return Err(joining.stuck_at(name));
            }
        }
        let used = statement.used.iter().zip(&statement.before);
        let before: Vec<Option<Place>> = used
            .map(|(name, before)| {
                before.as_ref()?;
                joining.places.get(name).cloned()
            })
            .collect();
        let names = self.names(joining, statement, &before)?;
        let after = self.apply(joining, statement, &names);
        let own = statement.used.iter().zip(&names);
        let renamed = own.filter(|(own, new)| own != new);
        self.shapes
            .entry(statement.shape.clone())
            .or_default()
            .push(self.steps.len());
        self.steps.push(Step {
            test: joining.test,
            statement: at,
            names: renamed
                .map(|(own, new)| (own.clone(), new.clone()))
                .collect(),
            before,
            after,
        });
        Ok(())
    }

    /// The names of a statement's variables in the composed test \[V, algorithm 2, lines 5 to
    /// 21\]. There are no casts: who needs types declared has them in what must agree.
    fn names(
        &self,
        joining: &Joining<'_>,
        statement: &Statement,
        before: &[Option<Place>],
    ) -> Result<Vec<String>, Stuck> {
        let mut found: Vec<String> = Vec::new();
        for (at, name) in statement.used.iter().enumerate() {
            let is_taken = |new: &str| {
                self.bound.contains(new)
                    || self.free.contains(new)
                    || found.iter().any(|n| n == new)
            };
            let new = match (&before[at], joining.places.get(name)) {
                (Some(place), _) | (None, Some(place)) => place.name.clone(),
                (None, None) if !is_taken(name) => name.clone(),
                (None, None) => variable_name(name, &joining.own.name, |new| {
                    is_taken(new) || joining.names.contains(new)
                }),
            };
            if new != *name && statement.fixed.contains(name) {
                return Err(joining.stuck_at(name));
            }
            found.push(new);
        }
        Ok(found)
    }

    /// Applies the effect of a statement to the running state; where its variables are then.
    fn apply(
        &mut self,
        joining: &mut Joining<'_>,
        statement: &Statement,
        names: &[String],
    ) -> Vec<Option<Place>> {
        let calls = statement.production();
        let mut after = Vec::new();
        for (at, own) in statement.used.iter().enumerate() {
            let Some(known) = &statement.after[at] else {
                if statement.before[at].is_some() {
                    self.state.variables.remove(&names[at]);
                    joining.places.remove(own);
                }
                after.push(None);
                continue;
            };
            let is_bound = statement.defined.contains(own) || statement.before[at].is_none();
            let version = match (is_bound, joining.places.get(own)) {
                (false, Some(place)) => place.version,
                _ => {
                    self.versions += 1;
                    self.versions
                }
            };
            let is_same = !is_bound && statement.before[at].as_ref() == Some(known);
            let made_by = match self.state.variables.get(&names[at]) {
                Some(variable) if is_same => variable.made_by.clone(),
                _ => calls.clone(),
            };
            let variable = Variable {
                known: known.clone(),
                made_by,
                version,
            };
            self.state.variables.insert(names[at].clone(), variable);
            self.bound.insert(names[at].clone());
            let place = Place {
                name: names[at].clone(),
                version,
            };
            joining.places.insert(own.clone(), place.clone());
            after.push(Some(place));
        }
        self.apply_to_others(joining, statement, &calls);
        after
    }

    /// What a statement does to variables that it does not name: those of its test were seen to
    /// change. Of others that may hold the same objects nothing is known any more.
    fn apply_to_others(
        &mut self,
        joining: &Joining<'_>,
        statement: &Statement,
        calls: &Rc<BTreeSet<Call>>,
    ) {
        for (name, known) in &statement.changed {
            let place = joining.places.get(name);
            if let (Some(known), Some(place)) = (known, place)
                && !statement.used.contains(name)
                && let Some(variable) = self.state.variables.get_mut(&place.name)
                && variable.version == place.version
            {
                variable.known = known.clone();
                variable.made_by = calls.clone();
            }
        }
        if !statement.mutates() {
            return;
        }
        let own: BTreeSet<&str> = joining
            .places
            .values()
            .map(|one| one.name.as_str())
            .collect();
        for (name, variable) in &mut self.state.variables {
            if !own.contains(name.as_str()) && !variable.known.is_plain {
                variable.known.value = None;
            }
        }
    }
}

impl Joining<'_> {
    /// What has to run again so that `name` is what the test left there itself.
    fn stuck_at(&self, name: &str) -> Stuck {
        let names = |at: &usize| self.own.statements[*at].used.iter().any(|one| one == name);
        let more: BTreeSet<usize> = self.removed.keys().copied().filter(names).collect();
        match more.is_subset(self.again) {
            true => Stuck::Never,
            false => Stuck::Again(more),
        }
    }
}
