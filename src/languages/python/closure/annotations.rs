//! Annotations that are text, and docstrings: part of a row if some code of it
//! reads such, and has what they are of.

use super::{Closing, NameClosure, Reach};
use crate::languages::python::modules::ModuleIndex;
use crate::languages::{
    CLASS_DOCSTRING, FUNCTION_ANNOTATIONS, FUNCTION_DOCSTRING, MEMBER_ANNOTATIONS, annotated,
    is_docstring,
};
use crate::matrix::{Unit, UnitKind};
use crate::observe::units::{UnitIndex, UnitTable};

/// The annotations, or the docstring, of something that a row has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    unit: UnitIndex,
    is_docstring: bool,
    /// Of a class: whoever looks up names that nobody spelled reads it, too.
    of_class: bool,
}

const KINDS: [&str; 4] = [
    FUNCTION_ANNOTATIONS,
    MEMBER_ANNOTATIONS,
    FUNCTION_DOCSTRING,
    CLASS_DOCSTRING,
];

impl NameClosure {
    /// Those of what the binding `name` binds; of effects without a name.
    pub(super) fn annotations_of(
        &self,
        table: &mut UnitTable,
        module: ModuleIndex,
        name: Option<&str>,
        reach: &mut Reach,
    ) {
        let of = &self.modules.all[module as usize];
        if of.is_generated {
            return;
        }
        let bindings = &of.parsed().names.bindings;
        for kind in KINDS {
            let name = match name {
                Some(name) => format!("{name}.{kind}"),
                None => kind.to_owned(),
            };
            if bindings.contains_key(&name) {
                let unit = Unit::named(UnitKind::Binding, of.path.clone(), &name);
                reach.notes.push(Note {
                    unit: table.intern(unit),
                    is_docstring: is_docstring(kind),
                    of_class: matches!(kind, MEMBER_ANNOTATIONS | CLASS_DOCSTRING),
                });
            }
        }
    }

    /// Those of all that a module binds.
    pub(super) fn all_annotations(
        &self,
        table: &mut UnitTable,
        module: ModuleIndex,
        reach: &mut Reach,
    ) {
        let names: Vec<&String> = {
            let names = &self.modules.all[module as usize].parsed().names;
            let names = names.bindings.keys();
            names.filter(|name| annotated(name).is_none()).collect()
        };
        for name in names {
            self.annotations_of(table, module, Some(name), reach);
        }
        self.annotations_of(table, module, None, reach);
    }
}

impl Closing<'_> {
    fn is_reading(&self) -> bool {
        self.has(|layer| layer.reads)
    }

    fn is_reading_docs(&self) -> bool {
        self.has(|layer| layer.reads_docs)
    }

    fn is_looking_up(&self) -> bool {
        self.has(|layer| layer.looks_up)
    }

    /// Keeps what could be read of the units that were reached, and reads it if
    /// something does.
    pub(super) fn note_annotations(&mut self, reach: &Reach) {
        let (annotations, docstrings) = (self.is_reading(), self.is_reading_docs());
        let classes = self.is_looking_up();
        for note in &reach.notes {
            self.closed.notes.push(*note);
            let is_read = match note.is_docstring {
                true => docstrings,
                false => annotations,
            };
            if is_read || (classes && note.of_class) {
                self.add(note.unit);
            }
        }
        if reach.reads {
            self.read_annotations();
        }
        if reach.reads_docs {
            self.read_docstrings();
        }
    }

    /// Something reads annotations.
    pub(super) fn read_annotations(&mut self) {
        if !self.is_reading() {
            self.closed.reads = true;
            self.add_notes(|note| !note.is_docstring);
        }
    }

    /// Something reads docstrings.
    pub(super) fn read_docstrings(&mut self) {
        if !self.is_reading_docs() {
            self.closed.reads_docs = true;
            self.add_notes(|note| note.is_docstring);
        }
    }

    /// Something looks up names that nobody spelled, for the first time.
    pub(super) fn read_members(&mut self) {
        self.add_notes(|note| note.of_class);
    }

    fn add_notes(&mut self, is_read: impl Fn(&Note) -> bool) {
        let layers = self.closed.layers();
        let notes: Vec<UnitIndex> = layers
            .flat_map(|layer| &layer.notes)
            .filter(|note| is_read(note))
            .map(|note| note.unit)
            .collect();
        for unit in notes {
            self.add(unit);
        }
    }
}
