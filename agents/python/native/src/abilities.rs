//! Finds out what can be watched in this interpreter: the kinds of objects with readable
//! content, and whether their layout is the known one.

use std::ffi::{CStr, c_int, c_void};

use crate::content::{self, Inline, Reader};
use crate::digest::layout::layouts;
use crate::ffi::*;
use crate::guards::WEAK_TARGET;
use crate::watch::{DICT_VERSION, on_dict_event};

type Watcher = unsafe extern "C" fn(c_int, Ref, Ref, Ref) -> c_int;

/// The abilities of this interpreter.
#[derive(Clone, Copy)]
pub struct Abilities {
    pub inline: Inline,
    /// Whether each change gives a dict a new version tag.
    pub versions: bool,
    /// Our id for `PyDict_Watch`.
    pub watcher: Option<c_int>,
    pub sets: bool,
    pub deques: bool,
    /// Whether the attributes of instances are at the expected place.
    pub attributes: bool,
    /// Whether the target of a weak reference is at the expected place.
    pub weak: bool,
}

struct Found {
    abilities: Option<Abilities>,
    /// Types with known content, and how to read it.
    bases: Vec<(Ref, Option<Reader>)>,
}

static FOUND: Global<Found> = Global::new(Found {
    abilities: None,
    bases: Vec::new(),
});

/// How to read `object`: nothing if it has no content, `None` if its content cannot be read.
/// Instances of classes that Python code makes always can, apart from what a type in C keeps
/// for itself beneath them.
pub unsafe fn readers_of(object: Ref, abilities: Abilities) -> Option<Vec<Reader>> {
    let kind = (*object).kind;
    if kind == &raw mut PyCell_Type {
        return Some(vec![Reader::Cell]);
    }
    if kind == &raw mut PyFunction_Type {
        return layouts()
            .function
            .map(|layout| vec![Reader::Function(layout)]);
    }
    if layouts().registry == Some(kind as usize) {
        return Some(vec![Reader::Registry]);
    }
    if PyType_IsSubtype(kind, &raw mut PyModule_Type) != 0 {
        return Some(vec![Reader::Dict(PyModule_GetDict(object))]);
    }
    if type_object::flags(kind) & type_object::TYPE_SUBCLASS != 0 {
        let dict = type_object::dict(object);
        let readable = type_object::flags(object) & type_object::HEAP_TYPE != 0
            && !dict.is_null()
            && (*dict).kind == &raw mut PyDict_Type;
        return readable.then(|| vec![Reader::Dict(dict)]);
    }
    let mut slots = Vec::new();
    let mut readers = Vec::new();
    match base_reader(kind, &mut slots) {
        Some(Reader::Set) if !abilities.sets => return None,
        Some(Reader::Deque) if !abilities.deques => return None,
        Some(Reader::Dict(_)) => readers.push(Reader::Dict(object)),
        Some(reader) => readers.push(reader),
        None => {}
    }
    if type_object::dictoffset(kind) != 0 {
        if !abilities.attributes {
            return None;
        }
        readers.push(Reader::Attributes);
    }
    if !slots.is_empty() {
        readers.push(Reader::Slots(slots));
    }
    let is_class = type_object::flags(kind) & type_object::HEAP_TYPE != 0;
    let is_known = FOUND.get().bases.iter().any(|(base, _)| *base == kind);
    (is_class || is_known && !readers.is_empty()).then_some(readers)
}

/// Goes from `kind` down to a type with known C content, and collects the slots on the way.
unsafe fn base_reader(mut kind: Ref, slots: &mut Vec<isize>) -> Option<Reader> {
    while !kind.is_null() {
        let known = FOUND.get().bases.iter().find(|(base, _)| *base == kind);
        if let Some((_, reader)) = known {
            return reader.clone();
        }
        if type_object::flags(kind) & type_object::HEAP_TYPE != 0 {
            content::slot_offsets(kind, slots);
        }
        kind = type_object::base(kind);
    }
    None
}

/// Whether instances of `kind` only add slots, a dict and a list of weak references to those
/// of `base`.
pub unsafe fn is_made_of_slots(kind: Ref, base: Ref) -> bool {
    added_bytes(kind, base) == 8 * type_object::slots(kind)
}

/// Whether instances of a type in C add nothing to those of its base but a dict and a list of weak
/// references.
pub unsafe fn adds_no_field(kind: Ref) -> bool {
    let base = type_object::base(kind);
    !base.is_null()
        && added_bytes(kind, base) == 0
        && type_object::itemsize(kind) == type_object::itemsize(base)
}

/// What instances of `kind` have beyond those of `base`, without a dict and a list of weak
/// references.
unsafe fn added_bytes(kind: Ref, base: Ref) -> isize {
    let flags = type_object::flags(kind);
    let gains = |offset: unsafe fn(Ref) -> isize, managed: usize| {
        // SAFETY: reads fields of two live types.
        unsafe { offset(kind) != 0 && offset(base) == 0 && flags & managed == 0 }
    };
    let dict = gains(type_object::dictoffset, type_object::MANAGED_DICT);
    let weak = gains(type_object::weaklistoffset, type_object::MANAGED_WEAKREF);
    let words = isize::from(dict) + isize::from(weak);
    type_object::basicsize(kind) - type_object::basicsize(base) - 8 * words
}

/// Probes once how this interpreter's objects are laid out.
pub unsafe fn abilities() -> Abilities {
    if let Some(abilities) = FOUND.get().abilities {
        return abilities;
    }
    let abilities = with_error_aside(|| {
        fill_bases();
        let abilities = probe();
        PyErr_Clear();
        abilities
    });
    FOUND.get().abilities = Some(abilities);
    abilities
}

unsafe fn fill_bases() {
    let dict = Some(Reader::Dict(std::ptr::null_mut()));
    let mut bases = vec![
        (&raw mut PyDict_Type, dict.clone()),
        (&raw mut PyList_Type, Some(Reader::List)),
        (&raw mut PySet_Type, Some(Reader::Set)),
        (&raw mut PyByteArray_Type, Some(Reader::Bytes)),
    ];
    for immutable in [
        &raw mut PyBaseObject_Type,
        &raw mut PyBytes_Type,
        &raw mut PyComplex_Type,
        &raw mut PyFloat_Type,
        &raw mut PyFrozenSet_Type,
        &raw mut PyLong_Type,
        &raw mut PyTuple_Type,
        &raw mut PyUnicode_Type,
    ] {
        bases.push((immutable, None));
    }
    let collections = PyImport_ImportModule(c"collections".as_ptr());
    if !collections.is_null() {
        for (name, reader) in [
            (c"deque", Some(Reader::Deque)),
            (c"defaultdict", dict.clone()),
            (c"OrderedDict", dict),
        ] {
            let kind = PyObject_GetAttrString(collections, name.as_ptr());
            // Kept for ever: these modules are never unloaded.
            if !kind.is_null() {
                bases.push((kind, reader));
            }
        }
        Py_DecRef(collections);
    }
    let namespace = PySys_GetObject(c"implementation".as_ptr());
    if !namespace.is_null() {
        bases.push(((*namespace).kind, None));
    }
    PyErr_Clear();
    FOUND.get().bases = bases;
}

const PROBE: &CStr = c"
import collections, weakref
class Plain: pass
plain = Plain()
plain.a, plain.b = 'A', 'B'
weak = weakref.ref(Plain)
some = {'A', 'B', 'C'}
some.discard('C')
chain = collections.deque(['A', 'B'] * 40)
chain.popleft()
";

unsafe fn probe() -> Abilities {
    let mut abilities = Abilities {
        inline: Inline::of_version(),
        versions: false,
        watcher: None,
        sets: false,
        deques: false,
        attributes: false,
        weak: false,
    };
    let globals = PyDict_New();
    let code = Py_CompileString(PROBE.as_ptr(), c"<tamis>".as_ptr(), FILE_INPUT);
    if globals.is_null() || code.is_null() {
        return abilities;
    }
    PyDict_SetItemString(globals, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
    let result = PyEval_EvalCode(code, globals, globals);
    Py_DecRef(code);
    if result.is_null() {
        Py_DecRef(globals);
        return abilities;
    }
    Py_DecRef(result);
    let get = |name: &CStr| unsafe { PyDict_GetItemString(globals, name.as_ptr()) };
    let inline = abilities.inline;
    let words = |object: Ref, reader: Reader| unsafe {
        let mut words = Vec::new();
        content::read(object, &reader, inline, &mut words);
        words
    };
    let (plain, class) = (get(c"plain"), get(c"Plain"));
    let attributes = words(plain, Reader::Attributes);
    if let [kind, _, a, _, b] = attributes[..] {
        abilities.attributes = kind == class as usize && version().1 <= 13;
        let mut members = words(get(c"some"), Reader::Set);
        members.sort_unstable();
        let mut letters = [a, b];
        letters.sort_unstable();
        abilities.sets = members == letters;
        let chain = words(get(c"chain"), Reader::Deque);
        abilities.deques = chain.len() == 79 && chain[..2] == [b, a] && chain[77..] == [a, b];
    }
    abilities.weak = word(get(c"weak"), WEAK_TARGET) == class as usize;
    if version().1 <= 12 {
        let before = word(globals, DICT_VERSION);
        let unchanged = word(globals, DICT_VERSION) == before;
        PyDict_SetItemString(globals, c"x".as_ptr(), plain);
        let after = word(globals, DICT_VERSION);
        PyDict_SetItemString(globals, c"x".as_ptr(), class);
        abilities.versions = unchanged && before != after && after != word(globals, DICT_VERSION);
    } else if let Some(add) = symbol(c"PyDict_AddWatcher") {
        // SAFETY: this function has had this signature since 3.12.
        let add = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Watcher) -> c_int>(add);
        let id = add(on_dict_event);
        abilities.watcher = (id >= 0).then_some(id);
    }
    PyErr_Clear();
    Py_DecRef(globals);
    abilities
}
