//! What `doctor` looks at where a JVM runs the tests: the JDK, the build tool, and whether
//! the collector can be loaded.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::CORRECT;
use crate::check::Check;
use crate::escape::shown_path;
use crate::run::{install_agent, jvm_library};
use crate::runners::{Runner, Settings, maven};

pub(crate) use crate::runners::maven::surefire::parts as version_parts;

/// The JDKs for which the collector is made.
const JDKS: std::ops::RangeInclusive<u32> = 8..=25;

/// Which JDK counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Jdk {
    /// That of the build, which compiles.
    OfBuild,
    /// That whose `java` the command starts.
    OfCommand,
}

/// What there is to say of a JVM that runs tests, with what is said of the program that
/// starts it.
pub(crate) fn of_jvm(home: Option<&Path>, which: Jdk, root: &Path, own: Vec<Check>) -> Vec<Check> {
    let mut checks = vec![jdk(home, which)];
    checks.extend(own);
    checks.extend(home.map(|home| collector(home, root)));
    checks
}

/// The same of a build tool. `own` says what there is to say of it, where the command is
/// its own; else nothing tells it what to leave out.
pub(crate) fn of_build(
    runner: &dyn Runner,
    settings: &Settings<'_>,
    command: Option<&[OsString]>,
    own: impl FnOnce(&[OsString]) -> Vec<Check>,
) -> Vec<Check> {
    let found = || Some(runner.find_command(settings).ok()?.words);
    let Some(command) = command.map(<[OsString]>::to_vec).or_else(found) else {
        let what = format!("{} has no build of {runner}", shown_path(settings.root));
        return vec![Check::fail(runner.name(), what, CORRECT)];
    };
    let own = match runner.drives(&command) {
        true => own(&command),
        false => vec![untold(&command)],
    };
    let home = maven::java_home();
    of_jvm(home.as_deref(), Jdk::OfBuild, settings.root, own)
}

/// A command of the JVM's to which nothing can be added.
pub(crate) fn untold(command: &[OsString]) -> Check {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    Check::warn(
        "command",
        format!(
            "nothing tells `{}` what to leave out: all tests run",
            words.join(" ")
        ),
        "use mvn, gradle or JUnit's console launcher by itself",
    )
}

fn jdk(home: Option<&Path>, which: Jdk) -> Check {
    let name = "jdk";
    let install = "install a JDK, 8 to 25, or set JAVA_HOME";
    let set = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let from = match &set {
        Some(_) if which == Jdk::OfBuild => "JAVA_HOME",
        _ => "PATH",
    };
    let Some(home) = home else {
        let found = match set {
            Some(home) if which == Jdk::OfBuild => {
                format!(
                    "JAVA_HOME is {}, which has no bin/java",
                    shown_path(Path::new(&home))
                )
            }
            _ => "there is no java on PATH".to_owned(),
        };
        return Check::fail(name, found, install);
    };
    let told = maven::runtime_in(home);
    let version = told.split_whitespace().next().unwrap_or_default();
    let version = version.trim_start_matches("java-").split("-linux-").next();
    let version = version.unwrap_or_default();
    let shown = format!("{version} in {} (from {from})", shown_path(home));
    let major = major(version);
    if which == Jdk::OfBuild && !home.join("bin/javac").is_file() {
        return Check::fail(
            name,
            format!("{shown} has no compiler: it is a JRE"),
            install,
        );
    }
    match major {
        Some(major) if major < *JDKS.start() => {
            Check::fail(name, format!("{shown} is too old"), install)
        }
        Some(major) if major > *JDKS.end() => Check::warn(
            name,
            format!("{shown} is newer than what the collector was tried with"),
            "if all tests run every time, use a JDK up to 25",
        ),
        _ => Check::ok(name, shown),
    }
}

/// `17.0.15+6` → 17, `1.8.0_402` → 8.
fn major(version: &str) -> Option<u32> {
    let mut numbers = version.split(|sign: char| !sign.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        major => Some(major),
    }
}

/// A build tool as `doctor` sees it.
pub(crate) struct Tool {
    pub name: &'static str,
    /// What stands before the version in what it prints.
    pub mark: &'static str,
    pub wrapper: &'static str,
    /// The wrapper's file of properties, and how the name of what it fetches begins.
    pub properties: &'static str,
    pub stem: &'static str,
}

/// A build tool by its own word, and its version if that is known. A wrapper is not started,
/// as it may fetch its tool first: its file of properties tells.
pub(crate) fn build_tool(
    tool: &Tool,
    command: &[OsString],
    root: &Path,
) -> (Check, Option<String>) {
    let name = tool.name;
    let program = command.first().map(PathBuf::from).unwrap_or_default();
    let shown = program.display().to_string();
    let is_wrapper = program.file_name().is_some_and(|name| name == tool.wrapper);
    if is_wrapper {
        let text = crate::disk::read_to_string(root.join(tool.properties)).unwrap_or_default();
        let version = distribution(&text, tool.stem);
        let told = version.as_deref().unwrap_or("of an unknown version");
        let check = match is_executable(&root.join(&program)) {
            true => Check::ok(name, format!("{told}, by {shown}")),
            false => Check::fail(
                name,
                format!("{shown} cannot be executed"),
                format!("`chmod +x {shown}`, and `git update-index --chmod=+x {shown}`"),
            ),
        };
        return (check, version);
    }
    let output = Command::new(&program)
        .arg("--version")
        .current_dir(root)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            let found = format!("`{shown}` cannot be started: {error}");
            let fix = "install it, or add its wrapper to the project";
            return (Check::fail(name, found, fix), None);
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(tool.mark)?;
        let is_part = |sign: &char| sign.is_ascii_alphanumeric() || ['.', '-'].contains(sign);
        Some(rest.chars().take_while(is_part).collect::<String>())
    });
    match version.filter(|version| output.status.success() && !version.is_empty()) {
        Some(version) => (
            Check::ok(name, format!("{version}, by {shown}")),
            Some(version),
        ),
        None => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().last().unwrap_or("no message").to_owned();
            let found = format!("`{shown} --version` ended with {}: {last}", output.status);
            (
                Check::fail(name, found, "make it work by itself first"),
                None,
            )
        }
    }
}

/// The version in the address from which a wrapper fetches its tool.
fn distribution(properties: &str, stem: &str) -> Option<String> {
    let line = properties
        .lines()
        .find(|line| line.trim_start().starts_with("distributionUrl"))?;
    let file = line.rsplit('/').next()?.strip_prefix(stem)?;
    let version = file
        .strip_suffix(".zip")
        .or_else(|| file.strip_suffix(".tar.gz"))?;
    let kinds = ["-bin", "-all"];
    let version = kinds
        .iter()
        .find_map(|kind| version.strip_suffix(kind))
        .unwrap_or(version);
    Some(version.to_owned())
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// Loads the collector into a JVM that does nothing else.
fn collector(home: &Path, root: &Path) -> Check {
    let name = "collector";
    let debug = "use a JDK of this machine's own system library, or run again with TAMIS_DEBUG=1 \
                 and report what it says";
    match started_collector(home, root) {
        Ok(()) => Check::ok(name, "for the JVM: it can be loaded"),
        Err(error) => Check::fail(name, format!("it cannot be loaded: {error:#}"), debug),
    }
}

fn started_collector(home: &Path, root: &Path) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let library = jvm_library(&install_agent(scratch.path())?);
    anyhow::ensure!(library.is_file(), "this tamis was built without it");
    let mut option = OsString::from("-agentpath:");
    option.push(&library);
    let output = Command::new(home.join("bin/java"))
        .arg(option)
        .arg("-version")
        .current_dir(root)
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors
        .lines()
        .find(|line| !line.is_empty())
        .unwrap_or("no message");
    anyhow::ensure!(output.status.success(), "{}, {last}", output.status);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CheckState;

    const TOOL: Tool = Tool {
        name: "maven",
        mark: "Apache Maven ",
        wrapper: "mvnw",
        properties: "wrapper.properties",
        stem: "apache-maven-",
    };

    #[test]
    fn versions_are_read_from_what_is_there() {
        assert_eq!(major("17.0.15+6-Debian"), Some(17));
        assert_eq!(major("1.8.0_402"), Some(8));
        assert_eq!(major("at-/opt/jdk"), None);
        let maven = "distributionUrl=https://repo.example.org/x/apache-maven-3.9.6-bin.zip\n";
        assert_eq!(distribution(maven, TOOL.stem).as_deref(), Some("3.9.6"));
        let gradle = "a=b\ndistributionUrl=https\\://example.org/gradle-8.5-all.zip\n";
        assert_eq!(distribution(gradle, "gradle-").as_deref(), Some("8.5"));
        assert_eq!(distribution("", "gradle-"), None);
    }

    #[test]
    fn a_missing_jdk_or_tool_says_what_to_install() {
        let nowhere = jdk(None, Jdk::OfBuild);
        assert_eq!(nowhere.state, CheckState::Fail);
        let jre = tempfile::tempdir().unwrap();
        fs_err::write(jre.path().join("release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
        let found = jdk(Some(jre.path()), Jdk::OfBuild).found;
        assert!(found.contains("17.0.1") && found.contains("JRE"), "{found}");
        // A launcher needs no compiler.
        assert_eq!(jdk(Some(jre.path()), Jdk::OfCommand).state, CheckState::Ok);
        let command = [OsString::from("/no/such/mvn"), "test".into()];
        let (check, version) = build_tool(&TOOL, &command, jre.path());
        assert_eq!((check.state, version), (CheckState::Fail, None));
    }
}
