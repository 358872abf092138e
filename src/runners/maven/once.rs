//! Whether one run of Maven can compile, ask what to leave out, and test.
//!
//! Surefire reads the file of `surefire.excludesFile` when everything is compiled
//! (`AbstractSurefireMojo.getExcludeList`, 2.22 and 3.x). So a single module can be
//! compiled and tested in one go, if nothing reads that file earlier, nothing
//! keeps Surefire from reading it, and to leave out everything is no failure.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::around::{Around, Words};
use super::command::{chooses_tests, is_early, is_phase, is_surefire};
use super::parents::{Poms, plugins};
use super::xml::Element;

/// Phases that come to Failsafe's tests.
const FAILSAFE: [&str; 5] = [
    "integration-test",
    "post-integration-test",
    "verify",
    "install",
    "deploy",
];

/// Phases of reports, which may run the tests once more.
const SITE: [&str; 3] = ["site", "post-site", "site-deploy"];

/// Settings that must be nowhere: where to leave out everything is a failure, and
/// where the project has a list of its own.
const SETTINGS: [&str; 2] = ["failIfNoTests", "excludesFile"];

/// Why Maven has to be started twice for `command` in `folder`, first to compile
/// and then to test; `None` if once is enough.
pub fn why_twice(command: &[OsString], folder: &Path) -> Option<String> {
    let name = command.first().map(Path::new).and_then(Path::file_name);
    if name == Some(OsStr::new("mvnd")) {
        return Some("mvnd tests several modules at once".to_owned());
    }
    if chooses_tests(command) {
        return Some("the command says itself which tests run".to_owned());
    }
    let typed = Words::of(command.iter().skip(1));
    let is_test = |phase: &String| is_phase(phase) || is_surefire(phase);
    let Some(first) = typed.phases.iter().position(is_test) else {
        return Some("the command names no phase that tests".to_owned());
    };
    let around = Around::of(folder, &typed);
    let words = typed.other.iter().chain(&around.words.other);
    if let Some(word) = words.chain(&around.words.phases).next() {
        return Some(format!("nobody knows what `{word}` does to the order"));
    }
    // `clean` behind the tests would take away what they are compared with.
    let mut behind = typed.phases.iter().skip(first + 1);
    let late = behind.find(|phase| is_early(phase));
    let has_goal = typed.phases.iter().any(|phase| is_surefire(phase));
    if has_goal && let Some(phase) = typed.phases.get(first + 1) {
        return Some(format!("`{phase}` comes behind Surefire's tests"));
    }
    let misplaced = typed.phases.iter().skip(1).find(|phase| *phase == "clean");
    let late = late.or(misplaced);
    let site = typed
        .phases
        .iter()
        .find(|phase| SITE.contains(&phase.as_str()));
    if let Some(phase) = late.or(site) {
        return Some(format!("`{phase}` is more than a test"));
    }
    if let Some(file) = around.extensions {
        return Some(format!("{} may read what Surefire does", file.display()));
    }
    let poms = match Poms::of(folder, &around.repository) {
        Ok(poms) => poms,
        Err(why) => return Some(why),
    };
    let said = all_said(&around, &typed);
    let is_set = |setting: &str| {
        said.iter().any(|text| text.contains(setting))
            || poms.texts.iter().any(|pom| is_set_in(pom, setting, &said))
    };
    if let Some(setting) = SETTINGS.iter().find(|setting| is_set(setting)) {
        return Some(format!("`{setting}` is set"));
    }
    let comes_to = |phases: &[&str]| typed.phases.iter().any(|it| phases.contains(&it.as_str()));
    let has_failsafe = || poms.texts.iter().any(|text| text.contains("failsafe"));
    if comes_to(&FAILSAFE) && has_failsafe() {
        return Some("Failsafe has tests of its own".to_owned());
    }
    why_not_alone(&poms.texts)
}

/// Variables with options for every JVM.
const OPTIONS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// All that can name a profile, or set a property that activates one.
fn all_said(around: &Around, typed: &Words) -> Vec<String> {
    let mut said = [around.texts.as_slice(), &typed.all].concat();
    let files = around.files.iter();
    said.extend(files.filter_map(|file| std::fs::read_to_string(file).ok()));
    said.extend(OPTIONS.iter().filter_map(|name| std::env::var(name).ok()));
    said
}

/// Whether a pom has a setting elsewhere than in profiles that nothing activates. Were
/// one of those active after all, its list would be read and not ours: all tests would
/// run. With its `failIfNoTests`, a run that leaves out everything would fail.
fn is_set_in(pom: &str, setting: &str, said: &[String]) -> bool {
    if !pom.contains(setting) {
        return false;
    }
    let Ok(mut pom) = Element::read(pom.as_bytes()) else {
        return true;
    };
    let profiles = pom.children.iter_mut().filter(|one| one.name == "profiles");
    for profiles in profiles {
        profiles.children.retain(|profile| !is_idle(profile, said));
    }
    let has = |text: &String| text.contains(setting);
    let is_in = |one: &Element| {
        let mut values = one.attributes.iter().map(|(_, value)| value);
        has(&one.name) || has(&one.text) || values.any(has)
    };
    pom.every().into_iter().any(is_in)
}

/// Beginnings of properties that are set though nobody says so: by the JVM, by Maven's
/// script, by Maven 4 (`packaging`), by us.
const ALWAYS_SET: [&str; 20] = [
    "awt.",
    "classworlds.",
    "env.",
    "failsafe.",
    "file.",
    "ftp.",
    "guice.",
    "http.",
    "java.",
    "jdk.",
    "library.",
    "line.",
    "maven.",
    "native.",
    "os.",
    "packaging",
    "path.",
    "sun.",
    "surefire.",
    "user.",
];

/// Whether nothing activates a profile: only its name or a property would, and nothing
/// that is said has either.
fn is_idle(profile: &Element, said: &[String]) -> bool {
    let is_unsaid = |name: &str| {
        !name.is_empty() && !name.contains('&') && !said.iter().any(|text| text.contains(name))
    };
    let is_asleep = |by: &Element| {
        let name = by.text_of("name");
        // `!` is for one that is not set, or not to this.
        by.name == "property"
            && !name.starts_with(['!', '$'])
            && !by.text_of("value").starts_with('!')
            && !ALWAYS_SET.iter().any(|start| name.starts_with(start))
            && is_unsaid(name)
    };
    let mut activations = profile.all("activation");
    is_unsaid(profile.text_of("id")) && activations.all(|one| one.children.iter().all(is_asleep))
}

/// What a pom says that makes it more than one module with Surefire in its place.
/// The first is the project's own.
fn why_not_alone(poms: &[String]) -> Option<String> {
    let own = poms.first()?;
    let several = ["<module>", "<subproject>", "<packaging>pom<"];
    if several.iter().any(|mark| own.contains(mark)) {
        return Some("there are several modules".to_owned());
    }
    for pom in poms {
        if pom.contains("<extension>") {
            return Some("an extension may read what Surefire does".to_owned());
        }
        for plugin in plugins(pom).filter(|plugin| plugin.contains("surefire")) {
            let mut phases = plugin.split("<phase>").skip(1);
            let is_late = |phase: &str| {
                let phase = phase.split('<').next().unwrap_or_default().trim();
                phase == "none" || is_phase(phase)
            };
            if !phases.all(is_late) {
                return Some("Surefire may run before all is compiled".to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(line: &str, pom: &str) -> Option<String> {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join("pom.xml"), pom).unwrap();
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        why_twice(&words, top.path())
    }

    #[test]
    fn one_module_with_surefire_needs_one_run() {
        let once = |line: &str| assert_eq!(why(line, "<project></project>"), None, "{line}");
        once("mvn test");
        once("./mvnw -B -ntp -Pfast -Dx=y clean package");
        once("mvn -P site -D x=y -s no-such.xml install");
        once("mvn clean process-test-classes surefire:test");
        once("mvn -q org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test");
    }

    #[test]
    fn what_nobody_knows_is_done_as_before() {
        for line in [
            "mvnd test",
            "mvn -T 4 test",
            "mvn -T1C test",
            "mvn -pl core test",
            "mvn -f other/pom.xml test",
            "mvn surefire:test test",
            "mvn test surefire:test",
            "mvn surefire:test jar:jar",
            "mvn process-classes",
            "mvn test compile",
            "mvn test -Dtest=A",
            "mvn test -DfailIfNoTests",
            "mvn test clean",
            "mvn site",
        ] {
            assert!(why(line, "<project></project>").is_some(), "{line}");
        }
        for pom in [
            "<modules><module>core</module></modules>",
            "<packaging>pom</packaging>",
            "<failIfNoTests>true</failIfNoTests>",
            "<plugin>maven-surefire-plugin<excludesFile>x</excludesFile></plugin>",
            "<plugin>maven-surefire-plugin<phase>process-sources</phase></plugin>",
            "<extensions><extension></extension></extensions>",
            "<parent><groupId>no.such</groupId><artifactId>one</artifactId><version>1</version></parent>",
        ] {
            assert!(why("mvn test", pom).is_some(), "{pom}");
        }
        let surefire = "<plugin>maven-surefire-plugin<phase>verify</phase></plugin>";
        assert_eq!(why("mvn test", surefire), None);
    }

    #[test]
    fn profiles_that_nothing_activates_have_no_list() {
        let project = |profile: &str, more: &str| {
            format!(
                "<project><profiles><profile>{profile}</profile><profile><id>other</id></profile>\
                 </profiles>{more}</project>"
            )
        };
        let list = "<excludesFile>x</excludesFile>";
        let pom = |activation: &str| project(&format!("<id>quick</id>{activation}{list}"), "");
        let by = |how: &str| pom(&format!("<activation>{how}</activation>"));
        let property = by("<property><name>fast</name></property>");
        for idle in [&property, &pom("")] {
            assert_eq!(why("mvn test -Pother -Dx", idle), None);
            assert!(why("mvn test -P quick", idle).is_some());
            assert!(why("mvn test -Pquick,other", idle).is_some());
        }
        assert!(why("mvn test -Dfast", &property).is_some());
        assert!(why("mvn test -Dfast=1", &property).is_some());
        for how in [
            "<property><name>!fast</name></property>",
            "<property><name>fast</name><value>!true</value></property>",
            "<property><name>env.FAST</name></property>",
            "<property><name>java.vendor</name></property>",
            "<property><name>&#102;ast</name></property>",
            "<activeByDefault>true</activeByDefault>",
            "<jdk>17</jdk>",
            "<property><name>fast</name></property><file><exists>x</exists></file>",
        ] {
            assert!(why("mvn test", &by(how)).is_some(), "{how}");
        }
        let spaced = "<activation ><jdk>17</jdk></activation >";
        assert!(why("mvn test", &pom(spaced)).is_some());
        // Executions have ids, too.
        let late = format!("<execution><id>x</id></execution>{list}<id>quick</id>");
        assert_eq!(why("mvn test", &project(&late, "")), None);
        assert!(why("mvn test -Pquick", &project(&late, "")).is_some());
        assert!(why("mvn test", &project("<id>quick</id>", list)).is_some());
        let broken = property.replace("</project>", "");
        assert!(why("mvn test", &broken).is_some());
    }

    #[test]
    fn failsafe_matters_where_it_runs() {
        let pom = "<plugin>maven-failsafe-plugin<phase>verify</phase></plugin>";
        assert_eq!(why("mvn package", pom), None);
        assert!(why("mvn verify", pom).is_some());
    }

    #[test]
    fn what_a_project_adds_to_each_command_counts() {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join("pom.xml"), "<project/>").unwrap();
        fs_err::create_dir(top.path().join(".mvn")).unwrap();
        let command = ["mvn", "test"].map(OsString::from);
        let why = |name: &str, text: &str| {
            let file = top.path().join(".mvn").join(name);
            fs_err::write(&file, text).unwrap();
            let why = why_twice(&command, top.path());
            fs_err::remove_file(file).unwrap();
            why
        };
        assert_eq!(why("maven.config", "-B\n-Dx=y\n"), None);
        assert!(why("maven.config", "-T\n1C\n").is_some());
        assert!(why("jvm.config", "-DfailIfNoTests=true").is_some());
        assert!(why("extensions.xml", "").is_some());
    }
}
