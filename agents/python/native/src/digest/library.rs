//! Types of the standard library that are written in C.

use std::ffi::CStr;

use super::base;
use super::classes::{entries, is_text, type_name};
use super::functions;
use super::graph::{Label, Why};
use super::kinds::{Kind, Shape};
use super::layout::{self, TYPE_REPR, TYPE_STR, call_slot, referents};
use super::walk::{Content, Work};
use crate::content::{self, REGISTERED, Reader};
use crate::ffi::*;
use crate::guards::WEAK_TARGET;

pub unsafe fn read(object: Ref, shape: &Shape, content: &mut Content) {
    let layouts = content.walk.layouts;
    let unknown = Why::Type(shape.base);
    match shape.kind {
        Kind::DefaultDict | Kind::OrderedDict | Kind::Deque => container(object, shape, content),
        Kind::Cell => content.part("value", object, 16),
        Kind::Referents => {
            content.hasher.bytes(type_name(shape.base));
            for (at, held) in referents(object, shape.base).into_iter().enumerate() {
                content.child(Label::Index(at as u32), held);
            }
        }
        Kind::Property => match layouts.property {
            Some([getter, setter, deleter, _]) => {
                content.part("get", object, getter);
                content.part("set", object, setter);
                content.part("delete", object, deleter);
            }
            None => content.fail(unknown),
        },
        Kind::Wrapper => wrapper(object, content),
        Kind::Slice => match layouts.slice {
            Some(parts) => parts
                .into_iter()
                .for_each(|at| unsafe { content.part("bound", object, at) }),
            None => content.fail(unknown),
        },
        Kind::Alias => match layouts.alias {
            Some([origin, args]) => {
                content.part("origin", object, origin);
                content.part("arguments", object, args);
                // Whether it is unpacked: `*tuple[int]`.
                let starred = if version().1 >= 11 {
                    word(object, 48) & 0xff
                } else {
                    0
                };
                content.hasher.word(starred as u64);
            }
            None => content.fail(unknown),
        },
        Kind::Union => match layouts.union {
            Some(args) => content.part("arguments", object, args),
            None => content.fail(unknown),
        },
        Kind::Builtin => {
            // `PyCFunctionObject`: definition, self, module.
            let name = *(word(object, 16) as *const *const std::ffi::c_char);
            content.hasher.bytes(CStr::from_ptr(name).to_bytes());
            content.part("self", object, 24);
            content.part("module", object, 32);
        }
        Kind::Descriptor => {
            content.hasher.bytes(type_name(shape.base));
            content.part("class", object, 16);
            content.part("name", object, 24);
        }
        Kind::Weak | Kind::WeakProxy if layouts.abilities.weak => weak(object, content),
        Kind::LruCache => match layouts.lru {
            Some(function) => {
                content.part("function", object, function);
                content.hasher.word(word(object, function + 8) as u64);
                // What the standard library remembers it would find again.
                if !functions::is_of_library(word(object, function) as Ref, content.walk) {
                    content.aside("cache", Work::Cache(object));
                }
            }
            None => content.fail(unknown),
        },
        Kind::Registry if layouts.registry.is_some() => {
            content.part("registry", object, REGISTERED);
        }
        Kind::Members(names) => members(object, shape, names, content),
        Kind::Named => {
            members(object, shape, &[c"__name__", c"nin", c"nout", c"types"], content);
            for held in referents(object, shape.base) {
                content.child(Label::Part("referent"), held);
            }
        }
        Kind::Answer(method) => answer(object, shape, method, content),
        Kind::Spelled | Kind::Shown => spelled(object, shape, content),
        Kind::Date | Kind::Time | Kind::DateTime | Kind::Delta => time(object, shape, content),
        Kind::Lock | Kind::RLock => lock(object, shape, content),
        Kind::Queue => queue(object, shape, content),
        Kind::Array => array(object, shape, content),
        Kind::Local => local(object, shape, content),
        Kind::Capsule => {
            let name = PyCapsule_GetName(object);
            match name.is_null() {
                true => PyErr_Clear(),
                false => content.hasher.bytes(CStr::from_ptr(name).to_bytes()),
            }
        }
        Kind::Context if layouts.context => context(object, shape, content),
        Kind::Count | Kind::Repeat | Kind::TypeVar => counters(object, shape, content),
        Kind::Generator => generator(object, shape, content),
        _ => content.fail(unknown),
    }
}

unsafe fn weak(object: Ref, content: &mut Content) {
    let target = word(object, WEAK_TARGET) as Ref;
    let is_dead = target.is_null() || target == &raw mut _Py_NoneStruct;
    let referent = match is_dead {
        true => std::ptr::null_mut(),
        false => target,
    };
    content.child(Label::Part("referent"), referent);
    content.part("callback", object, 24);
}

/// What is told by its text.
unsafe fn spelled(object: Ref, shape: &Shape, content: &mut Content) {
    let slot = match shape.kind {
        Kind::Shown => TYPE_REPR,
        _ => TYPE_STR,
    };
    let text = call_slot(object, shape.base, slot);
    match content.walk.keep(text).filter(|text| is_text(*text)) {
        // The case of an exponent depends on the running context.
        Some(text) => {
            let text = text_bytes(text).unwrap_or_default().to_ascii_lowercase();
            content.hasher.bytes(&text);
        }
        None => content.fail(Why::Type(shape.base)),
    }
}

/// `staticmethod` and `classmethod`: the function, and attributes; some are copies of the
/// function's.
unsafe fn wrapper(object: Ref, content: &mut Content) {
    let (function, dict) = (word(object, 16) as Ref, word(object, 24) as Ref);
    content.part("function", object, 16);
    if dict.is_null() || (*dict).kind != &raw mut PyDict_Type {
        return;
    }
    let layout = content.walk.layouts.function;
    let layout = layout
        .filter(|_| unsafe { !function.is_null() && (*function).kind == &raw mut PyFunction_Type });
    let is_copy = |name: Ref, value: Ref| unsafe {
        let held = layout.and_then(|layout| match text_bytes(name)?.as_slice() {
            b"__doc__" => Some(word(function, layout.doc)),
            b"__annotations__" => Some(word(function, layout.annotations)),
            b"__annotate__" => Some(word(function, layout.annotate?)),
            _ => None,
        });
        held == Some(value as usize)
    };
    content
        .entries(entries(dict).filter(|(name, value)| !(is_text(*name) && is_copy(*name, *value))));
}

unsafe fn container(object: Ref, shape: &Shape, content: &mut Content) {
    let layouts = content.walk.layouts;
    let unknown = Why::Type(shape.base);
    match shape.kind {
        Kind::DefaultDict => {
            // After the dict, where `defaultdict(f)` has `f`.
            match layouts.factory {
                Some(at) => content.part("default factory", object, at),
                None => return content.fail(unknown),
            }
            content.entries(entries(object));
        }
        Kind::OrderedDict if layouts.ordered => {
            let values: crate::digest::hash::ByAddress<Ref> = entries(object)
                .map(|(key, value)| (key as usize, value))
                .collect();
            let keys = layout::ordered_keys(object);
            if keys.len() != values.len() {
                return content.fail(unknown);
            }
            content.entries(keys.into_iter().map(|key| {
                (
                    key as Ref,
                    values.get(&key).copied().unwrap_or(std::ptr::null_mut()),
                )
            }));
        }
        Kind::Deque if layouts.abilities.deques => {
            let Some(limit) = layouts.deque_limit else {
                return content.fail(unknown);
            };
            content.hasher.word(word(object, limit) as u64);
            let mut items = Vec::new();
            content::read(object, &Reader::Deque, layouts.abilities.inline, &mut items);
            content.items(&items);
        }
        _ => content.fail(unknown),
    }
}

/// The entries of an `lru_cache`, whose counters do not count. Order decides what a cache with a
/// limit forgets: it counts from where half of that is used, as what a single test adds hardly
/// makes up for more.
pub unsafe fn cache(wrapper: Ref, content: &mut Content) {
    let Some(function) = content.walk.layouts.lru else {
        return content.fail(Why::Said("cache"));
    };
    let mut entries: Vec<(Ref, Ref)> = cache_entries(wrapper, function);
    // `None` is -1.
    let limit = word(wrapper, function + 8) as isize;
    let is_ordered = limit > 0 && 2 * entries.len() as isize >= limit;
    content.unordered = !is_ordered;
    if is_ordered {
        let Some(ordered) = by_age(wrapper, entries.len()) else {
            return content.fail(Why::Said("cache"));
        };
        entries = ordered;
    }
    if content.walk.is_later {
        entries.retain(|(key, _)| unsafe { !base::is_single(*key) });
    }
    content.hasher.word(entries.len() as u64);
    for (key, value) in entries {
        content.pair(key, value);
    }
}

/// Keys and results, the oldest first: the wrapper begins as a link does, and
/// closes their ring.
unsafe fn by_age(wrapper: Ref, count: usize) -> Option<Vec<(Ref, Ref)>> {
    let mut found = Vec::with_capacity(count);
    let mut at = word(wrapper, 24) as Ref;
    while at != wrapper {
        if at.is_null() || found.len() == count {
            return None;
        }
        found.push((word(at, 40) as Ref, word(at, 48) as Ref));
        at = word(at, 24) as Ref;
    }
    (found.len() == count).then_some(found)
}

/// Keys and results. Where there is a limit, the cache holds the links of a
/// list: (previous, next, hash, key, result).
pub unsafe fn cache_entries(wrapper: Ref, function: isize) -> Vec<(Ref, Ref)> {
    let held = word(wrapper, function - 16) as Ref;
    let is_link = |value: Ref| unsafe { type_name((*value).kind).ends_with(b"_lru_list_elem") };
    entries(held)
        .map(|(key, value)| match is_link(value) {
            true => (key, unsafe { word(value, 48) } as Ref),
            false => (key, value),
        })
        .collect()
}

/// Accessors in C of an exact type, or of the base in C: none of them looks
/// anything up in a class of the program.
unsafe fn members(
    object: Ref,
    shape: &Shape,
    names: &'static [&'static CStr],
    content: &mut Content,
) {
    if !shape.is_exact {
        return content.fail(Why::Type(shape.base));
    }
    if type_name(shape.base) == b"array.array" {
        return answer(object, shape, c"tobytes", content);
    }
    for name in names {
        let value = PyObject_GetAttrString(object, name.as_ptr());
        match content.walk.keep(value) {
            Some(value) => content.child(Label::Part("member"), value),
            None => return content.fail(Why::Type(shape.base)),
        }
    }
}

/// A generator that has not begun is its code, by content, as nobody knows who will run that, and what
/// its frame holds: arguments, and its function with the variables around it. One that has ended
/// holds nothing. In the middle it has a stack that nobody can read.
unsafe fn generator(object: Ref, shape: &Shape, content: &mut Content) {
    for name in [c"gi_running", c"gi_suspended"] {
        let state = PyObject_GetAttrString(object, name.as_ptr());
        let state = content.walk.keep(state);
        if state.is_none_or(|state| state != &raw mut _Py_FalseStruct) {
            return content.fail(Why::Type(shape.base));
        }
    }
    members(
        object,
        shape,
        &[c"gi_code", c"__name__", c"__qualname__"],
        content,
    );
    // Somebody may have asked for the frame as an object.
    let held = referents(object, shape.base).into_iter();
    let held = held.filter(|held| unsafe { (**held).kind != &raw mut PyFrame_Type });
    for (at, held) in held.enumerate() {
        content.child(Label::Index(at as u32), held);
    }
}

/// What the method of a type in C answers for an object, without arguments.
unsafe fn call(kind: Ref, method: &CStr, object: Ref, content: &mut Content) -> Option<Ref> {
    let method = PyObject_GetAttrString(kind, method.as_ptr());
    let method = content.walk.keep(method)?;
    let answer = PyObject_CallFunctionObjArgs(method, object, std::ptr::null_mut::<Object>());
    content.walk.keep(answer)
}

/// What a method of the base in C returns; called on the base, so that no
/// class of the program takes part.
unsafe fn answer(object: Ref, shape: &Shape, method: &CStr, content: &mut Content) {
    let unknown = Why::Type(shape.base);
    let is_own = || unsafe {
        content.walk.names.full_name((*object).kind).is_some_and(|(module, _)| {
            let package = |name: &[u8]| name.split(|byte| *byte == b'.').next().map(<[u8]>::to_vec);
            package(&module) == package(type_name(shape.base))
        })
    };
    if method != c"getstate" && !shape.is_exact && !is_own() {
        // These may ask the instance's class or attributes, which the program makes.
        return content.fail(unknown);
    }
    match call(shape.base, method, object, content) {
        Some(answer) => content.child(Label::Part("state"), answer),
        None => content.fail(unknown),
    }
    if type_name(shape.base) == b"array.array" {
        let code = PyObject_GetAttrString(object, c"typecode".as_ptr());
        if let Some(code) = content.walk.keep(code) {
            content.child(Label::Part("type"), code);
        }
    }
}

/// `datetime`: hash, whether there is a zone, packed bytes, fold, zone. A
/// `timedelta`: hash, days, seconds, microseconds. Public since 3.6.
unsafe fn time(object: Ref, shape: &Shape, content: &mut Content) {
    let bytes = |from: usize, to: usize| unsafe {
        std::slice::from_raw_parts(object.cast::<u8>().add(from), to - from)
    };
    let has_zone = || bytes(24, 25)[0] != 0;
    match shape.kind {
        Kind::Date => content.hasher.bytes(bytes(25, 29)),
        Kind::Delta => content.hasher.bytes(bytes(24, 36)),
        Kind::Time => {
            content.hasher.bytes(bytes(25, 32));
            if has_zone() {
                content.part("tzinfo", object, 32);
            }
        }
        _ => {
            content.hasher.bytes(bytes(25, 36));
            if has_zone() {
                content.part("tzinfo", object, 40);
            }
        }
    }
}

/// Free locks are equal; a held one has a holder, which is no value.
unsafe fn lock(object: Ref, shape: &Shape, content: &mut Content) {
    let text = call_slot(object, shape.base, TYPE_REPR);
    let is_free = content.walk.keep(text).is_some_and(|text| {
        unsafe { text_bytes(text) }.is_some_and(|text| text.starts_with(b"<unlocked "))
    });
    if !is_free {
        content.fail(Why::Said("a lock that is held"));
    }
}

/// Of bytes in an array that are looked at in each turn in which it may change.
const MOST_BYTES: usize = 4 << 20;

/// `numpy` tells dtype, shape, order and content at once; not whether it may be written to, and which
/// part of whose memory it has. `PyArrayObject`: data, number of dimensions, shape, strides, base.
unsafe fn array(object: Ref, shape: &Shape, content: &mut Content) {
    let exact = match shape.is_exact {
        true => Some(object),
        // One of the type itself with the same memory, of which a class of the program says nothing.
        false => {
            let view = PyObject_GetAttrString(shape.base, c"view".as_ptr());
            content.walk.keep(view).and_then(|view| unsafe {
                let nothing = std::ptr::null_mut::<Object>();
                let view = PyObject_CallFunctionObjArgs(view, object, shape.base, nothing);
                content.walk.keep(view)
            })
        }
    };
    let mut ask = |of: Ref, name: &CStr| {
        // SAFETY: the accessors of C types.
        unsafe { content.walk.keep(PyObject_GetAttrString(of, name.as_ptr())) }
    };
    let asked = exact.and_then(|exact| {
        let (size, flags) = (ask(exact, c"nbytes")?, ask(exact, c"flags")?);
        Some((exact, size, flags, ask(exact, c"strides")?))
    });
    let Some((exact, size, flags, strides)) = asked else {
        return content.fail(Why::Type(shape.base));
    };
    if PyLong_AsLong(size) as usize > MOST_BYTES {
        return content.fail(Why::Said("an array of more than 4 MiB"));
    }
    let flags = ask(flags, c"num");
    if let Some(flags) = flags {
        content.child(Label::Part("flags"), flags);
    }
    content.child(Label::Part("strides"), strides);
    let (data, base) = (word(object, 16), word(object, 48) as Ref);
    if !base.is_null() {
        if PyType_IsSubtype((*base).kind, shape.base) == 0 {
            return content.fail(Why::Said("an array in the memory of something else"));
        }
        content.hasher.word(data.wrapping_sub(word(base, 16)) as u64);
        content.child(Label::Part("base"), base);
    }
    match call(shape.base, c"__reduce__", exact, content) {
        Some(reduced) => content.child(Label::Part("state"), reduced),
        None => content.fail(Why::Type(shape.base)),
    }
}

unsafe fn queue(object: Ref, shape: &Shape, content: &mut Content) {
    match call(shape.base, c"empty", object, content) {
        Some(answer) if answer == &raw mut _Py_TrueStruct => {}
        _ => content.fail(Why::Said("a queue that is not empty")),
    }
}

/// What `threading.local` was made with, and the attributes that one thread set; those of
/// several have no one value. (Values are taken while no other thread runs that Python knows,
/// and attributes go with their thread.) The collector sees a tuple and a dict of arguments, if
/// there are any, and then a dict from threads to their attributes. The attributes that a class
/// of the program adds lie elsewhere.
unsafe fn local(object: Ref, shape: &Shape, content: &mut Content) {
    let is = |held: &Ref, kind: *mut Object| unsafe { (**held).kind == kind };
    let held = referents(object, shape.base);
    let dicts = held.iter().filter(|held| is(held, &raw mut PyDict_Type));
    let (keywords, threads) = match dicts.copied().collect::<Vec<Ref>>()[..] {
        [threads] => (std::ptr::null_mut(), threads),
        [keywords, threads] => (keywords, threads),
        _ => return content.fail(Why::Type(shape.base)),
    };
    let attributes: Vec<Ref> = entries(threads).map(|(_, of_one)| of_one).collect();
    if attributes.len() > 1 {
        return content.fail(Why::Said("a thread-local of several threads"));
    }
    if !attributes
        .iter()
        .all(|of_one| is(of_one, &raw mut PyDict_Type))
    {
        return content.fail(Why::Type(shape.base));
    }
    for arguments in held
        .into_iter()
        .filter(|held| is(held, &raw mut PyTuple_Type))
    {
        content.child(Label::Part("arguments"), arguments);
    }
    content.child(Label::Part("keywords"), keywords);
    // A thread that looks at it for the first time calls `__init__` of a class of the program.
    if !shape.is_exact {
        content.hasher.word(attributes.len() as u64);
    }
    for of_one in attributes {
        // Else nothing set would not be the same as never looked at.
        if entries(of_one).next().is_some() {
            content.child(Label::Part("attributes"), of_one);
        }
    }
}

/// Name, default, and the value in the context that runs: that of the main thread, in which
/// tests begin.
unsafe fn context(object: Ref, shape: &Shape, content: &mut Content) {
    let mut value = std::ptr::null_mut();
    if PyContextVar_Get(object, std::ptr::null_mut(), &mut value) != 0 {
        PyErr_Clear();
        return content.fail(Why::Type(shape.base));
    }
    let is_set = |value: &Ref| unsafe { *value != word(object, 24) as Ref };
    let value = content.walk.keep(value).filter(is_set);
    content.child(Label::Part("value"), value.unwrap_or(std::ptr::null_mut()));
    content.part("name", object, 16);
    content.part("default", object, 24);
}

unsafe fn counters(object: Ref, shape: &Shape, content: &mut Content) {
    match shape.kind {
        // Next as a C number, or as objects: next, step.
        Kind::Count if type_object::basicsize(shape.base) == 40 && version().1 <= 13 => {
            content.hasher.word(word(object, 16) as u64);
            content.part("next", object, 24);
            content.part("step", object, 32);
        }
        Kind::Repeat if type_object::basicsize(shape.base) == 32 && version().1 <= 13 => {
            content.part("value", object, 16);
            content.hasher.word(word(object, 24) as u64);
        }
        // Bounds that nobody asked for yet are functions.
        Kind::TypeVar => {
            let name = PyObject_GetAttrString(object, c"__name__".as_ptr());
            match content.walk.keep(name) {
                Some(name) => content.child(Label::Part("name"), name),
                None => return content.fail(Why::Type(shape.base)),
            }
            for flag in [
                c"__covariant__",
                c"__contravariant__",
                c"__infer_variance__",
            ] {
                let value = PyObject_GetAttrString(object, flag.as_ptr());
                if let Some(value) = content.walk.keep(value) {
                    content.child(Label::Part("variance"), value);
                }
            }
            for held in referents(object, shape.base) {
                content.child(Label::Part("bound"), held);
            }
        }
        _ => content.fail(Why::Type(shape.base)),
    }
}
