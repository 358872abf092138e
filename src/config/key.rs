//! The keys of `tamis.yml`. `docs/configuration.md` describes each.

/// A key at the top level of `tamis.yml`, in the order of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Version,
    Suite,
    /// Holds names of suites with keys below each: [`Key::OF_SUITE`].
    Suites,
    Runner,
    Command,
    Tests,
    Python,
    Root,
    Paths,
    Store,
    SharedStore,
    SharedLabel,
    /// Holds the keys [`Key::OF_TRUST`].
    Trust,
    Deepen,
    Strategy,
    AlwaysRun,
    RunAllWhen,
    RunAllEvery,
    LockFiles,
    BenignState,
    KeepTogether,
    Granularity,
    DebugInfo,
    /// Holds the only key [`Key::IGNORE`].
    Env,
    Keep,
}

impl Key {
    pub(crate) const ALL: [Key; 25] = [
        Key::Version,
        Key::Suite,
        Key::Suites,
        Key::Runner,
        Key::Command,
        Key::Tests,
        Key::Python,
        Key::Root,
        Key::Paths,
        Key::Store,
        Key::SharedStore,
        Key::SharedLabel,
        Key::Trust,
        Key::Deepen,
        Key::Strategy,
        Key::AlwaysRun,
        Key::RunAllWhen,
        Key::RunAllEvery,
        Key::LockFiles,
        Key::BenignState,
        Key::KeepTogether,
        Key::Granularity,
        Key::DebugInfo,
        Key::Env,
        Key::Keep,
    ];

    /// The keys inside a suite of `suites`.
    pub(crate) const OF_SUITE: [Key; 15] = [
        Key::Runner,
        Key::Command,
        Key::Tests,
        Key::Python,
        Key::Root,
        Key::Paths,
        Key::SharedLabel,
        Key::AlwaysRun,
        Key::RunAllWhen,
        Key::LockFiles,
        Key::BenignState,
        Key::KeepTogether,
        Key::Granularity,
        Key::DebugInfo,
        Key::Env,
    ];

    /// The only key inside `env`.
    pub(crate) const IGNORE: &'static str = "ignore";

    /// The keys inside `trust`.
    pub(crate) const OF_TRUST: [&'static str; 5] =
        ["repository", "refs", "events", "workflows", "public-key"];

    /// The keys of one of the `tests`.
    pub(crate) const OF_TEST: [&'static str; 4] = ["id", "run", "cwd", "timeout"];

    /// The key as the file writes it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Key::Version => "version",
            Key::Suite => "suite",
            Key::Suites => "suites",
            Key::Runner => "runner",
            Key::Command => "command",
            Key::Tests => "tests",
            Key::Python => "python",
            Key::Root => "root",
            Key::Paths => "paths",
            Key::Store => "store",
            Key::SharedStore => "shared-store",
            Key::SharedLabel => "shared-label",
            Key::Trust => "trust",
            Key::Deepen => "deepen",
            Key::Strategy => "strategy",
            Key::AlwaysRun => "always-run",
            Key::RunAllWhen => "run-all-when",
            Key::RunAllEvery => "run-all-every",
            Key::LockFiles => "lock-files",
            Key::BenignState => "benign-state",
            Key::KeepTogether => "keep-together",
            Key::Granularity => "granularity",
            Key::DebugInfo => "debug-info",
            Key::Env => "env",
            Key::Keep => "keep",
        }
    }

    /// The environment variable that overrides the file. Single values have one, lists do not.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Key::Suite => Some("TAMIS_SUITE"),
            Key::Python => Some("TAMIS_PYTHON"),
            Key::Store => Some("TAMIS_STORE"),
            Key::SharedStore => Some("TAMIS_SHARED_STORE"),
            Key::SharedLabel => Some("TAMIS_SHARED_LABEL"),
            Key::Deepen => Some("TAMIS_DEEPEN"),
            Key::Strategy => Some("TAMIS_STRATEGY"),
            Key::RunAllEvery => Some("TAMIS_RUN_ALL_EVERY"),
            Key::Granularity => Some("TAMIS_GRANULARITY"),
            Key::DebugInfo => Some("TAMIS_DEBUG_INFO"),
            Key::Keep => Some("TAMIS_KEEP"),
            Key::Version
            | Key::Suites
            | Key::Paths
            | Key::Runner
            | Key::Command
            | Key::Tests
            | Key::Root
            | Key::AlwaysRun
            | Key::RunAllWhen
            | Key::LockFiles
            | Key::BenignState
            | Key::KeepTogether
            | Key::Trust
            | Key::Env => None,
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Key> {
        Key::ALL.into_iter().find(|key| key.word() == word)
    }
}

/// The candidate that is most similar to `word`, if one is similar.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let folded = word.to_lowercase().replace('_', "-");
    candidates
        .into_iter()
        .map(|candidate| {
            let other = candidate.to_lowercase().replace('_', "-");
            (strsim::jaro_winkler(&folded, &other), candidate)
        })
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_docs_name_every_key_and_variable() {
        let docs = include_str!("../../docs/configuration.md");
        for key in Key::ALL {
            assert!(
                docs.contains(&format!("\n### `{}`\n", key.word())),
                "{key:?}"
            );
            if let Some(variable) = key.variable() {
                assert!(docs.contains(&format!("`{variable}`")), "{variable}");
            }
        }
        assert!(docs.contains(&format!("`{}`", Key::IGNORE)));
        for key in Key::OF_TRUST.into_iter().chain(Key::OF_TEST) {
            assert!(docs.contains(&format!("| `{key}` |")), "{key}");
        }
    }

    #[test]
    fn the_docs_name_no_key_that_does_not_exist() {
        let docs = include_str!("../../docs/configuration.md");
        let heads = docs.lines().filter_map(|line| line.strip_prefix("### `"));
        let words: Vec<&str> = heads.filter_map(|head| head.strip_suffix('`')).collect();
        assert_eq!(words, Key::ALL.map(Key::word));
    }

    #[test]
    fn the_nearest_key_is_found_or_none() {
        let near = |word| nearest(word, Key::ALL.map(Key::word));
        assert_eq!(near("strateg"), Some("strategy"));
        assert_eq!(near("always_run"), Some("always-run"));
        assert_eq!(near("Lockfiles"), Some("lock-files"));
        assert_eq!(near("zzz"), None);
    }
}
