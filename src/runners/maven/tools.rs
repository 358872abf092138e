//! Plugins of Maven: those that have no part in tests, and those that can ask for anything.

use std::collections::BTreeSet;

use super::xml::Element;

/// Plugins that look at a project, or publish it, and set nothing that others read.
const LOOKING: [&str; 22] = [
    "animal-sniffer-maven-plugin",
    "apache-rat-plugin",
    "central-publishing-maven-plugin",
    "clirr-maven-plugin",
    "coveralls-maven-plugin",
    "findbugs-maven-plugin",
    "japicmp-maven-plugin",
    "maven-changelog-plugin",
    "maven-changes-plugin",
    "maven-checkstyle-plugin",
    "maven-deploy-plugin",
    "maven-gpg-plugin",
    "maven-javadoc-plugin",
    "maven-jxr-plugin",
    "maven-pmd-plugin",
    "maven-project-info-reports-plugin",
    "maven-release-plugin",
    "maven-scm-publish-plugin",
    "maven-site-plugin",
    "nexus-staging-maven-plugin",
    "sonar-maven-plugin",
    "spotbugs-maven-plugin",
];

/// Plugins that pack or install what is built, after the tests of the only module.
const PACKING: [&str; 3] = [
    "maven-assembly-plugin",
    "maven-install-plugin",
    "maven-source-plugin",
];

/// Phases behind the tests.
const LATE: [&str; 4] = ["package", "verify", "install", "deploy"];

/// Whose they are; Maven's own need not be named.
const GROUPS: [&str; 10] = [
    "",
    "com.github.siom79.japicmp",
    "com.github.spotbugs",
    "org.apache.maven.plugins",
    "org.apache.rat",
    "org.codehaus.mojo",
    "org.eluder.coveralls",
    "org.sonarsource.scanner.maven",
    "org.sonatype.central",
    "org.sonatype.plugins",
];

/// Words in the names of properties that are for such plugins.
const OF_LOOKING: [&str; 14] = [
    "checkstyle",
    "clirr",
    "coveralls",
    "cpd",
    "doclint",
    "findbugs",
    "gpg",
    "japicmp",
    "javadoc",
    "pmd",
    "rat",
    "sniffer",
    "sonar",
    "spotbugs",
];

/// Whether a plugin has no part in tests, where the pom keeps these parts.
pub fn is_no_part(plugin: &Element, kept: &BTreeSet<String>) -> bool {
    let artifact = plugin.text_of("artifactId");
    let packs = PACKING.contains(&artifact) && !kept.contains(artifact) && is_late(plugin);
    (LOOKING.contains(&artifact) || packs)
        && GROUPS.contains(&plugin.text_of("groupId"))
        && plugin.text_of("extensions").is_empty()
        && !plugin.every().into_iter().any(names_classes)
}

/// Whether a tool may be told to write where classes and resources lie.
fn names_classes(element: &Element) -> bool {
    let text = element.text.to_lowercase();
    let text = text.replace("reporting.outputdirectory", "");
    text.contains("outputdirectory") || text.contains("classes")
}

/// Whether this is the name of a property for plugins that look at a project.
pub fn is_of_looking(property: &str) -> bool {
    let words = property.split(|sign: char| !sign.is_ascii_alphanumeric());
    words.map(str::to_ascii_lowercase).any(|word| {
        let tool = word.strip_suffix("version").unwrap_or(&word);
        OF_LOOKING.contains(&tool)
    })
}

/// Those of the plugins that pack which may do so before the tests: of another module, in
/// an earlier phase, or as the command says.
pub fn packing_early(poms: &[Element]) -> BTreeSet<String> {
    let every: Vec<&Element> = poms.iter().flat_map(|pom| pom.every()).collect();
    let has_modules = every
        .iter()
        .any(|one| ["module", "subproject"].contains(&one.name.as_str()));
    let is_early = |name: &&&str| {
        let goal = name.trim_start_matches("maven-").trim_end_matches("plugin");
        let goal = format!("{}:", goal.trim_end_matches('-'));
        has_modules
            || poms
                .iter()
                .any(|pom| pom.text.contains(&goal) || pom.text.contains(**name))
            || every
                .iter()
                .any(|one| one.text_of("artifactId") == **name && !is_late(one))
    };
    PACKING
        .iter()
        .filter(is_early)
        .map(|name| (*name).to_owned())
        .collect()
}

/// Whether a plugin that packs is in no phase before the tests.
fn is_late(plugin: &Element) -> bool {
    let every = plugin.every();
    let mut phases = every.iter().filter(|one| one.name == "phase");
    phases.all(|phase| LATE.contains(&phase.text.as_str()))
}

/// Whether a pom has scripts, which can ask for anything without a reference.
pub fn runs_scripts(pom: &Element) -> bool {
    let every = pom.every();
    let mut plugins = every.iter().filter(|one| one.name == "plugin");
    plugins.any(|plugin| {
        let artifact = plugin.text_of("artifactId");
        let all = plugin.every();
        let has = |names: &[&str]| all.iter().any(|one| names.contains(&one.name.as_str()));
        match artifact {
            "properties-maven-plugin" => true,
            "build-helper-maven-plugin" => all.iter().any(|one| one.text == "bsh-property"),
            "maven-antrun-plugin" => {
                let of_files = ["include", "property"];
                let mut tasks = all.iter();
                has(&SCRIPTS)
                    || tasks.any(|one| of_files.contains(&one.name.as_str()) && is_of_file(one))
            }
            _ => artifact.contains("gmaven") || artifact.contains("groovy"),
        }
    })
}

/// Tasks of Ant that run what is not in the pom, or a script that is.
const SCRIPTS: [&str; 10] = [
    "ant",
    "exportAntProperties",
    "import",
    "loadproperties",
    "macrodef",
    "script",
    "scriptdef",
    "subant",
    "taskdef",
    "typedef",
];

/// A set of files has `include`, too, with a pattern.
fn is_of_file(property: &Element) -> bool {
    let names = ["file", "resource", "url", "environment"];
    property
        .attributes
        .iter()
        .any(|(name, _)| names.contains(&name.as_str()))
}
