//! What each known plug-in of Maven can have to do with a test.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};

use super::xml::Element;

/// What part a plug-in can have in a test.
#[derive(Clone, Copy)]
enum Part {
    /// None: it looks at a project, or publishes it, and sets nothing that others read.
    /// Properties with one of these words in their names are for it alone.
    Looks(&'static str),
    /// None, if it packs or installs what is built after the tests of the only module.
    Packs,
    /// Some, but only these of its goals make or change sources and classes.
    Runs(&'static str),
}

use Part::{Looks, Packs, Runs};

impl Part {
    fn makes(self, goal: &str) -> bool {
        matches!(self, Runs(makes) if has_word(makes, goal))
    }
}

/// All that is known of plug-ins: group and artifact, the part, and the reason for that.
/// A plug-in that is not here can do anything.
#[rustfmt::skip]
const PLUGINS: [(&str, Part, &str); 48] = [
    ("org.codehaus.mojo:animal-sniffer-maven-plugin", Looks("sniffer"), "compares calls with the API of a JDK"),
    ("org.apache.rat:apache-rat-plugin", Looks("rat"), "looks for licences at the head of files"),
    ("org.sonatype.central:central-publishing-maven-plugin", Looks(""), "uploads what is packed"),
    ("org.codehaus.mojo:clirr-maven-plugin", Looks("clirr"), "compares class files with those of a release"),
    ("org.eluder.coveralls:coveralls-maven-plugin", Looks("coveralls"), "uploads a report of coverage"),
    ("org.codehaus.mojo:findbugs-maven-plugin", Looks("findbugs"), "reads class files"),
    ("com.github.siom79.japicmp:japicmp-maven-plugin", Looks("japicmp"), "compares jars"),
    ("org.apache.maven.plugins:maven-changelog-plugin", Looks(""), "reports what git knows"),
    ("org.apache.maven.plugins:maven-changes-plugin", Looks(""), "reports changes.xml and issues"),
    ("org.apache.maven.plugins:maven-checkstyle-plugin", Looks("checkstyle"), "reads sources"),
    ("org.apache.maven.plugins:maven-deploy-plugin", Looks(""), "uploads what is packed"),
    ("org.apache.maven.plugins:maven-gpg-plugin", Looks("gpg"), "signs what is packed"),
    ("org.apache.maven.plugins:maven-javadoc-plugin", Looks("javadoc doclint"), "makes pages of sources"),
    ("org.apache.maven.plugins:maven-jxr-plugin", Looks(""), "makes pages of sources"),
    ("org.apache.maven.plugins:maven-pmd-plugin", Looks("pmd cpd"), "reads sources"),
    ("org.apache.maven.plugins:maven-project-info-reports-plugin", Looks(""), "makes pages of the pom"),
    ("org.apache.maven.plugins:maven-release-plugin", Looks(""), "starts Maven anew, in a commit of its own"),
    ("org.apache.maven.plugins:maven-scm-publish-plugin", Looks(""), "pushes a site"),
    ("org.apache.maven.plugins:maven-site-plugin", Looks(""), "makes pages"),
    ("org.sonatype.plugins:nexus-staging-maven-plugin", Looks(""), "uploads what is packed"),
    ("org.sonarsource.scanner.maven:sonar-maven-plugin", Looks("sonar"), "reads sources and reports"),
    ("org.codehaus.mojo:sonar-maven-plugin", Looks("sonar"), "reads sources and reports"),
    ("com.github.spotbugs:spotbugs-maven-plugin", Looks("spotbugs"), "reads class files"),
    ("org.apache.maven.plugins:maven-assembly-plugin", Packs, "packs an archive"),
    ("org.apache.maven.plugins:maven-install-plugin", Packs, "copies what is packed into the local repository"),
    ("org.apache.maven.plugins:maven-source-plugin", Packs, "packs the sources"),
    ("org.codehaus.mojo:cobertura-maven-plugin", Runs("instrument"), "measures coverage"),
    ("org.cyclonedx:cyclonedx-maven-plugin", Runs(""), "lists dependencies, perhaps as a resource"),
    ("de.thetaphi:forbiddenapis", Runs(""), "may read lists of calls that a test reads, too"),
    ("org.jacoco:jacoco-maven-plugin", Runs("instrument restore-instrumented-classes"), "sets Surefire's argLine"),
    ("com.mycila:license-maven-plugin", Runs("format update-file-header remove"), "lists licences, perhaps as a resource"),
    ("org.codehaus.mojo:license-maven-plugin", Runs("format update-file-header remove"), "lists licences, perhaps as a resource"),
    ("org.apache.maven.plugins:maven-clean-plugin", Runs(""), "takes away what tests may read"),
    ("org.apache.maven.plugins:maven-compiler-plugin", Runs(""), "compiles: how is a question of its own"),
    ("org.apache.maven.plugins:maven-dependency-plugin", Runs("unpack unpack-dependencies copy copy-dependencies"), "sets properties that name jars"),
    ("org.apache.maven.plugins:maven-enforcer-plugin", Runs(""), "may set properties"),
    ("org.apache.maven.plugins:maven-failsafe-plugin", Runs(""), "runs tests"),
    ("org.apache.maven.plugins:maven-help-plugin", Runs(""), "may set properties"),
    ("org.apache.maven.plugins:maven-jar-plugin", Runs(""), "packs what tests of other modules use"),
    ("org.apache.maven.plugins:maven-resources-plugin", Runs(""), "copies resources"),
    ("org.apache.maven.plugins:maven-scm-plugin", Runs(""), "may check out what tests read"),
    ("org.apache.maven.plugins:maven-shade-plugin", Runs(""), "packs what tests of other modules use"),
    ("org.apache.maven.plugins:maven-surefire-plugin", Runs(""), "runs tests"),
    ("org.apache.maven.plugins:maven-surefire-report-plugin", Runs(""), "may run the tests once more"),
    ("org.apache.maven.plugins:maven-war-plugin", Runs(""), "packs what tests of other modules use"),
    ("com.diffplug.spotless:spotless-maven-plugin", Runs("apply"), "reads sources"),
    ("org.springframework.boot:spring-boot-maven-plugin", Runs("build-info process-aot process-test-aot"), "starts the application for tests"),
    ("org.codehaus.mojo:versions-maven-plugin", Runs("set update-properties use-latest-versions"), "may set properties"),
];

/// Phases behind the tests.
const LATE: [&str; 4] = ["package", "verify", "install", "deploy"];

pub(super) fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// The part of a plug-in; `None` if it is not known. Maven's own plug-ins need no group.
fn part_of(group: &str, artifact: &str) -> Option<Part> {
    let is_it = |name: &str| match group {
        "" => name.rsplit(':').next() == Some(artifact),
        group => name.split_once(':') == Some((group, artifact)),
    };
    let known = PLUGINS.iter().find(|(name, ..)| is_it(name));
    known.map(|(_, part, _)| *part)
}

fn part_of_element(plugin: &Element) -> Option<Part> {
    part_of(plugin.text_of("groupId"), plugin.text_of("artifactId"))
}

/// Checks that a plug-in neither makes nor changes sources and classes.
///
/// # Errors
/// Says why it may do so.
pub(super) fn makes_no_classes(plugin: &Element) -> Result<()> {
    let artifact = plugin.text_of("artifactId");
    let part = part_of_element(plugin);
    let part = part.with_context(|| format!("the plugin {artifact} may make or change classes"))?;
    let is_alone = ["", "false"].contains(&plugin.text_of("extensions"));
    ensure!(is_alone, "the plugin {artifact} adds to Maven itself");
    for goal in plugin.named("goal").map(|goal| &goal.text) {
        ensure!(!part.makes(goal), "the plugin {artifact} runs {goal}");
    }
    Ok(())
}

/// Why the goal `word` of a command may make or change sources and classes; `None` if it
/// does not.
pub(crate) fn doubt_of_goal(word: &str) -> Option<String> {
    let (plugin, goal) = word.rsplit_once(':')?;
    let goal = goal.split('@').next().unwrap_or(goal);
    let parts: Vec<&str> = plugin.split(':').collect();
    let part = match parts.as_slice() {
        [prefix] => part_of("", &format!("maven-{prefix}-plugin"))
            .or_else(|| part_of("", &format!("{prefix}-maven-plugin"))),
        [group, artifact, ..] => part_of(group, artifact),
        [] => None,
    };
    let is_harmful = part.is_none_or(|part| part.makes(goal));
    is_harmful.then(|| format!("`{word}` may make or change classes"))
}

/// Whether a plug-in has no part in tests, where the pom keeps these parts.
pub(super) fn is_no_part(plugin: &Element, kept: &BTreeSet<String>) -> bool {
    let artifact = plugin.text_of("artifactId");
    let is_idle = match part_of_element(plugin) {
        Some(Looks(_)) => true,
        Some(Packs) => !kept.contains(artifact) && is_late(plugin),
        Some(Runs(_)) | None => false,
    };
    is_idle
        && plugin.text_of("extensions").is_empty()
        && !plugin.every().into_iter().any(names_classes)
}

/// Whether a tool may be told to write where classes and resources lie.
fn names_classes(element: &Element) -> bool {
    let text = element.text.to_lowercase();
    let text = text.replace("reporting.outputdirectory", "");
    text.contains("outputdirectory") || text.contains("classes")
}

/// Whether this is the name of a property for plug-ins that look at a project.
pub(super) fn is_of_looking(property: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let words = PLUGINS.iter().map(|(_, part, _)| match part {
            Looks(words) => words,
            Packs | Runs(_) => "",
        });
        words.flat_map(str::split_whitespace).collect()
    });
    let words = property.split(|sign: char| !sign.is_ascii_alphanumeric());
    words.map(str::to_ascii_lowercase).any(|word| {
        let tool = word.strip_suffix("version").unwrap_or(&word);
        WORDS.contains(tool)
    })
}

/// Those of the plug-ins that pack which may do so before the tests: of another module, in
/// an earlier phase, or as the command says.
pub(super) fn packing_early(said: &[&Element]) -> BTreeSet<String> {
    let every: Vec<&Element> = said.iter().flat_map(|one| one.every()).collect();
    let is_module = |one: &&Element| has_word("module subproject", &one.name);
    let has_modules = every.iter().any(is_module);
    let is_early = |name: &&str| {
        let prefix = name.trim_start_matches("maven-");
        let goal = format!("{}:", prefix.trim_end_matches("-plugin"));
        let is_goal = |one: &&Element| one.text.contains(&goal) || one.text.contains(name);
        let is_in_phase = |one: &&Element| one.text_of("artifactId") == *name && !is_late(one);
        has_modules || said.iter().any(is_goal) || every.iter().any(is_in_phase)
    };
    let packing = PLUGINS.iter().filter(|(_, part, _)| matches!(part, Packs));
    let names = packing.filter_map(|(name, ..)| Some(name.split_once(':')?.1));
    names.filter(is_early).map(str::to_owned).collect()
}

/// Whether a plug-in that packs is in no phase before the tests.
fn is_late(plugin: &Element) -> bool {
    let mut phases = plugin.named("phase");
    phases.all(|phase| LATE.contains(&phase.text.as_str()))
}

/// Tasks of Ant that run what is not in the pom, or a script that is.
const SCRIPTS: &str = "ant exportAntProperties import loadproperties macrodef script scriptdef subant taskdef typedef";

/// Whether a pom has scripts, which can ask for anything without a reference.
pub(super) fn runs_scripts(pom: &Element) -> bool {
    // A set of files has `include`, too, with a pattern.
    let is_of_file = |task: &Element| {
        let mut names = task.attributes.iter().map(|(name, _)| name);
        ["include", "property"].contains(&task.name.as_str())
            && names.any(|name| has_word("file resource url environment", name))
    };
    let is_script = |task: &Element| has_word(SCRIPTS, &task.name) || is_of_file(task);
    pom.named("plugin").any(|plugin| {
        let all = plugin.every();
        match plugin.text_of("artifactId") {
            "properties-maven-plugin" => true,
            "build-helper-maven-plugin" => all.iter().any(|one| one.text == "bsh-property"),
            "maven-antrun-plugin" => all.into_iter().any(is_script),
            artifact => artifact.contains("gmaven") || artifact.contains("groovy"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plugin_is_known_once() {
        let names: BTreeSet<&str> = PLUGINS.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), PLUGINS.len());
    }

    #[test]
    fn goals_of_a_command_are_those_of_plugins() {
        for (word, is_doubt) in [
            ("test", false),
            ("jacoco:report", false),
            ("org.apache.maven.plugins:maven-jar-plugin:3.3.0:jar", false),
            ("surefire:test@id", false),
            ("antrun:run", true),
            ("dependency:unpack", true),
            ("org.x:y:1:z", true),
            ("x:y", true),
            ("org.x:maven-jar-plugin:3.3.0:jar", true),
        ] {
            assert_eq!(doubt_of_goal(word).is_some(), is_doubt, "{word}");
        }
    }
}
