//! What the poms of a project say of how its classes are made: whether compiling
//! the sources is all, and where these lie.
//!
//! Only what is known to be harmless is: anything else is a reason why sources do
//! not tell which classes there will be.

use std::collections::BTreeSet;

use bstr::{BStr, BString, ByteSlice};

use super::xml::Element;

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
    /// Parents that are no files of the project: group, artifact, version.
    pub parents: BTreeSet<(String, String, String)>,
    /// Whether no annotation processor runs, whatever is on the class path.
    pub is_without_processors: bool,
    /// Whether a pom of the project says in which encoding its sources are.
    pub has_encoding: bool,
    /// The project's own artifacts.
    pub artifacts: BTreeSet<String>,
    /// All that was read, by a name for people.
    poms: Vec<(String, Element)>,
}

/// Plugins that neither make nor change sources and classes; after each, goals of
/// it that do.
const HARMLESS: [(&str, &[&str]); 43] = [
    ("animal-sniffer-maven-plugin", &[]),
    ("apache-rat-plugin", &[]),
    ("cobertura-maven-plugin", &["instrument"]),
    ("coveralls-maven-plugin", &[]),
    ("cyclonedx-maven-plugin", &[]),
    ("central-publishing-maven-plugin", &[]),
    ("forbiddenapis", &[]),
    (
        "jacoco-maven-plugin",
        &["instrument", "restore-instrumented-classes"],
    ),
    ("japicmp-maven-plugin", &[]),
    (
        "license-maven-plugin",
        &["format", "update-file-header", "remove"],
    ),
    ("maven-assembly-plugin", &[]),
    ("maven-changelog-plugin", &[]),
    ("maven-changes-plugin", &[]),
    ("maven-checkstyle-plugin", &[]),
    ("maven-clean-plugin", &[]),
    ("maven-compiler-plugin", &[]),
    (
        "maven-dependency-plugin",
        &["unpack", "unpack-dependencies", "copy", "copy-dependencies"],
    ),
    ("maven-deploy-plugin", &[]),
    ("maven-enforcer-plugin", &[]),
    ("maven-failsafe-plugin", &[]),
    ("maven-gpg-plugin", &[]),
    ("maven-help-plugin", &[]),
    ("maven-install-plugin", &[]),
    ("maven-jar-plugin", &[]),
    ("maven-javadoc-plugin", &[]),
    ("maven-jxr-plugin", &[]),
    ("maven-pmd-plugin", &[]),
    ("maven-project-info-reports-plugin", &[]),
    ("maven-release-plugin", &[]),
    ("maven-resources-plugin", &[]),
    ("maven-scm-plugin", &[]),
    ("maven-shade-plugin", &[]),
    ("maven-site-plugin", &[]),
    ("maven-source-plugin", &[]),
    ("maven-surefire-plugin", &[]),
    ("maven-surefire-report-plugin", &[]),
    ("maven-war-plugin", &[]),
    ("nexus-staging-maven-plugin", &[]),
    ("sonar-maven-plugin", &[]),
    ("spotbugs-maven-plugin", &[]),
    ("spotless-maven-plugin", &["apply"]),
    (
        "spring-boot-maven-plugin",
        &["build-info", "process-aot", "process-test-aot"],
    ),
    (
        "versions-maven-plugin",
        &["set", "update-properties", "use-latest-versions"],
    ),
];

/// Plugins that Maven uses though no pom names them.
const ALWAYS_USED: [&str; 4] = [
    "maven-compiler-plugin",
    "maven-jar-plugin",
    "maven-resources-plugin",
    "maven-surefire-plugin",
];

/// What may be said to the compiler: it makes the same of the same sources then.
const COMPILER: [&str; 22] = [
    "compilerArgs",
    "compilerArgument",
    "debug",
    "debuglevel",
    "encoding",
    "failOnError",
    "failOnWarning",
    "forceJavacCompilerUse",
    "maxmem",
    "meminitial",
    "optimize",
    "parameters",
    "proc",
    "release",
    "showDeprecation",
    "showWarnings",
    "source",
    "staleMillis",
    "target",
    "testRelease",
    "testSource",
    "testTarget",
];

/// Beginnings of arguments of the compiler that change no meaning.
const ARGUMENTS: [&str; 10] = [
    "-Xlint",
    "-Xdoclint",
    "-Werror",
    "-Xmaxerrs",
    "-Xmaxwarns",
    "-parameters",
    "-proc:none",
    "-g",
    "-deprecation",
    "-XDcompilePolicy",
];

/// Encodings in which every sign that matters is one byte, as in ASCII.
const ENCODINGS: [&str; 6] = [
    "utf-8",
    "utf8",
    "iso-8859-",
    "us-ascii",
    "windows-125",
    "cp125",
];

impl Model {
    /// What the poms of a project say; `read` gives a file relative to the top of the
    /// work tree.
    ///
    /// # Errors
    /// Why sources do not tell which classes there will be.
    pub fn of(project: &BStr, read: &impl Fn(&BStr) -> Option<Vec<u8>>) -> Result<Model, String> {
        let mut poms: Vec<(BString, Element)> = Vec::new();
        let mut model = Model::default();
        let mut open = vec![project.to_owned()];
        let mut parents = Vec::new();
        let mut inherited_from = BTreeSet::new();
        for dir in upwards(project) {
            if read(joined(dir, ".mvn/extensions.xml").as_bstr()).is_some() {
                return Err(".mvn/extensions.xml adds to Maven itself".to_owned());
            }
        }
        while let Some(dir) = open.pop().or_else(|| parents.pop()) {
            if poms.iter().any(|(known, _)| *known == dir) {
                continue;
            }
            let path = joined(dir.as_bstr(), super::POM);
            let text = read(path.as_bstr()).ok_or_else(|| format!("there is no {path}"))?;
            let pom =
                Element::read(&text).map_err(|why| format!("{path} is not understood: {why}"))?;
            for module in pom.every().into_iter().filter(|one| one.name == "module") {
                open.push(beside(dir.as_bstr(), &module.text).ok_or_else(|| {
                    format!(
                        "{path} names the module {}, which is no folder of the project",
                        module.text
                    )
                })?);
            }
            for parent in pom.all("parent") {
                match own_parent(dir.as_bstr(), parent, read) {
                    Some(own) => {
                        inherited_from.insert(own.clone());
                        parents.push(own);
                    }
                    None => {
                        model.parents.insert(coordinates(parent));
                    }
                }
            }
            poms.push((dir, pom));
        }
        let (mut has_plain_resources, mut filters) = (true, false);
        for (dir, pom) in poms {
            let module = module(dir.as_bstr(), &pom)?;
            if inherited_from.contains(&dir) {
                module
                    .has_usual_sources()
                    .then_some(())
                    .ok_or_else(|| format!("{} says where sources are", module.path(super::POM)))?;
                has_plain_resources &= module.has_plain_resources;
                filters |= module.filters;
            }
            model.modules.push(module);
            let names = [
                "encoding",
                "maven.compiler.encoding",
                "project.build.sourceEncoding",
            ];
            let mut said = pom.every().into_iter().filter(|one| is_encoding(one));
            model.has_encoding |= said.any(|one| names.contains(&one.name.as_str()));
            model.artifacts.insert(pom.text_of("artifactId").to_owned());
            let name = joined(dir.as_bstr(), super::POM).to_string();
            model.poms.push((name, pom));
        }
        // What a parent says of resources holds for its children, too.
        for module in &mut model.modules {
            module.has_plain_resources &= has_plain_resources;
            module.filters |= filters;
        }
        model.modules.sort_by(|a, b| a.dir.cmp(&b.dir));
        model.have_own_sources()?;
        model.examine()?;
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

    /// Looks at a parent from elsewhere as at a pom of the project.
    ///
    /// # Errors
    /// Those of [`Model::of`].
    pub fn add_parent(&mut self, name: &str, text: &[u8]) -> Result<(), String> {
        let pom = Element::read(text).map_err(|why| format!("{name} is not understood: {why}"))?;
        let own = module(BStr::new(""), &pom)?;
        if !own.has_usual_sources() || !own.has_plain_resources {
            return Err(format!("{name} says where sources and resources are"));
        }
        for parent in pom.all("parent") {
            self.parents.insert(coordinates(parent));
        }
        self.poms.push((name.to_owned(), pom));
        self.examine()
    }

    /// That versions which a pom from elsewhere manages are the same tomorrow.
    fn is_fixed(&self, bom: &Element) -> Result<(), String> {
        let (_, artifact, version) = coordinates(bom);
        let name = version
            .strip_prefix("${")
            .and_then(|it| it.strip_suffix('}'));
        let mut values = vec![version.as_str()];
        let poms = self.poms.iter();
        let properties = poms.flat_map(|(_, pom)| pom.of_profiles("properties"));
        values.extend(properties.flat_map(|all| name.map(|name| all.text_of(name))));
        let is_snapshot = values.iter().any(|value| value.ends_with("-SNAPSHOT"));
        match is_snapshot && !self.artifacts.contains(&artifact) {
            true => Err(format!("{artifact} {version} may be another tomorrow")),
            false => Ok(()),
        }
    }

    /// Looks at all poms: what one says of a plugin counts if any uses it.
    fn examine(&mut self) -> Result<(), String> {
        let mut used: BTreeSet<&str> = ALWAYS_USED.into();
        for (_, pom) in &self.poms {
            let plugins = pom.of_profiles("build/plugins/plugin").into_iter();
            used.extend(plugins.map(|plugin| plugin.text_of("artifactId")));
        }
        for (name, pom) in &self.poms {
            let in_pom = |why: String| format!("{name}: {why}");
            plain(pom).map_err(in_pom)?;
            for plugin in pom.every().into_iter().filter(|one| one.name == "plugin") {
                let artifact = plugin.text_of("artifactId");
                if used.contains(artifact) && !is_of_reports(pom, plugin) {
                    let is_without = harmless(plugin).map_err(in_pom)?;
                    self.is_without_processors |= is_without && self.poms.len() == 1;
                }
            }
            for bom in pom.every() {
                if bom.name == "dependency" && bom.text_of("scope") == "import" {
                    self.is_fixed(bom).map_err(in_pom)?;
                }
            }
            for dependency in pom.of_profiles("dependencies/dependency") {
                let (group, artifact, _) = coordinates(dependency);
                self.dependencies.insert((group, artifact));
            }
        }
        Ok(())
    }
}

/// Whether Maven runs what may make or change classes where a command has the goal
/// `word`: why, if so.
pub fn doubt_of_goal(word: &str) -> Option<String> {
    let (plugin, goal) = word.rsplit_once(':')?;
    let goal = goal.split('@').next().unwrap_or(goal);
    let mut parts = plugin.split(':');
    let names = match (parts.next(), parts.next()) {
        (Some(prefix), None) => [
            format!("maven-{prefix}-plugin"),
            format!("{prefix}-maven-plugin"),
        ],
        (_, artifact) => [artifact.unwrap_or_default().to_owned(), String::new()],
    };
    let known = HARMLESS
        .iter()
        .find(|(name, _)| names.iter().any(|it| it == name));
    match known {
        Some((_, harmful)) if !harmful.contains(&goal) => None,
        _ => Some(format!("`{word}` may make or change classes")),
    }
}

/// A folder, and all above it.
pub fn upwards(dir: &BStr) -> impl Iterator<Item = &BStr> {
    std::iter::successors(Some(dir), |dir| {
        (!dir.is_empty()).then(|| dir.rsplitn_str(2, "/").nth(1).unwrap_or_default().as_bstr())
    })
}

/// Group, artifact and version.
pub fn coordinates(element: &Element) -> (String, String, String) {
    let part = |name: &str| element.text_of(name).to_owned();
    (part("groupId"), part("artifactId"), part("version"))
}

fn joined(dir: &BStr, rest: &str) -> BString {
    match dir.is_empty() {
        true => rest.into(),
        false => BString::from([dir.as_bytes(), b"/", rest.as_bytes()].concat()),
    }
}

/// A path that is relative to a folder; `None` if it leads out of the work tree or
/// is not known before Maven runs.
fn beside(dir: &BStr, path: &str) -> Option<BString> {
    if path.contains('$') || path.starts_with('/') || path.contains('\\') {
        return None;
    }
    let mut parts: Vec<&[u8]> = dir.split_str("/").filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part.as_bytes()),
        }
    }
    Some(bstr::join("/", parts).into())
}

/// The folder of a parent that is a file of the project.
fn own_parent(
    dir: &BStr,
    parent: &Element,
    read: &impl Fn(&BStr) -> Option<Vec<u8>>,
) -> Option<BString> {
    let path = match parent.all("relativePath").next() {
        Some(path) if path.text.is_empty() => return None,
        Some(path) => path.text.as_str(),
        None => "..",
    };
    let path = path.strip_suffix(super::POM).unwrap_or(path);
    let folder = beside(dir, path)?;
    let text = read(joined(folder.as_bstr(), super::POM).as_bstr())?;
    // Maven takes it only if it is the one that is named.
    let pom = Element::read(&text).ok()?;
    (pom.text_of("artifactId") == parent.text_of("artifactId")).then_some(folder)
}

/// Where a module has its sources.
fn module(dir: &BStr, pom: &Element) -> Result<Module, String> {
    let name = joined(dir, super::POM);
    if pom.name != "project" {
        return Err(format!("{name} is no project"));
    }
    let packaging = pom.text_of("packaging");
    if !["", "jar", "pom", "war"].contains(&packaging) {
        return Err(format!("{name} has the packaging {packaging}"));
    }
    let builds = pom.of_profiles("build");
    let said = |what: &str| builds.iter().flat_map(|build| build.at(what)).next();
    for moved in [
        "outputDirectory",
        "testOutputDirectory",
        "directory",
        "extensions/extension",
    ] {
        if said(moved).is_some() {
            return Err(format!("{name} sets {moved}"));
        }
    }
    let folder = |what: &str, usual: &str| match said(what) {
        Some(own) => {
            beside(dir, &own.text).ok_or_else(|| format!("{name} sets {what} to {}", own.text))
        }
        None => Ok(joined(dir, usual)),
    };
    let filtering = builds.iter().flat_map(|build| build.every());
    let filters = filtering
        .into_iter()
        .any(|one| one.name == "filtering" && one.text != "false");
    Ok(Module {
        dir: dir.to_owned(),
        main: folder("sourceDirectory", MAIN)?,
        test: folder("testSourceDirectory", TEST)?,
        has_plain_resources: !filters
            && said("resources").is_none()
            && said("testResources").is_none(),
        filters,
    })
}

/// Whether a plugin only makes reports for people.
fn is_of_reports(pom: &Element, plugin: &Element) -> bool {
    let reporting = pom.at("reporting/plugins/plugin");
    reporting.iter().any(|one| std::ptr::eq(*one, plugin))
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
        if is_encoding(element) && !text.starts_with("${") {
            let text = text.to_ascii_lowercase();
            if !ENCODINGS.iter().any(|known| text.starts_with(known)) {
                return Err(format!("the encoding {text} is not understood"));
            }
        }
        if name != "dependency" {
            continue;
        }
        if element.text_of("artifactId") == "lombok" {
            return Err("Lombok changes what sources are compiled to".to_owned());
        }
        if element.text_of("artifactId") == "testng" {
            let why = "which tests TestNG needs together is known when they are compiled";
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
        if activation.all("file").next().is_some()
            || properties.any(|one| one.text.contains("env."))
        {
            return Err("a profile is active where a file or a variable is there".to_owned());
        }
    }
    Ok(())
}

/// Whether a plugin says that there are no annotation processors.
///
/// # Errors
/// Why it may make or change classes.
fn harmless(plugin: &Element) -> Result<bool, String> {
    let artifact = plugin.text_of("artifactId");
    let known = HARMLESS.iter().find(|(known, _)| *known == artifact);
    let Some((_, harmful)) = known else {
        return Err(format!("the plugin {artifact} may make or change classes"));
    };
    if plugin.text_of("extensions") == "true" {
        return Err(format!("the plugin {artifact} adds to Maven itself"));
    }
    for goal in plugin.every().into_iter().filter(|one| one.name == "goal") {
        if harmful.contains(&goal.text.as_str()) {
            return Err(format!("the plugin {artifact} runs {}", goal.text));
        }
    }
    if artifact == "maven-resources-plugin" && !plugin.at("executions/execution").is_empty() {
        return Err(format!("the plugin {artifact} copies more than resources"));
    }
    if artifact != "maven-compiler-plugin" {
        return Ok(false);
    }
    // Error-prone and others come as dependencies of the compiler.
    if !plugin.at("dependencies/dependency").is_empty() {
        return Err("the compiler has dependencies of its own".to_owned());
    }
    let mut is_without_processors = false;
    let all = plugin.every().into_iter();
    for said in all
        .filter(|one| one.name == "configuration")
        .flat_map(|one| &one.children)
    {
        if !COMPILER.contains(&said.name.as_str()) {
            return Err(format!("the compiler is given `{}`", said.name));
        }
        let is_argument = said.name.starts_with("compilerArg");
        let arguments = said
            .every()
            .into_iter()
            .filter(|one| is_argument && !one.text.is_empty());
        for argument in arguments.flat_map(|one| one.text.split_whitespace()) {
            if !ARGUMENTS.iter().any(|known| argument.starts_with(known)) {
                return Err(format!("the compiler is given `{argument}`"));
            }
        }
        is_without_processors |= said.name == "proc" && said.text == "none";
    }
    Ok(is_without_processors)
}

#[cfg(test)]
mod tests;
