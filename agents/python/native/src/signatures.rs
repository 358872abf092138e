//! Tells who asks functions of the project for how they can be called, and which calls did not fit.
//! Any other call of a function runs its code.

use std::ffi::c_int;

use crate::codes;
use crate::ffi::*;
use crate::frames;

type Init = unsafe extern "C" fn(Ref, Ref, Ref) -> c_int;
type Vectorcall = unsafe extern "C" fn(Ref, *const Ref, usize, Ref) -> Ref;

struct State {
    /// `callback(function)` or `callback(text)`.
    callback: Ref,
    /// What `TypeError` had in its slots.
    init: usize,
    vectorcall: usize,
}

static STATE: Global<State> = Global::new(State {
    callback: std::ptr::null_mut(),
    init: 0,
    vectorcall: 0,
});

/// The bits of a vectorcall's number of arguments.
const ARGUMENTS: usize = usize::MAX >> 1;

/// What follows the name of a function where a call did not fit its signature.
const UNFIT: [&[u8]; 3] = [b"() got ", b"() missing ", b"() takes "];

/// Calls `callback(function)` from now on when any code gets the code, the defaults or the closure
/// of a function of the project, and `callback(name)`, the qualified one, when a `TypeError` says
/// that a call of a function did not fit. A second call replaces the callback.
pub unsafe fn watch(callback: Ref) {
    Py_IncRef(callback);
    let before = std::mem::replace(&mut STATE.get().callback, callback);
    if !before.is_null() {
        return Py_DecRef(before);
    }
    let errors = PyExc_TypeError;
    let state = STATE.get();
    state.init = type_object::init(errors);
    state.vectorcall = type_object::vectorcall(errors);
    type_object::set_init(errors, init as Init as usize);
    if state.vectorcall != 0 {
        type_object::set_vectorcall(errors, vectorcall as Vectorcall as usize);
    }
}

unsafe extern "C" fn init(error: Ref, arguments: Ref, options: Ref) -> c_int {
    // SAFETY: the signature of the slot.
    let plain = std::mem::transmute::<usize, Init>(STATE.get().init);
    let result = plain(error, arguments, options);
    if result == 0 && PyTuple_Size(arguments) > 0 {
        look(PyTuple_GetItem(arguments, 0));
    }
    result
}

unsafe extern "C" fn vectorcall(kind: Ref, arguments: *const Ref, count: usize, names: Ref) -> Ref {
    // SAFETY: the signature of the slot.
    let plain = std::mem::transmute::<usize, Vectorcall>(STATE.get().vectorcall);
    let result = plain(kind, arguments, count, names);
    if !result.is_null() && count & ARGUMENTS > 0 {
        look(*arguments);
    }
    result
}

/// Tells the name of a function from the text of an error if that is about its signature.
unsafe fn look(text: Ref) {
    if (*text).kind != &raw mut PyUnicode_Type || !frames::is_told() {
        return;
    }
    with_error_aside(|| {
        let Some(bytes) = text_of(text) else { return };
        let at = bytes.windows(2).position(|two| two == b"()");
        if let Some(at) = at.filter(|at| UNFIT.iter().any(|end| bytes[*at..].starts_with(end))) {
            let name = PyUnicode_FromStringAndSize(bytes.as_ptr().cast(), at as isize);
            call(name);
            Py_DecRef(name);
        }
        PyErr_Clear();
    });
}

/// Some code gets the code, the defaults or the closure of a function.
pub unsafe fn tell(function: Ref) {
    if codes::is_written_in_project(PyFunction_GetCode(function)) {
        with_error_aside(|| {
            call(function);
            PyErr_Clear();
        });
    }
}

unsafe fn call(about: Ref) {
    let end: Ref = std::ptr::null_mut();
    let result = PyObject_CallFunctionObjArgs(STATE.get().callback, about, end);
    if !result.is_null() {
        Py_DecRef(result);
    }
}
