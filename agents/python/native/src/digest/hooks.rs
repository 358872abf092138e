//! Classes that may say of objects of other classes that these are their instances: by a hook, by
//! what was registered with them, or by their metaclass. `isinstance` asks all subclasses of an
//! abstract class.

use super::classes::{dict_of, entries, find, is_class, is_same_text, said_module};
use super::layout::{Layouts, TYPE_MRO, TYPE_SUBCLASSES};
use crate::content::REGISTERED;
use crate::ffi::*;
use crate::guards::WEAK_TARGET;

/// Modules whose classes have hooks that answer for the class itself only, not for subclasses.
const FOR_THEMSELVES: [&[u8]; 4] = [
    b"collections.abc",
    b"_collections_abc",
    b"contextlib",
    b"os",
];

/// The subclasses of a class that are alive.
pub unsafe fn subclasses(class: Ref) -> impl Iterator<Item = Ref> {
    let below = word(class, TYPE_SUBCLASSES) as Ref;
    let is_dict = !below.is_null() && (*below).kind == &raw mut PyDict_Type;
    let all = is_dict.then(|| unsafe { entries(below) });
    all.into_iter().flatten().filter_map(|(_, reference)| {
        // SAFETY: the dict holds weak references.
        let target = unsafe { word(reference, WEAK_TARGET) } as Ref;
        (!target.is_null() && unsafe { is_class(target) }).then_some(target)
    })
}

/// Whether no class below this one does so.
pub unsafe fn are_silent_below(class: Ref, layouts: &Layouts) -> bool {
    let mut waiting: Vec<Ref> = subclasses(class).collect();
    let mut seen = std::collections::BTreeSet::new();
    while let Some(next) = waiting.pop() {
        if seen.insert(next as usize) {
            if answers(next, layouts) {
                return false;
            }
            waiting.extend(subclasses(next));
        }
    }
    true
}

unsafe fn answers(class: Ref, layouts: &Layouts) -> bool {
    let hook = line(class).find(|one| unsafe { has(*one, b"__subclasshook__") });
    let is_plain = hook.is_some_and(|one| unsafe {
        one == &raw mut PyBaseObject_Type || FOR_THEMSELVES.iter().any(|module| is_of(one, module))
    });
    // Which classes are below is asked as an attribute.
    let names_others = line(class)
        .chain(line((*class).kind))
        .any(|one| unsafe { one != &raw mut PyType_Type && has(one, b"__subclasses__") });
    let mut asked = line((*class).kind).filter(|one| unsafe {
        has(*one, b"__instancecheck__") || has(*one, b"__subclasscheck__")
    });
    let asked = asked.next();
    let is_asked =
        asked.is_none_or(|one| unsafe { one == &raw mut PyType_Type || is_of(one, b"abc") });
    names_others || !is_plain || !is_asked || has_registered(class, layouts)
}

unsafe fn has_registered(class: Ref, layouts: &Layouts) -> bool {
    let Some(known) = find(dict_of(class), b"_abc_impl") else {
        return false;
    };
    if layouts.registry != Some((*known).kind as usize) {
        return true;
    }
    let members = word(known, REGISTERED) as Ref;
    !members.is_null() && PySet_Size(members) != 0
}

/// A class and those that it inherits from, in order; none if there is no such order.
unsafe fn line(class: Ref) -> impl Iterator<Item = Ref> {
    let all = word(class, TYPE_MRO) as Ref;
    let is_tuple = !all.is_null() && (*all).kind == &raw mut PyTuple_Type;
    let size = if is_tuple { PyTuple_Size(all) } else { 0 };
    // SAFETY: the class holds the tuple.
    (0..size).map(move |at| unsafe { PyTuple_GetItem(all, at) })
}

unsafe fn has(class: Ref, name: &[u8]) -> bool {
    find(dict_of(class), name).is_some()
}

unsafe fn is_of(class: Ref, module: &[u8]) -> bool {
    said_module(class).is_some_and(|said| unsafe { is_same_text(said, module) })
}
