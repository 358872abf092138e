//! Whether one run of Maven can compile, ask what to leave out, and test.
//!
//! Surefire reads the file of `surefire.excludesFile` when everything is compiled
//! (`AbstractSurefireMojo.getExcludeList`, 2.22 and 3.x). So a single module can be
//! compiled and tested in one go, if nothing reads that file earlier, nothing
//! keeps Surefire from reading it, and to leave out everything is no failure.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::POM;
use super::around::{Around, Words};
use super::command::{chooses_tests, is_early, is_phase, is_surefire};
use super::plugins::has_word;
use super::pom::Project;
use super::surefire::may_be_early;
use super::xml::Element;

/// Phases that come to Failsafe's tests.
const FAILSAFE: &str = "integration-test post-integration-test verify install deploy";

/// Phases of reports, which may run the tests once more.
const SITE: &str = "site post-site site-deploy";

/// Settings that must be nowhere: where to leave out everything is a failure, and
/// where the project has a list of its own.
const SETTINGS: [&str; 2] = ["failIfNoTests", "excludesFile"];

/// Why Maven has to be started twice for `command` in `folder`, first to compile
/// and then to test; `None` if once is enough.
pub(crate) fn why_twice(command: &[OsString], folder: &Path) -> Option<String> {
    once(command, folder).err().map(|why| why.to_string())
}

fn once(command: &[OsString], folder: &Path) -> Result<()> {
    let name = command.first().map(Path::new).and_then(Path::file_name);
    let is_single = name != Some(OsStr::new("mvnd"));
    ensure!(is_single, "mvnd tests several modules at once");
    let is_open = !chooses_tests(command);
    ensure!(is_open, "the command says itself which tests run");
    let typed = Words::of(command.iter().skip(1));
    let phases: Vec<&str> = typed.phases().collect();
    let around = Around::of(folder, &typed);
    is_test_at_last(&phases)?;
    let added = around.words.unknown().or(around.words.phases().next());
    if let Some(word) = typed.unknown().or(added) {
        bail!("nobody knows what `{word}` does to the order");
    }
    if let Some(file) = &around.extensions {
        bail!("{} may read what Surefire does", file.display());
    }
    let project = Project::above([folder.join(POM)], &around.repository);
    if let Some(doubt) = around.doubt.as_ref().or(project.doubt()) {
        bail!("{doubt}");
    }
    let said = all_said(&around, &typed);
    for setting in SETTINGS {
        let is_set = said.iter().any(|text| text.contains(setting))
            || project
                .poms
                .iter()
                .any(|pom| is_set_in(&pom.top, setting, &said));
        ensure!(!is_set, "`{setting}` is set");
    }
    let has_failsafe =
        phases.iter().any(|phase| has_word(FAILSAFE, phase)) && project.mentions("failsafe");
    ensure!(!has_failsafe, "Failsafe has tests of its own");
    let own = project.poms.first().context("there is no pom")?;
    let packaging = own.top.text_of("packaging");
    let is_one = own.modules().next().is_none() && packaging != "pom" && !packaging.contains('$');
    ensure!(is_one, "there are several modules");
    let is_extended = project.has("extension");
    ensure!(!is_extended, "an extension may read what Surefire does");
    let is_late = !may_be_early(&project);
    ensure!(is_late, "Surefire may run before all is compiled");
    Ok(())
}

/// That the phases and goals come to tests, and do nothing else behind them.
fn is_test_at_last(phases: &[&str]) -> Result<()> {
    let is_test = |phase: &&str| is_phase(phase) || is_surefire(phase);
    let first = phases.iter().position(is_test);
    let first = first.context("the command names no phase that tests")?;
    let has_goal = phases.iter().any(|phase| is_surefire(phase));
    for (at, phase) in phases.iter().enumerate() {
        let is_behind = at > first && has_goal;
        ensure!(!is_behind, "`{phase}` comes behind Surefire's tests");
        // `clean` behind the tests would take away what they are compared with.
        let is_late = at > first && is_early(phase) || at > 0 && *phase == "clean";
        let is_more = is_late || has_word(SITE, phase);
        ensure!(!is_more, "`{phase}` is more than a test");
    }
    Ok(())
}

/// Variables with options for every JVM.
const OPTIONS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// All that can name a profile, or set a property that activates one.
fn all_said(around: &Around, typed: &Words) -> Vec<String> {
    let around_it = around.said.iter().map(|one| &one.text);
    let mut said: Vec<String> = around_it.chain(typed.all()).cloned().collect();
    let files = around.files.iter();
    said.extend(files.filter_map(|file| crate::disk::read_to_string(file).ok()));
    said.extend(OPTIONS.iter().filter_map(|name| std::env::var(name).ok()));
    said
}

/// Whether a pom has a setting elsewhere than in profiles that nothing activates. Were
/// one of those active after all, its list would be read and not ours: all tests would
/// run. With its `failIfNoTests`, a run that leaves out everything would fail.
fn is_set_in(pom: &Element, setting: &str, said: &[String]) -> bool {
    let sets = |one: &Element| match one.name.as_str() {
        "profiles" => {
            let mut profiles = one.children.iter();
            profiles.any(|profile| !is_idle(profile, said) && profile.mentions(setting))
        }
        _ => one.mentions(setting),
    };
    pom.children.iter().any(sets)
}

/// Beginnings of properties that are set though nobody says so: by the JVM, by Maven's
/// script, by Maven 4 (`packaging`), by us.
const ALWAYS_SET: &str = "awt. classworlds. env. failsafe. file. ftp. guice. http. java. jdk. \
    library. line. maven. native. os. packaging path. sun. surefire. user.";

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
            && !ALWAYS_SET.split(' ').any(|start| name.starts_with(start))
            && is_unsaid(name)
    };
    let activations = profile.at("activation").into_iter();
    let mut by = activations.flat_map(|one| &one.children);
    is_unsaid(profile.text_of("id")) && by.all(is_asleep)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(line: &str, pom: &str) -> Option<String> {
        why_beside(line, pom, &[])
    }

    /// With these files in `.mvn`.
    fn why_beside(line: &str, pom: &str, files: &[(&str, &str)]) -> Option<String> {
        let top = tempfile::tempdir().unwrap();
        fs_err::write(top.path().join(POM), format!("<project>{pom}</project>")).unwrap();
        fs_err::create_dir(top.path().join(".mvn")).unwrap();
        for (name, text) in files {
            fs_err::write(top.path().join(".mvn").join(name), text).unwrap();
        }
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        why_twice(&words, top.path())
    }

    #[test]
    fn one_module_with_surefire_needs_one_run() {
        for line in [
            "mvn test",
            "./mvnw -B -ntp -Pfast -Dx=y clean package",
            "mvn -P site -D x=y -s no-such.xml install",
            "mvn clean process-test-classes surefire:test",
            "mvn -q org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test",
        ] {
            assert_eq!(why(line, ""), None, "{line}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn what_nobody_knows_is_done_as_before() {
        for line in [
            "mvnd test", "mvn -T 4 test", "mvn -T1C test", "mvn -pl core test",
            "mvn -f other/pom.xml test", "mvn surefire:test test", "mvn test surefire:test",
            "mvn surefire:test jar:jar", "mvn process-classes", "mvn test compile",
            "mvn test -Dtest=A", "mvn test -DfailIfNoTests", "mvn test clean", "mvn site",
        ] {
            assert!(why(line, "").is_some(), "{line}");
        }
        for pom in [
            "<modules><module>core</module></modules>",
            "<subprojects><subproject >core</subproject></subprojects>",
            "<packaging>${kind}</packaging>",
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
        // Failsafe matters where it runs.
        let failsafe = "<plugin>maven-failsafe-plugin<phase>verify</phase></plugin>";
        assert_eq!(why("mvn package", failsafe), None);
        assert!(why("mvn verify", failsafe).is_some());
    }

    #[test]
    #[rustfmt::skip]
    fn profiles_that_nothing_activates_have_no_list() {
        let list = "<excludesFile>x</excludesFile>";
        let project = |profile: &str| {
            format!("<profiles><profile>{profile}</profile><profile><id>other</id></profile></profiles>")
        };
        let pom = |activation: &str| project(&format!("<id>quick</id>{activation}{list}"));
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
        let late = project(&format!("<execution><id>x</id></execution>{list}<id>quick</id>"));
        assert_eq!(why("mvn test", &late), None);
        assert!(why("mvn test -Pquick", &late).is_some());
        assert!(why("mvn test", &(project("<id>quick</id>") + list)).is_some());
        assert!(why("mvn test", &(property + "<a>")).is_some());
    }

    #[test]
    fn what_a_project_adds_to_each_command_counts() {
        for (name, text, is_reason) in [
            ("maven.config", "-B\n-Dx=y\n", false),
            ("maven.config", "-T\n1C\n", true),
            ("jvm.config", "-DfailIfNoTests=true", true),
            ("extensions.xml", "", true),
        ] {
            let why = why_beside("mvn test", "", &[(name, text)]);
            assert_eq!(why.is_some(), is_reason, "{name}");
        }
    }
}
