//! Units and fingerprints of Rust.
//!
//! - `code`: a function or method, at its file, together with the signatures of all functions of
//!   the project that it may name.
//! - `binding` of `*.rs`: the rest of a file, with the same; of `tests in *.rs`: the rest of what
//!   is compiled only for tests.
//!
//! `docs/rust.md` says why that is safe.

mod attributes;
mod meaning;
mod names;
mod syntax;
mod tokens;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashMap;

use super::{Cache, Change, Closure, Facts, Language, Meaning, Value};
use crate::history::Entry;
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::{Definition, Run};

use self::meaning::Declared;
use self::syntax::Rest;
use self::trace::{COLLECTOR, OUTSIDE, TESTS};

use syntax::RustSource;

/// Rust, as Cargo builds it.
pub(super) struct Rust;

/// Words of traces.
pub(crate) mod trace {
    /// Who writes those of test binaries.
    pub(crate) const COLLECTOR: &str = "rust";

    /// How what is outside of a file's functions is called, and the same of what is compiled only
    /// for tests.
    pub(crate) const OUTSIDE: &str = "*.rs";
    pub(crate) const TESTS: &str = "tests in *.rs";
}

/// The sources of a state.
#[derive(Default)]
struct Sources {
    parsed: RefCell<FxHashMap<BString, Option<Arc<RustSource>>>>,
    declared: RefCell<Option<Rc<Declared>>>,
    /// What parts of files mean: many records ask for the same.
    meant: RefCell<FxHashMap<(BString, String), Fingerprint>>,
}

impl Language for Rust {
    fn name(&self) -> &'static str {
        "rust"
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
        if !is_source(unit.path()) {
            return Ok(None);
        }
        let (is_code, name) = match &unit.what {
            What::Code(name) => (true, name),
            What::Binding(name) if [OUTSIDE, TESTS].contains(&&**name) => (false, name),
            _ => return Ok(None),
        };
        let sources = facts.memory::<Sources>();
        let key = (unit.path().to_owned(), name.to_string());
        if let Some(known) = sources.meant.borrow().get(&key) {
            return Ok(Some(Value::Known(*known)));
        }
        let print = match is_code {
            true => code(facts, unit.path(), name)?,
            false if **name == *TESTS => rest(facts, unit.path(), |source| &source.of_tests)?,
            false => rest(facts, unit.path(), |source| &source.outside)?,
        };
        sources.meant.borrow_mut().insert(key, print);
        Ok(Some(Value::Known(print)))
    }

    /// Its functions tell no more than that they are other ones.
    fn changes(
        &self,
        _then: &Facts<'_>,
        _now: &Facts<'_>,
        unit: &Unit,
    ) -> Result<Option<Vec<Change>>> {
        Ok(is_source(unit.path()).then(Vec::new))
    }

    fn closure(&self, _run: &mut Run<'_>) -> Result<Box<dyn Closure>> {
        Ok(Box::new(Rust))
    }
}

impl Closure for Rust {
    fn meaning(&mut self, run: &mut Run<'_>, what: &Definition) -> Result<Option<Meaning>> {
        let (path, what) = match what {
            Definition::Code { file, name, .. } if is_source(file.as_bstr()) => {
                (file, What::Code(name.as_str().into()))
            }
            Definition::Reached { path, name }
                if is_source(path.as_bstr()) && [OUTSIDE, TESTS].contains(&name.as_str()) =>
            {
                (path, What::Binding(name.as_str().into()))
            }
            _ => return Ok(None),
        };
        let unit = run.placed(what, path.as_bstr())?;
        let units = vec![run.intern(unit)];
        Ok(Some(Meaning {
            units,
            ..Meaning::default()
        }))
    }
}

fn is_source(path: &BStr) -> bool {
    path.ends_with(b".rs")
}

fn code(facts: &Facts<'_>, path: &BStr, name: &str) -> Result<Fingerprint> {
    let Some(source) = source(facts, path)? else {
        return Ok(Fingerprint::MISSING);
    };
    if source.whole.is_some() {
        return Ok(source.outside.digest);
    }
    let mut functions = source.functions.iter();
    let Some(function) = functions.find(|function| function.name == name) else {
        return Ok(Fingerprint::MISSING);
    };
    let declared = declared(facts)?;
    let meaning = declared.meaning(&function.body, function.owner.as_deref());
    Ok(meaning)
}

fn rest(
    facts: &Facts<'_>,
    path: &BStr,
    part: impl Fn(&RustSource) -> &Rest,
) -> Result<Fingerprint> {
    let Some(source) = source(facts, path)? else {
        return Ok(Fingerprint::MISSING);
    };
    if source.whole.is_some() {
        return Ok(source.outside.digest);
    }
    let declared = declared(facts)?;
    Ok(declared.of_file(&source, part(&source)))
}

/// The source at a path; `None` if there is none.
fn source(facts: &Facts<'_>, path: &BStr) -> Result<Option<Arc<RustSource>>> {
    let sources = facts.memory::<Sources>();
    if let Some(known) = sources.parsed.borrow().get(path) {
        return Ok(known.clone());
    }
    let bytes = match facts.view().entry(path)? {
        Entry::File { .. } => facts.view().read(path)?,
        _ => None,
    };
    let source = bytes.map(|bytes| parsed(&bytes, facts.cache()));
    let mut known = sources.parsed.borrow_mut();
    known.insert(path.into(), source.clone());
    Ok(source)
}

/// A source, parsed once in a process, as several states have most of them in common, and once
/// where there is a cache.
pub(crate) fn parsed(bytes: &[u8], cache: Option<&Cache>) -> Arc<RustSource> {
    type Known = FxHashMap<[u8; 20], Arc<RustSource>>;
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let lock = || KNOWN.lock().expect("nobody panics with it");
    let mut hasher = blake3::Hasher::new_derive_key(syntax::DIGEST);
    hasher.update(bytes);
    let mut key = [0; 20];
    hasher.finalize_xof().fill(&mut key);
    if let Some(known) = lock().get_or_insert_default().get(&key) {
        return known.clone();
    }
    let kept = cache.and_then(|cache| cache.body(&key));
    let kept = kept.and_then(|body| serde_json::from_slice(&body).ok());
    let source = Arc::new(kept.unwrap_or_else(|| {
        let source = RustSource::parse(bytes);
        if let (Some(cache), Ok(body)) = (cache, serde_json::to_vec(&source)) {
            // Without it only time is lost.
            let _ = cache.keep(&key, &body);
        }
        source
    }));
    let mut known = lock();
    let known = known.get_or_insert_default();
    known.entry(key).or_insert(source).clone()
}

/// What functions all sources of the project declare.
fn declared(facts: &Facts<'_>) -> Result<Rc<Declared>> {
    let sources = facts.memory::<Sources>();
    if let Some(known) = &*sources.declared.borrow() {
        return Ok(known.clone());
    }
    let mut paths = Vec::new();
    collect(facts, BStr::new(b""), &mut paths)?;
    let mut unread = Vec::new();
    for path in &paths {
        if !sources.parsed.borrow().contains_key(path)
            && let Entry::File { .. } = facts.view().entry(path.as_bstr())?
            && let Some(bytes) = facts.view().read(path.as_bstr())?
        {
            unread.push((path, bytes));
        }
    }
    for (path, source) in parse_all(&unread, facts.cache()) {
        let mut parsed = sources.parsed.borrow_mut();
        parsed.insert(path, Some(source));
    }
    let mut all = Vec::new();
    for path in &paths {
        all.extend(source(facts, path.as_bstr())?);
    }
    let found = Rc::new(Declared::of(&all));
    *sources.declared.borrow_mut() = Some(found.clone());
    Ok(found)
}

/// The paths of sources in a folder and below.
fn collect(facts: &Facts<'_>, folder: &BStr, found: &mut Vec<BString>) -> Result<()> {
    for (name, is_folder) in facts.view().list(folder)?.into_iter().flatten() {
        let path = match folder.is_empty() {
            true => name,
            false => BString::from([folder.as_bytes(), b"/", name.as_bytes()].concat()),
        };
        if is_folder {
            collect(facts, path.as_bstr(), found)?;
        } else if is_source(path.as_bstr()) {
            found.push(path);
        }
    }
    Ok(())
}

fn parse_all(
    sources: &[(&BString, Vec<u8>)],
    cache: Option<&Cache>,
) -> Vec<(BString, Arc<RustSource>)> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = sources.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts = sources.chunks(share).map(|part| {
            scope.spawn(move || {
                let sources = part.iter();
                let sources = sources.map(|(path, bytes)| ((*path).clone(), parsed(bytes, cache)));
                sources.collect::<Vec<_>>()
            })
        });
        let parts: Vec<_> = parts.collect();
        let parts = parts.into_iter();
        parts
            .flat_map(|part| part.join().expect("parsing does not panic"))
            .collect()
    })
}

#[cfg(test)]
mod tests;
