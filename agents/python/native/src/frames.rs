//! Tells what code of the project asks frames, tracebacks, code and functions for, and who asks
//! functions for their docstrings, by descriptors in the place of those of their types.

use std::ffi::{CStr, c_int, c_void};

use crate::codes;
use crate::digest::dict_of;
use crate::ffi::*;
use crate::{docs, members, signatures};

type Get = unsafe extern "C" fn(Ref, Ref, Ref) -> Ref;
type Set = unsafe extern "C" fn(Ref, Ref, Ref) -> c_int;

type Getter = unsafe extern "C" fn(Ref, *mut c_void) -> Ref;

/// `PyGetSetDef`.
#[repr(C)]
pub struct GetSet {
    name: *const std::ffi::c_char,
    pub get: Getter,
    pub set: Option<unsafe extern "C" fn(Ref, Ref, *mut c_void) -> c_int>,
    doc: *const std::ffi::c_char,
    closure: *mut c_void,
}

/// `PyGetSetDescrObject.d_getset`, and `PyMethodDescrObject.d_method`: after the head of the object come its
/// type and two names.
pub const GETSET: isize = 40;

/// By what classes tell annotations; modules, too, but for the last.
const OF_CLASSES: [&CStr; 3] = [c"__annotations__", c"__annotate__", c"__dict__"];

/// What code spells that gets them.
const SPELLED: [&CStr; 4] = [
    c"__annotations__",
    c"__annotate__",
    c"__annotate_func__",
    c"__annotations_cache__",
];

/// What has the text of a dataclass's annotations, too.
const FIELDS: &CStr = c"__dataclass_fields__";

/// What says how a function can be called.
const SIGNATURE: [&CStr; 4] = [
    c"__code__",
    c"__defaults__",
    c"__kwdefaults__",
    c"__closure__",
];

/// An attribute that is watched.
struct Watched {
    name: Ref,
    /// The type's own descriptor.
    plain: Ref,
    /// Tells of an object that it was asked, and of what it answered.
    tell: unsafe fn(Ref, Ref, &Watched),
}

static CALLBACK: Global<Ref> = Global::new(std::ptr::null_mut());
static OF_DOCSTRINGS: Global<Ref> = Global::new(std::ptr::null_mut());
static OF_ANNOTATIONS: Global<Ref> = Global::new(std::ptr::null_mut());

/// The names in `SPELLED`.
static NAMES: Global<[Ref; 4]> = Global::new([std::ptr::null_mut(); 4]);

/// The name in `FIELDS`.
static FIELDS_NAME: Global<Ref> = Global::new(std::ptr::null_mut());

/// Whether this helper itself asks, on behalf of nobody.
static IS_QUIET: Global<bool> = Global::new(false);

/// Tells nothing while `work` runs.
pub unsafe fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let before = std::mem::replace(IS_QUIET.get(), true);
    let result = work();
    *IS_QUIET.get() = before;
    result
}

/// Tells `callback` from now on: `callback(name, frame)` (or code, or a function) when code of the
/// project gets the attribute; and `of_docstrings(function, text)`, or `(code, constants)`, when
/// any code gets these; `of_annotations(function, annotations)` likewise. `false`, with an exception,
/// if the types have no such attributes.
///
/// `of_annotations` is also told of classes, with their annotations or their members, and modules;
/// of other objects that are asked for annotations by a built-in function, of all that are asked so for
/// the fields of a dataclass (with that name), and of code outside the
/// project that spells these, when it first runs: both with `None`. `of_members(class)` when any code
/// gets the members of a class. `of_signatures`: see [`signatures::watch`]; `of_class_docs`: see
/// [`docs::watch`].
pub unsafe fn watch(told: [Ref; 6]) -> bool {
    let [
        callback,
        of_docstrings,
        of_annotations,
        of_members,
        of_signatures,
        of_class_docs,
    ] = told;
    members::watch(of_members);
    signatures::watch(of_signatures);
    if !docs::watch(of_class_docs) {
        return false;
    }
    let set = |place: &Global<Ref>, callback| unsafe {
        Py_IncRef(callback);
        std::mem::replace(place.get(), callback)
    };
    let before = [
        set(&CALLBACK, callback),
        set(&OF_DOCSTRINGS, of_docstrings),
        set(&OF_ANNOTATIONS, of_annotations),
    ];
    if !before[0].is_null() {
        before.into_iter().for_each(|one| Py_DecRef(one));
        return true;
    }
    let (frame, code) = (&raw mut PyFrame_Type, &raw mut PyCode_Type);
    replace(frame, c"f_globals", tell)
        && replace(frame, c"f_locals", tell)
        && replace(frame, c"f_lineno", tell)
        && replace(&raw mut PyTraceBack_Type, c"tb_lineno", tell)
        && replace(code, c"co_firstlineno", tell)
        && replace(code, c"co_lnotab", tell)
        && replace(code, c"co_consts", tell_docstring)
        && replace(&raw mut PyFunction_Type, c"__globals__", tell)
        && replace(
            &raw mut PyFunction_Type,
            c"__annotations__",
            tell_annotations,
        )
        && (version().1 < 14
            || replace(&raw mut PyFunction_Type, c"__annotate__", tell_annotations))
        && replace(&raw mut PyFunction_Type, c"__doc__", tell_docstring)
        && { SIGNATURE.iter() }
            .all(|name| unsafe { replace(&raw mut PyFunction_Type, name, tell_signature) })
        && watch_classes()
}

unsafe fn tell_signature(function: Ref, _: Ref, _: &Watched) {
    if is_told() {
        signatures::tell(function);
    }
}

/// Whether somebody in the main interpreter asks, and not this helper.
pub unsafe fn is_told() -> bool {
    !*IS_QUIET.get() && is_main()
}

/// Before 3.10 classes have no descriptor for annotations, but one for their members.
unsafe fn watch_classes() -> bool {
    *FIELDS_NAME.get() = PyUnicode_InternFromString(FIELDS.as_ptr());
    for (name, place) in SPELLED.iter().zip(NAMES.get()) {
        *place = PyUnicode_InternFromString(name.as_ptr());
    }
    let (class, module) = (&raw mut PyType_Type, &raw mut PyModule_Type);
    let [annotations, annotate, members] = OF_CLASSES;
    let (is_known, is_lazy) = (version().1 >= 10, version().1 >= 14);
    let rewire = |kind, name| unsafe { rewire(kind, name, get_of_class) };
    rewire(class, members)
        && (!is_known || rewire(class, annotations) && rewire(module, annotations))
        && (!is_lazy || rewire(class, annotate) && rewire(module, annotate))
}

/// Changes a descriptor in its place: parts of the standard library keep it. `get` is given what
/// [`plain`] takes.
pub unsafe fn rewire(kind: Ref, name: &'static CStr, get: Getter) -> bool {
    let dict = dict_of(kind);
    let descriptor = match dict.is_null() {
        true => std::ptr::null_mut(),
        false => PyDict_GetItemString(dict, name.as_ptr()),
    };
    let is_known = !descriptor.is_null() && (*descriptor).kind == &raw mut PyGetSetDescr_Type;
    let plain = match is_known {
        true => word(descriptor, GETSET) as *const GetSet,
        false => std::ptr::null(),
    };
    if plain.is_null() || CStr::from_ptr((*plain).name) != name {
        raise(PyExc_RuntimeError, c"classes have another form");
        return false;
    }
    let definition = Box::leak(Box::new(GetSet {
        name: (*plain).name,
        get,
        set: (*plain).set.and(Some(set_of_class)),
        doc: (*plain).doc,
        closure: plain.cast_mut().cast(),
    }));
    *descriptor.byte_offset(GETSET).cast::<*const GetSet>() = definition;
    true
}

/// What the descriptor answers that was rewired.
pub unsafe fn plain(object: Ref, closure: *mut c_void) -> Ref {
    let plain = &*closure.cast::<GetSet>();
    (plain.get)(object, plain.closure)
}

unsafe extern "C" fn get_of_class(object: Ref, closure: *mut c_void) -> Ref {
    let found = plain(object, closure);
    let plain = &*closure.cast::<GetSet>();
    // Classes that are defined in C are nobody's of the project.
    let is_class = type_object::flags((*object).kind) & type_object::TYPE_SUBCLASS != 0;
    let is_made = !is_class || type_object::flags(object) & type_object::HEAP_TYPE != 0;
    if found.is_null() || !is_made {
        return found;
    }
    let are_members = CStr::from_ptr(plain.name) == OF_CLASSES[2];
    if are_members && !*IS_QUIET.get() && !PyEval_GetFrame().is_null() && is_main() {
        members::tell(object);
    }
    if !(are_members && (version().1 < 10 || is_for_others())) {
        tell_reader(object, found);
    }
    found
}

/// Whether it is code of the project that gets the members of a class, and it spells nothing that
/// gets annotations. Programs do that often.
unsafe fn is_for_others() -> bool {
    let frame = PyEval_GetFrame();
    if frame.is_null() {
        return true;
    }
    let code = PyFrame_GetCode(frame);
    let is_other =
        codes::is_of_project(code) && !spells(code, c"co_consts") && !spells(code, c"co_names");
    Py_DecRef(code);
    is_other
}

/// Whether names or constants of code have one of `NAMES`.
unsafe fn spells(code: Ref, attribute: &CStr) -> bool {
    let Some(all) = part_of(code, attribute) else {
        return false;
    };
    let is_spelled = has_spelled(all);
    Py_DecRef(all);
    is_spelled
}

unsafe fn has_spelled(all: Ref) -> bool {
    let spelled = NAMES.get();
    let mut each = (0..PyTuple_Size(all)).map(|at| PyTuple_GetItem(all, at));
    each.any(|one| spelled.contains(&one))
}

/// Whether an interned name, if there is one yet, is among those of some code.
pub unsafe fn is_among(name: Ref, names: Ref) -> bool {
    let mut each = (0..PyTuple_Size(names)).map(|at| PyTuple_GetItem(names, at));
    !name.is_null() && each.any(|one| one == name)
}

unsafe extern "C" fn set_of_class(object: Ref, value: Ref, closure: *mut c_void) -> c_int {
    let plain = &*closure.cast::<GetSet>();
    match plain.set {
        Some(set) => set(object, value, plain.closure),
        None => -1,
    }
}

/// Tells that `object` is asked for annotations.
unsafe fn tell_reader(object: Ref, found: Ref) {
    if !*IS_QUIET.get() {
        tell_of_any(*OF_ANNOTATIONS.get(), object, found);
    }
}

/// Tells that an object of some class is asked for `name`, a text.
pub unsafe fn tell_asked(object: Ref, name: Ref) {
    if (*OF_ANNOTATIONS.get()).is_null() {
        return;
    }
    let mut size = 0;
    let text = PyUnicode_AsUTF8AndSize(name, &raw mut size);
    if text.is_null() {
        PyErr_Clear();
        return;
    }
    let text = std::slice::from_raw_parts(text.cast::<u8>(), size as usize);
    docs::tell_asked(object, text);
    if text == FIELDS.to_bytes() {
        return tell_reader(object, name);
    }
    let kind = (*object).kind;
    let is_told = kind == &raw mut PyFunction_Type
        || kind == &raw mut PyModule_Type
        || type_object::flags(kind) & type_object::TYPE_SUBCLASS != 0;
    if !is_told && SPELLED.iter().any(|one| one.to_bytes() == text) {
        tell_reader(object, &raw mut _Py_NoneStruct);
    }
}

/// Whether code of the project spells the attribute for docstrings. Tells if it spells that for the
/// fields of a dataclass.
pub unsafe fn asks_for_docs(code: Ref) -> bool {
    let Some(names) = part_of(code, c"co_names") else {
        return false;
    };
    if is_among(*FIELDS_NAME.get(), names) && !(*OF_ANNOTATIONS.get()).is_null() {
        tell_reader(code, &raw mut _Py_NoneStruct);
    }
    let is_asking = docs::is_among(names);
    Py_DecRef(names);
    is_asking
}

/// Such code of the project runs. Whether that has to be told when it does so again.
pub unsafe fn tell_own_code(code: Ref) -> bool {
    !is_told() || docs::tell_own_code(code)
}

/// An attribute of code: a new reference.
unsafe fn part_of(code: Ref, attribute: &CStr) -> Option<Ref> {
    let part = quietly(|| PyObject_GetAttrString(code, attribute.as_ptr()));
    if part.is_null() {
        PyErr_Clear();
        return None;
    }
    Some(part)
}

/// Tells of code that is not the project's if it asks for annotations or docstrings. Whether that has
/// to be told in each epoch.
pub unsafe fn tell_code(code: Ref) -> bool {
    if (*OF_ANNOTATIONS.get()).is_null() {
        return false;
    }
    let Some(names) = part_of(code, c"co_names") else {
        return false;
    };
    if has_spelled(names) || is_among(*FIELDS_NAME.get(), names) {
        tell_reader(code, &raw mut _Py_NoneStruct);
    }
    let is_asking = docs::tell_code(code, names);
    Py_DecRef(names);
    is_asking
}

unsafe fn replace(kind: Ref, name: &'static CStr, tell: unsafe fn(Ref, Ref, &Watched)) -> bool {
    let dict = dict_of(kind);
    let plain = match dict.is_null() {
        true => std::ptr::null_mut(),
        false => PyDict_GetItemString(dict, name.as_ptr()),
    };
    if plain.is_null() || type_object::descr_get((*plain).kind) == 0 {
        raise(PyExc_RuntimeError, c"frames have another form");
        return false;
    }
    Py_IncRef(plain);
    let watched = Box::leak(Box::new(Watched {
        name: PyUnicode_InternFromString(name.as_ptr()),
        plain,
        tell,
    }));
    let settable = [c"f_lineno", c"__doc__", c"__annotations__", c"__annotate__"];
    let is_settable = settable.contains(&name) || SIGNATURE[..3].contains(&name);
    let can_set = type_object::descr_set((*plain).kind) != 0 && is_settable;
    // The descriptor refers to it for ever.
    let definition = Box::leak(Box::new(GetSet {
        name: name.as_ptr(),
        get,
        set: can_set.then_some(set),
        doc: std::ptr::null(),
        closure: std::ptr::from_mut(watched).cast(),
    }));
    let made = PyDescr_NewGetSet(kind, std::ptr::from_mut(definition).cast());
    if made.is_null() {
        return false;
    }
    let done = PyDict_SetItemString(dict, name.as_ptr(), made) == 0;
    Py_DecRef(made);
    PyType_Modified(kind);
    done
}

unsafe extern "C" fn get(object: Ref, closure: *mut c_void) -> Ref {
    let watched = &*closure.cast::<Watched>();
    // SAFETY: the signature of the slot.
    let get = std::mem::transmute::<usize, Get>(type_object::descr_get((*watched.plain).kind));
    let found = get(watched.plain, object, (*object).kind);
    if !found.is_null() && !*IS_QUIET.get() {
        (watched.tell)(object, found, watched);
    }
    found
}

unsafe extern "C" fn set(object: Ref, value: Ref, closure: *mut c_void) -> c_int {
    let watched = &*closure.cast::<Watched>();
    // SAFETY: the signature of the slot.
    let set = std::mem::transmute::<usize, Set>(type_object::descr_set((*watched.plain).kind));
    set(watched.plain, object, value)
}

/// Calls back if code of the project asks.
unsafe fn tell(object: Ref, _: Ref, watched: &Watched) {
    if !is_project_asking() {
        return;
    }
    with_error_aside(|| {
        let frame = match (*object).kind == &raw mut PyTraceBack_Type {
            true => PyObject_GetAttrString(object, c"tb_frame".as_ptr()),
            false => {
                Py_IncRef(object);
                object
            }
        };
        if !frame.is_null() {
            call(*CALLBACK.get(), watched.name, frame);
            Py_DecRef(frame);
        }
        PyErr_Clear();
    });
}

/// Calls back whoever asks: libraries read docstrings of what they are given.
unsafe fn tell_docstring(object: Ref, found: Ref, _: &Watched) {
    tell_of_any(*OF_DOCSTRINGS.get(), object, found);
}

/// The same for annotations.
unsafe fn tell_annotations(object: Ref, found: Ref, _: &Watched) {
    tell_of_any(*OF_ANNOTATIONS.get(), object, found);
}

unsafe fn tell_of_any(callback: Ref, object: Ref, found: Ref) {
    if PyEval_GetFrame().is_null() || !is_main() {
        return;
    }
    with_error_aside(|| {
        call(callback, object, found);
        PyErr_Clear();
    });
}

/// Whether the code that runs now, in the main interpreter, is the project's.
pub unsafe fn is_project_asking() -> bool {
    let frame = PyEval_GetFrame();
    if frame.is_null() || !is_main() {
        return false;
    }
    let code = PyFrame_GetCode(frame);
    let is_ours = codes::is_of_project(code);
    Py_DecRef(code);
    is_ours
}

unsafe fn is_main() -> bool {
    PyInterpreterState_Get() == PyInterpreterState_Main()
}

unsafe fn call(callback: Ref, first: Ref, second: Ref) {
    let end: Ref = std::ptr::null_mut();
    let result = PyObject_CallFunctionObjArgs(callback, first, second, end);
    if !result.is_null() {
        Py_DecRef(result);
    }
}
