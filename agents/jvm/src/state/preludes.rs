//! What happens for a test class before it begins, while an engine finds its tests.
//!
//! If the engine tells for which class it works, the code that runs and the classes that are
//! inspected count for this class once it begins as a test. Otherwise they count for all.

use std::collections::{HashMap, HashSet};
use std::thread::ThreadId;

use super::{State, Symbol};

/// Stands for a test's name, for work during the discovery of a class's tests.
pub const PRELUDE: &str = "*prelude";

/// The steps of an engine for a test class before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It chooses the runner of the class, and inspects all classes that this names.
    Resolving,
    /// It orders its finds, and inspects other test classes, too.
    Ordering,
    /// The same up to the point where it names a test.
    Describing,
}

/// The state of the discovery of tests.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// The engines that look for tests, one inside another. For each, the test class for which
    /// it does all its work, if it is known whether there is one.
    engines: Vec<Option<Option<String>>>,
    thread: Option<ThreadId>,
    /// Whether engines run in parallel. Then it is unknown for which class they work.
    is_spread: bool,
    now: Option<Prelude>,
    /// By name of the test class.
    scopes: HashMap<Symbol, u64>,
    /// Names of classes in which engines found tests.
    tests: HashSet<Symbol>,
    /// Scopes from which no test is known to come.
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
    /// Notes that an engine begins to look for tests.
    pub fn discovers(&mut self, thread: ThreadId) {
        let known = self.discovery.thread.replace(thread);
        self.discovery.is_spread |=
            !self.discovery.engines.is_empty() && known.is_some_and(|known| known != thread);
        self.discovery.engines.push(None);
    }

    /// Notes for which test class it does that; `None` for the classes that it will find.
    pub fn discovers_for(&mut self, class: Option<&str>) {
        if let Some(engine) = self.discovery.engines.last_mut() {
            *engine = Some(class.map(str::to_owned));
        }
    }

    /// The test class for which the tests of `class` are found, if known.
    pub fn discovered_for(&self, class: &str) -> Option<String> {
        let engine = self.discovery.engines.last()?.as_ref()?;
        Some(engine.clone().unwrap_or_else(|| class.to_owned()))
    }

    /// Notes that the innermost engine has found all its tests.
    pub fn discovered(&mut self) {
        self.discovery.engines.pop();
    }

    /// The scope of the present work for a test class that has not begun.
    pub(super) fn prelude(&self) -> Option<u64> {
        self.discovery.now.as_ref().map(|prelude| prelude.scope)
    }

    /// Whether there is work for a test class that ends with the engine's next step. Work of
    /// another engine inside is part of it.
    pub fn has_prelude(&self) -> bool {
        let depth = self.discovery.engines.len();
        let now = self.discovery.now.as_ref();
        now.is_some_and(|prelude| prelude.depth >= depth)
    }

    /// The same for work that ends when a test is described.
    pub fn has_description(&self) -> bool {
        let now = self.discovery.now.as_ref();
        self.has_prelude() && now.is_some_and(|prelude| prelude.step == Step::Describing)
    }

    /// Charges work from now on to this test class (with dots), unless other work is in
    /// progress or its end will not be announced.
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
        // Initialisers of generated classes do not all announce their end.
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

    /// Whether code of the project ran for the test class whose tests are being found.
    pub fn has_run_before(&self) -> bool {
        let scope = self.prelude().and_then(|scope| self.scopes.get(&scope));
        scope.is_some_and(|scope| !scope.methods.is_empty())
    }

    /// Ends the work for a test class that has not begun.
    pub fn end_prelude(&mut self) {
        if self.has_run_before()
            && let Some(scope) = self.prelude()
        {
            // State that it left behind refers to it.
            self.discovery.of_no_test.remove(&scope);
        }
        self.discovery.now = None;
    }

    /// Makes a beginning test class depend on the work for it before.
    pub(super) fn needs_prelude(&mut self, test: u64, class: Symbol) {
        self.discovery.now = None;
        let Some(scope) = self.discovery.scopes.get(&class).copied() else {
            return;
        };
        self.discovery.of_no_test.remove(&scope);
        self.scope(test).edges.insert(scope);
        self.trace.add(test, &[], &[scope]);
    }

    /// Whether a scope belongs to a class that was only inspected for tests.
    pub(super) fn is_of_no_test(&self, scope: u64) -> bool {
        self.discovery.of_no_test.contains(&scope)
    }

    /// Notes that an engine has found tests in this class.
    pub fn found_tests(&mut self, class: &str) {
        let symbol = self.symbol(&class.replace('.', "/"));
        self.discovery.tests.insert(symbol);
    }

    /// Whether a class, or its enclosing class, is known to have tests. Listeners and orderers
    /// inspect all such classes, and that does not make tests depend on each other.
    pub fn has_found_tests(&self, class: &str) -> bool {
        let names = std::iter::successors(Some(class), |name| Some(name.rsplit_once('$')?.0));
        let mut symbols = names.filter_map(|name| self.symbols.get(name));
        symbols.any(|symbol| self.discovery.tests.contains(symbol))
    }

    /// Whether this is another class with tests, which the engine inspects in turn during work
    /// for one class.
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

    /// Whether frameworks look for tests without a known class. `Some` tells whether code of
    /// the project ran since, which may be the one that looks.
    pub fn looks_around(&mut self) -> Option<bool> {
        if !self.looks_for_tests() {
            return None;
        }
        if !self.containers.is_empty() {
            // TestNG's interceptors also inspect all test classes.
            return Some(false);
        }
        let open = self.open();
        let mut scopes = open.iter().filter_map(|scope| self.scopes.get(scope));
        Some(scopes.any(|scope| !scope.methods.is_empty()))
    }
}
