//! A JVM that runs tests in orders of tamis's choice, started as a build starts its own
//! (`agents/jvm/orders`): each order has classes that were never used before.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

use crate::error::Error;
use crate::order::Step;
use crate::run::{Door, Heard, RunPlan, Served};
use crate::runners::orders::{Limits, Ran, Request, Told, explained};

/// A class of `agents/jvm/orders` with its source.
macro_rules! source {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../agents/jvm/orders/tamis/", $name, ".java")),
        )
    };
}

/// The sources that are compiled here, with the JDK of the project.
const CAPTURE: [(&str, &str); 2] = [source!("Capture"), source!("Json")];
const ORDERS: [(&str, &str); 5] = [
    source!("Json"),
    source!("Engine"),
    source!("Orders"),
    source!("Outcomes"),
    source!("Session"),
];
const JUNIT3: (&str, &str) = source!("JUnit3");
const JUNIT4: (&str, &str) = source!("JUnit4");
const PLATFORM: (&str, &str) = source!("Platform");
const GIVEN_ORDER: (&str, &str) = source!("GivenOrder");

const WHY: [(&str, &str); 2] = [source!("Json"), source!("Why")];

/// Properties that each JVM sets for itself.
const OWN_PROPERTIES: [&str; 10] = [
    "awt.",
    "file.",
    "ftp.",
    "java.",
    "jdk.",
    "line.separator",
    "native.",
    "os.",
    "path.",
    "sun.",
];

/// How a build has started the JVM of its tests.
#[derive(Debug, Deserialize)]
pub(crate) struct Captured {
    path: Vec<PathBuf>,
    /// Whether classes come from elsewhere than from the path.
    isolated: bool,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    properties: BTreeMap<String, String>,
    assertions: bool,
    testng: bool,
    junit3: bool,
    junit4: bool,
    platform: bool,
    jupiter: bool,
}

impl Captured {
    /// The folder of the module whose tests it ran.
    pub(crate) fn folder(&self) -> PathBuf {
        let property = |name: &str| self.properties.get(name);
        let folder = property("basedir").or_else(|| property("user.dir"));
        folder.map(PathBuf::from).unwrap_or_default()
    }

    /// # Errors
    /// Why its tests cannot be run elsewhere.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.testng {
            let why = "these tests run with TestNG, and orders can be chosen for JUnit";
            return Err(Error::usage(why));
        }
        if self.isolated {
            let why = "Surefire loads these tests by a class loader of its own, of which nobody \
                       knows the class path";
            return Err(
                Error::usage(why).with_hint("-Dsurefire.useSystemClassLoader=true changes that")
            );
        }
        let has_modules = self.properties.contains_key("jdk.module.main")
            || self.properties.contains_key("jdk.module.path");
        if has_modules {
            let why = "these tests run on a module path, and orders on a class path";
            return Err(Error::usage(why).with_hint("-Dsurefire.useModulePath=false changes that"));
        }
        Ok(())
    }

    fn home(&self) -> Result<&Path> {
        let home = self.properties.get("java.home").map(Path::new);
        home.context("the JVM of the tests did not tell where it lies")
    }
}

/// Runs `plan`, and returns how it started JVMs for tests, and how it ended.
///
/// # Errors
/// If there is no JDK, or the command cannot be started.
pub(crate) fn capture(mut plan: RunPlan, home: &Path) -> Result<(Vec<Captured>, Served), Error> {
    let folder = TempDir::with_prefix("tamis-").map_err(anyhow::Error::from)?;
    let jar = capture_jar(home, folder.path())?;
    let found = folder.path().join("found");
    fs_err::create_dir(&found).map_err(anyhow::Error::from)?;
    let mut option = OsString::from("-javaagent:");
    option.push(&jar);
    option.push("=");
    option.push(&found);
    let known = std::env::var_os("JAVA_TOOL_OPTIONS").filter(|known| !known.is_empty());
    if let Some(known) = known {
        option.push(" ");
        option.push(known);
    }
    plan.env.push(("JAVA_TOOL_OPTIONS".into(), option));
    let Some(served) = run_through(&plan)? else {
        return Err(Error::usage("interrupted before any order ran"));
    };
    let mut all = Vec::new();
    let entries = fs_err::read_dir(&found).map_err(anyhow::Error::from)?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        if file.extension() == Some(OsStr::new("json")) {
            let text = crate::disk::read(&file).map_err(anyhow::Error::from)?;
            let captured: Captured = serde_json::from_slice(&text).map_err(anyhow::Error::from)?;
            all.push(captured);
        }
    }
    Ok((all, served))
}

/// Runs a command that connects to nobody until it ends; `None` if the user interrupted it.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run_through(plan: &RunPlan) -> Result<Option<Served>> {
    let mut served = Door::new()?.open(plan)?;
    if served.hear(None)? == Heard::Interrupted {
        served.kill()?;
        return Ok(None);
    }
    Ok(Some(served))
}

/// The agent as a jar. It has to be understood by whatever JVM the tests run in.
fn capture_jar(home: &Path, folder: &Path) -> Result<PathBuf> {
    let classes = folder.join("agent");
    if compile(home, &CAPTURE, &[], &classes, &["--release", "8"]).is_err() {
        compile(home, &CAPTURE, &[], &classes, &[])?;
    }
    let manifest = folder.join("manifest");
    fs_err::write(&manifest, "Premain-Class: tamis.Capture\n")?;
    let jar = folder.join("capture.jar");
    let mut words: Vec<OsString> = vec!["cfm".into()];
    words.extend([
        jar.clone().into(),
        manifest.into(),
        "-C".into(),
        classes.into(),
    ]);
    words.push(".".into());
    run_tool(home, "jar", &words)?;
    Ok(jar)
}

/// Compiles sources into `out`.
fn compile(
    home: &Path,
    sources: &[(&str, &str)],
    path: &[PathBuf],
    out: &Path,
    options: &[&str],
) -> Result<()> {
    fs_err::create_dir_all(out)?;
    // Class paths are longer than a word of a command may be.
    let mut words = String::from("-proc:none -nowarn -Xlint:none -encoding UTF-8 -d ");
    words.push_str(&quoted(out));
    if !path.is_empty() {
        let path = std::env::join_paths(path).context("the class path has a colon in an entry")?;
        let _ = write!(words, " -cp {}", quoted(Path::new(&path)));
    }
    for (name, text) in sources {
        let file = out.join(format!("{name}.java"));
        fs_err::write(&file, text)?;
        let _ = write!(words, " {}", quoted(&file));
    }
    let list = out.join("words");
    fs_err::write(&list, words)?;
    let mut command: Vec<OsString> = options.iter().map(Into::into).collect();
    let mut at = OsString::from("@");
    at.push(&list);
    command.push(at);
    run_tool(home, "javac", &command)
}

/// A path as a file of words has it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Runs a tool of a JDK. The JRE of a JDK 8 lies in the JDK.
fn run_tool(home: &Path, tool: &str, words: &[OsString]) -> Result<()> {
    let folders = [Some(home), home.parent()];
    let mut places = folders
        .into_iter()
        .flatten()
        .map(|home| home.join("bin").join(tool));
    let Some(program) = places.find(|place| place.is_file()) else {
        bail!(
            "there is no {tool} in {}; set JAVA_HOME to a JDK",
            home.display()
        );
    };
    let done = Command::new(&program)
        .args(words)
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        bail!("{} failed: {}", program.display(), said.trim());
    }
    Ok(())
}

/// Starts JVMs that run orders.
#[derive(Debug)]
pub(crate) struct Starter {
    captured: Captured,
    classes: Vec<String>,
    /// Where the compiled sources lie.
    folder: TempDir,
}

/// A JVM that waits for orders.
#[derive(Debug)]
pub(crate) struct Server {
    served: Served,
    /// Names of tests, without the module.
    pub(crate) tests: Vec<String>,
    numbers: HashMap<String, usize>,
    cpu: f64,
}

/// What it says first.
#[derive(Debug, Deserialize)]
struct Hello {
    tests: Vec<String>,
    cpu: f64,
}

impl Starter {
    /// `classes` are those with tests, in their own order.
    ///
    /// # Errors
    /// If nothing can be compiled.
    pub(crate) fn new(captured: Captured, classes: Vec<String>) -> Result<Starter> {
        let folder = TempDir::with_prefix("tamis-")?;
        let mut sources = ORDERS.to_vec();
        let engines = [
            (captured.junit4, JUNIT4),
            (captured.junit3 && !captured.junit4, JUNIT3),
            (captured.platform, PLATFORM),
            (captured.platform && captured.jupiter, GIVEN_ORDER),
        ];
        sources.extend(
            engines
                .iter()
                .filter(|(is_there, _)| *is_there)
                .map(|(_, one)| *one),
        );
        let out = folder.path().join("classes");
        compile(captured.home()?, &sources, &captured.path, &out, &[])?;
        Ok(Starter {
            captured,
            classes,
            folder,
        })
    }

    /// Whether JUnit can be told how to order methods.
    pub(crate) fn has_orderers(&self) -> bool {
        self.captured.jupiter
    }

    /// Starts a JVM, and waits until it knows its tests.
    ///
    /// # Errors
    /// If it does not come to its tests.
    pub(crate) fn start(&self) -> Result<Server, Error> {
        self.start_below(Vec::new())
    }

    /// Starts a JVM under a debugger that tells at its end, in a file, which lines of the
    /// project's classes read what tests before `last` wrote.
    ///
    /// # Errors
    /// Those of [`Starter::start`], and if the JDK has no debugger.
    pub(crate) fn start_watched(&self, last: &str) -> Result<(Server, PathBuf), Error> {
        let home = self.captured.home()?;
        let out = self.folder.path().join("watching");
        compile(home, &WHY, &[], &out, &["--add-modules", "jdk.jdi"])
            .context("lines are found with a JDK from 9 on that has a debugger (jdk.jdi)")?;
        let folders = self.captured.path.iter().filter(|entry| entry.is_dir());
        let folders = std::env::join_paths(folders).map_err(anyhow::Error::from)?;
        let told = self.folder.path().join("cause.json");
        let words: Vec<OsString> = vec![
            home.join("bin/java").into(),
            "--add-modules".into(),
            "jdk.jdi".into(),
            "-cp".into(),
            out.into(),
            "tamis.Why".into(),
            told.clone().into(),
            folders,
            last.into(),
        ];
        Ok((self.start_below(words)?, told))
    }

    /// Starts a JVM by words that stand before those of its own.
    fn start_below(&self, before: Vec<OsString>) -> Result<Server, Error> {
        let (door, port, token) = Door::with_port()?;
        let out = self.folder.path().join("classes");
        let told = door.scratch().join("told.properties");
        fs_err::write(&told, self.told(port, &token, &out)).map_err(anyhow::Error::from)?;
        let mut argv = before;
        argv.push(self.captured.home()?.join("bin/java").into_os_string());
        // Others may be debuggers, and write reports of coverage at the end.
        let arguments = self.captured.arguments.iter();
        let is_ours = |word: &&String| {
            !word.starts_with("-javaagent:")
                && !word.starts_with("-agentlib:jdwp")
                && !word.starts_with("-Xrunjdwp")
        };
        argv.extend(arguments.filter(is_ours).map(Into::into));
        argv.extend(["-cp".into(), out.into(), "tamis.Orders".into(), told.into()]);
        let cwd = self.captured.properties.get("user.dir").map(PathBuf::from);
        let mut plan = RunPlan::plain(argv, &cwd.unwrap_or_else(|| self.captured.folder()));
        let environment = self.captured.environment.iter();
        let environment = environment.filter(|(name, _)| *name != "JAVA_TOOL_OPTIONS");
        plan.env = environment
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let mut served = door.open(&plan)?;
        match served.hear(None)? {
            Heard::Line(line) => {
                let hello: Hello = serde_json::from_str(&line).map_err(anyhow::Error::from)?;
                let numbers = hello.tests.iter().cloned().zip(0..).collect();
                Ok(Server {
                    served,
                    tests: hello.tests,
                    numbers,
                    cpu: hello.cpu,
                })
            }
            Heard::Interrupted => Err(Error::usage("interrupted before any test ran")),
            Heard::Late | Heard::Ended => {
                let ended = served.end()?;
                let why = format!(
                    "the JVM that is to run orders did not come to its tests (it ended with {})",
                    ended.status()
                );
                Err(explained(why, &served))
            }
        }
    }

    /// What the JVM reads first, in the format of Java's properties.
    fn told(&self, port: u16, token: &str, out: &Path) -> String {
        let entries = self.captured.path.iter().map(PathBuf::as_path).chain([out]);
        let entries = entries.map(|entry| entry.to_string_lossy().into_owned());
        let mut told = String::new();
        let mut tell = |name: &str, value: &str| {
            let _ = writeln!(told, "{}={}", escaped(name), escaped(value));
        };
        tell("port", &port.to_string());
        tell("token", token);
        tell("assertions", &self.captured.assertions.to_string());
        tell("path", &entries.collect::<Vec<_>>().join("\n"));
        tell("classes", &self.classes.join("\n"));
        for (name, value) in &self.captured.properties {
            if !OWN_PROPERTIES.iter().any(|own| name.starts_with(own)) {
                tell(&format!("property.{name}"), value);
            }
        }
        told
    }
}

/// A text of a file of Java's properties.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => escaped.push(byte.into()),
            _ => _ = write!(escaped, "\\u{unit:04x}"),
        }
    }
    escaped
}

impl Server {
    /// Lets it end, so that it writes what it has to write at its end.
    ///
    /// # Errors
    /// The system does not tell.
    pub(crate) fn end(mut self) -> Result<()> {
        self.served.end()?;
        Ok(())
    }

    /// Runs an order; `None` if the user interrupted it. And whether the JVM can run another
    /// one as if nothing had happened.
    ///
    /// # Errors
    /// If a test is unknown, or the system fails.
    pub(crate) fn run(
        &mut self,
        step: &Step,
        limits: Limits<'_>,
    ) -> Result<(Option<Ran>, bool), Error> {
        let since = Instant::now();
        let number = |test: &str| self.numbers.get(test).copied();
        let request = Request::new(&step.order, number, limits)?;
        let numbers: Vec<String> = request.numbers.iter().map(usize::to_string).collect();
        let heeded = request.hear(&mut self.served, &numbers.join(" "), Duration::ZERO)?;
        let mut ran = heeded.ran;
        ran.ended.elapsed = since.elapsed().as_secs_f64();
        // What its start took counts for its first order.
        ran.ended.cpu += std::mem::take(&mut self.cpu);
        let left_threads = heeded.last.get(3).and_then(Value::as_bool) == Some(true);
        let is_good = heeded.told == Told::All && !left_threads;
        Ok(((heeded.told != Told::Interrupted).then_some(ran), is_good))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_the_format_of_properties() {
        assert_eq!(escaped("a=b"), "a\\u003db");
        assert_eq!(escaped("ä𝄞"), "\\u00e4\\ud834\\udd1e");
    }

    #[test]
    fn paths_are_quoted() {
        assert_eq!(quoted(Path::new("/a b/\"c\"")), "\"/a b/\\\"c\\\"\"");
    }
}
