//! Functions by reference and by what they hold; code where no reference can
//! tell it from other code of its name; classes that no name leads to.

use super::classes::{bound, dict_of, entries, find, is_class, is_empty_dict, is_text};
use super::graph::{Label, Why};
use super::hash::{Digest, Hasher};
use super::homes::is_described;
use super::layout::{FunctionLayout, Layouts, TYPE_BASES};
use super::roots::mark;
use super::walk::{Content, Walk, Work};
use super::{codes, noise};
use crate::ffi::*;

const HIDDEN: Why = Why::Said("function");

pub unsafe fn function(object: Ref, content: &mut Content) {
    let Some(layout) = content.walk.layouts.function else {
        return content.fail(HIDDEN);
    };
    let part = |offset| unsafe { word(object, offset) as Ref };
    let code = part(layout.code);
    if is_in(code, AGENT, content.walk) {
        return of_agent(part(layout.closure), code, content);
    }
    match reference(code, content.walk) {
        Some(reference) => content.hasher.digest(reference),
        None => {
            content.hasher.word(0);
            content.child(Label::Part("code"), code);
        }
    }
    content.part("name", object, layout.name);
    content.part("qualified name", object, layout.qualified_name);
    content.part("module", object, layout.module);
    content.part("defaults", object, layout.defaults);
    content.part("keyword defaults", object, layout.keyword_defaults);
    closure(part(layout.closure), code, content);
    description(object, layout, content);
    // With which object a caller marks that an argument is missing.
    let mut marks = Vec::new();
    let defaults = part(layout.defaults);
    if !defaults.is_null() && (*defaults).kind == &raw mut PyTuple_Type {
        marks.extend((0..PyTuple_Size(defaults)).map(|at| mark(PyTuple_GetItem(defaults, at))));
    }
    let defaults = part(layout.keyword_defaults);
    if !defaults.is_null() && (*defaults).kind == &raw mut PyDict_Type {
        marks.extend(entries(defaults).map(|(_, value)| mark(value)));
    }
    if marks.iter().any(|mark| *mark != 0) {
        content.marks = marks;
    }
}

/// Documentation and annotations, where no cell of their own has them.
unsafe fn description(function: Ref, layout: FunctionLayout, content: &mut Content) {
    let doc = held_doc(function, layout);
    let level = writer(function, doc, layout, content.walk.layouts);
    let doc = match level {
        Some(_) => std::ptr::null_mut(),
        None => doc,
    };
    let is_annotated = is_annotated(function, layout);
    let [has_doc, has_annotations] = match doc.is_null() && !is_annotated {
        true => [true; 2],
        false => is_described(function, layout, content.walk),
    };
    let doc = if has_doc { std::ptr::null_mut() } else { doc };
    content.child(Label::Part("documentation"), doc);
    // Who reads the documentation reads that of this function: another one is another value.
    content.hasher.word(level.unwrap_or_default());
    let is_own = is_annotated && !has_annotations;
    content.hasher.word(u64::from(is_own));
    if is_own {
        content.aside("annotations", Work::Annotations(function));
    }
}

/// Kinds of code that a call alone does not run: generators and coroutines.
const WAITS: i64 = 0x20 | 0x80 | 0x100 | 0x200;

/// The agent tells of no longer names.
const LONGEST_NAME: usize = 200;

/// Whether a member of a class, or of the module if `qualified` has no dot, is a function of the
/// project that was written there, and has nothing but how it can be called: signature, defaults
/// and closure. Whoever calls it runs its code, or gets a `TypeError` that tells. `false` before
/// 3.12: C code could drop such errors before they were made.
pub unsafe fn is_plain(value: Ref, module: &[u8], qualified: &[u8], walk: &mut Walk) -> bool {
    let layout = match walk.layouts.function {
        Some(layout) if (*value).kind == &raw mut PyFunction_Type && version().1 >= 12 => layout,
        _ => return false,
    };
    let is = |text: Ref, wanted: &[u8]| unsafe {
        is_text(text) && text_of(text).is_some_and(|text| *text == *wanted)
    };
    let dict = _PyObject_GetDictPtr(value);
    let has_attributes = !dict.is_null() && !(*dict).is_null() && !is_empty_dict(*dict);
    if has_attributes
        || qualified.len() > LONGEST_NAME
        || !is(word(value, layout.module) as Ref, module)
        || !is(word(value, layout.qualified_name) as Ref, qualified)
    {
        return false;
    }
    let code = word(value, layout.code) as Ref;
    if !crate::codes::is_written_in_project(code)
        || codes::number(code, c"co_flags").is_none_or(|flags| flags & WAITS != 0)
    {
        return false;
    }
    let name = PyObject_GetAttrString(code, c"co_qualname".as_ptr());
    match walk.keep(name) {
        Some(name) => is(name, qualified),
        None => {
            PyErr_Clear();
            false
        }
    }
}

/// What stands for the files of the agent itself, and for those of libraries
/// that keep no state in caches.
const AGENT: &[u8] = b"*agent/";
const LIBRARY: &[u8] = b"*library/";
const SITE: &[u8] = b"*site/";

unsafe fn is_in(code: Ref, place: &[u8], walk: &mut Walk) -> bool {
    codes::file(code, walk).is_some_and(|file| file.place.as_deref() == Some(place))
}

/// Whether a function of Python code stands in such a library.
pub unsafe fn is_of_library(function: Ref, walk: &mut Walk) -> bool {
    match walk.layouts.function {
        Some(layout) if (*function).kind == &raw mut PyFunction_Type => {
            is_in(word(function, layout.code) as Ref, LIBRARY, walk)
        }
        _ => false,
    }
}

/// What a wrapper of the agent does is none of the program's state; the
/// function that it wraps for the program is.
unsafe fn of_agent(cells: Ref, code: Ref, content: &mut Content) {
    let name = codes::name(code, content.walk.layouts);
    content.child(Label::Part("name"), name);
    if cells.is_null() || (*cells).kind != &raw mut PyTuple_Type {
        return;
    }
    let names = PyObject_GetAttrString(code, c"co_freevars".as_ptr());
    let Some(names) = content.walk.keep(names) else {
        return content.fail(HIDDEN);
    };
    for at in 0..PyTuple_Size(cells).min(PyTuple_Size(names)) {
        if text_of(PyTuple_GetItem(names, at)).as_deref() == Some(b"function") {
            content.child(Label::Part("function"), PyTuple_GetItem(cells, at));
        }
    }
}

/// The variables of enclosing functions, except `singledispatch`'s cache.
unsafe fn closure(cells: Ref, code: Ref, content: &mut Content) {
    if cells.is_null() || (*cells).kind != &raw mut PyTuple_Type {
        return content.hasher.word(0);
    }
    let mut names = None;
    if codes::file(code, content.walk).is_some_and(|file| file.is_functools) {
        let free = PyObject_GetAttrString(code, c"co_freevars".as_ptr());
        names = content.walk.keep(free);
    }
    for at in 0..PyTuple_Size(cells) {
        let (cell, mut skip) = (PyTuple_GetItem(cells, at), false);
        if let Some(names) = names
            && at < PyTuple_Size(names)
        {
            let name = text_of(PyTuple_GetItem(names, at)).unwrap_or_default();
            skip = matches!(name.as_ref(), b"dispatch_cache" | b"cache_token");
        }
        if !skip {
            content.child(Label::Index(at as u32), cell);
        }
    }
}

/// File, name and number of a definition; None if only the code itself tells
/// it from others: lambdas, and what no source file shows.
unsafe fn reference(code: Ref, walk: &mut Walk) -> Option<Digest> {
    if let Some(known) = walk.codes.get(&(code as usize)) {
        return (*known != [0, 0]).then_some(*known);
    }
    let found = find_reference(code, walk);
    walk.codes.insert(code as usize, found.unwrap_or_default());
    found
}

unsafe fn find_reference(code: Ref, walk: &mut Walk) -> Option<Digest> {
    let (file, name) = (codes::file(code, walk)?, codes::name(code, walk.layouts));
    if !is_text(name) {
        return None;
    }
    let name = text_of(name)?;
    let line = codes::first_line(code, walk.layouts)?;
    let definition = file.source.as_ref()?.definition(&name, line)?;
    let mut hasher = file.start.clone();
    hasher.bytes(&name);
    hasher.bytes(definition.within);
    hasher.word(u64::from(definition.ordinal));
    // That of an installed package changes with the package only.
    if ![Some(LIBRARY), Some(SITE)].contains(&file.place.as_deref()) {
        signature(code, &mut hasher)?;
    }
    Some(hasher.finish())
}

/// Whether a docstring stands in the constants, from 3.14 on.
const HAS_DOCSTRING: i64 = 0x400_0000;

/// How the function can be called, and whether it is a generator or coroutine.
unsafe fn signature(code: Ref, hasher: &mut Hasher) -> Option<()> {
    const STARRED: [i64; 2] = [4, 8];
    let number = |name| unsafe { codes::number(code, name) };
    let flags = number(c"co_flags")? & !HAS_DOCSTRING;
    let (positional, by_keyword) = (number(c"co_argcount")?, number(c"co_kwonlyargcount")?);
    for value in [
        flags,
        positional,
        by_keyword,
        number(c"co_posonlyargcount")?,
    ] {
        hasher.word(value as u64);
    }
    let starred = STARRED.into_iter().filter(|flag| flags & flag != 0).count();
    let names = PyObject_GetAttrString(code, c"co_varnames".as_ptr());
    if names.is_null() {
        PyErr_Clear();
        return None;
    }
    for at in 0..(positional + by_keyword) as isize + starred as isize {
        hasher.bytes(&text_bytes(PyTuple_GetItem(names, at)).unwrap_or_default());
    }
    Py_DecRef(names);
    Some(())
}

/// What a code object does, without where it stands.
pub unsafe fn code(object: Ref, content: &mut Content) {
    let text = |value| unsafe {
        let text = if is_text(value) { text_of(value) } else { None };
        text.unwrap_or_default()
    };
    let layouts = content.walk.layouts;
    let (file, name) = (
        codes::file_name(object, layouts),
        codes::name(object, layouts),
    );
    // `attrs` begins a hash with that of the class's name as text, which is
    // another one in each process.
    let is_seeded = *text(name) == *b"__hash__" && text(file).starts_with(b"<attrs generated ");
    for (at, name) in codes::members().into_iter().enumerate() {
        if is_seeded && at == codes::CONSTANTS {
            continue;
        }
        let value = PyObject_GetAttr(object, name);
        match content.walk.keep(value) {
            Some(value) if codes::NAMES.contains(&at) => names(value, content),
            Some(value) => content.child(Label::Part("code"), value),
            // `try` blocks have a table from 3.11 on.
            None if at == codes::TABLE => {}
            None => return content.fail(Why::Said("code")),
        }
    }
}

/// A tuple of names, which nobody else holds: it needs no node.
unsafe fn names(tuple: Ref, content: &mut Content) {
    let is_tuple = (*tuple).kind == &raw mut PyTuple_Type;
    let size = if is_tuple { PyTuple_Size(tuple) } else { 0 };
    let items = || (0..size).map(|at| unsafe { PyTuple_GetItem(tuple, at) });
    if !is_tuple || !items().all(|item| unsafe { is_text(item) }) {
        return content.child(Label::Part("code"), tuple);
    }
    content.hasher.word(3);
    content.hasher.word(size as u64);
    for item in items() {
        content.child(Label::Part("name"), item);
    }
}

/// Up to 3.13, a dict, or a tuple of names and values until somebody asks.
pub unsafe fn annotations(function: Ref, content: &mut Content) {
    let Some(layout) = content.walk.layouts.function else {
        return content.fail(HIDDEN);
    };
    content.hasher = Hasher::new("annotations");
    let held = word(function, layout.annotations) as Ref;
    if held.is_null() {
        if let Some(annotate) = layout.annotate {
            content.part("annotate", function, annotate);
        }
    } else if (*held).kind == &raw mut PyDict_Type {
        content.entries(entries(held));
    } else if (*held).kind == &raw mut PyTuple_Type {
        let item = |at| unsafe { PyTuple_GetItem(held, at) };
        content.entries((0..PyTuple_Size(held) / 2).map(|at| (item(2 * at), item(2 * at + 1))));
    } else {
        content.fail(Why::Type((*held).kind));
    }
}

/// The documentation of a function if it is not the text in its code, nor that of the function
/// that it wraps: None, or what somebody has set. The agent tells who reads the others.
pub unsafe fn made_doc(function: Ref, layout: FunctionLayout, layouts: &Layouts) -> Ref {
    let doc = held_doc(function, layout);
    match writer(function, doc, layout, layouts) {
        Some(_) => std::ptr::null_mut(),
        None => doc,
    }
}

unsafe fn held_doc(function: Ref, layout: FunctionLayout) -> Ref {
    match word(function, layout.doc) as Ref {
        doc if doc.is_null() => &raw mut _Py_NoneStruct,
        doc => doc,
    }
}

/// Decorators around one function, of which the agent follows as many.
const MOST_WRAPPERS: u64 = 16;

/// The function whose code has this documentation: 0 is the function itself, 1 the one that it
/// wraps, and so on.
unsafe fn writer(
    function: Ref,
    doc: Ref,
    layout: FunctionLayout,
    layouts: &Layouts,
) -> Option<u64> {
    let mut function = function;
    for level in 0..=MOST_WRAPPERS {
        if doc == written_doc(word(function, layout.code) as Ref, layouts) {
            return Some(level);
        }
        let dict = _PyObject_GetDictPtr(function);
        if dict.is_null() || (*dict).is_null() {
            return None;
        }
        function = find(*dict, b"__wrapped__")?;
        if (*function).kind != &raw mut PyFunction_Type {
            return None;
        }
    }
    None
}

/// What a new function with this code has for documentation.
unsafe fn written_doc(code: Ref, layouts: &Layouts) -> Ref {
    let constants = codes::constants(code, layouts);
    let flags = || unsafe { codes::number(code, c"co_flags") };
    let has = version().1 < 14 || flags().is_none_or(|at| at & HAS_DOCSTRING != 0);
    let is_tuple = !constants.is_null() && (*constants).kind == &raw mut PyTuple_Type;
    if has && is_tuple && PyTuple_Size(constants) > 0 {
        let first = PyTuple_GetItem(constants, 0);
        if is_text(first) {
            return first;
        }
    }
    &raw mut _Py_NoneStruct
}

/// Whether a function has annotations. Who asks one that has none makes an empty dict there.
pub unsafe fn is_annotated(function: Ref, layout: FunctionLayout) -> bool {
    let has = |offset| unsafe {
        let held = word(function, offset) as Ref;
        !(held.is_null() || held == &raw mut _Py_NoneStruct || is_empty_dict(held))
    };
    has(layout.annotations) || layout.annotate.is_some_and(has)
}

/// A class that is not where its name says: its content.
pub unsafe fn class(object: Ref, content: &mut Content) {
    if let Some((module, name)) = content.walk.names.full_name(object) {
        content.hasher.bytes(&module);
        content.hasher.bytes(&name);
    }
    content.part("bases", object, TYPE_BASES);
    let dict = dict_of(object);
    if dict.is_null() {
        return content.fail(Why::Type(object));
    }
    content.entries(bound(dict).filter(|(name, _)| unsafe {
        !(is_text(*name) && noise::is_member(&text_of(*name).unwrap_or_default()))
    }));
}

/// The function behind a member of a class or module; null if there is none.
pub unsafe fn behind(value: Ref) -> Ref {
    let kind = (*value).kind;
    if kind == &raw mut PyFunction_Type {
        return value;
    }
    if kind == &raw mut PyStaticMethod_Type || kind == &raw mut PyClassMethod_Type {
        let held = word(value, 16) as Ref;
        if !held.is_null() && !is_class(held) && (*held).kind == &raw mut PyFunction_Type {
            return held;
        }
    }
    std::ptr::null_mut()
}
