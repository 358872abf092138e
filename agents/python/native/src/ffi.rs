//! The part of CPython's C API that the helper uses.

use std::borrow::Cow;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};

/// The head of every Python object in builds with a GIL and without `Py_TRACE_REFS` (the
/// import refuses other builds).
#[repr(C)]
pub struct Object {
    refcount: isize,
    pub kind: *mut Object,
}

pub type Ref = *mut Object;
pub type Function = unsafe extern "C" fn(Ref, Ref) -> Ref;
pub type FastFunction = unsafe extern "C" fn(Ref, *const Ref, isize) -> Ref;
pub type KeywordFunction = unsafe extern "C" fn(Ref, Ref, Ref) -> Ref;

#[repr(C)]
pub struct MethodDef {
    pub name: *const c_char,
    pub callee: Option<Function>,
    pub flags: c_int,
    pub doc: *const c_char,
}

#[repr(C)]
pub struct FastMethodDef {
    pub name: *const c_char,
    pub callee: FastFunction,
    pub flags: c_int,
    pub doc: *const c_char,
}

#[repr(C)]
pub struct ModuleDef {
    pub refcount: isize,
    pub kind: *mut c_void,
    pub init: *mut c_void,
    pub index: isize,
    pub copy: *mut c_void,
    pub name: *const c_char,
    pub doc: *const c_char,
    pub size: isize,
    pub methods: *mut MethodDef,
    pub slots: *mut c_void,
    pub traverse: *mut c_void,
    pub clear: *mut c_void,
    pub free: *mut c_void,
}

pub const METH_VARARGS: c_int = 0x0001;
/// With `METH_VARARGS`: the callee is a `KeywordFunction`.
pub const METH_KEYWORDS: c_int = 0x0002;
pub const METH_FASTCALL: c_int = 0x0080;
/// The API version that CPython has declared since 3.0.
pub const API_VERSION: c_int = 1013;
/// Start symbol of the grammar: an expression; a file.
pub const EVAL_INPUT: c_int = 258;
pub const FILE_INPUT: c_int = 257;

// Exported by every supported version.
unsafe extern "C" {
    pub static mut PyByteArray_Type: Object;
    pub static mut PyCFunction_Type: Object;
    pub static mut PyBytes_Type: Object;
    pub static mut PyCell_Type: Object;
    pub static mut PyClassMethod_Type: Object;
    pub static mut PyCode_Type: Object;
    pub static mut PyComplex_Type: Object;
    pub static mut PyDict_Type: Object;
    pub static mut PyFloat_Type: Object;
    pub static mut PyFrame_Type: Object;
    pub static mut PyFrozenSet_Type: Object;
    pub static mut PyFunction_Type: Object;
    pub static mut PyList_Type: Object;
    pub static mut PyLong_Type: Object;
    pub static mut PyMemberDescr_Type: Object;
    pub static mut PyMethodDescr_Type: Object;
    pub static mut PyProperty_Type: Object;
    pub static mut PyGetSetDescr_Type: Object;
    pub static mut PyModule_Type: Object;
    pub static mut PyBaseObject_Type: Object;
    pub static mut PySet_Type: Object;
    pub static mut PyStaticMethod_Type: Object;
    pub static mut PyTraceBack_Type: Object;
    pub static mut PyTuple_Type: Object;
    pub static mut PyType_Type: Object;
    pub static mut PyUnicode_Type: Object;
    pub static mut _Py_NoneStruct: Object;
    pub static mut _Py_TrueStruct: Object;
    pub static mut _Py_FalseStruct: Object;
    pub static mut PyExc_BaseException: Ref;
    pub static mut PyExc_Exception: Ref;
    pub static mut PyExc_GeneratorExit: Ref;
    pub static mut PyExc_ImportError: Ref;
    pub static mut PyExc_RuntimeError: Ref;
    pub static mut PyExc_TypeError: Ref;
    pub static mut PyExc_IndexError: Ref;
    pub static mut PyExc_UnicodeError: Ref;

    pub fn PyArg_ParseTuple(args: Ref, format: *const c_char, ...) -> c_int;
    pub fn PyByteArray_AsString(bytes: Ref) -> *mut c_char;
    pub fn PyByteArray_Size(bytes: Ref) -> isize;
    pub fn PyBytes_AsString(bytes: Ref) -> *mut c_char;
    pub fn PyBytes_FromStringAndSize(bytes: *const c_char, size: isize) -> Ref;
    pub fn PyBytes_Size(bytes: Ref) -> isize;
    pub fn PyEval_GetBuiltins() -> Ref;
    pub fn PyFunction_GetGlobals(function: Ref) -> Ref;
    pub fn PyBool_FromLong(value: c_long) -> Ref;
    pub fn PyCFunction_NewEx(def: *mut FastMethodDef, this: Ref, module: Ref) -> Ref;
    pub fn PyCapsule_GetName(capsule: Ref) -> *const c_char;
    pub fn PyCode_NewEmpty(file: *const c_char, name: *const c_char, line: c_int) -> Ref;
    pub fn PyContextVar_Get(variable: Ref, default: Ref, value: *mut Ref) -> c_int;
    pub fn PyContextVar_New(name: *const c_char, default: Ref) -> Ref;
    pub fn PyDescr_NewGetSet(kind: Ref, definition: *mut c_void) -> Ref;
    pub fn PyType_Modified(kind: Ref);
    pub fn PyDict_GetItemString(dict: Ref, key: *const c_char) -> Ref;
    pub fn PyDict_GetItemWithError(dict: Ref, key: Ref) -> Ref;
    pub fn PyDict_New() -> Ref;
    pub fn PyDict_Next(dict: Ref, at: *mut isize, key: *mut Ref, value: *mut Ref) -> c_int;
    pub fn PyDict_Size(dict: Ref) -> isize;
    pub fn PyDict_SetItemString(dict: Ref, key: *const c_char, value: Ref) -> c_int;
    pub fn PyDict_SetItem(dict: Ref, key: Ref, value: Ref) -> c_int;
    pub fn PyErr_Clear();
    pub fn PyErr_ExceptionMatches(kind: Ref) -> c_int;
    pub fn PyErr_Fetch(kind: *mut Ref, value: *mut Ref, traceback: *mut Ref);
    pub fn PyErr_Occurred() -> Ref;
    pub fn PyErr_Restore(kind: Ref, value: Ref, traceback: Ref);
    pub fn PyErr_SetString(kind: Ref, text: *const c_char);
    pub fn PyEval_EvalCode(code: Ref, globals: Ref, locals: Ref) -> Ref;
    pub fn PyEval_GetFrame() -> Ref;
    pub fn PyFrame_GetBack(frame: Ref) -> Ref;
    pub fn PyFrame_GetCode(frame: Ref) -> Ref;
    /// A borrowed reference.
    pub fn PyFunction_GetCode(function: Ref) -> Ref;
    pub fn PyImport_ImportModule(name: *const c_char) -> Ref;
    pub fn PyImport_ImportModuleLevelObject(
        name: Ref,
        globals: Ref,
        locals: Ref,
        members: Ref,
        level: c_int,
    ) -> Ref;
    pub fn PyInterpreterState_Get() -> *mut c_void;
    pub fn PyInterpreterState_Main() -> *mut c_void;
    pub fn PyList_Append(list: Ref, item: Ref) -> c_int;
    pub fn PyList_New(len: isize) -> Ref;
    pub fn PyList_GetItem(list: Ref, at: isize) -> Ref;
    pub fn PyList_Size(list: Ref) -> isize;
    pub fn PyList_SetItem(list: Ref, at: isize, item: Ref) -> c_int;
    pub fn PyLong_AsLong(number: Ref) -> c_long;
    pub fn PyLong_AsLongLongAndOverflow(number: Ref, overflow: *mut c_int) -> i64;
    pub fn PyLong_FromLong(number: c_long) -> Ref;
    pub fn PyModule_AddIntConstant(module: Ref, name: *const c_char, value: c_long) -> c_int;
    pub fn PyModule_AddObject(module: Ref, name: *const c_char, value: Ref) -> c_int;
    pub fn PyModule_Create2(def: *mut ModuleDef, version: c_int) -> Ref;
    pub fn PyModule_GetDict(module: Ref) -> Ref;
    pub fn PyNumber_ToBase(number: Ref, base: c_int) -> Ref;
    pub fn PyObject_Call(callable: Ref, args: Ref, options: Ref) -> Ref;
    pub fn PyObject_CallFunctionObjArgs(callable: Ref, ...) -> Ref;
    pub fn PyObject_CallMethod(this: Ref, name: *const c_char, format: *const c_char, ...) -> Ref;
    pub fn PyObject_GenericGetDict(this: Ref, context: *mut c_void) -> Ref;
    pub fn PyObject_GetAttr(this: Ref, name: Ref) -> Ref;
    pub fn PyObject_GetAttrString(this: Ref, name: *const c_char) -> Ref;
    pub fn PyObject_SetAttrString(this: Ref, name: *const c_char, value: Ref) -> c_int;
    pub fn PySet_Add(set: Ref, item: Ref) -> c_int;
    pub fn PySet_Clear(set: Ref) -> c_int;
    pub fn PySet_Contains(set: Ref, item: Ref) -> c_int;
    pub fn PySet_Size(set: Ref) -> isize;
    pub fn PySet_New(items: Ref) -> Ref;
    pub fn PySys_AddAuditHook(
        hook: unsafe extern "C" fn(*const c_char, Ref, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub fn PySys_GetObject(name: *const c_char) -> Ref;
    pub fn PyThreadState_Get() -> *mut c_void;
    pub fn PyTuple_GetItem(tuple: Ref, at: isize) -> Ref;
    pub fn PyTuple_Pack(len: isize, ...) -> Ref;
    pub fn PyThread_get_thread_ident() -> usize;
    pub fn PyTuple_Size(tuple: Ref) -> isize;
    pub fn PyType_FromSpec(spec: *mut c_void) -> Ref;
    pub fn PyType_IsSubtype(a: Ref, b: Ref) -> c_int;
    pub fn PyUnicode_AsEncodedString(
        text: Ref,
        encoding: *const c_char,
        errors: *const c_char,
    ) -> Ref;
    pub fn PyUnicode_AsUTF8AndSize(text: Ref, size: *mut isize) -> *const c_char;
    pub fn PyUnicode_FindChar(
        text: Ref,
        sign: u32,
        start: isize,
        end: isize,
        direction: c_int,
    ) -> isize;
    pub fn PyUnicode_FromObject(text: Ref) -> Ref;
    pub fn PyUnicode_FromStringAndSize(text: *const c_char, size: isize) -> Ref;
    pub fn PyUnicode_InternFromString(text: *const c_char) -> Ref;
    pub fn PyWeakref_NewRef(object: Ref, callback: Ref) -> Ref;
    pub fn Py_BuildValue(format: *const c_char, ...) -> Ref;
    pub fn Py_CompileString(text: *const c_char, file: *const c_char, start: c_int) -> Ref;
    pub fn Py_DecRef(object: Ref);
    pub fn Py_GetRecursionLimit() -> c_int;
    pub fn Py_GetVersion() -> *const c_char;
    pub fn Py_IncRef(object: Ref);
    pub fn _PyObject_GetDictPtr(object: Ref) -> *mut Ref;

    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The address of a symbol that some versions do not export.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a null handle is RTLD_DEFAULT on Linux; the name is terminated.
    let address = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The first of several names of a function that this version exports.
pub fn either(names: &[&CStr]) -> Option<*mut c_void> {
    names.iter().find_map(|name| symbol(name))
}

/// A static variable that the GIL protects.
pub struct Global<T>(UnsafeCell<T>);

// SAFETY: only reached through `get`, whose callers hold the GIL.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub const fn new(value: T) -> Self {
        Global(UnsafeCell::new(value))
    }

    /// The value. The borrow must end before any Python code can run, because that code may
    /// come back here.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn get(&self) -> &mut T {
        &mut *self.0.get()
    }
}

/// (major, minor, patch) of the running interpreter.
pub fn version() -> (u32, u32, u32) {
    static VERSION: std::sync::OnceLock<(u32, u32, u32)> = std::sync::OnceLock::new();
    *VERSION.get_or_init(read_version)
}

fn read_version() -> (u32, u32, u32) {
    // SAFETY: a static, terminated text.
    let text = unsafe { CStr::from_ptr(Py_GetVersion()) }.to_bytes();
    let mut numbers = text
        .split(|byte| !byte.is_ascii_digit())
        .map(|digits| digits.iter().fold(0, |n, d| n * 10 + u32::from(d - b'0')));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

/// The word at `offset` bytes from `base`.
pub unsafe fn word<T>(base: *const T, offset: isize) -> usize {
    *base.cast::<u8>().offset(offset).cast::<usize>()
}

/// How many references to `object` there are; a very large number if it never goes. The half of
/// the word has the count in all versions, and the other half other things from 3.14 on.
pub unsafe fn references(object: Ref) -> usize {
    (*object).refcount as u32 as usize
}

/// Offsets in `PyTypeObject`: a public struct, the same in all versions.
pub mod type_object {
    use super::{Ref, word};

    const VAR_SIZE: isize = 16;
    const BASICSIZE: isize = 32;
    const ITEMSIZE: isize = 40;
    const VECTORCALL_OFFSET: isize = 56;
    const HASH: isize = 120;
    const FLAGS: isize = 168;
    const RICHCOMPARE: isize = 200;
    const WEAKLISTOFFSET: isize = 208;
    const BASE: isize = 256;
    const DICT: isize = 264;
    const DESCR_GET: isize = 272;
    const DESCR_SET: isize = 280;
    const DICTOFFSET: isize = 288;
    const INIT: isize = 296;
    const NEW: isize = 312;
    const DEL: isize = 376;
    const FINALIZE: isize = 392;
    const VECTORCALL: isize = 400;

    pub const INLINE_VALUES: usize = 1 << 2;
    pub const MANAGED_WEAKREF: usize = 1 << 3;
    pub const MANAGED_DICT: usize = 1 << 4;
    pub const HEAP_TYPE: usize = 1 << 9;
    pub const HAVE_GC: usize = 1 << 14;
    pub const DICT_SUBCLASS: usize = 1 << 29;
    pub const TYPE_SUBCLASS: usize = 1 << 31;

    pub unsafe fn flags(kind: Ref) -> usize {
        word(kind, FLAGS)
    }
    pub unsafe fn basicsize(kind: Ref) -> isize {
        word(kind, BASICSIZE) as isize
    }
    pub unsafe fn itemsize(kind: Ref) -> isize {
        word(kind, ITEMSIZE) as isize
    }
    /// How many slots a class made by a `class` statement has.
    pub unsafe fn slots(kind: Ref) -> isize {
        word(kind, VAR_SIZE) as isize
    }
    pub unsafe fn vectorcall_offset(kind: Ref) -> isize {
        word(kind, VECTORCALL_OFFSET) as isize
    }
    pub unsafe fn weaklistoffset(kind: Ref) -> isize {
        word(kind, WEAKLISTOFFSET) as isize
    }
    /// Whether instances are equal to themselves only, by their place in memory.
    pub unsafe fn has_plain_equality(kind: Ref) -> bool {
        let plain = &raw mut super::PyBaseObject_Type;
        let is_plain = |slot| word(kind, slot) == word(plain, slot);
        is_plain(HASH) && is_plain(RICHCOMPARE)
    }
    /// Whether code runs before such an object goes.
    pub unsafe fn has_finalizer(kind: Ref) -> bool {
        word(kind, DEL) != 0 || word(kind, FINALIZE) != 0
    }
    pub unsafe fn dictoffset(kind: Ref) -> isize {
        word(kind, DICTOFFSET) as isize
    }
    pub unsafe fn descr_get(kind: Ref) -> usize {
        word(kind, DESCR_GET)
    }
    pub unsafe fn descr_set(kind: Ref) -> usize {
        word(kind, DESCR_SET)
    }
    pub unsafe fn base(kind: Ref) -> Ref {
        word(kind, BASE) as Ref
    }
    pub unsafe fn dict(kind: Ref) -> Ref {
        word(kind, DICT) as Ref
    }
    pub unsafe fn new(kind: Ref) -> usize {
        word(kind, NEW)
    }
    pub unsafe fn set_new(kind: Ref, function: usize) {
        *kind.byte_offset(NEW).cast::<usize>() = function;
    }
    pub unsafe fn init(kind: Ref) -> usize {
        word(kind, INIT)
    }
    /// Puts a function there; classes that are made later inherit it.
    pub unsafe fn set_init(kind: Ref, function: usize) {
        *kind.byte_offset(INIT).cast::<usize>() = function;
    }
    pub unsafe fn vectorcall(kind: Ref) -> usize {
        word(kind, VECTORCALL)
    }
    pub unsafe fn set_vectorcall(kind: Ref, function: usize) {
        *kind.byte_offset(VECTORCALL).cast::<usize>() = function;
    }
}

pub unsafe fn none() -> Ref {
    let none = &raw mut _Py_NoneStruct;
    Py_IncRef(none);
    none
}

/// Sets an exception; returns the null that tells Python about it.
pub unsafe fn raise(kind: Ref, text: &CStr) -> Ref {
    PyErr_SetString(kind, text.as_ptr());
    std::ptr::null_mut()
}

/// A list of numbers, or null with an exception.
pub unsafe fn list_of(numbers: &[u32]) -> Ref {
    let list = PyList_New(numbers.len() as isize);
    if list.is_null() {
        return list;
    }
    for (at, number) in numbers.iter().enumerate() {
        let number = PyLong_FromLong(c_long::from(*number));
        if number.is_null() {
            Py_DecRef(list);
            return number;
        }
        PyList_SetItem(list, at as isize, number);
    }
    list
}

/// The bytes of a text: UTF-8, with surrogates of undecodable bytes turned back into these
/// bytes. `None`, without an exception, if it cannot be encoded.
pub unsafe fn text_bytes(text: Ref) -> Option<Vec<u8>> {
    text_of(text).map(Cow::into_owned)
}

/// The same, mostly without a copy: the text must stay alive as long as what is returned.
pub unsafe fn text_of<'a>(text: Ref) -> Option<Cow<'a, [u8]>> {
    let mut size = 0;
    let utf8 = PyUnicode_AsUTF8AndSize(text, &mut size);
    if !utf8.is_null() {
        let bytes = std::slice::from_raw_parts(utf8.cast(), size as usize);
        return Some(Cow::Borrowed(bytes));
    }
    for errors in [c"surrogateescape", c"surrogatepass"] {
        PyErr_Clear();
        let bytes = PyUnicode_AsEncodedString(text, c"utf-8".as_ptr(), errors.as_ptr());
        if !bytes.is_null() {
            let start = PyBytes_AsString(bytes).cast();
            let copy = std::slice::from_raw_parts(start, PyBytes_Size(bytes) as usize).to_vec();
            Py_DecRef(bytes);
            return Some(Cow::Owned(copy));
        }
    }
    PyErr_Clear();
    None
}

/// The texts of a tuple of str, or None with an exception.
pub unsafe fn texts_of(tuple: Ref) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    for at in 0..PyTuple_Size(tuple) {
        let item = PyTuple_GetItem(tuple, at);
        if item.is_null() {
            return None;
        }
        match text_bytes_if_str(item) {
            Some(text) => texts.push(text),
            None => {
                raise(PyExc_TypeError, c"a tuple of str is needed");
                return None;
            }
        }
    }
    Some(texts)
}

unsafe fn text_bytes_if_str(item: Ref) -> Option<Vec<u8>> {
    if PyType_IsSubtype((*item).kind, &raw mut PyUnicode_Type) == 0 {
        return None;
    }
    text_bytes(item)
}

/// Saves the current exception while `work` runs.
pub unsafe fn with_error_aside<T>(work: impl FnOnce() -> T) -> T {
    let (mut kind, mut value, mut traceback) = [std::ptr::null_mut(); 3].into();
    PyErr_Fetch(&mut kind, &mut value, &mut traceback);
    let result = work();
    PyErr_Restore(kind, value, traceback);
    result
}
