//! Units and fingerprints of Python source.
//!
//! - `code`: the body of an outermost function, that is one that no other
//!   function contains; what is inside it belongs to it. All definitions of
//!   one qualified name are one unit.
//! - `skeleton`: everything else. Of a function it holds what shows without
//!   running it: decorators, signature, docstring, and whether it is a
//!   generator or a coroutine.
//!
//! What the interpreter does not see does not count: comments, white space,
//! line numbers, quotes, parentheses that only group, how a literal is spelled.
//! What it keeps of the source does: the text of `f"{x = }"`.
//!
//! Not seen, though a program could read it: the line numbers of code, the
//! local variables and constants of a function that does not run, and the
//! names in `__static_attributes__` of a class (3.13).

mod asked;
pub(crate) mod cache;
mod called;
mod casts;
mod classes;
pub(crate) mod closure;
mod codec;
pub(crate) mod compare;
mod compile;
mod depth;
mod digest;
mod docstrings;
mod dynamic;
mod expr;
mod facts;
mod idle;
mod imports;
pub(crate) mod keyed;
mod listed;
mod locate;
pub(crate) mod module;
pub(crate) mod modules;
pub(crate) mod names;
mod naming;
mod reads;
mod run;
pub(crate) mod serials;
mod source;
pub(crate) mod statements;
mod walk;
pub(crate) mod way;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use bstr::BStr;
use ruff_python_ast::{Mod, PythonVersion, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged;

use self::casts::Casts;
use self::digest::Sink;
use self::module::Reach;
use self::names::changes::{self, Parsed};
use self::names::widely;
use self::run::Sources;
use self::source::Source;
use self::walk::Walker;
use super::reads::{FunctionAt, Needed, Read};
use super::{
    Analysis, Change, Closure, DIGEST_VERSION, Facts, Known, Language, ModuleUnits, Names, Value,
};
use crate::matrix::{Fingerprint, Unit};
use crate::observe::Run;

/// Stack for dropping one level of a syntax tree, with room to spare.
const STACK_PER_LEVEL: usize = 1 << 10;
const BASE_STACK: usize = 1 << 20;

/// Python's name in the registry.
const NAME: &str = "python";

/// Python, as CPython runs it.
pub(crate) struct Python;

impl Language for Python {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Its agent names the means by which the interpreter is watched, of which there
    /// are several.
    fn wrote(&self, _collector: &str) -> bool {
        true
    }

    fn runs_in_order(&self) -> bool {
        true
    }

    fn value(&self, facts: &Facts<'_>, unit: &Unit) -> Result<Option<Value>, anyhow::Error> {
        facts::value(facts, unit)
    }

    fn changes(
        &self,
        then: &Facts<'_>,
        now: &Facts<'_>,
        unit: &Unit,
    ) -> Result<Option<Vec<Change>>, anyhow::Error> {
        compare::changes(then, now, unit)
    }

    fn reads(
        &self,
        facts: &Facts<'_>,
        modules: &Needed,
        units: &[&Unit],
    ) -> Result<Option<Read>, anyhow::Error> {
        reads::read_by(facts, modules, units).map(Some)
    }

    fn functions_at(
        &self,
        facts: &Facts<'_>,
        path: &BStr,
    ) -> Result<Vec<FunctionAt>, anyhow::Error> {
        reads::functions_at(facts, path)
    }

    fn closure(&self, run: &mut Run<'_>) -> Result<Box<dyn Closure>, anyhow::Error> {
        Ok(Box::new(Sources::of_run(run)?))
    }
}

pub(crate) use self::called::CALLED;
pub(super) use self::docstrings::names_docstrings_in;
pub(crate) use self::dynamic::TOLD;
pub(super) use self::dynamic::names_readers_in;
pub(crate) use self::keyed::{KEYED, Keyed, is_entry, keyed_in, shown};
pub(crate) use self::listed::{ASKED_FOR_DOCS, LISTED};
pub(crate) use self::serials::{LOST, SERIAL};

/// The units of a Python file with this content.
#[cfg(test)]
pub(crate) fn analyse_python(source: &[u8]) -> Analysis {
    analyse_python_knowing(source, &Known::default())
}

/// The units of a Python file with this content, with what other sources tell.
pub(crate) fn analyse_python_knowing(source: &[u8], known: &Known) -> Analysis {
    match units(source, known) {
        Ok(units) => Analysis::Parsed(Box::new(units)),
        Err(reason) => Analysis::Unparsed(reason),
    }
}

/// Whether every supported Python has a module of this name in its library,
/// whose import does nothing.
pub(super) fn is_standard(module: &str) -> bool {
    names::is_standard(module)
}

fn units(bytes: &[u8], known: &Known) -> Result<ModuleUnits, String> {
    with_module(bytes, |source, body| {
        let mut walker = Walker::new(source);
        walker.body(body);
        finish(walker, names::split(source, body, known))
    })
}

/// What is different about what binds `name` between two sources.
pub(super) fn binding_changes(was: &[u8], is: &[u8], name: &str) -> Vec<Change> {
    of_both(was, is, |was, is| changes::binding(was, is, name))
}

/// What is different about the effects of two sources, each given with what
/// other sources tell of its imports.
pub(super) fn effect_changes(was: (&[u8], &Known), is: (&[u8], &Known)) -> Vec<Change> {
    of_both(was.0, is.0, |old, new| {
        changes::effects((old, was.1), (new, is.1))
    })
}

/// By which words the code of a unit can reach any name of any module:
/// `function` is the name of a `code` unit; without it, code outside functions.
pub(super) fn wide_words(source: &[u8], function: Option<&str>) -> Vec<String> {
    let look =
        |source: &Source<'_>, body: &[Stmt]| widely::words(Parsed { source, body }, function);
    with_module(source, look).unwrap_or_default()
}

/// Compares two sources; of one that cannot be parsed nothing is told.
fn of_both(
    was: &[u8],
    is: &[u8],
    compare: impl FnOnce(Parsed<'_>, Parsed<'_>) -> Vec<Change>,
) -> Vec<Change> {
    let compared = with_module(was, |source, body| {
        let was = Parsed { source, body };
        with_module(is, |source, body| compare(was, Parsed { source, body }))
    });
    compared.and_then(|inner| inner).unwrap_or_default()
}

/// What `look` makes of the syntax of a source.
fn with_module<T>(bytes: &[u8], look: impl FnOnce(&Source<'_>, &[Stmt]) -> T) -> Result<T, String> {
    let source = Source::decode(bytes)?;
    let depth = depth::bound(&source.text).ok_or("it is nested too deeply")?;
    // The parser and the walk see to their own stack; dropping a deep tree,
    // which the parser does too, needs this one.
    let stack = BASE_STACK + depth * STACK_PER_LEVEL;
    let run = || stacker::maybe_grow(stack, stack, || parse_and_look(&source, look));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("its parser failed on it".into()))
}

fn parse_and_look<T>(
    source: &Source<'_>,
    look: impl FnOnce(&Source<'_>, &[Stmt]) -> T,
) -> Result<T, String> {
    // All syntax is parsed; what the oldest interpreter does not know is noted.
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY38);
    let parsed = parse_unchecked(&source.text, options);
    if let Some(error) = parsed.errors().first() {
        let line = source.line_at(error.location.start().into());
        return Err(format!("line {line}: {}", error.error));
    }
    match parsed.syntax() {
        Mod::Module(module) => {
            if let Some((at, error)) = compile::error(&source.text, &module.body) {
                return Err(format!("line {}: {error}", source.line_at(at)));
            }
            let newer = parsed.unsupported_syntax_errors().iter();
            let newer: BTreeSet<String> = newer.map(ToString::to_string).collect();
            source.newer.replace(newer.into_iter().collect());
            source.casts.replace(Casts::of(&source.text, &module.body));
            Ok(look(source, &module.body))
        }
        Mod::Expression(expression) => Err(format!(
            "parsed as an expression of {} bytes",
            expression.range().len().to_u32()
        )),
    }
}

fn finish(walker: Walker, mut names: Names) -> ModuleUnits {
    let mut dynamic_names = walker.dynamic_names;
    sort_unique(&mut dynamic_names);
    let all_dynamic = walker.all_dynamic;
    let hides_inspect = walker.hides_inspect;
    let reach = |sink: &mut Sink| {
        let mut mentions = std::mem::take(&mut sink.mentions);
        sort_unique(&mut mentions);
        let dynamic = sink.dynamic
            || all_dynamic
            || (sink.inspects && hides_inspect)
            || sink
                .loads
                .iter()
                .any(|load| dynamic_names.binary_search(load).is_ok());
        Reach { mentions, dynamic }
    };

    let mut skeleton = walker.sink;
    let skeleton_reach = reach(&mut skeleton);
    let mut code = BTreeMap::new();
    let mut code_reach = BTreeMap::new();
    for (name, mut unit) in walker.units {
        if let Some(uses) = names.code.get_mut(&name) {
            uses.asks = std::mem::take(&mut unit.asks);
            sort_unique(&mut uses.asks);
            uses.reads |= dynamic::names_any(&dynamic::READERS_IN_TEXT, &uses.asks);
            uses.reads_docs |= dynamic::names_any(&docstrings::DOCSTRINGS_IN_TEXT, &uses.asks);
        }
        code_reach.insert(name.clone(), reach(&mut unit));
        code.insert(name, fingerprint("code", &unit));
    }
    let mut outline = walker.outline;
    outline.definitions.sort_unstable();
    outline.definitions.dedup();
    sort_unique(&mut outline.evaluators);
    ModuleUnits {
        skeleton: fingerprint("skeleton", &skeleton),
        code,
        skeleton_reach,
        code_reach,
        outline,
        names,
    }
}

fn fingerprint(kind: &str, sink: &Sink) -> Fingerprint {
    let domain = format!("tamis fingerprint {DIGEST_VERSION}: python {kind}");
    Fingerprint::of_digest(&domain, &sink.bytes)
}

fn sort_unique(hashes: &mut Vec<u32>) {
    hashes.sort_unstable();
    hashes.dedup();
}

#[cfg(test)]
mod tests;
