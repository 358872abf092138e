//! Where this interpreter keeps what has no accessor, found by looking for
//! known objects in an object that holds them. What is not found is opaque.

use std::ffi::{CStr, c_int, c_long, c_void};

use super::codes::CodeLayout;
use crate::abilities::{Abilities, abilities};
use crate::content::{self, FIRST_ADDRESS, Reader};
use crate::ffi::*;

/// `PyTypeObject`: a public struct, the same in all versions.
pub const TYPE_NAME: isize = 24;
pub const TYPE_REPR: isize = 88;
pub const TYPE_STR: isize = 136;
const TYPE_TRAVERSE: isize = 184;
pub const TYPE_BASES: isize = 336;
pub const TYPE_MRO: isize = 344;
pub const TYPE_SUBCLASSES: isize = 360;

#[derive(Clone, Copy)]
pub struct FunctionLayout {
    pub code: isize,
    pub defaults: isize,
    pub keyword_defaults: isize,
    pub closure: isize,
    pub doc: isize,
    pub annotations: isize,
    /// From 3.14 on: what computes the annotations.
    pub annotate: Option<isize>,
    pub name: isize,
    pub qualified_name: isize,
    pub module: isize,
}

pub struct Layouts {
    pub abilities: Abilities,
    /// Whether the names of inline attributes are where we think.
    pub names: bool,
    pub function: Option<FunctionLayout>,
    pub code: Option<CodeLayout>,
    /// The qualified name in a class.
    pub class_name: Option<isize>,
    /// Its last part.
    pub short_name: Option<isize>,
    /// Getter, setter, deleter, documentation.
    pub property: Option<[isize; 4]>,
    pub slice: Option<[isize; 3]>,
    /// Origin and arguments of `list[int]`.
    pub alias: Option<[isize; 2]>,
    /// Arguments of `int | str`.
    pub union: Option<isize>,
    pub deque_limit: Option<isize>,
    pub factory: Option<isize>,
    pub ordered: bool,
    /// The function in an `lru_cache` wrapper; the rest lies around it.
    pub lru: Option<isize>,
    /// The type of what is registered with an abstract class.
    pub registry: Option<usize>,
    pub context: bool,
}

static LAYOUTS: Global<Option<Layouts>> = Global::new(None);

pub unsafe fn layouts() -> &'static Layouts {
    if LAYOUTS.get().is_none() {
        let abilities = abilities();
        let found = with_error_aside(|| {
            let found = probe(abilities);
            PyErr_Clear();
            found
        });
        *LAYOUTS.get() = Some(found);
    }
    LAYOUTS.get().as_ref().expect("made above")
}

const PROBE: &CStr = c"
import collections, collections.abc, functools
class Outer:
    class Plain: pass
Plain = Outer.Plain
class_name = Plain.__qualname__
short_name = Plain.__name__
plain = Plain()
plain.a, plain.b = 'A', 'B'
name_a, name_b = plain.__dict__
plain = Plain()
plain.a, plain.b = 'A', 'B'
def outer(x):
    def inner(a=plain, *, b=plain) -> 'n':
        'd'
        return x
    return inner
function = outer(plain)
function.__doc__ = doc = 'the doc'
function.__module__ = module = 'the module'
function.__annotations__ = annotations = {'a': 'b'}
code = function.__code__
made_code = code.replace(co_filename='the file', co_name='the code', co_firstlineno=7654321)
other_code = code.replace(co_firstlineno=1234567)
code_file, code_name, code_constants = made_code.co_filename, made_code.co_name, made_code.co_consts
defaults = function.__defaults__
keyword_defaults = function.__kwdefaults__
closure = function.__closure__
function.__name__ = name = 'the name'
qualified_name = function.__qualname__
annotated = outer(plain)
annotate = outer(name)
try: annotated.__annotate__ = annotate
except Exception: pass
getter, setter, deleter = outer(1), outer(2), outer(3)
prop = property(getter, setter, deleter, doc)
cut = slice(getter, setter, deleter)
alias = list[getter]
alias_args = alias.__args__
try:
    union = int | str
    union_args = union.__args__
except TypeError:
    union = union_args = None
limited = collections.deque((), 12345)
made = collections.defaultdict(getter)
ordered = collections.OrderedDict(a=1, b=2, c=3)
ordered.move_to_end('a')
cache = functools.lru_cache(maxsize=54321)(getter)
cache(name)
registry = collections.abc.Sequence.__dict__['_abc_impl']
";

unsafe fn probe(abilities: Abilities) -> Layouts {
    let mut found = Layouts {
        abilities,
        names: false,
        function: None,
        code: None,
        class_name: None,
        short_name: None,
        property: None,
        slice: None,
        alias: None,
        union: None,
        deque_limit: None,
        factory: None,
        ordered: false,
        lru: None,
        registry: None,
        context: has_context_layout(),
    };
    let globals = PyDict_New();
    let code = Py_CompileString(PROBE.as_ptr(), c"<tamis>".as_ptr(), FILE_INPUT);
    if globals.is_null() || code.is_null() {
        return found;
    }
    PyDict_SetItemString(globals, c"__builtins__".as_ptr(), PyEval_GetBuiltins());
    let result = PyEval_EvalCode(code, globals, globals);
    Py_DecRef(code);
    if !result.is_null() {
        Py_DecRef(result);
        let get = |name: &CStr| unsafe { PyDict_GetItemString(globals, name.as_ptr()) };
        fill(&mut found, &get);
    }
    PyErr_Clear();
    Py_DecRef(globals);
    found
}

unsafe fn fill(found: &mut Layouts, get: &dyn Fn(&CStr) -> Ref) {
    let at = |holder: &CStr, held: &CStr| unsafe { offset_of(get(holder), get(held) as usize) };
    let function = |held: &CStr| at(c"function", held);
    found.function = (|| {
        Some(FunctionLayout {
            code: function(c"code")?,
            defaults: function(c"defaults")?,
            keyword_defaults: function(c"keyword_defaults")?,
            closure: function(c"closure")?,
            doc: function(c"doc")?,
            annotations: function(c"annotations")?,
            annotate: at(c"annotated", c"annotate"),
            name: function(c"name")?,
            qualified_name: function(c"qualified_name")?,
            module: function(c"module")?,
        })
    })();
    found.code = (|| {
        Some(CodeLayout {
            file: at(c"made_code", c"code_file")?,
            name: at(c"made_code", c"code_name")?,
            constants: at(c"made_code", c"code_constants")?,
            first_line: number_in(get(c"made_code"), 7_654_321)
                .filter(|at| Some(*at) == number_in(get(c"other_code"), 1_234_567))?,
        })
    })();
    found.class_name = at(c"Plain", c"class_name");
    found.short_name = at(c"Plain", c"short_name");
    let three = |holder: &CStr| {
        Some([
            at(holder, c"getter")?,
            at(holder, c"setter")?,
            at(holder, c"deleter")?,
        ])
    };
    found.slice = three(c"cut");
    found.property = three(c"prop").and_then(|[a, b, c]| Some([a, b, c, at(c"prop", c"doc")?]));
    let list = (&raw mut PyList_Type) as usize;
    found.alias = offset_of(get(c"alias"), list)
        .and_then(|origin| Some([origin, at(c"alias", c"alias_args")?]));
    if get(c"union") != &raw mut _Py_NoneStruct {
        found.union = at(c"union", c"union_args");
    }
    found.deque_limit = offset_of(get(c"limited"), 12345);
    found.factory = at(c"made", c"getter");
    found.ordered = {
        let texts = ordered_keys(get(c"ordered"))
            .into_iter()
            .map(|key| unsafe { text_bytes(key as Ref) });
        texts.eq([b"b", b"c", b"a"].map(|text| Some(text.to_vec())))
    };
    found.lru = at(c"cache", c"getter").filter(|function| unsafe {
        let cache = get(c"cache");
        let entries = word(cache, function - 16) as Ref;
        is_object(entries as usize)
            && (*entries).kind == &raw mut PyDict_Type
            && word(cache, function + 8) == 54321
            && entry_of(entries).is_some_and(|(_, link)| {
                word(cache, 24) == link as usize
                    && word(link, 24) == cache as usize
                    && word(link, 40) == get(c"name") as usize
                    && is_object(word(link, 48))
            })
    });
    let registry = get(c"registry");
    let members = word(registry, content::REGISTERED);
    let is_known = found.abilities.sets
        && is_object(members)
        && (*(members as Ref)).kind == &raw mut PySet_Type;
    found.registry = is_known.then_some((*registry).kind as usize);
    let mut words = Vec::new();
    content::read(
        get(c"plain"),
        &Reader::Attributes,
        found.abilities.inline,
        &mut words,
    );
    found.names = words.get(1) == Some(&(get(c"name_a") as usize))
        && words.get(3) == Some(&(get(c"name_b") as usize))
        && words.len() == 5;
}

/// Where in `holder` the word `held` is, beyond its head.
unsafe fn offset_of(holder: Ref, held: usize) -> Option<isize> {
    if holder.is_null() || held == 0 {
        return None;
    }
    let size = type_object::basicsize((*holder).kind);
    // A class is followed by its slots.
    (2..size / 8)
        .map(|at| at * 8)
        .find(|at| unsafe { word(holder, *at) } == held)
}

/// Where in `holder` a number of 32 bits is.
unsafe fn number_in(holder: Ref, held: u32) -> Option<isize> {
    if holder.is_null() {
        return None;
    }
    let size = type_object::basicsize((*holder).kind);
    (4..size / 4)
        .map(|at| at * 4)
        .find(|at| unsafe { *holder.cast::<u8>().offset(*at).cast::<u32>() } == held)
}

unsafe fn entry_of(dict: Ref) -> Option<(Ref, Ref)> {
    let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
    (PyDict_Next(dict, &mut at, &mut key, &mut value) != 0).then_some((key, value))
}

fn is_object(address: usize) -> bool {
    address > FIRST_ADDRESS && address % 8 == 0
}

/// The keys of an `OrderedDict` in its own order: its nodes are a chain of
/// (key, hash, next, previous).
pub unsafe fn ordered_keys(dict: Ref) -> Vec<usize> {
    const FIRST: isize = 48;
    let mut keys = Vec::new();
    let mut node = word(dict, FIRST) as *const [usize; 4];
    let most = word(dict, 16);
    while is_object(node as usize) && keys.len() < most {
        keys.push((*node)[0]);
        node = (*node)[2] as *const _;
    }
    keys
}

/// `PyContextVar`: name, default.
unsafe fn has_context_layout() -> bool {
    let (name, default) = (PyUnicode_InternFromString(c"tamis".as_ptr()), PyList_New(0));
    let variable = PyContextVar_New(c"tamis".as_ptr(), default);
    let fits = !variable.is_null() && word(variable, 24) == default as usize;
    for object in [name, default, variable] {
        if !object.is_null() {
            Py_DecRef(object);
        }
    }
    fits
}

/// What `object` refers to as the garbage collector sees it through `kind`,
/// its type or a base of that; the type itself left out.
pub unsafe fn referents(object: Ref, kind: Ref) -> Vec<Ref> {
    let mut found: Vec<Ref> = Vec::new();
    add_referents(object, kind, &mut found);
    found
}

/// The same, at the end of `found`.
pub unsafe fn add_referents(object: Ref, kind: Ref, found: &mut Vec<Ref>) {
    type Visit = unsafe extern "C" fn(Ref, *mut c_void) -> c_int;
    unsafe extern "C" fn visit(object: Ref, found: *mut c_void) -> c_int {
        (*found.cast::<Vec<Ref>>()).push(object);
        0
    }
    let before = found.len();
    let traverse = word(kind, TYPE_TRAVERSE);
    if traverse != 0 {
        // SAFETY: the signature of `tp_traverse`.
        let traverse = std::mem::transmute::<
            usize,
            unsafe extern "C" fn(Ref, Visit, *mut c_void) -> c_int,
        >(traverse);
        traverse(object, visit, (&raw mut *found).cast());
    }
    let mut kept = before;
    for at in before..found.len() {
        if found[at] != (*object).kind && found[at] != kind {
            found[kept] = found[at];
            kept += 1;
        }
    }
    found.truncate(kept);
}

/// Calls a slot of `kind` that takes the object alone: `tp_str`, `tp_repr`.
pub unsafe fn call_slot(object: Ref, kind: Ref, slot: isize) -> Ref {
    let function = word(kind, slot);
    if function == 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: the signature of both slots.
    std::mem::transmute::<usize, unsafe extern "C" fn(Ref) -> Ref>(function)(object)
}

/// Keeps the garbage collector from running anybody's code meanwhile.
pub struct NoCollection(bool);

impl NoCollection {
    pub unsafe fn begin() -> NoCollection {
        NoCollection(Self::call(c"PyGC_Disable", c"isenabled", c"disable"))
    }

    pub unsafe fn end(self) {
        if self.0 {
            Self::call(c"PyGC_Enable", c"isenabled", c"enable");
        }
    }

    /// Whether it was enabled. `PyGC_*` are there from 3.10 on.
    unsafe fn call(function: &CStr, state: &CStr, method: &CStr) -> bool {
        if let Some(function) = symbol(function) {
            // SAFETY: `int f(void)`, both of them.
            let function =
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(function);
            return function() != 0;
        }
        let module = PyImport_ImportModule(c"gc".as_ptr());
        if module.is_null() {
            PyErr_Clear();
            return false;
        }
        let was = PyObject_CallMethod(module, state.as_ptr(), std::ptr::null());
        let done = PyObject_CallMethod(module, method.as_ptr(), std::ptr::null());
        let enabled = !was.is_null() && PyLong_AsLong(was) != c_long::from(0);
        for object in [was, done, module] {
            if !object.is_null() {
                Py_DecRef(object);
            }
        }
        PyErr_Clear();
        enabled
    }
}
