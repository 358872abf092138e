//! The Python interpreters of this machine, each with a virtual environment for the projects.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The minor versions of Python 3 that tamis supports or will meet.
const MINORS: std::ops::RangeInclusive<u32> = 8..=15;

/// Which interpreters a test wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The newest of this machine.
    Newest,
    /// The oldest of this machine; its collector is the most different one.
    Oldest,
    /// This minor version of Python 3, unless it is also the newest.
    Minor(u32),
    /// All others, or only the one in `TAMIS_E2E_PYTHON` (`3.8`).
    Others,
    /// All interpreters of this machine.
    Every,
}

/// A prepared virtual environment of one interpreter: with pytest alone, which starts in
/// three quarters of the time that it takes with [plug-ins](Python::with_plugins).
#[derive(Clone, Debug)]
pub struct Python {
    pub minor: u32,
    pub venv: PathBuf,
    interpreter: &'static Path,
}

/// The packages of an environment: its name after the version, and the file of
/// `fixtures/python` that lists them.
struct Packages {
    suffix: &'static str,
    listed: &'static str,
}

const PYTEST: Packages = Packages {
    suffix: "",
    listed: "requirements.txt",
};
const PLUGINS: Packages = Packages {
    suffix: "-plugins",
    listed: "plugins.txt",
};

impl fmt::Display for Python {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Python 3.{}", self.minor)
    }
}

impl Python {
    pub fn executable(&self) -> PathBuf {
        self.venv.join("bin/python")
    }

    pub fn site_packages(&self) -> PathBuf {
        site_packages(&self.venv, self.minor)
    }

    /// The environments in `wanted`. If there is none because the machine lacks something,
    /// prints a loud message, and fails under `CI=true`.
    pub fn find(wanted: Wanted) -> Vec<Python> {
        let present = interpreters();
        let (Some((oldest, _)), Some((newest, _))) = (present.first(), present.last()) else {
            skip("no Python interpreter from 3.8 on that runs was found");
            return Vec::new();
        };
        present
            .iter()
            .filter(|(minor, _)| match wanted {
                Wanted::Newest => minor == newest,
                Wanted::Oldest => minor == oldest,
                Wanted::Minor(this) => *minor == this && this != *newest,
                Wanted::Others => minor != newest && *minor != 11 && is_asked_for(*minor),
                Wanted::Every => true,
            })
            .filter_map(|(minor, executable)| Python::prepared(*minor, executable, &PYTEST))
            .collect()
    }

    /// The environment of this interpreter that has `pytest-asyncio`, `pytest-cov` and
    /// `pytest-xdist` too.
    pub fn with_plugins(&self) -> Option<Python> {
        Python::prepared(self.minor, self.interpreter, &PLUGINS)
    }

    fn prepared(minor: u32, interpreter: &'static Path, packages: &Packages) -> Option<Python> {
        match prepare(minor, interpreter, packages) {
            Ok(python) => Some(python),
            Err(why) => {
                skip(&format!("Python 3.{minor}: {why}"));
                None
            }
        }
    }
}

fn is_asked_for(minor: u32) -> bool {
    std::env::var("TAMIS_E2E_PYTHON").map_or(true, |asked| asked == format!("3.{minor}"))
}

pub fn site_packages(venv: &Path, minor: u32) -> PathBuf {
    venv.join(format!("lib/python3.{minor}/site-packages"))
}

/// A test that cannot run here fails in CI; elsewhere it prints a loud line (past the capture
/// of the test harness).
pub fn skip(why: &str) {
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "cannot be skipped in CI: {why}"
    );
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The minor version and executable of each interpreter that really runs, oldest first. (pyenv
/// has shims for inactive versions.)
fn interpreters() -> &'static [(u32, PathBuf)] {
    static FOUND: OnceLock<Vec<(u32, PathBuf)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        MINORS
            .filter_map(|minor| {
                candidates(minor)
                    .into_iter()
                    .find(|executable| runs(executable, minor))
                    .map(|executable| (minor, executable))
            })
            .collect()
    })
}

fn candidates(minor: u32) -> Vec<PathBuf> {
    let name = format!("python3.{minor}");
    let pyenv = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".pyenv")));
    let versions = pyenv.and_then(|root| fs::read_dir(root.join("versions")).ok());
    let mut found: Vec<PathBuf> = versions
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin").join(&name))
        .filter(|executable| executable.exists())
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    found.extend(std::env::split_paths(&path).map(|dir| dir.join(&name)));
    found
}

fn runs(executable: &Path, minor: u32) -> bool {
    let program = format!("import venv, sys; assert sys.version_info[:2] == (3, {minor})");
    Command::new(executable)
        .args(["-c", &program])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Makes the environment on first use. Several test processes may ask at once: with a lock on
/// a file beside it one works and the others wait.
fn prepare(minor: u32, executable: &'static Path, packages: &Packages) -> Result<Python, String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/python");
    let requirements = fixtures.join(packages.listed);
    let plugin = fixtures.join("e2e_outcomes.py");
    let read =
        |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let stamp = format!(
        "{}\n{}{}",
        executable.display(),
        read(&requirements)?,
        read(&plugin)?
    );

    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../python");
    fs::create_dir_all(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    let target = target.canonicalize().map_err(|e| e.to_string())?;
    let name = format!("3.{minor}{}", packages.suffix);
    let venv = target.join(&name);
    let python = Python {
        minor,
        venv,
        interpreter: executable,
    };
    let lock = fs::File::create(target.join(format!("{name}.lock"))).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;

    let stamp_file = python.venv.join("tamis-stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        return Ok(python);
    }
    let _ = fs::remove_dir_all(&python.venv);
    let venv = python.venv.as_os_str();
    succeed(Command::new(executable).args(["-m", "venv"]).arg(venv))?;
    succeed(
        Command::new(python.executable())
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
            ])
            .arg(&requirements),
    )?;
    fs::copy(&plugin, python.site_packages().join("e2e_outcomes.py")).map_err(|e| e.to_string())?;
    fs::write(&stamp_file, stamp).map_err(|e| e.to_string())?;
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{stderr}", output.status))
}
