//! Which functions of each source ran, where that can be told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::script::Script;
use super::told::{Place, Told};
use crate::languages::{JsSource, parsed_js};

/// The functions of sources that ran, by name; `None` where all of a source counts.
pub(super) type Ran = Option<BTreeSet<String>>;

/// What is known of sources and of the scripts that were made of them.
pub(super) struct Functions<'t> {
    told: &'t Told,
    /// Where the agent put the texts of scripts.
    codes: PathBuf,
    sources: BTreeMap<&'t str, Option<Rc<(String, JsSource)>>>,
    scripts: BTreeMap<(&'t str, &'t str), Option<Rc<Script>>>,
}

impl<'t> Functions<'t> {
    /// `out` is the folder of the run.
    pub(super) fn of(told: &'t Told, out: &Path) -> Functions<'t> {
        Functions {
            told,
            codes: out.join("codes"),
            sources: BTreeMap::new(),
            scripts: BTreeMap::new(),
        }
    }

    /// Those of a source that ran in a place.
    pub(super) fn ran(&mut self, place: Place, file: &'t str) -> Ran {
        let told = self.told;
        let is_whole = told.made.contains(file) || told.lost.contains(&place);
        if is_whole || told.whole.contains(&(place, file.to_owned())) {
            return None;
        }
        let codes = told.codes.get(&(place, file.to_owned()))?;
        let source = self.source(file)?;
        let mut ran = BTreeSet::new();
        for (code, ranges) in codes {
            let functions = self.script(file, code)?.ran(ranges)?;
            ran.extend(functions);
        }
        let name = |one: usize| source.1.functions[one].name.clone();
        Some(ran.into_iter().map(name).collect())
    }

    fn source(&mut self, file: &'t str) -> Option<Rc<(String, JsSource)>> {
        let known = self.sources.entry(file).or_insert_with(|| {
            // Under the name of a link to it, it is no source of a commit.
            let is_itself = fs_err::canonicalize(file).ok()? == Path::new(file);
            let bytes = crate::disk::read(file).ok().filter(|_| is_itself)?;
            let source = parsed_js(&bytes, file.as_bytes())?;
            let text = String::from_utf8(bytes).ok()?;
            Some(Rc::new((text, source)))
        });
        known.clone()
    }

    fn script(&mut self, file: &'t str, code: &'t str) -> Option<Rc<Script>> {
        let source = self.source(file)?;
        let known = self.scripts.entry((file, code)).or_insert_with(|| {
            let text = crate::disk::read_to_string(self.codes.join(code)).ok()?;
            Script::of(&text, &source.0, &source.1).map(Rc::new)
        });
        known.clone()
    }
}

/// What ran of a source in two places.
pub(super) fn join(one: &mut Ran, other: Ran) {
    match (one.as_mut(), other) {
        (Some(one), Some(other)) => one.extend(other),
        _ => *one = None,
    }
}
