//! What the list of tests says of files that are not there yet.

use bstr::{BString, ByteSlice};

use crate::languages::Place;
use crate::observe::rows::Closing;
use crate::observe::trace::{FoundIn, Role, Trace};
use crate::observe::units::UnitIndex;
use crate::runners::pytest::{Finds, is_direct};

impl Closing<'_> {
    /// In which files the run looked for tests, a unit for each process that did; none
    /// if that is not known of all, or if more than pytest decides what it is told.
    pub(crate) fn attach_finds(&mut self, traces: &[Trace], command: &[String]) -> Vec<UnitIndex> {
        let is_looking = |trace: &&Trace| {
            trace.open.role == Role::Main && !trace.open.is_jvm() && trace.items.is_some()
        };
        let looking: Vec<&Trace> = traces.iter().filter(is_looking).collect();
        let found = looking.iter().map(|trace| {
            let found = trace.finds.as_ref()?;
            let is_direct = is_direct(command, &found.args) && !self.is_own(trace, command);
            is_direct.then(|| self.finds(found))
        });
        let Some(found) = found.collect::<Option<Vec<Finds>>>() else {
            return Vec::new();
        };
        found
            .iter()
            .map(|finds| self.intern(finds.unit()))
            .collect()
    }

    /// Whether the program of `command` is a file of the repository.
    fn is_own(&self, trace: &Trace, command: &[String]) -> bool {
        let Some(program) = command.first().filter(|program| program.contains('/')) else {
            return false;
        };
        let folder = trace.open.cwd.as_str().unwrap_or_default();
        let path = std::path::Path::new(folder).join(program);
        let path = BString::from(path.into_os_string().into_encoded_bytes());
        match self.facts.place(path.as_bstr()) {
            Place::Inside(path) => self.facts.view().is_tracked(path.as_bstr()).unwrap_or(true),
            Place::Outside(_) => false,
        }
    }

    fn finds(&self, found: &FoundIn) -> Finds {
        let place = |path: &BString| match self.facts.place(path.as_bstr()) {
            Place::Inside(path) => Some(path.to_str().map(str::to_owned).ok()),
            Place::Outside(_) => None,
        };
        // One that is no text could not be told from others.
        let places = found.places.as_ref();
        Finds {
            names: found.names.clone(),
            places: places.and_then(|places| places.iter().filter_map(place).collect()),
            others: found.others.clone(),
        }
    }
}
