use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    tamis::report::bug::explain_panics();
    tamis::cli::run(std::env::args_os()).into()
}
