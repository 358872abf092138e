//! Recording on 3.12 and later: native callbacks for `sys.monitoring`.
//!
//! Events stay enabled in project code, so a new epoch costs nothing. Disabling them and
//! calling `restart_events` would instrument all code again at each test.

use std::ffi::{CStr, c_long};

use crate::ffi::*;
use crate::{closings, codes};

const NAME: &CStr = c"tamis";
/// Ids without a fixed meaning come first; 5 is the optimizer's, 2 the profiler's.
const TOOL_IDS: [c_long; 4] = [4, 3, 5, 2];

struct Tool {
    id: c_long,
    events: c_long,
    disable: Ref,
    /// `sys.monitoring.get_events`, and `id` as its argument.
    get_events: Ref,
    argument: Ref,
}

static TOOL: Global<Option<Tool>> = Global::new(None);

static ENTER: Global<FastMethodDef> = Global::new(FastMethodDef {
    name: c"_tamis_enter".as_ptr(),
    callee: enter,
    flags: METH_FASTCALL,
    doc: std::ptr::null(),
});
static THROW: Global<FastMethodDef> = Global::new(FastMethodDef {
    name: c"_tamis_throw".as_ptr(),
    callee: throw,
    flags: METH_FASTCALL,
    doc: std::ptr::null(),
});

// SAFETY: the pointers in it are to static text.
unsafe impl Sync for FastMethodDef {}

/// (code, offset): a call or a resumption.
unsafe extern "C" fn enter(_: Ref, args: *const Ref, count: isize) -> Ref {
    if count >= 1
        && !codes::touch(*args)
        && let Some(tool) = TOOL.get()
    {
        Py_IncRef(tool.disable);
        return tool.disable;
    }
    none()
}

/// (code, offset, exception): a resumption by `throw` or `close`. This event cannot be
/// disabled.
unsafe extern "C" fn throw(_: Ref, args: *const Ref, count: isize) -> Ref {
    if count >= 3 && closings::waits(*args, (**args.add(2)).kind) {
        return none();
    }
    if count >= 1 {
        codes::touch(*args);
    }
    none()
}

/// Registers the callbacks. `false`, without an exception, if that fails.
pub unsafe fn start(again: bool) -> bool {
    let started = try_start(again).is_some();
    if !started {
        PyErr_Clear();
        stop();
    }
    started
}

unsafe fn try_start(again: bool) -> Option<()> {
    let monitoring = module()?;
    let id = TOOL_IDS.into_iter().find(|id| {
        call(
            monitoring,
            c"use_tool_id",
            c"ls",
            *id,
            NAME.as_ptr() as usize,
        )
        .is_some()
    })?;
    let disable = PyObject_GetAttrString(monitoring, c"DISABLE".as_ptr());
    let names = PyObject_GetAttrString(monitoring, c"events".as_ptr());
    if disable.is_null() || names.is_null() {
        return None;
    }
    *TOOL.get() = Some(Tool {
        id,
        events: 0,
        disable,
        get_events: PyObject_GetAttrString(monitoring, c"get_events".as_ptr()),
        argument: PyLong_FromLong(id),
    });
    let mut events = 0;
    for (name, def) in [
        (c"PY_START", &ENTER),
        (c"PY_RESUME", &ENTER),
        (c"PY_THROW", &THROW),
    ] {
        let event = integer(PyObject_GetAttrString(names, name.as_ptr()))?;
        let function = PyCFunction_NewEx(def.get(), std::ptr::null_mut(), std::ptr::null_mut());
        let registered = PyObject_CallMethod(
            monitoring,
            c"register_callback".as_ptr(),
            c"llO".as_ptr(),
            id,
            event,
            function,
        );
        Py_DecRef(function);
        if registered.is_null() {
            return None;
        }
        Py_DecRef(registered);
        events |= event;
    }
    Py_DecRef(names);
    call(monitoring, c"set_events", c"ll", id, events as usize)?;
    if again {
        // Code that an earlier start judged to be outside was disabled.
        call(monitoring, c"restart_events", c"", 0, 0)?;
    }
    TOOL.get().as_mut()?.events = events;
    Some(())
}

/// Removes the callbacks.
pub unsafe fn stop() {
    let Some(tool) = TOOL.get().take() else {
        return;
    };
    if let Some(monitoring) = module()
        && call(monitoring, c"set_events", c"ll", tool.id, 0).is_some()
    {
        call(monitoring, c"free_tool_id", c"l", tool.id, 0);
    }
    PyErr_Clear();
    for object in [tool.disable, tool.get_events, tool.argument] {
        Py_DecRef(object);
    }
}

/// Whether the tool id and its events are still ours.
pub unsafe fn is_in_place() -> bool {
    let Some(tool) = TOOL.get() else {
        return false;
    };
    if tool.get_events.is_null() || tool.argument.is_null() {
        PyErr_Clear();
        return false;
    }
    let end: Ref = std::ptr::null_mut();
    let events = PyObject_CallFunctionObjArgs(tool.get_events, tool.argument, end);
    let in_place = integer(events) == Some(tool.events);
    PyErr_Clear();
    in_place
}

unsafe fn module() -> Option<Ref> {
    let module = PySys_GetObject(c"monitoring".as_ptr());
    (!module.is_null()).then_some(module)
}

/// Calls a function of `sys.monitoring` with up to two arguments; `None` without an exception
/// if it raised one.
unsafe fn call(module: Ref, name: &CStr, format: &CStr, a: c_long, b: usize) -> Option<()> {
    let result = PyObject_CallMethod(module, name.as_ptr(), format.as_ptr(), a, b);
    if result.is_null() {
        PyErr_Clear();
        return None;
    }
    Py_DecRef(result);
    Some(())
}

/// The value of the integer `object`; releases the reference.
unsafe fn integer(object: Ref) -> Option<c_long> {
    if object.is_null() {
        return None;
    }
    let number = PyLong_AsLong(object);
    Py_DecRef(object);
    Some(number)
}
