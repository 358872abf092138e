//! What the poms of a project say of how its classes are made: whether compiling
//! the sources is all, and where these lie.
//!
//! Only what is known to be harmless is: anything else is a reason why sources do
//! not tell which classes there will be.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use super::plugins::{has_word, why_makes_classes};
use super::pom::{Pom, Project, beside, coordinates};
use super::xml::{Element, is_like_ascii};
use super::{POM, bytes_of};

/// Where Maven looks for sources by itself.
const MAIN: &str = "src/main/java";
const TEST: &str = "src/test/java";

/// One module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its folder, relative to the top of the work tree.
    pub dir: BString,
    /// Where its sources are, those of its tests too.
    pub main: BString,
    pub test: BString,
    /// Whether the resources of both are where Maven looks for them by itself, and
    /// are copied as they are.
    pub has_plain_resources: bool,
    /// Whether some are changed on their way.
    pub filters: bool,
}

impl Module {
    /// Beneath its folder, or that of the project.
    pub fn path(&self, rest: &str) -> BString {
        joined(self.dir.as_bstr(), rest)
    }

    fn has_usual_sources(&self) -> bool {
        self.main == self.path(MAIN) && self.test == self.path(TEST)
    }

    /// The classes that Maven makes of the sources of one side.
    pub fn output(&self, is_test: bool) -> BString {
        self.path(match is_test {
            true => "target/test-classes",
            false => "target/classes",
        })
    }

    pub fn sources(&self, is_test: bool) -> &BStr {
        match is_test {
            true => self.test.as_bstr(),
            false => self.main.as_bstr(),
        }
    }

    pub fn resources(&self, is_test: bool) -> BString {
        self.path(match is_test {
            true => "src/test/resources",
            false => "src/main/resources",
        })
    }
}

/// What all poms of a project say.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub modules: Vec<Module>,
    /// Group and artifact of dependencies that are named.
    pub dependencies: BTreeSet<(String, String)>,
    /// Whether no annotation processor runs, whatever is on the class path.
    pub is_without_processors: bool,
    /// Whether a pom of the project says in which encoding its sources are.
    pub has_encoding: bool,
    /// The project's own artifacts.
    pub artifacts: BTreeSet<String>,
}

/// Plug-ins that Maven uses though no pom names them.
const ALWAYS_USED: [&str; 4] = [
    "maven-compiler-plugin",
    "maven-jar-plugin",
    "maven-resources-plugin",
    "maven-surefire-plugin",
];

/// What may be said to the compiler: it makes the same of the same sources then.
const COMPILER: &str = "compilerArgs compilerArgument debug debuglevel encoding failOnError \
    failOnWarning forceJavacCompilerUse maxmem meminitial optimize parameters proc release \
    showDeprecation showWarnings source staleMillis target testRelease testSource testTarget";

/// Beginnings of arguments of the compiler that change no meaning.
const ARGUMENTS: &str = "-Xlint -Xdoclint -Werror -Xmaxerrs -Xmaxwarns -parameters -proc:none -g \
    -deprecation -XDcompilePolicy";

impl Model {
    /// What the poms of a project say; `read` gives a file relative to the top of the
    /// work tree. Poms in a `repository` are looked at if there is one.
    ///
    /// # Errors
    /// Why sources do not tell which classes there will be.
    pub fn of(
        project: &BStr,
        read: &dyn Fn(&BStr) -> Option<Vec<u8>>,
        repository: Option<&Path>,
    ) -> Result<Model, String> {
        for dir in upwards(project) {
            if read(joined(dir, ".mvn/extensions.xml").as_bstr()).is_some() {
                return Err(".mvn/extensions.xml adds to Maven itself".to_owned());
            }
        }
        let start = project.to_path_lossy().join(POM);
        let read = |path: &Path| read(bytes_of(path).as_bstr());
        let project = Project::read([start], &read, repository);
        match project.doubt() {
            Some(doubt) => Err(doubt.to_string()),
            None => Model::of_poms(&project),
        }
    }

    fn of_poms(project: &Project) -> Result<Model, String> {
        let mut model = Model::default();
        let (mut has_plain_resources, mut filters) = (true, false);
        for pom in &project.poms {
            let name = pom.name();
            let module = module(pom)?;
            let inherited = |other: &Pom| other.parent.as_ref() == Some(&pom.path);
            if project.poms.iter().any(inherited) {
                if !module.has_usual_sources() {
                    return Err(format!("{name} says where sources are"));
                }
                has_plain_resources &= module.has_plain_resources;
                filters |= module.filters;
            }
            if !pom.is_own {
                if !module.has_plain_resources {
                    return Err(format!("{name} says where resources are"));
                }
                if name.ends_with("-SNAPSHOT.pom") {
                    return Err(format!("the parent {name} may be another tomorrow"));
                }
                continue;
            }
            // Changes of others would not be noticed.
            if pom.path.file_name() != Some(OsStr::new(POM)) {
                return Err(format!("{name} is a pom of another name"));
            }
            model.modules.push(module);
            let said = pom.top.every().into_iter().filter(|one| is_encoding(one));
            let names = "encoding maven.compiler.encoding project.build.sourceEncoding";
            model.has_encoding |= said.into_iter().any(|one| has_word(names, &one.name));
            let artifact = pom.top.text_of("artifactId");
            model.artifacts.insert(artifact.to_owned());
        }
        // What a parent says of resources holds for its children, too.
        for module in &mut model.modules {
            module.has_plain_resources &= has_plain_resources;
            module.filters |= filters;
        }
        model.modules.sort_by(|a, b| a.dir.cmp(&b.dir));
        model.have_own_sources()?;
        model.examine(project)?;
        Ok(model)
    }

    /// That no source belongs to two modules, or to both sides of one.
    fn have_own_sources(&self) -> Result<(), String> {
        let modules = self.modules.iter();
        let roots: Vec<&BString> = modules.flat_map(|one| [&one.main, &one.test]).collect();
        for (at, root) in roots.iter().enumerate() {
            let is_in = |other: &&BString| {
                let rest = other.strip_prefix(root.as_slice());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            };
            let mut others = roots[..at].iter().chain(&roots[at + 1..]);
            if let Some(other) = others.find(|other| is_in(other)) {
                return Err(format!("sources in {other} are those in {root}, too"));
            }
        }
        Ok(())
    }

    /// Looks at all poms: what one says of a plug-in counts if any uses it.
    fn examine(&mut self, project: &Project) -> Result<(), String> {
        let poms = project.poms.iter();
        let plugins = poms.flat_map(|pom| pom.top.of_profiles("build/plugins/plugin"));
        let mut used: BTreeSet<&str> = plugins.map(|one| one.text_of("artifactId")).collect();
        used.extend(ALWAYS_USED);
        let mut processors = Vec::new();
        for pom in &project.poms {
            let in_pom = |why: String| format!("{}: {why}", pom.name());
            plain(&pom.top).map_err(in_pom)?;
            // Those only make reports for people.
            let of_reports = pom.top.at("reporting/plugins/plugin");
            for plugin in pom.plugins() {
                let is_used = used.contains(plugin.text_of("artifactId"));
                if is_used && !of_reports.iter().any(|one| std::ptr::eq(*one, plugin)) {
                    let why = why_makes_classes(plugin).or_else(|| why_not_plain(plugin));
                    why.map_or(Ok(()), Err).map_err(in_pom)?;
                    processors.extend(plugin.named("proc").map(|one| one.text.as_str()));
                }
            }
            for bom in pom.top.named("dependency") {
                if bom.text_of("scope") == "import" {
                    self.is_fixed(bom, project).map_err(in_pom)?;
                }
            }
            for dependency in pom.top.of_profiles("dependencies/dependency") {
                let (group, artifact, _) = coordinates(dependency);
                self.dependencies.insert((group, artifact));
            }
        }
        self.is_without_processors = self.modules.len() == 1
            && !processors.is_empty()
            && processors.iter().all(|said| *said == "none");
        Ok(())
    }

    /// That versions which a pom from elsewhere manages are the same tomorrow.
    fn is_fixed(&self, bom: &Element, project: &Project) -> Result<(), String> {
        let (_, artifact, version) = coordinates(bom);
        let mut values = project.values(&version).into_iter();
        match values.any(|one| one.ends_with("-SNAPSHOT")) && !self.artifacts.contains(&artifact) {
            true => Err(format!("{artifact} {version} may be another tomorrow")),
            false => Ok(()),
        }
    }
}

/// A folder, and all above it.
pub fn upwards(dir: &BStr) -> impl Iterator<Item = &BStr> {
    std::iter::successors(Some(dir), |dir| {
        (!dir.is_empty()).then(|| dir.rsplitn_str(2, "/").nth(1).unwrap_or_default().as_bstr())
    })
}

/// Beneath a folder, or the top of the work tree.
fn joined(dir: &BStr, rest: &str) -> BString {
    match dir.is_empty() {
        true => rest.into(),
        false => BString::from([dir.as_bytes(), b"/", rest.as_bytes()].concat()),
    }
}

/// Where a module has its sources.
fn module(pom: &Pom) -> Result<Module, String> {
    let name = pom.name();
    let packaging = pom.top.text_of("packaging");
    if !["", "jar", "pom", "war"].contains(&packaging) {
        return Err(format!("{name} has the packaging {packaging}"));
    }
    let builds = pom.top.of_profiles("build");
    let said = |what: &str| builds.iter().flat_map(|build| build.at(what)).next();
    let moved = ["outputDirectory", "testOutputDirectory", "directory"];
    let mut moved = moved.into_iter().chain(["extensions/extension"]);
    if let Some(moved) = moved.find(|moved| said(moved).is_some()) {
        return Err(format!("{name} sets {moved}"));
    }
    let dir = bytes_of(pom.folder());
    let folder = |what: &str, usual: &str| {
        let own = match said(what) {
            Some(own) => own.text.as_str(),
            None => return Ok(joined(dir.as_bstr(), usual)),
        };
        let folder = beside(pom.folder(), own).map(|folder| bytes_of(&folder));
        folder.ok_or_else(|| format!("{name} sets {what} to {own}"))
    };
    let all = builds.iter().flat_map(|build| build.named("filtering"));
    let filters = all.into_iter().any(|one| one.text != "false");
    Ok(Module {
        main: folder("sourceDirectory", MAIN)?,
        test: folder("testSourceDirectory", TEST)?,
        has_plain_resources: !filters
            && said("resources").is_none()
            && said("testResources").is_none(),
        filters,
        dir,
    })
}

fn is_encoding(element: &Element) -> bool {
    !element.text.is_empty() && element.name.to_ascii_lowercase().ends_with("encoding")
}

/// What is true of all that a pom says, whatever it is about.
fn plain(pom: &Element) -> Result<(), String> {
    for element in pom.every() {
        let Element { name, text, .. } = element;
        if text.contains("${env.") {
            return Err(format!("{name} depends on a variable of the environment"));
        }
        if is_encoding(element) && !text.starts_with("${") && !is_like_ascii(text) {
            return Err(format!("the encoding {text} is not understood"));
        }
        if name != "dependency" {
            continue;
        }
        let why = match element.text_of("artifactId") {
            "lombok" => "Lombok changes what sources are compiled to",
            "testng" => "which tests TestNG needs together is known when they are compiled",
            _ => "",
        };
        if !why.is_empty() {
            return Err(why.to_owned());
        }
        let version = element.text_of("version");
        if version.starts_with(['[', '(']) || ["LATEST", "RELEASE"].contains(&version) {
            let why = format!("the version {version} of a dependency may be another tomorrow");
            return Err(why);
        }
    }
    for activation in pom.at("profiles/profile/activation") {
        let mut properties = activation.at("property/name").into_iter();
        let is_by_file = activation.child("file").is_some();
        if is_by_file || properties.any(|one| one.text.contains("env.")) {
            return Err("a profile is active where a file or a variable is there".to_owned());
        }
    }
    Ok(())
}

/// Why a plug-in that is known may make other classes of the same sources.
fn why_not_plain(plugin: &Element) -> Option<String> {
    let artifact = plugin.text_of("artifactId");
    if artifact == "maven-resources-plugin" && !plugin.at("executions/execution").is_empty() {
        return Some(format!("the plugin {artifact} copies more than resources"));
    }
    if artifact != "maven-compiler-plugin" {
        return None;
    }
    // Error-prone and others come as dependencies of the compiler.
    if !plugin.at("dependencies/dependency").is_empty() {
        return Some("the compiler has dependencies of its own".to_owned());
    }
    let said = plugin.named("configuration").flat_map(|one| &one.children);
    let why = said.into_iter().find_map(|said| {
        if !has_word(COMPILER, &said.name) {
            return Some(&*said.name);
        }
        let is_argument = said.name.starts_with("compilerArg");
        let texts = said.every().into_iter().filter(|_| is_argument);
        let mut arguments = texts.flat_map(|one| one.text.split_whitespace());
        let is_known = |argument: &str| {
            let mut known = ARGUMENTS.split_whitespace();
            known.any(|known| argument.starts_with(known))
        };
        arguments.find(|argument| !is_known(argument))
    });
    why.map(|said| format!("the compiler is given `{said}`"))
}

#[cfg(test)]
mod tests;
