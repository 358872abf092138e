//! The functions by which the agent is told who asks frames, functions, classes and other objects for
//! what they have.

use std::ffi::c_long;
use std::ptr::null_mut;

use crate::ffi::*;
use crate::module::in_main;
use crate::{attributes, frames};

pub unsafe extern "C" fn watch_frames(_: Ref, args: Ref) -> Ref {
    let mut told: [Ref; 6] = [null_mut(); 6];
    let [
        frames,
        docstrings,
        annotations,
        members,
        signatures,
        class_docs,
    ] = &mut told;
    if !in_main()
        || PyArg_ParseTuple(
            args,
            c"OOOOOO:watch_frames".as_ptr(),
            std::ptr::from_mut(frames),
            std::ptr::from_mut(docstrings),
            std::ptr::from_mut(annotations),
            std::ptr::from_mut(members),
            std::ptr::from_mut(signatures),
            std::ptr::from_mut(class_docs),
        ) == 0
    {
        return null_mut();
    }
    match frames::watch(told) {
        true => none(),
        false => null_mut(),
    }
}

pub unsafe extern "C" fn watch_attributes(_: Ref, args: Ref) -> Ref {
    let (mut callback, mut builtins, mut copying) = (null_mut(), null_mut(), null_mut());
    let is_parsed = PyArg_ParseTuple(
        args,
        c"OOO:watch_attributes".as_ptr(),
        &raw mut callback,
        &raw mut builtins,
        &raw mut copying,
    );
    if !in_main() || is_parsed == 0 {
        return null_mut();
    }
    match attributes::watch(callback, builtins, copying) {
        Some(is_watched) => PyBool_FromLong(c_long::from(is_watched)),
        None => null_mut(),
    }
}
