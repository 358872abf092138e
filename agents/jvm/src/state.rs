//! Attributes executed code to test classes. Independent of the JVM: takes events and writes
//! records of the trace.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::thread::ThreadId;
use std::time::Instant;

use crate::trace::Trace;

pub mod cells;
mod containers;
mod doubts;
mod files;
mod handed_on;
mod preludes;
mod units;

use containers::Container;
pub use containers::Kind;
use preludes::Discovery;
pub use preludes::{PRELUDE, Step};

/// Index of a class.
pub type ClassIndex = u32;
/// Index of a class name.
pub type Symbol = u32;

/// A loaded class. A redefined class counts as another one.
#[derive(Debug, Default)]
pub struct Class {
    pub symbol: Symbol,
    /// The directory from which it was loaded; `None` for generated classes.
    pub origin: Option<String>,
    /// Classes without which it cannot be used: its superclass and interfaces.
    pub needs: Vec<Symbol>,
    /// Classes that count whole if it does: its annotations, and all classes that it names if
    /// its methods are not distinguished.
    pub whole_needs: Vec<Symbol>,
    /// Classes in the types of its members, and nested classes: an inspection of it leads to
    /// them.
    pub tells_of: Vec<Symbol>,
    /// Whether it always counts whole, because it is unknown which of its methods ran.
    pub is_whole: bool,
    /// [`member_hash`] of its methods with code.
    pub declared: HashSet<u64>,
    /// Whether it has static fields whose value can change.
    pub has_statics: bool,
    pub has_initialiser: bool,
    /// Its units in the trace, once they exist: of the whole class and of its skeleton.
    pub units: [Option<u64>; 2],
}

/// What the code of a method with a probe names.
#[derive(Debug, Default)]
pub struct Method {
    pub class: ClassIndex,
    /// Classes. If there is a [`member_hash`], the class only counts if it does not declare
    /// that method.
    pub mentions: Vec<(Symbol, Option<u64>)>,
    /// Name and descriptor.
    pub name: Box<str>,
    /// Its unit in the trace, once it exists.
    pub unit: Option<u64>,
}

/// How a class was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It was named.
    Named,
    /// It was named, and is loaded for that.
    Asked,
    /// Its members or annotations were looked at.
    LookedAt,
}

#[derive(Debug, Default)]
struct Scope {
    methods: HashSet<u32>,
    /// Classes that were used in another way.
    classes: HashSet<ClassIndex>,
    /// Classes that were asked for and may be loaded for that.
    asked: HashSet<Symbol>,
    /// Classes whose members or annotations were inspected.
    looked_at: HashSet<ClassIndex>,
    observed: BTreeSet<u64>,
    /// What the trace already has.
    written: HashSet<u64>,
    edges: HashSet<u64>,
    is_dirty: bool,
}

struct Test {
    scope: u64,
    name: String,
    /// The scope of its test class.
    container: Option<u64>,
    thread: ThreadId,
    began: Instant,
    /// The time of earlier parts, if it runs in several parts.
    seconds: f64,
    has_failed: bool,
    is_skipped: bool,
    incomplete: Option<String>,
}

/// An unfinished static initialiser.
struct Initialising {
    thread: ThreadId,
    class: ClassIndex,
}

pub struct State {
    pub trace: Trace,
    symbols: HashMap<Box<str>, Symbol>,
    names: Vec<Box<str>>,
    /// By symbol: the classes with that name.
    loaded: Vec<Vec<ClassIndex>>,
    /// By the enclosing class: names of the project's nested classes.
    nested: HashMap<Symbol, Vec<Symbol>>,
    classes: Vec<Class>,
    /// By probe number.
    methods: Vec<Method>,
    scopes: HashMap<u64, Scope>,
    /// How many probe hits were reported.
    hits: u64,
    next_scope: u64,
    next_unit: u64,
    units: HashMap<(&'static str, String), u64>,
    tests: Vec<Test>,
    /// Running test classes whose methods are tests.
    containers: Vec<Container>,
    /// Test classes of TestNG. TestNG inspects all of them, whichever runs.
    looked_over: HashSet<Symbol>,
    initialising: Vec<Initialising>,
    /// The state of the discovery of tests.
    discovery: Discovery,
    /// Objects being made for later test classes, by thread: running code belongs to these
    /// scopes, too.
    making: Vec<(ThreadId, u64)>,
    /// By class name: the scope of its static initialiser.
    initialisers: HashMap<Symbol, u64>,
    /// By class name: the scope that last set its static fields.
    setters: HashMap<Symbol, u64>,
    files: files::Files,
    /// By class name: the `missing` units of fruitless searches for its file.
    in_vain: HashMap<Symbol, BTreeSet<u64>>,
    /// Class files that were opened, and the scopes that were open at that time.
    reads: HashMap<String, Vec<u64>>,
    /// Why no row can be trusted, after an error.
    failed: Option<String>,
    /// Why tests that end from now on cannot be trusted.
    stopped: Option<&'static str>,
}

/// The scope of everything outside tests.
const SESSION: u64 = 0;

/// FNV-1a of a method's name and descriptor.
pub fn member_hash(name: &[u8], kind: &[u8]) -> u64 {
    let bytes = name.iter().chain(b"\0").chain(kind);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

impl State {
    pub fn new(mut trace: Trace) -> State {
        trace.scope(SESSION, "session", "", None);
        let mut state = State {
            trace,
            symbols: HashMap::new(),
            names: Vec::new(),
            loaded: Vec::new(),
            nested: HashMap::new(),
            classes: Vec::new(),
            methods: Vec::new(),
            scopes: HashMap::from([(SESSION, Scope::default())]),
            hits: 0,
            next_scope: 1,
            next_unit: 1,
            units: HashMap::new(),
            tests: Vec::new(),
            containers: Vec::new(),
            looked_over: HashSet::new(),
            initialising: Vec::new(),
            discovery: Discovery::default(),
            making: Vec::new(),
            initialisers: HashMap::new(),
            setters: HashMap::new(),
            files: files::Files::default(),
            in_vain: HashMap::new(),
            reads: HashMap::new(),
            failed: None,
            stopped: None,
        };
        state.add_cells();
        state
    }

    /// The number of a class name with slashes.
    pub fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(name) {
            return *symbol;
        }
        let symbol = self.names.len() as Symbol;
        self.names.push(name.into());
        self.loaded.push(Vec::new());
        self.symbols.insert(name.into(), symbol);
        symbol
    }

    pub fn probes(&self) -> u32 {
        self.methods.len() as u32
    }

    /// The number that the next class gets.
    pub fn next_class(&self) -> ClassIndex {
        self.classes.len() as ClassIndex
    }

    /// Adds a loaded class with its methods, whose probes have the numbers from
    /// [`State::probes`] on. `always` are methods without a probe.
    pub fn loaded(&mut self, class: Class, methods: Vec<Method>, always: &[u32]) {
        let index = self.next_class();
        let name = self.names[class.symbol as usize].clone();
        if let Some((around, _)) = name.rsplit_once('$')
            && class.origin.is_some()
        {
            let around = self.symbol(around);
            self.nested.entry(around).or_default().push(class.symbol);
        }
        self.loaded[class.symbol as usize].push(index);
        self.classes.push(class);
        self.methods.extend(methods);
        if !always.is_empty() {
            // It is unknown when they run, so any test may have run them.
            let session = self.scope(SESSION);
            session.methods.extend(always);
        }
    }

    /// Adds a loaded class whose file is malformed: it counts for all tests.
    pub fn loaded_unread(&mut self, class: Class) {
        let number = self.probes();
        let method = Method {
            class: self.next_class(),
            ..Method::default()
        };
        self.loaded(class, vec![method], &[number]);
    }

    /// Notes that a class file was opened in order to inspect it.
    pub fn read_class(&mut self, path: &str) {
        if self.has_tests() {
            let open = self.open();
            self.reads.entry(path.to_owned()).or_default().extend(open);
        }
    }

    /// Resolves opened class files, once their classes are loaded.
    fn settle_reads(&mut self) {
        for (path, scopes) in std::mem::take(&mut self.reads) {
            let mut origins = self.classes.iter().filter_map(|one| one.origin.as_deref());
            let found = origins.find_map(|origin| {
                let name = path.strip_prefix(origin)?.strip_prefix('/')?;
                Some((origin.to_owned(), name.strip_suffix(".class")?.to_owned()))
            });
            let unit = match found {
                Some((origin, name)) => self.unit("class", &origin, Some(&name)),
                None => self.unit("file", &path, None),
            };
            for scope in scopes {
                self.scope(scope).observed.insert(unit);
            }
        }
    }

    pub fn is_loaded(&self, name: &str) -> bool {
        let symbol = self.symbols.get(name);
        symbol.is_some_and(|symbol| !self.loaded[*symbol as usize].is_empty())
    }

    fn scope(&mut self, number: u64) -> &mut Scope {
        let scope = self.scopes.entry(number).or_default();
        scope.is_dirty = true;
        scope
    }

    /// The scopes to which present events belong.
    fn open(&mut self) -> Vec<u64> {
        let mut open: Vec<u64> = self.tests.iter().map(|test| test.scope).collect();
        let containers = self
            .containers
            .iter()
            .filter(|class| self.is_between(class));
        open.extend(containers.map(|class| class.scope));
        if open.is_empty() {
            open.push(self.prelude().unwrap_or(SESSION));
        }
        for at in 0..self.initialising.len() {
            let symbol = self.classes[self.initialising[at].class as usize].symbol;
            open.push(self.initialiser(symbol));
        }
        open.extend(self.making.iter().map(|(_, scope)| *scope));
        open.sort_unstable();
        open.dedup();
        open
    }

    fn initialiser(&mut self, symbol: Symbol) -> u64 {
        if let Some(scope) = self.initialisers.get(&symbol) {
            return *scope;
        }
        let scope = self.new_scope("cache", symbol, "<clinit>");
        self.initialisers.insert(symbol, scope);
        scope
    }

    fn new_scope(&mut self, kind: &str, symbol: Symbol, extra: &str) -> u64 {
        let scope = self.next_scope;
        self.next_scope += 1;
        // Unique for each process: what another process did is not state here.
        let extra = format!("{extra} {}", std::process::id());
        let name = self.names[symbol as usize].clone();
        self.trace.scope(scope, kind, &name, Some(&extra));
        self.scopes.insert(scope, Scope::default());
        scope
    }

    /// Adds the probes that were hit since the last time.
    pub fn hit(&mut self, probes: &[u32]) {
        if probes.is_empty() {
            return;
        }
        self.hits += probes.len() as u64;
        let open = self.open();
        let probes = self.of_scopes(&open, probes);
        for scope in open {
            self.scope(scope).methods.extend(probes.iter().copied());
        }
    }

    /// How many probe hits were reported. It tells whether code of the project ran.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Notes that a class was used without running its code.
    pub fn used(&mut self, name: &str, how: Use) {
        let symbol = self.symbol(name);
        let classes = self.loaded[symbol as usize].clone();
        let is_looked_at = how == Use::LookedAt;
        if is_looked_at && self.looked_over.contains(&symbol) {
            // Each test class has itself from its beginning.
            return;
        }
        for scope in self.open() {
            let scope = self.scope(scope);
            if how == Use::Asked {
                scope.asked.insert(symbol);
            }
            scope.classes.extend(&classes);
            if is_looked_at {
                scope.looked_at.extend(&classes);
            }
        }
    }

    pub fn entered(&mut self, class: ClassIndex, thread: ThreadId) {
        self.initialising.push(Initialising { thread, class });
        let symbol = self.classes[class as usize].symbol;
        let scope = self.initialiser(symbol);
        self.scope(scope).classes.insert(class);
    }

    pub fn left(&mut self, class: ClassIndex, thread: ThreadId) {
        let found = self
            .initialising
            .iter()
            .rposition(|one| one.thread == thread && one.class == class);
        if let Some(found) = found {
            // Initialisers above it on the same thread ended with an exception.
            let mut at = 0;
            self.initialising.retain(|one| {
                at += 1;
                at <= found || one.thread != thread
            });
        }
    }

    /// Notes an observation: `kind`, path and value of a `u` record.
    pub fn observed(&mut self, kind: &'static str, path: &str, value: Option<&str>, always: bool) {
        let unit = self.unit(kind, path, value);
        self.note_bundle(path, unit);
        let scopes = match always {
            true => vec![SESSION],
            false => self.open(),
        };
        for scope in scopes {
            self.scope(scope).observed.insert(unit);
        }
    }

    /// Notes that the file of a class is missing. This also counts for all who ask for the
    /// class later, even if the loader does not search again.
    pub fn asked_in_vain(&mut self, class: &str, path: &str) {
        if !self.meets_none(path) {
            return;
        }
        self.observed("exists", path, Some("missing"), false);
        let unit = self.unit("exists", path, Some("missing"));
        let symbol = self.symbol(class);
        self.in_vain.entry(symbol).or_default().insert(unit);
    }

    fn unit(&mut self, kind: &'static str, path: &str, value: Option<&str>) -> u64 {
        let key = (kind, format!("{path}\0{}", value.unwrap_or_default()));
        if let Some(unit) = self.units.get(&key) {
            return *unit;
        }
        let unit = self.next_unit;
        self.next_unit += 1;
        self.units.insert(key, unit);
        self.trace.unit(unit, kind, path, value);
        unit
    }

    pub fn is_running(&self, test: &str) -> bool {
        self.tests.iter().any(|known| known.name == test)
    }

    /// Whether a test runs or is being found.
    pub fn has_tests(&self) -> bool {
        let runs_some = !self.tests.is_empty() || !self.containers.is_empty();
        runs_some || self.prelude().is_some()
    }

    /// Begins a test: a test class (with dots), or after a `#` one of its methods, in the
    /// class `container`.
    pub fn begin(&mut self, test: &str, container: Option<&str>, thread: ThreadId) {
        self.initialising.retain(|one| one.thread != thread);
        let scope = self.next_scope;
        self.next_scope += 1;
        self.scopes.insert(scope, Scope::default());
        let container = container.and_then(|name| self.enter_container(name, scope, thread));
        let class = test.split('#').next().unwrap_or(test);
        let slashes = class.replace('.', "/");
        let symbol = self.symbol(&slashes);
        let classes = self.loaded[symbol as usize].clone();
        let origin = classes
            .iter()
            .find_map(|class| self.classes[*class as usize].origin.clone());
        let incomplete = origin
            .is_none()
            .then(|| "the origin of its class is not known".to_owned());
        self.tests_of(scope, symbol);
        self.needs_everyone(scope);
        self.trace.scope(scope, "test", test, None);
        self.needs_prelude(scope, symbol);
        if self.is_of_testng(container) {
            self.looked_over.insert(symbol);
        }
        if let Some(container) = container {
            self.scope(scope).edges.insert(container);
            self.trace.add(scope, &[], &[container]);
        }
        let file = format!("{}/{slashes}.class", origin.unwrap_or_default());
        self.trace.begin(scope, test, &file);
        self.trace.flush();
        self.tests.push(Test {
            scope,
            name: test.to_owned(),
            container,
            thread,
            began: Instant::now(),
            seconds: 0.0,
            has_failed: false,
            is_skipped: false,
            incomplete,
        });
    }

    /// Notes that a part of this test class failed; `None` for all running tests.
    pub fn has_failed(&mut self, test: Option<&str>) {
        let paused = self
            .containers
            .iter_mut()
            .flat_map(|class| &mut class.paused);
        for known in paused.filter(|known| Some(known.name.as_str()) == test) {
            known.has_failed = true;
        }
        for known in &mut self.tests {
            known.has_failed |= test.is_none_or(|test| known.name == test);
        }
    }

    /// The name of a class, with slashes.
    pub fn class_name(&self, class: ClassIndex) -> String {
        let class = &self.classes[class as usize];
        self.names[class.symbol as usize].to_string()
    }

    /// Whether a class with this name was loaded from a directory.
    pub fn is_from_directory(&self, name: &str) -> bool {
        let symbol = self.symbols.get(name);
        let mut classes = symbol
            .into_iter()
            .flat_map(|one| &self.loaded[*one as usize]);
        classes.any(|class| self.classes[*class as usize].origin.is_some())
    }

    /// Notes the methods that subclasses of this class can override. The class is not of the
    /// project.
    pub fn overridable(&mut self, class: &str, methods: &[String]) {
        self.trace.overridable(class, methods);
    }

    /// Removes a running test, and writes what it used.
    fn take_off(&mut self, test: &str) -> Option<Test> {
        let at = self.tests.iter().position(|known| known.name == test)?;
        self.settle_reads();
        self.flush();
        let mut test = self.tests.remove(at);
        // An object whose creation failed is never announced as made.
        self.making.retain(|(thread, _)| *thread != test.thread);
        test.seconds += test.began.elapsed().as_secs_f64();
        Some(test)
    }

    /// Ends a test class; `outcome` ignores its parts.
    pub fn end(&mut self, test: &str, outcome: &str) {
        let Some(test) = self.take_off(test) else {
            return;
        };
        self.ended(&test, outcome);
        self.trace.flush();
    }

    fn ended(&mut self, test: &Test, outcome: &str) {
        let outcome = match test.has_failed {
            true => "failed",
            false if test.is_skipped => "skipped",
            false => outcome,
        };
        let why = test.incomplete.as_deref().or(self.stopped);
        let why = why.or(self.failed.as_deref());
        self.trace
            .end(test.scope, &test.name, outcome, test.seconds, why);
        // All of it is in the trace.
        self.scopes.remove(&test.scope);
    }

    /// The names of all running test classes, except those of TestNG, which announces their
    /// end.
    pub fn running(&self) -> Vec<String> {
        let others = self
            .tests
            .iter()
            .filter(|test| !self.is_of_testng(test.container));
        others.map(|test| test.name.clone()).collect()
    }

    /// Closes the trace when the process ends normally.
    pub fn close(&mut self) {
        self.flush();
        self.trace.close();
        self.trace.flush();
    }
}
