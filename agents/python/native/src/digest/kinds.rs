//! Which rule reads an object: by its C type, or the one that its class
//! derives from, and the slots that classes add.

use super::classes::{Names, dict_of, entries, find, type_name};
use super::hash::Digest;
use super::noise::Filter;
use crate::abilities::{adds_no_field, is_made_of_slots};
use crate::ffi::*;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// Nothing in C.
    Object,
    /// One object of its type: `None`, `...`.
    Single,
    Bool,
    Int,
    Float,
    Complex,
    Text,
    Bytes,
    ByteArray,
    Tuple,
    List,
    Dict,
    OrderedDict,
    DefaultDict,
    Set,
    FrozenSet,
    Deque,
    Module,
    Class,
    Function,
    Code,
    Cell,
    Property,
    /// `staticmethod` and `classmethod`.
    Wrapper,
    Slice,
    Alias,
    Union,
    Builtin,
    Descriptor,
    /// All of its content are objects that the garbage collector sees.
    Referents,
    /// A function of `numpy`: the same, its name, and what it takes.
    Named,
    Weak,
    WeakProxy,
    LruCache,
    Registry,
    /// The accessors with these names give its content.
    Members(&'static [&'static std::ffi::CStr]),
    /// The method without arguments gives its content, and runs no Python.
    Answer(&'static std::ffi::CStr),
    /// `str` gives its content, up to case.
    Spelled,
    /// `repr` gives its content.
    Shown,
    Date,
    Time,
    DateTime,
    Delta,
    /// A lock: equal while nobody holds it.
    Lock,
    RLock,
    /// `numpy.ndarray`
    Array,
    /// The same while it is empty.
    Queue,
    Context,
    Local,
    /// C code, by its name.
    Capsule,
    Count,
    Repeat,
    /// One that has begun and not ended has no value.
    Generator,
    TypeVar,
    Opaque,
}

impl Kind {
    /// Whether what the C type holds never changes.
    pub fn is_value(self) -> bool {
        matches!(
            self,
            Kind::Single
                | Kind::Bool
                | Kind::Int
                | Kind::Float
                | Kind::Complex
                | Kind::Text
                | Kind::Bytes
                | Kind::Tuple
                | Kind::FrozenSet
                | Kind::Code
                | Kind::Slice
                | Kind::Alias
                | Kind::Union
                | Kind::Builtin
                | Kind::Descriptor
                | Kind::Spelled
                | Kind::Date
                | Kind::Time
                | Kind::DateTime
                | Kind::Delta
        )
    }
}

/// Types of which the collector of garbage tells all that they hold.
const HOLDERS: [&[u8]; 16] = [
    b"functools.partial",
    b"method",
    b"mappingproxy",
    b"method-wrapper",
    b"operator.attrgetter",
    b"operator.itemgetter",
    b"super",
    b"instancemethod",
    b"functools.KeyWrapper",
    b"functools.Placeholder",
    b"dict_keys",
    b"dict_values",
    b"dict_items",
    b"odict_keys",
    b"odict_values",
    b"odict_items",
];

/// By `tp_name`.
fn kind_of_name(name: &[u8], minor: u32) -> Kind {
    match name {
        b"object" | b"types.SimpleNamespace" | b"ast.AST" | b"_ast.AST" => Kind::Object,
        b"NoneType"
        | b"ellipsis"
        | b"NotImplementedType"
        | b"NoDefaultType"
        | b"typing.NoDefaultType" => Kind::Single,
        b"bool" => Kind::Bool,
        b"int" => Kind::Int,
        b"float" => Kind::Float,
        b"complex" => Kind::Complex,
        b"str" => Kind::Text,
        b"bytes" => Kind::Bytes,
        b"bytearray" => Kind::ByteArray,
        b"tuple" => Kind::Tuple,
        b"list" => Kind::List,
        b"dict" => Kind::Dict,
        b"collections.OrderedDict" => Kind::OrderedDict,
        b"collections.defaultdict" => Kind::DefaultDict,
        b"set" => Kind::Set,
        b"frozenset" => Kind::FrozenSet,
        b"collections.deque" => Kind::Deque,
        b"module" => Kind::Module,
        b"type" => Kind::Class,
        b"function" => Kind::Function,
        b"code" => Kind::Code,
        b"cell" => Kind::Cell,
        b"property" => Kind::Property,
        b"slice" => Kind::Slice,
        b"types.GenericAlias" => Kind::Alias,
        b"types.UnionType" | b"typing.Union" => Kind::Union,
        b"builtin_function_or_method" | b"builtin_method" => Kind::Builtin,
        b"wrapper_descriptor"
        | b"method_descriptor"
        | b"getset_descriptor"
        | b"member_descriptor"
        | b"classmethod_descriptor" => Kind::Descriptor,
        b"staticmethod" | b"classmethod" => Kind::Wrapper,
        _ if HOLDERS.contains(&name) => Kind::Referents,
        b"weakref" | b"weakref.ReferenceType" => Kind::Weak,
        b"weakproxy"
        | b"weakcallableproxy"
        | b"weakref.ProxyType"
        | b"weakref.CallableProxyType" => Kind::WeakProxy,
        b"functools._lru_cache_wrapper" => Kind::LruCache,
        b"_abc_data" | b"_abc._abc_data" => Kind::Registry,
        b"range" => Kind::Members(&[c"start", c"stop", c"step"]),
        b"re.Pattern" => Kind::Members(&[c"pattern", c"flags"]),
        b"Struct" | b"_struct.Struct" => Kind::Members(&[c"format"]),
        b"typing.ParamSpecArgs" | b"typing.ParamSpecKwargs" => Kind::Members(&[c"__origin__"]),
        b"numpy._ArrayFunctionDispatcher" => Kind::Members(&[c"_implementation"]),
        b"_random.Random" => Kind::Answer(c"getstate"),
        b"operator.methodcaller"
        | b"_collections._tuplegetter"
        | b"collections._tuplegetter"
        | b"list_iterator"
        | b"tuple_iterator"
        | b"range_iterator"
        | b"longrange_iterator"
        | b"str_iterator"
        | b"str_ascii_iterator"
        | b"bytes_iterator" => Kind::Answer(c"__reduce__"),
        b"datetime.timezone" => Kind::Answer(c"__getinitargs__"),
        b"_io.StringIO" | b"_io.BytesIO" => Kind::Answer(c"__getstate__"),
        b"array.array" => Kind::Members(&[c"typecode"]),
        b"json.Scanner" | b"_json.Scanner" | b"simplejson._speedups.Scanner" => Kind::Members(&[
            c"strict",
            c"object_hook",
            c"object_pairs_hook",
            c"parse_float",
            c"parse_int",
            c"parse_constant",
        ]),
        // There is one of the first; `_fields_` says the same as the others.
        b"unicodedata.UCD" | b"CField" | b"_ctypes.CField" => Kind::Object,
        b"decimal.Decimal" | b"zoneinfo.ZoneInfo" => Kind::Spelled,
        b"decimal.Context" => Kind::Shown,
        b"datetime.date" => Kind::Date,
        b"datetime.time" => Kind::Time,
        b"datetime.datetime" => Kind::DateTime,
        b"datetime.timedelta" => Kind::Delta,
        b"datetime.tzinfo" => Kind::Object,
        b"_queue.SimpleQueue" => Kind::Queue,
        b"numpy.ndarray" => Kind::Array,
        b"numpy.ufunc" => Kind::Named,
        // What it remembers of values that are told beside it.
        b"pandas._libs.internals.BlockValuesRefs" => Kind::Object,
        b"_thread.lock" => Kind::Lock,
        b"_thread.RLock" => Kind::RLock,
        b"_thread._local" => Kind::Local,
        b"PyCapsule" => Kind::Capsule,
        b"ContextVar" | b"_contextvars.ContextVar" => Kind::Context,
        b"itertools.count" => Kind::Count,
        b"itertools.repeat" => Kind::Repeat,
        // Before, what one holds is hidden in a frame.
        b"generator" if minor >= 11 => Kind::Generator,
        b"typing.TypeVar"
        | b"typing.ParamSpec"
        | b"typing.TypeVarTuple"
        | b"typing.TypeAliasType"
            if minor >= 12 =>
        {
            Kind::TypeVar
        }
        b"typing.Generic" => Kind::Object,
        _ => Kind::Opaque,
    }
}

pub struct Shape {
    pub kind: Kind,
    /// The C type that `kind` speaks of.
    pub base: Ref,
    /// Whether that is the type itself.
    pub is_exact: bool,
    /// Names and offsets of what `__slots__` made.
    pub slots: Vec<(Ref, isize)>,
    pub has_attributes: bool,
    pub filter: Filter,
    pub has_identity: bool,
    /// The reference to the class, if it is where its name says.
    pub class: Option<Digest>,
    /// The agent's own, and what pytest keeps about the run: no state of the
    /// program.
    pub is_of_runner: bool,
}

/// The shape of the instances of `kind`.
pub unsafe fn shape_of(kind: Ref, names: &mut Names) -> Shape {
    let mut shape = Shape {
        kind: Kind::Opaque,
        base: kind,
        is_exact: true,
        slots: Vec::new(),
        has_attributes: type_object::dictoffset(kind) != 0,
        filter: Filter::All,
        has_identity: true,
        class: names.class(kind),
        is_of_runner: is_of_runner(kind, names),
    };
    let mut at = kind;
    while names.is_made_by_python(at) {
        let base = type_object::base(at);
        if base.is_null() || !is_made_of_slots(at, base) {
            shape.base = at;
            return shape;
        }
        let before = shape.slots.len();
        slots_of(at, &mut shape.slots);
        // A descriptor that was deleted or replaced hides its slot.
        if (shape.slots.len() - before) as isize != type_object::slots(at) {
            shape.base = at;
            return shape;
        }
        at = base;
        shape.is_exact = false;
    }
    // A type in C that has no field beyond those of its base holds nothing more.
    while kind_of_name(type_name(at), version().1) == Kind::Opaque && adds_no_field(at) {
        at = type_object::base(at);
        shape.is_exact = false;
    }
    shape.base = at;
    let is = |base: *mut Object| unsafe { PyType_IsSubtype(at, base) != 0 };
    shape.kind = match kind_of_name(type_name(at), version().1) {
        Kind::Opaque if is(&raw mut PyModule_Type) => Kind::Module,
        Kind::Opaque if is(&raw mut PyType_Type) => Kind::Class,
        // Named tuples in C: `sys.version_info`.
        Kind::Opaque
            if type_object::base(at) == &raw mut PyTuple_Type
                && find(dict_of(at), b"n_sequence_fields").is_some() =>
        {
            Kind::Tuple
        }
        Kind::Opaque
            if type_name(at).starts_with(b"_cython_")
                && type_name(at).ends_with(b".cython_function_or_method") =>
        {
            Kind::Members(&[c"__module__", c"__qualname__"])
        }
        Kind::Opaque if is(PyExc_BaseException) && !is(PyExc_UnicodeError) => Kind::Referents,
        Kind::Opaque if says_how_to_pickle(at) => Kind::Answer(c"__reduce__"),
        Kind::Opaque if at == (*PySys_GetObject(c"implementation".as_ptr())).kind => Kind::Object,
        kind => kind,
    };
    shape.filter = filter_of(kind, names);
    shape.has_identity = has_identity(&shape, kind, names);
    shape
}

unsafe fn slots_of(kind: Ref, slots: &mut Vec<(Ref, isize)>) {
    /// `Py_T_OBJECT_EX`, the type of the members that `__slots__` makes.
    const OBJECT_MEMBER: i32 = 16;
    let start = slots.len();
    for (_, value) in entries(dict_of(kind)) {
        // A descriptor of this very class, not one put there by hand.
        if (*value).kind == &raw mut PyMemberDescr_Type && word(value, 16) == kind as usize {
            let member = word(value, 40) as *const u8;
            if *member.add(8).cast::<i32>() == OBJECT_MEMBER {
                slots.push((word(value, 24) as Ref, word(member, 16) as isize));
            }
        }
    }
    slots[start..].sort_unstable_by_key(|(_, offset)| *offset);
    slots.dedup();
}

unsafe fn is_of_runner(kind: Ref, names: &Names) -> bool {
    let Some((module, name)) = names
        .full_name(kind)
        .filter(|_| unsafe { names.is_made_by_python(kind) })
    else {
        return false;
    };
    module.starts_with(b"_tamis.")
        || matches!(
            (module.as_slice(), name.as_slice()),
            (b"_pytest.config", b"Config" | b"PytestPluginManager") | (b"_pytest.main", b"Session")
        )
}

unsafe fn filter_of(kind: Ref, names: &Names) -> Filter {
    let mut at = kind;
    while names.is_made_by_python(at) {
        if let Some((module, name)) = names.full_name(at) {
            match (module.as_slice(), name.as_slice()) {
                (b"pathlib" | b"pathlib._local", b"PurePath") => return Filter::Path,
                (b"logging", b"Logger") => return Filter::Logger,
                (b"tempfile", b"_RandomNameSequence") if at == kind => return Filter::Random,
                (b"pandas" | b"pandas.core.indexes.base", b"Index") => return Filter::Index,
                (b"pandas.core.internals.blocks", b"Block") => return Filter::Index,
                _ => {}
            }
        }
        at = type_object::base(at);
    }
    Filter::All
}

/// Whether a type in C of a library has a `__reduce__`: code of its own that tells all that an
/// instance holds. Those of the interpreter are known one by one; some warn if they are asked.
unsafe fn says_how_to_pickle(kind: Ref) -> bool {
    let name = type_name(kind);
    // `numpy.void` may be a part of an array.
    if !name.contains(&b'.')
        || name.starts_with(b"_")
        || name.starts_with(b"itertools.")
        || name == b"numpy.void"
    {
        return false;
    }
    let mut at = kind;
    while !at.is_null() && at != &raw mut PyBaseObject_Type {
        if let Some(method) = find(dict_of(at), b"__reduce__") {
            return (*method).kind != &raw mut PyFunction_Type;
        }
        at = type_object::base(at);
    }
    false
}

/// Whether programs go by the identity of such objects. Values that never
/// change do not count, nor what libraries keep in caches of their own.
unsafe fn has_identity(shape: &Shape, kind: Ref, names: &Names) -> bool {
    if !shape.is_exact {
        return names
            .full_name(kind)
            .is_none_or(|(module, _)| module != b"typing");
    }
    let is_told_by_content = matches!(shape.kind, Kind::Weak | Kind::Registry | Kind::Members(_));
    !shape.kind.is_value() && !is_told_by_content && type_name(shape.base) != b"method"
}
