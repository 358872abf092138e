//! State that one test leaves to later tests: static fields, and things kept by name.

use std::collections::BTreeSet;
use std::thread::ThreadId;

use super::{State, Symbol};

/// A name that takes the place of a class name.
fn by_name(name: &str) -> String {
    format!("java/lang/System/{name}")
}

impl State {
    /// The classes with changing static fields that a test class used, each with whether it
    /// has a static initialiser.
    pub fn statics_of(&self, test: &str) -> Vec<(String, bool)> {
        let Some(scope) = self.running_as(test) else {
            return Vec::new();
        };
        let used = self.resolve(&self.scopes[&scope]).into_keys();
        let classes = used.map(|class| &self.classes[class as usize]);
        let with_statics = classes.filter(|class| class.has_statics);
        let named = with_statics.map(|class| {
            let name = self.names[class.symbol as usize].to_string();
            (name, class.has_initialiser)
        });
        named.collect()
    }

    /// Notes that this test, or the class around it, changed the static fields of these
    /// classes. Any test that runs at the same time may have done it.
    pub fn changed(&mut self, test: &str, classes: &[String]) {
        let Some(by) = self.running_as(test).filter(|_| !classes.is_empty()) else {
            return;
        };
        let mut by: BTreeSet<u64> = [by].into();
        by.extend(self.open());
        let by: Vec<u64> = by.into_iter().collect();
        for class in classes {
            let symbol = self.symbol(class);
            self.set_by(symbol, &by);
        }
    }

    /// Notes that these scopes set it. Earlier readers do not depend on them, so each version
    /// gets its own scope, which includes the version before.
    fn set_by(&mut self, symbol: Symbol, by: &[u64]) {
        let before = self.setters.get(&symbol).copied();
        if let Some(before) = before {
            let known = &self.scopes[&before].edges;
            if by.iter().all(|by| known.contains(by)) {
                return;
            }
        }
        let version = self.next_scope;
        let setter = self.new_scope("cache", symbol, &format!("static {version}"));
        let edges: Vec<u64> = by.iter().copied().chain(before).collect();
        self.scope(setter).edges.extend(&edges);
        self.trace.add(setter, &[], &edges);
        self.setters.insert(symbol, setter);
    }

    /// Notes that the running code set the value with this name (a system property, an object
    /// of a framework) for later readers.
    pub fn set_by_name(&mut self, name: &str) {
        if !self.has_tests() && self.initialising.is_empty() {
            // The build tool sets it, by its files and its command.
            return;
        }
        let symbol = self.symbol(&by_name(name));
        let by = self.open();
        self.set_by(symbol, &by);
    }

    /// Notes that the running code reads the value: it depends on all that set it before.
    pub fn got_by_name(&mut self, name: &str) {
        let symbol = self.symbols.get(by_name(name).as_str());
        let Some(setter) = symbol.and_then(|symbol| self.setters.get(symbol)).copied() else {
            return;
        };
        for scope in self.open() {
            if self.scope(scope).edges.insert(setter) {
                self.trace.add(scope, &[], &[setter]);
            }
        }
    }

    /// Notes that this thread makes an object that others will find under this name.
    pub fn making(&mut self, name: &str, thread: ThreadId) {
        let symbol = self.symbol(&by_name(name));
        let setter = self.setter(symbol);
        // It may be made in several places.
        self.got_by_name(name);
        self.making.push((thread, setter));
    }

    /// Notes that the object is made.
    pub fn made(&mut self, name: &str, thread: ThreadId) {
        let symbol = self.symbol(&by_name(name));
        let setter = self.setter(symbol);
        let before = self.making.len();
        self.making.retain(|one| *one != (thread, setter));
        if self.making.len() == before {
            // Its beginning was not announced.
            self.set_by_name(name);
        }
    }

    fn setter(&mut self, symbol: Symbol) -> u64 {
        if let Some(scope) = self.setters.get(&symbol) {
            return *scope;
        }
        let scope = self.new_scope("cache", symbol, "static");
        self.setters.insert(symbol, scope);
        scope
    }
}
