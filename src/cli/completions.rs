//! `tamis completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Arguments;
use crate::error::{Error, Exit};
use crate::report::Report;

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    tamis completions bash > ~/.local/share/bash-completion/completions/tamis\n  \
    tamis completions fish > ~/.config/fish/completions/tamis.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, report: &Report) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "tamis", &mut script);
    report.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Style, testing};
    use clap::ValueEnum;

    #[test]
    fn every_shell_completes_every_command() {
        for shell in Shell::value_variants() {
            let (report, out, _) = testing::report(Style::default());
            run(&CompletionsArgs { shell: *shell }, &report).unwrap();
            for command in Arguments::command().get_subcommands() {
                assert!(out.text().contains(command.get_name()), "{shell}");
            }
        }
    }
}
