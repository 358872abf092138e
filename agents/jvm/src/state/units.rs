//! Turns scopes into units of the trace.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{ClassIndex, Scope, State, Symbol};

impl State {
    /// Writes everything that scopes got since the last time.
    pub fn flush(&mut self) {
        let mut dirty: Vec<u64> = self
            .scopes
            .iter()
            .filter(|(number, scope)| scope.is_dirty && !self.is_of_no_test(**number))
            .map(|(number, _)| *number)
            .collect();
        dirty.sort_unstable();
        for number in dirty {
            let used = self.resolve(&self.scopes[&number]);
            let mut edges: BTreeSet<u64> = BTreeSet::new();
            let asked = self.scopes[&number].asked.iter();
            let in_vain: Vec<u64> = asked
                .filter_map(|symbol| self.in_vain.get(symbol))
                .flatten()
                .copied()
                .collect();
            let mut units: BTreeSet<u64> = self.scopes[&number].observed.clone();
            units.extend(in_vain);
            for class in self.told_by(&used) {
                units.extend(self.class_unit(class, false));
            }
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

    pub(super) fn class_unit(&mut self, class: ClassIndex, is_whole: bool) -> Option<u64> {
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

    /// The classes that members of inspected classes lead to, by their types or as nested
    /// classes. A program can inspect such a class without running any of its code.
    fn told_by(&self, used: &BTreeMap<ClassIndex, bool>) -> BTreeSet<ClassIndex> {
        let whole = used.iter().filter(|(_, is_whole)| **is_whole);
        let mut open: Vec<Symbol> = whole
            .flat_map(|(class, _)| &self.classes[*class as usize].tells_of)
            .copied()
            .collect();
        let mut found = BTreeSet::new();
        while let Some(symbol) = open.pop() {
            for class in &self.loaded[symbol as usize] {
                if !used.contains_key(class) && found.insert(*class) {
                    open.extend(&self.classes[*class as usize].needs);
                }
            }
        }
        found
    }

    /// All classes behind a scope's probes, each with whether it counts whole.
    pub(super) fn resolve(&self, scope: &Scope) -> BTreeMap<ClassIndex, bool> {
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
}
