//! What happens for a test class before it begins, while an engine finds its tests.
//!
//! Where the engine tells for which class it does that, what runs and is looked at counts
//! for this class, once it begins as a test; else for all.

use std::collections::{HashMap, HashSet};
use std::thread::ThreadId;

use super::{State, Symbol};

/// In place of a test's name, for what is done for the class whose tests are found.
pub const PRELUDE: &str = "*prelude";

/// What an engine does for a test class before that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It finds out what runs the class, and looks at all that this names.
    Resolving,
    /// It orders what it has found, and looks at other test classes, too.
    Ordering,
    /// The same up to where it says what a test is called.
    Describing,
}

/// How tests are found.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// The engines that are looking for tests, one in another's; for each the test class
    /// that all is done for, if it is known whether there is one.
    engines: Vec<Option<Option<String>>>,
    thread: Option<ThreadId>,
    /// Whether engines do it at the same time: then nobody knows which class it is for.
    is_spread: bool,
    now: Option<Prelude>,
    /// By name of the test class.
    scopes: HashMap<Symbol, u64>,
    /// Names of classes that engines have found to be tests.
    tests: HashSet<Symbol>,
    /// Scopes of which no test is known to come.
    of_no_test: HashSet<u64>,
}

#[derive(Debug)]
struct Prelude {
    scope: u64,
    class: Symbol,
    /// How many engines were looking for tests.
    depth: usize,
    step: Step,
}

impl State {
    /// An engine begins to look for tests.
    pub fn discovers(&mut self, thread: ThreadId) {
        let known = self.discovery.thread.replace(thread);
        self.discovery.is_spread |=
            !self.discovery.engines.is_empty() && known.is_some_and(|known| known != thread);
        self.discovery.engines.push(None);
    }

    /// It tells which test class it does that for: `None` for those that it will find.
    pub fn discovers_for(&mut self, class: Option<&str>) {
        if let Some(engine) = self.discovery.engines.last_mut() {
            *engine = Some(class.map(str::to_owned));
        }
    }

    /// The test class for which the tests of `class` are found, where that is known.
    pub fn discovered_for(&self, class: &str) -> Option<String> {
        let engine = self.discovery.engines.last()?.as_ref()?;
        Some(engine.clone().unwrap_or_else(|| class.to_owned()))
    }

    /// The innermost engine has all its tests.
    pub fn discovered(&mut self) {
        self.discovery.engines.pop();
    }

    /// The scope of what is done now for a test class that has not begun.
    pub(super) fn prelude(&self) -> Option<u64> {
        self.discovery.now.as_ref().map(|prelude| prelude.scope)
    }

    /// Whether something is done for a test class that ends with the next step of the
    /// engine that looks for tests. What another engine does within that is part of it.
    pub fn has_prelude(&self) -> bool {
        let depth = self.discovery.engines.len();
        let now = self.discovery.now.as_ref();
        now.is_some_and(|prelude| prelude.depth >= depth)
    }

    /// The same of what ends as a test is described.
    pub fn has_description(&self) -> bool {
        let now = self.discovery.now.as_ref();
        self.has_prelude() && now.is_some_and(|prelude| prelude.step == Step::Describing)
    }

    /// What is done from now on is for this test class, its name with dots, if nothing is
    /// done for another one, and the end of it will be told.
    pub fn begin_prelude(&mut self, class: &str, step: Step) {
        let depth = self.discovery.engines.len();
        let runs = !self.tests.is_empty() || !self.containers.is_empty();
        if depth == 0 || runs || self.discovery.is_spread || self.prelude().is_some() {
            return;
        }
        let symbol = self.symbol(&class.replace('.', "/"));
        let scope = match self.discovery.scopes.get(&symbol) {
            Some(scope) => *scope,
            None => {
                let scope = self.next_scope;
                self.next_scope += 1;
                self.trace.scope(scope, "fixture", class, None);
                self.discovery.scopes.insert(symbol, scope);
                self.discovery.of_no_test.insert(scope);
                scope
            }
        };
        self.scope(scope);
        // Those of generated classes do not all tell of their end.
        if let Some(thread) = self.discovery.thread {
            self.initialising.retain(|one| one.thread != thread);
        }
        self.discovery.now = Some(Prelude {
            scope,
            class: symbol,
            depth,
            step,
        });
    }

    /// Whether code of the project ran for the test class whose tests are found.
    pub fn has_run_before(&self) -> bool {
        let scope = self.prelude().and_then(|scope| self.scopes.get(&scope));
        scope.is_some_and(|scope| !scope.methods.is_empty())
    }

    /// Nothing is done any more for a test class that has not begun.
    pub fn end_prelude(&mut self) {
        if self.has_run_before()
            && let Some(scope) = self.prelude()
        {
            // Whatever it left behind refers to it.
            self.discovery.of_no_test.remove(&scope);
        }
        self.discovery.now = None;
    }

    /// A test class begins, with all that was done for it before.
    pub(super) fn needs_prelude(&mut self, test: u64, class: Symbol) {
        self.discovery.now = None;
        let Some(scope) = self.discovery.scopes.get(&class).copied() else {
            return;
        };
        self.discovery.of_no_test.remove(&scope);
        self.scope(test).edges.insert(scope);
        self.trace.add(test, &[], &[scope]);
    }

    /// Whether a scope is of a class that was only looked at to see whether it has tests.
    pub(super) fn is_of_no_test(&self, scope: u64) -> bool {
        self.discovery.of_no_test.contains(&scope)
    }

    /// An engine has found tests in this class.
    pub fn found_tests(&mut self, class: &str) {
        let symbol = self.symbol(&class.replace('.', "/"));
        self.discovery.tests.insert(symbol);
    }

    /// Whether a class, or the one around it, is known to have tests. Listeners and what
    /// sorts classes look at all of them, and no test is another one's for that.
    pub fn has_found_tests(&self, class: &str) -> bool {
        let names = std::iter::successors(Some(class), |name| Some(name.rsplit_once('$')?.0));
        let mut symbols = names.filter_map(|name| self.symbols.get(name));
        symbols.any(|symbol| self.discovery.tests.contains(symbol))
    }

    /// Whether this is a class with tests, at which the engine looks in its turn while
    /// something is done for another one.
    pub fn is_another_ones_turn(&self, class: &str) -> bool {
        let now = self.discovery.now.as_ref();
        let Some(now) = now.filter(|now| now.step != Step::Resolving) else {
            return false;
        };
        let own = &*self.names[now.class as usize];
        let is_own = class
            .strip_prefix(own)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('$'));
        !is_own && self.has_found_tests(class)
    }

    /// Whether frameworks look for tests, for no class that is known. `Some` is whether
    /// code of the project ran since, which may be what looks.
    pub fn looks_around(&mut self) -> Option<bool> {
        if !self.looks_for_tests() {
            return None;
        }
        if !self.containers.is_empty() {
            // TestNG's interceptors look at all test classes, too.
            return Some(false);
        }
        let open = self.open();
        let mut scopes = open.iter().filter_map(|scope| self.scopes.get(scope));
        Some(scopes.any(|scope| !scope.methods.is_empty()))
    }
}
