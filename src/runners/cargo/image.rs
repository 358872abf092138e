//! The functions of a program that Cargo has built: where they begin in it, and which functions
//! of the sources they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::Loader;
use anyhow::{Context, Result, bail};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use rustc_hash::FxHashMap;

use super::plan::Source;
use crate::tracer::Entries;

/// A program whose functions are known.
#[derive(Debug)]
pub(super) struct Image {
    pub entries: Arc<Entries>,
    /// By address: the index of the source, and that of the function in it; several where they
    /// stand in one line.
    pub functions: FxHashMap<u64, Vec<(usize, usize)>>,
}

impl Image {
    /// Reads a program that was built of crates of these names, its own first, and of these sources
    /// among others.
    ///
    /// # Errors
    /// Why its functions cannot be told apart.
    pub(super) fn read(
        program: &Path,
        own: &str,
        crates: &BTreeSet<String>,
        sources: &BTreeMap<PathBuf, (usize, &Source)>,
    ) -> Result<Image> {
        if let Some(name) = crates.iter().find(|name| !name.is_ascii()) {
            bail!("symbols spell {name} in another way");
        }
        let bytes = fs_err::read(program)?;
        let file = object::File::parse(&*bytes)
            .with_context(|| format!("{} is no program", program.display()))?;
        let lines = Loader::new(program).map_err(|error| {
            anyhow::anyhow!(
                "what {} was built of cannot be read: {error}",
                program.display()
            )
        })?;
        let mut functions: FxHashMap<u64, Vec<(usize, usize)>> = FxHashMap::default();
        let mut names: FxHashMap<u64, &str> = FxHashMap::default();
        let mut real: FxHashMap<String, Option<PathBuf>> = FxHashMap::default();
        let by_path = sources.iter().map(|(path, source)| {
            let path = fs_err::canonicalize(path)?;
            Ok((path, *source))
        });
        let by_path: BTreeMap<PathBuf, (usize, &Source)> = by_path.collect::<Result<_>>()?;
        let mut told: BTreeMap<&str, bool> = BTreeMap::new();
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default();
            let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            if !is_function || !may_be_of(name, crates) {
                continue;
            }
            let address = symbol.address();
            // All lines of it: its first instruction can be of a macro that stands elsewhere.
            let end = address + symbol.size().max(1);
            let Ok(places) = lines.find_location_range(address, end) else {
                continue;
            };
            let mut here = BTreeSet::new();
            let of = crates.iter().find(|one| is_path_in(name, one));
            if let Some(of) = of {
                told.entry(of).or_default();
            }
            for (_, _, place) in places {
                let (Some(path), Some(line)) = (place.file, place.line) else {
                    continue;
                };
                let path = match real.get(path) {
                    Some(known) => known,
                    None => {
                        let found = fs_err::canonicalize(path);
                        if found.is_err() && !is_of_compiler(path) {
                            bail!("{path}, which it was built of, is not there");
                        }
                        real.entry(path.to_owned()).or_insert(found.ok())
                    }
                };
                let source = path.as_ref().and_then(|path| by_path.get(path));
                if let Some((number, source)) = source {
                    if let Some(of) = of {
                        told.insert(of, true);
                    }
                    here.extend(source.at(line).map(|function| (*number, function)));
                }
            }
            if here.is_empty() {
                continue;
            }
            // A linker that folds functions leaves the lines of one.
            if let Some(other) = names.insert(address, name)
                && other != name
            {
                bail!("functions of {} share their code", program.display());
            }
            functions.insert(address, here.into_iter().collect());
        }
        told.entry(own).or_default();
        if let Some((of, _)) = told.iter().find(|(_, is_told)| !**is_told) {
            bail!(
                "{} does not tell the lines of the functions in {of}",
                program.display()
            );
        }
        let sections = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text);
        let sections = sections.map(|section| Ok((section.address(), section.data()?)));
        let sections: Vec<(u64, &[u8])> = sections.collect::<object::Result<_>>()?;
        let places = functions.keys().copied().collect();
        Ok(Image {
            entries: Arc::new(Entries::new(file.entry(), places, &sections)),
            functions,
        })
    }
}

/// Whether a source is one of the standard library, which is called by the compiler's commit and is
/// not there.
fn is_of_compiler(path: &str) -> bool {
    const LENGTH: usize = 40;
    /// Packages that it uses.
    const DEPENDENCIES: &str = "/rust/deps/";
    if path.starts_with(DEPENDENCIES) {
        return true;
    }
    let rest = path.strip_prefix("/rustc/");
    let parts = rest.and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(commit, rest)| {
        let is_commit = commit.len() == LENGTH && commit.bytes().all(|b| b.is_ascii_hexdigit());
        is_commit && rest.starts_with("library/")
    })
}

/// Whether a symbol can be that of a function in one of the crates: all others' names tell
/// theirs. (One with a name of its own stands outside of functions.)
fn may_be_of(symbol: &str, crates: &BTreeSet<String>) -> bool {
    let is_in = |one: &String| {
        let written = [format!("{}{one}", one.len()), format!("{one}..")];
        let is_quoted = format!("{}_{one}", one.len());
        written.iter().any(|text| symbol.contains(text)) || symbol.contains(&is_quoted)
    };
    crates.iter().any(is_in)
}

/// Whether a symbol is that of something in a crate; the newer way to write symbols does not tell
/// what only mentions it.
fn is_path_in(symbol: &str, of: &str) -> bool {
    let written = format!("{}{of}", of.len());
    match symbol.strip_prefix("_ZN") {
        Some(path) => path.starts_with(&written),
        None => symbol.starts_with("_R") && symbol.contains(&written),
    }
}
