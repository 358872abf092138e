//! The module and its functions.

use std::ffi::{CStr, c_char, c_int, c_long};
use std::ptr::null_mut;

use crate::ffi::*;
use crate::{
    aged, audit, closings, codes, digest, eval_frame, frames, monitoring, outliving, serials,
    standins, trace, watch, watching,
};

/// How code is being recorded.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Off,
    EvalFrame,
    Monitoring,
}

static MODE: Global<Mode> = Global::new(Mode::Off);
static STARTED_BEFORE: Global<bool> = Global::new(false);

/// The newest minor version that was checked.
const NEWEST: u32 = 14;

/// Refuses, with an exception, in another interpreter than the main one.
pub unsafe fn in_main() -> bool {
    let main = PyInterpreterState_Get() == PyInterpreterState_Main();
    if !main {
        raise(
            PyExc_RuntimeError,
            c"tamis records the main interpreter only",
        );
    }
    main
}

unsafe extern "C" fn start(_: Ref, args: Ref) -> Ref {
    let (mut prefixes, mut excludes): (Ref, Ref) = (null_mut(), null_mut());
    let tuple = &raw mut PyTuple_Type;
    let format = c"O!O!:start".as_ptr();
    if !in_main()
        || PyArg_ParseTuple(
            args,
            format,
            tuple,
            &raw mut prefixes,
            tuple,
            &raw mut excludes,
        ) == 0
    {
        return null_mut();
    }
    let (Some(prefixes), Some(excludes)) = (texts_of(prefixes), texts_of(excludes)) else {
        return null_mut();
    };
    if *MODE.get() != Mode::Off {
        return raise(PyExc_RuntimeError, c"recording has started already");
    }
    let again = std::mem::replace(STARTED_BEFORE.get(), true);
    if !codes::prepare(prefixes, excludes) {
        return raise(
            PyExc_RuntimeError,
            c"code objects of this interpreter are not understood",
        );
    }
    let (mode, name) = if version().1 >= 12 {
        (
            monitoring::start(again).then_some(Mode::Monitoring),
            c"monitoring",
        )
    } else {
        (
            eval_frame::start().then_some(Mode::EvalFrame),
            c"eval-frame",
        )
    };
    let Some(mode) = mode else {
        return raise(
            PyExc_RuntimeError,
            c"this interpreter has no hook for every call",
        );
    };
    *MODE.get() = mode;
    PyUnicode_FromStringAndSize(name.as_ptr(), name.count_bytes() as isize)
}

unsafe extern "C" fn stop(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":stop".as_ptr()) == 0 {
        return null_mut();
    }
    match std::mem::replace(MODE.get(), Mode::Off) {
        Mode::Off => {}
        Mode::EvalFrame => eval_frame::stop(),
        Mode::Monitoring => monitoring::stop(),
    }
    none()
}

unsafe extern "C" fn swap(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":swap".as_ptr()) == 0 {
        return null_mut();
    }
    codes::swap()
}

unsafe extern "C" fn swap_text(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":swap_text".as_ptr()) == 0 {
        return null_mut();
    }
    match codes::swap_text() {
        Some(text) => PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as isize),
        None => none(),
    }
}

unsafe extern "C" fn between(_: Ref, args: Ref) -> Ref {
    let mut is_between: c_int = 0;
    if !in_main() || PyArg_ParseTuple(args, c"p:between".as_ptr(), &raw mut is_between) == 0 {
        return null_mut();
    }
    closings::between(is_between != 0);
    none()
}

unsafe extern "C" fn ignore(_: Ref, args: Ref) -> Ref {
    let mut number: c_int = 0;
    if !in_main() || PyArg_ParseTuple(args, c"i:ignore".as_ptr(), &raw mut number) == 0 {
        return null_mut();
    }
    if number >= 0 {
        codes::ignore(number as u32);
    }
    none()
}

unsafe extern "C" fn definitions(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":definitions".as_ptr()) == 0 {
        return null_mut();
    }
    codes::definitions()
}

unsafe extern "C" fn lost(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":lost".as_ptr()) == 0 {
        return null_mut();
    }
    let in_place = match *MODE.get() {
        Mode::Off => true,
        Mode::EvalFrame => eval_frame::is_in_place(),
        Mode::Monitoring => monitoring::is_in_place(),
    };
    if !in_place {
        codes::lose("another tool took the place of the recording hook");
    }
    match codes::take_lost() {
        Some(why) => PyUnicode_FromStringAndSize(why.as_ptr().cast(), why.len() as isize),
        None => none(),
    }
}

unsafe extern "C" fn write_through(_: Ref, args: Ref) -> Ref {
    let (mut fd, mut scope): (c_int, c_long) = (-1, 0);
    let format = c"i|l:write_through".as_ptr();
    if !in_main() || PyArg_ParseTuple(args, format, &raw mut fd, &raw mut scope) == 0 {
        return null_mut();
    }
    if fd < 0 {
        trace::close();
        return none();
    }
    match trace::open(fd, scope) {
        Some(new_file) => codes::flush_to_trace(new_file),
        None => {
            return raise(
                PyExc_RuntimeError,
                c"the trace's file descriptor is not open",
            );
        }
    }
    none()
}

unsafe extern "C" fn append(_: Ref, args: Ref) -> Ref {
    let (mut fd, mut device, mut inode): (c_int, u64, u64) = (-1, 0, 0);
    let mut bytes: Ref = null_mut();
    if PyArg_ParseTuple(
        args,
        c"iKKO!:append".as_ptr(),
        &raw mut fd,
        &raw mut device,
        &raw mut inode,
        &raw mut PyBytes_Type,
        &raw mut bytes,
    ) == 0
    {
        return null_mut();
    }
    let start = PyBytes_AsString(bytes).cast();
    let bytes = std::slice::from_raw_parts(start, PyBytes_Size(bytes) as usize);
    PyLong_FromLong(trace::append(fd, (device, inode), bytes) as c_long)
}

unsafe extern "C" fn set_audit(_: Ref, args: Ref) -> Ref {
    let (mut callback, mut names): (Ref, Ref) = (null_mut(), null_mut());
    let format = c"OO!:audit".as_ptr();
    let tuple = &raw mut PyTuple_Type;
    if !in_main() || PyArg_ParseTuple(args, format, &raw mut callback, tuple, &raw mut names) == 0 {
        return null_mut();
    }
    let Some(names) = texts_of(names) else {
        return null_mut();
    };
    if callback == &raw mut _Py_NoneStruct {
        callback = null_mut();
    }
    if !audit::set(callback, names) {
        if PyErr_Occurred().is_null() {
            raise(PyExc_RuntimeError, c"the audit hook could not be installed");
        }
        return null_mut();
    }
    none()
}

unsafe extern "C" fn audit_faults(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":audit_faults".as_ptr()) == 0 {
        return null_mut();
    }
    PyLong_FromLong(c_long::from(audit::take_faults()))
}

unsafe extern "C" fn importer(_: Ref, args: Ref) -> Ref {
    let (mut agent, mut other, mut builtins): (Ref, Ref, Ref) =
        (null_mut(), null_mut(), null_mut());
    let mut doc: *const c_char = std::ptr::null();
    if !in_main()
        || PyArg_ParseTuple(
            args,
            c"OOOs:importer".as_ptr(),
            &raw mut agent,
            &raw mut other,
            &raw mut builtins,
            &raw mut doc,
        ) == 0
    {
        return null_mut();
    }
    standins::importer(agent, other, builtins, CStr::from_ptr(doc))
}

unsafe extern "C" fn watch_add(_: Ref, args: Ref) -> Ref {
    let (mut object, mut weak): (Ref, c_int) = (null_mut(), 0);
    let format = c"O|i:watch_add".as_ptr();
    if !in_main() || PyArg_ParseTuple(args, format, &raw mut object, &raw mut weak) == 0 {
        return null_mut();
    }
    match watch::add(object, weak != 0) {
        Some(index) => PyLong_FromLong(c_long::from(index)),
        None => none(),
    }
}

unsafe extern "C" fn watch_changed(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":watch_changed".as_ptr()) == 0 {
        return null_mut();
    }
    list_of(&watch::changed())
}

unsafe extern "C" fn watch_keys(_: Ref, args: Ref) -> Ref {
    let mut index: c_int = 0;
    if !in_main() || PyArg_ParseTuple(args, c"i:watch_keys".as_ptr(), &raw mut index) == 0 {
        return null_mut();
    }
    if index < 0 || !watch::has_index(index as u32) {
        return raise(PyExc_IndexError, c"nothing is watched under this index");
    }
    match watch::keys(index as u32) {
        Some(keys) => keys,
        None => none(),
    }
}

unsafe extern "C" fn watch_held(_: Ref, args: Ref) -> Ref {
    let (mut index, mut most): (c_int, c_int) = (0, 0);
    let format = c"ii:watch_held".as_ptr();
    if !in_main() || PyArg_ParseTuple(args, format, &raw mut index, &raw mut most) == 0 {
        return null_mut();
    }
    if index < 0 || most < 0 || !watch::has_index(index as u32) {
        return raise(PyExc_IndexError, c"nothing is watched under this index");
    }
    match watch::held(index as u32, most as usize) {
        Some(held) => held,
        None => none(),
    }
}

unsafe extern "C" fn watch_clear(_: Ref, args: Ref) -> Ref {
    if !in_main() || PyArg_ParseTuple(args, c":watch_clear".as_ptr()) == 0 {
        return null_mut();
    }
    watch::clear();
    none()
}

unsafe extern "C" fn filled_add(_: Ref, args: Ref) -> Ref {
    let (mut object, mut number): (Ref, c_int) = (null_mut(), 0);
    let format = c"Oi:filled_add".as_ptr();
    if !in_main() || PyArg_ParseTuple(args, format, &raw mut object, &raw mut number) == 0 {
        return null_mut();
    }
    let is_noted = number >= 0 && outliving::add(object, number as u32);
    PyBool_FromLong(c_long::from(is_noted))
}

unsafe extern "C" fn filled_take(_: Ref, args: Ref) -> Ref {
    let mut most: c_int = 0;
    if !in_main() || PyArg_ParseTuple(args, c"i:filled_take".as_ptr(), &raw mut most) == 0 {
        return null_mut();
    }
    let (numbers, objects) = outliving::take(most.max(0) as usize);
    if objects.is_null() {
        return raise(PyExc_RuntimeError, c"no memory for a list");
    }
    let numbers = list_of(&numbers);
    let both = match numbers.is_null() {
        true => null_mut(),
        false => PyTuple_Pack(2, numbers, objects),
    };
    for list in [numbers, objects] {
        if !list.is_null() {
            Py_DecRef(list);
        }
    }
    both
}

unsafe extern "C" fn filled_met(_: Ref, args: Ref) -> Ref {
    let mut objects: Ref = null_mut();
    let [mut young, mut ours, mut hidden]: [Ref; 3] = [null_mut(); 3];
    let list = &raw mut PyList_Type;
    let mut most: c_int = 0;
    if !in_main()
        || PyArg_ParseTuple(
            args,
            c"O!O!O!O!i:filled_met".as_ptr(),
            list,
            &raw mut objects,
            list,
            &raw mut young,
            list,
            &raw mut ours,
            list,
            &raw mut hidden,
            &raw mut most,
        ) == 0
    {
        return null_mut();
    }
    let most = most.max(0) as usize;
    list_of(&outliving::are_met(objects, [young, ours, hidden], most))
}

unsafe extern "C" fn aged_note(_: Ref, args: Ref) -> Ref {
    let [mut first, mut second]: [Ref; 2] = [null_mut(); 2];
    let list = &raw mut PyList_Type;
    let mut most: c_int = 0;
    if !in_main()
        || PyArg_ParseTuple(
            args,
            c"O!O!i:aged_note".as_ptr(),
            list,
            &raw mut first,
            list,
            &raw mut second,
            &raw mut most,
        ) == 0
    {
        return null_mut();
    }
    aged::note([first, second], most.max(0) as usize);
    none()
}

unsafe extern "C" fn aged_found(_: Ref, _: Ref) -> Ref {
    if !in_main() {
        return null_mut();
    }
    let found = aged::found();
    match found.is_null() {
        true => raise(PyExc_RuntimeError, c"no memory for a list"),
        false => found,
    }
}

unsafe extern "C" fn aged_forget(_: Ref, _: Ref) -> Ref {
    if !in_main() {
        return null_mut();
    }
    aged::forget();
    none()
}

unsafe extern "C" fn referrers(_: Ref, args: Ref) -> Ref {
    let (mut among, mut held): (Ref, Ref) = (null_mut(), null_mut());
    let (list, tuple) = (&raw mut PyList_Type, &raw mut PyTuple_Type);
    if !in_main()
        || PyArg_ParseTuple(
            args,
            c"O!O!".as_ptr(),
            list,
            &raw mut among,
            tuple,
            &raw mut held,
        ) == 0
    {
        return null_mut();
    }
    match outliving::referrers(among, held) {
        found if found.is_null() => raise(PyExc_RuntimeError, c"no memory for a list"),
        found => found,
    }
}

unsafe extern "C" fn cells(_: Ref, args: Ref) -> Ref {
    let (mut roots, mut places, mut late): (Ref, Ref, Ref) = (null_mut(), null_mut(), null_mut());
    let tuple = &raw mut PyTuple_Type;
    let mut naming: c_int = 0;
    if !in_main()
        || PyArg_ParseTuple(
            args,
            c"O!|O!iO!:cells".as_ptr(),
            tuple,
            &raw mut roots,
            tuple,
            &raw mut places,
            &raw mut naming,
            tuple,
            &raw mut late,
        ) == 0
    {
        return null_mut();
    }
    let naming = match naming {
        1 => digest::Naming::Kept,
        2 => digest::Naming::Known,
        3 => digest::Naming::Address,
        _ => digest::Naming::Own,
    };
    frames::quietly(|| digest::cells(roots, places, naming, late))
}

const fn method(name: &'static CStr, callee: Function) -> MethodDef {
    MethodDef {
        name: name.as_ptr(),
        callee: Some(callee),
        flags: METH_VARARGS,
        doc: std::ptr::null(),
    }
}

static METHODS: Global<[MethodDef; 31]> = Global::new([
    method(c"start", start),
    method(c"stop", stop),
    method(c"swap", swap),
    method(c"swap_text", swap_text),
    method(c"between", between),
    method(c"ignore", ignore),
    method(c"definitions", definitions),
    method(c"lost", lost),
    method(c"write_through", write_through),
    method(c"append", append),
    method(c"audit", set_audit),
    method(c"watch_attributes", watching::watch_attributes),
    method(c"watch_frames", watching::watch_frames),
    method(c"audit_faults", audit_faults),
    method(c"importer", importer),
    method(c"watch_add", watch_add),
    method(c"watch_changed", watch_changed),
    method(c"watch_keys", watch_keys),
    method(c"watch_held", watch_held),
    method(c"watch_clear", watch_clear),
    method(c"filled_add", filled_add),
    method(c"filled_take", filled_take),
    method(c"filled_met", filled_met),
    method(c"aged_note", aged_note),
    method(c"aged_found", aged_found),
    method(c"aged_forget", aged_forget),
    method(c"referrers", referrers),
    method(c"cells", cells),
    method(c"serial", serials::serial),
    method(c"serial_is", serials::serial_is),
    MethodDef {
        name: std::ptr::null(),
        callee: None,
        flags: 0,
        doc: std::ptr::null(),
    },
]);

static MODULE: Global<ModuleDef> = Global::new(ModuleDef {
    refcount: 1,
    kind: null_mut(),
    init: null_mut(),
    index: 0,
    copy: null_mut(),
    name: c"_tamis_native".as_ptr(),
    doc: c"What the Python agent of tamis needs at native speed.".as_ptr(),
    size: -1,
    methods: null_mut(),
    slots: null_mut(),
    traverse: null_mut(),
    clear: null_mut(),
    free: null_mut(),
});

/// Why this interpreter is not supported.
unsafe fn refusal() -> Option<&'static CStr> {
    let text = CStr::from_ptr(Py_GetVersion());
    let free_threaded = text
        .to_bytes()
        .windows(14)
        .any(|at| at == b"free-threading")
        || symbol(c"PyUnstable_Module_SetGIL").is_some();
    match version() {
        _ if free_threaded => Some(c"tamis: free-threaded builds are not supported"),
        (3, 9..=NEWEST, _) => None,
        _ => Some(c"tamis: this Python version is not supported"),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PyInit__tamis_native() -> Ref {
    if let Some(why) = refusal() {
        return raise(PyExc_ImportError, why);
    }
    let traced: *const c_char = c"getobjects".as_ptr();
    if !PySys_GetObject(traced).is_null() {
        return raise(
            PyExc_ImportError,
            c"tamis: Py_TRACE_REFS builds are not supported",
        );
    }
    if PyInterpreterState_Get() != PyInterpreterState_Main() {
        return raise(
            PyExc_ImportError,
            c"tamis records the main interpreter only",
        );
    }
    let def = MODULE.get();
    def.methods = METHODS.get().as_mut_ptr();
    let module = PyModule_Create2(def, API_VERSION);
    if module.is_null() {
        return module;
    }
    PyModule_AddIntConstant(module, c"SHIFT".as_ptr(), c_long::from(trace::SHIFT));
    let probe = standins::probe_type();
    if probe.is_null() || PyModule_AddObject(module, c"Probe".as_ptr(), probe) != 0 {
        Py_DecRef(probe);
        Py_DecRef(module);
        return null_mut();
    }
    module
}
