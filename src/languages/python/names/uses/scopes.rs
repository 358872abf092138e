//! The scopes around a name: whose variable it is.

use std::collections::BTreeSet;

use super::Reaching;
use crate::languages::name_hash;
use crate::languages::python::asked;

#[derive(Default)]
pub(in super::super) struct Scope {
    pub(super) is_class: bool,
    pub(super) is_comprehension: bool,
    pub(super) stores: BTreeSet<String>,
    /// Those that nothing but function definitions has bound so far.
    pub(super) functions: BTreeSet<String>,
    /// Those that an import statement binds, or that belong to a function
    /// around.
    pub(super) not_only_own: BTreeSet<String>,
    pub(super) nonlocals: BTreeSet<String>,
    pub(super) globals: BTreeSet<String>,
    pub(super) loads: BTreeSet<String>,
    /// What is passed on as it is: a name, and what is asked of it, as in `Uses::parts`.
    pub(super) values: BTreeSet<(String, Option<Vec<u32>>)>,
}

impl Reaching {
    pub(super) fn store(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.stores.insert(name.to_owned());
            scope.functions.remove(name);
        }
    }

    /// A `def` binds the name.
    pub(super) fn store_function(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            let is_new = scope.stores.insert(name.to_owned());
            if is_new {
                scope.functions.insert(name.to_owned());
            }
        }
    }

    /// Whether it is a function that is defined in the one that is walked, or around it there.
    pub(super) fn is_own_function(&self, name: &str) -> bool {
        let scope = self.scope_of(name);
        scope.is_some_and(|scope| scope.functions.contains(name))
    }

    /// Whether a function that is walked binds the name, otherwise than by an import.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.scope_of(name).is_some()
    }

    fn scope_of(&self, name: &str) -> Option<&Scope> {
        let mut around = self.scopes.iter().rev();
        let scope = around.find(|scope| !scope.is_class && scope.stores.contains(name))?;
        let is_other = scope.globals.contains(name) || scope.not_only_own.contains(name);
        (!is_other).then_some(scope)
    }

    /// `:=` in a comprehension binds around it.
    pub(super) fn store_around(&mut self, name: &str) {
        let mut around = self.scopes.iter_mut().rev();
        if let Some(scope) = around.find(|scope| !scope.is_comprehension) {
            scope.stores.insert(name.to_owned());
            scope.functions.remove(name);
        }
    }

    /// Whether the function that is walked binds the name.
    pub(in super::super) fn is_own(&self, name: &str) -> bool {
        let scope = self.scopes.last();
        scope.is_some_and(|scope| !scope.is_class && scope.stores.contains(name))
    }

    pub(super) fn leave(&mut self) {
        let Some(mut scope) = self.scopes.pop() else {
            return;
        };
        let nonlocals = std::mem::take(&mut scope.nonlocals);
        scope.not_only_own.extend(nonlocals.iter().cloned());
        // They are all in what `locals()` gives.
        let gives = ["locals", "vars"]
            .iter()
            .any(|name| scope.loads.contains(*name));
        if gives && !scope.is_class {
            let imported = scope.not_only_own.iter();
            scope
                .values
                .extend(imported.map(|name| (name.clone(), None)));
            if scope.stores.contains(asked::DOCTEST_NAMESPACE) {
                self.meet_lent();
            }
        }
        // An import in this function may bind a variable of one around.
        if let Some(outer) = self.scopes.last_mut() {
            outer.not_only_own.extend(nonlocals);
        }
        for (name, part) in std::mem::take(&mut scope.values) {
            let is_own = !scope.is_class
                && scope.stores.contains(&name)
                && !scope.globals.contains(&name)
                && !scope.not_only_own.contains(&name);
            if !is_own {
                self.pass_on(&name, part);
            }
        }
        for name in scope.loads {
            // In a class, a name that is not bound yet is looked up outside.
            let is_global = scope.globals.contains(&name);
            let is_local = !scope.is_class && scope.stores.contains(&name) && !is_global;
            if is_local {
                continue;
            }
            // A global one, whatever the functions around bind.
            if is_global {
                self.found.loads.insert(name);
                continue;
            }
            match self.scopes.last_mut() {
                Some(outer) => outer.loads.insert(name),
                None => self.found.loads.insert(name),
            };
        }
    }

    /// The name of an import, or `part` of it, unless a scope around binds
    /// something else to the name.
    pub(super) fn pass_on(&mut self, name: &str, part: Option<Vec<u32>>) {
        match (self.scopes.last_mut(), part) {
            (Some(scope), part) => {
                scope.values.insert((name.to_owned(), part));
            }
            (None, Some(part)) => {
                self.found.parts.insert(part);
            }
            (None, None) => {
                self.found.values.insert(name_hash(name));
            }
        }
    }
}
