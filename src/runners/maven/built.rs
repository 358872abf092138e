//! Whether the class files of a run are what compiling the sources makes, and
//! nothing else had a part in it. Then sources tell what changed before anything is
//! compiled (`unbuilt.rs`). It is found out when results are recorded, where all
//! that the build read is at hand.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bstr::{BStr, BString, ByteSlice};
use walkdir::WalkDir;

use crate::history::{Entry, View};
use crate::languages::jvm::java;
use crate::matrix::{Mode, Unit, UnitKind};
use crate::runners::jvm::files_below;
use crate::runners::{Tree, maven};

/// What names the annotation processors that a jar has.
const PROCESSORS: &str = "META-INF/services/javax.annotation.processing.Processor";

/// Whether the class files that `units` are about are made of the sources alone.
/// `edited` are the files that were edited while the tests ran.
///
/// # Errors
/// What else had a part in them, or may have had.
pub(crate) fn is_of_sources(
    tree: &Tree<'_>,
    command: &[String],
    edited: &BTreeSet<BString>,
    units: &[&Unit],
) -> Result<(), String> {
    let build = Build {
        tree,
        command,
        edited,
    };
    build.examine(units)
}

/// The poms of a project at a view, and those in a repository if there is one.
///
/// # Errors
/// Why sources do not tell which classes there will be.
pub(super) fn model_of(
    tree: &Tree<'_>,
    command: &[String],
    repository: Option<&Path>,
) -> Result<maven::Model, String> {
    let read = |path: &BStr| tree.view.read(path).ok().flatten();
    let mut words = command.get(1..).unwrap_or_default().to_vec();
    for dir in maven::upwards(tree.prefix) {
        let own = BString::from([dir.as_bytes(), b"/.mvn/maven.config"].concat());
        let text = read(own.trim_start_with(|sign| sign == '/').as_bstr()).unwrap_or_default();
        words.extend(text.to_str_lossy().split_whitespace().map(str::to_owned));
    }
    if let Some(word) = maven::other_pom(&words) {
        return Err(format!("the command names another pom ({word})"));
    }
    if let Some(why) = maven::goals(&words).find_map(maven::doubt_of_goal) {
        return Err(why);
    }
    for name in ["MAVEN_ARGS", "MAVEN_OPTS"] {
        let words = std::env::var_os(name).unwrap_or_default();
        if let Some(word) = maven::definition_in(&words.to_string_lossy()) {
            return Err(format!("{name} has {word}"));
        }
    }
    maven::Model::of(tree.prefix, &read, repository)
}

/// All sources below a folder.
///
/// # Errors
/// If git cannot tell, or one is a link.
pub(super) fn sources_below(view: &View, folder: &BStr) -> Result<Vec<BString>, String> {
    if let Some(link) = link_in(view, folder)? {
        return Err(format!("{link} is a link"));
    }
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        let names = view
            .list(dir.as_bstr())
            .map_err(|error| error.to_string())?;
        for (name, is_dir) in names.into_iter().flatten() {
            let path = BString::from([dir.as_slice(), b"/", name.as_slice()].concat());
            let entry = view
                .entry(path.as_bstr())
                .map_err(|error| error.to_string())?;
            match entry {
                Entry::Dir if is_dir => {
                    open.push(path);
                    continue;
                }
                Entry::File {
                    mode: Mode::Regular | Mode::Executable,
                    ..
                } => {}
                // It may lead to sources.
                _ => return Err(format!("{path} is no plain file")),
            }
            if name.ends_with(b".java") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// What of a path is a link, or a repository of its own: then what lies there has
/// another path, too.
///
/// # Errors
/// If git cannot tell.
pub(super) fn link_in<'p>(view: &View, path: &'p BStr) -> Result<Option<&'p BStr>, String> {
    for part in maven::upwards(path).filter(|part| !part.is_empty()) {
        match view.entry(part).map_err(|error| error.to_string())? {
            Entry::Missing
            | Entry::Dir
            | Entry::TooLarge { .. }
            | Entry::File {
                mode: Mode::Regular | Mode::Executable,
                ..
            } => {}
            Entry::File { .. } | Entry::Unknown => return Ok(Some(part)),
        }
    }
    Ok(None)
}

struct Build<'a> {
    tree: &'a Tree<'a>,
    command: &'a [String],
    /// What was edited while the tests ran.
    edited: &'a BTreeSet<BString>,
}

impl Build<'_> {
    /// # Errors
    /// What else than the sources had a part in the class files, or may have had.
    fn examine(&self, units: &[&Unit]) -> Result<(), String> {
        let repository = self.repository()?;
        let model = model_of(self.tree, self.command, Some(&repository))?;
        if !model.is_without_processors {
            let jars = units
                .iter()
                .filter(|unit| unit.kind() == UnitKind::File && unit.path.ends_with(b".jar"));
            for unit in jars {
                has_no_processors(&self.on_disk(unit.path()))?;
            }
            dependencies_have_none(&model, &repository)?;
        }
        self.are_all_of_sources(&model)
    }

    /// Where Maven keeps what it fetched.
    fn repository(&self) -> Result<PathBuf, String> {
        let repository = maven::local_repository(self.tree.dir, self.command);
        match repository.is_dir() {
            true => Ok(repository),
            false => Err(format!("there is no {}", repository.display())),
        }
    }

    fn on_disk(&self, path: &BStr) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.tree.repository.root().join(OsStr::from_bytes(path))
    }

    /// That each class file is of a source, and newer than what it was made from. An
    /// older one may be left over: whoever compiles everything has another one.
    fn are_all_of_sources(&self, model: &maven::Model) -> Result<(), String> {
        let mut main = Written::default();
        for module in &model.modules {
            main.add_sources(&self.on_disk(module.main.as_bstr()));
            main.add_source(&self.on_disk(module.path(maven::POM).as_bstr()));
        }
        let mut all = main.clone();
        for module in &model.modules {
            all.add_sources(&self.on_disk(module.test.as_bstr()));
        }
        for module in &model.modules {
            for generated in ["generated-sources", "generated-test-sources"] {
                let folder = self.on_disk(module.path(&format!("target/{generated}")).as_bstr());
                if let Some(file) = files_below(&folder).first() {
                    return Err(format!("{} was generated", file.display()));
                }
            }
            for (is_test, newest) in [(false, &main), (true, &all)] {
                self.are_of(module, is_test, newest)?;
            }
        }
        let edited = |path: &&BString| path.ends_with(b".java") || path.ends_with(b".xml");
        let Some(path) = self.edited.iter().find(edited) else {
            return Ok(());
        };
        let targets = model.modules.iter().map(|module| module.path("target/"));
        let mut targets = targets.filter(|target| path.starts_with(target.as_slice()));
        Err(match targets.next() {
            // What git does not track there is ignored.
            Some(target) => format!(
                "{path} was written by the build, and git tracks it: `git rm -r --cached {target}`, \
                 and a line `target/` in .gitignore"
            ),
            None => format!("{path} was edited while the tests ran"),
        })
    }

    fn are_of(
        &self,
        module: &maven::Module,
        is_test: bool,
        newest: &Written,
    ) -> Result<(), String> {
        let output = self.on_disk(module.output(is_test).as_bstr());
        let root = module.sources(is_test);
        if output.join(PROCESSORS).exists() {
            return Err(format!("{} has annotation processors", output.display()));
        }
        // Those that git ignores are none that a later state is known by.
        let sources: BTreeSet<BString> = sources_below(self.tree.view, root)?.into_iter().collect();
        let mut unknown: Vec<String> = Vec::new();
        for file in files_below(&output) {
            if file.extension() != Some(OsStr::new("class")) {
                continue;
            }
            let written = std::fs::metadata(&file).and_then(|found| found.modified());
            if let (Some((source, edited)), Ok(written)) = (&newest.0, written)
                && written < *edited
            {
                return Err(format!(
                    "{} is older than {}",
                    file.display(),
                    source.display()
                ));
            }
            let name = file
                .strip_prefix(&output)
                .unwrap_or(&file)
                .with_extension("");
            let name = name.to_string_lossy().into_owned();
            // By far the most are in a source that is named like them.
            let (package, class) = name.rsplit_once('/').unwrap_or(("", &name));
            let top = class.split('$').next().unwrap_or(class);
            let source = match package {
                "" => format!("{root}/{top}.java"),
                package => format!("{root}/{package}/{top}.java"),
            };
            if !sources.contains(source.as_bytes().as_bstr()) {
                unknown.push(name);
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let mut outlines = Vec::new();
        for path in &sources {
            let text = self
                .tree
                .view
                .read(path.as_bstr())
                .ok()
                .flatten()
                .unwrap_or_default();
            outlines.push(java::outline(&text).map_err(|why| format!("{path}: {why}"))?);
        }
        match unknown
            .iter()
            .find(|name| !outlines.iter().any(|one| one.makes(name)))
        {
            Some(name) => Err(format!("no source of the project has the class {name}")),
            None => Ok(()),
        }
    }
}

/// The newest of some files.
#[derive(Clone, Default)]
struct Written(Option<(PathBuf, SystemTime)>);

impl Written {
    fn add_source(&mut self, path: &Path) {
        let written = std::fs::metadata(path).and_then(|found| found.modified());
        if let Ok(written) = written
            && self.0.as_ref().is_none_or(|(_, newest)| written > *newest)
        {
            self.0 = Some((path.to_owned(), written));
        }
    }

    /// Sources below a folder, and the folders: where one was taken away, that was
    /// written.
    fn add_sources(&mut self, folder: &Path) {
        self.add_source(folder);
        for entry in WalkDir::new(folder).min_depth(1).into_iter().flatten() {
            self.add_source(entry.path());
        }
    }
}

/// # Errors
/// If a jar has an annotation processor, or cannot be read. Names of entries are
/// not compressed.
fn has_no_processors(jar: &Path) -> Result<(), String> {
    let bytes = crate::disk::read(jar).map_err(|error| format!("{}: {error}", jar.display()))?;
    match bytes.contains_str(PROCESSORS) {
        true => {
            let name = jar.file_name().unwrap_or_default().to_string_lossy();
            Err(format!("{name} has an annotation processor"))
        }
        false => Ok(()),
    }
}

/// Looks at the jars of all that the project depends on, of whatever version is
/// there: more than Maven takes, which chooses one.
///
/// # Errors
/// If one has an annotation processor, or one that is named in a pom is not there.
fn dependencies_have_none(model: &maven::Model, repository: &Path) -> Result<(), String> {
    let mut open: VecDeque<(String, String)> = VecDeque::new();
    for (group, artifact) in &model.dependencies {
        if model.artifacts.contains(artifact) {
            continue;
        }
        if group.contains('$') || artifact.contains('$') {
            return Err(format!(
                "the dependency {group}:{artifact} is not spelled out"
            ));
        }
        if !maven::artifact_in(repository, group, artifact).is_dir() {
            return Err(format!(
                "{group}:{artifact} is not in {}",
                repository.display()
            ));
        }
        open.push_back((group.clone(), artifact.clone()));
    }
    let mut seen: BTreeSet<(String, String)> = open.iter().cloned().collect();
    while let Some((group, artifact)) = open.pop_front() {
        let folder = maven::artifact_in(repository, &group, &artifact);
        for file in files_below(&folder) {
            match file.extension().and_then(OsStr::to_str) {
                Some("jar") => has_no_processors(&file)?,
                Some("pom") => {
                    for found in needed_by(&file, &group, repository) {
                        if seen.insert(found.clone()) {
                            open.push_back(found);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What a pom and those above it name as needed; those that are not in the
/// repository Maven did not take.
fn needed_by(pom: &Path, group: &str, repository: &Path) -> Vec<(String, String)> {
    let poms = maven::Project::above([pom.into()], repository).poms;
    let all = poms
        .iter()
        .flat_map(|pom| pom.top.of_profiles("dependencies/dependency"));
    let unneeded = ["test", "provided", "system"];
    let needed = all.filter(|one| !unneeded.contains(&one.text_of("scope")));
    let named = needed.map(|dependency| match maven::coordinates(dependency) {
        (of, artifact, _) if of.starts_with("${") => (group.to_owned(), artifact),
        (of, artifact, _) => (of, artifact),
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project that needs `g:a`, and a repository with these files.
    fn examined(files: &[(&str, &str)]) -> Result<(), String> {
        let pom = "<project><dependencies><dependency><groupId>g.h</groupId>\
                   <artifactId>a</artifactId></dependency></dependencies></project>";
        let read = |path: &BStr| (path == maven::POM).then(|| pom.as_bytes().to_vec());
        let model = maven::Model::of(BStr::new(""), &read, None).unwrap();
        let repository = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = repository.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        dependencies_have_none(&model, repository.path())
    }

    fn needs(artifact: &str, scope: &str) -> String {
        format!(
            "<project><parent><groupId>g.h</groupId><artifactId>p</artifactId><version>1</version>\
             </parent><dependencies><dependency><groupId>${{project.groupId}}</groupId>\
             <artifactId>{artifact}</artifactId><scope>{scope}</scope></dependency></dependencies></project>"
        )
    }

    #[test]
    fn processors_of_dependencies_are_found() {
        let jar = format!("PK {PROCESSORS} PK");
        let (plain, with) = ("g/h/a/1/a-1.jar", "g/h/b/2/b-2.jar");
        let pom = "g/h/a/1/a-1.pom";
        assert!(examined(&[]).unwrap_err().contains("is not in"));
        assert_eq!(examined(&[(plain, "PK")]), Ok(()));
        assert!(examined(&[(plain, &jar)]).is_err());
        // In what it needs, but not in what its tests do.
        let needed = needs("b", "");
        assert!(examined(&[(plain, "PK"), (pom, &needed), (with, &jar)]).is_err());
        let of_tests = needs("b", "test");
        assert_eq!(examined(&[(pom, &of_tests), (with, &jar)]), Ok(()));
        // In what its parent needs.
        let above = needs("b", "runtime");
        let all = [
            (pom, of_tests.as_str()),
            ("g/h/p/1/p-1.pom", &above),
            (with, &jar),
        ];
        assert!(examined(&all).is_err());
    }

    #[test]
    fn the_newest_source_or_folder_counts() {
        let top = tempfile::tempdir().unwrap();
        let source = top.path().join("a/A.java");
        fs_err::create_dir_all(source.parent().unwrap()).unwrap();
        fs_err::write(&source, "class A { }").unwrap();
        let mut written = Written::default();
        written.add_sources(top.path());
        let (_, newest) = written.0.clone().unwrap();
        assert!(newest >= std::fs::metadata(&source).unwrap().modified().unwrap());
        written.add_sources(&top.path().join("gone"));
        assert_eq!(written.0.unwrap().1, newest);
    }
}
