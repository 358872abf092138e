//! What configures every test of a project besides its sources: poms, settings, and the
//! variables and files of the machine that these name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::around::{Around, Words};
use super::meaning::kept;
use super::plugins::has_word;
use super::pom::{Doubt, Pom, Project, beside, on_disk, plain, resolved};
use super::xml::Element;
use super::{POM, modules};

/// Of one project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// Files, there or not: absolute.
    pub files: BTreeSet<PathBuf>,
    /// Files by which profiles are active.
    pub looked_for: BTreeSet<PathBuf>,
    /// Those of the files that are poms.
    pub poms: BTreeSet<PathBuf>,
    /// Which of their parts are kept (`meaning.rs`), if that is known.
    pub kept: Option<BTreeSet<String>>,
    /// Variables that a file names.
    pub variables: BTreeSet<String>,
    /// The values that poms give to variables of tests, if they are written out there.
    pub given: BTreeMap<String, BTreeSet<String>>,
}

impl Configuration {
    /// For a command that ran in one of `folders`, in the work tree at `top`.
    pub(crate) fn of(top: &Path, folders: &[PathBuf], command: &[String]) -> Configuration {
        let typed = Words::of(command.iter().skip(1));
        let mut found = Configuration::default();
        let mut starts: Vec<PathBuf> = modules(top).iter().map(|folder| folder.join(POM)).collect();
        let mut arounds = Vec::new();
        for folder in folders {
            let here = Around::of(folder, &typed);
            let named = typed.poms().chain(here.words.poms());
            starts.extend(named.map(|pom| pom_at(&folder.join(pom))));
            found.files.extend(here.files.iter().cloned());
            arounds.push(here);
        }
        let typed: Vec<Element> = command.iter().map(|word| Element::of_text(word)).collect();
        let around = arounds.iter().flat_map(|here| &here.said);
        let mut said: Vec<&Element> = typed.iter().chain(around).collect();
        let words = said.clone();
        let repositories: BTreeSet<&Path> = arounds.iter().map(|here| &*here.repository).collect();
        let repositories = repositories.into_iter();
        let projects: Vec<Project> = repositories
            .map(|place| Project::of(starts.iter().cloned(), &on_disk, Some(place), true))
            .collect();
        let mut is_known = arounds.iter().all(|here| here.doubt.is_none());
        for project in &projects {
            for (folder, here) in folders.iter().zip(&arounds) {
                let all = here.said.iter();
                all.for_each(|said| found.add_document(said, folder, project));
            }
            for pom in &project.poms {
                found.add_pom(pom, project, &words);
                said.push(&pom.top);
            }
            found.files.extend(project.paths().cloned());
            is_known &= project.doubts.iter().all(|doubt| match doubt {
                Doubt::Module(_) => true,
                // A file that is not there says nothing.
                Doubt::Missing(file) => !file.exists(),
                Doubt::Unknown(_) => false,
            });
        }
        found.kept = is_known.then(|| kept(&said)).flatten();
        found
    }

    /// What a pom says, and all that it inherits from.
    fn add_pom(&mut self, pom: &Pom, project: &Project, words: &[&Element]) {
        if !pom.is_own {
            return;
        }
        let folder = pom.folder();
        match pom.path.is_symlink() {
            // The file itself counts, too, where the pom is a link.
            true => self.files.extend(pom.path.canonicalize()),
            false => drop(self.poms.insert(pom.path.clone())),
        }
        // The file where its parent is looked for may become its parent.
        let candidate = pom.candidate().and_then(|path| beside(folder, path));
        let candidate = candidate.map(|path| pom_at(&path));
        self.files.extend(candidate.filter(|file| file.is_file()));
        for (name, value) in words.iter().filter_map(|word| word.text.split_once('=')) {
            self.add_named(name, value, folder, project);
        }
        for above in project.lineage(pom) {
            self.add_document(&above.top, folder, project);
        }
    }

    /// What a pom or settings say, for a module in `folder`.
    fn add_document(&mut self, document: &Element, folder: &Path, project: &Project) {
        self.add_variables_of(document);
        self.add_given(document);
        for file in document.at("profiles/profile/activation/file") {
            let paths = file.children.iter();
            let paths = paths.map(|path| resolved(&path.text, folder));
            self.looked_for.extend(paths);
        }
        for element in document.every() {
            self.add_named(&element.name, &element.text, folder, project);
        }
    }

    /// `${env.NAME}`, and the names of properties by which a profile is active.
    fn add_variables_of(&mut self, element: &Element) {
        if has_word(ABOUT_OTHERS, &element.name) {
            return;
        }
        let text = element.text.trim_start_matches('!').trim_start();
        let active_by = text.strip_prefix("env.").filter(|_| element.name == "name");
        let attributes = element.attributes.iter().map(|(_, value)| value);
        let texts = attributes.chain([&element.text]);
        let named = texts.flat_map(|text| text.split("${env.").skip(1));
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
    fn add_named(&mut self, name: &str, value: &str, folder: &Path, project: &Project) {
        let is_file = FILES.iter().any(|known| name.ends_with(known));
        if !is_file && !name.ends_with("argLine") || value.is_empty() {
            return;
        }
        for value in project.values(value) {
            if is_file {
                self.files.insert(resolved(&value, folder));
                continue;
            }
            let words = value.split_whitespace();
            let named = words.filter_map(|word| word.strip_prefix('@'));
            let named = named.filter(|file| !file.starts_with('{'));
            self.files.extend(named.map(|file| resolved(file, folder)));
        }
    }
}

/// Parts of poms and settings that say how to get at other machines: secrets, which are
/// others in each job.
const ABOUT_OTHERS: &str = "ciManagement distributionManagement mirrors pluginRepositories \
    proxies repositories scm servers";

/// Endings of settings of Surefire and Failsafe that name a file.
const FILES: [&str; 4] = [
    "includesFile",
    "excludesFile",
    "systemPropertiesFile",
    "suiteXmlFile",
];

/// The pom that a path names: a file, or one in a folder.
fn pom_at(path: &Path) -> PathBuf {
    let path = plain(path).unwrap_or_else(|| path.to_owned());
    match path.is_dir() {
        true => path.join(POM),
        false => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &str); 6] = [
        (
            "pom.xml",
            "<project><parent><artifactId>p</artifactId><relativePath>etc/parent.xml</relativePath></parent>\
             <modules><module>src/core</module><module>gone</module></modules></project>",
        ),
        (
            "etc/parent.xml",
            "<project><artifactId>p</artifactId><a>${env.ONE}x ${env.TWO}</a><ant><echo message=\"${env.FIVE}\"/></ant><argLine>-ea @a.txt @{b}</argLine>\
             <b>env.not</b><properties><of.root>conf</of.root></properties></project>",
        ),
        (
            "src/core/pom.xml",
            "<project><profiles><profile><activation><file><exists>${basedir}/../flag</exists></file>\
             <property><name>!env.THREE</name></property></activation></profile></profiles></project>",
        ),
        (".mvn/maven.config", "-s\nours.xml\n"),
        (
            "ours.xml",
            "<settings><servers><server><password>${env.SECRET}</password></server></servers>\
             <x>${env.FOUR}</x><!-- ${env.NO} --></settings>",
        ),
        (
            "other.xml",
            "<project><environmentVariables><A> 1 </A><B>${c}</B><A>2</A></environmentVariables>\
             <systemPropertiesFile>${of.root}/sys.txt</systemPropertiesFile></project>",
        ),
    ];

    #[test]
    fn what_poms_and_settings_name_counts() {
        let world = tempfile::tempdir().unwrap();
        let top = world.path();
        for (path, text) in FILES {
            fs_err::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            fs_err::write(top.join(path), text).unwrap();
        }
        let command = "mvn -f other.xml --settings=theirs.xml test -Dsurefire.includesFile=in.txt";
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let found = Configuration::of(top, &[top.to_owned()], &command);
        for file in [
            "a.txt",
            "conf/sys.txt",
            "etc/parent.xml",
            "in.txt",
            "other.xml",
            "ours.xml",
            "pom.xml",
            "src/core/pom.xml",
            "theirs.xml",
        ] {
            assert!(found.files.contains(&top.join(file)), "{file}");
        }
        assert!(found.looked_for.iter().eq([&top.join("src/flag")]));
        assert!(
            found
                .variables
                .iter()
                .eq(["FIVE", "FOUR", "ONE", "THREE", "TWO"])
        );
        let given = BTreeSet::from(["1".to_owned(), "2".to_owned()]);
        assert_eq!(found.given, BTreeMap::from([("A".to_owned(), given)]));
    }
}
