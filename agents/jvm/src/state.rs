//! What ran while which test class did. No JVM in here: events in, records of
//! the trace out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::thread::ThreadId;
use std::time::Instant;

use crate::trace::Trace;

/// Index of a class.
pub type ClassIndex = u32;
/// Index of a name of a class.
pub type Symbol = u32;

/// A class that was loaded; one that is redefined counts as another one.
#[derive(Debug, Default)]
pub struct Class {
    pub symbol: Symbol,
    /// The directory that it was loaded from; `None` for generated ones.
    pub origin: Option<String>,
    /// Classes that it cannot be used without: what it extends and implements.
    pub needs: Vec<Symbol>,
    /// Those that count whole where it does: what it is annotated with; of one
    /// whose methods are not told apart, all that it names.
    pub whole_needs: Vec<Symbol>,
    /// Whether it always counts whole: nobody tells which of its methods ran.
    pub is_whole: bool,
    /// [`member_hash`] of the methods that it has code for.
    pub declared: HashSet<u64>,
    /// Whether it has static fields that can come to hold something else.
    pub has_statics: bool,
    pub has_initialiser: bool,
    /// Its units in the trace, once it has them: of the whole class, and of its
    /// shape.
    pub units: [Option<u64>; 2],
}

/// What the code of a probed method names.
#[derive(Debug, Default)]
pub struct Method {
    pub class: ClassIndex,
    /// Classes; with a [`member_hash`], only where the class does not declare
    /// that method.
    pub mentions: Vec<(Symbol, Option<u64>)>,
    /// Name and descriptor.
    pub name: Box<str>,
    /// Its unit in the trace, once it has one.
    pub unit: Option<u64>,
}

/// How a class was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It was named.
    Named,
    /// The same, and it is loaded for that.
    Asked,
    /// Its members or annotations were looked at.
    LookedAt,
}

#[derive(Debug, Default)]
struct Scope {
    /// Probes that were hit.
    methods: HashSet<u32>,
    /// Classes that were used otherwise.
    classes: HashSet<ClassIndex>,
    /// Classes that somebody asked for, and that may be loaded for that.
    asked: HashSet<Symbol>,
    /// Those whose members or annotations were looked at.
    looked_at: HashSet<ClassIndex>,
    observed: BTreeSet<u64>,
    /// What the trace has of it.
    written: HashSet<u64>,
    edges: HashSet<u64>,
    is_dirty: bool,
}

struct Test {
    scope: u64,
    name: String,
    began: Instant,
    has_failed: bool,
    incomplete: Option<String>,
}

/// An unfinished static initialiser.
struct Initialising {
    thread: ThreadId,
    class: ClassIndex,
}

/// Everything that is known of this process.
pub struct State {
    pub trace: Trace,
    symbols: HashMap<Box<str>, Symbol>,
    names: Vec<Box<str>>,
    /// By symbol: the classes of that name.
    loaded: Vec<Vec<ClassIndex>>,
    classes: Vec<Class>,
    /// By probe number.
    methods: Vec<Method>,
    scopes: HashMap<u64, Scope>,
    next_scope: u64,
    next_unit: u64,
    units: HashMap<(&'static str, String), u64>,
    tests: Vec<Test>,
    /// Test classes that run, where tests are their methods.
    containers: Vec<Test>,
    initialising: Vec<Initialising>,
    /// By class name: the scope of its static initialiser.
    initialisers: HashMap<Symbol, u64>,
    /// By class name: the scope of what set its static fields later.
    setters: HashMap<Symbol, u64>,
    written_files: HashSet<String>,
    /// Class files that were opened, and while which scopes were open.
    reads: HashMap<String, Vec<u64>>,
    /// Why no row can be trusted, once something went wrong.
    failed: Option<String>,
}

/// The scope of what happens outside tests.
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
        State {
            trace,
            symbols: HashMap::new(),
            names: Vec::new(),
            loaded: Vec::new(),
            classes: Vec::new(),
            methods: Vec::new(),
            scopes: HashMap::from([(SESSION, Scope::default())]),
            next_scope: 1,
            next_unit: 1,
            units: HashMap::new(),
            tests: Vec::new(),
            containers: Vec::new(),
            initialising: Vec::new(),
            initialisers: HashMap::new(),
            setters: HashMap::new(),
            written_files: HashSet::new(),
            reads: HashMap::new(),
            failed: None,
        }
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

    /// A class was loaded with these methods, whose probes have the numbers
    /// from [`State::probes`] on. `always` are those that could not be probed.
    pub fn loaded(&mut self, class: Class, methods: Vec<Method>, always: &[u32]) {
        let index = self.next_class();
        if let Some(origin) = &class.origin {
            let name = &self.names[class.symbol as usize];
            self.reads.remove(&format!("{origin}/{name}.class"));
        }
        self.loaded[class.symbol as usize].push(index);
        self.classes.push(class);
        self.methods.extend(methods);
        if !always.is_empty() {
            // Nobody tells when they run: whoever runs may have run them.
            let session = self.scope(SESSION);
            session.methods.extend(always);
        }
    }

    /// A class was loaded whose file is not understood: it counts for all.
    pub fn loaded_unread(&mut self, class: Class) {
        let number = self.probes();
        let method = Method {
            class: self.next_class(),
            ..Method::default()
        };
        self.loaded(class, vec![method], &[number]);
    }

    /// A class file was opened: by the JVM, which then loads it, or by a test
    /// that looks into it.
    pub fn read_class(&mut self, path: &str) {
        if self.has_tests() {
            let open = self.open();
            self.reads.entry(path.to_owned()).or_default().extend(open);
        }
    }

    /// Class files that were opened and not loaded are read by somebody.
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

    /// The scopes that something which happens now belongs to.
    fn open(&mut self) -> Vec<u64> {
        let mut open: Vec<u64> = self.tests.iter().map(|test| test.scope).collect();
        if open.is_empty() {
            open.extend(self.containers.iter().map(|class| class.scope));
        }
        if open.is_empty() {
            open.push(SESSION);
        }
        for at in 0..self.initialising.len() {
            let symbol = self.classes[self.initialising[at].class as usize].symbol;
            open.push(self.initialiser(symbol));
        }
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

    fn setter(&mut self, symbol: Symbol) -> u64 {
        if let Some(scope) = self.setters.get(&symbol) {
            return *scope;
        }
        let scope = self.new_scope("cache", symbol, "static");
        self.setters.insert(symbol, scope);
        scope
    }

    fn new_scope(&mut self, kind: &str, symbol: Symbol, extra: &str) -> u64 {
        let scope = self.next_scope;
        self.next_scope += 1;
        // Of each process its own: what another one did is no state here.
        let extra = format!("{extra} {}", std::process::id());
        let name = self.names[symbol as usize].clone();
        self.trace.scope(scope, kind, &name, Some(&extra));
        self.scopes.insert(scope, Scope::default());
        scope
    }

    /// These probes were hit since the last time.
    pub fn hit(&mut self, probes: &[u32]) {
        if probes.is_empty() {
            return;
        }
        for scope in self.open() {
            self.scope(scope).methods.extend(probes);
        }
    }

    /// A class was used by other means than by running its code.
    pub fn used(&mut self, name: &str, how: Use) {
        let symbol = self.symbol(name);
        let classes = self.loaded[symbol as usize].clone();
        let is_looked_at = how == Use::LookedAt;
        if !self.has_tests() {
            // While tests are looked for, all test classes are looked at; that
            // makes no test use them. What was seen may be kept.
            for class in classes.into_iter().filter(|_| is_looked_at) {
                self.class_unit(class, true);
            }
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
            // Those above it on the same thread ended by an exception.
            let mut at = 0;
            self.initialising.retain(|one| {
                at += 1;
                at <= found || one.thread != thread
            });
        }
    }

    /// Something was observed: `kind`, path and value of a `u` record.
    pub fn observed(&mut self, kind: &'static str, path: &str, value: Option<&str>, always: bool) {
        if self.written_files.contains(path) {
            return;
        }
        let unit = self.unit(kind, path, value);
        let scopes = match always {
            true => vec![SESSION],
            false => self.open(),
        };
        for scope in scopes {
            self.scope(scope).observed.insert(unit);
        }
    }

    /// The process itself wrote this file.
    pub fn wrote(&mut self, path: &str) {
        self.written_files.insert(path.to_owned());
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

    /// What runs now may lack units.
    pub fn doubt(&mut self, why: &str) {
        if !self.has_tests() {
            self.trace.incomplete(SESSION, why);
        }
        let containers = match self.tests.is_empty() {
            true => self.containers.as_mut_slice(),
            false => &mut [],
        };
        for test in self.tests.iter_mut().chain(containers) {
            // Of the scope, so that who inherits from it is in doubt as well.
            self.trace.incomplete(test.scope, why);
            test.incomplete.get_or_insert_with(|| why.to_owned());
        }
        for at in 0..self.initialising.len() {
            let symbol = self.classes[self.initialising[at].class as usize].symbol;
            let scope = self.initialiser(symbol);
            self.trace.incomplete(scope, why);
        }
    }

    /// Nothing that this process tells is enough.
    pub fn fail(&mut self, why: &str) {
        if self.failed.is_none() {
            self.failed = Some(why.to_owned());
            self.trace.incomplete(SESSION, why);
            self.trace.flush();
        }
    }

    pub fn is_running(&self, test: &str) -> bool {
        self.tests.iter().any(|known| known.name == test)
    }

    pub fn has_tests(&self) -> bool {
        !self.tests.is_empty() || !self.containers.is_empty()
    }

    /// A test class begins whose methods are tests: what runs outside of them
    /// counts for each.
    pub fn begin_container(&mut self, class: &str, thread: ThreadId) {
        if self.containers.iter().any(|known| known.name == class) {
            return;
        }
        self.initialising.retain(|one| one.thread != thread);
        let scope = self.next_scope;
        self.next_scope += 1;
        self.scopes.insert(scope, Scope::default());
        let symbol = self.symbol(&class.replace('.', "/"));
        let classes = self.loaded[symbol as usize].clone();
        self.scope(scope).classes.extend(&classes);
        self.scope(scope).looked_at.extend(&classes);
        self.trace.scope(scope, "fixture", class, None);
        self.containers.push(Test {
            scope,
            name: class.to_owned(),
            began: Instant::now(),
            has_failed: false,
            incomplete: None,
        });
    }

    pub fn end_container(&mut self, class: &str) {
        self.settle_reads();
        self.flush();
        self.containers.retain(|known| known.name != class);
    }

    /// What runs and is called `name`: a test, or a class whose methods are tests.
    fn running_as(&self, name: &str) -> Option<&Test> {
        let mut all = self.tests.iter().chain(&self.containers);
        all.find(|known| known.name == name)
    }

    /// A test begins: a test class, its name with dots, or behind a `#` one of
    /// its methods, in the class `container`.
    pub fn begin(&mut self, test: &str, container: Option<&str>, thread: ThreadId) {
        self.initialising.retain(|one| one.thread != thread);
        let scope = self.next_scope;
        self.next_scope += 1;
        self.scopes.insert(scope, Scope::default());
        let container = self
            .containers
            .iter()
            .find(|known| Some(known.name.as_str()) == container);
        let container = container.map(|known| known.scope);
        let class = test.split('#').next().unwrap_or(test);
        let slashes = class.replace('.', "/");
        let symbol = self.symbol(&slashes);
        let classes = self.loaded[symbol as usize].clone();
        let origin = classes
            .iter()
            .find_map(|class| self.classes[*class as usize].origin.clone());
        let incomplete = origin
            .is_none()
            .then(|| "where its class came from is not known".to_owned());
        self.scope(scope).classes.extend(&classes);
        self.scope(scope).looked_at.extend(&classes);
        self.trace.scope(scope, "test", test, None);
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
            began: Instant::now(),
            has_failed: false,
            incomplete,
        });
    }

    /// A part of this test class failed; `None`: of all that run.
    pub fn has_failed(&mut self, test: Option<&str>) {
        for known in &mut self.tests {
            known.has_failed |= test.is_none_or(|test| known.name == test);
        }
    }

    /// The classes that a test class used whose static fields can change, by
    /// name, each with whether it has a static initialiser.
    pub fn statics_of(&self, test: &str) -> Vec<(String, bool)> {
        let Some(test) = self.running_as(test) else {
            return Vec::new();
        };
        let used = self.resolve(&self.scopes[&test.scope]).into_keys();
        let classes = used.map(|class| &self.classes[class as usize]);
        let with_statics = classes.filter(|class| class.has_statics);
        let named = with_statics.map(|class| {
            let name = self.names[class.symbol as usize].to_string();
            (name, class.has_initialiser)
        });
        named.collect()
    }

    /// The name of a class, with slashes.
    pub fn class_name(&self, class: ClassIndex) -> String {
        let class = &self.classes[class as usize];
        self.names[class.symbol as usize].to_string()
    }

    /// Whether a class of this name was loaded from a directory.
    pub fn is_from_directory(&self, name: &str) -> bool {
        let symbol = self.symbols.get(name);
        let mut classes = symbol
            .into_iter()
            .flat_map(|one| &self.loaded[*one as usize]);
        classes.any(|class| self.classes[*class as usize].origin.is_some())
    }

    /// The methods that whoever extends or implements this class, which is not
    /// of the project, can override.
    pub fn overridable(&mut self, class: &str, methods: &[String]) {
        self.trace.overridable(class, methods);
    }

    /// The static fields of these classes hold something else than before the
    /// test class ran.
    pub fn changed(&mut self, test: &str, classes: &[String]) {
        let Some(by) = self.running_as(test).map(|known| known.scope) else {
            return;
        };
        for class in classes {
            let symbol = self.symbol(class);
            let setter = self.setter(symbol);
            self.scope(setter).edges.insert(by);
            self.trace.add(setter, &[], &[by]);
        }
    }

    /// What runs now set this property of the system, for whoever reads it later.
    pub fn set_property(&mut self, name: &str) {
        if self.tests.is_empty() && self.initialising.is_empty() {
            // The build tool does, as its files and its command say.
            return;
        }
        let symbol = self.symbol(&format!("java/lang/System/{name}"));
        let setter = self.setter(symbol);
        for by in self.open() {
            if self.scope(setter).edges.insert(by) {
                self.trace.add(setter, &[], &[by]);
            }
        }
    }

    /// What runs now read it: all that set it before belongs to that.
    pub fn got_property(&mut self, name: &str) {
        let symbol = self
            .symbols
            .get(format!("java/lang/System/{name}").as_str());
        let Some(setter) = symbol.and_then(|symbol| self.setters.get(symbol)).copied() else {
            return;
        };
        for scope in self.open() {
            if self.scope(scope).edges.insert(setter) {
                self.trace.add(scope, &[], &[setter]);
            }
        }
    }

    /// A test class has ended; `outcome` without regard to its parts.
    pub fn end(&mut self, test: &str, outcome: &str) {
        let Some(at) = self.tests.iter().position(|known| known.name == test) else {
            return;
        };
        self.settle_reads();
        self.flush();
        let test = self.tests.remove(at);
        let outcome = match test.has_failed {
            true => "failed",
            false => outcome,
        };
        let why = test.incomplete.as_deref().or(self.failed.as_deref());
        let seconds = test.began.elapsed().as_secs_f64();
        self.trace
            .end(test.scope, &test.name, outcome, seconds, why);
        self.trace.flush();
        // All of it is in the trace.
        self.scopes.remove(&test.scope);
    }

    /// Names of all test classes that run.
    pub fn running(&self) -> Vec<String> {
        self.tests.iter().map(|test| test.name.clone()).collect()
    }

    /// Writes what scopes have got since the last time.
    pub fn flush(&mut self) {
        let mut dirty: Vec<u64> = self
            .scopes
            .iter()
            .filter(|(_, scope)| scope.is_dirty)
            .map(|(number, _)| *number)
            .collect();
        dirty.sort_unstable();
        for number in dirty {
            let used = self.resolve(&self.scopes[&number]);
            let mut edges: BTreeSet<u64> = BTreeSet::new();
            let mut units: BTreeSet<u64> = self.scopes[&number].observed.clone();
            for (class, is_whole) in used {
                let symbol = self.classes[class as usize].symbol;
                edges.extend(self.initialisers.get(&symbol));
                edges.extend(self.setters.get(&symbol));
                units.extend(self.class_unit(class, is_whole));
            }
            let methods: Vec<u32> = self.scopes[&number].methods.iter().copied().collect();
            for method in methods {
                units.extend(self.method_unit(method));
            }
            edges.remove(&number);
            let scope = self.scope(number);
            scope.is_dirty = false;
            units.retain(|unit| scope.written.insert(*unit));
            edges.retain(|edge| scope.edges.insert(*edge));
            let units: Vec<u64> = units.into_iter().collect();
            let edges: Vec<u64> = edges.into_iter().collect();
            self.trace.add(number, &units, &edges);
        }
        self.trace.flush();
    }

    fn class_unit(&mut self, class: ClassIndex, is_whole: bool) -> Option<u64> {
        let known = &self.classes[class as usize];
        if let Some(unit) = known.units[usize::from(is_whole)] {
            return Some(unit);
        }
        let origin = known.origin.clone()?;
        let name = self.names[known.symbol as usize].clone();
        let kind = if is_whole { "class" } else { "shape" };
        let unit = self.unit(kind, &origin, Some(&name));
        self.classes[class as usize].units[usize::from(is_whole)] = Some(unit);
        Some(unit)
    }

    fn method_unit(&mut self, method: u32) -> Option<u64> {
        let known = &self.methods[method as usize];
        if known.unit.is_some() {
            return known.unit;
        }
        let class = &self.classes[known.class as usize];
        if class.is_whole {
            return None;
        }
        let origin = class.origin.clone()?;
        let name = format!("{}#{}", self.names[class.symbol as usize], known.name);
        let unit = self.unit("method", &origin, Some(&name));
        self.methods[method as usize].unit = Some(unit);
        Some(unit)
    }

    /// All classes that a scope's probes stand for, each with whether it counts
    /// whole.
    fn resolve(&self, scope: &Scope) -> BTreeMap<ClassIndex, bool> {
        let mut used: BTreeMap<ClassIndex, bool> = BTreeMap::new();
        let is_looked_at = |class: &ClassIndex| scope.looked_at.contains(class);
        let classes = scope.classes.iter();
        let mut open: Vec<(ClassIndex, bool)> =
            classes.map(|class| (*class, is_looked_at(class))).collect();
        let mut named: HashSet<(Symbol, Option<u64>)> = HashSet::new();
        named.extend(scope.asked.iter().map(|symbol| (*symbol, None)));
        for method in &scope.methods {
            let method = &self.methods[*method as usize];
            open.push((method.class, false));
            named.extend(&method.mentions);
        }
        for (symbol, member) in named {
            let classes = self.loaded[symbol as usize].iter().copied();
            let classes = classes.filter(|class| match member {
                Some(hash) => !self.classes[*class as usize].declared.contains(&hash),
                None => true,
            });
            open.extend(classes.map(|class| (class, false)));
        }
        while let Some((index, is_whole)) = open.pop() {
            let class = &self.classes[index as usize];
            let is_whole = is_whole || class.is_whole;
            if used.get(&index).is_some_and(|known| *known || !is_whole) {
                continue;
            }
            used.insert(index, is_whole);
            let above = class.needs.iter().map(|symbol| (symbol, false));
            let more = class.whole_needs.iter().map(|symbol| (symbol, true));
            for (symbol, is_whole) in above.chain(more.filter(|_| is_whole)) {
                let classes = self.loaded[*symbol as usize].iter();
                open.extend(classes.map(|class| (*class, is_whole)));
            }
        }
        used
    }

    /// The process ends in good order.
    pub fn close(&mut self) {
        self.flush();
        self.trace.close();
        self.trace.flush();
    }
}
