//! Serial numbers: numbers that a class gives its objects in turn, and of which nobody reads more than
//! the order. An object that has the next one has the same value if the same import, or the same
//! test, made it as the same of its objects: see `docs/precision.md`.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

use crate::digest::layout::TYPE_NAME;
use crate::ffi::*;
use crate::frames::{self, GetSet};

/// A number of a class.
struct Serial {
    class: Ref,
    /// Under which it stands in its module.
    class_name: Vec<u8>,
    name: Vec<u8>,
    /// What it was when imports began and ended, from low to high.
    imports: Vec<i64>,
    /// What it was when tests began, with their names.
    tests: Vec<(i64, Vec<u8>)>,
    is_lost: bool,
}

type Get = unsafe extern "C" fn(Ref, *mut c_void) -> Ref;
type Set = unsafe extern "C" fn(Ref, Ref, *mut c_void) -> c_int;
type Method = unsafe extern "C" fn(Ref, Ref) -> Ref;
type New = unsafe extern "C" fn(Ref, Ref, Ref) -> Ref;

struct State {
    all: Vec<Serial>,
    /// Called when code gets or sets all that an object holds, or will get a number by its name; and
    /// with `True` when it sets one so.
    callback: Ref,
    /// Code that copies objects.
    copying: Ref,
    attributes: [Option<Get>; 2],
    setters: [Option<Set>; 2],
    methods: [Option<Method>; 2],
    /// Makes an `operator.attrgetter`.
    new: Option<New>,
}

static STATE: Global<State> = Global::new(State {
    all: Vec::new(),
    callback: null_mut(),
    copying: null_mut(),
    attributes: [None; 2],
    setters: [None; 2],
    methods: [None; 2],
    new: None,
});

/// Where an object was made that has a number: what its value has in the number's place.
pub enum Made {
    /// In which import, and as which there.
    ByImport(u64, u64),
    ByTest(Vec<u8>, u64),
}

/// Where an object of a class was made that has `value` under `name`; `None` if that is no serial
/// number.
pub unsafe fn made(kind: Ref, name: &[u8], value: Ref) -> Option<Made> {
    let all = &STATE.get().all;
    if all.is_empty() || value.is_null() || (*value).kind != &raw mut PyLong_Type {
        return None;
    }
    let serial = all.iter().find(|one| {
        !one.is_lost && one.name == name && unsafe { PyType_IsSubtype(kind, one.class) } != 0
    })?;
    let mut overflow = 0;
    let value = PyLong_AsLongLongAndOverflow(value, &raw mut overflow);
    if overflow != 0 {
        return None;
    }
    let tests = serial.tests.partition_point(|(first, _)| *first <= value);
    if let Some((first, test)) = tests.checked_sub(1).map(|at| &serial.tests[at]) {
        return Some(Made::ByTest(test.clone(), value.abs_diff(*first)));
    }
    let import = serial.imports.partition_point(|first| *first <= value);
    let first = import.checked_sub(1).map_or(0, |at| serial.imports[at]);
    // Below all it has a sign.
    Some(Made::ByImport(import as u64, (value - first) as u64))
}

/// `serial(class, name, callback, copying, attributes, methods, getter)`: `name` is a
/// serial number of `class` from now on. Returns its index. `callback()` is called when code that is not
/// in `copying` gets or sets all that an object of such a class holds: by `attributes`, descriptors of
/// `__dict__`, or by `methods` of all objects; and when it makes a `getter` (`operator.attrgetter`) of
/// the name, or a built-in function gets the attribute. `callback(True)`: it sets the attribute of some
/// object, or another class in the place of this one.
pub unsafe extern "C" fn serial(_: Ref, args: Ref) -> Ref {
    let (mut class, mut callback, mut copying) = (null_mut(), null_mut(), null_mut());
    let (mut attributes, mut methods, mut getter) = (null_mut(), null_mut(), null_mut());
    let mut name: *const c_char = std::ptr::null();
    if PyArg_ParseTuple(
        args,
        c"O!sOO!O!O!O!:serial".as_ptr(),
        &raw mut PyType_Type,
        &raw mut class,
        &raw mut name,
        &raw mut callback,
        &raw mut PyTuple_Type,
        &raw mut copying,
        &raw mut PyTuple_Type,
        &raw mut attributes,
        &raw mut PyTuple_Type,
        &raw mut methods,
        &raw mut PyType_Type,
        &raw mut getter,
    ) == 0
    {
        return null_mut();
    }
    if STATE.get().callback.is_null() {
        watch(attributes, methods, getter);
    }
    for (place, new) in [
        (&raw mut STATE.get().callback, callback),
        (&raw mut STATE.get().copying, copying),
    ] {
        Py_IncRef(new);
        Py_DecRef(std::mem::replace(&mut *place, new));
    }
    Py_IncRef(class);
    let all = &mut STATE.get().all;
    let class_name = std::ffi::CStr::from_ptr(word(class, TYPE_NAME) as *const c_char);
    all.push(Serial {
        class,
        class_name: class_name.to_bytes().to_vec(),
        name: std::ffi::CStr::from_ptr(name).to_bytes().to_vec(),
        imports: Vec::new(),
        tests: Vec::new(),
        is_lost: false,
    });
    PyLong_FromLong(all.len() as std::ffi::c_long - 1)
}

/// `serial_is(index, value, test)`: the number has this value as an import begins or ends, or as `test`
/// begins, if that is not `None`. `False` if it was higher before, or `value` is `None`: from then on
/// it is a number like any other.
pub unsafe extern "C" fn serial_is(_: Ref, args: Ref) -> Ref {
    let mut index: c_int = 0;
    let (mut value, mut test): (Ref, Ref) = (null_mut(), null_mut());
    let format = c"iOO:serial_is".as_ptr();
    if PyArg_ParseTuple(args, format, &raw mut index, &raw mut value, &raw mut test) == 0 {
        return null_mut();
    }
    let Some(serial) = STATE.get().all.get_mut(index as usize) else {
        return raise(PyExc_IndexError, c"no number has this index");
    };
    let mut overflow = 1;
    let is_whole = (*value).kind == &raw mut PyLong_Type;
    let value = match is_whole {
        true => PyLong_AsLongLongAndOverflow(value, &raw mut overflow),
        false => 0,
    };
    let last = match serial.tests.last() {
        Some((last, _)) => Some(last),
        None => serial.imports.last(),
    };
    serial.is_lost |= overflow != 0 || last.is_some_and(|last| *last > value);
    let test = match (*test).kind == &raw mut PyUnicode_Type {
        true => text_of(test),
        false => None,
    };
    match test {
        _ if serial.is_lost => {}
        Some(test) => {
            // What made no object has none.
            serial.tests.pop_if(|(last, _)| *last == value);
            serial.tests.push((value, test.to_vec()));
        }
        None if last == Some(&value) => {}
        None => serial.imports.push(value),
    }
    let answer = match serial.is_lost {
        true => &raw mut _Py_FalseStruct,
        false => &raw mut _Py_TrueStruct,
    };
    Py_IncRef(answer);
    answer
}

/// Puts functions in the places of those in C that get all that an object holds, and of what makes a
/// `getter`.
unsafe fn watch(attributes: Ref, methods: Ref, getter: Ref) {
    let state = STATE.get();
    let getters: [Get; 2] = [get::<0>, get::<1>];
    let setters: [Set; 2] = [set::<0>, set::<1>];
    for at in 0..PyTuple_Size(attributes) {
        let definition = word(PyTuple_GetItem(attributes, at), frames::GETSET) as *mut GetSet;
        if getters.contains(&(*definition).get) {
            continue;
        }
        state.attributes[at as usize] = Some((*definition).get);
        (*definition).get = getters[at as usize];
        state.setters[at as usize] = (*definition).set;
        (*definition).set = (*definition).set.and(Some(setters[at as usize]));
    }
    let callees: [Method; 2] = [call::<0>, call::<1>];
    for at in 0..PyTuple_Size(methods) {
        let definition = word(PyTuple_GetItem(methods, at), frames::GETSET) as *mut Definition;
        state.methods[at as usize] = Some((*definition).callee);
        (*definition).callee = callees[at as usize];
    }
    // SAFETY: the signature of the slot.
    state.new = Some(std::mem::transmute::<usize, New>(type_object::new(getter)));
    type_object::set_new(getter, new as New as usize);
}

/// `PyMethodDef`.
#[repr(C)]
struct Definition {
    name: *const c_char,
    callee: Method,
}

unsafe extern "C" fn get<const AT: usize>(object: Ref, closure: *mut c_void) -> Ref {
    tell(object);
    match STATE.get().attributes[AT] {
        Some(get) => get(object, closure),
        None => raise(PyExc_RuntimeError, c"nothing is replaced"),
    }
}

unsafe extern "C" fn set<const AT: usize>(object: Ref, value: Ref, closure: *mut c_void) -> c_int {
    tell(object);
    match STATE.get().setters[AT] {
        Some(set) => set(object, value, closure),
        None => -1,
    }
}

unsafe extern "C" fn call<const AT: usize>(object: Ref, argument: Ref) -> Ref {
    tell(object);
    match STATE.get().methods[AT] {
        Some(callee) => callee(object, argument),
        None => raise(PyExc_RuntimeError, c"nothing is replaced"),
    }
}

unsafe extern "C" fn new(kind: Ref, arguments: Ref, options: Ref) -> Ref {
    for at in 0..PyTuple_Size(arguments) {
        let argument = PyTuple_GetItem(arguments, at);
        let is_text = (*argument).kind == &raw mut PyUnicode_Type;
        let text = is_text.then(|| text_of(argument)).flatten();
        let mut parts = text
            .iter()
            .flat_map(|text| text.split(|byte| *byte == b'.'));
        let all = &STATE.get().all;
        if parts.any(|part| all.iter().any(|one| one.name == part)) && frames::is_told() {
            call_back(false);
        }
    }
    match STATE.get().new {
        Some(new) => new(kind, arguments, options),
        None => raise(PyExc_RuntimeError, c"nothing is replaced"),
    }
}

unsafe fn tell(object: Ref) {
    let state = STATE.get();
    let kind = (*object).kind;
    let has_number = |one: &Serial| unsafe { PyType_IsSubtype(kind, one.class) } != 0;
    if state.all.iter().any(has_number) && frames::is_told() && !is_copied() {
        call_back(false);
    }
}

pub unsafe fn are_there() -> bool {
    !STATE.get().all.is_empty()
}

/// A built-in function gets an attribute of an object, whoever calls it.
pub unsafe fn tell_got(object: Ref, name: &[u8]) {
    let is_it = |one: &Serial| {
        let classes = [(*object).kind, object];
        let is_class = type_object::flags((*object).kind) & type_object::TYPE_SUBCLASS != 0;
        let mut classes = classes.into_iter().take(1 + usize::from(is_class));
        one.name == name && classes.any(|class| unsafe { PyType_IsSubtype(class, one.class) } != 0)
    };
    if STATE.get().all.iter().any(is_it) && frames::is_told() {
        call_back(false);
    }
}

/// It sets or deletes one.
pub unsafe fn tell_set(object: Ref, name: &[u8]) {
    let is_module = (*object).kind == &raw mut PyModule_Type;
    let is_it = |one: &Serial| one.name == name || is_module && one.class_name == name;
    if STATE.get().all.iter().any(is_it) && frames::is_told() {
        call_back(true);
    }
}

unsafe fn call_back(is_set: bool) {
    with_error_aside(|| {
        let is_set = match is_set {
            true => &raw mut _Py_TrueStruct,
            false => &raw mut _Py_FalseStruct,
        };
        let end: Ref = null_mut();
        let answer = PyObject_CallFunctionObjArgs(STATE.get().callback, is_set, end);
        Py_DecRef(answer);
        PyErr_Clear();
    });
}

/// Whether code runs that only copies objects: copies keep their numbers.
unsafe fn is_copied() -> bool {
    let frame = PyEval_GetFrame();
    if frame.is_null() {
        return false;
    }
    let code = PyFrame_GetCode(frame);
    let copying = STATE.get().copying;
    let mut each = (0..PyTuple_Size(copying)).map(|at| PyTuple_GetItem(copying, at));
    let is_copied = each.any(|one| one == code);
    Py_DecRef(code);
    is_copied
}
