//! Reads `tamis.yml`: every mistake is answered with its line, its column and
//! what would be right.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::Context;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::key::Key;
use super::pattern::Pattern;
use super::seeds::{Groups, KeySeed, Many, One};
use super::suites::{Suites, SuitesVisitor};
use super::trust::{Trust, TrustVisitor};
use super::value::{
    Count, Deepen, Granularity, Runner, Shared, Strategy, SubFolder, Text, shown_path,
};
use super::weight::repeats_too_much;
use crate::error::Error;

/// The name of the file.
pub const NAME: &str = "tamis.yml";

/// The newest version of the schema that this tamis reads.
pub const VERSION: u32 = 1;

/// Larger files are not configuration.
const MAX_BYTES: u64 = 1 << 20;

/// The longest line, in characters, that an error message shows.
const MAX_EXCERPT: usize = 120;

/// What the file says, before defaults and overrides.
#[derive(Debug, Default)]
pub struct FileConfig {
    pub version: Option<Version>,
    pub suite: Option<Text>,
    pub suites: Option<Suites>,
    pub runner: Option<Runner>,
    pub command: Option<Vec<Text>>,
    pub python: Option<Text>,
    pub root: Option<SubFolder>,
    pub paths: Option<Vec<Pattern>>,
    pub store: Option<Text>,
    pub shared_store: Option<Shared>,
    pub shared_label: Option<Text>,
    pub trust: Option<Trust>,
    pub deepen: Option<Deepen>,
    pub strategy: Option<Strategy>,
    pub many_new_tests: Option<Count>,
    pub short_branches: Option<Count>,
    pub always_run: Option<Vec<Pattern>>,
    pub run_all_when: Option<Vec<Pattern>>,
    pub run_all_every: Option<Count>,
    pub keep_together: Option<Vec<Vec<Pattern>>>,
    pub benign_state: Option<Vec<Pattern>>,
    pub granularity: Option<Granularity>,
    pub lock_files: Option<Vec<Text>>,
    pub env_ignore: Option<Vec<Text>>,
    pub keep: Option<Count>,
}

/// Reads the file at `path`.
pub fn read(path: &Path) -> Result<FileConfig, Error> {
    let size = fs_err::metadata(path).context("cannot read the configuration")?;
    if !size.is_file() {
        let message = format!("{} is not a file", shown_path(path));
        return Err(Error::usage(message));
    }
    if size.len() > MAX_BYTES {
        return Err(Error::usage(format!(
            "{} has {} bytes; tamis reads at most {MAX_BYTES}",
            shown_path(path),
            size.len(),
        ))
        .with_hint("check that it is the file you mean; `tamis init` writes one of 2 KB"));
    }
    let bytes = fs_err::read(path).context("cannot read the configuration")?;
    parse(&bytes, &shown_path(path))
}

/// Parses the content of a file that messages call `name`.
pub fn parse(bytes: &[u8], name: &str) -> Result<FileConfig, Error> {
    let text = decode(bytes, name)?;
    if text.lines().all(is_blank) {
        return Err(empty(name));
    }
    let mut documents = serde_yaml::Deserializer::from_str(text);
    let Some(document) = documents.next() else {
        return Err(empty(name));
    };
    if repeats_too_much(text) {
        let message = format!("the aliases in {name} repeat more than a configuration can hold");
        return Err(Error::usage(message).with_hint("write the values out, without `&` and `*`"));
    }
    let config: FileConfig = FileVisitor
        .deserialize(document)
        .map_err(|error| explain(&error, text, name))?;
    if documents.next().is_some() {
        let message = format!("{name} holds more than one YAML document");
        return Err(Error::usage(message).with_hint("remove the line `---` between them"));
    }
    match config.version {
        Some(_) => Ok(config),
        None => Err(Error::usage(format!("{name} does not say its version"))
            .with_hint("add the line `version: 1` at its beginning")),
    }
}

fn empty(name: &str) -> Error {
    Error::usage(format!("{name} is empty"))
        .with_hint("write `version: 1`, or delete the file: it is optional")
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line == "---"
}

/// The text of the file, without a byte order mark.
fn decode<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, Error> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(
            Error::usage(format!("{name} is written in UTF-16")).with_hint("save it as UTF-8")
        );
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let (line, column) = place_of(bytes, at);
        Error::usage(format!(
            "{name}:{line}:{column}: byte 0x{:02x} is not UTF-8",
            bytes[at]
        ))
        .with_hint("save the file as UTF-8")
    })?;
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    match text.find(acts) {
        None => Ok(text),
        Some(at) => {
            let (line, column) = place_of(bytes, at);
            let message = format!("{name}:{line}:{column}: a control character stands here");
            Err(Error::usage(message).with_hint("delete it; tamis reads YAML in UTF-8"))
        }
    }
}

/// Line and column of the byte at `at`, both from 1; what is before it is
/// UTF-8.
fn place_of(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}

/// The parser's error as `name:line:column: message` and the line itself.
fn explain(error: &serde_yaml::Error, text: &str, name: &str) -> Error {
    if let Some(version) = newer_version(text) {
        return Error::usage(format!(
            "{name} is written for version {version} of the configuration; this tamis reads \
             version {VERSION}"
        ))
        .with_hint("update tamis");
    }
    let full = error.to_string();
    let Some(place) = error.location() else {
        return Error::usage(format!("{name}: {full}"));
    };
    let (line, column) = (place.line(), place.column());
    let message = full.replacen(&format!(" at line {line} column {column}"), "", 1);
    let shown: &str = text.lines().nth(line - 1).unwrap_or_default();
    let mut explained = Error::usage(format!(
        "{name}:{line}:{column}: {message}{}",
        excerpt(shown, line, column)
    ));
    let indent: &str = &shown[..shown.len() - shown.trim_start().len()];
    if indent.contains('\t') {
        explained = explained.with_hint("YAML forbids tabs for indenting: use spaces");
    }
    explained
}

/// The line with a mark below the column, unless the line is too long to help.
fn excerpt(shown: &str, line: usize, column: usize) -> String {
    if shown.chars().count() > MAX_EXCERPT {
        return String::new();
    }
    // One character for one, so that the mark stays below its column.
    let shown = shown.replace('\t', "→");
    let blank = " ".repeat(line.to_string().len());
    let space = " ".repeat(column.saturating_sub(1));
    format!("\n{line} | {shown}\n{blank} | {space}^")
}

/// The version that the text claims, if it is newer than ours: such a file
/// may hold keys and values that we do not know.
fn newer_version(text: &str) -> Option<u64> {
    let document: serde_yaml::Value = serde_yaml::from_str(text).ok()?;
    let version = document.get(Key::Version.word())?.as_u64()?;
    (version > u64::from(VERSION)).then_some(version)
}

/// The version of the schema: the only one that is read.
#[derive(Debug)]
pub struct Version;

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Version, String> {
        match text.parse() {
            Ok(VERSION) => Ok(Version),
            _ => Err(format!(
                "the version `{text}` does not exist, write {VERSION}"
            )),
        }
    }
}

struct FileVisitor;

impl<'de> DeserializeSeed<'de> for FileVisitor {
    type Value = FileConfig;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<FileConfig, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileVisitor {
    type Value = FileConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values, such as `version: 1`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FileConfig, A::Error> {
        let mut config = FileConfig::default();
        let mut seen = BTreeSet::new();
        while let Some(word) = map.next_key_seed(KeySeed {
            valid: &Key::ALL.map(Key::word),
            seen: &mut seen,
        })? {
            config.take(&word, &mut map)?;
        }
        Ok(config)
    }
}

impl FileConfig {
    /// Reads the value of the key `word`.
    pub(super) fn take<'de, A: MapAccess<'de>>(
        &mut self,
        word: &str,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let Some(key) = Key::from_word(word) else {
            return Err(de::Error::custom(format!("unknown key `{word}`")));
        };
        match key {
            Key::Version => self.version = Some(map.next_value_seed(One::new())?),
            Key::Suite => self.suite = Some(map.next_value_seed(One::new())?),
            Key::Suites => self.suites = Some(map.next_value_seed(SuitesVisitor)?),
            Key::Runner => self.runner = Some(map.next_value_seed(One::new())?),
            Key::Command => self.command = Some(map.next_value_seed(Many::filled())?),
            Key::Python => self.python = Some(map.next_value_seed(One::new())?),
            Key::Root => self.root = Some(map.next_value_seed(One::new())?),
            Key::Paths => self.paths = Some(map.next_value_seed(Many::filled())?),
            Key::Store => self.store = Some(map.next_value_seed(One::new())?),
            Key::SharedStore => self.shared_store = Some(map.next_value_seed(One::new())?),
            Key::SharedLabel => self.shared_label = Some(map.next_value_seed(One::new())?),
            Key::Trust => self.trust = Some(map.next_value_seed(TrustVisitor)?),
            Key::Deepen => self.deepen = Some(map.next_value_seed(One::new())?),
            Key::Strategy => self.strategy = Some(map.next_value_seed(One::new())?),
            Key::ManyNewTests => self.many_new_tests = Some(map.next_value_seed(One::new())?),
            Key::ShortBranches => self.short_branches = Some(map.next_value_seed(One::new())?),
            Key::AlwaysRun => self.always_run = Some(map.next_value_seed(Many::any())?),
            Key::RunAllWhen => self.run_all_when = Some(map.next_value_seed(Many::any())?),
            Key::RunAllEvery => self.run_all_every = Some(map.next_value_seed(One::new())?),
            Key::KeepTogether => self.keep_together = Some(map.next_value_seed(Groups)?),
            Key::BenignState => self.benign_state = Some(map.next_value_seed(Many::any())?),
            Key::Granularity => self.granularity = Some(map.next_value_seed(One::new())?),
            Key::LockFiles => self.lock_files = Some(map.next_value_seed(Many::any())?),
            Key::Env => self.env_ignore = map.next_value_seed(EnvVisitor)?,
            Key::Keep => self.keep = Some(map.next_value_seed(One::new())?),
        }
        Ok(())
    }
}

/// What stands below `env`.
struct EnvVisitor;

impl<'de> DeserializeSeed<'de> for EnvVisitor {
    type Value = Option<Vec<Text>>;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvVisitor {
    type Value = Option<Vec<Text>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the key `{}` with a list of names", Key::IGNORE)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut ignore = None;
        let mut seen = BTreeSet::new();
        while let Some(_ignore) = map.next_key_seed(KeySeed {
            valid: &[Key::IGNORE],
            seen: &mut seen,
        })? {
            ignore = Some(map.next_value_seed(Many::any())?);
        }
        Ok(ignore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::message;

    fn error(text: impl AsRef<[u8]>) -> String {
        message(&parse(text.as_ref(), NAME).unwrap_err())
    }

    #[test]
    fn every_key_is_read() {
        let config = parse(
            b"\xef\xbb\xbfversion: 1\nsuite: unit\nrunner: pytest\ncommand: [pytest, -q]\n\
              python: .venv/bin/python\nroot: svc\nstore: cache\nstrategy: memo\n\
              shared-store: git:up\nshared-label: py3\n\
              trust: {repository: o/r, refs: [main], events: [push], workflows: [ci.yml]}\n\
              always-run: ['t.py::x[1]']\nrun-all-when: [Makefile]\nlock-files: [uv.lock]\n\
              benign-state: ['a.py#_CACHE']\nrun-all-every: 10\n\
              keep-together: [db, [a.py, 'b.py::t']]\n\
              env:\n  ignore: [CI]\nkeep: 7\nmany-new-tests: 8\nshort-branches: 9\n",
            NAME,
        )
        .unwrap();
        insta::assert_snapshot!(
            format!(
                "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                config.suite, config.runner, config.command, config.root, config.strategy,
                config.env_ignore, config.keep,
            ),
            @r#"Some(Text("unit")) Some(Pytest) Some([Text("pytest"), Text("-q")]) Some(SubFolder("svc")) Some(Memo) Some([Text("CI")]) Some(Count(7))"#
        );
        assert_eq!(config.many_new_tests, Some(Count(8)));
        assert_eq!(config.short_branches, Some(Count(9)));
        assert!(config.python.is_some() && config.store.is_some());
        assert!(config.always_run.unwrap()[0].matches(b"t.py::x[1]"));
        assert!(config.run_all_when.unwrap()[0].matches(b"Makefile"));
        assert!(config.benign_state.unwrap()[0].matches(b"a.py#_CACHE"));
        assert_eq!(config.lock_files.unwrap(), [Text("uv.lock".into())]);
        assert_eq!(config.run_all_every, Some(Count(10)));
        let groups = config.keep_together.unwrap();
        let groups = groups
            .iter()
            .map(|group| group.iter().map(ToString::to_string));
        let groups: Vec<Vec<String>> = groups.map(Iterator::collect).collect();
        assert_eq!(groups, [vec!["db"], vec!["a.py", "b.py::t"]]);
    }

    #[test]
    fn groups_are_patterns_or_lists_of_them() {
        for wrong in ["db", "[[]]", "[{a: b}]", "[[a, [b]]]", "[7]", "['']"] {
            let text = error(format!("version: 1\nkeep-together: {wrong}\n"));
            assert!(text.contains("keep-together"), "{wrong}: {text}");
        }
        assert!(error("version: 1\nrun-all-every: 0\n").contains("run-all-every"));
    }

    #[test]
    fn unknown_keys_get_their_place_and_the_nearest() {
        insta::assert_snapshot!(error("version: 1\n\nstrateg: all\n"), @r"
        error: tamis.yml:3:1: unknown key `strateg`; did you mean `strategy`?
        3 | strateg: all
          | ^
        ");
        insta::assert_snapshot!(error("version: 1\nenv:\n  ignores: [CI]\n"), @r"
        error: tamis.yml:3:3: env: unknown key `ignores`; did you mean `ignore`?
        3 |   ignores: [CI]
          |   ^
        ");
        insta::assert_snapshot!(error("version: 1\nxyz: 1\n"), @r"
        error: tamis.yml:2:1: unknown key `xyz`; the keys are version, suite, suites, runner, command, python, root, paths, store, shared-store, shared-label, trust, deepen, strategy, many-new-tests, short-branches, always-run, run-all-when, run-all-every, lock-files, benign-state, keep-together, granularity, env, keep
        2 | xyz: 1
          | ^
        ");
    }

    #[test]
    fn duplicate_keys_are_refused_at_the_second() {
        insta::assert_snapshot!(error("version: 1\nkeep: 1\nkeep: 2\n"), @r"
        error: tamis.yml:3:1: the key `keep` stands here twice
        3 | keep: 2
          | ^
        ");
    }

    #[test]
    fn tabs_get_a_hint() {
        insta::assert_snapshot!(error("version: 1\nenv:\n\tignore: [CI]\n"), @r"
        error: tamis.yml:3:1: found character that cannot start any token, while scanning for the next token
        3 | →ignore: [CI]
          | ^
        hint: YAML forbids tabs for indenting: use spaces
        ");
    }

    #[test]
    fn wrong_types_and_values_say_what_is_right() {
        insta::assert_snapshot!(error("version: 1\ncommand: pytest -q\n"), @r#"
        error: tamis.yml:2:10: command: invalid type: string "pytest -q", expected a list, such as [first, second]
        2 | command: pytest -q
          |          ^
        "#);
        insta::assert_snapshot!(error("version: 1\nsuite: [a]\n"), @r"
        error: tamis.yml:2:8: suite: invalid type: sequence, expected one value
        2 | suite: [a]
          |        ^
        ");
        insta::assert_snapshot!(error("version: 1\nkeep: many\n"), @r"
        error: tamis.yml:2:7: keep: `many` is not a whole number from 1 to 4294967295
        2 | keep: many
          |       ^
        ");
        insta::assert_snapshot!(error("version: 1\nstrategy: comit\n"), @r"
        error: tamis.yml:2:11: strategy: unknown strategy `comit`, expected auto, all, commit, memo, merge-dom, merge-parents, merge-history, rebase-dom, rebase-parents, rebase-history, cherry-parent, cherry-history, revert-parent, revert-history, thesis; did you mean `commit`?
        2 | strategy: comit
          |           ^
        ");
        insta::assert_snapshot!(error("version: 1\nroot: ../other\n"), @r"
        error: tamis.yml:2:7: root: `../other` leaves the folder of tamis.yml; give a sub-folder without `..`
        2 | root: ../other
          |       ^
        ");
        insta::assert_snapshot!(error("version: 1\nsuite:\n"), @r"
        error: tamis.yml:2:7: suite: the value is empty
        2 | suite:
          |       ^
        ");
        insta::assert_snapshot!(error("version: 1\ncommand: []\n"), @r"
        error: tamis.yml:2:10: command: the list is empty
        2 | command: []
          |          ^
        ");
        insta::assert_snapshot!(error("version: 1\nenv: CI\n"), @r#"
        error: tamis.yml:2:6: env: invalid type: string "CI", expected the key `ignore` with a list of names
        2 | env: CI
          |      ^
        "#);
        insta::assert_snapshot!(error("- version\n"), @r"
        error: tamis.yml:1:1: invalid type: sequence, expected keys with values, such as `version: 1`
        1 | - version
          | ^
        ");
        insta::assert_snapshot!(error("version: 1\nsuite: {a\n"), @r"
        error: tamis.yml:2:8: suite: invalid type: map, expected one value
        2 | suite: {a
          |        ^
        ");
    }

    #[test]
    fn versions_are_checked_before_keys() {
        insta::assert_snapshot!(error("version: 2\nnew-key: 1\n"), @r"
        error: tamis.yml is written for version 2 of the configuration; this tamis reads version 1
        hint: update tamis
        ");
        insta::assert_snapshot!(error("version: zero\n"), @r"
        error: tamis.yml:1:10: version: the version `zero` does not exist, write 1
        1 | version: zero
          |          ^
        ");
        insta::assert_snapshot!(error("keep: 3\n"), @r"
        error: tamis.yml does not say its version
        hint: add the line `version: 1` at its beginning
        ");
    }

    #[test]
    fn files_that_are_not_yaml_text_are_refused() {
        insta::assert_snapshot!(error(""), @r"
        error: tamis.yml is empty
        hint: write `version: 1`, or delete the file: it is optional
        ");
        insta::assert_snapshot!(error("# nothing\n---\n"), @r"
        error: tamis.yml is empty
        hint: write `version: 1`, or delete the file: it is optional
        ");
        insta::assert_snapshot!(error(b"version: 1\nsuite: caf\xe9\n"), @r"
        error: tamis.yml:2:11: byte 0xe9 is not UTF-8
        hint: save the file as UTF-8
        ");
        insta::assert_snapshot!(error(b"\xff\xfev\0e\0"), @r"
        error: tamis.yml is written in UTF-16
        hint: save it as UTF-8
        ");
        insta::assert_snapshot!(error("version: 1\nsuite: \u{1b}[2J\n"), @r"
        error: tamis.yml:2:8: a control character stands here
        hint: delete it; tamis reads YAML in UTF-8
        ");
        insta::assert_snapshot!(error("version: 1\n---\nversion: 1\n"), @r"
        error: tamis.yml holds more than one YAML document
        hint: remove the line `---` between them
        ");
    }

    #[test]
    fn huge_files_and_folders_are_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        fs_err::write(&path, vec![b'#'; 10 << 20]).unwrap();
        let text = message(&read(&path).unwrap_err());
        assert!(text.contains("has 10485760 bytes"), "{text}");
        let text = message(&read(folder.path()).unwrap_err());
        assert!(text.contains("is not a file"), "{text}");
        let text = message(&read(&folder.path().join("none")).unwrap_err());
        assert!(
            text.starts_with("error: cannot read the configuration"),
            "{text}"
        );
    }

    #[test]
    fn a_bomb_of_aliases_ends() {
        let mut text = "version: 1\na: &a [x, x, x, x, x, x, x, x]\n".to_owned();
        for (last, name) in ('a'..='p').zip('b'..='q') {
            let items = format!("*{last},").repeat(8);
            text.push_str(&format!("{name}: &{name} [{items}]\n"));
        }
        assert!(error(text).contains("repeat more than"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, text in "[a-z:\\-\\[\\]{}&*#|> \t\n'\"]{0,60}") {
            let _ = parse(&bytes, NAME);
            let _ = parse(text.as_bytes(), NAME);
        }
    }

    /// Short files that would fill the memory.
    #[test]
    fn aliases_that_repeat_much_are_refused() {
        let list = |item: &str, count: usize| vec![item; count].join(", ");
        let long = format!(
            "version: 1\nsuite: &a {}\nalways-run: [{}]\n",
            "x".repeat(10_000),
            list("*a", 5000)
        );
        let wide = format!(
            "version: 1\nnew: &a [{}]\nother: [{}]\n",
            list("1", 5000),
            list("*a", 5000)
        );
        for text in [&long, &wide] {
            let told = error(text);
            assert!(told.contains("repeat more than"), "{told}");
        }
        let few = "version: 1\nalways-run: &a [Makefile, setup.py]\nrun-all-when: *a\n";
        assert_eq!(
            parse(few.as_bytes(), NAME)
                .unwrap()
                .run_all_when
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn damaged_files_are_read_or_refused() {
        let all = "version: 1\nsuite: unit\nrunner: pytest\ncommand: [pytest, -q]\npython: .venv/bin/python\n\
            root: svc\nstore: cache\nstrategy: memo\nshared-store: git:up\nshared-label: py3\n\
            trust:\n  repository: o/r\n  refs: [main, 'release/*']\n  events: [push]\n  workflows: [ci.yml]\n\
            always-run: ['t.py::x[1]']\nrun-all-when: [Makefile, '**/*.c']\nlock-files: [uv.lock]\n\
            benign-state: ['a.py#_CACHE']\nkeep-together: [db, [a.py, b.py]]\nrun-all-every: 10\nenv:\n  ignore: [CI]\nkeep: 7\nmany-new-tests: 8\nshort-branches: 9\n";
        let reader = crate::fuzz::Reader {
            name: "configuration",
            seeds: vec![
                all.into(),
                b"\xef\xbb\xbf# x\n---\nversion: 1\n".to_vec(),
                b"version: 2\nnew: {a: [*]}".to_vec(),
            ],
            words: &[
                "\n",
                "\n  ",
                "- ",
                ": ",
                "&a ",
                "*a",
                "<<: ",
                "!!str ",
                "|\n  ",
                ">-\n",
                "[",
                "{",
                "---\n",
                "'",
                "\"",
                "#",
                "null",
                "~",
                "1e9",
                "0x",
                "\\u0000",
                "\u{85}",
                "\u{feff}",
                "\t",
                "version: ",
                "keep: ",
                "**/",
                "?(",
                "? ",
            ],
            mend: |_| {},
            read: &|bytes| match parse(bytes, NAME) {
                Ok(_) => "read".to_owned(),
                Err(error) => message(&error),
            },
        };
        reader.feed();
    }
}
