//! Tells the texts by which `str.format` and `str.format_map` read attributes, by functions in the
//! place of those that the class has.

use std::ffi::{CStr, c_int};

use crate::attributes;
use crate::ffi::*;

/// `PyMethodDescrObject`: its definition, the same in all versions.
const DEFINITION: isize = 40;
const METH_O: c_int = 0x0008;

const REPLACED: [(&CStr, c_int); 2] = [
    (c"format", METH_VARARGS | METH_KEYWORDS),
    (c"format_map", METH_O),
];

struct State {
    plain: [Option<FastFunction>; 2],
    /// They live as long as the process.
    made: [Option<FastMethodDef>; 2],
}

static STATE: Global<State> = Global::new(State {
    plain: [None; 2],
    made: [const { None }; 2],
});

/// From now on tells [`attributes::tell_text`]. `false`, and nothing is replaced, if the methods are
/// others than known.
pub unsafe fn watch() -> bool {
    let kind = &raw mut PyUnicode_Type;
    let methods = REPLACED.map(|(name, _)| {
        // The class holds it.
        let method = PyObject_GetAttrString(kind, name.as_ptr());
        Py_DecRef(method);
        PyErr_Clear();
        method
    });
    let known = methods.iter().zip(REPLACED);
    let are_known = known.clone().all(|(method, (_, flags))| {
        !method.is_null()
            && (**method).kind == &raw mut PyMethodDescr_Type
            && (*definition(*method)).flags == flags
    });
    if !are_known {
        return false;
    }
    let state = STATE.get();
    // SAFETY: with their flags CPython calls them as what they are.
    let callees: [FastFunction; 2] = [
        std::mem::transmute::<KeywordFunction, FastFunction>(format),
        std::mem::transmute::<ObjectFunction, FastFunction>(format_map),
    ];
    for (at, method) in methods.into_iter().enumerate() {
        let before = &*definition(method);
        state.plain[at] = Some(before.callee);
        let made = state.made[at].insert(FastMethodDef {
            callee: callees[at],
            ..*before
        });
        let place = method.cast::<u8>().offset(DEFINITION);
        *place.cast::<*mut FastMethodDef>() = made;
    }
    true
}

unsafe fn definition(method: Ref) -> *const FastMethodDef {
    word(method, DEFINITION) as *const FastMethodDef
}

/// A method with one argument.
type ObjectFunction = unsafe extern "C" fn(Ref, Ref) -> Ref;

unsafe extern "C" fn format(text: Ref, args: Ref, options: Ref) -> Ref {
    tell(text);
    match STATE.get().plain[0] {
        // SAFETY: its flags say so.
        Some(plain) => {
            std::mem::transmute::<FastFunction, KeywordFunction>(plain)(text, args, options)
        }
        None => raise(PyExc_RuntimeError, c"nothing is replaced"),
    }
}

unsafe extern "C" fn format_map(text: Ref, names: Ref) -> Ref {
    tell(text);
    match STATE.get().plain[1] {
        // SAFETY: its flags say so.
        Some(plain) => std::mem::transmute::<FastFunction, ObjectFunction>(plain)(text, names),
        None => raise(PyExc_RuntimeError, c"nothing is replaced"),
    }
}

unsafe fn tell(text: Ref) {
    if PyType_IsSubtype((*text).kind, &raw mut PyUnicode_Type) == 0 {
        // The method says what is wrong.
        return;
    }
    let find = |sign: char, from| PyUnicode_FindChar(text, sign as u32, from, isize::MAX, 1);
    let begin = find('{', 0);
    if begin >= 0 && find('.', begin) >= 0 {
        attributes::tell_text(text);
    }
}
