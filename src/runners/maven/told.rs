//! What poms tell Surefire and Failsafe.

use super::command::is_phase;
use super::plugins::has_word;
use super::pom::{Pom, Project};
use super::xml::Element;

/// Plug-ins that run tests, and those that are told of them.
fn runners(project: &Project) -> impl Iterator<Item = &Element> {
    let plugins = project.poms.iter().flat_map(|pom| pom.plugins());
    plugins.filter(|plugin| plugin.mentions("surefire") || plugin.mentions("failsafe"))
}

/// Whether there is a list of what to leave out: not one of groups, engines or variables.
pub fn has_exclusions(project: &Project) -> bool {
    let is_list = |one: &Element| has_word("exclude excludes excludesFile", &one.name);
    let is_property = |one: &Element| {
        let of_runner = ["surefire.", "failsafe."].map(|name| one.name.strip_prefix(name));
        let mut names = of_runner.into_iter().flatten();
        names.any(|name| name.starts_with("excludes"))
    };
    let has = |all: &Element, is: &dyn Fn(&Element) -> bool| all.every().into_iter().any(is);
    project.every().any(is_property) || runners(project).any(|plugin| has(plugin, &is_list))
}

/// Whether classes of any name may be tests.
pub fn has_inclusions(project: &Project) -> bool {
    let is_list = |one: &Element| one.name.starts_with("include");
    runners(project).any(|plugin| plugin.every().into_iter().any(is_list))
}

/// Whether sources or classes of tests may lie elsewhere than usual.
pub fn moves_tests(project: &Project) -> bool {
    let mut moved = ["testSourceDirectory", "testOutputDirectory"].into_iter();
    moved.any(|name| project.has(name))
}

/// Why a list that names methods means something else, or nothing.
pub fn why_no_methods(project: &Project) -> Option<String> {
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

pub fn is_old(version: &str) -> bool {
    let milestone = version.strip_prefix("3.0.0-M");
    let is_early = milestone
        .and_then(|number| number.parse().ok())
        .is_some_and(|number: u32| number < 6);
    is_early || version.starts_with("2.") || version.starts_with("1.")
}

/// Whether Surefire may run before all is compiled.
pub fn may_be_early(project: &Project) -> bool {
    let mut phases = runners(project).flat_map(|plugin| plugin.named("phase"));
    phases.any(|phase| phase.text != "none" && !is_phase(&phase.text))
}

/// Settings by which tests run in Maven's own JVM, and how their values begin.
pub const INSIDE: [(&str, &str); 2] = [("forkCount", "0"), ("forkMode", "never")];

/// The one that may be set, and the pom that sets it.
pub fn inside(project: &Project) -> Option<((&'static str, &'static str), &Pom)> {
    let is_said = |one: &Element, (name, value): (&str, &str)| {
        let is_it = |said: &String| said.starts_with(value);
        one.name.ends_with(name) && project.values(&one.text).iter().any(is_it)
    };
    project.poms.iter().find_map(|pom| {
        let mut settings = INSIDE.into_iter();
        let said = settings.find(|set| pom.top.every().into_iter().any(|one| is_said(one, *set)));
        said.map(|said| (said, pom))
    })
}

#[cfg(test)]
mod tests {
    use super::super::pom::sample;
    use super::*;

    #[test]
    fn what_poms_say_is_a_reason() {
        let why = |text: &str| why_no_methods(&sample(text));
        let plugin = |name: &str, more: &str| why(&format!("<plugin><a>{name}</a>{more}</plugin>"));
        let version =
            |name: &str, version: &str| plugin(name, &format!("<version>{version}</version>"));
        assert_eq!(version("maven-surefire-plugin", "3.2.5"), None);
        assert_eq!(version("maven-surefire-plugin", "3.0.0-M6"), None);
        assert_eq!(version("maven-jar-plugin", "2.4"), None);
        assert!(version("maven-surefire-plugin", "3.0.0-M5").is_some());
        assert!(version("maven-failsafe-plugin", "2.22.2").is_some());
        assert!(why("<dependenciesToScan/>").is_some());
        assert!(why("<testOutputDirectory>x</testOutputDirectory>").is_some());
        assert_eq!(why("<testSourceDirectory>x</testSourceDirectory>"), None);
        // By way of a property, and with an older provider, but not what only reports.
        let of_property = "<properties><v>2.22.2</v></properties>\
            <plugin>surefire<version>${v}</version></plugin>";
        assert!(why(of_property).unwrap().contains("2.22.2"));
        let needs = |group: &str| {
            let needed = format!("<groupId>{group}</groupId><version>1.2</version>");
            let more = format!("<dependencies><dependency>{needed}</dependency></dependencies>");
            plugin("maven-surefire-plugin", &more)
        };
        assert!(needs("org.junit.platform").is_some());
        assert_eq!(needs("me.fabriciorby"), None);
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
}
