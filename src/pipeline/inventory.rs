//! Whether there may be tests that nobody has listed, and in how many files.

use std::cell::OnceCell;

use anyhow::Result;
use bstr::{BStr, BString, ByteSlice};
use rustc_hash::FxHashSet;

use super::project::Project;
use crate::history::{Delta, Entry, View};
use crate::matrix::{Classes, Fingerprint, MatrixView, Mode, TestId, UnitId, UnitKind, What};
use crate::runners::{Finds, MayHold, Prober};
use crate::select::Unlisted;

/// The changed paths of which no recorded unit of the collection speaks, and that may
/// hold tests which nobody knows. Outside of `paths` there are none: the configuration
/// says so.
///
/// # Errors
/// If git cannot be read.
pub(super) fn unlisted(
    project: &Project,
    matrix: &MatrixView,
    delta: Option<&Delta>,
    view: &View,
    prober: Option<&dyn Prober>,
) -> Result<Unlisted> {
    let Some(delta) = delta else {
        return Ok(Unlisted {
            doubt: Some("what changed since the last run is unknown".to_owned()),
            ..Unlisted::default()
        });
    };
    let config = &project.config;
    let named = config.driver.named_tests(&config.settings());
    let told = || prober.and_then(Prober::tests).map(<[String]>::to_vec);
    if let Some(named) = named.or_else(told) {
        let is_new = |test: &&String| matrix.row_of(TestId::Test(test)).is_none();
        return Ok(Unlisted {
            doubt: named
                .iter()
                .find(is_new)
                .map(|test| format!("{test} is new")),
            ..Unlisted::default()
        });
    }
    let collection: Vec<UnitId> = match matrix.row_of(TestId::Collection) {
        Some(row) => matrix.units_of(row),
        None => Vec::new(),
    };
    let is_all = |id: &UnitId| matrix.is(*id, &What::Classes(Classes::All));
    if collection.iter().any(is_all) {
        // All compiled tests were compared.
        return Ok(Unlisted::default());
    }
    let known: FxHashSet<&BStr> = collection.iter().map(|id| matrix.path(*id)).collect();
    let finding = Finding::new(matrix, &collection, view);
    let mut unlisted = Unlisted::default();
    let driver = project.config.driver;
    let paths = delta.paths.iter();
    for path in paths.filter(|path| project.may_hold_tests(path)) {
        let may_hold = match driver.may_bring_tests(path.as_bstr()) {
            Some(may_hold) => may_hold,
            None => !known.contains(path.as_bstr()) && finding.may_hold(path.as_bstr(), delta)?,
        };
        if !may_hold {
            continue;
        }
        if finding.is_named(path.as_bstr()) {
            unlisted.files.extend(project.file_of(path.as_bstr()));
        }
        unlisted
            .doubt
            .get_or_insert_with(|| format!("{path} may hold new ones"));
    }
    Ok(unlisted)
}

/// How the runner found the tests.
struct Finding<'a> {
    view: &'a View,
    /// Of each process that looked for them; empty if that was not recorded.
    finds: Vec<Finds>,
    /// Whether some symbolic link has a name of files with tests.
    named_link: OnceCell<bool>,
}

impl<'a> Finding<'a> {
    fn new(matrix: &MatrixView, collection: &[UnitId], view: &'a View) -> Finding<'a> {
        // What one of the processes looked for is no answer if that of another is not known.
        let kinds = [UnitKind::Config, UnitKind::Other];
        let told = collection
            .iter()
            .filter(|id| kinds.contains(&matrix.kind(**id)) && matrix.path(**id).is_empty());
        let mut finds = Some(Vec::new());
        for id in told {
            match matrix.unit(*id).what {
                What::Finds(found) => finds.iter_mut().for_each(|all| all.push((*found).clone())),
                What::Options => {}
                _ => finds = None,
            }
        }
        Finding {
            view,
            finds: finds.unwrap_or_default(),
            named_link: OnceCell::new(),
        }
    }

    /// Whether a changed path, of which the list of tests says nothing, may hold some.
    fn may_hold(&self, path: &BStr, delta: &Delta) -> Result<bool> {
        let plain = match self.view.entry(path)? {
            Entry::Missing => {
                let name = path.rsplit_str("/").next().unwrap_or(path);
                return Ok(Finds::may_have_hidden(name));
            }
            Entry::File { fingerprint, .. } => is_plain(fingerprint),
            Entry::TooLarge { .. } => true,
            Entry::Dir | Entry::Unknown => false,
        };
        if self.finds.is_empty() || !plain {
            return Ok(true);
        }
        if delta.edited.contains(path) {
            // It was there when the tests were listed and had none. Whoever looked
            // into it to find that out would have it among its units.
            return Ok(false);
        }
        for finds in &self.finds {
            match finds.may_hold(path) {
                MayHold::No if self.has_named_link()? => return Ok(true),
                MayHold::No => {}
                MayHold::Yes => return Ok(true),
                MayHold::ByLink if self.has_links(finds)? => return Ok(true),
                MayHold::ByLink => {}
            }
        }
        Ok(false)
    }

    /// Whether it is a file of tests by its name, so that a machine for it is worth it.
    fn is_named(&self, path: &BStr) -> bool {
        !self.finds.is_empty() || Finds::by_default().may_hold(path) == MayHold::Yes
    }

    /// Whether a symbolic link lies where pytest looks, which may lead anywhere.
    fn has_links(&self, finds: &Finds) -> Result<bool> {
        let places = finds.places.iter().flatten();
        self.finds_link(places.map(|it| it.as_str().into()).collect(), |_| true)
    }

    /// Whether a symbolic link anywhere has a name of files with tests: it gives it to what
    /// it leads to, perhaps a file that was not there before.
    fn has_named_link(&self) -> Result<bool> {
        if let Some(known) = self.named_link.get() {
            return Ok(*known);
        }
        let takes = |path: &BStr| self.finds.iter().any(|finds| finds.takes(path));
        let found = self.finds_link(vec![BString::default()], takes)?;
        Ok(*self.named_link.get_or_init(|| found))
    }

    /// Whether there is a symbolic link, or a submodule, of which `counts` is true, in these
    /// folders or below.
    fn finds_link(&self, mut open: Vec<BString>, counts: impl Fn(&BStr) -> bool) -> Result<bool> {
        while let Some(folder) = open.pop() {
            for (name, is_folder) in self.view.list(folder.as_bstr())?.into_iter().flatten() {
                let mut path = folder.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(&name);
                if is_folder {
                    open.push(path);
                } else if counts(path.as_bstr())
                    && let Entry::File { fingerprint, .. } = self.view.entry(path.as_bstr())?
                    && !is_plain(fingerprint)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// A file, and neither a symbolic link nor a submodule.
fn is_plain(fingerprint: Fingerprint) -> bool {
    let mode = fingerprint.0[15];
    mode == Mode::Regular as u8 || mode == Mode::Executable as u8
}
