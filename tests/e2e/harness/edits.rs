//! Edits of one project, and the tests that run after each. The truth is what a run of
//! everything without tamis finds.

use std::collections::BTreeSet;

use super::workshop::{Endings, Workshop};

/// An edit.
pub enum Edit {
    /// Replaces the only occurrence of a text in a file.
    Replace(&'static str, &'static str, &'static str),
    Write(&'static str, &'static str),
    /// A command of a shell.
    Shell(&'static str),
    Env(&'static str, &'static str),
}

/// What an edit is, and names of tests, with those of groups among them.
pub type Row = (&'static str, Edit, &'static str);

/// A project that is edited.
pub struct Edited<'a> {
    pub shop: Workshop,
    /// Folders that stay as they are between edits.
    pub kept: &'a [&'a str],
    /// The names of groups, and the tests in each.
    pub groups: &'a [(&'a str, &'a [&'a str])],
    /// Whether just the tests of a row must run. Else more may.
    pub is_exact: bool,
    /// What the runner itself finds: how each test ended, and its status.
    pub plain: fn(&Workshop) -> (Endings, i32),
}

impl Edited<'_> {
    fn expand(&self, names: &str) -> BTreeSet<String> {
        let mut tests = BTreeSet::new();
        for name in names.split_whitespace() {
            match self.groups.iter().find(|(group, _)| *group == name) {
                Some((_, of)) => tests.extend(of.iter().map(|one| (*one).to_owned())),
                // A name can have a space.
                None => {
                    tests.insert(name.replace('#', " "));
                }
            }
        }
        tests
    }

    /// Makes each edit on its own, and checks which tests run and how they end.
    pub fn check<'r>(mut self, rows: impl IntoIterator<Item = &'r Row>) {
        let first = self.shop.run();
        assert_eq!(first.code, 0, "{}", first.told);
        let all = self.groups.iter().flat_map(|(_, of)| of.iter());
        let all: BTreeSet<String> = all.map(|one| (*one).to_owned()).collect();
        let ran: BTreeSet<String> = first.outcomes.keys().cloned().collect();
        assert_eq!(ran, all, "{}", first.told);
        // What a run of the first state finds is what is known of the others.
        self.shop.sh("rm -rf ../store && cp -r .tamis ../store");
        let env = self.shop.env.clone();
        let mut wrong = Vec::new();
        for (what, edit, tests) in rows {
            self.shop.restore(self.kept);
            self.shop.sh("rm -rf .tamis && cp -r ../store .tamis");
            self.shop.env.clone_from(&env);
            match edit {
                Edit::Replace(path, from, to) => self.shop.replace(path, from, to),
                Edit::Write(path, text) => self.shop.write(path, text),
                Edit::Shell(script) => self.shop.sh(script),
                Edit::Env(name, value) => {
                    let env = &mut self.shop.env;
                    env.insert((*name).to_owned(), (*value).to_owned());
                }
            }
            let ran = self.shop.run();
            let (truth, status) = (self.plain)(&self.shop);
            let found = self.differences(&ran.outcomes, tests, &truth, &first.outcomes);
            wrong.extend(found.iter().map(|found| format!("{what}: {found}")));
            if (ran.code == 0) != (status == 0) {
                wrong.push(format!(
                    "{what}: ended with {} and not {status}\n{}",
                    ran.code, ran.told
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// What is wrong about the tests that ran.
    fn differences(
        &self,
        ran: &Endings,
        tests: &str,
        truth: &Endings,
        before: &Endings,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        let wanted = self.expand(tests);
        let names: BTreeSet<String> = ran.keys().cloned().collect();
        let more: Vec<&String> = names.difference(&wanted).collect();
        let fewer: Vec<&String> = wanted.difference(&names).collect();
        if self.is_exact && !(more.is_empty() && fewer.is_empty()) {
            wrong.push(format!("ran besides {more:?}, did not run {fewer:?}"));
        }
        for (test, outcome) in truth {
            let told = ran.get(test).or_else(|| before.get(test));
            if told != Some(outcome) {
                wrong.push(format!("MISSED: {test} is {outcome}, not {told:?}"));
            }
        }
        wrong
    }
}
