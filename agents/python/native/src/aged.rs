//! Objects that a collection of garbage made old in the present turn.
//!
//! They lie among all that the program ever made. But a collection puts those that were young side
//! by side into the list of the old ones (`gc_list_merge`): so one that is ours leads to the others.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use crate::ffi::*;
use crate::guards::list_of_objects;
use crate::outliving::OfAddress;

/// `PyGC_Head` stands in front of an object: the next one, and the previous one with marks.
const HEAD: usize = 16;
const MARKS: usize = 3;

struct Aged {
    /// The addresses of all that were young when collections began.
    young: HashSet<usize, BuildHasherDefault<OfAddress>>,
    /// An object of ours for each collection.
    ours: Vec<Ref>,
}

static AGED: Global<Option<Aged>> = Global::new(None);

/// A collection of what is young begins: of the objects in these lists. At most `most` are kept in
/// mind.
pub unsafe fn note(lists: [Ref; 2], most: usize) {
    let aged = AGED.get().get_or_insert_with(|| Aged {
        young: HashSet::default(),
        ours: Vec::new(),
    });
    let size: isize = lists.iter().map(|list| unsafe { PyList_Size(*list) }).sum();
    if aged.young.len() + size as usize > most {
        return;
    }
    for list in lists {
        let items = (0..PyList_Size(list)).map(|at| unsafe { PyList_GetItem(list, at) as usize });
        aged.young.extend(items);
    }
    let own = PyList_New(0);
    if own.is_null() {
        PyErr_Clear();
        return;
    }
    aged.young.insert(own as usize);
    aged.ours.push(own);
}

/// Those that are alive, in a new list; null, without an exception, on failure.
pub unsafe fn found() -> Ref {
    let mut found = Vec::new();
    for own in AGED.get().iter().flat_map(|aged| aged.ours.iter()) {
        for step in [next, previous] {
            let mut at = step(*own as usize);
            while AGED
                .get()
                .as_ref()
                .is_some_and(|aged| aged.young.contains(&at))
            {
                found.push(at);
                at = step(at);
            }
        }
    }
    // Two collections may have put theirs side by side.
    found.sort_unstable();
    found.dedup();
    list_of_objects(&found)
}

unsafe fn next(object: usize) -> usize {
    word((object - HEAD) as Ref, 0) + HEAD
}

unsafe fn previous(object: usize) -> usize {
    (word((object - HEAD) as Ref, 8) & !MARKS) + HEAD
}

/// A turn has ended.
pub unsafe fn forget() {
    for own in AGED.get().take().into_iter().flat_map(|aged| aged.ours) {
        Py_DecRef(own);
    }
}
