//! The one model of a project's poms: the modules that they name, what they inherit, and the
//! values of their properties. All questions about poms are asked of it.
//!
//! It does not decide which profiles are active or which of several values wins. What any
//! pom or profile says counts, so that a question is answered for every way to run Maven.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::POM;
use super::xml::Element;

/// More parents than that are a circle.
const MOST: usize = 20;

/// Values of a property that refers to itself have no end.
const MOST_VALUES: usize = 100;
const MOST_LETTERS: usize = 1000;

/// Why not all is known that poms say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// There is no such file.
    Missing(PathBuf),
    /// A pom names a module that is no folder of the project: in words.
    Module(String),
    /// A file is not understood, or it is not known what it inherits: in words.
    Unknown(String),
}

impl Doubt {
    pub(crate) fn unread(file: &Path, why: &str) -> Doubt {
        Doubt::Unknown(format!("{} is not understood: {why}", file.display()))
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Missing(path) => write!(f, "there is no {}", path.display()),
            Doubt::Module(why) | Doubt::Unknown(why) => f.write_str(why),
        }
    }
}

/// Group, artifact and version.
pub(super) type Coordinates = (String, String, String);

/// The coordinates that an element names.
pub(crate) fn coordinates(element: &Element) -> Coordinates {
    let part = |name: &str| element.text_of(name).to_owned();
    (part("groupId"), part("artifactId"), part("version"))
}

/// The coordinates of a pom itself, which may inherit some.
fn own_coordinates(pom: &Element) -> Coordinates {
    let own = |name| match (pom.text_of(name), pom.child("parent")) {
        ("", Some(parent)) => parent.text_of(name).to_owned(),
        (own, _) => own.to_owned(),
    };
    (own("groupId"), own("artifactId"), own("version"))
}

/// Where Maven keeps the versions of an artifact.
pub(crate) fn artifact_in(repository: &Path, group: &str, artifact: &str) -> PathBuf {
    repository.join(group.replace('.', "/")).join(artifact)
}

/// Where it keeps a pom.
pub(super) fn pom_in(repository: &Path, (group, artifact, version): &Coordinates) -> PathBuf {
    let folder = artifact_in(repository, group, artifact).join(version);
    folder.join(format!("{artifact}-{version}.pom"))
}

/// One pom.
#[derive(Clone, Debug)]
pub(crate) struct Pom {
    pub path: PathBuf,
    /// Whether it is a file of the project, and not from Maven's local repository.
    pub is_own: bool,
    pub top: Rc<Element>,
    /// The pom that it inherits from, if that is known.
    pub parent: Option<PathBuf>,
}

impl Pom {
    /// The folder that its paths are relative to.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// For people.
    pub(crate) fn name(&self) -> String {
        match (self.is_own, self.path.file_name()) {
            (false, Some(name)) => name.to_string_lossy().into_owned(),
            _ => self.path.display().to_string(),
        }
    }

    /// The modules that it names, in profiles too.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Element> {
        let names = ["modules/module", "subprojects/subproject"].into_iter();
        names.flat_map(|name| self.top.of_profiles(name))
    }

    /// Where its parent is looked for first.
    pub(crate) fn candidate(&self) -> Option<&str> {
        let said = self.top.child("parent")?.child("relativePath");
        let path = said.map_or("../pom.xml", |said| &said.text);
        Some(path).filter(|path| !path.is_empty() && self.is_own)
    }

    /// The elements that configure plug-ins, those of reports too.
    pub(crate) fn plugins(&self) -> impl Iterator<Item = &Element> {
        self.top.named("plugin")
    }
}

/// How a file is read that is in no commit.
pub(super) fn on_disk(file: &Path) -> Option<Vec<u8>> {
    crate::disk::read(file).ok()
}

/// Poms, and what is not known of them.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// The one that reading began with first.
    pub poms: Vec<Pom>,
    pub doubts: Vec<Doubt>,
    /// Indices in `poms`.
    places: HashMap<PathBuf, usize>,
    /// All values that properties are given, in profiles too.
    properties: BTreeMap<String, BTreeSet<String>>,
}

impl Project {
    /// Poms on disk, and all that they inherit from, there or in Maven's local repository.
    pub(crate) fn above(starts: impl IntoIterator<Item = PathBuf>, repository: &Path) -> Project {
        Project::of(starts, &on_disk, Some(repository), false)
    }

    /// The poms of all folders beneath `top`, and all that these inherit from.
    pub(crate) fn of_modules(top: &Path, repository: &Path) -> Project {
        let folders = super::modules(top).into_iter();
        Project::above(folders.map(|folder| folder.join(POM)), repository)
    }

    /// Poms, all modules that they name, and all that these inherit from. Without a
    /// repository, parents that are not in the project are left out without a doubt.
    pub(crate) fn of(
        starts: impl IntoIterator<Item = PathBuf>,
        read: &dyn Fn(&Path) -> Option<Vec<u8>>,
        repository: Option<&Path>,
        has_modules: bool,
    ) -> Project {
        let (mut project, known) = (Project::default(), BTreeMap::new());
        let mut files = Files { read, known };
        let mut open: Vec<(PathBuf, bool)> = starts.into_iter().map(|path| (path, true)).collect();
        open.reverse();
        while let Some((path, is_own)) = open.pop() {
            if project.places.contains_key(&path) {
                continue;
            }
            let found = files.get(&path, is_own);
            let place = found.as_ref().map_or(usize::MAX, |_| project.poms.len());
            project.places.insert(path.clone(), place);
            let mut pom = match found {
                Ok(top) => Pom {
                    path,
                    is_own,
                    top,
                    parent: None,
                },
                Err(doubt) => {
                    project.doubts.push(doubt);
                    continue;
                }
            };
            for module in pom.modules().filter(|_| is_own && has_modules) {
                match files.beside(&pom, &module.text) {
                    Some(file) => open.push((file, true)),
                    None => project.doubts.push(Doubt::Module(format!(
                        "{} names the module {}, which is no folder of the project",
                        pom.name(),
                        module.text
                    ))),
                }
            }
            match files.parent(&pom, repository) {
                Ok(parent) => {
                    pom.parent = parent.as_ref().map(|(path, _)| path.clone());
                    open.extend(parent);
                }
                Err(doubt) => project.doubts.push(doubt),
            }
            project.poms.push(pom);
        }
        let is_circle = |pom: &&Pom| project.lineage(pom).len() > MOST;
        let circle = project.poms.iter().find(is_circle);
        let circle = circle.map(|pom| format!("{} has too many parents", pom.name()));
        project.doubts.extend(circle.map(Doubt::Unknown));
        for pom in &project.poms {
            let properties = pom.top.of_profiles("properties").into_iter();
            for property in properties.flat_map(|all| &all.children) {
                let values = project.properties.entry(property.name.clone()).or_default();
                values.insert(property.text.clone());
            }
        }
        project
    }

    /// A pom and all that it inherits from.
    pub(crate) fn lineage<'a>(&'a self, pom: &'a Pom) -> Vec<&'a Pom> {
        let above = |pom: &&'a Pom| self.poms.get(*self.places.get(pom.parent.as_ref()?)?);
        let all = std::iter::successors(Some(pom), above);
        all.take(MOST + 1).collect()
    }

    /// All files that were looked at as poms of it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.places.keys()
    }

    /// Why poms may say more.
    pub(crate) fn doubt(&self) -> Option<&Doubt> {
        self.doubts.first()
    }

    /// All elements of all poms.
    pub(crate) fn every(&self) -> impl Iterator<Item = &Element> {
        self.poms.iter().flat_map(|pom| pom.top.every())
    }

    /// Whether any has that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.every().any(|one| one.name == name)
    }

    pub(crate) fn mentions(&self, part: &str) -> bool {
        self.poms.iter().any(|pom| pom.top.mentions(part))
    }

    /// All that a text may come to, itself among it: a property may have another value in
    /// each pom and each profile.
    pub(crate) fn values(&self, text: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([text.to_owned()]);
        let mut open = vec![text.to_owned()];
        while let Some(text) = open.pop() {
            let names = text.split("${").skip(1);
            for name in names.filter_map(|part| Some(part.split_once('}')?.0)) {
                for value in self.properties.get(name).into_iter().flatten() {
                    let text = text.replace(&format!("${{{name}}}"), value);
                    let is_short = text.len() < MOST_LETTERS && found.len() < MOST_VALUES;
                    if is_short && found.insert(text.clone()) {
                        open.push(text);
                    }
                }
            }
        }
        found
    }
}

/// Files that were read, and what they were found to be.
struct Files<'a> {
    read: &'a dyn Fn(&Path) -> Option<Vec<u8>>,
    known: BTreeMap<PathBuf, Result<Rc<Element>, Doubt>>,
}

impl Files<'_> {
    fn get(&mut self, path: &Path, is_own: bool) -> Result<Rc<Element>, Doubt> {
        let read = || {
            let text = match is_own {
                true => (self.read)(path),
                false => on_disk(path),
            };
            let text = text.ok_or_else(|| Doubt::Missing(path.to_owned()))?;
            let read = match Element::read(&text) {
                Ok(top) if top.name != "project" => Err("it is no project".to_owned()),
                read => read,
            };
            read.map(Rc::new).map_err(|why| Doubt::unread(path, &why))
        };
        let known = self.known.entry(path.to_owned());
        known.or_insert_with(read).clone()
    }

    /// The pom that another one names: a file, or one in a folder.
    fn beside(&mut self, pom: &Pom, path: &str) -> Option<PathBuf> {
        let path = beside(pom.folder(), path)?;
        let mut files = [path.clone(), path.join(POM)].into_iter();
        files.find(|file| !matches!(self.get(file, true), Err(Doubt::Missing(_))))
    }

    /// Where a pom's parent lies, and whether it is a file of the project.
    fn parent(
        &mut self,
        pom: &Pom,
        repository: Option<&Path>,
    ) -> Result<Option<(PathBuf, bool)>, Doubt> {
        let Some(named) = pom.top.child("parent").map(coordinates) else {
            return Ok(None);
        };
        let file = pom.candidate().and_then(|path| self.beside(pom, path));
        if let Some(file) = file {
            // Maven takes the file only if it is the one that is named.
            let own = own_coordinates(&*self.get(&file, true)?);
            if own == named {
                return Ok(Some((file, true)));
            }
            if own.1 == named.1 {
                let file = file.display();
                let why = format!(
                    "{file} is not the version that {} inherits from",
                    pom.name()
                );
                return Err(Doubt::Unknown(why));
            }
        }
        let Some(repository) = repository else {
            return Ok(None);
        };
        let file = pom_in(repository, &named);
        if file.is_file() {
            return Ok(Some((file, false)));
        }
        let (group, artifact, version) = named;
        let parent = format!("its parent {group}:{artifact}:{version}");
        let why = format!(
            "{}: {parent} is not in {}",
            pom.name(),
            repository.display()
        );
        Err(Doubt::Unknown(why))
    }
}

/// A path that is relative to a folder. `None` if it leads out of the work tree, where the
/// folder is relative to that, or is not known before Maven runs.
pub(super) fn beside(folder: &Path, path: &str) -> Option<PathBuf> {
    let is_plain = !path.contains(['$', '\\']) && !path.starts_with('/');
    is_plain.then(|| plain(&folder.join(path))).flatten()
}

/// The file that a pom in `folder` names.
pub(super) fn resolved(path: &str, folder: &Path) -> PathBuf {
    let home = std::env::var("HOME").unwrap_or_default();
    let mut path = path.replace("${user.home}", &home);
    for base in ["${basedir}", "${project.basedir}"] {
        path = path.replace(base, &folder.to_string_lossy());
    }
    let path = folder.join(path);
    plain(&path).unwrap_or(path)
}

/// Without `..` and `.`, so that each file has one path; `None` if it begins with `..`.
pub(super) fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !plain.pop() && !path.is_absolute() => return None,
            Component::ParentDir | Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// A project of one pom, for tests.
#[cfg(test)]
pub(super) fn sample(text: &str) -> Project {
    let read = |_: &Path| Some(format!("<project>{text}</project>").into_bytes());
    Project::of([POM.into()], &read, None, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pom(artifact: &str, parent: &str, more: &str) -> String {
        let named = |artifact: &str| {
            format!("<groupId>a.b</groupId><artifactId>{artifact}</artifactId><version>1</version>")
        };
        let parent = match parent {
            "" => String::new(),
            parent => format!("<parent>{}{more}</parent>", named(parent)),
        };
        format!("<project>{parent}{}</project>", named(artifact))
    }

    fn write(top: &Path, path: &str, text: &str) {
        let file = top.join(path);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }

    fn read(top: &Path, path: &str) -> Project {
        Project::of([top.join(path)], &on_disk, Some(&top.join("m2")), true)
    }

    #[test]
    fn parents_are_found_on_disk_and_in_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        let found = || {
            let project = read(top, "p/core/pom.xml");
            let doubt = project.doubt().map(Doubt::to_string);
            doubt.map_or(Ok(project.poms.len()), Err)
        };
        write(top, "p/core/pom.xml", &pom("core", "top", ""));
        assert!(found().unwrap_err().contains("a.b:top:1"));
        // Another one lies where the parent's could.
        write(top, "p/pom.xml", &pom("other", "", ""));
        assert!(found().is_err());
        let above = pom("top", "far", "<relativePath/>");
        write(top, "p/pom.xml", &above);
        assert!(found().unwrap_err().contains("a.b:far:1"));
        write(top, "m2/a/b/far/1/far-1.pom", &pom("far", "", ""));
        assert_eq!(found(), Ok(3));
        // Maven would take another one, from elsewhere.
        write(top, "m2/a/b/top/1/top-1.pom", &pom("top", "", ""));
        let newer = above.replace("1</version></project>", "2</version></project>");
        write(top, "p/pom.xml", &newer);
        assert!(found().unwrap_err().contains("is not the version"));
        let group = above.replacen("</parent><groupId>a.b", "</parent><groupId>a.c", 1);
        write(top, "p/pom.xml", &group);
        assert!(found().is_err());
        write(
            top,
            "p/core/pom.xml",
            "<project><!-- <parent> --></project>",
        );
        assert_eq!(found(), Ok(1));
        write(top, "p/core/pom.xml", "no XML <!-- <parent> -->");
        assert!(found().unwrap_err().contains("is not understood"));
        write(top, "p/core/pom.xml", "<settings/>");
        assert!(found().unwrap_err().contains("it is no project"));
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let project = sample("<parent><relativePath>pom.xml</relativePath></parent>");
        let doubt = project.doubt().unwrap().to_string();
        assert!(doubt.contains("too many parents"));
    }

    #[test]
    fn plugins_are_told_apart() {
        let project =
            sample("<plugin>a<phase>x</phase></plugin><plugins><plugin >b</plugin></plugins>");
        let found = project.poms[0].plugins();
        let found = found.map(|one| (one.text.as_str(), one.text_of("phase")));
        assert_eq!(found.collect::<Vec<_>>(), [("a", "x"), ("b", "")]);
    }

    #[test]
    fn modules_are_followed_and_their_properties_have_values() {
        let top = tempfile::tempdir().unwrap();
        for (path, text) in [
            (
                "pom.xml",
                "<modules><module>core</module><module>gone</module></modules>\
                 <properties><a>${b}/x</a></properties>",
            ),
            (
                "core/pom.xml",
                "<profiles><profile><properties><b>1</b><c>${c}${a}</c></properties></profile>\
                 <profile><properties><b>2</b></properties><modules><module>../other.xml</module></modules>\
                 </profile></profiles>",
            ),
            ("other.xml", ""),
        ] {
            write(top.path(), path, &format!("<project>{text}</project>"));
        }
        let project = read(top.path(), "pom.xml");
        assert_eq!(project.poms.len(), 3);
        assert!(matches!(project.doubts.as_slice(), [Doubt::Module(_)]));
        let values = project.values("-${a}-${no}");
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let all = ["-${a}-${no}", "-${b}/x-${no}", "-1/x-${no}", "-2/x-${no}"];
        assert_eq!(values, all);
        assert!(project.values("${c}").len() <= MOST_VALUES);
        assert_eq!(plain(Path::new("a/../../b")), None);
        assert_eq!(plain(Path::new("/a/../../b/.")), Some("/b".into()));
    }
}
