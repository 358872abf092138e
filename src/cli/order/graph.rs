//! `tamis order graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Around, RunningArgs, known_dependences, with_tests};
use crate::cli::Globals;
use crate::error::{Error, Exit, Explain};
use crate::pipeline::Ordering;
use crate::report::{GraphJson, Report};

/// Show data dependences and manifest ones, as the last search left them.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis order graph --out graph.html              a page for the browser\n  \
    tamis order graph --format dot | dot -Tsvg      with Graphviz\n\n\
    Exit codes: 0 done, 2 wrong usage, no tests, or no search was done yet.")]
pub(super) struct GraphArgs {
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    format: Format,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    running: RunningArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Html,
    Dot,
    Json,
}

pub(super) fn run(args: &GraphArgs, globals: &Globals, report: &Report) -> Result<Exit, Error> {
    with_tests(&args.running, globals, report, |tests, around| {
        let text = text(args, tests, around, report)?;
        match &args.out {
            None => report.data(&text)?,
            Some(file) => {
                let file = globals.folder.join(file);
                crate::disk::write(&file, &text)
                    .map_err(anyhow::Error::from)
                    .hint("name a file that can be written")?;
                report.note(format!("wrote {}", file.display()));
            }
        }
        Ok(Exit::DONE)
    })
}

fn text(
    args: &GraphArgs,
    tests: &Ordering,
    around: Around<'_>,
    report: &Report,
) -> Result<String, Error> {
    let (known, found, _) = known_dependences(tests, around, report)?;
    let graph = GraphJson::new(&known, &found);
    let json = || serde_json::to_string_pretty(&graph).map(|text| text + "\n");
    Ok(match args.format {
        _ if report.is_json() => json().map_err(anyhow::Error::from)?,
        Format::Json => json().map_err(anyhow::Error::from)?,
        Format::Html => graph.page(),
        Format::Dot => graph.dot(),
    })
}
