//! Objects of which a callback is told once in each epoch.

use std::collections::BTreeSet;

use crate::codes;
use crate::ffi::*;

pub struct Told {
    callback: Ref,
    /// The addresses of objects that were told since the current epoch began. They are held.
    told: BTreeSet<usize>,
    epoch: u32,
}

impl Told {
    pub const fn new() -> Told {
        Told {
            callback: std::ptr::null_mut(),
            told: BTreeSet::new(),
            epoch: 0,
        }
    }
}

/// Calls `callback(object)` from now on. A second call replaces the callback.
pub unsafe fn watch(of: &Global<Told>, callback: Ref) {
    Py_IncRef(callback);
    let before = std::mem::replace(&mut of.get().callback, callback);
    Py_DecRef(before);
}

pub unsafe fn is_watched(of: &Global<Told>) -> bool {
    !of.get().callback.is_null()
}

/// Tells of `object`. If the callback answers with `True`, it need not be told again in this epoch,
/// and stays alive as long. Returns whether that is so; `None` if it answers with neither.
pub unsafe fn tell(of: &Global<Told>, object: Ref) -> Option<bool> {
    let state = of.get();
    if state.callback.is_null() {
        return None;
    }
    if state.epoch != codes::epoch() {
        state.epoch = codes::epoch();
        // What dies now may run code that tells of others.
        for object in std::mem::take(&mut state.told) {
            Py_DecRef(object as Ref);
        }
    }
    if of.get().told.contains(&(object as usize)) {
        return Some(true);
    }
    with_error_aside(|| {
        let end: Ref = std::ptr::null_mut();
        let answer = PyObject_CallFunctionObjArgs(of.get().callback, object, end);
        let is_told = answer == &raw mut _Py_TrueStruct;
        let is_no = answer == &raw mut _Py_FalseStruct;
        if is_told && of.get().told.insert(object as usize) {
            Py_IncRef(object);
        }
        Py_DecRef(answer);
        PyErr_Clear();
        (is_told || is_no).then_some(is_told)
    })
}
