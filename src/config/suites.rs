//! Several suites in one `tamis.yml`. Each has a name and its own settings.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::file::FileConfig;
use super::key::Key;
use super::seeds::KeySeed;

/// The suites by name, in the order of the file.
pub(super) type Suites = Vec<(String, FileConfig)>;

impl FileConfig {
    /// The configuration of the suite `name`: its own settings, then those of the top level.
    /// `None` if there is no such suite.
    pub(crate) fn for_suite(mut self, name: &str) -> Option<FileConfig> {
        let suites = self.suites.take()?;
        let (_, own) = suites.into_iter().find(|(known, _)| known == name)?;
        Some(FileConfig {
            runner: own.runner.or(self.runner),
            command: own.command.or(self.command),
            tests: own.tests.or(self.tests),
            python: own.python.or(self.python),
            root: own.root.or(self.root),
            paths: own.paths.or(self.paths),
            shared_label: own.shared_label.or(self.shared_label),
            always_run: own.always_run.or(self.always_run),
            run_all_when: own.run_all_when.or(self.run_all_when),
            lock_files: own.lock_files.or(self.lock_files),
            benign_state: own.benign_state.or(self.benign_state),
            keep_together: own.keep_together.or(self.keep_together),
            granularity: own.granularity.or(self.granularity),
            debug_info: own.debug_info.or(self.debug_info),
            env_ignore: own.env_ignore.or(self.env_ignore),
            ..self
        })
    }
}

/// Reads the content of `suites`.
pub(super) struct SuitesVisitor;

impl<'de> DeserializeSeed<'de> for SuitesVisitor {
    type Value = Suites;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Suites, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SuitesVisitor {
    type Value = Suites;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of suites, each with keys below it")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Suites, A::Error> {
        let mut suites = Suites::new();
        let mut seen = BTreeSet::new();
        while let Some(name) = map.next_key_seed(NameSeed { seen: &mut seen })? {
            suites.push((name, map.next_value_seed(SuiteVisitor)?));
        }
        match suites.is_empty() {
            true => Err(de::Error::custom("there is no suite below `suites`")),
            false => Ok(suites),
        }
    }
}

/// A name that is valid for folders, jobs and outputs.
struct NameSeed<'a> {
    seen: &'a mut BTreeSet<String>,
}

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<String, D::Error> {
        source.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a suite")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<String, E> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric())
            || name.len() > 60
            || !name.chars().all(is_plain)
        {
            return Err(E::custom(format!(
                "`{name}` cannot name a suite: write at most 60 letters, digits and `-_.`, a \
                 letter or digit first"
            )));
        }
        if !self.seen.insert(name.to_owned()) {
            return Err(E::custom(format!("the suite `{name}` is here twice")));
        }
        Ok(name.to_owned())
    }
}

/// Reads the settings of one suite.
struct SuiteVisitor;

impl<'de> DeserializeSeed<'de> for SuiteVisitor {
    type Value = FileConfig;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<FileConfig, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SuiteVisitor {
    type Value = FileConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values, such as `root: services/api`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FileConfig, A::Error> {
        let mut config = FileConfig::default();
        let mut seen = BTreeSet::new();
        while let Some(word) = map.next_key_seed(KeySeed {
            valid: &Key::OF_SUITE.map(Key::word),
            seen: &mut seen,
        })? {
            config.take(&word, &mut map)?;
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::file::{NAME, parse};
    use crate::report::testing::message;

    const TWO: &str = "version: 1\nstrategy: memo\nalways-run: [smoke]\nsuites:\n  web:\n    \
                       root: web\n    paths: [\"web/**\"]\n  api:\n    always-run: [x]\n";

    #[test]
    fn a_suite_says_what_is_different_and_the_top_level_the_rest() {
        let file = || parse(TWO.as_bytes(), NAME).unwrap();
        let names: Vec<String> = file().suites.unwrap().into_iter().map(|s| s.0).collect();
        assert_eq!(names, ["web", "api"]);
        let (web, api) = (
            file().for_suite("web").unwrap(),
            file().for_suite("api").unwrap(),
        );
        assert_eq!(web.root.unwrap().to_string(), "web");
        assert_eq!(web.paths.unwrap().len(), 1);
        assert_eq!(web.always_run.unwrap()[0].to_string(), "smoke");
        assert_eq!(api.always_run.unwrap()[0].to_string(), "x");
        assert!(api.root.is_none() && api.strategy.is_some());
        assert!(file().for_suite("ap").is_none());
    }

    #[test]
    fn mistakes_get_their_place() {
        let error = |text: &str| {
            let text = format!("version: 1\nsuites:{text}");
            message(&parse(text.as_bytes(), NAME).unwrap_err())
        };
        insta::assert_snapshot!(error("\n  a b: {}\n"), @r"
        error: tamis.yml:3:3: suites: `a b` cannot name a suite: write at most 60 letters, digits and `-_.`, a letter or digit first
        3 |   a b: {}
          |   ^
        ");
        insta::assert_snapshot!(error("\n  a: {roots: x}\n"), @r"
        error: tamis.yml:3:7: suites.a: unknown key `roots`; did you mean `root`?
        3 |   a: {roots: x}
          |       ^
        ");
        insta::assert_snapshot!(error("\n  a: {store: x}\n"), @r"
        error: tamis.yml:3:7: suites.a: unknown key `store`; the keys are runner, command, tests, python, root, paths, shared-label, always-run, run-all-when, lock-files, benign-state, keep-together, granularity, debug-info, env
        3 |   a: {store: x}
          |       ^
        ");
        insta::assert_snapshot!(error("\n  a: {}\n  a: {}\n"), @r"
        error: tamis.yml:4:3: suites: the suite `a` is here twice
        4 |   a: {}
          |   ^
        ");
        insta::assert_snapshot!(error(" {}\n"), @r"
        error: tamis.yml:2:9: suites: there is no suite below `suites`
        2 | suites: {}
          |         ^
        ");
        insta::assert_snapshot!(error(" [a]\n"), @r"
        error: tamis.yml:2:9: suites: invalid type: sequence, expected names of suites, each with keys below it
        2 | suites: [a]
          |         ^
        ");
    }
}
