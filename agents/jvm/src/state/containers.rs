//! Test classes whose methods are tests.

use std::collections::BTreeSet;
use std::thread::ThreadId;
use std::time::Instant;

use super::preludes::PRELUDE;
use super::{Scope, State, Symbol, Test};

/// Stands for a class name: everything that the classes of a directory do for tests of other
/// classes.
const FOR_OTHERS_IN: &str = "*testng";

/// Stands for a class name: everything in a directory that a suite may find to be a test.
const MAY_BE_TESTS_IN: &str = "*suite";

/// The annotation with which a class of JUnit 4 names the classes of a suite.
const SUITE: &str = "org/junit/runners/Suite$SuiteClasses";

/// The tests of a test class that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Tests of the JUnit Platform.
    Platform,
    /// Everything that TestNG will run, while it looks for tests.
    TestNgToRun,
    /// Everything that TestNG runs, if tests are classes.
    TestNg,
    /// Tests of JUnit 4, before the runner is known.
    Unknown,
    /// Methods of JUnit 4.
    Methods,
    /// The class as a whole, as its methods cannot be distinguished.
    Whole,
}

/// A running test class whose methods are tests.
pub(super) struct Container {
    pub scope: u64,
    name: String,
    kind: Kind,
    thread: ThreadId,
    /// The scopes of the tests that began in it.
    parts: Vec<u64>,
    /// Tests in it that may run once more.
    pub paused: Vec<Test>,
    /// Whether its tests run on several threads. Then an event during one of them may belong
    /// to another one, which has not begun yet.
    is_spread: bool,
}

impl State {
    /// Begins a test class. Code that runs in it outside its tests counts for each test.
    pub fn begin_container(&mut self, class: &str, kind: Kind, thread: ThreadId) {
        if self.container(class).is_some() {
            return;
        }
        self.initialising.retain(|one| one.thread != thread);
        let scope = self.next_scope;
        self.next_scope += 1;
        self.scopes.insert(scope, Scope::default());
        let symbol = self.symbol(&class.replace('.', "/"));
        self.tests_of(scope, symbol);
        self.needs_everyone(scope);
        self.trace.scope(scope, "fixture", class, None);
        self.needs_prelude(scope, symbol);
        self.containers.push(Container {
            scope,
            name: class.to_owned(),
            kind,
            thread,
            parts: Vec::new(),
            paused: Vec::new(),
            is_spread: false,
        });
    }

    /// Adds to a test class the tests of this class, of its supertypes and of their nested
    /// classes, even if they have none yet: frameworks looked for tests there before it began.
    /// The same holds for the classes of a suite of JUnit 4.
    pub(super) fn tests_of(&mut self, scope: u64, class: Symbol) {
        let suite = self.symbols.get(SUITE).copied();
        let mut looked_at = Vec::new();
        let (mut open, mut seen) = (vec![class], BTreeSet::new());
        while let Some(symbol) = open.pop() {
            if !seen.insert(symbol) {
                continue;
            }
            looked_at.extend(&self.loaded[symbol as usize]);
            for class in &self.loaded[symbol as usize] {
                let class = &self.classes[*class as usize];
                open.extend(&class.needs);
                let is_suite = suite.is_some_and(|suite| class.whole_needs.contains(&suite));
                open.extend(class.whole_needs.iter().filter(|_| is_suite));
            }
            open.extend(self.nested.get(&symbol).into_iter().flatten());
        }
        let scope = self.scope(scope);
        scope.classes.extend(&looked_at);
        scope.looked_at.extend(&looked_at);
    }

    /// Makes this test depend on the tests in any class that it may find.
    pub fn needs_what_may_be_tests(&mut self, test: &str) {
        if let Some(scope) = self.running_as(test) {
            self.needs_of_directories(scope, MAY_BE_TESTS_IN);
        }
    }

    /// Makes a scope depend on all classes of every directory in this way.
    fn needs_of_directories(&mut self, scope: u64, way: &str) {
        let origins = self.classes.iter().filter_map(|class| class.origin.clone());
        for origin in origins.collect::<BTreeSet<String>>() {
            let unit = self.unit("class", &origin, Some(way));
            self.scope(scope).observed.insert(unit);
        }
    }

    /// Makes the rows of all tests in this container incomplete.
    pub fn doubt_container(&mut self, class: &str, why: &str) {
        if let Some(class) = self.containers.iter().find(|known| known.name == class) {
            self.trace.incomplete(class.scope, why);
        }
    }

    /// Makes all tests in this container depend on what the classes of any directory do for
    /// tests of other classes.
    pub fn needs_what_others_do(&mut self, class: &str) {
        let Some(scope) = self.container(class).map(|class| class.scope) else {
            return;
        };
        self.needs_of_directories(scope, FOR_OTHERS_IN);
    }

    /// Ends a test class and its paused tests.
    pub fn end_container(&mut self, class: &str) {
        self.settle_reads();
        self.flush();
        let Some(at) = self.containers.iter().position(|one| one.name == class) else {
            return;
        };
        let class = self.containers.remove(at);
        for test in &class.paused {
            self.ended(test, "passed");
        }
        self.trace.flush();
    }

    /// Whether present events may belong to this test class and to none of its tests.
    pub(super) fn is_between(&self, class: &Container) -> bool {
        let mut own = self
            .tests
            .iter()
            .filter(|test| test.container == Some(class.scope));
        let is_in_one = match (own.next(), own.next()) {
            (Some(test), None) => test.thread == class.thread,
            _ => false,
        };
        class.is_spread || !is_in_one
    }

    /// Whether the container is one of TestNG.
    pub(super) fn is_of_testng(&self, container: Option<u64>) -> bool {
        let own = |class: &&Container| Some(class.scope) == container;
        let found = self.containers.iter().find(own);
        found.is_some_and(|class| matches!(class.kind, Kind::TestNgToRun | Kind::TestNg))
    }

    /// Whether tests are being looked for, by code that tests use, too.
    pub(super) fn looks_for_tests(&self) -> bool {
        let to_run = |class: &Container| class.kind == Kind::TestNgToRun;
        let nothing_runs = self.tests.is_empty() && self.containers.iter().all(to_run);
        nothing_runs && self.prelude().is_none()
    }

    fn container(&self, class: &str) -> Option<&Container> {
        self.containers.iter().find(|known| known.name == class)
    }

    fn container_mut(&mut self, class: &str) -> Option<&mut Container> {
        self.containers.iter_mut().find(|known| known.name == class)
    }

    /// Notes that a test with this scope begins on a thread, and returns the scope of its test
    /// class.
    pub(super) fn enter_container(
        &mut self,
        class: &str,
        scope: u64,
        thread: ThreadId,
    ) -> Option<u64> {
        let class = self.container_mut(class)?;
        class.parts.push(scope);
        let (container, parts) = (class.scope, class.parts.clone());
        if thread != class.thread && !class.is_spread {
            class.is_spread = true;
            // Events of the tests that have begun may belong to the class.
            self.scope(container).edges.extend(&parts);
            self.trace.add(container, &[], &parts);
        }
        Some(container)
    }

    /// The scope of the running test, or class whose methods are tests, with this name.
    pub(super) fn running_as(&self, name: &str) -> Option<u64> {
        let tests = self.tests.iter().map(|test| (&test.name, test.scope));
        let classes = self
            .containers
            .iter()
            .map(|class| (&class.name, class.scope));
        let mut all = tests.chain(classes);
        all.find(|(known, _)| *known == name)
            .map(|(_, scope)| scope)
            .or_else(|| self.prelude().filter(|_| name == PRELUDE))
    }

    pub fn kind_of(&self, class: &str) -> Option<Kind> {
        self.container(class).map(|class| class.kind)
    }

    pub fn set_kind(&mut self, class: &str, kind: Kind) {
        if let Some(class) = self.container_mut(class) {
            class.kind = kind;
        }
    }

    /// Whether any test began in a test class.
    pub fn has_parts(&self, class: &str) -> bool {
        self.container(class)
            .is_some_and(|class| !class.parts.is_empty())
    }

    /// The running tests in a test class.
    pub fn running_in(&self, class: &str) -> Vec<String> {
        let scope = self.container(class).map(|class| class.scope);
        let own = self.tests.iter().filter(|test| test.container == scope);
        own.filter(|_| scope.is_some())
            .map(|test| test.name.clone())
            .collect()
    }

    /// The names of JUnit 4's running test classes.
    pub fn classes_of_junit4(&self) -> Vec<String> {
        let own = self.containers.iter().filter(|class| {
            !matches!(
                class.kind,
                Kind::Platform | Kind::TestNgToRun | Kind::TestNg
            )
        });
        own.map(|class| class.name.clone()).collect()
    }

    /// Those of them in which no test runs.
    pub fn idle_classes_of_junit4(&self) -> Vec<String> {
        let mut classes = self.classes_of_junit4();
        classes.retain(|class| self.running_in(class).is_empty());
        classes
    }

    /// Whether a test has begun in its test class, which still runs.
    pub fn has_begun(&self, test: &str) -> bool {
        let mut paused = self.containers.iter().flat_map(|class| &class.paused);
        self.is_running(test) || paused.any(|known| known.name == test)
    }

    /// Notes that a method begins, or runs once more.
    pub fn resume(&mut self, test: &str, class: &str, thread: ThreadId) {
        if self.is_running(test) {
            return;
        }
        let known = self.container_mut(class).and_then(|class| {
            let at = class.paused.iter().position(|known| known.name == test)?;
            Some(class.paused.remove(at))
        });
        let Some(mut known) = known else {
            return self.begin(test, Some(class), thread);
        };
        self.initialising.retain(|one| one.thread != thread);
        self.enter_container(class, known.scope, thread);
        known.thread = thread;
        known.began = Instant::now();
        self.tests.push(known);
    }

    /// Notes that a method has ended. It may run once more with other parameters.
    pub fn pause(&mut self, test: &str) {
        let Some(test) = self.take_off(test) else {
            return;
        };
        let class = self.containers.iter_mut();
        let mut class = class.filter(|class| Some(class.scope) == test.container);
        match class.next() {
            Some(class) => class.paused.push(test),
            None => self.ended(&test, "passed"),
        }
    }

    /// Notes that a method is disabled and does not run.
    pub fn skipped(&mut self, test: &str, class: &str, thread: ThreadId) {
        if self.has_begun(test) {
            return;
        }
        self.begin(test, Some(class), thread);
        self.set_skipped(test, true);
        self.pause(test);
    }

    /// Notes whether nothing of a running test is executed.
    pub fn set_skipped(&mut self, test: &str, is_skipped: bool) {
        for known in self.tests.iter_mut().filter(|known| known.name == test) {
            known.is_skipped = is_skipped;
        }
    }

    /// Whether a class of the project or one of its superclasses, or a member of these, has
    /// one of these annotations.
    pub fn has_annotation(&self, class: &str, types: &[&str]) -> bool {
        let is_one = |symbol: &u32| types.contains(&&*self.names[*symbol as usize]);
        let mut open: Vec<u32> = self
            .symbols
            .get(class.replace('.', "/").as_str())
            .copied()
            .into_iter()
            .collect();
        while let Some(symbol) = open.pop() {
            for class in &self.loaded[symbol as usize] {
                let class = &self.classes[*class as usize];
                if class.whole_needs.iter().any(is_one) {
                    return true;
                }
                open.extend(&class.needs);
            }
        }
        false
    }
}
