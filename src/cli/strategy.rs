//! The options that say how to select, and what an event tells of the head.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::ci::CiContext;
use crate::config::{Deepen, Overrides, Setting, Strategy};
use crate::error::Error;
use crate::history::{CommitId, Hints, Repository};

#[derive(Args, Debug, Default)]
pub(super) struct StrategyArgs {
    /// How to select [default: the configuration's, else auto]
    #[arg(long, value_name = "NAME", value_parser = strategy_parser())]
    pub strategy: Option<Strategy>,
    /// When to fetch what a shallow or filtered clone lacks [default: the configuration's, else ci]
    #[arg(long, value_name = "WHEN", value_parser = deepen_parser())]
    deepen: Option<Deepen>,
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
    /// What the CI service tells.
    #[arg(skip)]
    context: Option<CiContext>,
}

impl StrategyArgs {
    /// The settings that these options override.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            strategy: self
                .strategy
                .map(|value| Setting::flag(value, "--strategy")),
            deepen: self.deepen.map(|value| Setting::flag(value, "--deepen")),
            ..Overrides::default()
        }
    }

    /// What was typed, and else what the CI service tells.
    pub(super) fn event(&self, context: Option<&CiContext>) -> EventArgs {
        self.event.clone().or_as_told(context)
    }
}

impl EventArgs {
    /// What was typed, and else what the CI service tells.
    pub fn or_as_told(mut self, context: Option<&CiContext>) -> EventArgs {
        self.context = context.cloned();
        self
    }

    /// Whether the user named a revision.
    pub fn is_named(&self) -> bool {
        self.before.is_some() || self.pr_head.is_some()
    }

    /// The commits that the options name; where they name none, those that the
    /// CI service tells of `head` and that are here.
    ///
    /// # Errors
    /// If there is no such commit as an option names.
    pub fn resolve(&self, repository: &Repository, head: CommitId) -> Result<Hints, Error> {
        let resolve = |rev: &Option<String>| -> Result<_, Error> {
            match rev {
                Some(rev) => Ok(Some(repository.resolve(rev)?.commit)),
                None => Ok(None),
            }
        };
        let told = self.told(repository, head);
        Ok(Hints {
            before: resolve(&self.before)?.or(told.before),
            pr_head: resolve(&self.pr_head)?.or(told.pr_head),
        })
    }

    /// A hint that does not fit is none: it can only have made a better
    /// strategy possible.
    fn told(&self, repository: &Repository, head: CommitId) -> Hints {
        let Some(context) = &self.context else {
            return Hints::default();
        };
        let is_about = context
            .head
            .as_ref()
            .is_none_or(|told| *told == head.to_string());
        if !is_about {
            return Hints::default();
        }
        let here = |rev: Option<&String>| {
            let commit = repository.resolve(rev?).ok()?.commit;
            (commit != head).then_some(commit)
        };
        let request = context.pull_request.as_ref();
        Hints {
            before: here(context.before.as_ref()),
            pr_head: here(request.and_then(|request| request.head.as_ref())),
        }
    }
}

/// Reads the value of `--deepen`.
fn deepen_parser() -> impl TypedValueParser<Value = Deepen> {
    PossibleValuesParser::new(Deepen::ALL.map(Deepen::word)).try_map(|word| word.parse::<Deepen>())
}

/// Reads the value of `--strategy`.
fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    let words = Strategy::ALL.map(|word| PossibleValue::new(word.word()).help(word.about()));
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Strategy>())
}
