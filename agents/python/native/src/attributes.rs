//! Tells by which names code of the project asks objects for attributes, by functions in the place
//! of the built-in ones that take a name.

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use crate::ffi::*;
use crate::{codes, formats, frames, serials};

/// Which of them answers with what has the name.
const GETTER: usize = 0;
const SETTER: usize = 2;
const DELETER: usize = 3;

/// Each takes an object and a name.
const REPLACED: [&CStr; 4] = [c"getattr", c"hasattr", c"setattr", c"delattr"];

struct State {
    callback: Ref,
    /// What was told since the current epoch began, of the first of them and of the others: sets.
    told: Ref,
    met: Ref,
    epoch: u32,
    /// Code of the standard library that asks for names that somebody gives it.
    copying: Ref,
    plain: [Option<FastFunction>; 4],
    /// They live as long as the process.
    made: [FastMethodDef; 4],
}

const EMPTY: FastMethodDef = FastMethodDef {
    name: std::ptr::null(),
    callee: call::<0>,
    flags: METH_FASTCALL,
    doc: std::ptr::null(),
};

static STATE: Global<State> = Global::new(State {
    callback: null_mut(),
    told: null_mut(),
    met: null_mut(),
    epoch: 0,
    copying: null_mut(),
    plain: [None; 4],
    made: [EMPTY; 4],
});

/// `PyCFunctionObject`: definition, bound object, name of the module. Public up to 3.14.
const DEFINITION: isize = 16;
const BOUND: isize = 24;
const MODULE: isize = 32;

/// Calls `callback(name, is_got)` from now on whenever code of the project asks for a name that was
/// not told in this epoch; if it answers with `True`, the name was told. `is_got` is `True` or `None`,
/// and `False` for a text by which it formats, with attributes in it. A second call replaces the
/// callback. `Some(false)` if the functions in `builtins` or the methods of texts are others than
/// known, and nothing is replaced; `None` with an exception.
///
/// Code in `copying` counts like the project's, but for names that begin with two underlines.
pub unsafe fn watch(callback: Ref, builtins: Ref, copying: Ref) -> Option<bool> {
    let state = STATE.get();
    Py_IncRef(copying);
    Py_DecRef(std::mem::replace(&mut state.copying, copying));
    Py_IncRef(callback);
    let before = std::mem::replace(&mut state.callback, callback);
    Py_DecRef(before);
    if !state.told.is_null() {
        return Some(true);
    }
    let mut plain = [null_mut(); 4];
    for (name, place) in REPLACED.iter().zip(&mut plain) {
        // The module holds it.
        *place = PyObject_GetAttrString(builtins, name.as_ptr());
        Py_DecRef(*place);
        PyErr_Clear();
    }
    if !plain.into_iter().all(|function| is_known(function)) || !formats::watch() {
        return Some(false);
    }
    state.told = PySet_New(null_mut());
    state.met = PySet_New(null_mut());
    if state.told.is_null() || state.met.is_null() {
        return None;
    }
    let callees: [FastFunction; 4] = [call::<0>, call::<1>, call::<2>, call::<3>];
    for (at, function) in plain.into_iter().enumerate() {
        let definition = &*(word(function, DEFINITION) as *const FastMethodDef);
        state.plain[at] = Some(definition.callee);
        state.made[at] = FastMethodDef {
            callee: callees[at],
            ..*definition
        };
        let [bound, module] = [BOUND, MODULE].map(|offset| word(function, offset) as Ref);
        let made = PyCFunction_NewEx(&raw mut state.made[at], bound, module);
        let is_set =
            !made.is_null() && PyObject_SetAttrString(builtins, REPLACED[at].as_ptr(), made) == 0;
        Py_DecRef(made);
        if !is_set {
            return None;
        }
    }
    Some(true)
}

unsafe fn is_known(function: Ref) -> bool {
    !function.is_null()
        && (*function).kind == &raw mut PyCFunction_Type
        && (*(word(function, DEFINITION) as *const FastMethodDef)).flags == METH_FASTCALL
}

unsafe extern "C" fn call<const AT: usize>(this: Ref, args: *const Ref, count: isize) -> Ref {
    if count >= 2 {
        tell(*args, *args.add(1), AT);
    }
    match STATE.get().plain[AT] {
        Some(plain) => plain(this, args, count),
        None => raise(PyExc_RuntimeError, c"nothing is replaced"),
    }
}

unsafe fn tell(object: Ref, name: Ref, at: usize) {
    let kind = (*object).kind;
    // No class of a program leads to what these have.
    let is_data = [
        &raw mut PyUnicode_Type,
        &raw mut PyBytes_Type,
        &raw mut PyLong_Type,
        &raw mut PyFloat_Type,
        &raw mut PyList_Type,
        &raw mut PyDict_Type,
        &raw mut PyTuple_Type,
        &raw mut PySet_Type,
    ];
    let is_text = (*name).kind == &raw mut PyUnicode_Type;
    if is_data.contains(&kind) || !is_text && !is_text_of_class(name) {
        return;
    }
    if serials::are_there()
        && let Some(text) = text_of(name)
    {
        match at {
            GETTER => serials::tell_got(object, &text),
            SETTER | DELETER => serials::tell_set(object, &text),
            _ => {}
        }
    }
    if is_text && at == GETTER {
        frames::tell_asked(object, name);
    }
    let (told, is_got) = match at == GETTER {
        true => (STATE.get().told, &raw mut _Py_TrueStruct),
        false => (STATE.get().met, &raw mut _Py_NoneStruct),
    };
    tell_once(name, told, is_got);
}

/// Code formats by a text with attributes.
pub unsafe fn tell_text(text: Ref) {
    // A name has no braces.
    tell_once(text, STATE.get().told, &raw mut _Py_FalseStruct);
}

unsafe fn tell_once(name: Ref, told: Ref, is_got: Ref) {
    let state = STATE.get();
    if state.epoch != codes::epoch() {
        state.epoch = codes::epoch();
        PySet_Clear(state.told);
        PySet_Clear(state.met);
    }
    let is_text = (*name).kind == &raw mut PyUnicode_Type;
    if is_text && PySet_Contains(told, name) == 1 {
        return;
    }
    if !frames::is_project_asking() && !is_copied(name) {
        return;
    }
    with_error_aside(|| {
        // For one of a class of its own its text, without asking that class.
        let text = PyUnicode_FromObject(name);
        let end: Ref = null_mut();
        let answer = match text.is_null() {
            true => null_mut(),
            false => PyObject_CallFunctionObjArgs(state.callback, text, is_got, end),
        };
        if answer == &raw mut _Py_TrueStruct {
            PySet_Add(told, text);
        }
        Py_DecRef(answer);
        Py_DecRef(text);
        PyErr_Clear();
    });
}

/// Whether `functools.update_wrapper` asks for more than it does by itself.
unsafe fn is_copied(name: Ref) -> bool {
    let frame = PyEval_GetFrame();
    if frame.is_null() {
        return false;
    }
    let code = PyFrame_GetCode(frame);
    let is_copying = code == STATE.get().copying;
    Py_DecRef(code);
    is_copying && text_of(name).is_some_and(|name| !name.starts_with(b"__"))
}

unsafe fn is_text_of_class(name: Ref) -> bool {
    PyType_IsSubtype((*name).kind, &raw mut PyUnicode_Type) as c_int != 0
}
