//! The options that say how to select, and what an event tells of the head.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::config::{Count, Overrides, Setting, Strategy};
use crate::error::Error;
use crate::history::{Hints, Repository};

#[derive(Args, Debug, Default)]
pub struct StrategyArgs {
    /// How to select [default: the configuration's, else auto]
    #[arg(long, value_name = "NAME", value_parser = strategy_parser())]
    pub strategy: Option<Strategy>,
    /// For `thesis`: from how many new tests on it compares with the parents
    #[arg(long, value_name = "N")]
    many_new_tests: Option<Count>,
    /// For `thesis`: up to how many commits a branch counts as short
    #[arg(long, value_name = "N")]
    short_branches: Option<Count>,
    #[command(flatten)]
    event: EventArgs,
}

/// What an event tells beside the history.
#[derive(Args, Clone, Debug, Default)]
pub struct EventArgs {
    /// Where the branch pointed before the push
    #[arg(long, value_name = "REV")]
    before: Option<String>,
    /// The tip of the pull request that was merged
    #[arg(long, value_name = "REV")]
    pr_head: Option<String>,
}

impl StrategyArgs {
    /// The settings that these options override.
    pub fn overrides(&self) -> Overrides {
        let flag = |count: &Option<Count>, name| {
            let count = count.as_ref()?;
            Some(Setting::flag(Count(count.0), name))
        };
        Overrides {
            strategy: self
                .strategy
                .map(|value| Setting::flag(value, "--strategy")),
            many_new_tests: flag(&self.many_new_tests, "--many-new-tests"),
            short_branches: flag(&self.short_branches, "--short-branches"),
            ..Overrides::default()
        }
    }

    pub fn event(&self) -> EventArgs {
        self.event.clone()
    }
}

impl EventArgs {
    /// Whether the user named a revision.
    pub fn is_named(&self) -> bool {
        self.before.is_some() || self.pr_head.is_some()
    }

    /// The commits that the options name.
    ///
    /// # Errors
    /// If there is no such commit.
    pub fn resolve(&self, repository: &Repository) -> Result<Hints, Error> {
        let resolve = |rev: &Option<String>| -> Result<_, Error> {
            match rev {
                Some(rev) => Ok(Some(repository.resolve(rev)?.commit)),
                None => Ok(None),
            }
        };
        Ok(Hints {
            before: resolve(&self.before)?,
            pr_head: resolve(&self.pr_head)?,
        })
    }
}

/// Reads the value of `--strategy`.
fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    let words = Strategy::ALL.map(|word| PossibleValue::new(word.word()).help(word.about()));
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Strategy>())
}
