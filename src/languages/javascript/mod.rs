//! Units and fingerprints of JavaScript and TypeScript.
//!
//! - `code`: the parameters and the body of a function of any kind, at its file.
//! - `binding` of `*.js`: the rest of a file.
//!
//! `docs/javascript.md` says why that is safe.

mod reading;
mod syntax;
mod text;

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use bstr::{BStr, BString};
use rustc_hash::FxHashMap;

use super::{Change, Closure, Facts, Language, Meaning, Value};
use crate::history::Entry;
use crate::matrix::{Fingerprint, Unit, What};
use crate::observe::{Definition, Run};

use self::trace::{COLLECTOR, OUTSIDE};

pub(crate) use syntax::{JsFunction, JsSource};

/// JavaScript and TypeScript, as vite makes modules of it.
pub(super) struct JavaScript;

/// Words of traces.
pub(crate) mod trace {
    /// Who writes those of tests in Node.
    pub(crate) const COLLECTOR: &str = "node";

    /// How what is outside of a file's functions is called.
    pub(crate) const OUTSIDE: &str = "*.js";
}

/// The sources of a state.
#[derive(Default)]
struct Sources {
    parsed: RefCell<FxHashMap<BString, Option<Rc<JsSource>>>>,
}

impl Language for JavaScript {
    fn name(&self) -> &'static str {
        "javascript"
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
        let name = match &unit.what {
            What::Code(name) => Some(name),
            What::Binding(name) if **name == *OUTSIDE => None,
            _ => return Ok(None),
        };
        if let Entry::TooLarge { .. } = facts.view().entry(unit.path())? {
            return Ok(Some(Value::Unknown(format!(
                "{} is too large",
                unit.path()
            ))));
        }
        let Some(source) = source(facts, unit.path())? else {
            return Ok(Some(Value::Known(Fingerprint::MISSING)));
        };
        let print = match name {
            Some(name) if source.whole.is_none() => {
                let mut functions = source.functions.iter();
                let function = functions.find(|one| one.name == **name);
                function.map_or(Fingerprint::MISSING, |one| one.digest)
            }
            _ => source.outside,
        };
        Ok(Some(Value::Known(print)))
    }

    /// Its functions tell no more than that they are other ones.
    fn changes(
        &self,
        _then: &Facts<'_>,
        _now: &Facts<'_>,
        unit: &Unit,
    ) -> Result<Option<Vec<Change>>> {
        let is_own = matches!(unit.what, What::Code(_) | What::Binding(_));
        Ok((is_own && is_source(unit.path())).then(Vec::new))
    }

    fn closure(&self, _run: &mut Run<'_>) -> Result<Box<dyn Closure>> {
        Ok(Box::new(JavaScript))
    }
}

impl Closure for JavaScript {
    fn meaning(&mut self, run: &mut Run<'_>, what: &Definition) -> Result<Option<Meaning>> {
        let (path, what) = match what {
            Definition::Code { file, name, .. } if is_source(file.as_ref()) => {
                (file, What::Code(name.as_str().into()))
            }
            Definition::Reached { path, name } if is_source(path.as_ref()) && name == OUTSIDE => {
                (path, What::Binding(OUTSIDE.into()))
            }
            _ => return Ok(None),
        };
        // What no commit holds counts as a whole.
        let file = run.placed(What::File, path.as_ref())?;
        let unit = match file.what == What::File && !file.is_outside() {
            true => run.placed(what, path.as_ref())?,
            false => file,
        };
        Ok(Some(Meaning {
            units: vec![run.intern(unit)],
            ..Meaning::default()
        }))
    }
}

fn is_source(path: &BStr) -> bool {
    syntax::source_type(path).is_some()
}

/// The source at a path; `None` if there is none.
fn source(facts: &Facts<'_>, path: &BStr) -> Result<Option<Rc<JsSource>>> {
    let sources = facts.memory::<Sources>();
    if let Some(known) = sources.parsed.borrow().get(path) {
        return Ok(known.clone());
    }
    let bytes = match facts.view().entry(path)? {
        Entry::File { .. } => facts.view().read(path)?,
        _ => None,
    };
    let source = bytes.and_then(|bytes| parsed(&bytes, path)).map(Rc::new);
    let mut known = sources.parsed.borrow_mut();
    known.insert(path.into(), source.clone());
    Ok(source)
}

/// What a source is made of, if its ending says that it is one.
pub(crate) fn parsed(bytes: &[u8], path: &[u8]) -> Option<JsSource> {
    let kind = syntax::source_type(path)?;
    Some(JsSource::parse(bytes, kind))
}

#[cfg(test)]
mod tests;
