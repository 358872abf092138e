//! Class files before they are compiled: which of those that a matrix names are
//! what they were, as the sources tell.
//!
//! Every answer is the same as, or a coarser one than, that of comparing the class
//! files which a build of the view would make. `docs/jvm.md` has the argument.

use std::cell::OnceCell;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::built::{link_in, model_of, sources_below};
use crate::history::{Delta, Entry, View};
use crate::languages::jvm::java::{Affected, Outline, Source, affected, outline};
use crate::matrix::{Fingerprint, MatrixView, Unit, UnitKind, What};
use crate::runners::Tree;
use crate::runners::maven::{self, Model, Module};

/// What is known of a unit of a class file, or of a file beneath the build's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Same,
    Gone,
    /// It may be another one, for this reason.
    Open(String),
}

/// The sources of a view, read once for all matrices.
#[derive(Default)]
pub struct Sources {
    read: OnceCell<Result<Rc<Present>, String>>,
}

/// What there is at the view.
struct Present {
    model: Model,
    /// The index in `model`, whether it is of tests, and the outline.
    files: FxHashMap<BString, (Side, Rc<Outline>)>,
}

/// The module, and whether it is its tests' side.
type Side = (usize, bool);

/// What sources tell of the units of one matrix.
pub(crate) struct Unbuilt<'a> {
    view: &'a View,
    delta: Option<&'a Delta>,
    present: Result<Rc<Present>, String>,
    /// Or why nothing is known.
    files: Result<Files, String>,
}

/// All sources, and what of the rest changed.
struct Files {
    all: Vec<File>,
    /// By side and package, with dots.
    by_package: FxHashMap<(Side, String), Vec<usize>>,
    /// A changed path that is no source.
    other: Option<BString>,
}

/// A source at both states.
struct File {
    path: BString,
    side: Side,
    was: Option<Rc<Outline>>,
    is: Option<Rc<Outline>>,
    affected: Option<Affected>,
}

impl<'a> Unbuilt<'a> {
    pub(crate) fn new(
        tree: &Tree<'a>,
        matrix: &MatrixView,
        delta: Option<&'a Delta>,
        sources: &Sources,
    ) -> Unbuilt<'a> {
        let command = &matrix.header().command;
        let read = || Present::read(tree, command).map(Rc::new);
        let present = match is_mavens(matrix) {
            true => sources.read.get_or_init(read).clone(),
            false => Err(NOT_MAVENS.to_owned()),
        };
        let files = present.clone().and_then(|present| {
            let change = Change {
                tree,
                matrix,
                delta,
                present: &present,
            };
            let all = change.files()?;
            let is_source =
                |path: &&BString| all.binary_search_by(|file| file.path.cmp(path)).is_ok();
            let paths = delta.iter().flat_map(|delta| &delta.paths);
            let other = paths.into_iter().find(|path| !is_source(path)).cloned();
            let mut by_package: FxHashMap<(Side, String), Vec<usize>> = FxHashMap::default();
            for (at, file) in all.iter().enumerate() {
                let sides = file.was.iter().chain(&file.is);
                for package in sides.map(|side| &side.package) {
                    let known = by_package.entry((file.side, package.clone()));
                    known.or_default().push(at);
                }
            }
            Ok(Files {
                all,
                by_package,
                other,
            })
        });
        Unbuilt {
            view: tree.view,
            delta,
            present,
            files,
        }
    }

    /// Why the sources tell nothing, if so.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.files.as_ref().err().map(String::as_str)
    }

    /// Whether a build makes what lies there.
    pub(crate) fn is_made(&self, path: &BStr) -> bool {
        match &self.present {
            Ok(present) => {
                let model = &present.model;
                output_of(model, path).is_some() || is_built_jar(model, path)
            }
            Err(_) => is_output(path),
        }
    }

    /// What is known of `unit`, which was `recorded`; `None` if it is not made by a
    /// build.
    pub(crate) fn standing(&self, unit: &Unit, recorded: Fingerprint) -> Option<Standing> {
        if unit.is_of_build() || unit.is_written() {
            return Some(Standing::Same);
        }
        let is_path = matches!(
            unit.kind(),
            UnitKind::File | UnitKind::Exists | UnitKind::Dir | UnitKind::Lookup
        );
        if !unit.kind().is_compiled() && !is_path {
            return None;
        }
        let model = match &self.present {
            Ok(present) => &present.model,
            Err(why) => {
                let is_made = unit.kind().is_compiled() || is_output(unit.path());
                return is_made.then(|| Standing::Open(why.clone()));
            }
        };
        if is_path
            && unit.is_outside()
            && let Some(why) = may_be_replaced(model, unit.path())
        {
            return Some(Standing::Open(why.to_owned()));
        }
        let beneath = output_of(model, unit.path());
        let files = match &self.files {
            Ok(files) => files,
            Err(why) => {
                let is_made = unit.kind().is_compiled()
                    || beneath.is_some()
                    || is_built_jar(model, unit.path());
                return is_made.then(|| Standing::Open(why.clone()));
            }
        };
        match beneath {
            Some((side, rest)) if unit.kind().is_compiled() && rest.is_empty() => {
                Some(files.classes(side, unit, recorded))
            }
            Some((side, rest)) if is_path => {
                Some(self.output(files, side, rest.as_bstr(), unit, recorded, model))
            }
            _ if unit.kind().is_compiled() => Some(self.elsewhere(unit, recorded)),
            _ if is_built_jar(model, unit.path()) => {
                Some(Standing::Open("a build makes it anew".to_owned()))
            }
            _ => None,
        }
    }

    /// A class that does not lie where Maven puts those of a module.
    fn elsewhere(&self, unit: &Unit, recorded: Fingerprint) -> Standing {
        let is_touched = self.delta.is_none_or(|delta| delta.touches(unit.path()));
        match recorded == Fingerprint::MISSING && !is_touched {
            true => Standing::Same,
            false => Standing::Open(format!("{} is no output of a module", unit.path)),
        }
    }

    /// A file that a build copies, or the place of one.
    fn output(
        &self,
        files: &Files,
        side: Side,
        rest: &BStr,
        unit: &Unit,
        recorded: Fingerprint,
        model: &Model,
    ) -> Standing {
        let open = |why: String| Standing::Open(why);
        if let Some(class) = rest.strip_suffix(b".class") {
            let class = class.to_str_lossy().into_owned();
            return match files.class(side, &class, recorded) {
                Standing::Gone => open(format!("{class} is gone")),
                // The numbers of its lines are those of the text.
                Standing::Same if unit.kind() == UnitKind::File => {
                    let mut sources = files.of_class(side, &class);
                    let is_touched = |file: &&File| {
                        self.delta
                            .is_none_or(|delta| delta.touches(file.path.as_bstr()))
                    };
                    match sources.find(is_touched) {
                        Some(file) => open(format!("{} changed", file.path)),
                        None => Standing::Same,
                    }
                }
                other => other,
            };
        }
        let module = &model.modules[side.0];
        let Some(delta) = self.delta else {
            return open("what changed is not known".to_owned());
        };
        let other = files.other.as_ref();
        if unit.kind() == UnitKind::Dir || unit.kind() == UnitKind::Lookup {
            return match (files.all.iter().find(|file| file.affected.is_some()), other) {
                // Nested classes come and go with edits, too.
                (Some(file), _) => open(file.why(&files.all)),
                (None, Some(path)) => open(format!("{path} changed")),
                (None, None) => Standing::Same,
            };
        }
        if module.filters {
            return open(format!("resources of {} are filtered", Shown(module)));
        }
        if !module.has_plain_resources {
            return match other {
                Some(path) => open(format!("{path} changed, and may be a resource")),
                None => Standing::Same,
            };
        }
        let resource = BString::from([module.resources(side.1).as_slice(), b"/", rest].concat());
        if delta.touches(resource.as_bstr()) {
            return open(format!("{resource} changed"));
        }
        match link_in(self.view, resource.as_bstr()) {
            Ok(None) => {}
            Ok(Some(link)) => return open(format!("{link} is a link")),
            Err(why) => return open(why),
        }
        let is_there = !matches!(self.view.entry(resource.as_bstr()), Ok(Entry::Missing));
        let was_there = recorded != Fingerprint::MISSING;
        match is_there == was_there {
            true => Standing::Same,
            false => open(format!("nobody knows how {} is made", unit.path)),
        }
    }
}

/// The folder of a module, for people.
struct Shown<'a>(&'a Module);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.dir.is_empty() {
            true => f.write_str("the project"),
            false => write!(f, "{}", self.0.dir),
        }
    }
}

/// The side whose output a path lies in, and where in there.
fn output_of(model: &Model, path: &BStr) -> Option<(Side, BString)> {
    let modules = model.modules.iter().enumerate();
    let mut outputs = modules.flat_map(|(at, module)| {
        [false, true].map(|is_test| ((at, is_test), module.output(is_test)))
    });
    outputs.find_map(|(side, output)| {
        let rest = path.strip_prefix(output.as_slice())?;
        let rest = match rest.is_empty() {
            true => rest,
            false => rest.strip_prefix(b"/")?,
        };
        Some((side, rest.into()))
    })
}

/// Why a jar in Maven's local repository may be another one when tests run, if so.
fn may_be_replaced(model: &Model, path: &BStr) -> Option<&'static str> {
    if path.contains_str("-SNAPSHOT") {
        return Some("a build may fetch a newer snapshot");
    }
    // `…/artifact/version/file`
    let artifact = path.rsplit_str("/").nth(2).unwrap_or_default();
    let is_own = model.artifacts.iter().any(|own| own.as_bytes() == artifact);
    (is_own && path.ends_with(b".jar")).then_some("a build may install it anew")
}

fn is_built_jar(model: &Model, path: &BStr) -> bool {
    path.ends_with(b".jar")
        && model.modules.iter().any(|module| {
            let target = module.path("target/");
            path.starts_with(target.as_slice())
        })
}

impl Files {
    /// A unit of a class file, or of all classes of a folder.
    fn classes(&self, side: Side, unit: &Unit, recorded: Fingerprint) -> Standing {
        if let Some(class) = unit.class() {
            return self.class(side, class, recorded);
        }
        let mut own = self.all.iter().filter(|file| file.side == side);
        match own.find(|file| file.affected.is_some()) {
            Some(file) => Standing::Open(file.why(&self.all)),
            None => Standing::Same,
        }
    }

    /// The sources that make a class, or did.
    fn of_class(&self, side: Side, class: &str) -> impl Iterator<Item = &File> {
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let known = self.by_package.get(&(side, package.replace('/', ".")));
        let known = known.into_iter().flatten().map(|at| &self.all[*at]);
        known.filter(move |file| makes(&file.was, class) || makes(&file.is, class))
    }

    fn class(&self, side: Side, class: &str, recorded: Fingerprint) -> Standing {
        let name = class.rsplit('/').next().unwrap_or(class);
        if name == "module-info" {
            // Nothing is known where it changed; its annotations hold what others say.
            let mut own = self.all.iter().filter(|file| file.side == side);
            return match own.find(|file| file.affected.is_some()) {
                Some(file) => Standing::Open(file.why(&self.all)),
                None => Standing::Same,
            };
        }
        let of_class: Vec<&File> = self.of_class(side, class).collect();
        if of_class.is_empty() {
            return match recorded == Fingerprint::MISSING {
                true => Standing::Same,
                false => Standing::Open(format!("{class} has no source in the project")),
            };
        }
        match of_class.iter().find(|file| file.affected.is_some()) {
            None => Standing::Same,
            Some(_) if !of_class.iter().any(|file| makes(&file.is, class)) => Standing::Gone,
            Some(file) => Standing::Open(file.why(&self.all)),
        }
    }
}

fn makes(source: &Option<Rc<Outline>>, class: &str) -> bool {
    source.as_ref().is_some_and(|source| source.makes(class))
}

impl File {
    fn why(&self, files: &[File]) -> String {
        match self.affected {
            Some(Affected::Through(at)) => format!(
                "{} names a type of {}, whose declarations changed or depend on what did",
                self.path, files[at].path
            ),
            _ => match (&self.was, &self.is) {
                (None, _) => format!("{} is new", self.path),
                (_, None) => format!("{} is gone", self.path),
                _ => format!("{} changed", self.path),
            },
        }
    }
}

const NOT_MAVENS: &str = "sources tell what changed only where Maven ran the tests; \
                          `tamis run` compiles first, and then class files tell";

fn is_mavens(matrix: &MatrixView) -> bool {
    crate::runners::of_words(&matrix.header().command).is_known_by_sources()
}

/// Whether a build has made what lies there, where no pom tells.
fn is_output(path: &BStr) -> bool {
    ["target/", "build/"]
        .iter()
        .any(|output| path.contains_str(output))
}

impl Present {
    fn read(tree: &Tree<'_>, command: &[String]) -> Result<Present, String> {
        let view = tree.view;
        let model = model_of(tree, command, None)?;
        let mut files = FxHashMap::default();
        for (at, module) in model.modules.iter().enumerate() {
            for is_test in [false, true] {
                for path in sources_below(view, module.sources(is_test))? {
                    if let Some(outline) = read(view, path.as_bstr())? {
                        if !outline.is_ascii && !model.has_encoding {
                            return Err(format!("no pom tells the encoding of {path}"));
                        }
                        files.insert(path, ((at, is_test), outline));
                    }
                }
            }
        }
        Ok(Present { model, files })
    }
}

/// A source; `None` for one that declares a module.
fn read(view: &View, path: &BStr) -> Result<Option<Rc<Outline>>, String> {
    if path.rsplit_str("/").next() == Some(b"module-info.java") {
        return Ok(None);
    }
    let text = view.read(path).map_err(|error| error.to_string())?;
    let text = text.ok_or_else(|| format!("{path} is no file"))?;
    let outline = outline(&text).map_err(|why| format!("{path} is not understood: {why}"))?;
    // Then names that nobody writes would mean something else.
    match outline.package == "java" || outline.package.starts_with("java.") {
        true => Err(format!("{path} is in a package of the JDK")),
        false => Ok(Some(Rc::new(outline))),
    }
}

/// Whether a source is about a package or a module as a whole.
fn is_about_more(path: &BStr) -> bool {
    let name = path.rsplit_str("/").next().unwrap_or_default();
    name == b"package-info.java" || name == b"module-info.java"
}

/// From a matrix to a view.
struct Change<'a> {
    tree: &'a Tree<'a>,
    matrix: &'a MatrixView,
    delta: Option<&'a Delta>,
    present: &'a Present,
}

impl Change<'_> {
    /// All sources at both states, and which of them are affected.
    ///
    /// # Errors
    /// Why nothing is known.
    fn files(&self) -> Result<Vec<File>, String> {
        self.trust_build()?;
        let header = self.matrix.header();
        let delta = self
            .delta
            .ok_or("what changed since the last run is not known")?;
        let repository = &self.tree.repository;
        let from = repository.recorded(&header.commit, &header.tree);
        let then = from.and_then(|from| repository.tree_view(&from).ok());
        let then = then.ok_or("the sources of the recorded commit are not in this clone")?;
        let mut files: Vec<File> = Vec::with_capacity(self.present.files.len());
        for (path, (side, outline)) in &self.present.files {
            let was = match delta.paths.contains(path) {
                true => self.before(&then, path)?,
                false => Some(outline.clone()),
            };
            files.push(File {
                path: path.clone(),
                side: *side,
                was,
                is: Some(outline.clone()),
                affected: None,
            });
        }
        for path in &delta.paths {
            // By the last one, files on disk are others than git stores.
            let is_about_all = path.ends_with(b"pom.xml") && !self.means_the_same(path.as_bstr())
                || path.contains_str(".mvn/")
                || path.ends_with(b".gitattributes");
            if is_about_all {
                return Err(format!("{path} changed"));
            }
            let Some(side) = self.side_of(path.as_bstr()) else {
                continue;
            };
            if is_about_more(path.as_bstr()) {
                return Err(format!("{path} changed"));
            }
            if !self.present.files.contains_key(path)
                && let Some(was) = self.before(&then, path)?
            {
                files.push(File {
                    path: path.clone(),
                    side,
                    was: Some(was),
                    is: None,
                    affected: None,
                });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let sources: Vec<Source> = files
            .iter()
            .map(|file| Source {
                was: file.was.clone(),
                is: file.is.clone(),
            })
            .collect();
        for (file, affected) in files.iter_mut().zip(affected(&sources)) {
            file.affected = affected;
        }
        Ok(files)
    }

    /// Whether a pom differs only in what no test can notice, as far as the matrix tells
    /// what that is.
    fn means_the_same(&self, pom: &BStr) -> bool {
        let is_same = |kept: &[String], recorded| {
            let text = self.tree.view.read(pom).ok();
            text.is_some_and(|text| maven::pom_fingerprint(text, kept) == recorded)
        };
        let units = self.matrix.units_at_path(pom);
        let mut meanings = units.filter_map(|id| match self.matrix.unit(id).what {
            What::KeptConfig(kept) => Some(is_same(&kept, self.matrix.fingerprint(id))),
            _ => None,
        });
        meanings.next() == Some(true) && meanings.all(|is_same| is_same)
    }

    /// That the recorded class files are of the recorded sources.
    fn trust_build(&self) -> Result<(), String> {
        if !is_mavens(self.matrix) {
            return Err(NOT_MAVENS.to_owned());
        }
        let mut is_known = false;
        for id in self.matrix.units_of_kind(UnitKind::Class) {
            if !self.matrix.path(id).is_empty() {
                continue;
            }
            match self.matrix.unit(id).what {
                What::NotOfSources(why) => {
                    return Err(format!(
                        "the recorded classes are not of sources alone: {why}"
                    ));
                }
                What::OfSources => is_known = true,
                _ => {}
            }
        }
        match is_known {
            true => Ok(()),
            false => Err("what the recorded classes were made of is not known".to_owned()),
        }
    }

    /// The side whose sources a path is among.
    fn side_of(&self, path: &BStr) -> Option<Side> {
        let modules = self.present.model.modules.iter().enumerate();
        let mut sides =
            modules.flat_map(|(at, module)| [((at, false), module), ((at, true), module)]);
        let is_source = path.ends_with(b".java");
        let found = sides.find(|((_, is_test), module)| {
            let rest = path.strip_prefix(module.sources(*is_test).as_bytes());
            is_source && rest.is_some_and(|rest| rest.starts_with(b"/"))
        });
        found.map(|(side, _)| side)
    }

    /// A source as it was recorded.
    fn before(&self, then: &View, path: &BString) -> Result<Option<Rc<Outline>>, String> {
        let dirty = &self.matrix.header().dirty;
        match dirty.iter().find(|(known, _)| known == path) {
            Some((_, Fingerprint::MISSING)) => return Ok(None),
            Some(_) => {
                return Err(format!(
                    "{path} was recorded with edits that no commit has, and changed since"
                ));
            }
            None => {}
        }
        match then
            .entry(path.as_bstr())
            .map_err(|error| error.to_string())?
        {
            Entry::Missing => Ok(None),
            _ => read(then, path.as_bstr()),
        }
    }
}
