//! What Python adds to the rows of one run: the sources that it executed, and the
//! closure over the names in them.

use std::collections::BTreeSet;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::closure::{Closed, NameClosure};
use super::facts::Reads;
use super::keyed::{KEYED, Keyed};
use super::locate::DocstringAt;
use super::modules::{Module, ModuleIndex};
use super::naming::Naming;
use crate::languages::{
    Analysis, Closure, Facts, LANGUAGES, Meaning, PartAt, Place, StateReaders, UnitAt, annotated,
    is_docstring, language_of, split,
};
use crate::matrix::{self, Unit, UnitKind, What};
use crate::observe::graph::{NodeId, SESSION};
use crate::observe::units::UnitIndex;
use crate::observe::{Definition, Observations, Run, ScopeKind, Trace};

/// Plug-ins that run tests in another order each time.
const REORDERING: [&str; 2] = ["pytest-randomly", "pytest-random-order"];

/// The sources of a run.
pub(super) struct Sources {
    names: NameClosure,
    naming: Naming,
    /// Whether some process could not tell who reads annotations.
    is_blind: bool,
    /// Closures that others build on, in the order in which they were asked for.
    closed: Vec<Rc<Closed>>,
}

impl Sources {
    /// Those that the run executed, split by name.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn of_run(run: &mut Run<'_>) -> Result<Sources> {
        let own = run.traces.iter().filter(|trace| is_own(trace));
        let mut names = NameClosure::default();
        names.is_watched = own
            .into_iter()
            .all(|trace| is_native(&trace.open.collector));
        let executed = run.graph.definitions.iter().filter_map(|one| match one {
            Definition::Code { file, .. } => Some(file),
            _ => None,
        });
        let files: BTreeSet<BString> = executed
            .chain(run.graph.imports.keys())
            .filter(|file| file.ends_with(b".py") && !Facts::is_third_party(file.as_bstr()))
            .cloned()
            .collect();
        for file in files {
            let (Place::Inside(path) | Place::Outside(path)) = run.facts.place(file.as_bstr());
            let Some(analysis) = run.facts.module(path.as_bstr())? else {
                continue;
            };
            if matches!(&*analysis, Analysis::Unparsed(_)) {
                continue;
            }
            let is_outside = path.first() == Some(&b'/');
            let known_as = run.graph.module_names.get(&file);
            let module = Module {
                is_generated: !is_outside && run.facts.is_generated(path.as_bstr())?,
                file,
                path,
                analysis,
            };
            names
                .modules
                .add(module, known_as.map_or(&[], Vec::as_slice));
        }
        names.index(&mut run.table);
        Ok(Sources {
            names,
            naming: Naming::default(),
            is_blind: annotations(run).any(|is_blind| is_blind),
            closed: Vec::new(),
        })
    }

    fn code(
        &mut self,
        run: &mut Run<'_>,
        file: &BString,
        first_line: u32,
        name: &str,
    ) -> Result<Meaning> {
        let (Place::Inside(path) | Place::Outside(path)) = run.facts.place(file.as_bstr());
        let module = self.names.modules.of_file(file.as_bstr());
        let is_imported = run.graph.imports.contains_key(file);
        let source = source(run, path.as_bstr())?;
        let known = match source.as_deref() {
            Some(Analysis::Parsed(parsed)) => {
                let at = parsed.unit_at(first_line, name);
                let what = at.map(|at| match at {
                    UnitAt::Code(name) => What::Code(name.into()),
                    // Run by other means than an import (`runpy`, `exec`).
                    UnitAt::Skeleton if !is_imported => What::Skeleton,
                    UnitAt::Skeleton => match parsed.names.part_of(first_line, name) {
                        PartAt::Binding(name) => What::Binding(name.into()),
                        PartAt::Effects => What::Effects,
                        PartAt::Unknown => What::Skeleton,
                    },
                });
                what.map(|what| Unit::at(path.clone(), what))
            }
            Some(Analysis::Unparsed(_)) | None => None,
        };
        let mut units = Vec::new();
        match known {
            Some(unit) => units.push(run.intern(unit)),
            None => {
                let unit = run.placed(What::File, file.as_bstr())?;
                let index = run.intern(unit);
                units.push(index);
                // Code that is not that of the source, if there is one, was
                // generated under its name: what it spells is not known.
                let module = module.filter(|_| source.is_none());
                let is_template = !is_imported && !file.ends_with(b".py");
                // The collector told what it spells.
                if !(is_template && self.names.is_watched) {
                    self.names.executed(index, module);
                }
            }
        }
        if !is_imported {
            units.push(self.import_unit(run, file.as_bstr(), module)?);
            if let Some(module) = module
                && source.is_some()
            {
                let path = self.names.modules.all[module as usize].path.clone();
                units.push(run.intern(Unit::at(path, What::Skeleton)));
            }
        }
        Ok(Meaning {
            units,
            module: Some(file.clone()),
        })
    }

    /// What tells the docstring of a function: a unit of its own, since whoever read it depends
    /// on the text, and on nothing else of the function.
    fn docstring(
        &mut self,
        run: &mut Run<'_>,
        file: &BString,
        first_line: u32,
        name: &str,
    ) -> Result<Meaning> {
        if file.is_empty() {
            return Ok(Meaning::default());
        }
        let (Place::Inside(path) | Place::Outside(path)) = run.facts.place(file.as_bstr());
        let source = source(run, path.as_bstr())?;
        let at = match source.as_deref() {
            Some(Analysis::Parsed(parsed)) => parsed.docstring_at(first_line, name),
            _ => None,
        };
        let unit = match at {
            Some(DocstringAt::Code(of)) => Unit::at(path, What::Code(of.into())),
            Some(DocstringAt::Binding(of)) => Unit::named(UnitKind::Binding, path, &of),
            None => run.placed(What::File, file.as_bstr())?,
        };
        Ok(Meaning {
            units: vec![run.intern(unit)],
            module: None,
        })
    }

    /// Notes where docstrings were read: there those count, too, that somebody has set.
    fn note_docstrings(&mut self, run: &Run<'_>) {
        for (node, of) in run.graph.nodes.iter().enumerate() {
            let mut definitions = of.definitions.iter();
            let is_docstring = |id: &u32| {
                let definition = &run.graph.definitions[*id as usize];
                matches!(definition, Definition::Docstring { .. })
            };
            if definitions.any(is_docstring) {
                let names = self.names.nodes.entry(node as NodeId).or_default();
                names.has_read_docs = true;
            }
        }
    }

    /// What the import of `file` does: the effects of its module, or the file
    /// itself where they are not known.
    fn import_unit(
        &mut self,
        run: &mut Run<'_>,
        file: &BStr,
        module: Option<ModuleIndex>,
    ) -> Result<UnitIndex> {
        let of = module.map(|module| &self.names.modules.all[module as usize]);
        if let Some(of) = of
            && !of.is_generated
        {
            let unit = Unit::at(of.path.clone(), What::Effects);
            return Ok(run.intern(unit));
        }
        let unit = run.placed(What::File, file)?;
        let index = run.intern(unit);
        self.names.executed(index, module);
        Ok(index)
    }

    /// Notes which modules were handed to code that is not followed, and where any
    /// name may have been reached.
    fn note_taken(&mut self, run: &Run<'_>) {
        let all = run.graph.definitions.iter().enumerate();
        let told: FxHashMap<usize, Option<ModuleIndex>> = all
            .filter_map(|(at, definition)| match definition {
                Definition::Module { path } => {
                    let module = self.names.modules.of_file(path.as_bstr())?;
                    Some((at, Some(module)))
                }
                Definition::Names => Some((at, None)),
                _ => None,
            })
            .collect();
        if told.is_empty() {
            return;
        }
        for (node, of) in run.graph.nodes.iter().enumerate() {
            for id in &of.definitions {
                if let Some(taken) = told.get(&(*id as usize)) {
                    let names = self.names.nodes.entry(node as NodeId).or_default();
                    names.is_wide |= taken.is_none();
                    names.taken.extend(taken);
                }
            }
        }
    }

    /// Whoever needs a module's import needs what the module does then.
    fn attach_modules(&mut self, run: &mut Run<'_>) -> Result<()> {
        let imports = run.graph.imports.iter();
        let imports: Vec<(BString, NodeId)> =
            imports.map(|(file, node)| (file.clone(), *node)).collect();
        for (file, node) in imports {
            let is_third_party = Facts::is_third_party(file.as_bstr());
            if !file.ends_with(b".py") || is_third_party {
                self.attach_foreign(run, node);
                continue;
            }
            let module = self.names.modules.of_file(file.as_bstr());
            let unit = self.import_unit(run, file.as_bstr(), module)?;
            run.node_units[node as usize].push(unit);
            self.names.nodes.entry(node).or_default().module = module;
        }
        Ok(())
    }

    /// Code that is not followed has the modules that it imports.
    fn attach_foreign(&mut self, run: &Run<'_>, node: NodeId) {
        let needed = &run.graph.nodes[node as usize].edges;
        let taken: Vec<_> = run
            .graph
            .imports
            .iter()
            .filter(|(_, import)| needed.contains(import))
            .filter_map(|(file, _)| self.names.modules.of_file(file.as_bstr()))
            .collect();
        let names = self.names.nodes.entry(node).or_default();
        names.taken.extend(taken);
    }

    /// A test file depends on what the runner looks for around it, in its
    /// directory and all above.
    fn attach_directories(&mut self, run: &mut Run<'_>) {
        let own = run.main_traces().filter(|trace| is_own(trace));
        let begun = own.flat_map(|trace| trace.begins.iter().map(|begin| begin.file.clone()));
        let mut files: Vec<BString> = begun.chain(run.graph.collects.keys().cloned()).collect();
        files.sort();
        files.dedup();
        for file in &files {
            self.names.add_test_file(file.as_bstr());
        }
        let mut nodes: FxHashMap<BString, NodeId> = FxHashMap::default();
        for file in files {
            let collect = run.collect_node(&file);
            let Place::Inside(path) = run.facts.place(file.as_bstr()) else {
                continue;
            };
            let mut dir = split(path.as_bstr()).0.to_owned();
            let mut below = collect;
            loop {
                if let Some(node) = nodes.get(&dir) {
                    run.edges[below as usize].push(*node);
                    break;
                }
                let node = run.fresh();
                run.edges[below as usize].push(node);
                nodes.insert(dir.clone(), node);
                for unit in run.launch.folder_units(dir.as_bstr()) {
                    run.attach(node, unit);
                }
                if dir.is_empty() {
                    break;
                }
                dir = split(dir.as_bstr()).0.to_owned();
                below = node;
            }
        }
    }

    /// Installed packages that name what reads annotations, or docstrings, may
    /// read those of whatever they are given, and tell any test of it. Of annotations agents
    /// see whether that happens, unless machine code reads them.
    fn attach_readers(&mut self, run: &Run<'_>) {
        if self.names.modules.all.is_empty() {
            return;
        }
        let has_annotations = self.names.modules.all.iter().any(Module::has_annotations);
        let scopes = run.traces.iter().flat_map(|trace| trace.scopes.values());
        let files: BTreeSet<&BString> = scopes
            .filter(|scope| scope.kind == ScopeKind::Import)
            .map(|scope| &scope.name)
            .filter(|file| Facts::is_third_party(file.as_bstr()))
            .collect();
        // Machine code is long; mostly a source says it.
        let (sources, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| file.ends_with(b".py"));
        let is_told = match self.is_blind {
            true => has_annotations,
            false => annotations(run).next().is_some(),
        };
        let sources = sources.into_iter().map(|file| (file, is_told));
        let others = others.into_iter().map(|file| (file, has_annotations));
        let mut found = Reads::default();
        for (file, can_read) in sources.chain(others) {
            if found.docstrings && (found.annotations || !(is_told || has_annotations)) {
                break;
            }
            let reads = Facts::may_read(file.as_bstr());
            found.annotations |= reads.annotations && can_read;
            found.docstrings |= reads.docstrings;
        }
        let names = self.names.nodes.entry(SESSION).or_default();
        names.reads |= found.annotations;
        names.reads_docs |= found.docstrings;
    }
}

impl Closure for Sources {
    fn meaning(&mut self, run: &mut Run<'_>, what: &Definition) -> Result<Option<Meaning>> {
        match what {
            Definition::Code {
                file,
                first_line,
                name,
            } => self.code(run, file, *first_line, name).map(Some),
            Definition::Docstring {
                path,
                first_line,
                name,
            } => self.docstring(run, path, *first_line, name).map(Some),
            Definition::Reached { path, name } => {
                let path = match path.is_empty() {
                    true => path.clone(),
                    false => {
                        let (Place::Inside(path) | Place::Outside(path)) =
                            run.facts.place(path.as_bstr());
                        path
                    }
                };
                let text = match name.starts_with(KEYED) {
                    true => {
                        let source = source(run, path.as_bstr())?;
                        let module = match source.as_deref() {
                            Some(Analysis::Parsed(module)) => Some(&**module),
                            _ => None,
                        };
                        Keyed::text(name, module)
                    }
                    false => Some(name.clone()),
                };
                let unit = text.map(|text| Unit::at(path, What::Reached(text.as_str().into())));
                Ok(Some(Meaning {
                    units: unit.map(|unit| run.intern(unit)).into_iter().collect(),
                    module: None,
                }))
            }
            // What they mean, they mean for the closure of their nodes.
            Definition::Module { .. } | Definition::Names | Definition::Annotations { .. } => {
                Ok(Some(Meaning::default()))
            }
            _ => Ok(None),
        }
    }

    fn attach(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.note_taken(run);
        self.note_docstrings(run);
        self.attach_modules(run)?;
        self.attach_directories(run);
        self.attach_readers(run);
        Ok(())
    }

    fn reorders(&self, run: &Run<'_>) -> bool {
        let mut units = run.table.units().iter();
        units.any(|unit| matches!(&unit.what, What::Dist(name) if REORDERING.contains(&&**name)))
    }

    fn index_names(&mut self, run: &Run<'_>, ran: &BTreeSet<UnitIndex>) -> Result<()> {
        self.naming = Naming::of(run, ran, &self.names)?;
        Ok(())
    }

    fn naming(&self, run: &Run<'_>, file: &BStr, name: &str) -> Option<StateReaders> {
        if is_derived(name) {
            return None;
        }
        Some(match variable(name) {
            Some(variable) => StateReaders {
                units: units_reading(run, variable),
                ..StateReaders::default()
            },
            None => self.naming.units(run, file, name),
        })
    }

    fn close_base(
        &mut self,
        run: &mut Run<'_>,
        nodes: &[NodeId],
        units: Vec<UnitIndex>,
        on: Option<usize>,
    ) -> Vec<UnitIndex> {
        let on = on.map(|on| self.closed[on].clone());
        let closed = self.names.close(&mut run.table, nodes, &units, on);
        let units = closed.units();
        self.closed.push(Rc::new(closed));
        units
    }

    fn close(
        &mut self,
        run: &mut Run<'_>,
        nodes: &[NodeId],
        units: Vec<UnitIndex>,
        on: usize,
    ) -> Vec<UnitIndex> {
        let on = Some(self.closed[on].clone());
        let closed = self.names.close(&mut run.table, nodes, &units, on);
        closed.units()
    }

    fn id_prefix(&self, run: &Run<'_>, trace: &Trace) -> String {
        let Some(rootdir) = trace.config.as_ref().and_then(|c| c.rootdir.as_ref()) else {
            return String::new();
        };
        match run.facts.place(rootdir.as_bstr()) {
            Place::Inside(path) => run.launch.id_prefix(path.as_bstr()),
            Place::Outside(path) => format!("{path}/"),
        }
    }

    fn reads(&self, nodes: &[NodeId], units: &[UnitIndex]) -> matrix::Reads {
        let mut reads = matrix::Reads::default();
        for names in nodes.iter().filter_map(|node| self.names.nodes.get(node)) {
            reads = reads
                | matrix::Reads {
                    anything: names.is_wide || !names.taken.is_empty(),
                    annotations: names.reads,
                    docstrings: names.reads_docs || names.has_read_docs,
                    past: matrix::ReadBefore::No,
                };
        }
        reads.anything |= units.iter().any(|unit| self.names.is_source(*unit));
        let mut units = units.iter();
        reads.annotations |= self.is_blind && units.any(|unit| self.names.may_read(*unit));
        reads
    }

    /// A file's `conftest.py` files: the trace has no edges to them if none of its tests
    /// began.
    fn around(&self, run: &Run<'_>, file: &BStr) -> Vec<NodeId> {
        let is_above = |one: &BString| {
            let folder = one.strip_suffix(b"conftest.py");
            folder.is_some_and(|folder| folder.ends_with(b"/") && file.starts_with(folder))
        };
        let collects = run.graph.collects.iter();
        let above = collects.filter(|(one, _)| is_above(one));
        above.map(|(_, node)| *node).collect()
    }

    fn left_by(&mut self, run: &mut Run<'_>, nodes: &[NodeId], docstrings: bool) -> Vec<UnitIndex> {
        let modules = nodes.iter().filter_map(|node| self.names.nodes.get(node));
        let modules: BTreeSet<ModuleIndex> = modules.filter_map(|names| names.module).collect();
        let mut units = Vec::new();
        for module in modules {
            let of = &self.names.modules.all[module as usize];
            if of.is_generated {
                continue;
            }
            units.push(run.intern(Unit::at(of.path.clone(), What::Skeleton)));
            let notes = of.parsed().names.bindings.keys();
            let notes = notes
                .filter(|name| annotated(name).is_some() && (docstrings || !is_docstring(name)));
            for name in notes {
                let unit = Unit::named(UnitKind::Binding, of.path.clone(), name);
                units.push(run.intern(unit));
            }
        }
        units
    }

    /// Any edit outside bodies can change which tests there are.
    fn attach_collection(&mut self, run: &mut Run<'_>, _observed: &Observations) {
        let whole = self.names.test_file_skeletons(&mut run.table);
        run.node_units[SESSION as usize].extend(whole);
    }
}

/// What processes told of annotations: whether they could not see who reads them.
fn annotations(run: &Run<'_>) -> impl Iterator<Item = bool> {
    let definitions = run.graph.definitions.iter();
    definitions.filter_map(|one| match one {
        Definition::Annotations { is_blind } => Some(*is_blind),
        _ => None,
    })
}

fn is_own(trace: &Trace) -> bool {
    LANGUAGES[language_of(&trace.open.collector)].name() == super::NAME
}

/// Whether the collector watches frames and generated code.
fn is_native(collector: &str) -> bool {
    matches!(collector, "eval-frame" | "monitoring")
}

/// The analysis of a source file, unless it is generated.
fn source(run: &Run<'_>, path: &BStr) -> Result<Option<Rc<Analysis>>> {
    if path.first() != Some(&b'/') && run.facts.is_generated(path)? {
        return Ok(None);
    }
    run.facts.module(path)
}

/// Whether the interpreter's library works it out from a class, whoever asks
/// first: what `copyreg` notes of its slots.
fn is_derived(name: &str) -> bool {
    name.ends_with(".__slotnames__")
}

/// The variable of a state change called `environ[NAME]`.
fn variable(name: &str) -> Option<&str> {
    name.strip_prefix("environ[")?.strip_suffix(']')
}

/// The reads of an environment variable, alone or with all others.
fn units_reading(run: &Run<'_>, variable: &str) -> Vec<UnitIndex> {
    let units = run.table.units().iter().enumerate();
    units
        .filter(|(_, unit)| match &unit.what {
            What::Env(name) => **name == *variable,
            What::AllEnv => true,
            _ => false,
        })
        .map(|(at, _)| at as UnitIndex)
        .collect()
}
