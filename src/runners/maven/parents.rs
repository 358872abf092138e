//! A project's pom and those that it inherits from, as text.

use std::path::{Path, PathBuf};

use super::POM;
use super::xml::Element;

/// More parents than that are a circle.
const MOST: usize = 20;

/// What was found from a project upwards.
#[derive(Debug)]
pub struct Poms {
    /// The project's own first; without comments.
    pub texts: Vec<String>,
    /// Where they lie.
    pub files: Vec<PathBuf>,
}

impl Poms {
    /// The pom of `folder` and all above it: those on disk, and those that Maven
    /// keeps in `repository`.
    ///
    /// # Errors
    /// If one cannot be found: in words.
    pub fn of(folder: &Path, repository: &Path) -> Result<Poms, String> {
        Poms::above(&folder.join(POM), repository)
    }

    /// The same of a pom of whatever name.
    ///
    /// # Errors
    /// Those of [`Poms::of`].
    pub fn above(file: &Path, repository: &Path) -> Result<Poms, String> {
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        let mut next = Some(file.to_owned());
        while let Some(file) = next {
            if texts.len() == MOST {
                return Err(format!("{} has too many parents", file.display()));
            }
            let text = crate::disk::read_to_string(&file)
                .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
            let text = without_comments(&text);
            next = match parent(&text) {
                Some(parent) => Some(place(&parent, &file, repository)?),
                None => None,
            };
            texts.push(text);
            files.push(file);
        }
        Ok(Poms { texts, files })
    }
}

impl Poms {
    /// Whether each is the one that the pom before it names, and none is missing.
    pub fn are_sure(&self) -> bool {
        let read = |text: &String| Element::read(text.as_bytes()).ok();
        let Some(poms) = self.texts.iter().map(read).collect::<Option<Vec<_>>>() else {
            return false;
        };
        poms.iter().enumerate().all(|(at, pom)| {
            match (pom.all("parent").next(), poms.get(at + 1)) {
                (None, None) => true,
                (Some(named), Some(above)) => {
                    let inherited = above.all("parent").next();
                    let own = |part: &str| match above.text_of(part) {
                        "" => inherited
                            .map_or("", |parent| parent.text_of(part))
                            .to_owned(),
                        own => own.to_owned(),
                    };
                    let parts = ["groupId", "artifactId", "version"];
                    parts.iter().all(|part| own(part) == named.text_of(part))
                }
                _ => false,
            }
        })
    }
}

/// Where a parent's pom lies.
fn place(parent: &str, child: &Path, repository: &Path) -> Result<PathBuf, String> {
    let of = |name: &str| value(parent, name).unwrap_or_default();
    let (group, artifact, version) = (of("groupId"), of("artifactId"), of("version"));
    let path = match value(parent, "relativePath") {
        Some(path) => path,
        None if parent.contains("<relativePath") => "",
        None => "../pom.xml",
    };
    if !path.is_empty() {
        let path = child.parent().unwrap_or(child).join(path);
        let file = match path.is_dir() {
            true => path.join(POM),
            false => path,
        };
        // Maven looks no further if it is the one.
        let id = format!("<artifactId>{artifact}</artifactId>");
        let text = crate::disk::read_to_string(&file).unwrap_or_default();
        let own = text.split("</parent>").last().unwrap_or_default();
        if own.contains(&id) {
            return Ok(file);
        }
    }
    let folder = repository
        .join(group.replace('.', "/"))
        .join(artifact)
        .join(version);
    let file = folder.join(format!("{artifact}-{version}.pom"));
    match file.is_file() {
        true => Ok(file),
        false => Err(format!(
            "its parent {group}:{artifact}:{version} is not in {}",
            repository.display()
        )),
    }
}

/// The element that names a pom's parent.
fn parent(pom: &str) -> Option<String> {
    let (_, after) = pom.split_once("<parent>")?;
    Some(after.split("</parent>").next().unwrap_or(after).to_owned())
}

/// What is in the first element of that name.
pub fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = text.split_once(&format!("<{name}>"))?;
    Some(after.split('<').next().unwrap_or_default().trim())
}

/// The elements that configure a plug-in; they are never nested.
pub fn plugins(pom: &str) -> impl Iterator<Item = &str> {
    let after = pom.split("<plugin>").skip(1);
    after.map(|text| text.split("</plugin>").next().unwrap_or(text))
}

pub fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once("-->").map_or("", |(_, after)| after));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pom(artifact: &str, parent: &str, more: &str) -> String {
        let parent = match parent {
            "" => String::new(),
            name => format!(
                "<parent><groupId>a.b</groupId><artifactId>{name}</artifactId><version>1</version>{more}</parent>"
            ),
        };
        format!("<project>{parent}<artifactId>{artifact}</artifactId></project>")
    }

    #[test]
    fn parents_are_found_on_disk_and_in_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = top.path().join(path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, text).unwrap();
        };
        let found = || {
            let poms = Poms::of(&top.path().join("p/core"), &top.path().join("m2"));
            poms.map(|poms| poms.texts.len())
        };
        write("p/core/pom.xml", &pom("core", "top", ""));
        assert!(found().unwrap_err().contains("a.b:top:1"));
        // Another one lies where the parent's could.
        write("p/pom.xml", &pom("other", "", ""));
        assert!(found().is_err());
        write("p/pom.xml", &pom("top", "far", "<relativePath/>"));
        assert!(found().unwrap_err().contains("a.b:far:1"));
        write("m2/a/b/far/1/far-1.pom", &pom("far", "", ""));
        assert_eq!(found(), Ok(3));
        write("p/core/pom.xml", "no XML <!-- <parent> -->");
        assert_eq!(found(), Ok(1));
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let top = tempfile::tempdir().unwrap();
        let text = pom("x", "x", "<relativePath>pom.xml</relativePath>");
        fs_err::write(top.path().join("pom.xml"), text).unwrap();
        assert!(Poms::of(top.path(), top.path()).is_err());
    }

    #[test]
    fn plugins_are_told_apart() {
        let pom = "<plugin>a<phase>x</phase></plugin><plugins><plugin>b</plugin></plugins>";
        let found: Vec<&str> = plugins(pom).collect();
        assert_eq!(found, ["a<phase>x</phase>", "b"]);
    }
}
