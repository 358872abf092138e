//! Tells what code of the project asks frames, tracebacks and code for, by descriptors in the place
//! of those of their types.

use std::ffi::{CStr, c_int, c_void};

use crate::codes;
use crate::digest::dict_of;
use crate::ffi::*;

type Get = unsafe extern "C" fn(Ref, Ref, Ref) -> Ref;
type Set = unsafe extern "C" fn(Ref, Ref, Ref) -> c_int;

/// `PyGetSetDef`.
#[repr(C)]
struct Definition {
    name: *const std::ffi::c_char,
    get: unsafe extern "C" fn(Ref, *mut c_void) -> Ref,
    set: Option<unsafe extern "C" fn(Ref, Ref, *mut c_void) -> c_int>,
    doc: *const std::ffi::c_char,
    closure: *mut c_void,
}

/// An attribute that is watched.
struct Watched {
    name: Ref,
    /// The type's own descriptor.
    plain: Ref,
}

static CALLBACK: Global<Ref> = Global::new(std::ptr::null_mut());

/// Whether this helper itself asks, on behalf of nobody.
static IS_QUIET: Global<bool> = Global::new(false);

/// Tells nothing while `work` runs.
pub unsafe fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let before = std::mem::replace(IS_QUIET.get(), true);
    let result = work();
    *IS_QUIET.get() = before;
    result
}

/// Tells `callback` from now on: `callback(name, frame)` (or code) before code of the project
/// gets the attribute. `false`, with an exception, if the types have no such attributes.
pub unsafe fn watch(callback: Ref) -> bool {
    Py_IncRef(callback);
    let before = std::mem::replace(CALLBACK.get(), callback);
    if !before.is_null() {
        Py_DecRef(before);
        return true;
    }
    let frame = &raw mut PyFrame_Type;
    replace(frame, c"f_globals")
        && replace(frame, c"f_locals")
        && replace(frame, c"f_lineno")
        && replace(&raw mut PyTraceBack_Type, c"tb_lineno")
        && replace(&raw mut PyCode_Type, c"co_firstlineno")
        && replace(&raw mut PyCode_Type, c"co_lnotab")
}

unsafe fn replace(kind: Ref, name: &'static CStr) -> bool {
    let dict = dict_of(kind);
    let plain = match dict.is_null() {
        true => std::ptr::null_mut(),
        false => PyDict_GetItemString(dict, name.as_ptr()),
    };
    if plain.is_null() || type_object::descr_get((*plain).kind) == 0 {
        raise(PyExc_RuntimeError, c"frames have another form");
        return false;
    }
    Py_IncRef(plain);
    let watched = Box::leak(Box::new(Watched {
        name: PyUnicode_InternFromString(name.as_ptr()),
        plain,
    }));
    let can_set = type_object::descr_set((*plain).kind) != 0 && name == c"f_lineno";
    // The descriptor refers to it for ever.
    let definition = Box::leak(Box::new(Definition {
        name: name.as_ptr(),
        get,
        set: can_set.then_some(set),
        doc: std::ptr::null(),
        closure: std::ptr::from_mut(watched).cast(),
    }));
    let made = PyDescr_NewGetSet(kind, std::ptr::from_mut(definition).cast());
    if made.is_null() {
        return false;
    }
    let done = PyDict_SetItemString(dict, name.as_ptr(), made) == 0;
    Py_DecRef(made);
    PyType_Modified(kind);
    done
}

unsafe extern "C" fn get(object: Ref, closure: *mut c_void) -> Ref {
    let watched = &*closure.cast::<Watched>();
    tell(object, watched);
    // SAFETY: the signature of the slot.
    let get = std::mem::transmute::<usize, Get>(type_object::descr_get((*watched.plain).kind));
    get(watched.plain, object, (*object).kind)
}

unsafe extern "C" fn set(object: Ref, value: Ref, closure: *mut c_void) -> c_int {
    let watched = &*closure.cast::<Watched>();
    // SAFETY: the signature of the slot.
    let set = std::mem::transmute::<usize, Set>(type_object::descr_set((*watched.plain).kind));
    set(watched.plain, object, value)
}

/// Calls back if code of the project asks.
unsafe fn tell(object: Ref, watched: &Watched) {
    let callback = *CALLBACK.get();
    if *IS_QUIET.get() {
        return;
    }
    let reader = PyEval_GetFrame();
    if reader.is_null() || PyInterpreterState_Get() != PyInterpreterState_Main() {
        return;
    }
    let code = PyFrame_GetCode(reader);
    let is_ours = codes::is_of_project(code);
    Py_DecRef(code);
    if !is_ours {
        return;
    }
    with_error_aside(|| {
        let frame = match (*object).kind == &raw mut PyTraceBack_Type {
            true => PyObject_GetAttrString(object, c"tb_frame".as_ptr()),
            false => {
                Py_IncRef(object);
                object
            }
        };
        if !frame.is_null() {
            let end: Ref = std::ptr::null_mut();
            let result = PyObject_CallFunctionObjArgs(callback, watched.name, frame, end);
            if !result.is_null() {
                Py_DecRef(result);
            }
            Py_DecRef(frame);
        }
        PyErr_Clear();
    });
}
