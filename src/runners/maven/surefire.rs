//! What poms tell Surefire and Failsafe, and what does not work with which version.

use std::collections::BTreeSet;
use std::path::Path;

use super::around::local_repository;
use super::command::is_phase;
use super::plugins::has_word;
use super::pom::{Doubt, Pom, Project};
use super::xml::Element;

/// What Maven takes up to 3.8 where no pom names a version.
pub(crate) const OF_OLD_MAVEN: &str = "2.12.4";

/// The first version that can be told what to leave out.
const OLDEST: [u32; 3] = [2, 19, 0];

/// The first that finds tests of JUnit 5, and that can leave out single methods.
const JUPITER: [u32; 3] = [2, 22, 0];
const METHODS: &str = "3.0.0-M6";

/// All that is beneath plug-ins that run tests, and beneath those that are told of them.
fn told(project: &Project) -> impl Iterator<Item = &Element> {
    runners(project).flat_map(|plugin| plugin.every())
}

fn runners(project: &Project) -> impl Iterator<Item = &Element> {
    let plugins = project.poms.iter().flat_map(|pom| pom.plugins());
    plugins.filter(|plugin| plugin.mentions("surefire") || plugin.mentions("failsafe"))
}

/// Whether there is a list of what to leave out: not one of groups, engines or variables.
pub(crate) fn has_exclusions(project: &Project) -> bool {
    let is_property = |one: &Element| {
        let of_runner = ["surefire.", "failsafe."].map(|name| one.name.strip_prefix(name));
        let mut names = of_runner.into_iter().flatten();
        names.any(|name| name.starts_with("excludes"))
    };
    let is_list = |one: &Element| has_word("exclude excludes excludesFile", &one.name);
    project.every().any(is_property) || told(project).any(is_list)
}

/// Whether classes of any name may be tests.
pub(crate) fn has_inclusions(project: &Project) -> bool {
    told(project).any(|one| one.name.starts_with("include"))
}

/// Whether sources or classes of tests may lie elsewhere than usual.
pub(crate) fn moves_tests(project: &Project) -> bool {
    project.has("testSourceDirectory") || project.has("testOutputDirectory")
}

/// Whether Surefire may run before all is compiled.
pub(crate) fn may_be_early(project: &Project) -> bool {
    let mut phases = told(project).filter(|one| one.name == "phase");
    phases.any(|phase| phase.text != "none" && !is_phase(&phase.text))
}

/// Settings by which tests run in Maven's own JVM, and how their values begin.
pub(crate) const INSIDE: [(&str, &str); 2] = [("forkCount", "0"), ("forkMode", "never")];

/// The one that may be set, and the pom that sets it.
pub(crate) fn inside(project: &Project) -> Option<((&'static str, &'static str), &Pom)> {
    let sets = |pom: &Pom, (name, value): (&str, &str)| {
        let mut all = pom.top.every().into_iter();
        all.any(|one| {
            let values = || project.values(&one.text);
            one.name.ends_with(name) && values().iter().any(|said| said.starts_with(value))
        })
    };
    let all = project.poms.iter();
    let mut all = all.flat_map(|pom| INSIDE.map(|setting| (setting, pom)));
    all.find(|(setting, pom)| sets(pom, *setting))
}

/// Why a list that names methods means something else, or nothing.
pub(crate) fn why_no_methods(project: &Project) -> Option<String> {
    let mut elsewhere = ["dependenciesToScan", "suiteXmlFile"].into_iter();
    let elsewhere = elsewhere.find(|setting| project.mentions(setting));
    let output = "testOutputDirectory";
    let moved = project.has(output).then_some(output);
    if let Some(setting) = elsewhere.or(moved) {
        return Some(format!("`{setting}` is set"));
    }
    // A provider of an older version may be a dependency of Surefire.
    let groups = "org.apache.maven.surefire org.junit.platform";
    let versions = runners(project).flat_map(|plugin| {
        let providers = plugin.at("dependencies/dependency").into_iter();
        let providers = providers.filter(|one| has_word(groups, one.text_of("groupId")));
        let all = std::iter::once(plugin).chain(providers);
        all.map(|one| one.text_of("version"))
    });
    let mut versions = versions.flat_map(|version| project.values(version));
    let old = versions.find(|version| is_old(version))?;
    Some(format!("Surefire {old} takes no methods"))
}

fn is_old(version: &str) -> bool {
    let milestone = version.strip_prefix("3.0.0-M");
    let milestone = milestone.and_then(|number| number.parse::<u32>().ok());
    let is_early = milestone.is_some_and(|number| number < 6);
    is_early || version.starts_with("2.") || version.starts_with("1.")
}

/// What the poms of a project say of versions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The versions of the plugin, in all modules; empty if none is named.
    pub versions: Vec<String>,
    /// Whether JUnit 5 is among the dependencies that are named.
    pub has_jupiter: bool,
    /// Why not all poms are known, if so.
    pub unknown: Option<String>,
}

/// Reads the poms of the modules of `project`, and those that they inherit from.
pub(crate) fn said(project: &Path) -> Said {
    let poms = Project::of_modules(project, &local_repository(project, &[]));
    let named = |pom: &Pom| {
        let is_surefire = |one: &&Element| one.text_of("artifactId") == "maven-surefire-plugin";
        let mut versions = pom.plugins().filter(is_surefire);
        let version = versions.find_map(|one| one.child("version"))?;
        Some(version.text.clone())
    };
    // The nearest one of each module.
    let modules = poms.poms.iter().filter(|pom| pom.is_own);
    let nearest = modules.filter_map(|pom| poms.lineage(pom).into_iter().find_map(named));
    let values = nearest.flat_map(|version| match poms.values(&version) {
        values if values.len() > 1 => values.into_iter().filter(|it| *it != version).collect(),
        _ => vec![version],
    });
    let versions: BTreeSet<String> = values.collect();
    let mut artifacts = poms.every().filter(|one| one.name == "artifactId");
    Said {
        versions: versions.into_iter().collect(),
        has_jupiter: artifacts.any(|one| one.text.starts_with("junit-jupiter")),
        unknown: poms.doubt().map(Doubt::to_string),
    }
}

/// What does not work with a version; `None` if all does, or nobody knows.
pub(crate) fn trouble(version: &str, has_jupiter: bool, by_method: bool) -> Option<String> {
    let parts = parts(version)?;
    let what = match () {
        () if has_jupiter && parts < JUPITER => "finds no tests of JUnit 5",
        () if parts < OLDEST => "cannot be told what to leave out: all tests run every time",
        () if by_method && is_old(version) => "cannot leave out single methods: whole classes run",
        () => return None,
    };
    Some(format!("Surefire {version} {what}"))
}

/// The version to take instead.
pub(crate) fn remedy(by_method: bool) -> String {
    let least = if by_method { METHODS } else { "2.22.2" };
    format!("name maven-surefire-plugin {least} or later in pom.xml (tried: up to 3.5.4)")
}

/// The numbers at the beginning of a version.
pub(crate) fn parts(version: &str) -> Option<[u32; 3]> {
    let numbers = version.split('-').next()?.split('.');
    let mut parts = [0; 3];
    for (part, number) in parts.iter_mut().zip(numbers) {
        *part = number.parse().ok()?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::pom::sample;
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn what_poms_say_is_a_reason() {
        let why = |text: &str| why_no_methods(&sample(text));
        // By way of a property, and with an older provider, but not what only reports.
        for (text, is_reason) in [
            ("<plugin>maven-surefire-plugin<version>3.2.5</version></plugin>", false),
            ("<plugin>maven-surefire-plugin<version>3.0.0-M6</version></plugin>", false),
            ("<plugin>maven-surefire-plugin<version>3.0.0-M5</version></plugin>", true),
            ("<plugin>maven-failsafe-plugin<version>2.22.2</version></plugin>", true),
            ("<plugin>maven-jar-plugin<version>2.4</version></plugin>", false),
            ("<dependenciesToScan/>", true),
            ("<testOutputDirectory>x</testOutputDirectory>", true),
            ("<testSourceDirectory>x</testSourceDirectory>", false),
        ] {
            assert_eq!(why(text).is_some(), is_reason, "{text}");
        }
        let of_property = "<properties><v>2.22.2</v></properties>\
            <plugin>surefire<version>${v}</version></plugin>";
        assert!(why(of_property).unwrap().contains("2.22.2"));
        for (group, is_reason) in [("org.junit.platform", true), ("me.fabriciorby", false)] {
            let provider = format!("<groupId>{group}</groupId><version>1.2</version>");
            let text = format!(
                "<plugin>surefire<dependencies><dependency>{provider}</dependency></dependencies></plugin>"
            );
            assert_eq!(why(&text).is_some(), is_reason, "{group}");
        }
    }

    #[test]
    fn tests_in_mavens_own_jvm_are_noticed() {
        let inside = |text: &str| inside(&sample(text)).is_some();
        assert!(inside("<forkCount> 0 </forkCount>"));
        assert!(inside("<forkMode>never</forkMode>"));
        assert!(inside(
            "<properties><x>0</x></properties><forkCount>${x}</forkCount>"
        ));
        assert!(!inside("<forkCount>1C</forkCount>") && !inside(""));
    }

    #[test]
    fn a_version_is_found_where_it_is_named() {
        let top = tempfile::tempdir().unwrap();
        let of = |pom: &str| {
            let pom = format!("<project>{pom}</project>");
            fs_err::write(top.path().join("pom.xml"), pom).unwrap();
            said(top.path())
        };
        let plugin = |version: &str| {
            format!(
                "<properties><surefire.version>3.2.5</surefire.version></properties><plugin>\
                 <artifactId>maven-surefire-plugin</artifactId>{version}</plugin>\
                 <plugin><artifactId>other</artifactId><version>1</version></plugin>\
                 <artifactId>junit-jupiter-api</artifactId>"
            )
        };
        let named = of(&plugin("<version>2.22.2</version>"));
        assert!(named.has_jupiter && named.versions == ["2.22.2"]);
        let property = of(&plugin("<version>${surefire.version}</version>"));
        assert_eq!(property.versions, ["3.2.5"]);
        let nothing = of(&plugin(""));
        assert!(nothing.versions.is_empty() && nothing.unknown.is_none());
        let lost = of("<parent><groupId>no.such</groupId><relativePath/></parent>");
        assert!(lost.unknown.is_some());
    }

    #[test]
    fn what_does_not_work_with_a_version_is_told() {
        for (version, has_jupiter, by_method, what) in [
            ("2.12.4", true, false, "no tests of JUnit 5"),
            ("2.12.4", false, false, "what to leave out"),
            ("2.22.2", true, true, "single methods"),
            ("2.19.1", false, false, ""),
            ("3.0.0-M6", false, true, ""),
            ("3.5.4", false, true, ""),
            ("${nobody.knows}", true, true, ""),
        ] {
            let told = trouble(version, has_jupiter, by_method).unwrap_or_default();
            let is_it = told.is_empty() == what.is_empty() && told.contains(what);
            assert!(is_it, "{version}: {told}");
        }
    }
}
