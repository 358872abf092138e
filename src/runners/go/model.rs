//! From what the `go` command lists to what each test can need before it has run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bstr::ByteSlice;

use super::listed::{Package, Settings};
use super::plan::{Function, GoTest, Need, Packages, Source, TestPackage};
use super::tests::Tests;
use crate::languages::{GoSource, is_go_test_file};

/// Who lists packages, and where.
pub(super) struct Survey<'a> {
    pub listed: &'a BTreeMap<String, Package>,
    pub settings: &'a Settings,
    /// The top of the work tree.
    pub root: &'a Path,
    pub cwd: &'a Path,
}

impl Survey<'_> {
    /// # Errors
    /// If a source cannot be read.
    pub(super) fn packages(&self) -> Result<Packages> {
        let mut found = Packages {
            asked: self.asked().map(|one| one.import_path.clone()).collect(),
            untested: self
                .asked()
                .filter(|one| one.tests().next().is_none())
                .map(|one| one.import_path.clone())
                .collect(),
            modules: self.modules(),
            ..Packages::default()
        };
        for package in self.tested() {
            let tested = self.package(package, &mut found.sources)?;
            found.by_folder.insert(package.dir.clone(), tested);
        }
        Ok(found)
    }

    /// The modules of the work tree.
    fn modules(&self) -> BTreeSet<String> {
        let modules = self.listed.values().filter_map(|one| one.module.as_ref());
        let main = modules.filter(|module| module.main);
        main.map(|module| module.path.clone()).collect()
    }

    /// The packages that were asked for and have tests.
    fn tested(&self) -> impl Iterator<Item = &Package> {
        let asked = self.asked();
        asked.filter(|package| package.tests().next().is_some())
    }

    /// The packages that were asked for.
    fn asked(&self) -> impl Iterator<Item = &Package> {
        self.listed.values().filter(|package| {
            // The program around the tests is a file of Go's cache.
            let is_made_up = package.go_files.iter().any(|file| file.contains('/'));
            !package.dep_only && package.for_test.is_empty() && !is_made_up
        })
    }

    fn package(
        &self,
        package: &Package,
        sources: &mut BTreeMap<String, Source>,
    ) -> Result<TestPackage> {
        let mut tested = TestPackage {
            import_path: package.import_path.clone(),
            needs: self.of_modules(package),
            ..TestPackage::default()
        };
        let main = format!("{}.test", package.import_path);
        match self.listed.get(&main) {
            None => tested.doubt = Some("`go list` does not tell what it is built of".to_owned()),
            Some(main) => {
                for name in &main.deps {
                    if let Some(part) = self.listed.get(name) {
                        self.part(package, part, &mut tested, sources)?;
                    }
                }
            }
        }
        let dir = &package.dir;
        let mut files = Vec::new();
        for name in package.tests() {
            let path = dir.join(name);
            let source = GoSource::parse(&crate::disk::read_named(&path)?, true);
            files.push((path, source));
        }
        for (path, source) in &files {
            // A function of tests counts for those that can name it.
            let declared = Source {
                names: source
                    .declarations
                    .iter()
                    .map(|one| one.name.clone())
                    .collect(),
                ..named(path, source)
            };
            names(dir, &declared, &mut tested.needs);
        }
        tested.may_have_more = files.iter().any(|(_, source)| source.whole.is_some());
        let found = Tests::find(&files);
        tested.is_group = found.has_main;
        tested.goes_on = found.goes_on;
        tested.tests = found.tests;
        tested.shared = found.shared;
        tested.needs.insert(Need::OutsideOfTests(dir.clone()));
        tested.needs.insert(Need::TestParts(dir.clone()));
        let embedded = package.test_embed_files.iter();
        for name in embedded.chain(&package.x_test_embed_files) {
            tested.needs.insert(Need::File(dir.join(name)));
        }
        let patterns = package.test_embed_patterns.iter();
        let patterns: Vec<&String> = patterns.chain(&package.x_test_embed_patterns).collect();
        let files = package.test_embed_files.iter();
        let files: Vec<&String> = files.chain(&package.x_test_embed_files).collect();
        embeds(dir, &patterns, &files, &mut tested.needs);
        Ok(tested)
    }

    /// A package that is part of a test binary.
    fn part(
        &self,
        package: &Package,
        part: &Package,
        tested: &mut TestPackage,
        sources: &mut BTreeMap<String, Source>,
    ) -> Result<()> {
        let modules = Path::new(self.settings.get("GOMODCACHE"));
        // What modules hold is in go.sum, and the library is that of the version.
        if part.standard || part.dir.starts_with(modules) || part.dir.as_os_str().is_empty() {
            return Ok(());
        }
        let own_name = part.import_path.split(" [").next().unwrap_or_default();
        let is_outer_test = part.for_test == package.import_path
            && own_name == format!("{}_test", package.import_path);
        if is_outer_test || own_name.ends_with(".test") {
            return Ok(());
        }
        for name in part.other_files() {
            tested.needs.insert(Need::File(part.dir.join(name)));
        }
        let patterns: Vec<&String> = part.embed_patterns.iter().collect();
        let files: Vec<&String> = part.embed_files.iter().collect();
        embeds(&part.dir, &patterns, &files, &mut tested.needs);
        tested.needs.insert(Need::Parts(part.dir.clone()));
        if let Some(why) = why_not_cgo(part) {
            tested.doubt.get_or_insert(why);
        }
        let is_main = part.module.as_ref().is_some_and(|module| module.main);
        if !is_main || !part.dir.starts_with(self.root) {
            for name in part.sources() {
                tested.needs.insert(Need::File(part.dir.join(name)));
            }
            return Ok(());
        }
        self.no_module_between(part, &mut tested.needs);
        tested.needs.insert(Need::Outside(part.dir.clone()));
        tested.linked.push(part.dir.clone());
        for name in part.sources() {
            // A variant for tests has the sources of tests, too.
            if is_go_test_file(name.as_bytes().as_bstr()) {
                continue;
            }
            let key = format!("{own_name}/{name}");
            let path = part.dir.join(name);
            if !sources.contains_key(&key) {
                sources.insert(key.clone(), parse(&path)?);
            }
            tested.sources.push(key.clone());
            names(&part.dir, &sources[&key], &mut tested.needs);
        }
        Ok(())
    }

    /// The files that say which modules are used.
    fn of_modules(&self, package: &Package) -> BTreeSet<Need> {
        let mut needs = BTreeSet::new();
        let mut need = |path: PathBuf| {
            needs.insert(match path.is_file() {
                true => Need::File(path),
                false => Need::Missing(path),
            });
        };
        // In a workspace each module that is part of it has a say in the versions.
        let mains = self.listed.values().filter_map(|one| one.module.as_ref());
        let mains = mains.filter(|module| module.main || module.replace.is_some());
        for module in mains.chain(&package.module) {
            let module = module.replace.as_deref().unwrap_or(module);
            if module.go_mod.as_os_str().is_empty() {
                continue;
            }
            need(module.go_mod.clone());
            let folder = module.go_mod.parent().unwrap_or(Path::new("/"));
            need(folder.join("go.sum"));
            need(folder.join("vendor/modules.txt"));
        }
        match self.settings.get("GOWORK") {
            "" => {
                for folder in self.cwd.ancestors() {
                    need(folder.join("go.work"));
                }
            }
            "off" => {}
            file => {
                let file = PathBuf::from(file);
                need(file.with_extension("work.sum"));
                if let Some(folder) = file.parent() {
                    need(folder.join("vendor/modules.txt"));
                }
                need(file);
            }
        }
        needs
    }

    /// A new module around a package would take it away from this one.
    fn no_module_between(&self, part: &Package, needs: &mut BTreeSet<Need>) {
        let Some(module) = &part.module else {
            return;
        };
        let folders = part.dir.ancestors();
        for folder in folders.take_while(|folder| **folder != module.dir) {
            if !folder.starts_with(self.root) {
                break;
            }
            needs.insert(Need::Missing(folder.join("go.mod")));
        }
    }
}

fn parse(path: &Path) -> Result<Source> {
    let bytes = path.as_os_str().as_bytes();
    let source = GoSource::parse(
        &crate::disk::read_named(path)?,
        is_go_test_file(bytes.as_bstr()),
    );
    Ok(named(path, &source))
}

fn named(path: &Path, source: &GoSource) -> Source {
    let functions = source.functions.iter();
    let callable = functions.clone().filter(|function| !function.is_method);
    let declared = source.declarations.iter();
    let types = declared.clone().filter(|one| one.is_type);
    let callable = callable.map(|function| function.name.clone());
    Source {
        path: path.to_owned(),
        names: callable
            .chain(declared.map(|one| one.name.clone()))
            .collect(),
        types: types.map(|one| one.name.clone()).collect(),
        functions: functions
            .map(|function| (function.name.clone(), function.lines.0, function.lines.1))
            .collect(),
    }
}

/// Everything that a source declares: who names it may depend on it.
fn names(folder: &Path, source: &Source, needs: &mut BTreeSet<Need>) {
    let path = &source.path;
    needs.extend(
        source
            .names
            .iter()
            .map(|name| Need::Name(path.clone(), name.clone())),
    );
    let folder = folder.to_owned();
    needs.extend(
        source
            .types
            .iter()
            .map(|name| Need::Methods(folder.clone(), name.clone())),
    );
}

/// What decides which files are embedded: of patterns that can come to others, the folders.
fn embeds(dir: &Path, patterns: &[&String], files: &[&String], needs: &mut BTreeSet<Need>) {
    let is_file = |pattern: &&&String| files.contains(*pattern);
    if patterns.iter().all(|pattern| is_file(&pattern)) {
        return;
    }
    let mut folders = BTreeSet::from([dir.to_owned()]);
    for file in files {
        let file = dir.join(file);
        let above = file.ancestors().skip(1);
        folders.extend(above.take_while(|one| *one != dir).map(Path::to_owned));
    }
    for pattern in patterns {
        let pattern = pattern.strip_prefix("all:").unwrap_or(pattern);
        let folder = dir.join(pattern);
        if folder.is_dir() {
            let below = walkdir::WalkDir::new(folder).into_iter().flatten();
            let below = below.filter(|entry| entry.file_type().is_dir());
            folders.extend(below.map(walkdir::DirEntry::into_path));
        }
    }
    needs.extend(folders.into_iter().map(Need::Names));
}

/// Why it is not known what C comes to, if so: the `go` command lists the files of the package's
/// own folder.
fn why_not_cgo(part: &Package) -> Option<String> {
    if part.cgo_files.is_empty() && part.swig_files.is_empty() && part.swig_cxx_files.is_empty() {
        return None;
    }
    let flags = part.cgo_c_flags.iter().chain(&part.cgo_cpp_flags);
    let mut flags = flags.chain(&part.cgo_ld_flags);
    let other = flags.find(|flag| {
        ["-I", "-L", "-include", "-i", "-F"]
            .iter()
            .any(|start| flag.starts_with(start))
            || flag.contains('/')
    });
    if let Some(flag) = other {
        let path = &part.import_path;
        return Some(format!(
            "{path} is compiled with {flag}, and what is there is not looked at"
        ));
    }
    let c_files = part.cgo_files.iter().chain(part.other_files());
    for name in c_files {
        let text = crate::disk::read(part.dir.join(name)).unwrap_or_default();
        for line in text.lines() {
            let line = line.trim_start();
            let Some(rest) = line.strip_prefix(b"#") else {
                continue;
            };
            let rest = rest
                .trim_start()
                .strip_prefix(b"include")
                .map(|rest| rest.trim_start());
            let Some(file) = rest.and_then(|rest| rest.strip_prefix(b"\"")) else {
                continue;
            };
            let file = file.split(|byte| *byte == b'"').next().unwrap_or_default();
            let is_known = part.other_files().any(|one| one.as_bytes() == file);
            if !is_known {
                let path = &part.import_path;
                let file = String::from_utf8_lossy(file);
                return Some(format!(
                    "{path} includes {file}, which `go list` does not name"
                ));
            }
        }
    }
    None
}

/// The tests that a binary may list beside those that were found in sources.
pub(super) fn unknown_test(name: &str, package: &TestPackage) -> GoTest {
    let all = package.tests.iter().flat_map(|test| &test.functions);
    let all: BTreeSet<&Function> = all.chain(&package.shared).collect();
    GoTest {
        name: name.to_owned(),
        functions: all.into_iter().cloned().collect(),
    }
}
