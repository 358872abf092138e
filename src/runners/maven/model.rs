//! Whether the classes of a project are made of its sources alone, and where these are,
//! as its poms say.
//!
//! Only what is known to be harmless is accepted. With anything else, the sources do not
//! tell which classes there will be.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use bstr::{BStr, BString, ByteSlice};

use super::plugins::{has_word, makes_no_classes};
use super::pom::{Pom, Project, beside, coordinates};
use super::xml::{Element, is_like_ascii};
use super::{POM, bytes_of};

/// Where Maven looks for sources by itself.
const MAIN: &str = "src/main/java";
const TEST: &str = "src/test/java";

/// One module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// Its folder, relative to the top of the work tree.
    pub dir: BString,
    /// Where its sources are, those of its tests too.
    pub main: BString,
    pub test: BString,
    /// Whether the resources of both are in Maven's usual folders and are copied as they
    /// are.
    pub has_plain_resources: bool,
    /// Whether some are changed on their way.
    pub filters: bool,
}

impl Module {
    /// Beneath its folder, or that of the project.
    pub(crate) fn path(&self, rest: &str) -> BString {
        joined(self.dir.as_bstr(), rest)
    }

    /// The classes that Maven makes of the sources of one side.
    pub(crate) fn output(&self, is_test: bool) -> BString {
        self.path(match is_test {
            true => "target/test-classes",
            false => "target/classes",
        })
    }

    pub(crate) fn sources(&self, is_test: bool) -> &BStr {
        match is_test {
            true => self.test.as_bstr(),
            false => self.main.as_bstr(),
        }
    }

    pub(crate) fn resources(&self, is_test: bool) -> BString {
        self.path(match is_test {
            true => "src/test/resources",
            false => "src/main/resources",
        })
    }
}

/// What all poms of a project say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
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

/// Plug-ins that Maven uses even where no pom names them.
const ALWAYS_USED: &str =
    "maven-compiler-plugin maven-jar-plugin maven-resources-plugin maven-surefire-plugin";

/// Settings of a build that no pom may have.
const MOVED: &str = "outputDirectory testOutputDirectory directory extensions/extension";

/// Settings with which the compiler still makes the same of the same sources.
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
    pub(crate) fn of(
        project: &BStr,
        read: &dyn Fn(&BStr) -> Option<Vec<u8>>,
        repository: Option<&Path>,
    ) -> std::result::Result<Model, String> {
        for dir in upwards(project) {
            if read(joined(dir, ".mvn/extensions.xml").as_bstr()).is_some() {
                return Err(".mvn/extensions.xml adds to Maven itself".to_owned());
            }
        }
        let start = project.to_path_lossy().join(POM);
        let read = |path: &Path| read(bytes_of(path).as_bstr());
        let project = Project::of([start], &read, repository, true);
        match project.doubt() {
            Some(doubt) => Err(doubt.to_string()),
            None => Model::of_poms(&project).map_err(|why| format!("{why:#}")),
        }
    }

    fn of_poms(project: &Project) -> Result<Model> {
        let mut model = Model::default();
        let mut above = Vec::new();
        for pom in &project.poms {
            let name = pom.name();
            let module = module(pom)?;
            let mut parents = project.poms.iter().flat_map(|one| &one.parent);
            if parents.any(|parent| *parent == pom.path) {
                let is_usual = module.main == module.path(MAIN) && module.test == module.path(TEST);
                ensure!(is_usual, "{name} says where sources are");
                above.push(module.clone());
            }
            if pom.is_own {
                // Changes of others would not be noticed.
                let is_usual = pom.path.file_name() == Some(OsStr::new(POM));
                ensure!(is_usual, "{name} is a pom of another name");
                model.modules.push(module);
                let mut all = pom.top.every().into_iter();
                let names = "encoding maven.compiler.encoding project.build.sourceEncoding";
                model.has_encoding |= all.any(|one| is_encoding(one) && has_word(names, &one.name));
                let artifact = pom.top.text_of("artifactId").to_owned();
                model.artifacts.insert(artifact);
            } else {
                let is_usual = module.has_plain_resources;
                ensure!(is_usual, "{name} says where resources are");
                let is_fixed = !name.ends_with("-SNAPSHOT.pom");
                ensure!(is_fixed, "the parent {name} may be another tomorrow");
            }
        }
        // What a parent says of resources holds for its children, too.
        for module in &mut model.modules {
            module.has_plain_resources &= above.iter().all(|one| one.has_plain_resources);
            module.filters |= above.iter().any(|one| one.filters);
        }
        model.modules.sort_by(|a, b| a.dir.cmp(&b.dir));
        model.have_own_sources()?;
        model.examine(project)?;
        Ok(model)
    }

    /// Checks that no source belongs to two modules, or to both sides of one.
    fn have_own_sources(&self) -> Result<()> {
        let modules = self.modules.iter();
        let roots = modules.flat_map(|one| [&one.main, &one.test]);
        let roots: Vec<BString> = roots.map(|root| joined(root.as_bstr(), "")).collect();
        for (at, root) in roots.iter().enumerate() {
            let mut others = roots.iter().enumerate();
            let inside =
                others.find(|(other, dir)| *other != at && dir.starts_with(root.as_slice()));
            ensure!(
                inside.is_none(),
                "sources in {root} are of two modules or sides"
            );
        }
        Ok(())
    }

    /// Checks all poms. What one says of a plug-in counts if any of them uses it.
    fn examine(&mut self, project: &Project) -> Result<()> {
        let poms = project.poms.iter();
        let plugins = poms.flat_map(|pom| pom.top.of_profiles("build/plugins/plugin"));
        let mut used: BTreeSet<&str> = plugins.map(|one| one.text_of("artifactId")).collect();
        used.extend(ALWAYS_USED.split(' '));
        let mut processors = Vec::new();
        for pom in &project.poms {
            // Those only make reports for people.
            let of_reports = pom.top.at("reporting/plugins/plugin");
            let is_used = |plugin: &&Element| {
                used.contains(plugin.text_of("artifactId"))
                    && !of_reports.iter().any(|one| std::ptr::eq(*one, *plugin))
            };
            plain(&pom.top, project, &self.artifacts).with_context(|| pom.name())?;
            for plugin in pom.plugins().filter(is_used) {
                makes_no_classes(plugin).with_context(|| pom.name())?;
                makes_the_same(plugin).with_context(|| pom.name())?;
                processors.extend(plugin.named("proc").map(|one| one.text.as_str()));
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
}

/// A folder, and all above it.
pub(crate) fn upwards(dir: &BStr) -> impl Iterator<Item = &BStr> {
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
fn module(pom: &Pom) -> Result<Module> {
    let name = pom.name();
    let packaging = pom.top.text_of("packaging");
    let is_plain = ["", "jar", "pom", "war"].contains(&packaging);
    ensure!(is_plain, "{name} has the packaging {packaging}");
    let builds = pom.top.of_profiles("build");
    let said = |what: &str| builds.iter().flat_map(|build| build.at(what)).next();
    for moved in MOVED.split(' ') {
        ensure!(said(moved).is_none(), "{name} sets {moved}");
    }
    let dir = bytes_of(pom.folder());
    let folder = |what: &str, usual: &str| {
        let Some(own) = said(what).map(|own| &own.text) else {
            return Ok(joined(dir.as_bstr(), usual));
        };
        let folder = beside(pom.folder(), own).map(|folder| bytes_of(&folder));
        folder.with_context(|| format!("{name} sets {what} to {own}"))
    };
    let mut all = builds.iter().flat_map(|build| build.named("filtering"));
    let filters = all.any(|one| one.text != "false");
    let is_usual = said("resources").is_none() && said("testResources").is_none();
    Ok(Module {
        main: folder("sourceDirectory", MAIN)?,
        test: folder("testSourceDirectory", TEST)?,
        has_plain_resources: !filters && is_usual,
        filters,
        dir,
    })
}

fn is_encoding(element: &Element) -> bool {
    !element.text.is_empty() && element.name.to_ascii_lowercase().ends_with("encoding")
}

/// Checks that what a pom says is the same on every machine, and tomorrow.
fn plain(pom: &Element, project: &Project, own: &BTreeSet<String>) -> Result<()> {
    for one in pom.every() {
        let Element { name, text, .. } = one;
        let is_fixed = !text.contains("${env.");
        ensure!(is_fixed, "{name} depends on a variable of the environment");
        let is_known = !is_encoding(one) || text.starts_with("${") || is_like_ascii(text);
        ensure!(is_known, "the encoding {text} is not understood");
    }
    for dependency in pom.named("dependency") {
        let (_, artifact, version) = coordinates(dependency);
        let is_plain = artifact != "lombok";
        ensure!(is_plain, "Lombok changes what sources are compiled to");
        let is_plain = artifact != "testng";
        ensure!(
            is_plain,
            "which tests TestNG needs together is known when they are compiled"
        );
        let is_open = version.starts_with(['[', '(']) || has_word("LATEST RELEASE", &version);
        // Versions that a pom from elsewhere manages.
        let is_import = dependency.text_of("scope") == "import" && !own.contains(&artifact);
        let is_snapshot = |version: &String| version.ends_with("-SNAPSHOT");
        let is_open = is_open || is_import && project.values(&version).iter().any(is_snapshot);
        ensure!(!is_open, "{artifact} {version} may be another tomorrow");
    }
    for activation in pom.at("profiles/profile/activation") {
        let mut properties = activation.at("property/name").into_iter();
        let is_fixed =
            activation.child("file").is_none() && !properties.any(|one| one.text.contains("env."));
        ensure!(
            is_fixed,
            "a profile is active where a file or a variable is there"
        );
    }
    Ok(())
}

/// Checks that a known plug-in makes the same classes of the same sources.
fn makes_the_same(plugin: &Element) -> Result<()> {
    let artifact = plugin.text_of("artifactId");
    let is_more =
        artifact == "maven-resources-plugin" && !plugin.at("executions/execution").is_empty();
    ensure!(!is_more, "the plugin {artifact} copies more than resources");
    if artifact != "maven-compiler-plugin" {
        return Ok(());
    }
    // Error-prone and others come as dependencies of the compiler.
    let is_alone = plugin.at("dependencies/dependency").is_empty();
    ensure!(is_alone, "the compiler has dependencies of its own");
    for said in plugin.named("configuration").flat_map(|one| &one.children) {
        let name = &said.name;
        ensure!(has_word(COMPILER, name), "the compiler is given `{name}`");
        let texts = said
            .every()
            .into_iter()
            .filter(|_| name.starts_with("compilerArg"));
        for argument in texts.flat_map(|one| one.text.split_whitespace()) {
            let is_known = ARGUMENTS
                .split_whitespace()
                .any(|known| argument.starts_with(known));
            ensure!(is_known, "the compiler is given `{argument}`");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
