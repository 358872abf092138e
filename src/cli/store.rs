//! `tamis store`.

use clap::{Args, Subcommand};

use super::Globals;
use crate::config::{Config, Count, Overrides, Setting};
use crate::error::{Error, Exit};
use crate::report::Report;

/// Look at, check and clean the recorded results.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis store ls\n  \
    tamis store show HEAD\n  \
    tamis store gc --keep 20 --dry-run")]
pub struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// List the stored matrices, the newest first
    Ls,
    Show(ShowArgs),
    /// Read every stored file in full; the status is 1 if one is damaged
    Verify,
    Gc(GcArgs),
}

/// Show one stored matrix
#[derive(Args, Debug)]
struct ShowArgs {
    /// A matrix as `ls` names it, or a revision
    #[arg(value_name = "MATRIX")]
    matrix: String,
    /// Show only this test's row
    #[arg(long, value_name = "TEST")]
    test: Option<String>,
}

/// Delete matrices that are not worth their space
///
/// The newest are kept. What is deleted makes later runs larger, never wrong.
#[derive(Args, Debug)]
struct GcArgs {
    /// How many matrices to keep [default: the configuration's, else 50]
    #[arg(long, value_name = "N")]
    keep: Option<Count>,
    /// Delete more until the store has at most this size (`500MB`, `2GiB`)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_bytes: Option<u64>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// What `store` is to do: flags and configuration merged.
#[derive(Clone, Debug)]
pub struct StoreRequest {
    pub config: Config,
    pub action: StoreAction,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAction {
    List,
    Show {
        /// A matrix name or a revision.
        matrix: String,
        test: Option<String>,
    },
    Verify,
    Collect {
        keep: u32,
        max_bytes: Option<u64>,
        dry_run: bool,
    },
}

impl StoreArgs {
    fn resolve(&self, globals: &Globals) -> Result<StoreRequest, Error> {
        let keep = match &self.command {
            StoreCommand::Gc(args) => args.keep.map(|keep| Setting::flag(keep, "--keep")),
            _ => None,
        };
        let config = globals.config(&Overrides {
            keep,
            ..Overrides::default()
        })?;
        let action = match &self.command {
            StoreCommand::Ls => StoreAction::List,
            StoreCommand::Show(args) => StoreAction::Show {
                matrix: args.matrix.clone(),
                test: args.test.clone(),
            },
            StoreCommand::Verify => StoreAction::Verify,
            StoreCommand::Gc(args) => StoreAction::Collect {
                keep: config.keep.value,
                max_bytes: args.max_bytes,
                dry_run: args.dry_run,
            },
        };
        Ok(StoreRequest { config, action })
    }
}

/// `500`, `500MB` (10^6), `500MiB` (2^20), `2G` (as `GB`).
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("expected a size such as 500MB or 2GiB".to_owned()),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "expected a size such as 500MB or 2GiB".to_owned())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "the size is too large".to_owned())
}

pub fn run(args: &StoreArgs, globals: &Globals, _report: &Report) -> Result<Exit, Error> {
    let _request = args.resolve(globals)?;
    Err(Error::usage("`tamis store` is not built yet"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Project;
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        let sizes = ["0", "500", "2kB", "3MB", "1MiB", "2G", "1 GiB"].map(parse_size);
        let bytes = [0, 500, 2000, 3_000_000, 1 << 20, 2_000_000_000, 1 << 30];
        assert_eq!(sizes, bytes.map(Ok));
        for text in ["", "MB", "1.5GB", "-1", "5 parsecs", "99999999999GB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_word_reaches_the_action() {
        let project = Project::new("version: 1\nkeep: 3\n");
        let action = |words: &[&str]| {
            project.request(words, |args: &StoreArgs, globals| {
                let StoreRequest { action, .. } = args.resolve(globals)?;
                Ok(action)
            })
        };
        assert_eq!(action(&["ls"]), "List");
        assert_eq!(action(&["verify"]), "Verify");
        let show = action(&["show", "HEAD", "--test", "t.py::t"]);
        assert!(show.contains("HEAD") && show.contains("t.py::t"), "{show}");
        let plain = action(&["gc"]);
        assert!(plain.contains("keep: 3"), "{plain}");
        for words in [
            &["--keep", "4"][..],
            &["--max-bytes", "1MB"],
            &["--dry-run"],
        ] {
            assert_ne!(action(&[&["gc"], words].concat()), plain, "{words:?}");
        }
    }
}
