//! Tells of classes that are asked for their docstrings, by whomever, and of code that asks objects
//! for theirs: those answer with that of their class.

use std::ffi::{CStr, c_long, c_void};

use crate::ffi::*;
use crate::frames;
use crate::told::{self, Told};

const DOC: &CStr = c"__doc__";

static ASKED: Global<Told> = Global::new(Told::new());

/// The name as code spells it.
static NAME: Global<Ref> = Global::new(std::ptr::null_mut());

/// Calls `callback(class)` and `callback(code)` from now on, see [`told::tell`]: of code outside the
/// project again in each epoch unless it answers with `False`, of code of the project whenever
/// that runs, until it answers with either in an epoch. `false`, with an exception, if classes have no
/// such attribute.
pub unsafe fn watch(callback: Ref) -> bool {
    let is_first = !told::is_watched(&ASKED);
    told::watch(&ASKED, callback);
    if is_first {
        *NAME.get() = PyUnicode_InternFromString(DOC.as_ptr());
    }
    !is_first || frames::rewire(&raw mut PyType_Type, DOC, get)
}

unsafe extern "C" fn get(class: Ref, closure: *mut c_void) -> Ref {
    let found = frames::plain(class, closure);
    if !found.is_null() {
        tell(class);
    }
    found
}

/// An object is asked for an attribute by a built-in function. Metaclasses have a docstring, which
/// hides the descriptor.
pub unsafe fn tell_asked(object: Ref, name: &[u8]) {
    let kind = (*object).kind;
    if name == DOC.to_bytes() {
        match type_object::flags(kind) & type_object::TYPE_SUBCLASS != 0 {
            true => tell(object),
            false => tell(kind),
        }
    }
}

/// Classes that are defined in C are nobody's of the project.
unsafe fn tell(class: Ref) {
    let is_made = type_object::flags(class) & type_object::HEAP_TYPE != 0;
    if is_made && !PyEval_GetFrame().is_null() && frames::is_told() {
        told::tell(&ASKED, class);
    }
}

/// The code of modules and classes stores their own.
unsafe fn is_function(code: Ref) -> bool {
    const OPTIMIZED: c_long = 1;
    let flags = PyObject_GetAttrString(code, c"co_flags".as_ptr());
    let is_function = PyLong_AsLong(flags) & OPTIMIZED != 0;
    Py_DecRef(flags);
    is_function
}

/// Code outside the project, with these names, runs. Whether that has to be told in each epoch.
pub unsafe fn tell_code(code: Ref, names: Ref) -> bool {
    is_among(names)
        && is_function(code)
        && (!frames::is_told() || told::tell(&ASKED, code) != Some(false))
}

/// Whether the attribute is among the names of some code.
pub unsafe fn is_among(names: Ref) -> bool {
    frames::is_among(*NAME.get(), names)
}

/// Code of the project that spells it runs. Whether that has to be told when it does so again, in this
/// epoch.
pub unsafe fn tell_own_code(code: Ref) -> bool {
    told::tell(&ASKED, code).is_none()
}
