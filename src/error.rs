//! Errors for people: a kind, a chain of causes, and hints for the next step. The kind decides
//! the heading and the exit code.

use std::fmt;
use std::process::ExitCode;

use crate::history::{HistoryError, HistoryErrorKind};

/// The exit status of tamis. `docs/exit-codes.md` documents the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// Success, even if no test was selected.
    pub const DONE: Exit = Exit(0);
    /// Tests failed, or a check of `doctor` or `store verify`. `run` and `record` return the
    /// status of the test command instead.
    pub const TESTS_FAILED: Exit = Exit(1);
    /// An error in the command line, the configuration, or a file that they name.
    pub const USAGE: Exit = Exit(2);
    /// A problem with the repository: none, bare, without commits, an unknown revision.
    pub const REPOSITORY: Exit = Exit(3);
    /// A problem with the store of recorded results.
    pub const STORE: Exit = Exit(4);
    /// A bug in tamis.
    pub const BUG: Exit = Exit(70);
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.0)
    }
}

/// What the error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line, the configuration, or a file or program that they name. Errors
    /// without a kind also get this one.
    Usage,
    Repository,
    Store,
    Bug,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Usage, Kind::Repository, Kind::Store, Kind::Bug];

    pub fn exit(self) -> Exit {
        match self {
            Kind::Usage => Exit::USAGE,
            Kind::Repository => Exit::REPOSITORY,
            Kind::Store => Exit::STORE,
            Kind::Bug => Exit::BUG,
        }
    }

    /// The words before the message.
    pub fn heading(self) -> &'static str {
        match self {
            Kind::Usage => "error",
            Kind::Repository => "repository error",
            Kind::Store => "store error",
            Kind::Bug => "our bug",
        }
    }

    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::Repository => "repository",
            Kind::Store => "store",
            Kind::Bug => "bug",
        }
    }
}

/// An error that ends the command.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    cause: anyhow::Error,
    hints: Vec<String>,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error {
            kind,
            cause: anyhow::Error::msg(message.into()),
            hints: Vec::new(),
        }
    }

    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(Kind::Usage, message)
    }

    pub fn repository(message: impl Into<String>) -> Error {
        Error::new(Kind::Repository, message)
    }

    pub fn store(message: impl Into<String>) -> Error {
        Error::new(Kind::Store, message)
    }

    pub fn bug(message: impl Into<String>) -> Error {
        Error::new(Kind::Bug, message)
    }

    /// Adds a next step: one line, in the imperative.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hints.push(hint.into());
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The kind of the repository error, if the history room caused this error.
    pub fn history(&self) -> Option<HistoryErrorKind> {
        let mut chain = self.cause.chain();
        chain.find_map(|link| Some(link.downcast_ref::<HistoryError>()?.kind))
    }

    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The causes of the message, the nearest first.
    pub fn causes(&self) -> Vec<String> {
        let mut causes: Vec<String> = Vec::new();
        for cause in self.cause.chain().skip(1).map(ToString::to_string) {
            // A wrapper with the text of its cause adds nothing.
            if causes.last() != Some(&cause) {
                causes.push(cause);
            }
        }
        causes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.chain().nth(1)
    }
}

impl From<anyhow::Error> for Error {
    /// Keeps the kind and the hints of an [`Error`] anywhere in the chain. So a room may
    /// return `anyhow::Result`, and its callers can add context.
    fn from(cause: anyhow::Error) -> Error {
        let inner = cause.chain().find_map(|link| link.downcast_ref::<Error>());
        let history = cause
            .chain()
            .find_map(|link| link.downcast_ref::<HistoryError>());
        let (kind, hints) = match (inner, history) {
            (Some(error), _) => (error.kind, error.hints.clone()),
            (None, Some(_)) => (Kind::Repository, Vec::new()),
            (None, None) => (Kind::Usage, Vec::new()),
        };
        Error { kind, cause, hints }
    }
}

impl From<HistoryError> for Error {
    fn from(error: HistoryError) -> Error {
        Error::repository(error.what).with_hint(error.next)
    }
}

/// Adds a kind or a hint to any result.
pub(crate) trait Explain<T> {
    fn kind(self, kind: Kind) -> Result<T, Error>;
    fn hint(self, hint: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: Into<anyhow::Error>> Explain<T> for Result<T, E> {
    fn kind(self, kind: Kind) -> Result<T, Error> {
        self.map_err(|error| Error {
            kind,
            ..Error::from(error.into())
        })
    }

    fn hint(self, hint: impl Into<String>) -> Result<T, Error> {
        self.map_err(|error| Error::from(error.into()).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn every_kind_has_the_documented_exit_code() {
        let codes = Kind::ALL.map(|kind| kind.exit().0);
        assert_eq!(codes, [2, 3, 4, 70]);
        assert_eq!((Exit::DONE.0, Exit::TESTS_FAILED.0), (0, 1));
    }

    #[test]
    fn the_docs_name_every_exit_code() {
        let docs = include_str!("../docs/exit-codes.md");
        for exit in [
            Exit::DONE,
            Exit::TESTS_FAILED,
            Exit::USAGE,
            Exit::REPOSITORY,
            Exit::STORE,
            Exit::BUG,
        ] {
            assert!(docs.contains(&format!("| {} |", exit.0)), "{exit:?}");
        }
    }

    #[test]
    fn context_added_by_callers_keeps_kind_hints_and_every_cause_once() {
        let deep: Result<(), Error> =
            Err(Error::store("the index is damaged").with_hint("run `tamis store verify`"));
        let error: Error = deep
            .context("cannot read the store")
            .context("cannot select")
            .unwrap_err()
            .into();
        assert_eq!(error.kind(), Kind::Store);
        assert_eq!(error.hints(), ["run `tamis store verify`"]);
        assert_eq!(error.to_string(), "cannot select");
        assert_eq!(
            error.causes(),
            ["cannot read the store", "the index is damaged"]
        );
    }

    #[test]
    fn explaining_an_error_twice_adds_up() {
        let missing: Result<(), _> = Err(std::io::Error::other("gone"));
        let error = missing
            .kind(Kind::Repository)
            .hint("first")
            .hint("second")
            .unwrap_err();
        assert_eq!(error.kind(), Kind::Repository);
        assert_eq!(error.hints(), ["first", "second"]);
        assert_eq!(error.to_string(), "gone");
        assert_eq!(error.causes(), Vec::<String>::new());
    }
}
