//! Objects that a test filled, and which of them others may meet when its turn has ended.
//!
//! Nobody meets an object that is dead, or garbage that the collector has not taken away yet: only
//! other garbage refers to it. That is found as the collector does it, by subtracting references
//! from within: among what the object leads to, then also among the objects that are young, and then
//! among all.
//! Nothing is collected, as that would run code of the program at another time.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use crate::abilities::abilities;
use crate::digest::layout::{add_referents, referents};
use crate::ffi::*;
use crate::guards::*;
use crate::watch;

/// `PyWeakReference.wr_next`.
const WEAK_NEXT: isize = 48;

/// By address of an object.
type Places = HashMap<usize, usize, BuildHasherDefault<OfAddress>>;

/// All objects of a program are looked at, and addresses come from nobody who means harm.
#[derive(Default)]
pub struct OfAddress(u64);

impl Hasher for OfAddress {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        // The upper bits choose among equals, the lower ones the place.
        let mixed = (self.0 ^ address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Among so many objects all holders are looked for; among more, so many and so many references away.
const FEW: usize = 20000;
const MOST_ROUNDS: usize = 12;
const MOST_HOLDERS: usize = 5000;

struct Filled {
    object: Ref,
    /// The address of a weak reference that is ours.
    guard: usize,
    /// The numbers under which it was told.
    numbers: Vec<u32>,
}

struct State {
    filled: Vec<Filled>,
    places: Places,
}

static STATE: Global<Option<State>> = Global::new(None);

/// Notes that `object` was filled, under a number of the caller's. False if it supports no weak
/// references: nothing is noted then.
pub unsafe fn add(object: Ref, number: u32) -> bool {
    let state = STATE.get().get_or_insert_with(|| State {
        filled: Vec::new(),
        places: Places::default(),
    });
    if let Some(filled) = state.places.get(&(object as usize)).copied()
        && let Some(filled) = state.filled.get_mut(filled)
        && !is_dead(object as usize, filled.guard)
    {
        filled.numbers.push(number);
        return true;
    }
    Py_IncRef(object);
    let mut garbage = Garbage::default();
    let guard = new_guard(object, abilities(), &mut garbage);
    if guard == STRONG {
        Py_DecRef(object);
        return false;
    }
    state.places.insert(object as usize, state.filled.len());
    state.filled.push(Filled {
        object,
        guard,
        numbers: vec![number],
    });
    garbage.empty();
    true
}

/// Ends a turn: a Python list of numbers, and one with their objects, of those that others may
/// meet and that are not watched here; null, without an exception, on failure. At most `most`
/// objects are looked at; those that would need more count as met.
pub unsafe fn take(most: usize) -> (Vec<u32>, Ref) {
    let filled = STATE.get().take().map(|state| state.filled);
    let (mut numbers, mut met, mut most) = (Vec::new(), Vec::new(), most);
    let mut garbage = Garbage::default();
    for filled in filled.into_iter().flatten() {
        let is_gone = is_dead(filled.object as usize, filled.guard)
            || watch::index_of(filled.object).is_some()
            || Closure::of(&[filled.object], &mut most).is_some_and(|closure| {
                // SAFETY: the object is alive, as nothing has run since this was asked.
                unsafe { !closure.are_met(std::iter::empty(), filled.guard)[0] }
            });
        if !is_gone {
            met.extend(filled.numbers.iter().map(|_| filled.object as usize));
            numbers.extend(filled.numbers);
        }
        garbage.0.push(filled.guard as Ref);
    }
    let objects = list_of_objects(&met);
    garbage.empty();
    (numbers, objects)
}

/// Which of `objects`, a Python list of [`take`], others may meet, with what is known of the objects
/// in the list `young`, but for those in `hidden`. What is in the list `ours`, somebody holds once who
/// does not count. The lists hold what is in them, and nobody else knows these lists.
pub unsafe fn are_met(objects: Ref, [young, ours, hidden]: [Ref; 3], most: usize) -> Vec<u32> {
    let of_list = |list: Ref| (0..PyList_Size(list)).map(move |at| PyList_GetItem(list, at));
    let lists = [objects, young, ours, hidden];
    let hidden: Vec<Ref> = of_list(hidden).collect();
    let filled: Vec<Ref> = of_list(objects).collect();
    let mut most = most;
    let Some(mut closure) = Closure::of(&filled, &mut most) else {
        return (0..).take(filled.len()).collect();
    };
    let is_looked_at = |one: &Ref| !lists.contains(one) && !hidden.contains(one);
    // SAFETY: the lists hold them.
    unsafe {
        closure.add(of_list(young).chain(of_list(ours)).filter(is_looked_at));
    }
    // The lists hold even what nobody looks at.
    let held = lists.into_iter().flat_map(of_list).chain(of_list(ours));
    let met = closure.are_met(held, 0);
    let is_met = |object: &Ref| met[closure.places[&(*object as usize)]];
    let places = filled.iter().zip(0..).filter(|(object, _)| is_met(object));
    places.map(|(_, at)| at).collect()
}

/// Some objects, of which few others are near in this sense.
struct Near([u64; 1024]);

impl Default for Near {
    fn default() -> Near {
        Near([0; 1024])
    }
}

impl Near {
    fn place(object: Ref) -> (usize, u64) {
        let bit = (object as usize) >> 4;
        (bit / 64 % 1024, 1 << (bit % 64))
    }

    fn add(&mut self, object: Ref) {
        let (word, bit) = Near::place(object);
        self.0[word] |= bit;
    }

    fn has(&self, object: Ref) -> bool {
        let (word, bit) = Near::place(object);
        self.0[word] & bit != 0
    }
}

/// What objects lead to, and perhaps others.
struct Closure {
    /// Those themselves are the first.
    objects: Vec<Ref>,
    places: Places,
    /// By object: the places of those that it refers to.
    held: Vec<Vec<usize>>,
}

impl Closure {
    /// `None` if there are too many.
    unsafe fn of(starts: &[Ref], most: &mut usize) -> Option<Closure> {
        let mut closure = Closure {
            objects: Vec::new(),
            places: Places::default(),
            held: Vec::new(),
        };
        for start in starts {
            closure.place(*start);
        }
        while let Some(object) = closure.objects.get(closure.held.len()).copied() {
            *most = most.checked_sub(1)?;
            let held = holdable(object).into_iter();
            let held = held.map(|one| closure.place(one)).collect();
            closure.held.push(held);
        }
        Some(closure)
    }

    /// Adds those of some objects that lead to what is here, but not what else they lead to.
    unsafe fn add(&mut self, others: impl Iterator<Item = Ref>) {
        let mut held = Vec::new();
        // The objects, and where what they hold ends in `held`.
        let mut open: Vec<(Ref, Range<usize>)> = Vec::new();
        for other in others.filter(|one| unsafe { can_hold(*one) }) {
            if self.places.contains_key(&(other as usize)) {
                continue;
            }
            let start = held.len();
            add_referents(other, (*other).kind, &mut held);
            open.push((other, start..held.len()));
        }
        let mut near = Near::default();
        self.objects.iter().for_each(|one| near.add(*one));
        let first = self.objects.len();
        // What is alive leads to the whole program sooner or later. Garbage has few holders; if
        // not all are found, something outside counts as holding it.
        let (rounds, most) = match open.len() <= FEW {
            true => (usize::MAX, usize::MAX),
            false => (MOST_ROUNDS, first + MOST_HOLDERS),
        };
        let mut added = Vec::new();
        for _ in 0..rounds {
            let before = self.objects.len();
            open.retain(|(object, range)| {
                let mut of_object = held[range.clone()].iter().filter(|one| near.has(**one));
                // SAFETY: these are alive.
                let leads = self.objects.len() < most
                    && of_object.any(|one| unsafe { self.holds(*object, *one).is_some() });
                // It may be in two of the lists.
                if leads && !self.places.contains_key(&(*object as usize)) {
                    self.place(*object);
                    near.add(*object);
                    added.push((*object, range.clone()));
                }
                !leads
            });
            if self.objects.len() == before || self.objects.len() == most {
                break;
            }
        }
        for (object, range) in added {
            let held = held[range].iter();
            let held = held.filter_map(|one| unsafe { self.holds(object, *one) });
            self.held.push(held.collect());
        }
    }

    /// The place of `held`, if it is here and a closure goes from `object` to it.
    unsafe fn holds(&self, object: Ref, held: Ref) -> Option<usize> {
        let place = self.places.get(&(held as usize)).copied()?;
        goes_to(object, held).then_some(place)
    }

    fn place(&mut self, object: Ref) -> usize {
        *self.places.entry(object as usize).or_insert_with(|| {
            self.objects.push(object);
            self.objects.len() - 1
        })
    }

    /// For each object, whether something outside leads to it. The caller's references are `held`,
    /// and the weak one to the first object.
    unsafe fn are_met(&self, held: impl Iterator<Item = Ref>, guard: usize) -> Vec<bool> {
        let mut inside = vec![0; self.objects.len()];
        for object in held {
            if let Some(place) = self.places.get(&(object as usize)) {
                inside[*place] += 1;
            }
        }
        for place in self.held.iter().flatten() {
            inside[*place] += 1;
        }
        let mut is_met: Vec<bool> = Vec::new();
        for (object, inside) in self.objects.iter().zip(inside) {
            let is_first = is_met.is_empty();
            let weakly = if is_first { guard } else { 0 };
            is_met.push(references(*object) != inside || !is_held_weakly_by(*object, weakly));
        }
        let mut open: Vec<usize> = (0..is_met.len()).filter(|place| is_met[*place]).collect();
        while let Some(place) = open.pop() {
            for held in &self.held[place] {
                if !std::mem::replace(&mut is_met[*held], true) {
                    open.push(*held);
                }
            }
        }
        is_met
    }
}

/// What `object` refers to and a closure goes through.
unsafe fn holdable(object: Ref) -> Vec<Ref> {
    let mut held = referents(object, (*object).kind);
    held.retain(|one| unsafe { goes_to(object, *one) });
    held
}

/// Whether a closure goes from `object` to `held`, which it refers to.
unsafe fn goes_to(object: Ref, held: Ref) -> bool {
    can_hold(held) && !is_world_of(object, held)
}

/// Whether `held` is what a function has everything by: its globals, or the builtins.
unsafe fn is_world_of(object: Ref, held: Ref) -> bool {
    (*object).kind == &raw mut PyFunction_Type
        && [PyFunction_GetGlobals(object), PyEval_GetBuiltins()].contains(&held)
}

/// Whether a closure goes through `object`. What is left out counts as held from outside, and so
/// does all that it refers to: modules and classes lead to the whole program, and who has a
/// finalizer (a generator has one) can still do something.
unsafe fn can_hold(object: Ref) -> bool {
    let kind = (*object).kind;
    let flags = type_object::flags(kind);
    flags & type_object::HAVE_GC != 0
        && flags & type_object::TYPE_SUBCLASS == 0
        && kind != &raw mut PyModule_Type
        && !type_object::has_finalizer(kind)
}

/// Whether the weak reference `by`, or none if it is 0, is the only one to `object`, and has no
/// other user.
unsafe fn is_held_weakly_by(object: Ref, by: usize) -> bool {
    let offset = type_object::weaklistoffset((*object).kind);
    let first = if offset == 0 { 0 } else { word(object, offset) };
    first == by && (by == 0 || references(by as Ref) == 1 && word(by as Ref, WEAK_NEXT) == 0)
}

/// The objects in the list `among` that refer to any in the tuple `held`, as the garbage collector
/// sees it, in a new list; null, without an exception, on failure. `gc.get_referrers` does the same
/// but compares each reference with each of `held`.
pub unsafe fn referrers(among: Ref, held: Ref) -> Ref {
    let held: HashSet<usize, BuildHasherDefault<OfAddress>> = (0..PyTuple_Size(held))
        .map(|at| unsafe { PyTuple_GetItem(held, at) as usize })
        .collect();
    let (mut found, mut referents) = (Vec::new(), Vec::new());
    for at in 0..PyList_Size(among) {
        let object = PyList_GetItem(among, at);
        referents.clear();
        add_referents(object, (*object).kind.cast(), &mut referents);
        if referents.iter().any(|one| held.contains(&(*one as usize))) {
            found.push(object as usize);
        }
    }
    list_of_objects(&found)
}
