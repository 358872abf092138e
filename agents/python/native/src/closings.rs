//! Generators that end between two tests because nobody holds them any more: a traceback or a
//! cycle of objects kept them for a while.
//!
//! What runs then belongs to the turn of the next test, which begins when the one before ends. If
//! it counted for the session, every test would need it.

use crate::codes;
use crate::ffi::*;

/// What ran between two tests; `None` while one runs.
static BETWEEN: Global<Option<Vec<u32>>> = Global::new(None);

/// Says whether it is the time between two tests. What ended in it belongs to whatever runs now.
pub unsafe fn between(is_between: bool) {
    let ran = std::mem::replace(BETWEEN.get(), is_between.then(Vec::new));
    for number in ran.into_iter().flatten() {
        codes::touch_number(number, std::ptr::null_mut());
    }
}

/// Whether it waits for the next test that `code` was resumed with an exception of this class.
/// Only if nothing else of the project runs: what a hook closes may count for all tests.
#[inline(always)]
pub unsafe fn waits(code: Ref, exception: Ref) -> bool {
    BETWEEN.get().is_some() && exception == PyExc_GeneratorExit && note(code)
}

#[cold]
#[inline(never)]
unsafe fn note(code: Ref) -> bool {
    let Some(number) = codes::number(code).filter(|_| is_alone(code)) else {
        return false;
    };
    if let Some(ran) = BETWEEN.get()
        && !ran.contains(&number)
    {
        ran.push(number);
    }
    true
}

/// Whether no code of the project runs but, on top, `code`.
unsafe fn is_alone(code: Ref) -> bool {
    let mut frame = PyEval_GetFrame();
    Py_IncRef(frame);
    let mut is_alone = true;
    let mut is_top = true;
    while is_alone && !frame.is_null() {
        let running = PyFrame_GetCode(frame);
        is_alone = is_top && running == code || !codes::is_of_project(running);
        is_top = false;
        Py_DecRef(running);
        let back = PyFrame_GetBack(frame);
        Py_DecRef(frame);
        frame = back;
    }
    Py_DecRef(frame);
    is_alone
}
