//! Units and fingerprints of Go.
//!
//! - `code`: a function or method with a body, besides `init`, at its file.
//! - `binding`: a function's signature, or a declaration that does nothing, at its file; of a type
//!   also its methods, at the folder.
//! - `binding` of `*.go`: the rest of all files of a package together, at its folder, with `init`.
//! - all of a package, for tests of which it is not known what they ran.
//!
//! `docs/go.md` says why that is safe.

mod syntax;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::{Change, Closure, Environment, Facts, Language, Meaning, Value};
use crate::history::Entry;
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::{Definition, Run};

use self::trace::{ALL, COLLECTOR, METHODS, OUTSIDE, TESTS};

pub(crate) use syntax::{GoFunction, GoSource};

/// Go, as its own compiler builds it.
pub(super) struct Go;

/// Words of traces.
pub(crate) mod trace {
    /// Who writes those of test binaries.
    pub(crate) const COLLECTOR: &str = "go";

    /// How units of a package are told apart from those of a function, which have a name: what is
    /// outside of functions, the same of its tests, and all of it.
    pub(crate) const OUTSIDE: &str = "*.go";
    pub(crate) const TESTS: &str = "*_test.go";
    pub(crate) const ALL: &str = "all of *.go";

    /// After the name of a type of a package, with a dot: its methods.
    pub(crate) const METHODS: &str = ".*";
}

/// The endings of files that can be part of a package.
const PARTS: [&str; 13] = [
    ".go", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".s", ".S", ".syso",
];

/// The sources that were parsed, by path.
#[derive(Default)]
struct Parsed {
    sources: RefCell<FxHashMap<BString, Option<Rc<GoSource>>>>,
}

impl Language for Go {
    fn name(&self) -> &'static str {
        "go"
    }

    fn wrote(&self, collector: &str) -> bool {
        collector == COLLECTOR
    }

    fn joins_files(&self) -> bool {
        true
    }

    fn tells_what_was_there_first(&self) -> bool {
        true
    }

    fn value(&self, facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>> {
        Ok(Some(match &unit.what {
            What::Code(name) if unit.path.ends_with(b".go") => code(facts, unit.path(), name)?,
            What::Presence(name) if name.ends_with(METHODS) => methods(facts, unit.path(), name)?,
            What::Presence(name) if unit.path.ends_with(b".go") => {
                signature(facts, unit.path(), name)?
            }
            What::Binding(name) if **name == *OUTSIDE => package(facts, unit.path(), false)?,
            What::Binding(name) if **name == *TESTS => package(facts, unit.path(), true)?,
            What::Binding(name) if **name == *ALL => all(facts, unit.path())?,
            What::Listing => {
                let of = |end: &str| unit.path.strip_suffix(end.as_bytes());
                match (of(OUTSIDE), of(TESTS)) {
                    (Some(folder), _) => parts(facts, folder.as_bstr(), false)?,
                    (_, Some(folder)) => parts(facts, folder.as_bstr(), true)?,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Its functions tell no more than that they are other ones.
    fn changes(
        &self,
        _then: &Facts<'_>,
        _now: &Facts<'_>,
        unit: &Unit,
    ) -> Result<Option<Vec<Change>>> {
        Ok(unit.path.ends_with(b".go").then(Vec::new))
    }

    fn closure(&self, _run: &mut Run<'_>) -> Result<Box<dyn Closure>> {
        Ok(Box::new(Go))
    }
}

impl Closure for Go {
    fn meaning(&mut self, run: &mut Run<'_>, what: &Definition) -> Result<Option<Meaning>> {
        let (path, what) = match what {
            Definition::Code { file, name, .. } if file.ends_with(b".go") => {
                (file.as_bstr(), What::Code(name.as_str().into()))
            }
            Definition::Reached { path, name } if is_of_package(name) => {
                (path.as_bstr(), What::Binding(name.as_str().into()))
            }
            Definition::Reached { path, name }
                if path.ends_with(b".go") || name.ends_with(METHODS) =>
            {
                (path.as_bstr(), What::Presence(name.as_str().into()))
            }
            Definition::Dir {
                path,
                fingerprint: None,
            } if [OUTSIDE, TESTS]
                .iter()
                .any(|end| path.ends_with(end.as_bytes())) =>
            {
                (path.as_bstr(), What::Listing)
            }
            _ => return Ok(None),
        };
        let unit = run.placed(what, path)?;
        let mut units = vec![run.intern(unit.clone())];
        if let What::Binding(name) = &unit.what {
            for file in generated(run, unit.path(), **name == *TESTS)? {
                units.push(run.intern(Unit::at(file, What::UntrackedFile)));
            }
        }
        Ok(Some(Meaning {
            units,
            ..Meaning::default()
        }))
    }
}

/// The sources in a folder that git ignores: no commit tells what they hold.
fn generated(run: &Run<'_>, folder: &BStr, of_tests: bool) -> Result<Vec<BString>> {
    let mut found = Vec::new();
    for (name, _) in run.facts.names_on_disk(folder)?.into_iter().flatten() {
        let path = at(folder, name.as_bstr());
        let is_meant = name.ends_with(b".go") && is_test_file(name.as_bstr()) == of_tests;
        if is_meant && run.facts.is_generated(path.as_bstr())? {
            found.push(path);
        }
    }
    Ok(found)
}

fn is_of_package(name: &str) -> bool {
    [OUTSIDE, TESTS, ALL].contains(&name)
}

/// The source at a path; `None` if there is none.
fn source(facts: &Facts<'_>, path: &BStr) -> Result<Option<Rc<GoSource>>> {
    let parsed = facts.memory::<Parsed>();
    if let Some(known) = parsed.sources.borrow().get(path) {
        return Ok(known.clone());
    }
    let bytes = match facts.view().entry(path)? {
        Entry::File { .. } => facts.view().read(path)?,
        _ => None,
    };
    let source = bytes.map(|bytes| Rc::new(GoSource::parse(&bytes, is_test_file(path))));
    parsed
        .sources
        .borrow_mut()
        .insert(path.into(), source.clone());
    Ok(source)
}

/// Whether a file of this name can be part of a package.
pub(crate) fn is_part(name: &BStr) -> bool {
    PARTS.iter().any(|ending| name.ends_with(ending.as_bytes()))
}

pub(crate) fn is_test_file(path: &BStr) -> bool {
    path.ends_with(b"_test.go")
}

fn code(facts: &Facts<'_>, path: &BStr, name: &str) -> Result<Value> {
    function(facts, path, name, |function| function.digest)
}

fn signature(facts: &Facts<'_>, path: &BStr, name: &str) -> Result<Value> {
    if let Some(source) = source(facts, path)?
        && let Some(one) = source.declarations.iter().find(|one| one.name == name)
    {
        return Ok(Value::Known(one.digest));
    }
    function(facts, path, name, |function| function.signature)
}

fn function(
    facts: &Facts<'_>,
    path: &BStr,
    name: &str,
    part: impl Fn(&GoFunction) -> Fingerprint,
) -> Result<Value> {
    let Some(source) = source(facts, path)? else {
        return Ok(Value::Known(Fingerprint::MISSING));
    };
    if source.whole.is_some() {
        return Ok(Value::Known(source.skeleton));
    }
    let mut functions = source.functions.iter();
    let function = functions.find(|function| function.name == name);
    Ok(Value::Known(function.map_or(Fingerprint::MISSING, part)))
}

/// The names of the sources in a folder; the `go` command leaves out some.
fn sources(facts: &Facts<'_>, folder: &BStr) -> Result<Option<Vec<BString>>> {
    let Some(names) = facts.view().list(folder)? else {
        return Ok(None);
    };
    let is_source = |name: &BString| name.ends_with(b".go") && !b"_.".contains(&name[0]);
    let names = names.into_iter().map(|(name, _)| name);
    Ok(Some(names.filter(is_source).collect()))
}

fn at(folder: &BStr, name: &BStr) -> BString {
    match folder.is_empty() {
        true => name.into(),
        false => BString::from([folder.as_bytes(), b"/", name.as_bytes()].concat()),
    }
}

/// What is outside of functions in the sources of a package, or in its tests.
fn package(facts: &Facts<'_>, folder: &BStr, of_tests: bool) -> Result<Value> {
    let Some(names) = sources(facts, folder)? else {
        return Ok(Value::Known(Fingerprint::MISSING));
    };
    let mut text = Vec::new();
    for name in names {
        if is_test_file(name.as_bstr()) != of_tests {
            continue;
        }
        let skeleton = match source(facts, at(folder, name.as_bstr()).as_bstr())? {
            Some(source) => source.skeleton,
            None => Fingerprint::MISSING,
        };
        text.extend_from_slice(&name);
        text.push(0);
        text.extend(skeleton.0);
    }
    // A new type has no value yet that its methods could matter to.
    for (name, signature) in methods_of(facts, folder, of_tests, |types, of| !types.contains(of))? {
        text.extend(name.bytes());
        text.push(0);
        text.extend(signature.0);
    }
    Ok(Value::Known(Fingerprint::of_digest(
        "tamis 2026 go package 1",
        &text,
    )))
}

/// The methods that the sources of a package have, or those of its tests: of types that `counts`,
/// given the types that are declared there.
fn methods_of(
    facts: &Facts<'_>,
    folder: &BStr,
    of_tests: bool,
    counts: impl Fn(&BTreeSet<String>, &str) -> bool,
) -> Result<BTreeMap<String, Fingerprint>> {
    let mut found = BTreeMap::new();
    let mut types = BTreeSet::new();
    for name in sources(facts, folder)?.into_iter().flatten() {
        let is_meant = is_test_file(name.as_bstr()) == of_tests;
        let source = source(facts, at(folder, name.as_bstr()).as_bstr())?;
        for source in source.into_iter().filter(|_| is_meant) {
            let declared = source.declarations.iter().filter(|one| one.is_type);
            types.extend(declared.map(|one| one.name.clone()));
            let methods = source
                .functions
                .iter()
                .filter(|function| function.is_method);
            found.extend(methods.map(|method| (method.name.clone(), method.signature)));
        }
    }
    found.retain(|name, _| counts(&types, name.split('.').next().unwrap_or_default()));
    Ok(found)
}

/// What shows of the methods of a type without running them.
fn methods(facts: &Facts<'_>, folder: &BStr, name: &str) -> Result<Value> {
    let name = name.strip_suffix(METHODS).unwrap_or(name);
    let mut text = Vec::new();
    for of_tests in [false, true] {
        for (name, signature) in methods_of(facts, folder, of_tests, |_, of| of == name)? {
            text.extend(name.bytes());
            text.push(0);
            text.extend(signature.0);
        }
    }
    Ok(Value::Known(Fingerprint::of_digest(
        "tamis 2026 go methods 1",
        &text,
    )))
}

/// All of a package without its tests.
fn all(facts: &Facts<'_>, folder: &BStr) -> Result<Value> {
    let Some(names) = sources(facts, folder)? else {
        return Ok(Value::Known(Fingerprint::MISSING));
    };
    let mut text = Vec::new();
    for name in names {
        if is_test_file(name.as_bstr()) {
            continue;
        }
        text.extend_from_slice(&name);
        text.push(0);
        if let Some(source) = source(facts, at(folder, name.as_bstr()).as_bstr())? {
            text.extend(source.skeleton.0);
            for one in &source.declarations {
                text.extend(one.digest.0);
            }
            for function in &source.functions {
                text.extend(function.digest.0);
            }
        }
    }
    Ok(Value::Known(Fingerprint::of_digest(
        "tamis 2026 go package whole 1",
        &text,
    )))
}

/// The names of what can be part of a package, or of its tests, also of what git ignores.
fn parts(facts: &Facts<'_>, folder: &BStr, of_tests: bool) -> Result<Value> {
    if matches!(facts.environment(), Environment::Elsewhere) {
        return Ok(Value::Late);
    }
    let folder = folder.strip_suffix(b"/").unwrap_or(folder).as_bstr();
    let names = facts.names_on_disk(folder)?;
    let Some(mut names) = names else {
        return Ok(Value::Known(Fingerprint::MISSING));
    };
    names.retain(|(name, is_folder)| !is_folder && is_part(name.as_bstr()));
    names.retain(|(name, _)| is_test_file(name.as_bstr()) == of_tests);
    names.sort();
    Ok(Value::Known(Fingerprint::of_listing(&names)))
}

#[cfg(test)]
mod tests;
