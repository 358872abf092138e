use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    tamis::explain_panics();
    tamis::run_command_line(std::env::args_os()).into()
}
