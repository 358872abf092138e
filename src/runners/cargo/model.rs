//! What each program is made of: the crates of the project that are in it, their sources, and all
//! that the compiler has read besides.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{
    Artifact, ArtifactDebuginfo, DependencyKind, Metadata, Node, Package, PackageId, Target,
};

use super::build::Made;
use super::dep_info;
use super::inputs::{above, is_source, of_script, tree, with_members};
use super::plan::{Built, Need, Program, Source};
use crate::languages::{Cache, parsed_rust};

/// Everything that is known of a build.
pub(super) struct Survey<'a> {
    pub made: &'a Made,
    pub metadata: &'a Metadata,
    pub root: &'a Path,
    pub cwd: &'a Path,
    /// Why nobody can see which functions run, if so.
    pub unseen: Option<String>,
    pub cache: Option<&'a Cache>,
}

/// How a package is part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Its functions run in it.
    Linked,
    /// It runs when the program is built: all of it counts.
    OfBuild,
}

/// What is taken in of a program.
#[derive(Default)]
struct Taken {
    program: Program,
    /// By path, the sources of functions that are in it.
    sources: BTreeSet<PathBuf>,
    with_tests: BTreeSet<PathBuf>,
}

impl Survey<'_> {
    /// The programs and their sources; `environment` stays empty.
    ///
    /// # Errors
    /// If what Cargo made is not there.
    pub(super) fn built(&self) -> Result<Built> {
        let mut built = Built::default();
        let mut texts = Texts {
            cache: self.cache,
            named: BTreeMap::new(),
        };
        let mut numbers: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for artifact in &self.made.artifacts {
            let Some(path) = &artifact.executable else {
                continue;
            };
            if self
                .package(&artifact.package_id)
                .is_none_or(|one| !self.is_local(one))
            {
                continue;
            }
            let Taken {
                mut program,
                sources,
                with_tests,
            } = self.program(artifact, path.as_std_path())?;
            let mut number = |path: &PathBuf| {
                if let Some(known) = numbers.get(path) {
                    return Ok(*known);
                }
                let number = built.sources.len();
                built.sources.push(texts.source(path)?);
                numbers.insert(path.clone(), number);
                anyhow::Ok(number)
            };
            program.sources = sources.iter().map(&mut number).collect::<Result<_>>()?;
            program.with_tests = with_tests.iter().map(number).collect::<Result<_>>()?;
            program
                .needs
                .extend(texts.of(&program.sources, &built.sources));
            built.programs.push(program);
        }
        built.target = Some(self.metadata.target_directory.clone().into_std_path_buf());
        for artifact in &self.made.artifacts {
            let package = self.package(&artifact.package_id);
            let Some(package) = package.filter(|one| self.is_local(one)) else {
                continue;
            };
            let has_documentation = artifact.target.doctest && !artifact.profile.test;
            let is_loaded = artifact
                .filenames
                .iter()
                .any(|file| file.extension() == Some("so"));
            if !has_documentation && !is_loaded {
                continue;
            }
            let needs = self.all_of(artifact)?;
            if is_loaded {
                let files = artifact.filenames.iter().filter_map(|file| {
                    let about = file.as_std_path().metadata().ok()?;
                    Some(((about.dev(), about.ino()), needs.clone()))
                });
                built.libraries.extend(files);
            }
            if has_documentation {
                built.documented.insert(package.name.to_string(), needs);
            }
        }
        Ok(built)
    }

    /// All that a library is made of.
    fn all_of(&self, library: &Artifact) -> Result<BTreeSet<Need>> {
        let mut taken = Taken::default();
        self.parts_of(library, true, &mut taken)?;
        let sources = taken.sources.into_iter().map(Need::File);
        Ok(taken.program.needs.into_iter().chain(sources).collect())
    }

    fn package(&self, id: &PackageId) -> Option<&Package> {
        let mut packages = self.metadata.packages.iter();
        packages.find(|package| package.id == *id)
    }

    fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// Whether a package is on this machine, and not one that was downloaded.
    fn is_local(&self, package: &Package) -> bool {
        package.source.is_none()
    }

    fn program(&self, artifact: &Artifact, path: &Path) -> Result<Taken> {
        let package = self
            .package(&artifact.package_id)
            .context("Cargo does not know a package that it has built")?;
        let about = fs_err::metadata(path)?;
        let mut taken = Taken {
            program: Program {
                path: path.to_owned(),
                file: (about.dev(), about.ino()),
                id: id(package, &artifact.target),
                main: artifact.target.src_path.clone().into_std_path_buf(),
                is_test: artifact.profile.test,
                own_crate: artifact.target.name.replace('-', "_"),
                ..Program::default()
            },
            ..Taken::default()
        };
        taken.program.by_files.clone_from(&self.unseen);
        taken.program.other_path = other_name(path, &artifact.target.name);
        let target = &artifact.target;
        let has_more = artifact.profile.test || target.is_example() || target.is_bench();
        self.parts_of(artifact, has_more, &mut taken)?;
        if taken.program.by_files.is_some() {
            let sources = std::mem::take(&mut taken.sources).into_iter();
            taken.program.needs.extend(sources.map(Need::File));
            taken.with_tests.clear();
        }
        Ok(taken)
    }

    /// Takes in a crate, and all that it needs. `has_more` says whether it is compiled with what
    /// only tests need.
    fn parts_of(&self, artifact: &Artifact, has_more: bool, taken: &mut Taken) -> Result<()> {
        self.artifact(artifact, Part::Linked, taken)?;
        for (id, part) in self.parts(&artifact.package_id, has_more)? {
            let Some(package) = self.package(&id).filter(|one| self.is_local(one)) else {
                continue;
            };
            let artifacts = self.made.artifacts.iter();
            let artifacts = artifacts.filter(|one| one.package_id == id);
            for one in artifacts {
                let is_script = one.target.is_custom_build();
                let is_library = one.executable.is_none() && !one.profile.test;
                if is_script {
                    self.artifact(one, Part::OfBuild, taken)?;
                } else if is_library {
                    self.artifact(one, part, taken)?;
                }
            }
            let scripts = self.made.scripts.iter();
            for script in scripts.filter(|script| script.package_id == id) {
                let folder = package.manifest_path.parent();
                let folder = folder.context("a manifest is in no folder")?;
                let needs = of_script(
                    script.out_dir.as_std_path(),
                    folder.as_std_path(),
                    self.target(),
                )?;
                taken.program.needs.extend(needs);
            }
        }
        let needs = &mut taken.program.needs;
        let top = self.metadata.workspace_root.as_std_path();
        needs.insert(Need::File(top.join("Cargo.toml")));
        needs.extend(with_members(top));
        // What one package asks of another holds for all.
        for package in self
            .metadata
            .packages
            .iter()
            .filter(|one| self.is_local(one))
        {
            let manifest = package.manifest_path.as_std_path();
            needs.insert(Need::File(manifest.to_owned()));
            if !package.targets.iter().any(Target::is_custom_build) {
                needs.insert(Need::Missing(manifest.with_file_name("build.rs")));
            }
        }
        needs.insert(match top.join("Cargo.lock") {
            lock if lock.exists() => Need::File(lock),
            lock => Need::Missing(lock),
        });
        needs.extend(above(self.cwd, self.root));
        Ok(())
    }

    /// The packages that are part of a program, its own among them.
    fn parts(&self, top: &PackageId, has_more: bool) -> Result<BTreeSet<(PackageId, Part)>> {
        let resolve = self.metadata.resolve.as_ref();
        let nodes = &resolve
            .context("Cargo does not say what packages need")?
            .nodes;
        let nodes: BTreeMap<&PackageId, &Node> = nodes.iter().map(|one| (&one.id, one)).collect();
        let mut found = BTreeSet::new();
        let mut open = vec![(top.clone(), Part::Linked)];
        while let Some((id, part)) = open.pop() {
            if !found.insert((id.clone(), part)) {
                continue;
            }
            let Some(node) = nodes.get(&id) else {
                continue;
            };
            for needed in &node.deps {
                let is_macro = self
                    .package(&needed.pkg)
                    .is_some_and(|one| one.targets.iter().any(Target::is_proc_macro));
                for kind in &needed.dep_kinds {
                    let next = match kind.kind {
                        DependencyKind::Development if id != *top || !has_more => continue,
                        DependencyKind::Build => Part::OfBuild,
                        _ if is_macro => Part::OfBuild,
                        _ => part,
                    };
                    open.push((needed.pkg.clone(), next));
                }
            }
        }
        Ok(found)
    }

    /// Takes in what one crate was made of.
    fn artifact(&self, artifact: &Artifact, part: Part, taken: &mut Taken) -> Result<()> {
        let folder = artifact.manifest_path.parent();
        let folder = folder.context("a manifest is in no folder")?.as_std_path();
        let Ok(info) = dep_info_of(artifact).and_then(|file| dep_info::read(&file)) else {
            let why = format!(
                "Cargo does not say what {} was made of",
                artifact.target.name
            );
            taken.program.by_files.get_or_insert(why);
            return tree(folder, self.target(), |_| true, &mut taken.program.needs);
        };
        if part == Part::Linked && taken.program.by_files.is_none() {
            // Functions of one crate are copied into another.
            taken.program.by_files = why_by_files(artifact);
        }
        if artifact.target.is_proc_macro() {
            tree(folder, self.target(), |_| true, &mut taken.program.needs)?;
        }
        if part == Part::Linked {
            let name = artifact.target.name.replace('-', "_");
            taken.program.crates.insert(name);
        }
        let top = self.metadata.workspace_root.as_std_path();
        for file in &info.files {
            let from_top = top.join(file);
            let path = match from_top.exists() {
                true => from_top,
                false => folder.join(file),
            };
            if path.starts_with(self.target()) {
                // A build script made it, of what counts itself; here it may be an older one.
                continue;
            }
            let real = fs_err::canonicalize(&path)?;
            if real != path && real.starts_with(self.root) {
                // A link can come to lead somewhere else.
                taken.program.needs.insert(Need::File(path));
            }
            if !is_source(&real) || part == Part::OfBuild || !real.starts_with(self.root) {
                taken.program.needs.insert(Need::File(real));
                continue;
            }
            if artifact.profile.test {
                taken.with_tests.insert(real.clone());
            }
            taken.sources.insert(real);
        }
        // Cargo sets those of its own, from the manifest.
        let is_own = |name: &String| name.starts_with("CARGO_") || name == "OUT_DIR";
        let variables = info.variables.iter().filter(|name| !is_own(name)).cloned();
        let scripts = self.made.scripts.iter();
        let scripts = scripts.filter(|script| script.package_id == artifact.package_id);
        let set: BTreeSet<&String> = scripts
            .flat_map(|script| script.env.iter().map(|(name, _)| name))
            .collect();
        let variables = variables.filter(|name| !set.contains(name));
        taken.program.needs.extend(variables.map(Need::Variable));
        Ok(())
    }
}

/// The file that tells what a crate was made of.
fn dep_info_of(artifact: &Artifact) -> Result<PathBuf> {
    let name = &artifact.target.name;
    let mut tried = Vec::new();
    if let Some(program) = &artifact.executable {
        // The name of the original is not told, but the file is the same.
        let about = fs_err::metadata(program)?;
        let folder = program.parent().context("a program is in no folder")?;
        for folder in [folder.to_owned(), folder.join("deps")] {
            for entry in fs_err::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let file_name = entry.file_name();
                let is_alike = file_name
                    .to_string_lossy()
                    .starts_with(&name.replace('-', "_"));
                let is_same = |other: std::fs::Metadata| {
                    (other.dev(), other.ino()) == (about.dev(), about.ino())
                };
                if is_alike && entry.metadata().is_ok_and(is_same) {
                    tried.push(path.with_extension("d"));
                }
            }
        }
    }
    for file in &artifact.filenames {
        let file = file.as_std_path();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let stem = match artifact.executable {
            Some(_) => &stem,
            None => stem.strip_prefix("lib").unwrap_or(&stem),
        };
        tried.push(file.with_file_name(format!("{stem}.d")));
        // A build script has its hash behind another name.
        if let Some(folder) = file.parent().filter(|_| artifact.target.is_custom_build()) {
            for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|ending| ending == "d") {
                    tried.push(path);
                }
            }
        }
    }
    let has_hash = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        stem.contains('-')
    };
    tried.sort_by_key(|path| !has_hash(path));
    let found = tried.into_iter().find(|path| path.is_file());
    found.with_context(|| format!("Cargo does not say what `{name}` was made of"))
}

/// The other name of a program.
fn other_name(program: &Path, target: &str) -> Option<PathBuf> {
    let about = program.metadata().ok()?;
    let folder = program.parent()?;
    let is_in_deps = folder.file_name().is_some_and(|name| name == "deps");
    let others = match is_in_deps {
        true => vec![folder.parent()?.join(target)],
        false => {
            let entries = std::fs::read_dir(folder.join("deps")).ok()?.flatten();
            let begin = target.replace('-', "_");
            let alike = entries.filter(|one| one.file_name().to_string_lossy().starts_with(&begin));
            alike.map(|one| one.path()).collect()
        }
    };
    others.into_iter().find(|other| {
        let other = other.metadata();
        other.is_ok_and(|other| (other.dev(), other.ino()) == (about.dev(), about.ino()))
    })
}

/// Why nobody can see which functions of a crate run, if so.
fn why_by_files(artifact: &Artifact) -> Option<String> {
    let profile = &artifact.profile;
    if profile.opt_level != "0" {
        return Some("it is optimised, so functions are merged".to_owned());
    }
    let is_told = profile.debuginfo != ArtifactDebuginfo::None
        && profile.debuginfo != ArtifactDebuginfo::LineDirectivesOnly;
    (!is_told).then(|| "it is built without the lines of functions (`debug`)".to_owned())
}

/// The name of a program, as cargo-nextest has it.
fn id(package: &Package, target: &Target) -> String {
    let kind = match () {
        () if target.is_bin() => "bin/",
        () if target.is_example() => "example/",
        () if target.is_bench() => "bench/",
        () if target.is_test() => "",
        () => return package.name.to_string(),
    };
    format!("{}::{kind}{}", package.name, target.name)
}

/// Sources that are put as texts into programs.
struct Texts<'a> {
    cache: Option<&'a Cache>,
    /// By source: the files, or none if it does not say which.
    named: BTreeMap<PathBuf, Option<Vec<PathBuf>>>,
}

impl Texts<'_> {
    fn source(&mut self, path: &Path) -> Result<Source> {
        let source = parsed_rust(&fs_err::read(path)?, self.cache);
        let folder = path.parent().context("a source is in no folder")?;
        let named = source.included.iter().map(|given| match included(given) {
            Included::Text => Some(Vec::new()),
            Included::Source(name) => Some(vec![folder.join(name)]),
            Included::Unknown => None,
        });
        let named: Option<Vec<Vec<PathBuf>>> = named.collect();
        let named = named.map(|named| named.concat());
        self.named.insert(path.to_owned(), named);
        let functions = source.functions.iter();
        Ok(Source {
            path: path.to_owned(),
            functions: functions
                .map(|one| (one.name.clone(), one.lines.0, one.lines.1))
                .collect(),
        })
    }

    /// Those of a program: all its sources, if that is not known.
    fn of(&self, own: &BTreeSet<usize>, sources: &[Source]) -> Vec<Need> {
        let own = own.iter().map(|number| &sources[*number].path);
        let own: Vec<&PathBuf> = own.collect();
        let named = own
            .iter()
            .map(|path| self.named.get(*path).cloned().flatten());
        let named: Option<Vec<Vec<PathBuf>>> = named.collect();
        match named {
            Some(named) => named.concat().into_iter().map(Need::File).collect(),
            None => own.into_iter().cloned().map(Need::File).collect(),
        }
    }
}

/// What a macro includes as a text.
enum Included {
    /// No source of Rust.
    Text,
    Source(String),
    Unknown,
}

fn included(given: &str) -> Included {
    let literal = given
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let is_plain = |text: &&str| !text.contains(['"', '\\']);
    match literal.filter(is_plain) {
        Some(name) if name.ends_with(".rs") => Included::Source(name.to_owned()),
        Some(_) => Included::Text,
        // The end of a name that is put together.
        None => {
            let last = given.trim_end_matches([')', ' ', ',']).strip_suffix('"');
            let last = last.and_then(|given| given.rsplit('"').next());
            match last {
                Some(last) if last.contains('.') && !last.ends_with(".rs") => Included::Text,
                _ => Included::Unknown,
            }
        }
    }
}
