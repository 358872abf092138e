//! Tells of classes of which code gets all members at once: `vars(C)`, `dir(C)`, `C.__dict__`.

use std::collections::BTreeSet;

use crate::codes;
use crate::ffi::*;

struct State {
    callback: Ref,
    /// The addresses of classes that were told since the current epoch began. They are held.
    told: BTreeSet<usize>,
    epoch: u32,
}

static STATE: Global<State> = Global::new(State {
    callback: std::ptr::null_mut(),
    told: BTreeSet::new(),
    epoch: 0,
});

/// Calls `callback(class)` from now on; if it answers with `True`, the class need not be told again in
/// this epoch, and stays alive as long. A second call replaces the callback.
pub unsafe fn watch(callback: Ref) {
    Py_IncRef(callback);
    let before = std::mem::replace(&mut STATE.get().callback, callback);
    Py_DecRef(before);
}

/// Some code gets the members of `class`.
pub unsafe fn tell(class: Ref) {
    let state = STATE.get();
    if state.callback.is_null() {
        return;
    }
    if state.epoch != codes::epoch() {
        state.epoch = codes::epoch();
        // What dies now may run code that asks for members.
        for class in std::mem::take(&mut state.told) {
            Py_DecRef(class as Ref);
        }
    }
    if STATE.get().told.contains(&(class as usize)) {
        return;
    }
    with_error_aside(|| {
        let end: Ref = std::ptr::null_mut();
        let answer = PyObject_CallFunctionObjArgs(STATE.get().callback, class, end);
        if answer == &raw mut _Py_TrueStruct && STATE.get().told.insert(class as usize) {
            Py_IncRef(class);
        }
        Py_DecRef(answer);
        PyErr_Clear();
    });
}
