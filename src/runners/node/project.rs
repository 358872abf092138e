//! What a folder says of its tests in Node.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use std::collections::BTreeMap;

use crate::disk;

/// What marks a package.
pub(super) const PACKAGE: &str = "package.json";

/// A program that a package can bring along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    pub name: &'static str,
    /// The words to start it with.
    pub words: &'static [&'static str],
}

const TOOLS: [Tool; 2] = [
    Tool {
        name: "vitest",
        words: &["run"],
    },
    Tool {
        name: "jest",
        words: &[],
    },
];

impl Tool {
    /// Where it is, from the folder of a package: there or, in a workspace, in one above.
    pub(super) fn installed(&self, folder: &Path) -> Option<PathBuf> {
        let mut way = PathBuf::new();
        for above in folder.ancestors() {
            let program = Path::new("node_modules/.bin").join(self.name);
            if above.join(&program).exists() {
                return Some(way.join(program));
            }
            way.push("..");
        }
        None
    }
}

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

    /// The tool that the package depends on.
    pub(super) fn tool(&self) -> Option<Tool> {
        let needs = |tool: &Tool| {
            let mut all = self.dependencies.keys().chain(self.dev_dependencies.keys());
            all.any(|name| name == tool.name)
        };
        TOOLS.into_iter().find(needs)
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
