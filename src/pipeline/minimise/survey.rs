//! The tests of a project: which can be joined, and why the others cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;

use super::copy::Copy;
use super::{Wish, mentions};
use crate::matrix::Outcome;
use crate::minimise::{Role, SourceText, Statement, Test, TestText, redundancy};
use crate::runners::{AtHand, Observation, Observed, Observer};

/// A file with tests.
pub(super) struct TestFile {
    /// Below the top of the project.
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) source: SourceText,
}

/// A test that may be joined.
struct Candidate {
    hand: AtHand,
    file: usize,
    /// Its place in the source.
    place: usize,
}

/// What is known of all tests.
pub(super) struct Survey {
    pub(super) files: Vec<TestFile>,
    /// The tests that can be joined, as they ran, and where each stands.
    pub(super) tests: Vec<Test>,
    pub(super) places: Vec<(usize, usize)>,
    /// How many tests and statements of tests there are.
    pub(super) all_tests: usize,
    pub(super) all_statements: usize,
    /// Of all tests that could be watched.
    pub(super) partly_redundant: usize,
    pub(super) redundant: usize,
    pub(super) alone: BTreeMap<String, String>,
    candidates: BTreeMap<String, Candidate>,
    first: BTreeMap<String, Observed>,
}

impl Survey {
    pub(super) fn of(
        hands: Vec<AtHand>,
        observer: &dyn Observer,
        copy: &Copy,
        wish: &Wish,
    ) -> Result<Survey> {
        let mut survey = Survey {
            files: Vec::new(),
            tests: Vec::new(),
            places: Vec::new(),
            all_tests: hands.len(),
            all_statements: 0,
            partly_redundant: 0,
            redundant: 0,
            alone: BTreeMap::new(),
            candidates: BTreeMap::new(),
            first: BTreeMap::new(),
        };
        let mut known: BTreeMap<PathBuf, Result<usize, String>> = BTreeMap::new();
        for hand in hands {
            let file = known
                .entry(hand.path.clone())
                .or_insert_with(|| survey.read(&hand.path, observer, copy))
                .clone();
            survey.take(hand, file, wish);
        }
        Ok(survey)
    }

    /// Reads a file with tests; its number.
    fn read(
        &mut self,
        path: &std::path::Path,
        observer: &dyn Observer,
        copy: &Copy,
    ) -> Result<usize, String> {
        let real = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let Ok(below) = real.strip_prefix(copy.root()) else {
            return Err("its file is not in the project".to_owned());
        };
        let bytes = crate::disk::read(&real).map_err(|error| error.to_string())?;
        let source = observer.source(&bytes)?;
        self.files.push(TestFile {
            path: below.to_owned(),
            bytes,
            source,
        });
        Ok(self.files.len() - 1)
    }

    fn take(&mut self, hand: AtHand, file: Result<usize, String>, wish: &Wish) {
        let found = file.and_then(|file| {
            let tests = &self.files[file].source.tests;
            let place = tests
                .iter()
                .position(|one| Some(&one.qualified) == hand.function.as_ref());
            place
                .map(|place| (file, place))
                .ok_or_else(|| "its source was not found".to_owned())
        });
        let text = found.as_ref().ok().map(|at| self.text(*at));
        let count = text.map_or(0, |text| text.statements.len());
        let why = match (&hand.alone, text.map(|text| &text.alone)) {
            _ if wish.skip.iter().any(|one| one.matches(hand.id.as_bytes())) => {
                Some("--skip names it".to_owned())
            }
            (Some(why), _) | (None, Some(Some(why))) => Some(why.clone()),
            _ if wish.dependent.contains(&hand.id) => {
                Some("it depends on the order of tests".to_owned())
            }
            _ => None,
        };
        self.all_statements += count;
        match (found, why) {
            (_, Some(why)) | (Err(why), None) => {
                self.alone.insert(hand.id, why);
            }
            (Ok((file, place)), None) => {
                let candidate = Candidate { file, place, hand };
                self.candidates.insert(candidate.hand.id.clone(), candidate);
            }
        }
    }

    fn text(&self, (file, place): (usize, usize)) -> &TestText {
        &self.files[file].source.tests[place]
    }

    /// All candidates.
    pub(super) fn texts(&self) -> BTreeMap<String, &TestText> {
        let all = self.candidates.iter();
        all.map(|(id, one)| (id.clone(), self.text((one.file, one.place))))
            .collect()
    }

    /// Those that share statements with others.
    pub(super) fn texts_of_redundant(&self) -> BTreeMap<String, &TestText> {
        let all = self.tests.iter().zip(&self.places);
        all.map(|(test, at)| (test.id.clone(), self.text(*at)))
            .collect()
    }

    /// Takes what was seen first: tests that share no statement are of no interest then.
    pub(super) fn take_first(&mut self, seen: &Observation) {
        let mut tests = Vec::new();
        let mut places = Vec::new();
        for (id, one) in &self.candidates {
            match model(one, self.text((one.file, one.place)), seen) {
                Ok(test) => {
                    tests.push(test);
                    places.push((one.file, one.place));
                }
                Err(why) => {
                    self.alone.insert(id.clone(), why);
                }
            }
        }
        self.first.clone_from(&seen.tests);
        let all = redundancy(&tests);
        self.partly_redundant = all.tests.len();
        self.redundant = all.statements;
        let mut order: Vec<usize> = all.tests.into_iter().collect();
        order.sort_by_key(|at| places[*at]);
        self.tests = order.iter().map(|at| tests[*at].clone()).collect();
        self.places = order.iter().map(|at| places[*at]).collect();
        self.candidates.clear();
    }

    /// Leaves alone tests that something else names.
    pub(super) fn forget_mentioned(&mut self, copy: &Copy) -> Result<()> {
        let names: BTreeSet<String> = self.tests.iter().map(|test| test.name.clone()).collect();
        let mentioned = mentions::mentioned(copy.root(), &names)?;
        self.keep(|test| {
            let file = mentioned.get(&test.name)?;
            Some(format!("{file} names it"))
        });
        Ok(())
    }

    /// Takes what was seen again: it must be the same.
    pub(super) fn take_second(&mut self, seen: &Observation) {
        let first = std::mem::take(&mut self.first);
        self.keep(|test| {
            if seen.ran.ended.outcomes.get(&test.id) != Some(&Outcome::Passed) {
                return Some("it does not end alike in two runs: flaky".to_owned());
            }
            let (Some(first), Some(again)) = (first.get(&test.id), seen.tests.get(&test.id)) else {
                return Some("it was watched in one of two runs only".to_owned());
            };
            again.trouble.clone().or_else(|| not_alike(first, again))
        });
    }

    /// Keeps the tests that nothing is said against.
    fn keep(&mut self, against: impl Fn(&Test) -> Option<String>) {
        let (tests, places) = (
            std::mem::take(&mut self.tests),
            std::mem::take(&mut self.places),
        );
        for (test, place) in tests.into_iter().zip(places) {
            match against(&test) {
                Some(why) => {
                    self.alone.insert(test.id, why);
                }
                None => {
                    self.tests.push(test);
                    self.places.push(place);
                }
            }
        }
    }
}

/// What differs between two runs of a test, if anything does.
fn not_alike(first: &Observed, again: &Observed) -> Option<String> {
    if first == again {
        return None;
    }
    let mut steps = first.steps.iter().zip(&again.steps);
    let at = steps.find(|(one, other)| one != other);
    let what = match at {
        None => "the values that it begins with".to_owned(),
        Some((one, other)) => {
            let number = one.statement + 1;
            match one.calls == other.calls {
                true => format!("the values at statement {number}"),
                false => format!("the inputs of production code at statement {number}"),
            }
        }
    };
    Some(format!("flaky: in two runs {what} differ"))
}

/// A test as it ran.
fn model(one: &Candidate, text: &TestText, seen: &Observation) -> Result<Test, String> {
    let id = &one.hand.id;
    if seen.ran.ended.outcomes.get(id) != Some(&Outcome::Passed) {
        return Err("it does not pass".to_owned());
    }
    let observed = seen.tests.get(id).ok_or("it was not seen to run")?;
    let class = one.hand.class.clone().unwrap_or_default();
    let mut set_up = one.hand.fixtures.clone();
    set_up.push(format!("{:?} {:?}", text.instance, text.indent));
    let scope = format!("{}::{class}", one.file);
    test_of((id, scope, set_up), text, observed)
}

/// The model of a test from its text and what was seen of it.
pub(super) fn test_of(
    (id, scope, set_up): (&str, String, Vec<String>),
    text: &TestText,
    observed: &Observed,
) -> Result<Test, String> {
    if let Some(why) = &observed.trouble {
        return Err(why.clone());
    }
    let mut steps = observed.steps.iter();
    let mut statements = Vec::new();
    for (at, statement) in text.statements.iter().enumerate() {
        let part = &statement.part;
        let mut made = Statement {
            role: part.role,
            shape: part.shape.clone(),
            used: part.used.clone(),
            defined: part.defined.clone(),
            fixed: part.fixed.clone(),
            free: part.free.clone(),
            before: vec![None; part.used.len()],
            after: vec![None; part.used.len()],
            ..Statement::default()
        };
        if part.role != Role::Silent {
            let step = steps
                .next()
                .filter(|step| step.statement == at && step.before.len() == part.used.len())
                .ok_or("not all of its statements were seen to run")?;
            made.before.clone_from(&step.before);
            made.after.clone_from(&step.after);
            made.shared.clone_from(&step.shared);
            made = made.calling(step.calls.clone());
            made.changed.clone_from(&step.changed);
            if step.asserts {
                made.role = Role::Assertion;
            }
        }
        statements.push(made);
    }
    let name = text.qualified.rsplit('.').next().unwrap_or_default();
    Ok(Test {
        id: id.to_owned(),
        name: name.to_owned(),
        scope,
        set_up,
        parameters: text.parameters.clone(),
        start: observed.start.clone(),
        statements,
    })
}
