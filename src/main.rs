use std::process::ExitCode;

fn main() -> ExitCode {
    tamis::report::bug::explain_panics();
    tamis::cli::run(std::env::args_os()).into()
}
