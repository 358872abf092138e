//! What configures every test of a project besides its sources: poms, settings, and
//! what these take from the machine.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::around::{Around, Words};
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
    /// Variables that a file names.
    pub variables: BTreeSet<String>,
}

impl Configuration {
    /// For a command that ran in one of `folders`, in the work tree at `top`.
    pub fn of(top: &Path, folders: &[PathBuf], command: &[String]) -> Configuration {
        let typed = Words::of(command.iter().skip(1));
        let mut found = Configuration::default();
        let mut poms: Vec<PathBuf> = modules(top).iter().map(|folder| folder.join(POM)).collect();
        let mut repositories = BTreeSet::new();
        for folder in folders {
            let around = Around::of(folder, &typed);
            let words = [&typed, &around.words];
            let named = words.into_iter().flat_map(Words::poms);
            poms.extend(named.map(|pom| pom_at(&folder.join(pom))));
            found.files.extend(around.files);
            for text in &around.texts {
                found.add_text(text, folder);
            }
            repositories.insert(around.repository);
        }
        while let Some(pom) = poms.pop() {
            if found.files.insert(pom.clone()) {
                poms.extend(found.add_pom(&pom, &repositories));
            }
        }
        found
    }

    /// Those that the pom names which are files.
    fn add_pom(&mut self, file: &Path, repositories: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let folder = file.parent().unwrap_or(file);
        let text = std::fs::read_to_string(file).unwrap_or_default();
        self.add_text(&text, folder);
        // What it inherits is said of it.
        let above = repositories.iter().map(|it| Poms::above(file, it));
        for text in above.flatten().flat_map(|poms| poms.texts) {
            self.add_text(&text, folder);
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

    fn add_text(&mut self, text: &str, folder: &Path) {
        self.add_variables(text);
        self.add_activations(text, folder);
    }

    /// `${env.NAME}`, and the names of properties by which a profile is active.
    fn add_variables(&mut self, text: &str) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("env.") {
            let is_name = |sign: char| !sign.is_whitespace() && !"}<>{$:\"'".contains(sign);
            let name = after
                .split(|sign| !is_name(sign))
                .next()
                .unwrap_or_default();
            if before.trim_end().ends_with(['{', '>', '!']) && !name.is_empty() {
                self.variables.insert(name.to_owned());
            }
            rest = after;
        }
    }

    fn add_activations(&mut self, text: &str, folder: &Path) {
        let Ok(pom) = Element::read(text.as_bytes()) else {
            return;
        };
        let home = std::env::var("HOME").unwrap_or_default();
        let here = folder.to_string_lossy();
        for file in pom.at("profiles/profile/activation/file") {
            for name in &file.children {
                let mut path = name.text.replace("${user.home}", &home);
                for base in ["${basedir}", "${project.basedir}"] {
                    path = path.replace(base, &here);
                }
                self.looked_for.insert(plain(&folder.join(path)));
            }
        }
    }
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
            "<project><parent><relativePath>etc/parent.xml</relativePath></parent>\
             <modules><module>src/core</module><module>gone</module></modules></project>",
        );
        write(
            "etc/parent.xml",
            "<project><artifactId></artifactId><a>${env.ONE}x ${env.TWO}</a><b>env.not</b></project>",
        );
        write(
            "src/core/pom.xml",
            "<project><profiles><profile><activation><file><exists>${basedir}/../flag</exists>\
             </file><property><name>!env.THREE</name></property></activation></profile></profiles></project>",
        );
        write("other.xml", "<project/>");
        write(".mvn/maven.config", "-s\nours.xml\n");
        write(
            "ours.xml",
            "<settings><x>${env.FOUR}</x><!-- ${env.NO} --></settings>",
        );
        let command = ["mvn", "-f", "other.xml", "--settings=theirs.xml", "test"];
        let command = command.map(str::to_owned);
        let found = Configuration::of(top, &[top.to_owned()], &command);
        let files = [
            "etc/parent.xml",
            "other.xml",
            "ours.xml",
            "pom.xml",
            "src/core/pom.xml",
            "theirs.xml",
        ];
        assert_eq!(names(top, &found.files), files);
        assert_eq!(names(top, &found.looked_for), ["src/flag"]);
        let variables: Vec<&str> = found.variables.iter().map(String::as_str).collect();
        assert_eq!(variables, ["FOUR", "ONE", "THREE", "TWO"]);
    }
}
