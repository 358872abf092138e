//! What a folder says of its tests in Node.

use std::ffi::OsString;
use std::path::Path;

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::disk;

/// What marks a package.
pub(super) const PACKAGE: &str = "package.json";

/// Programs that a package can bring along, each with where it is and the words to start it.
pub(super) const TOOLS: [(&str, &str, &[&str]); 2] = [
    ("vitest", "node_modules/.bin/vitest", &["run"]),
    ("jest", "node_modules/.bin/jest", &[]),
];

/// What a `package.json` says, as far as it is about tests.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Package {
    scripts: BTreeMap<String, String>,
    dependencies: BTreeMap<String, serde_json::Value>,
    dev_dependencies: BTreeMap<String, serde_json::Value>,
}

impl Package {
    /// That of a folder; `None` if there is none that can be read.
    pub(super) fn of(folder: &Path) -> Option<Package> {
        let text = disk::read(folder.join(PACKAGE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The tool that the package depends on, where it is, and the words to start it.
    pub(super) fn tool(&self) -> Option<(&'static str, &'static str, &'static [&'static str])> {
        let needs = |name: &str| {
            self.dependencies.contains_key(name) || self.dev_dependencies.contains_key(name)
        };
        TOOLS.into_iter().find(|(name, _, _)| needs(name))
    }

    /// The words of its test script, if that is `node --test` and no more.
    pub(super) fn node_test(&self) -> Option<Vec<OsString>> {
        let script = self.scripts.get("test")?;
        let words = shell_words::split(script).ok()?;
        let is_plain = !script.contains(['&', '|', ';', '$', '`', '<', '>', '*', '?', '{', '\n']);
        let is_node = words.first().is_some_and(|word| word == "node");
        let tests = words.iter().any(|word| word == "--test");
        (is_plain && is_node && tests).then(|| words.into_iter().map(OsString::from).collect())
    }

    /// Whether its test script starts a program that tamis knows.
    pub(super) fn has_tests(&self) -> bool {
        let script = self.scripts.get("test");
        let known = ["vitest", "jest", "--test"];
        let is_known = script.is_some_and(|script| known.iter().any(|one| script.contains(one)));
        is_known || self.tool().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_started_itself_if_no_shell_is_needed() {
        let of = |script: &str| {
            let text = serde_json::json!({"scripts": {"test": script}}).to_string();
            let package: Package = serde_json::from_str(&text).unwrap();
            let words = package.node_test()?;
            let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
            Some(words.join(" "))
        };
        let plain = "node --test --import tsx";
        assert_eq!(of(plain).as_deref(), Some(plain));
        assert_eq!(of("node --test test/*.js"), None);
        assert_eq!(of("tsc && node --test"), None);
        assert_eq!(of("node test.js"), None);
    }
}
