//! What `doctor` looks at where a JVM runs the tests: the JDK, the build tool, Surefire, and
//! whether the collector can be loaded.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::config::{Config, Granularity, Runner, shown_path};
use crate::history::Repository;
use crate::report::Check;
use crate::run::{install_agent, jvm_library};
use crate::runners::maven::surefire;
use crate::runners::{gradle, junit, jvm, maven};

/// The JDKs for which the collector is made.
const JDKS: std::ops::RangeInclusive<u32> = 8..=25;

pub fn checks(config: &Config) -> Vec<Check> {
    let root = &config.root.value;
    let runner = config.runner.value;
    let command = command_of(config);
    let mut checks = Vec::new();
    match &command {
        Some(command) => {
            let home = jvm::home(command, root);
            checks.push(jdk(home.as_deref(), runner));
            checks.extend(tool(config, command));
            checks.extend(home.map(|home| collector(&home, root)));
        }
        None => checks.push(Check::fail(
            runner.word(),
            format!("{} has no build of {runner}", shown_path(root)),
            match runner {
                Runner::Junit => {
                    "write the `command` in tamis.yml: no build file has its class path"
                }
                _ => "correct `runner` or `root` in tamis.yml, or give a `command`",
            },
        )),
    }
    checks.extend(ignored(root, runner));
    checks
}

/// The command that `tamis run` would start.
fn command_of(config: &Config) -> Option<Vec<OsString>> {
    if let Some(words) = &config.command.value {
        return Some(words.iter().map(OsString::from).collect());
    }
    let root = &config.root.value;
    match config.runner.value {
        Runner::Maven => maven::find(root),
        Runner::Gradle => gradle::find(root),
        Runner::Junit | Runner::Pytest => None,
    }
}

fn jdk(home: Option<&Path>, runner: Runner) -> Check {
    let name = "jdk";
    let install = "install a JDK, 8 to 25, or set JAVA_HOME";
    let set = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let from = match &set {
        Some(_) if runner != Runner::Junit => "JAVA_HOME",
        _ => "PATH",
    };
    let Some(home) = home else {
        let found = match set {
            Some(home) if runner != Runner::Junit => {
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
    if runner != Runner::Junit && !home.join("bin/javac").is_file() {
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

/// The build tool, and what is said of its tests.
fn tool(config: &Config, command: &[OsString]) -> Vec<Check> {
    let root = &config.root.value;
    match jvm::Tool::of(command) {
        Some(jvm::Tool::Maven) => {
            let (found, version) =
                build_tool("maven", "Apache Maven ", MAVEN_WRAPPER, command, root);
            let mut checks = vec![found];
            checks.extend(surefires(config, version.as_deref()));
            checks.extend(inside(root, command));
            checks
        }
        Some(jvm::Tool::Gradle) => {
            let (found, version) = build_tool("gradle", "Gradle ", GRADLE_WRAPPER, command, root);
            vec![match version.as_deref().and_then(surefire::parts) {
                Some(parts) if parts < [4, 0, 0] => Check::fail(
                    "gradle",
                    format!("{} is too old", found.found),
                    "use Gradle 4.0 or later",
                ),
                Some(parts) if parts >= [9, 0, 0] => Check::warn(
                    "gradle",
                    format!(
                        "{} is newer than what the init script was made for",
                        found.found
                    ),
                    "if it fails there, use Gradle 4.0 to 8",
                ),
                _ => found,
            }]
        }
        Some(jvm::Tool::Console) => vec![class_path(command, root)],
        None => {
            let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
            vec![Check::warn(
                "command",
                format!(
                    "nothing tells `{}` what to leave out: all tests run",
                    words.join(" ")
                ),
                "use mvn, gradle or JUnit's console launcher by itself",
            )]
        }
    }
}

const MAVEN_WRAPPER: (&str, &str) = (".mvn/wrapper/maven-wrapper.properties", "apache-maven-");
const GRADLE_WRAPPER: (&str, &str) = ("gradle/wrapper/gradle-wrapper.properties", "gradle-");

/// A build tool by its own word, and its version if that is known. A wrapper is not started,
/// as it may fetch its tool first: its file of properties tells.
fn build_tool(
    name: &str,
    mark: &str,
    (properties, stem): (&str, &str),
    command: &[OsString],
    root: &Path,
) -> (Check, Option<String>) {
    let program = command.first().map(PathBuf::from).unwrap_or_default();
    let shown = program.display().to_string();
    let is_wrapper = program
        .file_name()
        .is_some_and(|name| ["mvnw", "gradlew"].iter().any(|wrapper| name == *wrapper));
    if is_wrapper {
        let text = crate::disk::read_to_string(root.join(properties)).unwrap_or_default();
        let version = distribution(&text, stem);
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
        let (_, rest) = line.split_once(mark)?;
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

/// Each version of Surefire that poms name, or that Maven takes by itself.
fn surefires(config: &Config, maven: Option<&str>) -> Vec<Check> {
    let name = "surefire";
    let said = surefire::said(&config.root.value);
    let by_method = config.granularity.value == Granularity::Method;
    let is_old_maven = maven
        .and_then(surefire::parts)
        .is_some_and(|maven| maven < [3, 9, 0]);
    let mut versions: Vec<(String, &str)> = Vec::new();
    for version in &said.versions {
        versions.push((version.clone(), "from pom.xml"));
    }
    if versions.is_empty() && said.unknown.is_none() && is_old_maven {
        versions.push((surefire::OF_OLD_MAVEN.to_owned(), "as no pom.xml names one"));
    }
    let checks = versions.into_iter().map(|(version, why)| {
        match surefire::trouble(&version, said.has_jupiter, by_method) {
            Some(trouble) => Check::warn(
                name,
                format!("{trouble} ({why})"),
                surefire::remedy(by_method),
            ),
            None => Check::ok(name, format!("{version} ({why})")),
        }
    });
    let mut checks: Vec<Check> = checks.collect();
    if let Some(why) = said.unknown {
        checks.push(Check::warn(
            name,
            format!("not all poms are known: {why}"),
            "build once, so that Maven fetches them: until then Maven is started twice",
        ));
    } else if checks.is_empty() {
        checks.push(Check::ok(
            name,
            "Maven's own choice, as no pom.xml names a version",
        ));
    }
    checks
}

/// Tests in Maven's own JVM.
fn inside(root: &Path, command: &[OsString]) -> Option<Check> {
    let words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let inside = maven::inside_by(root, &words)?;
    let (setting, place) = (inside.setting, inside.place());
    Some(Check::warn(
        "forks",
        format!(
            "`{setting}` {} in {place} runs tests in Maven's own JVM, where nothing is watched: \
             all tests run every time",
            inside.value
        ),
        format!("take `{setting}` out of {place}, or say `forkCount` 1"),
    ))
}

/// What the class path of JUnit's launcher leads to.
fn class_path(command: &[OsString], root: &Path) -> Check {
    let name = "class path";
    let options = junit::options(command, root);
    let folders: Vec<&str> = junit::folders(&options).collect();
    let missing = folders.iter().find(|folder| !root.join(folder).exists());
    let has_classes = |folder: &&&str| {
        jvm::class_files(&root.join(folder)).is_ok_and(|classes| !classes.is_empty())
    };
    match (folders.iter().find(has_classes), missing) {
        (Some(_), None) => Check::ok(name, folders.join(", ")),
        (_, Some(missing)) => Check::warn(
            name,
            format!("{missing} is not there"),
            "compile first: tamis compiles nothing for this runner",
        ),
        (None, None) => Check::warn(
            name,
            "no folder on it has a class file",
            "compile first: tamis compiles nothing for this runner",
        ),
    }
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

/// What the build writes and git would show as new.
fn ignored(root: &Path, runner: Runner) -> Option<Check> {
    let lines = not_ignored(root, runner);
    if lines.is_empty() {
        return None;
    }
    let lines = lines.join("` and `");
    Some(Check::warn(
        "gitignore",
        format!("git does not ignore what the build writes: `{lines}`"),
        format!("add `{lines}` to .gitignore; `git rm -r --cached` for what git tracks of it"),
    ))
}

/// Folders that a runner's build writes and that git would show as new: each by the line
/// of `.gitignore` that is missing.
fn not_ignored(folder: &Path, runner: Runner) -> Vec<String> {
    let Ok(repository) = Repository::discover(folder) else {
        return Vec::new();
    };
    let Ok(folder) = folder.canonicalize() else {
        return Vec::new();
    };
    let folders = jvm::written_folders(runner, &folder).into_iter();
    let open = folders.filter(|folder| {
        let below = folder.strip_prefix(repository.root()).ok();
        let below = below.and_then(Path::to_str);
        // The folder need not be there yet, and a rule may be for folders alone.
        below.is_some_and(|path| !repository.ignores(format!("{path}/x").as_str().into()))
    });
    let names = open.filter_map(|folder| {
        let name = folder.file_name()?.to_str()?;
        Some(format!("{name}/"))
    });
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::CheckState;

    #[test]
    fn versions_are_read_from_what_is_there() {
        assert_eq!(major("17.0.15+6-Debian"), Some(17));
        assert_eq!(major("1.8.0_402"), Some(8));
        assert_eq!(major("at-/opt/jdk"), None);
        let maven = "distributionUrl=https://repo.example.org/x/apache-maven-3.9.6-bin.zip\n";
        assert_eq!(
            distribution(maven, MAVEN_WRAPPER.1).as_deref(),
            Some("3.9.6")
        );
        let gradle = "a=b\ndistributionUrl=https\\://example.org/gradle-8.5-all.zip\n";
        assert_eq!(
            distribution(gradle, GRADLE_WRAPPER.1).as_deref(),
            Some("8.5")
        );
        assert_eq!(distribution("", "gradle-"), None);
    }

    #[test]
    fn a_missing_jdk_or_tool_says_what_to_install() {
        let nowhere = jdk(None, Runner::Maven);
        assert_eq!(nowhere.state, CheckState::Fail);
        let jre = tempfile::tempdir().unwrap();
        fs_err::write(jre.path().join("release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
        let found = jdk(Some(jre.path()), Runner::Maven).found;
        assert!(found.contains("17.0.1") && found.contains("JRE"), "{found}");
        // A launcher needs no compiler.
        assert_eq!(jdk(Some(jre.path()), Runner::Junit).state, CheckState::Ok);
        let command = [OsString::from("/no/such/mvn"), "test".into()];
        let (check, version) = build_tool(
            "maven",
            "Apache Maven ",
            MAVEN_WRAPPER,
            &command,
            jre.path(),
        );
        assert_eq!((check.state, version), (CheckState::Fail, None));
    }
}
