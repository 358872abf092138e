//! Which functions have cells of their own for documentation and annotations:
//! those that stand where their module and qualified name say.

use std::borrow::Cow;

use super::classes::{dict_of, entries, is_class, is_text, module_name};
use super::functions::{behind, made_doc};
use super::hash::ByText;
use super::layout::FunctionLayout;
use super::noise;
use super::walk::Walk;
use crate::ffi::*;

/// By name: functions, properties and classes of a module or class.
type Members = ByText<Ref>;

/// By module and qualified name of the holder; None if that is elsewhere.
pub type Homes = ByText<Option<Members>>;

/// Whether cells have a function's documentation, and its annotations. Those
/// that `functools.wraps` copied are the same objects.
pub unsafe fn is_described(function: Ref, layout: FunctionLayout, walk: &mut Walk) -> [bool; 2] {
    let Some((module, there)) = home_of(function, layout, walk) else {
        return [false; 2];
    };
    let mut doc = 0;
    let mut other = behind(there);
    if (*there).kind == &raw mut PyProperty_Type
        && let Some([getter, .., documentation]) = walk.layouts.property
    {
        doc = word(there, documentation);
        other = word(there, getter) as Ref;
    }
    if other.is_null() || (*other).kind != &raw mut PyFunction_Type {
        return [doc != 0 && doc == word(function, layout.doc), false];
    }
    let of_module = word(other, layout.module) as Ref;
    let is_of_module = is_text(of_module) && text_of(of_module).as_ref() == Some(&module);
    if doc == 0 && is_of_module {
        doc = made_doc(other, layout, walk.layouts) as usize;
    }
    let none = (&raw mut _Py_NoneStruct) as usize;
    let is_same = |offset| unsafe {
        let held = word(function, offset);
        held != 0 && held != none && held == word(other, offset)
    };
    [
        doc != 0 && doc == word(function, layout.doc),
        is_of_module && (is_same(layout.annotations) || layout.annotate.is_some_and(is_same)),
    ]
}

/// Whether a function stands where its module and qualified name say.
pub unsafe fn is_at_home(function: Ref, walk: &mut Walk) -> bool {
    let Some(layout) = walk.layouts.function else {
        return false;
    };
    let home = home_of(function, layout, walk);
    home.is_some_and(|(_, there)| behind(there) == function)
}

/// The module of a function, and what stands at its qualified name there.
unsafe fn home_of<'a>(
    function: Ref,
    layout: FunctionLayout,
    walk: &mut Walk,
) -> Option<(Cow<'a, [u8]>, Ref)> {
    let text = |offset| unsafe {
        let text = word(function, offset) as Ref;
        is_text(text).then(|| text_of(text)).flatten()
    };
    let (module, name) = (text(layout.module)?, text(layout.qualified_name)?);
    let there = at_home(&module, &name, walk)?;
    Some((module, there))
}

/// What stands at a qualified name, on the way that `roots` goes.
unsafe fn at_home(module: &[u8], qualified: &[u8], walk: &mut Walk) -> Option<Ref> {
    let (holder, name) = match qualified.iter().rposition(|byte| *byte == b'.') {
        Some(at) => (&qualified[..at], &qualified[at + 1..]),
        None => (&qualified[..0], qualified),
    };
    let place = [module, b":", holder].concat();
    if !walk.homes.contains_key(&place) {
        let found = members(module, holder, walk);
        walk.homes.insert(place.clone(), found);
    }
    walk.homes.get(&place)?.as_ref()?.get(name).copied()
}

unsafe fn members(module: &[u8], holder: &[u8], walk: &mut Walk) -> Option<Members> {
    let of_module = holder.is_empty();
    let dict = if of_module {
        let found = walk.names.module(module)?;
        if module_name(found)? != module {
            return None;
        }
        PyModule_GetDict(found)
    } else {
        let class = at_home(module, holder, walk)?;
        if !is_class(class) || !walk.names.is_made_by_python(class) {
            return None;
        }
        let (of, name) = walk.names.full_name(class)?;
        if of != module || name != holder {
            return None;
        }
        dict_of(class)
    };
    let mut found = Members::default();
    for (key, value) in entries(dict) {
        let counts = is_text(key)
            && (is_class(value)
                || (*value).kind == &raw mut PyProperty_Type
                || !behind(value).is_null());
        let Some(text) = counts.then(|| unsafe { text_bytes(key) }).flatten() else {
            continue;
        };
        let is_noise = match of_module {
            true => noise::is_global(&text),
            false => noise::is_member(&text),
        };
        if !is_noise {
            found.insert(text, value);
        }
    }
    Some(found)
}
