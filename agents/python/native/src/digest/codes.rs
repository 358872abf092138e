//! What code objects say of themselves: their members, read where they lie if that is known.

use std::ffi::CStr;
use std::rc::Rc;

use super::classes::is_text;
use super::hash::Hasher;
use super::layout::Layouts;
use super::sources::{Source, source};
use super::walk::Walk;
use crate::ffi::*;

/// Where code objects have their members.
#[derive(Clone, Copy)]
pub struct CodeLayout {
    pub file: isize,
    pub name: isize,
    pub constants: isize,
    /// A number of 32 bits.
    pub first_line: isize,
}

/// What tells code from other code. The last is there from 3.11 on.
const MEMBERS: [&CStr; 12] = [
    c"co_code",
    c"co_consts",
    c"co_names",
    c"co_varnames",
    c"co_freevars",
    c"co_cellvars",
    c"co_name",
    c"co_flags",
    c"co_argcount",
    c"co_posonlyargcount",
    c"co_kwonlyargcount",
    c"co_exceptiontable",
];
pub const CONSTANTS: usize = 1;
pub const NAMES: std::ops::Range<usize> = 2..6;
pub const TABLE: usize = 11;

/// The names of these members, as texts.
pub unsafe fn members() -> [Ref; 12] {
    static NAMES: Global<Option<[Ref; 12]>> = Global::new(None);
    *NAMES.get().get_or_insert_with(|| {
        MEMBERS.map(|name| unsafe { PyUnicode_InternFromString(name.as_ptr()) })
    })
}

/// What is known of the file of a code object.
pub struct File {
    /// What stands for the place that it is in.
    pub place: Option<Vec<u8>>,
    /// Begins the digest of a function in it.
    pub start: Hasher,
    pub source: Option<Rc<Source>>,
    pub is_functools: bool,
}

/// A member of a code object; null without an exception if it has none.
unsafe fn member(object: Ref, name: &CStr) -> Ref {
    // A plain member: the object keeps it alive.
    let value = PyObject_GetAttrString(object, name.as_ptr());
    match value.is_null() {
        true => PyErr_Clear(),
        false => Py_DecRef(value),
    }
    value
}

pub unsafe fn file_name(code: Ref, layouts: &Layouts) -> Ref {
    match layouts.code {
        Some(layout) => word(code, layout.file) as Ref,
        None => member(code, c"co_filename"),
    }
}

pub unsafe fn name(code: Ref, layouts: &Layouts) -> Ref {
    match layouts.code {
        Some(layout) => word(code, layout.name) as Ref,
        None => member(code, c"co_name"),
    }
}

pub unsafe fn constants(code: Ref, layouts: &Layouts) -> Ref {
    match layouts.code {
        Some(layout) => word(code, layout.constants) as Ref,
        None => member(code, c"co_consts"),
    }
}

pub unsafe fn first_line(code: Ref, layouts: &Layouts) -> Option<u32> {
    match layouts.code {
        Some(layout) => Some(*code.cast::<u8>().offset(layout.first_line).cast::<u32>()),
        None => number(code, c"co_firstlineno").map(|line| line as u32),
    }
}

pub unsafe fn number(code: Ref, name: &CStr) -> Option<i64> {
    let value = PyObject_GetAttrString(code, name.as_ptr());
    if value.is_null() {
        PyErr_Clear();
        return None;
    }
    let found = PyLong_AsLong(value) as i64;
    Py_DecRef(value);
    Some(found)
}

/// The file of a code object; None if its name is no text.
pub unsafe fn file(code: Ref, walk: &mut Walk) -> Option<Rc<File>> {
    let text = file_name(code, walk.layouts);
    if !is_text(text) {
        return None;
    }
    // Most code of a module has the same text.
    if let Some(known) = walk.files.get(&(text as usize)) {
        return Some(known.clone());
    }
    let path = text_of(text)?;
    let place = walk
        .places
        .iter()
        .find(|(prefix, _)| path.starts_with(prefix));
    let mut start = const { Hasher::new("code") };
    match place {
        Some((prefix, text)) => {
            start.bytes(text);
            start.bytes(&path[prefix.len()..]);
        }
        None => start.bytes(&path),
    }
    let found = Rc::new(File {
        place: place.map(|(_, text)| text.clone()),
        start,
        source: source(&path),
        is_functools: path.ends_with(b"functools.py") || *path == *b"<frozen functools>",
    });
    walk.files.insert(text as usize, found.clone());
    Some(found)
}
