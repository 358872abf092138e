//! Guards: they prevent that the address of an object in a snapshot is mistaken for another
//! object at the same address.

use std::collections::HashMap;

use crate::abilities::Abilities;
use crate::ffi::*;

/// The first word of a part that is compared by hash; never an address.
pub const HASHED: usize = 1;
/// `PyWeakReference.wr_object`.
pub const WEAK_TARGET: isize = 16;

/// A guard that is not the address of a weak reference.
pub const UNGUARDED: usize = 0;
pub const STRONG: usize = 1;

/// References to release once the state is consistent, since that can run code.
#[derive(Default)]
pub struct Garbage(pub Vec<Ref>);

impl Garbage {
    pub unsafe fn empty(self) {
        for object in self.0 {
            Py_DecRef(object);
        }
    }
}

/// Moves one reference to `object` into a guard or the garbage.
pub unsafe fn new_guard(object: Ref, abilities: Abilities, garbage: &mut Garbage) -> usize {
    if abilities.weak && type_object::weaklistoffset((*object).kind) != 0 {
        let weak = PyWeakref_NewRef(object, std::ptr::null_mut());
        if !weak.is_null() {
            garbage.0.push(object);
            return weak as usize;
        }
        PyErr_Clear();
    }
    STRONG
}

pub unsafe fn drop_guard(word: usize, guard: usize, garbage: &mut Garbage) {
    match guard {
        UNGUARDED => {}
        STRONG => garbage.0.push(word as Ref),
        weak => garbage.0.push(weak as Ref),
    }
}

pub unsafe fn is_dead(object: usize, guard: usize) -> bool {
    guard > STRONG && word(guard as Ref, WEAK_TARGET) != object
}

/// The content of a dict: keys and values in turn, and their guards.
pub struct Snapshot {
    words: Vec<usize>,
    guards: Vec<usize>,
    dead: Vec<usize>,
}

impl Snapshot {
    /// From the words of a dict and their guards.
    pub unsafe fn of(words: &[usize], guards: &[usize]) -> Snapshot {
        let pairs = words.iter().zip(guards);
        let dead = pairs.filter(|(word, guard)| is_dead(**word, **guard));
        Snapshot {
            dead: dead.map(|(word, _)| *word).collect(),
            words: words.to_vec(),
            guards: guards.to_vec(),
        }
    }

    /// A Python list of the keys with another value in `now`; null if some key cannot be
    /// named. The objects in `now` and the old guards must be alive.
    pub unsafe fn keys_that_differ(&self, now: &[usize]) -> Ref {
        let is_hash = |words: &[usize]| words.first() == Some(&HASHED);
        if is_hash(&self.words) || is_hash(now) {
            return std::ptr::null_mut();
        }
        let pairs = |words: &[usize]| -> Vec<(usize, usize)> {
            let pairs = words.chunks_exact(2);
            pairs.map(|pair| (pair[0], pair[1])).collect()
        };
        let (before, now) = (pairs(&self.words), pairs(now));
        let old: HashMap<usize, usize> = before.iter().copied().collect();
        let new: HashMap<usize, usize> = now.iter().copied().collect();
        let mut keys: Vec<usize> = now
            .iter()
            .filter(|(key, value)| {
                old.get(key) != Some(value) || self.dead.contains(value) || self.dead.contains(key)
            })
            .map(|(key, _)| *key)
            .collect();
        for ((key, _), guards) in before.iter().zip(self.guards.chunks_exact(2)) {
            if !new.contains_key(key) {
                if is_dead(*key, guards[0]) {
                    return std::ptr::null_mut();
                }
                keys.push(*key);
            }
        }
        list_of_objects(&keys)
    }
}

/// A Python list of living objects; null, without an exception, on failure.
pub unsafe fn list_of_objects(objects: &[usize]) -> Ref {
    for object in objects {
        Py_IncRef(*object as Ref);
    }
    let list = PyList_New(0);
    let complete = !list.is_null()
        && objects
            .iter()
            .all(|object| unsafe { PyList_Append(list, *object as Ref) == 0 });
    for object in objects {
        Py_DecRef(*object as Ref);
    }
    if complete {
        return list;
    }
    PyErr_Clear();
    if !list.is_null() {
        Py_DecRef(list);
    }
    std::ptr::null_mut()
}
