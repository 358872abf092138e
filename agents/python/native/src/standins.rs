//! Replacements for functions that programs call all the time. For known arguments they run no
//! Python code of the agent.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::ffi::*;

/// `_tamis_native.Probe`: calls `_plain` if the first argument is a text in `_skipped`, or if
/// the test runner asks for itself by `_actors` (who runs code in a file, by its name).
/// Otherwise it calls `_seen`.
#[repr(C)]
struct Probe {
    head: Object,
    plain: Ref,
    skipped: Ref,
    seen: Ref,
    actors: Ref,
}

/// Callers farther up are left to `_seen`.
const MOST_FRAMES: usize = 16;

#[repr(C)]
struct Member {
    name: *const c_char,
    kind: c_int,
    offset: isize,
    flags: c_int,
    doc: *const c_char,
}

#[repr(C)]
struct Slot {
    id: c_int,
    value: *mut c_void,
}

#[repr(C)]
struct Spec {
    name: *const c_char,
    basicsize: c_int,
    itemsize: c_int,
    flags: c_uint,
    slots: *mut Slot,
}

/// `Py_T_OBJECT_EX`, `Py_tp_call`, `Py_tp_members`: the same in all versions.
const OBJECT_MEMBER: c_int = 16;
const CALL_SLOT: c_int = 50;
const MEMBERS_SLOT: c_int = 72;
/// `Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE`.
const FLAGS: c_uint = 1 << 18 | 1 << 10;

const fn member(name: &'static CStr, offset: usize) -> Member {
    Member {
        name: name.as_ptr(),
        kind: OBJECT_MEMBER,
        offset: offset as isize,
        flags: 0,
        doc: std::ptr::null(),
    }
}

static MEMBERS: Global<[Member; 5]> = Global::new([
    member(c"_plain", std::mem::offset_of!(Probe, plain)),
    member(c"_skipped", std::mem::offset_of!(Probe, skipped)),
    member(c"_seen", std::mem::offset_of!(Probe, seen)),
    member(c"_actors", std::mem::offset_of!(Probe, actors)),
    Member {
        name: std::ptr::null(),
        kind: 0,
        offset: 0,
        flags: 0,
        doc: std::ptr::null(),
    },
]);

/// The type, a new reference; null with an exception.
pub unsafe fn probe_type() -> Ref {
    let mut slots = [
        Slot {
            id: CALL_SLOT,
            value: call_probe as *mut c_void,
        },
        Slot {
            id: MEMBERS_SLOT,
            value: MEMBERS.get().as_mut_ptr().cast(),
        },
        Slot {
            id: 0,
            value: null_mut(),
        },
    ];
    let mut spec = Spec {
        name: c"_tamis_native.Probe".as_ptr(),
        basicsize: size_of::<Probe>() as c_int,
        itemsize: 0,
        flags: FLAGS,
        slots: slots.as_mut_ptr(),
    };
    PyType_FromSpec((&raw mut spec).cast())
}

unsafe extern "C" fn call_probe(this: Ref, args: Ref, options: Ref) -> Ref {
    let probe = &*this.cast::<Probe>();
    if probe.plain.is_null() || probe.skipped.is_null() || probe.seen.is_null() {
        return raise(PyExc_TypeError, c"this probe has nothing to call");
    }
    let mut target = probe.seen;
    if PyTuple_Size(args) > 0 {
        let first = PyTuple_GetItem(args, 0);
        if (*first).kind == &raw mut PyUnicode_Type {
            match PySet_Contains(probe.skipped, first) {
                0 => {}
                1 => target = probe.plain,
                _ => PyErr_Clear(),
            }
        }
    }
    if target == probe.seen && !probe.actors.is_null() && is_for_harness(probe.actors) {
        target = probe.plain;
    }
    // The called function may give the probe another target.
    Py_IncRef(target);
    let result = PyObject_Call(target, args, options);
    Py_DecRef(target);
    result
}

/// Whether the test runner calls, perhaps through the standard library. If in doubt, `false`.
unsafe fn is_for_harness(actors: Ref) -> bool {
    let words = WORDS.get();
    if words.harness.is_null() {
        words.harness = PyUnicode_InternFromString(c"harness".as_ptr());
        words.library = PyUnicode_InternFromString(c"stdlib".as_ptr());
        words.file = PyUnicode_InternFromString(c"co_filename".as_ptr());
    }
    let mut frame = PyEval_GetFrame();
    Py_IncRef(frame);
    let mut found = null_mut();
    for _ in 0..MOST_FRAMES {
        if frame.is_null() {
            break;
        }
        let code = PyFrame_GetCode(frame);
        let file = PyObject_GetAttr(code, words.file);
        Py_DecRef(code);
        // The agent's own words are interned, too.
        found = match file.is_null() {
            true => null_mut(),
            false => PyDict_GetItemWithError(actors, file),
        };
        Py_DecRef(file);
        if found.is_null() || found != words.library {
            break;
        }
        let back = PyFrame_GetBack(frame);
        Py_DecRef(frame);
        frame = back;
    }
    Py_DecRef(frame);
    if !PyErr_Occurred().is_null() {
        PyErr_Clear();
    }
    !found.is_null() && found == words.harness
}

struct Words {
    harness: Ref,
    library: Ref,
    file: Ref,
}

static WORDS: Global<Words> = Global::new(Words {
    harness: null_mut(),
    library: null_mut(),
    file: null_mut(),
});

struct Importer {
    agent: Ref,
    /// Imports if a call is not like that of an import statement.
    other: Ref,
    top: Ref,
    imports: Ref,
}

static IMPORTER: Global<Importer> = Global::new(Importer {
    agent: null_mut(),
    other: null_mut(),
    top: null_mut(),
    imports: null_mut(),
});

static IMPORT: Global<FastMethodDef> = Global::new(FastMethodDef {
    name: c"__import__".as_ptr(),
    callee: {
        // SAFETY: with these flags CPython calls it as what it is.
        unsafe { std::mem::transmute::<KeywordFunction, FastFunction>(import) }
    },
    flags: METH_VARARGS | METH_KEYWORDS,
    doc: std::ptr::null(),
});

/// A function that replaces the built-in `__import__`, as a new reference. It notes each
/// absolute import in `agent.top.imports`, and leaves the others to `other`. Null with an
/// exception.
pub unsafe fn importer(agent: Ref, other: Ref, builtins: Ref, doc: &CStr) -> Ref {
    let importer = IMPORTER.get();
    if importer.agent.is_null() {
        importer.top = PyUnicode_InternFromString(c"top".as_ptr());
        importer.imports = PyUnicode_InternFromString(c"imports".as_ptr());
        // It lives as long as the process.
        IMPORT.get().doc = doc.to_owned().into_raw();
    }
    if importer.top.is_null() || importer.imports.is_null() {
        return null_mut();
    }
    Py_IncRef(agent);
    Py_IncRef(other);
    let before = [
        std::mem::replace(&mut importer.agent, agent),
        std::mem::replace(&mut importer.other, other),
    ];
    for object in before {
        Py_DecRef(object);
    }
    let name = PyUnicode_InternFromString(c"builtins".as_ptr());
    let function = PyCFunction_NewEx(IMPORT.get(), builtins, name);
    Py_DecRef(name);
    function
}

/// `(name, globals, locals, fromlist, level)`.
unsafe extern "C" fn import(_: Ref, args: Ref, keywords: Ref) -> Ref {
    if keywords.is_null() && PyTuple_Size(args) == 5 {
        let argument = |at| PyTuple_GetItem(args, at);
        let (name, members, level) = (argument(0), argument(3), argument(4));
        if is_zero(level)
            // Import statements always give their globals.
            && argument(1) != &raw mut _Py_NoneStruct
            && (*name).kind == &raw mut PyUnicode_Type
            && (members == &raw mut _Py_NoneStruct || (*members).kind == &raw mut PyTuple_Type)
            && note_import(name, members, level)
        {
            let (globals, locals) = (argument(1), argument(2));
            return PyImport_ImportModuleLevelObject(name, globals, locals, members, 0);
        }
    }
    let other = IMPORTER.get().other;
    Py_IncRef(other);
    let result = PyObject_Call(other, args, keywords);
    if result.is_null() && (*other).kind == &raw mut PyFunction_Type {
        hide(PyFunction_GetCode(other));
    }
    Py_DecRef(other);
    result
}

/// Takes the outermost frame out of the traceback of the current exception if it runs `code`:
/// programs tell by the number of frames whether a module is missing or fails.
unsafe fn hide(code: Ref) {
    let (mut kind, mut value, mut traceback) = [null_mut(); 3].into();
    PyErr_Fetch(&mut kind, &mut value, &mut traceback);
    if !traceback.is_null() {
        let frame = PyObject_GetAttrString(traceback, c"tb_frame".as_ptr());
        let next = PyObject_GetAttrString(traceback, c"tb_next".as_ptr());
        let of = match frame.is_null() {
            true => null_mut(),
            false => PyFrame_GetCode(frame),
        };
        if of == code && !next.is_null() {
            let rest = match next == &raw mut _Py_NoneStruct {
                true => null_mut(),
                false => {
                    Py_IncRef(next);
                    next
                }
            };
            Py_DecRef(std::mem::replace(&mut traceback, rest));
        }
        Py_DecRef(of);
        Py_DecRef(frame);
        Py_DecRef(next);
        PyErr_Clear();
    }
    PyErr_Restore(kind, value, traceback);
}

unsafe fn is_zero(level: Ref) -> bool {
    if (*level).kind != &raw mut PyLong_Type {
        return false;
    }
    let level = PyLong_AsLong(level);
    if level == -1 {
        PyErr_Clear();
    }
    level == 0
}

/// `false` if that was not possible.
unsafe fn note_import(name: Ref, members: Ref, level: Ref) -> bool {
    let importer = IMPORTER.get();
    let top = PyObject_GetAttr(importer.agent, importer.top);
    if top.is_null() {
        PyErr_Clear();
        return false;
    }
    let imports = PyObject_GetAttr(top, importer.imports);
    Py_DecRef(top);
    let statement = PyTuple_Pack(4, name, &raw mut _Py_NoneStruct, members, level);
    let noted = !imports.is_null() && !statement.is_null() && PySet_Add(imports, statement) == 0;
    if !noted {
        // For example, an item of `members` cannot be hashed.
        PyErr_Clear();
    }
    Py_DecRef(imports);
    Py_DecRef(statement);
    noted
}
