//! A native audit hook that only passes on the events that the agent wants.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};

use crate::ffi::*;

struct Filter {
    callback: Ref,
    /// The name, and the same as a Python text.
    names: Vec<(Vec<u8>, Ref)>,
    /// Whether any wanted name begins with this byte: most events end here.
    first: [bool; 256],
    installed: bool,
    faults: u32,
    finalizing: Option<unsafe extern "C" fn() -> c_int>,
}

static FILTER: Global<Filter> = Global::new(Filter {
    callback: std::ptr::null_mut(),
    names: Vec::new(),
    first: [false; 256],
    installed: false,
    faults: 0,
    finalizing: None,
});

thread_local! {
    /// Whether this thread is in the callback.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" fn hook(event: *const c_char, args: Ref, _: *mut c_void) -> c_int {
    let filter = FILTER.get();
    if args.is_null()
        || filter.callback.is_null()
        || !filter.first[usize::from(*event.cast::<u8>())]
        || PyInterpreterState_Get() != PyInterpreterState_Main()
    {
        return 0;
    }
    let event = CStr::from_ptr(event).to_bytes();
    match filter.names.iter().find(|(name, _)| name == event) {
        Some((_, name)) => pass_on(*name, args),
        None => 0,
    }
}

#[inline(never)]
unsafe fn pass_on(name: Ref, args: Ref) -> c_int {
    if BUSY.replace(true) {
        return 0;
    }
    let mut verdict = 0;
    let filter = FILTER.get();
    if filter.finalizing.is_none_or(|finalizing| finalizing() == 0) {
        verdict = call(filter.callback, name, args);
    }
    BUSY.set(false);
    verdict
}

unsafe fn call(callback: Ref, name: Ref, args: Ref) -> c_int {
    // The callback may be replaced while it runs.
    Py_IncRef(callback);
    Py_IncRef(name);
    let (mut kind, mut value, mut traceback) = [std::ptr::null_mut(); 3].into();
    PyErr_Fetch(&mut kind, &mut value, &mut traceback);
    let end: Ref = std::ptr::null_mut();
    let result = PyObject_CallFunctionObjArgs(callback, name, args, end);
    let mut verdict = 0;
    if !result.is_null() {
        Py_DecRef(result);
    } else if PyErr_ExceptionMatches(PyExc_Exception) != 0 {
        PyErr_Clear();
        FILTER.get().faults += 1;
    } else {
        // This is not an error of the callback: a signal handler stopped the program during
        // this event.
        verdict = -1;
    }
    if verdict == 0 {
        PyErr_Restore(kind, value, traceback);
    } else {
        Py_DecRef(kind);
        Py_DecRef(value);
        Py_DecRef(traceback);
    }
    Py_DecRef(callback);
    Py_DecRef(name);
    verdict
}

/// Sets the callback (null for none) and the names. `false`, with an exception, if the hook
/// cannot be installed.
pub unsafe fn set(callback: Ref, names: Vec<Vec<u8>>) -> bool {
    let mut pairs = Vec::with_capacity(names.len());
    for name in names {
        let text = PyUnicode_FromStringAndSize(name.as_ptr().cast(), name.len() as isize);
        if text.is_null() {
            return false;
        }
        pairs.push((name, text));
    }
    let filter = FILTER.get();
    filter.finalizing = either(&[c"Py_IsFinalizing", c"_Py_IsFinalizing"])
        // SAFETY: both take nothing and return an int.
        .map(|f| std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(f));
    filter.first = [false; 256];
    for (name, _) in &pairs {
        filter.first[usize::from(name.first().copied().unwrap_or(0))] = true;
    }
    let old_names = std::mem::replace(&mut filter.names, pairs);
    Py_IncRef(callback);
    let old_callback = std::mem::replace(&mut filter.callback, callback);
    let installed = filter.installed;
    filter.installed = true;
    for (_, name) in old_names {
        Py_DecRef(name);
    }
    Py_DecRef(old_callback);
    installed || PySys_AddAuditHook(hook, std::ptr::null_mut()) == 0
}

/// How many exceptions of the callback were dropped since the last call.
pub unsafe fn take_faults() -> u32 {
    std::mem::take(&mut FILTER.get().faults)
}
