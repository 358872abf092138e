//! What configures every test of a project besides its sources: poms, settings, and
//! what these take from the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::around::{Around, Words};
use super::meaning::kept;
use super::parents::Poms;
use super::xml::Element;
use super::{POM, modules};

/// Of one project.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Files, there or not: absolute.
    pub files: BTreeSet<PathBuf>,
    /// Files by which profiles are active.
    pub looked_for: BTreeSet<PathBuf>,
    /// Those of the files that are poms, and which parts they keep, if
    /// that is known.
    pub poms: BTreeSet<PathBuf>,
    pub kept: Option<BTreeSet<String>>,
    /// Variables that a file names.
    pub variables: BTreeSet<String>,
    /// The values that poms give variables of tests, where they stand there as they are.
    pub given: BTreeMap<String, BTreeSet<String>>,
}

impl Configuration {
    /// For a command that ran in one of `folders`, in the work tree at `top`.
    pub fn of(top: &Path, folders: &[PathBuf], command: &[String]) -> Configuration {
        let typed = Words::of(command.iter().skip(1));
        let mut found = Configuration::default();
        let mut poms: Vec<PathBuf> = modules(top).iter().map(|folder| folder.join(POM)).collect();
        let mut around = Vec::new();
        let mut texts = Some(command.to_vec());
        for folder in folders {
            let here = Around::of(folder, &typed);
            let named = typed.poms().chain(here.words.poms());
            poms.extend(named.map(|pom| pom_at(&folder.join(pom))));
            found.files.extend(here.files.iter().cloned());
            for text in &here.texts {
                found.add_text(text, folder);
            }
            around.push(here);
        }
        let mut seen = BTreeSet::new();
        while let Some(pom) = poms.pop() {
            if seen.insert(pom.clone()) {
                let words = typed.all.iter();
                let words = words.chain(around.iter().flat_map(|here| &here.words.all));
                let folder = pom.parent().unwrap_or(&pom);
                for (name, value) in words.filter_map(|word| word.split_once('=')) {
                    found.add_named(name, value, folder);
                }
                poms.extend(found.add_pom(&pom, &around, &mut texts));
            }
        }
        for text in around.iter().flat_map(|here| &here.texts) {
            texts.iter_mut().for_each(|texts| texts.push(text.clone()));
        }
        found.kept = texts.and_then(|texts| kept(&texts));
        for pom in &seen {
            // The file itself counts, too, where the pom is a link.
            if pom.is_symlink() {
                found.files.extend(pom.canonicalize());
            }
        }
        found.files.extend(seen.iter().cloned());
        found.poms = seen.into_iter().filter(|pom| !pom.is_symlink()).collect();
        found
    }

    /// Those that the pom names which are files. `texts`: all poms that count, if they
    /// are known.
    fn add_pom(
        &mut self,
        file: &Path,
        around: &[Around],
        texts: &mut Option<Vec<String>>,
    ) -> Vec<PathBuf> {
        let folder = file.parent().unwrap_or(file);
        let text = crate::disk::read_to_string(file).unwrap_or_default();
        self.add_text(&text, folder);
        // What it inherits is said of it.
        for here in around {
            let above = Poms::above(file, &here.repository);
            for text in above.iter().flat_map(|poms| &poms.texts) {
                self.add_text(text, folder);
            }
            match above {
                Ok(poms) => {
                    self.files.extend(poms.files.iter().map(|file| plain(file)));
                    *texts = texts.take().filter(|_| poms.are_sure());
                    texts
                        .iter_mut()
                        .for_each(|texts| texts.extend_from_slice(&poms.texts));
                }
                Err(_) if file.exists() => *texts = None,
                // A file that is not there says nothing.
                Err(_) => {}
            }
        }
        let Ok(pom) = Element::read(text.as_bytes()) else {
            return Vec::new();
        };
        let every = pom.every().into_iter();
        let below = every.filter(|one| ["module", "subproject"].contains(&one.name.as_str()));
        let mut named: Vec<&str> = below.map(|one| one.text.as_str()).collect();
        for parent in pom.all("parent") {
            let said = parent.all("relativePath").next();
            named.push(said.map_or("../pom.xml", |said| said.text.as_str()));
        }
        let named = named.into_iter().filter(|path| !path.is_empty());
        let named = named.map(|path| pom_at(&plain(&folder.join(path))));
        named.filter(|path| path.is_file()).collect()
    }

    /// What a pom or settings say, for a module in `folder`.
    fn add_text(&mut self, text: &str, folder: &Path) {
        let Ok(document) = Element::read(text.as_bytes()) else {
            return;
        };
        self.add_variables_of(&document);
        self.add_given(&document);
        for file in document.at("profiles/profile/activation/file") {
            let paths = file.children.iter();
            let paths = paths.map(|path| resolved(&path.text, folder));
            self.looked_for.extend(paths);
        }
        for element in document.every() {
            self.add_named(&element.name, &element.text, folder);
        }
    }

    /// `${env.NAME}`, and the names of properties by which a profile is active.
    fn add_variables_of(&mut self, element: &Element) {
        if ABOUT_OTHERS.contains(&element.name.as_str()) {
            return;
        }
        let text = element.text.trim_start_matches('!').trim_start();
        let active_by = text.strip_prefix("env.").filter(|_| element.name == "name");
        let named = element.text.split("${env.").skip(1);
        let named = named.filter_map(|text| text.split('}').next());
        let named = named.chain(active_by).filter(|name| !name.is_empty());
        self.variables.extend(named.map(str::to_owned));
        for child in &element.children {
            self.add_variables_of(child);
        }
    }

    /// What Surefire and Failsafe put into the environment of tests.
    fn add_given(&mut self, document: &Element) {
        let every = document.every().into_iter();
        let all = every.filter(|one| one.name == "environmentVariables");
        for variable in all.flat_map(|one| &one.children) {
            // Not what is worked out, or written in another way.
            if variable.children.is_empty() && !variable.text.contains(['$', '@', '&']) {
                let values = self.given.entry(variable.name.clone()).or_default();
                values.insert(variable.text.clone());
            }
        }
    }

    /// A file that Surefire reads in Maven's JVM, or a JVM before it runs.
    fn add_named(&mut self, name: &str, value: &str, folder: &Path) {
        if FILES.iter().any(|known| name.ends_with(known)) && !value.is_empty() {
            self.files.insert(resolved(value, folder));
        }
        if name.ends_with("argLine") {
            let words = value.split_whitespace();
            let named = words.filter_map(|word| word.strip_prefix('@'));
            let named = named.filter(|file| !file.starts_with('{'));
            self.files.extend(named.map(|file| resolved(file, folder)));
        }
    }
}

/// Parts of poms and settings that say how to get at other machines: secrets, which are
/// others in each job.
const ABOUT_OTHERS: [&str; 8] = [
    "ciManagement",
    "distributionManagement",
    "mirrors",
    "pluginRepositories",
    "proxies",
    "repositories",
    "scm",
    "servers",
];

/// Endings of settings of Surefire and Failsafe that name a file.
const FILES: [&str; 4] = [
    "includesFile",
    "excludesFile",
    "systemPropertiesFile",
    "suiteXmlFile",
];

/// The file that a pom names, of a module in `folder`.
fn resolved(path: &str, folder: &Path) -> PathBuf {
    let home = std::env::var("HOME").unwrap_or_default();
    let mut path = path.replace("${user.home}", &home);
    for base in ["${basedir}", "${project.basedir}"] {
        path = path.replace(base, &folder.to_string_lossy());
    }
    plain(&folder.join(path))
}

/// The pom that a path names: a file, or one in a folder.
fn pom_at(path: &Path) -> PathBuf {
    match path.is_dir() {
        true => path.join(POM),
        false => path.to_owned(),
    }
}

/// Without `..` and `.`, so that each file has one path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(top: &Path, files: impl IntoIterator<Item = &'a PathBuf>) -> Vec<String> {
        let inside = files
            .into_iter()
            .filter_map(|file| file.strip_prefix(top).ok());
        let inside = inside.filter(|file| !file.starts_with(".mvn"));
        inside.map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn what_poms_and_settings_name_counts() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path();
        let write = |path: &str, text: &str| {
            let file = top.join(path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, text).unwrap();
        };
        write(
            "pom.xml",
            "<project><parent><artifactId>p</artifactId><relativePath>etc/parent.xml</relativePath></parent>\
             <modules><module>src/core</module><module>gone</module></modules></project>",
        );
        write(
            "etc/parent.xml",
            "<project><artifactId>p</artifactId><a>${env.ONE}x ${env.TWO}</a><argLine>-ea @a.txt @{b}</argLine><b>env.not</b></project>",
        );
        write(
            "src/core/pom.xml",
            "<project><profiles><profile><activation><file><exists>${basedir}/../flag</exists>\
             </file><property><name>!env.THREE</name></property></activation></profile></profiles></project>",
        );
        write(".mvn/maven.config", "-s\nours.xml\n");
        write(
            "ours.xml",
            "<settings><servers><server><password>${env.SECRET}</password></server></servers>\
             <x>${env.FOUR}</x><!-- ${env.NO} --></settings>",
        );
        write(
            "other.xml",
            "<project><environmentVariables><A> 1 </A><B>${c}</B><A>2</A></environmentVariables></project>",
        );
        let command = "mvn -f other.xml --settings=theirs.xml test -Dsurefire.includesFile=in.txt";
        let command = command.split(' ');
        let command: Vec<String> = command.map(str::to_owned).collect();
        let found = Configuration::of(top, &[top.to_owned()], &command);
        let files = [
            "a.txt",
            "etc/parent.xml",
            "in.txt",
            "other.xml",
            "ours.xml",
            "pom.xml",
            "src/core/pom.xml",
            "theirs.xml",
        ];
        let named = names(top, &found.files);
        for file in files {
            assert!(named.iter().any(|named| named == file), "{file}: {named:?}");
        }
        assert_eq!(names(top, &found.looked_for), ["src/flag"]);
        let variables: Vec<&str> = found.variables.iter().map(String::as_str).collect();
        assert_eq!(variables, ["FOUR", "ONE", "THREE", "TWO"]);
        let given = BTreeSet::from(["1".to_owned(), "2".to_owned()]);
        assert_eq!(found.given, BTreeMap::from([("A".to_owned(), given)]));
    }
}
