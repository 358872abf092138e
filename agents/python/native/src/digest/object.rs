//! What one object holds, put into its node. Reads types, slots and dictionaries as C sees
//! them; runs no code of the program.

use super::classes::{bound, entries, is_text};
use super::graph::{Label, Why};
use super::homes::is_at_home;
use super::kinds::{Kind, Shape};
use super::noise::{self, Taken};
use super::scalars::scalar;
use super::walk::{Content, Walk, Work};
use super::{functions, library};
use crate::content::{self, FIRST_ADDRESS, Reader};
use crate::ffi::*;
use crate::serials::{self, Made};

/// Reads `object` into its node.
pub unsafe fn read(object: Ref, content: &mut Content) {
    let kind = (*object).kind;
    let shape = content.walk.shape(kind);
    let shape = shape.as_ref();
    content.has_identity = shape.has_identity;
    if shape.kind == Kind::Opaque {
        return content.fail(Why::Type(shape.base));
    }
    match shape.class {
        Some(class) => content.hasher.digest(class),
        None => content.child(Label::Part("class"), kind),
    }
    base(object, shape, content);
    for (name, offset) in &shape.slots {
        slot_or_attribute(object, shape, *name, word(object, *offset) as Ref, content);
    }
    let has_its_way = matches!(shape.kind, Kind::Class | Kind::Module | Kind::Wrapper);
    if shape.has_attributes && !has_its_way {
        attributes(object, shape, content);
    }
}

/// What the C type holds.
unsafe fn base(object: Ref, shape: &Shape, content: &mut Content) {
    match shape.kind {
        Kind::Object => {}
        Kind::Single | Kind::Opaque => content.fail(Why::Type(shape.base)),
        Kind::Int if shape.is_exact => match content.walk.object_at(object) {
            Some(meant) => content.child(Label::Part("address"), meant),
            None => scalar(object, shape.kind, &mut content.hasher),
        },
        Kind::Bool | Kind::Int | Kind::Complex | Kind::Text | Kind::Bytes => {
            scalar(object, shape.kind, &mut content.hasher);
        }
        Kind::Float => {
            scalar(object, shape.kind, &mut content.hasher);
            content.has_identity = true;
        }
        Kind::ByteArray => {
            let start = PyByteArray_AsString(object).cast();
            let size = PyByteArray_Size(object) as usize;
            content
                .hasher
                .bytes(std::slice::from_raw_parts(start, size));
        }
        Kind::Tuple => {
            let start = object.cast::<usize>().add(3);
            let items = std::slice::from_raw_parts(start, PyTuple_Size(object) as usize);
            content.items(items);
        }
        Kind::List => content.items(content::list_items(object)),
        Kind::Dict => content.entries(entries(object)),
        Kind::Set | Kind::FrozenSet if shape.is_exact => content.members_of_set(object),
        Kind::Set | Kind::FrozenSet => content.aside("members", Work::Members(object)),
        Kind::Class => functions::class(object, content),
        Kind::Module => {
            let globals = bound(PyModule_GetDict(object));
            content.entries(globals.filter(|(name, _)| unsafe {
                !(is_text(*name) && noise::is_global(&text_of(*name).unwrap_or_default()))
            }));
        }
        Kind::Function => functions::function(object, content),
        Kind::Code => functions::code(object, content),
        _ => library::read(object, shape, content),
    }
}

unsafe fn attributes(object: Ref, shape: &Shape, content: &mut Content) {
    let mut words = Vec::new();
    let layouts = content.walk.layouts;
    if layouts.names {
        content::read(
            object,
            &Reader::Attributes,
            layouts.abilities.inline,
            &mut words,
        );
    } else if type_object::flags((*object).kind) & type_object::MANAGED_DICT == 0 {
        words.push(0);
        let dict = _PyObject_GetDictPtr(object);
        if !dict.is_null() && !(*dict).is_null() {
            words.extend(entries(*dict).flat_map(|(key, value)| [key as usize, value as usize]));
        }
    } else {
        words.push(0);
        // The accessor of the C API, where the layout is not known.
        match content
            .walk
            .keep(PyObject_GenericGetDict(object, std::ptr::null_mut()))
        {
            Some(dict) => {
                words.extend(entries(dict).flat_map(|(key, value)| [key as usize, value as usize]));
            }
            None => return content.fail(Why::Type((*object).kind)),
        }
    }
    for pair in words[1..].chunks_exact(2) {
        if pair[0] < FIRST_ADDRESS {
            return content.fail(Why::Type((*object).kind));
        }
        let name = pair[0] as Ref;
        // A cell of its own has these.
        let are_marks = shape.kind == Kind::Function
            && is_text(name)
            && text_of(name).as_deref() == Some(noise::MARKS)
            && is_at_home(object, content.walk);
        if !are_marks {
            slot_or_attribute(object, shape, name, pair[1] as Ref, content);
        }
    }
}

unsafe fn slot_or_attribute(
    object: Ref,
    shape: &Shape,
    name: Ref,
    value: Ref,
    content: &mut Content,
) {
    if !is_text(name) {
        content.child(Label::Part("name"), name);
        return content.child(Label::Part("value"), value);
    }
    let text = text_of(name).unwrap_or_default();
    if shape.kind == Kind::Function && noise::is_of_function(&text) {
        return;
    }
    let taken = shape.filter.takes(&text);
    if matches!(taken, Taken::Not) {
        return;
    }
    content.hasher.bytes(&text);
    match serials::made((*object).kind, &text, value) {
        Some(Made::ByImport(import, at)) => {
            content.hasher.bytes(b"made by import");
            content.hasher.word(import);
            return content.hasher.word(at);
        }
        Some(Made::ByTest(test, at)) => {
            content.hasher.bytes(b"made by test");
            content.hasher.bytes(&test);
            return content.hasher.word(at);
        }
        None => {}
    }
    match taken {
        Taken::Named if !value.is_null() => {
            let name = named(value, content.walk);
            content.child(Label::Attribute(name), name);
        }
        Taken::Types if !value.is_null() && (*value).kind == &raw mut PyList_Type => {
            for item in content::list_items(value) {
                content.child(Label::Attribute(name), (*(*item as Ref)).kind);
            }
            content.hasher.word(0);
        }
        _ => content.child(Label::Attribute(name), value),
    }
}

/// The `name` attribute of an instance if that is a text, else its class.
unsafe fn named(object: Ref, walk: &mut Walk) -> Ref {
    let mut words = Vec::new();
    if walk.layouts.names && type_object::dictoffset((*object).kind) != 0 {
        let inline = walk.layouts.abilities.inline;
        content::read(object, &Reader::Attributes, inline, &mut words);
        for pair in words[1..].chunks_exact(2) {
            let [name, value] = [pair[0] as Ref, pair[1] as Ref];
            if pair[0] >= FIRST_ADDRESS
                && is_text(name)
                && is_text(value)
                && text_of(name).as_deref() == Some(b"name")
            {
                return value;
            }
        }
    }
    (*object).kind
}
