//! The words of a Maven command, and what adds to them where it runs: variables, `.mvn/`,
//! settings.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::command::{is_early, is_phase, is_surefire};
use super::plugins::has_word;
use super::pom::{Doubt, Project, resolved};
use super::xml::Element;

/// Options that no test's outcome depends on: they change what is printed, how fast it
/// comes, whether a failure ends the build, and how Maven fetches.
const SILENT: &str = "-B --batch-mode -C --strict-checksums -U --update-snapshots -V --show-version \
    -X --debug -c --lax-checksums -e --errors -fae --fail-at-end -ff --fail-fast \
    -ntp --no-transfer-progress -nsu --no-snapshot-updates -o --offline -q --quiet";

/// The same, but nobody knows whether one start of Maven is enough with them. Those of the
/// second list have a value.
const SILENT_ONLY: &str = "-fn --fail-never --non-interactive --raw-streams";
const SILENT_VALUES: &str = "-T --threads -b --builder -l --log-file --color";

/// Options with a value that change neither the order of phases nor the choice of modules.
const PLAIN_VALUES: &str = "-D --define -P --activate-profiles --color";
const SETTINGS: &str = "-s --settings -gs --global-settings";

const POMS: &str = "-f --file";
const OTHER_VALUES: &str = "-gt --global-toolchains -pl --projects -rf --resume-from";

/// Properties that are about Maven's output, Surefire's reports, and whether a failure ends
/// the build.
const SILENT_PROPERTIES: &str = "failIfNoTests jansi.force jansi.mode jansi.passthrough \
    maven.test.failure.ignore style.color surefire.failIfNoSpecifiedTests \
    surefire.printSummary surefire.useFile trimStackTrace";

/// Whether an option's value is the next word.
pub(super) fn takes_value(option: &str) -> bool {
    let all = [SILENT_VALUES, PLAIN_VALUES, SETTINGS, POMS, OTHER_VALUES];
    all.iter().any(|words| has_word(words, option))
}

/// An option with its value, or a phase or goal.
#[derive(Debug)]
struct Word {
    name: String,
    value: Option<String>,
    /// As it was typed: one word or two.
    typed: Vec<String>,
}

impl Word {
    fn of(typed: String, more: &mut impl Iterator<Item = String>) -> Word {
        let is_flag = has_word(SILENT, &typed) || has_word(SILENT_ONLY, &typed);
        // As in `-T1C` and `-Dx=y`.
        let mut short = ["-D", "-P", "-T", "-f"].into_iter().filter(|_| !is_flag);
        let short = short.find_map(|name| Some((name, typed.strip_prefix(name)?)));
        let (name, value) = match short {
            Some((name, "")) => (name, None),
            Some((name, value)) => (name, Some(value)),
            None => match typed.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (typed.as_str(), None),
            },
        };
        let (name, value) = (name.to_owned(), value.map(str::to_owned));
        let has_value = value.is_none() && takes_value(&name);
        let next = has_value.then(|| more.next()).flatten();
        Word {
            name,
            value: value.or_else(|| next.clone()),
            typed: std::iter::once(typed).chain(next).collect(),
        }
    }

    fn is_phase(&self) -> bool {
        is_early(&self.name) || is_phase(&self.name) || is_surefire(&self.name)
    }

    /// Whether it changes neither the order of phases nor the choice of modules.
    fn is_plain(&self) -> bool {
        let is_flag = self.value.is_none() && has_word(SILENT, &self.name);
        is_flag || has_word(PLAIN_VALUES, &self.name) || has_word(SETTINGS, &self.name)
    }

    /// Whether no outcome depends on it. `is_named` tells whether something in the build
    /// refers to a property.
    fn is_silent(&self, is_named: &impl Fn(&str) -> bool) -> bool {
        let name = self.name.as_str();
        match (name, self.value.as_deref()) {
            ("-D" | "--define", Some(definition)) => {
                let property = definition.split('=').next().unwrap_or_default();
                has_word(SILENT_PROPERTIES, property) && !is_named(property)
            }
            ("-T" | "--threads", Some(count)) => count.starts_with(|it: char| it.is_ascii_digit()),
            (_, Some(_)) => has_word(SILENT_VALUES, name),
            (_, None) => has_word(SILENT, name) || has_word(SILENT_ONLY, name),
        }
    }
}

/// The words of a command, behind the program.
#[derive(Debug, Default)]
pub(super) struct Words(Vec<Word>);

impl Words {
    pub(super) fn of(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Words {
        let words = words.into_iter();
        let mut words = words.map(|word| word.as_ref().to_string_lossy().into_owned());
        let mut found = Vec::new();
        while let Some(word) = words.next() {
            found.push(Word::of(word, &mut words));
        }
        Words(found)
    }

    /// As they were typed.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.0.iter().flat_map(|word| &word.typed)
    }

    /// Phases, and Surefire's goal.
    pub(super) fn phases(&self) -> impl Iterator<Item = &str> {
        let phases = self.0.iter().filter(|word| word.is_phase());
        phases.map(|word| word.name.as_str())
    }

    /// The first of which nobody knows what it does.
    pub(super) fn unknown(&self) -> Option<&str> {
        let mut words = self.0.iter();
        let unknown = words.find(|word| !word.is_phase() && !word.is_plain())?;
        unknown.typed.first().map(String::as_str)
    }

    /// The poms that it names instead of the one in its folder.
    pub(super) fn poms(&self) -> impl Iterator<Item = &str> {
        self.values(POMS)
    }

    fn values(&self, options: &str) -> impl Iterator<Item = &str> {
        let named = self
            .0
            .iter()
            .filter(move |word| has_word(options, &word.name));
        named.filter_map(|word| word.value.as_deref())
    }

    /// The value that a property is given.
    fn property(&self, name: &str) -> Option<&str> {
        let values = self.all().filter_map(|word| {
            let word = word.strip_prefix("-D").unwrap_or(word);
            word.strip_prefix(name)?.strip_prefix('=')
        });
        values.last()
    }
}

/// Those of `words` that can change an outcome. `is_named` tells whether something in the
/// build refers to a property.
pub(super) fn without_silent(words: Vec<String>, is_named: impl Fn(&str) -> bool) -> Vec<String> {
    let words = Words::of(words).0.into_iter();
    let told = words.filter(|word| !word.is_silent(&is_named));
    told.flat_map(|word| word.typed).collect()
}

/// Whether a pom, or the settings, refer to a property: a profile is active by it, or an
/// argument is made of it. If not all of them are known, they may.
pub(super) fn is_named(folder: &Path, command: &[OsString], property: &str) -> bool {
    let typed = Words::of(command.iter().skip(1));
    if typed.poms().next().is_some() {
        return true;
    }
    let around = Around::of(folder, &typed);
    let project = Project::of_modules(folder, &around.repository);
    let is_unknown = around.doubt.is_some() || project.doubt().is_some();
    let mut said = around.said.iter();
    is_unknown || project.mentions(property) || said.any(|one| one.mentions(property))
}

/// What adds to every command of Maven in a folder.
pub(super) struct Around {
    pub words: Words,
    /// Settings, and words for Maven and its JVM.
    pub said: Vec<Element>,
    /// Settings that are not understood.
    pub doubt: Option<Doubt>,
    pub extensions: Option<PathBuf>,
    /// Where Maven keeps the poms of parents.
    pub repository: PathBuf,
    /// Files that Maven reads for that, there or not.
    pub files: Vec<PathBuf>,
}

impl Around {
    pub(super) fn of(folder: &Path, typed: &Words) -> Around {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let read = |file: &PathBuf| crate::disk::read_to_string(file).unwrap_or_default();
        let mut above = folder.ancestors();
        let top = above.find(|above| above.join(".mvn").is_dir());
        let own = top.unwrap_or(folder).join(".mvn");
        let mut files = OWN.map(|name| own.join(name)).to_vec();
        let words = format!("{} {}", variable("MAVEN_ARGS"), read(&files[0]));
        let options = format!("{} {}", variable("MAVEN_OPTS"), read(&files[1]));
        let extensions = Some(files[2].clone()).filter(|file| file.exists());
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".m2");
        let words = Words::of(words.split_whitespace());
        let options = Words::of(options.split_whitespace());
        let named = typed.values(SETTINGS).chain(words.values(SETTINGS));
        let mut settings: Vec<PathBuf> = named.map(|file| folder.join(file)).collect();
        settings.push(home.join("settings.xml"));
        settings.extend(installation().map(|folder| folder.join("conf/settings.xml")));
        let (mut said, mut doubt) = (Vec::new(), None);
        for file in settings.iter().filter(|file| file.exists()) {
            match Element::read(read(file).as_bytes()) {
                Ok(settings) => said.push(settings),
                Err(why) => doubt = Some(Doubt::unread(file, &why)),
            }
        }
        files.extend(settings);
        // What its script reads first, and which JDKs there are.
        files.push(home.with_file_name(".mavenrc"));
        files.push("/etc/mavenrc".into());
        files.push(home.join("toolchains.xml"));
        let given = typed.property(REPOSITORY).or(words.property(REPOSITORY));
        let given = given.or(options.property(REPOSITORY)).into_iter();
        let configured = said.iter().map(|one| one.text_of("localRepository"));
        let mut places = given.chain(configured);
        let place = places.find(|place| !place.is_empty());
        let repository = place.map_or_else(|| home.join("repository"), |it| resolved(it, folder));
        let all = words.all().chain(options.all());
        said.extend(all.map(|word| Element::of_text(word)));
        Around {
            words,
            said,
            doubt,
            extensions,
            repository,
            files,
        }
    }
}

/// The folder of the Maven that a command starts, unless it is the project's wrapper.
fn installation() -> Option<PathBuf> {
    let program = crate::runners::on_path("mvn")?.canonicalize().ok()?;
    Some(program.parent()?.parent()?.to_owned())
}

/// What a project says in `.mvn` to each command, to Maven's JVM, and adds to Maven.
const OWN: [&str; 3] = ["maven.config", "jvm.config", "extensions.xml"];

/// The property that says where Maven keeps what it downloads.
const REPOSITORY: &str = "maven.repo.local";

/// Where Maven keeps what it downloads, for a `command` in `folder`.
pub(crate) fn local_repository(folder: &Path, command: &[String]) -> PathBuf {
    Around::of(folder, &Words::of(command.iter().skip(1))).repository
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let words = line.split(' ').map(str::to_owned).collect();
        without_silent(words, |name| name == "style.color").join(" ")
    }

    #[test]
    fn what_no_outcome_depends_on_is_no_option() {
        for line in [
            "-q test -B -ntp -o -X -e -fae -U",
            "-T 4 test -T1C -T2 --threads=2 --threads 2",
            "test -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true",
            "-D maven.test.failure.ignore=true test --define failIfNoTests=false",
            "test --color always --color=never -l log.txt --log-file=log.txt",
        ] {
            assert_eq!(told(line), "test", "{line}");
        }
        for line in [
            "clean test",
            "test -Dx -Dmaven.test.skip=true",
            "-D x=y test -Pfast -P slow",
            "test -Dmaven.test.failure.ignored",
            "test -Dstyle.color=never",
            "-f other.xml -s T test -Tx",
        ] {
            assert_eq!(told(line), line);
        }
    }

    #[test]
    fn poms_and_settings_are_values_of_options() {
        let words =
            Words::of("-fa.xml -f b.xml -fae --file=c -ff -s e --global-settings=f".split(' '));
        assert_eq!(words.poms().collect::<Vec<_>>(), ["a.xml", "b.xml", "c"]);
        assert_eq!(words.values(SETTINGS).collect::<Vec<_>>(), ["e", "f"]);
    }

    #[test]
    fn a_property_that_a_pom_refers_to_counts() {
        let top = tempfile::tempdir().unwrap();
        let named = |pom: &str, line: &str| {
            let pom = format!("<project>{pom}</project>");
            fs_err::write(top.path().join("pom.xml"), pom).unwrap();
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            is_named(top.path(), &words, "failIfNoTests")
        };
        assert!(!named("", "mvn test -DfailIfNoTests"));
        assert!(named("", "mvn test -f x.xml"));
        assert!(named("<argLine>-Da=${failIfNoTests}</argLine>", "mvn test"));
        let parent = "<parent><groupId>no.such</groupId><relativePath/></parent>";
        assert!(named(parent, "mvn test"));
    }
}
