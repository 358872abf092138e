//! The search for what one test needs beside those that ran with it.

use super::detect::Detect;
use super::found::{Dependent, Kind};
use super::options::Options;
use super::suite::Test;
use super::{Ended, Step, Stepper, Suite};

/// A test that ended well in the default order, and not after only some of the tests before it.
/// The search ends when it knows which of the others it needs: its setters, or a cleaner
/// between a polluter and it.
#[derive(Debug)]
pub(crate) struct Witness {
    search: Detect,
    /// What was found and confirmed, once it was.
    found: Option<Dependent>,
}

impl Witness {
    /// `ran`: the tests before it with which it did not end well, in the default order.
    pub(crate) fn new(suite: Suite, options: Options, test: Test, ran: &[Test]) -> Witness {
        let before = ran.iter().copied().filter(|other| *other < test);
        let part: Vec<Test> = before.chain([test]).collect();
        let whole: Vec<Test> = (0..=test).collect();
        Witness {
            search: Detect::of_one(suite, options, test, vec![part, whole]),
            found: None,
        }
    }

    /// What it depends on.
    pub(crate) fn found(&self) -> Option<&Dependent> {
        self.found.as_ref()
    }

    /// All that is known, for the store.
    pub(crate) fn search(&self) -> &Detect {
        &self.search
    }
}

impl Stepper for Witness {
    fn next(&mut self) -> Option<Step> {
        if self.found.is_some() {
            return None;
        }
        let next = self.search.next();
        // The search judges an answer when it is asked for more.
        self.look();
        next.filter(|_| self.found.is_none())
    }

    fn observe(&mut self, step: &Step, ended: &Ended) {
        self.search.observe(step, ended);
        self.look();
    }
}

impl Witness {
    fn look(&mut self) {
        let found = self.search.found().dependent.pop();
        self.found = found.filter(|one| {
            let helps = one.kind != Kind::Victim || !one.cleaners.is_empty();
            helps && one.confirmed.fresh
        });
    }
}
