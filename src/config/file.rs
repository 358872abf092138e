//! Reads `tamis.yml`. Each error gives the line, the column and what would be correct.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::Context;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use super::key::Key;
use super::seeds::{Groups, KeySeed, Many, One};
use super::suites::{Suites, SuitesVisitor};
use super::tests_key::TestsVisitor;
use super::trust::{Trust, TrustVisitor};
use super::value::{
    Count, DebugInfo, Deepen, Granularity, Shared, StorePlace, Strategy, SubFolder, shown_path,
};
use super::weight::{MOST_NESTED, nests_too_deeply, repeats_too_much};
use crate::error::Error;
use crate::pattern::Pattern;
use crate::runners::{NamedTest, Runner};
use crate::text::Text;

pub(crate) const NAME: &str = "tamis.yml";

/// The newest version of the schema that this tamis reads.
pub(crate) const VERSION: u32 = 1;

/// Larger files cannot be a configuration.
const MAX_BYTES: u64 = 1 << 20;

/// The longest line, in characters, that an error message quotes.
const MAX_EXCERPT: usize = 120;

/// The content of the file, before defaults and overrides.
#[derive(Debug, Default)]
pub(crate) struct FileConfig {
    pub version: Option<Version>,
    pub suite: Option<Text>,
    pub suites: Option<Suites>,
    pub runner: Option<&'static dyn Runner>,
    pub command: Option<Vec<Text>>,
    pub tests: Option<Vec<NamedTest>>,
    pub python: Option<Text>,
    pub root: Option<SubFolder>,
    pub paths: Option<Vec<Pattern>>,
    pub store: Option<StorePlace>,
    pub shared_store: Option<Shared>,
    pub shared_label: Option<Text>,
    pub trust: Option<Trust>,
    pub deepen: Option<Deepen>,
    pub strategy: Option<Strategy>,
    pub always_run: Option<Vec<Pattern>>,
    pub run_all_when: Option<Vec<Pattern>>,
    pub run_all_every: Option<Count>,
    pub keep_together: Option<Vec<Vec<Pattern>>>,
    pub benign_state: Option<Vec<Pattern>>,
    pub granularity: Option<Granularity>,
    pub debug_info: Option<DebugInfo>,
    pub lock_files: Option<Vec<Text>>,
    pub env_ignore: Option<Vec<Text>>,
    pub keep: Option<Count>,
}

/// Reads the file at `path`.
pub(crate) fn read(path: &Path) -> Result<FileConfig, Error> {
    let size = fs_err::metadata(path).context("cannot read the configuration")?;
    if !size.is_file() {
        let message = format!("{} is not a file", shown_path(path));
        return Err(Error::usage(message));
    }
    check_size(size.len(), &shown_path(path))?;
    let bytes = crate::disk::read_named(path).context("cannot read the configuration")?;
    parse(&bytes, &shown_path(path))
}

fn check_size(bytes: u64, name: &str) -> Result<(), Error> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let message = format!("{name} has {bytes} bytes; tamis reads at most {MAX_BYTES}");
    let hint = "check that it is the file you mean; `tamis init` writes one of 2 KB";
    Err(Error::usage(message).with_hint(hint))
}

/// Parses the content of a file; `name` is its name in messages.
pub(crate) fn parse(bytes: &[u8], name: &str) -> Result<FileConfig, Error> {
    check_size(bytes.len() as u64, name)?;
    let text = decode(bytes, name)?;
    if text.lines().all(is_blank) {
        return Err(empty(name));
    }
    if nests_too_deeply(text) {
        return Err(too_deep(name));
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

fn too_deep(name: &str) -> Error {
    let message = format!("{name} nests too deeply: more than {MOST_NESTED} lists or maps");
    Error::usage(message).with_hint(
        "no setting needs more than three levels; check for a `[` or `{` that is not closed",
    )
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
            let message = format!("{name}:{line}:{column}: there is a control character here");
            Err(Error::usage(message).with_hint("delete it; tamis reads YAML in UTF-8"))
        }
    }
}

/// The line and column of the byte at `at`, both from 1. The bytes before it must be UTF-8.
fn place_of(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}

/// Shows the parser's error as `name:line:column: message`, with the line itself.
fn explain(error: &serde_yaml::Error, text: &str, name: &str) -> Error {
    if let Some(version) = newer_version(text) {
        return Error::usage(format!(
            "{name} is written for version {version} of the configuration; this tamis reads \
             version {VERSION}"
        ))
        .with_hint("update tamis");
    }
    let full = error.to_string();
    if full.starts_with("recursion limit exceeded") {
        return too_deep(name);
    }
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

/// The line with a mark below the column; nothing if the line is too long.
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

/// The version in the text, if it is newer than ours. Such a file may hold keys and values
/// that this tamis does not know.
fn newer_version(text: &str) -> Option<u64> {
    let document: serde_yaml::Value = serde_yaml::from_str(text).ok()?;
    let version = document.get(Key::Version.word())?.as_u64()?;
    (version > u64::from(VERSION)).then_some(version)
}

/// The version of the schema. Only one version is read.
#[derive(Debug)]
pub(crate) struct Version;

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
            Key::Tests => self.tests = Some(map.next_value_seed(TestsVisitor)?),
            Key::Python => self.python = Some(map.next_value_seed(One::new())?),
            Key::Root => self.root = Some(map.next_value_seed(One::new())?),
            Key::Paths => self.paths = Some(map.next_value_seed(Many::filled())?),
            Key::Store => self.store = Some(map.next_value_seed(One::new())?),
            Key::SharedStore => self.shared_store = Some(map.next_value_seed(One::new())?),
            Key::SharedLabel => self.shared_label = Some(map.next_value_seed(One::new())?),
            Key::Trust => self.trust = Some(map.next_value_seed(TrustVisitor)?),
            Key::Deepen => self.deepen = Some(map.next_value_seed(One::new())?),
            Key::Strategy => self.strategy = Some(map.next_value_seed(One::new())?),
            Key::AlwaysRun => self.always_run = Some(map.next_value_seed(Many::any())?),
            Key::RunAllWhen => self.run_all_when = Some(map.next_value_seed(Many::any())?),
            Key::RunAllEvery => self.run_all_every = Some(map.next_value_seed(One::new())?),
            Key::KeepTogether => self.keep_together = Some(map.next_value_seed(Groups)?),
            Key::BenignState => self.benign_state = Some(map.next_value_seed(Many::any())?),
            Key::Granularity => self.granularity = Some(map.next_value_seed(One::new())?),
            Key::DebugInfo => self.debug_info = Some(map.next_value_seed(One::new())?),
            Key::LockFiles => self.lock_files = Some(map.next_value_seed(Many::any())?),
            Key::Env => self.env_ignore = map.next_value_seed(EnvVisitor)?,
            Key::Keep => self.keep = Some(map.next_value_seed(One::new())?),
        }
        Ok(())
    }
}

/// Reads the content of `env`.
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
mod tests;
