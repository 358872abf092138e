//! The values of settings: their syntax and meaning.

use std::fmt;
use std::path::{Component, PathBuf};
use std::str::FromStr;

use super::key::nearest;

pub(crate) use crate::escape::shown_path;
pub(crate) use crate::runners::Granularity;
pub(crate) use crate::select::Strategy;
pub(crate) use crate::share::Address as Shared;

use crate::runners::{self, Runner};
use crate::share::redact;
use crate::text::Text;

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        one_of("strategy", text, &Strategy::ALL, Strategy::word)
    }
}

impl FromStr for &'static dyn Runner {
    type Err = String;

    fn from_str(text: &str) -> Result<&'static dyn Runner, String> {
        one_of("runner", text, runners::ALL, |runner| runner.name())
    }
}

impl FromStr for Granularity {
    type Err = String;

    fn from_str(text: &str) -> Result<Granularity, String> {
        one_of("granularity", text, &Granularity::ALL, Granularity::word)
    }
}

/// Whether debug information in a class file counts as a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebugInfo(pub bool);

impl DebugInfo {
    const ALL: [DebugInfo; 2] = [DebugInfo(false), DebugInfo(true)];

    fn word(self) -> &'static str {
        match self.0 {
            true => "true",
            false => "false",
        }
    }
}

impl FromStr for DebugInfo {
    type Err = String;

    fn from_str(text: &str) -> Result<DebugInfo, String> {
        one_of("debug-info", text, &DebugInfo::ALL, DebugInfo::word)
    }
}

/// When tamis fetches commits and objects that the clone lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deepen {
    /// Only in CI, where nobody else uses the clone.
    Ci,
    Always,
    Never,
}

impl Deepen {
    pub const ALL: [Deepen; 3] = [Deepen::Ci, Deepen::Always, Deepen::Never];

    pub fn word(self) -> &'static str {
        match self {
            Deepen::Ci => "ci",
            Deepen::Always => "always",
            Deepen::Never => "never",
        }
    }
}

impl FromStr for Deepen {
    type Err = String;

    fn from_str(text: &str) -> Result<Deepen, String> {
        one_of("time to fetch", text, &Deepen::ALL, Deepen::word)
    }
}

impl fmt::Display for Deepen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

fn one_of<T: Copy>(
    what: &str,
    text: &str,
    all: &[T],
    word: fn(T) -> &'static str,
) -> Result<T, String> {
    if let Some(found) = all.iter().copied().find(|value| word(*value) == text) {
        return Ok(found);
    }
    let words: Vec<&str> = all.iter().map(|value| word(*value)).collect();
    let guess = nearest(text, words.iter().copied())
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default();
    Err(format!(
        "unknown {what} `{text}`, expected {}{guess}",
        words.join(", ")
    ))
}

/// The place of the store: a folder, as a path or as `fs:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StorePlace(pub String);

impl FromStr for StorePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<StorePlace, String> {
        let Text(text) = text.parse()?;
        if let Some(path) = text.strip_prefix("fs:") {
            let Text(path) = path.parse()?;
            return Ok(StorePlace(path));
        }
        // Otherwise a folder with such a name would be made, and nothing shared.
        let is_shared = text.contains(':') && text.parse::<Shared>().is_ok();
        match is_shared {
            true => {
                let shown = redact(&text);
                Err(format!(
                    "`{shown}` is not a folder; set it as `shared-store`, or write `fs:` before it \
                     for a folder with that name"
                ))
            }
            false => Ok(StorePlace(text)),
        }
    }
}

/// A relative folder inside another one, without `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SubFolder(pub PathBuf);

impl FromStr for SubFolder {
    type Err = String;

    fn from_str(text: &str) -> Result<SubFolder, String> {
        let path = PathBuf::from(Text::from_str(text)?.0);
        let stays = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !path.components().all(stays) {
            return Err(format!(
                "`{text}` leaves the folder of tamis.yml; give a sub-folder without `..`"
            ));
        }
        let plain = path.components().filter(|part| *part != Component::CurDir);
        Ok(SubFolder(plain.collect()))
    }
}

impl fmt::Display for SubFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_os_str().is_empty() {
            true => f.write_str("."),
            false => shown_path(&self.0).fmt(f),
        }
    }
}

/// A number of at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Count, String> {
        match text.parse() {
            Ok(count) if count > 0 => Ok(Count(count)),
            _ => Err(format!(
                "`{text}` is not a whole number from 1 to {}",
                u32::MAX
            )),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_and_others_refused_with_the_nearest() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.word().parse(), Ok(strategy));
        }
        insta::assert_snapshot!(
            "comit".parse::<Strategy>().unwrap_err(),
            @"unknown strategy `comit`, expected auto, all, commit, memo, merge-dom, merge-parents, merge-history, rebase-dom, rebase-parents, rebase-history, cherry-parent, cherry-history, revert-parent, revert-history, thesis; did you mean `commit`?"
        );
        let runners: Vec<&str> = runners::names().collect();
        let expected = format!("unknown runner `xyzzy-x`, expected {}", runners.join(", "));
        let refused = "xyzzy-x".parse::<&'static dyn Runner>();
        assert_eq!(refused, Err(expected));
    }

    #[test]
    fn a_sub_folder_stays_inside() {
        let folder = |text: &str| text.parse::<SubFolder>().map(|folder| folder.to_string());
        assert_eq!(folder("./svc/api/"), Ok("svc/api".to_owned()));
        assert_eq!(folder("."), Ok(".".to_owned()));
        assert!(folder("/etc").is_err());
        assert!(folder("a/../../b").is_err());
        assert!(folder("").is_err());
    }

    #[test]
    fn counts_begin_at_one() {
        assert_eq!("20".parse(), Ok(Count(20)));
        for text in ["0", "-1", "1.5", "many", "4294967296"] {
            assert!(text.parse::<Count>().is_err(), "{text}");
        }
    }
}
