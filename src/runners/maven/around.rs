//! What adds to a command of Maven where it runs: variables, `.mvn/`, settings.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::command::{is_early, is_phase, is_surefire};
use super::plugins::has_word;
use super::pom::{Doubt, resolved};
use super::xml::Element;

/// Words of a command that do not matter here.
const PLAIN: &str = "-B --batch-mode -C --strict-checksums -U --update-snapshots -V --show-version \
    -X --debug -c --lax-checksums -e --errors -fae --fail-at-end -ff --fail-fast \
    -ntp --no-transfer-progress -nsu --no-snapshot-updates -o --offline -q --quiet";

/// The same, with a value in the next word.
const WITH_VALUE: &str = "-D --define -P --activate-profiles --color";

/// The same; the value is a file of settings.
const WITH_SETTINGS: &str = "-s --settings -gs --global-settings";

/// The words of a command, in kinds.
#[derive(Debug, Default)]
pub struct Words {
    /// Phases, and Surefire's goal.
    pub phases: Vec<String>,
    /// Those of which nobody knows what they do.
    pub other: Vec<String>,
    /// Files of settings.
    pub settings: Vec<String>,
    pub all: Vec<String>,
}

impl Words {
    pub fn of(words: impl Iterator<Item = impl AsRef<OsStr>>) -> Words {
        let mut found = Words::default();
        let mut before = String::new();
        for word in words {
            let word = word.as_ref().to_string_lossy().into_owned();
            let is_file = has_word(WITH_SETTINGS, &before);
            let is_value = is_file || has_word(WITH_VALUE, &before);
            let known = [PLAIN, WITH_VALUE, WITH_SETTINGS];
            let inline = ["-D", "-P", "--define=", "--color="];
            let is_plain = is_value
                || known.iter().any(|words| has_word(words, &word))
                || inline.iter().any(|start| word.starts_with(start));
            found.all.push(word.clone());
            if !is_value && (is_early(&word) || is_phase(&word) || is_surefire(&word)) {
                found.phases.push(word.clone());
            } else if !is_plain {
                found.other.push(word.clone());
            }
            let inline = ["--settings=", "--global-settings="];
            let inline = inline.iter().find_map(|option| word.strip_prefix(option));
            let file = is_file.then_some(word.as_str()).or(inline);
            found.settings.extend(file.map(str::to_owned));
            before = if is_value { String::new() } else { word };
        }
        found
    }

    /// The poms that it names instead of the one in its folder.
    pub fn poms(&self) -> impl Iterator<Item = &str> {
        let before = std::iter::once("").chain(self.all.iter().map(String::as_str));
        before.zip(&self.all).filter_map(|(before, word)| {
            let is_next = ["-f", "--file"].contains(&before);
            let inline = word
                .strip_prefix("--file=")
                .or_else(|| word.strip_prefix("-f"));
            let inline = inline.filter(|file| !["", "ae", "f", "n"].contains(file));
            is_next.then_some(word.as_str()).or(inline)
        })
    }

    /// The value that a property is given.
    fn property(&self, name: &str) -> Option<&str> {
        let mut values = self.all.iter().filter_map(|word| {
            let word = word.strip_prefix("-D").unwrap_or(word);
            word.strip_prefix(name)?.strip_prefix('=')
        });
        values.next_back()
    }
}

/// What adds to every command of Maven in a folder.
pub struct Around {
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
    pub fn of(folder: &Path, typed: &Words) -> Around {
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
        let named = typed.settings.iter().chain(&words.settings);
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
        let given = [typed, &words, &options]
            .iter()
            .find_map(|words| words.property("maven.repo.local"));
        let configured = said.iter().map(|one| one.text_of("localRepository"));
        let mut named = given.into_iter().chain(configured);
        let named = named.find(|place| !place.is_empty());
        let repository = named.map_or_else(|| home.join("repository"), |it| resolved(it, folder));
        let words_of_all = words.all.iter().chain(&options.all);
        said.extend(words_of_all.map(|word| Element::of_text(word)));
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

/// Where Maven keeps what it downloads, for a `command` in `folder`.
pub fn local_repository(folder: &Path, command: &[String]) -> PathBuf {
    Around::of(folder, &Words::of(command.iter().skip(1))).repository
}
