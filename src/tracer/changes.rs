//! Calls that change what files there are. They are seen before they happen, and may fail:
//! what was there then stays, so it must not be taken for the test's own.

use std::os::unix::fs::MetadataExt;

use bstr::BString;

use super::caller::Caller;
use super::calls::Calls;
use crate::disk;
use crate::tracer::paths::{Found, Way, fingerprint, native};
use crate::tracer::seen::{Use, Write};

/// An argument that is a folder, and the number of the one that is a path below it.
type Place = (i32, usize);

impl Calls {
    /// Something about a file changes, and all else stays.
    pub(super) fn change(&mut self, caller: &Caller<'_>, (dir, at): Place) -> Option<()> {
        let way = self.way(caller, dir, at, true)?;
        match way.found {
            Found::File => self.seen.writes(&way, Write::Changed, fingerprint),
            _ => self.seen.used(&way, Use::Existence),
        }
        Some(())
    }

    /// Makes something where nothing is; else it fails.
    pub(super) fn make(&mut self, caller: &Caller<'_>, at: Place, how: Write) -> Option<()> {
        let way = self.way(caller, at.0, at.1, false)?;
        match way.found {
            Found::Missing => self.seen.writes(&way, how, fingerprint),
            _ => self.seen.used(&way, Use::Existence),
        }
        self.paths.forget();
        Some(())
    }

    /// Removes a folder that is empty, or something else.
    pub(super) fn remove(
        &mut self,
        caller: &Caller<'_>,
        at: Place,
        is_for_folders: bool,
    ) -> Option<()> {
        let way = self.way(caller, at.0, at.1, false)?;
        self.seen.used(&way, Use::Existence);
        self.paths.forget();
        let is_sure = caller.may_change_folder_of(&way);
        match (way.found, is_for_folders) {
            (Found::Dir, true) if self.is_empty(&way) && is_sure => {
                self.seen.writes(&way, Write::Replaced, fingerprint);
            }
            (Found::File | Found::Special, false) => {
                self.seen.writes(&way, replaced(is_sure), fingerprint);
            }
            // It fails.
            _ => {}
        }
        Some(())
    }

    /// Whether a folder is empty, which decides whether it can go.
    fn is_empty(&mut self, way: &Way) -> bool {
        self.seen.lists(way.path.clone());
        let names = disk::names(native(&way.path)).ok().flatten();
        names.is_some_and(|names| names.is_empty())
    }

    pub(super) fn rename(
        &mut self,
        caller: &Caller<'_>,
        from: Place,
        to: Place,
        flags: u32,
    ) -> Option<()> {
        let from = self.way(caller, from.0, from.1, false)?;
        let to = self.way(caller, to.0, to.1, false)?;
        self.seen.used(&from, Use::Content);
        self.paths.forget();
        if flags & libc::RENAME_EXCHANGE != 0 {
            self.seen.doubt("two files were exchanged");
            return Some(());
        }
        if from.found == Found::Missing || !self.can_go(&from, &to, flags) {
            self.seen.used(&to, Use::Existence);
            return Some(());
        }
        let is_sure = caller.may_change_folder_of(&from) && caller.may_change_folder_of(&to);
        if from.found == Found::Dir {
            if !is_sure {
                self.seen
                    .doubt(format!("the folder {} was moved", from.path));
            }
            self.seen.moves_folder(&from.path, &to.path);
        }
        self.seen.writes(&from, replaced(is_sure), fingerprint);
        self.seen.writes(&to, replaced(is_sure), fingerprint);
        Some(())
    }

    /// Whether something can go where `to` leads, as far as what is there decides that.
    fn can_go(&mut self, from: &Way, to: &Way, flags: u32) -> bool {
        if device_of_folder(&from.path) != device_of_folder(&to.path) {
            return false;
        }
        match (from.found, to.found) {
            (_, Found::Missing) => true,
            _ if flags & libc::RENAME_NOREPLACE != 0 => false,
            (Found::Dir, Found::Dir) => self.is_empty(to),
            (Found::Dir, _) | (_, Found::Dir) => false,
            _ => true,
        }
    }

    pub(super) fn link(
        &mut self,
        caller: &Caller<'_>,
        from: Place,
        to: Place,
        flags: i32,
    ) -> Option<()> {
        let follow = flags & libc::AT_SYMLINK_FOLLOW != 0;
        let from = self.way(caller, from.0, from.1, follow)?;
        let to = self.way(caller, to.0, to.1, false)?;
        self.seen.used(&from, Use::Content);
        self.paths.forget();
        if to.found != Found::Missing {
            self.seen.used(&to, Use::Existence);
            return Some(());
        }
        if from.found == Found::File {
            // From now on it can be written by another name.
            self.seen.writes(&from, Write::Changed, fingerprint);
        }
        self.seen.writes(&to, Write::Changed, fingerprint);
        Some(())
    }
}

/// How something is written that goes away as a whole if that works.
fn replaced(is_sure: bool) -> Write {
    match is_sure {
        true => Write::Replaced,
        false => Write::Changed,
    }
}

/// Between file systems nothing can be moved.
fn device_of_folder(path: &BString) -> Option<u64> {
    let folder = native(path).parent()?;
    Some(std::fs::metadata(folder).ok()?.dev())
}
