//! What `doctor` looks at where Maven runs the tests: Maven itself, and Surefire.

use std::ffi::OsString;
use std::path::Path;

use super::{Maven, inside_by, surefire};
use crate::check::Check;
use crate::runners::jvm::doctor::{Tool, build_tool, of_build};
use crate::runners::{Granularity, Settings};

const TOOL: Tool = Tool {
    name: "maven",
    mark: "Apache Maven ",
    wrapper: "mvnw",
    properties: ".mvn/wrapper/maven-wrapper.properties",
    stem: "apache-maven-",
};

pub(super) fn checks(settings: &Settings<'_>, command: Option<&[OsString]>) -> Vec<Check> {
    of_build(&Maven, settings, command, |command| {
        let (found, version) = build_tool(&TOOL, command, settings.root);
        let mut checks = vec![found];
        checks.extend(surefires(settings, version.as_deref()));
        checks.extend(inside(settings.root, command));
        checks
    })
}

/// Each version of Surefire that poms name, or that Maven takes by itself.
fn surefires(settings: &Settings<'_>, maven: Option<&str>) -> Vec<Check> {
    let name = "surefire";
    let said = surefire::said(settings.root);
    let by_method = settings.granularity == Granularity::Method;
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
    let inside = inside_by(root, &words)?;
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
