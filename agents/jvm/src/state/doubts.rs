//! Why rows cannot be trusted.

use super::{SESSION, State};

impl State {
    /// Notes that units of the running code may be missing.
    pub fn doubt(&mut self, why: &str) {
        if !self.has_tests() {
            self.trace.incomplete(SESSION, why);
        }
        if let Some(prelude) = self.prelude() {
            self.trace.incomplete(prelude, why);
        }
        let containers = self
            .containers
            .iter()
            .filter(|class| self.is_between(class));
        let containers: Vec<u64> = containers.map(|class| class.scope).collect();
        for scope in containers {
            self.trace.incomplete(scope, why);
        }
        for test in &mut self.tests {
            // Also for the scope, so that those who inherit from it are in doubt as well.
            self.trace.incomplete(test.scope, why);
            test.incomplete.get_or_insert_with(|| why.to_owned());
        }
        for at in 0..self.initialising.len() {
            let symbol = self.classes[self.initialising[at].class as usize].symbol;
            let scope = self.initialiser(symbol);
            self.trace.incomplete(scope, why);
        }
    }

    /// Makes every row of this process incomplete.
    pub fn fail(&mut self, why: &str) {
        if self.failed.is_none() {
            self.failed = Some(why.to_owned());
            self.trace.incomplete(SESSION, why);
            self.trace.flush();
        }
    }

    /// Notes that tests which have not ended may end without having run.
    pub fn stop(&mut self, why: &'static str) {
        self.stopped = Some(why);
    }
}
