//! Plain pytest, the oracle of the edit table, in forks of a process that has imported it:
//! `fixtures/python/plain_server.py`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde_json::json;

use super::project::PATIENCE;

/// Variables that an interpreter, or what loads it, reads when it starts begin so.
const AT_START: [&str; 6] = ["COVERAGE", "LANG", "LC_", "LD_", "MALLOC", "PYTHON"];

/// Whether a fork does the same as a new interpreter.
pub(super) fn is_for(env: &BTreeMap<String, String>) -> bool {
    let mut names = env.keys();
    !names.any(|name| AT_START.iter().any(|start| name.starts_with(start)))
}

/// Runs `python -m pytest ARGUMENTS`, and returns whether it came to its end.
pub(super) fn run(
    python: &Path,
    arguments: &[&str],
    env: &BTreeMap<String, String>,
    (cwd, out): (&Path, &Path),
) -> bool {
    // Tests run in threads, each of which needs one for itself.
    static IDLE: Mutex<Vec<Server>> = Mutex::new(Vec::new());
    let idle = || IDLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = {
        let mut idle = idle();
        let at = idle.iter().position(|server| server.python == python);
        at.map(|at| idle.swap_remove(at))
    };
    let mut server = known.unwrap_or_else(|| Server::start(python));
    let request = json!({
        "cwd": cwd,
        "env": env,
        "argv": arguments,
        "out": out,
        "seconds": PATIENCE.as_secs(),
    });
    let status = server.ask(&request.to_string());
    idle().push(server);
    // A signal is in the low bits.
    status & 0x7f == 0
}

/// It ends when its input does.
struct Server {
    python: PathBuf,
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(python: &Path) -> Server {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/python/plain_server.py");
        let mut process = Command::new(python)
            .arg(script)
            .env_clear()
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", python.display()));
        let (input, output) = (process.stdin.take(), process.stdout.take());
        Server {
            python: python.to_owned(),
            _process: process,
            input: input.unwrap(),
            output: BufReader::new(output.unwrap()),
        }
    }

    fn ask(&mut self, request: &str) -> i32 {
        writeln!(self.input, "{request}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let status = answer.trim().parse();
        status.unwrap_or_else(|_| panic!("no answer of the server for plain pytest: {answer:?}"))
    }
}
